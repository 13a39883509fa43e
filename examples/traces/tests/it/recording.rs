//! Recording of sessions as transcripts.

use crate::editor::Editor;
use crate::proxy::{NO_COLLECTOR, Proxy, acp_traces, test_agent};
use jsonrpc_core::transcript::{self, Direction, Entry};
use std::fs;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// Returns a path for a transcript.
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
fn transcript_contains_messages_with_time_and_direction() {
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
    let sent = texts(Direction::Sent);
    let received = texts(Direction::Received);
    // `initialize`, `session/new`, the prompt, the response to the permission request.
    assert_eq!(sent.len(), 4);
    assert!(sent[2].contains("tour"));
    let last: serde_json::Value = serde_json::from_str(received.last().unwrap()).unwrap();
    assert_eq!(last, answer);
    assert!(entries.is_sorted_by_key(|entry| entry.time));
    assert!(begun <= entries[0].time && entries.last().unwrap().time <= now());
}

#[test]
fn invalid_text_and_unfinished_lines_are_recorded() {
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

/// Returns the files of a folder, sorted by name, with the recorded texts.
fn texts_in(folder: &Path) -> Vec<(String, Vec<String>)> {
    let files = fs::read_dir(folder).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let texts = read(&entry.path())
            .iter()
            .map(|it| String::from_utf8_lossy(&it.bytes).into())
            .collect();
        (entry.file_name().into_string().unwrap(), texts)
    });
    let mut files: Vec<_> = files.collect();
    files.sort();
    files
}

fn echo(pattern: &Path, text: &str) {
    let mut proxy = recorded_by(pattern, &["echo"]);
    proxy.write(text.as_bytes());
    proxy.finish();
}

#[test]
fn existing_transcript_is_kept() {
    let (folder, path) = place();
    for text in ["first", "second", "third"] {
        echo(&path, text);
    }
    let twice = |text: &str| vec![text.to_owned(); 2];
    let expected = [
        ("session-2.jsonl".to_owned(), twice("second")),
        ("session-3.jsonl".to_owned(), twice("third")),
        ("session.jsonl".to_owned(), twice("first")),
    ];
    assert_eq!(texts_in(folder.path()), expected);
    #[cfg(unix)]
    for name in ["session.jsonl", "session-2.jsonl"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_by_a_recording() {
    let (folder, path) = place();
    let target = folder.path().join("target");
    fs::write(&target, "kept").unwrap();
    std::os::unix::fs::symlink(&target, &path).unwrap();
    echo(&path, "text");
    assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
    assert_eq!(read(&folder.path().join("session-2.jsonl")).len(), 2);
}

#[test]
fn folder_contains_one_file_per_session() {
    let folder = tempfile::tempdir().unwrap();
    let mut inside = folder.path().join("new").into_os_string();
    inside.push("/");
    let pattern = PathBuf::from(inside);
    echo(&pattern, "one");
    echo(&pattern, "two");
    let files = texts_in(&pattern);
    let mut texts: Vec<_> = files.iter().map(|(_, texts)| texts[0].as_str()).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["one", "two"]);
    for (name, _) in files {
        // 20260102T030405Z-agent-123.jsonl
        let (time, rest) = name.split_at(16);
        assert!(time.ends_with('Z') && time.as_bytes()[8] == b'T', "{name}");
        let pid = rest.rsplit('-').next().unwrap().strip_suffix(".jsonl").unwrap();
        assert!(pid.parse::<u32>().is_ok(), "{name}");
    }
}

#[test]
fn placeholders_in_the_name_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    echo(&folder.path().join("of-{agent}-{pid}.jsonl"), "text");
    let files = texts_in(folder.path());
    let agent = test_agent().file_stem().unwrap().to_str().unwrap().to_owned();
    assert!(files[0].0.starts_with(&format!("of-{agent}-")), "{files:?}");
    assert!(!files[0].0.contains('{'), "{files:?}");
}

#[test]
fn session_in_the_name_is_the_first_one() {
    let folder = tempfile::tempdir().unwrap();
    let pattern = folder.path().join("of-{session}.jsonl");
    for _ in 0..2 {
        let mut editor = Editor::start(recorded_by(&pattern, &["demo"]));
        editor.prompt("tour");
        editor.proxy.finish();
    }
    for (name, texts) in texts_in(folder.path()) {
        let ids = texts.iter().filter_map(|text| {
            let message: serde_json::Value = serde_json::from_str(text).unwrap();
            Some(message["result"]["sessionId"].as_str()?.to_owned())
        });
        let ids: Vec<_> = ids.collect();
        assert!(name.starts_with(&format!("of-{}", ids[0])), "{name} of {ids:?}");
        assert!(texts[0].contains("initialize"), "{name}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn recording_is_continued_in_another_file_at_its_size() {
    let (folder, path) = place();
    let options = ["--otlp-endpoint", NO_COLLECTOR, "--record-size", "1K", "--record"];
    let options = [&options[..], &[path.to_str().unwrap()]].concat();
    let mut proxy = Proxy::with_options(&options, &["echo"]);
    let lines: Vec<_> = (0..20).map(|number| format!("{number:0100}")).collect();
    for line in &lines {
        proxy.write(format!("{line}\n").as_bytes());
        // The echo, so that the order of the messages is known.
        proxy.read_line();
    }
    proxy.finish();
    let mut files = texts_in(folder.path());
    for (name, _) in &files {
        assert!(fs::metadata(folder.path().join(name)).unwrap().len() <= 1024, "{name}");
    }
    let number = |name: &str| {
        let end = name.strip_prefix("session").unwrap().strip_suffix(".jsonl").unwrap();
        end.strip_prefix('-').map_or(1, |number| number.parse::<u32>().unwrap())
    };
    files.sort_by_key(|(name, _)| number(name));
    assert!(files.len() > 4, "{files:?}");
    let texts: Vec<_> = files.into_iter().flat_map(|(_, texts)| texts).collect();
    let twice: Vec<_> = lines.iter().flat_map(|line| [line.clone(), line.clone()]).collect();
    assert_eq!(texts, twice);
}

/// The system ends a program that writes beyond the limit, unless it handles the signal.
#[cfg(unix)]
#[test]
fn limit_of_file_sizes_ends_the_recording_and_not_the_session() {
    let (_folder, path) = place();
    let options = ["--otlp-endpoint", NO_COLLECTOR, "--record", path.to_str().unwrap()];
    let program = acp_traces(&options);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 1; exec \"$0\" \"$@\""]);
    command.arg(program.get_program()).args(program.get_args());
    command.arg("--").arg(test_agent()).arg("echo");
    let mut proxy = Proxy::spawn(command);
    for number in 0..40 {
        let line = format!("{number:0100}\n");
        proxy.write(line.as_bytes());
        assert_eq!(proxy.read_line(), line);
    }
    let (end, _) = proxy.finish();
    assert_eq!(end.status, Some(0), "{}", end.stderr);
    assert!(fs::metadata(&path).unwrap().len() <= 1024);
}

#[test]
fn uncreatable_recording_is_reported_and_the_session_continues() {
    let (folder, path) = place();
    fs::write(&path, "a file").unwrap();
    let below = path.join("session.jsonl");
    let mut command =
        acp_traces(&["--otlp-endpoint", NO_COLLECTOR, "--record", below.to_str().unwrap()]);
    let output = command.arg("--").arg(test_agent()).args(["exit", "7"]).output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("acp-traces: cannot write to "), "{told}");
    assert!(told.contains("; nothing is recorded\n"), "{told}");
    drop(folder);
}
