//! The space of a user: a directory and an environment.
use crate::hub::mcp_servers::values;
use crate::hub::{AgentSetup, Isolation, Variables};
use agui_bridge::conversation::ConversationOptions;
use host::files::Root;
use host::http::Secret;
use host::transport::Address;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Stands for the name of the user in paths and commands.
const USER: &str = "{user}";

/// Stands for the root of the user in commands.
const ROOT: &str = "{root}";

/// Maximum number of bytes of a name in a path.
const MAX_NAME: usize = 128;

/// Variables for the folders of a user, relative to the root.
///
/// Spec: [XDG Base
/// Directory](https://specifications.freedesktop.org/basedir-spec/latest/#variables)
const FOLDERS: [(&str, &str); 5] = [
    ("HOME", ""),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];

/// Variable of a folder with sockets of the user that runs this program.
const RUNTIME_FOLDER: &str = "XDG_RUNTIME_DIR";

/// The settings of a user. Each variable is a value, or in a file or a variable of this program.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct UserSettings {
    /// Variables of the user's agents.
    pub environment: BTreeMap<String, Secret>,
    /// Files with values of such variables.
    pub environment_file: BTreeMap<String, PathBuf>,
    /// Variables of this program with values of such variables.
    pub environment_variable: BTreeMap<String, String>,
}

/// The spaces of users.
#[derive(Clone, Debug, Default)]
pub struct UserSpaces {
    /// The root, with `{user}` for the name of the user.
    pub root: Option<PathBuf>,
    /// The working directory of sessions, which may contain `{user}`; by default the root.
    pub cwd: Option<PathBuf>,
    /// Whether `HOME` and the folders of XDG are below the root.
    pub has_home: bool,
    /// Settings of users by name.
    pub users: BTreeMap<String, UserSettings>,
}

/// The space of a user cannot be prepared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// Users would share the root.
    #[error("root: expected {USER} in the path, which stands for the name of the user, got `{0}`")]
    Common(PathBuf),
    /// A space for each user of a process that all share.
    #[error("isolation: expected `user` with `home` or {USER} in `root`, got `shared`")]
    Shared,
    /// A home without a root.
    #[error("home: expected a `root`, got none")]
    Home,
    /// The path is not one of UTF-8, or leads up.
    #[error("expected a path in UTF-8 without `..`, got `{0}`")]
    Path(PathBuf),
    /// A link, or not a directory.
    #[error("{0}: expected a directory, got a link or a file")]
    Link(PathBuf),
    /// The system reports an error.
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
    /// The working directory is outside of the root.
    #[error("cwd: {0}")]
    Cwd(String),
    /// Settings of a user without an agent that has a process for each user.
    #[error(
        "users.{0}: expected an agent with `isolation = \"user\"`, got none; set `isolation`, or remove the table"
    )]
    NoAgent(String),
    /// A variable has no valid value: the user, the setting and the reason.
    #[error("users.{0}.{1}: {2}")]
    Variable(String, String, String),
}

/// The space of a user.
#[derive(Debug)]
pub(super) struct Space {
    /// The name of the user, for a path.
    name: String,
    root: Option<Root>,
    root_path: Option<String>,
    cwd: Option<String>,
    has_home: bool,
    variables: Variables,
}

/// Returns the directory above the spaces of users; a path without `{user}` is returned unchanged.
pub fn base(path: &Path) -> PathBuf {
    split(path).0
}

/// Splits a path before the component that contains the name of the user.
fn split(path: &Path) -> (PathBuf, PathBuf) {
    let has_user = |part: &Component<'_>| part.as_os_str().to_string_lossy().contains(USER);
    let mut parts = path.components();
    let mut above = PathBuf::new();
    while let Some(part) = parts.clone().next() {
        if has_user(&part) {
            break;
        }
        above.push(part);
        parts.next();
    }
    if above.as_os_str().is_empty() {
        above.push(Component::CurDir);
    }
    (above, parts.as_path().to_owned())
}

/// Returns the name of a user as one component of a path. Different names have different
/// components, also where the case of letters has no meaning.
fn component(user: &str) -> String {
    // The name of all callers without authentication.
    if user.is_empty() {
        return "%".to_owned();
    }
    // Writing to a string does not fail.
    let mut name = String::new();
    for byte in user.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            _ => {
                let _ = write!(name, "%{byte:02X}");
            }
        }
    }
    if name.len() > MAX_NAME {
        let digest = Sha256::digest(user);
        name.truncate(MAX_NAME / 2);
        name.push('%');
        for byte in digest {
            let _ = write!(name, "{byte:02x}");
        }
    }
    name
}

impl UserSpaces {
    /// Returns the spaces, if each user has a process. Users then do not share a root, the
    /// directory above the roots exists, and the values of all variables can be read.
    ///
    /// # Errors
    /// See [`SpaceError`].
    pub fn prepare(self, isolation: Isolation) -> Result<Option<Self>, SpaceError> {
        if isolation == Isolation::Shared {
            let is_set =
                self.has_home || self.root.as_ref().is_some_and(|root| base(root) != *root);
            return if is_set { Err(SpaceError::Shared) } else { Ok(None) };
        }
        match &self.root {
            Some(root) if base(root) == *root => return Err(SpaceError::Common(root.clone())),
            None if self.has_home => return Err(SpaceError::Home),
            _ => {}
        }
        for path in self.root.iter().chain(&self.cwd) {
            let leads_up = path.components().any(|part| part == Component::ParentDir);
            if leads_up || path.to_str().is_none() {
                return Err(SpaceError::Path(path.clone()));
            }
        }
        if let Some(above) = self.root.as_deref().map(base) {
            let created = private().recursive(true).create(&above);
            created.map_err(|error| SpaceError::Io(above, error))?;
        }
        self.users.keys().try_for_each(|user| self.variables(user).map(drop))?;
        Ok(Some(self))
    }

