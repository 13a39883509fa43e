//! ACP v2: the same in other words, and what only it says.
use crate::json::{self, Members};
use crate::permission::Permission;
use crate::state::{Kind, Update};
use crate::stop::TurnEnd;
use crate::text::Voice;
use crate::tool_call::Change;
use crate::translator::Translator;
use acp_types::v1::prompt_turn::{
    MessageId, PromptResponse, SessionUpdate as SessionUpdateV1, StopReason,
};
use acp_types::v1::tool_calls::ToolCallId;
use acp_types::v2::content::ContentBlock;
use acp_types::v2::elicitation::CreateElicitationRequest;
use acp_types::v2::permissions::{RequestPermissionRequest, RequestPermissionSubject};
use acp_types::v2::prompt_lifecycle::{
    ContentChunk, PromptResponse as PromptAccepted, SessionUpdate, UpdateSessionNotification,
};
use acp_types::v2::session_states::{IdleStateUpdate, StateUpdate, StopReason as IdleReason};
use acp_types::v2::tool_calls::{ToolCallContentChunk, ToolCallUpdate};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use jsonrpc_core::wire::Presence;
use jsonrpc_core::{ErrorCode, ErrorObject, RequestId};

impl Translator {
    /// Takes in a `session/update` of ACP v2. An idle `state_update` ends the turn.
    pub fn handle_notification_v2(&mut self, notification: UpdateSessionNotification) {
        self.heard();
        self.remembers = true;
        if let SessionUpdate::StateUpdate(state) = &notification.update
            && self.subagents.lane(&notification.session_id.as_str().into()).is_empty()
        {
            return self.state_update(state.clone());
        }
        if let SessionUpdate::UserMessageChunk(chunk) = &notification.update
            && self.replay.is_none()
            && self.text.is_echo(&chunk.content.clone().into())
        {
            return;
        }
        self.take(Update::V2(Box::new(notification)));
    }

    /// Takes in the answer to a v2 `session/prompt`: the agent has the prompt, and is at it until it is idle.
    pub fn handle_prompt_accepted(&mut self, _response: &PromptAccepted) {
        self.heard();
        self.busy = true;
    }

    /// Takes in a v2 `session/request_permission`, as
    /// [`handle_permission_request`](Self::handle_permission_request).
    pub fn handle_permission_request_v2(
        &mut self,
        request_id: RequestId,
        request: RequestPermissionRequest,
    ) {
        self.heard();
        let limit = self.options.limits.message;
        let call = match request.subject.as_deref() {
            Some(RequestPermissionSubject::ToolCall(subject)) => {
                let update = (*subject.tool_call).clone();
                let id = ToolCallId::from(update.tool_call_id.as_str());
                let session = request.session_id.clone();
                if self.run.is_some() {
                    let lane = self.subagents.lane(&session.as_str().into());
                    self.begin_subagent(&lane);
                    self.speak_as(&lane, |t| t.tool_call(Change::from(update).asking()));
                } else {
                    let update = SessionUpdate::ToolCallUpdate(Box::new(update));
                    let update = UpdateSessionNotification::new(session, update);
                    self.waiting.push(Update::V2(Box::new(update)), &self.options.limits);
                }
                Some(id)
            }
            Some(RequestPermissionSubject::Command(command)) => {
                command.tool_call_id.as_ref().map(|id| ToolCallId::from(id.as_str()))
            }
            _ => None,
        };
        let lane = self.subagents.lane(&request.session_id.as_str().into());
        let call = call.map(|id| self.calls.key(&lane, &id));
        let title = Some(json::cut(request.title, limit));
        self.ask_permission(request_id, Permission { call, title, options: request.options });
    }

    /// Takes in a v2 `elicitation/create`, as [`handle_elicitation_request`](Self::handle_elicitation_request).
    pub fn handle_elicitation_request_v2(
        &mut self,
        request_id: RequestId,
        request: CreateElicitationRequest,
    ) {
        self.handle_elicitation_request(request_id, request.into());
    }

    fn state_update(&mut self, state: StateUpdate) {
        match state {
            // One that comes before the agent has begun is about the turn before.
            StateUpdate::Idle(idle) if self.busy => {
                self.busy = false;
                self.handle_turn_end(turn_end(*idle));
            }
            StateUpdate::Idle(_) | StateUpdate::UnknownState(_) => {}
            _ => self.busy = true,
        }
    }

