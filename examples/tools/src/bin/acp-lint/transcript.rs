//! Checks a recorded conversation.

use crate::NAME;
use crate::cli::{Options, UNREADABLE};
use crate::output::{Output, status};
use acp_types::lint::Linter;
use jsonrpc_core::transcript::{Conductor, Entry};
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;

/// Checks the transcripts, each as a connection of its own.
///
/// # Errors
/// Returns an error if a transcript cannot be read, or findings cannot be written.
pub(crate) fn run(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    let mut output = Output::new(options, Box::new(io::stdout()))?;
    let rules = options.linter();
    let mut bad_lines = 0;
    for path in &options.transcripts {
        bad_lines += check(path, options, rules.fresh(), &mut output)?;
    }
    let is_found = output.finish()?;
    Ok(if bad_lines > 0 { ExitCode::from(UNREADABLE) } else { status(is_found) })
}

/// Checks a transcript. Returns the number of invalid lines.
fn check(
    path: &Path,
    options: &Options,
    mut linter: Linter,
    output: &mut Output<'_>,
) -> Result<u64, Box<dyn Error>> {
    let mut entries = Entries::new(path, options);
    let mut bad_lines = 0;
    let lines = open(path)?.split(b'\n');
    output.begin(path.display().to_string());
    for (number, line) in (1_u64..).zip(lines) {
        let mut message = None;
        match entries.entry(&line?) {
            Ok(Some(entry)) => {
                linter.handle_line(entry.direction, &entry.bytes);
                message = Some(entry.bytes);
            }
            Ok(None) => linter.skip_line(),
            Err(error) => {
                let name = match &*options.transcripts {
                    [_] => String::new(),
                    _ => format!("{}: ", path.display()),
                };
                eprintln!("{NAME}: {name}line {number} is not a transcript entry: {error}");
                linter.skip_line();
                bad_lines += 1;
            }
        }
        output.take(&mut linter, message.as_deref().map(|message| (number, message)))?;
    }
    linter.finish();
    output.take(&mut linter, None)?;
    output.end(&linter);
    Ok(bad_lines)
}

fn open(path: &Path) -> Result<Box<dyn BufRead>, String> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file =
        File::open(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(Box::new(BufReader::new(file)))
}

/// Parser of transcript lines.
enum Entries {
    /// The format of this workspace.
    Own,
    /// A trace of the official conductor.
    Conductor(Conductor),
}

impl Entries {
    fn new(path: &Path, options: &Options) -> Self {
        if path.extension().is_some_and(|extension| extension == "jsons") {
            let (from, to) = &options.components;
            Self::Conductor(Conductor::new(from.as_str(), to.as_str()))
        } else {
            Self::Own
        }
    }

    /// Parses a line. Returns `None` for a blank line and for an entry of another connection.
    fn entry(&mut self, line: &[u8]) -> Result<Option<Entry<'static>>, Box<dyn Error>> {
        match (self, str::from_utf8(line)?.trim()) {
            (_, "") => Ok(None),
            (Self::Own, line) => Ok(Some(Entry::from_line(line)?)),
            (Self::Conductor(conductor), line) => Ok(conductor.entry(line)?),
        }
    }
}
