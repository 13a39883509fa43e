//! Settings of a session that a user may change.
use acp_types::client::NewSessionResponse;
use acp_types::v1::session_config_options::{
    SessionConfigId, SessionConfigKind, SessionConfigOption, SessionConfigOptionBoolean,
    SessionConfigOptionCategory, SessionConfigOptionValue, SessionConfigOptionValueId,
    SessionConfigSelect, SessionConfigSelectOptions, SessionConfigValueId,
};
use acp_types::v1::session_modes::{SessionModeId, SessionModeState};
use acp_types::v1::session_setup::SessionOptionsResponse;
use acp_types::v2;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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

impl From<&NewSessionResponse> for SessionSettings {
    fn from(response: &NewSessionResponse) -> Self {
        match response {
            NewSessionResponse::V1(response) => Self {
                modes: response.modes.clone(),
                config_options: response.config_options.clone().unwrap_or_default(),
            },
            NewSessionResponse::V2(response) => Self {
                modes: None,
                config_options: options_of(response.config_options.as_deref().unwrap_or_default()),
            },
            _ => Self::default(),
        }
    }
}

impl From<&SessionOptionsResponse> for SessionSettings {
    fn from(response: &SessionOptionsResponse) -> Self {
        Self {
            modes: response.modes.clone(),
            config_options: response.config_options.clone().unwrap_or_default(),
        }
    }
}

impl From<&v2::session_setup::SessionOptionsResponse> for SessionSettings {
    fn from(response: &v2::session_setup::SessionOptionsResponse) -> Self {
        let config_options = options_of(response.config_options.as_deref().unwrap_or_default());
        Self { modes: None, config_options }
    }
}

impl SessionSettings {
    /// Returns the form in which the agent has a setting. Without modes, the mode is a config
    /// option, as in version 2.
    pub(super) fn form_of(&self, setting: Setting) -> Setting {
        let is_mode = |option: &&SessionConfigOption| {
            option.category == Some(SessionConfigOptionCategory::Mode)
        };
        let option = self.config_options.iter().find(is_mode);
        match (setting, option) {
            (Setting::Mode(mode), Some(option)) if self.modes.is_none() => {
                let value = SessionConfigOptionValueId::new(mode.as_str());
                let value = SessionConfigOptionValue::ValueId(value);
                Setting::ConfigOption(option.id.clone(), value)
            }
            (setting, _) => setting,
        }
    }

    /// Returns whether a setting has this value among its possible ones.
    pub(super) fn has(&self, setting: &Setting) -> bool {
        match setting {
            Setting::Mode(mode) => {
                let modes = self.modes.iter().flat_map(|modes| &modes.available_modes);
                modes.map(|available| &available.id).any(|id| id == mode)
            }
            Setting::ConfigOption(id, value) => {
                let mut options = self.config_options.iter();
                options.find(|option| option.id == *id).is_some_and(|it| permits(&it.kind, value))
            }
        }
    }

    /// Returns whether a setting has this value among its possible ones, and another one now.
    pub(super) fn can_change(&self, setting: &Setting) -> bool {
        let is_current = match setting {
            Setting::Mode(mode) => {
                self.modes.as_ref().is_some_and(|modes| modes.current_mode_id == *mode)
            }
            Setting::ConfigOption(id, value) => {
                let option = self.config_options.iter().find(|option| option.id == *id);
                option.is_some_and(|option| is_current(&option.kind, value))
            }
        };
        !is_current && self.has(setting)
    }

    /// Records a changed setting.
    pub(super) fn set(&mut self, setting: &Setting) {
        match setting {
            Setting::Mode(mode) => {
                if let Some(modes) = &mut self.modes {
                    modes.current_mode_id = mode.clone();
                }
            }
            Setting::ConfigOption(id, value) => {
                let mut options = self.config_options.iter_mut();
                if let Some(option) = options.find(|option| option.id == *id) {
                    set_kind(&mut option.kind, value);
                }
            }
        }
    }
}

/// A setting of a session, and its new value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Setting {
    /// `session/set_mode`.
    Mode(SessionModeId),
    /// `session/set_config_option`.
    ConfigOption(SessionConfigId, SessionConfigOptionValue),
}

impl Setting {
    /// Returns the id of a config option, or `mode`.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Mode(_) => "mode",
            Self::ConfigOption(id, _) => id.as_str(),
        }
    }

    /// Returns whether two settings differ in their values only.
    pub(super) fn is_of_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Mode(_), Self::Mode(_)) => true,
            (Self::ConfigOption(id, _), Self::ConfigOption(other, _)) => id == other,
            _ => false,
        }
    }
}

fn permits(kind: &SessionConfigKind, value: &SessionConfigOptionValue) -> bool {
    match (kind, value) {
        (SessionConfigKind::Boolean(_), SessionConfigOptionValue::Boolean(_)) => true,
        (SessionConfigKind::Select(select), SessionConfigOptionValue::ValueId(id)) => {
            has_value(select, &id.value)
        }
        _ => false,
    }
}

fn has_value(select: &SessionConfigSelect, id: &SessionConfigValueId) -> bool {
    match &select.options {
        SessionConfigSelectOptions::Ungrouped(options) => {
            options.iter().any(|option| option.value == *id)
        }
        SessionConfigSelectOptions::Grouped(groups) => {
            groups.iter().flat_map(|group| &group.options).any(|option| option.value == *id)
        }
        _ => false,
    }
}

fn is_current(kind: &SessionConfigKind, value: &SessionConfigOptionValue) -> bool {
    match (kind, value) {
        (SessionConfigKind::Boolean(kind), SessionConfigOptionValue::Boolean(value)) => {
            kind.current_value == value.value
        }
        (SessionConfigKind::Select(select), SessionConfigOptionValue::ValueId(id)) => {
            select.current_value == id.value
        }
        _ => false,
    }
}

fn set_kind(kind: &mut SessionConfigKind, value: &SessionConfigOptionValue) {
    match (kind, value) {
        (SessionConfigKind::Boolean(kind), SessionConfigOptionValue::Boolean(value)) => {
            kind.current_value = value.value;
        }
        (SessionConfigKind::Select(select), SessionConfigOptionValue::ValueId(id)) => {
            select.current_value.clone_from(&id.value);
        }
        _ => {}
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
