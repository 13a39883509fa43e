//! Refused requests, each with its status and a message that names the error.
use crate::gateway::{Gateway, input, refusal, soon};
use reqwest::header::{CONTENT_TYPE, HOST, ORIGIN};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Largest body in bytes, as documented.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// Bodies, with the status and a part of the message.
fn bodies() -> Vec<(Vec<u8>, u16, &'static str)> {
    let with = |message: serde_json::Value| json!({ "protocolVersion": "1.0", "threadId": "t", "runId": "r", "messages": [message] });
    let part =
        |part: serde_json::Value| with(json!({ "id": "u", "role": "user", "content": [part] }));
    let image = json!({ "type": "data", "value": "AAAA", "mimeType": "image/png" });
    let texts = [
        (
            json!({ "threadId": "t", "runId": "r", "messages": [] }),
            400,
            "at /messages: expected at least one message",
        ),
        (json!({ "threadId": "t", "runId": "r" }), 400, "messages"),
        (json!({ "runId": "r", "messages": [] }), 400, "threadId"),
        (json!({ "threadId": "t", "messages": [] }), 400, "runId"),
        (
            json!({ "threadId": 1, "runId": "r", "messages": [] }),
            400,
            "at /threadId: expected a string, got number",
        ),
        (json!({ "threadId": "t", "runId": "r", "messages": {} }), 400, "at /messages: expected"),
        (with(json!({ "id": "u", "role": "user" })), 400, "at /messages/0"),
        (with(json!({ "id": "u", "role": "user", "content": 5 })), 400, "at /messages/0/content"),
        (
            with(json!({ "id": "u", "role": "user", "content": " \n" })),
            400,
            "at /messages/0/content: expected text or media, got a blank message",
        ),
        (json!("a string"), 400, "expected"),
        (json!([]), 400, "expected"),
        (
            part(json!({ "type": "audio", "source": image })),
            415,
            "at /messages/0/content/0: the agent does not support audio",
        ),
        (
            part(json!({ "type": "hologram" })),
            415,
            "at /messages/0/content/0: the agent does not support content of this kind",
        ),
        (
            part(
                json!({ "type": "image", "source": { "type": "data", "value": "%%%", "mimeType": "image/png" } }),
            ),
            400,
            "at /messages/0/content/0/source/value: expected base64",
        ),
        (
            part(
                json!({ "type": "image", "source": { "type": "url", "value": "file:///etc/passwd" } }),
            ),
            400,
            "at /messages/0/content/0/source/value: expected an http or https URL",
        ),
    ];
    let mut bodies: Vec<_> = texts
        .into_iter()
        .map(|(body, status, message)| (body.to_string().into_bytes(), status, message))
        .collect();
    bodies.push((b"{\"threadId\":".to_vec(), 400, "line 1 column"));
    bodies.push((Vec::new(), 400, "line 1 column"));
    bodies.push((
        b"{\"threadId\":\"\xff\"}".to_vec(),
        400,
        "invalid utf-8 sequence of 1 bytes from index 13",
    ));
    let deep = "[".repeat(100_000);
    bodies.push((
        format!(r#"{{"threadId":"t","runId":"r","messages":[],"state":{deep}"#).into_bytes(),
        400,
        "",
    ));
    bodies
}

#[tokio::test]
async fn invalid_body_is_refused_before_stream() {
    let gateway = Gateway::demo(&[]).await;
    for (body, status, message) in bodies() {
        let shown = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
        let request = gateway.client.post(gateway.url("/api/ai/chat"));
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        let (got, said) = refusal(soon(request.send()).await.unwrap()).await;
        assert_eq!(got, status, "{shown}: {said}");
        assert!(said.contains(message), "{shown}: {said}");
    }
    assert_eq!(gateway.ask("t", "r", "hello").await.rest().await.end(), "success");
}

#[tokio::test]
async fn only_json_is_accepted() {
    let gateway = Gateway::demo(&[]).await;
    let body = input("t", "r", "hello").to_string();
    for (kind, status) in [
        (None, 415),
        (Some("text/plain"), 415),
        (Some("application/x-www-form-urlencoded"), 415),
        (Some("application/jsonp"), 415),
        (Some("application/json"), 200),
        (Some("Application/JSON; charset=utf-8"), 200),
    ] {
        let mut request = gateway.client.post(gateway.url("/api/ai/chat")).body(body.clone());
        if let Some(kind) = kind {
            request = request.header(CONTENT_TYPE, kind);
        }
        let response = soon(request.send()).await.unwrap();
        assert_eq!(response.status(), status, "{kind:?}");
        if status == 415 {
            let (_, said) = refusal(response).await;
            let got = format!(
                "expected Content-Type application/json, got `{}`",
                kind.unwrap_or_default()
            );
            assert_eq!(said, got);
        } else {
            soon(response.bytes()).await.unwrap();
        }
    }
}

/// The response to a request that is written byte by byte: flat JSON.
async fn raw(gateway: &Gateway, parts: &[&[u8]]) -> String {
    let mut socket = TcpStream::connect(&gateway.address).await.unwrap();
    for part in parts {
        soon(socket.write_all(part)).await.unwrap();
    }
    let mut answer = Vec::new();
    while !answer.ends_with(b"}") {
        assert_ne!(soon(socket.read_buf(&mut answer)).await.unwrap(), 0, "the answer breaks off");
    }
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn oversized_body_is_not_read() {
    let gateway = Gateway::demo(&[]).await;
    let head = format!(
        "POST /api/ai/chat HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nConnection: close\r\n",
        gateway.address
    );
    let said = format!("the body has more than {MAX_BODY} bytes");
    // The length decides.
    let declared = format!("{head}Content-Length: {}\r\n\r\n", MAX_BODY + 1);
    let answer = raw(&gateway, &[declared.as_bytes()]).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains(&said), "{answer}");
    // Without a length, received bytes are counted.
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", MAX_BODY + 1);
    let answer = raw(&gateway, &[chunked.as_bytes(), &vec![b' '; MAX_BODY + 1]]).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains(&said), "{answer}");
}

