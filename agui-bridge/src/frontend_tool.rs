//! Tools that the page runs, called by an ACP agent.
//!
//! An ACP agent has no word for a page's tools. It is given them by a *binding*: an MCP server for the session, or the
//! extension method of [`contextual_tools`](crate::contextual_tools). [`FrontendTools`] stands between the binding,
//! the agent's updates and the page's stream: it decides when the page sees a call, and what the agent is told, which
//! is one thing, once, for each call.
//!
//! | [`ToolMode`] | the agent gets | the run | for |
//! |---|---|---|---|
//! | `Ack` | at once, that the page was told | goes on | commands: navigate, highlight |
//! | `Park` | the page's result, from a later run's input | ends when nothing else goes on | questions to people; the page needs nothing but AG-UI |
//! | `Sync` | the page's result, during the run | goes on | questions to the page, answered at once |
//!
//! What cannot be done in a mode is done in the next: a synchronous call that is not answered in
//! [`sync_wait`](Options::sync_wait), or whose page is gone, is parked; one that is parked for longer than
//! [`park_wait`](Options::park_wait), or is one too many, is told to be pending, and its result becomes text of a later
//! prompt; one beyond [`max_calls`](Options::max_calls) is refused.
//!
//! It is a state machine without IO: tell it what happened and when, then take what follows. All times count from one
//! moment of the caller's choosing. It can be written as JSON at any time and go on elsewhere.
//!
//! ```
//! use agui_bridge::frontend_tool::{Action, Completion, FrontendTools, NewCall, Options, Outcome, ToolResult};
//! use agui_types::tool::Tool;
//! use core::time::Duration;
//! use jsonrpc_core::wire::Raw;
//!
//! let page = [Tool::new("pick_colour", "Asks the user for a colour.")];
//! let mut tools = FrontendTools::new(Options::new());
//! let at = Duration::from_millis;
//!
//! tools.begin_turn(&page, at(0)); // the run begins, a prompt goes to the agent
//! let args = Raw::from_text(r#"{"of":"the wall"}"#)?;
//! let call = tools.handle_call(NewCall::new("pick_colour", args), at(10))?; // the agent's MCP tools/call
//! let Some(Action::Begin(begin)) = tools.poll_action() else { panic!() }; // START, ARGS, END
//! assert_eq!(begin.name, "pick_colour");
//!
//! tools.tick(at(110)); // nothing else goes on: the run ends, the agent waits
//! assert_eq!(tools.poll_action(), Some(Action::EndRun { parked: vec![call.clone()] }));
//!
//! tools.resume_turn(&page, at(5_000)); // the next run's input has the tool message
//! assert_eq!(tools.complete(&call, ToolResult::text("green"), at(5_000)), Completion::Delivered);
//! assert_eq!(tools.complete(&call, ToolResult::text("green"), at(5_001)), Completion::AlreadyDone);
//! let Some(Action::Answer { outcome: Outcome::Result(result), .. }) = tools.poll_action() else { panic!() };
//! assert_eq!(result.content.text(), "green"); // the answer of the MCP tools/call
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Inputs that answer some of the calls
//!
//! AG-UI has the page answer all calls that a run left before the thread goes on. Where an input answers some of them, the
//! agent gets those, and goes on waiting for the others; when nothing else goes on, the run ends again. Its
//! `pendingToolCallIds` has the calls that this run started and no others, as the specification defines it: the page finds
//! those of earlier runs in its messages, as calls without an answer, and they are answered by any later input.
//!
//! Spec: [`RunFinishedSuccessOutcome`, 1.0](https://ag-ui.com/spec/1.0/schema#runfinishedsuccessoutcome)
//!
//! # One call, two reports
//!
//! Most agents report a call twice: as a request to the binding, and as an ACP tool call. They are one when
//!
//! | the request has | and the agent's tool call | key |
//! |---|---|---|
//! | the agent's id in its `_meta` ([`agent_call_id`]) | has this id | the id |
//! | no such id | is of the same tool and has the same arguments, in any spelling | first announced, first matched |
//! | no such id | is of the same tool | first announced, first matched |
//!
//! Either may come first. The page sees the call when the request comes, under the agent's id where it is known by then;
//! the agent's own reports of it are kept from the stream ([`FrontendTools::handle_update`]). So a call that is
//! announced, and never made because someone did not allow it, is not run by the page.
//!
//! # Where it differs from Jaeger's MCP endpoint on purpose
//!
//! | | Jaeger | here |
//! |---|---|---|
//! | a tool of the page's with the name of one of the agent's | hides it | has a server of its own, `ui` |
//! | a call that the agent also reports | is in the stream twice | is in it once |
//! | a call while no page reads | fails | is taken between two runs of a turn, else fails |
//! | the result | is an acknowledgement, always | by mode |
//! | an acknowledgement | `ui tool "X" dispatched to the browser` | `The page was told.` |
//! | ids of calls | the tool's name, a clock and a counter | the agent's own where it is known, else a counter |
//! | of two tools of a name | the first is listed | the same |
//! | a schema that is not for an object, or none | is `{"type":"object"}` | the same, also one that is too long |
use agui_types::content::Content;
use agui_types::id::ToolCallId;
use agui_types::message::ToolMessage;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::{Meta, Raw};
use serde::{Deserialize, Serialize};

