//! Permission requests.
use crate::script::{Step, StepError, in_stream, of_type, play, verify};
use acp_types::v1::tool_calls::ToolKind;
use agui_bridge::{AnswerError, Options, PermissionMode, Policy, Translator};
use agui_types::profile::Profile;
use serde_json::{Value, json};

fn ask(id: Value, call: &str) -> Value {
    json!({"ask": id, "toolCall": {"toolCallId": call, "title": "Do it", "kind": "execute", "rawInput": {"c": "ls"}},
    "options": [
        {"optionId": "always", "name": "Always", "kind": "allow_always"},
        {"optionId": "once", "name": "Once", "kind": "allow_once"},
        {"optionId": "never", "name": "Never", "kind": "reject_always"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]})
}

fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

fn by(policy: Policy) -> Options {
    let mut options = in_stream(Profile::V1);
    options.permission = PermissionMode::Policy(policy);
    options
}

/// Returns the responses to the agent, as `(id, result)`.
fn answers(stream: &[Value]) -> Vec<(Value, Value)> {
    let answer = |event: &Value| {
        Some((event.get("toAgent")?["id"].clone(), event["toAgent"]["result"].clone()))
    };
    stream.iter().filter_map(answer).collect()
}

#[test]
fn default_policy_rejects() {
    let mut options = Options::new();
    options.profile = Some(Profile::V1);
    let stream = play(options, &[json!({"run": "r"}), ask(json!(1), "t")]);
    assert_eq!(answers(&stream), [(json!(1), selected("no"))]);
}

#[test]
fn policy_answers_at_once_and_is_shown() {
    let table = [
        (Policy::allow_all(), "once"),
        (Policy::reject_all(), "no"),
        (Policy::allow_kinds([ToolKind::Execute]), "once"),
        (Policy::allow_kinds([ToolKind::Read]), "no"),
        (Policy::allow_tools(["execute"]), "once"),
        (Policy::allow_tools(["Bash"]), "no"),
    ];
    for (policy, option) in table {
        let stream =
            play(by(policy), &[json!({"run": "r"}), ask(json!("a"), "t"), json!({"exit": ""})]);
        verify(Profile::V1, &stream);
        assert_eq!(answers(&stream), [(json!("a"), selected(option))]);
        let told = json!({"type": "CUSTOM", "name": "acp.permission", "value":
            {"toolCallId": "t", "title": "Do it", "outcome": "selected", "optionId": option,
             "answeredBy": "policy"}});
        assert!(stream.contains(&told), "{told}");
        let result = of_type(&stream, "TOOL_CALL_RESULT")[0]["content"].clone();
        assert_eq!(result, if option == "no" { "rejected by policy" } else { "incomplete" });
    }
}

/// The same id for two options: the answer to the agent would not say which one was chosen.
#[test]
fn options_with_one_id_are_left_out() {
    let mut asked = ask(json!(1), "t");
    asked["options"] = json!([
        {"optionId": "a", "name": "Allow", "kind": "allow_once"},
        {"optionId": "a", "name": "Reject", "kind": "reject_once"},
        {"optionId": "b", "name": "Always", "kind": "allow_always"},
    ]);
    let stream = play(by(Policy::reject_all()), &[json!({"run": "r"}), asked.clone()]);
    assert_eq!(answers(&stream), [(json!(1), cancelled())]);
    let stream = play(by(Policy::allow_all()), &[json!({"run": "r"}), asked.clone()]);
    assert_eq!(answers(&stream), [(json!(1), selected("b"))]);
    let stream = play(in_stream(Profile::V1), &[json!({"run": "r"}), asked]);
    let customs = of_type(&stream, "CUSTOM");
    let shown = customs.iter().find(|event| event["name"] == "acp.permission.requested");
    let options = &shown.expect("a question")["value"]["options"];
    assert_eq!(*options, json!([{"optionId": "b", "name": "Always", "kind": "allow_always"}]));
    assert!(customs.iter().any(|event| event["name"] == "acp.notice"));
}

#[test]
fn policy_without_a_matching_option_cancels() {
    let mut asked = ask(json!(1), "t");
    asked["options"] = json!([{"optionId": "x", "name": "X", "kind": "newer"}]);
    for policy in [Policy::allow_all(), Policy::reject_all()] {
        let stream = play(by(policy), &[json!({"run": "r"}), asked.clone()]);
        assert_eq!(answers(&stream), [(json!(1), cancelled())]);
    }
}

#[test]
fn several_requests_wait_concurrently() {
    let steps = [
        json!({"run": "r"}),
        ask(json!(0), "t"),
        ask(json!("0"), "u"),
        json!({"answer": "int-2", "optionId": "always"}),
        json!({"answer": "int-1"}),
    ];
    let stream = play(in_stream(Profile::V1), &steps);
    assert_eq!(answers(&stream), [(json!("0"), selected("always")), (json!(0), cancelled())]);
    let resolved: Vec<_> =
        stream.iter().filter(|event| event["name"] == "acp.permission.resolved").collect();
    assert_eq!(
        resolved[0]["value"],
        json!({"interruptId": "int-2", "outcome": "selected", "optionId": "always",
            "answeredBy": "user"})
    );
    assert_eq!(
        resolved[1]["value"],
        json!({"interruptId": "int-1", "outcome": "cancelled", "answeredBy": "user"})
    );
}

#[test]
fn invalid_answer_is_refused_without_effect() {
    let mut translator = Translator::new(in_stream(Profile::V1));
    for step in [json!({"run": "r"}), ask(json!(1), "t")] {
        assert_eq!(Step::read(&step).apply(&mut translator), Ok(()));
    }
    let mut answer = |id: &str, option: &str| {
        Step::read(&json!({"answer": id, "optionId": option})).apply(&mut translator)
    };
    for id in ["int-0", "int-2", "int-01", "int-", "int-x", "1", ""] {
        assert_eq!(answer(id, "once"), Err(StepError::Answer(AnswerError::Unknown)), "{id}");
    }
    assert_eq!(answer("int-1", "?"), Err(StepError::Answer(AnswerError::Option)));
    assert_eq!(answer("int-1", "once"), Ok(()));
    assert_eq!(answer("int-1", "once"), Err(StepError::Answer(AnswerError::Answered)));
    assert!(translator.poll_response().is_some());
    assert!(translator.poll_response().is_none());
}

#[test]
fn each_end_of_a_run_answers_open_requests() {
    let ends = [
        json!({"result": {"stopReason": "end_turn"}}),
        json!({"error": {"code": -32603, "message": "m"}}),
        json!({"exit": "gone"}),
        json!({"cancel": true}),
    ];
    for end in ends {
        let stream = play(
            in_stream(Profile::V1),
            &[json!({"run": "r"}), ask(json!(1), "t"), ask(json!(2), "t"), end],
        );
        assert_eq!(answers(&stream), [(json!(1), cancelled()), (json!(2), cancelled())]);
    }
}

#[test]
fn request_without_a_run_is_rejected() {
    let stream = play(
        in_stream(Profile::V1),
        &[ask(json!(1), "t"), json!({"run": "r"}), json!({"exit": ""})],
    );
    verify(Profile::V1, &stream);
    assert_eq!(answers(&stream), [(json!(1), selected("no"))]);
    assert_eq!(of_type(&stream, "TOOL_CALL_START").len(), 1);
}

#[test]
fn withdrawn_request_is_cancelled() {
    let mut translator = Translator::new(in_stream(Profile::V1));
    for step in [json!({"run": "r"}), ask(json!(1), "t")] {
        assert_eq!(Step::read(&step).apply(&mut translator), Ok(()));
    }
    translator.handle_request_withdrawn(&2.into());
    assert!(translator.poll_response().is_none());
    translator.handle_request_withdrawn(&1.into());
    translator.handle_request_withdrawn(&1.into());
    let answer =
        translator.poll_response().map(|answer| serde_json::to_value(answer.result).unwrap());
    assert_eq!(answer, Some(cancelled()));
    assert!(translator.poll_response().is_none());
}

#[test]
fn interrupt_ids_have_the_prefix() {
    let mut options = in_stream(Profile::V1);
    options.interrupt_prefix = "thread-7-".into();
    let steps = [
        json!({"run": "r"}),
        ask(json!(1), "t"),
        json!({"answer": "thread-7-1", "optionId": "once"}),
    ];
    assert_eq!(answers(&play(options, &steps)), [(json!(1), selected("once"))]);
}

#[test]
fn call_that_runs_was_not_rejected() {
    let steps = [
        json!({"run": "r"}),
        ask(json!(1), "t"),
        json!({"answer": "int-1", "optionId": "no"}),
        json!({"update": {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "in_progress"}}),
        json!({"exit": ""}),
    ];
    let stream = play(in_stream(Profile::V1), &steps);
    assert_eq!(of_type(&stream, "TOOL_CALL_RESULT")[0]["content"], "incomplete");
}

/// The members of the request are decisive, also for a policy and while no run is open.
#[test]
fn policy_decides_by_the_request() {
    let read = json!({"update": {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Read", "name": "Read", "kind": "read"}});
    let mut asked = ask(json!(1), "t");
    for policy in [Policy::allow_kinds([ToolKind::Read]), Policy::allow_tools(["Read"])] {
        asked["toolCall"]["name"] = json!("Bash");
        let stream = play(by(policy), &[json!({"run": "r"}), read.clone(), asked.clone()]);
        assert_eq!(answers(&stream), [(json!(1), selected("no"))]);
    }
}

/// An answer concerns the call of its request, also if a later call has its id.
#[test]
fn denial_belongs_to_its_call() {
    let update = |status: &str| json!({"update": {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": status}});
    let next =
        json!({"update": {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Next"}});
    let steps = [
        json!({"run": "r"}),
        ask(json!(1), "t"),
        update("completed"),
        next,
        json!({"answer": "int-1", "optionId": "no"}),
        update("failed"),
    ];
    let stream = play(in_stream(Profile::V1), &steps);
    let results = of_type(&stream, "TOOL_CALL_RESULT");
    assert_eq!(results[1]["toolCallId"], "t~2");
    assert_eq!(results[1]["content"], "");
}

/// Returns the result of a call that was proposed with `shown`, answered with `answer` and
/// continued with `update`.
fn came_to(shown: &Value, answer: &Value, update: Option<Value>) -> (Value, Value) {
    let mut asked = ask(json!(1), "t");
    asked["toolCall"]["content"] = shown.clone();
    let mut answer = answer.clone();
    answer["answer"] = json!("int-1");
    let mut steps = vec![json!({"run": "r"}), asked, answer];
    steps.extend(update.map(|mut update| {
        update["sessionUpdate"] = json!("tool_call_update");
        update["toolCallId"] = json!("t");
        json!({"update": update})
    }));
    steps.push(json!({"result": {"stopReason": "end_turn"}}));
    let stream = play(in_stream(Profile::V1), &steps);
    let result = of_type(&stream, "TOOL_CALL_RESULT")[0].clone();
    (result["content"].clone(), result["metadata"]["acp"]["status"].clone())
}

/// Recorded: codex-acp-zed shows its question as content, and the output of the command only as
/// `rawOutput`. gemini-cli does not report an undecided call, and cline reports that it failed.
#[test]
fn proposal_is_not_the_result() {
    let question = json!([{"type": "content", "content": {"type": "text", "text": "Run it?"}}]);
    let done = json!({"status": "completed", "rawOutput": "out"});
    let failed = json!({"status": "failed"});
    let said = json!({"status": "failed", "rawOutput": "no"});
    let allow = json!({"optionId": "once"});
    let deny = json!({"optionId": "no"});
    let leave = json!({});
    let table = [
        (&allow, Some(done.clone()), "out", "completed"),
        (&allow, Some(json!({"status": "completed"})), "Run it?", "completed"),
        (&allow, None, "incomplete", "incomplete"),
        (&deny, None, "rejected by user", "failed"),
        (&leave, None, "cancelled", "cancelled"),
        (&leave, Some(done), "out", "completed"),
    ];
    for (answer, update, content, status) in table {
        let given = came_to(&question, answer, update.clone());
        assert_eq!(given, (json!(content), json!(status)), "{answer} {update:?}");
    }
    let table = [
        (&allow, failed.clone(), ""),
        (&deny, failed.clone(), "rejected by user"),
        (&leave, failed, "cancelled"),
        (&deny, said, "no"),
    ];
    for (answer, update, content) in table {
        let given = came_to(&Value::Null, answer, Some(update.clone()));
        assert_eq!(given, (json!(content), json!("failed")), "{answer} {update}");
    }
}
