//! Recording of the session as a transcript.

use crate::line_file::{LineFile, OpenError};
use core::time::Duration;
use jsonrpc_core::transcript::{Direction, Recorder};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::time::SystemTime;

/// Name of a transcript in a folder.
const NAME: &str = "{time}-{agent}-{pid}.jsonl";

/// Creates the transcript of a session with `agent`.
///
/// `pattern` is a file name, in which `{time}` (UTC, in seconds), `{agent}` and `{pid}` are replaced, or a folder,
/// which is created if the name ends with a separator. An existing file is never changed; a number is appended to the
/// name instead.
///
/// # Errors
/// Returns an error if the file cannot be created.
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

/// Records messages.
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

    /// Returns the file.
    pub(crate) fn file(&self) -> &LineFile {
        &self.file
    }

    /// Records a message. `time` is relative to the Unix epoch.
    pub(crate) fn record(&mut self, direction: Direction, time: Duration, message: &[u8]) {
        self.line.clear();
        self.recorder.record(time, direction, message, &mut self.line);
        self.file.offer(&self.line);
    }
}
