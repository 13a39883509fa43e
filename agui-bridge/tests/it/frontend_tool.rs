//! Frontend tools: modes and their fallbacks, correlation, quiet time, and one end for each call.
use agui_bridge::frontend_tool::{
    Action, Binding, CallError, CallOwner, Completion, Expiry, FrontendToolOptions, FrontendTools,
    NewCall, Outcome, ToolResult, agent_call_id,
};
use agui_bridge::{Options, Translator};
use agui_types::event::Event;
use agui_types::id::ToolCallId;
use agui_types::input::RunAgentInput;
use agui_types::profile::Profile;
use agui_types::reduce::Reducer;
use agui_types::tool::Tool;
use agui_types::verify::Verifier;
use core::time::Duration;
use jsonrpc_core::wire::{Meta, Raw, decode};
use serde_json::{Value, json};
pub(crate) use stream::Thread;

mod call_owner;
mod stream;
mod tool_set;

pub(crate) fn at(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

pub(crate) fn raw(value: &Value) -> Raw {
    Raw::from_value(value).unwrap()
}

/// Tools of each mode, by metadata.
pub(crate) fn page() -> Vec<Tool> {
    ["ack", "park", "sync"]
        .map(|mode| {
            let mut tool = Tool::new(mode, "d");
            tool.metadata = decode(&json!({"execution": mode}).to_string()).ok();
            tool
        })
        .into()
}

pub(crate) fn update(update: Value) -> acp_types::v1::prompt_turn::SessionNotification {
    decode(&json!({"sessionId": "s", "update": update}).to_string()).unwrap()
}

fn announce(id: &str, tool: &str, input: Value) -> acp_types::v1::prompt_turn::SessionNotification {
    let name = format!("mcp__ui__{tool}");
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "Do", "name": name, "rawInput": input});
    update(call)
}

fn call(tools: &mut FrontendTools, tool: &str, now: u64) -> ToolCallId {
    tools.handle_call(NewCall::new(tool, raw(&json!({}))), at(now)).unwrap()
}

fn begun() -> FrontendTools {
    let mut tools = FrontendTools::new(FrontendToolOptions::new());
    tools.begin_turn(&page(), at(0));
    tools
}

/// Returns the due actions, without the begin of calls.
fn actions(tools: &mut FrontendTools) -> Vec<Action> {
    std::iter::from_fn(|| tools.poll_action())
        .filter(|action| !matches!(action, Action::Begin(_)))
        .collect()
}

fn answer(call: &ToolCallId, outcome: Outcome) -> Action {
    Action::Answer { call_id: call.clone(), outcome }
}

fn result(text: &str) -> Outcome {
    Outcome::Result(ToolResult::text(text))
}

#[test]
fn ack_answers_at_once_and_defers_a_later_result() {
    let mut tools = begun();
    let id = call(&mut tools, "ack", 0);
    assert_eq!(actions(&mut tools), [answer(&id, Outcome::Acked)]);
    tools.handle_timeout(at(1_000_000));
    assert_eq!(actions(&mut tools), []);
    assert_eq!(tools.complete(&id, ToolResult::text("done"), at(1)), Completion::Delivered);
    let text = "Result of frontend tool ack (call-1): done".to_owned();
    assert_eq!(actions(&mut tools), [Action::PrefixPrompt { call_id: id.clone(), text }]);
    assert_eq!(tools.complete(&id, ToolResult::text("done"), at(1)), Completion::AlreadyDone);
    assert_eq!(actions(&mut tools), []);
}

