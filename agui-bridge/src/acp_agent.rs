//! The way back: an AG-UI agent as an ACP agent, so that an editor can drive it.
//!
//! An editor sends prompts and reads session updates; an AG-UI agent takes a run's input, with the whole conversation, and
//! answers with events. [`AcpAgent`] is one session between them: prompts become inputs, events become updates, an
//! interrupt becomes questions to the editor's user and a run that resumes. The tables are those of the other way, read
//! from right to left.
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
//!     agent.handle_event(wire::decode(event)?); // from the answer's stream
//! }
//! let Some(Output::Update(update)) = agent.poll_output() else { panic!() };
//! let text = r#"{"sessionId":"sess-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello."},"messageId":"m"}}"#;
//! assert_eq!(serde_json::to_string(&update)?, text);
//! let Some(Output::Respond(Ok(response))) = agent.poll_output() else { panic!() };
//! assert_eq!(response.stop_reason.as_str(), "end_turn");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! For editors that speak ACP v2 there is [`v2::AcpAgentV2`].
//!
//! # What becomes what
//!
//! | AG-UI | ACP v1 |
//! |---|---|
//! | `TEXT_MESSAGE_CONTENT` of role `assistant`, `user` | `agent_message_chunk`, `user_message_chunk`, under the message's id |
//! | `REASONING_MESSAGE_CONTENT` | `agent_thought_chunk` |
//! | `TOOL_CALL_START` | `tool_call`, pending; title, kind and locations from `metadata.acp`, else the name and `other` |
//! | `TOOL_CALL_ARGS`, `TOOL_CALL_END` | `tool_call_update`, in progress, with `rawInput`: the JSON, or the text where it is none |
//! | `TOOL_CALL_RESULT` | `tool_call_update`, completed, or failed where `metadata.acp.status` says so; with `content` and `rawOutput` |
//! | `ACTIVITY_SNAPSHOT` `acp.tool` | `tool_call_update`: title, kind, locations, diffs |
//! | `ACTIVITY_SNAPSHOT` `PLAN`, `CUSTOM` `acp.plan` | `plan` |
//! | `ACTIVITY_SNAPSHOT` and `CUSTOM` `acp.content` | `agent_message_chunk` with that content |
//! | `CUSTOM` `acp.usage`, `acp.commands`, `acp.mode`, `acp.config_options`, `acp.session_info` | the update of that kind |
//! | `CUSTOM` `acp.notice`, `acp.compaction` | the update, for clients that declare it |
//! | `MESSAGES_SNAPSHOT` | what assistants said in it that was not streamed, as chunks |
//! | `STATE_SNAPSHOT`, `STATE_DELTA` | nothing; the next input has the state |
//! | `RUN_FINISHED` success | the prompt's answer: `result.stopReason` where it is one of ACP's, else `end_turn` |
//! | … with `pendingToolCallIds` | those calls failed, and another run tells the agent that the editor has no such tools |
//! | `RUN_FINISHED` interrupt | a [question](Question) for each interrupt; another run has the answers |
//! | `RUN_FINISHED` cancelled, `RUN_ERROR` `CANCELLED` | `cancelled` |
//! | `RUN_ERROR` `ACP_REFUSAL`, `ACP_MAX_TOKENS`, `ACP_MAX_TURN_REQUESTS` | `refusal`, `max_tokens`, `max_turn_requests` |
//! | other `RUN_ERROR` | an error: the number of `metadata.acp.code` or of the code, else `-32603`; `data` has the code |
//! | the stream's end before the run's | `-32603`; `cancelled` after [`handle_cancel`](AcpAgent::handle_cancel) |
//! | `usage` | `usage`, the sum of the turn's runs |
//!
//! | ACP | AG-UI |
//! |---|---|
//! | `session/prompt` | a run whose input has the conversation so far and one more user message |
//! | text | a text; alone, the message is a string |
//! | image, audio | a part with data; for [legacy](agui_types::profile::Profile::Legacy) agents a `binary` part |
//! | resource link to an http or https URL | a document part with this URL; for legacy agents as other links |
//! | another resource link | a text: `[name](uri)` |
//! | resource with text | a text: the URI, a line end, the text |
//! | resource with bytes | a document part with data |
//! | `session/cancel` | [`Output::CancelRun`]; open questions are given up with the next prompt's run |
//!
//! # What is lost
//!
//! Each loss is an [`Output::Lost`], except those that ACP has no use for (`RUN_STARTED`, `REASONING_START`, `…_END`).
//!
//! | AG-UI | because |
//! |---|---|
//! | `STEP_*`, `RAW`, `REASONING_ENCRYPTED_VALUE`, other `CUSTOM` and activities, `ACTIVITY_DELTA` | ACP v1 has nothing like it |
//! | `SUBAGENT_*`, `subagentRunId` | what subagents say is shown as the agent's |
//! | text of role `system`, `developer` | it is not for the user |
//! | video and documents in results | they are named in the text |
//! | metadata but `acp`; `expiresAt` of an interrupt | they have no place |
//! | a form of an interrupt whose answer is "no" | AG-UI tells it from giving up only by the form's own means |
//! | how a message's chunks were cut | chunks are as the events were |
use acp_types::v1::elicitation::{CreateElicitationRequest, ElicitationAction};
use acp_types::v1::initialization::{ClientCapabilities, PromptCapabilities};
use acp_types::v1::prompt_turn::{
    PromptRequest, PromptResponse, SessionNotification, SessionUpdate,
};
use acp_types::v1::session_setup::SessionId;
use acp_types::v1::tool_calls::{RequestPermissionOutcome, RequestPermissionRequest};
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
use jsonrpc_core::{ErrorCode, ErrorObject};

