//! Command lines that do not start a gateway: their messages and exit statuses.
use crate::gateway::{Gateway, command};
#[cfg(unix)]
use serde_json::json;
#[cfg(unix)]
use std::io::{Read, Write};
use std::net::TcpListener;
#[cfg(unix)]
use std::path::Path;
use std::process::Output;

/// Runs a gateway that fails to start.
async fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } =
        crate::gateway::soon(command(arguments).output()).await.unwrap();
    assert!(stdout.is_empty(), "{arguments:?}");
    (status.code(), String::from_utf8(stderr).unwrap())
}

#[tokio::test]
async fn unusable_settings_end_the_start() {
    for (arguments, message) in [
        (
            ["--agent", "no-such-agent-anywhere --acp"],
            "gateway: --agent: command not found: no-such-agent-anywhere; `gateway agents` lists the known agents\n",
        ),
        (
            ["--agent", "agent 'unbalanced"],
            "gateway: --agent: unbalanced quotes in `agent 'unbalanced`; `gateway agents` lists the known agents\n",
        ),
        (
            ["--agent", "gemnii"],
            "gateway: --agent: `gemnii` is neither an agent nor a command; similar agents: gemini; `gateway agents` lists the known agents\n",
        ),
        (
            ["--agent", ""],
            "gateway: --agent: the command is empty; `gateway agents` lists the known agents\n",
        ),
        (
            ["--agent", "/"],
            "gateway: --agent: command not found: /; `gateway agents` lists the known agents\n",
        ),
        (
            ["--agent-url", "ftp://127.0.0.1:1"],
            "gateway: --agent-url: expected ws://…, wss://…, http://… or https://…, got `ftp://127.0.0.1:1`\n",
        ),
        (
            ["--agent-url", "not a url"],
            "gateway: --agent-url: expected ws://…, wss://…, http://… or https://…, got `not a url`\n",
        ),
        (["--cwd", "/no/such/folder"], "gateway: --cwd: /no/such/folder is not a directory\n"),
        (["--cwd", "/dev/null"], "gateway: --cwd: /dev/null is not a directory\n"),
    ] {
        let (status, said) = refused(&arguments).await;
        assert_eq!(status, Some(1), "{arguments:?}");
        assert_eq!(&*said, message, "{arguments:?}");
    }
}

#[tokio::test]
async fn unreadable_registry_is_named() {
    let arguments = ["--agent", "gemini", "--agents", "/no/such/file"];
    let (status, said) = refused(&arguments).await;
    assert_eq!(status, Some(1));
    assert!(said.starts_with("gateway: --agents: /no/such/file: "), "{said}");
}

#[tokio::test]
async fn invalid_command_line_is_explained() {
    for (arguments, message) in [
        (&["--no-such-flag"][..], "unexpected argument '--no-such-flag'"),
        (&["surplus"], "surplus"),
        (&["--listen", "everywhere"], "invalid socket address"),
        (
            &["--permission", "perhaps"],
            "[possible values: ask, ask-by-interrupt, ask-in-stream, allow, reject]",
        ),
        (&["--turn-time=-1"], "expected a number of seconds, from 0 to a year"),
        (&["--cancel-grace", "soon"], "expected a number of seconds, from 0 to a year"),
        (&["--exit-grace", "1e99"], "expected a number of seconds, from 0 to a year"),
        (&["--agent", "sh", "--agent-url", "ws://127.0.0.1:1"], "cannot be used with"),
    ] {
        let (status, said) = refused(arguments).await;
        assert_eq!(status, Some(2), "{arguments:?}: {said}");
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
}

#[tokio::test]
async fn port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (status, said) = refused(&["--listen", &address]).await;
    assert_eq!(status, Some(1));
    assert!(said.starts_with(&format!("gateway: cannot listen on {address}: ")), "{said}");
    assert!(said.contains("in use"), "{said}");
}

/// Writes a program into `folder` that runs an agent of `tests/agents` if it gets the arguments.
#[cfg(unix)]
fn install(folder: &Path, program: &str, arguments: &str) {
    install_agent(folder, program, arguments, "tells-environment");
}

#[cfg(unix)]
fn install_agent(folder: &Path, program: &str, arguments: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(program);
    let agent = crate::gateway::script(script);
    let text = format!("#!/bin/sh\n[ \"$*\" = '{arguments}' ] && exec {agent}\n");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
fn search_path(folder: &Path) -> String {
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

#[cfg(unix)]
#[tokio::test]
async fn agent_is_run_by_name() {
    let folder = tempfile::tempdir().unwrap();
    install(folder.path(), "gemini", "--acp");
    let path = search_path(folder.path());
    let gateway = Gateway::start(&["--agent", "gemini"], &[("PATH", &path)]).await;
    let run = gateway.ask("t", "r", "hello").await.rest().await;
    assert_eq!(run.end(), "success");
}

#[cfg(unix)]
#[tokio::test]
async fn agent_of_registry_is_run_by_npx_with_its_variables() {
    let folder = tempfile::tempdir().unwrap();
    install(folder.path(), "npx", "--yes --package @new/one@1.2.3 -- one --acp");
    let registry = folder.path().join("registry.json");
    let text = r#"{"version":"1","agents":[{"id":"new-one","name":"New one","version":"1.2.3","description":"x",
        "distribution":{"npx":{"package":"@new/one@1.2.3","args":["--acp"],"env":{"TEST_NEW_ONE":"yes"}}}}]}"#;
    std::fs::write(&registry, text).unwrap();
    let path = search_path(folder.path());
    let arguments = ["--agent", "new-one", "--agents", registry.to_str().unwrap()];
    let mut gateway = Gateway::start(&arguments, &[("PATH", &path)]).await;
    let run = gateway.ask("t", "r", "hello").await.rest().await;
    assert_eq!(run.end(), "success");
    gateway.says("TEST_NEW_ONE=yes").await;
}

