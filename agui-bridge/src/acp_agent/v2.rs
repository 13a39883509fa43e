//! The reverse bridge for an editor that speaks ACP v2.
//!
//! An [`AcpAgentV2`] wraps an [`AcpAgent`] and converts its messages to v2:
//!
//! | ACP v1 | v2 |
//! |---|---|
//! | the response to the prompt at the end of the turn | sent at once, with the message's id; `user_message` repeats the prompt |
//! | … | `state_update` `running` when the turn begins, `requires_action` while a question is open |
//! | the stop reason of the response, and usage | `state_update` `idle` with both |
//! | … an error | … with the stop reason `error` |
//! | `agent_message_chunk`, `agent_thought_chunk`, `user_message_chunk` | the same; a chunk without a message id gets one |
//! | `tool_call` | `tool_call_update` |
//! | … content `diff`: a file before and after | a change of this path, and the patch |
//! | `plan` | `plan_update` of a plan with items |
//! | a permission request for a tool call | one with a title, and the call as its subject |
//! | `usage_update`, `available_commands_update`, `config_option_update`, `session_info_update`, `notice`, `compaction_*` | the same |
//! | `current_mode_update`, and updates without an equivalent in v2 | [`OutputV2::Lost`] |
//!
//! ```
//! use agui_bridge::acp_agent::AcpAgentOptions;
//! use agui_bridge::acp_agent::v2::{AcpAgentV2, OutputV2};
//! use jsonrpc_core::wire;
//!
//! let mut agent = AcpAgentV2::new("sess-1", AcpAgentOptions::new());
//! let prompt = wire::decode(r#"{"sessionId":"sess-1","prompt":[{"type":"text","text":"Hi"}]}"#)?;
//! let accepted = agent.handle_prompt(&prompt, "run-1")?; // the response to session/prompt
//! assert_eq!(accepted.message_id.as_str(), "user-1");
//! for event in [
//!     r#"{"type":"RUN_STARTED","threadId":"sess-1","runId":"run-1"}"#,
//!     r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hello."}"#,
//!     r#"{"type":"RUN_FINISHED","threadId":"sess-1","runId":"run-1"}"#,
//! ] {
//!     agent.handle_event(wire::decode(event)?);
//! }
//! let tags = std::iter::from_fn(|| agent.poll_output()).filter_map(|output| match output {
//!     OutputV2::Update(update) => Some(update.update.tag().to_owned()),
//!     _ => None,
//! });
//! assert_eq!(tags.collect::<Vec<_>>(), ["user_message", "state_update", "agent_message_chunk", "state_update"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Spec: [Prompt Lifecycle, ACP v2](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle) (draft)
use super::{AcpAgent, AcpAgentOptions, Lost, Output, PromptError, Question, QuestionAnswer};
use crate::json::{self, Members};
use crate::unified_diff::unified_diff;
use acp_types::v1::prompt_turn::{
    PromptRequest as PromptRequestV1, PromptResponse as PromptResponseV1, SessionUpdate as UpdateV1,
};
use acp_types::v1::tool_calls::{
    RequestPermissionRequest as PermissionV1, ToolCallContent as ContentV1,
    ToolCallUpdate as ToolCallUpdateV1,
};
use acp_types::v2::elicitation::{CreateElicitationRequest, ElicitationAction};
use acp_types::v2::permissions::{RequestPermissionOutcome, RequestPermissionRequest};
use acp_types::v2::prompt_lifecycle::{
    MessageId, PromptRequest, PromptResponse, SessionUpdate, UpdateSessionNotification,
};
use agui_types::event::Event;
use agui_types::id::{InterruptId, RunId};
use agui_types::input::RunAgentInput;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{Extra, Presence, Raw};

/// The next action of the program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum OutputV2 {
    /// Sends the input to the AG-UI agent. Its events go to [`AcpAgentV2::handle_event`].
    Run(Box<RunAgentInput>),
    /// Sends `session/update` to the editor.
    Update(Box<UpdateSessionNotification>),
    /// Asks the editor's user. The answer goes to [`AcpAgentV2::handle_answer`].
    Ask(InterruptId, QuestionV2),
    /// Ends the AG-UI agent's run, as [`Output::CancelRun`].
    CancelRun(RunId),
    /// An event, or a part of it, that the editor does not receive; for a log.
    Lost(Lost),
}

/// A question to the editor's user.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum QuestionV2 {
    /// Sent as `session/request_permission`.
    Permission(Box<RequestPermissionRequest>),
    /// Sent as `elicitation/create`, for clients that support forms.
    Elicitation(Box<CreateElicitationRequest>),
}

