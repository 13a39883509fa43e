//! Tools of the page, called by ACP agents.
use crate::gateway::{Gateway, input, soon};
use crate::run::EndedRun;
use agui_types::event::{Event, RunFinishedOutcome};
use futures::{SinkExt, StreamExt};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async};

type Socket = WebSocketStream<TcpStream>;

/// An input with the page's tools, one for each execution mode.
pub(crate) fn asking(thread: &str, run: &str, text: &str) -> Value {
    let tool = |name: &str, mode: &str| {
        json!({
            "name": name, "description": "Does something.", "metadata": { "execution": mode },
            "parameters": { "type": "object" },
        })
    };
    let mut input = input(thread, run, text);
    input["tools"] =
        json!([tool("choose", "park"), tool("set_theme", "sync"), tool("set_title", "ack")]);
    input
}

fn pending(told: &EndedRun) -> Vec<String> {
    let Some(RunFinishedOutcome::Success(outcome)) = &told.finished().outcome else {
        panic!("no success: {:?}", told.finished());
    };
    let pending = outcome.pending_tool_call_ids.iter().flatten();
    pending.map(|id| id.to_string()).collect()
}

/// The calls in the page: ids and tools.
fn calls(told: &EndedRun) -> Vec<(String, String)> {
    let call = |event: &Event| match event {
        Event::ToolCallStart(start) => {
            Some((start.tool_call_id.to_string(), start.tool_call_name.clone()))
        }
        _ => None,
    };
    told.events.iter().filter_map(call).collect()
}

/// The input with the result of a call.
fn answering(asked: &Value, run: &str, call: &str, content: &str) -> Value {
    let mut input = asked.clone();
    input["runId"] = json!(run);
    let function = json!({ "name": "choose", "arguments": "{}" });
    let calls = json!([{ "id": call, "type": "function", "function": function }]);
    let said = [
        json!({ "id": "a", "role": "assistant", "toolCalls": calls }),
        json!({ "id": "r", "role": "tool", "toolCallId": call, "content": content }),
    ];
    input["messages"].as_array_mut().unwrap().extend(said);
    input
}

