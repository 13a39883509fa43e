//! Faulty agents; `tests/agents` has one for each fault.
use crate::gateway::{Gateway, input, refusal, script};
use agui_types::event::Event;
use serde_json::{Value, json};
use std::fs;

/// Unusable agents: the code of the error, and a part of its message.
const USELESS: &[(&str, &str, &str)] = &[
    (
        "exits-at-once",
        "AGENT_UNAVAILABLE",
        "the agent does not start: the agent closed the connection (exit status: 7)",
    ),
    (
        "exits-unanswered",
        "AGENT_UNAVAILABLE",
        "the agent does not start: the agent closed the connection (exit status: 7)",
    ),
    (
        "says-goodbye",
        "AGENT_UNAVAILABLE",
        "the agent does not start: the agent closed the connection (exit status: 0); its last output: \
         \"This program has reached its end of life. Key: (hidden)\"",
    ),
    (
        "fails-to-start",
        "AGENT_UNAVAILABLE",
        "the agent does not start: the agent closed the connection (exit status: 1); its last output: \
         \"Error: no model for the key (hidden)\"",
    ),
    (
        "version-3",
        "ACP_VERSION",
        "the agent speaks version 3; the client offers 1 and 2; install a release of the agent that speaks an offered version",
    ),
    ("reads-nothing", "AGENT_TIMEOUT", "the agent took too long to answer"),
];

#[tokio::test]
async fn unusable_agent_is_run_error() {
    for (agent, code, message) in USELESS {
        let times = ["--answer-time", if *agent == "reads-nothing" { "0.2" } else { "60" }];
        let gateway = Gateway::script(agent, &[&times, &["--exit-grace", "0"][..]].concat()).await;
        // The second attempt fails in the same way.
        for run in ["1", "2"] {
            let told = gateway.ask("t", run, "hello").await.rest().await;
            assert_eq!(told.tags(), ["RUN_STARTED", "RUN_ERROR"], "{agent}");
            assert_eq!(told.end(), *code, "{agent}");
            assert_eq!(&*told.error().message, *message, "{agent}");
        }
    }
}

