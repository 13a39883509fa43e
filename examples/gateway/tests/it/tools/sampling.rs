//! Tools of MCP servers that ask the model.
use crate::tools::world::listen;
use acp_types::v1::session_setup::{McpServer, McpServerHttp};
use agui_bridge::chat_history::ChatToolCall;
use async_trait::async_trait;
use gateway::tools::sources::{ServerOptions, ToolServer};
use gateway::tools::{CallState, ModelCaller, OfferedServer, Toolbox};
use jsonrpc_core::{ErrorCode, ErrorObject, wire};
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::mcp::content::{Role, TextContent};
use mcp_bridge::mcp::sampling::{
    CreateMessageRequestParams, CreateMessageResult, SamplingContent, SamplingMessageContentBlock,
};
use mcp_bridge::plugin::{
    MemoryStore, NoElicitations, PluginContext, PluginError, PluginTool, Sampling,
};
use mcp_bridge_http::{Endpoint, EndpointOptions, PluginService, Sampler, router, since_1970};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// A model that counts its requests.
#[derive(Default)]
struct CountingModel {
    requests: AtomicU32,
    last: Mutex<Option<CreateMessageRequestParams>>,
    fails: bool,
}

#[async_trait]
impl Sampler for CountingModel {
    async fn sample(
        &self,
        params: &CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, ErrorObject> {
        *self.last.lock().expect("a request") = Some(params.clone());
        let number = self.requests.fetch_add(1, SeqCst) + 1;
        if self.fails {
            return Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "it sleeps"));
        }
        let text = SamplingMessageContentBlock::Text(TextContent::new(number.to_string()));
        Ok(CreateMessageResult::new(Role::Assistant, SamplingContent::One(text), "m"))
    }
}

fn asked() -> Value {
    json!({
        "maxTokens": 5, "systemPrompt": "Be exact.", "temperature": 0.1,
        "messages": [{ "role": "user", "content": { "type": "text", "text": "How many?" } }],
    })
}

/// Asks the model several times.
async fn ask(count: u32, ctx: PluginContext<NoElicitations>) -> Result<String, PluginError> {
    let mut texts = Vec::new();
    for number in 0..count {
        let params = wire::decode(&asked().to_string()).expect("params");
        let result = ctx.sample(&format!("n{number}"), params).await?;
        texts.push(serde_json::to_value(&result.content).expect("JSON")["text"].to_string());
    }
    Ok(texts.join(" "))
}

/// Calls the tool of a server for a model.
async fn call(count: u32, model: &CountingModel, sampling: Sampling) -> Result<String, String> {
    let tool = PluginTool::builder("ask", "1")
        .elicits::<NoElicitations>()
        .execute(move |(), ctx| ask(count, ctx))
        .expect("a tool");
    let service = PluginService::in_memory([tool], Implementation::new("s", "1")).expect("a host");
    let url =
        listen(router("/mcp", Endpoint::new(Arc::new(service), EndpointOptions::default()))).await;
    let server = McpServer::Http(McpServerHttp::new("asking", format!("{url}/mcp"), []));
    let server =
        ToolServer::start(&server, ServerOptions::new("test", "1"), None).expect("a server");
    let offered = OfferedServer { server, agents: None, is_relayed: false, sampling };
    let sessions = Arc::<MemoryStore>::default();
    let toolbox =
        Toolbox::new(sessions, Arc::new(since_1970), vec![Arc::new(offered)]).expect("tools");
    toolbox.ready().await;
    let request = ChatToolCall::new("c", "asking__ask", "{}");
    let caller = ModelCaller { agent: "a", user: "ada", can_ask: true, model };
    match toolbox.call_for_model(&request, caller, None).await {
        CallState::Done(result) => result,
        CallState::Asks(questions) => panic!("{questions:?}"),
    }
}

#[tokio::test]
async fn model_receives_the_whole_request() {
    let model = CountingModel::default();
    assert_eq!(call(2, &model, Sampling::new()).await.expect("a result"), r#""1" "2""#);
    let params = model.last.lock().expect("a request").take().expect("a request");
    assert_eq!(serde_json::to_value(&params).expect("JSON"), asked());
}

#[tokio::test]
async fn requests_of_a_call_are_limited() {
    let limited = || Sampling::new().with_max_requests(3).with_max_tokens(4);
    let model = CountingModel::default();
    call(3, &model, limited()).await.expect("a result");
    let params = model.last.lock().expect("a request").take().expect("a request");
    assert_eq!(params.max_tokens.as_u64(), Some(4));
    let model = CountingModel::default();
    let error = call(4, &model, limited()).await.expect_err("too many");
    assert!(error.contains("a call has at most 3 requests to a model"), "{error}");
    assert_eq!(model.requests.load(SeqCst), 3);
}

#[tokio::test]
async fn requests_and_responses_pass_the_guards() {
    let model = CountingModel::default();
    let closed = Sampling::new().with_before(|_, _| Err("it is closed".to_owned()));
    let error = call(1, &model, closed).await.expect_err("rejected");
    assert!(error.contains("it is closed"), "{error}");
    assert_eq!(model.requests.load(SeqCst), 0);
    let guarded = Sampling::new().with_max_requests(1).with_after(|_, context| {
        Err(format!("{}, {}, {}", context.principal, context.call_id, context.number))
    });
    let error = call(1, &model, guarded).await.expect_err("rejected");
    assert!(error.contains("ada, c, 1"), "{error}");
}

#[tokio::test]
async fn reason_of_the_model_is_that_of_the_call() {
    let model = CountingModel { fails: true, ..CountingModel::default() };
    let error = call(1, &model, Sampling::new().with_max_requests(2)).await.expect_err("no answer");
    assert_eq!(error, "the model has not answered the tool: it sleeps");
}