mod binding;
mod correlation;
mod machine;
mod schema;
mod stream;
mod tool_set;
mod updates;

pub use binding::{Binding, Page};
pub use machine::FrontendTools;
pub use tool_set::{ListedTool, MAX_SCHEMA_BYTES, MAX_TOOLS, ToolSet};

/// How a frontend tool is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ToolMode {
    /// The agent is told at once that the page knows.
    Ack,
    /// The agent waits while the run ends; a later run's input has the result.
    #[default]
    Park,
    /// The agent waits while the run goes on; the result comes by a way beside the stream.
    Sync,
}

impl ToolMode {
    /// The mode of this name: `ack`, `park` or `sync`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "ack" => Self::Ack,
            "park" => Self::Park,
            "sync" => Self::Sync,
            _ => return None,
        })
    }
}

/// What the agent gets for a call that was parked for too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Expiry {
    /// [`Outcome::Pending`]: the result, when it comes, is [told](Action::Tell) in a later prompt.
    #[default]
    Pending,
    /// [`Outcome::TimedOut`].
    TimedOut,
}

/// How [`FrontendTools`] works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Options {
    /// The mode of a tool for which nothing else says one; `Park`.
    ///
    /// The first of these that there is: `metadata.execution` of the tool (`ack`, `park` or `sync`), an entry of
    /// `modes`, this.
    pub mode: ToolMode,
    /// Modes by name. A name that ends in `*` stands for all that begin as it does; the first that fits counts.
    pub modes: Vec<(String, ToolMode)>,
    /// What the agent knows the binding's MCP server as; `ui`. Short, because agents put it in front of the names.
    pub server: String,
    /// What contextual tools' names begin with for the agent;
    /// [`PREFIX`](crate::contextual_tools::PREFIX).
    pub prefix: String,
    /// How long a synchronous call waits for its result before it is parked; 30 s.
    pub sync_wait: Duration,
    /// How long a parked call waits; 50 s, because agents give up after a minute and more.
    pub park_wait: Duration,
    /// What happens then.
    pub expiry: Expiry,
    /// How long the agent has to be quiet before a run ends whose calls are parked, so that those it makes in parallel
    /// are in one run; 100 ms.
    pub park_quiet: Duration,
    /// The same while calls of the agent's own are announced and have not begun: some agents make one call after the
    /// other, and these wait for the parked ones; 10 s. Calls of its own that run keep the run open.
    pub stalled_quiet: Duration,
    /// How often the binding is to show the agent that a call that it waits for is alive; 15 s.
    pub keep_alive: Duration,
    /// How many calls are parked at most, and how many wait for the next run to begin; 32.
    pub max_parked: usize,
    /// How many calls are remembered at most, with those whose result is there; 1024.
    pub max_calls: usize,
    /// How many bytes of arguments a call has at most; 1 MiB.
    pub max_arguments: usize,
    /// Whether arguments are held against the schema of their tool, so that the model hears what is wrong and no page does;
    /// it is. Types, required and unknown members, listed values and sizes are looked at; the rest is the page's part.
    pub check_arguments: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: ToolMode::default(),
            modes: Vec::new(),
            server: "ui".to_owned(),
            prefix: crate::contextual_tools::PREFIX.to_owned(),
            sync_wait: Duration::from_secs(30),
            park_wait: Duration::from_secs(50),
            expiry: Expiry::default(),
            park_quiet: Duration::from_millis(100),
            stalled_quiet: Duration::from_secs(10),
            keep_alive: Duration::from_secs(15),
            max_parked: 32,
            max_calls: 1024,
            max_arguments: 1 << 20,
            check_arguments: true,
        }
    }
}

impl Options {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }
}

/// A request of the agent's to run a frontend tool, as a binding got it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NewCall {
    /// The tool, by the name that the binding listed it under, or by the page's.
    pub tool: String,
    /// The arguments: a JSON object.
    pub arguments: Raw,
    /// The agent's id for the call, where the request has it; see [`agent_call_id`].
    pub agent_id: Option<acp_types::v1::tool_calls::ToolCallId>,
}

impl NewCall {
    /// A call without an id of the agent's.
    pub fn new(tool: impl Into<String>, arguments: Raw) -> Self {
        Self { tool: tool.into(), arguments, agent_id: None }
    }
}

