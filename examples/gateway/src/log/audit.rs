//! The audit log: one JSON object a line, in a file of its own.
//!
//! An event with the target [`AUDIT`] is a record. Its fields are the members, with `time` before
//! them. The field `content` is left out, unless it was requested.
use crate::log::file::RotatingFile;
use serde_json::{Map, Value};
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Target of events that are records.
pub const AUDIT: &str = "audit";

/// Maximum number of records that wait to be written; the number of further ones is recorded.
const MAX_RECORDS: usize = 4096;

/// Maximum number of bytes of a text in a record.
const MAX_TEXT: usize = 4096;

/// The field with texts of users and agents.
const CONTENT: &str = "content";

/// The file of an audit log, and the thread that writes it.
#[derive(Debug)]
pub(crate) struct AuditWriter {
    writer: NonBlocking,
    has_content: bool,
    /// Number of lost records that was recorded.
    lost: AtomicUsize,
}

/// The audit log as a layer of the subscriber, without effect until a file is set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Audit(Arc<OnceLock<AuditWriter>>);

impl Audit {
    /// Writes records to a file from now on. Dropping the guard writes the waiting ones.
    pub(crate) fn open(&self, path: &Path, has_content: bool) -> io::Result<WorkerGuard> {
        let file = RotatingFile::open(path)?;
        let (writer, writing) =
            NonBlockingBuilder::default().buffered_lines_limit(MAX_RECORDS).finish(file);
        let open = AuditWriter { writer, has_content, lost: AtomicUsize::new(0) };
        self.0.set(open).map_err(|_| io::Error::other("the audit log is open already"))?;
        Ok(writing)
    }
}

impl AuditWriter {
    fn write(&self, members: Map<String, Value>) {
        let now = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let record = [("time".to_owned(), now.into())].into_iter().chain(members);
        let line = format!("{}\n", Value::Object(record.collect()));
        // A queue that is full drops the line, and counts it.
        let _queued = self.writer.clone().write_all(line.as_bytes());
    }

    fn write_lost(&self) {
        let lost = self.writer.error_counter().dropped_lines();
        let new = lost.saturating_sub(self.lost.swap(lost, Ordering::Relaxed));
        if new > 0 {
            let lost = [("event", "audit.lost".into()), ("count", new.into())];
            self.write(
                lost.map(|(name, value): (_, Value)| (name.to_owned(), value))
                    .into_iter()
                    .collect(),
            );
        }
    }
}

impl<S: Subscriber> Layer<S> for Audit {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if let Some(open) = self.0.get().filter(|_| event.metadata().target() == AUDIT) {
            let mut members = Members { has_content: open.has_content, members: Map::new() };
            event.record(&mut members);
            open.write_lost();
            open.write(members.members);
        }
    }
}

/// The members of a record.
struct Members {
    has_content: bool,
    members: Map<String, Value>,
}

impl Members {
    fn insert(&mut self, field: &Field, value: impl Into<Value>) {
        if self.has_content || field.name() != CONTENT {
            self.members.insert(field.name().to_owned(), value.into());
        }
    }
}

impl Visit for Members {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if self.has_content || field.name() != CONTENT {
            let mut text = Cut(String::new());
            // An error is the end of the text.
            let _cut = fmt::write(&mut text, format_args!("{value:?}"));
            self.insert(field, text.0);
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field, value);
    }
}

/// The first [`MAX_TEXT`] bytes of a text.
struct Cut(String);

impl fmt::Write for Cut {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MAX_TEXT - self.0.len();
        if text.len() <= room {
            self.0.push_str(text);
            return Ok(());
        }
        let end = (0..=room).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
        self.0.push_str(text.get(..end).unwrap_or_default());
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tracing_subscriber::prelude::*;

    /// Runs this with an audit log, and returns its records.
    fn recorded(has_content: bool, work: impl FnOnce()) -> Vec<Value> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let audit = Audit::default();
        let writing = audit.open(&path, has_content).unwrap();
        tracing::subscriber::with_default(tracing_subscriber::registry().with(audit), work);
        drop(writing);
        let text = fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn said(content: &str) {
        tracing::info!(target: AUDIT, event = "run.start", user = "a\n\"b\"", run = %"r", number = 3, content);
        tracing::warn!("another target");
    }

    #[test]
    fn record_has_its_fields_without_content() {
        let records = recorded(false, || said("secret"));
        let [record] = &records[..] else { panic!("{records:?}") };
        let mut record = record.clone();
        let time = record.as_object_mut().unwrap().remove("time").unwrap();
        assert!(humantime::parse_rfc3339(time.as_str().unwrap()).is_ok(), "{time}");
        let expected = serde_json::json!({ "event": "run.start", "user": "a\n\"b\"", "run": "r", "number": 3 });
        assert_eq!(record, expected);
    }

    #[test]
    fn content_is_recorded_on_request_up_to_its_limit() {
        let records = recorded(true, || {
            said("short");
            said(&"é".repeat(MAX_TEXT));
        });
        assert_eq!(records[0][CONTENT], "short");
        assert_eq!(records[1][CONTENT].as_str().unwrap().len(), MAX_TEXT);
    }
}
