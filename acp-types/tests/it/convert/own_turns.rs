//! Turns that the agent begins without a prompt.
use super::cases::{Outputs, outputs, update, updates, v1_editor, v2_editor};
use super::chain::{Chain, opened_v2};
use acp_types::convert::{Bridge, BridgeDiagnostic, BridgeLoss};
use acp_types::session_state::STATE_META;
use serde_json::{Value, json};

fn state(state: &str) -> Value {
    json!({"sessionUpdate": "state_update", "state": state})
}

fn text(text: &str) -> Value {
    let content = json!({"type": "text", "text": text});
    json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": content})
}

fn carried(state: &Value) -> Value {
    json!({"sessionUpdate": "session_info_update", "_meta": {STATE_META: state}})
}

fn states(lines: &[Value]) -> Vec<&Value> {
    updates(lines).into_iter().map(|update| &update["state"]).collect()
}

fn lost((_, _, diagnostics): &Outputs) -> Vec<BridgeLoss> {
    let losses = diagnostics.iter().filter_map(|diagnostic| match diagnostic {
        BridgeDiagnostic::Lost(loss, _) => Some(*loss),
        _ => None,
    });
    losses.collect()
}

/// Prompts in the session `s`.
fn prompt(bridge: &mut Bridge, id: &str) -> Outputs {
    bridge.handle_editor_line(&json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}).to_string());
    outputs(bridge)
}

/// A bridge with an agent of version 1 and the session `s`.
fn opened() -> Bridge {
    let mut bridge = v2_editor(json!({"loadSession": true}));
    bridge.handle_editor_line(
        r#"{"jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#,
    );
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"n","result":{"sessionId":"s"}}"#);
    outputs(&mut bridge);
    bridge
}

/// The editor of version 1 gets the states of such a turn, with all their members.
#[test]
fn states_of_a_turn_without_a_prompt_are_carried() {
    let mut bridge = v1_editor(json!({}));
    let idle = json!({"state": "idle", "stopReason": "end_turn", "usage": {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2}});
    for kept in
        [json!({"state": "running", "background": []}), json!({"state": "requires_action"}), idle]
    {
        let mut sent = kept.clone();
        sent["sessionUpdate"] = json!("state_update");
        let done = update(&mut bridge, sent);
        assert_eq!(updates(&done.0), vec![&carried(&kept)]);
        assert_eq!(lost(&done), vec![]);
        let (editor, ..) = update(&mut bridge, text("x"));
        assert_eq!(updates(&editor), [&text("x")]);
    }
    let done = update(&mut bridge, state("idle"));
    assert_eq!(updates(&done.0).len(), 0);
    assert_eq!(lost(&done), vec![BridgeLoss::State]);
}

/// A prompt during such a turn is answered after the carried end; the states of its own turn are
/// not carried.
#[test]
fn prompt_during_a_turn_without_one_is_answered_at_its_end() {
    let mut bridge = v1_editor(json!({}));
    update(&mut bridge, state("running"));
    prompt(&mut bridge, "p");
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"messageId":"u"}}"#);
    update(&mut bridge, state("running"));
    let (editor, ..) = update(
        &mut bridge,
        json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}),
    );
    assert_eq!(updates(&editor)[0]["_meta"][STATE_META]["state"], "idle");
    assert_eq!(editor[1]["result"]["stopReason"], "end_turn");
    prompt(&mut bridge, "q");
    assert_eq!(update(&mut bridge, state("running")).0, Vec::<Value>::new());
}

/// Output of an agent of version 1 without a prompt begins a turn, which its silence ends, unless
/// it waits for the user.
#[test]
fn turn_of_a_version_1_agent_begins_with_output_and_ends_by_silence() {
    let mut bridge = opened();
    assert!(!bridge.awaits_silence());
    let done = update(&mut bridge, text("x"));
    assert_eq!(&updates(&done.0)[0]["state"], &json!("running"));
    assert_eq!(lost(&done), vec![BridgeLoss::OwnTurn]);
    assert_eq!(updates(&done.0)[1], &text("x"));
    assert_eq!(updates(&update(&mut bridge, text("y")).0), [&text("y")]);
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}}"#);
    assert_eq!(states(&outputs(&mut bridge).0)[0], "requires_action");
    assert!(!bridge.awaits_silence());
    bridge.handle_silence();
    assert_eq!(outputs(&mut bridge).0, Vec::<Value>::new());
    bridge.handle_editor_line(
        r#"{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"cancelled"}}}"#,
    );
    assert_eq!(states(&outputs(&mut bridge).0), ["running"]);
    assert!(bridge.awaits_silence());
    bridge.handle_silence();
    let (editor, ..) = outputs(&mut bridge);
    let call =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "cancelled"});
    assert_eq!(updates(&editor), [&call, &state("idle")]);
    assert!(!bridge.awaits_silence());
}