/// OpenHands announces MCP over HTTP, and refuses sessions with it.
#[cfg(unix)]
#[tokio::test]
async fn transport_that_agent_is_known_to_refuse_is_not_tried() {
    let folder = tempfile::tempdir().unwrap();
    for (program, arguments, refused) in [
        ("openhands", "acp --override-with-envs", &["command"][..]),
        ("opencode", "acp", &["type", "command"]),
    ] {
        install_agent(folder.path(), program, arguments, "refuses-servers");
        let path = search_path(folder.path());
        let mut gateway = Gateway::start(&["--agent", program], &[("PATH", &path)]).await;
        let told = gateway.run(&crate::page_tools::asking("t", "1", "Hi")).await.rest().await;
        assert_eq!(told.end(), "success");
        assert_eq!(&*told.text(), "without tools");
        for member in refused {
            let line = gateway.says("refused: ").await;
            assert!(
                line.contains(&format!(r#""mcpServers":[{{"{member}""#))
                    || line.contains(&format!(r#""name":"ui","{member}""#)),
                "{line}"
            );
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn agent_of_registry_is_installed_with_consent() {
    let folder = tempfile::tempdir().unwrap();
    let program = format!("#!/bin/sh\nexec {}\n", crate::gateway::script("tells-environment"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let archive = format!("http://{}/agent", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let _ = connection.read(&mut [0; 4096]);
            let length = program.len();
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
            let _ = connection.write_all(format!("{head}{program}").as_bytes());
        }
    });
    let os = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let system = format!("{os}-{}", std::env::consts::ARCH);
    let registry = folder.path().join("registry.json");
    let entry = json!({
        "id": "new-one", "name": "New one", "version": "1.2.3", "description": "x",
        "distribution": { "binary": { system: { "archive": archive, "cmd": "./bin/new-one" } } },
    });
    std::fs::write(&registry, json!({ "version": "1", "agents": [entry] }).to_string()).unwrap();
    let registry = registry.to_str().unwrap();
    let data = folder.path().join("data");
    let home =
        [("XDG_DATA_HOME", data.to_str().unwrap()), ("HOME", folder.path().to_str().unwrap())];
    let run = async |arguments: &[&str]| {
        let mut command = command(arguments);
        let output = crate::gateway::soon(command.envs(home).output()).await.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let next = format!("gateway agents install new-one --agents {registry}");
    let (status, _, said) = run(&["--agent", "new-one", "--agents", registry]).await;
    let expected = format!(
        "gateway: --agent: New one is not installed: run `{next}`; `gateway agents` lists the known agents\n"
    );
    assert_eq!(status, Some(1));
    assert_eq!(said, expected);
    let words: Vec<_> = next.split(' ').skip(1).collect();
    let (status, shown, said) = run(&words).await;
    assert_eq!(status, Some(1));
    assert!(shown.contains(&archive), "{shown}");
    assert!(said.contains("expected `--yes`") && said.contains("nothing was installed"), "{said}");
    let (status, shown, said) = run(&[&words[..], &["--yes"]].concat()).await;
    assert_eq!(status, Some(0), "{shown}");
    assert_eq!(&*said, "", "{shown}");
    assert!(shown.lines().last().unwrap().starts_with("installed "), "{shown}");
    let (_, table, _) = run(&["agents", "--agents", registry]).await;
    let row = table.lines().find(|line| line.starts_with("new-one ")).unwrap();
    assert!(row.contains(" installed "), "{row}");
    let arguments = ["--agent", "new-one", "--agents", registry];
    let gateway = Gateway::start(&arguments, &home).await;
    let run = gateway.ask("t", "r", "hello").await.rest().await;
    assert_eq!(run.end(), "success");
    let (status, said) = refused(&["agents", "install", "gemnii"]).await;
    assert_eq!(status, Some(1));
    assert!(said.contains("got `gemnii`; similar agents: gemini"), "{said}");
}

#[cfg(unix)]
#[tokio::test]
async fn agents_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    install(folder.path(), "gemini", "--acp");
    let mut command = command(&["agents"]);
    command
        .env("PATH", folder.path())
        .env("GEMINI_API_KEY", "secret-key")
        .env_remove("XAI_API_KEY");
    let Output { status, stdout, stderr } = crate::gateway::soon(command.output()).await.unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(&*stderr, &b""[..]);
    let table = String::from_utf8(stdout).unwrap();
    let row = |agent: &str| {
        let row = table.lines().find(|line| line.split(' ').next() == Some(agent)).unwrap();
        row.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("gemini"), "gemini installed GEMINI_API_KEY is set");
    assert_eq!(row("grok"), "grok not installed set XAI_API_KEY; log in: grok.com");
    let (_, install) = table.split_once("\nINSTALL\n").unwrap();
    let of_grok = install.lines().find(|line| line.starts_with("grok ")).unwrap();
    assert!(of_grok.contains(" npm install --global @xai-official/grok"), "{table}");
    assert!(!table.contains("secret-key"));
}