#[tokio::test]
async fn sender_of_oversized_body_gets_413() {
    let gateway = Gateway::demo(&[]).await;
    let mut large = input("t", "r", "hello");
    large["messages"][0]["content"] = json!("x".repeat(3 * MAX_BODY));
    let (status, _) = refusal(gateway.chat(&large).await).await;
    assert_eq!(status, 413);
    large["messages"][0]["content"] = json!("x".repeat(MAX_BODY - 1024));
    assert_eq!(gateway.run(&large).await.rest().await.end(), "success");
}

#[tokio::test]
async fn pages_of_other_sites_are_refused() {
    let gateway = Gateway::demo(&[]).await;
    let own = gateway.address.clone();
    let port = own.rsplit_once(':').unwrap().1;
    let host = "the Host header must be an address, localhost, or one of site.hosts";
    let origin = "pages of other sites may not use this gateway";
    for (name, value, said) in [
        (HOST, "evil.example".to_owned(), Some(host)),
        (HOST, format!("evil.example:{port}"), Some(host)),
        (HOST, format!("127.0.0.1.evil.example:{port}"), Some(host)),
        (HOST, "localhost:99999".to_owned(), Some(host)),
        (HOST, "127.0.0.1:x".to_owned(), Some(host)),
        (HOST, format!("localhost:{port}"), None),
        (HOST, format!("[::1]:{port}"), None),
        (HOST, "[::1]".to_owned(), None),
        (ORIGIN, "http://evil.example".to_owned(), Some(origin)),
        (ORIGIN, "null".to_owned(), Some(origin)),
        (ORIGIN, format!("http://localhost:{port}"), Some(origin)),
        (ORIGIN, "http://127.0.0.1:1".to_owned(), Some(origin)),
        (ORIGIN, format!("http://{own}"), None),
    ] {
        let run = format!("{name}-{value}");
        for (request, fine) in [
            (gateway.client.get(gateway.url("/healthz")), 200),
            (gateway.client.post(gateway.url("/api/ai/chat/runs/none/cancel")), 404),
            (gateway.client.get(gateway.url("/")), 200),
        ] {
            let response = soon(request.header(&name, &value).send()).await.unwrap();
            let expected = if said.is_some() { 403 } else { fine };
            assert_eq!(response.status(), expected, "{run}");
            if let Some(expected) = said {
                assert_eq!(refusal(response).await.1, expected, "{run}");
            }
        }
        let request =
            gateway.client.post(gateway.url("/api/ai/chat")).json(&input(&run, &run, "hello"));
        let response = soon(request.header(&name, &value).send()).await.unwrap();
        assert_eq!(response.status(), if said.is_some() { 403 } else { 200 }, "{run}");
        assert!(!response.headers().contains_key("access-control-allow-origin"));
        soon(response.bytes()).await.unwrap();
    }
}

/// A proxy may have read the other one.
///
/// Spec: [RFC 9112, section 3.2](https://www.rfc-editor.org/rfc/rfc9112#section-3.2)
#[tokio::test]
async fn second_host_is_refused() {
    let gateway = Gateway::demo(&[]).await;
    for second in [gateway.address.clone(), "evil.example".to_owned()] {
        let own = &gateway.address;
        let request = format!("GET /readyz HTTP/1.1\r\nHost: {own}\r\nHost: {second}\r\n\r\n");
        let answer = raw(&gateway, &[request.as_bytes()]).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_are_refused() {
    let gateway = Gateway::demo(&[]).await;
    for (request, status, message) in [
        (gateway.client.get(gateway.url("/nothing")), 404, "there is nothing at this path"),
        (
            gateway.client.post(gateway.url("/api/ai/chat/runs")),
            404,
            "there is nothing at this path",
        ),
        (
            gateway.client.get(gateway.url("/api/ai/chat")),
            405,
            "the path does not take this method",
        ),
        (gateway.client.post(gateway.url("/")), 405, "the path does not take this method"),
        (gateway.client.get(gateway.url("/assets/nothing.js")), 404, "no such file"),
        (
            gateway.client.post(gateway.url("/api/ai/chat/runs/%ff/cancel")),
            400,
            "Invalid URL: Invalid UTF-8 in `run_id`",
        ),
    ] {
        let (got, said) = refusal(soon(request.send()).await.unwrap()).await;
        assert_eq!(got.as_u16(), status);
        assert_eq!(&*said, message);
    }
}