#[test]
fn parallel_parked_calls_share_a_run_and_receive_results() {
    let mut tools = begun();
    let first = call(&mut tools, "park", 10);
    let second = call(&mut tools, "park", 90);
    tools.handle_timeout(at(110));
    assert_eq!(actions(&mut tools), [], "a call within the quiet time moves it");
    assert_eq!(tools.poll_timeout(), Some(at(190)));
    tools.handle_timeout(at(190));
    let parked = vec![first.clone(), second.clone()];
    assert_eq!(actions(&mut tools), [Action::EndRun { parked }]);
    assert!(tools.is_turn_open() && tools.is_waiting());

    tools.resume_turn(&page(), at(2_000));
    let messages: Vec<_> = [&second, &first]
        .map(|id| {
            let message =
                json!({"id": format!("m-{id}"), "role": "tool", "toolCallId": id, "content": id});
            decode(&message.to_string()).unwrap()
        })
        .into();
    let done = tools.handle_messages(&messages, at(2_000));
    let delivered = Completion::Delivered;
    assert_eq!(done, [(second.clone(), delivered), (first.clone(), delivered)]);
    assert_eq!(
        actions(&mut tools),
        [answer(&second, result("call-2")), answer(&first, result("call-1"))]
    );
    assert!(
        tools
            .handle_messages(&messages, at(2_001))
            .iter()
            .all(|(_, c)| *c == Completion::AlreadyDone)
    );
    assert!(!tools.is_waiting());
}

#[test]
fn partial_answer_ends_the_run_again() {
    let mut tools = begun();
    let first = call(&mut tools, "park", 0);
    let second = call(&mut tools, "park", 0);
    tools.handle_timeout(at(100));
    actions(&mut tools);
    tools.resume_turn(&page(), at(1_000));
    tools.complete(&first, ToolResult::text("1"), at(1_000));
    tools.handle_timeout(at(1_100));
    let parked = vec![second.clone()];
    assert_eq!(actions(&mut tools), [answer(&first, result("1")), Action::EndRun { parked }]);
    tools.handle_timeout(at(50_000));
    let due = actions(&mut tools);
    assert!(due.contains(&answer(&second, Outcome::Pending)), "{due:?}");
}

#[test]
fn sync_call_falls_back_to_park_then_pending_then_text() {
    let mut options = FrontendToolOptions::new();
    options.keep_alive = at(1_000_000);
    let mut tools = FrontendTools::new(options);
    tools.begin_turn(&page(), at(0));
    let id = call(&mut tools, "sync", 0);
    tools.handle_timeout(at(200));
    assert_eq!(actions(&mut tools), [], "the run stays open");
    assert_eq!(tools.complete(&id, ToolResult::text("now"), at(300)), Completion::Delivered);
    assert_eq!(actions(&mut tools), [answer(&id, result("now"))]);

    let id = call(&mut tools, "sync", 1_000);
    assert_eq!(tools.poll_timeout(), Some(at(31_000)));
    tools.handle_timeout(at(31_000));
    let parked = vec![id.clone()];
    assert_eq!(actions(&mut tools), [Action::EndRun { parked }], "it was quiet all the time");
    assert_eq!(tools.poll_timeout(), Some(at(81_000)));
    tools.handle_timeout(at(81_000));
    assert_eq!(actions(&mut tools), [answer(&id, Outcome::Pending)]);
    assert_eq!(tools.complete(&id, ToolResult::text("late"), at(90_000)), Completion::Delivered);
    let text = "Result of frontend tool sync (call-2): late".to_owned();
    assert_eq!(actions(&mut tools), [Action::PrefixPrompt { call_id: id, text }]);
}

#[test]
fn parked_call_may_time_out() {
    let mut options = FrontendToolOptions::new();
    options.expiry = Expiry::TimedOut;
    let mut tools = FrontendTools::new(options);
    tools.begin_turn(&page(), at(0));
    let id = call(&mut tools, "park", 0);
    tools.handle_timeout(at(50_000));
    assert!(actions(&mut tools).contains(&answer(&id, Outcome::TimedOut)));
}

