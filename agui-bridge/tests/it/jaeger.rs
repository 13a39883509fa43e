//! The unit tests of Jaeger's gateway, row by row: equal here, or different on purpose, as listed
//! in `docs/other-bridges.md`. Contextual tools and inputs have tests of their own.
use crate::script::{in_stream, play, turn};
use agui_bridge::{Options, PermissionMode, Policy};
use agui_types::profile::Profile;
use serde_json::{Value, json};

fn text(text: &str) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
}

/// Returns types, with the members that distinguish events of a type.
fn brief(stream: &[Value]) -> Vec<String> {
    let mark = |event: &Value| {
        let marks = ["delta", "toolCallName", "content", "name"].iter();
        let mark = marks.filter_map(|name| event.get(name)?.as_str()).next();
        let kind = event["type"].as_str().unwrap();
        mark.map_or(kind.to_owned(), |mark| format!("{kind} {mark}"))
    };
    let cards =
        |event: &&Value| event["type"] != "ACTIVITY_SNAPSHOT" && event.get("type").is_some();
    stream.iter().filter(cards).map(mark).collect()
}

fn run(steps: &[Value]) -> Vec<Value> {
    let mut all = vec![json!({"run": "r"})];
    all.extend(steps.iter().cloned());
    play(in_stream(Profile::V1), &all)
}

#[test]
fn runs() {
    let say = json!({"update": text("a")});
    let ended = |reason: &str| run(&[say.clone(), json!({"result": {"stopReason": reason}})]);
    let events = ended("end_turn");
    assert_eq!(
        brief(&events),
        [
            "RUN_STARTED",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT a",
            "TEXT_MESSAGE_END",
            "RUN_FINISHED"
        ]
    );
    // The stop reason is inside `result`; here it has an outcome as well.
    let last = events.last().unwrap();
    assert_eq!(&last["result"], &json!({"stopReason": "end_turn"}));
    assert_eq!(&last["outcome"]["type"], &json!("success"));
    assert_eq!(&last["threadId"], &json!("thread"));
    assert_eq!(&last["runId"], &json!("r"));
    // Difference: not every reason is a success.
    assert_eq!(ended("refusal").last().unwrap()["type"], "RUN_ERROR");
    assert_eq!(ended("cancelled").last().unwrap()["outcome"]["type"], "cancelled");
    // An error ends the text, then the run; here it has a code.
    let failed = run(&[say, json!({"error": {"code": -32603, "message": "broken"}})]);
    assert_eq!(brief(&failed)[3..], ["TEXT_MESSAGE_END", "RUN_ERROR"]);
    assert_eq!(failed.last().unwrap()["code"], "ACP_INTERNAL_ERROR");
    assert_eq!(failed.last().unwrap()["message"], "broken");
}

#[test]
fn text_chunks() {
    let one = brief(&turn(&[text("hello world"), text(" more"), text("!")]));
    assert_eq!(
        one,
        [
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT hello world",
            "TEXT_MESSAGE_CONTENT  more",
            "TEXT_MESSAGE_CONTENT !",
            "TEXT_MESSAGE_END"
        ]
    );
    assert_eq!(brief(&turn(&[text("")])), Vec::<String>::new());
    assert_eq!(brief(&turn(&[text(" world ")]))[1], "TEXT_MESSAGE_CONTENT  world ");
    // Difference: white space forms the paragraphs of a text.
    for blank in [" ", "\t", "\n", "\r\n"] {
        assert_eq!(turn(&[text(blank)])[1]["delta"], blank);
    }
    // Difference: text after a call belongs to another message.
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Do", "status": "completed"});
    let split = turn(&[text("a"), call, text("b")]);
    let starts: Vec<_> =
        split.iter().filter(|event| event["type"] == "TEXT_MESSAGE_START").collect();
    assert_ne!(starts[0]["messageId"], starts[1]["messageId"]);
}

