//! Results of tool calls, and what is shown before them.
use super::*;
use crate::script::brief;

#[test]
fn result_has_the_content_or_the_raw_output() {
    let diff = json!({"type": "diff", "path": "/f", "oldText": "a\nb", "newText": "a\nc"});
    let created = json!({"type": "diff", "path": "/f", "newText": "a\n"});
    let link = json!({"type": "content", "content": {"type": "resource_link", "name": "n", "uri": "https://h/n"}});
    let embedded = json!({"type": "content", "content": {"type": "resource", "resource": {"uri": "file:///n", "text": "t"}}});
    let blob = json!({"type": "content", "content": {"type": "resource", "resource": {"uri": "file:///n", "blob": "AA=="}}});
    let mcp = json!({"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "isError": false});
    let table = [
        (json!({}), ""),
        (json!({"content": []}), ""),
        (json!({"content": [text("one"), text("two\n"), text("three")]}), "one\ntwo\nthree"),
        (json!({"content": [text("one")], "rawOutput": "raw"}), "one"),
        (json!({"content": [], "rawOutput": "raw"}), "raw"),
        (json!({"rawOutput": {"b": 1.50, "a": 2}}), r#"{"a":2,"b":1.5}"#),
        (json!({"rawOutput": [1]}), "[1]"),
        (json!({"rawOutput": []}), "[]"),
        (json!({"rawOutput": [{"type": "text", "text": "one"}]}), "one"),
        (json!({"rawOutput": [{"type": "newer"}]}), r#"[{"type":"newer"}]"#),
        (
            json!({"rawOutput": {"call_id": "c", "stdout": "out\n", "aggregated_output": "out\nerr\n", "exit_code": 3}}),
            "out\nerr\n[exit code 3]",
        ),
        (
            json!({"rawOutput": {"aggregated_output": "out\nerr\n", "exit_code": 0, "formatted_output": "out"}}),
            "out",
        ),
        (json!({"rawOutput": mcp}), "one\ntwo"),
        (json!({"rawOutput": {"content": "no blocks"}}), r#"{"content":"no blocks"}"#),
        (
            json!({"content": [diff]}),
            "--- /f\n+++ /f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
        ),
        (json!({"content": [created]}), "--- /dev/null\n+++ /f\n@@ -0,0 +1 @@\n+a\n"),
        (json!({"content": [{"type": "terminal", "terminalId": "term-1"}]}), "[terminal term-1]"),
        (json!({"content": [link]}), "[n](https://h/n)"),
        (json!({"content": [embedded]}), "t"),
        (json!({"content": [blob]}), "[resource file:///n]"),
        (json!({"content": [{"type": "chart", "points": []}]}), "[chart]"),
        (json!({"content": [{"type": "content", "content": {"type": "hologram"}}]}), "[hologram]"),
    ];
    for (members, expected) in table {
        for profile in [Profile::V1, Profile::Legacy] {
            assert_eq!(result(profile, members.clone()), expected, "{members}");
        }
    }
}

/// Recorded: codex-acp-zed reports the end of a command in `_meta`, and its output in `rawOutput`.
#[test]
fn raw_output_precedes_an_empty_terminal() {
    let exit = json!({"terminal_exit": {"terminal_id": "t", "exit_code": 3, "signal": null}});
    let content = json!([{"type": "terminal", "terminalId": "t"}]);
    let silent = json!({"content": content, "_meta": exit});
    assert_eq!(result(Profile::V1, silent.clone()), "[exit code 3]");
    let mut told = silent;
    told["rawOutput"] = json!({"aggregated_output": "err\n", "exit_code": 3});
    assert_eq!(result(Profile::V1, told), "err\n[exit code 3]");
}

#[test]
fn media_in_results_are_parts_for_newer_clients() {
    let image = json!({"type": "content", "content": {"type": "image", "data": "AAAA", "mimeType": "image/png"}});
    let members = json!({"content": [text("a"), text("b"), image]});
    let parts = json!([{"type": "text", "text": "a\nb"},
        {"type": "image", "source": {"type": "data", "value": "AAAA", "mimeType": "image/png"}}]);
    assert_eq!(result(Profile::V1, members.clone()), parts);
    assert_eq!(result(Profile::Legacy, members), "a\nb\n[image]");
}

#[test]
fn output_of_an_unfinished_call_is_kept() {
    let half = call(json!({"content": [text("half")]}));
    let body = turn(std::slice::from_ref(&half));
    assert_eq!(of_type(&body, "TOOL_CALL_RESULT")[0]["content"], "half\n[incomplete]");

    let steps = [
        json!({"run": "r"}),
        json!({"update": half}),
        json!({"result": {"stopReason": "cancelled"}}),
    ];
    let stream = play(in_stream(Profile::V1), &steps);
    assert_eq!(of_type(&stream, "TOOL_CALL_RESULT")[0]["content"], "cancelled");
    let shown = of_type(&stream, "ACTIVITY_SNAPSHOT");
    assert_eq!(shown[1]["content"]["status"], "cancelled");
    assert_eq!(shown[1]["content"]["content"], json!([text("half")]));
}

#[test]
fn activity_shows_content_until_the_result() {
    let diff = json!({"type": "diff", "path": "/f", "oldText": "a", "newText": "b"});
    let terminal = json!({"type": "terminal", "terminalId": "x"});
    let body = turn(&[
        call(json!({"kind": "edit", "locations": [{"path": "/f", "line": 3}]})),
        update(
            json!({"status": "in_progress", "content": [text("wor"), diff, text("king"), terminal]}),
        ),
        update(json!({"status": "completed"})),
    ]);
    let shown: Vec<_> =
        of_type(&body, "ACTIVITY_SNAPSHOT").iter().map(|shown| shown["content"].clone()).collect();
    let content = |status: &str, content: Value| {
        json!({"toolCallId": "t", "title": "Do it", "kind": "edit", "status": status,
            "locations": [{"path": "/f", "line": 3}], "content": content})
    };
    assert_eq!(
        shown,
        [
            content("pending", json!([])),
            content("in_progress", json!([diff, terminal, text("working")])),
            content("completed", json!([diff, terminal])),
        ]
    );
}

#[test]
fn update_after_the_result_is_not_a_result() {
    let late = [
        update(json!({"title": "Done"})),
        update(json!({"status": "in_progress"})),
        update(json!({"rawInput": {"b": 2}})),
        update(json!({"rawOutput": "more"})),
        update(json!({"rawOutput": "more"})),
    ];
    let mut updates = vec![update(json!({"status": "completed", "rawOutput": "o"}))];
    updates.extend(late);
    let body = turn(&updates);
    let after: Vec<_> = body
        .iter()
        .skip_while(|event| event["type"] != "TOOL_CALL_RESULT")
        .skip(1)
        .map(brief)
        .collect();
    assert_eq!(after.len(), 2);
    let patch = json!([{"op": "replace", "path": "/title", "value": "Done"}]);
    assert_eq!(&after[0]["type"], &json!("ACTIVITY_DELTA"));
    assert_eq!(&after[0]["patch"], &patch);
    let value = json!({"toolCallId": "t", "rawOutput": "more"});
    assert_eq!(after[1], json!({"type": "CUSTOM", "name": "acp.tool_call.late", "value": value}));
    let body = turn_for(Profile::Legacy, &updates);
    assert_eq!(body.last().map(|event| &event["type"]), Some(&json!("TOOL_CALL_RESULT")));
}
