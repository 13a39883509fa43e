//! Unified diffs in results.
use crate::script::{of_type, turn};
use proptest::prelude::*;
use serde_json::json;

fn diff(old: &str, new: &str) -> String {
    let content = json!([{"type": "diff", "path": "/f", "oldText": old, "newText": new}]);
    let body = turn(&[
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed", "content": content}),
    ]);
    of_type(&body, "TOOL_CALL_RESULT")[0]["content"].as_str().unwrap().to_owned()
}

/// Applies a unified diff to `old`, as `patch` does.
fn apply(old: &str, diff: &str) -> String {
    let mut old = old.split_inclusive('\n');
    let mut new = String::new();
    let mut at = 0;
    let mut lines = diff.split_inclusive('\n').skip(2).peekable();
    while let Some(line) = lines.next() {
        let cut = lines.next_if(|next| next.starts_with('\\')).is_some();
        let text = if cut { line[1..].trim_end_matches('\n') } else { &line[1..] };
        match &line[..1] {
            "@" => {
                let range = line.split(' ').nth(1).unwrap().trim_start_matches('-');
                let (start, count) = range.split_once(',').unwrap_or((range, "1"));
                let before = start.parse::<usize>().unwrap() - usize::from(count != "0");
                old.by_ref().take(before - at).for_each(|line| new.push_str(line));
                at = before;
            }
            "+" => new.push_str(text),
            side => {
                assert_eq!(old.next(), Some(text), "{diff}");
                at += 1;
                new.push_str(if side == " " { text } else { "" });
            }
        }
    }
    new.extend(old);
    new
}

proptest! {
    /// A diff applied to the old text yields the new one.
    #[test]
    fn diffs_apply(old in "([ab]?\n){0,12}[ab]?", new in "([ab]?\n){0,12}[ab]?") {
        prop_assert_eq!(apply(&old, &diff(&old, &new)), new);
    }
}

#[test]
fn diff_is_as_short_as_possible() {
    let old: String = (0..20).map(|line| format!("{line}\n")).collect();
    let new = old.replace("\n3\n", "\nthree\n").replace("\n15\n", "\n");
    let expected = "--- /f\n+++ /f\n@@ -1,7 +1,7 @@\n 0\n 1\n 2\n-3\n+three\n 4\n 5\n 6\n\
        @@ -13,7 +13,6 @@\n 12\n 13\n 14\n-15\n 16\n 17\n 18\n";
    assert_eq!(diff(&old, &new), expected);
}

#[test]
fn entirely_new_text_is_replaced() {
    let lines = |word: &str| (0..400).map(|line| format!("{word} {line}\n")).collect::<String>();
    let old = lines("old");
    let new = lines("new");
    let diff = diff(&old, &new);
    assert!(diff.starts_with("--- /f\n+++ /f\n@@ -1,400 +1,400 @@\n-old 0\n-old 1\n"));
    assert_eq!(apply(&old, &diff), new);
}

#[test]
fn equal_texts_have_no_diff() {
    assert_eq!(diff("a\n", "a\n"), "");
    assert_eq!(diff("", ""), "");
}
