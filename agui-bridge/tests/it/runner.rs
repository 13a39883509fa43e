//! An async model with async tools, end to end.
use crate::hybrid_tools::{input, user};
use agui_bridge::CancelReason;
use agui_bridge::chat_history::{ChatMessage, ChatRole, ChatToolCall};
use agui_bridge::hybrid_tools::runner::{Backend, Model, ModelRequest, Sink, SinkClosed, run};
use agui_bridge::hybrid_tools::{BackendTool, HybridLoop, LoopOptions, ModelEvent, RunFailure};
use agui_types::content::Content;
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use agui_types::reduce::Reducer;
use agui_types::verify::Verifier;
use async_trait::async_trait;
use futures::executor::block_on;
use futures::future::pending;
use jsonrpc_core::wire::decode;
use serde_json::json;
use std::collections::VecDeque;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// A model with scripted answers, which records its requests.
#[derive(Default)]
struct Script {
    answers: VecDeque<Vec<Result<ModelEvent, RunFailure>>>,
    answer: VecDeque<Result<ModelEvent, RunFailure>>,
    asked: Vec<Vec<String>>,
}

impl Script {
    fn new(answers: impl IntoIterator<Item = Vec<ModelEvent>>) -> Self {
        let answers =
            answers.into_iter().map(|answer| answer.into_iter().map(Ok).collect()).collect();
        Self { answers, ..Self::default() }
    }
}

#[async_trait]
impl Model for Script {
    async fn ask(&mut self, request: ModelRequest<'_>) -> Result<(), RunFailure> {
        let said = |message: &ChatMessage| format!("{}: {}", message.role.as_str(), message.text());
        self.asked.push(request.history.iter().map(said).collect());
        self.answer = self
            .answers
            .pop_front()
            .ok_or_else(|| RunFailure::new("MODEL_ERROR", "no more"))?
            .into();
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<ModelEvent>, RunFailure> {
        self.answer.pop_front().transpose()
    }
}

/// A tool that counts its arguments.
struct Count;

#[async_trait]
impl Backend for Count {
    async fn call(&self, request: &ChatToolCall) -> Result<Content, String> {
        match &*request.name {
            "count" => Ok(request.arguments.len().to_string().into()),
            "hang" => pending().await,
            name => Err(format!("no {name}")),
        }
    }

    async fn history(&self) -> Result<Vec<ChatMessage>, RunFailure> {
        Ok(vec![ChatMessage::new(ChatRole::User, "before")])
    }
}

fn tools() -> [BackendTool; 2] {
    ["count", "hang"].map(|name| BackendTool::new(name, "d"))
}

fn serve(input: &RunAgentInput, model: &mut Script) -> Vec<Event> {
    let mut events = Vec::new();
    let mut verifier = Verifier::strict_for(input);
    let mut hybrid = HybridLoop::begin(input, &tools(), LoopOptions::new());
    block_on(run(&mut hybrid, model, &Count, &mut events)).unwrap();
    events.iter().for_each(|event| verifier.handle(event).unwrap());
    verifier.finish().unwrap();
    events
}

/// A conversation of three requests: backend tools, a page tool, its result, the end.
#[test]
fn conversation_runs_end_to_end() {
    let mut model = Script::new([
        vec![
            ModelEvent::Text("Let me count.".into()),
            ModelEvent::call("a", "count", "[1]"),
            ModelEvent::call("b", "count", "[1,2]"),
        ],
        vec![ModelEvent::call("c", "pick", "{}")],
        vec![ModelEvent::Text("Green, ".into()), ModelEvent::Text("then.".into())],
    ]);
    let first = input(&user("Paint it"), &["pick"]);
    let mut page = Reducer::for_input(&first).unwrap();
    assert!(serve(&first, &mut model).iter().all(|event| page.handle(event).is_none()));
    let pending: Vec<_> = page.pending_tool_call_ids().into_iter().cloned().collect();
    assert_eq!(pending, ["c".into()]);

    let mut second = first.clone();
    second.messages = page.messages().to_vec();
    second.run_id = "r2".into();
    let answer = json!({"id": "page", "role": "tool", "toolCallId": "c", "content": "green"});
    second.messages.push(decode(&answer.to_string()).unwrap());
    let mut page = Reducer::for_input(&second).unwrap();
    assert!(serve(&second, &mut model).iter().all(|event| page.handle(event).is_none()));
    let Some(Message::Assistant(last)) = page.messages().last() else { panic!("no answer") };
    assert_eq!(last.content.as_deref(), Some("Green, then."));

    let told = [
        "user: Paint it",
        "assistant: Let me count.",
        "tool: 3",
        "tool: 5",
        "assistant: ",
        "tool: green",
    ];
    assert_eq!(model.asked, [&told[..1], &told[..4], &told[..6]]);
}

#[test]
fn failed_model_fails_the_run() {
    let mut broken = Script::default();
    let answer =
        vec![Ok(ModelEvent::Text("I".into())), Err(RunFailure::new("MODEL_ERROR", "cut off"))];
    broken.answers.push_back(answer);
    for (mut model, message) in [(Script::default(), "no more"), (broken, "cut off")] {
        let events = serve(&input(&user("Hi"), &[]), &mut model);
        let Some(Event::RunError(error)) = events.last() else { panic!("no error") };
        assert_eq!(&*error.message, message);
        assert_eq!(error.code.as_deref(), Some("MODEL_ERROR"));
    }
}

#[test]
fn stored_history_is_loaded() {
    let events = serve(&input(&json!([]), &[]), &mut Script::default());
    let Event::MessagesSnapshot(snapshot) = &events[1] else { panic!("no snapshot") };
    assert_eq!(snapshot.messages.len(), 1);
}

/// A store that cannot be read.
struct Forgetful;

#[async_trait]
impl Backend for Forgetful {
    async fn call(&self, _: &ChatToolCall) -> Result<Content, String> {
        Err("never".into())
    }

