//! Command lines and names of agents.
use crate::catalog::with_programs;
use host::catalog::{Catalog, Launch, LaunchError};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn launch(line: &str, installed: &[&str]) -> Result<Launch, LaunchError> {
    let (_folder, programs) = with_programs(installed);
    Catalog::known().unwrap().launch(line, &programs)
}

fn words(line: &str, installed: &[&str]) -> String {
    launch(line, installed).unwrap().words.join(" ")
}

#[test]
fn installed_agent_is_run_by_its_command() {
    for (name, program, expected) in [
        ("gemini", "gemini", "gemini --acp"),
        ("gemini-cli", "gemini", "gemini --acp"),
        ("grok", "grok", "grok agent stdio"),
        ("droid", "droid", "droid exec --output-format acp"),
        ("openhands", "openhands", "openhands acp --override-with-envs"),
        ("vibe", "vibe-acp", "vibe-acp"),
        ("kimi", "kimi", "kimi acp"),
        ("cursor", "cursor-agent", "cursor-agent acp"),
    ] {
        assert_eq!(words(name, &[program]), expected);
    }
}

#[test]
fn missing_agent_is_run_by_its_package() {
    for (name, runner, expected) in [
        ("gemini", "npx", "npx --yes --package @google/gemini-cli@0.61.0 -- gemini --acp"),
        (
            "pi",
            "npx",
            "npx --yes --package pi-acp@0.0.34 --package @earendil-works/pi-coding-agent@0.87.1 -- pi-acp",
        ),
        ("codex-acp-zed", "npx", "npx --yes @zed-industries/codex-acp@0.16.0"),
        ("hermes", "uvx", "uvx --from hermes-agent[acp,mcp]==0.19.0 hermes-acp"),
        (
            "deepagents",
            "uvx",
            "uvx --from deepagents-acp==0.0.13 --with langchain-openai --with python-dotenv python -m deepagents_acp",
        ),
    ] {
        let launch = launch(name, &[runner]).unwrap();
        assert_eq!(launch.words.join(" "), expected);
        assert!(launch.is_downloaded, "{name}");
    }
}

#[test]
fn agent_that_cannot_be_run_has_install_hint() {
    for (name, message) in [
        (
            "gemini",
            "Gemini CLI is not installed: install npx (Node.js, https://nodejs.org), or npm install --global @google/gemini-cli@0.61.0",
        ),
        (
            "hermes",
            "Hermes Agent is not installed: install uvx (uv, https://docs.astral.sh/uv), or uv tool install 'hermes-agent[acp,mcp]==0.19.0'",
        ),
        (
            "elizacp",
            "ELIZA, a scripted agent without a model is not installed: run `cargo install elizacp`",
        ),
    ] {
        assert_eq!(launch(name, &[]).unwrap_err().to_string(), message);
    }
}

#[test]
fn other_words_are_commands() {
    assert_eq!(words("my-agent", &["my-agent"]), "my-agent");
    // A name with arguments is a command, and so is a path.
    assert_eq!(words("gemini --acp --debug", &["gemini"]), "gemini --acp --debug");
    let (folder, programs) = with_programs(&["gemini"]);
    let path = folder.path().join(if cfg!(windows) { "gemini.cmd" } else { "gemini" });
    let path = path.to_str().unwrap().to_owned();
    let launch = Catalog::known().unwrap().launch_words(vec![path.clone()], &programs).unwrap();
    assert_eq!(launch.words, vec![path]);
    assert_eq!(launch.agent, None);
}

#[test]
fn unusable_lines_are_explained() {
    for (line, message) in [
        ("", "the command is empty"),
        ("agent 'open", "unbalanced quotes in `agent 'open`"),
        ("nothing-like-it-anywhere", "command not found: nothing-like-it-anywhere"),
        (
            "gemini --acp",
            "command not found: gemini; install it: npm install --global @google/gemini-cli@0.61.0",
        ),
        ("gemnii", "`gemnii` is neither an agent nor a command; similar agents: gemini"),
        ("Grok", "`Grok` is neither an agent nor a command; similar agents: grok"),
        ("open-code", "`open-code` is neither an agent nor a command; similar agents: opencode"),
    ] {
        assert_eq!(launch(line, &[]).unwrap_err().to_string(), message, "{line}");
    }
}

#[test]
fn entries_are_complete() {
    let catalog = Catalog::known().unwrap();
    assert!(catalog.agents().len() >= 25);
    let mut names = BTreeSet::new();
    for agent in catalog.agents() {
        let id = &agent.id;
        for name in core::iter::once(id).chain(&agent.aliases) {
            assert!(names.insert(name.clone()), "{name} names two agents");
            assert_eq!(catalog.agent(name).map(|agent| &agent.id), Some(id));
        }
        assert!(!agent.title.is_empty() && !agent.versions.is_empty(), "{id}");
        let sources = [&agent.npx, &agent.uvx, &agent.install];
        assert_eq!(sources.into_iter().flatten().count(), 1, "{id} is installed in one way");
        for package in agent.npx.iter().chain(&agent.uvx) {
            assert!(package.rfind(['@', '=']).unwrap_or(0) > 0, "{id}: {package} has no version");
        }
        let methods: BTreeSet<_> = agent.login.iter().map(|method| &method.id).collect();
        assert_eq!(methods.len(), agent.login.len(), "{id}: two methods have one id");
    }
}

proptest! {
    /// Any line is a launch or an error, and a launch has a program.
    #[test]
    fn any_line_has_a_result(line in ".{0,40}", installed in "[a-z]{1,6}") {
        let (_folder, programs) = with_programs(&[&installed]);
        if let Ok(launch) = Catalog::known().unwrap().launch(&line, &programs) {
            prop_assert!(launch.words.first().is_some_and(|program| programs.has(program)));
        }
    }
}

#[test]
fn command_line_names_its_agent() {
    let catalog = Catalog::known().unwrap();
    for (line, id) in [
        ("gemini", Some("gemini")),
        ("gemini-cli", Some("gemini")),
        ("gemini --acp --debug", Some("gemini")),
        ("droid exec --output-format acp", Some("droid")),
        ("gemini-cli --acp", None),
        ("gemini --version", None),
        ("sh -c true", None),
        ("'", None),
        ("", None),
    ] {
        assert_eq!(catalog.of_command(line).map(|agent| agent.id.as_str()), id, "{line}");
    }
}

#[test]
fn installed_agents_are_those_with_a_program() {
    let catalog = Catalog::known().unwrap();
    // Two agents have the command `kimi acp`.
    let (_folder, programs) = with_programs(&["kimi", "gemini", "python", "other"]);
    assert_eq!(catalog.installed(&programs), ["gemini", "kimi-code"]);
    let (_folder, programs) = with_programs(&[]);
    assert_eq!(catalog.installed(&programs), [] as [&str; 0]);
}
