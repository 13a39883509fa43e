//! A session with its prompts, in version 1 open until the turn ends.
//!
//! Spec: [Prompt Turn](https://agentclientprotocol.com/protocol/v1/prompt-turn),
//! [Prompt Lifecycle](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle)
use super::calls::Calls;
use super::send;
use crate::convert::fingerprint::ContentFingerprint;
use crate::convert::outbox::Outbox;
use crate::convert::recent::Recent;
use crate::convert::setup::{ModeOption, modes_of};
use crate::convert::side::Side;
use crate::convert::{BridgeLoss, MAX_MESSAGES, MAX_PROMPTS, text_of};
use crate::session_state::STATE_META;
use crate::v1::prompt_turn::{Cost, PromptResponse, SessionUpdate, StopReason};
use crate::v1::session_list::SessionInfoUpdate;
use crate::v1::session_modes::{CurrentModeUpdate, SessionModeId};
use crate::v1::session_setup::SessionId;
use crate::v2::agent_plan::PlanId;
use crate::v2::compaction::CompactionStatus;
use crate::v2::content::ContentBlock;
use crate::v2::prompt_lifecycle::MessageId;
use crate::v2::session_config_options::SessionConfigOption;
use crate::v2::session_states::{IdleStateUpdate, StateUpdate, StopReason as IdleReason};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Meta, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject, RequestId};

/// A session of an agent of version 2.
#[derive(Debug)]
pub(super) struct Session {
    /// Prompts that the editor waits for, oldest first.
    prompts: VecDeque<OpenPrompt>,
    /// Messages of ended prompts. Their text may still arrive.
    inserted: VecDeque<MessageId>,
    /// Messages that were sent, by kind and id.
    pub(super) messages: Recent<ContentFingerprint>,
    pub(super) calls: Calls,
    /// The option that stands for the modes.
    pub(super) mode: Option<ModeOption>,
    /// The plan that the editor shows.
    pub(super) plan: Option<PlanId>,
    /// Whether the agent works without a prompt.
    is_own_turn: bool,
    /// Whether the agent has to report the end of a replay.
    pub(super) is_replayed: bool,
    /// The status of each compaction, which version 1 repeats.
    pub(super) compactions: Recent<CompactionStatus>,
    /// The last cost, which version 1 repeats.
    pub(super) cost: Option<Box<Cost>>,
}

/// A prompt without a response to the editor.
#[derive(Debug)]
struct OpenPrompt {
    id: RequestId,
    /// Whether the agent has inserted the message.
    is_accepted: bool,
    message: Option<MessageId>,
    /// The text of the prompt, until its message is known.
    text: String,
    /// Whether the session was busy since the prompt.
    is_busy: bool,
    /// The end of the turn, if the agent reported it before it accepted the prompt.
    idle: Option<Box<IdleStateUpdate>>,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            prompts: VecDeque::new(),
            inserted: VecDeque::new(),
            messages: Recent::new(MAX_MESSAGES),
            calls: Calls::default(),
            mode: None,
            plan: None,
            is_own_turn: false,
            is_replayed: false,
            compactions: Recent::new(MAX_MESSAGES),
            cost: None,
        }
    }
}

impl Session {
    pub(super) fn has_prompts(&self) -> bool {
        !self.prompts.is_empty()
    }

    /// Forgets what the editor has, since a session that is loaded or resumed begins anew. Its turn
    /// may be open.
    pub(super) fn restart(&mut self) {
        let prompts = core::mem::take(&mut self.prompts);
        let mode = self.mode.take();
        *self = Self { prompts, mode, is_own_turn: self.is_own_turn, ..Self::default() };
    }

    pub(super) fn is_accepted(&self, id: &RequestId) -> bool {
        self.prompts.iter().any(|prompt| prompt.is_accepted && prompt.id == *id)
    }

    /// Opens a prompt, and returns whether there is room.
    pub(super) fn prompt(&mut self, id: RequestId, prompt: &[ContentBlock]) -> bool {
        let has_room = self.prompts.len() < MAX_PROMPTS;
        if has_room {
            let is_accepted = false;
            let message = None;
            let text = text_of(prompt);
            let prompt = OpenPrompt { id, is_accepted, message, text, is_busy: false, idle: None };
            self.prompts.push_back(prompt);
        }
        has_room
    }

    /// Handles the response to a prompt: the message is inserted.
    pub(super) fn accept(&mut self, id: &RequestId, message: MessageId, out: &mut Outbox) {
        self.remember(message.clone());
        let Some(index) = self.prompts.iter().position(|prompt| prompt.id == *id) else { return };
        let Some(prompt) = self.prompts.get_mut(index) else { return };
        prompt.is_accepted = true;
        prompt.message = Some(message);
        prompt.text = String::new();
        if let Some(idle) = prompt.idle.take() {
            answer(&prompt.id, &idle, out);
            self.prompts.remove(index);
        }
    }

    fn remember(&mut self, message: MessageId) {
        if self.inserted.len() >= MAX_PROMPTS {
            self.inserted.pop_front();
        }
        self.inserted.push_back(message);
    }

    /// Handles an error response to a prompt.
    pub(super) fn refused(&mut self, id: &RequestId) {
        self.prompts.retain(|prompt| prompt.id != *id);
    }

    /// Returns whether a user message with this content is that of a prompt, which the editor has.
    pub(super) fn is_prompt(&mut self, message: &MessageId, content: &[ContentBlock]) -> bool {
        if self.inserted.contains(message) {
            return true;
        }
        let mut prompts = self.prompts.iter();
        if prompts.any(|prompt| prompt.message.as_ref() == Some(message)) {
            return true;
        }
        // The text may precede the response with its id. A message without content matches no
        // prompt.
        if content.is_empty() {
            return false;
        }
        let text = text_of(content);
        let is_begin =
            |prompt: &&mut OpenPrompt| prompt.message.is_none() && prompt.text.starts_with(&text);
        let prompt = self.prompts.iter_mut().find(is_begin);
        prompt.map(|prompt| prompt.message = Some(message.clone())).is_some()
    }