#[test]
fn tool_calls() {
    let call = |members: Value| {
        let mut call =
            json!({"sessionUpdate": "tool_call", "toolCallId": "tool-1", "title": "search_traces"});
        call.as_object_mut().unwrap().extend(members.as_object().cloned().unwrap());
        call
    };
    let update = |members: Value| {
        let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "tool-1"});
        update.as_object_mut().unwrap().extend(members.as_object().cloned().unwrap());
        update
    };
    let input = json!({"q": 1});
    // A title that is a plain word becomes the name. Difference: only if no better clue is present.
    let events = turn(&[
        call(json!({"rawInput": input})),
        update(json!({"status": "completed", "rawOutput": {"n": 2}})),
    ]);
    let whole = [
        "TOOL_CALL_START search_traces",
        r#"TOOL_CALL_ARGS {"q":1}"#,
        "TOOL_CALL_END",
        r#"TOOL_CALL_RESULT {"n":2}"#,
    ];
    assert_eq!(brief(&events), whole);
    assert_eq!(&events[0]["toolCallId"], &json!("tool-1"));
    assert_eq!(&events.last().unwrap()["messageId"], &json!("res-tool-1"));
    let named = turn(&[call(json!({"name": "find"})), update(json!({"status": "completed"}))]);
    assert_eq!(brief(&named)[0], "TOOL_CALL_START find");
    // Input, output and end in one update. Difference: the result comes last, and a repeated input
    // is sent once.
    let once = turn(&[
        call(json!({})),
        update(json!({"rawInput": input})),
        update(json!({"rawInput": input, "rawOutput": {"n": 2}, "status": "completed"})),
    ]);
    assert_eq!(brief(&once), whole);
    // The texts of an MCP result are joined.
    let mcp = json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
    let joined = turn(&[call(json!({})), update(json!({"rawOutput": mcp, "status": "completed"}))]);
    assert_eq!(brief(&joined).pop().unwrap(), "TOOL_CALL_RESULT a\nb");
    // Progress alone adds no result to the conversation.
    let progress =
        brief(&turn(&[call(json!({"rawInput": input})), update(json!({"status": "in_progress"}))]));
    // Difference: a call that stays open is ended, and an update without a call begins one.
    assert_eq!(progress[3..], ["TOOL_CALL_RESULT incomplete"]);
    assert_eq!(
        brief(&turn(&[update(json!({"title": "x", "status": "completed"}))])),
        ["TOOL_CALL_START x", "TOOL_CALL_ARGS {}", "TOOL_CALL_END", "TOOL_CALL_RESULT "]
    );
}

#[test]
fn permissions() {
    let ask = |policy: Policy, kinds: &[&str]| {
        let mut options = Options::new();
        options.permission = PermissionMode::Policy(policy);
        let offered: Vec<_> = kinds
            .iter()
            .map(|kind| json!({"optionId": kind, "name": kind, "kind": kind}))
            .collect();
        let ask = json!({"ask": 1, "toolCall": {"toolCallId": "t"}, "options": offered});
        let out = play(options, &[json!({"run": "r"}), ask, json!({"exit": ""})]);
        let answer = out.into_iter().find_map(|line| line.get("toAgent").cloned()).unwrap();
        answer["result"]["outcome"].get("optionId").and_then(Value::as_str).map(str::to_owned)
    };
    // With the policy that allows all, which Jaeger always uses; with only rejecting options, both
    // cancel.
    let table: [(&[&str], Option<&str>); 5] = [
        (&["allow_once"], Some("allow_once")),
        (&["reject_once", "allow_once", "allow_always"], Some("allow_once")),
        (&["allow_always"], Some("allow_always")),
        (&[], None),
        (&["reject_once", "reject_always"], None),
    ];
    for (kinds, chosen) in table {
        assert_eq!(ask(Policy::allow_all(), kinds).as_deref(), chosen, "{kinds:?}");
    }
    // Difference: the default refuses.
    assert_eq!(
        ask(Policy::default(), &["allow_once", "reject_once"]).as_deref(),
        Some("reject_once")
    );
}
