//! Settings of the agent's session: shown before the first prompt, changed by the user, and set
//! again in later sessions of the thread.
use super::begin::UnclaimedSession;
use super::output::{Command, Notice, SessionNumber, SessionOrigin, SettingError, SettingKey};
use super::session::AgentState;
use super::session_settings::{SessionSettings, Setting};
use super::{Conversation, QuestionError, Trouble};
use acp_types::v1::session_config_options::{InitialSessionConfigOption, SessionConfigOption};
use agui_types::tool::Tool;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::Extra;
use serde::{Deserialize, Serialize};

/// Maximum number of concurrent changes of settings, and of settings that later sessions get.
const MAX_SETTING: usize = 64;

/// The changes of settings, and what a thread without a session knows of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SettingsPart {
    /// Open changes, by key.
    open: BTreeMap<SettingKey, OpenChange>,
    /// Settings that the user has chosen and the agent has not changed since, for later sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    chosen: Vec<Setting>,
    /// The open request for the settings that a session would begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked: Option<SettingKey>,
    /// The settings that a session would begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offered: Option<SessionSettings>,
    /// Choices that were set in the present session, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    repeated: Vec<Setting>,
    /// Notices for the next run about choices that the session does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notices: Vec<String>,
    /// Whether [`Notice::Prepared`] is due.
    #[serde(default)]
    is_preparing: bool,
}

/// An open change of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OpenChange {
    session: SessionNumber,
    setting: Setting,
    /// Whether an earlier session of the thread had the setting.
    #[serde(default)]
    is_repeated: bool,
}

impl SettingsPart {
    /// Returns the settings that a session would begin with, if the agent has named them.
    pub(super) fn offered(&self) -> Option<&SessionSettings> {
        self.offered.as_ref()
    }

    /// Returns the choices of the user.
    pub(super) fn chosen(&self) -> &[Setting] {
        &self.chosen
    }

    /// Adds the choices of an earlier process, or of another thread. Present choices count instead.
    pub(super) fn restore(&mut self, chosen: &[Setting]) {
        for setting in chosen {
            if !self.chosen.iter().any(|chosen| chosen.is_of_same(setting)) {
                self.choose(setting.clone());
            }
        }
    }

    fn choose(&mut self, setting: Setting) {
        self.chosen.retain(|chosen| !chosen.is_of_same(&setting));
        if self.chosen.len() < MAX_SETTING {
            self.chosen.push(setting);
        }
    }

    /// Forgets the choices that the agent has replaced by values of its own.
    pub(super) fn handle_agent_change(&mut self, settings: &SessionSettings) {
        let open = &self.open;
        let is_open = |chosen: &Setting| open.values().any(|it| it.setting.is_of_same(chosen));
        self.chosen.retain(|chosen| is_open(chosen) || !settings.can_change(chosen));
    }

    /// Handles the end of the session. The next one may have other settings.
    pub(super) fn forget_offered(&mut self) {
        self.offered = None;
        self.asked = None;
    }
}

impl Conversation {
    /// Opens a session without a run, so that a user sees its settings and changes them before the
    /// first prompt. `tools` are those of the page. [`Notice::Prepared`] follows, once for all
    /// requests that wait; then [`session_settings`](Self::session_settings) has the settings.
    ///
    /// An agent with `session/options` is asked for them, without a session. The next run takes the
    /// session, or opens another one if it needs different servers, instructions or a different
    /// folder; that one gets the changed settings. While a run is open or waits, and for a session
    /// that is open, nothing is opened.
    pub fn handle_preparation(&mut self, tools: &[Tool], now: Duration) {
        self.begin_input(now);
        self.settings.is_preparing = true;
        if self.session.is_none() && !self.is_busy() && self.unclaimed.is_none() {
            self.page.set_tools(tools);
        }
        self.prepare();
        self.advance();
    }

