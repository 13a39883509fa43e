//! Tools that the page runs, called by an ACP agent.
//!
//! ACP has no notion of a page's tools. They reach the agent by a *binding*: an MCP server for the
//! session, or the extension method of [`contextual_tools`](crate::contextual_tools).
//! [`FrontendTools`] connects the binding, the agent's updates and the page's stream. It decides
//! when a call is shown to the page, and answers each call exactly once.
//!
//! | [`ToolMode`] | the agent receives | the run | use |
//! |---|---|---|---|
//! | `Ack` | an acknowledgement, at once | continues | commands: navigate, highlight |
//! | `Park` | the page's result, from a later run's input | ends when no other work remains | questions to people; the page needs only AG-UI |
//! | `Sync` | the page's result, during the run | continues | questions to the page, answered at once |
//!
//! A call that cannot be completed in its mode falls back to the next one. A synchronous call
//! without a result after [`sync_wait`](FrontendToolOptions::sync_wait), or without a page, is
//! parked. A call that is parked for longer than [`park_wait`](FrontendToolOptions::park_wait), or
//! exceeds the number of parked calls, is answered as pending; its result becomes text of a later
//! prompt. A call beyond [`max_calls`](FrontendToolOptions::max_calls) is refused.
//!
//! The state machine performs no I/O: pass in events with their time, then poll the actions. All
//! times are offsets from one epoch of the caller's choice. The state can be serialized as JSON at
//! any time and restored elsewhere.
//!
//! ```
//! use agui_bridge::frontend_tool::{Action, Completion, FrontendToolOptions, FrontendTools, NewCall};
//! use agui_bridge::frontend_tool::{Outcome, ToolResult};
//! use agui_types::tool::Tool;
//! use core::time::Duration;
//! use jsonrpc_core::wire::Raw;
//!
//! let page = [Tool::new("pick_colour", "Asks the user for a colour.")];
//! let mut tools = FrontendTools::new(FrontendToolOptions::new());
//! let at = Duration::from_millis;
//!
//! // A run begins, and its prompt is sent to the agent.
//! tools.begin_turn(&page, at(0));
//! // The agent calls the tool of its MCP server. The page receives the call as events.
//! let args = Raw::from_text(r#"{"of":"the wall"}"#)?;
//! let call = tools.handle_call(NewCall::new("pick_colour", args), at(10))?;
//! let Some(Action::Begin(begin)) = tools.poll_action() else { panic!() };
//! assert_eq!(begin.name, "pick_colour");
//!
//! // Without other work the run ends, and the agent waits.
//! tools.handle_timeout(at(110));
//! assert_eq!(tools.poll_action(), Some(Action::EndRun { parked: vec![call.clone()] }));
//!
//! // The input of the next run has the result, which becomes the response to the agent's call.
//! tools.resume_turn(&page, at(5_000));
//! let green = ToolResult::text("green");
//! assert_eq!(tools.complete(&call, green.clone(), at(5_000)), Completion::Delivered);
//! assert_eq!(tools.complete(&call, green, at(5_001)), Completion::AlreadyDone);
//! let Some(Action::Answer { outcome, .. }) = tools.poll_action() else { panic!() };
//! let Outcome::Result(result) = outcome else { panic!() };
//! assert_eq!(result.content.text(), "green");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Inputs with some of the results
//!
//! AG-UI requires a page to answer all calls of a run before the thread continues. If an input
//! answers only some calls, the agent receives those results and waits for the others; the run ends
//! again when no other work remains. Its `pendingToolCallIds` has only the calls that this run
//! started, as the specification defines it. The page finds calls of earlier runs in its messages
//! as calls without a result, and any later input may answer them.
//!
//! Spec: [`RunFinishedSuccessOutcome`,
//! 1.0](https://ag-ui.com/spec/1.0/schema#runfinishedsuccessoutcome)
//!
//! # Reports of calls
//!
//! Most agents report a call twice: as a request to the binding, and as an ACP tool call. Only the
//! request is a call of the page's tool. A report that refers to one may contain text of a model in
//! each of its members, so it is withheld until the request arrives. They are matched by this
//! table:
//!
//! | the request has | and the agent's tool call | key |
//! |---|---|---|
//! | the agent's id in its `_meta` ([`agent_call_id`]) | has this id | the id |
//! | no such id | refers to the same tool and has the same arguments, in any spelling | first announced, first matched |
//! | no such id | refers to the same tool | first announced, first matched |
//!
//! Either may arrive first. The page receives the call when the request arrives, with the agent's
//! id if it is known then. The agent's reports of the call are kept out of the stream
//! ([`FrontendTools::handle_update`]).
//!
//! A report without a request is one of the agent's own call, and is shown ([`Action::Show`]) when
//!
//! - the agent requests permission for the call ([`FrontendTools::handle_permission_request`]),
//! - the call or the turn ends,
//! - the call has a kind `execute`, `edit`, `delete` or `move`, a location, a diff, a terminal, or
//!   a command or path that the page's tool does not declare,
//! - withheld reports exceed 256 calls or 256 KiB.
//!
//! A permission request is never answered here. Most agents request it before they make the call:
//! the agent's call is then in the stream as its own, beside that of the page, which begins with
//! the request.
//!
//! # Deliberate differences from Jaeger's MCP endpoint
//!
//! | | Jaeger | here |
//! |---|---|---|
//! | a page's tool with the name of an agent's tool | hides it | is listed by a separate server, `ui` |
//! | a call that the agent also reports | is in the stream twice | is in the stream once |
//! | a call while no page reads | fails | is accepted between two runs of a turn, otherwise fails |
//! | the result | is always an acknowledgement | depends on the mode |
//! | an acknowledgement | `ui tool "X" dispatched to the browser` | `The page was told.` <!-- words: ok --> |
//! | ids of calls | the tool's name, a clock and a counter | the agent's own if known, otherwise a counter |
//! | two tools with the same name | the first is listed | the same |
//! | a missing schema, or one that is not for an object | becomes `{"type":"object"}` | the same, also for one that is too long |
use acp_types::v1::prompt_turn::SessionNotification;
use acp_types::v2::prompt_lifecycle::UpdateSessionNotification;
use agui_types::content::Content;
use agui_types::id::ToolCallId;
use agui_types::message::ToolMessage;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Meta, Raw};
use serde::{Deserialize, Serialize};

