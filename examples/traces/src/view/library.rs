//! The transcripts of a folder, read as far as they are written.

use super::ViewOptions;
use crate::report::{Privacy, RecordedSession};
use crate::summary::sessions;
use crate::transcript::{Reader, TranscriptOptions};
use acp_types::lint::{Finding, Linter};
use jsonrpc_core::transcript::Entry;
use semconv_map::Policy;
use semconv_map::content::Capture;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

/// Maximum number of listed transcripts, the newest ones.
const MAX_TRANSCRIPTS: usize = 500;

/// Maximum number of transcripts that are kept in memory.
const MAX_OPEN: usize = 8;

/// Maximum number of bytes of a transcript that are read.
pub(super) const MAX_BYTES: u64 = 256 << 20;

/// Number of bytes of lines that are parsed before they are handled.
const BATCH_BYTES: u64 = 1 << 20;

/// Maximum number of findings of a transcript that are kept.
const MAX_FINDINGS: usize = 10_000;

/// The transcripts.
#[derive(Debug)]
pub(crate) struct Library {
    paths: Vec<PathBuf>,
    policy: Policy,
    privacy: Privacy,
    options: TranscriptOptions,
    /// The transcripts in memory, in order of their last use.
    opened: Vec<LoadedTranscript>,
    /// Sizes and rows of listed transcripts.
    rows: BTreeMap<PathBuf, (u64, Rows)>,
}

/// Rows of the sessions of a transcript.
type Rows = Vec<Vec<Value>>;

/// A transcript.
#[derive(Clone, Debug)]
pub(crate) struct TranscriptFile {
    /// Name in URLs: the path.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) size: u64,
    modified: SystemTime,
}

/// A page is not available.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    #[error("there is no transcript `{0}`")]
    Unknown(String),
    #[error("cannot read {name}: {source}")]
    Unreadable { name: String, source: io::Error },
    #[error("{name}: {problem}")]
    Invalid { name: String, problem: String },
}

impl Library {
    /// Content is shown, because the pages are for the owner of the files.
    pub(crate) fn new(options: &ViewOptions) -> Self {
        let mut policy = options.reading.policy();
        if policy.content == Capture::Off {
            policy.content = Capture::Span;
        }
        Self {
            paths: options.paths.clone(),
            privacy: Privacy::new(&options.reading, &policy),
            policy,
            options: options.transcript_options.clone(),
            opened: Vec::new(),
            rows: BTreeMap::new(),
        }
    }

    pub(crate) fn privacy(&self) -> &Privacy {
        &self.privacy
    }

    /// Returns a parser for a transcript.
    pub(crate) fn reader(&self) -> Reader {
        Reader::new(&self.options)
    }

    /// Returns the transcripts, the latest first.
    ///
    /// # Errors
    /// A path cannot be read.
    pub(crate) fn transcripts(&self) -> Result<Vec<TranscriptFile>, PageError> {
        let mut listed = Vec::new();
        for path in &self.paths {
            let unreadable =
                |source| PageError::Unreadable { name: path.display().to_string(), source };
            let metadata = fs::metadata(path).map_err(unreadable)?;
            if !metadata.is_dir() {
                listed.extend(TranscriptFile::new(path, &metadata));
                continue;
            }
            for entry in fs::read_dir(path).map_err(unreadable)? {
                let path = entry.map_err(unreadable)?.path();
                if path.extension().is_some_and(|it| it == "jsonl" || it == "jsons") {
                    let metadata = fs::metadata(&path).ok();
                    listed.extend(
                        metadata.and_then(|metadata| TranscriptFile::new(&path, &metadata)),
                    );
                }
            }
        }
        listed.sort_by(|one, other| (other.modified, &one.name).cmp(&(one.modified, &other.name)));
        listed.dedup_by(|one, other| one.path == other.path);
        listed.truncate(MAX_TRANSCRIPTS);
        Ok(listed)
    }

    /// Returns a listed transcript.
    ///
    /// # Errors
    /// The transcript is unknown, or the folder cannot be read.
    pub(crate) fn find(&self, name: &str) -> Result<TranscriptFile, PageError> {
        let mut listed = self.transcripts()?.into_iter();
        listed.find(|it| it.name == name).ok_or_else(|| PageError::Unknown(name.to_owned()))
    }

    /// Returns the rows of the sessions of a transcript. Without a change of its size, it is not
    /// read again. An unreadable transcript has no rows.
    pub(crate) fn rows(&mut self, transcript: &TranscriptFile) -> Rows {
        let TranscriptFile { name, path, size, .. } = transcript;
        if let Some((known, rows)) = self.rows.get(path)
            && known == size
        {
            return rows.clone();
        }
        let privacy = self.privacy.clone();
        let opened = self.open(name);
        let rows = opened.map(|opened| sessions(path, opened.reading(), &privacy));
        let rows = rows.unwrap_or_default();
        if self.rows.len() >= MAX_TRANSCRIPTS {
            self.rows.clear();
        }
        self.rows.insert(path.clone(), (*size, rows.clone()));
        rows
    }

