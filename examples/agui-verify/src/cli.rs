//! The command line.
use crate::check::{Form, Strictness};
use clap::{Parser, ValueEnum};
use std::path::PathBuf;

/// Checks a stream of AG-UI events and explains the first thing that is wrong with it.
///
/// Ends with status 0 when nothing is, 1 when something is, 2 when the command line is, 3 when the stream could not be
/// got.
#[derive(Debug, Parser)]
#[command(name = "agui-verify", version)]
pub(crate) struct Cli {
    /// The file that has the stream, or `-` for standard input: a body of server-sent events, JSON lines or protobuf
    /// frames.
    #[arg(default_value = "-", conflicts_with = "url")]
    pub(crate) file: PathBuf,

    /// Asks an agent, and checks its answer: posts a run input to this address (`http` only).
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// The run input as a JSON file: what is posted, or what a captured stream was the answer to.
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,

    /// What the user says, where no input is given.
    #[arg(long, value_name = "TEXT", default_value = "Hello.", conflicts_with = "input")]
    pub(crate) prompt: String,

    /// A header that is sent too, as `NAME: VALUE`.
    #[arg(long = "header", value_name = "HEADER", requires = "url")]
    pub(crate) headers: Vec<String>,

    /// Which rules count.
    #[arg(long, value_enum, default_value_t = Profile::Strict)]
    pub(crate) profile: Profile,

    /// What the stream is written in; without it, its first byte tells. For an address, what is accepted.
    #[arg(long, value_enum)]
    pub(crate) form: Option<FormArg>,

    /// How many events before the wrong one are shown.
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    pub(crate) context: usize,

    /// Prints one JSON object in place of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Profile {
    /// All that the specification asks of a producer.
    Strict,
    /// What the first-party client 1.0.0 minds.
    Tolerant,
    /// What the first-party client 0.0.59 minds.
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
    /// An event a line, as JSON.
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