/// The answer of the editor's user.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnswerV2 {
    /// Answer to a permission request.
    Permission(RequestPermissionOutcome),
    /// Answer to an elicitation.
    Elicitation(ElicitationAction),
    /// No answer: the editor returned an error.
    Failed,
}

/// An ACP v2 session with an AG-UI agent. See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct AcpAgentV2 {
    agent: AcpAgent,
    outputs: VecDeque<OutputV2>,
    /// Number of open questions.
    open_questions: usize,
    /// Number of messages without an id.
    nameless: u64,
}

impl AcpAgentV2 {
    /// Creates a session without messages. The thread has the session's id.
    pub fn new(
        session_id: impl Into<acp_types::v1::session_setup::SessionId>,
        options: AcpAgentOptions,
    ) -> Self {
        let agent = AcpAgent::new(session_id, options);
        Self { agent, outputs: VecDeque::new(), open_questions: 0, nameless: 0 }
    }

    /// Handles `session/prompt` as [`AcpAgent::handle_prompt`], and returns the response.
    ///
    /// # Errors
    /// The prompt is not accepted. Respond with [`PromptError::to_error`].
    pub fn handle_prompt(
        &mut self,
        request: &PromptRequest,
        run_id: impl Into<RunId>,
    ) -> Result<PromptResponse, PromptError> {
        let prompt: Vec<_> = request.prompt.iter().cloned().map(Into::into).collect();
        let session = request.session_id.clone();
        self.agent.handle_prompt(&PromptRequestV1::new(session, prompt), run_id)?;
        let said = self.agent.conversation().messages().last();
        let id = said.and_then(agui_types::message::Message::id);
        let id = MessageId::from(id.as_ref().map_or("", |id| id.as_str()));
        let message = Members::new()
            .with("sessionUpdate", "user_message")
            .with("messageId", &id)
            .with("content", &request.prompt);
        self.push(message);
        self.push_state(Members::new().with("state", "running"));
        Ok(PromptResponse::new(id))
    }

    /// Handles an event of the open run, as [`AcpAgent::handle_event`].
    pub fn handle_event(&mut self, event: Event) {
        self.agent.handle_event(event);
    }

    /// Handles the end of the response's stream, as [`AcpAgent::handle_stream_end`].
    pub fn handle_stream_end(&mut self) {
        self.agent.handle_stream_end();
    }

    /// Handles `session/cancel`, as [`AcpAgent::handle_cancel`].
    pub fn handle_cancel(&mut self) {
        self.agent.handle_cancel();
    }

    /// Handles the answer to a question, as [`AcpAgent::handle_answer`].
    pub fn handle_answer(&mut self, question: &InterruptId, answer: &AnswerV2) -> bool {
        let answer = match answer {
            AnswerV2::Permission(outcome) => QuestionAnswer::Permission(outcome.clone().into()),
            AnswerV2::Elicitation(action) => QuestionAnswer::Elicitation(action.clone()),
            AnswerV2::Failed => QuestionAnswer::Failed,
        };
        self.convert();
        let wanted = self.agent.handle_answer(question, &answer);
        if wanted {
            self.open_questions = self.open_questions.saturating_sub(1);
            if self.open_questions == 0 {
                self.push_state(Members::new().with("state", "running"));
            }
        }
        wanted
    }

    /// Returns the next action of the program.
    pub fn poll_output(&mut self) -> Option<OutputV2> {
        self.convert();
        self.outputs.pop_front()
    }

    /// Returns whether the session is in a turn.
    pub fn is_in_turn(&self) -> bool {
        self.agent.is_in_turn()
    }

    fn convert(&mut self) {
        while let Some(output) = self.agent.poll_output() {
            match output {
                Output::Run(input) => self.outputs.push_back(OutputV2::Run(input)),
                Output::CancelRun(run) => self.outputs.push_back(OutputV2::CancelRun(run)),
                Output::Lost(lost) => self.outputs.push_back(OutputV2::Lost(lost)),
                Output::Update(notification) => self.update(notification.update),
                Output::Ask(id, question) => self.ask(id, &question),
                Output::Respond(response) => self.end(response),
            }
        }
    }

    fn update(&mut self, update: UpdateV1) {
        let tag = update.tag().to_owned();
        let members = match &update {
            UpdateV1::ToolCall(call) => {
                let content = call.content.as_deref().map(Presence::Value);
                tool_call(&json::raw(&**call), content.unwrap_or_default())
            }
            UpdateV1::ToolCallUpdate(update) => changed_call(update),
            UpdateV1::Plan(plan) => {
                let plan = Members::new()
                    .with("type", "items")
                    .with("planId", self.agent.session_id.as_str())
                    .with("entries", &plan.entries);
                let plan = plan.into_raw();
                Members::new().with("sessionUpdate", "plan_update").with("plan", &plan)
            }
            other => members(&json::raw(other)),
        };
        let is_chunk = tag.ends_with("_message_chunk") || tag.ends_with("_thought_chunk");
        let members = if is_chunk && members.get("messageId").is_none() {
            self.nameless += 1;
            members.with("messageId", &format!("part-{}", self.nameless))
        } else {
            members
        };
        if !self.push(members) {
            self.lose(&tag, "ACP v2 has nothing like it");
        }
    }

