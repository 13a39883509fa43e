//! Tools, prompts and resources that the official conformance suite expects of a server.
use crate::context;
use crate::fixture::{
    Fixture, FixtureAction, FixturePrompt, FixtureTool, Rounds, answers, fill, requests,
};
use async_trait::async_trait;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::mcp::base::Era;
use mcp_bridge::mcp::capabilities::{ListChangedCapability, ResourcesCapability};
use mcp_bridge::mcp::content::{ContentBlock, TextContent};
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::mcp::error::RESOURCE_NOT_FOUND;
use mcp_bridge::mcp::logging::LoggingLevel;
use mcp_bridge::mcp::prompts::GetPromptRequestParams;
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::plugin::NewCall;
use mcp_bridge::server::StateCodec;
use mcp_bridge::server::{
    CallOutcome, DEFAULT_TTL_MS, Needs, ServerOptions, ToolCall, missing_capability, tasks_required,
};
use mcp_bridge::skills::SkillCatalog;
use mcp_bridge_http::{CallContext, Endpoint, PluginService, RequestContext, Service};
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

/// Duration of a step of the tool that reports progress.
const STEP: Duration = Duration::from_millis(50);

/// The tools of the suite and those of `plugins`.
pub(crate) struct Conformance {
    plugins: PluginService,
    fixture: Fixture,
    states: Box<dyn StateCodec + Send + Sync>,
    endpoint: OnceLock<Weak<Endpoint>>,
    /// The tools without and with the dynamic tool.
    tools: [Arc<[Tool]>; 2],
    has_more: AtomicBool,
    skills: Option<Arc<SkillCatalog>>,
}

impl Conformance {
    pub(crate) fn new(
        plugins: PluginService,
        states: Box<dyn StateCodec + Send + Sync>,
        skills: Option<Arc<SkillCatalog>>,
    ) -> serde_json::Result<Self> {
        let fixture = Fixture::read()?;
        let tools = fixture.tools.iter().map(|it| it.tool.clone());
        let tools: Vec<_> = tools.chain(plugins.tools().iter().cloned()).collect();
        let mut more = tools.clone();
        if let Some(mut added) = more.first().cloned() {
            added.name = "test_added_tool".into();
            more.push(added);
        }
        let tools = [tools.into(), more.into()];
        let endpoint = OnceLock::new();
        let has_more = AtomicBool::new(false);
        Ok(Self { plugins, fixture, states, endpoint, tools, has_more, skills })
    }

    /// Sets the endpoint, which is notified of changed tools.
    pub(crate) fn serve_at(&self, endpoint: &Arc<Endpoint>) {
        self.endpoint.get_or_init(|| Arc::downgrade(endpoint));
        self.plugins.serve_at(endpoint);
    }

    /// Returns the tools that ask.
    pub(crate) fn plugins(&self) -> &PluginService {
        &self.plugins
    }

    fn find(&self, name: &str) -> Option<&FixtureTool> {
        let name = if name == "test_added_tool" { "test_simple_text" } else { name };
        self.fixture.tools.iter().find(|it| it.tool.name == name)
    }

    /// Asks the open questions, or returns the result.
    fn ask(&self, call: &ToolCall, asks: &Rounds) -> Result<CallOutcome, ErrorObject> {
        let arguments = value(&call.arguments);
        let mut round = match &call.request_state {
            Some(state) if asks.has_state => {
                let state = self.states.open(state, &call.name);
                let round = state.and_then(|state| state.parse().ok());
                round.ok_or_else(|| invalid("the state does not belong to this server"))?
            }
            _ => 0,
        };
        loop {
            let Some(current) = asks.rounds.get(round) else {
                let answers = call.responses.iter();
                let answers: Value = answers
                    .map(|(key, answer)| (key.clone(), answer.as_ref().map_or(Value::Null, value)))
                    .collect();
                let text = format!("Answers (state-ok): {answers}");
                return Ok(CallToolResult::new([text_block(&text)]).into());
            };
            let mut needed = requests(current, &arguments).map_err(|error| broken(&error))?;
            if asks.only_declared {
                needed.retain(|(_, it)| missing_capability(&call.capabilities, it).is_none());
            }
            let is_refused = |key: &str| matches!(call.response(key), Some(Err(_)));
            if needed.iter().any(|(key, _)| is_refused(key)) {
                let mut result = CallToolResult::new([text_block("the client declined")]);
                result.is_error = Some(true);
                return Ok(result.into());
            }
            let is_answered = |(key, request): &(String, _)| match call.response(key) {
                Some(Ok(answer)) => answers(request, answer),
                _ => false,
            };
            if !needed.iter().all(is_answered) {
                let mut needs = Needs::new(needed);
                if asks.has_state {
                    needs.request_state = Some(self.states.seal(&round.to_string(), &call.name));
                }
                return Ok(CallOutcome::Needs(needs));
            }
            round += 1;
        }
    }

