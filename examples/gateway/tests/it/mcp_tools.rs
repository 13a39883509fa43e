//! Tools of MCP servers, called by models and, through the relay, by agents.
use crate::collector::Collector;
use crate::doors::Chat;
use crate::gateway::{Gateway, input, soon};
use crate::run::EndedRun;
use agui_types::event::Event;
use async_trait::async_trait;
use jsonrpc_core::wire::{self, Raw};
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::mcp::content::{ContentBlock, TextContent};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::server::{CallOutcome, Needs, ServerOptions, ToolCall};
use mcp_bridge_http::{CallContext, Endpoint, EndpointOptions, Service, router};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// A server with tools that return their arguments, or ask their user or the model.
#[derive(Default)]
pub(crate) struct Flights {
    /// The `_meta` of each call.
    called: Mutex<Vec<Value>>,
}

#[async_trait]
impl Service for Flights {
    fn options(&self, _principal: &str) -> ServerOptions {
        let tools = ["book_flight", "clock", "think"].map(|name| {
            let tool = json!({ "name": name, "inputSchema": { "type": "object" } });
            wire::decode::<Tool>(&tool.to_string()).unwrap()
        });
        ServerOptions::new(Implementation::new("flights", "1"), tools)
    }

    async fn call(&self, call: &ToolCall, _context: &CallContext) -> CallOutcome {
        let meta = call.meta.as_ref().map_or("null", |meta| meta.as_str());
        self.called.lock().unwrap().push(serde_json::from_str(meta).unwrap());
        let text = match (&*call.name, call.response("seat")) {
            ("clock", _) => "x".repeat(400_000),
            (_, Some(Ok(answer))) => format!("booked {}", answer.as_str()),
            ("think", _) if call.capabilities.sampling.is_none() => "without a model".to_owned(),
            ("think", _) if call.response("idea").is_some() => "thought".to_owned(),
            ("think", _) => {
                let text = json!({ "type": "text", "text": "Think." });
                let messages = json!([{ "role": "user", "content": text }]);
                let params = Raw::from_value(&json!({ "messages": messages, "maxTokens": 9 }));
                let params = params.unwrap();
                let request =
                    ServerRequest::decode("sampling/createMessage", Some(params.as_ref()));
                return CallOutcome::Needs(Needs::new([("idea", request.unwrap())]));
            }
            _ => {
                let seat = json!({ "seat": { "type": "string" } });
                let schema = json!({ "type": "object", "properties": seat });
                let form = json!({ "message": "Which seat?", "requestedSchema": schema });
                let form = Raw::from_value(&form).unwrap();
                let request = ServerRequest::decode("elicitation/create", Some(form.as_ref()));
                return CallOutcome::Needs(Needs::new([("seat", request.unwrap())]));
            }
        };
        CallToolResult::new([ContentBlock::Text(TextContent::new(text))]).into()
    }
}

