//! Command lines that do not start a gateway: their messages and exit statuses.
use crate::gateway::command;
use std::net::TcpListener;
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
            "gateway: --agent: command not found: no-such-agent-anywhere\n",
        ),
        (
            ["--agent", "agent 'unbalanced"],
            "gateway: --agent: unbalanced quotes in `agent 'unbalanced`\n",
        ),
        (["--agent", ""], "gateway: --agent: the command is empty\n"),
        (["--agent", "/"], "gateway: --agent: command not found: /\n"),
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
        assert_eq!((status, &*said), (Some(1), message), "{arguments:?}");
    }
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
