use crate::PROGRAM;
use crate::conventions::{Choice, Content, Release, redaction};
use acp_otlp::{Ids, Sampling, Tracing, Transport};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use core::time::Duration;
use regex::Regex;
use semconv_map::content::Capture;
use semconv_map::policy::ProviderPolicy;
use semconv_map::trace_context::Baggage;
use semconv_map::{Policy, Profile, keys};
use std::borrow::Cow;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Traces the Agent Client Protocol (ACP) between an editor and an agent.
///
/// Runs COMMAND as the agent and passes its standard input and output through, unchanged and at once. What passes is
/// turned into OpenTelemetry GenAI spans, which go to a collector over OTLP, or to a file.
#[derive(Debug, Parser)]
#[command(
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

    /// Write all messages to FILE, with time, direction and content
    ///
    /// {time}, {agent} and {pid} in the name are replaced; a folder gets a file of such a name. An existing file is never
    /// changed: the next free name is taken, with a number.
    #[arg(long, value_name = "FILE|FOLDER")]
    pub(crate) record: Option<PathBuf>,

    /// Tell the receiver of each request its span: put traceparent and tracestate into `_meta` where neither is there
    ///
    /// Nothing else of a message changes. Messages are then passed on when they are whole and were looked at.
    #[arg(long)]
    pub(crate) inject_context: bool,

    /// Send metrics to the collector as well: how long turns, tools and permissions took, tokens, cost
    /// [env: OTEL_METRICS_EXPORTER=otlp]
    #[arg(long)]
    pub(crate) metrics: bool,

    /// Send metrics of the proxy itself to the collector: what it saw, what it sent, and what it dropped
    #[arg(long)]
    pub(crate) self_metrics: bool,

    /// How long the agent may take to end by itself once the editor has gone, before it is told to (SIGTERM)
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "5",
        value_parser = seconds,
        allow_negative_numbers = true
    )]
    pub(crate) grace: Duration,

    /// The agent and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// What to do instead of running an agent.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Trace a session that was recorded, with its times
    ///
    /// The ids of spans and traces follow from the transcript: the same one gives the same spans each time.
    Replay(ReplayOptions),
    /// Make a page of a session that was recorded
    ///
    /// One HTML file, with nothing to be fetched and no script: each turn with its tool calls, permissions and waits as a
    /// waterfall, and the tokens and the cost as curves.
    Report(ReportOptions),
    /// Write completions for a shell to standard output
    Completions {
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
    /// Write manual pages into a folder, which is made if it is not there
    Man {
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
}

/// Writes completions for `shell` to standard output.
pub(crate) fn complete(shell: Shell) -> io::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Options::command(), env!("CARGO_PKG_NAME"), &mut script);
    // The script for bash calls tasks by two names, as ours has a hyphen, and so would not find what it knows of them.
    let script = String::from_utf8_lossy(&script).replace("acp__subcmd__traces", "acp__traces");
    io::stdout().write_all(script.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a manual page for the program and one for each task into `folder`, which is made if it is not there.
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
pub(crate) struct ReplayOptions {
    #[command(flatten)]
    pub(crate) spans: SpanOptions,

    /// A transcript that `--record` wrote, or the conductor of ACP with `--trace`; `-` for standard input
    #[arg(value_name = "TRANSCRIPT")]
    pub(crate) transcript: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    #[command(flatten)]
    pub(crate) reading: ReadingOptions,

    /// A transcript that `--record` wrote, or the conductor of ACP with `--trace`; `-` for standard input
    #[arg(value_name = "TRANSCRIPT")]
    pub(crate) transcript: PathBuf,

    /// The page, which is overwritten; `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// Which spans, and where they go.
#[derive(Debug, Args)]
pub(crate) struct SpanOptions {
    #[command(flatten)]
    pub(crate) reading: ReadingOptions,

    /// Where the collector listens for OTLP; over HTTP, /v1/traces is below it
    /// [env: OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_ENDPOINT]
    /// [default: http://127.0.0.1:4317, over HTTP http://127.0.0.1:4318]
    #[arg(long, value_name = "URL")]
    pub(crate) otlp_endpoint: Option<String>,

    /// How spans travel to the collector
    /// [env: OTEL_EXPORTER_OTLP_TRACES_PROTOCOL, OTEL_EXPORTER_OTLP_PROTOCOL] [default: grpc]
    #[arg(long, value_name = "PROTOCOL")]
    pub(crate) protocol: Option<Transport>,

    /// Append spans to FILE, a line of OTLP in JSON each; they go to a collector as well only if one is named
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Record the entry KEY of a request's baggage on its span, as it is; may be given more than once
    #[arg(long, value_name = "KEY", value_parser = baggage_key)]
    pub(crate) baggage: Vec<String>,

    /// The service that the spans belong to [default: acp-traces]
    #[arg(long, value_name = "NAME", env = "OTEL_SERVICE_NAME")]
    pub(crate) service_name: Option<String>,
}

impl SpanOptions {
    /// What makes spans of lines.
    pub(crate) fn tracing(&self, policy: Policy, ids: Ids) -> Tracing {
        let sampling = Sampling::of_environment(PROGRAM);
        Tracing::new(PROGRAM, policy, ids)
            .with_sampling(sampling)
            .with_baggage(self.baggage.clone())
    }
}

/// How to read what passed.
#[derive(Debug, Args)]
pub(crate) struct ReadingOptions {
    /// Which release of the semantic conventions the spans follow
    /// [env: OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental for genai-dev] [default: v1.41]
    #[arg(long, value_name = "RELEASE")]
    profile: Option<Release>,

    /// How to read what the conventions leave open; may be given more than once, the last word counts
    #[arg(long, value_name = "CHOICE")]
    pub(crate) policy: Vec<Choice>,

    /// The provider of the agent, whatever `--policy` says of it
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) provider: Option<String>,

    /// Record what people, the model and tools said; without it no text, path or command is in a span
    #[arg(
        long,
        value_name = "WHERE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "span"
    )]
    pub(crate) record_content: Option<Content>,

    /// Replace what matches the regular expression in all that is recorded by `[redacted]`; may be given more than once
    #[arg(long, value_name = "REGEX")]
    pub(crate) redact: Vec<Regex>,
}

