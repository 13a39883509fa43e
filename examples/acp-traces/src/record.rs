//! The session as a transcript.

use crate::line_file::{LineFile, OpenError};
use core::time::Duration;
use jsonrpc_core::transcript::{self, Recorder};
use semconv_map::Direction;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::time::SystemTime;

/// The name of a transcript in a folder.
const NAME: &str = "{time}-{agent}-{pid}.jsonl";

/// Begins a transcript of a session with `agent`. `pattern` is a file, in whose name `{time}` (UTC, to the second),
/// `{agent}` and `{pid}` are replaced, or a folder, which is created if it ends with a separator. An existing file is
/// never changed: the next free name is taken.
///
/// # Errors
/// The file cannot be created.
pub(crate) fn begin(pattern: &Path, agent: &OsStr) -> Result<LineFile, OpenError> {
    let text = pattern.to_string_lossy();
    let pattern = if text.ends_with(std::path::is_separator) || pattern.is_dir() {
        fs::create_dir_all(pattern).map_err(OpenError::of(pattern))?;
        pattern.join(NAME)
    } else {
        pattern.to_owned()
    };
    LineFile::create_new(&named(&pattern, agent))
}

fn named(pattern: &Path, agent: &OsStr) -> PathBuf {
    let Some(text) = pattern.to_str().filter(|text| text.contains('{')) else {
        return pattern.to_owned();
    };
    let agent = Path::new(agent).file_stem().unwrap_or_default().to_string_lossy();
    let agent = agent.replace(|c: char| !c.is_alphanumeric() && c != '-' && c != '_', "-");
    let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let time = time.replace([':', '-'], "");
    let text = text.replace("{time}", &time).replace("{agent}", &agent);
    text.replace("{pid}", &process::id().to_string()).into()
}

/// Writes down each message that passed.
#[derive(Debug)]
pub(crate) struct Recording {
    recorder: Recorder,
    file: LineFile,
    line: Vec<u8>,
}

impl Recording {
    pub(crate) fn new(file: LineFile) -> Self {
        Self { recorder: Recorder::new(), file, line: Vec::new() }
    }

    /// What it is written to.
    pub(crate) fn file(&self) -> &LineFile {
        &self.file
    }

    /// Takes in a message; `time` counts from the Unix epoch.
    pub(crate) fn record(
        &mut self,
        direction: transcript::Direction,
        time: Duration,
        message: &[u8],
    ) {
        self.line.clear();
        self.recorder.record(time, direction, message, &mut self.line);
        self.file.offer(&self.line);
    }
}

/// Transcripts are as the editor sees it.
pub(crate) fn as_it_passed(direction: transcript::Direction) -> Direction {
    match direction {
        transcript::Direction::Sent => Direction::ClientToAgent,
        transcript::Direction::Received => Direction::AgentToClient,
    }
}
