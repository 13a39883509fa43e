//! After its program file is replaced, as by an upgrade, a gateway starts children with the running
//! program.
use crate::agent_tools::{Shim, asking};
use crate::gateway::{Gateway, PROGRAM, command_of, input, script, soon};
use crate::run::Run;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

const REQUEST: &str = r#"terminal/create {"sessionId":"s","command":"true"}
terminal/wait_for_exit {"sessionId":"s","terminalId":"terminal-1"}
"#;

/// The gateway's program file and settings.
struct InstalledGateway {
    folder: TempDir,
    gateway: Gateway,
}

impl InstalledGateway {
    /// Settings with the demo agent, an agent that runs a command, and one that reports its MCP
    /// servers.
    async fn start() -> Self {
        // A link needs the same file system; a copy would be open for writing while other tests
        // start processes.
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::hard_link(PROGRAM, path("gateway")).unwrap();
        fs::write(path("requests"), REQUEST).unwrap();
        let settings = format!(
            "default-agent = 'demo'\n[agents.demo]\n[agents.runs]\ncommand = {:?}\nroot = {:?}\nterminal = true\n[agents.tells]\ncommand = {:?}",
            script("asks-host"),
            folder.path(),
            script("tells-servers"),
        );
        fs::write(path("config"), settings).unwrap();
        let mut command = command_of(path("gateway"), &["--config", &path("config")]);
        command.env("REQUESTS", path("requests"));
        Self { gateway: Gateway::listening(command).await, folder }
    }

    fn delete(&self) {
        fs::remove_file(self.folder.path().join("gateway")).unwrap();
    }

    /// Replaces the program by one without effect.
    fn replace(&self) {
        let other = self.folder.path().join("other");
        fs::write(&other, "#!/bin/sh\nexit 99\n").unwrap();
        fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(&other, self.folder.path().join("gateway")).unwrap();
    }

    async fn ask(&self, agent: &str, input: &Value) -> Run {
        let url = self.gateway.url(&format!("/api/ai/agents/{agent}/chat"));
        let chat = self.gateway.client.post(url).json(input);
        Run::new(input, soon(chat.send()).await.unwrap())
    }
}

#[tokio::test]
async fn children_use_the_running_program() {
    for upgrade in [InstalledGateway::delete, InstalledGateway::replace] {
        let mut installed = InstalledGateway::start().await;
        upgrade(&installed);

        let told = installed.ask("demo", &input("d", "1", "hello")).await.rest().await;
        assert_eq!(told.end(), "success");

        let told = installed.ask("runs", &input("r", "2", "go")).await.rest().await;
        assert_eq!(told.end(), "success");
        let said = installed.gateway.says(r#""id":"q2""#).await;
        assert!(said.contains(r#""exitCode":0"#), "{said}");

        let _working = installed.ask("tells", &asking("t", "3", "go")).await;
        let told = installed.gateway.says("agent: new: {").await;
        let new: Value = serde_json::from_str(told.strip_prefix("agent: new: ").unwrap()).unwrap();
        let mut shim = Shim::start(&new["params"]["mcpServers"][0]);
        let client = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let initialized = shim.ask(1, "initialize", client).await;
        assert_eq!(initialized["serverInfo"]["name"], "spanwire-ui");
    }
}
