//! A recorded session, traced as if it were now: the same transcript gives the same spans, to the byte.

use crate::PROGRAM;
use crate::cli::ReplayOptions;
use crate::export::{Destinations, JsonLines};
use crate::line_file::{OpenError, append, is_same};
use crate::observe::too_many;
use crate::record::as_it_passed;
use acp_otlp::{Collector, Ids, Made, Tracing};
use core::time::Duration;
use jsonrpc_core::transcript::{Conductor, Entry};
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use semconv_map::CloseReason;
use serde_json::Value;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};
use std::path::Path;
use std::process::ExitCode;
use tokio::runtime::{Builder, Runtime};

/// The number of invalid lines that are reported one by one.
const MAX_REPORTED: usize = 10;

/// How many spans a collector gets at once: what the SDK sends of a session.
const BATCH: usize = 512;

/// Reads the transcript and hands its spans on.
///
/// # Errors
/// The transcript cannot be read to its end, or the file of spans cannot be written.
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
    let mut tracing = options.spans.tracing(options.spans.reading.policy(), ids);
    let mut end = Duration::ZERO;
    let bad_lines = each_entry(transcript, |entry| {
        end = end.max(entry.time);
        tracing.handle_line(as_it_passed(entry.direction), entry.time, &entry.bytes);
        sink.take_all(&mut tracing)
    })?;
    // The transcript does not say why there is no more of it.
    tracing.close(end, CloseReason::ObserverStopped);
    sink.take_all(&mut tracing)?;
    let complaint = sink.finish()?;
    for complaint in too_many(tracing.counters()).chain(complaint.clone()) {
        eprintln!("acp-traces: {complaint}");
    }
    let failed = bad_lines > 0 || complaint.is_some();
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn set_up<'a>(
    options: &ReplayOptions,
    runtime: &'a Runtime,
) -> Result<(BufReader<File>, Sink<'a>), Box<dyn Error>> {
    // Without the process that replays: the same transcript gives the same spans.
    let resource = PROGRAM.resource(options.spans.service_name.clone());
    let Destinations { collector, file, resource } =
        Destinations::new(&options.spans, resource, runtime.handle())?;
    let transcript = open(&options.transcript)?;
    let file = match file {
        Some(path) if is_same(&path, &options.transcript) => {
            return Err(OpenError::in_use(&path).into());
        }
        Some(path) => Some((JsonLines::new(&resource), BufWriter::new(append(&path)?))),
        None => None,
    };
    let sink = Sink { runtime, collector, is_down: false, batch: Vec::new(), file };
    Ok((transcript, sink))
}

/// Opens a transcript; `-` is standard input, which is copied so that it can be read twice.
///
/// # Errors
/// It cannot be read; in words.
pub(crate) fn open(path: &Path) -> Result<BufReader<File>, String> {
    let cannot_read = |error| format!("cannot read {}: {error}", path.display());
    let file = if path == Path::new("-") {
        tempfile::tempfile().and_then(|mut copy| {
            io::copy(&mut io::stdin().lock(), &mut copy)?;
            copy.rewind()?;
            Ok(copy)
        })
    } else {
        File::open(path)
    };
    let mut transcript = BufReader::new(file.map_err(cannot_read)?);
    // A folder can be opened, but not read.
    transcript.fill_buf().map_err(cannot_read)?;
    Ok(transcript)
}

/// Hands on the messages of a transcript; returns the number of invalid lines. The first [`MAX_REPORTED`] of them are
/// reported on standard error, and then their number.
///
/// # Errors
/// The transcript cannot be read to its end, `take` fails, or the file is no transcript: its first [`MAX_REPORTED`] lines,
/// or all if there are fewer, are invalid.
pub(crate) fn each_entry(
    transcript: impl BufRead,
    mut take: impl FnMut(Entry<'_>) -> io::Result<()>,
) -> io::Result<u64> {
    let (mut valid, mut invalid, mut writer) = (0_u64, Vec::new(), Writer::Unknown);
    let mut unreported = 0;
    for (line, text) in (1_u64..).zip(transcript.split(b'\n')) {
        match writer.entry(&text?) {
            Ok(Some(entry)) => {
                valid += 1;
                take(entry)?;
            }
            Ok(None) => {}
            Err(error) if invalid.len() < MAX_REPORTED => {
                invalid.push(format!("line {line} of the transcript is not an entry: {error}"));
            }
            Err(_) => unreported += 1,
        }
        if valid == 0 && invalid.len() == MAX_REPORTED {
            break;
        }
    }
    if let (0, Some(first)) = (valid, invalid.first()) {
        let why = format!("this is not a transcript of acp-traces or of the conductor: {first}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    for complaint in &invalid {
        eprintln!("acp-traces: {complaint}");
    }
    if unreported > 0 {
        eprintln!("acp-traces: {unreported} more lines are not entries");
    }
    Ok(invalid.len() as u64 + unreported)
}

/// Who wrote a transcript; its first lines tell.
#[derive(Debug)]
enum Writer {
    Unknown,
    /// `--record`, or another program that writes as it does.
    Recorder,
    /// The official conductor: the connection that the first request in its trace went over.
    Conductor(Conductor),
}

impl Writer {
    /// A line of the transcript; nothing if there is no message in it.
    fn entry(&mut self, line: &[u8]) -> Result<Option<Entry<'static>>, Box<dyn Error>> {
        let line = match str::from_utf8(line)?.trim() {
            "" => return Ok(None),
            line => line,
        };
        if let Self::Unknown = self {
            let event = serde_json::from_str::<Value>(line).unwrap_or_default();
            let text = |member: &str| event.get(member).and_then(Value::as_str);
            match (event.get("ts"), text("type"), text("from").zip(text("to"))) {
                (Some(_), Some("request"), Some((us, them))) => {
                    *self = Self::Conductor(Conductor::new(us, them));
                }
                (Some(_), Some(_), _) => return Ok(None),
                _ => *self = Self::Recorder,
            }
        }
        match self {
            Self::Conductor(conductor) => Ok(conductor.entry(line)?),
            _ => Ok(Some(Entry::from_line(line)?)),
        }
    }
}

/// Where spans go, one after the other: there is nobody to keep waiting.
#[derive(Debug)]
struct Sink<'a> {
    runtime: &'a Runtime,
    collector: Option<Collector>,
    /// The collector did not take what it was sent, so nothing more is sent.
    is_down: bool,
    batch: Vec<SpanData>,
    file: Option<(JsonLines, BufWriter<File>)>,
}

impl Sink<'_> {
    /// Takes the spans that have ended. There are no metrics: those of the SDK are of now.
    fn take_all(&mut self, tracing: &mut Tracing) -> io::Result<()> {
        while let Some(made) = tracing.poll() {
            if let Made::Span(span) = made
                && span.span_context.is_sampled()
            {
                self.take(span)?;
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

    /// Sends the rest; then says what was lost.
    fn finish(mut self) -> io::Result<Option<String>> {
        self.send();
        if let Some((_, file)) = &mut self.file {
            file.flush()?;
        }
        Ok(self.collector.and_then(|collector| collector.tally().complaint()))
    }
}