#[test]
fn disconnect_parks_synchronous_calls_until_the_next_run() {
    let mut tools = begun();
    let first = call(&mut tools, "sync", 0);
    tools.handle_disconnect(at(10));
    let second = call(&mut tools, "sync", 20);
    tools.handle_timeout(at(120));
    let parked = vec![first, second];
    assert_eq!(actions(&mut tools), [Action::EndRun { parked }]);
    tools.resume_turn(&page(), at(1_000));
    call(&mut tools, "sync", 1_000);
    tools.handle_timeout(at(1_200));
    assert_eq!(actions(&mut tools), [], "the third waits in the run");
}

#[test]
fn calls_beyond_limits_are_pending_or_refused() {
    let mut options = FrontendToolOptions::new();
    options.max_parked = 1;
    options.max_calls = 2;
    let mut tools = FrontendTools::new(options);
    tools.begin_turn(&page(), at(0));
    call(&mut tools, "park", 0);
    let second = call(&mut tools, "park", 0);
    assert_eq!(actions(&mut tools), [answer(&second, Outcome::Pending)]);
    let third = call(&mut tools, "sync", 0);
    assert_eq!(
        tools.complete(&second, ToolResult::text("x"), at(1)),
        Completion::Unknown,
        "forgotten"
    );
    let refused = tools.handle_call(NewCall::new("ack", raw(&json!({}))), at(0));
    assert_eq!(refused, Err(CallError::TooMany));
    assert_eq!(tools.complete(&third, ToolResult::text("x"), at(1)), Completion::Delivered);
}

#[test]
fn cancel_and_turn_end_answer_waiting_calls_once() {
    let mut tools = begun();
    let first = call(&mut tools, "park", 0);
    let second = call(&mut tools, "sync", 0);
    tools.handle_cancel();
    let cancelled = [answer(&first, Outcome::Cancelled), answer(&second, Outcome::Cancelled)];
    assert_eq!(actions(&mut tools), cancelled);
    tools.handle_cancel();
    tools.handle_turn_end();
    assert_eq!(tools.complete(&first, ToolResult::text("x"), at(1)), Completion::AlreadyDone);
    assert_eq!(actions(&mut tools), []);
}

#[test]
fn withdrawn_call_has_no_answer_and_defers_its_result() {
    let mut tools = begun();
    let id = call(&mut tools, "park", 0);
    tools.handle_withdrawn(&id);
    tools.handle_timeout(at(1_000_000));
    assert_eq!(actions(&mut tools), []);
    assert_eq!(tools.complete(&id, ToolResult::text("x"), at(1)), Completion::Delivered);
    assert!(matches!(&actions(&mut tools)[..], [Action::PrefixPrompt { .. }]));
}

#[test]
fn calls_between_two_runs_begin_with_the_next() {
    let mut tools = begun();
    call(&mut tools, "park", 0);
    tools.handle_timeout(at(100));
    while tools.poll_action().is_some() {}
    let acked = call(&mut tools, "ack", 200);
    let sync = call(&mut tools, "sync", 200);
    assert_eq!(tools.poll_action(), Some(answer(&acked, Outcome::Acked)));
    assert_eq!(tools.poll_action(), None);
    tools.resume_turn(&page(), at(300));
    for id in [acked, sync] {
        let Some(Action::Begin(begin)) = tools.poll_action() else { panic!("no begin") };
        assert_eq!(begin.call_id, id);
    }
}

#[test]
fn calls_waiting_for_a_run_are_bounded() {
    let mut options = FrontendToolOptions::new();
    options.max_parked = 1;
    let mut tools = FrontendTools::new(options);
    tools.begin_turn(&page(), at(0));
    call(&mut tools, "park", 0);
    tools.handle_timeout(at(100));
    call(&mut tools, "ack", 200);
    let refused = tools.handle_call(NewCall::new("ack", raw(&json!({}))), at(200));
    assert_eq!(refused, Err(CallError::TooMany));
    tools.resume_turn(&page(), at(300));
    call(&mut tools, "ack", 300);
}

