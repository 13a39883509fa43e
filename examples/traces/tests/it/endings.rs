//! Ends of sessions, without processes left behind.

use crate::proxy::{NO_COLLECTOR, Proxy, acp_traces, test_agent};
use std::fs;
use std::process::{Command, Output};
use std::time::Duration;

/// Exit status of an agent that had to be terminated. On Windows it is killed.
const TOLD_TO_END: i32 = 128 + if cfg!(windows) { 9 } else { 15 };

fn run(mut command: Command) -> Output {
    command.output().unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

#[test]
fn exit_status_is_that_of_the_agent() {
    for status in [0, 3, 126, 255] {
        let end = Proxy::start(&["exit", &status.to_string()]).wait();
        assert_eq!(end.status, Some(status));
        assert_eq!(&*end.stderr, "");
    }
}

#[test]
fn stderr_of_the_agent_passes() {
    let (end, _) = Proxy::start(&["complain"]).finish();
    assert_eq!(end.stderr, "something is wrong\n");
    assert!(end.stdout.is_empty());
}

#[test]
fn missing_command_is_reported() {
    let output = run(acp_traces(&["--", "no-such-agent-anywhere"]));
    assert_eq!(output.status.code(), Some(127));
    assert_eq!(stderr(&output).lines().count(), 1);
    assert!(stderr(&output).starts_with(r#"acp-traces: cannot run "no-such-agent-anywhere": "#));
    assert!(output.stdout.is_empty());
}

#[test]
fn mistyped_agent_is_reported_with_similar_names() {
    let output = run(acp_traces(&["--", "gemnii"]));
    assert_eq!(output.status.code(), Some(127));
    assert_eq!(
        stderr(&output),
        "acp-traces: `gemnii` is neither an agent nor a command; similar agents: gemini\n"
    );
    let output = run(acp_traces(&["--agents", "/no/such/file", "--", "gemini"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("acp-traces: --agents: /no/such/file: "));
}

#[cfg(unix)]
#[test]
fn agent_is_run_by_name() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("gemini");
    fs::write(&program, "#!/bin/sh\necho \"arguments: $*\"\nexit 7\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for (words, expected) in [(&["gemini"][..], "--acp"), (&["gemini", "--version"], "--version")] {
        let arguments = [&["--otlp-endpoint", NO_COLLECTOR, "--"], words].concat();
        let mut command = acp_traces(&arguments);
        command.env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()));
        let output = run(command);
        assert_eq!(output.status.code(), Some(7), "{words:?}");
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert_eq!(stdout, format!("arguments: {expected}\n"));
    }
}

#[test]
fn unexecutable_command_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent");
    fs::write(&file, "not a program").unwrap();
    let output = run(acp_traces(&["--", file.to_str().unwrap()]));
    assert_eq!(output.status.code(), Some(126));
    assert!(stderr(&output).contains("agent"), "{}", stderr(&output));
}

#[test]
fn invalid_command_line_is_reported_before_the_agent_starts() {
    let agent = test_agent();
    let agent = agent.to_str().unwrap();
    for (arguments, told) in [
        (&[][..], "COMMAND"),
        (&["--no-such-flag", "--", agent, "exit", "0"], "--no-such-flag"),
        (&[agent], "-- "),
        (&["--grace", "soon", "--", agent], "expected a number of seconds, 0 or more"),
        (&["--grace", "-1", "--", agent], "expected a number of seconds, 0 or more"),
        (&["--provider", "", "--", agent, "exit", "0"], "--provider"),
        (&["--baggage", "a key", "--", agent, "exit", "0"], "expected a W3C baggage key"),
        (&["--baggage", "a=b,c", "--", agent, "exit", "0"], "expected a W3C baggage key"),
        (
            &["--baggage", "acp.stop_reason", "--", agent],
            "outside the namespaces of the conventions",
        ),
        (&["--baggage", "gen_ai.tenant", "--", agent], "outside the namespaces of the conventions"),
        (&["--baggage", "process.pid", "--", agent], "outside the namespaces of the conventions"),
    ] {
        let output = run(acp_traces(arguments));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(told), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn invalid_url_is_reported_and_the_session_continues() {
    let agent = test_agent();
    for address in [
        "",
        "http://not a url",
        "localhost:4317",
        "ftp://localhost:4317",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:/v1",
        "https://user:key@[::1]:otlp?x",
    ] {
        let options = ["--otlp-endpoint", address, "--", agent.to_str().unwrap(), "exit", "7"];
        let output = run(acp_traces(&options));
        assert_eq!(output.status.code(), Some(7), "{address}: the agent ran");
        let told = stderr(&output);
        assert!(told.contains(&format!("{address:?}")), "{address}: {told}");
        assert!(told.contains("; no spans are sent\n"), "{address}: {told}");
    }
    // These URLs are valid.
    for address in ["http://[::1]", "http://user:key@localhost", "http://127.0.0.1:1/base?a=b:c"] {
        let options = ["--otlp-endpoint", address, "--", agent.to_str().unwrap(), "exit", "0"];
        assert_eq!(run(acp_traces(&options)).status.code(), Some(0), "{address}");
    }
}

#[test]
fn outputs_do_not_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let transcript = fs::read_to_string(crate::replay::TURN).unwrap();
    fs::write(&path, &transcript).unwrap();
    let file = path.to_str().unwrap();
    let agent = test_agent();
    let agent = agent.to_str().unwrap();
    for arguments in [
        &["replay", file, "--file", file][..],
        &["report", file, "-o", file],
        &["--file", file, "--record", file, "--", agent, "exit", "0"],
    ] {
        let output = run(acp_traces(arguments));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let expected = format!("cannot write to {file}: another option names the same file");
        assert!(stderr(&output).contains(&expected), "{arguments:?}: {}", stderr(&output));
        assert_eq!(fs::read_to_string(&path).unwrap(), transcript);
    }
}

#[test]
fn editor_that_disconnects_ends_the_agent() {
    let (end, _) = Proxy::start(&["echo"]).finish();
    assert_eq!(end.status, Some(0));
}

#[test]
fn agent_that_outlives_the_grace_is_terminated() {
    let mut proxy =
        Proxy::with_options(&["--otlp-endpoint", NO_COLLECTOR, "--grace", "0.1"], &["stay"]);
    assert_eq!(proxy.read_line(), "ready\n");
    let (end, _) = proxy.finish();
    assert_eq!(end.status, Some(TOLD_TO_END));
}

#[cfg(any(target_os = "linux", windows))]
#[test]
fn killed_proxy_leaves_no_agent_behind() {
    let mut proxy = Proxy::start(&["stay"]);
    assert_eq!(proxy.read_line(), "ready\n");
    proxy.child.kill().unwrap();
    assert_eq!(proxy.wait().status, if cfg!(windows) { Some(1) } else { None });
}

#[test]
fn children_of_an_agent_are_ended() {
    let mut proxy = Proxy::start(&["leave-a-child"]);
    assert_eq!(proxy.read_line(), "ready\n");
    let (end, took) = proxy.finish();
    assert_eq!(end.status, Some(0));
    assert!(took < Duration::from_secs(3), "{took:?}");
}

/// On Windows, the editor waits for the end of the session.
#[cfg(unix)]
#[test]
fn end_of_the_agents_output_reaches_the_editor() {
    let mut proxy = Proxy::start(&["close-stdout"]);
    assert_eq!(proxy.read_line(), "last words\n");
    assert_eq!(proxy.read_line(), "");
    let (end, _) = proxy.finish();
    assert_eq!(end.status, Some(0));
}

#[test]
fn editor_that_stops_reading_ends_the_session() {
    let mut proxy =
        Proxy::with_options(&["--otlp-endpoint", NO_COLLECTOR, "--grace", "0.1"], &["echo"]);
    proxy.write(b"one\n");
    assert_eq!(proxy.read_line(), "one\n");
    proxy.hang_up();
    // The output is not closed; only the agent's output has no reader.
    assert_eq!(proxy.exit_status_of_writes(b"two\n"), Some(TOLD_TO_END));
}
