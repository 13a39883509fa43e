//! The session as a transcript.

use crate::editor::Editor;
use crate::proxy::{End, NO_COLLECTOR, Proxy, acp_traces, test_agent};
use jsonrpc_core::transcript::{self, Direction, Entry};
use nix::sys::stat::Mode;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// A place for a transcript.
fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    (folder, path)
}

fn recorded_by(path: &Path, agent: &[&str]) -> Proxy {
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
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
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

/// Passes `lines` through, in both directions.
fn echo(mut proxy: Proxy, lines: Vec<u8>) -> End {
    let mut stdin = proxy.child.stdin.take().unwrap();
    let given = lines.clone();
    let writer = thread::spawn(move || stdin.write_all(&given));
    let end = proxy.wait();
    writer.join().unwrap().unwrap();
    assert!(end.stdout == lines);
    assert_eq!(end.status, Some(0));
    end
}

#[test]
fn a_disk_that_hangs_costs_the_session_nothing() {
    let (_folder, path) = place();
    nix::unistd::mkfifo(&path, Mode::S_IRWXU).unwrap();
    // Open, so that it can be opened, and never read.
    let _unread = File::options().read(true).write(true).open(&path).unwrap();
    let end = echo(recorded_by(&path, &["echo"]), b"{\"a\":\"message\"}\n".repeat(100_000));
    let told = end.stderr.lines().find(|line| line.contains("messages are missing in")).unwrap();
    assert!(
        told.starts_with("acp-traces: ") && told.ends_with("it is written too slowly"),
        "{told}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_costs_the_session_nothing() {
    let end = echo(recorded_by(Path::new("/dev/full"), &["echo"]), b"{}\n".repeat(10));
    let told = "acp-traces: 20 of 20 messages are missing in /dev/full: No space left on device";
    assert!(end.stderr.starts_with(told), "{}", end.stderr);
}

/// The session goes on until everything was looked at, so the test does not depend on how long that takes.
#[test]
fn a_message_that_is_too_long_to_look_at_is_counted() {
    let (_folder, path) = place();
    nix::unistd::mkfifo(&path, Mode::S_IRWXU).unwrap();
    let transcript = path.clone();
    let recorded = thread::spawn(move || {
        let lines = BufReader::new(File::open(transcript).unwrap()).lines().take(2);
        lines.map(|line| Entry::from_line(&line.unwrap()).unwrap().bytes.into_owned()).collect()
    });
    let mut proxy = recorded_by(&path, &["echo"]);
    let mut stdin = proxy.child.stdin.take().unwrap();
    let mut lines = vec![b'x'; 17 << 20];
    lines.extend_from_slice(b"\n{}\n");
    let writer = thread::spawn(move || {
        stdin.write_all(&lines).unwrap();
        let seen: Vec<Vec<u8>> = recorded.join().unwrap();
        assert_eq!(seen, [b"{}", b"{}"]);
    });
    let end = proxy.wait();
    writer.join().unwrap();
    assert_eq!((end.status, end.stdout.len()), (Some(0), (17 << 20) + 4));
    let told = "acp-traces: 2 messages over 16777216 bytes were not looked at\n";
    assert_eq!(end.stderr, told);
}
