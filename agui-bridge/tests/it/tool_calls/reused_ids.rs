//! Ids that an agent uses for several calls of a turn.
use super::{call, update};
use crate::script::{in_stream, interrupting, of_type, play, turn, verify};
use agui_types::profile::Profile;
use serde_json::{Value, json};

/// A call that has run, and the arguments of the next one.
fn ended() -> [Value; 2] {
    let first =
        json!({"title": "echo hi", "status": "in_progress", "rawInput": {"command": "echo hi"}});
    [call(first), update(json!({"status": "completed", "rawOutput": "hi"}))]
}

fn next() -> Value {
    json!({"title": "rm -rf /srv", "kind": "execute", "status": "pending", "rawInput": {"command": "rm -rf /srv"}})
}

#[test]
fn announcement_after_the_end_is_a_new_call() {
    let described = json!({"status": "in_progress", "title": "rm -rf /srv"});
    let [first, end] = ended();
    let announcements = [call(next()), update(next()), update(described), call(json!({}))];
    for announcement in announcements {
        let failed = update(json!({"status": "failed"}));
        let body = turn(&[first.clone(), end.clone(), announcement.clone(), failed]);
        let ids: Vec<_> =
            of_type(&body, "TOOL_CALL_START").iter().map(|it| it["toolCallId"].clone()).collect();
        assert_eq!(ids, ["t", "t~2"], "{announcement}");
        let results = of_type(&body, "TOOL_CALL_RESULT");
        let statuses: Vec<_> =
            results.iter().map(|it| it["metadata"]["acp"]["status"].clone()).collect();
        assert_eq!(statuses, ["completed", "failed"], "{announcement}");
    }
}

#[test]
fn each_announcement_after_an_end_has_the_next_number() {
    let [first, end] = ended();
    let body = turn(&[first.clone(), end.clone(), first.clone(), end.clone(), first, end]);
    let ids: Vec<_> =
        of_type(&body, "TOOL_CALL_RESULT").iter().map(|it| it["toolCallId"].clone()).collect();
    assert_eq!(ids, ["t", "t~2", "t~3"]);
}

/// The first announcement describes the call that updates have ended. The same message again may be
/// that of another call, which must not be hidden.
#[test]
fn second_announcement_after_the_end_is_a_new_call() {
    let end = update(json!({"title": "echo hi", "status": "completed", "rawOutput": "hi"}));
    let announcement = call(json!({"title": "echo hi"}));
    for (announcements, expected) in [(1, &["t"][..]), (2, &["t", "t~2"]), (3, &["t", "t~2"])] {
        let mut updates = vec![end.clone()];
        updates.extend(std::iter::repeat_n(announcement.clone(), announcements));
        let body = turn(&updates);
        let ids: Vec<_> =
            of_type(&body, "TOOL_CALL_START").iter().map(|it| it["toolCallId"].clone()).collect();
        assert_eq!(ids, expected);
    }
}

#[test]
fn report_on_an_ended_call_is_late() {
    let [first, end] = ended();
    for late in [
        json!({"status": "in_progress"}),
        json!({"rawInput": {"command": "echo hi"}}),
        json!({"title": "echo", "status": "completed"}),
        json!({"locations": [{"path": "/f"}]}),
    ] {
        let body = turn(&[first.clone(), end.clone(), update(late.clone())]);
        assert_eq!(of_type(&body, "TOOL_CALL_START").len(), 1, "{late}");
    }
}

/// The request of a permission begins a call, whatever its members are.
#[test]
fn permission_after_the_end_is_for_a_new_call() {
    let [first, end] = ended();
    let mut members = next();
    members["toolCallId"] = json!("t");
    for asked in [members, json!({"toolCallId": "t"})] {
        let steps = [
            json!({"run": "r"}),
            json!({"update": first}),
            json!({"update": end}),
            json!({"ask": 1, "toolCall": asked, "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]}),
        ];
        let stream = play(interrupting(), &steps);
        verify(Profile::V1, &stream);
        let finished = of_type(&stream, "RUN_FINISHED")[0];
        assert_eq!(finished["outcome"]["interrupts"][0]["toolCallId"], "t~2", "{asked}");
        let arguments = of_type(&stream, "TOOL_CALL_ARGS");
        let expected = asked.get("rawInput").map_or("{}".into(), Value::to_string);
        assert_eq!(arguments[1]["delta"], expected, "{asked}");
    }
}

#[test]
fn v2_update_after_the_end_is_a_new_call() {
    let of = |members: Value| {
        let mut update = update(members);
        update["sessionUpdate"] = json!("tool_call_update");
        json!({"update2": update})
    };
    let steps = [
        json!({"run": "r"}),
        of(json!({"title": "echo hi", "status": "in_progress"})),
        of(json!({"status": "cancelled"})),
        of(next()),
        of(json!({"status": "completed"})),
        json!({"exit": "gone"}),
    ];
    let stream = play(in_stream(Profile::V1), &steps);
    let ids: Vec<_> =
        of_type(&stream, "TOOL_CALL_START").iter().map(|it| it["toolCallId"].clone()).collect();
    assert_eq!(ids, ["t", "t~2"]);
}