#[tokio::test]
async fn refused_session_names_login_methods() {
    let gateway = Gateway::script("wants-login", &[]).await;
    let told = gateway.ask("t", "1", "hello").await.rest().await;
    let error = told.error();
    let command = script("wants-login");
    assert_eq!(told.end(), "ACP_AUTH_REQUIRED");
    let expected = format!(
        "Authentication required. Sign in: Log in (`browser`): restart the gateway with `--authenticate browser`; \
         or API key (`key`): set SOME_KEY; or Terminal (`cli`): run `{command} auth login`."
    );
    assert_eq!(error.message, expected);
    let metadata = serde_json::to_value(&error.metadata).unwrap();
    let ids = metadata["acp"]["authMethods"].as_array().unwrap();
    let ids: Vec<_> = ids.iter().map(|method| method["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["browser", "key", "cli"]);
    let ready = gateway.client.get(gateway.url("/readyz")).send().await.unwrap();
    let ready: Value = ready.json().await.unwrap();
    assert_eq!(ready["needsLogin"], json!(["agent"]), "{ready}");
    assert_eq!(ready["agents"], json!({ "agent": true }), "{ready}");
}

#[tokio::test]
async fn unknown_login_method_is_refused_with_valid_ones() {
    let gateway = Gateway::script("wants-login", &["--authenticate", "nonsense"]).await;
    let told = gateway.ask("t", "1", "hello").await.rest().await;
    assert_eq!(told.end(), "ACP_INVALID_PARAMS");
    assert_eq!(
        told.error().message,
        "authenticate: Invalid params; the authentication methods of the agent are Log in (`browser`), \
         API key (`key`), Terminal (`cli`)"
    );
}

#[tokio::test]
async fn reason_in_data_of_error_reaches_client_and_log() {
    let mut gateway = Gateway::script("gives-reason", &[]).await;
    let told = gateway.ask("t", "1", "hello").await.rest().await;
    let reason = "Internal error: Unauthorized (401) from https://api.example/v1?(hidden), token Bearer (hidden)";
    assert_eq!(told.end(), "ACP_INTERNAL_ERROR");
    assert_eq!(&*told.error().message, reason);
    let line = gateway.says("a run has failed").await;
    assert!(line.contains("Unauthorized (401)") && line.contains("ACP_INTERNAL_ERROR"), "{line}");
    assert!(!line.contains("key=k") && !line.contains("Bearer abc"), "{line}");
}

#[tokio::test]
async fn output_that_is_no_json_is_logged() {
    let mut gateway = Gateway::script("says-goodbye", &[]).await;
    gateway.ask("t", "1", "hello").await.rest().await;
    let line = gateway.says("a line that is no JSON").await;
    assert!(line.contains("This program has reached its end of life. Key: (hidden)"), "{line}");
}

#[tokio::test]
async fn waiting_runs_share_start_timeout() {
    let gateway =
        Gateway::script("reads-nothing", &["--answer-time", "1", "--exit-grace", "0"]).await;
    let starts = std::time::Instant::now();
    let threads = ["1", "2", "3", "4", "5", "6", "7", "8"];
    let runs =
        threads.map(|thread| async { gateway.ask(thread, thread, "hello").await.rest().await });
    for told in futures::future::join_all(runs).await {
        assert_eq!(told.end(), "AGENT_TIMEOUT");
    }
    assert!(starts.elapsed().as_secs() < 8, "not one after the other");
}

#[tokio::test]
async fn crashed_agent_closes_open_messages() {
    let gateway = Gateway::script("dies-mid-turn", &[]).await;
    for run in ["1", "2"] {
        let told = gateway.ask("t", run, "hello").await.rest().await;
        assert_eq!(told.end(), "AGENT_EXITED");
        assert_eq!(told.error().message, "the agent closed the connection (exit status: 7)");
        assert_eq!(told.text(), "I was about to say that");
        // The verifier checks that all messages are closed; the call has a result although the
        // agent sent none.
        assert_eq!(told.results().len(), 1);
    }
}

#[tokio::test]
async fn crash_is_noticed_while_child_holds_pipe() {
    let gateway = Gateway::script("leaves-child", &[]).await;
    let told = gateway.ask("t", "1", "hello").await.rest().await;
    assert_eq!(told.end(), "AGENT_EXITED");
    assert_eq!(&*told.text(), "farewell");
    assert!(told.error().message.contains("exit status: 7"), "{}", told.error().message);
}

#[tokio::test]
async fn agent_that_closes_output_is_ended() {
    let gateway = Gateway::script("closes-output", &["--exit-grace", "0"]).await;
    let told = gateway.ask("t", "1", "hello").await.rest().await;
    assert_eq!(told.end(), "AGENT_EXITED");
    assert_eq!(&*told.text(), "farewell");
    assert!(told.error().message.contains("exit status: 143"), "{}", told.error().message);
}

/// Faulty agents with successful turns, and their text.
const ODD: &[(&str, &str)] = &[
    ("noise", "through the noise"),
    ("long-line", "the rest is short"),
    ("not-utf-8", "café"),
    ("lone-surrogate", "before, after"),
    ("unknown-kinds", "understood?"),
    ("orphan-update", ""),
    ("early-update", ""),
    ("unknown-request", "there is no such method"),
    ("null-error", "never mind"),
];

#[tokio::test]
async fn turn_survives_invalid_lines() {
    for (agent, said) in ODD {
        let gateway = Gateway::script(agent, &[]).await;
        let told = gateway.ask("t", "1", "hello").await.rest().await;
        assert_eq!(told.end(), "success", "{agent}");
        assert!(told.text().ends_with(said), "{agent}: {}", told.text());
    }
}

#[tokio::test]
async fn invalid_lines_are_logged() {
    for (agent, report) in [
        ("noise", "the agent wrote a line that is no message"),
        ("long-line", "longer than 16777216 bytes"),
        ("not-utf-8", "UTF-8"),
        ("lone-surrogate", "lone surrogate"),
    ] {
        let mut gateway = Gateway::script(agent, &[]).await;
        gateway.ask("t", "1", "hello").await.rest().await;
        gateway.says(report).await;
    }
}

#[tokio::test]
async fn oversized_response_ends_its_turn() {
    let gateway = Gateway::script("long-line", &[]).await;
    gateway.ask("t", "1", "hello").await.rest().await;
    let told = gateway.ask("t", "2", "again").await.rest().await;
    assert_eq!(told.end(), "ACP_INVALID_REQUEST");
    assert!(told.error().message.contains("16777216"), "{}", told.error().message);
}

#[tokio::test]
async fn unknown_updates_and_reasons_are_forwarded() {
    let gateway = Gateway::script("unknown-kinds", &[]).await;
    let told = gateway.ask("t", "1", "hello").await.rest().await;
    assert_eq!(
        told.customs("acp.unknown")[0],
        json!({ "sessionUpdate": "weather_update", "sky": "clear" })
    );
    let stop = told.finished().result.as_ref().unwrap();
    assert_eq!(stop.as_str(), r#"{"stopReason":"out_of_credits"}"#);
}

#[tokio::test]
async fn update_starts_unknown_tool_call() {
    let gateway = Gateway::script("orphan-update", &[]).await;
    let told = gateway.ask("t", "1", "hello").await.rest().await;
    let begins = |event: &&Event| matches!(event, Event::ToolCallStart(start) if start.tool_call_id.as_str() == "t9");
    assert_eq!(told.events.iter().filter(begins).count(), 1);
    assert_eq!(told.results(), ["the notes"]);
}

#[tokio::test]
async fn updates_before_session_response_are_kept() {
    let gateway = Gateway::script("early-update", &[]).await;
    let told = gateway.ask("t", "1", "hello").await.rest().await;
    assert_eq!(told.customs("acp.mode"), [json!({ "currentModeId": "eager" })]);
}

#[tokio::test]
async fn updates_after_turn_are_kept_for_next_run() {
    let mut gateway = Gateway::script("late-update", &[]).await;
    let first = gateway.ask("t", "1", "hello").await.rest().await;
    assert_eq!(first.text(), "in time");
    gateway.says("agent: said it late").await;
    let second = gateway.ask("t", "2", "hello").await.rest().await;
    assert_eq!(second.text(), "too latein time again");
}

#[tokio::test]
async fn session_lost_by_agent_is_replaced() {
    let gateway = Gateway::script("forgets-session", &[]).await;
    assert_eq!(gateway.ask("t", "1", "hello").await.rest().await.text(), "before");
    let lost = gateway.ask("t", "2", "hello").await.rest().await;
    assert_eq!(lost.end(), "ACP_SESSION_NOT_FOUND");
    assert_eq!(gateway.ask("t", "3", "hello").await.rest().await.text(), "after");
}

#[tokio::test]
async fn agent_that_stops_reading_is_cancelled_and_ended() {
    let mut gateway =
        Gateway::script("stops-reading", &["--cancel-grace", "0.2", "--exit-grace", "0"]).await;
    let mut large = input("t", "r", "");
    large["messages"][0]["content"] = json!("x".repeat(1_000_000));
    let run = gateway.run(&large).await;
    gateway.says("agent: reads no more").await;
    gateway.post("runs/r/cancel", &Value::Null).await;
    assert_eq!(run.rest().await.end(), "cancelled");
    gateway.signal(nix::sys::signal::Signal::SIGTERM);
    assert!(gateway.ended().await.success());
}

#[tokio::test]
async fn turn_timeout_abandons_session() {
    let mut gateway = Gateway::script("cancellable", &["--turn-time", "0.5"]).await;
    let told = gateway.ask("t", "1", "work").await.rest().await;
    assert_eq!(told.end(), "TURN_TIMEOUT");
    assert_eq!(&*told.text(), "working");
    gateway.says("agent: cancelled").await;
}

#[tokio::test]
async fn session_belongs_to_one_thread() {
    let gateway = Gateway::script("same-session", &[]).await;
    let mut one = gateway.ask("one", "1", "hello").await;
    one.until("mine").await;
    let two = gateway.ask("two", "2", "hello").await.rest().await;
    assert_eq!(two.end(), "ACP_INVALID_REQUEST");
    assert!(two.error().message.ends_with("the session s is in use"), "{}", two.error().message);
    let one = one.rest().await;
    assert_eq!(one.end(), "success");
    assert_eq!(&*one.text(), "mine");
}

/// The log for a page that has stopped reading is bounded, and the page can still read the run's
/// end.
#[tokio::test]
async fn flooding_run_is_ended() {
    // With a fixed threshold, glibc returns freed blocks, so that what counts is what is held.
    let fixed = [("MALLOC_MMAP_THRESHOLD_", "131072")];
    let mut gateway = Gateway::start(&["--agent", &script("floods")], &fixed).await;
    #[cfg(target_os = "linux")]
    let before = kilobytes(&gateway, "VmRSS:").unwrap();
    let mut run = gateway.ask("t", "1", "go").await;
    gateway.says("agent: cancelled").await;
    run.drain().await;
    run.reconnect(&gateway).await;
    let told = run.rest().await;
    assert_eq!(told.end(), "LIMIT_EXCEEDED");
    assert_eq!(told.error().message, "The run has more output than its log holds.");
    assert!(told.text().len() > 4 * 1024 * 1024, "all of it is there");
    let next = gateway.ask("t", "2", "and now?").await.rest().await;
    assert_eq!(next.end(), "success");
    assert_eq!(&*next.text(), "quiet");
    // The pages of the program itself, which are read as they are needed, are among both.
    #[cfg(target_os = "linux")]
    {
        let grown = kilobytes(&gateway, "VmHWM:").unwrap() - before;
        assert!(grown < 96 * 1024, "{grown} kB more than before the run");
    }
}

/// Returns a size in the status of a gateway's process.
#[cfg(target_os = "linux")]
fn kilobytes(gateway: &Gateway, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", gateway.child.id()?)).ok()?;
    let size = status.lines().find_map(|line| line.strip_prefix(name))?;
    size.split_whitespace().next()?.parse().ok()
}

/// The log has the first lines and the number of the others. An agent that does not stop is ended.
#[tokio::test]
async fn flood_of_useless_lines_is_not_logged_and_ends_agent() {
    let mut gateway = Gateway::script("floods-log", &[]).await;
    let told = gateway.ask("t", "1", "go").await.rest().await;
    assert_eq!(told.end(), "success");
    assert_eq!(&*told.text(), "that was much");
    let told = gateway.ask("t", "2", "on").await.rest().await;
    assert_eq!(told.end(), "AGENT_EXITED");
    let message = &told.error().message;
    let why =
        "the agent was ended, because it wrote more than 10000 lines in 10 s that are invalid";
    assert!(message.starts_with(why), "{message}");
    let mut logged = 0;
    let mut left_out = 0;
    let mut reasons = 0;
    while let Some(line) = gateway.line().await {
        logged += u64::from(line.contains("UnknownSession"));
        if let Some((count, _)) = line.split_once(" further lines") {
            left_out += count.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
        }
        if line.contains(why) {
            reasons += 1;
            gateway.signal(nix::sys::signal::Signal::SIGTERM);
        }
    }
    assert!(reasons > 0, "the log has no reason");
    assert!(logged <= 20, "{logged} lines");
    assert!(left_out > 10_000, "{left_out} lines");
}

/// An agent's standard error is passed on within a limit, and what is beyond it is counted.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn flood_of_standard_error_is_bounded() {
    let mut gateway = Gateway::script("floods-errors", &["--exit-grace", "0"]).await;
    for run in ["1", "2"] {
        let told = gateway.ask("t", run, "go").await.rest().await;
        assert_eq!(told.end(), "success");
        assert_eq!(&*told.text(), "that was much");
    }
    gateway.signal(nix::sys::signal::Signal::SIGTERM);
    let mut passed = 0;
    let mut left_out = 0;
    while let Some(line) = gateway.line().await {
        passed += if line.starts_with("agent: ") { line.len() + 1 } else { 0 };
        let report =
            line.strip_suffix(" further bytes of the agent's standard error were left out");
        if let Some(count) = report.and_then(|line| line.strip_prefix("gateway: ")) {
            left_out += count.parse::<usize>().unwrap();
        }
    }
    assert!(passed > 0, "the first lines are there");
    assert!(left_out > 4_000_000, "{passed} bytes passed on, {left_out} left out");
    let all = 2 * 4_000_000;
    assert!(passed + left_out <= all, "{passed} bytes passed on, {left_out} left out");
}

#[tokio::test]
async fn failed_command_is_reported_with_status() {
    let gateway = Gateway::demo(&["--agent", "sh -c 'exec /nowhere/agent'"]).await;
    let told = gateway.ask("t", "1", "hello").await.rest().await;
    assert_eq!(told.end(), "AGENT_UNAVAILABLE");
    assert!(told.error().message.contains("exit status: 127"), "{}", told.error().message);
}

#[tokio::test]
async fn images_need_the_capability() {
    let gateway = Gateway::demo(&["--agent", &script("cancellable")]).await;
    let mut image = input("t", "1", "");
    image["messages"][0]["content"] = json!([{
        "type": "image", "source": { "type": "data", "value": "AAAA", "mimeType": "image/png" },
    }]);
    let (status, said) = refusal(gateway.chat(&image).await).await;
    assert_eq!(status, 415);
    assert_eq!(said, "at /messages/0/content/0: the agent does not support images");
}

#[tokio::test]
async fn contradictory_lines_are_ignored() {
    let mut gateway = Gateway::script("lies", &[]).await;
    let told = gateway.ask("t", "1", "hello").await.rest().await;
    assert_eq!(told.end(), "success");
    assert_eq!(&*told.text(), "the truth");
    let answered = gateway.says("agent: of nobody").await;
    assert!(answered.contains(r#""outcome":"cancelled""#), "{answered}");
    let next = gateway.ask("t", "2", "hello").await.rest().await;
    assert_eq!(next.end(), "success");
    assert_eq!(&*next.text(), "again");
}

#[tokio::test]
async fn invalid_stop_reason_ends_turn() {
    let gateway = Gateway::script("odd-ends", &[]).await;
    for (run, (said, end)) in [
        ("{stopReason:5}", "ACP_INVALID_REQUEST"),
        ("{}", "ACP_INVALID_REQUEST"),
        ("null", "ACP_INVALID_REQUEST"),
        ("end_turn", "ACP_INVALID_REQUEST"),
        ("[]", "ACP_INVALID_REQUEST"),
        ("{stopReason:cancelled}", "cancelled"),
        ("and well", "success"),
    ]
    .into_iter()
    .enumerate()
    {
        let told = gateway.ask("t", &run.to_string(), "hello").await.rest().await;
        assert_eq!(&*told.text(), said);
        assert_eq!(told.end(), end);
    }
}
