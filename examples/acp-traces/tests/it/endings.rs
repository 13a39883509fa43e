//! How sessions end, and that nothing is left of them.

use crate::proxy::{NO_COLLECTOR, Proxy, acp_traces, test_agent};
use std::fs;
use std::process::{Command, Output};
use std::time::Duration;

/// The status of an agent that had to be told to end. On Windows nobody is told: it is killed.
const TOLD_TO_END: i32 = 128 + if cfg!(windows) { 9 } else { 15 };

fn run(mut command: Command) -> Output {
    command.output().unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

#[test]
fn the_exit_status_is_the_agents() {
    for status in [0, 3, 126, 255] {
        let end = Proxy::start(&["exit", &status.to_string()]).wait();
        assert_eq!((end.status, &*end.stderr), (Some(status), ""));
    }
}

#[test]
fn the_agents_stderr_passes() {
    let (end, _) = Proxy::start(&["complain"]).finish();
    assert_eq!(end.stderr, "something is wrong\n");
    assert!(end.stdout.is_empty());
}

#[test]
fn a_command_that_is_not_there_is_named() {
    let output = run(acp_traces(&["--", "no-such-agent-anywhere"]));
    assert_eq!(output.status.code(), Some(127));
    assert_eq!(stderr(&output).lines().count(), 1);
    assert!(stderr(&output).starts_with(r#"acp-traces: cannot run "no-such-agent-anywhere": "#));
    assert!(output.stdout.is_empty());
}

#[test]
fn a_command_that_cannot_be_run_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent");
    fs::write(&file, "not a program").unwrap();
    let output = run(acp_traces(&["--", file.to_str().unwrap()]));
    assert_eq!(output.status.code(), Some(126));
    assert!(stderr(&output).contains("agent"), "{}", stderr(&output));
}

#[test]
fn a_wrong_command_line_is_told_before_anything_runs() {
    let agent = test_agent();
    let agent = agent.to_str().unwrap();
    for (arguments, told) in [
        (&[][..], "COMMAND"),
        (&["--no-such-flag", "--", agent, "exit", "0"], "--no-such-flag"),
        (&[agent], "-- "),
        (&["--grace", "soon", "--", agent], "expected a number of seconds, 0 or more"),
        (&["--grace", "-1", "--", agent], "expected a number of seconds, 0 or more"),
        (&["--provider", "", "--", agent, "exit", "0"], "--provider"),
        (&["--baggage", "a key", "--", agent, "exit", "0"], "as a W3C baggage has it"),
        (&["--baggage", "a=b,c", "--", agent, "exit", "0"], "as a W3C baggage has it"),
        (&["--baggage", "acp.stop_reason", "--", agent], "no attribute of the conventions"),
        (&["--baggage", "gen_ai.tenant", "--", agent], "no attribute of the conventions"),
        (&["--baggage", "process.pid", "--", agent], "no attribute of the conventions"),
    ] {
        let output = run(acp_traces(arguments));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(told), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn an_invalid_address_is_reported_and_the_session_goes_on() {
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
    // Of these nothing is wrong.
    for address in ["http://[::1]", "http://user:key@localhost", "http://127.0.0.1:1/base?a=b:c"] {
        let options = ["--otlp-endpoint", address, "--", agent.to_str().unwrap(), "exit", "0"];
        assert_eq!(run(acp_traces(&options)).status.code(), Some(0), "{address}");
    }
}

#[test]
fn what_is_written_does_not_go_where_something_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let transcript = fs::read_to_string(crate::replay::TURN).unwrap();
    fs::write(&path, &transcript).unwrap();
    let (file, agent) = (path.to_str().unwrap(), test_agent());
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
fn an_editor_that_closes_its_end_ends_the_agent() {
    let (end, _) = Proxy::start(&["echo"]).finish();
    assert_eq!(end.status, Some(0));
}

#[test]
fn an_agent_that_stays_is_told_to_end() {
    let mut proxy =
        Proxy::with_options(&["--otlp-endpoint", NO_COLLECTOR, "--grace", "0.1"], &["stay"]);
    assert_eq!(proxy.read_line(), "ready\n");
    let (end, _) = proxy.finish();
    assert_eq!(end.status, Some(TOLD_TO_END));
}

#[cfg(any(target_os = "linux", windows))]
#[test]
fn a_killed_proxy_leaves_no_agent_behind() {
    let mut proxy = Proxy::start(&["stay"]);
    assert_eq!(proxy.read_line(), "ready\n");
    proxy.child.kill().unwrap();
    assert_eq!(proxy.wait().status, if cfg!(windows) { Some(1) } else { None });
}

#[test]
fn what_an_agent_leaves_behind_is_ended() {
    let mut proxy = Proxy::start(&["leave-a-child"]);
    assert_eq!(proxy.read_line(), "ready\n");
    let (end, took) = proxy.finish();
    assert_eq!(end.status, Some(0));
    assert!(took < Duration::from_secs(3), "{took:?}");
}

/// Windows has the editor wait for the end of the session.
#[cfg(unix)]
#[test]
fn the_editor_sees_the_end_of_the_agents_output() {
    let mut proxy = Proxy::start(&["close-stdout"]);
    assert_eq!(proxy.read_line(), "last words\n");
    assert_eq!(proxy.read_line(), "");
    let (end, _) = proxy.finish();
    assert_eq!(end.status, Some(0));
}

#[test]
fn an_editor_that_takes_no_more_ends_the_session() {
    let mut proxy =
        Proxy::with_options(&["--otlp-endpoint", NO_COLLECTOR, "--grace", "0.1"], &["echo"]);
    proxy.write(b"one\n");
    assert_eq!(proxy.read_line(), "one\n");
    proxy.hang_up();
    proxy.write(b"two\n");
    // Not closed: only the agent's word finds nobody.
    assert_eq!(proxy.exit_status(), Some(TOLD_TO_END));
}