    async fn history(&self) -> Result<Vec<ChatMessage>, RunFailure> {
        Err(RunFailure::new("HISTORY", "the store is gone"))
    }
}

#[test]
fn unreadable_history_fails_the_run() {
    let mut events: Vec<Event> = Vec::new();
    let mut hybrid = HybridLoop::begin(&input(&json!([]), &[]), &tools(), LoopOptions::new());
    block_on(run(&mut hybrid, &mut Script::default(), &Forgetful, &mut events)).unwrap();
    let [Event::RunStarted(_), Event::RunError(error)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(&*error.message, "the store is gone");
    assert_eq!(error.code.as_deref(), Some("HISTORY"));
}

/// A page that disconnects after some events.
struct Leaves(usize);

#[async_trait]
impl Sink for Leaves {
    async fn send(&mut self, _: Event) -> Result<(), SinkClosed> {
        self.0 = self.0.checked_sub(1).ok_or(SinkClosed)?;
        Ok(())
    }
}

#[test]
fn disconnected_page_cancels_the_run() {
    let mut model =
        Script::new([vec![ModelEvent::Text("a".into()), ModelEvent::call("a", "count", "{}")]]);
    let mut hybrid = HybridLoop::begin(&input(&user("Hi"), &[]), &tools(), LoopOptions::new());
    let done = block_on(run(&mut hybrid, &mut model, &Count, &mut Leaves(3)));
    assert_eq!(done, Err(SinkClosed));
    let left: Vec<_> = std::iter::from_fn(|| hybrid.poll_event()).collect();
    assert!(matches!(left.last(), Some(Event::RunFinished(_))), "{left:?}");
}

/// If the future is dropped while a tool runs, the loop keeps its run, which ends as cancelled.
#[test]
fn abandoned_run_can_be_ended() {
    let mut model = Script::new([vec![ModelEvent::call("a", "hang", "{}")]]);
    let input = input(&user("Hi"), &[]);
    let mut hybrid = HybridLoop::begin(&input, &tools(), LoopOptions::new());
    let mut events: Vec<Event> = Vec::new();
    {
        let mut running = pin!(run(&mut hybrid, &mut model, &Count, &mut events));
        let polled = running.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(polled, Poll::Pending);
    }
    hybrid.handle_cancel(CancelReason::User);
    events.extend(std::iter::from_fn(|| hybrid.poll_event()));
    let mut verifier = Verifier::strict_for(&input);
    events.iter().for_each(|event| verifier.handle(event).unwrap());
    verifier.finish().unwrap();
}
