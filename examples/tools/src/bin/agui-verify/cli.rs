//! Command line options.
use crate::check::{Form, Strictness};
use clap::{Parser, ValueEnum};
use std::path::PathBuf;

/// Checks a stream of AG-UI events and explains its first problem.
///
/// Exit status: 0 without problems, 1 with a problem, 2 for an invalid command line, 3 if the
/// stream is not available.
#[derive(Debug, Parser)]
#[command(name = "agui-verify", version)]
pub(crate) struct Cli {
    /// File with the stream, or `-` for standard input: a body of server-sent events, JSON lines or
    /// protobuf frames.
    #[arg(default_value = "-", conflicts_with = "url")]
    pub(crate) file: PathBuf,

    /// Requests the stream from an agent: posts a run input to this URL (`http` only).
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// Run input as a JSON file: the body to post, or the input of a captured stream.
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,

    /// Message of the user, if no input is given.
    #[arg(long, value_name = "TEXT", default_value = "Hello.", conflicts_with = "input")]
    pub(crate) prompt: String,

    /// Additional request header, as `NAME: VALUE`.
    #[arg(long = "header", value_name = "HEADER", requires = "url")]
    pub(crate) headers: Vec<String>,

    /// The rules to apply.
    #[arg(long, value_enum, default_value_t = Profile::Strict)]
    pub(crate) profile: Profile,

    /// Encoding of the stream; detected by default. With --url, the accepted encoding.
    #[arg(long, value_enum)]
    pub(crate) form: Option<FormArg>,

    /// Number of events shown before the problem.
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    pub(crate) context: usize,

    /// Prints a JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Profile {
    /// All requirements of the specification for producers.
    Strict,
    /// Requirements of the first-party client 1.0.0.
    Tolerant,
    /// Requirements of the first-party client 0.0.59.
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
