//! One session: the agent, the relay in both directions, and what is made of it.

use crate::cli::Options;
use crate::export::{self, Destinations, Exporter, Measuring};
use crate::line_file::{LineFile, OpenError, is_same};
use crate::observe::{self, SharedWatch};
use acp_otlp::Ids;
use acp_relay::{NotStarted, Session, Watching};
use std::error::Error;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

/// Runs the agent and relays until it ends; ends this program with its exit status, or gives that of a command line that
/// cannot be run.
///
/// # Errors
/// The operating system refuses what every session needs: threads, descriptors, signal handlers; or the exporter cannot be
/// made from these options.
pub(crate) fn run(options: &Options) -> io::Result<ExitCode> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let Outputs { exporter, metrics, transcript } = match set_up(options, &runtime) {
        Ok(outputs) => outputs,
        Err(error) => {
            eprintln!("acp-traces: {error}");
            return Ok(ExitCode::from(2));
        }
    };
    let mut policy = options.spans.reading.policy();
    policy.record_metrics = metrics.is_some() && export::wants_metrics(options);
    let records = metrics.is_some() || transcript.is_some();
    let (traces, injects) = (exporter.has_destination(), options.inject_context);
    let tracing = options.spans.tracing(policy, Ids::random());
    let watch = SharedWatch::new(exporter, metrics, tracing, transcript);
    let watching = match (traces, injects) {
        (true, true) => Watching::Inserts(Arc::new(watch.clone())),
        // A span that goes nowhere is not named to anybody.
        (true, false) => Watching::Copies,
        (false, _) if records => Watching::Copies,
        (false, _) => Watching::Nothing,
    };
    let session = match Session::start("acp-traces", &options.command, runtime.handle(), watching) {
        Ok(session) => session,
        Err(NotStarted::CannotRun(status)) => return Ok(status),
        Err(NotStarted::Io(error)) => return Err(error),
    };
    let observer = observe::start(Arc::clone(session.tap()), watch)?;
    let (status, reason) = session.supervise(options.grace);
    observer.finish(reason);
    runtime.shutdown_background();
    std::process::exit(status)
}

/// Where what is made of a session goes.
struct Outputs {
    exporter: Exporter,
    metrics: Option<Measuring>,
    transcript: Option<LineFile>,
}

/// Makes what the options ask for, before anything runs.
fn set_up(options: &Options, runtime: &Runtime) -> Result<Outputs, Box<dyn Error>> {
    let exporter = Exporter::new(Destinations::new(&options.spans, runtime.handle())?)?;
    let metrics = export::metrics(options, runtime.handle())?;
    let transcript = match (&options.record, &options.spans.file) {
        (Some(path), Some(spans)) if is_same(path, spans) => {
            return Err(OpenError::in_use(path).into());
        }
        (path, _) => path.as_deref().map(LineFile::create).transpose()?,
    };
    Ok(Outputs { exporter, metrics, transcript })
}
