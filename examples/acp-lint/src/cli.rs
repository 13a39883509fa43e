use acp_types::lint::{Linter, Rule, Severity};
use clap::{Parser, ValueEnum};
use core::time::Duration;
use std::ffi::OsString;
use std::path::PathBuf;

/// The exit status where something is found.
pub(crate) const FOUND: u8 = 1;

/// The exit status where the command line is wrong or there is nothing to read.
pub(crate) const UNREADABLE: u8 = 2;

/// Finds what is wrong with a conversation between an editor and an agent that speak the Agent Client Protocol (ACP).
///
/// Reads a transcript, or runs COMMAND as the agent, passes its standard input and output through, unchanged and at once,
/// and looks at a copy.
#[derive(Debug, Parser)]
#[command(version, after_help = EXIT_STATUS, override_usage = USAGE)]
pub(crate) struct Options {
    /// A transcript: `-` is standard input; a name that ends in `.jsons` is a trace of the official conductor
    #[arg(value_name = "TRANSCRIPT", required_unless_present_any = ["command", "rules"])]
    pub(crate) transcript: Option<PathBuf>,

    /// How findings are written
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,

    /// Append findings to FILE instead of standard output, or standard error where an agent runs
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// How bad the findings are that make the exit status 1
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    pub(crate) fail_on: FailOn,

    /// Leave a rule out; may be given more than once
    #[arg(long, value_name = "RULE", value_parser = rule)]
    pub(crate) allow: Vec<&'static Rule>,

    /// List all rules
    #[arg(long)]
    pub(crate) rules: bool,

    /// The connection to look at in a trace of the conductor, as it names them
    #[arg(long, value_name = "FROM,TO", default_value = "Client,Agent", value_parser = pair)]
    pub(crate) components: (String, String),

    /// How long the agent may take to end by itself once the editor has gone
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub(crate) grace: Duration,

    /// The agent and its arguments
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "transcript")]
    pub(crate) command: Vec<OsString>,
}

impl Options {
    /// A linter with the rules that are not left out.
    pub(crate) fn linter(&self) -> Linter {
        self.allow.iter().fold(Linter::default(), |linter, rule| linter.without(rule))
    }

    /// Whether findings of this severity make the exit status 1.
    pub(crate) fn fails_on(&self, severity: Severity) -> bool {
        match self.fail_on {
            FailOn::Info => true,
            FailOn::Warning => severity >= Severity::Warning,
            FailOn::Error => severity >= Severity::Error,
            FailOn::Never => false,
        }
    }
}

/// How findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A line each, for people
    Human,
    /// A JSON object each, one a line
    Json,
}

/// How bad the findings are that make the exit status 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Info,
    Warning,
    Error,
    Never,
}

const USAGE: &str = "\
acp-lint [OPTIONS] <TRANSCRIPT>
       acp-lint [OPTIONS] -- <COMMAND>...
       acp-lint --rules";

const EXIT_STATUS: &str = "\
Exit status: 0 if nothing is found that --fail-on names, 1 if something is, 2 for a wrong command line or a transcript \
that cannot be read. Where an agent runs and nothing is found: the agent's, as acp-traces has it.";

fn rule(code: &str) -> Result<&'static Rule, String> {
    Rule::find(code).ok_or_else(|| "no such rule; --rules lists them".to_owned())
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (from, to) = text.split_once(',').ok_or("expected two names with a comma between them")?;
    Ok((from.to_owned(), to.to_owned()))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