/// A prompt continues the turn, which then ends with the response to it. Output of its turn begins
/// none.
#[test]
fn prompt_continues_the_turn_of_a_version_1_agent() {
    let mut bridge = opened();
    update(&mut bridge, text("x"));
    assert_eq!(states(&prompt(&mut bridge, "p").0), ["running"]);
    assert!(!bridge.awaits_silence());
    let done = update(&mut bridge, text("y"));
    assert!(done.0.iter().all(|line| line["params"]["update"]["state"].is_null()), "{done:?}");
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn"}}"#);
    assert_eq!(states(&outputs(&mut bridge).0), ["idle"]);
    bridge.handle_silence();
    assert_eq!(outputs(&mut bridge).0, Vec::<Value>::new());
}

/// The replay of a loaded session is no turn, and the closing of a session ends one.
#[test]
fn replay_is_no_turn_and_a_closed_session_has_none() {
    let mut bridge = opened();
    bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":"l","method":"session/resume","params":{"sessionId":"s","cwd":"/","mcpServers":[],"replayFrom":{"type":"start"}}}"#);
    outputs(&mut bridge);
    assert_eq!(updates(&update(&mut bridge, text("old")).0), [&text("old")]);
    assert!(!bridge.awaits_silence());
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"l","result":{}}"#);
    outputs(&mut bridge);
    assert_eq!(states(&update(&mut bridge, text("x")).0)[0], "running");
    bridge.handle_editor_line(
        r#"{"jsonrpc":"2.0","id":"c","method":"session/close","params":{"sessionId":"s"}}"#,
    );
    let (editor, agent, _) = outputs(&mut bridge);
    assert_eq!(agent[0]["method"], "session/cancel");
    assert_eq!(updates(&editor)[0]["stopReason"], "cancelled");
    assert!(!bridge.awaits_silence());
}

/// Returns the state that follows the end of a replay.
fn state_after_replay(bridge: &mut Bridge) -> Value {
    let (editor, ..) = outputs(bridge);
    let [end, state, ..] = &updates(&editor)[..] else { panic!("{editor:?}") };
    assert_eq!(end["sessionUpdate"], "replay_complete");
    state["state"].clone()
}

/// A session that is loaded while its agent works has no turn afterwards.
#[test]
fn session_that_is_loaded_again_has_no_turn() {
    let mut bridge = opened();
    update(&mut bridge, text("x"));
    assert!(bridge.awaits_silence());
    bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":"l","method":"session/resume","params":{"sessionId":"s","cwd":"/","mcpServers":[],"replayFrom":{"type":"start"}}}"#);
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"l","result":{}}"#);
    assert_eq!(state_after_replay(&mut bridge), "idle");
    assert!(!bridge.awaits_silence());
    assert_eq!(states(&update(&mut bridge, text("new")).0)[0], "running");
}

/// The state that the agent behind another bridge reports before the end of a replay is the state
/// after it.
#[test]
fn session_that_is_loaded_during_a_carried_turn_is_running() {
    let mut bridge = opened();
    update(&mut bridge, carried(&json!({"state": "running"})));
    for (reported, expected) in [("running", "running"), ("idle", "idle"), ("", "idle")] {
        bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":"l","method":"session/resume","params":{"sessionId":"s","cwd":"/","mcpServers":[],"replayFrom":{"type":"start"}}}"#);
        if !reported.is_empty() {
            update(&mut bridge, carried(&json!({"state": reported})));
        }
        bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"l","result":{}}"#);
        assert_eq!(state_after_replay(&mut bridge), expected, "{reported}");
        let begun = states(&update(&mut bridge, text("x")).0).len();
        assert_eq!(begun, if expected == "running" { 1 } else { 2 }, "{reported}");
    }
}

