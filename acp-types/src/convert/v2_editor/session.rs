//! A session with its turns, which version 2 reports as states.
//!
//! Spec: [Prompt Turn](https://agentclientprotocol.com/protocol/v1/prompt-turn),
//! [Prompt Lifecycle](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle)
use super::calls::ToolCalls;
use super::send;
use super::submissions::Submissions;
use crate::alike::{idle, reason_to_v2};
use crate::convert::content::blocks_to_v1;
use crate::convert::outbox::Outbox;
use crate::convert::setup::option_of;
use crate::convert::side::Side;
use crate::convert::{BridgeLoss, MAX_PROMPTS, text_of};
use crate::v1;
use crate::v1::session_modes::SessionModeState;
use crate::v1::session_setup::SessionId;
use crate::v2::content::ContentBlock;
use crate::v2::prompt_lifecycle::{
    MessageId, PromptRequest, PromptResponse, SessionUpdate, UserMessage,
};
use crate::v2::session_config_options::{SessionConfigOption, SessionConfigOptionCategory};
use crate::v2::session_setup::ReplayComplete;
use crate::v2::session_states::{
    ErrorStopReason, RequiresActionStateUpdate, RunningStateUpdate, StateUpdate, StopReason,
};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Extra;
use jsonrpc_core::{ErrorCode, ErrorObject, RequestId};

/// A session of an agent of version 1.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) turn: Option<Turn>,
    /// Prompts that wait for the end of the turn.
    held: VecDeque<(RequestId, PromptRequest)>,
    /// The message without an id that the next chunk continues.
    pub(super) open: Option<(String, MessageId)>,
    /// Number of invented ids.
    invented: u64,
    pub(super) calls: ToolCalls,
    pub(super) modes: Option<SessionModeState>,
    pub(super) options: Vec<SessionConfigOption>,
    /// Whether updates are dropped until the session is loaded.
    pub(super) drops_replay: bool,
    pub(super) is_closed: bool,
    /// Whether the agent can work without a prompt: the session is neither being opened nor loaded.
    pub(super) is_open: bool,
    pub(super) own_turn: Option<OwnTurn>,
    /// Whether the editor waits for the end of a replay.
    pub(super) is_replayed: bool,
    pub(super) submissions: Submissions,
}

/// A turn without a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnTurn {
    /// The agent reports its end, by another bridge.
    Reported,
    /// Silence ends it.
    Quiet,
}

/// An open turn.
#[derive(Debug)]
pub(super) struct Turn {
    id: RequestId,
    prompt: Vec<ContentBlock>,
    /// The id of the user's message, once the agent has shown that it has the prompt.
    message: Option<MessageId>,
    /// The text of the prompt that the agent has not repeated.
    pub(super) unrepeated: String,
    /// Whether the agent has sent anything but the prompt.
    pub(super) has_output: bool,
}

impl Session {
    /// Forgets a session that is loaded or resumed, unless a prompt is open. Ids of messages stay
    /// unique.
    pub(super) fn restart(&mut self, session: &SessionId, out: &mut Outbox) {
        if !self.is_busy() {
            self.calls.end(session, out);
            let modes = self.modes.take();
            let options = core::mem::take(&mut self.options);
            let submissions = core::mem::take(&mut self.submissions);
            let invented = self.invented;
            *self = Self { modes, options, submissions, invented, ..Self::default() };
        }
        self.is_open = false;
    }

    pub(super) fn is_busy(&self) -> bool {
        self.turn.is_some() || !self.held.is_empty()
    }