mod agent_calls;
mod binding;
mod calls;
mod correlation;
mod machine;
mod options;
mod report;
mod schema;
mod tool_set;
mod updates;

pub use binding::Binding;
pub use machine::FrontendTools;
pub use options::{Expiry, FrontendToolOptions, ToolMode};
pub use tool_set::{ListedTool, MAX_SCHEMA_BYTES, MAX_TOOLS, ToolSet};

/// A request of the agent to run a frontend tool, as received by a binding.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NewCall {
    /// The tool, by its listed name or by the page's name.
    pub tool: String,
    /// The arguments: a JSON object.
    pub arguments: Raw,
    /// The agent's id of the call, if the request has it; see [`agent_call_id`].
    pub agent_id: Option<acp_types::v1::tool_calls::ToolCallId>,
}

impl NewCall {
    /// Creates a call without an agent's id.
    pub fn new(tool: impl Into<String>, arguments: Raw) -> Self {
        Self { tool: tool.into(), arguments, agent_id: None }
    }
}

/// Returns the agent's id of a tool call from the `_meta` of the MCP request: the first string
/// among the keys `claudecode/toolUseId`, `copilot/toolCallId` and `callId`.
pub fn agent_call_id(meta: &Meta) -> Option<acp_types::v1::tool_calls::ToolCallId> {
    let keys = ["claudecode/toolUseId", "copilot/toolCallId", "callId"];
    let mut ids = keys.iter().filter_map(|key| meta.get(key)?.decode::<String>().ok());
    ids.find(|id| !id.is_empty()).map(Into::into)
}

/// An error accepting a call. The binding answers the agent with it as an error of the tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The agent is not in a turn.
    #[error("no active run")]
    NoActiveRun,
    /// The turn is being cancelled.
    #[error("the run is being cancelled")]
    Cancelled,
    /// The page has no such tool at present.
    #[error("the page has no tool of this name")]
    UnknownTool,
    /// The arguments are not an object.
    #[error("expected an object as arguments")]
    NotAnObject,
    /// The arguments do not match the tool's schema; see [`FrontendToolOptions::check_arguments`].
    #[error("at {pointer}: expected {expected}")]
    Invalid {
        /// The place, as a JSON pointer into the arguments.
        pointer: String,
        /// The expected value.
        expected: String,
    },
    /// The arguments exceed [`FrontendToolOptions::max_arguments`].
    #[error("the arguments are too long")]
    TooLarge,
    /// [`FrontendToolOptions::max_calls`] calls wait, or [`FrontendToolOptions::max_parked`] calls
    /// that no page has seen.
    #[error("too many calls wait for the page")]
    TooMany,
}

/// The result of a page's tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The content.
    pub content: Content,
    /// Whether the tool failed.
    pub is_error: bool,
}

impl ToolResult {
    /// Creates the result of a successful call.
    pub fn new(content: impl Into<Content>) -> Self {
        Self { content: content.into(), is_error: false }
    }

