//! Data flow between the connection of a hub, its conversations and the program.
use super::threads::ThreadNumber;
use super::version::{ask_options, open_request, prompt, set, speaks_v2};
use super::{Hub, HubEvent, Login, SettingCall};
use crate::Failure;
use crate::conversation::{
    AgentFeatures, Command, Notice, SessionSettings, SettingError, Trouble, options_of,
};
use acp_types::client::{
    AgentNotification, AgentResponse, CallError, CallKey, CloseReason, Connection, Event,
    Initialization, InitializeResponse, ReceivedValue, SessionEvent, SessionKey, TurnError, Update,
};
use acp_types::v1::dispatch::{
    AgentNotification as AgentNotificationV1, AgentResponse as AgentResponseV1,
};
use acp_types::v1::elicitation::CompleteElicitationNotification;
use acp_types::v1::prompt_turn::SessionUpdate;
use acp_types::v1::session_config_options::SessionConfigOption;
use acp_types::v2::dispatch::{
    AgentNotification as AgentNotificationV2, AgentResponse as AgentResponseV2,
};
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;

impl Hub {
    /// Handles the outputs of the connection.
    pub(super) fn drive(&mut self, now: Duration) {
        while let Some(event) = self.connection.as_mut().and_then(Connection::poll_event) {
            self.handle_event(event, now);
        }
    }

    fn handle_event(&mut self, event: Event, now: Duration) {
        match event {
            Event::Session(key, event) => self.handle_session(key, event, now),
            Event::Initialized(_) => self.log_in(now),
            Event::Request(key, request) => {
                self.events.push_back(HubEvent::Request { thread: None, key, request });
            }
            Event::Withdrawn(key) => self.events.push_back(HubEvent::Withdrawn(key)),
            Event::Notification(notification) => self.handle_notification(notification, now),
            Event::CallEnded(key, ended) => self.handle_call_ended(key, ended, now),
            Event::Diagnostic(diagnostic) => {
                self.events.push_back(HubEvent::Diagnostic(diagnostic));
            }
            Event::Closed(reason) => self.lose_connection(reason, now),
            _ => {}
        }
    }

    fn handle_session(&mut self, key: SessionKey, event: SessionEvent, now: Duration) {
        // The end of a released session needs no handling.
        let Some((number, session)) = self.threads.session(key) else { return };
        let Some(thread) = self.threads.get_mut(number) else { return };
        match &event {
            SessionEvent::Refused(error) => {
                thread.session = None;
                self.needs_login |= matches!(error, CallError::AuthRequired { .. });
            }
            SessionEvent::Opened(_) | SessionEvent::TurnEnded(_, Ok(_)) => self.needs_login = false,
            SessionEvent::TurnEnded(_, Err(TurnError::Call(CallError::AuthRequired { .. }))) => {
                self.needs_login = true;
            }
            SessionEvent::Update(update) if is_text(&update.value) => {
                self.text_thread = Some(number);
            }
            _ => {}
        }
        let decided = match &event {
            SessionEvent::Request(key, _) => self.decided.take_if(|(decided, _)| decided == key),
            _ => None,
        };
        let left = match (event, decided) {
            (SessionEvent::Request(key, request), Some((_, decision))) => {
                thread.conversation.handle_decided(session, key, *request, decision, now)
            }
            (event, _) => thread.conversation.handle_session(session, event, now),
        };
        if let Some(event) = left {
            let thread = Some(thread.name.to_string());
            match event {
                SessionEvent::Request(key, request) => {
                    self.events.push_back(HubEvent::Request { thread, key, request });
                }
                SessionEvent::Withdrawn(key) => self.events.push_back(HubEvent::Withdrawn(key)),
                SessionEvent::Notification(notification) => {
                    self.events.push_back(HubEvent::Notification { thread, notification });
                }
                _ => {}
            }
        }
        self.settle(number, now);
    }

