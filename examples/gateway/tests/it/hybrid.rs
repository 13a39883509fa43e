//! A model with tools, without ACP.
use crate::certificate::Certificate;
use crate::gateway::{Gateway, command, input, refusal, soon};
use crate::http_agents::serve;
use crate::run::Run;
use agui_types::event::{Event, RunFinishedOutcome};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Version};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use futures::FutureExt;
use futures::future::select_all;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

/// Posts to the agent `hybrid`.
async fn ask(gateway: &Gateway, input: &Value) -> Run {
    let url = gateway.url("/api/ai/agents/hybrid/chat");
    Run::new(input, soon(gateway.client.post(url).json(input).send()).await.unwrap())
}

/// An input with a tool of the page.
fn with_choose(thread: &str, run: &str, messages: Value) -> Value {
    let tool = json!({ "name": "choose", "description": "Asks the user.", "parameters": {} });
    json!({
        "protocolVersion": "1.0", "threadId": thread, "runId": run,
        "messages": messages, "tools": [tool],
    })
}

fn user(text: &str) -> Value {
    json!({ "id": "u", "role": "user", "content": text })
}

#[tokio::test]
async fn gateway_tool_runs_within_the_run() {
    let gateway = Gateway::demo(&[]).await;
    let told = ask(&gateway, &input("t", "1", "What time is it?")).await.rest().await;
    assert_eq!(told.end(), "success");
    let [time] = told.results()[..] else { panic!("{:?}", told.results()) };
    assert!(time.ends_with('Z'), "{time}");
    assert!(told.text().ends_with(&format!("It is {time}.")), "{}", told.text());
    assert!(told.tags().contains(&"REASONING_MESSAGE_CONTENT"));
}

#[tokio::test]
async fn page_tool_ends_run_and_next_run_continues() {
    let gateway = Gateway::demo(&[]).await;
    let told = ask(&gateway, &with_choose("t", "1", json!([user("both")]))).await.rest().await;
    let Some(RunFinishedOutcome::Success(outcome)) = &told.finished().outcome else {
        panic!("no success");
    };
    let pending = outcome.pending_tool_call_ids.clone().unwrap();
    let [call] = &pending[..] else { panic!("{pending:?}") };
    let [clock] = told.results()[..] else { panic!("only the gateway's tool has a result") };

    let other = told.events.iter().find_map(|event| match event {
        Event::ToolCallStart(start) if start.tool_call_name == "clock" => Some(&start.tool_call_id),
        _ => None,
    });
    let calls = [(other.unwrap(), "clock"), (call, "choose")].map(|(id, name)| {
        let function = json!({ "name": name, "arguments": "{}" });
        json!({ "id": id, "type": "function", "function": function })
    });
    let messages = json!([
        user("both"),
        { "id": "a", "role": "assistant", "content": "One tool", "toolCalls": calls },
        { "id": "r1", "role": "tool", "toolCallId": other, "content": clock },
        { "id": "r2", "role": "tool", "toolCallId": call, "content": "yes" },
    ]);
    let told = ask(&gateway, &with_choose("t", "2", messages)).await.rest().await;
    assert_eq!(told.text(), format!("The tools say: {clock}, yes."));
}

