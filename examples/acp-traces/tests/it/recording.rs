//! The session as a transcript.

use crate::editor::Editor;
use crate::proxy::{NO_COLLECTOR, Proxy, acp_traces, test_agent};
use jsonrpc_core::transcript::{self, Direction, Entry};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// A place for a transcript.
pub(crate) fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    (folder, path)
}

pub(crate) fn recorded_by(path: &Path, agent: &[&str]) -> Proxy {
    let path = path.to_str().unwrap();
    Proxy::with_options(&["--otlp-endpoint", NO_COLLECTOR, "--record", path], agent)
}

fn read(path: &Path) -> Vec<Entry<'static>> {
    let text = fs::read_to_string(path).unwrap();
    transcript::read(&text).collect::<Result<_, _>>().unwrap()
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

#[test]
fn a_transcript_has_each_message_with_its_time_and_direction() {
    let (_folder, path) = place();
    let begun = now();
    let mut editor = Editor::start(recorded_by(&path, &["demo"]));
    let answer = editor.prompt("tour");
    editor.proxy.finish();
    let entries = read(&path);
    let texts = |direction| -> Vec<String> {
        let of = entries.iter().filter(|entry| entry.direction == direction);
        of.map(|entry| str::from_utf8(&entry.bytes).unwrap().to_owned()).collect()
    };
    let (sent, received) = (texts(Direction::Sent), texts(Direction::Received));
    // `initialize`, `session/new`, the prompt, the answer to the permission request.
    assert_eq!(sent.len(), 4);
    assert!(sent[2].contains("tour"));
    let last: serde_json::Value = serde_json::from_str(received.last().unwrap()).unwrap();
    assert_eq!(last, answer);
    assert!(entries.is_sorted_by_key(|entry| entry.time));
    assert!(begun <= entries[0].time && entries.last().unwrap().time <= now());
}

#[test]
fn what_is_no_text_and_what_has_no_line_end_is_recorded_as_it_is() {
    let (_folder, path) = place();
    let mut proxy = recorded_by(&path, &["echo"]);
    proxy.write(b"\xff\xfe\n\n{}\r\nlast");
    proxy.finish();
    let expected = [&b"\xff\xfe"[..], b"{}", b"last"];
    for direction in [Direction::Sent, Direction::Received] {
        let entries = read(&path);
        let of = entries.iter().filter(|entry| entry.direction == direction);
        assert!(of.map(|entry| &*entry.bytes).eq(expected), "{direction:?}");
    }
}

#[test]
fn a_transcript_begins_anew_and_is_its_owners() {
    let (_folder, path) = place();
    for text in ["the first and longer one", "the second"] {
        let mut proxy = recorded_by(&path, &["echo"]);
        proxy.write(text.as_bytes());
        proxy.finish();
        assert!(read(&path).iter().all(|entry| *entry.bytes == *text.as_bytes()));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_transcript_that_cannot_be_written_is_told_before_anything_runs() {
    let (folder, _) = place();
    let mut command = acp_traces(&["--record", folder.path().to_str().unwrap()]);
    let output = command.arg("--").arg(test_agent()).args(["exit", "0"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("acp-traces: cannot write to "), "{told}");
}
