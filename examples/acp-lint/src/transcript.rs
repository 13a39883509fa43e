//! Checks a recorded conversation.

use crate::NAME;
use crate::cli::{Options, UNREADABLE};
use crate::output::{Output, status};
use jsonrpc_core::transcript::{Conductor, Entry};
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;

/// Checks a transcript.
///
/// # Errors
/// Returns an error if the transcript cannot be read, or findings cannot be written.
pub(crate) fn run(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    let Some(path) = &options.transcript else { return Err("no transcript".into()) };
    let mut entries = Entries::new(path, options);
    let (mut linter, mut output) =
        (options.linter(), Output::new(options, Box::new(io::stdout()))?);
    let mut bad_lines = 0_u64;
    let lines = open(path)?.split(b'\n');
    for (number, line) in (1_u64..).zip(lines) {
        match entries.entry(&line?) {
            Ok(Some(entry)) => linter.handle_line(entry.direction, &entry.bytes),
            Ok(None) => linter.skip_line(),
            Err(error) => {
                eprintln!("{NAME}: line {number} is not a transcript entry: {error}");
                linter.skip_line();
                bad_lines += 1;
            }
        }
        output.take(&mut linter, options)?;
    }
    linter.finish();
    output.take(&mut linter, options)?;
    let is_found = output.finish(&linter)?;
    Ok(if bad_lines > 0 { ExitCode::from(UNREADABLE) } else { status(is_found) })
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
