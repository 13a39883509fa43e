//! Commands for terminals of the client.
use crate::permissions::{Connection, rules};
use host::permissions::{Action, Decision};
use serde_json::{Value, json};
use std::path::Path;

fn decide(text: &str, params: &Value) -> Option<Decision> {
    let mut params = params.clone();
    params["sessionId"] = json!("s");
    let cwd = Path::new(env!("CARGO_MANIFEST_DIR"));
    let request = json!({"jsonrpc": "2.0", "id": 7, "method": "terminal/create", "params": params});
    Connection::new(&rules(text), cwd).receive(&request)
}

fn rule(conditions: &str, action: &str) -> String {
    format!("[[permission-rules]]\n{conditions}\naction = '{action}'\n")
}

#[test]
fn rules_compare_program_and_arguments() {
    let reject = rule("command = ['rm *', 'git push *']", "reject");
    let rejected = Some(Action::Reject);
    let asked = Some(Action::Ask);
    for (params, expected) in [
        (json!({"command": "rm", "args": ["-rf", "x"]}), rejected),
        (json!({"command": "/bin/RM", "args": ["x"]}), rejected),
        (json!({"command": "git", "args": ["push", "origin"]}), rejected),
        (json!({"command": "sh", "args": ["-c", "rm x"]}), rejected),
        (json!({"command": "bash", "args": ["-lc", "git push"]}), rejected),
        (json!({"command": "rm x"}), rejected),
        (json!({"command": "ls", "args": ["-l"]}), None),
        (json!({"command": "git", "args": ["status"]}), None),
        (json!({"command": "sh", "args": ["-c", "ls; rm x"]}), asked),
        (json!({"command": ["rm", "x"], "args": 7}), asked),
        (json!({}), asked),
    ] {
        let decision = decide(&reject, &params);
        assert_eq!(decision.as_ref().map(Decision::action), expected, "{params}");
        assert!(decision.is_none_or(|it| it.is_of_terminal()), "{params}");
    }
}

#[test]
fn other_conditions_hold_as_for_a_command() {
    let remove = json!({"command": "rm", "args": ["x"], "cwd": env!("CARGO_MANIFEST_DIR")});
    for (conditions, expected) in [
        ("", Some(Action::Reject)),
        ("kind = 'execute'", Some(Action::Reject)),
        ("kind = 'edit'", None),
        ("agent = 'gem*'", Some(Action::Reject)),
        ("agent = 'other'", None),
        ("tool = '*'", None),
        ("title = '*'", None),
    ] {
        let decision = decide(&rule(conditions, "reject"), &remove);
        assert_eq!(decision.map(|it| it.action()), expected, "{conditions}");
    }
    let first = rule("command = 'rm *'", "allow") + &rule("", "reject");
    assert_eq!(decide(&first, &remove).map(|it| it.action()), Some(Action::Allow));
    let inside = env!("CARGO_MANIFEST_DIR").to_owned() + "/src";
    let outside = "/".to_owned();
    for (cwd, expected) in [(inside, Some(Action::Reject)), (outside, Some(Action::Ask))] {
        let list = json!({"command": "ls", "cwd": cwd});
        let decision = decide(&rule("path = 'src'", "reject"), &list);
        assert_eq!(decision.map(|it| it.action()), expected, "{cwd}");
    }
}

#[test]
fn rejected_command_is_answered_with_the_rule() {
    let remove = json!({"command": "rm", "args": ["x"]});
    for (action, shown) in [("reject", "reject"), ("ask", "ask"), ("allow", "allow")] {
        let text = rule("kind = 'read'", "allow") + &rule("command = 'rm *'", action);
        let decision = decide(&text, &remove).unwrap();
        assert_eq!(decision.to_string(), format!("permission rule 2: {shown} terminal/create"));
        assert_eq!(decision.outcome(), None);
        let response = decision.response("7").map(|line| serde_json::from_str(&line).unwrap());
        let error = json!({"code": -32602, "message": "permission rule 2 rejects this command"});
        let rejected = json!({"jsonrpc": "2.0", "id": 7, "error": error});
        assert_eq!(response, (action == "reject").then_some(rejected));
    }
}
