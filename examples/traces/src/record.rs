//! Recording of the session as a transcript.

use crate::line_file::{LineFile, OpenError};
use core::time::Duration;
use jsonrpc_core::transcript::{Direction, Recorder};
use jsonrpc_core::{PeekedMessage, peek_member};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::time::SystemTime;

/// Name of a transcript in a folder.
const NAME: &str = "{time}-{agent}-{pid}.jsonl";

/// Placeholder of the id of the first session.
const SESSION: &str = "{session}";

/// Replacement of [`SESSION`] until the id is known.
const NO_SESSION: &str = "new";

/// Maximum number of characters of a session id in the name of a file.
const MAX_SESSION: usize = 64;

/// Creates the transcript of a session with `agent`.
///
/// `pattern` is a file name, in which `{time}` (UTC, in seconds), `{agent}`, `{pid}` and
/// `{session}` are replaced, or a folder, which is created if the name ends with a separator. An
/// existing file is never changed; a number is appended to the name instead. A file that would
/// exceed `size` bytes is continued in another one.
///
/// # Errors
/// Returns an error if the file cannot be created.
pub(crate) fn begin(
    pattern: &Path,
    size: Option<u64>,
    agent: &OsStr,
) -> Result<TranscriptRecorder, OpenError> {
    let text = pattern.to_string_lossy();
    let pattern = if text.ends_with(std::path::is_separator) || pattern.is_dir() {
        fs::create_dir_all(pattern).map_err(OpenError::of(pattern))?;
        pattern.join(NAME)
    } else {
        pattern.to_owned()
    };
    let name = named(&pattern, agent);
    let (path, session_name) = match name.to_str().filter(|text| text.contains(SESSION)) {
        Some(text) => (text.replace(SESSION, NO_SESSION).into(), Some(text.to_owned())),
        None => (name, None),
    };
    let file = LineFile::create_new(&path, size)?;
    Ok(TranscriptRecorder { recorder: Recorder::new(), file, line: Vec::new(), session_name })
}

fn named(pattern: &Path, agent: &OsStr) -> PathBuf {
    let Some(text) = pattern.to_str().filter(|text| text.contains('{')) else {
        return pattern.to_owned();
    };
    let agent = Path::new(agent).file_stem().unwrap_or_default().to_string_lossy();
    let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let time = time.replace([':', '-'], "");
    let text = text.replace("{time}", &time).replace("{agent}", &part_of_name(&agent));
    text.replace("{pid}", &process::id().to_string()).into()
}

/// Replaces characters that a part of a file name should not contain.
fn part_of_name(text: &str) -> String {
    text.replace(|c: char| !c.is_alphanumeric() && c != '-' && c != '_', "-")
}

/// Returns the session of a message: of its parameters, or of the response that creates it.
fn session_of(message: &PeekedMessage<'_>) -> Option<String> {
    let id = match message.result() {
        Some(result) => peek_member(result, "sessionId").ok()?,
        None => message.param(&["sessionId"]),
    };
    let id: String = serde_json::from_str(id?).ok()?;
    Some(part_of_name(&id).chars().take(MAX_SESSION).collect())
}

/// Records messages.
#[derive(Debug)]
pub(crate) struct TranscriptRecorder {
    recorder: Recorder,
    file: LineFile,
    line: Vec<u8>,
    /// The name of the file with [`SESSION`], until the session is known.
    session_name: Option<String>,
}

impl TranscriptRecorder {
    /// Returns the file.
    pub(crate) fn file(&self) -> &LineFile {
        &self.file
    }

    /// Returns whether the name of the file lacks the id of the session.
    pub(crate) fn needs_session(&self) -> bool {
        self.session_name.is_some()
    }

    /// Records a line. `time` is relative to the Unix epoch. `message` is the line, peeked, which
    /// is only used if the [session is needed](Self::needs_session).
    pub(crate) fn record(
        &mut self,
        direction: Direction,
        time: Duration,
        line: &[u8],
        message: Option<&PeekedMessage<'_>>,
    ) {
        self.line.clear();
        self.recorder.record(time, direction, line, &mut self.line);
        self.file.offer(&self.line);
        if let Some(name) = &self.session_name
            && let Some(session) = message.and_then(session_of)
        {
            self.file.rename(name.replace(SESSION, &session).into());
            self.session_name = None;
        }
    }
}
