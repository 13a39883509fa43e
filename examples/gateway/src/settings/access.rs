//! Access of an agent to this machine through the gateway: none, unless a root is set.
use super::{AgentSettings, Settings, SettingsError, working_directory};
use crate::hub::{SpaceError, UserSpaces, base};
use host::files::Root;
use host::workspace::{Access, FsAccess};
use std::path::Path;
use std::sync::Arc;

impl AgentSettings {
    /// Returns the spaces of its users; `None` if they share the agent.
    pub(crate) fn spaces(
        &self,
        name: &str,
        settings: &Settings,
    ) -> Result<Option<UserSpaces>, SettingsError> {
        let root = self.root.clone();
        let cwd = self.cwd.clone();
        let users = settings.users.clone();
        let spaces = UserSpaces { root, cwd, has_home: self.home, users };
        let wrong =
            |why: SpaceError| SettingsError::Agent { agent: name.to_owned(), why: why.to_string() };
        spaces.prepare(self.isolation).map_err(wrong)
    }

    /// Returns the access of the agent with this name; none without a root.
    pub(crate) fn access(&self, name: &str) -> Result<Option<Access>, SettingsError> {
        let wrong = |why: String| SettingsError::Agent { agent: name.to_owned(), why };
        let terminal = self.terminal.unwrap_or_default();
        let Some(root) = &self.root else {
            let is_set = terminal || self.fs.is_some_and(|fs| fs != FsAccess::Off);
            if is_set {
                return Err(wrong("`fs` and `terminal` need a `root`".to_owned()));
            }
            return Ok(None);
        };
        let root = Root::open(&base(root))
            .map_err(|error| wrong(format!("root: {}: {error}", root.display())))?;
        Ok(Some(Access { root: Arc::new(root), fs: self.fs.unwrap_or_default(), terminal }))
    }

    /// Returns the working directory of its sessions as an absolute path, below the root if one is
    /// set.
    pub(crate) fn session_directory(
        &self,
        name: &str,
        access: Option<&Access>,
        shared: Option<&Path>,
    ) -> Result<String, SettingsError> {
        let own = self.cwd.as_deref().or(self.root.as_deref());
        let own = own.map(base);
        let cwd = working_directory(own.as_deref().or(shared))?;
        if let Some(access) = access {
            access.root.directory(Some(&cwd)).map_err(|error| SettingsError::Agent {
                agent: name.to_owned(),
                why: format!("cwd: {error}"),
            })?;
        }
        Ok(cwd)
    }
}