    /// Returns whether a user message is that of a prompt, which the editor has without its id.
    pub(super) fn is_prompt_message(&self, message: &MessageId) -> bool {
        let mut prompts = self.prompts.iter();
        self.inserted.contains(message)
            || prompts.any(|prompt| prompt.message.as_ref() == Some(message))
    }

    /// Handles a state. An idle one ends the turns of the accepted prompts. Those of a turn without
    /// a prompt are sent as metadata.
    pub(super) fn state(
        &mut self,
        id: &SessionId,
        state: &StateUpdate,
        meta: Option<&Meta>,
        out: &mut Outbox,
    ) {
        let is_own = self.is_own_turn || self.prompts.is_empty() && state.is_busy();
        if is_own {
            self.is_own_turn = !state.is_idle();
            let mut carried = Meta::new();
            carried.insert(STATE_META, Raw::of(state));
            let mut info = SessionInfoUpdate::new();
            info.meta = carried.into();
            send(id, SessionUpdate::SessionInfoUpdate(Box::new(info)), meta, out);
        } else {
            self.lose_state(state, meta, out);
        }
        if let StateUpdate::Idle(idle) = state {
            return self.idle(idle, out);
        }
        for prompt in self.prompts.iter_mut().filter(|_| state.is_busy()) {
            prompt.is_busy = true;
            prompt.idle = None;
        }
    }

    /// Reports the parts of a state that version 1 does not have.
    fn lose_state(&self, state: &StateUpdate, meta: Option<&Meta>, out: &mut Outbox) {
        if meta.is_some() {
            out.lose_of(BridgeLoss::State, state.tag(), "_meta");
        }
        let background = match state {
            StateUpdate::Running(it) => it.background.is_some(),
            StateUpdate::RequiresAction(it) => it.background.is_some(),
            StateUpdate::UnknownState(it) => it.background.is_some(),
            StateUpdate::Idle(it) => it.background.is_some(),
            StateUpdate::Unknown(_) => false,
        };
        if background {
            out.lose(BridgeLoss::Background, state.tag());
        }
        let is_known = matches!(state, StateUpdate::Running(_) | StateUpdate::Idle(_));
        if self.prompts.is_empty() || !is_known {
            out.lose(BridgeLoss::State, state.tag());
        }
    }

    /// Ends the turns of the accepted prompts.
    fn idle(&mut self, idle: &IdleStateUpdate, out: &mut Outbox) {
        let is_stale = matches!(idle.stop_reason, IdleReason::NotReported(_));
        let has_accepted = self.prompts.iter().any(|prompt| prompt.is_accepted);
        let mut open = VecDeque::new();
        for mut prompt in core::mem::take(&mut self.prompts) {
            if !prompt.is_busy && is_stale {
                // The state precedes the prompt.
                open.push_back(prompt);
            } else if prompt.is_accepted {
                answer(&prompt.id, idle, out);
            } else {
                // An accepted prompt owns the turn that ends here.
                if !has_accepted {
                    prompt.idle = Some(Box::new(idle.clone()));
                }
                open.push_back(prompt);
            }
        }
        self.prompts = open;
    }

    /// Ends all turns of a session that is closed.
    pub(super) fn close(self, out: &mut Outbox) {
        for prompt in self.prompts.iter().filter(|prompt| prompt.is_accepted) {
            out.result(Side::Editor, &prompt.id, &PromptResponse::new(StopReason::Cancelled));
        }
    }

    pub(super) fn set_mode(&mut self, mode: &SessionModeId) {
        if let Some(option) = &mut self.mode {
            option.modes.current_mode_id = mode.clone();
        }
    }

    /// Sends the current mode, if the options have another one than before.
    pub(super) fn change_mode(
        &mut self,
        id: &SessionId,
        options: &[SessionConfigOption],
        out: &mut Outbox,
    ) {
        let Some(option) = modes_of(options) else { return };
        let current = option.modes.current_mode_id;
        let Some(before) = &mut self.mode else {
            return out.lose(BridgeLoss::Mode, current.as_str());
        };
        if before.modes.current_mode_id == current {
            return;
        }
        before.modes.current_mode_id = current.clone();
        let ids: Vec<_> = before.modes.available_modes.iter().map(|mode| &mode.id).collect();
        if ids.contains(&&current) {
            let update = SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(current));
            send(id, update, None, out);
        } else {
            out.lose(BridgeLoss::Mode, current.as_str());
        }
    }
}

/// Ends the turn of a prompt.
fn answer(id: &RequestId, idle: &IdleStateUpdate, out: &mut Outbox) {
    let reason = match &idle.stop_reason {
        IdleReason::Error(reason) => {
            let error = reason.error.as_deref().cloned().unwrap_or_else(|| {
                out.lose(BridgeLoss::StopReason, "error");
                ErrorObject::new(ErrorCode::INTERNAL_ERROR, "the turn failed")
            });
            return out.error(Side::Editor, id, error);
        }
        IdleReason::NotReported(_) => {
            out.lose(BridgeLoss::StopReason, "");
            StopReason::EndTurn
        }
        reason if reason.is_known() => reason.tag().into(),
        reason => {
            out.lose(BridgeLoss::StopReason, reason.tag());
            StopReason::EndTurn
        }
    };
    let mut response = PromptResponse::new(reason);
    response.usage = idle.usage.as_deref().cloned();
    response.meta = idle.meta.clone();
    out.result(Side::Editor, id, &response);
}
