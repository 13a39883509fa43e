//! Agents behind a WebSocket.
use crate::certificate::Certificate;
use crate::gateway::{Gateway, soon};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async};

/// Largest message in bytes, as documented.
const MAX_MESSAGE: usize = 16 * 1024 * 1024;

type Socket = WebSocketStream<TcpStream>;

/// A listener, and a gateway with an agent at its address.
async fn listen() -> (TcpListener, Gateway) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/acp", listener.local_addr().unwrap());
    let gateway = Gateway::demo(&["--agent-url", &url, "--permission", "ask-in-stream"]).await;
    (listener, gateway)
}

async fn accept(listener: &TcpListener) -> Socket {
    accept_async(soon(listener.accept()).await.unwrap().0).await.unwrap()
}

/// Puts the demo agent behind a socket: each line is a message without the line feed.
async fn bridge<S: AsyncRead + AsyncWrite + Unpin>(socket: WebSocketStream<S>) {
    let mut agent = Command::new(env!("CARGO_BIN_EXE_gateway"))
        .arg("demo-agent")
        .env(demo_agent::PAUSE_VARIABLE, "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut stdin = agent.stdin.take().unwrap();
    let mut lines = BufReader::new(agent.stdout.take().unwrap()).lines();
    let (mut sink, mut stream) = socket.split();
    loop {
        tokio::select! {
            line = lines.next_line() => match line.unwrap() {
                Some(line) => sink.send(Message::text(line)).await.unwrap(),
                None => return sink.close().await.unwrap(),
            },
            message = stream.next() => match message {
                Some(Ok(Message::Text(text))) => {
                    assert!(text.ends_with('\n'), "as Jaeger's sidecar reads it");
                    stdin.write_all(text.as_bytes()).await.unwrap();
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
        }
    }
}

/// Waits for a request, and returns its id.
async fn request(socket: &mut Socket, method: &str) -> Value {
    loop {
        let message = soon(socket.next()).await.unwrap().unwrap();
        let Message::Text(text) = message else { continue };
        let message: Value = serde_json::from_str(&text).unwrap();
        if message["method"] == method {
            return message["id"].clone();
        }
    }
}

fn response(id: &Value, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

fn text(text: &str) -> String {
    let content = json!({ "type": "text", "text": text });
    let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
    let params = json!({ "sessionId": "s", "update": update });
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }).to_string()
}

/// Answers requests up to the first prompt, and returns its id.
async fn begin(socket: &mut Socket) -> Value {
    let id = request(socket, "initialize").await;
    socket.send(Message::text(response(&id, &json!({ "protocolVersion": 1 })))).await.unwrap();
    let id = request(socket, "session/new").await;
    socket.send(Message::text(response(&id, &json!({ "sessionId": "s" })))).await.unwrap();
    request(socket, "session/prompt").await
}

#[tokio::test]
async fn websocket_agent_completes_turns() {
    let (listener, gateway) = listen().await;
    let agent = tokio::spawn(async move { bridge(accept(&listener).await).await });
    for (run, word, said) in [("1", "hello", "no model behind me"), ("2", "tour", "what I cost")] {
        let mut run = gateway.ask(run, run, word).await;
        if word == "tour" {
            let asked = run.until_asked().await;
            let allow = json!({ "optionId": "allow-once" });
            assert_eq!(gateway.post(&format!("interrupts/{asked}"), &allow).await.0, 202);
        }
        let told = run.rest().await;
        assert_eq!(told.end(), "success");
        assert!(told.text().contains(said), "{}", told.text());
    }
    drop(gateway);
    soon(agent).await.unwrap();
}

#[tokio::test]
async fn message_may_have_several_lines_or_be_binary() {
    let (listener, gateway) = listen().await;
    let (told, mut socket) =
        tokio::join!(async { gateway.ask("t", "1", "hi").await.rest().await }, async {
            let mut socket = accept(&listener).await;
            let prompt = begin(&mut socket).await;
            let several = [text("one "), text("two "), text("three ")].join("\n");
            socket.send(Message::text(several)).await.unwrap();
            let end = response(&prompt, &json!({ "stopReason": "end_turn" }));
            let bytes = format!("{}\n{end}\n", text("four"));
            socket.send(Message::binary(bytes.into_bytes())).await.unwrap();
            socket
        });
    assert_eq!(told.end(), "success");
    assert_eq!(&*told.text(), "one two three four");
    drop(gateway);
    let last = soon(socket.next()).await;
    assert!(!matches!(last, Some(Ok(Message::Text(_)))), "nothing was complained about: {last:?}");
}

#[tokio::test]
async fn socket_closed_in_turn_ends_run_and_reconnects() {
    let (listener, gateway) = listen().await;
    let agent = tokio::spawn(async move {
        // With a close frame, and the connection left open.
        let mut first = accept(&listener).await;
        begin(&mut first).await;
        first.send(Message::text(text("until here"))).await.unwrap();
        first.close(None).await.unwrap();
        // Without a close frame.
        let mut socket = accept(&listener).await;
        begin(&mut socket).await;
        drop(socket);
        bridge(accept(&listener).await).await;
    });
    let told = gateway.ask("t", "1", "hello").await.rest().await;
    assert_eq!(told.end(), "AGENT_EXITED");
    assert_eq!(&*told.text(), "until here");
    assert_eq!(told.error().message, "the agent closed the connection");
    let told = gateway.ask("t", "2", "hello").await.rest().await;
    assert_eq!(told.end(), "AGENT_EXITED", "{}", told.error().message);
    let message = &told.error().message;
    assert!(message.starts_with("the connection to the agent failed: "), "{message}");
    assert_eq!(gateway.ask("t", "3", "hello").await.rest().await.end(), "success");
    drop(gateway);
    soon(agent).await.unwrap();
}

/// Unlike a line over the limit, such a message cannot be skipped.
#[tokio::test]
async fn oversized_message_ends_connection() {
    let (listener, gateway) = listen().await;
    let agent = tokio::spawn(async move {
        let mut first = accept(&listener).await;
        begin(&mut first).await;
        first.send(Message::text(text("until here"))).await.unwrap();
        let _ = first.send(Message::text(text(&"x".repeat(MAX_MESSAGE)))).await;
        bridge(accept(&listener).await).await;
    });
    let told = gateway.ask("t", "1", "hello").await.rest().await;
    assert_eq!(told.end(), "AGENT_EXITED");
    assert_eq!(&*told.text(), "until here");
    assert!(told.error().message.contains("too long"), "{}", told.error().message);
    assert_eq!(gateway.ask("t", "2", "hello").await.rest().await.end(), "success");
    drop(gateway);
    soon(agent).await.unwrap();
}

#[tokio::test]
async fn unreachable_websocket_agent_is_unavailable() {
    let (listener, gateway) = listen().await;
    let url = format!("ws://{}/acp", listener.local_addr().unwrap());
    drop(listener);
    let told = gateway.ask("t", "1", "hello").await.rest().await;
    assert_eq!(told.tags(), ["RUN_STARTED", "RUN_ERROR"]);
    assert_eq!(told.end(), "AGENT_UNAVAILABLE");
    let message = &told.error().message;
    assert!(message.starts_with(&format!("cannot reach the agent at {url}: ")), "{message}");
}

#[tokio::test]
async fn refused_websocket_reports_reason() {
    let barred = "the agent denies access without a token: ";
    for (status, end, expected) in [
        ("404 Not Found", "AGENT_UNAVAILABLE", "404 Not Found".to_owned()),
        ("401 Unauthorized", "ACP_AUTH_REQUIRED", format!("{barred}401 Unauthorized")),
        ("403 Forbidden", "ACP_AUTH_REQUIRED", format!("{barred}403 Forbidden")),
    ] {
        let (listener, gateway) = listen().await;
        let server = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
            socket.write_all(answer.as_bytes()).await.unwrap();
            socket
        });
        let told = gateway.ask("t", "1", "hello").await.rest().await;
        assert_eq!(told.end(), end);
        assert!(told.error().message.ends_with(&expected), "{}", told.error().message);
        soon(server).await.unwrap();
    }
}

