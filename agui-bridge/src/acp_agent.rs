//! The reverse bridge: an AG-UI agent as an ACP agent, for editors.
//!
//! An editor sends prompts and reads session updates. An AG-UI agent takes the input of a run, with
//! the whole conversation, and answers with events. [`AcpAgent`] is one session between the two:
//! prompts become inputs, events become updates, and an interrupt becomes questions to the editor's
//! user and a run that resumes. The tables below mirror those of the
//! [`Translator`](crate::Translator).
//!
//! ```
//! use agui_bridge::acp_agent::{AcpAgent, AcpAgentOptions, Output};
//! use jsonrpc_core::wire;
//!
//! let mut agent = AcpAgent::new("sess-1", AcpAgentOptions::new());
//! let prompt = wire::decode(r#"{"sessionId":"sess-1","prompt":[{"type":"text","text":"Hi"}]}"#)?;
//! agent.handle_prompt(&prompt, "run-1")?;
//! let Some(Output::Run(input)) = agent.poll_output() else { panic!() }; // POST it to the AG-UI agent
//! assert_eq!((input.thread_id.as_str(), input.messages.len()), ("sess-1", 1));
//!
//! for event in [
//!     r#"{"type":"RUN_STARTED","threadId":"sess-1","runId":"run-1"}"#,
//!     r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hello."}"#,
//!     r#"{"type":"RUN_FINISHED","threadId":"sess-1","runId":"run-1"}"#,
//! ] {
//!     agent.handle_event(wire::decode(event)?); // an event of the response
//! }
//! let Some(Output::Update(update)) = agent.poll_output() else { panic!() };
//! let text = r#"{"sessionId":"sess-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello."},"messageId":"m"}}"#;
//! assert_eq!(serde_json::to_string(&update)?, text);
//! let Some(Output::Respond(Ok(response))) = agent.poll_output() else { panic!() };
//! assert_eq!(response.stop_reason.as_str(), "end_turn");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The lines of an editor that speaks ACP v2 pass through `acp_types::convert::Bridge` (feature
//! `convert`), which converts them for an agent of version 1, and the lines of the session for the
//! editor.
//!
//! # Mapping
//!
//! | AG-UI | ACP v1 |
//! |---|---|
//! | `TEXT_MESSAGE_CONTENT` of role `assistant`, `user` | `agent_message_chunk`, `user_message_chunk`, under the message's id |
//! | `REASONING_MESSAGE_CONTENT` | `agent_thought_chunk` |
//! | `TOOL_CALL_START` | `tool_call`, pending; title, kind and locations from `metadata.acp`, else the name and `other` |
//! | `TOOL_CALL_ARGS`, `TOOL_CALL_END` | `tool_call_update`, in progress, with `rawInput`: the JSON, or the text if it is not JSON |
//! | `TOOL_CALL_RESULT` | `tool_call_update`, completed, or failed if `metadata.acp.status` says so; with `content` and `rawOutput` |
//! | `ACTIVITY_SNAPSHOT` `acp.tool` | `tool_call_update`: title, kind, locations, diffs |
//! | `ACTIVITY_SNAPSHOT` `PLAN`, `CUSTOM` `acp.plan` | `plan` |
//! | `ACTIVITY_SNAPSHOT` and `CUSTOM` `acp.content` | `agent_message_chunk` with that content |
//! | `CUSTOM` `acp.usage`, `acp.commands`, `acp.mode`, `acp.config_options`, `acp.suggestions`, `acp.session_info` | the update of that kind |
//! | `CUSTOM` `acp.notice`, `acp.compaction` | the update, for clients that declare support |
//! | `MESSAGES_SNAPSHOT` | assistant messages that were not streamed, as chunks |
//! | `STATE_SNAPSHOT`, `STATE_DELTA` | none; the next input has the state |
//! | `RUN_FINISHED` success | the response to the prompt: `result.stopReason` if ACP knows it, else `end_turn` |
//! | … with `pendingToolCallIds` | these calls fail, and another run reports to the agent that the editor has no such tools |
//! | `RUN_FINISHED` interrupt | a [question](Question) for each interrupt; another run carries the answers |
//! | `RUN_FINISHED` cancelled, `RUN_ERROR` `CANCELLED` | `cancelled` |
//! | `RUN_ERROR` `ACP_REFUSAL`, `ACP_MAX_TOKENS`, `ACP_MAX_TURN_REQUESTS` | `refusal`, `max_tokens`, `max_turn_requests` |
//! | other `RUN_ERROR` | an error with the number of `metadata.acp.code` or of the code, else `-32603`; `data` has the code |
//! | the end of the stream before that of the run | `-32603`; `cancelled` after [`handle_cancel`](AcpAgent::handle_cancel) |
//! | `usage` | `usage`, the sum of the turn's runs |
//!
//! | ACP | AG-UI |
//! |---|---|
//! | `session/prompt` | a run with the conversation so far and a new user message |
//! | text | text; a single text block becomes a string |
//! | image, audio | a part with data; for [legacy](agui_types::profile::Profile::Legacy) agents a `binary` part |
//! | resource link with an http or https URL | a document part with this URL; for legacy agents as other links |
//! | other resource link | text: `[name](uri)` |
//! | resource with text | text: the URI, a line end, the text |
//! | resource with bytes | a document part with data |
//! | `session/cancel` | [`Output::CancelRun`]; open questions are cancelled with the run of the next prompt |
//!
//! # Losses
//!
//! Each loss is reported as [`Output::Lost`], except for events that ACP does not need
//! (`RUN_STARTED`, `REASONING_START`, `…_END`).
//!
//! | AG-UI | reason |
//! |---|---|
//! | `STEP_*`, `RAW`, `REASONING_ENCRYPTED_VALUE`, other `CUSTOM` and activities, `ACTIVITY_DELTA` | ACP v1 has no equivalent |
//! | `SUBAGENT_*`, `subagentRunId` | messages of subagents are shown as the agent's |
//! | text of role `system`, `developer` | it is not intended for the user |
//! | video and documents in results | they are named in the text |
//! | metadata except `acp`; `expiresAt` of an interrupt | ACP has no place for them |
//! | a negative answer to the form of an interrupt | AG-UI distinguishes it from a cancellation only by the content of the form |
//! | the boundaries of a message's chunks | chunks follow the events |
use acp_types::v1::initialization::{ClientCapabilities, PromptCapabilities};
use acp_types::v1::prompt_turn::{PromptRequest, SessionNotification, SessionUpdate};
use acp_types::v1::session_setup::SessionId;
use agui_types::PROTOCOL_VERSION;
use agui_types::event::Event;
use agui_types::expand::Expander;
use agui_types::id::{InterruptId, MessageId, RunId};
use agui_types::input::RunAgentInput;
use agui_types::interrupt::{ResumeEntry, ResumeStatus};
use agui_types::message::{Message, UserMessage};
use agui_types::profile::Profile;
use agui_types::reduce::Reducer;
use agui_types::usage::TokenUsage;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};

