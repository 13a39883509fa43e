//! Agents that are not ACP: a model and its tools, some of which run here and some in the page.
//!
//! A program that has a model and tools of its own becomes an AG-UI agent with these:
//!
//! | to | use |
//! |---|---|
//! | tell whether a request is AG-UI's, and turn it into an agent's parameters | [`is_agui_input`], [`AgentParameters`] |
//! | turn its messages into a model's history | [`chat_history`](crate::chat_history) |
//! | give the model one set of tools, and tell apart who runs them | [`HybridTools`] |
//! | write a run that ends once, with everything closed | [`HybridRun`] |
//! | go from model to tools and back, and stop for the page | [`HybridLoop`] |
//! | do that with an async model, on any runtime (feature `async`) | `hybrid_tools::runner` |
//!
//! A model that calls a tool of the page's pauses: the run ends as a success whose calls are pending. Nothing is kept here:
//! the next request has the page's results among its messages, and the model goes on from those.
//!
//! ```
//! use agui_bridge::hybrid_tools::{BackendTool, HybridLoop, LoopOptions, ModelEvent, Step};
//! use agui_types::{event::Event, input::RunAgentInput, verify::Verifier};
//! use jsonrpc_core::wire;
//!
//! let input: RunAgentInput = wire::decode(
//!     r#"{"threadId":"t","runId":"r","protocolVersion":"1.0","messages":[{"id":"u","role":"user","content":"Paint it"}],
//!         "tools":[{"name":"pick_colour","description":"Asks the user."}]}"#,
//! )?;
//! let backend = [BackendTool::new("stock", "What paint there is.")];
//! let mut run = HybridLoop::begin(&input, &backend, LoopOptions::new());
//!
//! let Step::AskModel = run.step() else { panic!() };         // send `run.history()` and `run.tools()` to the model
//! run.handle_model(ModelEvent::call("c1", "stock", "{}"));     // it calls two tools at once
//! run.handle_model(ModelEvent::call("c2", "pick_colour", "{}"));
//! run.handle_model_end();
//! let Step::RunTools(calls) = run.step() else { panic!() };  // ours runs here
//! assert_eq!(calls[0].name, "stock");
//! run.handle_tool_result(&calls[0].id, Ok("red and blue".into()));
//! let Step::Done = run.step() else { panic!() };             // the other is the page's: the run ends
//!
//! let mut verifier = Verifier::strict_for(&input);
//! let mut last = None;
//! while let Some(event) = run.poll_event() {
//!     verifier.handle(&event)?;
//!     last = Some(event);
//! }
//! verifier.finish()?;
//! let Some(Event::RunFinished(finished)) = last else { panic!() };
//! assert_eq!(serde_json::to_string(&finished.outcome)?, r#"{"type":"success","pendingToolCallIds":["c2"]}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where it differs from OpenSearch on purpose
//!
//! The names and rules are those of the AG-UI support in OpenSearch's ml-commons, of its design and of its code (3.5).
//!
//! | | OpenSearch | here |
//! |---|---|---|
//! | parallel calls of the model | the first is run | all; the run ends once those of ours have results |
//! | a name that is neither ours nor the page's | given to the page | the model gets an error as the result |
//! | a tool of the page with the name of one of ours | the page's is described to the model, ours runs | ours is described and runs; the other is [reported](HybridTools::shadowed) |
//! | the end of a run that waits for the page | without `outcome` | success with `pendingToolCallIds` |
//! | terminal events | sometimes two; after `RUN_ERROR` more | one, then nothing |
//! | ids of messages | from a clock, or random with each load of a history | counted; none that the input has |
//! | a custom event's type | `Custom`, on which clients fail | `CUSTOM` |
//! | an error before the run began | a frame without type | `RUN_STARTED`, `RUN_ERROR` |
//! | an error's code and message | no code; that of the innermost cause, else the outer one | both are the caller's: [`RunFailure`] |
//! | no thread or run id | made of a clock | the input is refused: a page that does not know its thread cannot go on with it |
//! | a request is AG-UI's | by its body, or by a thread or run parameter | by its body: [`is_agui_input`] |
//! | parts of 1.0 in messages | dropped | images are taken, the rest is reported |
//! | system messages under the rule of the latest tool cycle | dropped | kept |
//! | a message's missing results | sent to the model as they are | added as an error, and reported |
use agui_types::id::ToolCallId;
use agui_types::usage::TokenUsage;
use alloc::string::String;

mod parameters;
mod react;
mod run;
#[cfg(feature = "async")]
pub mod runner;
mod tools;

pub use parameters::{AgentParameters, Detection, is_agui_input, parameter};
pub use react::{HybridLoop, LoopOptions, Step, ToolRequest};
pub use run::{HybridRun, RunFailure};
pub use tools::{BackendTool, HybridTools, ModelTool, ToolOwner, frontend_tool_error};

/// What a model says, piece by piece.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// A piece of its text.
    Text(String),
    /// A piece of what it thinks.
    Reasoning(String),
    /// It begins to call a tool.
    ToolCallStart {
        /// The model's id of the call; several calls may be open at once.
        id: ToolCallId,
        /// The tool.
        name: String,
    },
    /// A piece of a call's arguments.
    ToolCallArguments {
        /// The call.
        id: ToolCallId,
        /// The piece.
        delta: String,
    },
    /// A whole call.
    ToolCall {
        /// The model's id of the call.
        id: ToolCallId,
        /// The tool.
        name: String,
        /// Its arguments: a JSON document by convention.
        arguments: String,
    },
    /// What the request cost.
    Usage(TokenUsage),
}

impl ModelEvent {
    /// A whole call of a tool.
    pub fn call(
        id: impl Into<ToolCallId>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self::ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() }
    }
}
