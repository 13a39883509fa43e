//! Compares `mcp-bridge` with the official Rust SDK: client and server of either in both
//! generations, and the types.
use jsonrpc_core::wire::{self, Raw};
use mcp_bridge::client::{CallParams, Client, ClientEvent, ClientOptions};
use mcp_bridge::context::{self, Carrier, Carriers, ContextLimits, EncodeOptions, ModelContext};
use mcp_bridge::mcp::base::Era;
use mcp_bridge::mcp::capabilities::{ClientCapabilities, Implementation};
use mcp_bridge::mcp::content::{ContentBlock, TextContent};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::elicitation::{ElicitRequestParams, ElicitResult};
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::server::{Needs, Server, ServerEvent, ServerOptions, ToolCall};
use rmcp::model::{self as official, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, RequestContext, serve_client_with_lifecycle};
use rmcp::{ClientHandler, ErrorData, RoleClient, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

const CONTEXT: &str = r#"{"seats":[{"row":12,"free":true}],"note":"--x-model-context: no"}"#;

/// A question with a context in these carriers.
fn question(carriers: Carriers) -> ServerRequest {
    let schema = r#"{"type":"object","properties":{"seat":{"type":"string","enum":["12A","12C"]}},"required":["seat"]}"#;
    let text = format!(r#"{{"mode":"form","message":"Which seat?","requestedSchema":{schema}}}"#);
    let mut question: ElicitRequestParams = wire::decode(&text).expect("a question");
    let context = ModelContext::from_text(CONTEXT).expect("an object");
    context::encode(&mut question, &context, &EncodeOptions::new(carriers)).expect("it fits");
    ServerRequest::Elicit(Box::new(question))
}

/// A tool that asks for a seat twice and returns both.
fn run(server: &mut Server, call: &ToolCall, carriers: Carriers) {
    let seat = |answer: &Raw| -> Option<String> {
        answer.decode::<ElicitResult>().ok()?.content?.get("seat")?.decode().ok()
    };
    let heard = call.responses.first().and_then(|(_, answer)| seat(answer.as_ref().ok()?));
    let seats = call.request_state.clone().into_iter().chain(heard).collect::<Vec<_>>().join(" ");
    if seats.split(' ').count() < 2 {
        let mut needs = Needs::new([("seat", question(carriers))]);
        needs.request_state = Some(seats).filter(|seats| !seats.is_empty());
        return server.ask(call.id, needs, None).expect("the client takes forms");
    }
    let text = ContentBlock::Text(TextContent::new(seats));
    server.finish(call.id, CallToolResult::new([text])).expect("it is open");
}

/// Runs the server of mcp-bridge on an in-memory connection, until the client closes it.
async fn serve(io: DuplexStream, carriers: Carriers) {
    let tool: Tool =
        wire::decode(r#"{"name":"seats","inputSchema":{"type":"object"}}"#).expect("a tool");
    let mut server = Server::new(ServerOptions::new(Implementation::new("travel", "1"), [tool]));
    let (read, mut write) = tokio::io::split(io);
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        server.handle_line(Ok(&line));
        while let Some(event) = server.poll_event() {
            if let ServerEvent::Call(call) = event {
                run(&mut server, &call, carriers);
            }
        }
        let mut out = Vec::new();
        while let Some(sent) = server.poll_outgoing() {
            sent.message.as_message().to_line(&mut out);
        }
        if write.write_all(&out).await.is_err() {
            return;
        }
    }
}

/// A client that chooses a seat, and records the questions.
#[derive(Clone, Default)]
pub(crate) struct Chooser(Arc<Mutex<Vec<Value>>>);

impl Chooser {
    /// Returns the recorded questions.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.0.lock().expect("a list").clone()
    }
}

impl ClientHandler for Chooser {
    fn get_info(&self) -> official::ClientConfig {
        let capabilities = official::ClientCapabilities::builder().enable_elicitation().build();
        official::ClientConfig::new(capabilities, official::Implementation::new("chooser", "1"))
    }

    async fn create_elicitation(
        &self,
        request: official::ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<official::ElicitResult, ErrorData> {
        let mut asked = serde_json::to_value(&request).expect("JSON");
        let meta = serde_json::to_value(&context.meta).expect("JSON");
        if meta.as_object().is_some_and(|meta| !meta.is_empty()) {
            asked["_meta"] = meta;
        }
        self.0.lock().expect("a list").push(asked);
        let content = json!({ "seat": "12A" });
        Ok(official::ElicitResult::new(official::ElicitationAction::Accept).with_content(content))
    }
}

/// Returns the client's result, and the recorded questions.
async fn talk(
    lifecycle: ClientLifecycleMode,
    carriers: Carriers,
) -> Result<(Vec<String>, Value, Vec<Value>), Box<dyn Error>> {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let server = tokio::spawn(serve(ours, carriers));
    let chooser = Chooser::default();
    let client = serve_client_with_lifecycle(chooser.clone(), theirs, lifecycle).await?;
    let tools = client.list_all_tools().await?;
    let names = tools.iter().map(|tool| tool.name.to_string()).collect();
    let result = client.call_tool(official::CallToolRequestParams::new("seats")).await?;
    client.cancel().await?;
    server.await?;
    Ok((names, serde_json::to_value(result)?, chooser.asked()))
}

/// The official client calls a tool with two questions, in both generations, with a context in each
/// carrier. The context arrives as measured; with the carriers selected for an unknown peer it
/// always arrives.
#[test]
fn official_client_gets_questions_with_context() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let modern = || ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    let auto = || ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: None,
    };
    let only = |carrier: Carrier| Carriers {
        meta: carrier == Carrier::Meta,
        schema: carrier == Carrier::Schema,
        message: carrier == Carrier::Message,
    };
    let table = [
        (Carriers::ALL, Some(Carrier::Meta)),
        (only(Carrier::Meta), Some(Carrier::Meta)),
        (only(Carrier::Schema), None),
        (only(Carrier::Message), Some(Carrier::Message)),
    ];
    for (carriers, expected) in table {
        for lifecycle in [ClientLifecycleMode::Initialize, modern(), auto()] {
            let shown = format!("{lifecycle:?} {carriers:?}");
            let (tools, result, asked) = runtime.block_on(talk(lifecycle, carriers))?;
            assert_eq!(tools, ["seats"], "{shown}");
            assert_eq!(result["content"][0]["text"], "12A 12A", "{shown}");
            assert_eq!(asked.len(), 2, "{shown}");
            for asked in asked {
                let asked: ElicitRequestParams = wire::decode(&asked.to_string())?;
                let found = context::extract(&asked, &ContextLimits::default());
                assert_eq!(found.source, expected, "{shown}");
                let arrived: Option<Value> = found.context.map(|it| it.decode()).transpose()?;
                let sent: Value = serde_json::from_str(CONTEXT)?;
                assert_eq!(arrived, expected.map(|_| sent), "{shown}");
                assert_eq!(found.request.message(), Some("Which seat?"), "{shown}");
            }
        }
    }
    Ok(())
}

