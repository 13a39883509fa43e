//! Bridge between ACP agents and AG-UI pages, without I/O.
//!
//! A page speaks AG-UI: it posts the input of a run and reads a stream of events. A coding agent
//! speaks ACP: it takes prompts and sends session updates. This crate translates between the two.
//! It performs no I/O and reads no clock: the same input gives the same events.
//!
//! ```toml
//! [dependencies]
//! acp-types = "0.1"
//! agui-bridge = "0.1"
//! agui-types = "0.1"
//! ```
//!
//! # Where to start
//!
//! | To | use |
//! |---|---|
//! | connect pages to an agent, with threads, queues and logs of runs | [`hub::Hub`] |
//! | manage one thread over a connection of your own | [`conversation::Conversation`] |
//! | translate the messages of one session | [`Translator`], [`input::work`] |
//! | decide what an edited conversation means for a session | [`input::SessionMemory`] |
//! | let the agent call tools of the page | [`frontend_tool`]; [`contextual_tools`] with the protocol of Jaeger |
//! | build an AG-UI agent from a model and its tools, without ACP | [`hybrid_tools`], [`chat_history`] |
//! | drive an AG-UI agent from an editor that speaks ACP | [`acp_agent`] |
//!
//! # A hub
//!
//! A [`Hub`](hub::Hub) has one agent connection and any number of threads. The program moves lines
//! between the hub and the agent, and inputs and frames between the hub and its pages:
//!
//! ```
//! use acp_types::client;
//! use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
//! use agui_bridge::conversation::ConversationOptions;
//! use agui_bridge::hub::{Hub, HubOptions};
//! use agui_bridge::jsonrpc_core::wire::decode;
//! use agui_types::input::RunAgentInput;
//! use agui_types::run_log::{LogRead, RunLog, RunLogLimits};
//! use core::time::Duration;
//!
//! let now = Duration::ZERO; // time since the start of the program
//! let mut hub = Hub::new(HubOptions::new(ConversationOptions::new("/work")));
//! hub.connect(client::Options::v1(InitializeRequest::new(ProtocolVersion::V1)), now);
//!
//! let posted = r#"{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"Hi"}]}"#;
//! let input: RunAgentInput = decode(posted)?;
//! let mut log = RunLog::new(&input, RunLogLimits { events: 20_000, bytes: 8 << 20 });
//! hub.handle_run("t", input, now)?;
//!
//! // Lines from the agent's standard output:
//! hub.handle_line(Ok(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#), now);
//! hub.handle_line(Ok(r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#), now);
//! hub.handle_line(Ok(r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#), now);
//!
//! while let Some(line) = hub.poll_transmit() {
//!     let _ = line; // write it to the agent's standard input
//! }
//! while let Some(event) = hub.poll_run() {
//!     event.append_to(&mut log)?; // readers of the run write what they have not read to responses
//! }
//! let LogRead::Frames(frames) = log.read(0, 64 << 10) else { return Err("no frames".into()) };
//! assert!(frames.bytes.starts_with(b"id: r:1\ndata: {\"type\":\"RUN_STARTED\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A turn without a hub
//!
//! [`input::work`] finds the new messages of an input as a prompt. [`Translator`] turns the agent's
//! messages into the events of the run:
//!
//! ```
//! use acp_types::v1::initialization::PromptCapabilities;
//! use agui_bridge::input::{Work, work};
//! use agui_bridge::{Options, Translator, TurnStart};
//! use agui_types::{sse, verify::Verifier};
//! use agui_bridge::jsonrpc_core::wire;
//!
//! let posted = r#"{"threadId":"t","runId":"r","protocolVersion":"1.0",
//!     "messages":[{"id":"u","role":"user","content":"What is in notes.txt?"}]}"#;
//! let input = wire::decode(posted)?;
//! let Work::Prompt(prompt) = work(&input, &PromptCapabilities::new(), None)? else { panic!("nothing new") };
//!
//! let mut translator = Translator::new(Options::new());
//! assert_eq!(translator.begin_run(&input, &prompt.blocks)?, TurnStart::Prompt);
//! // Send `prompt.blocks` to the agent as `session/prompt`. Until the response it sends updates:
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
//! # Features
//!
//! | Feature | adds |
//! |---|---|
//! | `async` | `hybrid_tools::runner`: runs an async model with async tools, on any runtime; off by default |
//!
//! # Mapping
//!
//! [Legacy](agui_types::profile::Profile::Legacy) clients are those before 1.0. "The same" means
//! the events of 1.0 clients, without `metadata`.
//!
//! | ACP | AG-UI 1.0 | legacy |
//! |---|---|---|
//! | `agent_message_chunk`, text | `TEXT_MESSAGE_START`, `_CONTENT`, `_END` | the same |
//! | `agent_thought_chunk`, text | `REASONING_START`, `REASONING_MESSAGE_START`, `_CONTENT`, `_END`, `REASONING_END` | the same |
//! | `user_message_chunk` | none for a repetition of the prompt, otherwise a message of role `user` | the same |
//! | `agent_message`, `agent_thought`, `user_message` (v2) | their new part; if rewritten `MESSAGES_SNAPSHOT` ([`Options::history`]) or `CUSTOM` `acp.message.changed` | the same |
//! | resource link in a chunk | text: a Markdown link, or the name as code | the same |
//! | a skill in a chunk of the user (v2) | text: `/` and its name | the same |
//! | image, audio, resource in a chunk | `ACTIVITY_SNAPSHOT` `acp.content` `{part}` | `CUSTOM` `acp.content` |
//! | other content in a chunk | `CUSTOM` `acp.unknown_content` `{part}` | the same |
//! | `tool_call`, `tool_call_update`, `toolCall` of a permission request, with a new id | `TOOL_CALL_START` | the same |
//! | … title, kind, status, locations, content, `tool_call_content_chunk` (v2) | `ACTIVITY_SNAPSHOT` `acp.tool`; `ACTIVITY_DELTA` for small changes | none |
//! | … `rawInput` | `TOOL_CALL_ARGS` ([`ArgsMode`]), then `TOOL_CALL_END` | the same |
//! | … no `rawInput` before the end of the call or of the run | `TOOL_CALL_ARGS` `{}`, then `TOOL_CALL_END` | the same |
//! | … a different `rawInput` after that | `CUSTOM` `acp.tool_call.args_changed` | the same |
//! | … `completed`, `failed`, `cancelled` (v2) | `TOOL_CALL_RESULT`, once | the same, text only |
//! | … output after that, anything in a later run | `CUSTOM` `acp.tool_call.late` | none |
//! | `terminal_update`, `terminal_output_chunk` (v2), `_meta.terminal_*` of a call | `ACTIVITY_SNAPSHOT` `acp.terminal`; the end of the output in the call's result | in the result |
//! | `session/request_permission` | by mode ([`PermissionMode`]): outcome `interrupt`; `CUSTOM` `acp.permission.requested`, `.resolved`; `acp.permission`; the last two with [`answeredBy`](AnsweredBy) | an interrupt only with [`Options::legacy_interrupts`] |
//! | `elicitation/create`, `elicitation/complete` | by mode ([`ElicitationMode`]): the same with `acp.elicitation`; `CUSTOM` `acp.elicitation.completed` | an interrupt only with [`Options::legacy_interrupts`] |
//! | `plan` | `ACTIVITY_SNAPSHOT` `PLAN` | `CUSTOM` `acp.plan` |
//! | `plan_update`, `plan_removed` | the same, one for each plan; `{planId, removed: true}` | the same |
//! | `compaction_update`, `compaction_summary_chunk` | `ACTIVITY_SNAPSHOT` `acp.compaction` | `CUSTOM` `acp.compaction` |
//! | `subagent_update`; `state_update` of a subagent's session (v2) | `SUBAGENT_STARTED`, `_FINISHED`, `_ERROR` | none |
//! | updates of a subagent's session | the same events with `subagentRunId` | without it |
//! | `session_message`, `session_message_chunk` | a message of role `assistant` | the same |
//! | `usage_update` | `CUSTOM` `acp.usage`, or state `/acp/usage` ([`Options::state`]) | `CUSTOM`, the last one |
//! | `available_commands_update` | `CUSTOM` `acp.commands`, or state `/acp/commands` | `CUSTOM` |
//! | `current_mode_update` | `CUSTOM` `acp.mode`, or state `/acp/mode` | `CUSTOM` |
//! | `config_option_update` | `CUSTOM` `acp.config_options`, or state `/acp/configOptions` | `CUSTOM` |
//! | `prompt_suggestions_update` | `CUSTOM` `acp.suggestions`, or state `/acp/suggestions` | `CUSTOM` |
//! | `session_info_update` | `CUSTOM` `acp.session_info`, and state `/acp/session` | `CUSTOM` |
//! | `notice` | `CUSTOM` `acp.notice` | the same |
//! | `cursor_update` | `CUSTOM` `acp.cursor`; none in a [`conversation`] that [forks](input::Rules::cursors) there | the same |
//! | `replay_complete` (v2) | none | none |
//! | any other update | `CUSTOM` `acp.unknown` | the same |
//! | an extension notification, if [listed](Options::extensions) | `CUSTOM` `acp.ext:METHOD` | the same |
//! | updates while no run is open | the same events, at the beginning of the next run | the same |
//! | a turn without a prompt, see [`Translator::has_activity`] | the same events, in a run without a prompt until the turn ends | the same |
//! | parts of the conversation between `session/load` and its response | one `MESSAGES_SNAPSHOT` if they add to the input's messages, see [`Translator::begin_replay`] | the same |
//! | … after the response, as far as they repeat the thread; a last answer that was cut off is shown again | none | the same |
//! | a new session in a conversation that has begun | `CUSTOM` `acp.notice`, see [`Translator::handle_new_session`] | the same |
//! | updates dropped because of a limit | `CUSTOM` `acp.dropped` `{updates}` | the same |
//! | the response to the prompt; `state_update` `idle` (v2) | `RUN_FINISHED` or `RUN_ERROR`, by [a table](Translator::handle_prompt_response) | by the same table |
//! | a failure of a run that [answers interrupts](Translator::begin_run) | `CUSTOM` `acp.notice`, `RUN_FINISHED` | the same |
//!
//! Members of ACP without an equivalent are in `metadata` under `acp`: `_meta` and annotations of a
//! message; title, kind, status, locations, source (`agent`, `mcp:<server>`, `frontend`) and
//! `parentToolCallId` (the call of the subagent that made the call, from
//! `_meta.claudeCode.parentToolUseId`) of `TOOL_CALL_START`; status and changed arguments of
//! `TOOL_CALL_RESULT`; the error number of `RUN_ERROR`; the options of an interrupt, and what it is
//! about:
//!
//! | permission request | `metadata.acp`, value of `acp.permission.requested` |
//! |---|---|
//! | `toolCall` (v1), subject `tool_call` (v2) | `toolCall`: title, name, kind, `rawInput`, content, locations of the request; those that it lacks of the call at that time |
//! | subject `command` (v2) | `subject`, and the command in the message |
//! | any other subject (v2) | `subject` as JSON, also in the message |
//! | `title`, `description` (v2) | the same, also in the message |
//!
//! # Identifiers
//!
//! | item | identifier |
//! |---|---|
//! | a message | `msg-` and the chunk's `messageId`, otherwise [`Options::id_scope`] and a number; `.2`, `.3`, … for each further segment |
//! | a thought, its span | `rsn-`, `rsp-`, and the same |
//! | a tool call | `toolCallId`; `~2`, `~3`, … for each further call with it in the thread |
//! | a tool call's result, its activity | `res-`, `act-tool-`, and the call's |
//! | a plan | `act-plan-` and the session's |
//! | a terminal, a compaction, a subagent's invocation | `act-terminal-`, `act-compaction-`, `sub-`, and the agent's |
//! | a question | [`Options::interrupt_prefix`] and a number |
//!
//! # Tool calls
//!
//! A call's name is the first of: `name`; `_meta.claudeCode.toolName`, `_meta.toolName`,
//! `_meta.tool_name`; a title that is an MCP name; the kind, unless it is `other`; a name and `: `
//! at the head of the title; the title in lower case with `_` for other characters than letters and
//! digits; `tool`. `mcp__server__tool` and `mcp_server_tool` are `tool` of source `mcp:server`. If
//! the page provides a tool of that name, and would run the call, the name is prefixed with
//! `agent__` or `mcp__server__`.
//!
//! A status never goes back. After the agent has ended a call, its id belongs to the next call that
//! begins with a `tool_call`, with a permission request, or with a `tool_call_update` that has a
//! status before the end and a title, name, kind or `rawInput`. Only a first `tool_call` that
//! describes the ended call as updates and requests did is about that call. A call that the end of
//! a run has completed keeps its id until a `tool_call` or a permission request of a later turn.
//!
//! A call belongs to the message before it in the same step of the model, or to a message of its
//! own. The result is the content's text (a diff in the unified format, a terminal as `[terminal
//! <id>]`), otherwise `rawOutput`: a string verbatim, content blocks, the content of an MCP result,
//! the output of a Codex command, any other value as JSON. `rawOutput` takes precedence over
//! content of a permission request, and over a terminal without output. The result of a call that
//! failed without output has the reason for its denial, if any. A call that the agent leaves open
//! receives its result when the run ends:
//!
//! | the call | result | status |
//! |---|---|---|
//! | was rejected | `rejected by user`, `rejected by policy`, `not answered in time` | `failed` |
//! | was undecided, also because the next message left its question, or open when the run was cancelled | `cancelled` | `cancelled` |
//! | was open | its output so far and `[incomplete]`, or `incomplete` | `incomplete` |
//!
//! Spec: [ACP, version 1](https://agentclientprotocol.com/protocol/v1/overview), [AG-UI
//! 1.0](https://ag-ui.com/spec/1.0)
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::exhaustive_enums)]

extern crate alloc;

pub mod acp_agent;
mod answer_error;
mod answered_by;
mod arguments;
mod cancel_reason;
pub mod chat_history;
mod compaction;
mod content;
pub mod contextual_tools;
pub mod conversation;
mod echo;
mod elicitation;
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
mod reason;
mod result;
mod runs;
mod session;
mod sign_in;
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
pub use answered_by::AnsweredBy;
pub use arguments::ArgsMode;
pub use cancel_reason::CancelReason;
pub use elicitation::ElicitationMode;
pub use limits::Limits;
pub use options::{Options, Times, UnansweredPolicy};
pub use permission::{PermissionAnswer, PermissionDecision, PermissionMode, Policy};
pub use questions::{Answer, Response};
pub use reason::{excerpt, reason};
pub use sign_in::SignIn;
pub use translator::{RunOpen, Translator, TurnStart};
pub use turn_end::Failure;

/// The examples of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