mod calls;
mod ends;
mod events;
mod prompt;
mod questions;
pub mod v2;

use calls::Calls;
use questions::Asked;

/// Messages of which is known that the editor has them, and messages of a turn that are not the agent's, at most.
const MAX_SHOWN: usize = 100_000;

/// How an [`AcpAgent`] works.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AcpAgentOptions {
    /// What the AG-UI agent understands; `V1`.
    pub profile: Profile,
    /// What the editor can do, as its `initialize` said.
    pub client: ClientCapabilities,
    /// What the agent is given beside the conversation, in `forwardedProps`.
    pub forwarded_props: Option<Raw>,
    /// How many runs a prompt has at most; 32. The turn ends with `max_turn_requests` when another would begin.
    pub max_runs: u32,
    /// How many bytes of arguments the calls that are open have at most together, and how many of diffs those that have
    /// no result; 16 MiB each. What is beyond is lost.
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
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Output {
    /// Send the input to the AG-UI agent. Its events go to [`AcpAgent::handle_event`].
    Run(Box<RunAgentInput>),
    /// Tell the editor, with `session/update`.
    Update(Box<SessionNotification>),
    /// Ask the editor's user. The answer goes to [`AcpAgent::handle_answer`].
    Ask(InterruptId, Question),
    /// End the AG-UI agent's run: by its own means, or by closing the stream. Its end goes to
    /// [`AcpAgent::handle_stream_end`].
    CancelRun(RunId),
    /// Answer the editor's prompt.
    Respond(Result<PromptResponse, ErrorObject>),
    /// Something of the agent's that the editor does not get; for a log.
    Lost(Lost),
}

/// A question to the editor's user.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Question {
    /// By `session/request_permission`.
    Permission(Box<RequestPermissionRequest>),
    /// By `elicitation/create`, for clients that declare forms.
    Elicitation(CreateElicitationRequest),
}

/// The answer of the editor's user.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum QuestionAnswer {
    /// To a permission request.
    Permission(RequestPermissionOutcome),
    /// To an elicitation.
    Elicitation(ElicitationAction),
    /// None: the editor failed to ask.
    Failed,
}

/// Something that the editor does not get.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{event}: {why}")]
#[non_exhaustive]
pub struct Lost {
    /// The type of the event.
    pub event: String,
    /// Why.
    pub why: String,
}

/// A prompt was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The session is in a turn.
    #[error("the session is in a turn")]
    Busy,
    /// It is for another session.
    #[error("at /sessionId: expected this session")]
    Session,
    /// It says nothing.
    #[error("at /prompt: expected content, got none")]
    Empty,
    /// It has content of a kind that this version does not know.
    #[error("at /prompt/{0}: unknown content")]
    Unknown(usize),
}

