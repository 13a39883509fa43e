//! Replays a recorded session. The same transcript results in the same spans, byte for byte.

use crate::PROGRAM;
use crate::cli::ReplayOptions;
use crate::export::{self, Destinations, JsonLines};
use crate::line_file::{OpenError, append, is_same};
use crate::observe::missing;
use crate::transcript::{each_line, open};
use core::time::Duration;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use semconv_map::ClosedBy;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use traces::otlp::{Collector, ConnectionTracer, Ids, Logs, TraceOutput};

/// Number of spans or log records in a batch, the same as in the SDK.
const BATCH: usize = 512;

/// Replays the transcript and exports its spans.
///
/// # Errors
/// Returns an error if the transcript cannot be read completely, or the file of spans cannot be
/// written.
pub(crate) fn run(options: &ReplayOptions) -> io::Result<ExitCode> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let (mut transcript, mut sink) = match set_up(options, &runtime) {
        Ok(ends) => ends,
        Err(error) => {
            eprintln!("acp-traces: {error}");
            return Ok(ExitCode::from(2));
        }
    };
    let ids = Ids::derived(&mut transcript)?;
    transcript.rewind()?;
    let tracing = options.spans.tracing(options.spans.reading.policy(), ids);
    let mut tracing = tracing.with_logs(sink.logs.is_some());
    let mut end = Duration::ZERO;
    let bad_lines = each_line(transcript, &options.transcript_options, |entry| {
        let Some(entry) = entry else { return Ok(()) };
        end = end.max(entry.time);
        tracing.handle_line(entry.direction, entry.time, &entry.bytes);
        sink.take_all(&mut tracing)
    })?;
    // The transcript does not contain the reason of its end.
    tracing.close(end, ClosedBy::Observer);
    sink.take_all(&mut tracing)?;
    let lost = sink.finish()?;
    let failed = bad_lines > 0 || !lost.is_empty();
    for complaint in missing(tracing.counters()).chain(lost) {
        eprintln!("acp-traces: {complaint}");
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn set_up<'a>(
    options: &ReplayOptions,
    runtime: &'a Runtime,
) -> Result<(BufReader<File>, Sink<'a>), Box<dyn Error>> {
    // Attributes of the replaying process are omitted, so that the output is deterministic.
    let resource = PROGRAM.resource(options.spans.service_name.clone());
    let Destinations { collector, file, resource } =
        Destinations::new(&options.spans, resource, runtime.handle())?;
    let logs = export::logs(&options.spans, resource.clone(), runtime.handle())?;
    let transcript = open(&options.transcript)?;
    let file = match file {
        Some(path) if is_same(&path, &options.transcript) => {
            return Err(OpenError::in_use(&path).into());
        }
        Some(path) => Some((JsonLines::new(&resource), BufWriter::new(append(&path)?))),
        None => None,
    };
    let sink =
        Sink { runtime, collector, is_down: false, batch: Vec::new(), logs, logged: 0, file };
    Ok((transcript, sink))
}

/// The destinations of spans and log records. Export is synchronous, because no session is waiting.
#[derive(Debug)]
struct Sink<'a> {
    runtime: &'a Runtime,
    collector: Option<Collector>,
    /// Whether the collector has failed. Nothing more is sent then.
    is_down: bool,
    batch: Vec<SpanData>,
    logs: Option<Logs>,
    /// Number of log records in the queue.
    logged: usize,
    file: Option<(JsonLines, BufWriter<File>)>,
}

impl Sink<'_> {
    /// Exports the ended spans. Metrics are not exported, because those of the SDK have the current
    /// time.
    fn take_all(&mut self, tracing: &mut ConnectionTracer) -> io::Result<()> {
        while let Some(made) = tracing.poll() {
            match made {
                TraceOutput::Span(span) if span.span_context.is_sampled() => self.take(span)?,
                TraceOutput::Log(event) => {
                    if let Some(logs) = &self.logs {
                        logs.record(event);
                        self.logged = (self.logged + 1) % BATCH;
                        if self.logged == 0 {
                            logs.flush();
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn take(&mut self, span: SpanData) -> io::Result<()> {
        if let Some((lines, file)) = &mut self.file {
            file.write_all(lines.line(span.clone()))?;
        }
        if let Some(collector) = &self.collector {
            collector.tally().count_made();
            self.batch.push(span);
            if self.batch.len() == BATCH {
                self.send();
            }
        }
        Ok(())
    }

    fn send(&mut self) {
        let batch = core::mem::take(&mut self.batch);
        if let Some(collector) = &self.collector
            && !self.is_down
            && !batch.is_empty()
        {
            self.is_down = self.runtime.block_on(collector.export(batch)).is_err();
        }
    }

    /// Exports the remaining spans and log records. Returns descriptions of lost ones.
    fn finish(mut self) -> io::Result<Vec<String>> {
        self.send();
        if let Some(logs) = &self.logs {
            logs.flush();
        }
        if let Some((_, file)) = &mut self.file {
            file.flush()?;
        }
        let spans = self.collector.map(|collector| collector.tally());
        let logs = self.logs.map(|logs| Arc::clone(logs.tally()));
        Ok(spans.into_iter().chain(logs).filter_map(|tally| tally.complaint()).collect())
    }
}