#[tokio::test]
async fn wss_agent_must_be_trusted() {
    let certificate = Certificate::new();
    let other = Certificate::new();
    let acceptor = certificate.acceptor(&[]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("wss://{}/acp", listener.local_addr().unwrap());
    for (trusted, is_trusted) in [(&other, false), (&certificate, true)] {
        let roots = trusted.file("certificate.pem");
        let roots = [("SSL_CERT_FILE", roots.to_str().unwrap())];
        let gateway = Gateway::start(&["--agent-url", &url], &roots).await;
        let (told, socket) =
            tokio::join!(async { gateway.ask("t", "1", "hello").await.rest().await }, async {
                let stream = soon(listener.accept()).await.unwrap().0;
                let stream = soon(acceptor.accept(stream)).await.ok()?;
                let socket = accept_async(stream).await.unwrap();
                Some(tokio::spawn(bridge(socket)))
            });
        assert_eq!(socket.is_some(), is_trusted);
        if is_trusted {
            assert_eq!(told.end(), "success");
        } else {
            assert_eq!(told.end(), "AGENT_UNAVAILABLE");
            let message = &told.error().message;
            let expected =
                format!("cannot reach the agent at {url}: IO error: invalid peer certificate: ");
            assert!(message.starts_with(&expected), "{message}");
        }
    }
}
