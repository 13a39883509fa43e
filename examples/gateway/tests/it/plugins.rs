//! A tool that asks while it runs, over several runs.
use crate::gateway::{Gateway, input, refusal, soon};
use crate::run::{EndedRun, Run};
use agui_types::event::Event;
use reqwest::StatusCode;
use serde_json::{Value, json};

/// A conversation with the scripted model, kept by the client.
struct Chat<'a> {
    gateway: &'a Gateway,
    token: Option<&'static str>,
    messages: Vec<Value>,
    runs: usize,
}

impl<'a> Chat<'a> {
    fn new(gateway: &'a Gateway) -> Self {
        Self { gateway, token: None, messages: Vec::new(), runs: 0 }
    }

    async fn say(&mut self, text: &str) -> EndedRun {
        let id = format!("u{}", self.messages.len());
        self.messages.push(json!({ "id": id, "role": "user", "content": text }));
        self.run(json!([])).await
    }

    /// Answers the only question of a run.
    async fn answer(&mut self, asked: &EndedRun, payload: Value) -> EndedRun {
        let id = &asked.interrupts()[0].id;
        let entry = json!({ "interruptId": id, "status": "resolved", "payload": payload });
        self.run(json!([entry])).await
    }

    async fn run(&mut self, resume: Value) -> EndedRun {
        self.runs += 1;
        let mut asked = input("t", &format!("run-{}", self.runs), "");
        asked["messages"] = json!(self.messages);
        asked["resume"] = resume;
        let mut post = self.gateway.client.post(self.gateway.url("/api/ai/agents/hybrid/chat"));
        if let Some(token) = self.token {
            post = post.bearer_auth(token);
        }
        let told = Run::new(&asked, soon(post.json(&asked).send()).await.unwrap()).rest().await;
        self.keep(&told);
        told
    }

    /// Keeps the calls and results, as a page does.
    fn keep(&mut self, told: &EndedRun) {
        for event in &told.events {
            match event {
                Event::ToolCallStart(start) => {
                    let function = json!({ "name": start.tool_call_name, "arguments": "{}" });
                    let id = &start.tool_call_id;
                    let call = json!({ "id": id, "type": "function", "function": function });
                    let id = format!("a{}", self.messages.len());
                    let calls = json!([call]);
                    self.messages
                        .push(json!({ "id": id, "role": "assistant", "toolCalls": calls }));
                }
                Event::ToolCallResult(result) => self.messages.push(json!({
                    "id": result.message_id, "role": "tool",
                    "toolCallId": result.tool_call_id, "content": result.content,
                })),
                _ => {}
            }
        }
    }
}

/// The metadata of the only question of a run.
fn context(asked: &EndedRun) -> Value {
    let metadata = serde_json::to_value(&asked.interrupts()[0].metadata).unwrap();
    metadata["x-model-context"].clone()
}

fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

async fn sessions(gateway: &Gateway) -> Vec<Value> {
    let get = gateway.client.get(gateway.url("/api/tools/sessions"));
    let listed: Value = soon(soon(get.send()).await.unwrap().json()).await.unwrap();
    listed["sessions"].as_array().unwrap().clone()
}

#[tokio::test]
async fn flight_is_booked_over_three_runs() {
    let gateway = Gateway::demo(&[]).await;
    let mut chat = Chat::new(&gateway);
    let which = chat.say("book").await;
    assert_eq!(which.end(), "interrupt");
    assert_eq!(
        which.interrupts()[0].message.as_deref().and_then(|text| text.lines().next()),
        Some("Which flight from Oslo to Lisbon?")
    );
    let flights = context(&which);
    let flight = &flights["flights"][0];
    let listed = sessions(&gateway).await;
    assert_eq!(listed.len(), 1);
    assert_eq!(&listed[0]["toolName"], &json!("book_flight"));
    assert_eq!(&listed[0]["status"], &json!("awaiting_elicit"));

    let seat = chat.answer(&which, accept(json!({ "flightId": flight["id"] }))).await;
    assert_eq!(seat.end(), "interrupt");
    assert_eq!(seat.results(), [""; 0], "the call goes on");
    let map = context(&seat);
    assert_eq!(map["flightId"], flight["id"]);
    let taken = map["takenSeats"][0].as_str().unwrap();
    let (row, letter) = taken.split_at(taken.len() - 1);
    let row: u32 = row.parse().unwrap();
    let again = chat.answer(&seat, accept(json!({ "row": row, "seat": letter }))).await;
    let message = again.interrupts()[0].message.clone().unwrap();
    assert!(message.contains("is taken"), "{message}");

    let is_free = |seat: &String| !map["takenSeats"].as_array().unwrap().contains(&json!(seat));
    let seats = (1..=12).flat_map(|row| ["A", "B"].map(|seat| format!("{row}{seat}")));
    let free = seats.into_iter().find(is_free).unwrap();
    let (row, letter) = free.split_at(free.len() - 1);
    let row: u32 = row.parse().unwrap();
    let done = chat.answer(&again, accept(json!({ "row": row, "seat": letter }))).await;
    assert_eq!(done.end(), "success");
    let [result] = done.results()[..] else { panic!("{:?}", done.results()) };
    let result: Value = serde_json::from_str(result).unwrap();
    assert_eq!(&result["status"], &json!("booked"));
    assert_eq!(&result["seat"], &json!(free));
    assert_eq!(result["tip"], "Take the train into the city: it is faster than a taxi.");
    assert!(done.text().contains("This is what came of it"), "{}", done.text());
    assert_eq!(sessions(&gateway).await.len(), 0);

    let late = chat.answer(&again, accept(json!({ "row": row, "seat": letter }))).await;
    assert_eq!(late.end(), "success", "it is known already");
    assert_eq!(late.results().len(), 0, "it is known already");
}

