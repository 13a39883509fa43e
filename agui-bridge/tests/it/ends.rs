//! Ends of runs.
use crate::script::{in_stream, play, verify};
use acp_types::v1::prompt_turn::StopReason;
use agui_bridge::{Failure, RunOpen, Translator, TurnStart};
use agui_types::profile::Profile;
use serde_json::{Value, json};

const PROFILES: [Profile; 2] = [Profile::V1, Profile::Legacy];

fn end(profile: Profile, steps: &[Value]) -> (Vec<Value>, Value) {
    let mut script = vec![json!({"run": "r"})];
    script.extend_from_slice(steps);
    let mut stream = play(in_stream(profile), &script);
    verify(profile, &stream);
    let end = stream.pop().unwrap_or_default();
    (stream.split_off(1), end)
}

fn finished(reason: &str, outcome: Value) -> Value {
    json!({"type": "RUN_FINISHED", "threadId": "thread", "runId": "r", "result": {"stopReason": reason}, "outcome": outcome})
}

fn cancelled(result: Value) -> Value {
    let outcome = json!({"type": "cancelled"});
    json!({"type": "RUN_FINISHED", "threadId": "thread", "runId": "r", "result": result, "outcome": outcome})
}

#[test]
fn each_stop_reason_has_an_end() {
    let success = json!({"type": "success", "pendingToolCallIds": []});
    let refused = json!({"type": "RUN_ERROR", "message": "The agent refuses to go on.", "code": "ACP_REFUSAL"});
    let table = [
        ("end_turn", finished("end_turn", success.clone()), None),
        ("max_tokens", finished("max_tokens", success.clone()), None),
        ("max_turn_requests", finished("max_turn_requests", success.clone()), None),
        ("refusal", refused.clone(), Some(refused)),
        (
            "cancelled",
            cancelled(json!({"stopReason": "cancelled", "cancelReason": "agent"})),
            Some(
                json!({"type": "RUN_ERROR", "message": "The run was cancelled: agent.", "code": "CANCELLED"}),
            ),
        ),
    ];
    assert!(table.iter().map(|row| row.0).eq(StopReason::NAMES.iter().copied()));
    let newer = ("newer", finished("newer", success), None);
    for (reason, modern, legacy) in table.into_iter().chain([newer]) {
        let result = [json!({"result": {"stopReason": reason}})];
        let (body, given) = end(Profile::V1, &result);
        assert_eq!(given, modern, "{reason}");
        let limits = ["max_tokens", "max_turn_requests"].contains(&reason);
        assert_eq!(body.iter().any(|event| event["name"] == "acp.notice"), limits, "{reason}");
        let plain = json!({"type": "RUN_FINISHED", "threadId": "thread", "runId": "r", "result": {"stopReason": reason}});
        assert_eq!(end(Profile::Legacy, &result).1, legacy.unwrap_or(plain), "{reason}");
    }
}

/// The user has stopped the turn, whatever the agent does then.
#[test]
fn agent_that_exits_for_a_cancellation_ends_the_run_as_cancelled() {
    for profile in PROFILES {
        let steps = [json!({"cancel": true}), json!({"exit": "It is gone."})];
        let (body, end) = end(profile, &steps);
        let notice = json!({"severity": "warning", "title": "It is gone."});
        assert_eq!(body, [json!({"type": "CUSTOM", "name": "acp.notice", "value": notice})]);
        let expected = match profile {
            Profile::V1 => cancelled(json!({"cancelReason": "user"})),
            _ => {
                json!({"type": "RUN_ERROR", "message": "The run was cancelled: user.", "code": "CANCELLED"})
            }
        };
        assert_eq!(end, expected);
    }
}

#[test]
fn each_error_has_a_code() {
    let table = [
        (-32700, "ACP_PARSE_ERROR"),
        (-32600, "ACP_INVALID_REQUEST"),
        (-32601, "ACP_METHOD_NOT_FOUND"),
        (-32602, "ACP_INVALID_PARAMS"),
        (-32603, "ACP_INTERNAL_ERROR"),
        (-32800, "ACP_REQUEST_CANCELLED"),
        (-32000, "ACP_AUTH_REQUIRED"),
        (-32002, "ACP_RESOURCE_NOT_FOUND"),
        (-32022, "ACP_ERROR"),
        (429, "ACP_ERROR"),
    ];
    for (number, code) in table {
        let error =
            [json!({"error": {"code": number, "message": "why", "data": {"uri": "file:///x"}}})];
        let (_, given) = end(Profile::V1, &error);
        let expected = json!({"type": "RUN_ERROR", "message": "why", "code": code, "metadata": {"acp": {"code": number}}});
        assert_eq!(given, expected);
        let expected = json!({"type": "RUN_ERROR", "message": "why", "code": code});
        assert_eq!(end(Profile::Legacy, &error).1, expected);
    }
    let error = json!({"error": {"code": -32002, "message": "why", "data": {"sessionId": "s"}}});
    assert_eq!(end(Profile::V1, &[error]).1["code"], "ACP_SESSION_NOT_FOUND");
}

