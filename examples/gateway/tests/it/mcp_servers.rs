//! MCP servers of the settings, in the sessions of agents.
use crate::gateway::{Gateway, command, input};
use crate::page_tools::asking;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// Settings with servers of each kind, and files with secrets.
fn settings(folder: &TempDir, version: u8) -> String {
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("token"), "canary-file\n").unwrap();
    // The demo agent, with a capability that it lacks.
    let script = format!(
        "tee {} | {} demo-agent | sed -u 's/\"agentCapabilities\":{{/&\"mcpCapabilities\":{{\"http\":true}},/;s/\"mcp\":{{/&\"http\":{{}},/'",
        path("heard"),
        env!("CARGO_BIN_EXE_gateway"),
    );
    fs::write(path("agent.sh"), script).unwrap();
    let agent = format!("sh {}", path("agent.sh"));
    format!(
        "default-agent = 'demo'\n[agents.demo]\ncommand = {agent:?}\nversion = {version}\n[agents.other]\n\
         [mcp-servers.files]\ncommand = \"sh -c 'sleep 1'\"\nenv.LEVEL = 'canary-own'\n\
         env-file.TOKEN = {:?}\nenv-variable.KEY = 'TEST_MCP_KEY'\n\
         [mcp-servers.docs]\nurl = 'https://docs.example/mcp?key=canary-url'\nagents = ['demo']\n\
         header.X-Team = 'canary-team'\nheader-file.Authorization = {:?}\n\
         [mcp-servers.events]\nurl = 'http://127.0.0.1:1/sse'\ntransport = 'sse'\n\
         [mcp-servers.secret]\ncommand = 'sh'\nagents = ['other']\n",
        path("token"),
        path("token"),
    )
}

const VARIABLES: [(&str, &str); 2] = [("TEST_MCP_KEY", "canary-variable"), ("RUST_LOG", "trace")];

async fn configured(folder: &TempDir, version: u8) -> Gateway {
    let file = folder.path().join("gateway.toml");
    fs::write(&file, settings(folder, version)).unwrap();
    Gateway::start(&["--config", file.to_str().unwrap()], &VARIABLES).await
}

/// The servers of the first session.
fn servers(folder: &TempDir) -> Vec<Value> {
    let text = fs::read_to_string(folder.path().join("heard")).unwrap();
    let messages = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let new = messages.into_iter().find(|message| message["method"] == "session/new").unwrap();
    new["params"]["mcpServers"].as_array().unwrap().clone()
}

#[tokio::test]
async fn session_gets_the_servers_of_its_agent() {
    for version in [1, 2] {
        let folder = TempDir::new().unwrap();
        let mut gateway = configured(&folder, version).await;
        let told = gateway.run(&asking("t", "1", "hello")).await.rest().await;
        assert_eq!(told.end(), "success");
        let servers = servers(&folder);
        let names: Vec<_> = servers.iter().map(|server| &server["name"]).collect();
        assert_eq!(names, ["docs", "files", "ui"]);
        assert_eq!(servers[0]["type"], "http");
        assert_eq!(servers[1]["type"].as_str(), (version == 2).then_some("stdio"));
        assert_eq!(servers[0]["url"], "https://docs.example/mcp?key=canary-url");
        let header = |name: &str, value: &str| json!({ "name": name, "value": value });
        let headers =
            json!([header("Authorization", "canary-file"), header("X-Team", "canary-team")]);
        assert_eq!(servers[0]["headers"], headers);
        assert!(servers[1]["command"].as_str().unwrap().starts_with('/'));
        assert_eq!(servers[1]["args"], json!(["-c", "sleep 1"]));
        let env = [("KEY", "canary-variable"), ("LEVEL", "canary-own"), ("TOKEN", "canary-file")];
        assert_eq!(servers[1]["env"], json!(env.map(|(name, value)| header(name, value))));
        // The demo agent has no server-sent events.
        gateway.says("does not support the transport of the MCP server `events`").await;
    }
}

#[tokio::test]
async fn values_of_servers_are_in_no_log() {
    let folder = TempDir::new().unwrap();
    let mut gateway = configured(&folder, 2).await;
    let told = gateway.run(&input("t", "1", "hello")).await.rest().await;
    assert_eq!(told.end(), "success");
    gateway.child.start_kill().unwrap();
    while let Some(line) = gateway.line().await {
        assert!(!line.contains("canary"), "{line}");
    }
    let file = folder.path().join("gateway.toml");
    let print = ["--config", file.to_str().unwrap(), "--print-config"];
    let printed = command(&print).envs(VARIABLES).output().await.unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    for hidden in ["canary-own", "canary-file", "canary-variable", "canary-team"] {
        assert!(!printed.contains(hidden), "{printed}");
    }
}

#[tokio::test]
async fn mistake_in_a_server_has_its_place() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for (server, expected) in [
        ("", "mcp-servers.s.command: expected one of `command` and `url`, got none"),
        (
            "command = 'sh'\nurl = 'http://a'",
            "mcp-servers.s.command: expected one of `command` and `url`, got both",
        ),
        (
            "command = 'no-such-program-anywhere'",
            "mcp-servers.s.command: `no-such-program-anywhere` is not on the path",
        ),
        ("command = ''", "mcp-servers.s.command: expected words"),
        (
            "command = 'sh'\nheader.A = 'b'",
            "mcp-servers.s.url: missing, expected with a header or a transport",
        ),
        (
            "url = 'http://a'\nenv.A = 'b'",
            "mcp-servers.s.command: missing, expected with variables",
        ),
        ("url = 'ftp://a'", "mcp-servers.s.url: expected http://… or https://…"),
        (
            "url = 'http://a'\nheader-file.A = '/nowhere/a'",
            "mcp-servers.s.header-file.A: /nowhere/a: ",
        ),
        (
            "url = 'http://a'\nheader-variable.A = 'TEST_UNSET'",
            "mcp-servers.s.header-variable.A: TEST_UNSET has no value",
        ),
        (
            "url = 'http://a'\nheader.A = 'b'\nheader-variable.A = 'PATH'",
            "mcp-servers.s.header-variable.A: expected one value, got two",
        ),
        ("kind = 'http'", "line 2, column 1: unknown field `kind`"),
    ] {
        fs::write(file.path(), format!("[mcp-servers.s]\n{server}\n")).unwrap();
        let ended = command(&["--config", file.path().to_str().unwrap()]).output().await.unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(!ended.status.success() && said.contains(expected), "{server}: {said}");
    }
}
