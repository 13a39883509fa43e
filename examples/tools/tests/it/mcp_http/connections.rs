//! Limits of connections of the program, with few open files.
use crate::mcp_http::world::{NEW, OLD, World};
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// A program that may open 256 files.
struct Program {
    child: Child,
    address: String,
    lines: tokio::io::Lines<BufReader<tokio::process::ChildStderr>>,
}

impl Program {
    async fn start() -> Self {
        let path = env!("CARGO_BIN_EXE_mcp-http");
        let script = format!("ulimit -n 256; exec {path} --listen 127.0.0.1:0");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).env_remove("RUST_LOG").stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().expect("a shell");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
        let line = lines.next_line().await.expect("text").expect("a line");
        let address = line.strip_prefix("listening on http://").expect("an address");
        let address = address.strip_suffix("/mcp").expect("a path").to_owned();
        Self { child, address, lines }
    }

    fn world(&self) -> World {
        World::at(&format!("http://{}/mcp", self.address))
    }

    /// Returns a request of a client without a session.
    fn request(&self, method: &str, mut params: Value) -> String {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let body = body.to_string();
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nMCP-Protocol-Version: {NEW}\r\n\
             Mcp-Method: {method}\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len(),
        )
    }

    /// Starts a session in a connection of its own.
    async fn is_serving(&self) -> bool {
        let client = json!({ "name": "c", "version": "1" });
        let params = json!({ "protocolVersion": OLD, "capabilities": {}, "clientInfo": client });
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let response = self.world().post(&hello).send().await.expect("an answer");
        response.status() == 200
    }

    /// Ends the program. Returns what it has logged.
    async fn end(mut self) -> String {
        self.child.start_kill().expect("a process");
        let mut log = String::new();
        while let Some(line) = self.lines.next_line().await.expect("text") {
            log.push_str(&line);
            log.push('\n');
        }
        log
    }
}

#[tokio::test]
async fn silent_connections_make_room_and_are_logged() {
    let program = Program::start().await;
    let mut silent = Vec::new();
    for _ in 0..375 {
        silent.push(TcpStream::connect(&program.address).await.expect("a connection"));
    }
    assert!(program.is_serving().await);
    let log = program.end().await;
    assert!(log.contains("too many connections"), "{log}");
}

#[tokio::test]
async fn sessions_of_one_client_make_room() {
    let program = Program::start().await;
    for _ in 0..200 {
        assert!(program.is_serving().await);
    }
}

#[tokio::test]
async fn subscriptions_make_room() {
    let program = Program::start().await;
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let request = program.request("subscriptions/listen", params);
    let mut open = Vec::new();
    for _ in 0..375 {
        let mut stream = TcpStream::connect(&program.address).await.expect("a connection");
        stream.write_all(request.as_bytes()).await.expect("a connection");
        let mut begin = [0; 12];
        stream.read_exact(&mut begin).await.expect("an answer");
        assert_eq!(&begin, b"HTTP/1.1 200");
        open.push(stream);
    }
    let list = program.world().modern(1, "tools/list", json!({}), &json!({}));
    assert_eq!(list.send().await.expect("an answer").status(), 200);
}

#[tokio::test]
async fn silent_connections_do_not_close_that_of_a_client() {
    let program = Program::start().await;
    let request = program.request("tools/list", json!({}));
    let mut stream = TcpStream::connect(&program.address).await.expect("a connection");
    let mut silent = Vec::new();
    for _ in 0..2 {
        stream.write_all(request.as_bytes()).await.expect("a connection");
        let mut answer = String::new();
        while !answer.contains("HTTP/1.1 200") {
            let mut part = [0; 1024];
            let length = stream.read(&mut part).await.expect("an answer");
            assert_ne!(length, 0, "the connection was closed");
            answer.push_str(&String::from_utf8_lossy(&part[..length]));
        }
        for _ in 0..200 {
            silent.push(TcpStream::connect(&program.address).await.expect("a connection"));
        }
        assert!(program.is_serving().await);
    }
}

/// Each address of the loopback network is one of this machine.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn sessions_of_one_address_do_not_end_those_of_others() {
    use std::net::IpAddr;
    let program = Program::start().await;
    let world = program.world();
    let own = world.session(&json!({})).await;
    let mut other = program.world();
    other.http = crate::mcp_http::world::http()
        .local_address(IpAddr::from([127, 0, 0, 2]))
        .build()
        .expect("a client");
    for _ in 0..200 {
        other.session(&json!({})).await;
    }
    let list = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list" });
    assert_eq!(own.post(&list).await.status(), 200);
}