    /// Continues a call as a task of another tool, with the answers as its arguments.
    async fn go_on_with(&self, tool: &str, call: &ToolCall, context: &CallContext) -> CallOutcome {
        if !call.takes_task() {
            return CallOutcome::Failed(tasks_required());
        }
        let content = |answer: &Raw| value(answer).get("content").cloned().unwrap_or_default();
        let answers = call.responses.iter();
        let answers: Value = answers
            .filter_map(|(key, answer)| Some((key.clone(), content(answer.as_ref().ok()?))))
            .collect();
        let (Ok(id), Ok(arguments)) = (context.new_id(), Raw::from_value(&answers)) else {
            return CallOutcome::Failed(ErrorObject::new(
                ErrorCode::INTERNAL_ERROR,
                "no randomness",
            ));
        };
        let principal = context.principal();
        let new = NewCall { session_id: &id, call_id: &id, tool, arguments, principal, meta: None };
        self.plugins.begin_task(new, call).await
    }

    fn prompt(&self, params: &GetPromptRequestParams, era: Era) -> Result<Value, ErrorObject> {
        let is_it =
            |it: &&FixturePrompt| it.prompt.get("name").is_some_and(|name| *name == *params.name);
        let found = self.fixture.prompts.iter().find(is_it);
        let found = found.ok_or_else(|| invalid("unknown prompt"))?;
        let given = params.arguments.iter().flat_map(Extra::iter);
        let mut arguments: Value = given.map(|(key, raw)| (key.to_owned(), value(raw))).collect();
        for (key, request) in found.asks.iter().flatten() {
            let answer = params.input_responses.as_ref().and_then(|answers| answers.get(key));
            let answer = answer.map(value).and_then(|answer| answer.get("content").cloned());
            let (Some(Value::Object(answer)), Value::Object(arguments)) = (answer, &mut arguments)
            else {
                if era == Era::Legacy {
                    return Err(invalid(
                        "the prompt requires input, which this version does not support",
                    ));
                }
                return Ok(
                    json!({ "resultType": "input_required", "inputRequests": { key: request } }),
                );
            };
            arguments.extend(answer);
        }
        Ok(json!({ "messages": fill(&found.messages, &arguments) }))
    }

    fn read(&self, uri: &str, era: Era) -> Result<Value, ErrorObject> {
        let template = uri.strip_prefix("test://template/").and_then(|it| it.strip_suffix("/data"));
        if let Some(id) = template {
            let text =
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            let text = text.to_string();
            let content = json!({ "uri": uri, "mimeType": "application/json", "text": text });
            return Ok(json!({ "contents": [content] }));
        }
        let is_it = |it: &&Value| it.get("uri").is_some_and(|found| *found == *uri);
        let found = self.fixture.contents.iter().find(is_it);
        let code = match era {
            Era::Legacy => RESOURCE_NOT_FOUND,
            _ => ErrorCode::INVALID_PARAMS,
        };
        found.map(|content| json!({ "contents": [content] })).ok_or_else(|| {
            let mut error = ErrorObject::new(code, "resource not found");
            error.data = Raw::from_value(&json!({ "uri": uri })).ok();
            error
        })
    }
}

#[async_trait]
impl Service for Conformance {
    fn options(&self, principal: &str) -> ServerOptions {
        let mut options = self.plugins.options(principal);
        let [tools, more] = &self.tools;
        let has_more = self.has_more.load(Ordering::SeqCst);
        options.tools = Arc::clone(if has_more { more } else { tools });
        let mut resources = ResourcesCapability::new();
        resources.subscribe = Some(true);
        options.capabilities.resources = Some(resources);
        options.capabilities.prompts = Some(ListChangedCapability::new());
        options.capabilities.completions = Some(Extra::new());
        if let Some(skills) = &self.skills {
            options.offer_skills(Arc::clone(skills));
        }
        options
    }

