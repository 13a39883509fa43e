//! Output of findings.

use crate::NAME;
use crate::cli::{FOUND, Format, Options};
use acp_types::lint::{Finding, Linter, RULES, Severity};
use jsonrpc_core::transcript::Direction;
use serde_json::json;
use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;

/// Destination and number of findings.
pub(crate) struct Output {
    format: Format,
    out: Box<dyn Write + Send>,
    infos: usize,
    warnings: usize,
    errors: usize,
    fails: bool,
}

impl Output {
    /// Opens the file of `options`, or uses `otherwise`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened.
    pub(crate) fn new(options: &Options, otherwise: Box<dyn Write + Send>) -> io::Result<Self> {
        let out: Box<dyn Write + Send> = match &options.output {
            Some(path) => {
                let file = File::options().create(true).append(true).open(path);
                Box::new(file.map_err(|error| {
                    io::Error::new(
                        error.kind(),
                        format!("cannot write to {}: {error}", path.display()),
                    )
                })?)
            }
            None => otherwise,
        };
        Ok(Self { format: options.format, out, infos: 0, warnings: 0, errors: 0, fails: false })
    }

    /// Writes the findings of the linter.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub(crate) fn take(&mut self, linter: &mut Linter, options: &Options) -> io::Result<()> {
        let version = linter.version().unwrap_or(1);
        while let Some(finding) = linter.poll_finding() {
            match finding.rule.severity {
                Severity::Info => self.infos += 1,
                Severity::Warning => self.warnings += 1,
                Severity::Error => self.errors += 1,
            }
            self.fails |= options.fails_on(finding.rule.severity);
            match self.format {
                Format::Human => writeln!(self.out, "{finding}")?,
                Format::Json => writeln!(self.out, "{}", object(&finding, version))?,
            }
        }
        self.out.flush()
    }

    /// Writes the summary. Returns whether a finding affects the exit status.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub(crate) fn finish(mut self, linter: &Linter) -> io::Result<bool> {
        if self.format == Format::Human {
            let Self { errors, warnings, infos, .. } = self;
            writeln!(self.out, "{errors} errors, {warnings} warnings, {infos} infos")?;
        }
        if linter.missed() > 0 {
            eprintln!("{NAME}: {} findings were dropped", linter.missed());
        }
        self.out.flush()?;
        Ok(self.fails)
    }
}

/// Returns the exit status.
pub(crate) fn status(is_found: bool) -> ExitCode {
    if is_found { ExitCode::from(FOUND) } else { ExitCode::SUCCESS }
}

fn object(finding: &Finding, version: u16) -> serde_json::Value {
    json!({
        "line": finding.line,
        "direction": match finding.direction {
            Direction::Sent => "sent",
            Direction::Received => "received",
        },
        "rule": finding.rule.code,
        "severity": finding.rule.severity.as_str(),
        "pointer": finding.pointer,
        "message": finding.message,
        "spec": finding.rule.spec(version),
    })
}

/// Prints all rules.
pub(crate) fn print_rules() -> ExitCode {
    let mut out = io::stdout().lock();
    for rule in RULES {
        if writeln!(out, "{:24} {:8} {}", rule.code, rule.severity, rule.about).is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}