#[tokio::test]
async fn agent_that_refuses_servers_works_without_tools() {
    let mut gateway = Gateway::script("refuses-servers", &[]).await;
    let told = gateway.run(&asking("t", "1", "Hi")).await.rest().await;
    assert_eq!(told.end(), "success");
    assert_eq!(&*told.text(), "without tools");
    let notices = told.customs("acp.notice");
    assert_eq!(
        notices[0]["title"],
        "The page's tools are not available: the agent does not accept their MCP server."
    );
    let refused = [r#""mcpServers":[{"type":"http""#, r#""mcpServers":[{"name":"ui","command":"#];
    let reasons = ["404 from the server"; 2];
    gateway.says_all(refused.into_iter().chain(reasons)).await;
    // Another thread does not try the transports again: the agent refuses nothing.
    let told = gateway.run(&asking("u", "2", "Hi")).await.rest().await;
    assert_eq!(told.end(), "success");
    assert_eq!(&*told.text(), "without tools");
    gateway.child.start_kill().unwrap();
    while let Some(line) = gateway.line().await {
        assert!(!line.contains("refused: "), "{line}");
    }
}

#[tokio::test]
async fn first_prompt_that_fails_because_of_servers_is_sent_again_without_them() {
    let mut gateway = Gateway::script("connects-late", &[]).await;
    // Another error of the prompt is not due to the servers.
    let told = gateway.run(&asking("t", "1", "fail")).await.rest().await;
    assert_eq!(told.end(), "ACP_INTERNAL_ERROR");
    assert_eq!(told.error().message, "Internal error: no model");
    let told = gateway.run(&asking("u", "2", "Hi")).await.rest().await;
    assert_eq!(told.end(), "success");
    assert_eq!(&*told.text(), "without tools");
    let notices = told.customs("acp.notice");
    assert_eq!(notices.len(), 1);
    assert_eq!(
        notices[0]["title"],
        "The page's tools are not available: the agent does not accept their MCP server."
    );
    let reasons = ["the agent refused the MCP server of the page's tools: Internal error: MCP"; 2];
    gateway.says_all(["failed: s2", "failed: s3"].into_iter().chain(reasons)).await;
    // Another thread begins without the servers.
    let told = gateway.run(&asking("v", "3", "Hi")).await.rest().await;
    assert_eq!(told.end(), "success");
    assert_eq!(&*told.text(), "without tools");
    gateway.child.start_kill().unwrap();
    while let Some(line) = gateway.line().await {
        assert!(!line.contains("failed: "), "{line}");
    }
}

#[tokio::test]
async fn parked_call_ends_run_and_result_continues_turn() {
    let gateway = Gateway::demo(&[]).await;
    let asked = asking("t", "1", "ask");
    let told = gateway.run(&asked).await.rest().await;
    let calls = calls(&told);
    let [(call, name)] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!(name, "choose");
    assert_eq!(pending(&told), [&**call]);
    assert_eq!(told.results(), [""; 0], "the page has the result");

    let answer = answering(&asked, "2", call, "tea");
    let told = gateway.run(&answer).await.rest().await;
    assert_eq!(told.text().trim(), "Your page says: tea.");
    assert!(pending(&told).is_empty());
    let told = gateway.run(&asking("t", "3", "hello")).await.rest().await;
    assert!(told.text().contains("no model behind me"));
}

#[tokio::test]
async fn synchronous_call_gets_result_during_run() {
    let gateway = Gateway::demo(&[]).await;
    let mut run = gateway.run(&asking("t", "1", "dark")).await;
    let Event::ToolCallEnd(end) = run.until("TOOL_CALL_END").await else { panic!("no call") };
    let path = format!("runs/1/tools/{}", end.tool_call_id);
    let (status, _) = gateway.post("runs/1/tools/other", &json!({ "content": "x" })).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (status, said) = gateway.post(&path, &json!({ "content": "It is dark" })).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{said}");
    let (status, _) = gateway.post(&path, &json!({ "content": "again" })).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(run.rest().await.text().trim(), "Your page says: It is dark.");

    let mut run = gateway.run(&asking("t", "2", "dark")).await;
    let Event::ToolCallEnd(end) = run.until("TOOL_CALL_END").await else { panic!("no call") };
    let path = format!("runs/2/tools/{}", end.tool_call_id);
    let failed = json!({ "content": "It stays light", "error": "no" });
    assert_eq!(gateway.post(&path, &failed).await.0, StatusCode::ACCEPTED);
    assert_eq!(run.rest().await.text().trim(), "Your page does not do it: It stays light.");
}

#[tokio::test]
async fn acknowledged_call_does_not_wait() {
    let gateway = Gateway::demo(&[]).await;
    let told = gateway.run(&asking("t", "1", "title")).await.rest().await;
    assert_eq!(told.text().trim(), "Your page says: The page was told..");
    assert_eq!(calls(&told).len(), 1, "it is told once");
}

#[tokio::test]
async fn stopped_run_ends_its_calls() {
    let gateway = Gateway::demo(&[]).await;
    let mut run = gateway.run(&asking("t", "1", "dark")).await;
    run.until("TOOL_CALL_END").await;
    assert_eq!(gateway.post("runs/1/cancel", &json!({})).await.0, StatusCode::ACCEPTED);
    assert_eq!(run.rest().await.end(), "cancelled");
    let told = gateway.run(&asking("t", "2", "hello")).await.rest().await;
    assert_eq!(told.end(), "success");
}

#[tokio::test]
async fn message_instead_of_result_ends_waiting_turn() {
    let gateway = Gateway::demo(&[]).await;
    let told = gateway.run(&asking("t", "1", "ask")).await.rest().await;
    let call = pending(&told).remove(0);
    let mut next = answering(&asking("t", "1", "ask"), "2", &call, "The user did not answer.");
    let message = json!({ "id": "u2", "role": "user", "content": "hello" });
    next["messages"].as_array_mut().unwrap().push(message);
    let told = gateway.run(&next).await.rest().await;
    assert!(told.text().contains("no model behind me"), "{}", told.text());
    assert_eq!(told.end(), "success");
}

#[tokio::test]
async fn page_tools_can_be_contextual_or_off() {
    let gateway = Gateway::configured(
        "default-agent = 'a'\n[agents.a]\npage-tools = 'contextual'\n[agents.b]\npage-tools = 'off'",
    )
    .await;
    let told = gateway.run(&asking("t", "1", "title")).await.rest().await;
    assert_eq!(told.text().trim(), "Your page says: it was told.");
    let calls = calls(&told);
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!(calls[0].1, "set_title");

    let asked = asking("t", "2", "title");
    let url = gateway.url("/api/ai/agents/b/chat");
    let response = soon(gateway.client.post(url).json(&asked).send()).await.unwrap();
    let told = crate::run::Run::new(&asked, response).rest().await;
    assert_eq!(told.text().trim(), "I was given no tools of a page.");
}

/// Plays an agent behind a WebSocket with MCP over HTTP; returns the server of its session, and the
/// prompt's id.
pub(crate) async fn begin(socket: &mut Socket) -> (Value, Value) {
    let capabilities = json!({ "mcpCapabilities": { "http": true } });
    let answer = json!({ "protocolVersion": 1, "agentCapabilities": capabilities });
    let id = request(socket, "initialize").await["id"].clone();
    respond(socket, &id, answer).await;
    let opened = request(socket, "session/new").await;
    respond(socket, &opened["id"], json!({ "sessionId": "s" })).await;
    let prompt = request(socket, "session/prompt").await["id"].clone();
    (opened["params"]["mcpServers"][0].clone(), prompt)
}

pub(crate) async fn respond(socket: &mut Socket, id: &Value, result: Value) {
    let response = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    socket.send(Message::text(response.to_string())).await.unwrap();
}

pub(crate) async fn request(socket: &mut Socket, method: &str) -> Value {
    loop {
        let Message::Text(text) = soon(socket.next()).await.unwrap().unwrap() else { continue };
        let message: Value = serde_json::from_str(&text).unwrap();
        if message["method"] == method {
            return message;
        }
    }
}

/// Sends an MCP request; returns the status and the result.
pub(crate) async fn mcp(
    client: &reqwest::Client,
    url: &str,
    headers: &[(&str, &str)],
    method: &str,
    params: Value,
) -> (StatusCode, Value, Option<String>) {
    let mut post = client.post(url).header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        post = post.header(*name, *value);
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let response = soon(post.json(&body).send()).await.unwrap();
    let status = response.status();
    let session = response.headers().get("mcp-session-id").cloned();
    let text = soon(response.text()).await.unwrap();
    let json = text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
    let answer = serde_json::from_str(json.unwrap_or(&text)).unwrap_or_default();
    (status, answer, session.map(|id| id.to_str().unwrap().to_owned()))
}

#[tokio::test]
async fn http_mcp_agent_gets_server_of_its_thread() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let agent = format!("ws://{}/acp", listener.local_addr().unwrap());
    let records = tempfile::NamedTempFile::new().unwrap();
    let audit = [("GATEWAY_AUDIT_LOG", records.path().to_str().unwrap())];
    let gateway = Gateway::start(&["--agent-url", &agent], &audit).await;
    let asked = asking("t", "1", "Hi");
    let (mut run, (mut socket, server, prompt)) = tokio::join!(gateway.run(&asked), async {
        let mut socket = accept_async(soon(listener.accept()).await.unwrap().0).await.unwrap();
        let (server, prompt) = begin(&mut socket).await;
        (socket, server, prompt)
    });
    assert_eq!(&server["type"], &json!("http"));
    assert_eq!(&server["name"], &json!("ui"));
    let url = server["url"].as_str().unwrap();
    assert!(url.starts_with(&gateway.url("/mcp/threads/")), "{url}");
    let secret = server["headers"][0]["value"].as_str().unwrap();
    let own = [("authorization", secret)];
    let begun = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let client = &gateway.client;
    for (headers, status) in [
        (vec![], StatusCode::UNAUTHORIZED),
        (vec![("authorization", "Bearer 0123456789abcdef")], StatusCode::UNAUTHORIZED),
        (vec![own[0], ("host", "evil.example")], StatusCode::FORBIDDEN),
        (vec![own[0], ("origin", "https://evil.example")], StatusCode::FORBIDDEN),
    ] {
        assert_eq!(mcp(client, url, &headers, "initialize", begun.clone()).await.0, status);
    }
    let other = gateway.url("/mcp/threads/0123456789abcdef0123456789abcdef");
    let (status, ..) = mcp(client, &other, &own, "initialize", begun.clone()).await;
    assert_eq!(status, StatusCode::NOT_FOUND);

    for suffix in ["/", "/mcp", "/mcp/"] {
        let url = format!("{url}{suffix}");
        let (status, answer, _) = mcp(client, &url, &own, "initialize", begun.clone()).await;
        assert_eq!(status, StatusCode::OK, "{suffix}: {answer}");
        assert_eq!(
            mcp(client, &url, &[], "initialize", begun.clone()).await.0,
            StatusCode::UNAUTHORIZED
        );
    }
    let (status, answer, session) = mcp(client, url, &own, "initialize", begun).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let session = session.unwrap();
    let own = [own[0], ("mcp-session-id", &*session)];
    let (_, listed, _) = mcp(client, url, &own, "tools/list", json!({})).await;
    let names = listed["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]);
    let expected = ["choose", "set_theme", "set_title", "clock", "book_flight"];
    assert_eq!(names.collect::<Vec<_>>(), expected);
    let (_, unknown, _) = mcp(client, url, &own, "tools/call", json!({ "name": "rm" })).await;
    assert!(unknown["error"].is_object(), "{unknown}");

    let call = json!({ "name": "set_theme", "arguments": { "theme": "dark" } });
    let (_, called) = tokio::join!(
        async {
            let Event::ToolCallEnd(end) = run.until("TOOL_CALL_END").await else {
                panic!("no call")
            };
            let path = format!("runs/1/tools/{}", end.tool_call_id);
            assert_eq!(gateway.post(&path, &json!({ "content": "done" })).await.0, 202);
        },
        mcp(client, url, &own, "tools/call", call.clone())
    );
    assert_eq!(called.1["result"]["content"][0]["text"], "done");
    respond(&mut socket, &prompt, json!({ "stopReason": "end_turn" })).await;
    assert_eq!(run.rest().await.end(), "success");

    let (_, late, _) = mcp(client, url, &own, "tools/call", call).await;
    assert_eq!(late["result"]["isError"], true);
    assert_eq!(late["result"]["content"][0]["text"], "no active run");

    #[cfg(unix)]
    {
        drop(socket);
        gateway.signal(nix::sys::signal::Signal::SIGTERM);
        assert!(gateway.ended().await.success());
        let records = std::fs::read_to_string(records.path()).unwrap();
        let records = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let calls: Vec<_> = records.filter(|record| record["event"] == "tool.call").collect();
        assert_eq!(calls.len(), 2, "{calls:?}");
        for call in calls {
            assert_eq!(&call["tool"], &json!("set_theme"));
            assert_eq!(&call["user"], &json!(""));
            assert!(call.get("content").is_none(), "{call}");
        }
    }
}