    /// Returns whether the editor has the response to this prompt, and the turn is open.
    pub(super) fn has_accepted(&self, id: &RequestId) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.message.is_some() && turn.id == *id)
    }

    /// Returns whether the open turn is that of this prompt. That of an earlier prompt may have
    /// been closed.
    pub(super) fn has_turn(&self, id: &RequestId) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.id == *id)
    }

    /// Returns whether there is no room for another prompt.
    pub(super) fn is_full(&self) -> bool {
        self.held.len() >= MAX_PROMPTS
    }

    /// Holds a prompt, and returns whether there is room.
    pub(super) fn hold(&mut self, id: RequestId, prompt: PromptRequest) -> bool {
        let has_room = !self.is_full();
        if has_room {
            self.held.push_back((id, prompt));
        }
        has_room
    }

    /// Refuses a held prompt or a waiting repetition of one, and returns whether there was one.
    pub(super) fn take_held(&mut self, id: &RequestId, out: &mut Outbox) -> bool {
        let cancelled = ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "cancelled");
        if let Some(at) = self.held.iter().position(|(held, _)| held == id) {
            self.held.remove(at);
            self.submissions.refuse(id, &cancelled, out);
        } else if !self.submissions.cancel(id) {
            return false;
        }
        out.error(Side::Editor, id, cancelled);
        true
    }

    /// Refuses the held prompts, since the cancellation of a session covers them.
    pub(super) fn cancel_held(&mut self, out: &mut Outbox) {
        self.refuse_held(&ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "cancelled"), out);
    }

    fn refuse_held(&mut self, error: &ErrorObject, out: &mut Outbox) {
        for (id, _) in core::mem::take(&mut self.held) {
            out.error(Side::Editor, &id, error.clone());
            self.submissions.refuse(&id, error, out);
        }
    }

    /// Begins the turn of the next held prompt, and returns the prompt for the agent.
    pub(super) fn begin_turn(
        &mut self,
        session: &SessionId,
        out: &mut Outbox,
    ) -> Option<(RequestId, v1::prompt_turn::PromptRequest)> {
        if self.turn.is_some() {
            return None;
        }
        let (id, prompt) = self.held.pop_front()?;
        let content = blocks_to_v1("prompt", &prompt.prompt, out);
        let mut request_v1 = v1::prompt_turn::PromptRequest::new(prompt.session_id, content);
        request_v1.meta = prompt.meta;
        self.open = None;
        // An own turn of the agent continues as the turn of the prompt.
        self.own_turn = None;
        self.is_open = true;
        self.turn = Some(Turn {
            id: id.clone(),
            unrepeated: text_of(&prompt.prompt),
            prompt: prompt.prompt,
            message: None,
            has_output: false,
        });
        running(session, out);
        Some((id, request_v1))
    }

    pub(super) fn invent(&mut self) -> MessageId {
        self.invented += 1;
        MessageId::from(format!("bridge-{}", self.invented))
    }

    /// Answers the prompt, since the agent has it, and returns the id of the user's message.
    pub(super) fn accept(
        &mut self,
        session: &SessionId,
        given: Option<&MessageId>,
        out: &mut Outbox,
    ) -> Option<MessageId> {
        let turn = self.turn.as_ref()?;
        if let Some(message) = &turn.message {
            return Some(message.clone());
        }
        let message = given.cloned().unwrap_or_else(|| self.invent());
        let turn = self.turn.as_mut()?;
        turn.message = Some(message.clone());
        out.result(Side::Editor, &turn.id, &PromptResponse::new(message.clone()));
        self.submissions.accept(&turn.id, &message, out);
        let mut update = UserMessage::new(message.clone());
        update.content = core::mem::take(&mut turn.prompt).into();
        send(session, SessionUpdate::UserMessage(Box::new(update)), None, out);
        Some(message)
    }

    /// Handles output of the agent, which shows that it has the prompt. Without a prompt, it begins
    /// a turn.
    pub(super) fn output(&mut self, session: &SessionId, out: &mut Outbox) {
        self.accept(session, None, out);
        if let Some(turn) = &mut self.turn {
            turn.has_output = true;
        } else if self.own_turn.is_none() && self.is_open {
            self.own_turn = Some(OwnTurn::Quiet);
            out.lose(BridgeLoss::OwnTurn, session.as_str());
            running(session, out);
        }
    }

    /// Ends the turn without a prompt. Its outcome is unknown.
    pub(super) fn fell_silent(&mut self, session: &SessionId, out: &mut Outbox) {
        if self.own_turn.take_if(|turn| *turn == OwnTurn::Quiet).is_some() {
            self.open = None;
            self.calls.end(session, out);
            state(session, idle(StopReason::NotReported(Extra::new()), None), out);
        }
    }

    /// Reports that the user has to answer.
    pub(super) fn blocked(&mut self, session: &SessionId, out: &mut Outbox) {
        self.output(session, out);
        if self.is_working() {
            state(session, StateUpdate::RequiresAction(RequiresActionStateUpdate::new()), out);
        }
    }

    /// Reports that the turn continues.
    pub(super) fn resumed(&mut self, session: &SessionId, out: &mut Outbox) {
        if self.is_working() {
            running(session, out);
        }
    }

    /// Returns whether a turn is open, with or without a prompt.
    pub(super) fn is_working(&self) -> bool {
        self.turn.is_some() || self.own_turn.is_some()
    }

    /// Ends the turn with the result of the prompt.
    pub(super) fn ended(
        &mut self,
        session: &SessionId,
        it: v1::prompt_turn::PromptResponse,
        out: &mut Outbox,
    ) {
        self.accept(session, None, out);
        if self.turn.take().is_none() {
            return;
        }
        self.calls.end(session, out);
        let reason = reason_to_v2(&it.stop_reason);
        let reason = reason.unwrap_or_else(|| StopReason::NotReported(Extra::new()));
        let mut end = idle(reason, it.usage.as_ref());
        if let StateUpdate::Idle(idle) = &mut end {
            idle.meta = it.meta;
        }
        state(session, end, out);
    }

    /// Ends the turn with an error. Before the agent has shown that it has the prompt, the prompt
    /// itself failed.
    pub(super) fn failed(&mut self, session: &SessionId, error: &ErrorObject, out: &mut Outbox) {
        let Some(turn) = self.turn.take() else { return };
        let reason = match error.code {
            ErrorCode::REQUEST_CANCELLED => StopReason::Cancelled(Extra::new()),
            _ => {
                let mut reason = ErrorStopReason::new();
                reason.error = Some(Box::new(error.clone()));
                StopReason::Error(reason)
            }
        };
        if turn.message.is_none() {
            out.error(Side::Editor, &turn.id, error.clone());
            self.submissions.refuse(&turn.id, error, out);
        }
        self.calls.end(session, out);
        state(session, idle(reason, None), out);
    }

    /// Ends the turn of a session that is closed, and refuses its held prompts.
    pub(super) fn close(&mut self, session: &SessionId, out: &mut Outbox) {
        let closed = ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "the session is closed");
        self.calls.end(session, out);
        if let Some(turn) = self.turn.take() {
            if turn.message.is_none() {
                out.error(Side::Editor, &turn.id, closed.clone());
                self.submissions.refuse(&turn.id, &closed, out);
            }
            state(session, idle(StopReason::Cancelled(Extra::new()), None), out);
        } else if self.own_turn.take().is_some() {
            state(session, idle(StopReason::Cancelled(Extra::new()), None), out);
        }
        self.refuse_held(&closed, out);
        self.is_closed = true;
    }

    /// Reports the state after the replay. The turn of a prompt may be open, and one that the agent
    /// has reported since.
    pub(super) fn loaded(&mut self, session: &SessionId, out: &mut Outbox) {
        self.drops_replay = false;
        self.open = None;
        if core::mem::take(&mut self.is_replayed) {
            send(session, SessionUpdate::ReplayComplete(ReplayComplete::new()), None, out);
        }
        if self.turn.is_some() || self.own_turn == Some(OwnTurn::Reported) {
            return running(session, out);
        }
        self.own_turn = None;
        state(session, idle(StopReason::NotReported(Extra::new()), None), out);
    }

    /// Returns whether an option stands for the modes.
    pub(super) fn has_mode_option(&self) -> bool {
        let mode = Some(SessionConfigOptionCategory::Mode);
        self.modes.is_some() && self.options.iter().all(|option| option.category != mode)
    }

    /// Returns all options, with the one that stands for the modes.
    pub(super) fn all_options(&self, out: &mut Outbox) -> Vec<SessionConfigOption> {
        let mut options = self.options.clone();
        if self.has_mode_option()
            && let Some(modes) = &self.modes
        {
            out.lose(BridgeLoss::Modes, modes.current_mode_id.as_str());
            options.push(option_of(modes));
        }
        options
    }
}

fn state(session: &SessionId, state: StateUpdate, out: &mut Outbox) {
    send(session, SessionUpdate::StateUpdate(state), None, out);
}

fn running(session: &SessionId, out: &mut Outbox) {
    state(session, StateUpdate::Running(RunningStateUpdate::new()), out);
}
