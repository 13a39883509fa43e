//! Settings for editors.

use crate::proxy::acp_traces;
use serde_json::{Value, json};

/// Returns standard output and standard error.
fn setup(arguments: &[&str]) -> (String, String) {
    let output = acp_traces(&[&["setup"], arguments].concat()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let printed = text(output.stdout);
    let said = text(output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    (printed, said)
}

/// The settings are JSON with the absolute path of the program, its options and the agent.
#[test]
fn json_settings_start_the_agent_with_options() {
    let awkward = r#"C:\a "b""#;
    for (editor, setting, kind) in [
        ("zed", "agent_servers", json!("custom")),
        ("jetbrains", "agent_servers", Value::Null),
        ("vscode", "acp.agents", Value::Null),
    ] {
        let options = [editor, "--backend", "phoenix", "--record", "/tmp/acp/"];
        let (printed, said) = setup(&[&options[..], &["--", "gemini", "--acp", awkward]].concat());
        let settings: Value = serde_json::from_str(&printed).unwrap();
        let server = &settings[setting]["gemini, traced"];
        assert_eq!(server["command"], env!("CARGO_BIN_EXE_acp-traces"), "{editor}");
        let args =
            ["--backend", "phoenix", "--record", "/tmp/acp/", "--", "gemini", "--acp", awkward];
        assert_eq!(server["args"], json!(args), "{editor}");
        assert_eq!(&server["env"], &json!({}), "{editor}");
        assert_eq!(&server["type"], &kind, "{editor}");
        assert!(said.starts_with("acp-traces: add to "), "{said}");
    }
}

/// Text is quoted by the rules of the language.
#[test]
fn lua_and_lisp_settings_quote_text() {
    let agent = ["--", "/opt/a b/Claude Code.sh", "x\"y\\z\n"];
    let (lua, _) = setup(&[&["neovim"], &agent[..]].concat());
    let program = env!("CARGO_BIN_EXE_acp-traces").replace('\\', r"\\");
    let args = r#""--", "/opt/a b/Claude Code.sh", "x\"y\\z\010""#;
    assert!(lua.contains(&format!(r#"default = {{ "{program}", {args} }}"#)), "{lua}");
    assert!(lua.contains(&format!(r#"command = "{program}", args = {{ {args} }}"#)), "{lua}");
    assert!(lua.contains(r#"["claude-code-traced"] = "#), "{lua}");
    let (lisp, _) = setup(&[&["emacs"], &agent[..]].concat());
    let args = "\"--\" \"/opt/a b/Claude Code.sh\" \"x\\\"y\\\\z\n\"";
    assert!(lisp.contains(&format!(":command-params '({args})")), "{lisp}");
    assert!(lisp.contains(":identifier 'claude-code-traced\n"), "{lisp}");
    assert_eq!(lisp.matches('(').count(), lisp.matches(')').count());
}

/// The adapter of codecompanion.nvim belongs to the agent, which may be a package.
#[test]
fn adapter_belongs_to_the_agent() {
    for (agent, id, adapter) in [
        (&["gemini"][..], "gemini-traced", "gemini_cli"),
        (&["claude"], "claude-traced", "claude_code"),
        (&["npx", "-y", "@google/gemini-cli@0.61.0", "--acp"], "gemini-cli-traced", "gemini_cli"),
        (&["uvx", "fast-agent-acp"], "fast-agent-acp-traced", "opencode"),
        (&["npx"], "npx-traced", "opencode"),
    ] {
        let (lua, _) = setup(&[&["neovim", "--"], agent].concat());
        assert!(lua.contains(&format!(r#".extend("{adapter}", "#)), "{agent:?}: {lua}");
        assert!(lua.contains(&format!(r#"provider = "{id}","#)), "{agent:?}: {lua}");
    }
}

#[test]
fn wrong_options_are_an_error() {
    for wrong in
        [&["zed", "--backend", "none", "--", "gemini"][..], &["zed"], &["vi", "--", "gemini"]]
    {
        let output = acp_traces(&[&["setup"], wrong].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert_eq!(output.stdout.len(), 0, "{wrong:?}");
    }
}
