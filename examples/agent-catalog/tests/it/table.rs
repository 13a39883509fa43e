//! The table of agents.
use crate::with_programs;
use agent_catalog::{Catalog, table};

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
        "vibe install: uv tool install mistral-vibe==3.0.3 set MISTRAL_API_KEY; log in: vibe-setup"
    );
    assert_eq!(row(&["elizacp"], "", "elizacp"), "elizacp installed none");
}
