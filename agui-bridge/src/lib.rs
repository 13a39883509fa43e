//! Translates ACP agent traffic into AG-UI event streams, and AG-UI input into ACP prompts, without IO.
//!
//! A page speaks AG-UI: it posts a run's input and reads a stream of events. A coding agent speaks ACP: it takes
//! prompts and sends session updates. Between them stand two things:
//!
//! - [`input::work`] finds in a run's input what is new for the agent, as a prompt;
//! - [`Translator`] turns what the agent sends into the run's events, whatever it sends and in whatever order.
//!
//! Beside them:
//!
//! | to | use |
//! |---|---|
//! | have the agent use the page's tools | [`frontend_tool`]; as Jaeger's sidecars do, [`contextual_tools`] |
//! | make an AG-UI agent of a model and its tools, without ACP | [`hybrid_tools`], [`chat_history`] |
//! | drive an AG-UI agent from an editor that speaks ACP | [`acp_agent`] |
//!
//! A whole turn:
//!
//! ```
//! use acp_types::v1::initialization::PromptCapabilities;
//! use agui_bridge::input::{Work, work};
//! use agui_bridge::{Begun, Options, Translator};
//! use agui_types::{sse, verify::Verifier};
//! use jsonrpc_core::wire;
//!
//! let posted = r#"{"threadId":"t","runId":"r","protocolVersion":"1.0",
//!     "messages":[{"id":"u","role":"user","content":"What is in notes.txt?"}]}"#;
//! let input = wire::decode(posted)?;
//! let Work::Prompt(prompt) = work(&input, &PromptCapabilities::new(), None)? else { panic!("nothing new") };
//!
//! let mut translator = Translator::new(Options::new());
//! assert_eq!(translator.begin_run(&input, &prompt.blocks)?, Begun::Prompt);
//! // Here `prompt.blocks` goes to the agent as `session/prompt`. What it sends until its answer:
//! for update in [
//!     r#"{"sessionUpdate":"tool_call","toolCallId":"c","title":"Read notes.txt","kind":"read"}"#,
//!     r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","rawOutput":"Milk"}"#,
//!     r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"It says: milk."}}"#,
//! ] {
//!     let params = format!(r#"{{"sessionId":"s","update":{update}}}"#);
//!     translator.handle_notification(wire::decode(&params)?);
//! }
//! translator.handle_prompt_response(Ok(wire::decode(r#"{"stopReason":"end_turn"}"#)?));
//!
//! let (mut verifier, mut body) = (Verifier::strict_for(&input), Vec::new());
//! while let Some(event) = translator.poll_event() {
//!     verifier.handle(&event)?;
//!     sse::write_event(&mut body, &event)?;
//! }
//! verifier.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What becomes what
//!
//! [Legacy](agui_types::profile::Profile::Legacy) clients, those before 1.0, get what they can take; "the same" is what
//! clients of 1.0 get, without `metadata`.
//!
//! | ACP v1 | AG-UI 1.0 | legacy |
//! |---|---|---|
//! | `agent_message_chunk`, text | `TEXT_MESSAGE_START`, `_CONTENT`, `_END` | the same |
//! | `agent_thought_chunk`, text | `REASONING_START`, `REASONING_MESSAGE_START`, `_CONTENT`, `_END`, `REASONING_END` | the same |
//! | `user_message_chunk` | nothing for what repeats the prompt, else a message of role `user` | the same |
//! | resource link in a chunk | text: a Markdown link, or the name as code | the same |
//! | image, audio, resource in a chunk | `ACTIVITY_SNAPSHOT` `acp.content` `{part}` | `CUSTOM` `acp.content` |
//! | other content in a chunk | `CUSTOM` `acp.unknown_content` `{part}` | the same |
//! | `tool_call`, `tool_call_update`, `toolCall` of a permission request: an id that is new | `TOOL_CALL_START` | the same |
//! | … title, kind, status, locations, content | `ACTIVITY_SNAPSHOT` `acp.tool` | nothing |
//! | … `rawInput` | `TOOL_CALL_ARGS`, once ([`ArgsMode`]), then `TOOL_CALL_END` | the same |
//! | … another `rawInput` after that | `CUSTOM` `acp.tool_call.args_changed` | the same |
//! | … `completed`, `failed` | `TOOL_CALL_RESULT`, once | the same, text only |
//! | … output after that | `CUSTOM` `acp.tool_call.late` | nothing |
//! | a call of the page's tools, by [`Translator::handle_frontend_call`] | `TOOL_CALL_START`, `TOOL_CALL_ARGS`, `TOOL_CALL_END`; pending at the run's end | the same |
//! | … that was announced and not made | `CUSTOM` `acp.tool_call.not_made` `{toolCallId,name,status}` | the same |
//! | `session/request_permission` | `CUSTOM` `acp.permission.requested`, `acp.permission.resolved`; by policy `acp.permission` | the same |
//! | `plan` | `ACTIVITY_SNAPSHOT` `PLAN` | `CUSTOM` `acp.plan` |
//! | `usage_update` | `CUSTOM` `acp.usage` | the same, the last one |
//! | `available_commands_update` | `CUSTOM` `acp.commands` | the same |
//! | `current_mode_update` | `CUSTOM` `acp.mode` | the same |
//! | `config_option_update` | `CUSTOM` `acp.config_options` | the same |
//! | `session_info_update` | `CUSTOM` `acp.session_info` | the same |
//! | `notice` | `CUSTOM` `acp.notice` | the same |
//! | `compaction_update`, `compaction_summary_chunk` | `CUSTOM` `acp.compaction` | the same |
//! | any other update | `CUSTOM` `acp.unknown` | the same |
//! | updates that came while no run was open | the same events, at the head of the next run | the same |
//! | a new session in a conversation that has begun | `CUSTOM` `acp.notice`, see [`Translator::handle_new_session`] | the same |
//! | updates that had to be forgotten meanwhile | `CUSTOM` `acp.dropped` `{updates}` | the same |
//! | the prompt's answer | `RUN_FINISHED` or `RUN_ERROR`, by [a table](Translator::handle_prompt_response) | by the same table |
//!
//! What ACP says beyond AG-UI's members is in `metadata` under `acp`: of a message its `_meta` and annotations; of
//! `TOOL_CALL_START` title, kind, status, locations and source (`agent`, `mcp:<server>` or `frontend`); of `TOOL_CALL_RESULT` the
//! status and arguments that changed; of `RUN_ERROR` the number of the error.
//!
//! # Identifiers
//!
//! | of | is |
//! |---|---|
//! | a message | `msg-` and the chunk's `messageId`, else a number; `.2`, `.3`, … for each further segment |
//! | a thought, its span | `rsn-`, `rsp-`, and the same |
//! | a tool call | `toolCallId`; `~2`, `~3`, … where the thread has used it |
//! | a tool call's result, its activity | `res-`, `act-tool-`, and the call's |
//! | a plan | `act-plan-` and the session's |
//! | a permission request | [`Options::interrupt_prefix`] and a number |
//!
//! # Tool calls
//!
//! A call's name is the first of: `name`; `_meta.claudeCode.toolName`, `_meta.toolName`, `_meta.tool_name`; a title that
//! is an MCP name; the kind, unless it is `other`; the title in lower case with `_` for what is neither letter nor
//! digit; `tool`. `mcp__server__tool` and `mcp_server_tool` are `tool` of source `mcp:server`. Where the page offers a
//! tool of that name, so that it would take the call for its own, `agent__` or `mcp__server__` stands in front.
//!
//! A status never goes back. A call belongs to the message that came before it in the same step of the model, or to a
//! message of its own. The result is the content's text (a diff in the unified format, a terminal as
//! `[terminal <id>]`), else `rawOutput`: a string verbatim, the content of an MCP result, any other value as JSON. A
//! call that the agent leaves open gets its result when the run ends:
//!
//! | the call | result | status |
//! |---|---|---|
//! | was rejected | `rejected by user`, `rejected by policy` | `failed` |
//! | was open when the run was cancelled | `cancelled` | `cancelled` |
//! | was open | what it said so far and `[incomplete]`, or `incomplete` | `incomplete` |
//!
//! Spec: [ACP, version 1](https://agentclientprotocol.com/protocol/v1/overview), [AG-UI 1.0](https://ag-ui.com/spec/1.0)
#![no_std]

extern crate alloc;

pub mod acp_agent;
mod arguments;
pub mod chat_history;
mod compaction;
mod content;
pub mod contextual_tools;
mod elicitation;
mod fast_text;
pub mod frontend_tool;
pub mod hybrid_tools;
mod ids;
pub mod input;
mod interrupt;
mod json;
mod limits;
mod options;
mod permission;
mod plan;
mod produced;
mod projection;
mod question;
pub mod quirks;
mod replay;
mod result;
mod state;
mod stop;
mod subagent;
mod terminal;
mod text;
mod timestamp;
mod tool_call;
mod tool_name;
mod translator;
mod unified_diff;
mod usage;
mod v2;
mod whole_message;

pub use arguments::ArgsMode;
pub use elicitation::ElicitationMode;
pub use fast_text::FastText;
pub use interrupt::Begun;
pub use limits::Limits;
pub use options::{Options, Times, Unanswered};
pub use permission::{PermissionAnswer, PermissionMode, Policy};
pub use question::{Answer, AnswerError, Response};
pub use stop::Failure;
pub use translator::{RunOpen, Translator};

/// The examples of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
