//! Reading of transcripts, in the formats of `--record` and of the official conductor.

use clap::Args;
use jsonrpc_core::transcript::{Conductor, Entry};
use serde_json::Value;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek};
use std::path::Path;

/// Maximum number of invalid lines that are reported individually.
const MAX_REPORTED: usize = 10;

/// Maximum number of characters of an invalid line that are quoted.
const MAX_QUOTED: usize = 60;

/// Options for reading a transcript.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct TranscriptOptions {
    /// Names of the components of the traced connection, for traces of the conductor [default:
    /// those of the first request]
    #[arg(long, value_name = "FROM,TO", value_parser = components)]
    pub(crate) components: Option<(String, String)>,
}

fn components(text: &str) -> Result<(String, String), &'static str> {
    let (from, to) = text.split_once(',').ok_or("expected two names separated by a comma")?;
    Ok((from.to_owned(), to.to_owned()))
}

/// Opens a transcript. Standard input (`-`) is copied, so that it can be read twice.
///
/// # Errors
/// Returns an error message if the transcript cannot be read.
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
    // Opening a folder succeeds; reading fails.
    transcript.fill_buf().map_err(cannot_read)?;
    Ok(transcript)
}

/// Calls `take` for each line of a transcript, with its message if it has one. Returns the number
/// of invalid lines. The first [`MAX_REPORTED`] of them are reported on standard error, followed by
/// the number of further ones.
///
/// # Errors
/// Returns an error if the transcript cannot be read completely, `take` fails, or the file is not a
/// transcript: its first [`MAX_REPORTED`] lines, or all if there are fewer, are invalid.
pub(crate) fn each_line(
    transcript: impl BufRead,
    options: &TranscriptOptions,
    mut take: impl FnMut(Option<Entry<'_>>) -> io::Result<()>,
) -> io::Result<u64> {
    let mut reader = Reader::new(options);
    let mut invalid = Vec::new();
    let mut unreported = 0;
    for text in transcript.split(b'\n') {
        let entry = reader.entry(&text?).unwrap_or_else(|error| {
            if invalid.len() < MAX_REPORTED {
                invalid.push(error);
            } else {
                unreported += 1;
            }
            None
        });
        take(entry)?;
        if !reader.is_transcript && invalid.len() == MAX_REPORTED {
            break;
        }
    }
    if let Some(first) = invalid.first().filter(|_| !reader.is_transcript) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, first.of_another_format()));
    }
    for complaint in &invalid {
        eprintln!("acp-traces: {complaint}");
    }
    if unreported > 0 {
        eprintln!("acp-traces: {unreported} more lines are not transcript entries");
    }
    Ok(invalid.len() as u64 + unreported)
}

/// A line that is not an entry of a transcript.
#[derive(Debug, thiserror::Error)]
#[error("line {line} is not a transcript entry: {source}")]
pub(crate) struct InvalidLine {
    line: u64,
    start: String,
    source: Box<dyn Error>,
}

impl InvalidLine {
    /// Describes a file that begins with this line and has no valid one.
    pub(crate) fn of_another_format(&self) -> String {
        let Self { line, start, source } = self;
        format!(
            "line {line}: expected a transcript of acp-traces, with `time`, `direction` and `text`, or a trace of the \
             ACP conductor, got `{start}` ({source})"
        )
    }
}

/// A parser of the lines of a transcript. The format is detected by the first line.
#[derive(Debug)]
pub(crate) struct Reader {
    format: Format,
    components: Option<(String, String)>,
    line: u64,
    /// Whether a line was valid.
    pub(crate) is_transcript: bool,
}

#[derive(Debug)]
enum Format {
    Unknown,
    /// The format of `--record`.
    Recorder,
    /// The format of the official conductor, with the selected connection or that of the first
    /// request.
    Conductor(Conductor),
}

impl Reader {
    pub(crate) fn new(options: &TranscriptOptions) -> Self {
        let components = options.components.clone();
        Self { format: Format::Unknown, components, line: 0, is_transcript: false }
    }

    /// Parses the next line. Returns `None` if it contains no message.
    ///
    /// # Errors
    /// Returns an error if the line is not an entry. The following lines can be parsed.
    pub(crate) fn entry(&mut self, line: &[u8]) -> Result<Option<Entry<'static>>, InvalidLine> {
        self.line += 1;
        let entry = self.parsed(line).map_err(|source| {
            let text = String::from_utf8_lossy(line.get(..4 * MAX_QUOTED).unwrap_or(line));
            let start: String = text.trim().chars().take(MAX_QUOTED).collect();
            InvalidLine {
                line: self.line,
                start: start.replace(char::is_control, "\u{fffd}"),
                source,
            }
        });
        self.is_transcript |= matches!(entry, Ok(Some(_)));
        entry
    }

    fn parsed(&mut self, line: &[u8]) -> Result<Option<Entry<'static>>, Box<dyn Error>> {
        let line = match str::from_utf8(line)?.trim() {
            "" => return Ok(None),
            line => line,
        };
        if let Format::Unknown = self.format {
            let event = serde_json::from_str::<Value>(line).unwrap_or_default();
            let text = |member: &str| event.get(member).and_then(Value::as_str);
            let is_event = event.get("ts").is_some() && text("type").is_some();
            let ends = text("from").zip(text("to")).filter(|_| text("type") == Some("request"));
            match (is_event, self.components.take(), ends) {
                (true, Some((us, them)), _) => {
                    self.format = Format::Conductor(Conductor::new(us, them));
                }
                (true, None, Some((us, them))) => {
                    self.format = Format::Conductor(Conductor::new(us, them));
                }
                (true, None, None) => return Ok(None),
                (false, _, _) => self.format = Format::Recorder,
            }
        }
        match &mut self.format {
            Format::Conductor(conductor) => {
                let entry = conductor.entry(line)?;
                self.is_transcript = true;
                Ok(entry)
            }
            _ => Ok(Some(Entry::from_line(line)?)),
        }
    }
}
