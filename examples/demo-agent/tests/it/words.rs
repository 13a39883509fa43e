//! Each word, and its turn.

use crate::client::{Client, Turn, nothing, outline, text};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::dispatch::AgentRequest;
use acp_types::v1::prompt_turn::{SessionUpdate, StopReason};
use acp_types::v1::tool_calls::{PermissionOptionKind, ToolCall, ToolCallContent, ToolKind};
use jsonrpc_core::ErrorCode;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Runs the turn of a word without requests of the agent.
fn say(word: &str) -> Turn {
    let (mut client, session) = Client::with_session();
    client.turn(&session, word, nothing)
}

fn stop(turn: &Turn) -> &str {
    turn.outcome.as_ref().unwrap().stop_reason.as_str()
}

fn tool_call(turn: &Turn) -> &ToolCall {
    let mut calls = turn.updates.iter().filter_map(|update| match update {
        SessionUpdate::ToolCall(call) => Some(&**call),
        _ => None,
    });
    calls.next_back().unwrap()
}

/// Answers a permission request with this option.
fn select(option: &'static str) -> impl Fn(&AgentRequest) -> Value {
    move |request| match request {
        AgentRequest::RequestPermissionRequest(_) => {
            json!({ "outcome": { "outcome": "selected", "optionId": option } })
        }
        other => panic!("not asked for: {other:?}"),
    }
}

#[test]
fn help_lists_every_word_of_the_readme() {
    let help = text(&say("help").updates);
    let rows = include_str!("../../README.md").lines().filter_map(|line| line.strip_prefix("| `"));
    let rows: Vec<_> = rows.map(|row| row.split_once('`').unwrap()).collect();
    assert_eq!(rows.len(), help.lines().filter(|line| line.starts_with("- `")).count());
    for (word, about) in rows {
        let about = about.trim_matches([' ', '|']);
        assert!(help.contains(&format!("- `{word}` {about}\n")), "{word}: {help}");
    }
}

#[test]
fn unknown_word_is_repeated() {
    let turn = say("Good morning");
    assert!(text(&turn.updates).starts_with("You said: Good morning\n"));
    assert_eq!(stop(&turn), "end_turn");
}

#[test]
fn first_known_word_counts_in_any_case() {
    assert_eq!(stop(&say("/Max, or refuse?")), "max_tokens");
}

/// `slow` talks for seconds: a response before the first update of each session shows that turns
/// waited for others.
#[test]
fn turns_of_many_sessions_run_at_once() {
    let mut client = Client::start(json!({}));
    let sessions: BTreeSet<_> = (0..100).map(|_| client.new_session()).collect();
    for session in &sessions {
        client.prompt(session, "slow");
    }
    let mut begun = BTreeSet::new();
    while begun != sessions {
        begun.insert(client.update().0);
    }
}

#[test]
fn hello_streams_one_message() {
    let turn = say("hello");
    assert_eq!(outline(&turn.updates), ["agent_message_chunk"]);
    assert!(turn.updates.len() > 3);
    let ids = turn.updates.iter().map(|update| match update {
        SessionUpdate::AgentMessageChunk(chunk) => chunk.message_id.clone().unwrap(),
        other => panic!("{other:?}"),
    });
    assert_eq!(ids.collect::<BTreeSet<_>>().len(), 1);
    assert_eq!(
        text(&turn.updates),
        "Hello! I am a scripted agent, and there is no model behind me. "
    );
    assert_eq!(stop(&turn), "end_turn");
}

#[test]
fn think_comes_before_the_answer() {
    assert_eq!(outline(&say("think").updates), ["agent_thought_chunk", "agent_message_chunk"]);
}

#[test]
fn plan_advances_to_its_end() {
    let turn = say("plan");
    let done = turn.updates.iter().filter_map(|update| match update {
        SessionUpdate::Plan(plan) => {
            Some(plan.entries.iter().map(|entry| entry.status.as_str()).collect::<Vec<_>>())
        }
        _ => None,
    });
    let expected = [
        ["in_progress", "pending", "pending"],
        ["completed", "in_progress", "pending"],
        ["completed", "completed", "in_progress"],
        ["completed", "completed", "completed"],
    ];
    assert_eq!(done.collect::<Vec<_>>(), expected);
}

#[test]
fn read_is_a_tool_call_with_a_location() {
    let turn = say("read");
    let expected = ["tool_call in_progress", "tool_call_update completed", "agent_message_chunk"];
    assert_eq!(outline(&turn.updates), expected);
    let call = tool_call(&turn);
    assert_eq!(call.kind, Some(ToolKind::Read));
    let location = &call.locations.as_ref().unwrap()[0];
    assert_eq!(location.path.as_str(), "/project/greeting.txt");
    assert_eq!(location.line, Some(1));
}

