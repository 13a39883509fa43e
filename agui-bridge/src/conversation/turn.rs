//! The agent's turn: its session, its prompt, and its end.
use super::active::{ActiveRun, PlannedTurn, Stage};
use super::begin::meta_of;
use super::output::{Command, OpenSession, SessionNumber, SessionOrigin};
use super::refused_servers::RefusedServers;
use super::servers::OpenAttempt;
use super::session::{AgentState, ConversationSession, continued};
use super::session_settings::{Setting, config_value};
use super::{Conversation, ConversationDiagnostic, Trouble};
use crate::CancelReason;
use crate::Failure;
use crate::input::{SessionScope, SessionStep};
use acp_types::client::{
    CallError, NewSessionResponse, OpenedSession, ReceivedValue, TurnEnd, TurnError,
};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::{PromptResponse, StopReason};
use acp_types::v1::session_setup::SessionId;
use acp_types::v2::prompt_lifecycle::{
    SessionUpdate as SessionUpdateV2, UpdateSessionNotification,
};
use acp_types::v2::slash_commands::AvailableCommandsUpdate;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{Extra, decode};

impl Conversation {
    /// Sends a prompt, in a new session if none is open for it.
    pub(super) fn begin_turn(&mut self, mut turn: PlannedTurn) {
        if let Some(trouble) = self.agent_trouble() {
            return self.trouble(trouble);
        }
        let session = self.session.as_ref().map(|session| session.id.clone());
        let source = turn.source.clone().or(session);
        if source.is_none() {
            self.replace_fork(&mut turn);
        }
        let fork = match (&turn.step, source) {
            (SessionStep::Fork { cursor }, Some(source)) => {
                Some(SessionOrigin::Fork(source, cursor.clone()))
            }
            _ => None,
        };
        let is_unused = self.session.as_ref().is_some_and(|session| session.is_unused);
        let is_usable = is_unused && self.is_usable_for(&turn);
        let needs_other = match &turn.step {
            SessionStep::New { .. } => !is_usable,
            SessionStep::Fork { .. } => fork.is_some(),
            SessionStep::Attach => is_unused,
            SessionStep::Keep => false,
        };
        if needs_other {
            if self.session.is_some() && !is_unused {
                self.forget_remembered();
            }
            self.release();
        }
        if self.session.is_some() && !is_usable {
            return self.prompt(turn);
        }
        let is_known = match &turn.step {
            SessionStep::Fork { .. } => fork.is_some(),
            SessionStep::Attach => true,
            SessionStep::New { .. } => {
                let is_of_turn = self.options.rules.session == SessionScope::Turn;
                turn.prompt.unseen == 0 || turn.is_expected || is_of_turn
            }
            SessionStep::Keep => false,
        };
        if !is_known {
            let is_new = matches!(turn.step, SessionStep::New { .. });
            self.translator.handle_new_session(is_new && self.options.rules.transcript_bytes > 0);
        }
        if is_usable {
            return self.prompt(turn);
        }
        let attached = turn.forwarded.session_id.clone();
        let origin = self.origin(&turn.step, fork, attached);
        let system_prompt = match &turn.step {
            SessionStep::New { system_prompt } => system_prompt.clone(),
            _ => None,
        };
        let meta = self.active.as_ref().map(|active| active.meta.clone()).unwrap_or_default();
        let session = self.open(origin, system_prompt, turn.forwarded.cwd.clone(), meta);
        self.set_stage(Stage::Opening { session, turn });
        self.translator.set_opening(true);
    }

    /// Returns whether the session that was opened before the first run is as one opened for this
    /// turn would be.
    fn is_usable_for(&self, turn: &PlannedTurn) -> bool {
        let is_elsewhere = turn.forwarded.cwd.as_ref().is_some_and(|it| *it != self.options.cwd);
        let has_no_instructions = turn.step == SessionStep::New { system_prompt: None };
        let has_meta = self.active.as_ref().is_some_and(|active| !active.meta.is_empty());
        has_no_instructions && !is_elsewhere && !has_meta && self.page.is_provided()
    }