    /// Handles a notification outside of sessions. The completion of an elicitation does not name
    /// its conversation.
    fn handle_notification(
        &mut self,
        notification: Box<ReceivedValue<AgentNotification>>,
        now: Duration,
    ) {
        let complete: Option<CompleteElicitationNotification> = match &notification.value {
            AgentNotification::V1(AgentNotificationV1::CompleteElicitationNotification(it)) => {
                Some(it.clone())
            }
            AgentNotification::V2(AgentNotificationV2::CompleteElicitationNotification(it)) => {
                Some(it.clone())
            }
            _ => None,
        };
        match complete {
            Some(complete) => self.for_each_thread(now, |conversation| {
                conversation.handle_elicitation_complete(&complete, now);
            }),
            None => {
                self.events.push_back(HubEvent::Notification { thread: None, notification });
            }
        }
    }

    fn handle_call_ended(
        &mut self,
        key: CallKey,
        ended: Result<Box<ReceivedValue<AgentResponse>>, CallError>,
        now: Duration,
    ) {
        if matches!(self.login, Login::Open(login) if login == key) {
            self.login = Login::Done;
            match ended {
                Ok(_) => self.log_in(now),
                Err(error) => {
                    self.needs_login |= matches!(error, CallError::AuthRequired { .. });
                    let trouble = self.login_trouble(&error);
                    self.lose(&trouble, now);
                    self.handle_closed(CloseReason::ClientClosed, now);
                }
            }
            return;
        }
        let Some((number, setting)) = self.setting.remove(&key) else {
            // Neither a setting nor a login: a call of the program.
            return self.events.push_back(HubEvent::CallEnded(key, ended));
        };
        let ended = ended.map(|response| response.value).map_err(|error| match error {
            CallError::Answered(error) | CallError::AuthRequired { error, .. } => {
                SettingError::Refused(error)
            }
            error => SettingError::Failed(error.to_string()),
        });
        let Some(thread) = self.threads.get_mut(number) else { return };
        match setting {
            SettingCall::Set(Some(key)) => {
                let ended = ended.map(|response| changed_options(&response));
                thread.conversation.handle_setting_ended(key, ended, now);
            }
            SettingCall::Set(None) => {}
            SettingCall::Options(key) => {
                let ended = ended.map(|response| offered_settings(&response));
                thread.conversation.handle_options(key, ended, now);
            }
        }
        self.settle(number, now);
    }

    fn lose_connection(&mut self, reason: CloseReason, now: Duration) {
        self.threads.detach_all();
        let failed = |failure| Trouble::Failed(failure, reason.to_string());
        let trouble = match &reason {
            CloseReason::Version(_) => failed(Failure::AcpVersion),
            CloseReason::Initialize(error) => {
                let sign_in = &self.options.conversation.sign_in;
                Trouble::of("initialize", error, Failure::AgentTimeout, sign_in)
            }
            _ => failed(Failure::AgentExited),
        };
        self.lose(&trouble, now);
        self.events.push_back(HubEvent::Closed(reason));
    }

    /// Informs a new conversation about the state of the agent.
    pub(super) fn introduce(&mut self, number: ThreadNumber, now: Duration) {
        let is_ready = self.is_connected() && matches!(self.login, Login::Done);
        let initialized = self.initialized().filter(|_| is_ready);
        let features = initialized.map(|initialized| self.features(initialized));
        let lost = self.threads.lost();
        let Some(thread) = self.threads.get_mut(number) else { return };
        match (features, lost) {
            (Some(features), _) => thread.conversation.handle_connected(features, now),
            (None, Some(trouble)) => thread.conversation.disconnect(trouble, now),
            (None, None) => {}
        }
        self.settle(number, now);
    }

    /// Carries out the outputs of a conversation for the connection and the program.
    pub(super) fn settle(&mut self, number: ThreadNumber, now: Duration) {
        self.texts.settled = None;
        loop {
            let Some(thread) = self.threads.get_mut(number) else { return };
            if let Some(command) = thread.conversation.poll_command() {
                self.execute(number, command, now);
            } else if let Some(event) = thread.conversation.poll_event() {
                self.run_events.push(&thread.name, event);
            } else if let Some(notice) = thread.conversation.poll_notice() {
                if let Notice::ServersRefused(refused) = notice {
                    self.refused_servers = self.refused_servers.and(refused);
                    continue;
                }
                let name = thread.name.to_string();
                self.events.push_back(HubEvent::Notice(name, notice));
            } else {
                return self.threads.set_timer(number, now);
            }
        }
    }

