use super::*;
use crate::telemetry::{Program, Telemetry, TelemetryOptions};
use acp_types::client;
use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
use host::permissions::{Files, Rules};
use host::workspace::{Access, FsAccess};
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Handle;

/// Returns the setup of an agent with access to files below a directory.
pub(crate) fn setup(words: &[&str], root: &Path) -> AgentSetup {
    let program = Program { name: "test", version: "1", warn: drop };
    let options = TelemetryOptions::default();
    let root = Arc::new(Root::open(root).unwrap());
    AgentSetup {
        address: Address::Command {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            secrets: Vec::new(),
            variables: BTreeMap::new(),
        },
        client: client::Options::v1(InitializeRequest::new(ProtocolVersion::V1)),
        authenticate: None,
        access: Some(Access { root, fs: FsAccess::Read, terminal: false }),
        rules: Rules::new(&[], "agent", Files::Local),
        exit_grace: Duration::from_secs(1),
        is_optional: false,
        telemetry: Telemetry::new(program, &options, &Handle::current()).unwrap(),
    }
}

fn spaces(folder: &TempDir, root: &str) -> UserSpaces {
    UserSpaces { root: Some(folder.path().join(root)), ..UserSpaces::default() }
}

#[test]
fn names_are_one_component_and_differ() {
    let long = "a".repeat(1000);
    let names = [
        "",
        "alice",
        "Alice",
        "ALICE",
        "..",
        ".",
        "/",
        "../bob",
        "a/b",
        "a%2Fb",
        "a b",
        "%",
        "{user}",
        "auth0|5f7",
        "alice@login.example",
        "ä",
        "a\0b",
        "~",
        "-",
        "con",
        &long,
        &long[1..],
    ];
    let components: BTreeMap<_, _> = names.map(|name| (component(name), name)).into();
    assert_eq!(components.len(), names.len(), "{components:?}");
    let folded: BTreeMap<_, _> =
        components.keys().map(|name| (name.to_lowercase(), name)).collect();
    assert_eq!(folded.len(), names.len(), "also without the case of letters");
    for name in components.keys() {
        let parts: Vec<_> = Path::new(name).components().collect();
        assert!(matches!(parts[..], [Component::Normal(_)]), "{name}");
        assert!(name.len() <= 255 && !name.contains(['.', '{', '\0']), "{name}");
    }
    assert_eq!(component("alice@login.example"), "alice%40login%2Eexample");
}

#[test]
fn settings_that_users_would_share_are_refused() {
    let folder = TempDir::new().unwrap();
    let checked = |spaces: UserSpaces, isolation| match spaces.prepare(isolation) {
        Ok(spaces) => spaces.is_some().to_string(),
        Err(error) => error.to_string().replace(folder.path().to_str().unwrap(), ""),
    };
    let common =
        "root: expected {user} in the path, which stands for the name of the user, got `/all`";
    assert_eq!(checked(spaces(&folder, "all"), Isolation::User), common);
    assert_eq!(checked(spaces(&folder, "{user}"), Isolation::User), "true");
    assert_eq!(checked(UserSpaces::default(), Isolation::User), "true");
    assert_eq!(checked(UserSpaces::default(), Isolation::Shared), "false");
    let shared = "isolation: expected `user` with `home` or {user} in `root`, got `shared`";
    assert_eq!(checked(spaces(&folder, "{user}"), Isolation::Shared), shared);
    let home = UserSpaces { has_home: true, ..UserSpaces::default() };
    assert_eq!(checked(home.clone(), Isolation::Shared), shared);
    assert_eq!(checked(home, Isolation::User), "home: expected a `root`, got none");
    let up = "expected a path in UTF-8 without `..`, got `/{user}/../all`";
    assert_eq!(checked(spaces(&folder, "{user}/../all"), Isolation::User), up);
}

#[test]
fn values_of_variables_are_read_from_files() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("key");
    let mut settings = UserSettings::default();
    settings.environment.insert("REGION".to_owned(), "north".to_owned().into());
    settings.environment_file.insert("KEY".to_owned(), file.clone());
    let mut spaces = UserSpaces::default();
    spaces.users.insert("alice".to_owned(), settings.clone());
    let error = spaces.clone().prepare(Isolation::User).unwrap_err().to_string();
    assert!(error.starts_with("users.alice.environment-file.KEY: "), "{error}");
    fs::write(&file, "sesame\n").unwrap();
    let expected = [("KEY", "sesame"), ("REGION", "north")];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert!(spaces.variables("alice").unwrap() == expected.into_iter().collect());
    assert!(spaces.variables("bob").unwrap() == Variables::default());
    settings.environment.insert("A=B".to_owned(), "c".to_owned().into());
    spaces.users.insert("bob".to_owned(), settings);
    let error = spaces.prepare(Isolation::User).unwrap_err().to_string();
    assert_eq!(error, "users.bob.environment: expected the name of a variable, got `A=B`");
}

