//! The key of tokens of the program.
use crate::mcp_http::book_flight::{check, go_on, result, trip};
use crate::mcp_http::world::World;
use host::key::Key;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1F";

fn program(options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-http"));
    command.args(["--listen", "127.0.0.1:0", "--suspend", "token"]).args(options);
    command
}

/// The program in token mode. Dropping it ends the program.
struct Program(Child, World);

impl Program {
    fn start(options: &[&str]) -> Self {
        let mut child = program(options).stderr(Stdio::piped()).spawn().expect("the program");
        let mut line = String::new();
        let stderr = child.stderr.take().expect("piped");
        BufReader::new(stderr).read_line(&mut line).expect("a line");
        let url = line.trim().strip_prefix("listening on ").expect("an address");
        Self(child, World::at(url))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it ran");
    }
}

/// A file with this text. Dropping it removes the file.
struct KeyFile(PathBuf);

impl KeyFile {
    fn new(text: &str) -> Self {
        let name = format!("mcp-http-{}", mcp_bridge_http::random_id().expect("randomness"));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).expect("a file");
        let file = Self(path);
        file.set_mode(0o600);
        file
    }

    fn set_mode(&self, mode: u32) {
        std::fs::set_permissions(&self.0, PermissionsExt::from_mode(mode)).expect("our file");
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for KeyFile {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).expect("the file");
    }
}

#[tokio::test]
async fn token_outlives_its_program_with_its_key() {
    let can = json!({ "elicitation": {}, "sampling": {} });
    let file = KeyFile::new(&format!("{KEY}\n"));
    for options in [["--key", KEY], ["--key-file", file.path()]] {
        let first = Program::start(&options);
        let second = Program::start(&["--key", KEY]);
        let params = json!({ "name": "book_flight", "arguments": trip() });
        let begun = first.1.modern(1, "tools/call", params, &can).send().await.expect("one");
        let begun: Value = begun.json().await.expect("JSON");
        drop(first);
        let (booked, _) = go_on(&[&second.1], &can, result, &begun).await;
        check(&booked, "Bring a coat.");
    }
}

/// Returns the error of a program that does not start.
fn output(options: &[&str]) -> String {
    let output = program(options).output().expect("the program");
    assert!(!output.status.success());
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn invalid_key_is_rejected_with_its_length() {
    let text = output(&["--key", "abcd"]);
    assert!(
        text.contains("64 hexadecimal digits (32 bytes)") && text.contains("got 4 characters"),
        "{text}"
    );
    let file = KeyFile::new(&KEY[1..]);
    let text = output(&["--key-file", file.path()]);
    assert!(text.contains(file.path()) && text.contains("got 63 characters"), "{text}");
    let text = output(&["--key", &KEY.replace('f', "g")]);
    assert!(text.contains("got the character 'g'"), "{text}");
    assert!(output(&["--key-file", "/nowhere"]).contains("key file /nowhere: "));
    assert!(output(&["--key", KEY, "--key-file", file.path()]).contains("cannot be used with"));
}

#[test]
fn key_that_is_not_random_is_rejected() {
    for (key, different) in [("00".repeat(32), 1), ("0123456789abcdef".repeat(4), 8)] {
        let expected = format!(
            "expected a random key, for example from `openssl rand -hex 32`, got one with {different} different bytes"
        );
        assert!(output(&["--key", &key]).contains(&expected), "{key}");
        let file = KeyFile::new(&key);
        let text = output(&["--key-file", file.path()]);
        assert!(text.contains(file.path()) && text.contains(&expected), "{text}");
    }
}

#[test]
fn key_file_that_other_users_can_access_is_rejected() {
    let file = KeyFile::new(KEY);
    for mode in [0o644, 0o604, 0o620, 0o602] {
        file.set_mode(mode);
        let expected = format!(
            "key file {0}: other users have access (mode {mode:04o}). Run `chmod 600 {0}`.",
            file.path()
        );
        let text = output(&["--key-file", file.path()]);
        assert!(text.contains(&expected), "{text}");
    }
}

/// A key file that exists is never incomplete: not for other programs, nor after the end of this
/// one.
#[test]
fn key_file_is_created_whole_and_once() {
    for _ in 0..50 {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        let keys = std::thread::scope(|scope| {
            let read = || Key::read_or_create(&path).map(|key| key.0).map_err(|it| it.to_string());
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(read)).collect();
            threads.into_iter().map(|it| it.join().expect("a key")).collect::<Vec<_>>()
        });
        let key = keys[0].clone().expect("a key");
        assert!(keys.iter().all(|it| *it == Ok(key)), "{keys:?}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }
}