#[tokio::test]
async fn model_runs_are_stopped_and_queued() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let words = "word ".repeat(1000);
    let script = format!("pause = 50\n[[answers]]\nsteps = [{{ say = '{words}' }}]");
    std::fs::write(file.path(), script).unwrap();
    let settings = format!("[agents.hybrid.model]\nscript = '{}'", file.path().display());
    let gateway = Gateway::configured(&settings).await;
    let mut first = gateway.ask("t", "1", "Hi").await;
    first.until("word").await;
    let second = gateway.chat(&input("t", "2", "Hi")).await;
    let (status, said) = refusal(second).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(&*said, "a run is going on in this thread");
    let (status, _) = gateway.post("runs/1/cancel", &json!({})).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    assert_eq!(first.rest().await.end(), "cancelled");

    let (status, _) = gateway.post("interrupts/1-int-1", &json!({ "cancelled": true })).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let mut resuming = input("t", "3", "Hi");
    resuming["resume"] = json!([{ "interruptId": "i", "status": "cancelled" }]);
    assert_eq!(gateway.run(&resuming).await.rest().await.end(), "RESUME_MISMATCH");

    let mut last = gateway.ask("t", "4", "Hi").await;
    last.until("word").await;
    #[cfg(unix)]
    {
        gateway.signal(nix::sys::signal::Signal::SIGTERM);
        assert_eq!(last.rest().await.end(), "GATEWAY_SHUTDOWN");
        assert!(gateway.ended().await.success());
    }
}

/// An endpoint's requests and responses.
#[derive(Clone)]
pub(crate) struct Endpoint {
    asked: Arc<Mutex<Vec<(Version, HeaderMap, Value)>>>,
    answers: Arc<Mutex<VecDeque<(StatusCode, String)>>>,
    /// A permit for each response.
    permits: Arc<Semaphore>,
}

impl Endpoint {
    async fn answer(
        State(endpoint): State<Self>,
        version: Version,
        headers: HeaderMap,
        Json(body): Json<Value>,
    ) -> Response {
        endpoint.asked.lock().unwrap().push((version, headers, body));
        endpoint.permits.acquire().await.unwrap().forget();
        endpoint.answers.lock().unwrap().pop_front().unwrap().into_response()
    }

    /// A gateway with a model that returns these answers.
    async fn serve(answers: &[(StatusCode, &str)]) -> (Self, Gateway) {
        let (endpoint, settings) = Self::listen(answers).await;
        (endpoint, Gateway::configured(&settings).await)
    }

    /// An endpoint that returns these answers, and the settings of a gateway for it.
    pub(crate) async fn listen(answers: &[(StatusCode, &str)]) -> (Self, String) {
        Self::listen_over(answers, None).await
    }

    /// The same over TLS, if there is an acceptor.
    async fn listen_over(
        answers: &[(StatusCode, &str)],
        tls: Option<TlsAcceptor>,
    ) -> (Self, String) {
        let own = answers.iter().map(|(status, text)| (*status, (*text).to_owned()));
        let endpoint = Self {
            asked: Arc::default(),
            answers: Arc::new(Mutex::new(own.collect())),
            permits: Arc::new(Semaphore::new(answers.len())),
        };
        let router = Router::new().route("/v1/chat/completions", post(Self::answer));
        let router = router.with_state(endpoint.clone());
        let url = serve(move |_| router.clone(), tls).await;
        let settings = format!(
            "[agents.hybrid.model]\nurl = '{url}/v1/'\nname = 'small'\nkey-variable = 'PATH'\ninstructions = 'Be brief.'"
        );
        (endpoint, settings)
    }
}

/// A stream of chunks, with the end of a model's stream.
pub(crate) fn chunks(chunks: &[Value]) -> String {
    let lines = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
    lines.chain(["data: [DONE]\n\n".to_owned()]).collect()
}

