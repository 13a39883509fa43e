//! The table of agents.
use crate::catalog::with_programs;
use host::catalog::{Catalog, table};

fn row(installed: &[&str], set: &str, agent: &str) -> String {
    let (_folder, programs) = with_programs(installed);
    let table = table(&Catalog::known().unwrap(), &programs, |name| name == set);
    let row = table.lines().find(|line| line.split(' ').next() == Some(agent));
    row.unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_agent_has_status_and_login() {
    assert_eq!(row(&[], "", "AGENT"), "AGENT STATUS LOGIN OR KEY");
    assert_eq!(
        row(&["gemini"], "", "gemini"),
        "gemini installed set GEMINI_API_KEY; log in: oauth-personal, vertex-ai, gateway"
    );
    assert_eq!(
        row(&["npx"], "GEMINI_API_KEY", "gemini"),
        "gemini runs with npx GEMINI_API_KEY is set"
    );
    assert_eq!(
        row(&["npx"], "", "vibe"),
        "vibe not installed set MISTRAL_API_KEY; log in: vibe-setup"
    );
    assert_eq!(row(&["elizacp"], "", "elizacp"), "elizacp installed none");
}

#[test]
fn ways_to_install_follow_the_table() {
    let (_folder, programs) = with_programs(&["npx", "kiro-cli"]);
    let table = table(&Catalog::known().unwrap(), &programs, |_| false);
    let (rows, install) = table.split_once("\n\nINSTALL\n").unwrap();
    assert_eq!(rows.lines().count(), Catalog::known().unwrap().agents().len() + 1);
    let install: Vec<_> = install.lines().map(|line| line.split_once(' ').unwrap()).collect();
    assert!(install.contains(&("vibe", "            uv tool install mistral-vibe==3.0.3")));
    assert!(install.iter().all(|(name, _)| !["gemini", "kiro"].contains(name)), "{table}");
    let (_folder, all) =
        with_programs(&["npx", "uvx", "elizacp", "goose", "kiro-cli", "cursor-agent"]);
    let table = host::catalog::table(&Catalog::known().unwrap(), &all, |_| false);
    assert!(!table.contains("INSTALL"), "{table}");
}
