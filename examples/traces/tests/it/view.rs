//! Pages of recorded and running sessions.

use crate::conversation::{each_part, visible};
use crate::proxy::acp_traces;
use crate::report::{answer, chunk, prompt, request, update, write};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use tempfile::TempDir;

/// A running viewer, which ends with its handle.
struct View {
    child: Child,
    address: String,
    token: String,
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A response to a request.
struct Response {
    status: u16,
    headers: String,
    body: String,
}

impl Response {
    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.headers.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl View {
    fn start(path: &Path, options: &[&str]) -> Self {
        let mut command = acp_traces(&["view"]);
        let mut child = command.args(options).arg(path).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("http://").unwrap();
        let (address, token) = url.split_once("/?token=").unwrap();
        Self { child, address: address.to_owned(), token: token.to_owned() }
    }

    fn request(&self, path: &str, host: &str, headers: &str) -> Response {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let (status, headers) = head.split_once("\r\n").unwrap();
        let status = status.split(' ').nth(1).unwrap().parse().unwrap();
        Response { status, headers: headers.to_owned(), body: body.to_owned() }
    }

    fn with_token(&self, path: &str, headers: &str) -> Response {
        let headers = format!("Authorization: Bearer {}\r\n{headers}", self.token);
        self.request(path, &self.address, &headers)
    }

    fn page(&self, path: &str) -> String {
        let response = self.with_token(path, "");
        assert_eq!(response.status, 200, "{path}: {}", response.body);
        assert!(response.header("content-security-policy").is_some(), "{}", response.headers);
        response.body
    }
}

/// Encodes a path as a part of a query.
fn encoded(path: &Path) -> String {
    path.to_str().unwrap().bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn folder_with(sessions: &[(&str, Vec<(&str, Value)>)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, messages) in sessions {
        write(&folder.path().join(name), messages);
    }
    folder
}

#[test]
fn token_is_exchanged_for_a_cookie() {
    let folder = folder_with(&[("one.jsonl", each_part("word"))]);
    let view = View::start(folder.path(), &[]);
    assert_eq!(view.request("/", &view.address, "").status, 401);
    assert_eq!(view.request("/", "rebound.example", "").status, 403);
    let signed_in = view.request(&format!("/?token={}", view.token), &view.address, "");
    assert_eq!(signed_in.status, 303);
    assert_eq!(signed_in.header("location"), Some("/"));
    let cookie = signed_in.header("set-cookie").unwrap().split(';').next().unwrap();
    let list = view.request("/", &view.address, &format!("Cookie: {cookie}\r\n"));
    assert_eq!(list.status, 200);
    assert!(list.body.contains(">one.jsonl</a>"), "{}", list.body);
}

#[test]
fn view_beyond_loopback_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = acp_traces(&["view", "--listen", "0.0.0.0:0"]);
    let output = command.arg(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stderr.starts_with(b"acp-traces: --listen: expected a loopback address"));
}

#[test]
fn page_follows_a_growing_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.jsonl");
    let started = [("sent", prompt(1, "s", "a question"))];
    write(&path, &started);
    let view = View::start(folder.path(), &[]);
    let session = format!("/session?file={}", encoded(&path));
    let first = view.with_token(&session, "");
    let shown = visible(&first.body);
    assert!(shown.contains("Turn 1: a question") && shown.contains("(the agent works)"), "{shown}");
    let tag = first.header("etag").unwrap().to_owned();
    let known = format!("If-None-Match: {tag}\r\n");
    assert_eq!(view.with_token(&session, &known).status, 304);

