//! Reports of recorded sessions: self-contained HTML without scripts.

mod curve;
mod page;
mod session;

pub(crate) use session::{Kind, Session, Span};

use crate::cli::ReportOptions;
use crate::line_file::{self, OpenError, is_same};
use crate::transcript::{TranscriptOptions, each_line, open};
use semconv_map::{ClosedBy, Counters, Policy, Tracker};
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

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
    let (session, counters, bad_lines) =
        read(transcript, &options.transcript_options, options.reading.policy())?;
    let page = page::of(&session, counters);
    if options.output == Path::new("-") {
        io::stdout().write_all(page.as_bytes())?;
    } else {
        match line_file::create(&options.output) {
            Ok(mut file) => file.write_all(page.as_bytes())?,
            Err(error) => {
                eprintln!("acp-traces: {error}");
                return Ok(ExitCode::from(2));
            }
        }
    }
    Ok(if bad_lines > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Reads a transcript. Returns its session, the counters of data that was not recorded, and the number of invalid lines.
///
/// # Errors
/// Returns an error if the transcript cannot be read completely.
pub(crate) fn read(
    transcript: impl io::BufRead,
    options: &TranscriptOptions,
    mut policy: Policy,
) -> io::Result<(Session, Counters, u64)> {
    policy.record_metrics = true;
    let (mut tracker, mut session) = (Tracker::new(policy), Session::default());
    let bad_lines = each_line(transcript, options, |entry| {
        let Some(entry) = entry else { return Ok(()) };
        session.saw(entry.time);
        tracker.handle_line(entry.direction, entry.time, &entry.bytes);
        session.take_all(&mut tracker);
        Ok(())
    })?;
    // The transcript does not contain the reason of its end.
    tracker.close(session.end(), ClosedBy::Observer);
    session.take_all(&mut tracker);
    Ok((session, tracker.counters(), bad_lines))
}

fn set_up(options: &ReportOptions) -> Result<impl io::BufRead + use<>, Box<dyn Error>> {
    let transcript = open(&options.transcript)?;
    if is_same(&options.output, &options.transcript) {
        return Err(OpenError::in_use(&options.output).into());
    }
    Ok(transcript)
}