pub(crate) fn delta(delta: Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

#[tokio::test]
async fn model_endpoint_calls_tools_of_gateway_and_page() {
    let call = |delta: Value| json!({ "tool_calls": [delta] });
    let first = chunks(&[
        delta(json!({ "role": "assistant", "reasoning_content": "Hm." })),
        delta(json!({ "content": "Let me " })),
        delta(json!({ "content": "see." })),
        delta(call(
            json!({ "index": 0, "id": "c1", "function": { "name": "clock", "arguments": "" } }),
        )),
        delta(call(json!({ "index": 0, "function": { "arguments": "{" } }))),
        delta(call(json!({ "index": 0, "function": { "arguments": "}" } }))),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] }),
        json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12 } }),
    ]);
    let second = chunks(&[
        delta(call(
            json!({ "index": 0, "id": "c2", "function": { "name": "choose", "arguments": "{}" } }),
        )),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] }),
    ]);
    let answers = [(StatusCode::OK, &*first), (StatusCode::OK, &*second)];
    let (endpoint, gateway) = Endpoint::serve(&answers).await;
    let image = json!({ "type": "image", "source": { "type": "data", "value": "AAAA", "mimeType": "image/png" } });
    let said = json!([{ "type": "text", "text": "Look" }, image]);
    let asked = with_choose("t", "1", json!([{ "id": "u", "role": "user", "content": said }]));
    let told = gateway.run(&asked).await.rest().await;
    assert_eq!(told.text(), "Let me see.");
    assert!(told.tags().contains(&"REASONING_MESSAGE_CONTENT"));
    assert_eq!(told.results().len(), 1);
    let usage = serde_json::to_value(&told.finished().usage).unwrap();
    assert_eq!(&usage[0]["model"], &json!("small"));
    assert_eq!(&usage[0]["inputTokens"], &json!(7));

    let asked = endpoint.asked.lock().unwrap();
    let [(version, headers, first), (_, _, second)] = &asked[..] else {
        panic!("asked {}", asked.len())
    };
    assert!(headers["authorization"].to_str().unwrap().starts_with("Bearer /"));
    assert_eq!(*version, Version::HTTP_11);
    assert_eq!(first["model"], "small");
    assert_eq!(first["messages"][0], json!({ "role": "system", "content": "Be brief." }));
    let url = "data:image/png;base64,AAAA";
    let parts = json!([
        { "type": "text", "text": "Look" },
        { "type": "image_url", "image_url": { "url": url } },
    ]);
    assert_eq!(first["messages"][1], json!({ "role": "user", "content": parts }));
    let names: Vec<_> =
        first["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names, ["clock", "book_flight", "choose"]);
    assert_eq!(second["messages"][2]["tool_calls"][0]["function"]["arguments"], "{}");
    assert_eq!(second["messages"][3]["role"], "tool");
    assert_eq!(second["messages"][3]["tool_call_id"], second["messages"][2]["tool_calls"][0]["id"]);
}

/// Clients without the conversation post during a run of another client.
#[tokio::test]
async fn model_receives_the_whole_answer_that_a_run_waited_for() {
    let said = |text: &str| chunks(&[delta(json!({ "content": text }))]);
    let [one, two] = ["One.", "Two."].map(said);
    let answers = [(StatusCode::OK, &*one), (StatusCode::OK, &*two)];
    let (endpoint, settings) = Endpoint::listen(&answers).await;
    endpoint.permits.forget_permits(answers.len());
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("gateway.db");
    let gateway = Gateway::configured(&format!(
        "store = '{}'\nwhen-busy = 'queue'\nlimits.queue = 1\n{settings}",
        store.display()
    ))
    .await;
    let first = gateway.ask("t", "1", "Hi").await;
    // One of them waits when the other one is refused.
    let inputs = ["2", "3"].map(|run| input("t", run, "More"));
    let both = inputs.each_ref().map(|input| gateway.chat(input).boxed());
    let (refused, which, waiting) = select_all(both).await;
    assert_eq!(refusal(refused).await.0, StatusCode::CONFLICT);
    endpoint.permits.add_permits(answers.len());
    assert_eq!(first.rest().await.text(), "One.");
    let second = Run::new(&inputs[1 - which], select_all(waiting).await.0).rest().await;
    assert_eq!(second.end(), "success");
    assert_eq!(&*second.text(), "Two.");

    let asked = endpoint.asked.lock().unwrap();
    let [_, (_, _, asked)] = &asked[..] else { panic!("asked {}", asked.len()) };
    let texts: Vec<_> =
        asked["messages"].as_array().unwrap().iter().map(|it| &it["content"]).collect();
    assert_eq!(texts, ["Be brief.", "Hi", "One.", "More"]);
}

