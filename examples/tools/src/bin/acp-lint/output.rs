//! Output of findings.

use crate::NAME;
use crate::cli::{FOUND, Format, Options};
use crate::formats;
use acp_types::lint::{Finding, Linter, RULES, Severity};
use core::fmt;
use jsonrpc_core::transcript::Direction;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;

/// Maximum length of an excerpt in bytes.
const MAX_EXCERPT_BYTES: usize = 160;

/// Maximum number of findings of a document. Further ones are counted only.
const MAX_ITEMS: usize = 100_000;

/// A finding with its place among the files.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) file: String,
    pub(crate) finding: Finding,
    /// The severity of the rule, or the one configured for it.
    pub(crate) severity: Severity,
    /// Text at the place of the finding.
    pub(crate) excerpt: Option<String>,
    /// Whether the finding affects the exit status.
    pub(crate) fails: bool,
}

impl Item {
    /// Returns the message with method, pointer and excerpt.
    pub(crate) fn description(&self) -> String {
        let Finding { pointer, message, method, .. } = &self.finding;
        let mut text = message.clone();
        if let Some(method) = method {
            text.push_str(&format!(" ({method})"));
        }
        if !pointer.is_empty() {
            text.push_str(&format!(" at {pointer}"));
        }
        if let Some(excerpt) = &self.excerpt {
            text.push_str(&format!(": {excerpt}"));
        }
        text
    }
}

/// One line of text, without the file.
impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { rule, line, direction, pointer, method, message, .. } = &self.finding;
        let direction = name_of(*direction);
        write!(f, "line {line}, {direction}: {}[{}]", self.severity, rule.code)?;
        if !pointer.is_empty() {
            write!(f, " at {pointer}")?;
        }
        write!(f, ": {message}")?;
        if let Some(method) = method {
            write!(f, " ({method})")?;
        }
        match &self.excerpt {
            Some(excerpt) => write!(f, "\n    {excerpt}"),
            None => Ok(()),
        }
    }
}

/// A writer that discards output after the reader of a pipe has closed it, as `head` does. The
/// check continues, because the exit status covers all findings.
struct UntilClosed {
    out: Box<dyn Write + Send>,
    is_closed: bool,
}

impl UntilClosed {
    fn unless_closed<T>(&mut self, done: io::Result<T>, otherwise: T) -> io::Result<T> {
        match done {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(otherwise)
            }
            done => done,
        }
    }
}

impl Write for UntilClosed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_closed {
            return Ok(bytes.len());
        }
        let written = self.out.write(bytes);
        self.unless_closed(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.unless_closed(flushed, ())
    }
}

/// Destination and number of findings.
pub(crate) struct Output<'a> {
    options: &'a Options,
    out: Box<dyn Write + Send>,
    /// Names of the checked files.
    files: Vec<String>,
    /// Findings of a document that is written at the end.
    items: Vec<Item>,
    infos: usize,
    warnings: usize,
    errors: usize,
    dropped: u64,
    fails: bool,
}

impl<'a> Output<'a> {
    /// Opens the file of `options`, or uses `otherwise`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened.
    pub(crate) fn new(options: &'a Options, otherwise: Box<dyn Write + Send>) -> io::Result<Self> {
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
        let out = Box::new(UntilClosed { out, is_closed: false });
        let files = Vec::new();
        let items = Vec::new();
        let infos = 0;
        let warnings = 0;
        let errors = 0;
        let dropped = 0;
        let fails = false;
        Ok(Self { options, out, files, items, infos, warnings, errors, dropped, fails })
    }

    /// Starts the findings of a file.
    pub(crate) fn begin(&mut self, file: String) {
        self.files.push(file);
    }

