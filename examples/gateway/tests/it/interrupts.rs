//! Interrupted runs, and the runs that resume them.
use crate::gateway::{Gateway, input, soon};
use crate::run::{EndedRun, Run};
use agui_types::interrupt::Interrupt;
use agui_types::reduce::Reducer;
use jsonrpc_core::wire;
use serde_json::{Value, json};

/// A conversation with an interrupted last run.
pub(crate) struct OpenQuestion {
    thread: String,
    messages: Value,
    told: EndedRun,
    /// The id of the interrupt.
    id: String,
}

impl OpenQuestion {
    /// Sends a word that interrupts the run.
    pub(crate) async fn for_word(gateway: &Gateway, thread: &str, word: &str) -> Self {
        Self::for_input(gateway, thread, &input(thread, &format!("{thread}-1"), word)).await
    }

    async fn for_input(gateway: &Gateway, thread: &str, input: &Value) -> Self {
        let told = gateway.run(input).await.rest().await;
        assert_eq!(told.end(), "interrupt");
        let [interrupt] = told.interrupts() else { panic!("{:?}", told.interrupts()) };
        let id = interrupt.id.to_string();
        let mut reducer = Reducer::for_input(&wire::decode(&input.to_string()).unwrap()).unwrap();
        for event in &told.events {
            assert_eq!(reducer.handle(event), None, "{event:?}");
        }
        let messages = serde_json::to_value(reducer.messages()).unwrap();
        Self { thread: thread.to_owned(), messages, told, id }
    }

    /// Returns the questions.
    pub(crate) fn interrupts(&self) -> &[Interrupt] {
        self.told.interrupts()
    }

    /// The input of a resuming run: these answers, without a new message.
    fn resume(&self, run: &str, answers: &Value) -> Value {
        let mut input = input(&self.thread, &format!("{}-{run}", self.thread), "");
        input["messages"] = self.messages.clone();
        input["resume"] = answers.clone();
        input
    }

    /// The same with one answer.
    pub(crate) fn answered(&self, run: &str, status: &str, payload: &Value) -> Value {
        let mut answer = json!({ "interruptId": self.id, "status": status });
        if !payload.is_null() {
            answer["payload"] = payload.clone();
        }
        self.resume(run, &json!([answer]))
    }
}

/// Begins a call of a tool that asks, by a model. Returns the input with the answer to its first
/// question.
pub(crate) async fn booking(gateway: &Gateway) -> Value {
    let mut asked = input("t", "1", "book");
    let url = gateway.url("/api/ai/agents/hybrid/chat");
    let response = soon(gateway.client.post(url).json(&asked).send()).await.unwrap();
    let told = Run::new(&asked, response).rest().await;
    let question = &told.interrupts()[0];
    let metadata = serde_json::to_value(&question.metadata).unwrap();
    let flight = &metadata["x-model-context"]["flights"][0]["id"];
    let call = question.tool_call_id.as_ref().unwrap();
    let function = json!({ "name": "book_flight", "arguments": "{}" });
    let calls = json!([{ "id": call, "type": "function", "function": function }]);
    let said = json!({ "id": "a", "role": "assistant", "toolCalls": calls });
    asked["messages"].as_array_mut().unwrap().push(said);
    asked["runId"] = json!("2");
    let payload = json!({ "action": "accept", "content": { "flightId": flight } });
    asked["resume"] =
        json!([{ "interruptId": question.id, "status": "resolved", "payload": payload }]);
    asked
}

/// Answers the first question of the call. Returns the text of the second one.
pub(crate) async fn answered_booking(gateway: &Gateway, answer: &Value) -> String {
    let url = gateway.url("/api/ai/agents/hybrid/chat");
    let response = soon(gateway.client.post(url).json(answer).send()).await.unwrap();
    let told = Run::new(answer, response).rest().await;
    assert_eq!(told.end(), "interrupt");
    told.interrupts()[0].message.clone().unwrap()
}