    /// Returns a transcript, read as far as it is written.
    ///
    /// # Errors
    /// The transcript is unknown, cannot be read, or has another format.
    pub(crate) fn open(&mut self, name: &str) -> Result<&mut LoadedTranscript, PageError> {
        let listed = self.find(name)?;
        let known = self.opened.iter().position(|opened| opened.path == listed.path);
        let mut opened = match known {
            Some(at) => self.opened.remove(at),
            None => LoadedTranscript::new(&listed.path, self.reader(), self.policy.clone()),
        };
        if listed.size < opened.read {
            // Another file has the name.
            opened = LoadedTranscript::new(&listed.path, self.reader(), self.policy.clone());
        }
        opened
            .update()
            .map_err(|source| PageError::Unreadable { name: name.to_owned(), source })?;
        if let Some(problem) = opened.problem.clone() {
            return Err(PageError::Invalid { name: name.to_owned(), problem });
        }
        if self.opened.len() == MAX_OPEN {
            self.opened.remove(0);
        }
        self.opened.push(opened);
        self.opened.last_mut().ok_or_else(|| PageError::Unknown(name.to_owned()))
    }
}

impl TranscriptFile {
    fn new(path: &Path, metadata: &Metadata) -> Option<Self> {
        let size = metadata.len();
        let modified = metadata.modified().ok()?;
        let listed =
            || Self { name: path.display().to_string(), path: path.to_owned(), size, modified };
        metadata.is_file().then(listed)
    }
}

/// A transcript in memory.
#[derive(Debug)]
pub(crate) struct LoadedTranscript {
    path: PathBuf,
    reader: Reader,
    reading: RecordedSession,
    linter: Linter,
    pub(crate) findings: Vec<Finding>,
    /// Number of bytes of the complete lines that were read.
    read: u64,
    /// Description of the first line, if the file is not a transcript.
    problem: Option<String>,
}

impl LoadedTranscript {
    fn new(path: &Path, reader: Reader, policy: Policy) -> Self {
        Self {
            path: path.to_owned(),
            reader,
            reading: RecordedSession::new(policy),
            linter: Linter::default(),
            findings: Vec::new(),
            read: 0,
            problem: None,
        }
    }

    /// Returns the session. Open spans last until its latest message.
    pub(crate) fn reading(&mut self) -> &RecordedSession {
        self.reading.extend();
        &self.reading
    }

    /// Returns the entity tag of the current state.
    pub(crate) fn tag(&self) -> String {
        format!("\"{}\"", self.read)
    }

    /// Reads the lines that were added. An incomplete line is read later.
    fn update(&mut self) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut lines = BufReader::new(file.take(MAX_BYTES.saturating_sub(self.read)));
        loop {
            let entries = self.next_entries(&mut lines)?;
            if entries.is_empty() {
                return Ok(());
            }
            let Self { linter, findings, reading, .. } = self;
            // The linter takes as long as everything else.
            thread::scope(|scope| {
                let lint = || lint(linter, findings, &entries);
                thread::Builder::new().spawn_scoped(scope, lint)?;
                entries.iter().for_each(|entry| reading.handle_line(entry.as_ref()));
                io::Result::Ok(())
            })?;
        }
    }

    /// Parses the next complete lines, of about [`BATCH_BYTES`].
    fn next_entries(
        &mut self,
        lines: &mut impl BufRead,
    ) -> io::Result<Vec<Option<Entry<'static>>>> {
        let mut entries = Vec::new();
        let mut line = Vec::new();
        let end = self.read + BATCH_BYTES;
        while self.read < end {
            line.clear();
            if lines.read_until(b'\n', &mut line)? == 0 || line.last() != Some(&b'\n') {
                break;
            }
            self.read += line.len() as u64;
            let entry = match self.reader.entry(&line) {
                Ok(entry) => entry,
                Err(error) => {
                    if !self.reader.is_transcript && self.problem.is_none() {
                        self.problem = Some(error.of_another_format());
                    }
                    None
                }
            };
            if entry.is_some() {
                self.problem = None;
            }
            entries.push(entry);
        }
        Ok(entries)
    }
}

/// Adds the findings in the lines.
fn lint(linter: &mut Linter, findings: &mut Vec<Finding>, entries: &[Option<Entry<'_>>]) {
    for entry in entries {
        match entry {
            Some(entry) => linter.handle_line(entry.direction, &entry.bytes),
            None => linter.skip_line(),
        }
        while let Some(finding) = linter.poll_finding() {
            if findings.len() < MAX_FINDINGS {
                findings.push(finding);
            }
        }
    }
}