/// A carried state during the turn of a prompt is lost, because that turn has states of its own.
#[test]
fn carried_state_within_the_turn_of_a_prompt_is_lost() {
    let mut bridge = opened();
    prompt(&mut bridge, "p");
    let done = update(&mut bridge, carried(&json!({"state": "running"})));
    assert_eq!(updates(&done.0).len(), 0);
    assert_eq!(lost(&done), vec![BridgeLoss::State]);
}

/// A carried state is a state again, without the key; other metadata stays. Silence does not end
/// the turn that it begins.
#[test]
fn carried_states_are_states_again() {
    let mut bridge = opened();
    let mut sent = carried(&json!({"state": "running"}));
    sent["_meta"]["other"] = json!(1);
    let (editor, ..) = update(&mut bridge, sent);
    let rest = json!({"sessionUpdate": "session_info_update", "_meta": {"other": 1}});
    assert_eq!(updates(&editor), [&rest, &state("running")]);
    assert_eq!(updates(&update(&mut bridge, text("x")).0), [&text("x")]);
    bridge.handle_silence();
    assert_eq!(outputs(&mut bridge).0, Vec::<Value>::new());
    let idle = json!({"state": "idle", "stopReason": "max_tokens"});
    let (editor, ..) = update(&mut bridge, carried(&idle));
    assert_eq!(updates(&editor)[0]["stopReason"], "max_tokens");
}

/// There and back gives the same, without a finding of the linter on any side.
#[test]
fn turn_without_a_prompt_passes_both_bridges() {
    let mut chain: Chain = opened_v2();
    let idle = json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "refusal"});
    let all = [state("running"), text("x"), state("requires_action"), state("running"), idle];
    for update in &all {
        chain.agent(&json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update, "_meta": {"k": 1}}}));
    }
    assert_eq!(chain.updates().split_off(chain.updates().len() - all.len()), all);
    assert!(
        chain.to_editor.iter().rev().take(all.len()).all(|line| line["params"]["_meta"]["k"] == 1)
    );
    assert!(!chain.has_lost(BridgeLoss::State) && !chain.has_lost(BridgeLoss::OwnTurn));
    assert_eq!(chain.findings("update-late"), [0, 0, 0]);
}

/// A state without a reason that was sent before the prompt arrived does not end its turn.
#[test]
fn idle_before_a_turn_does_not_end_its_prompt() {
    let mut bridge = v1_editor(json!({}));
    prompt(&mut bridge, "p");
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"messageId":"u"}}"#);
    assert_eq!(responses(&update(&mut bridge, state("idle")).0), 0);
    update(&mut bridge, state("running"));
    assert_eq!(responses(&update(&mut bridge, ended()).0), 1);
}

/// The end of a turn belongs to the prompt that the agent has accepted. A later one has a turn of
/// its own.
#[test]
fn end_of_a_turn_leaves_a_later_prompt_open() {
    let mut bridge = v1_editor(json!({}));
    prompt(&mut bridge, "p");
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"messageId":"u"}}"#);
    update(&mut bridge, state("running"));
    prompt(&mut bridge, "q");
    let (editor, ..) = update(&mut bridge, ended());
    assert_eq!(responses(&editor), 1);
    assert_eq!(&editor[0]["id"], &json!("p"));
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"q","result":{"messageId":"v"}}"#);
    assert_eq!(responses(&outputs(&mut bridge).0), 0);
    update(&mut bridge, state("running"));
    let (editor, ..) = update(&mut bridge, ended());
    assert_eq!(responses(&editor), 1);
    assert_eq!(&editor[0]["id"], &json!("q"));
}

/// A prompt with a response cannot be cancelled as a request any more. An agent of version 1 would
/// end its turn.
#[test]
fn cancellation_of_an_accepted_prompt_does_not_reach_the_agent() {
    let mut bridge = opened();
    let cancel = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}}"#;
    prompt(&mut bridge, "p");
    let (editor, ..) = update(&mut bridge, text("x"));
    assert_eq!(responses(&editor), 1);
    bridge.handle_editor_line(cancel);
    assert_eq!(outputs(&mut bridge).1, Vec::<Value>::new());
}

fn ended() -> Value {
    json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"})
}

fn responses(editor: &[Value]) -> usize {
    editor.iter().filter(|line| line.get("result").is_some()).count()
}
