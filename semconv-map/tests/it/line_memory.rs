//! Memory of the tracker while it handles a line, and what it counts with content on and off.
use crate::lines::{prompt, update};
use crate::spans::{A2C, C2A};
use allocation_counter::measure;
use proptest::prelude::*;
use semconv_map::content::Capture;
use semconv_map::{Policy, Tracker};
use serde_json::{Value, json};
use std::time::Duration;

fn tracker(content: Capture) -> Tracker {
    let mut policy = Policy::default();
    policy.record_metrics = true;
    policy.content = content;
    let mut tracker = Tracker::new(policy);
    tracker.handle_line(C2A, Duration::ZERO, prompt(1, "s").as_bytes());
    tracker
}

/// An update of about this number of bytes, with a list of equal items.
fn line(start: &str, item: &str, end: &str, size: usize) -> String {
    let items = vec![item; size / (item.len() + 1)].join(",");
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":{start}[{items}]{end}}}}}}}"#
    )
}

/// Lists are read item by item, or kept as text.
#[test]
fn tracker_holds_at_most_four_times_the_line() {
    for (start, item, end) in [
        (r#""plan","entries":"#, r#"{"status":""}"#, ""),
        (r#""plan","entries":"#, "1", ""),
        (
            r#""plan_update","plan":{"type":"items","planId":"p","entries":"#,
            r#"{"status":""}"#,
            "}",
        ),
        (r#""agent_message_chunk","content":{"type":"text","text":"x","a":"#, "1", "}"),
        (r#""agent_message_chunk","content":"#, "1", ""),
        (r#""tool_call","toolCallId":"c","title":"t","content":"#, "{}", ""),
        (r#""tool_call","toolCallId":"c","title":"t","rawInput":"#, "1", ""),
        (r#""tool_call_update","toolCallId":"c","status":"completed","content":"#, "[]", ""),
        (r#""usage_update","used":1,"size":2,"a":"#, "1", ""),
        (r#""config_option_update","configOptions":"#, "{}", ""),
        (r#""tool_call","toolCallId":"c","title":"t","locations":"#, r#"{"path":""}"#, ""),
        (r#""current_mode_update","currentModeId":"m","_meta":"#, "1", ""),
        (r#""state_update","state":"running","a":"#, "1", ""),
        (r#""newer","a":"#, "1", ""),
    ] {
        for content in [Capture::Off, Capture::SpanAndEvent] {
            for size in [32_000, 1_000_000] {
                let line = line(start, item, end, size);
                let mut tracker = tracker(content);
                let held = measure(|| tracker.handle_line(A2C, Duration::ZERO, line.as_bytes()));
                let most = 4 * line.len() as u64;
                let held = held.bytes_max;
                assert!(
                    held <= most,
                    "{start}{item}, {content:?}: {held} bytes for {}",
                    line.len()
                );
            }
        }
    }
}

#[test]
fn options_of_a_permission_are_read_one_by_one() {
    let options = vec![r#"{"optionId":"","kind":""}"#; 40_000].join(",");
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{{"sessionId":"s","toolCall":{{"toolCallId":"c"}},"options":[{options}]}}}}"#
    );
    let mut tracker = tracker(Capture::Off);
    let held = measure(|| tracker.handle_line(A2C, Duration::ZERO, line.as_bytes())).bytes_max;
    assert!(held <= 4 * line.len() as u64, "{held} bytes for {}", line.len());
}

fn any_update() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
        "agent_message_chunk",
        "agent_thought_chunk",
        "user_message_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        "plan_update",
        "usage_update",
        "current_mode_update",
        "config_option_update",
        "state_update",
        "notice",
        "newer",
    ]);
    let value = prop::sample::select(vec![
        json!(null),
        json!(7),
        json!("x"),
        json!([7]),
        json!({}),
        json!({"type": "text"}),
        json!({"type": "text", "text": "x"}),
        json!([{"type": "content", "content": {"type": "text", "text": "x"}}]),
        json!([{"status": "completed"}]),
        json!("\u{1f600}"),
    ]);
    let names = [
        "content",
        "toolCallId",
        "title",
        "status",
        "entries",
        "plan",
        "used",
        "size",
        "rawInput",
        "rawOutput",
        "locations",
        "configOptions",
        "currentModeId",
        "state",
        "_meta",
    ];
    let member = (prop::sample::select(names.to_vec()), value);
    (kind, prop::collection::vec(member, 0..6)).prop_map(|(kind, members)| {
        let members = members.into_iter().map(|(name, value)| (name.to_owned(), value));
        let all = [("sessionUpdate".to_owned(), Value::from(kind))].into_iter().chain(members);
        Value::Object(all.collect())
    })
}

proptest! {
    /// The recording of content does not affect what counts as undecodable.
    #[test]
    fn undecodable_is_equal_with_content_on_and_off(updates in prop::collection::vec(any_update(), 1..12)) {
        let [off, on] = [Capture::Off, Capture::SpanAndEvent].map(|content| {
            let mut tracker = tracker(content);
            for members in &updates {
                tracker.handle_line(A2C, Duration::ZERO, update("s", members.clone()).as_bytes());
            }
            tracker.counters().undecodable
        });
        prop_assert_eq!(off, on);
    }
}