impl ReadingOptions {
    /// The release of the conventions.
    pub(crate) fn profile(&self) -> Profile {
        self.profile.unwrap_or_else(Release::of_environment).profile()
    }

    /// What is traced and how.
    pub(crate) fn policy(&self) -> Policy {
        let mut policy = Policy::default();
        policy.profile = self.profile();
        self.policy.iter().for_each(|choice| choice.apply(&mut policy));
        if let Some(name) = &self.provider {
            policy.provider = ProviderPolicy::Fixed(Cow::Owned(name.clone()));
        }
        policy.content = self.record_content.map_or(Capture::Off, Content::capture);
        policy.redaction = redaction(&self.redact);
        policy.network_transport = Some(Cow::Borrowed("pipe"));
        policy
    }
}

const USAGE: &str = "\
acp-traces [OPTIONS] -- <COMMAND>...
       acp-traces replay [OPTIONS] <TRANSCRIPT>
       acp-traces report [OPTIONS] -o <FILE> <TRANSCRIPT>
       acp-traces completions <SHELL>
       acp-traces man <FOLDER>";

const EXIT_STATUS: &str = "\
Exit status: the agent's; 128 + N if signal N ended it; 127 if COMMAND was not found, 126 if it cannot be run, \
2 for a wrong command line.";

/// A key that baggage may have, in no namespace of the attributes that a span may have anyway.
fn baggage_key(text: &str) -> Result<String, &'static str> {
    let entry = Baggage::parse(&format!("{text}="));
    let is_key = entry.is_some_and(|it| it.entries().map(|(key, _)| key).eq([text]));
    if !is_key {
        return Err("expected the key of an entry, as a W3C baggage has it");
    }
    let mut taken = keys::ATTRIBUTES.iter().filter_map(|key| key.split_once('.'));
    if text.split_once('.').is_some_and(|(own, _)| taken.any(|(namespace, _)| namespace == own)) {
        return Err("expected a key that is no attribute of the conventions");
    }
    Ok(text.to_owned())
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or("expected a number of seconds, 0 or more")
}