#[tokio::test]
async fn agent_is_put_into_space_of_user() {
    let folder = TempDir::new().unwrap();
    let mut spaces = spaces(&folder, "homes/{user}/files");
    spaces.has_home = true;
    let mut settings = UserSettings::default();
    settings.environment.insert("XDG_CACHE_HOME".to_owned(), "/tmp".to_owned().into());
    spaces.users.insert("Al".to_owned(), settings);
    let mut setup = setup(&["run", "--in={root}", "{user}"], folder.path());
    let mut conversation = ConversationOptions::new("/");
    Space::open(&spaces, "Al").unwrap().apply(&mut setup, &mut conversation);
    let root = folder.path().canonicalize().unwrap().join("homes/%41l/files");
    let shown = root.to_str().unwrap();
    assert_eq!(conversation.cwd, shown);
    let Address::Command { words, secrets, variables } = setup.address else { panic!() };
    assert_eq!(words, ["run", &format!("--in={shown}"), "%41l"]);
    assert_eq!(secrets, ["XDG_RUNTIME_DIR"]);
    let expected = BTreeMap::from([
        ("HOME".to_owned(), shown.to_owned()),
        ("XDG_CONFIG_HOME".to_owned(), format!("{shown}/.config")),
        ("XDG_DATA_HOME".to_owned(), format!("{shown}/.local/share")),
        ("XDG_STATE_HOME".to_owned(), format!("{shown}/.local/state")),
        // The setting of the user.
        ("XDG_CACHE_HOME".to_owned(), "/tmp".to_owned()),
    ]);
    assert_eq!(variables, expected);
    let access = setup.access.unwrap().root;
    assert!(access.directory(Some(shown)).is_ok());
    assert!(access.directory(folder.path().to_str()).is_err(), "the root is that of the user");
}

#[tokio::test]
async fn agent_without_root_has_no_files() {
    let folder = TempDir::new().unwrap();
    let mut setup = setup(&["run"], folder.path());
    let mut conversation = ConversationOptions::new("/");
    Space::open(&UserSpaces::default(), "al").unwrap().apply(&mut setup, &mut conversation);
    assert!(setup.access.is_none());
    assert_eq!(conversation.cwd, "/");
}

#[cfg(unix)]
#[test]
fn directories_are_private_and_links_are_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = TempDir::new().unwrap();
    let spaces = spaces(&folder, "homes/{user}/files");
    let open = |user| Space::open(&spaces, user).map(|space| space.root_path.unwrap());
    for _again in 0..2 {
        open("alice").unwrap();
    }
    for path in ["homes", "homes/alice", "homes/alice/files"] {
        let mode = fs::metadata(folder.path().join(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{path}");
    }
    symlink("alice", folder.path().join("homes/bob")).unwrap();
    fs::create_dir(folder.path().join("homes/carol")).unwrap();
    symlink("../alice/files", folder.path().join("homes/carol/files")).unwrap();
    fs::write(folder.path().join("homes/dave"), "").unwrap();
    for user in ["bob", "carol", "dave"] {
        let error = open(user).unwrap_err();
        assert!(matches!(error, SpaceError::Link(_)), "{error}");
    }
    // A link above the spaces is the choice of the operator.
    symlink("homes", folder.path().join("linked")).unwrap();
    let linked = UserSpaces { root: Some(folder.path().join("linked/{user}")), ..spaces.clone() };
    let erin = Space::open(&linked, "erin").unwrap().root_path.unwrap();
    assert!(erin.ends_with("/homes/erin"), "{erin}");
}

#[test]
fn working_directory_is_below_root() {
    let folder = TempDir::new().unwrap();
    let mut spaces = spaces(&folder, "{user}");
    spaces.cwd = Some(folder.path().join("{user}/work"));
    let cwd = Space::open(&spaces, "al").unwrap().cwd.unwrap();
    assert!(cwd.ends_with("/al/work"), "{cwd}");
    spaces.cwd = Some(folder.path().join("others/{user}"));
    let error = Space::open(&spaces, "al").unwrap_err();
    assert!(matches!(error, SpaceError::Cwd(_)), "{error}");
}
