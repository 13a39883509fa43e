//! Agents without ACP: a model and its tools, some of which run in the program and some in the
//! page.
//!
//! These turn a program with a model and tools of its own into an AG-UI agent:
//!
//! | To | use |
//! |---|---|
//! | detect an AG-UI request, and convert it to an agent's parameters | [`is_agui_input`], [`AgentParameters`] |
//! | convert its messages to a model's history | [`chat_history`](crate::chat_history) |
//! | give the model one set of tools, run by the program or the page | [`HybridTools`] |
//! | write a run with exactly one end and no open items | [`HybridRun`] |
//! | alternate between model and tools, and pause for the page | [`HybridLoop`] |
//! | do this with an async model, on any runtime (feature `async`) | `hybrid_tools::runner` |
//!
//! A run pauses when the model calls a tool of the page: it ends as a success with pending calls.
//! No state is kept between runs. The next request has the page's results among its messages, and
//! the model continues from those.
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
//! run.handle_model(ModelEvent::call("c1", "stock", "{}"));     // it makes two parallel calls
//! run.handle_model(ModelEvent::call("c2", "pick_colour", "{}"));
//! run.handle_model_end();
//! let Step::RunTools(calls) = run.step() else { panic!() };  // the program's tool
//! assert_eq!(calls[0].name, "stock");
//! run.handle_tool_result(&calls[0].id, Ok("red and blue".into()));
//! let Step::Done = run.step() else { panic!() };             // the other tool is the page's: the run ends
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
//! # Deliberate differences from OpenSearch
//!
//! The names and rules follow the design and the code (3.5) of the AG-UI support in OpenSearch's
//! ml-commons.
//!
//! | | OpenSearch | here |
//! |---|---|---|
//! | parallel calls of the model | the first is run | all; the run ends when the program's calls have results |
//! | an unknown tool name | passed to the page | the model receives an error as the result |
//! | a page's tool with the name of a program's tool | the page's is described to the model, the program's runs | the program's is described and runs; the page's is [reported](HybridTools::shadowed) |
//! | the end of a run that waits for the page | without `outcome` | success with `pendingToolCallIds` |
//! | terminal events | sometimes two; more events after `RUN_ERROR` | one, then none |
//! | message ids | from a clock, or random with each load of a history | counted, distinct from those of the input |
//! | the type of a custom event | `Custom`, on which clients fail | `CUSTOM` |
//! | an error before the run began | a frame without type | `RUN_STARTED`, `RUN_ERROR` |
//! | code and message of an error | no code; the innermost cause or the outer error | both from the caller: [`RunFailure`] |
//! | a missing thread or run id | derived from a clock | the input is refused, since a page that does not know its thread cannot continue it |
//! | detection of an AG-UI request | by its body, or by a thread or run parameter | by its body: [`is_agui_input`] |
//! | message parts of 1.0 | dropped | images are accepted, the rest is reported |
//! | system messages under the rule of the latest tool cycle | dropped | kept |
//! | missing results of a message | sent to the model unchanged | added as an error, and reported |
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
pub use react::{HybridLoop, LoopOptions, Step};
pub use run::{HybridRun, RunFailure};
pub use tools::{BackendTool, HybridTools, ModelTool, ToolOwner, frontend_tool_error};

/// A piece of a model's answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// Text.
    Text(String),
    /// Reasoning.
    Reasoning(String),
    /// The beginning of a tool call.
    ToolCallStart {
        /// The model's id of the call. Several calls may be open at once.
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
    /// A complete call.
    ToolCall {
        /// The model's id of the call.
        id: ToolCallId,
        /// The tool.
        name: String,
        /// The arguments, by convention a JSON document.
        arguments: String,
    },
    /// Token usage of the request.
    Usage(TokenUsage),
}

impl ModelEvent {
    /// Creates a complete call.
    pub fn call(
        id: impl Into<ToolCallId>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self::ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() }
    }
}