    let more = folder.path().join("more");
    let ended = answer(1, &json!({ "stopReason": "end_turn" }));
    write(
        &more,
        &[("received", update(&chunk("agent_message_chunk", "an answer"))), ("received", ended)],
    );
    let more = fs::read(&more).unwrap();
    let mut file = File::options().append(true).open(&path).unwrap();
    // The last line is incomplete.
    file.write_all(&more[..more.len() - 1]).unwrap();
    let second = view.with_token(&session, &known);
    let shown = visible(&second.body);
    assert!(shown.contains("Agent an answer") && !shown.contains("end_turn"), "{shown}");
    file.write_all(b"\n").unwrap();
    let shown = visible(&view.page(&session));
    assert!(
        shown.contains("End of the turn: end_turn") && shown.contains("(waits for a prompt)"),
        "{shown}"
    );
}

#[test]
fn findings_are_beside_their_lines() {
    let cwd = json!({ "cwd": "src", "mcpServers": [] });
    let info = json!({ "protocolVersion": 1 });
    let messages = vec![
        ("sent", request(0, "initialize", &info)),
        ("received", answer(0, &info)),
        ("sent", request(1, "session/new", &cwd)),
    ];
    let folder = folder_with(&[("one.jsonl", messages)]);
    let view = View::start(folder.path(), &[]);
    let file = encoded(&folder.path().join("one.jsonl"));
    let page = view.page(&format!("/lines?file={file}&from=1"));
    let row = page.split("<tr id=\"line-3\">").nth(1).unwrap().split("</tr>").next().unwrap();
    assert!(row.contains("<summary>session/new</summary>"), "{row}");
    assert!(
        row.contains("<p class=\"finding error\"><b>relative-path</b> <code>/params/cwd</code>"),
        "{row}"
    );
    let before = page.split("<tr id=\"line-2\">").nth(1).unwrap().split("</tr>").next().unwrap();
    assert!(!before.contains("finding"), "{before}");
    assert!(view.page(&format!("/session?file={file}")).contains("Lines (1 finding)"));
}

#[test]
fn all_sessions_are_searched() {
    let folder =
        folder_with(&[("one.jsonl", each_part("Needle<b>")), ("two.jsonl", each_part("hay"))]);
    let view = View::start(folder.path(), &["--redact", "Needle<b>16"]);
    let page = view.page("/search?q=nEEDLE%3Cb%3E14");
    assert!(page.contains("1 messages contain"), "{page}");
    assert!(page.contains("<mark>Needle&lt;b&gt;14</mark>") && !page.contains("<b>14"), "{page}");
    assert!(page.contains("one.jsonl, line 5</a>"), "{page}");
    assert!(view.page("/search?q=needle%3Cb%3E16").contains(">0 messages contain"));
}

#[test]
fn differences_of_two_sessions_are_marked() {
    let mut changed = each_part("word");
    let at =
        changed.iter().position(|(_, message)| message.to_string().contains("word16")).unwrap();
    changed[at].1 = update(&chunk("agent_message_chunk", "another"));
    let folder = folder_with(&[("a.jsonl", each_part("word")), ("b.jsonl", changed)]);
    let view = View::start(folder.path(), &[]);
    let [a, b] = ["a.jsonl", "b.jsonl"].map(|name| encoded(&folder.path().join(name)));
    let page = view.page(&format!("/compare?a={a}&b={b}"));
    assert!(page.contains("<del>- Agent: word16</del>\n<ins>+ Agent: another</ins>"), "{page}");
    assert!(page.contains("<span>  User: word14</span>"), "{page}");
    let same = view.page(&format!("/compare?a={a}&b={a}"));
    assert!(same.contains("Both sessions have the same steps."), "{same}");
    assert!(view.page(&format!("/compare?a={a}")).contains("b.jsonl</option>"));
}

#[test]
fn other_files_are_not_served() {
    let folder = folder_with(&[("one.jsonl", each_part("word"))]);
    fs::write(folder.path().join("notes.txt"), "private").unwrap();
    fs::write(folder.path().join("log.jsonl"), "a line of a log\n").unwrap();
    let view = View::start(folder.path(), &[]);
    for name in ["notes.txt", "../one.jsonl", "absent.jsonl"] {
        for page in ["session", "lines"] {
            let path = format!("/{page}?file={}", encoded(&folder.path().join(name)));
            let response = view.with_token(&path, "");
            assert_eq!(response.status, 404, "{path}");
            assert!(!response.body.contains("private"));
        }
    }
    let log = encoded(&folder.path().join("log.jsonl"));
    let response = view.with_token(&format!("/session?file={log}"), "");
    assert_eq!(response.status, 404);
    assert!(response.body.contains("line 1: expected a transcript"), "{}", response.body);
}
