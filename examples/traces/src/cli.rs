//! Command line options.
use crate::PROGRAM;
use crate::conventions::ReadingOptions;
use crate::editor::Editor;
use crate::report::ReportOptions;
use crate::summary::SummaryOptions;
use crate::transcript::TranscriptOptions;
use crate::view::ViewOptions;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use core::time::Duration;
use opentelemetry::KeyValue;
use semconv_map::trace_context::Baggage;
use semconv_map::{Policy, keys};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use traces::otlp::{
    Backend, Caller, ConnectionTracer, Ids, McpSide, Setup, TraceSampling, Transport,
};

/// Traces the Agent Client Protocol (ACP) between an editor and an agent.
///
/// Runs COMMAND as the agent and passes its standard input and output through, unchanged and
/// without delay. The messages are converted into OpenTelemetry GenAI spans, which are sent to a
/// collector over OTLP or written to a file. With `--mcp`, COMMAND is a server of the Model Context
/// Protocol (MCP).
#[derive(Debug, Parser)]
#[command(
    name = "acp-traces",
    version,
    after_help = EXIT_STATUS,
    override_usage = USAGE,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true
)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) task: Option<Task>,

    #[command(flatten)]
    pub(crate) spans: SpanOptions,

    /// Record all messages in FILE, with time, direction and content
    ///
    /// {time}, {agent}, {pid} and {session} in the name are replaced. In a folder, a file with a
    /// generated name is created. An existing file is never changed; a number is appended to the
    /// name instead.
    #[arg(long, value_name = "FILE|FOLDER")]
    pub(crate) record: Option<PathBuf>,

    /// Continue the recording in another file before a file exceeds SIZE bytes; K, M or G multiply
    /// by 1024
    #[arg(long, value_name = "SIZE", value_parser = bytes, requires = "record")]
    pub(crate) record_size: Option<u64>,

    /// Propagate trace context: set the traceparent and tracestate in the `_meta` of each request
    /// to those of its span
    ///
    /// Other parts of a message are unchanged. Messages are buffered until they are complete.
    #[arg(long)]
    pub(crate) inject_context: bool,

    /// Answer permission requests by the rules of FILE
    ///
    /// A request that a rule allows or rejects is answered at once, and the editor does not get it.
    /// All other bytes are unchanged. Messages are buffered until they are complete.
    #[arg(long, value_name = "FILE", conflicts_with = "mcp")]
    pub(crate) permissions: Option<PathBuf>,

    /// Send metrics to the collector: durations of turns, tools and permissions, tokens, cost [env:
    /// OTEL_METRICS_EXPORTER=otlp]
    #[arg(long)]
    pub(crate) metrics: bool,

    /// Send metrics of the proxy itself to the collector: messages, delivered spans, and dropped
    /// data
    #[arg(long)]
    pub(crate) self_metrics: bool,

    /// Seconds that the agent may take to exit after the editor has disconnected, before it is sent
    /// SIGTERM
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "5",
        value_parser = seconds,
        allow_negative_numbers = true
    )]
    pub(crate) grace: Duration,

    /// Document of the official agent registry, with names of agents in addition to the known ones
    #[arg(long, value_name = "FILE", conflicts_with = "mcp")]
    pub(crate) agents: Option<PathBuf>,

    /// Name of a known agent, such as `gemini`, or a command with its arguments; with `--mcp` a
    /// command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Tasks other than running an agent.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Trace a recorded session with its original times
    ///
    /// The ids of spans and traces are derived from the transcript, so that the spans are the same
    /// each time.
    Replay(ReplayOptions),
    /// Create a report of a recorded session
    ///
    /// The report is a self-contained HTML file. It shows the conversation beside a waterfall of
    /// tool calls, permissions and waits, and the tokens and the cost as curves. Other formats are
    /// for other programs.
    Report(ReportOptions),
    /// Show recorded and running sessions in a browser
    ///
    /// Serves the pages of reports on loopback and writes their URL, which contains a token, to
    /// standard output. A page follows a recording that grows. Other pages list, search and compare
    /// sessions, and show the lines of a transcript with the findings of acp-lint. Content is
    /// shown.
    View(ViewOptions),
    /// List recorded sessions: agent, model, turns, tools, errors, tokens and cost
    Sessions(SummaryOptions),
    /// Show how long turns, tools and requests take over recorded sessions, in seconds
    Stats(SummaryOptions),
    /// Print the settings with which an editor starts an agent with tracing
    ///
    /// Options before `--` become part of the settings, for example: acp-traces setup zed --backend
    /// phoenix -- gemini
    Setup(SetupOptions),
    /// Write shell completions to standard output
    Completions {
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
    /// Write manual pages into a folder, which is created if necessary
    Man {
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
}

/// Writes completions for `shell` to standard output.
pub(crate) fn complete(shell: Shell) -> io::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Options::command(), "acp-traces", &mut script);
    // The script for bash refers to subcommands by two names if the program name contains a hyphen,
    // and would not find one of them.
    let script = String::from_utf8_lossy(&script).replace("acp__subcmd__traces", "acp__traces");
    io::stdout().write_all(script.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a manual page for the program and for each task into `folder`, which is created if
/// necessary.
pub(crate) fn write_manual(folder: &Path) -> io::Result<ExitCode> {
    let written = fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Options::command(), folder));
    Ok(match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("acp-traces: cannot write to {}: {error}", folder.display());
            ExitCode::from(2)
        }
    })
}