    pub(crate) fn translate_v2(&mut self, notification: UpdateSessionNotification) {
        let limit = self.options.limits.value;
        match notification.update {
            SessionUpdate::UserMessageChunk(chunk) => self.chunk_v2(Voice::User, chunk),
            SessionUpdate::AgentMessageChunk(chunk) => self.chunk_v2(Voice::Agent, chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => self.chunk_v2(Voice::Thought, chunk),
            SessionUpdate::UserMessage(message) => {
                self.message_v2(Voice::User, &message.message_id, message.content);
            }
            SessionUpdate::AgentMessage(message) => {
                self.message_v2(Voice::Agent, &message.message_id, message.content);
            }
            SessionUpdate::AgentThought(message) => {
                self.message_v2(Voice::Thought, &message.message_id, message.content);
            }
            SessionUpdate::ToolCallUpdate(update) => self.tool_call(Change::from(*update)),
            SessionUpdate::ToolCallContentChunk(chunk) => self.tool_call(Change::from(*chunk)),
            SessionUpdate::TerminalUpdate(update) => self.terminal_update(*update),
            SessionUpdate::TerminalOutputChunk(chunk) => self.terminal_output(&chunk),
            SessionUpdate::AvailableCommandsUpdate(commands) => {
                self.tell_whole(Kind::Commands, json::bounded(&commands, limit));
            }
            SessionUpdate::ConfigOptionUpdate(options) => {
                self.tell_whole(Kind::ConfigOptions, json::bounded(&options, limit));
            }
            other => match as_v1(other) {
                Ok(update) => self.translate_update(&notification.session_id, update),
                Err(other) => self.custom("acp.unknown", json::bounded(&other, limit)),
            },
        }
    }

    fn chunk_v2(&mut self, voice: Voice, chunk: ContentChunk) {
        self.chunk(voice, Some(chunk.message_id), chunk.content.into(), chunk.meta.as_ref());
    }

    fn message_v2(&mut self, voice: Voice, id: &MessageId, content: Presence<Vec<ContentBlock>>) {
        let content = match content {
            Presence::Absent => Presence::Absent,
            Presence::Null => Presence::Null,
            Presence::Value(blocks) => {
                Presence::Value(blocks.into_iter().map(Into::into).collect())
            }
        };
        self.whole_message(voice, id, content, Members::new());
    }
}

impl From<ToolCallUpdate> for Change {
    fn from(update: ToolCallUpdate) -> Self {
        let mut change = Self::new(update.tool_call_id.as_str());
        let text = |text: &str| text.to_owned();
        change.title = update.title.value().map(|title| text(title));
        change.name = update.name.value().map(|name| text(name));
        change.kind = update.kind_or_other().map(|kind| kind.as_str().into());
        change.status = update.status.value().map(|status| status.as_str().into());
        change.content = match update.content {
            Presence::Absent => None,
            Presence::Null => Some(vec![]),
            Presence::Value(content) => Some(content.into_iter().map(Into::into).collect()),
        };
        change.locations = match update.locations {
            Presence::Absent => None,
            Presence::Null => Some(vec![]),
            Presence::Value(locations) => Some(locations.into_iter().map(Into::into).collect()),
        };
        change.raw_input = update.raw_input.value().cloned();
        change.raw_output = update.raw_output.value().cloned();
        change.meta = update.meta.value().cloned();
        change
    }
}

impl From<ToolCallContentChunk> for Change {
    fn from(chunk: ToolCallContentChunk) -> Self {
        let mut change = Self::new(chunk.tool_call_id.as_str());
        change.content = Some(vec![chunk.content.into()]);
        change.appends = true;
        change
    }
}

/// Converts an update that both versions have. One that v2 does not know may be one of v1.
fn as_v1(update: SessionUpdate) -> Result<SessionUpdateV1, SessionUpdate> {
    Ok(match update {
        SessionUpdate::PlanUpdate(update) => {
            SessionUpdateV1::PlanUpdate(Box::new((*update).into()))
        }
        SessionUpdate::PlanRemoved(removed) => SessionUpdateV1::PlanRemoved(removed),
        SessionUpdate::SessionInfoUpdate(info) => SessionUpdateV1::SessionInfoUpdate(info),
        SessionUpdate::UsageUpdate(usage) => SessionUpdateV1::UsageUpdate(usage),
        SessionUpdate::Notice(notice) => SessionUpdateV1::Notice(*notice),
        SessionUpdate::CompactionUpdate(update) => {
            SessionUpdateV1::CompactionUpdate(Box::new((*update).into()))
        }
        SessionUpdate::CompactionSummaryChunk(chunk) => {
            SessionUpdateV1::CompactionSummaryChunk(Box::new((*chunk).into()))
        }
        SessionUpdate::SubagentUpdate(update) => {
            SessionUpdateV1::SubagentUpdate(Box::new((*update).into()))
        }
        SessionUpdate::SessionMessage(message) => {
            SessionUpdateV1::SessionMessage(Box::new((*message).into()))
        }
        SessionUpdate::SessionMessageChunk(chunk) => {
            SessionUpdateV1::SessionMessageChunk(Box::new((*chunk).into()))
        }
        other => return json::raw(&other).decode().map_err(|_| other),
    })
}

/// How a turn ended, in the words of v1.
fn turn_end(idle: IdleStateUpdate) -> TurnEnd {
    let reason = match &idle.stop_reason {
        IdleReason::Error(error) => {
            let error = error.error.as_deref().cloned();
            return TurnEnd::Error(error.unwrap_or_else(|| {
                ErrorObject::new(ErrorCode::INTERNAL_ERROR, "The agent's work failed.")
            }));
        }
        // The agent does not say why: nothing tells that it failed.
        IdleReason::NotReported(_) => StopReason::EndTurn,
        reason => reason.tag().into(),
    };
    let mut response = PromptResponse::new(reason);
    response.usage = idle.usage.map(|usage| *usage);
    TurnEnd::Response(Box::new(response))
}