mod calls;
mod ends;
mod events;
mod output;
mod prompt;
mod questions;

pub use output::{LostEvent, Output, PromptError, Question, QuestionAnswer};

use calls::Calls;
use questions::PendingQuestion;

/// Largest number of messages known to the editor, and of messages of a turn that are not the
/// agent's.
const MAX_SHOWN: usize = 100_000;

/// Options of an [`AcpAgent`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AcpAgentOptions {
    /// Profile of the AG-UI agent; `V1` by default.
    pub profile: Profile,
    /// Capabilities of the editor, from its `initialize`.
    pub client: ClientCapabilities,
    /// Value of `forwardedProps` in each run's input.
    pub forwarded_props: Option<Raw>,
    /// Largest number of runs for a prompt; 32 by default. The turn ends with `max_turn_requests`
    /// when another run would begin.
    pub max_runs: u32,
    /// Largest size in bytes of the arguments of all open calls, and of the diffs of all calls
    /// without a result; 16 MiB each by default. The excess is lost.
    pub max_call_bytes: usize,
}

impl Default for AcpAgentOptions {
    fn default() -> Self {
        Self {
            profile: Profile::V1,
            client: ClientCapabilities::new(),
            forwarded_props: None,
            max_runs: 32,
            max_call_bytes: 16 << 20,
        }
    }
}