#[derive(Debug, Args)]
#[command(override_usage = "acp-traces setup <EDITOR> [OPTIONS] -- <COMMAND>...")]
pub(crate) struct SetupOptions {
    #[arg(value_name = "EDITOR")]
    pub(crate) editor: Editor,

    /// Options of acp-traces, `--`, and the name of a known agent or a command with its arguments
    #[arg(
        required = true,
        value_name = "OPTIONS -- COMMAND",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayOptions {
    #[command(flatten)]
    pub(crate) spans: SpanOptions,

    #[command(flatten)]
    pub(crate) transcript_options: TranscriptOptions,

    /// Transcript written by `--record`, or by the ACP conductor with `--trace`; `-` is standard
    /// input
    #[arg(value_name = "TRANSCRIPT")]
    pub(crate) transcript: PathBuf,
}

/// Options for spans and their destination.
#[derive(Debug, Args)]
pub(crate) struct SpanOptions {
    #[command(flatten)]
    pub(crate) reading: ReadingOptions,

    /// Trace the Model Context Protocol (MCP), as SIDE of the connection sees it [default: client]
    #[arg(
        long,
        value_name = "SIDE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "client"
    )]
    pub(crate) mcp: Option<McpSide>,

    /// URL of the OTLP collector; over HTTP, /v1/traces is appended [env:
    /// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_ENDPOINT] [default:
    /// http://127.0.0.1:4317, over HTTP http://127.0.0.1:4318]
    #[arg(long, value_name = "URL")]
    pub(crate) otlp_endpoint: Option<String>,

    /// Transport of spans [env: OTEL_EXPORTER_OTLP_TRACES_PROTOCOL, OTEL_EXPORTER_OTLP_PROTOCOL]
    /// [default: grpc]
    #[arg(long, value_name = "PROTOCOL")]
    pub(crate) protocol: Option<Transport>,

    /// Backend that stores the spans, for its default URL and the attributes that it reads
    #[arg(long, value_name = "BACKEND", default_value = "otel")]
    pub(crate) backend: Backend,

    /// Record an attribute on each span; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = attribute)]
    pub(crate) attribute: Vec<(String, String)>,

    /// Record the user on each span, as `user.id`
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) user: Option<String>,

    /// Traces of requests that set up the connection
    #[arg(long, value_name = "TRACES", default_value = "own")]
    pub(crate) setup: Setup,

    /// Send content in events as log records, instead of in span events [env:
    /// OTEL_LOGS_EXPORTER=otlp]
    #[arg(long)]
    pub(crate) logs: bool,

    /// Role of the span that a client sends with its request
    #[arg(long, value_name = "ROLE", default_value = "parent")]
    pub(crate) caller: Caller,

    /// Append spans to FILE, as OTLP JSON lines; a collector then has to be configured explicitly
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Record the entry KEY of a request's baggage on its span; may be repeated
    #[arg(long, value_name = "KEY", value_parser = baggage_key)]
    pub(crate) baggage: Vec<String>,

    /// Service name of the spans [default: acp-traces]
    #[arg(long, value_name = "NAME", env = "OTEL_SERVICE_NAME")]
    pub(crate) service_name: Option<String>,
}

