//! The command line.
use crate::check::{Form, Strictness};
use clap::{Parser, ValueEnum};
use std::path::PathBuf;

/// Checks a stream of AG-UI events and explains the first violation.
///
/// Exit status: 0 without a violation, 1 with one, 2 for an invalid command line, 3 if the stream could not be read.
#[derive(Debug, Parser)]
#[command(name = "agui-verify", version)]
pub(crate) struct Cli {
    /// The file with the stream, or `-` for standard input: a body of server-sent events, JSON lines or protobuf frames.
    #[arg(default_value = "-", conflicts_with = "url")]
    pub(crate) file: PathBuf,

    /// Posts a run input to the agent at this address (`http` or `https`), and checks its response.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// A JSON file with the run input: to post, or of the captured stream.
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,

    /// The user's message, unless an input is given.
    #[arg(long, value_name = "TEXT", default_value = "Hello.", conflicts_with = "input")]
    pub(crate) prompt: String,

    /// An additional header, as `NAME: VALUE`.
    #[arg(long = "header", value_name = "HEADER", requires = "url")]
    pub(crate) headers: Vec<String>,

    /// The rules to check.
    #[arg(long, value_enum, default_value_t = Profile::Strict)]
    pub(crate) profile: Profile,

    /// The format of the stream; by default its first byte decides. For an address, the accepted format.
    #[arg(long, value_enum)]
    pub(crate) form: Option<FormArg>,

    /// Number of shown events before the violation.
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    pub(crate) context: usize,

    /// Prints one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Profile {
    /// All rules of the specification for producers.
    Strict,
    /// The rules of the first-party client 1.0.0.
    Tolerant,
    /// The rules of the first-party client 0.0.59.
    Legacy,
}

impl From<Profile> for Strictness {
    fn from(profile: Profile) -> Self {
        match profile {
            Profile::Strict => Self::Strict,
            Profile::Tolerant => Self::Tolerant,
            Profile::Legacy => Self::Legacy,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FormArg {
    /// Server-sent events.
    Sse,
    /// One JSON event per line.
    Jsonl,
    /// Protobuf frames.
    Protobuf,
}

impl From<FormArg> for Form {
    fn from(form: FormArg) -> Self {
        match form {
            FormArg::Sse => Self::Sse,
            FormArg::Jsonl => Self::Jsonl,
            FormArg::Protobuf => Self::Protobuf,
        }
    }
}