impl AcpAgentOptions {
    /// Creates the default options.
    pub fn new() -> Self {
        Self::default()
    }
}

/// An ACP session with an AG-UI agent.
///
/// Performs no I/O: pass in the messages of the editor and the events of the agent, and handle the
/// outputs of [`poll_output`](Self::poll_output) in order. Each accepted prompt receives one
/// response, each question is asked once, and its answer is used once. The [module
/// documentation](self) has an example and the mapping.
#[derive(Clone, Debug)]
pub struct AcpAgent {
    options: AcpAgentOptions,
    session_id: SessionId,
    conversation: Reducer,
    turn: Option<Turn>,
    /// Cancelled questions, which the next run reports to the agent.
    given_up: Vec<ResumeEntry>,
    /// Messages that the editor has received or sent.
    shown: BTreeSet<MessageId>,
    calls: Calls,
    prompts: u64,
    outputs: VecDeque<Output>,
}

#[derive(Clone, Debug)]
struct Turn {
    first_run: RunId,
    run: RunId,
    runs: u32,
    /// Whether the end of the run is still expected.
    run_is_open: bool,
    cancelled: bool,
    expander: Expander,
    /// Roles of text messages that the editor does not see as the agent's.
    roles: BTreeMap<MessageId, events::Speaker>,
    questions: BTreeMap<InterruptId, PendingQuestion>,
    answers: Vec<ResumeEntry>,
    usage: Option<TokenUsage>,
}

impl AcpAgent {
    /// Creates a session without messages. The thread has the session's id.
    pub fn new(session_id: impl Into<SessionId>, options: AcpAgentOptions) -> Self {
        Self {
            options,
            session_id: session_id.into(),
            conversation: Reducer::new(),
            turn: None,
            given_up: Vec::new(),
            shown: BTreeSet::new(),
            calls: Calls::default(),
            prompts: 0,
            outputs: VecDeque::new(),
        }
    }

    /// Returns the prompt capabilities for the response to `initialize`: all of them.
    pub fn prompt_capabilities() -> PromptCapabilities {
        let mut capabilities = PromptCapabilities::new();
        capabilities.image = Some(true);
        capabilities.audio = Some(true);
        capabilities.embedded_context = Some(true);
        capabilities
    }

    /// Handles `session/prompt`. Its first run has the id `run_id`, which has to be new in the
    /// thread; further runs of the turn have that id and a number.
    ///
    /// # Errors
    /// The prompt is not accepted. Respond with [`PromptError::to_error`].
    pub fn handle_prompt(
        &mut self,
        request: &PromptRequest,
        run_id: impl Into<RunId>,
    ) -> Result<(), PromptError> {
        if self.turn.is_some() {
            return Err(PromptError::Busy);
        }
        if request.session_id != self.session_id {
            return Err(PromptError::Session);
        }
        let content = prompt::content(&request.prompt, self.options.profile)?;
        let id = self.new_message_id();
        self.show(&id);
        self.say(Message::User(UserMessage::new(id, content)));
        let run_id = run_id.into();
        self.turn = Some(Turn {
            first_run: run_id.clone(),
            run: run_id,
            runs: 0,
            run_is_open: false,
            cancelled: false,
            expander: Expander::new(),
            roles: BTreeMap::new(),
            questions: BTreeMap::new(),
            answers: core::mem::take(&mut self.given_up),
            usage: None,
        });
        self.begin_run();
        Ok(())
    }

