//! Help, and wrong command lines.
use crate::programs::{
    AGENT, AGUI_CLIENT, AGUI_SERVER, CLIENT, EDITOR_AGENT, GATEWAY, MCP_CLIENT, MCP_SERVER, PROXY,
    printed, run, stderr,
};

/// The programs, and whether they need an argument.
const PROGRAMS: [(&str, &str, bool); 9] = [
    ("mini-agent", AGENT, false),
    ("mini-agui-client", AGUI_CLIENT, true),
    ("mini-agui-server", AGUI_SERVER, false),
    ("mini-client", CLIENT, true),
    ("mini-editor-agent", EDITOR_AGENT, true),
    ("mini-gateway", GATEWAY, true),
    ("mini-mcp-client", MCP_CLIENT, true),
    ("mini-mcp-server", MCP_SERVER, false),
    ("mini-proxy", PROXY, true),
];

#[tokio::test]
async fn help_has_the_usage() {
    for (name, program, _) in PROGRAMS {
        let help = printed(&run(program, &["--help"], b"").await);
        assert!(help.contains(&format!("Usage: {name}")), "{name}: {help}");
    }
}

#[tokio::test]
async fn wrong_command_line_is_refused_with_the_usage() {
    for (name, program, needs_argument) in PROGRAMS {
        let unknown = run(program, &["--no-such-option"], b"").await;
        assert_eq!(unknown.status.code(), Some(2), "{name}");
        assert!(stderr(&unknown).contains(&format!("Usage: {name}")), "{name}");
        if needs_argument {
            let missing = run(program, &[""; 0], b"").await;
            assert_eq!(missing.status.code(), Some(2), "{name}");
            assert!(stderr(&missing).contains(&format!("Usage: {name}")), "{name}");
        }
    }
}

#[tokio::test]
async fn servers_listen_on_loopback_only() {
    let servers = [(AGUI_SERVER, None), (MCP_SERVER, None), (GATEWAY, Some(AGENT))];
    for (program, agent) in servers {
        let words: Vec<_> = ["--listen", "0.0.0.0:0"].into_iter().chain(agent).collect();
        let refused = run(program, &words, b"").await;
        assert_eq!(refused.status.code(), Some(1), "{program}");
        assert!(stderr(&refused).contains("expected a loopback address"), "{program}");
    }
}
