//! Permission requests that the program decides.
use super::*;
use agui_bridge::{PermissionAnswer, PermissionDecision, PermissionMode, Policy};
use jsonrpc_core::peek;

/// A request that names a tool of the page is decided and shown as any other.
#[test]
fn decision_of_the_program_takes_precedence() {
    let allowing = || {
        let mut options = hub_options();
        let mode = PermissionMode::Policy(Policy::allow_all());
        options.conversation.translator.permission = mode;
        options
    };
    let selected = |id: &str| PermissionDecision::Answer(PermissionAnswer::Selected(id.into()));
    for (options, name, decision, expected) in [
        (hub_options(), "Write", selected("yes"), Some("yes")),
        (hub_options(), "Write", selected("no"), Some("no")),
        (allowing(), "Write", selected("no"), Some("no")),
        (allowing(), "Write", PermissionDecision::Ask, None),
        (hub_options(), "mcp__ui__pick", selected("no"), Some("no")),
        (allowing(), "mcp__ui__pick", PermissionDecision::Ask, None),
    ] {
        let mut rig = Rig::connected(options);
        let tools = json!({"tools": [{"name": "pick", "description": "", "parameters": {"type": "object"}}]});
        rig.hub.handle_run("a", input("1", &[user("u", "Hi")], &tools), rig.now).unwrap();
        rig.exchange();
        let choices = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"}]);
        let call = json!({"toolCallId": "c", "title": "x", "name": name});
        let params = json!({"sessionId": "s1", "toolCall": call, "options": choices});
        let line = json!({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": params});
        let line = line.to_string();
        rig.hub.handle_decided(&peek(line.as_bytes()).unwrap(), decision.clone(), rig.now);
        rig.exchange();
        let answer = rig.sent.iter().find(|it| it["id"] == 7 && it.get("result").is_some());
        let answer = answer.map(|it| it["result"]["outcome"]["optionId"].as_str().unwrap());
        assert_eq!(answer, expected, "{name} {decision:?}");
        let is_shown = rig.kinds("a", "1").iter().any(|kind| kind == "TOOL_CALL_START");
        assert!(is_shown, "{name} {decision:?}");
        rig.wait(Duration::from_millis(50));
        let is_interrupted = rig.kinds("a", "1").last().unwrap() == "RUN_FINISHED interrupt";
        assert_eq!(is_interrupted, expected.is_none(), "{name} {decision:?}");
    }
}

/// A decision is for one line. A line that the connection refuses leaves none behind.
#[test]
fn decision_is_not_used_for_a_later_request() {
    let mut rig = Rig::connected(hub_options());
    rig.say("a", "1").unwrap();
    let asked = |session: &str| {
        let choices = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
        let params = json!({"sessionId": session, "toolCall": {"toolCallId": "c", "title": "x"}, "options": choices});
        json!({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": params})
    };
    let line = asked("another").to_string();
    let allow = PermissionDecision::Answer(PermissionAnswer::Selected("yes".into()));
    rig.hub.handle_decided(&peek(line.as_bytes()).unwrap(), allow, rig.now);
    rig.exchange();
    rig.line(&asked("s1"));
    rig.wait(Duration::from_millis(50));
    assert_eq!(rig.kinds("a", "1").last().unwrap(), "RUN_FINISHED interrupt");
}