    async fn call(&self, call: &ToolCall, context: &CallContext) -> CallOutcome {
        let Some(FixtureTool { does, .. }) = self.find(&call.name) else {
            return self.plugins.call(call, context).await;
        };
        let done = || CallOutcome::from(CallToolResult::new([text_block("done")]));
        match does {
            FixtureAction::Give(result) => {
                let result = fill(result, &value(&call.arguments));
                match serde_json::from_value::<CallToolResult>(result) {
                    Ok(result) => result.into(),
                    Err(error) => CallOutcome::Failed(invalid(&error.to_string())),
                }
            }
            FixtureAction::Ask(asks) => match (self.ask(call, asks), &asks.then) {
                (Ok(CallOutcome::Done(_)), Some(tool)) => {
                    self.go_on_with(tool, call, context).await
                }
                (answer, _) => answer.unwrap_or_else(CallOutcome::Failed),
            },
            FixtureAction::Progress => {
                for progress in [0.0, 50.0, 100.0] {
                    context.progress(progress, Some(100.0), None);
                    tokio::time::sleep(STEP).await;
                }
                done()
            }
            FixtureAction::Log(lines) => {
                for line in lines {
                    if let Ok(line) = Raw::from_value(line) {
                        context.log(LoggingLevel::Info, None, line);
                    }
                    tokio::time::sleep(STEP).await;
                }
                done()
            }
            FixtureAction::Context => context::answer(call),
            FixtureAction::ChangeTools => {
                self.has_more.fetch_not(Ordering::SeqCst);
                if let Some(endpoint) = self.endpoint.get().and_then(Weak::upgrade) {
                    endpoint.tools_changed();
                }
                done()
            }
            FixtureAction::EndStream => {
                tokio::time::sleep(STEP).await;
                context.end_stream();
                tokio::time::sleep(STEP).await;
                done()
            }
        }
    }

    async fn abandoned(&self, request_state: &str, principal: &str) {
        self.plugins.abandoned(request_state, principal).await;
    }

    async fn request(
        &self,
        request: &ClientRequest,
        context: &RequestContext,
    ) -> Result<Raw, ErrorObject> {
        let mut is_cacheable = true;
        let mut result = match request {
            ClientRequest::ListPrompts(_) => {
                let prompts: Vec<_> = self.fixture.prompts.iter().map(|it| &it.prompt).collect();
                json!({ "prompts": prompts })
            }
            ClientRequest::GetPrompt(params) => {
                is_cacheable = false;
                self.prompt(params, context.era)?
            }
            ClientRequest::ListResources(params) => {
                // For clients without the extension, a skill is a resource like others.
                let skills = self.skills.as_ref().and_then(|skills| skills.handle(request));
                let mut result = match skills.transpose()?.as_ref().map(value) {
                    Some(Value::Object(result)) => result,
                    _ => Map::new(),
                };
                let own = self.fixture.resources.iter().filter(|_| params.cursor.is_none());
                let files = result.remove("resources");
                let files = files.iter().filter_map(Value::as_array).flatten();
                let resources: Vec<_> = own.chain(files).cloned().collect();
                result.insert("resources".to_owned(), resources.into());
                Value::Object(result)
            }
            ClientRequest::ListResourceTemplates(_) => {
                json!({ "resourceTemplates": self.fixture.templates })
            }
            ClientRequest::ReadResource(params) => self.read(&params.uri, context.era)?,
            ClientRequest::Complete(_) => {
                is_cacheable = false;
                json!({ "completion": { "values": [], "hasMore": false } })
            }
            other => return self.plugins.request(other, context).await,
        };
        if let (Era::Modern, Value::Object(result)) = (context.era, &mut result) {
            result.entry("resultType").or_insert("complete".into());
            if is_cacheable {
                result.insert("ttlMs".into(), DEFAULT_TTL_MS.into());
                result.insert("cacheScope".into(), "private".into());
            }
        }
        Raw::from_value(&result).map_err(|error| invalid(&error.to_string()))
    }
}

fn value(raw: &Raw) -> Value {
    raw.decode().unwrap_or_default()
}

fn text_block(text: &str) -> ContentBlock {
    ContentBlock::Text(TextContent::new(text))
}

fn invalid(problem: &str) -> ErrorObject {
    ErrorObject::new(ErrorCode::INVALID_PARAMS, problem)
}

fn broken(error: &jsonrpc_core::wire::DecodeError) -> ErrorObject {
    ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string())
}