    fn execute(&mut self, number: ThreadNumber, command: Command, now: Duration) {
        let attached = self.threads.get(number).and_then(|thread| thread.session);
        let Some(connection) = &mut self.connection else { return };
        match command {
            Command::Open(session, open) => {
                let is_v2 = speaks_v2(connection);
                let key = connection.open_session(open_request(*open, is_v2), now);
                self.threads.attach(number, Some((session, key)));
            }
            Command::Prompt { blocks, skill, meta, .. } => {
                let Some((_, key)) = attached else { return };
                let prompt = prompt(connection, blocks, skill, meta);
                let prompted = connection.prompt(key, prompt, now);
                if let (Err(error), Some(thread)) = (prompted, self.threads.get_mut(number)) {
                    let message = error.to_string();
                    thread.conversation.handle_failure(Failure::AgentUnavailable, &message, now);
                }
            }
            Command::Cancel { grace, .. } => {
                if let Some((_, key)) = attached {
                    connection.cancel(key, grace, now);
                }
            }
            // A request that is already answered was withdrawn.
            Command::Reply { request, reply, .. } => drop(connection.reply(request, reply)),
            Command::Set { key, setting, .. } => {
                let session = attached.and_then(|(_, key)| connection.session_id(key));
                let Some(session) = session.map(ToString::to_string) else { return };
                let call = set(&session, setting, speaks_v2(connection));
                let call = connection.call(call, now);
                self.setting.insert(call, (number, SettingCall::Set(key)));
            }
            Command::AskOptions { key, cwd } => {
                let call = connection.call(ask_options(&cwd, speaks_v2(connection)), now);
                self.setting.insert(call, (number, SettingCall::Options(key)));
            }
            Command::Release(_) => {
                if let Some(key) = self.threads.attach(number, None)
                    && let Some(connection) = &mut self.connection
                {
                    connection.release(key, now);
                }
            }
        }
    }
}

impl Hub {
    /// Returns the features of the agent, as far as the program can use them.
    pub(super) fn features(&self, initialized: &Initialization) -> AgentFeatures {
        let mut features = match &initialized.response.value {
            InitializeResponse::V1(response) => AgentFeatures::from(&**response),
            InitializeResponse::V2(response) => AgentFeatures::from(&**response),
            _ => AgentFeatures::default(),
        };
        features.load &= self.options.can_load;
        features.mcp_stdio &= self.options.agent_is_local;
        features.refused = self.refused_servers;
        features
    }
}

/// Returns all options of a session after a change of one, if the agent responds with them.
fn changed_options(response: &AgentResponse) -> Option<Vec<SessionConfigOption>> {
    match response {
        AgentResponse::V1(AgentResponseV1::SetSessionConfigOptionResponse(response)) => {
            Some(response.config_options.clone())
        }
        AgentResponse::V2(AgentResponseV2::SetSessionConfigOptionResponse(response)) => {
            Some(options_of(&response.config_options))
        }
        _ => None,
    }
}

/// Returns the settings that a session would begin with.
fn offered_settings(response: &AgentResponse) -> SessionSettings {
    match response {
        AgentResponse::V1(AgentResponseV1::SessionOptionsResponse(response)) => {
            SessionSettings::from(&**response)
        }
        AgentResponse::V2(AgentResponseV2::SessionOptionsResponse(response)) => {
            SessionSettings::from(&**response)
        }
        _ => SessionSettings::default(),
    }
}

/// Returns whether an update is a piece of a message or thought.
fn is_text(update: &Update) -> bool {
    use SessionUpdate::{AgentMessageChunk, AgentThoughtChunk};

    matches!(update, Update::V1(it) if matches!(it.update, AgentMessageChunk(_) | AgentThoughtChunk(_)))
}