    /// Returns the variables of a user.
    fn variables(&self, user: &str) -> Result<Variables, SpaceError> {
        let Some(settings) = self.users.get(user) else { return Ok(Variables::default()) };
        let UserSettings { environment, environment_file, environment_variable } = settings;
        let values = values("environment", environment, environment_file, environment_variable);
        let values = values.map_err(|(at, why)| SpaceError::Variable(user.to_owned(), at, why))?;
        if let Some(name) = values.keys().find(|name| name.contains(['=', '\0'])) {
            let why = format!("expected the name of a variable, got `{name}`");
            return Err(SpaceError::Variable(user.to_owned(), "environment".to_owned(), why));
        }
        Ok(values.into_iter().collect())
    }
}

impl UserSettings {
    /// Checks that the settings of users apply to one of the agents, which have these isolations.
    ///
    /// # Errors
    /// [`SpaceError::NoAgent`] for the first of the users.
    pub fn check(
        users: &BTreeMap<String, Self>,
        mut isolations: impl Iterator<Item = Isolation>,
    ) -> Result<(), SpaceError> {
        match users.keys().next() {
            Some(user) if !isolations.any(|it| it == Isolation::User) => {
                Err(SpaceError::NoAgent(user.clone()))
            }
            _ => Ok(()),
        }
    }

    /// Returns the names of variables of this program with secrets.
    pub fn secret_variables(&self) -> impl Iterator<Item = String> {
        self.environment_variable.values().cloned()
    }
}

impl Space {
    /// Prepares the space of a user. Missing directories are created with mode 700.
    pub(super) fn open(spaces: &UserSpaces, user: &str) -> Result<Self, SpaceError> {
        let name = component(user);
        let mut root = None;
        let mut root_path = None;
        let mut cwd = None;
        if let Some(template) = &spaces.root {
            let path = create(template, &name)?;
            let opened = Root::open(&path).map_err(|error| SpaceError::Io(path.clone(), error))?;
            let text = path.to_str().ok_or_else(|| SpaceError::Path(path.clone()))?.to_owned();
            cwd = Some(text.clone());
            root_path = Some(text);
            root = Some(opened);
        }
        if let Some(template) = &spaces.cwd {
            cwd = create(template, &name)?.to_str().map(str::to_owned);
        }
        if let (Some(root), Some(cwd)) = (&root, &cwd) {
            root.directory(Some(cwd)).map_err(|error| SpaceError::Cwd(error.to_string()))?;
        }
        let has_home = spaces.has_home;
        let variables = spaces.variables(user)?;
        Ok(Self { name, root, root_path, cwd, has_home, variables })
    }

    /// Puts an agent into the space.
    pub(super) fn apply(self, setup: &mut AgentSetup, conversation: &mut ConversationOptions) {
        if let Address::Command { words, secrets, variables } = &mut setup.address {
            for word in words {
                *word = word.replace(USER, &self.name);
                *word = word.replace(ROOT, self.root_path.as_deref().unwrap_or_default());
            }
            if let (true, Some(root)) = (self.has_home, &self.root_path) {
                let folders = FOLDERS.map(|(name, folder)| {
                    let folder = Path::new(root).join(folder);
                    (name.to_owned(), folder.to_string_lossy().trim_end_matches('/').to_owned())
                });
                variables.extend(folders);
                secrets.push(RUNTIME_FOLDER.to_owned());
            }
        }
        self.variables.set(&mut setup.address);
        // Without a root of its own, the agent has no access to files.
        let root = self.root.map(Arc::new);
        setup.access = setup.access.take().zip(root).map(|(mut access, root)| {
            access.root = root;
            access
        });
        if let Some(cwd) = self.cwd {
            conversation.cwd = cwd;
        }
    }
}

/// Replaces the name of the user in a path.
fn filled(template: &Path, name: &str) -> PathBuf {
    template.to_string_lossy().replace(USER, name).into()
}

/// Creates the directory of a user, with those above. From the name of the user on, links are
/// refused: they could lead into the space of another user.
fn create(template: &Path, name: &str) -> Result<PathBuf, SpaceError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| SpaceError::Io(path, error)
    };
    let (above, below) = split(template);
    let above = std::path::absolute(above).map_err(failed(template))?;
    private().recursive(true).create(&above).map_err(failed(&above))?;
    let mut path = above.canonicalize().map_err(failed(&above))?;
    for part in filled(&below, name).components() {
        path.push(part);
        match private().create(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(SpaceError::Io(path, error));
            }
            _ => {}
        }
        if !fs::symlink_metadata(&path).map_err(failed(&path))?.is_dir() {
            return Err(SpaceError::Link(path));
        }
    }
    Ok(path)
}

/// Creates directories that only the user of this program can enter.
fn private() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "the mode is one of Unix"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(test)]
pub(super) mod tests;
