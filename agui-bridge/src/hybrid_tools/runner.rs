//! Runs a [`HybridLoop`] with an async model and async tools, on any runtime.
//!
//! ```
//! use agui_bridge::chat_history::ChatToolCall;
//! use agui_bridge::hybrid_tools::runner::{Backend, Model, ModelRequest, run};
//! use agui_bridge::hybrid_tools::{HybridLoop, LoopOptions, ModelEvent, RunFailure};
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
//!     async fn call(&self, request: &ChatToolCall) -> Result<Content, String> {
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
use super::{HybridLoop, HybridTools, ModelEvent, RunFailure, Step};
use crate::CancelReason;
use crate::chat_history::{ChatMessage, ChatToolCall};
use agui_types::content::Content;
use agui_types::event::Event;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use async_trait::async_trait;
use futures::stream::{FuturesUnordered, StreamExt};

/// A model that streams its answer.
#[async_trait]
pub trait Model: Send {
    /// Sends a request. The answer to the previous request is complete.
    ///
    /// # Errors
    /// The request failed: the run fails.
    async fn ask(&mut self, request: ModelRequest<'_>) -> Result<(), RunFailure>;

    /// Returns the next piece of the answer, or `None` at its end.
    ///
    /// # Errors
    /// The answer was interrupted: the run fails.
    async fn next(&mut self) -> Result<Option<ModelEvent>, RunFailure>;
}

/// A request to a model.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ModelRequest<'a> {
    /// The conversation.
    pub history: &'a [ChatMessage],
    /// The tools that the model may call.
    pub tools: &'a HybridTools,
}

/// The program's tools, and its conversation store.
#[async_trait]
pub trait Backend: Sync {
    /// Runs a tool. The calls of one answer run concurrently.
    ///
    /// # Errors
    /// The tool failed. The model receives the reason.
    async fn call(&self, request: &ChatToolCall) -> Result<Content, String>;

    /// Returns the earlier messages of the thread, oldest first; none by default.
    ///
    /// # Errors
    /// The conversation cannot be read: the run fails.
    async fn history(&self) -> Result<Vec<ChatMessage>, RunFailure> {
        Ok(Vec::new())
    }
}

/// The destination of a run's events.
#[async_trait]
pub trait Sink: Send {
    /// Sends an event. Waits while the page is slower than the model.
    ///
    /// # Errors
    /// The stream has no reader.
    async fn send(&mut self, event: Event) -> Result<(), SinkClosed>;
}

/// Collects every event.
#[async_trait]
impl Sink for Vec<Event> {
    async fn send(&mut self, event: Event) -> Result<(), SinkClosed> {
        self.push(event);
        Ok(())
    }
}

/// An error sending an event: the stream has no reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stream of the run has no reader")]
pub struct SinkClosed;

/// Largest number of restated messages of a stored conversation.
const HISTORY_LIMIT: usize = 1000;

/// Runs `hybrid` to its end, and sends each event to `sink` when it is due.
///
/// If the future is dropped early, the run stays open: [cancel](HybridLoop::handle_cancel) the
/// loop, and send the events that follow.
///
/// # Errors
/// The stream has no reader. The run was cancelled.
pub async fn run(
    hybrid: &mut HybridLoop,
    model: &mut dyn Model,
    backend: &dyn Backend,
    sink: &mut dyn Sink,
) -> Result<(), SinkClosed> {
    let done = go(hybrid, model, backend, sink).await;
    if done.is_err() {
        hybrid.handle_cancel(CancelReason::NoReader);
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
                let call = |request: ChatToolCall| async move {
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

/// Sends a request to the model and handles its answer.
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