    /// Writes the findings of the linter. `line` is the last line.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub(crate) fn take(
        &mut self,
        linter: &mut Linter,
        line: Option<(u64, &[u8])>,
    ) -> io::Result<()> {
        let version = linter.version().unwrap_or(1);
        let mut parsed = None;
        while let Some(finding) = linter.poll_finding() {
            let Some(severity) = self.options.severity(finding.rule) else { continue };
            match severity {
                Severity::Info => self.infos += 1,
                Severity::Warning => self.warnings += 1,
                Severity::Error => self.errors += 1,
            }
            let fails = self.options.fails_on(severity);
            self.fails |= fails;
            let text = line.filter(|(number, _)| self.options.excerpts && *number == finding.line);
            let excerpt = text.and_then(|(_, text)| {
                excerpt(
                    parsed.get_or_insert_with(|| serde_json::from_slice(text).ok()).as_ref()?,
                    &finding,
                )
            });
            let file = self.files.last().cloned().unwrap_or_default();
            self.write(Item { file, finding, severity, excerpt, fails }, version)?;
        }
        self.out.flush()
    }

    fn write(&mut self, item: Item, version: u16) -> io::Result<()> {
        let is_one_of_several = self.options.transcripts.len() > 1;
        match self.options.format {
            Format::Human if is_one_of_several => writeln!(self.out, "{}: {item}", item.file),
            Format::Human => writeln!(self.out, "{item}"),
            Format::Json => writeln!(self.out, "{}", object(&item, version)),
            Format::Github => writeln!(self.out, "{}", formats::annotation(&item)),
            Format::Summary | Format::Sarif | Format::Junit if self.items.len() < MAX_ITEMS => {
                self.items.push(item);
                Ok(())
            }
            Format::Summary | Format::Sarif | Format::Junit => {
                self.dropped += 1;
                Ok(())
            }
        }
    }

    /// Handles the end of a file.
    pub(crate) fn end(&mut self, linter: &Linter) {
        self.dropped += linter.missed();
    }

    /// Writes the summary or the document. Returns whether a finding affects the exit status.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub(crate) fn finish(mut self) -> io::Result<bool> {
        match self.options.format {
            Format::Human | Format::Summary => {
                if self.options.format == Format::Summary {
                    write!(self.out, "{}", formats::summary(&self.items))?;
                }
                let Self { errors, warnings, infos, .. } = self;
                writeln!(self.out, "{errors} errors, {warnings} warnings, {infos} infos")?;
            }
            Format::Json | Format::Github => {}
            Format::Sarif => writeln!(self.out, "{}", formats::sarif(&self.items))?,
            Format::Junit => write!(self.out, "{}", formats::junit(&self.files, &self.items))?,
        }
        if self.dropped > 0 {
            eprintln!("{NAME}: {} findings were dropped", self.dropped);
        }
        self.out.flush()?;
        Ok(self.fails)
    }
}

/// Returns the value at the pointer of a finding as JSON, truncated.
fn excerpt(message: &Value, finding: &Finding) -> Option<String> {
    let mut text = message.pointer(&finding.pointer)?.to_string();
    if text.len() > MAX_EXCERPT_BYTES {
        let mut ends = (0..=MAX_EXCERPT_BYTES).rev();
        text.truncate(ends.find(|end| text.is_char_boundary(*end)).unwrap_or_default());
        text.push('…');
    }
    Some(text)
}

/// Returns the exit status.
pub(crate) fn status(is_found: bool) -> ExitCode {
    if is_found { ExitCode::from(FOUND) } else { ExitCode::SUCCESS }
}

fn name_of(direction: Direction) -> &'static str {
    match direction {
        Direction::Sent => "sent",
        Direction::Received => "received",
    }
}

fn object(item: &Item, version: u16) -> Value {
    let finding = &item.finding;
    let mut object = json!({
        "file": item.file,
        "line": finding.line,
        "direction": name_of(finding.direction),
        "rule": finding.rule.code,
        "severity": item.severity.as_str(),
        "pointer": finding.pointer,
        "method": finding.method,
        "message": finding.message,
        "spec": finding.rule.spec(version),
    });
    if let (Some(excerpt), Some(members)) = (&item.excerpt, object.as_object_mut()) {
        members.insert("excerpt".to_owned(), json!(excerpt));
    }
    object
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