#[tokio::test]
async fn permission_interrupts_and_answer_continues_turn() {
    let gateway = Gateway::demo(&[]).await;
    let asked = OpenQuestion::for_word(&gateway, "t", "edit").await;
    let interrupt = &asked.told.interrupts()[0];
    assert_eq!(interrupt.reason, "tool_call");
    assert_eq!(interrupt.message.as_deref(), Some("Edit greeting.txt?\n\nA line is added."));
    let answer = asked.answered("2", "resolved", &json!({ "optionId": "allow-once" }));
    let next = gateway.run(&answer).await.rest().await;
    assert_eq!(next.end(), "success");
    assert!(next.text().contains("I have edited greeting.txt"), "{}", next.text());
    // The same answers in another run, as after a lost connection, return their result.
    let again = asked.answered("3", "resolved", &json!({ "optionId": "allow-once" }));
    let again = gateway.chat(&again).await.text().await.unwrap();
    assert!(again.contains(r#""runId":"t-2""#), "{again}");
    let late = asked.answered("4", "cancelled", &Value::Null);
    // `RUN_FINISHED`, so that the client forgets the question.
    assert_eq!(gateway.run(&late).await.rest().await.end(), "cancelled");
}

/// As CopilotKit resumes runs.
#[tokio::test]
async fn interrupted_run_is_resumed_under_its_id() {
    let gateway = Gateway::demo(&[]).await;
    let asked = OpenQuestion::for_word(&gateway, "t", "edit").await;
    let first = soon(gateway.follow("t-1", None).await.text()).await.unwrap();
    let (last_id, _) = first.rsplit_once("id: ").unwrap().1.split_once('\n').unwrap();
    let not_resumed = gateway.chat(&input("t", "t-1", "hello")).await;
    assert_eq!(not_resumed.status(), 409);
    let elsewhere = json!([{ "interruptId": asked.id, "status": "cancelled" }]);
    let mut other = input("u", "t-1", "hello");
    other["resume"] = elsewhere;
    assert_eq!(gateway.chat(&other).await.status(), 409, "another thread");

    let answer = asked.answered("1", "resolved", &json!({ "optionId": "allow-once" }));
    let next = gateway.run(&answer).await.rest().await;
    assert_eq!(next.end(), "success");
    assert!(next.text().contains("I have edited greeting.txt"), "{}", next.text());
    // The numbers of events continue, so that a cursor stays valid.
    let from_the_question = gateway.follow("t-1", Some(last_id)).await.text().await.unwrap();
    let from_the_start = gateway.follow("t-1", None).await.text().await.unwrap();
    assert_eq!(from_the_question, from_the_start);
    let (_, last) = last_id.rsplit_once(':').unwrap();
    let next_id = format!("id: t-1:{}\n", last.parse::<u32>().unwrap() + 1);
    assert!(from_the_start.starts_with(&next_id), "{from_the_start}");
    let in_the_question = gateway.follow("t-1", Some("t-1:1")).await.text().await.unwrap();
    assert_eq!(in_the_question, from_the_start);
    let again = gateway.chat(&answer).await.text().await.unwrap();
    assert_eq!(again, from_the_start, "the same once more");
    assert_eq!(gateway.ask("t", "t-2", "hello").await.rest().await.end(), "success");
}

/// Some clients before 1.0 support interrupts without reporting that.
#[tokio::test]
async fn clients_before_1_0_are_interrupted_where_that_is_wanted() {
    let gateway = Gateway::demo(&["--permission", "ask-by-interrupt"]).await;
    let old = |mut input: Value| {
        input.as_object_mut().unwrap().remove("protocolVersion");
        input
    };
    let asked = OpenQuestion::for_input(&gateway, "t", &old(input("t", "1", "edit"))).await;
    let answer = old(asked.answered("2", "resolved", &json!({ "approved": true })));
    let next = gateway.run(&answer).await.rest().await;
    assert_eq!(next.end(), "finished");
    assert!(next.text().contains("I have edited greeting.txt"), "{}", next.text());
}

#[tokio::test]
async fn form_interrupts_and_content_reaches_agent() {
    let gateway = Gateway::demo(&[]).await;
    let asked = OpenQuestion::for_word(&gateway, "t", "form").await;
    let interrupt = &asked.told.interrupts()[0];
    assert_eq!(interrupt.message.as_deref(), Some("Which seat would you like?"));
    let schema = serde_json::to_value(&interrupt.response_schema).unwrap();
    assert_eq!(schema["required"], json!(["name", "seat"]));
    for (run, payload) in
        [("2", json!({ "name": "Ada" })), ("3", json!({ "name": "Ada", "seat": "roof" }))]
    {
        let refused = gateway.run(&asked.answered(run, "resolved", &payload)).await.rest().await;
        assert_eq!(refused.end(), "RESUME_INVALID", "{payload}");
    }
    let payload = json!({ "name": "Ada", "seat": "aisle", "bags": 2 });
    let next = gateway.run(&asked.answered("4", "resolved", &payload)).await.rest().await;
    assert_eq!(next.end(), "success");
    assert_eq!(next.text(), r#"Booked: bags 2, name "Ada", seat "aisle". "#);
}

#[tokio::test]
async fn declined_and_cancelled_answers_reach_agent() {
    let gateway = Gateway::demo(&[]).await;
    for (thread, status, payload, said) in [
        ("declined", "resolved", json!({ "action": "decline" }), "No seat, then. "),
        ("cancelled", "cancelled", Value::Null, "Another time, then. "),
    ] {
        let asked = OpenQuestion::for_word(&gateway, thread, "form").await;
        let next = gateway.run(&asked.answered("2", status, &payload)).await.rest().await;
        assert_eq!(next.end(), "success");
        assert_eq!(&*next.text(), said);
    }
}

#[tokio::test]
async fn question_is_answered_outside_of_runs() {
    let gateway = Gateway::demo(&[]).await;
    let asked = OpenQuestion::for_word(&gateway, "t", "form").await;
    let content = json!({ "action": "accept", "content": { "name": "Ada", "seat": "window" } });
    let here = format!("interrupts/{}", asked.id);
    assert_eq!(gateway.post(&here, &content).await.0, 202);
    assert_eq!(gateway.post(&here, &content).await.0, 409);
    let next = gateway.run(&asked.resume("2", &json!([]))).await.rest().await;
    assert_eq!(next.end(), "success");
    assert_eq!(next.text(), r#"Booked: name "Ada", seat "window". "#);
}

#[tokio::test]
async fn unanswered_question_expires() {
    let gateway = Gateway::configured("[times]\nquestion = 0.3").await;
    let asked = OpenQuestion::for_word(&gateway, "t", "form").await;
    let mut next = None;
    for run in 0..1000 {
        let input = asked.resume(&format!("poll-{run}"), &json!([]));
        let told = gateway.run(&input).await.rest().await;
        if told.end() != "interrupt" {
            next = Some(told);
            break;
        }
    }
    let next = next.expect("the question does not end");
    assert_eq!(next.end(), "success");
    assert_eq!(&*next.text(), "Another time, then. ");
    let late = asked.answered("late", "resolved", &json!({ "name": "Ada", "seat": "aisle" }));
    // `RUN_FINISHED`, so that the client forgets the question.
    assert_eq!(gateway.run(&late).await.rest().await.end(), "cancelled");
}

#[tokio::test]
async fn new_message_is_not_an_answer() {
    let gateway = Gateway::demo(&[]).await;
    let asked = OpenQuestion::for_word(&gateway, "t", "form").await;
    let with_message = |mut input: Value| {
        let message = json!({ "id": "next-user", "role": "user", "content": "hello" });
        input["messages"].as_array_mut().unwrap().push(message);
        input
    };
    let told = gateway.run(&with_message(asked.resume("2", &json!([])))).await.rest().await;
    assert_eq!(told.end(), "INTERRUPTS_OPEN");
    assert!(told.error().message.contains(&asked.id), "{}", told.error().message);
    // With an answer, the asking turn ends first.
    let both = with_message(asked.answered("3", "cancelled", &Value::Null));
    let told = gateway.run(&both).await.rest().await;
    assert_eq!(told.end(), "success");
    assert!(told.text().contains("Hello! I am a scripted agent"), "{}", told.text());
}

#[tokio::test]
async fn clients_of_0_x_are_asked_in_the_stream() {
    let gateway = Gateway::demo(&[]).await;
    let mut old = input("t", "1", "permission");
    old.as_object_mut().unwrap().remove("protocolVersion");
    let mut run = gateway.run(&old).await;
    let asked = run.until_asked().await;
    gateway.post(&format!("interrupts/{asked}"), &json!({ "optionId": "allow-once" })).await;
    assert_eq!(run.rest().await.end(), "finished");
}