    /// Opens a session for [`handle_preparation`](Self::handle_preparation) if it is due and
    /// possible.
    pub(super) fn prepare(&mut self) {
        let settings = &self.settings;
        let is_open = self.session.is_some() || settings.offered.is_some();
        let is_asked = settings.asked.is_some() || self.unclaimed.is_some();
        let is_due = settings.is_preparing && !is_open && !is_asked && !self.is_busy();
        let AgentState::Connected(features) = &self.agent else { return };
        if !is_due || self.translator.is_interrupted() {
            return;
        }
        let continued = self.remembered.as_ref().and_then(|earlier| earlier.origin(features));
        if continued.is_none() && features.options {
            let key = SettingKey(self.next_key());
            self.settings.asked = Some(key);
            let cwd = self.options.cwd.clone();
            return self.commands.push_back(Command::AskOptions { key, cwd });
        }
        let is_new = continued.is_none();
        let origin = continued.unwrap_or(SessionOrigin::New);
        let has_replay = matches!(origin, SessionOrigin::Load(_));
        let number = self.open(origin, None, None, Extra::new());
        self.unclaimed = Some(UnclaimedSession { number, has_replay, is_new });
    }

    /// Reports that nothing is being opened any more for
    /// [`handle_preparation`](Self::handle_preparation).
    pub(super) fn end_preparation(&mut self) {
        let is_opening = self.settings.asked.is_some()
            || self.unclaimed.is_some()
            || self.starting.is_some()
            || self.active.as_ref().is_some_and(super::ActiveRun::is_opening);
        match &self.agent {
            AgentState::Connecting => {}
            AgentState::Lost(trouble) => {
                let trouble = trouble.clone();
                self.fail_preparation(&trouble);
            }
            AgentState::Connected(_) if is_opening => {}
            AgentState::Connected(_) => {
                if core::mem::take(&mut self.settings.is_preparing) {
                    self.notices.push_back(Notice::Prepared(Ok(())));
                }
            }
        }
    }

    /// Reports that no session can be opened for [`handle_preparation`](Self::handle_preparation).
    pub(super) fn fail_preparation(&mut self, trouble: &Trouble) {
        if core::mem::take(&mut self.settings.is_preparing) {
            self.notices.push_back(Notice::Prepared(Err(trouble.reason())));
        }
    }

    /// Handles the result of [`Command::AskOptions`].
    pub fn handle_options(
        &mut self,
        key: SettingKey,
        options: Result<SessionSettings, SettingError>,
        now: Duration,
    ) {
        self.begin_input(now);
        if self.settings.asked.take_if(|asked| *asked == key).is_some() {
            match options {
                Ok(settings) => self.settings.offered = Some(settings),
                Err(error) => {
                    self.settings.is_preparing = false;
                    self.notices.push_back(Notice::Prepared(Err(error.to_string())));
                }
            }
        }
        self.advance();
    }

    /// Changes a setting of the session. [`Notice::SettingEnded`] follows, once. Later sessions of
    /// the thread get it too, unless the agent changes it itself.
    ///
    /// # Errors
    /// The thread has no session, and the agent has not named the settings of the next one; or too
    /// many changes are open.
    pub fn handle_setting(
        &mut self,
        setting: Setting,
        now: Duration,
    ) -> Result<SettingKey, QuestionError> {
        self.begin_input(now);
        if self.settings.open.len() >= MAX_SETTING {
            return Err(QuestionError::TooMany);
        }
        let key = SettingKey(self.next_key());
        let Some(session) = &self.session else {
            let offered = self.settings.offered.as_mut().ok_or(QuestionError::NoSession)?;
            let setting = offered.form_of(setting);
            let is_offered = offered.has(&setting);
            if is_offered {
                offered.set(&setting);
                self.settings.choose(setting);
                self.remember();
            }
            let refused = || SettingError::Failed(NOT_OFFERED.to_owned());
            let changed = is_offered.then_some(()).ok_or_else(refused);
            self.notices.push_back(Notice::SettingEnded(key, changed));
            self.advance();
            return Ok(key);
        };
        let number = session.number;
        let setting = session.settings.form_of(setting);
        self.change(key, OpenChange { session: number, setting, is_repeated: false });
        self.advance();
        Ok(key)
    }