#[test]
fn edit_asks_and_completes_when_allowed() {
    let (mut client, session) = Client::with_session();
    let turn = client.turn(&session, "edit", select("allow-once"));
    let expected = [
        "tool_call pending",
        "tool_call_update in_progress",
        "tool_call_update completed",
        "agent_message_chunk",
    ];
    assert_eq!(outline(&turn.updates), expected);
    let call = tool_call(&turn);
    assert_eq!(call.kind, Some(ToolKind::Edit));
    let Some([ToolCallContent::Diff(diff)]) = call.content.as_deref() else { panic!("{call:?}") };
    assert_eq!(diff.old_text.as_deref(), Some("Hello\nworld\n"));
    assert_eq!(diff.new_text, "Hello\ndear\nworld\n");

    let [AgentRequest::RequestPermissionRequest(asked)] = &*turn.requests else {
        panic!("{:?}", turn.requests)
    };
    assert_eq!(asked.tool_call.tool_call_id, call.tool_call_id);
    let kinds: Vec<_> = asked.options.iter().map(|option| option.kind.clone()).collect();
    use PermissionOptionKind::{AllowAlways, AllowOnce, RejectOnce};
    assert_eq!(kinds, [AllowOnce, AllowAlways, RejectOnce]);

    assert_eq!(client.turn(&session, "edit", select("allow-always")).requests.len(), 1);
    let unasked = client.turn(&session, "edit", nothing);
    assert_eq!(outline(&unasked.updates), expected);
}

#[test]
fn edit_fails_when_rejected() {
    let (mut client, session) = Client::with_session();
    let turn = client.turn(&session, "edit", select("reject-once"));
    let expected = ["tool_call pending", "tool_call_update failed", "agent_message_chunk"];
    assert_eq!(outline(&turn.updates), expected);
    assert_eq!(stop(&turn), "end_turn");
}

#[test]
fn edit_ends_the_turn_when_the_question_is_cancelled() {
    let (mut client, session) = Client::with_session();
    let turn = client.turn(&session, "edit", |_| json!({ "outcome": { "outcome": "cancelled" } }));
    assert_eq!(outline(&turn.updates), ["tool_call pending", "tool_call_update failed"]);
    assert_eq!(stop(&turn), "cancelled");
}

#[test]
fn invalid_answer_fails_the_turn() {
    let (mut client, session) = Client::with_session();
    let turn = client.turn(&session, "edit", |_| json!({ "outcome": 7 }));
    let error = turn.outcome.unwrap_err();
    assert_eq!(error.code, ErrorCode::INTERNAL_ERROR);
    assert!(error.message.contains("session/request_permission"), "{error}");
    assert!(error.message.contains("/outcome"), "{error}");
}

#[test]
fn permission_only_requests_permission() {
    let (mut client, session) = Client::with_session();
    let turn = client.turn(&session, "permission", select("allow-once"));
    assert_eq!(outline(&turn.updates), ["agent_message_chunk"]);
    assert_eq!(turn.requests.len(), 1);
}

#[test]
fn run_without_a_terminal_streams_text() {
    let turn = say("run");
    let expected = [
        "tool_call in_progress",
        "tool_call_update in_progress",
        "tool_call_update in_progress",
        "tool_call_update in_progress",
        "tool_call_update completed",
        "agent_message_chunk",
    ];
    assert_eq!(outline(&turn.updates), expected);
    assert_eq!(tool_call(&turn).kind, Some(ToolKind::Execute));
}

#[test]
fn run_uses_the_terminal_of_the_client() {
    let mut client = Client::start(json!({ "terminal": true }));
    let session = client.new_session();
    let turn = client.turn(&session, "run", |request| match request {
        AgentRequest::CreateTerminalRequest(create) => {
            assert_eq!(create.command, "echo");
            json!({ "terminalId": "t-1" })
        }
        AgentRequest::WaitForTerminalExitRequest(_) => json!({ "exitCode": 0 }),
        AgentRequest::TerminalOutputRequest(_) => {
            json!({ "output": "one two three\n", "truncated": false })
        }
        AgentRequest::ReleaseTerminalRequest(_) => json!({}),
        other => panic!("{other:?}"),
    });
    let methods: Vec<_> = turn.requests.iter().map(AgentRequest::method).collect();
    let expected =
        ["terminal/create", "terminal/wait_for_exit", "terminal/output", "terminal/release"];
    assert_eq!(methods, expected);
    let expected = [
        "tool_call in_progress",
        "tool_call_update in_progress",
        "tool_call_update completed",
        "agent_message_chunk",
    ];
    assert_eq!(outline(&turn.updates), expected);
    let shows_terminal = turn.updates.iter().any(|update| match update {
        SessionUpdate::ToolCallUpdate(call) => matches!(
            call.content.value().map(Vec::as_slice),
            Some([ToolCallContent::Terminal(terminal)]) if terminal.terminal_id.as_str() == "t-1"
        ),
        _ => false,
    });
    assert!(shows_terminal);
}

