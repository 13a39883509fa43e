//! An MCP server, the relay in front of it, and an agent as a client of the relay.
use acp_types::v1::session_setup::{McpServer, McpServerHttp};
use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use gateway::telemetry::{Program, Telemetry, TelemetryOptions};
use gateway::tools::sources::{ServerOptions as SourceOptions, ToolServer};
use gateway::tools::{FromServer, OfferedServer, PageServer, PageServers, Toolbox};
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::client::ClientOptions;
use mcp_bridge::mcp::base::Era;
use mcp_bridge::mcp::capabilities::{
    ClientCapabilities, Implementation, ListChangedCapability, ResourcesCapability,
};
use mcp_bridge::mcp::dispatch::{ClientRequest, ServerRequest};
use mcp_bridge::mcp::logging::LoggingLevel;
use mcp_bridge::mcp::skills::SkillFrontmatter;
use mcp_bridge::mcp::subscriptions::ServerChange;
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge::plugin::{MemoryStore, Notice, Sampling};
use mcp_bridge::server::{CallOutcome, ServerOptions, ToolCall, adapt_outcome};
use mcp_bridge::skills::{SkillCatalog, SkillFile};
use mcp_bridge_http::{
    CallContext, Endpoint, EndpointOptions, Handler, McpClient, RequestContext, Service, since_1970,
};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::timeout;

const TIME: Duration = Duration::from_secs(60);

/// A server of notes: prompts, resources, completions and a skill.
#[derive(Default)]
pub(crate) struct Notes {
    /// Resources with subscriptions, and the number of those.
    subscribed: watch::Sender<BTreeMap<String, usize>>,
    /// The params of each request.
    pub(crate) received: Mutex<Vec<(String, Value)>>,
}

#[async_trait]
impl Service for Notes {
    fn options(&self, _principal: &str) -> ServerOptions {
        let schema = Raw::from_value(&json!({ "type": "object" })).expect("JSON");
        let tool = Tool::new("count", schema);
        let mut options = ServerOptions::new(Implementation::new("notes", "1"), [tool]);
        let prompts = ListChangedCapability::new().with_list_changed(true);
        let resources = ResourcesCapability::new().with_list_changed(true).with_subscribe(true);
        options.capabilities = options
            .capabilities
            .with_prompts(prompts)
            .with_resources(resources)
            .with_completions(Extra::new());
        let mut skills = SkillCatalog::new();
        let text = "---\nname: refunds\ndescription: Handles refunds\n---\nRead `data/logo.bin`.";
        let files =
            [SkillFile::new("SKILL.md", text), SkillFile::new("data/logo.bin", [0, 255, 1])];
        let frontmatter = SkillFrontmatter::new("refunds", "Handles refunds");
        skills.add("billing/refunds", frontmatter, files).expect("a skill");
        options.offer_skills(skills);
        options
    }

    /// Logs messages of three levels.
    async fn call(&self, _call: &ToolCall, context: &CallContext) -> CallOutcome {
        for (level, data) in
            [(LoggingLevel::Debug, 1), (LoggingLevel::Info, 2), (LoggingLevel::Error, 3)]
        {
            let data = Raw::from_value(&data).expect("JSON");
            context.notify(&Notice::Log { level, logger: Some("counter".to_owned()), data });
        }
        CallOutcome::failed("counted")
    }

    fn subscribed(&self, uri: &str) {
        self.subscribed.send_modify(|all| *all.entry(uri.to_owned()).or_default() += 1);
    }

    fn unsubscribed(&self, uri: &str) {
        self.subscribed.send_modify(|all| {
            let count = all.get_mut(uri).expect("a subscription");
            *count -= 1;
            all.retain(|_, count| *count > 0);
        });
    }

    async fn request(
        &self,
        request: &ClientRequest,
        context: &RequestContext,
    ) -> Result<Raw, ErrorObject> {
        let params = request.to_params().expect("JSON").map(|params| params.decode::<Value>());
        let params = params.transpose().expect("JSON").unwrap_or_default();
        self.received.lock().expect("alive").push((request.method().to_owned(), params.clone()));
        let result = match request {
            ClientRequest::ListPrompts(_) => {
                json!({ "prompts": [{ "name": "greet", "own": 1.0 }], "nextCursor": "2" })
            }
            ClientRequest::GetPrompt(params) => {
                let text = format!("Greet {}.", params.arguments.as_ref().expect("one").len());
                let content = json!({ "type": "text", "text": text });
                json!({ "messages": [{ "role": "user", "content": content }] })
            }
            ClientRequest::ListResources(_) => {
                json!({ "resources": [{ "uri": "note:1", "name": "one" }] })
            }
            ClientRequest::ListResourceTemplates(_) => {
                json!({ "resourceTemplates": [{ "uriTemplate": "note:{id}", "name": "note" }] })
            }
            ClientRequest::ReadResource(read) => match (&*read.uri, &read.input_responses) {
                ("note:1", _) => json!({ "contents": [{ "uri": "note:1", "text": "x" }] }),
                ("note:secret", None) => {
                    let schema = json!({ "type": "object", "properties": {} });
                    let form = json!({ "message": "Show it?", "requestedSchema": schema });
                    let asked = json!({ "method": "elicitation/create", "params": form });
                    json!({ "resultType": "input_required", "inputRequests": { "ok": asked } })
                }
                ("note:secret", Some(answers)) => {
                    let answer = answers.get("ok").expect("an answer").as_str();
                    json!({ "contents": [{ "uri": "note:secret", "text": answer }] })
                }
                (uri, _) => {
                    let mut error = ErrorObject::new(ErrorCode(-32002), "no such note");
                    error.data = Raw::from_value(&json!({ "uri": uri })).ok();
                    return adapt_outcome(request, Err(error), context.era);
                }
            },
            ClientRequest::Complete(_) => json!({ "completion": { "values": ["1", "2"] } }),
            other => {
                return Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, other.method()));
            }
        };
        let is_asking = result.get("resultType").is_some();
        let result = Raw::from_value(&result).expect("JSON");
        if is_asking { Ok(result) } else { adapt_outcome(request, Ok(result), context.era) }
    }
}

