//! Answers of a model to tools.
use axum::routing::post;
use axum::{Json, Router};
use gateway::model::{ChatModel, ModelSettings};
use gateway::tools::Toolbox;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire;
use mcp_bridge::mcp::sampling::{CreateMessageRequestParams, CreateMessageResult};
use mcp_bridge::plugin::MemoryStore;
use mcp_bridge_http::{Sampler, since_1970};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// The end of an answer with a text, for a reason.
fn stream(text: &str, reason: &str) -> String {
    let delta = json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] });
    format!("data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n")
}

/// Starts an endpoint with one answer. Returns its URL, and its requests.
async fn endpoint(answer: String) -> (String, mpsc::UnboundedReceiver<Value>) {
    let (send, requests) = mpsc::unbounded_channel();
    let handle = async move |Json(body): Json<Value>| {
        send.send(body).expect("a test that reads");
        answer
    };
    let app = Router::new().route("/v1/chat/completions", post(handle));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, requests)
}

fn model(settings: &ModelSettings) -> ChatModel {
    let sessions = Arc::<MemoryStore>::default();
    let toolbox = Toolbox::new(sessions, Arc::new(since_1970), Vec::new()).expect("tools");
    ChatModel::new("helper", settings, false, Arc::new(toolbox)).expect("a model")
}

fn at(url: String) -> ModelSettings {
    ModelSettings { url: Some(url), name: Some("small".to_owned()), ..ModelSettings::default() }
}

async fn sample(model: &ChatModel, params: &Value) -> Result<CreateMessageResult, ErrorObject> {
    let params: CreateMessageRequestParams = wire::decode(&params.to_string()).expect("params");
    model.sample(&params).await
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": { "type": "text", "text": text } })
}

#[tokio::test]
async fn whole_request_reaches_the_endpoint() {
    let (url, mut requests) = endpoint(stream("Blue", "stop")).await;
    let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
    let params = json!({
        "systemPrompt": "Be exact.",
        "messages": [
            { "role": "user", "content": [{ "type": "text", "text": "Which color?" }, image] },
            { "role": "assistant", "content": { "type": "text", "text": "Red" } },
            user("Look again"),
        ],
        "maxTokens": 20, "temperature": 0.5, "stopSequences": ["."],
        "modelPreferences": { "hints": [{ "name": "large" }] },
    });
    let settings = ModelSettings { instructions: Some("Be brief.".to_owned()), ..at(url) };
    let result = sample(&model(&settings), &params).await.expect("an answer");
    let expected = json!({
        "role": "assistant", "content": { "type": "text", "text": "Blue" },
        "model": "small", "stopReason": "endTurn",
    });
    assert_eq!(serde_json::to_value(&result).expect("JSON"), expected);
    let body = requests.recv().await.expect("a request");
    let picture =
        json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } });
    let messages = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "system", "content": "Be exact." },
        { "role": "user", "content": [{ "type": "text", "text": "Which color?" }, picture] },
        { "role": "assistant", "content": "Red" },
        { "role": "user", "content": "Look again" },
    ]);
    assert_eq!(body["messages"], messages);
    assert_eq!(&body["max_tokens"], &json!(20));
    assert_eq!(&body["temperature"], &json!(0.5));
    assert_eq!(&body["stop"], &json!(["."]));
    assert_eq!(&body["model"], &json!("small"));
    assert_eq!(body.get("tools"), None);
}

#[tokio::test]
async fn tokens_are_limited_and_a_cut_answer_says_so() {
    for (setting, asked, sent) in
        [(None, 1_000_000, 4096), (None, 7, 7), (Some(100), 1_000_000, 100), (Some(100), 0, 1)]
    {
        let (url, mut requests) = endpoint(stream("Once upon", "length")).await;
        let settings = ModelSettings {
            tokens_for_tools: setting.map(|it| u32::try_into(it).expect("a limit")),
            ..at(url)
        };
        let params = json!({ "messages": [user("Tell")], "maxTokens": asked });
        let result = sample(&model(&settings), &params).await.expect("an answer");
        assert_eq!(result.stop_reason.expect("a reason").as_str(), "maxTokens");
        assert_eq!(requests.recv().await.expect("a request")["max_tokens"], sent);
    }
}

#[tokio::test]
async fn what_the_model_cannot_take_is_an_error_and_not_left_out() {
    let (url, mut requests) = endpoint(stream("", "stop")).await;
    let model = model(&at(url));
    let audio = json!({ "type": "audio", "data": "AAAA", "mimeType": "audio/wav" });
    let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    let rows = [
        (
            json!({ "messages": [{ "role": "user", "content": audio }], "maxTokens": 9 }),
            "expected `text` or `image`, got `audio`",
        ),
        (
            json!({ "messages": [{ "role": "assistant", "content": image }], "maxTokens": 9 }),
            "a message of `assistant`: expected texts",
        ),
        (
            json!({ "messages": [user("Hi")], "maxTokens": 9, "tools": [tool] }),
            "tools are not supported in a request to the model",
        ),
    ];
    for (params, message) in rows {
        let error = sample(&model, &params).await.expect_err(message);
        assert_eq!(error.code.0, -32602);
        assert_eq!(&*error.message, message);
    }
    assert!(requests.try_recv().is_err(), "nothing was sent");
}

#[tokio::test]
async fn script_answers_the_last_message() {
    let model = model(&ModelSettings::default());
    let params = json!({ "messages": [user("hello")], "maxTokens": 9 });
    let result = sample(&model, &params).await.expect("an answer");
    assert_eq!(&*result.model, "helper");
    assert_eq!(result.stop_reason, None);
    assert!(!serde_json::to_value(&result.content).expect("JSON")["text"].is_null());
}