#[tokio::test]
async fn a_model_behind_https_may_speak_http_2_alone() {
    let certificate = Certificate::new();
    let said = chunks(&[
        delta(json!({ "content": "Over " })),
        delta(json!({ "content": "HTTP/2." })),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] }),
    ]);
    let tls = Some(certificate.acceptor(&["h2"]));
    let (endpoint, settings) = Endpoint::listen_over(&[(StatusCode::OK, &said)], tls).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), settings).unwrap();
    let roots = certificate.file("certificate.pem");
    let roots = [("SSL_CERT_FILE", roots.to_str().unwrap())];
    let gateway = Gateway::start(&["--config", file.path().to_str().unwrap()], &roots).await;
    let told = gateway.ask("t", "1", "Hi").await.rest().await;
    assert_eq!(told.end(), "success");
    assert_eq!(&*told.text(), "Over HTTP/2.");
    let asked = endpoint.asked.lock().unwrap();
    assert_eq!(asked.iter().map(|asked| asked.0).collect::<Vec<_>>(), [Version::HTTP_2]);
}

#[tokio::test]
async fn endpoint_failures_have_codes() {
    let filtered =
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "content_filter" }] });
    let filtered = chunks(&[filtered]);
    let failed = chunks(&[json!({ "error": { "message": "no more tokens" } })]);
    let cut = format!("data: {}\n\n", delta(json!({ "content": "Hel" })));
    let answers = [
        (StatusCode::UNAUTHORIZED, "who?", "MODEL_REFUSED", "401 Unauthorized: who?"),
        (StatusCode::FOUND, "", "MODEL_REFUSED", "302"),
        (StatusCode::OK, "data: what?\n\n", "MODEL_UNREADABLE", "invalid stream"),
        (StatusCode::OK, &cut, "MODEL_BROKE_OFF", "broke off"),
        (StatusCode::OK, &filtered, "MODEL_FILTERED", "filtered"),
        (StatusCode::OK, &failed, "MODEL_FAILED", "no more tokens"),
    ];
    let given: Vec<_> = answers.iter().map(|answer| (answer.0, answer.1)).collect();
    let (_endpoint, gateway) = Endpoint::serve(&given).await;
    for (number, (_, _, code, message)) in answers.iter().enumerate() {
        let told = gateway.ask("t", &number.to_string(), "Hi").await.rest().await;
        assert_eq!(told.end(), *code);
        assert!(told.error().message.contains(message), "{}", told.error().message);
    }
    let nobody = "[agents.hybrid.model]\nurl = 'http://127.0.0.1:1'\nname = 'm'";
    let told = Gateway::configured(nobody).await.ask("t", "1", "Hi").await.rest().await;
    assert_eq!(told.end(), "MODEL_UNAVAILABLE");
    assert!(told.error().message.contains("refused"), "{}", told.error().message);
}

#[tokio::test]
async fn invalid_model_settings_are_explained() {
    for (settings, message) in [
        (
            "model = { url = 'ftp://x', name = 'm' }",
            "model.url: expected http://… or https://…, got ftp:…",
        ),
        ("model = { url = 'http://x' }", "model.name: expected the name of a model"),
        (
            "model = { url = 'http://x', name = 'm', key-variable = 'NOT_SET' }",
            "NOT_SET has no key in it",
        ),
        (
            "model = { url = 'http://x', name = 'm', script = 's' }",
            "expected `script` or `url`, got both",
        ),
        ("model = { script = '/nowhere' }", "model.script: /nowhere: No such file"),
        ("model = {}\ncommand = 'sh'", "agents.a: expected one of `command`, `url` and `model`"),
    ] {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("[agents.a]\n{settings}")).unwrap();
        let mut command = command(&["--config", file.path().to_str().unwrap()]);
        let output = soon(command.output()).await.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(message), "{settings}: {said}");
    }
}
