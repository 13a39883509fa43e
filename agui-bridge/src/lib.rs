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
//! use agui_bridge::jsonrpc_core::wire;
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
//! | ACP | AG-UI 1.0 | legacy |
//! |---|---|---|
//! | `agent_message_chunk`, text | `TEXT_MESSAGE_START`, `_CONTENT`, `_END` | the same |
//! | `agent_thought_chunk`, text | `REASONING_START`, `REASONING_MESSAGE_START`, `_CONTENT`, `_END`, `REASONING_END` | the same |
//! | `user_message_chunk` | nothing for what repeats the prompt, else a message of role `user` | the same |
//! | `agent_message`, `agent_thought`, `user_message` (v2) | what is new of them; rewritten: `MESSAGES_SNAPSHOT` ([`Options::history`]), else `CUSTOM` `acp.message.changed` | the same |
//! | resource link in a chunk | text: a Markdown link, or the name as code | the same |
//! | image, audio, resource in a chunk | `ACTIVITY_SNAPSHOT` `acp.content` `{part}` | `CUSTOM` `acp.content` |
//! | other content in a chunk | `CUSTOM` `acp.unknown_content` `{part}` | the same |
//! | `tool_call`, `tool_call_update`, `toolCall` of a permission request: an id that is new | `TOOL_CALL_START` | the same |
//! | … title, kind, status, locations, content, `tool_call_content_chunk` (v2) | `ACTIVITY_SNAPSHOT` `acp.tool`; `ACTIVITY_DELTA` where most stays as it was | nothing |
//! | … `rawInput` | `TOOL_CALL_ARGS` ([`ArgsMode`]), then `TOOL_CALL_END` | the same |
//! | … no `rawInput` by the end of the call or of the run | `TOOL_CALL_ARGS` `{}`, then `TOOL_CALL_END` | the same |
//! | … another `rawInput` after that | `CUSTOM` `acp.tool_call.args_changed` | the same |
//! | … `completed`, `failed`, `cancelled` (v2) | `TOOL_CALL_RESULT`, once | the same, text only |
//! | … output after that, anything in a later run | `CUSTOM` `acp.tool_call.late` | nothing |
//! | `terminal_update`, `terminal_output_chunk` (v2), `_meta.terminal_*` of a call | `ACTIVITY_SNAPSHOT` `acp.terminal`; the end of the output in the call's result | in the result |
//! | `session/request_permission` | by mode ([`PermissionMode`]): outcome `interrupt`; `CUSTOM` `acp.permission.requested`, `.resolved`; `acp.permission` | never an interrupt |
//! | `elicitation/create`, `elicitation/complete` | by mode ([`ElicitationMode`]): the same with `acp.elicitation`; `CUSTOM` `acp.elicitation.completed` | never an interrupt |
//! | `plan` | `ACTIVITY_SNAPSHOT` `PLAN` | `CUSTOM` `acp.plan` |
//! | `plan_update`, `plan_removed` | the same, one for each plan; `{planId, removed: true}` | the same |
//! | `compaction_update`, `compaction_summary_chunk` | `ACTIVITY_SNAPSHOT` `acp.compaction` | `CUSTOM` `acp.compaction` |
//! | `subagent_update` | `SUBAGENT_STARTED`, `_FINISHED`, `_ERROR` | nothing |
//! | updates of a subagent's session | the events that they are, with `subagentRunId` | without |
//! | `session_message`, `session_message_chunk` | a message of role `assistant` | the same |
//! | `usage_update` | `CUSTOM` `acp.usage`, or state `/acp/usage` ([`Options::state`]) | `CUSTOM`, the last one |
//! | `available_commands_update` | `CUSTOM` `acp.commands`, or state `/acp/commands` | `CUSTOM` |
//! | `current_mode_update` | `CUSTOM` `acp.mode`, or state `/acp/mode` | `CUSTOM` |
//! | `config_option_update` | `CUSTOM` `acp.config_options`, or state `/acp/configOptions` | `CUSTOM` |
//! | `session_info_update` | `CUSTOM` `acp.session_info`, and state `/acp/session` | `CUSTOM` |
//! | `notice` | `CUSTOM` `acp.notice` | the same |
//! | any other update | `CUSTOM` `acp.unknown` | the same |
//! | a notification beside the protocol, if [listed](Options::extensions) | `CUSTOM` `acp.ext:METHOD` | the same |
//! | updates that came while no run was open | the same events, at the head of the next run | the same |
//! | updates between `session/load` and its answer | one `MESSAGES_SNAPSHOT`, see [`Translator::begin_replay`] | the same |
//! | a new session in a conversation that has begun | `CUSTOM` `acp.notice`, see [`Translator::handle_new_session`] | the same |
//! | updates that had to be forgotten meanwhile | `CUSTOM` `acp.dropped` `{updates}` | the same |
//! | the prompt's answer; `state_update` `idle` (v2) | `RUN_FINISHED` or `RUN_ERROR`, by [a table](Translator::handle_prompt_response) | by the same table |
//! | a failure of a run that [answers interrupts](Translator::begin_run) | `CUSTOM` `acp.notice`, `RUN_FINISHED` | the same |
//!
//! What ACP says beyond AG-UI's members is in `metadata` under `acp`: of a message its `_meta` and annotations; of
//! `TOOL_CALL_START` title, kind, status, locations and source (`agent`, `mcp:<server>`, `frontend`); of
//! `TOOL_CALL_RESULT` the status and arguments that changed; of `RUN_ERROR` the number of the error; of an interrupt what
//! the agent offers.
//!
//! # Where other bridges do otherwise
//!
//! | behaviour | of | here | why |
//! |---|---|---|---|
//! | one message for all text of a run, open across tool calls | Jaeger | a message ends before a tool call, and another follows | clients place later text where its message began, above the call |
//! | chunks of blanks are dropped | Jaeger | they are kept; only empty ones are dropped | they are the paragraphs of the text |
//! | a title is the tool's name | Jaeger | it is the last resort | titles have paths and prose in them |
//! | each `rawInput` is an `ARGS` | Jaeger | arguments go out once | pieces are joined: `{"q":1}{"q":1}` is no JSON |
//! | `RESULT` before `END`, updates without a `START` | Jaeger | `START`, `ARGS`, `END`, `RESULT`, whatever comes | the strictest clients fail on any other order |
//! | calls that never end stay open | Jaeger | they end with a result that says so | clients fail on a run that finishes with an open call |
//! | permission is given | Jaeger | it is refused unless a rule or a person gives it | nobody asked for the risk |
//! | every stop reason is a success | Jaeger | refusals are errors, cancelled runs are cancelled | a page could not tell |
//! | results of a page's own calls go into the stream | some | they do not | a page that sees a result does not run its tool |
//! | `Custom` as an event's type; two `RUN_FINISHED`; `RUN_FINISHED` after `RUN_ERROR` | OpenSearch | `CUSTOM`; one end | clients of 0.x fail |
//! | only the first of parallel calls runs | OpenSearch | each has its place | the others are lost |
//! | a new session for each turn | Jaeger | one for each thread, told again when it is loaded | agents remember |
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
//! | a terminal, a compaction, a subagent's invocation | `act-terminal-`, `act-compaction-`, `sub-`, and the agent's |
//! | a question | [`Options::interrupt_prefix`] and a number |
//!
//! # Tool calls
//!
//! A call's name is the first of: `name`; `_meta.claudeCode.toolName`, `_meta.toolName`, `_meta.tool_name`; a title that
//! is an MCP name; the kind, unless it is `other`; a name and `: ` at the head of the title; the title in lower case
//! with `_` for what is neither letter nor digit; `tool`. `mcp__server__tool` and `mcp_server_tool` are `tool` of source `mcp:server`. Where the page offers a
//! tool of that name, so that it would take the call for its own, `agent__` or `mcp__server__` stands in front.
//!
//! A status never goes back. A call belongs to the message that came before it in the same step of the model, or to a
//! message of its own. The result is the content's text (a diff in the unified format, a terminal as
//! `[terminal <id>]`), else `rawOutput`: a string verbatim, content blocks, the content of an MCP result, what a command
//! of Codex wrote, any other value as JSON. What only a permission request showed, and a terminal that wrote nothing,
//! stand behind `rawOutput`. A call that failed without a word says who denied it, where somebody did. A call that the
//! agent leaves open gets its result when the run ends:
//!
//! | the call | result | status |
//! |---|---|---|
//! | was rejected | `rejected by user`, `rejected by policy`, `not answered in time` | `failed` |
//! | was not decided upon, or was open when the run was cancelled | `cancelled` | `cancelled` |
//! | was open | what it said so far and `[incomplete]`, or `incomplete` | `incomplete` |
//!
//! Spec: [ACP, version 1](https://agentclientprotocol.com/protocol/v1/overview), [AG-UI 1.0](https://ag-ui.com/spec/1.0)
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

pub mod acp_agent;
mod answer_error;
mod arguments;
pub mod chat_history;
mod compaction;
mod content;
pub mod contextual_tools;
pub mod conversation;
mod echo;
mod elicitation;
mod fast_text;
mod frame;
pub mod frontend_tool;
pub mod hub;
pub mod hybrid_tools;
mod ids;
pub mod input;
mod json;
mod limits;
mod options;
mod outbox;
mod permission;
mod plan;
mod produced;
mod projection;
mod questions;
pub mod quirks;
mod result;
mod runs;
mod session;
mod subagents;
mod terminal;
mod timestamp;
mod tool_call;
mod tool_name;
mod translator;
mod turn_end;
mod unified_diff;
mod update;
mod usage;
mod waiting;

pub use jsonrpc_core;

pub use answer_error::AnswerError;
pub use arguments::ArgsMode;
pub use elicitation::ElicitationMode;
pub use fast_text::FastText;
pub use limits::Limits;
pub use options::{Options, Times, Unanswered};
pub use permission::{PermissionAnswer, PermissionMode, Policy};
pub use questions::{Answer, Response};
pub use translator::{Begun, RunOpen, Translator};
pub use turn_end::Failure;

/// The examples of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