/// The agent's id of a tool call, in the `_meta` of the MCP request for it: the first of the keys
/// `claudecode/toolUseId`, `copilot/toolCallId` and `callId` that has a text.
pub fn agent_call_id(meta: &Meta) -> Option<acp_types::v1::tool_calls::ToolCallId> {
    let keys = ["claudecode/toolUseId", "copilot/toolCallId", "callId"];
    let mut ids = keys.iter().filter_map(|key| meta.get(key)?.decode::<String>().ok());
    ids.find(|id| !id.is_empty()).map(Into::into)
}

/// A call was not taken: the binding answers the agent with this error of the tool, and that is the end of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The agent is not in a turn.
    #[error("no active run")]
    NoActiveRun,
    /// The turn is being cancelled.
    #[error("the run is being cancelled")]
    Cancelled,
    /// The page has no such tool now.
    #[error("the page has no tool of this name")]
    UnknownTool,
    /// The arguments are not an object.
    #[error("expected an object as arguments")]
    NotAnObject,
    /// The arguments are not what the tool's schema asks for; see [`Options::check_arguments`].
    #[error("at {pointer}: expected {expected}")]
    Invalid {
        /// Where, as a JSON pointer into the arguments.
        pointer: String,
        /// What was expected.
        expected: String,
    },
    /// The arguments have more bytes than [`Options::max_arguments`].
    #[error("the arguments are too long")]
    TooLarge,
    /// There are [`Options::max_calls`] calls that wait, or [`Options::max_parked`] that no page has seen.
    #[error("too many calls wait for the page")]
    TooMany,
}

/// What a tool of the page came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// What it says.
    pub content: Content,
    /// Whether it failed.
    pub is_error: bool,
}

impl ToolResult {
    /// What a tool that did not fail says.
    pub fn new(content: impl Into<Content>) -> Self {
        Self { content: content.into(), is_error: false }
    }

    /// [`new`](Self::new), of a text.
    pub fn text(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<&ToolMessage> for ToolResult {
    /// A message with an `error` failed; where it has no content, the error is what it says.
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

/// What the agent is told of a call; once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Outcome {
    /// The page's result.
    Result(ToolResult),
    /// The page was told.
    Acked,
    /// The page has not answered yet; its answer will be in a later message.
    Pending,
    /// The turn is cancelled, or over.
    Cancelled,
    /// The page did not answer in time.
    TimedOut,
}

impl Outcome {
    /// The outcome in words, for a binding's answer to the model.
    ///
    /// | outcome | text | error |
    /// |---|---|---|
    /// | `Result` | of its content | as it says |
    /// | `Acked` | `The page was told.` | no |
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

/// What became of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Completion {
    /// It goes to the agent: as the call's [`Answer`](Action::Answer), or, where the call had another already, in a later
    /// [prompt](Action::Tell).
    Delivered,
    /// The call had its result, or was cancelled.
    AlreadyDone,
    /// There is no such call; or it is so old that it was forgotten.
    Unknown,
}

/// A call that the page sees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FrontendCall {
    /// Names the call; see [`FrontendTools::handle_begun`].
    pub call_id: ToolCallId,
    /// The tool, by the page's name.
    pub name: String,
    /// The arguments: a JSON object.
    pub arguments: Raw,
    /// How it is run.
    pub mode: ToolMode,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Action {
    /// The page is to see the call: start, arguments and end
    /// ([`Translator::handle_frontend_call`](crate::Translator::handle_frontend_call)).
    Begin(FrontendCall),
    /// The binding is to answer its request for the call. There is one for each call, unless it was
    /// [withdrawn](FrontendTools::handle_withdrawn).
    Answer {
        /// The call.
        call_id: ToolCallId,
        /// The answer.
        outcome: Outcome,
    },
    /// The run is to end as a success whose calls are pending
    /// ([`Translator::handle_parked`](crate::Translator::handle_parked)). The turn goes on.
    EndRun {
        /// All calls that are parked, in the order they were made; also those of earlier runs.
        parked: Vec<ToolCallId>,
    },
    /// The next prompt is to begin with this text: a result came after the agent was told something else.
    Tell {
        /// The call.
        call_id: ToolCallId,
        /// The text.
        text: String,
    },
    /// The binding is to show the agent that the call is alive, if the agent asked for progress.
    KeepAlive {
        /// The call.
        call_id: ToolCallId,
    },
    /// The agent announced a call of a frontend tool and ended it without making it. The page did not see it.
    NotMade {
        /// The agent's id.
        tool_call_id: acp_types::v1::tool_calls::ToolCallId,
        /// The tool, by the page's name.
        name: String,
        /// How it ended, in the agent's word.
        status: String,
    },
}

/// Whose an update is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The agent's: it goes to the translator.
    Agent,
    /// It reports a frontend call, which the page sees by other means: it stays out of the stream.
    Frontend,
}

/// Text content for a prompt that brings a result late.
pub(crate) fn late_text(name: &str, id: &ToolCallId, result: &ToolResult) -> String {
    let mut text = alloc::format!("Result of frontend tool {name} ({id}): ");
    if result.is_error {
        text.push_str("failed: ");
    }
    text.push_str(&result.content.text());
    text
}
