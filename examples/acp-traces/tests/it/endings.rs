//! How sessions end, and that nothing is left of them.

use crate::proxy::{NO_COLLECTOR, Proxy, acp_traces, test_agent};
use nix::sys::signal::Signal;
use std::fs;
use std::process::{Command, Output};
use std::time::Duration;

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
fn an_agent_that_dies_by_a_signal_gives_128_and_its_number() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGABRT] {
        let number = signal as i32;
        let end = Proxy::start(&["raise", &number.to_string()]).wait();
        assert_eq!(end.status, Some(128 + number), "{signal}");
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
        (&["--grace", "soon", "--", agent], "--grace"),
        (
            &["--otlp-endpoint", "http://not a url", "--", agent, "exit", "0"],
            "\"http://not a url\"",
        ),
        (&["--otlp-endpoint", "localhost:4317", "--", agent, "exit", "0"], "http://HOST:PORT"),
        (
            &["--otlp-endpoint", "ftp://localhost:4317", "--", agent, "exit", "0"],
            "http://HOST:PORT",
        ),
    ] {
        let output = run(acp_traces(arguments));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(told), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
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
    assert_eq!(end.status, Some(128 + Signal::SIGTERM as i32));
}

#[test]
fn an_agent_that_does_not_listen_is_killed() {
    let mut proxy =
        Proxy::with_options(&["--otlp-endpoint", NO_COLLECTOR, "--grace", "0"], &["ignore-term"]);
    assert_eq!(proxy.read_line(), "ready\n");
    let (end, _) = proxy.finish();
    assert_eq!(end.status, Some(128 + Signal::SIGKILL as i32));
}

#[test]
fn signals_go_to_the_agent() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut proxy = Proxy::start(&["stay"]);
        assert_eq!(proxy.read_line(), "ready\n");
        proxy.signal(signal);
        assert_eq!(proxy.wait().status, Some(128 + signal as i32));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_proxy_leaves_no_agent_behind() {
    let mut proxy = Proxy::start(&["stay"]);
    assert_eq!(proxy.read_line(), "ready\n");
    proxy.signal(Signal::SIGKILL);
    assert_eq!(proxy.wait().status, None);
}

#[test]
fn what_an_agent_leaves_behind_is_ended() {
    let mut proxy = Proxy::start(&["leave-a-child"]);
    assert_eq!(proxy.read_line(), "ready\n");
    let (end, took) = proxy.finish();
    assert_eq!(end.status, Some(0));
    assert!(took < Duration::from_secs(3), "{took:?}");
}

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
    assert_eq!(proxy.exit_status(), Some(128 + Signal::SIGTERM as i32));
}
