//! The agent's side of a conversation.
use crate::agent::{Agent, FromAgent, Opened};
use acp_types::v1::prompt_turn::SessionUpdate;
use acp_types::v1::session_config_options::{
    SessionConfigOption, SessionConfigOptionBoolean, SessionConfigOptionValue,
    SessionConfigOptionValueId,
};
use acp_types::v1::session_modes::{SessionModeId, SessionModeState};
use acp_types::v1::session_setup::SessionId;
use agui_bridge::input::Forwarded;
use jsonrpc_core::wire::Raw;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::mpsc;

pub(super) struct Session {
    pub(super) agent: Arc<Agent>,
    pub(super) id: SessionId,
    pub(super) inbox: mpsc::Receiver<FromAgent>,
    settings: SessionSettings,
}

/// What a user may set in a session.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    modes: Option<SessionModeState>,
    config_options: Vec<SessionConfigOption>,
}

/// Something of it has another value.
#[derive(Clone, Debug)]
pub(crate) enum Changed {
    Mode(SessionModeId),
    ConfigOptions(Vec<SessionConfigOption>),
}

/// A session as others see it.
#[derive(Debug)]
pub(crate) struct SessionView {
    pub(crate) agent: Arc<Agent>,
    pub(crate) id: SessionId,
    pub(crate) settings: SessionSettings,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.agent.detach(self.id.clone());
    }
}

impl Session {
    pub(super) fn new(agent: Arc<Agent>, opened: Opened) -> Self {
        let Opened { response, inbox, .. } = opened;
        let config_options = response.config_options.unwrap_or_default();
        let settings = SessionSettings { modes: response.modes, config_options };
        Self { agent, id: response.session_id, inbox, settings }
    }

    /// Has the agent set what an input asks for, before its prompt.
    pub(super) fn set(&self, forwarded: &Forwarded) {
        if let Some(mode) = &forwarded.mode {
            self.agent.ask_mode(&self.id, &mode.as_str().into());
        }
        for (config, value) in &forwarded.config {
            match config_value(value) {
                Some(value) => self.agent.ask_config_option(&self.id, config, value),
                None => tracing::warn!(config, "expected a text or a boolean; it is left out"),
            }
        }
    }

    /// Notes what the agent says of its settings.
    pub(super) fn note(&mut self, update: &SessionUpdate) {
        match update {
            SessionUpdate::CurrentModeUpdate(update) => {
                self.change(Changed::Mode(update.current_mode_id.clone()));
            }
            SessionUpdate::ConfigOptionUpdate(update) => {
                self.change(Changed::ConfigOptions(update.config_options.clone()));
            }
            _ => {}
        }
    }

    pub(super) fn change(&mut self, changed: Changed) {
        match changed {
            Changed::Mode(mode) => {
                if let Some(modes) = &mut self.settings.modes {
                    modes.current_mode_id = mode;
                }
            }
            Changed::ConfigOptions(options) => self.settings.config_options = options,
        }
    }

    pub(super) fn view(&self) -> SessionView {
        let (agent, id, settings) = (self.agent.clone(), self.id.clone(), self.settings.clone());
        SessionView { agent, id, settings }
    }
}

/// The value of an option, as it stands in JSON: a text or a boolean.
pub(crate) fn config_value(value: &Raw) -> Option<SessionConfigOptionValue> {
    match value.decode::<Value>().ok()? {
        Value::String(value) => {
            Some(SessionConfigOptionValue::ValueId(SessionConfigOptionValueId::new(value)))
        }
        Value::Bool(value) => {
            Some(SessionConfigOptionValue::Boolean(SessionConfigOptionBoolean::new(value)))
        }
        _ => None,
    }
}
