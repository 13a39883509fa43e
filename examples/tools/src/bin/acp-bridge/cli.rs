//! Command line options.
use acp_types::convert::BridgeOptions;
use acp_types::v1::initialization::ProtocolVersion;
use clap::Parser;
use clap::builder::TypedValueParser;
use core::time::Duration;
use std::path::PathBuf;

/// Connects an editor and an agent that speak different versions of the Agent Client Protocol
/// (ACP).
///
/// Runs COMMAND as the agent and converts the messages of both sides on standard input and output.
/// If both sides speak the same version, all bytes pass unchanged.
#[derive(Debug, Parser)]
#[command(name = "acp-bridge", version, override_usage = "acp-bridge [OPTIONS] -- COMMAND...", after_help = EXIT_STATUS)]
pub(crate) struct Options {
    /// Newest version for the editor; it gets an older one if it requests that
    #[arg(long, value_name = "VERSION", default_value = "2", value_parser = version())]
    editor: u16,

    /// Newest version that the agent is offered; the one that it speaks decides
    #[arg(long, value_name = "VERSION", default_value = "2", value_parser = version())]
    agent: u16,

    /// Write each loss of the conversion to standard error, not only the first of a kind
    #[arg(long)]
    pub(crate) verbose: bool,

    /// Seconds that the agent may take to exit after the editor has disconnected, before it is
    /// terminated
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub(crate) grace: Duration,

    /// Document of the official agent registry, with names of agents in addition to the known ones
    #[arg(long, value_name = "FILE")]
    pub(crate) agents: Option<PathBuf>,

    /// Name of a known agent, such as `gemini`, or a command with its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

const EXIT_STATUS: &str = "\
Exit status: that of the agent, 128 + N if signal N ended it; 1 if the sides have no common version or a stream fails,
2 for an invalid command line, 127 if the agent cannot be started.";

impl Options {
    pub(crate) fn bridge(&self) -> BridgeOptions {
        BridgeOptions::default()
            .with_editor(ProtocolVersion(self.editor))
            .with_agent(ProtocolVersion(self.agent))
    }
}

fn version() -> impl TypedValueParser<Value = u16> {
    clap::builder::PossibleValuesParser::new(["1", "2"])
        .map(|version| if version == "1" { 1 } else { 2 })
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
