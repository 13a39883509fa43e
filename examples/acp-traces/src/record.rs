//! The session as a transcript.

use crate::line_file::LineFile;
use core::time::Duration;
use jsonrpc_core::transcript::{self, Recorder};
use semconv_map::Direction;

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
