//! The spans of a run in the view of its page.
use crate::gateway::{Gateway, input, refusal, soon};
use agui_types::sse::Decoder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;

/// The streamed spans of a run.
struct Spans {
    response: reqwest::Response,
    decoder: Decoder,
    /// The latest state of each span by id.
    seen: BTreeMap<String, Value>,
}

impl Spans {
    async fn of(gateway: &Gateway, run: &str) -> Self {
        let response = get(gateway, run).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, decoder: Decoder::default(), seen: BTreeMap::new() }
    }

    async fn next(&mut self) -> bool {
        loop {
            if let Some(frame) = self.decoder.next_frame() {
                let told: Value = serde_json::from_str(&frame.unwrap().data).unwrap();
                let span = told["span"].clone();
                self.seen.insert(span["spanId"].as_str().unwrap().to_owned(), span);
                return true;
            }
            match self.response.chunk().await.unwrap() {
                Some(chunk) => self.decoder.push(&chunk),
                None => return false,
            }
        }
    }

    /// The only span with this start of its name.
    fn named(&self, name: &str) -> Option<&Value> {
        let mut named =
            self.seen.values().filter(|span| span["name"].as_str().unwrap().starts_with(name));
        let first = named.next()?;
        assert!(named.next().is_none(), "{name}: {:?}", self.seen);
        Some(first)
    }

    async fn until(&mut self, name: &str) {
        let found = async {
            while self.named(name).is_none() {
                assert!(self.next().await, "{name}: {:?}", self.seen);
            }
        };
        soon(found).await;
    }

    async fn rest(&mut self) {
        soon(async { while self.next().await {} }).await;
    }
}

async fn get(gateway: &Gateway, run: &str) -> reqwest::Response {
    let url = gateway.url(&format!("/api/ai/chat/runs/{run}/spans"));
    soon(gateway.client.get(url).send()).await.unwrap()
}

fn time(span: &Value, member: &str) -> u128 {
    span[member].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn spans_are_streamed_as_they_start_and_end() {
    let gateway = Gateway::asking_in_stream().await;
    let mut run = gateway.ask("t", "r", "edit").await;
    let asked = run.until_asked().await;
    let mut spans = Spans::of(&gateway, "r").await;
    spans.until("session/request_permission").await;
    let question = spans.named("session/request_permission").unwrap();
    assert_eq!(question.get("endTimeUnixNano"), None, "it goes on");

    let allow = json!({ "optionId": "allow-once" });
    assert_eq!(gateway.post(&format!("interrupts/{asked}"), &allow).await.0, 202);
    assert_eq!(run.rest().await.end(), "success");
    spans.rest().await;
    let names = [
        "POST /api/ai/chat",
        "run demo",
        "invoke_agent",
        "execute_tool",
        "session/request_permission",
    ];
    let kinds = [2, 1, 3, 1, 2];
    for (above, (name, kind)) in
        [None].into_iter().chain(names.map(Some)).zip(names.into_iter().zip(kinds))
    {
        let span = spans.named(name).unwrap();
        let parent = above.map(|above| spans.named(above).unwrap());
        assert_eq!(span.get("parentSpanId"), parent.map(|parent| &parent["spanId"]), "{name}");
        assert_eq!(span["kind"], kind, "{name}");
        assert_eq!(span["status"], json!({}), "{name}");
        assert!(time(span, "startTimeUnixNano") <= time(span, "endTimeUnixNano"), "{span}");
    }
    let all = serde_json::to_string(&spans.seen).unwrap();
    assert!(!all.contains("greeting.txt"), "no content: {all}");

    let mut again = Spans::of(&gateway, "r").await;
    again.rest().await;
    assert_eq!(again.seen, spans.seen, "whoever comes later reads the same");
    assert_eq!(get(&gateway, "another").await.status(), 404);
}

#[tokio::test]
async fn spans_are_private_to_user_of_run() {
    let settings = "[auth.tokens]\nalice = 'a-secret'\nbob = 'b-secret'";
    let gateway = Gateway::configured(settings).await;
    let asked = input("t", "r", "hello");
    let post =
        gateway.client.post(gateway.url("/api/ai/chat")).bearer_auth("a-secret").json(&asked);
    let response = soon(post.send()).await.unwrap();
    assert!(soon(response.text()).await.unwrap().contains("RUN_FINISHED"));
    let url = gateway.url("/api/ai/chat/runs/r/spans");
    for (token, status) in [("a-secret", 200), ("b-secret", 404), ("c-secret", 401)] {
        let response = soon(gateway.client.get(&url).bearer_auth(token).send()).await.unwrap();
        assert_eq!(response.status(), status, "{token}");
    }
}

#[tokio::test]
async fn timeline_is_optional_and_invisible_to_agents() {
    let folder = tempfile::tempdir().unwrap();
    let heard = folder.path().join("heard");
    let demo = env!("CARGO_BIN_EXE_gateway");
    let agent = format!("sh -c 'tee {} | {demo} demo-agent'", heard.display());
    for (timeline, status) in [("true", 200), ("false", 404)] {
        let variables = [("GATEWAY_TELEMETRY_TIMELINE", timeline)];
        let gateway = Gateway::start(&["--agent", &agent], &variables).await;
        assert_eq!(gateway.ask("t", "r", "hello").await.rest().await.end(), "success");
        assert_eq!(get(&gateway, "r").await.status(), status);
        assert!(!fs::read_to_string(&heard).unwrap().contains("traceparent"), "{timeline}");
    }
}

#[tokio::test]
async fn readers_of_spans_are_limited() {
    let gateway = Gateway::configured("permission = 'ask-in-stream'\n[limits]\nreaders = 2").await;
    let mut run = gateway.ask("t", "r", "edit").await;
    run.until_asked().await;
    let _first = Spans::of(&gateway, "r").await;
    let _second = Spans::of(&gateway, "r").await;
    let (status, said) = refusal(get(&gateway, "r").await).await;
    assert_eq!(status.as_u16(), 429);
    assert_eq!(&*said, "2 readers already follow this run");
}
