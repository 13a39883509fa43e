//! Changes of files between the versions.
use super::cases::{update, updates, v2_editor};
use super::chain::opened_v1;
use serde_json::json;

/// Both texts are in the patch, with their common lines at the beginning and at the end as context,
/// and come back.
#[test]
fn patch_has_both_texts_with_common_lines_as_context() {
    let none = "\\ No newline at end of file\n";
    let table = [
        (Some("a\nb\nc\n"), "a\nB\nc\n", "1,3 +1,3 @@\n a\n-b\n+B\n c\n".to_owned()),
        (Some("a\na\n"), "a\n", "1,2 +1,1 @@\n a\n-a\n".to_owned()),
        (Some("a"), "a\n", format!("1,1 +1,1 @@\n-a\n{none}+a\n")),
        (Some("b\na"), "a", format!("1,2 +1,1 @@\n-b\n a\n{none}")),
        (Some("a\n"), "a\n", "1,1 +1,1 @@\n a\n".to_owned()),
        (Some(""), "a\n", "0,0 +1,1 @@\n+a\n".to_owned()),
        (None, "a\n\n", "0,0 +1,2 @@\n+a\n+\n".to_owned()),
    ];
    let mut chain = opened_v1();
    for (number, (old, new, hunk)) in table.into_iter().enumerate() {
        let diff = match old {
            Some(old) => json!({"type": "diff", "path": "/f", "oldText": old, "newText": new}),
            None => json!({"type": "diff", "path": "/f", "newText": new}),
        };
        let given = json!({"sessionUpdate": "tool_call", "toolCallId": number.to_string(), "title": "T", "content": [diff]});
        let (editor, ..) = update(&mut v2_editor(json!({})), given.clone());
        let shown =
            updates(&editor).into_iter().find(|it| it["sessionUpdate"] == "tool_call_update");
        let patch = shown.unwrap()["content"][0]["patch"]["text"].as_str().unwrap();
        assert!(patch.ends_with(&format!("+++ /f\n@@ -{hunk}")), "{patch}");
        chain.agent(&json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": given}}));
        let back = chain.updates().into_iter().find(|it| it["toolCallId"] == given["toolCallId"]);
        assert_eq!(back.unwrap()["content"], given["content"]);
    }
}
