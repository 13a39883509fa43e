//! The agent's side of a conversation.
use crate::agent::{Agent, FromAgent, Opened};
use acp_types::v1::prompt_turn::SessionUpdate;
use acp_types::v1::session_config_options::SessionConfigOption;
use acp_types::v1::session_modes::{SessionModeId, SessionModeState};
use acp_types::v1::session_setup::SessionId;
use serde::Serialize;
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