    fn origin(
        &self,
        step: &SessionStep,
        fork: Option<SessionOrigin>,
        attached: Option<SessionId>,
    ) -> SessionOrigin {
        let AgentState::Connected(features) = &self.agent else { return SessionOrigin::New };
        let attached = attached.filter(|_| *step == SessionStep::Attach);
        let attached = attached.and_then(|id| continued(&id, features));
        attached.or(fork).unwrap_or(SessionOrigin::New)
    }

    /// Opens a session.
    pub(super) fn open(
        &mut self,
        origin: SessionOrigin,
        system_prompt: Option<String>,
        cwd: Option<String>,
        meta: Extra,
    ) -> SessionNumber {
        self.release();
        self.sessions += 1;
        let number = SessionNumber(self.sessions);
        self.attached = Some(number);
        let provision = match &self.agent {
            AgentState::Connected(features) => {
                self.page.provide(features, RefusedServers::default())
            }
            _ => super::page_tools::Provision::default(),
        };
        let mut members = meta;
        let announced = provision.meta.and_then(|meta| decode::<Extra>(meta.as_str()).ok());
        for (name, value) in announced.iter().flat_map(Extra::iter) {
            members.insert(name, value.clone());
        }
        let server = provision.servers.first().cloned();
        let configured = self.configured_servers();
        let has_configured = !configured.is_empty();
        let mcp_servers = configured.into_iter().chain(provision.servers).collect();
        let cwd = cwd.unwrap_or_else(|| self.options.cwd.clone());
        let meta = meta_of(&members);
        let config_options = self.initial_options();
        let system_prompt = self.instructions(system_prompt);
        let open = OpenSession { origin, cwd, mcp_servers, system_prompt, config_options, meta };
        let has_servers = has_configured || server.is_some();
        self.attempt = has_servers.then(|| OpenAttempt::new(open.clone(), server, has_configured));
        self.commands.push_back(Command::Open(number, Box::new(open)));
        number
    }

