//! The agent's session of a conversation, and the data with which another process continues it.
use super::{AgentFeatures, RememberedSession, SessionNumber, SessionOrigin, Setting};
use crate::{Failure, SignIn};
use acp_types::client::{self, CallError, NewSessionResponse};
use acp_types::v1::error::RESOURCE_NOT_FOUND;
use acp_types::v1::prompt_turn::SessionUpdate;
use acp_types::v1::session_config_options::{
    SessionConfigOption, SessionConfigOptionBoolean, SessionConfigOptionCategory,
    SessionConfigOptionValue, SessionConfigOptionValueId,
};
use acp_types::v1::session_modes::SessionModeState;
use acp_types::v1::session_setup::SessionId;
use acp_types::v2;
use acp_types::v2::prompt_lifecycle::SessionUpdate as SessionUpdateV2;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Connection state of the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum AgentState {
    /// The agent has not responded to `initialize`. Runs wait.
    Connecting,
    Connected(AgentFeatures),
    /// The connection was lost or refused. Runs fail.
    Lost(Trouble),
}

impl RememberedSession {
    /// Returns the agent's method for continuing the session, if any.
    pub(super) fn origin(&self, features: &AgentFeatures) -> Option<SessionOrigin> {
        continued(self.session_id()?, features)
    }
}

/// An open session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenedSession {
    pub(super) number: SessionNumber,
    pub(super) id: SessionId,
    pub(super) settings: SessionSettings,
    /// Whether a prompt was sent and its turn has not ended.
    pub(super) has_turn: bool,
}

/// Settings of a session that a user may change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionSettings {
    /// Modes, and the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modes: Option<SessionModeState>,
    /// Config options with their values.
    pub config_options: Vec<SessionConfigOption>,
}

/// Returns the agent's method for continuing a session, if any.
pub(super) fn continued(id: &SessionId, features: &AgentFeatures) -> Option<SessionOrigin> {
    if features.resume {
        Some(SessionOrigin::Resume(id.clone()))
    } else {
        features.load.then(|| SessionOrigin::Load(id.clone()))
    }
}

impl OpenedSession {
    pub(super) fn new(number: SessionNumber, opened: &client::Opened) -> Self {
        let settings = match &opened.response.value {
            NewSessionResponse::V1(response) => SessionSettings {
                modes: response.modes.clone(),
                config_options: response.config_options.clone().unwrap_or_default(),
            },
            NewSessionResponse::V2(response) => SessionSettings {
                modes: None,
                config_options: options_of(response.config_options.as_deref().unwrap_or_default()),
            },
            _ => SessionSettings::default(),
        };
        Self { number, id: opened.session_id.clone(), settings, has_turn: false }
    }

    /// Records changes of settings that the agent reports.
    pub(super) fn handle_update(&mut self, update: &SessionUpdate) {
        match update {
            SessionUpdate::CurrentModeUpdate(update) => {
                self.set(&Setting::Mode(update.current_mode_id.clone()), None);
            }
            SessionUpdate::ConfigOptionUpdate(update) => {
                self.settings.config_options.clone_from(&update.config_options);
            }
            _ => {}
        }
    }

    /// As [`handle_update`](Self::handle_update), for version 2.
    pub(super) fn handle_update_v2(&mut self, update: &SessionUpdateV2) {
        if let SessionUpdateV2::ConfigOptionUpdate(update) = update {
            self.settings.config_options = options_of(&update.config_options);
        }
    }

    /// Returns the form in which the agent has a setting. Without modes, the mode is a config
    /// option, as in version 2.
    pub(super) fn form_of(&self, setting: Setting) -> Setting {
        let is_mode = |option: &&SessionConfigOption| {
            option.category == Some(SessionConfigOptionCategory::Mode)
        };
        let option = self.settings.config_options.iter().find(is_mode);
        match (setting, option) {
            (Setting::Mode(mode), Some(option)) if self.settings.modes.is_none() => {
                let value = SessionConfigOptionValueId::new(mode.as_str());
                let value = SessionConfigOptionValue::ValueId(value);
                Setting::ConfigOption(option.id.clone(), value)
            }
            (setting, _) => setting,
        }
    }

    /// Records a changed setting, with all config options if the agent returned them.
    pub(super) fn set(&mut self, setting: &Setting, options: Option<Vec<SessionConfigOption>>) {
        if let (Setting::Mode(mode), Some(modes)) = (setting, &mut self.settings.modes) {
            modes.current_mode_id = mode.clone();
        }
        if let Some(options) = options {
            self.settings.config_options = options;
        }
    }
}

/// Returns options of version 2 in the form of version 1.
pub(crate) fn options_of(
    options: &[v2::session_config_options::SessionConfigOption],
) -> Vec<SessionConfigOption> {
    options.iter().filter_map(SessionConfigOption::from_v2).collect()
}

/// Converts a JSON string or boolean into the value of a config option.
pub fn config_value(value: &Raw) -> Option<SessionConfigOptionValue> {
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

/// The reason why the agent does not process a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Trouble {
    /// The agent responded with an error, or with something invalid.
    Refused(ErrorObject),
    /// The agent does not respond.
    Failed(Failure, String),
}

impl Trouble {
    /// Classifies the failure of a call of `method`. `timeout` is the failure for a timeout.
    pub(crate) fn of(method: &str, error: &CallError, timeout: Failure, sign_in: &SignIn) -> Self {
        let failure = match error {
            CallError::Answered(error) => return Self::Refused(error.clone()),
            CallError::AuthRequired { error, methods } => {
                return Self::Refused(sign_in.explain(error, methods));
            }
            CallError::Invalid(_) | CallError::Malformed(_) | CallError::InUse(_) => {
                let message = format!("{method}: {error}");
                return Self::Refused(ErrorObject::new(ErrorCode::INVALID_REQUEST, message));
            }
            // The error of a call does not state which side of the connection the peer is.
            CallError::Timeout => {
                return Self::Failed(timeout, "the agent took too long to answer".into());
            }
            CallError::Full => Failure::Overloaded,
            CallError::Closed(_) => Failure::AgentExited,
            _ => Failure::AgentUnavailable,
        };
        Self::Failed(failure, error.to_string())
    }

    /// Returns whether the agent has lost the session.
    pub(super) fn is_session_lost(&self) -> bool {
        let Self::Refused(error) = self else { return false };
        let data = error.data.as_ref().and_then(|data| data.decode::<Extra>().ok());
        error.code == RESOURCE_NOT_FOUND && data.is_some_and(|data| data.get("sessionId").is_some())
    }
}
