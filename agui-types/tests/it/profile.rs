//! What 0.x clients can take, held against what was measured with `@ag-ui/client` 0.0.59.
use agui_types::event::Event;
use agui_types::profile::{Profile, Refusal};
use jsonrpc_core::wire;

#[test]
fn legacy_clients_are_spared_what_they_fail_on() {
    let table = [
        (r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0"}"#, None),
        (
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[]}}"#,
            Some(Refusal::Input),
        ),
        (
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r",
                "input":{"threadId":"t","runId":"r","messages":[],"tools":[],"context":[]}}"#,
            None,
        ),
        (
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"tools":[]}}"#,
            Some(Refusal::Input),
        ),
        (
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"context":[]}}"#,
            Some(Refusal::Input),
        ),
        (r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[]}"#, None),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success"}}"#,
            None,
        ),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":[]}}"#,
            Some(Refusal::PendingToolCallIds),
        ),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r",
                "outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"confirmation"}]}}"#,
            None,
        ),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}}"#,
            Some(Refusal::Outcome),
        ),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"postponed"}}"#,
            Some(Refusal::Outcome),
        ),
        (r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"a"}"#, None),
        (
            r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[]}"#,
            Some(Refusal::ResultParts),
        ),
        (r#"{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}"#, Some(Refusal::EventType)),
        (r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}"#, Some(Refusal::EventType)),
        (
            r#"{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"m"}"#,
            Some(Refusal::EventType),
        ),
        (r#"{"type":"NEWER"}"#, Some(Refusal::EventType)),
        (r#"{"type":"REASONING_START","messageId":"m"}"#, None),
        (r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{}}"#, None),
    ];
    for (text, refusal) in table {
        let event: Event = wire::decode(text).expect(text);
        assert_eq!(Profile::of(None).refuses(&event), refusal, "{text}");
        assert_eq!(Profile::of(Some("1.1")).refuses(&event), None, "{text}");
    }
}

#[test]
fn legacy_events_are_those_of_1_0_without_subagents() {
    let expected: Vec<_> =
        Event::NAMES.iter().copied().filter(|name| !name.starts_with("SUBAGENT_")).collect();
    assert_eq!(Profile::Legacy.event_types(), expected);
    assert_eq!(Profile::V1.event_types(), Event::NAMES);
}