    /// Returns the instructions for a session, if its agent accepts them: those of the program,
    /// then those of the input.
    fn instructions(&self, of_input: Option<String>) -> Option<String> {
        let AgentState::Connected(features) = &self.agent else { return of_input };
        let of_program = self.options.system_prompt.clone().filter(|_| features.system_prompt);
        let texts: Vec<_> = of_program.into_iter().chain(of_input).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// Returns the instructions of the program, if they have to be a part of the first prompt.
    fn instructions_in_prompt(&self) -> Option<String> {
        let has_feature = matches!(&self.agent, AgentState::Connected(it) if it.system_prompt);
        self.options.system_prompt.clone().filter(|_| !has_feature)
    }

    pub(super) fn handle_opened(&mut self, number: SessionNumber, mut opened: OpenedSession) {
        if self.opening().is_some_and(|opening| opening.number == number) {
            return self.handle_continued(number, &mut opened);
        }
        if self.session.is_some() {
            return;
        }
        let is_expected = |active: &&mut ActiveRun| matches!(&active.stage, Stage::Opening { session, .. } if *session == number);
        let Some(active) = self.active.as_mut().filter(is_expected) else {
            // The run that it was opened for has ended.
            return self.release();
        };
        let stage = core::mem::replace(&mut active.stage, Stage::Working);
        let is_unused = matches!(&stage, Stage::Opening { turn, .. } if turn.step.is_new_session());
        self.session =
            Some(ConversationSession { is_unused, ..ConversationSession::new(number, &opened) });
        self.show_commands(&opened);
        self.restore_settings();
        self.translator.set_opening(false);
        self.handle_attempt_opened();
        if let Stage::Opening { turn, .. } = stage {
            if turn.step == SessionStep::Attach {
                let cursors = self.take_cursors(&mut opened.replay);
                self.memory.handle_replayed_cursors(opened.session_id.as_str(), &cursors);
                let replay = core::mem::take(&mut opened.replay).into_iter();
                let is_loaded = !self.can_resume();
                self.translator.show_named(replay.map(|update| update.value), is_loaded);
            }
            self.prompt(turn);
        }
    }

    /// Shows the commands of an opened session, which version 2 has in the response.
    pub(super) fn show_commands(&mut self, opened: &OpenedSession) {
        if let NewSessionResponse::V2(response) = &opened.response.value
            && let Some(commands) = &response.available_commands
        {
            let update = AvailableCommandsUpdate::new(commands.clone());
            let update = SessionUpdateV2::AvailableCommandsUpdate(update);
            let update = UpdateSessionNotification::new(opened.session_id.as_str(), update);
            self.translator.handle_notification_v2(update);
        }
    }

    pub(super) fn handle_refused(&mut self, error: &CallError) {
        if self.session.is_some() || self.open_without_fork(error) || self.reopen(error) {
            return;
        }
        let opening = self.opening();
        let is_continued = opening.is_some_and(|opening| !opening.is_new);
        let method = if is_continued { "session/load" } else { "session/new" };
        let trouble = Trouble::of(method, error, Failure::AgentTimeout, &self.options.sign_in);
        if opening.is_some() {
            return self.handle_not_continued(&trouble);
        }
        self.trouble(trouble);
        self.respond();
        self.attached = None;
        self.end_session();
    }

    /// Sends a prompt in the open session.
    fn prompt(&mut self, mut turn: PlannedTurn) {
        let Some(session) = &mut self.session else { return };
        session.has_turn = true;
        let is_first = core::mem::take(&mut session.is_unused);
        let number = session.number;
        let id = session.id.clone();
        self.memory.handle_prompt_sent(id.as_str());
        self.page.offer_contextual(&id);
        turn.precede(self.page.take_late());
        if let Some(attempt) = &mut self.attempt {
            attempt.set_turn(&turn);
        }
        let skill = self.take_skill(&mut turn);
        let PlannedTurn { mut prompt, forwarded, .. } = turn;
        if let Some(instructions) = self.instructions_in_prompt().filter(|_| is_first) {
            prompt.blocks.insert(0, ContentBlock::from(instructions));
        }
        self.translator.handle_prompt_sent(skill.as_deref(), &prompt.blocks);
        let mut settings = Vec::new();
        settings.extend(forwarded.mode.as_deref().map(|mode| Setting::Mode(mode.into())));
        for (config, value) in &forwarded.config {
            match config_value(value) {
                Some(value) => settings.push(Setting::ConfigOption(config.as_str().into(), value)),
                None => self.diagnose(ConversationDiagnostic::ConfigValue(config.clone())),
            }
        }
        let form = |setting| match &self.session {
            Some(session) => session.settings.form_of(setting),
            None => setting,
        };
        let set = |setting| Command::Set { session: number, key: None, setting: form(setting) };
        self.commands.extend(settings.into_iter().map(set));
        let run = self.active.as_ref().map(|active| active.meta.clone());
        let mut members = run.unwrap_or_default();
        for (name, value) in forwarded.meta.iter() {
            members.insert(name, value.clone());
        }
        let blocks = prompt.blocks;
        let meta = meta_of(&members);
        self.commands.push_back(Command::Prompt { session: number, blocks, skill, meta });
        self.show_setting_notices();
        self.remember();
        self.set_stage(Stage::Working);
    }

    /// Takes the skill that the user invokes out of a prompt.
    fn take_skill(&self, turn: &mut PlannedTurn) -> Option<String> {
        let AgentState::Connected(features) = &self.agent else { return None };
        let session = self.session.as_ref().filter(|_| features.skills)?;
        let blocks = &mut turn.prompt.blocks;
        let Some(ContentBlock::Text(block)) = blocks.get_mut(turn.first_said) else {
            return None;
        };
        let skill = session.take_skill(&mut block.text)?;
        if block.text.is_empty() {
            blocks.remove(turn.first_said);
        }
        Some(skill)
    }

    pub(super) fn handle_turn_ended(&mut self, ended: Result<ReceivedValue<TurnEnd>, TurnError>) {
        let Some(session) = self.session.as_mut().filter(|session| session.has_turn) else {
            return;
        };
        session.has_turn = false;
        match &ended {
            Ok(_) => self.handle_attempt_succeeded(),
            Err(TurnError::Call(error)) if self.prompt_again(error) => return,
            Err(_) => self.attempt = None,
        }
        self.page.machine.handle_turn_end();
        self.page.drive(&mut self.translator);
        let error = match ended {
            Ok(ReceivedValue { value: TurnEnd::V1(response), .. }) => {
                return self.translator.handle_prompt_response(Ok(response));
            }
            Ok(ReceivedValue { value: TurnEnd::V2(idle), .. }) => {
                return self.translator.handle_idle(*idle);
            }
            Ok(_) => return,
            Err(TurnError::Call(error)) => error,
            Err(_) => return self.give_up(),
        };
        let trouble =
            Trouble::of("session/prompt", &error, Failure::TurnTimeout, &self.options.sign_in);
        match &trouble {
            // Another process of the agent may continue the session.
            Trouble::Failed(Failure::AgentExited, _) => self.attached = None,
            Trouble::Failed(..) => self.leave_session(),
            Trouble::Refused(_) if trouble.is_session_lost() => {
                self.forget_remembered();
                self.drop_session();
            }
            Trouble::Refused(_) => {}
        }
        if self.attached.is_none() {
            self.end_session();
        }
        self.trouble(trouble);
    }

    pub(super) fn trouble(&mut self, trouble: Trouble) {
        match trouble {
            Trouble::Refused(error) => self.translator.handle_prompt_response(Err(error)),
            Trouble::Failed(failure, message) => self.translator.handle_failure(failure, &message),
        }
    }

    /// Ends the open run.
    pub(super) fn stop(&mut self, reason: CancelReason) {
        let Some(active) = &mut self.active else { return };
        if active.is_cancelled || !self.translator.is_running() {
            return;
        }
        active.is_cancelled = true;
        let is_opening = matches!(active.stage, Stage::Opening { .. });
        self.cancel_unsent();
        self.translator.handle_cancel(reason);
        self.page.machine.handle_cancel();
        if is_opening {
            self.release();
            return self.translator.handle_stopped();
        }
        self.page.drive(&mut self.translator);
        self.respond();
        if self.has_turn() {
            self.cancel_turn();
            // A later process does not carry the instruction out either.
            self.memory.handle_cancel();
            self.remember();
            let until = self.now.saturating_add(self.options.cancel_grace);
            self.set_stage(Stage::Stopping { until });
        } else {
            self.translator.handle_stopped();
        }
    }

    /// Handles that the prompt of the open run is cancelled, unless it was sent.
    pub(super) fn cancel_unsent(&mut self) {
        let stage = self.active.as_ref().map(|active| &active.stage);
        if let Some(Stage::Opening { turn, .. } | Stage::Waiting { turn, .. }) = stage {
            let instruction = turn.instruction.clone();
            self.handle_unsent(&instruction);
        }
    }

    /// Handles that a cancelled turn did not end in time.
    pub(super) fn give_up(&mut self) {
        self.diagnose(ConversationDiagnostic::GraceOver);
        self.page.machine.handle_turn_end();
        self.forget_remembered();
        self.drop_session();
        if matches!(&self.active, Some(active) if matches!(active.stage, Stage::Waiting { .. })) {
            // The prompt that waits for the end of the turn follows, in a new session.
            let cancelled = PromptResponse::new(StopReason::Cancelled);
            self.translator.handle_prompt_response(Ok(cancelled));
        } else {
            self.translator.handle_stopped();
        }
    }

    /// Releases a session in which the agent may still be working.
    pub(super) fn leave_session(&mut self) {
        self.page.machine.handle_turn_end();
        self.forget_remembered();
        self.drop_session();
    }

    pub(super) fn cancel_turn(&mut self) {
        if let Some(session) = self.session.as_ref().filter(|_| self.has_turn()) {
            let session = session.number;
            let grace = self.options.cancel_grace;
            self.commands.push_back(Command::Cancel { session, grace });
        }
    }

    /// Releases the session, and forgets its conversation.
    fn drop_session(&mut self) {
        self.release();
        self.memory.forget_session();
    }

    /// Releases the session, or the attempt to open one.
    pub(super) fn release(&mut self) {
        if let Some(session) = self.attached.take() {
            self.commands.push_back(Command::Release(session));
        }
        self.unclaimed = None;
        self.end_session();
    }

    /// Handles the end of the session.
    pub(super) fn end_session(&mut self) {
        self.requests.remove_agent();
        self.translator.forget_own_turn();
        self.translator.forget_replay();
        if let Some(session) = self.session.take() {
            self.page.forget_session(&session.id);
        }
    }

    pub(super) fn set_stage(&mut self, stage: Stage) {
        if let Some(active) = &mut self.active {
            active.stage = stage;
        }
    }

    /// Handles the end of the connection to the agent, or of a connection attempt.
    ///
    /// Turns and runs that wait for the agent fail, as do later runs until
    /// [`handle_connected`](Self::handle_connected). Then the session is continued, if the agent
    /// supports it.
    pub fn handle_disconnected(&mut self, failure: Failure, message: &str, now: Duration) {
        self.disconnect(Trouble::Failed(failure, message.to_owned()), now);
    }

    /// Handles that the agent refused the connection or the login, with this error.
    pub fn handle_denied(&mut self, error: &ErrorObject, now: Duration) {
        self.disconnect(Trouble::Refused(error.clone()), now);
    }

    /// Handles the end of the program.
    pub(super) fn shut_down(&mut self, message: &str) {
        let starting = self.starting.as_mut().map(|starting| &mut starting.run);
        for run in self.queue.iter_mut().chain(starting) {
            run.cancel.get_or_insert(CancelReason::Shutdown);
        }
        self.cancel_unsent();
        if self.is_continuable() {
            self.cancel_turn();
            self.page.machine.handle_turn_end();
            self.page.drive(&mut self.translator);
        } else {
            // No process will continue the session.
            self.leave_session();
        }
        self.translator.handle_failure(Failure::GatewayShutdown, message);
        // The session is still known, so that the answer so far is remembered.
        self.flush();
        self.disconnect(Trouble::Failed(Failure::GatewayShutdown, message.to_owned()), self.now);
    }

    /// Returns whether the agent continues sessions without a replay.
    fn can_resume(&self) -> bool {
        matches!(&self.agent, AgentState::Connected(features) if features.resume)
    }

    /// Returns whether another process can continue the session.
    fn is_continuable(&self) -> bool {
        let AgentState::Connected(features) = &self.agent else { return true };
        let is_of_turn = self.options.rules.session == SessionScope::Turn;
        !is_of_turn && (features.load || features.resume)
    }

    pub(crate) fn disconnect(&mut self, trouble: Trouble, now: Duration) {
        self.begin_input(now);
        let is_shutdown = matches!(trouble, Trouble::Failed(Failure::GatewayShutdown, _));
        self.agent = AgentState::Lost(trouble.clone());
        self.settings.forget_offered();
        self.attached = None;
        self.end_session();
        self.page.machine.handle_turn_end();
        self.page.drive(&mut self.translator);
        self.unclaimed = None;
        match &self.starting {
            // The end of the program says nothing about the session that is being continued.
            Some(starting) if starting.loading.is_some() && !is_shutdown => {
                self.handle_not_continued(&trouble);
            }
            Some(_) => {
                if let Some(starting) = self.starting.take() {
                    self.start_waiting(starting.run);
                }
            }
            None => self.trouble(trouble),
        }
        self.advance();
    }
}