#[test]
fn cancelled_run_is_not_a_success() {
    for reason in StopReason::NAMES.iter().chain(&["newer"]) {
        let steps = [json!({"cancel": true}), json!({"result": {"stopReason": reason}})];
        let expected = cancelled(json!({"stopReason": reason, "cancelReason": "user"}));
        assert_eq!(end(Profile::V1, &steps).1, expected);
        assert_eq!(end(Profile::Legacy, &steps).1["code"], "CANCELLED");
    }
    for code in [-32800, -32603, -32000, 429] {
        let steps =
            [json!({"cancel": true}), json!({"error": {"code": code, "message": "stopped"}})];
        let expected = cancelled(json!({"cancelReason": "user"}));
        assert_eq!(end(Profile::V1, &steps).1, expected, "{code}");
        assert_eq!(end(Profile::Legacy, &steps).1["code"], "CANCELLED", "{code}");
    }
}

#[test]
fn each_failure_has_a_code() {
    let table = [
        (Failure::AgentUnavailable, "AGENT_UNAVAILABLE"),
        (Failure::AgentTimeout, "AGENT_TIMEOUT"),
        (Failure::AcpVersion, "ACP_VERSION"),
        (Failure::AgentExited, "AGENT_EXITED"),
        (Failure::TurnTimeout, "TURN_TIMEOUT"),
        (Failure::IdleTimeout, "IDLE_TIMEOUT"),
        (Failure::Overloaded, "OVERLOADED"),
        (Failure::LimitExceeded, "LIMIT_EXCEEDED"),
        (Failure::GatewayShutdown, "GATEWAY_SHUTDOWN"),
    ];
    for (failure, code) in table {
        let mut translator = begun(Profile::V1);
        translator.handle_failure(failure, "why");
        assert_eq!(
            last(&mut translator),
            json!({"type": "RUN_ERROR", "message": "why", "code": code})
        );
        assert!(!translator.is_running());
    }
}

#[test]
fn runs_can_end_without_the_agent() {
    for profile in PROFILES {
        let mut translator = begun(profile);
        translator.handle_no_work();
        let end = last(&mut translator);
        assert_eq!(&end["type"], &json!("RUN_FINISHED"));
        assert_eq!(&end["result"], &Value::Null);
        assert_eq!(end["outcome"].is_null(), profile == Profile::Legacy);

        let mut translator = begun(profile);
        translator.handle_stopped();
        let end = last(&mut translator);
        match profile {
            Profile::Legacy => assert_eq!(end["code"], "CANCELLED"),
            _ => assert_eq!(end["outcome"], json!({"type": "cancelled"})),
        }
    }
}

#[test]
fn new_session_is_reported_within_a_run() {
    for (profile, has_transcript) in
        PROFILES.into_iter().flat_map(|profile| [(profile, false), (profile, true)])
    {
        let mut translator = begun(profile);
        translator.handle_new_session(has_transcript);
        translator.handle_no_work();
        let stream: Vec<Value> = std::iter::from_fn(|| translator.poll_event())
            .map(|event| serde_json::to_value(event).unwrap())
            .collect();
        verify(profile, &stream);
        let notices = stream.iter().filter(|event| event["name"] == "acp.notice");
        let [notice] = &notices.map(|notice| &notice["value"]).collect::<Vec<_>>()[..] else {
            panic!("{stream:?}")
        };
        assert_eq!(notice["severity"], "warning");
        let text = notice["description"].as_str().unwrap();
        assert_eq!(text.contains("as text"), has_transcript, "{text}");

        translator.handle_new_session(has_transcript);
        assert_eq!(translator.poll_event(), None);
    }
}

#[test]
fn run_begins_only_after_the_end_of_the_last() {
    let mut translator = begun(Profile::V1);
    let input =
        serde_json::from_str(r#"{"threadId":"thread","runId":"second","messages":[]}"#).unwrap();
    assert_eq!(translator.begin_run(&input, &[]), Err(RunOpen));
    translator.handle_stopped();
    assert_eq!(translator.begin_run(&input, &[]), Ok(TurnStart::Prompt));
}

#[test]
fn usage_is_in_the_end_of_the_run() {
    let usage = json!({"totalTokens": 60, "inputTokens": 40, "outputTokens": 20, "thoughtTokens": 5,
        "cachedReadTokens": 6, "cachedWriteTokens": u64::MAX});
    let expected = json!([{"inputTokens": 40, "outputTokens": 20, "totalTokens": 60, "reasoningTokens": 5,
        "cachedInputTokens": 6, "cacheWriteInputTokens": 9_007_199_254_740_991_u64}]);
    for reason in ["end_turn", "refusal", "cancelled"] {
        let steps = [json!({"result": {"stopReason": reason, "usage": usage}})];
        assert_eq!(end(Profile::V1, &steps).1["usage"], expected, "{reason}");
        assert_eq!(end(Profile::Legacy, &steps).1.get("usage"), None, "{reason}");
    }
}

fn begun(profile: Profile) -> Translator {
    let mut translator = Translator::new(in_stream(profile));
    let input = serde_json::from_str(r#"{"threadId":"thread","runId":"r","messages":[]}"#).unwrap();
    assert_eq!(translator.begin_run(&input, &[]), Ok(TurnStart::Prompt));
    translator
}

fn last(translator: &mut Translator) -> Value {
    let event = crate::script::events(translator).pop();
    serde_json::to_value(event).unwrap_or_default()
}