#[test]
fn usage_has_a_cost_and_tokens() {
    let turn = say("usage");
    let Some(SessionUpdate::UsageUpdate(update)) = turn.updates.last() else { panic!("{turn:?}") };
    assert_eq!(update.used, 12_345);
    assert_eq!(update.size, 200_000);
    let cost = update.cost.as_ref().unwrap();
    assert_eq!(cost.amount, 0.0125);
    assert_eq!(cost.currency.as_str(), "USD");
    assert_eq!(turn.outcome.unwrap().usage.unwrap().total_tokens, 1_500);
}

#[test]
fn image_and_link_are_content_blocks() {
    for (word, tag) in [("image", "image"), ("link", "resource_link")] {
        let turn = say(word);
        let Some(SessionUpdate::AgentMessageChunk(chunk)) = turn.updates.last() else {
            panic!("{turn:?}")
        };
        assert_eq!(chunk.content.tag(), tag);
        assert!(!matches!(chunk.content, ContentBlock::Text(_)));
    }
}

#[test]
fn error_answers_the_prompt_with_an_error() {
    let turn = say("error");
    assert_eq!(outline(&turn.updates), ["agent_message_chunk"]);
    assert_eq!(turn.outcome.unwrap_err().code, ErrorCode::INTERNAL_ERROR);
}

#[test]
fn refuse_and_max_have_their_stop_reasons() {
    assert_eq!(say("refuse").outcome.unwrap().stop_reason, StopReason::Refusal);
    assert_eq!(say("max").outcome.unwrap().stop_reason, StopReason::MaxTokens);
}

#[test]
fn noise_is_not_a_message_and_has_no_effect() {
    let turn = say("noise");
    assert_eq!(turn.noise, ["npm warn this line is not JSON"]);
    assert_eq!(stop(&turn), "end_turn");
}

#[test]
fn odd_is_an_unknown_update() {
    let turn = say("odd");
    assert_eq!(outline(&turn.updates), ["weather_update", "agent_message_chunk"]);
    assert!(!turn.updates[0].is_known());
}

#[test]
fn crash_exits_in_the_middle() {
    let (mut client, session) = Client::with_session();
    client.prompt(&session, "crash");
    assert!(matches!(client.update().1, SessionUpdate::AgentMessageChunk(_)));
    assert_eq!(client.wait().code(), Some(3));
}

#[test]
fn tour_shows_everything_in_one_turn() {
    let (mut client, session) = Client::with_session();
    let turn = client.turn(&session, "tour", select("allow-once"));
    let seen = outline(&turn.updates);
    for expected in [
        "agent_message_chunk",
        "agent_thought_chunk",
        "plan",
        "tool_call in_progress",
        "tool_call pending",
        "tool_call_update completed",
        "usage_update",
    ] {
        assert!(seen.iter().any(|entry| entry == expected), "no {expected} in {seen:?}");
    }
    assert_eq!(turn.requests.len(), 1);
    assert_eq!(stop(&turn), "end_turn");
}

#[test]
fn form_asks_and_repeats_the_answer() {
    let mut client = Client::start(json!({ "elicitation": { "form": {} } }));
    let session = client.new_session();
    for (answer, said) in [
        (
            json!({ "action": "accept", "content": { "name": "Ada", "seat": "aisle", "bags": 2, "meals": ["lunch"], "insured": true } }),
            r#"Booked: bags 2, insured true, meals ["lunch"], name "Ada", seat "aisle". "#,
        ),
        (json!({ "action": "decline" }), "No seat, then. "),
        (json!({ "action": "cancel" }), "Another time, then. "),
    ] {
        let turn = client.turn(&session, "form", |request| match request {
            AgentRequest::CreateElicitationRequest(request) => {
                assert_eq!(request.message, "Which seat would you like?");
                answer.clone()
            }
            other => panic!("not asked for: {other:?}"),
        });
        assert_eq!(&*text(&turn.updates), said);
        assert_eq!(stop(&turn), "end_turn");
    }
    assert_eq!(text(&say("form").updates), "You show no forms, so I ask nothing. ");
}