#[test]
fn acknowledged_call_without_a_page_begins_in_the_next_turn() {
    let mut tools = begun();
    call(&mut tools, "park", 0);
    tools.handle_timeout(at(100));
    let acked = call(&mut tools, "ack", 200);
    call(&mut tools, "park", 200);
    tools.handle_turn_end();
    while tools.poll_action().is_some() {}
    tools.begin_turn(&page(), at(300));
    let Some(Action::Begin(begin)) = tools.poll_action() else { panic!("no begin") };
    assert_eq!(begin.call_id, acked);
    assert_eq!(tools.poll_action(), None, "the cancelled one is not shown");
}

#[test]
fn running_agent_calls_keep_the_run_open() {
    let own = |status: &str| {
        update(
            json!({"sessionUpdate": "tool_call", "toolCallId": "own", "title": "Build", "kind": "execute", "status": status}),
        )
    };
    let mut tools = begun();
    call(&mut tools, "park", 0);
    assert_eq!(tools.handle_update(&own("in_progress"), at(0)), CallOwner::Agent);
    tools.handle_timeout(at(20_000));
    assert!(!actions(&mut tools).iter().any(|action| matches!(action, Action::EndRun { .. })));
    assert_eq!(tools.handle_update(&own("completed"), at(20_000)), CallOwner::Agent);
    tools.handle_timeout(at(20_100));
    assert!(matches!(&actions(&mut tools)[..], [Action::EndRun { .. }]));

    // A call that is only announced may itself wait for the parked one.
    let mut tools = begun();
    call(&mut tools, "park", 0);
    tools.handle_update(&own("pending"), at(0));
    tools.handle_timeout(at(9_999));
    assert_eq!(actions(&mut tools), []);
    tools.handle_timeout(at(10_000));
    assert!(matches!(&actions(&mut tools)[..], [Action::EndRun { .. }]));
}

#[test]
fn keep_alives_are_sent_at_intervals() {
    let mut tools = FrontendTools::new(FrontendToolOptions::new());
    tools.begin_turn(&page(), at(100_000));
    let id = call(&mut tools, "sync", 100_000);
    actions(&mut tools);
    tools.handle_timeout(at(114_999));
    assert_eq!(actions(&mut tools), []);
    for now in [115_000, 130_000] {
        tools.handle_timeout(at(now));
        assert!(actions(&mut tools).contains(&Action::KeepAlive { call_id: id.clone() }));
    }
}

#[test]
fn outcomes_have_texts_for_the_model() {
    let mut failed = ToolResult::text("no");
    failed.is_error = true;
    let table = [
        (result("yes"), "yes", false),
        (Outcome::Result(failed), "no", true),
        (Outcome::Acked, "The page was told.", false),
        (
            Outcome::Pending,
            "Still pending: the user's answer will arrive in a later message.",
            false,
        ),
        (Outcome::Cancelled, "The call was cancelled.", true),
        (Outcome::TimedOut, "The page did not answer in time.", true),
    ];
    for (outcome, text, is_error) in table {
        assert_eq!(outcome.to_text(), (text.to_owned(), is_error));
    }
}

#[test]
fn tool_message_with_an_error_is_a_failed_result() {
    let read = |message: Value| {
        let result = ToolResult::from(&decode(&message.to_string()).unwrap());
        (result.content.text(), result.is_error)
    };
    let message =
        json!({"id": "m", "role": "tool", "toolCallId": "t", "content": "", "error": "denied"});
    assert_eq!(read(message), ("denied".to_owned(), true));
    let message =
        json!({"id": "m", "role": "tool", "toolCallId": "t", "content": "why", "error": "denied"});
    assert_eq!(read(message), ("why".to_owned(), true));
    let message = json!({"id": "m", "role": "tool", "toolCallId": "t", "content": [{"type": "text", "text": "x"}]});
    assert_eq!(read(message), ("x".to_owned(), false));
}