#[tokio::test]
async fn declined_or_abandoned_flight_is_not_booked() {
    let gateway = Gateway::demo(&[]).await;
    let mut chat = Chat::new(&gateway);
    let which = chat.say("book").await;
    let declined = chat.answer(&which, json!({ "action": "decline" })).await;
    assert!(declined.results()[0].contains(r#""status":"declined""#), "{:?}", declined.results());
    let which = chat.say("book again").await;
    let id = &which.interrupts()[0].id;
    let turned = chat.run(json!([{ "interruptId": id, "status": "cancelled" }])).await;
    assert!(turned.results()[0].contains(r#""status":"cancelled""#), "{:?}", turned.results());
    assert_eq!(turned.end(), "success");
}

#[tokio::test]
async fn ended_session_refuses_its_answer() {
    let gateway = Gateway::demo(&[]).await;
    let mut chat = Chat::new(&gateway);
    let which = chat.say("book").await;
    let session = sessions(&gateway).await[0]["sessionId"].as_str().unwrap().to_owned();
    let path = gateway.url(&format!("/api/tools/sessions/{session}"));
    let ended = soon(gateway.client.delete(&path).send()).await.unwrap();
    assert_eq!(ended.status(), StatusCode::NO_CONTENT);
    assert_eq!(sessions(&gateway).await.len(), 0);
    let flight = context(&which)["flights"][0]["id"].clone();
    let told = chat.answer(&which, accept(json!({ "flightId": flight }))).await;
    assert_eq!(told.results(), ["the session was aborted"]);
    let unknown = gateway.url("/api/tools/sessions/0123");
    let (status, _) = refusal(soon(gateway.client.delete(unknown).send()).await.unwrap()).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn model_continues_after_restart_during_question() {
    let first = Gateway::demo(&[]).await;
    let second = Gateway::demo(&[]).await;
    let mut chat = Chat::new(&first);
    let which = chat.say("book").await;
    let flight = context(&which)["flights"][0]["id"].clone();
    chat.gateway = &second;
    let told = chat.answer(&which, accept(json!({ "flightId": flight }))).await;
    let [result] = &told.results()[..] else { panic!("one result: {:?}", told.results()) };
    assert!(result.starts_with("the call was lost"), "{result}");
    assert_eq!(told.end(), "success");
}

#[tokio::test]
async fn questions_are_private_to_their_user() {
    let gateway = Gateway::configured("[auth.tokens]\nalice = 'a-secret'\nbob = 'b-secret'").await;
    let mut alice = Chat { token: Some("a-secret"), ..Chat::new(&gateway) };
    let mut bob = Chat { token: Some("b-secret"), ..Chat::new(&gateway) };
    let which = alice.say("book").await;
    let flight = context(&which)["flights"][0]["id"].clone();
    let own = async |token: &str| {
        let get = gateway.client.get(gateway.url("/api/tools/sessions")).bearer_auth(token);
        let listed: Value = soon(soon(get.send()).await.unwrap().json()).await.unwrap();
        listed["sessions"].as_array().unwrap().clone()
    };
    let listed = own("a-secret").await;
    assert_eq!(listed.len(), 1);
    assert_eq!(own("b-secret").await.len(), 0);
    let path = format!("/api/tools/sessions/{}", listed[0]["sessionId"].as_str().unwrap());
    let delete = gateway.client.delete(gateway.url(&path)).bearer_auth("b-secret");
    assert_eq!(soon(delete.send()).await.unwrap().status(), StatusCode::NOT_FOUND);
    bob.messages = alice.messages.clone();
    let taken = bob.answer(&which, accept(json!({ "flightId": flight }))).await;
    assert_eq!(taken.end(), "RESUME_MISMATCH");
    let own = alice.answer(&which, accept(json!({ "flightId": flight }))).await;
    assert_eq!(own.end(), "interrupt");
    let made_up = json!([{ "interruptId": "x:elicit:y", "status": "cancelled" }]);
    assert_eq!(alice.run(made_up).await.end(), "RESUME_MISMATCH");
}

#[tokio::test]
async fn older_clients_are_not_asked() {
    let gateway = Gateway::demo(&[]).await;
    let asked = json!({ "threadId": "t", "runId": "r", "messages": [{ "id": "u", "role": "user", "content": "book" }] });
    let post = gateway.client.post(gateway.url("/api/ai/agents/hybrid/chat")).json(&asked);
    let told = Run::new(&asked, soon(post.send()).await.unwrap()).rest().await;
    assert_eq!(told.results(), ["the user cannot be asked: the client is of before AG-UI 1.0"]);
}
