//! A live session: the agent, the relay in both directions, and the outputs.

use crate::PROGRAM;
use crate::agent;
use crate::cli::Options;
use crate::export::{self, Destinations, Exporter};
use crate::line_file::{OpenError, is_same};
use crate::observe::{self, Interception, SharedWatch};
use crate::record::{self, TranscriptRecorder};
use host::permissions::Watcher;
use host::relay::{Observer, Session, SessionEnd, StartError};
use semconv_map::ClosedBy;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use tokio::runtime::{Builder, Runtime};
use traces::otlp::{Exports, Ids};

/// Runs the agent and relays messages until it exits. Exits with its status, or returns the status
/// of an invalid command line.
///
/// # Errors
/// Returns an error if the operating system denies threads, descriptors or signal handlers.
pub(crate) fn run(options: &Options) -> io::Result<ExitCode> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    if let Some(error) = same_file(options) {
        eprintln!("acp-traces: {error}");
        return Ok(ExitCode::from(2));
    }
    let command = match options.spans.mcp {
        Some(_) => Ok(agent::Command::of_words(&options.command)),
        None => agent::command(&options.command, options.agents.as_deref()),
    };
    let command = match command {
        Ok(command) => command,
        Err(error) => {
            eprintln!("acp-traces: {error}");
            let is_missing = matches!(error, agent::Error::Launch(_));
            return Ok(ExitCode::from(if is_missing { 127 } else { 2 }));
        }
    };
    let rules = match agent::rules(&command, options.permissions.as_deref()) {
        Ok(rules) => rules,
        Err(error) => {
            eprintln!("acp-traces: --permissions: {error}");
            return Ok(ExitCode::from(2));
        }
    };
    let (exporter, transcript) = set_up(options, &runtime);
    let mut policy = options.spans.reading.policy();
    let has_logs = exporter.to_collectors.has_logs();
    let has_metrics = exporter.to_collectors.has_metrics();
    policy.record_metrics = has_metrics && export::measures_traffic(options);
    let records = has_metrics || has_logs || transcript.is_some();
    let traces = exporter.has_destination();
    let injects = options.inject_context;
    let tracing = options.spans.tracing(policy, Ids::random()).with_logs(has_logs);
    let watch = SharedWatch::new(exporter, tracing, transcript);
    let treats = !rules.is_empty() || (traces && injects);
    let watching = match (traces, treats) {
        (_, true) => {
            // The context of a span without a destination is not propagated.
            let injects = traces && injects;
            let rules = Mutex::new(Watcher::new(rules));
            Observer::Inserts(Arc::new(Interception { watch: watch.clone(), injects, rules }))
        }
        (true, false) => Observer::Copies,
        (false, _) if records => Observer::Copies,
        (false, _) => Observer::Nothing,
    };
    let agent::Command { words, variables, .. } = command;
    let started = Session::start("acp-traces", &words, &variables, runtime.handle(), watching);
    let session = match started {
        Ok(session) => session,
        Err(StartError::CannotRun(status)) => return Ok(status),
        Err(StartError::Io(error)) => return Err(error),
    };
    let observer = observe::start(Arc::clone(session.tap()), watch)?;
    let SessionEnd { status, is_client_closed } = session.supervise(options.grace);
    observer.finish(if is_client_closed { ClosedBy::Client } else { ClosedBy::Agent });
    runtime.shutdown_background();
    std::process::exit(status)
}

/// Opens the outputs. A failure is reported, and the session continues without that output.
fn set_up(options: &Options, runtime: &Runtime) -> (Exporter, Option<TranscriptRecorder>) {
    let resource = PROGRAM.running_resource(options.spans.service_name.clone());
    let destinations = Destinations::new(&options.spans, resource.clone(), runtime.handle());
    let destinations = destinations.unwrap_or_else(|error| {
        eprintln!("acp-traces: {error}; no spans are sent");
        Destinations::file_only(&options.spans, resource.clone())
    });
    let file = export::span_file(destinations.file, &resource).unwrap_or_else(|error| {
        eprintln!("acp-traces: {error}; no spans are written there");
        None
    });
    let logs = export::logs(&options.spans, resource.clone(), runtime.handle());
    let logs = logs.unwrap_or_else(|error| {
        eprintln!("acp-traces: {error}; no log records are sent");
        None
    });
    let metrics = export::metrics(options, resource, runtime.handle());
    let (metrics, own) = metrics.unwrap_or_else(|error| {
        eprintln!("acp-traces: {error}; no metrics are sent");
        (None, None)
    });
    let exports = Exports::new(destinations.collector, logs, metrics);
    let agent = options.command.first().map(OsString::as_os_str).unwrap_or_default();
    let transcript = options.record.as_deref().and_then(|pattern| {
        let begun = record::begin(pattern, options.record_size, agent);
        begun.map_err(|error| eprintln!("acp-traces: {error}; nothing is recorded")).ok()
    });
    let path = transcript.as_ref().map(|recording| recording.file().path());
    if let Some(path) = path.filter(|path| Some(path) != options.record.as_ref()) {
        eprintln!("acp-traces: recording to {}", path.display());
    }
    (Exporter::new(exports, file, own), transcript)
}

/// Returns an error if spans and the transcript use the same file.
fn same_file(options: &Options) -> Option<OpenError> {
    let (path, spans) = options.record.as_ref().zip(options.spans.file.as_ref())?;
    is_same(path, spans).then(|| OpenError::in_use(path))
}
