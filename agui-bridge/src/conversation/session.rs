//! The agent's session of a conversation, and the data with which another process continues it.
use super::session_settings::{SessionSettings, Setting, options_of};
use super::{AgentFeatures, RememberedSession, SessionNumber, SessionOrigin};
use crate::reason::reason;
use crate::{Failure, SignIn};
use acp_types::client::{self, CallError, NewSessionResponse};
use acp_types::v1::error::RESOURCE_NOT_FOUND;
use acp_types::v1::prompt_turn::SessionUpdate;
use acp_types::v1::session_setup::SessionId;
use acp_types::v2::prompt_lifecycle::SessionUpdate as SessionUpdateV2;
use acp_types::v2::slash_commands::AvailableCommand;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::Extra;
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde::{Deserialize, Serialize};

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

/// Largest number of skills of a session that prompts may begin with.
const MAX_SKILLS: usize = 1024;

/// An open session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ConversationSession {
    pub(super) number: SessionNumber,
    pub(super) id: SessionId,
    pub(super) settings: SessionSettings,
    /// Whether a prompt was sent and its turn has not ended.
    pub(super) has_turn: bool,
    /// Whether it was opened before its first run, and has no prompt yet.
    #[serde(default)]
    pub(super) is_unused: bool,
    /// Names of the skills that a prompt may begin with.
    #[serde(default)]
    pub(super) skills: Vec<String>,
}

/// Returns the agent's method for continuing a session, if any.
pub(super) fn continued(id: &SessionId, features: &AgentFeatures) -> Option<SessionOrigin> {
    if features.resume {
        Some(SessionOrigin::Resume(id.clone()))
    } else {
        features.load.then(|| SessionOrigin::Load(id.clone()))
    }
}

impl ConversationSession {
    pub(super) fn new(number: SessionNumber, opened: &client::OpenedSession) -> Self {
        let mut session = Self {
            number,
            id: opened.session_id.clone(),
            settings: SessionSettings::from(&opened.response.value),
            has_turn: false,
            is_unused: false,
            skills: Vec::new(),
        };
        session.set_skills(commands_of(opened).into_iter().flatten());
        session
    }

    /// Records changes of settings that the agent reports. Returns whether the update is one.
    pub(super) fn handle_update(&mut self, update: &SessionUpdate) -> bool {
        match update {
            SessionUpdate::CurrentModeUpdate(update) => {
                self.settings.set(&Setting::Mode(update.current_mode_id.clone()));
            }
            SessionUpdate::ConfigOptionUpdate(update) => {
                self.settings.config_options.clone_from(&update.config_options);
            }
            _ => return false,
        }
        true
    }

    /// As [`handle_update`](Self::handle_update), for version 2.
    pub(super) fn handle_update_v2(&mut self, update: &SessionUpdateV2) -> bool {
        match update {
            SessionUpdateV2::ConfigOptionUpdate(update) => {
                self.settings.config_options = options_of(&update.config_options);
                true
            }
            SessionUpdateV2::AvailableCommandsUpdate(update) => {
                self.set_skills(update.available_commands.iter());
                false
            }
            _ => false,
        }
    }

    fn set_skills<'a>(&mut self, commands: impl Iterator<Item = &'a AvailableCommand>) {
        let skills = commands.filter_map(|command| match command {
            AvailableCommand::Skill(skill) => Some(skill.name.clone()),
            _ => None,
        });
        self.skills = skills.take(MAX_SKILLS).collect();
    }

    /// Takes the skill that the user invokes, as `/` and its name, out of the beginning of a text.
    pub(super) fn take_skill(&self, text: &mut String) -> Option<String> {
        let invoked = text.strip_prefix('/')?.split(char::is_whitespace).next()?;
        let skill = self.skills.iter().find(|skill| *skill == invoked)?;
        let rest = text.get(1 + skill.len()..)?.trim_start().to_owned();
        *text = rest;
        Some(skill.clone())
    }
}

/// Returns the commands that an agent of version 2 has named with its response, or before it.
fn commands_of(opened: &client::OpenedSession) -> Option<&[AvailableCommand]> {
    if let NewSessionResponse::V2(response) = &opened.response.value
        && let Some(commands) = &response.available_commands
    {
        return Some(commands);
    }
    opened.replay.iter().rev().find_map(|update| match &update.value {
        client::Update::V2(update) => match &update.update {
            SessionUpdateV2::AvailableCommandsUpdate(update) => Some(&*update.available_commands),
            _ => None,
        },
        _ => None,
    })
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

    /// Returns the reason for people.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Refused(error) => reason(error),
            Self::Failed(_, message) => message.clone(),
        }
    }

    /// Returns whether the agent has lost the session.
    pub(super) fn is_session_lost(&self) -> bool {
        let Self::Refused(error) = self else { return false };
        let data = error.data.as_ref().and_then(|data| data.decode::<Extra>().ok());
        error.code == RESOURCE_NOT_FOUND && data.is_some_and(|data| data.get("sessionId").is_some())
    }
}
