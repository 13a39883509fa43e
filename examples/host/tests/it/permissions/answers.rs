//! Answers to the agent.
use crate::permissions::{Connection, asked, rule};
use host::permissions::{Action, Decision};
use serde_json::{Value, json};
use std::path::Path;

fn decide(action: &str, kinds: &[&str]) -> Decision {
    let mut request = asked(&json!({"kind": "read"}));
    let option = |kind: &&str| json!({"optionId": format!("id {kind}"), "name": "x", "kind": kind});
    request["params"]["options"] = kinds.iter().map(option).collect();
    let rules = [rule(&format!("action = '{action}'"))];
    Connection::new(&rules, Path::new("/")).receive(&request).unwrap()
}

fn response(decision: &Decision) -> Option<Value> {
    Some(serde_json::from_str(&decision.response(r#""a""#)?).unwrap())
}

#[test]
fn answer_is_the_smallest_offered_option() {
    let all = ["reject_always", "allow_always", "allow_once", "reject_once"];
    let selected = |id: &str| json!({"outcome": {"outcome": "selected", "optionId": id}});
    let cancelled = json!({"outcome": {"outcome": "cancelled"}});
    for (action, kinds, expected) in [
        ("allow", &all[..], Some(selected("id allow_once"))),
        ("allow", &["reject_once", "allow_always"], Some(selected("id allow_always"))),
        ("allow", &["reject_once", "newer"], None),
        ("allow", &[], None),
        ("reject", &all, Some(selected("id reject_once"))),
        ("reject", &["allow_once", "reject_always"], Some(selected("id reject_always"))),
        ("reject", &["allow_once"], Some(cancelled)),
        ("ask", &all, None),
    ] {
        let decision = decide(action, kinds);
        let expected =
            expected.map(|result| json!({"jsonrpc": "2.0", "id": "a", "result": result}));
        assert_eq!(response(&decision), expected, "{action} {kinds:?}");
    }
}

#[test]
fn allowing_without_an_option_to_allow_asks() {
    let decision = decide("allow", &["reject_once"]);
    assert_eq!(decision.action(), Action::Ask);
    assert_eq!(
        decision.to_string(),
        "permission rule 1: ask read: the agent offers no option to allow"
    );
}

#[test]
fn decision_names_rule_action_and_tool() {
    let rules = [rule("kind = 'edit'\naction = 'allow'"), rule("kind = 'read'\naction = 'reject'")];
    let mut connection = Connection::new(&rules, Path::new("/"));
    let decision = connection.ask(&json!({"kind": "read", "name": "cat\u{1b}[2J"})).unwrap();
    assert_eq!(decision.rule(), 2);
    assert_eq!(decision.action(), Action::Reject);
    assert_eq!(decision.tool(), "cat?[2J");
    assert_eq!(decision.to_string(), "permission rule 2: reject cat?[2J");
    let decision = connection.ask(&json!({"name": "x".repeat(500), "kind": "edit"})).unwrap();
    assert_eq!(decision.tool().len(), 64);
}
