use clap::Parser;
use core::time::Duration;
use semconv_map::Policy;
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;

/// Traces the Agent Client Protocol (ACP) between an editor and an agent.
///
/// Runs COMMAND as the agent and passes its standard input and output through, unchanged and at once. What passes is
/// turned into OpenTelemetry GenAI spans, which go to a collector over OTLP/gRPC.
#[derive(Debug, Parser)]
#[command(version, after_help = EXIT_STATUS)]
pub(crate) struct Options {
    /// Where the collector listens for OTLP over gRPC
    /// [env: OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_ENDPOINT] [default: http://127.0.0.1:4317]
    #[arg(long, value_name = "URL")]
    pub(crate) otlp_endpoint: Option<String>,

    /// The service that the spans belong to [default: acp-traces]
    #[arg(long, value_name = "NAME", env = "OTEL_SERVICE_NAME")]
    pub(crate) service_name: Option<String>,

    /// Record what people, the model and tools said; without it no text, path or command leaves this machine
    #[arg(long)]
    pub(crate) record_content: bool,

    /// Write all messages to FILE, which is overwritten: with time, direction and everything in them
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// How long the agent may take to end by itself once the editor has gone, before it is told to (SIGTERM)
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub(crate) grace: Duration,

    /// The agent and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

impl Options {
    /// What is traced and how.
    pub(crate) fn policy(&self) -> Policy {
        let mut policy = Policy::default();
        policy.record_content = self.record_content;
        policy.network_transport = Some(Cow::Borrowed("pipe"));
        policy
    }
}

const EXIT_STATUS: &str = "\
Exit status: the agent's; 128 + N if signal N ended it; 127 if COMMAND was not found, 126 if it cannot be run, \
2 for a wrong command line.";

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