/// Serves over HTTP, and returns the URL.
async fn serve() -> (Arc<Flights>, String) {
    let service = Arc::new(Flights::default());
    let app = router("/mcp", Endpoint::new(service.clone(), EndpointOptions::default()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    (service, url)
}

/// A server on stdio, which forwards to the URL.
fn on_stdio(name: &str, url: &str) -> String {
    format!(
        "[mcp-servers.{name}]\ncommand = \"'{}' mcp-shim\"\nenv.SPANWIRE_MCP_URL = {url:?}\n\
         env.SPANWIRE_MCP_SECRET = 'none'\n",
        env!("CARGO_BIN_EXE_gateway")
    )
}

const SCRIPT: &str = "[[answers]]\nword = 'book'\nsteps = [\n\
    { call = [{ tool = 'air__book_flight', arguments = { from = 'Oslo' } }] },\n\
    { say = 'It is {result}.' },\n]\n\
    [[answers]]\nword = 'large'\nsteps = [{ call = [{ tool = 'rail__clock' }] }, { say = '{result}' }]\n\
    [[answers]]\nword = 'idea'\nsteps = [{ call = [{ tool = 'air__think' }] }, { say = '{result}' }]\n\
    [[answers]]\nword = 'mute'\nsteps = [{ call = [{ tool = 'mute__think' }] }, { say = '{result}' }]\n";

/// A gateway with a model, and one server over HTTP and on stdio.
async fn with_model(folder: &TempDir, servers: &str) -> (Arc<Flights>, Gateway) {
    with_settings(folder, "", servers).await
}

/// The same with general settings.
async fn with_settings(folder: &TempDir, general: &str, servers: &str) -> (Arc<Flights>, Gateway) {
    let script = folder.path().join("script.toml");
    fs::write(&script, SCRIPT).unwrap();
    let (flights, url) = serve().await;
    let settings = format!(
        "{general}[agents.model.model]\nscript = {:?}\n[mcp-servers.air]\nurl = {url:?}\n{}{servers}",
        script.to_str().unwrap(),
        on_stdio("rail", &url),
    );
    (flights, Gateway::configured(&settings).await)
}

async fn get(gateway: &Gateway, path: &str) -> Value {
    let response = soon(gateway.client.get(gateway.url(path)).send()).await.unwrap();
    soon(response.json()).await.unwrap()
}

/// The input that answers the only question of a run, with its call in the history.
fn answering(asked: &Value, run: &str, told: &EndedRun) -> Value {
    let mut input = asked.clone();
    input["runId"] = json!(run);
    let payload = json!({ "action": "accept", "content": { "seat": "4A" } });
    let question = &told.interrupts()[0];
    let name = told.events.iter().find_map(|event| match event {
        Event::ToolCallStart(start) => Some(&start.tool_call_name),
        _ => None,
    });
    let call = json!({ "name": name, "arguments": "{}" });
    let call = json!({ "id": question.tool_call_id, "type": "function", "function": call });
    let call = json!({ "id": "a", "role": "assistant", "toolCalls": [call] });
    input["messages"].as_array_mut().unwrap().push(call);
    let id = &question.id;
    input["resume"] = json!([{ "interruptId": id, "status": "resolved", "payload": payload }]);
    input
}

#[tokio::test]
async fn tools_of_servers_are_listed_with_their_source() {
    let folder = TempDir::new().unwrap();
    let missing = "[mcp-servers.gone]\nurl = 'http://127.0.0.1:9/mcp'\n\
        [mcp-servers.other]\nurl = 'http://127.0.0.1:9/mcp'\nagents = ['other']\n";
    let (_flights, mut gateway) = with_model(&folder, missing).await;
    let listed = get(&gateway, "/api/tools").await;
    let listed: Vec<_> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| [&tool["name"], &tool["source"], &tool["server"]].map(Value::as_str))
        .collect();
    let local = |name| [Some(name), Some("local"), None];
    let mcp = |name, server| [Some(name), Some("mcp"), Some(server)];
    assert_eq!(
        listed,
        [
            local("clock"),
            local("book_flight"),
            mcp("air__book_flight", "air"),
            mcp("air__clock", "air"),
            mcp("air__think", "air"),
            mcp("rail__book_flight", "rail"),
            mcp("rail__clock", "rail"),
            mcp("rail__think", "rail"),
        ]
    );
    gateway.says("no connection to an MCP server").await;
}

#[tokio::test]
async fn model_calls_a_tool_of_a_server_which_asks_the_user() {
    let folder = TempDir::new().unwrap();
    let (flights, gateway) = with_model(&folder, "").await;
    let asked = input("t", "1", "book");
    let which = gateway.run(&asked).await.rest().await;
    assert_eq!(which.end(), "interrupt");
    let question = &which.interrupts()[0];
    assert_eq!(question.message.as_deref(), Some("Which seat?"));
    assert!(question.response_schema.is_some());
    let sessions = get(&gateway, "/api/tools/sessions").await;
    assert_eq!(sessions["sessions"][0]["toolName"], "air__book_flight");
    assert_eq!(sessions["sessions"][0]["status"], "awaiting_elicit");

    let mut second = answering(&asked, "2", &which);
    let done = gateway.run(&second).await.rest().await;
    assert_eq!(done.end(), "success");
    let result = r#"booked {"action":"accept","content":{"seat":"4A"}}"#;
    assert_eq!(done.results(), [result]);
    assert_eq!(done.text(), format!("It is {result}."));
    assert_eq!(flights.called.lock().unwrap().len(), 2, "a call of 2026-07-28 is sent again");
    assert_eq!(get(&gateway, "/api/tools/sessions").await["sessions"], json!([]));

    // The answer is used once.
    second["runId"] = json!("3");
    let again = gateway.run(&second).await.rest().await;
    assert_eq!(again.error().code.as_deref(), Some("RESUME_MISMATCH"));
}

#[tokio::test]
async fn call_that_waited_during_a_restart_fails_and_the_model_goes_on() {
    let folder = TempDir::new().unwrap();
    let (_flights, gateway) = with_model(&folder, "").await;
    let asked = input("t", "1", "book");
    let which = gateway.run(&asked).await.rest().await;
    assert_eq!(which.end(), "interrupt");
    drop(gateway);

    // The server is missing as well, so its tools are unknown.
    let script = folder.path().join("script.toml");
    let missing = format!(
        "[agents.model.model]\nscript = {:?}\n[mcp-servers.air]\nurl = 'http://127.0.0.1:9/mcp'\n",
        script.to_str().unwrap(),
    );
    let gateway = Gateway::configured(&missing).await;
    let mut second = answering(&asked, "2", &which);
    let done = gateway.run(&second).await.rest().await;
    assert_eq!(done.end(), "success", "{:?}", done.events);
    let [result] = &done.results()[..] else { panic!("{:?}", done.results()) };
    assert!(result.contains("because the server restarted; call the tool again"), "{result}");
    assert!(done.text().contains(result), "{}", done.text());
    let next = gateway.run(&input("t", "3", "hello")).await.rest().await;
    assert_eq!(next.end(), "success");

    // Without an open call in the history, no call is lost.
    second["runId"] = json!("4");
    second["messages"].as_array_mut().unwrap().pop();
    let made_up = gateway.run(&second).await.rest().await;
    assert_eq!(made_up.error().code.as_deref(), Some("RESUME_MISMATCH"));
}

#[tokio::test]
async fn waiting_call_of_a_server_can_be_ended() {
    let folder = TempDir::new().unwrap();
    let (_flights, gateway) = with_model(&folder, "").await;
    let asked = input("t", "1", "book");
    let which = gateway.run(&asked).await.rest().await;
    let sessions = get(&gateway, "/api/tools/sessions").await;
    let session = sessions["sessions"][0]["sessionId"].as_str().unwrap();
    let url = gateway.url(&format!("/api/tools/sessions/{session}"));
    assert_eq!(soon(gateway.client.delete(&url).send()).await.unwrap().status(), 204);
    assert_eq!(soon(gateway.client.delete(&url).send()).await.unwrap().status(), 404);
    let late = gateway.run(&answering(&asked, "2", &which)).await.rest().await;
    assert_eq!(late.error().code.as_deref(), Some("RESUME_MISMATCH"));
}

#[tokio::test]
async fn tool_of_a_server_asks_the_model_unless_a_setting_forbids_it() {
    let folder = TempDir::new().unwrap();
    let (_, url) = serve().await;
    let records = folder.path().join("audit.jsonl");
    let mute = format!("[mcp-servers.mute]\nurl = {url:?}\nsampling.max-requests = 0\n");
    let audit = format!("audit-log = {:?}\n", records.to_str().unwrap());
    let (_flights, gateway) = with_settings(&folder, &audit, &mute).await;
    let told = gateway.run(&input("t", "1", "idea")).await.rest().await;
    assert_eq!(told.text(), "thought");
    let told = gateway.run(&input("t", "2", "mute")).await.rest().await;
    assert_eq!(told.text(), "without a model");
    gateway.signal(Signal::SIGTERM);
    assert!(gateway.ended().await.success());
    let records = fs::read_to_string(records).unwrap();
    let records: Vec<Value> =
        records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut asked = records.iter().filter(|record| record["event"] == "sampling");
    assert_eq!(asked.next().map(|record| &record["tool"]), Some(&json!("air__think")));
    assert_eq!(asked.next(), None);
}

#[tokio::test]
async fn large_result_is_shortened_for_the_model() {
    let folder = TempDir::new().unwrap();
    let (_flights, gateway) = with_model(&folder, "").await;
    let told = gateway.run(&input("t", "1", "large")).await.rest().await;
    assert_eq!(told.end(), "success");
    let result = told.results()[0].to_owned();
    let left_out = 400_000 - 256 * 1024;
    assert!(
        result.ends_with(&format!("x\n[{left_out} more bytes were left out]")),
        "{}",
        result.len()
    );
}

#[tokio::test]
async fn socket_names_the_source_of_a_call() {
    let folder = TempDir::new().unwrap();
    let (_flights, gateway) = with_model(&folder, "").await;
    let told = Chat::open(&gateway, "model").await.say("c", "large").await;
    let of_tools = told.iter().filter(|message| message["source"].is_string());
    let sources: Vec<_> = of_tools.map(|message| message["source"].as_str().unwrap()).collect();
    assert_eq!(sources, ["mcp", "mcp"], "{told:?}");
}

#[tokio::test]
async fn call_of_an_agent_passes_the_relay() {
    let folder = TempDir::new().unwrap();
    let heard = folder.path().join("heard").to_str().unwrap().to_owned();
    let agent = format!("sh -c 'tee {heard} | {} demo-agent'", env!("CARGO_BIN_EXE_gateway"));
    for on_stdio_too in [false, true] {
        let (flights, url) = serve().await;
        // The demo agent calls the tools of the server `ui`.
        let server = match on_stdio_too {
            true => on_stdio("ui", &url),
            false => format!("[mcp-servers.ui]\nurl = {url:?}\n"),
        };
        let settings = format!(
            "[agents.demo]\ncommand = {agent:?}\npage-tools = 'off'\n{server}relay = true\n"
        );
        let gateway = Gateway::configured(&settings).await;
        let asked = input("t", "1", "book");
        let which = gateway.run(&asked).await.rest().await;
        assert_eq!(which.end(), "interrupt");
        let question = &which.interrupts()[0];
        assert_eq!(question.message.as_deref(), Some("Which seat?"));
        let done = gateway.run(&answering(&asked, "2", &which)).await.rest().await;
        assert_eq!(done.end(), "success");
        let result = r#"booked {"action":"accept","content":{"seat":"4A"}}"#;
        assert!(done.text().starts_with(&format!("The tool says: {result}")), "{}", done.text());
        assert_eq!(flights.called.lock().unwrap().len(), 2);

        let said = fs::read_to_string(&heard).unwrap();
        let messages = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let new = messages.into_iter().find(|message| message["method"] == "session/new").unwrap();
        let servers = new["params"]["mcpServers"].as_array().unwrap();
        assert_eq!(servers.len(), 1, "{servers:?}");
        assert_eq!(&servers[0]["name"], &json!("ui"));
        assert_eq!(&servers[0]["args"], &json!(["mcp-shim"]));
        assert!(!servers[0].to_string().contains(&url), "the agent does not know the server");
        let listed = get(&gateway, "/api/tools").await;
        assert_eq!(listed["tools"][2]["name"], "ui__book_flight");
    }
}

#[tokio::test]
async fn relay_of_a_missing_server_is_an_error_for_the_agent() {
    let settings = "[agents.demo]\npage-tools = 'off'\n\
        [mcp-servers.ui]\nurl = 'http://127.0.0.1:9/mcp'\nrelay = true\n";
    let gateway = Gateway::configured(settings).await;
    let told = gateway.run(&input("t", "1", "book")).await.rest().await;
    assert_eq!(told.end(), "success");
    let text = told.text();
    assert!(text.starts_with("The tool does not do it: "), "{text}");
    assert!(gateway.run(&input("t", "2", "hello")).await.rest().await.end() == "success");
}

#[tokio::test]
async fn relay_over_a_deprecated_transport_is_refused() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("gateway.toml");
    let settings = "[mcp-servers.s]\nurl = 'http://a/sse'\ntransport = 'sse'\nrelay = true\n";
    fs::write(&file, settings).unwrap();
    let ended = crate::gateway::command(&["--config", file.to_str().unwrap()]).output().await;
    let said = String::from_utf8(ended.unwrap().stderr).unwrap();
    let expected =
        "mcp-servers.s.transport: expected a command, or a URL with the transport `http`";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn relayed_call_is_traced_below_the_run() {
    let collector = Collector::start();
    let folder = TempDir::new().unwrap();
    let endpoint = collector.url();
    let flights = Runtime::new().unwrap().block_on(async {
        let (flights, url) = serve().await;
        let settings = format!(
            "[agents.demo]\npage-tools = 'off'\n[mcp-servers.ui]\nurl = {url:?}\nrelay = true\n"
        );
        let file = folder.path().join("gateway.toml");
        fs::write(&file, settings).unwrap();
        let variables =
            [("OTEL_TRACES_EXPORTER", "otlp"), ("OTEL_EXPORTER_OTLP_ENDPOINT", &*endpoint)];
        let gateway = Gateway::start(&["--config", file.to_str().unwrap()], &variables).await;
        let asked = input("t", "1", "book");
        let which = gateway.run(&asked).await.rest().await;
        let done = gateway.run(&answering(&asked, "2", &which)).await.rest().await;
        assert_eq!(done.end(), "success");
        gateway.signal(Signal::SIGTERM);
        assert!(gateway.ended().await.success());
        flights
    });
    let trace = collector.received();
    let named =
        |name: &str| trace.spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let [call] = &named("tools/call book_flight")[..] else { panic!("{:?}", trace.names()) };
    let hex = |id: &[u8]| id.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let runs = named("run demo");
    assert!(runs.iter().any(|run| run.span_id == call.parent_span_id), "{:?}", trace.names());
    // The server can add its own spans below the call.
    let parent = format!("00-{}-{}-01", hex(&call.trace_id), hex(&call.span_id));
    let called = flights.called.lock().unwrap();
    assert!(called.iter().all(|meta| meta["traceparent"] == parent), "{called:?}, {parent}");
}