/// A server of the official SDK. Its tool asks once, in the generation of its client.
#[derive(Clone)]
struct Asker;

impl Asker {
    fn question() -> official::ElicitRequestParams {
        let question = json!({
            "mode": "form", "message": "Which seat?",
            "requestedSchema": { "type": "object", "properties": { "seat": { "type": "string" } } },
        });
        serde_json::from_value(question).expect("a question")
    }
}

impl ServerHandler for Asker {
    fn get_info(&self) -> official::ServerConfig {
        let capabilities = official::ServerCapabilities::builder().enable_tools().build();
        official::ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _: Option<official::PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<official::ListToolsResult, ErrorData> {
        let list = json!({ "tools": [{ "name": "seats", "inputSchema": { "type": "object" } }] });
        Ok(serde_json::from_value(list).expect("a list"))
    }

    async fn call_tool(
        &self,
        request: official::CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<official::CallToolResponse, ErrorData> {
        let question = json!({ "method": "elicitation/create", "params": Self::question() });
        let meta = serde_json::to_value(&context.meta).expect("JSON");
        let is_modern = !meta["io.modelcontextprotocol/protocolVersion"].is_null();
        let answer = match (request.input_responses, request.request_state.as_deref()) {
            (Some(mut answers), Some("asked")) => answers.remove("seat").expect("an answer"),
            _ if is_modern => {
                let questions = json!({ "seat": question });
                let questions = serde_json::from_value(questions).expect("a question");
                let state = Some("asked".to_owned());
                let needed = official::InputRequiredResult::new(Some(questions), state);
                return Ok(official::CallToolResponse::InputRequired(needed));
            }
            _ => {
                let question = serde_json::from_value(question).expect("a question");
                let answer = context.peer.send_request(question).await.expect("an answer");
                serde_json::to_value(answer).expect("JSON")
            }
        };
        let seat = answer["content"]["seat"].as_str().unwrap_or("none").to_owned();
        let text = json!({ "content": [{ "type": "text", "text": seat }] });
        let result: official::CallToolResult = serde_json::from_value(text).expect("a result");
        Ok(official::CallToolResponse::Complete(result))
    }
}

/// Runs the client of mcp-bridge on an in-memory connection. Returns the server's properties and
/// the tool's result.
async fn call(
    io: DuplexStream,
    era: Option<Era>,
) -> Result<(String, usize, Value), Box<dyn Error>> {
    let capabilities: ClientCapabilities = wire::decode(r#"{"elicitation":{"form":{}}}"#)?;
    let mut options = ClientOptions::new(Implementation::new("ours", "1"), capabilities);
    options.era = era;
    let mut client = Client::new(options);
    client.start(Duration::ZERO);
    let (read, mut write) = tokio::io::split(io);
    let mut lines = BufReader::new(read).lines();
    let mut version = String::new();
    let mut tools = 0;
    loop {
        while let Some(event) = client.poll_event() {
            match event {
                ClientEvent::Ready(server) => {
                    version = server.version.as_str().to_owned();
                    client.list_tools()?;
                }
                ClientEvent::Tools(list) => {
                    tools = list.tools.len();
                    client.call(CallParams::new("seats", Raw::from_text("{}")?))?;
                }
                ClientEvent::Needs { call, needs } => {
                    let answer = Raw::from_text(r#"{"action":"accept","content":{"seat":"12C"}}"#)?;
                    let answers =
                        needs.requests.into_iter().map(|(key, _)| (key, Ok(answer.clone())));
                    client.answer(call, answers.collect())?;
                }
                ClientEvent::Done { result, .. } => {
                    return Ok((version, tools, serde_json::to_value(result)?));
                }
                ClientEvent::Notification(_)
                | ClientEvent::Progress { .. }
                | ClientEvent::Log { .. } => {}
                other => return Err(format!("{other:?}").into()),
            }
        }
        let mut out = Vec::new();
        while let Some(sent) = client.poll_outgoing() {
            sent.as_message().to_line(&mut out);
        }
        write.write_all(&out).await?;
        let line = lines.next_line().await?.ok_or("the server has gone")?;
        client.handle_line(Ok(&line), None);
    }
}

/// The client of mcp-bridge calls an asking tool of the official server, in both generations, with
/// and without a known generation.
#[test]
fn official_server_asks() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for (era, expected) in
        [(None, "2026-07-28"), (Some(Era::Modern), "2026-07-28"), (Some(Era::Legacy), "2025-11-25")]
    {
        let (version, tools, result) = runtime.block_on(async {
            let (ours, theirs) = tokio::io::duplex(1 << 20);
            let server = tokio::spawn(async move {
                Asker.serve(theirs).await.map(|running| tokio::spawn(running.waiting()))
            });
            let called = call(ours, era).await;
            server.await??;
            called
        })?;
        assert_eq!(version.as_str(), expected, "{era:?}");
        assert_eq!(tools, 1, "{era:?}");
        assert_eq!(result["content"][0]["text"], "12C", "{era:?}");
    }
    Ok(())
}

macro_rules! beside {
    ($text:expr, $Ours:ty, $Theirs:ty) => {{
        let text = $text;
        let theirs: $Theirs = serde_json::from_str(text)?;
        let ours: $Ours = wire::decode(text)?;
        let again = serde_json::to_string(&ours)?;
        assert_eq!(serde_json::from_str::<$Theirs>(&again)?, theirs, "{text}");
        let written = serde_json::to_string(&theirs)?;
        wire::decode::<$Ours>(&written).map_err(|error| format!("{written}: {error}"))?;
    }};
}

/// Values that the official types decode are decoded and encoded here with the same value, and vice
/// versa.
#[test]
#[expect(deprecated, reason = "the specification still has sampling")]
fn official_types_decode_own_output() -> Result<(), Box<dyn Error>> {
    use mcp_bridge::mcp;
    for text in [
        r#"{"name":"t","title":"T","description":"D","inputSchema":{"type":"object","z":1,"a":2},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"icons":[{"src":"https://example.com/i.png","sizes":["48x48"]}],"_meta":{"k":1}}"#,
        r#"{"inputSchema":{"type":"object"},"name":"t"}"#,
    ] {
        beside!(text, mcp::tools::Tool, official::Tool);
    }
    for text in [
        r#"{"content":[{"type":"text","text":"a","annotations":{"audience":["user"],"priority":0.5}},{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"audio","data":"AA==","mimeType":"audio/wav"},{"type":"resource_link","uri":"a:b","name":"n","size":3},{"type":"resource","resource":{"uri":"a:b","text":"x"}}],"isError":false}"#,
        r#"{"resultType":"complete","content":[],"structuredContent":{"a":1}}"#,
        r#"{"content":[],"structuredContent":null}"#,
    ] {
        beside!(text, mcp::tools::CallToolResult, official::CallToolResult);
    }
    for text in [
        r#"{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","format":"email"},"b":{"type":"integer","minimum":1},"c":{"type":"string","oneOf":[{"const":"x","title":"X"}]},"d":{"type":"array","items":{"type":"string","enum":["y"]}},"e":{"type":"boolean","default":true}},"required":["a"]}}"#,
        r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#,
        r#"{"mode":"url","message":"m","url":"https://example.com","elicitationId":"e"}"#,
    ] {
        beside!(text, mcp::elicitation::ElicitRequestParams, official::ElicitRequestParams);
    }
    // A question by URL has no id in 2026-07-28.
    beside!(
        r#"{"mode":"url","message":"m","url":"https://example.com"}"#,
        mcp::elicitation::ElicitRequestParams,
        official::ElicitRequestParams
    );
    for text in [r#"{"action":"accept","content":{"a":1.5,"b":["x"]}}"#, r#"{"action":"decline"}"#]
    {
        beside!(text, mcp::elicitation::ElicitResult, official::ElicitResult);
    }
    beside!(
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"assistant","content":[{"type":"tool_use","id":"u","name":"t","input":{"a":1}}]}],"maxTokens":9,"modelPreferences":{"hints":[{"name":"h"}],"costPriority":0.5},"includeContext":"none","tools":[{"name":"t","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"required"}}"#,
        mcp::sampling::CreateMessageRequestParams,
        official::CreateMessageRequestParams
    );
    beside!(
        r#"{"role":"assistant","content":{"type":"text","text":"a"},"model":"m","stopReason":"endTurn"}"#,
        mcp::sampling::CreateMessageResult,
        official::CreateMessageResult
    );
    beside!(
        r#"{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{"listChanged":true}},"clientInfo":{"name":"c","version":"1","title":"C"}}"#,
        mcp::lifecycle::InitializeRequestParams,
        official::InitializeRequestParams
    );
    beside!(
        r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":5,"cacheScope":"public","instructions":"i"}"#,
        mcp::discover::DiscoverResult,
        official::DiscoverResult
    );
    beside!(
        r#"{"progressToken":"p","progress":0.5,"total":1.0,"message":"m"}"#,
        mcp::progress::ProgressNotificationParams,
        official::ProgressNotificationParam
    );
    beside!(
        r#"{"name":"t","arguments":{"a":1},"requestState":"s","inputResponses":{"k":{"action":"accept","content":{"a":1}}}}"#,
        mcp::tools::CallToolRequestParams,
        official::CallToolRequestParams
    );
    Ok(())
}

/// Values that the specification permits, that the official types refuse or change, and that are
/// kept here.
#[test]
fn values_that_official_types_refuse_are_decoded() -> Result<(), Box<dyn Error>> {
    use mcp_bridge::mcp;
    // One unknown block.
    let newer = r#"{"content":[{"type":"hologram","z":1},{"type":"text","text":"a"}]}"#;
    assert!(serde_json::from_str::<official::CallToolResult>(newer).is_err());
    assert_eq!(serde_json::to_string(&wire::decode::<mcp::tools::CallToolResult>(newer)?)?, newer);
    // The order of a schema.
    let tool = r#"{"name":"t","inputSchema":{"type":"object","zeta":1e2,"alpha":0.10}}"#;
    assert_eq!(serde_json::to_string(&wire::decode::<mcp::tools::Tool>(tool)?)?, tool);
    Ok(())
}