    fn change(&mut self, key: SettingKey, change: OpenChange) {
        let session = change.session;
        let setting = change.setting.clone();
        self.settings.open.insert(key, change);
        self.commands.push_back(Command::Set { session, key: Some(key), setting });
    }

    /// Returns the choices of the user for a request that opens a session, if the agent accepts
    /// them there.
    pub(super) fn initial_options(&self) -> Vec<InitialSessionConfigOption> {
        let AgentState::Connected(features) = &self.agent else { return Vec::new() };
        let chosen = self.settings.chosen.iter().filter(|_| features.options);
        let options = chosen.filter_map(|setting| match setting {
            Setting::ConfigOption(id, value) => {
                Some(InitialSessionConfigOption::new(id.clone(), value.clone()))
            }
            Setting::Mode(_) => None,
        });
        options.collect()
    }

    /// Sets the choices of the user in a session that was opened, before its prompt.
    pub(super) fn restore_settings(&mut self) {
        self.settings.forget_offered();
        self.settings.repeated.clear();
        self.settings.notices.clear();
        self.repeat_settings();
    }

    /// Sets the choices that the session offers with another value. The response to one may offer
    /// others, so this is repeated. What the session does not offer at last is reported.
    fn repeat_settings(&mut self) {
        let Some(session) = &self.session else { return };
        let number = session.number;
        let settings = &session.settings;
        let chosen: Vec<_> =
            self.settings.chosen.iter().map(|it| settings.form_of(it.clone())).collect();
        let is_due =
            |it: &&Setting| settings.can_change(it) && !self.settings.repeated.contains(it);
        let due: Vec<_> = chosen.iter().filter(is_due).cloned().collect();
        let missing: Vec<_> = chosen.iter().filter(|it| !settings.has(it)).cloned().collect();
        for setting in due {
            self.settings.repeated.push(setting.clone());
            let key = SettingKey(self.next_key());
            self.change(key, OpenChange { session: number, setting, is_repeated: true });
        }
        if self.settings.open.values().all(|change| !change.is_repeated) {
            let missing = missing.iter().map(|it| format!("{NOT_REPEATED} `{}`", it.name()));
            self.settings.notices.extend(missing);
            self.show_setting_notices();
        }
    }

    /// Shows which choices the session does not have, as soon as a run is open.
    pub(super) fn show_setting_notices(&mut self) {
        if self.translator.is_running() {
            for notice in core::mem::take(&mut self.settings.notices) {
                self.translator.warn(&notice);
            }
        }
    }

    /// Handles the end of [`Command::Set`]. A response to `session/set_config_option` has all
    /// options.
    pub fn handle_setting_ended(
        &mut self,
        key: SettingKey,
        ended: Result<Option<Vec<SessionConfigOption>>, SettingError>,
        now: Duration,
    ) {
        self.begin_input(now);
        if let Some(OpenChange { session, setting, is_repeated }) = self.settings.open.remove(&key)
        {
            let session = self.session.as_mut().filter(|it| it.number == session);
            if is_repeated && let Err(error) = &ended {
                let name = setting.name();
                self.settings.notices.push(format!("{NOT_REPEATED} `{name}`: {error}"));
            }
            if ended.is_ok() {
                self.settings.choose(setting.clone());
            }
            let ended = ended.map(|options| {
                if let Some(session) = session {
                    session.settings.set(&setting);
                    if let Some(options) = options {
                        session.settings.config_options = options;
                    }
                    // The others are still to be repeated.
                    if !is_repeated {
                        self.settings.handle_agent_change(&session.settings);
                    }
                }
            });
            self.remember();
            self.show_setting_notices();
            if is_repeated {
                self.repeat_settings();
            } else {
                self.notices.push_back(Notice::SettingEnded(key, ended));
            }
        }
        self.advance();
    }
}

/// The reason of a setting that the agent has not named.
const NOT_OFFERED: &str = "the agent does not offer this setting or value";

/// Notice of a setting that a later session does not have, before its name.
const NOT_REPEATED: &str = "This session of the agent does not have your setting";
