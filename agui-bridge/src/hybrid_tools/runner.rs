//! Runs a [`HybridLoop`] with an async model and async tools, on any runtime.
//!
//! ```
//! use agui_bridge::hybrid_tools::runner::{Backend, Model, ModelRequest, run};
//! use agui_bridge::hybrid_tools::{HybridLoop, LoopOptions, ModelEvent, RunFailure, ToolRequest};
//! use agui_types::{content::Content, event::Event};
//! use async_trait::async_trait;
//! use jsonrpc_core::wire;
//!
//! /// Says hello, in two pieces.
//! struct Greeter(Vec<ModelEvent>);
//!
//! #[async_trait]
//! impl Model for Greeter {
//!     async fn ask(&mut self, _: ModelRequest<'_>) -> Result<(), RunFailure> {
//!         Ok(())
//!     }
//!     async fn next(&mut self) -> Result<Option<ModelEvent>, RunFailure> {
//!         Ok(self.0.pop())
//!     }
//! }
//!
//! /// Has no tools.
//! struct Nothing;
//!
//! #[async_trait]
//! impl Backend for Nothing {
//!     async fn call(&self, request: &ToolRequest) -> Result<Content, String> {
//!         Err(format!("there is no {}", request.name))
//!     }
//! }
//!
//! let posted = r#"{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"Hi"}]}"#;
//! let mut model = Greeter(vec![ModelEvent::Text("!".into()), ModelEvent::Text("Hello".into())]);
//! let mut stream: Vec<Event> = Vec::new(); // a page's connection is a `Sink` as well
//! let mut hybrid = HybridLoop::begin(&wire::decode(posted)?, &[], LoopOptions::new());
//! futures::executor::block_on(run(&mut hybrid, &mut model, &Nothing, &mut stream))?;
//! let types: Vec<_> = stream.iter().map(Event::tag).collect();
//! assert_eq!(types, ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use super::{HybridLoop, HybridTools, ModelEvent, RunFailure, Step, ToolRequest};
use crate::chat_history::ChatMessage;
use agui_types::content::Content;
use agui_types::event::Event;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use async_trait::async_trait;
use futures::stream::{FuturesUnordered, StreamExt};

/// A model that answers piece by piece.
#[async_trait]
pub trait Model: Send {
    /// Asks the model. What it said before to another request is over.
    ///
    /// # Errors
    /// It cannot be asked: the run fails.
    async fn ask(&mut self, request: ModelRequest<'_>) -> Result<(), RunFailure>;

    /// The next piece of its answer; nothing at the end.
    ///
    /// # Errors
    /// The answer broke off: the run fails.
    async fn next(&mut self) -> Result<Option<ModelEvent>, RunFailure>;
}

/// What a model is asked.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ModelRequest<'a> {
    /// What was said.
    pub history: &'a [ChatMessage],
    /// What it may call.
    pub tools: &'a HybridTools,
}

/// What runs here: the tools of ours, and the store of conversations.
#[async_trait]
pub trait Backend: Sync {
    /// Runs a tool. Calls of one answer of the model run at the same time.
    ///
    /// # Errors
    /// The tool failed; the model is told why.
    async fn call(&self, request: &ToolRequest) -> Result<Content, String>;

    /// What was said before in the thread of this run, oldest first; nothing unless told otherwise.
    ///
    /// # Errors
    /// It cannot be read: the run fails.
    async fn history(&self) -> Result<Vec<ChatMessage>, RunFailure> {
        Ok(Vec::new())
    }
}

/// Where a run's events go.
#[async_trait]
pub trait Sink: Send {
    /// Sends an event; waits while the page is slower than the model.
    ///
    /// # Errors
    /// Nobody reads any more.
    async fn send(&mut self, event: Event) -> Result<(), SinkClosed>;
}

/// A list that takes every event.
#[async_trait]
impl Sink for Vec<Event> {
    async fn send(&mut self, event: Event) -> Result<(), SinkClosed> {
        self.push(event);
        Ok(())
    }
}

/// Nobody reads the stream any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nobody reads the run's events any more")]
pub struct SinkClosed;

/// How many messages of a loaded history are restated.
const HISTORY_LIMIT: usize = 1000;

/// Runs `hybrid` to its end; each event goes to `sink` as soon as it is due.
///
/// Dropped before its end, it leaves the run open: [cancel](HybridLoop::handle_cancel) the loop then, and send what that
/// gives.
///
/// # Errors
/// Nobody reads any more. The run was cancelled.
pub async fn run(
    hybrid: &mut HybridLoop,
    model: &mut dyn Model,
    backend: &dyn Backend,
    sink: &mut dyn Sink,
) -> Result<(), SinkClosed> {
    let done = go(hybrid, model, backend, sink).await;
    if done.is_err() {
        hybrid.handle_cancel();
    }
    done
}

async fn go(
    hybrid: &mut HybridLoop,
    model: &mut dyn Model,
    backend: &dyn Backend,
    sink: &mut dyn Sink,
) -> Result<(), SinkClosed> {
    loop {
        send_all(hybrid, sink).await?;
        match hybrid.step() {
            Step::AskModel => ask(hybrid, model, sink).await?,
            Step::RunTools(requests) => {
                let call = |request: ToolRequest| async move {
                    let result = backend.call(&request).await;
                    (request.id, result)
                };
                let mut calls: FuturesUnordered<_> = requests.into_iter().map(call).collect();
                while let Some((id, result)) = calls.next().await {
                    hybrid.handle_tool_result(&id, result);
                    send_all(hybrid, sink).await?;
                }
            }
            Step::LoadHistory => match backend.history().await {
                Ok(history) => hybrid.handle_history(&history, HISTORY_LIMIT),
                Err(failure) => hybrid.handle_failure(failure),
            },
            Step::Done => return Ok(()),
        }
    }
}

/// Asks the model, and takes its answer.
async fn ask(
    hybrid: &mut HybridLoop,
    model: &mut dyn Model,
    sink: &mut dyn Sink,
) -> Result<(), SinkClosed> {
    let request = ModelRequest { history: hybrid.history(), tools: hybrid.tools() };
    if let Err(failure) = model.ask(request).await {
        hybrid.handle_failure(failure);
        return Ok(());
    }
    while hybrid.step() == Step::AskModel {
        match model.next().await {
            Ok(Some(event)) => hybrid.handle_model(event),
            Ok(None) => {
                hybrid.handle_model_end();
                return Ok(());
            }
            Err(failure) => hybrid.handle_failure(failure),
        }
        send_all(hybrid, sink).await?;
    }
    Ok(())
}

async fn send_all(hybrid: &mut HybridLoop, sink: &mut dyn Sink) -> Result<(), SinkClosed> {
    while let Some(event) = hybrid.poll_event() {
        sink.send(event).await?;
    }
    Ok(())
}
