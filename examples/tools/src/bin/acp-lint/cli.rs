//! Command line options.
use crate::severities::Severities;
use acp_types::lint::{Linter, Rule, Severity};
use clap::{Parser, ValueEnum};
use core::time::Duration;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Exit status if a finding reaches `--fail-on`.
pub(crate) const FOUND: u8 = 1;

/// Exit status for an invalid command line or unreadable input.
pub(crate) const UNREADABLE: u8 = 2;

/// Reports protocol violations in a conversation between an editor and an agent that use the Agent
/// Client Protocol (ACP).
///
/// Reads a transcript, or runs COMMAND as the agent. In the second case standard input and output
/// are passed through unchanged and without delay, and a copy is checked.
#[derive(Debug, Parser)]
#[command(name = "acp-lint", version, after_help = EXIT_STATUS, override_usage = USAGE)]
pub(crate) struct Options {
    /// Transcripts; `-` is standard input; a name that ends in `.jsons` is a trace of the official
    /// conductor
    #[arg(value_name = "TRANSCRIPT", required_unless_present_any = ["command", "rules"])]
    pub(crate) transcripts: Vec<PathBuf>,

    /// Format of findings
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,

    /// Append findings to FILE instead of standard output (or standard error, if an agent runs)
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Minimum severity of findings for exit status 1
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    pub(crate) fail_on: FailOn,

    /// Ignore a rule; may be repeated
    #[arg(long, value_name = "RULE", value_parser = rule)]
    pub(crate) allow: Vec<&'static Rule>,

    /// Read severities by rule from a TOML file with a table `rules`: `error`, `warning`, `info` or
    /// `off`
    #[arg(long = "config", value_name = "FILE", value_parser = severities)]
    pub(crate) severities: Option<Severities>,

    /// Add the text at the place of a finding, which may be private
    #[arg(long)]
    pub(crate) excerpts: bool,

    /// List all rules
    #[arg(long)]
    pub(crate) rules: bool,

    /// Names of the components of the connection to check, for traces of the conductor
    #[arg(long, value_name = "FROM,TO", default_value = "Client,Agent", value_parser = pair)]
    pub(crate) components: (String, String),

    /// Seconds that the agent may take to exit after the editor has disconnected
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub(crate) grace: Duration,

    /// Agent command with its arguments
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "transcripts")]
    pub(crate) command: Vec<OsString>,
}

impl Options {
    /// Creates a linter without the ignored rules.
    pub(crate) fn linter(&self) -> Linter {
        self.allow.iter().fold(Linter::default(), |linter, rule| linter.without(rule))
    }

    /// Returns the severity of findings of a rule, or `None` if the rule is off.
    pub(crate) fn severity(&self, rule: &Rule) -> Option<Severity> {
        self.severities.as_ref().map_or(Some(rule.severity), |severities| severities.of(rule))
    }

    /// Returns whether findings of this severity affect the exit status.
    pub(crate) fn fails_on(&self, severity: Severity) -> bool {
        match self.fail_on {
            FailOn::Info => true,
            FailOn::Warning => severity >= Severity::Warning,
            FailOn::Error => severity >= Severity::Error,
            FailOn::Never => false,
        }
    }
}

/// Format of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One line of text per finding
    Human,
    /// One line of text per rule, with the number of findings and the first of them
    Summary,
    /// One JSON object per line
    Json,
    /// A SARIF log, for code scanning
    Sarif,
    /// A JUnit document, for test reports
    Junit,
    /// Annotations of GitHub Actions
    Github,
}

/// Minimum severity of findings that affect the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Info,
    Warning,
    Error,
    Never,
}

const USAGE: &str = "\
acp-lint [OPTIONS] <TRANSCRIPT>...
       acp-lint [OPTIONS] -- <COMMAND>...
       acp-lint --rules";

const EXIT_STATUS: &str = "\
Exit status: 0 if nothing is found that --fail-on names, 1 if something is, 2 for a wrong command line or a transcript \
that cannot be read. Where an agent runs and nothing is found: the agent's, as acp-traces has it.";

fn rule(code: &str) -> Result<&'static Rule, String> {
    Rule::find(code).ok_or_else(|| "unknown rule; --rules lists all rules".to_owned())
}

fn severities(file: &str) -> Result<Severities, String> {
    Severities::read(Path::new(file))
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (from, to) = text.split_once(',').ok_or("expected two names separated by a comma")?;
    Ok((from.to_owned(), to.to_owned()))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