    /// Creates the result of a successful call, with text content.
    pub fn text(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<&ToolMessage> for ToolResult {
    /// A message with an `error` is a failure. Without content, the error becomes the content.
    fn from(message: &ToolMessage) -> Self {
        let is_empty = match &message.content {
            Content::Text(text) => text.is_empty(),
            Content::Parts(parts) => parts.is_empty(),
        };
        let content = match &message.error {
            Some(error) if is_empty => Content::Text(error.clone()),
            _ => message.content.clone(),
        };
        Self { content, is_error: message.error.is_some() }
    }
}

/// The answer to the agent for a call; exactly one for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Outcome {
    /// The page's result.
    Result(ToolResult),
    /// The page has received the call.
    Acked,
    /// The page has not answered yet. Its answer follows in a later message.
    Pending,
    /// The turn was cancelled or has ended.
    Cancelled,
    /// The page did not answer in time.
    TimedOut,
}

impl Outcome {
    /// Returns the outcome as text for the model, and whether it is an error.
    ///
    /// | outcome | text | error |
    /// |---|---|---|
    /// | `Result` | the text of its content | as in the result |
    /// | `Acked` | `The page was told.` <!-- words: ok --> | no |
    /// | `Pending` | `Still pending: the user's answer will arrive in a later message.` | no |
    /// | `Cancelled` | `The call was cancelled.` | yes |
    /// | `TimedOut` | `The page did not answer in time.` | yes |
    pub fn to_text(&self) -> (String, bool) {
        let (text, is_error) = match self {
            Self::Result(result) => return (result.content.text(), result.is_error),
            Self::Acked => ("The page was told.", false),
            Self::Pending => {
                ("Still pending: the user's answer will arrive in a later message.", false)
            }
            Self::Cancelled => ("The call was cancelled.", true),
            Self::TimedOut => ("The page did not answer in time.", true),
        };
        (text.to_owned(), is_error)
    }
}

/// The effect of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Completion {
    /// It is delivered to the agent: as the call's [`Answer`](Action::Answer), or in a later
    /// [prompt](Action::PrefixPrompt) if the call was already answered.
    Delivered,
    /// The call already has a result, or was cancelled.
    AlreadyDone,
    /// No such call exists, or it was forgotten.
    Unknown,
}

/// A call for the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FrontendCall {
    /// Identifier of the call; see [`FrontendTools::handle_begun`].
    pub call_id: ToolCallId,
    /// The tool, by the page's name.
    pub name: String,
    /// The arguments: a JSON object.
    pub arguments: Raw,
    /// The way the tool is run.
    pub mode: ToolMode,
}

/// The next action of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Action {
    /// Shows the call to the page: start, arguments and end
    /// ([`Translator::handle_frontend_call`](crate::Translator::handle_frontend_call)).
    Begin(FrontendCall),
    /// Answers the binding's request for the call. There is one for each call that was not
    /// [withdrawn](FrontendTools::handle_withdrawn).
    Answer {
        /// The call.
        call_id: ToolCallId,
        /// The answer.
        outcome: Outcome,
    },
    /// Ends the run as a success with pending calls
    /// ([`Translator::handle_parked`](crate::Translator::handle_parked)). The turn continues.
    EndRun {
        /// All parked calls in order of creation, including those of earlier runs.
        parked: Vec<ToolCallId>,
    },
    /// Begins the next prompt with this text: a result that arrived after the call was answered
    /// otherwise.
    PrefixPrompt {
        /// The call.
        call_id: ToolCallId,
        /// The text.
        text: String,
    },
    /// Shows the agent that the call is alive, if the agent requested progress.
    KeepAlive {
        /// The call.
        call_id: ToolCallId,
    },
    /// Shows a report that was withheld, as one of the agent's own call: no binding has received
    /// the call ([`Translator::handle_notification`](crate::Translator::handle_notification)).
    Show(Box<SessionNotification>),
    /// As `Show`, for ACP v2.
    ShowV2(Box<UpdateSessionNotification>),
}

/// The owner of a tool call in an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a tool call belongs to one of the two sides")]
pub enum CallOwner {
    /// The agent: pass the update to the translator.
    Agent,
    /// The page, which sees the call by other means, or not known yet: keep the update out of the
    /// stream. If no binding receives the call, [`Action::Show`] has the update.
    Frontend,
}

/// Returns the text of a prompt that delivers a late result.
pub(crate) fn late_text(name: &str, id: &ToolCallId, result: &ToolResult) -> String {
    let mut text = alloc::format!("Result of frontend tool {name} ({id}): ");
    if result.is_error {
        text.push_str("failed: ");
    }
    text.push_str(&result.content.text());
    text
}