impl SpanOptions {
    /// Creates the tracing of a session.
    pub(crate) fn tracing(&self, policy: Policy, ids: Ids) -> ConnectionTracer {
        let sampling = TraceSampling::of_environment(PROGRAM);
        let tracing = match self.mcp {
            None => ConnectionTracer::new(PROGRAM, policy, ids),
            Some(side) => ConnectionTracer::new_mcp(PROGRAM, policy, side, ids),
        };
        tracing
            .with_sampling(sampling)
            .with_baggage(self.baggage.clone())
            .with_setup(self.setup)
            .with_caller(self.caller)
            .with_backend(self.backend, self.common_attributes())
    }

    /// Returns the attributes of each span.
    fn common_attributes(&self) -> Vec<KeyValue> {
        let user = self.user.iter().map(|user| KeyValue::new("user.id", user.clone()));
        let given = self.attribute.iter();
        user.chain(given.map(|(key, value)| KeyValue::new(key.clone(), value.clone()))).collect()
    }
}

/// Parses an attribute. Its key follows the rules of [`baggage_key`].
fn attribute(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((baggage_key(key)?, value.to_owned()))
}

const USAGE: &str = "\
acp-traces [OPTIONS] -- <COMMAND>...
       acp-traces --mcp [OPTIONS] -- <COMMAND>...
       acp-traces replay [OPTIONS] <TRANSCRIPT>
       acp-traces report [OPTIONS] -o <FILE> <TRANSCRIPT>
       acp-traces view [OPTIONS] <PATH>...
       acp-traces sessions [OPTIONS] <PATH>...
       acp-traces stats [OPTIONS] <PATH>...
       acp-traces setup <EDITOR> [OPTIONS] -- <COMMAND>...
       acp-traces completions <SHELL>
       acp-traces man <FOLDER>";

const EXIT_STATUS: &str = "\
Exit status: the agent's; 128 + N if signal N ended it; 127 if COMMAND was not found, 126 if it cannot be run, \
2 for a wrong command line.";

/// Parses a baggage key. Keys in the namespaces of span attributes are rejected.
fn baggage_key(text: &str) -> Result<String, &'static str> {
    let entry = Baggage::parse(&format!("{text}="));
    let is_key = entry.is_some_and(|it| it.entries().map(|(key, _)| key).eq([text]));
    if !is_key {
        return Err("expected a W3C baggage key");
    }
    let mut taken = keys::ATTRIBUTES.iter().filter_map(|key| key.split_once('.'));
    if text.split_once('.').is_some_and(|(own, _)| taken.any(|(namespace, _)| namespace == own)) {
        return Err("expected a key outside the namespaces of the conventions");
    }
    Ok(text.to_owned())
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or("expected a number of seconds, 0 or more")
}

fn bytes(text: &str) -> Result<u64, &'static str> {
    const UNITS: [(char, u32); 3] = [('K', 10), ('M', 20), ('G', 30)];
    let unit = UNITS.into_iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)));
    let (number, shift) = unit.unwrap_or((text, 0));
    let bytes = number.parse().ok().and_then(|number: u64| number.checked_mul(1 << shift));
    bytes.filter(|bytes| *bytes > 0).ok_or("expected a number of bytes, such as 64M")
}