    /// Handles an event of the open run. An event while no run is open is lost.
    pub fn handle_event(&mut self, event: Event) {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.run_is_open) else {
            return self.lose(event.tag(), "no run is open");
        };
        let mut events = Vec::new();
        let tag = String::from(event.tag());
        if let Err(violation) = turn.expander.handle(event, &mut events) {
            self.lose(&tag, &format!("{violation}"));
        }
        for event in events {
            self.take(event);
        }
    }

    /// Handles the end of the response's stream, or a failed request. Has no effect if the run has
    /// ended.
    pub fn handle_stream_end(&mut self) {
        if let Some(turn) = self.turn.as_ref().filter(|turn| turn.run_is_open) {
            if turn.cancelled {
                self.respond_cancelled();
            } else {
                self.fail(ends::truncated());
            }
        }
    }

    /// Handles `session/cancel`: ends the open run and cancels all questions.
    pub fn handle_cancel(&mut self) {
        let Some(turn) = self.turn.as_mut() else { return };
        if core::mem::replace(&mut turn.cancelled, true) {
            return;
        }
        if turn.run_is_open {
            let run = turn.run.clone();
            self.outputs.push_back(Output::CancelRun(run));
        } else {
            self.respond_cancelled();
        }
    }

    /// Handles the answer to a question, and returns whether it was still expected. The next run
    /// begins when all questions of an interrupt are answered.
    pub fn handle_answer(&mut self, question: &InterruptId, answer: &QuestionAnswer) -> bool {
        let Some(turn) = self.turn.as_mut() else { return false };
        let Some(pending) = turn.questions.remove(question) else { return false };
        turn.answers.push(pending.resume(question, answer));
        if turn.questions.is_empty() {
            self.begin_run();
        }
        true
    }

    /// Returns the next action of the program.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Returns whether a prompt waits for its response.
    pub fn is_in_turn(&self) -> bool {
        self.turn.is_some()
    }

    /// Returns the messages and the state, as in the next input.
    pub fn conversation(&self) -> &Reducer {
        &self.conversation
    }

    /// Begins the next run of the turn.
    fn begin_run(&mut self) {
        let limit = self.options.max_runs;
        let Some(turn) = self.turn.as_mut() else { return };
        if turn.runs >= limit {
            return self.respond_exhausted();
        }
        turn.runs += 1;
        turn.run = match turn.runs {
            1 => turn.first_run.clone(),
            number => format!("{}.{number}", turn.first_run).into(),
        };
        turn.run_is_open = true;
        turn.expander = Expander::new();
        let mut input = RunAgentInput::new(
            self.session_id.as_str(),
            turn.run.clone(),
            self.conversation.messages().to_vec(),
        );
        let answers = core::mem::take(&mut turn.answers);
        if self.options.profile == Profile::V1 {
            input.protocol_version = Some(PROTOCOL_VERSION.into());
        }
        input.resume = Some(answers).filter(|answers| !answers.is_empty());
        // Agents before 1.0 require all of these members.
        input.state = Some(crate::json::raw(self.conversation.state()));
        input.tools = Some(Vec::new());
        input.context = Some(Vec::new());
        let none = || crate::json::raw(&Extra::new());
        input.forwarded_props = Some(self.options.forwarded_props.clone().unwrap_or_else(none));
        self.outputs.push_back(Output::Run(Box::new(input)));
    }

    /// Records that the editor has a message, and returns whether it is new.
    fn show(&mut self, message: &MessageId) -> bool {
        if self.shown.len() >= MAX_SHOWN {
            self.shown.pop_first();
        }
        self.shown.insert(message.clone())
    }

    /// Adds a message to the conversation that the agent did not send.
    fn say(&mut self, message: Message) {
        let mut messages = self.conversation.messages().to_vec();
        messages.push(message);
        let snapshot = agui_types::event::MessagesSnapshotEvent::new(messages);
        if let Some(warning) = self.conversation.handle(&snapshot.into()) {
            self.lose("MESSAGES_SNAPSHOT", &format!("{warning}"));
        }
    }

    fn new_message_id(&mut self) -> MessageId {
        loop {
            self.prompts += 1;
            let id = MessageId::from(format!("user-{}", self.prompts));
            let messages = self.conversation.messages();
            if !messages.iter().any(|message| message.id().as_ref() == Some(&id)) {
                return id;
            }
        }
    }

    fn update(&mut self, update: SessionUpdate) {
        let notification = SessionNotification::new(self.session_id.clone(), update);
        self.outputs.push_back(Output::Update(Box::new(notification)));
    }

    fn lose(&mut self, event: &str, why: &str) {
        let lost = LostEvent { event: event.into(), why: why.into() };
        self.outputs.push_back(Output::Lost(lost));
    }
}

/// Returns an answer that cancels the question.
fn given_up(question: &InterruptId) -> ResumeEntry {
    ResumeEntry::new(question.clone(), ResumeStatus::Cancelled)
}