impl Notes {
    /// Waits until these resources have a subscription.
    pub(crate) async fn wait_for(&self, uris: &[&str]) {
        let mut all = self.subscribed.subscribe();
        let reached = all.wait_for(|all| all.keys().eq(uris));
        timeout(TIME, reached).await.expect("in time").expect("a service");
    }
}

/// Forwards to an endpoint; one of a server up to 2025-11-25 does not know `server/discover`.
async fn serve(State((endpoint, era)): State<(Arc<Endpoint>, Era)>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.expect("a body");
    let value = serde_json::from_slice::<Value>(&body).unwrap_or_default();
    if era == Era::Legacy && value["method"] == "server/discover" {
        let error = json!({ "code": -32601, "message": "unknown method" });
        let error = json!({ "jsonrpc": "2.0", "id": value["id"], "error": error });
        let headers = [("content-type", "application/json")];
        return (StatusCode::OK, headers, error.to_string()).into_response();
    }
    endpoint.handle(Request::from_parts(parts, Body::from(body))).await
}

/// Serves a router on a free port. Returns its URL.
pub(crate) async fn listen(app: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

/// Answers no request: the relay asks the user of the conversation.
struct Agent;

#[async_trait]
impl Handler for Agent {
    async fn answer(&self, request: &ServerRequest) -> Result<Raw, ErrorObject> {
        Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, request.method()))
    }
}

/// A server behind a relay.
pub(crate) struct World {
    pub(crate) notes: Arc<Notes>,
    pub(crate) upstream: Arc<Endpoint>,
    page: PageServer,
}

impl World {
    /// Creates a server of a generation, and its relay, in a conversation without a user.
    pub(crate) async fn new(era: Era) -> Self {
        let (world, mut inbox) = Self::with_user(era).await;
        tokio::spawn(async move { while inbox.recv().await.is_some() {} });
        world
    }

    /// Creates a server of a generation, and its relay. The receiver gets what the conversation has
    /// to answer.
    pub(crate) async fn with_user(era: Era) -> (Self, mpsc::Receiver<FromServer>) {
        let notes = Arc::<Notes>::default();
        let upstream = Endpoint::new(notes.clone(), EndpointOptions::default());
        let url = listen(Router::new().fallback(serve).with_state((upstream.clone(), era))).await;
        let server = McpServer::Http(McpServerHttp::new("notes", url, []));
        let server =
            ToolServer::start(&server, SourceOptions::new("test", "1"), None).expect("a server");
        let offered =
            OfferedServer { server, agents: None, is_relayed: true, sampling: Sampling::new() };
        let sessions = Arc::<MemoryStore>::default();
        let toolbox = Toolbox::new(sessions, Arc::new(since_1970), vec![Arc::new(offered)]);
        let toolbox = Arc::new(toolbox.expect("tools"));
        let options = TelemetryOptions::default();
        let program = Program { name: "test", version: "1", warn: |_| {} };
        let telemetry = Telemetry::new(program, &options, &Handle::current()).expect("disabled");

        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let servers = PageServers::new(None, address, Vec::new(), toolbox, telemetry, 64);
        let servers = Arc::new(servers);
        let handle = |State(servers): State<Arc<PageServers>>, Path(name), request| async move {
            let name: String = name;
            let response = servers.handle(&name, request).await;
            response.unwrap_or_else(|| StatusCode::NOT_FOUND.into_response())
        };
        let app = Router::new().route("/mcp/threads/{name}", any(handle));
        let app = app.with_state(servers.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        let (sender, inbox) = mpsc::channel(64);
        let events = move |event| sender.try_send(event).expect("room for an event");
        let page = servers.open_one("ada", "agent", false, Arc::new(events));
        let page = page.expect("randomness");
        (Self { notes, upstream, page }, inbox)
    }

    /// Connects an agent of a generation to the relay.
    pub(crate) async fn agent(&self, era: Era) -> McpClient {
        let relays = self.page.relays(false).expect("relays");
        let [McpServer::Http(relay)] = &relays[..] else { panic!("one relay: {relays:?}") };
        let mut headers = HeaderMap::new();
        for header in &relay.headers {
            let name = HeaderName::try_from(&*header.name).expect("a name");
            headers.insert(name, HeaderValue::try_from(&*header.value).expect("a value"));
        }
        let http = reqwest::Client::builder().default_headers(headers).build().expect("a client");
        let mut options =
            ClientOptions::new(Implementation::new("agent", "1"), ClientCapabilities::new());
        options.era = Some(era);
        let connected = McpClient::connect(http, &relay.url, options, Arc::new(Agent), None).await;
        connected.expect("a connection")
    }
}

/// Creates a request.
pub(crate) fn request(method: &str, params: &Value) -> ClientRequest {
    let params = Raw::from_value(params).expect("JSON");
    ClientRequest::decode(method, Some(params.as_ref())).expect("params")
}

/// Waits for a change. Earlier ones are skipped, because a change is reported twice while a
/// subscription is replaced.
pub(crate) async fn passes(
    changes: &mut broadcast::Receiver<ServerChange>,
    expected: &ServerChange,
) {
    let passed = async { while changes.recv().await.expect("a change") != *expected {} };
    timeout(TIME, passed).await.expect("in time");
}
