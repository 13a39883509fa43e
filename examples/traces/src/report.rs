//! Reports of recorded sessions, as pages and for other programs.

mod conversation;
mod curve;
mod look;
mod overview;
mod page;
mod rows;
mod session;
mod steps;
mod talk;
mod text;
mod totals;
mod trace_events;
mod waterfall;

pub(crate) use look::Privacy;
pub(crate) use page::{Live, STYLE, of as page_of, security_policy};
pub(crate) use session::{Kind, Session, Span};
pub(crate) use steps::steps_of;
pub(crate) use text::{escaped, span_of_time};

use crate::conventions::ReadingOptions;
use crate::line_file::{self, OpenError, is_same};
use crate::table;
use crate::transcript::{TranscriptOptions, each_line, open};
use clap::{Args, ValueEnum};
use conversation::Conversation;
use jsonrpc_core::transcript::Entry;
use semconv_map::{ClosedBy, Policy, Tracker};
use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A page for browsers
    Html,
    /// Trace events as JSON, for Perfetto and the tools of Chrome
    #[value(alias = "perfetto")]
    Chrome,
    /// The spans as comma-separated values
    Csv,
    /// The spans as an array of objects
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    #[command(flatten)]
    pub(crate) reading: ReadingOptions,

    #[command(flatten)]
    pub(crate) transcript_options: TranscriptOptions,

    /// Transcript written by `--record`, or by the ACP conductor with `--trace`; `-` is standard
    /// input
    #[arg(value_name = "TRANSCRIPT")]
    pub(crate) transcript: PathBuf,

    /// Format of the report
    #[arg(long, value_name = "FORMAT", default_value = "html")]
    pub(crate) format: Format,

    /// Output file, which is overwritten; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// A session that is being read.
#[derive(Debug)]
pub(crate) struct RecordedSession {
    tracker: Tracker,
    pub(crate) session: Session,
    conversation: Conversation,
    lines: u64,
}

impl RecordedSession {
    pub(crate) fn new(mut policy: Policy) -> Self {
        policy.record_metrics = true;
        let session = Session::default();
        let conversation = Conversation::default();
        Self { tracker: Tracker::new(policy), session, conversation, lines: 0 }
    }

    /// Returns the title that the agent has given to a session, if titles are shown.
    pub(crate) fn title(&self, session: &str, privacy: &Privacy) -> Option<String> {
        let talk = self.conversation.sessions.iter().find(|talk| talk.id == session)?;
        privacy.title(talk.state.info().title.value()?)
    }

    /// Handles the next line of the transcript.
    pub(crate) fn handle_line(&mut self, entry: Option<&Entry<'_>>) {
        self.lines += 1;
        let Some(Entry { time, direction, bytes, .. }) = entry else { return };
        self.session.saw(*time);
        self.tracker.handle_line(*direction, *time, bytes);
        self.session.take_all(&mut self.tracker);
        self.conversation.handle_line(*direction, *time, self.lines, bytes);
    }

    /// Extends the spans that are open up to the latest message.
    pub(crate) fn extend(&mut self) {
        self.session.extend();
    }

    /// Ends the spans that are open. The transcript does not contain the reason of its end.
    pub(crate) fn finish(&mut self) {
        self.tracker.close(self.session.end(), ClosedBy::Observer);
        self.session.take_all(&mut self.tracker);
    }
}

/// Reads the transcript and writes its report.
///
/// # Errors
/// Returns an error if the transcript cannot be read completely, or the report cannot be written.
pub(crate) fn run(options: &ReportOptions) -> io::Result<ExitCode> {
    let transcript = match set_up(options) {
        Ok(transcript) => transcript,
        Err(error) => {
            eprintln!("acp-traces: {error}");
            return Ok(ExitCode::from(2));
        }
    };
    let policy = options.reading.policy();
    let privacy = Privacy::new(&options.reading, &policy);
    let (reading, bad_lines) = read(transcript, &options.transcript_options, policy)?;
    let report = match options.format {
        Format::Html => page_of(&reading, &privacy, None),
        Format::Chrome => trace_events::of(&reading.session, &reading.conversation.sessions),
        Format::Csv => rows::of(&reading.session).text(table::Format::Csv),
        Format::Json => rows::of(&reading.session).text(table::Format::Json),
    };
    if options.output == Path::new("-") {
        io::stdout().write_all(report.as_bytes())?;
    } else {
        match line_file::create(&options.output) {
            Ok(mut file) => file.write_all(report.as_bytes())?,
            Err(error) => {
                eprintln!("acp-traces: {error}");
                return Ok(ExitCode::from(2));
            }
        }
    }
    Ok(if bad_lines > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Reads a transcript. Returns its session, and the number of invalid lines.
///
/// # Errors
/// Returns an error if the transcript cannot be read completely.
pub(crate) fn read(
    transcript: impl io::BufRead,
    options: &TranscriptOptions,
    policy: Policy,
) -> io::Result<(RecordedSession, u64)> {
    let mut reading = RecordedSession::new(policy);
    let bad_lines = each_line(transcript, options, |entry| {
        reading.handle_line(entry.as_ref());
        Ok(())
    })?;
    reading.finish();
    Ok((reading, bad_lines))
}

fn set_up(options: &ReportOptions) -> Result<impl io::BufRead + use<>, Box<dyn Error>> {
    let transcript = open(&options.transcript)?;
    if is_same(&options.output, &options.transcript) {
        return Err(OpenError::in_use(&options.output).into());
    }
    Ok(transcript)
}