    fn ask(&mut self, id: InterruptId, question: &Question) {
        let question = match question {
            Question::Permission(request) => {
                let request = permission(request).decode().ok();
                request.map(|request| QuestionV2::Permission(Box::new(request)))
            }
            Question::Elicitation(request) => {
                Some(QuestionV2::Elicitation(Box::new(request.clone().into())))
            }
        };
        let Some(question) = question else {
            self.lose("RUN_FINISHED", "ACP v2 cannot ask this");
            self.agent.handle_answer(&id, &QuestionAnswer::Failed);
            return;
        };
        self.open_questions += 1;
        self.outputs.push_back(OutputV2::Ask(id, question));
        if self.open_questions == 1 {
            self.push_state(Members::new().with("state", "requires_action"));
        }
    }

    fn end(&mut self, response: Result<PromptResponseV1, ErrorObject>) {
        self.open_questions = 0;
        let idle = Members::new().with("state", "idle");
        self.push_state(match response {
            Ok(response) => idle
                .with("stopReason", &response.stop_reason)
                .with_some("usage", response.usage.as_ref()),
            Err(error) => idle.with("stopReason", "error").with("error", &error),
        });
    }

    fn push_state(&mut self, state: Members) {
        self.push(Members::new().with("sessionUpdate", "state_update").and(state));
    }

    /// Sends an update to the editor, if v2 has an equivalent.
    fn push(&mut self, update: Members) -> bool {
        let update: Option<SessionUpdate> = update.into_raw().decode().ok();
        let Some(update) = update.filter(SessionUpdate::is_known) else { return false };
        let session = self.agent.session_id.as_str();
        let notification = UpdateSessionNotification::new(session, update);
        self.outputs.push_back(OutputV2::Update(Box::new(notification)));
        true
    }

    fn lose(&mut self, event: &str, why: &str) {
        let lost = Lost { event: event.into(), why: why.into() };
        self.outputs.push_back(OutputV2::Lost(lost));
    }
}

/// Returns the members of a JSON object.
fn members(object: &Raw) -> Members {
    let mut members = Members::new();
    for (name, value) in object.decode::<Extra>().unwrap_or_default().iter() {
        members.set(name, value.clone());
    }
    members
}

/// Converts a tool call to an update of it, with the content in v2 form.
fn tool_call(call: &Raw, content: Presence<&[ContentV1]>) -> Members {
    let mut members = members(call).with("sessionUpdate", "tool_call_update");
    match content {
        Presence::Value(content) => {
            let content: Vec<Raw> = content.iter().map(content_v2).collect();
            members.set("content", json::raw(&content));
        }
        Presence::Null => members.set("content", json::raw(&())),
        Presence::Absent => {}
    }
    members
}

fn content_v2(content: &ContentV1) -> Raw {
    let ContentV1::Diff(diff) = content else { return json::raw(content) };
    let operation = if diff.old_text.is_some() { "modify" } else { "add" };
    let change = Members::new().with("operation", operation).with("path", &diff.path).into_raw();
    let patch = unified_diff(&diff.path, diff.old_text.as_deref(), &diff.new_text);
    let patch = Members::new().with("format", "git_patch").with("text", &patch).into_raw();
    Members::new().with("type", "diff").with("changes", &[change]).with("patch", &patch).into_raw()
}

fn changed_call(update: &ToolCallUpdateV1) -> Members {
    let content = match &update.content {
        Presence::Value(content) => Presence::Value(&**content),
        Presence::Null => Presence::Null,
        Presence::Absent => Presence::Absent,
    };
    tool_call(&json::raw(update), content)
}

/// Converts a permission request to v2: it has its own title, and the call is its subject.
fn permission(request: &PermissionV1) -> Raw {
    let call = changed_call(&request.tool_call).without("sessionUpdate");
    let title: Option<String> = request.tool_call.title.value().cloned();
    let subject = Members::new().with("type", "tool_call").with("toolCall", &call.into_raw());
    Members::new()
        .with("sessionId", &request.session_id)
        .with("title", &title.unwrap_or_else(|| "May the agent go on?".to_owned()))
        .with("options", &request.options)
        .with("subject", &subject.into_raw())
        .into_raw()
}