impl PromptError {
    /// What to answer the prompt with.
    pub fn to_error(&self) -> ErrorObject {
        let code = match self {
            Self::Busy => ErrorCode::INVALID_REQUEST,
            Self::Session | Self::Empty | Self::Unknown(_) => ErrorCode::INVALID_PARAMS,
        };
        ErrorObject::new(code, format!("{self}"))
    }
}

/// An ACP session whose agent speaks AG-UI.
///
/// It does no IO: tell it what the editor and the agent say, and take what follows ([`poll_output`](Self::poll_output)) in
/// its order. Each prompt that is taken is answered once, each question is asked once and its answer used once. See the
/// [module](self) for an example and the tables.
#[derive(Clone, Debug)]
pub struct AcpAgent {
    options: AcpAgentOptions,
    session_id: SessionId,
    conversation: Reducer,
    turn: Option<Turn>,
    /// Questions that were given up, which the next run tells the agent.
    given_up: Vec<ResumeEntry>,
    /// Messages that the editor has seen, or sent.
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
    /// Whether the run's end is still to come.
    run_is_open: bool,
    cancelled: bool,
    expander: Expander,
    /// Roles of text messages that the editor does not see as the agent's.
    roles: BTreeMap<MessageId, events::Speaker>,
    questions: BTreeMap<InterruptId, Asked>,
    answers: Vec<ResumeEntry>,
    usage: Option<TokenUsage>,
}

impl AcpAgent {
    /// A session without a conversation. The thread has its id.
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

    /// What prompts may have, for the answer to `initialize`: everything.
    pub fn prompt_capabilities() -> PromptCapabilities {
        let mut capabilities = PromptCapabilities::new();
        capabilities.image = Some(true);
        capabilities.audio = Some(true);
        capabilities.embedded_context = Some(true);
        capabilities
    }

    /// Takes a `session/prompt`. The run that it begins has the id `run_id`, those that go on with it that and a number;
    /// it has to be new in the thread.
    ///
    /// # Errors
    /// The prompt is not taken, and [the error](PromptError::to_error) answers it.
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

    /// Takes an event of the open run. One that comes while no run is open is lost.
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

    /// The answer's stream ended, or could not be had. Nothing follows where its run has its end.
    pub fn handle_stream_end(&mut self) {
        if let Some(turn) = self.turn.as_ref().filter(|turn| turn.run_is_open) {
            if turn.cancelled {
                self.respond_cancelled();
            } else {
                self.fail(ends::truncated());
            }
        }
    }

    /// The editor cancels: what runs is to end, what was asked is given up.
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

    /// Takes the answer to a question; says whether it was still wanted. When all questions of an interrupt have theirs,
    /// the next run begins.
    pub fn handle_answer(&mut self, question: &InterruptId, answer: &QuestionAnswer) -> bool {
        let Some(turn) = self.turn.as_mut() else { return false };
        let Some(asked) = turn.questions.remove(question) else { return false };
        turn.answers.push(asked.resume(question, answer));
        if turn.questions.is_empty() {
            self.begin_run();
        }
        true
    }

    /// Takes what is to be done next.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Whether a prompt waits for its answer.
    pub fn is_in_turn(&self) -> bool {
        self.turn.is_some()
    }

    /// The conversation and the state, as the next input has them.
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
        // Agents before 1.0 want all of these.
        input.state = Some(crate::json::raw(self.conversation.state()));
        input.tools = Some(Vec::new());
        input.context = Some(Vec::new());
        let none = || crate::json::raw(&Extra::new());
        input.forwarded_props = Some(self.options.forwarded_props.clone().unwrap_or_else(none));
        self.outputs.push_back(Output::Run(Box::new(input)));
    }

    /// Notes that the editor has a message. Says whether it is new to it.
    fn show(&mut self, message: &MessageId) -> bool {
        if self.shown.len() >= MAX_SHOWN {
            self.shown.pop_first();
        }
        self.shown.insert(message.clone())
    }

    /// Adds to the conversation what the agent does not say.
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
        let lost = Lost { event: event.into(), why: why.into() };
        self.outputs.push_back(Output::Lost(lost));
    }
}

/// An answer that gives a question up.
fn given_up(question: &InterruptId) -> ResumeEntry {
    ResumeEntry::new(question.clone(), ResumeStatus::Cancelled)
}
