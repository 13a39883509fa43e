//! The order of rules, and their conditions.
use crate::permissions::{Connection, action, asked, rule, rules};
use host::permissions::{Action, Files, Rule, Rules, Watcher};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;

#[test]
fn each_condition_is_compared_with_its_member() {
    let edit = json!({
        "name": "write_file", "title": "Write src/lib.rs", "kind": "edit",
        "locations": [{"path": "src/lib.rs"}], "rawInput": {"content": "cargo test"},
    });
    let execute = json!({"kind": "execute", "rawInput": {"command": "cargo test"}});
    let table = [
        ("agent = 'gemini'", true),
        ("agent = ['claude', 'gem*']", true),
        ("agent = 'claude'", false),
        ("tool = 'write_*'", true),
        ("tool = 'Write_*'", false),
        ("tool = 'read_*'", false),
        ("title = 'Write src/*'", true),
        ("title = 'Write'", false),
        ("kind = ['read', 'edit']", true),
        ("kind = 'read'", false),
        ("path = 'src/**'", true),
        ("path = 'src/*.rs'", true),
        ("path = '*.rs'", false),
        ("command = 'cargo test'", false),
        ("kind = 'edit'\npath = 'src/**'", true),
        ("kind = 'edit'\npath = 'docs/**'", false),
        ("", true),
    ];
    for (conditions, is_matched) in table {
        let rules = [rule(&format!("{conditions}\naction = 'allow'"))];
        let expected = is_matched.then_some(Action::Allow);
        assert_eq!(action(&rules, &edit), expected, "{conditions}");
    }
    for (conditions, is_matched) in [("command = 'cargo test'", true), ("command = 'cargo'", false)]
    {
        let rules = [rule(&format!("{conditions}\naction = 'allow'"))];
        let expected = is_matched.then_some(Action::Allow);
        assert_eq!(action(&rules, &execute), expected, "{conditions}");
    }
}

#[test]
fn missing_kind_is_other() {
    let rules = [rule("kind = 'other'\naction = 'allow'")];
    assert_eq!(action(&rules, &json!({"title": "x"})), Some(Action::Allow));
    assert_eq!(action(&rules, &json!({"kind": null})), Some(Action::Allow));
    assert_eq!(action(&rules, &json!({"kind": "read"})), None);
    assert_eq!(action(&rules, &json!({"kind": 7})), None);
}

#[test]
fn name_of_tool_is_also_read_from_meta() {
    let rules = [rule("tool = 'mcp__docs__*'\naction = 'allow'")];
    for call in [
        json!({"name": "mcp__docs__find"}),
        json!({"_meta": {"claudeCode": {"toolName": "mcp__docs__find"}}}),
        json!({"_meta": {"toolName": "mcp__docs__find"}}),
        json!({"_meta": {"tool_name": "mcp__docs__find", "claudeCode": 7}}),
    ] {
        assert_eq!(action(&rules, &call), Some(Action::Allow), "{call}");
    }
    // The title is a text of the model.
    assert_eq!(action(&rules, &json!({"title": "mcp__docs__find"})), None);
    // The name takes precedence.
    let other = json!({"name": "Bash", "_meta": {"toolName": "mcp__docs__find"}});
    assert_eq!(action(&rules, &other), None);
}

#[test]
fn facts_of_earlier_messages_are_used_until_they_change() {
    let rules = [rule("kind = 'execute'\ncommand = 'ls'\naction = 'allow'")];
    let cwd = Path::new("/");
    let allows =
        |connection: &mut Connection| connection.ask(&json!({})).map(|decision| decision.action());
    let announced = json!({
        "sessionUpdate": "tool_call", "toolCallId": "c", "title": "x", "kind": "execute",
        "rawInput": {"command": "ls"},
    });
    let mut connection = Connection::new(&rules, cwd);
    assert_eq!(allows(&mut connection), None);
    connection.update(&announced);
    assert_eq!(allows(&mut connection), Some(Action::Allow));
    let changed = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "rawInput": {"command": "rm x"}});
    connection.update(&changed);
    assert_eq!(allows(&mut connection), None);
    // Arguments without a command replace those with one.
    connection.update(&announced);
    assert_eq!(allows(&mut connection), Some(Action::Allow));
    connection
        .update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "rawInput": {}}));
    assert_eq!(allows(&mut connection), None);
    // Another call with the same id.
    connection.update(&announced);
    connection.update(&json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "y"}));
    assert_eq!(allows(&mut connection), None);
    connection.update(&announced);
    connection.0.handle_lost_line();
    assert_eq!(allows(&mut connection), None);
    // A line that repeats a member.
    connection.update(&announced);
    connection.receive_text(r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"d","toolCallId":"c"}}}"#);
    assert_eq!(allows(&mut connection), None);
}

/// A request with the id of a call that has ended is about another call.
#[test]
fn ended_call_is_forgotten() {
    let rules = [rule("kind = 'read'\naction = 'allow'")];
    for status in ["completed", "failed", "cancelled", "in_progress"] {
        let mut connection = Connection::new(&rules, Path::new("/"));
        let announced =
            json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "x", "kind": "read"});
        connection.update(&announced);
        connection.update(
            &json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": status}),
        );
        let decided = connection.ask(&json!({})).map(|decision| decision.action());
        assert_eq!(decided.is_some(), status == "in_progress", "{status}");
    }
}

#[test]
fn oldest_call_is_forgotten_first() {
    let rules = [rule("kind = 'read'\naction = 'allow'")];
    let mut connection = Connection::new(&rules, Path::new("/"));
    let announce = |connection: &mut Connection, id: &str| {
        connection.update(
            &json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "x", "kind": "read"}),
        );
    };
    announce(&mut connection, "c");
    for number in 1..host::permissions::MAX_CALLS {
        announce(&mut connection, &number.to_string());
    }
    assert_eq!(connection.ask(&json!({})).map(|it| it.action()), Some(Action::Allow));
    announce(&mut connection, "one more");
    assert_eq!(connection.ask(&json!({})), None);
}

#[test]
fn requests_without_a_readable_call_are_not_allowed() {
    let rules = rules(
        "[[permission-rules]]\nkind = ['read', 'other', 'execute']\naction = 'allow'\n\
         [[permission-rules]]\npath = '**'\ncommand = '*'\naction = 'reject'",
    );
    let options = r#""options":[{"optionId":"y","name":"Y","kind":"allow_once"}]"#;
    let read = r#"{"toolCallId":"c","kind":"read"}"#;
    for params in [
        format!(r#"{{"sessionId":"s",{options}}}"#),
        format!(r#"{{"sessionId":"s",{options},"toolCall":{{"kind":"read"}}}}"#),
        format!(r#"{{"sessionId":"s",{options},"toolCall":[]}}"#),
        format!(r#"{{"sessionId":"s",{options},"toolCall":{read},"toolCall":{read}}}"#),
        format!(
            r#"{{"sessionId":"s",{options},"toolCall":{{"toolCallId":"c","kind":"read","kind":"read"}}}}"#
        ),
        format!(
            r#"{{"sessionId":"s",{options},"toolCall":{read},"subject":{{"type":"tool_call","toolCall":{read}}}}}"#
        ),
        format!(r#"{{"sessionId":"s",{options},"deep":{}{}}}"#, "[".repeat(200), "]".repeat(200)),
        "[]".to_owned(),
    ] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{params}}}"#
        );
        let decision = Connection::new(&rules, Path::new("/")).receive_text(&line);
        assert_ne!(decision.map(|it| it.action()), Some(Action::Allow), "{params}");
    }
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{{"sessionId":"s",{options},"toolCall":{read}}}}}"#
    );
    let decision = Connection::new(&rules, Path::new("/")).receive_text(&line);
    assert_eq!(decision.map(|it| it.action()), Some(Action::Allow));
}

/// A rule, and the number of its variant.
fn any_rule() -> impl Strategy<Value = String> {
    let condition = prop::sample::select(vec![
        "",
        "agent = 'gemini'",
        "agent = 'claude'",
        "tool = 'read*'",
        "title = '*'",
        "kind = ['read', 'edit']",
        "kind = 'execute'",
        "path = 'src/**'",
        "path = '**/*.md'",
        "command = 'ls *'",
        "command = ['cargo test', 'rm *']",
        "kind = 'edit'\npath = ['docs/*', 'src/**']",
    ]);
    let action = prop::sample::select(vec!["allow", "ask", "reject"]);
    (condition, action).prop_map(|(condition, action)| format!("{condition}\naction = '{action}'"))
}

fn any_call() -> impl Strategy<Value = Value> {
    let kinds =
        vec![json!(null), json!("read"), json!("edit"), json!("execute"), json!("newer"), json!(7)];
    let paths = vec!["src/a.rs", "docs/a.md", "src/../a.md", "/etc/passwd", "~/a.md", "src/*"];
    let commands = vec![
        json!(null),
        json!("ls"),
        json!("ls; rm x"),
        json!(["cargo", "test"]),
        json!("rm x"),
        json!({"a": 1}),
    ];
    let kind = prop::sample::select(kinds);
    let command = prop::sample::select(commands);
    let paths = prop::collection::vec(prop::sample::select(paths), 0..3);
    (kind, command, paths).prop_map(|(kind, command, paths)| {
        let locations: Vec<_> = paths.iter().map(|path| json!({"path": path})).collect();
        json!({"name": "read_file", "title": "x", "kind": kind, "locations": locations, "rawInput": {"command": command}})
    })
}

proptest! {
    /// The decision of a list of rules is that of its first rule that decides alone.
    #[test]
    fn first_rule_that_decides_alone_decides(
        texts in prop::collection::vec(any_rule(), 0..6),
        call in any_call(),
    ) {
        let rules: Vec<Rule> = texts.iter().map(|text| rule(text)).collect();
        let cwd = Path::new(env!("CARGO_MANIFEST_DIR"));
        let decided = Connection::new(&rules, cwd).ask(&call);
        let alone = rules.iter().enumerate().find_map(|(index, rule)| {
            let decision = Connection::new(std::slice::from_ref(rule), cwd).ask(&call)?;
            Some((index + 1, decision.action(), decision.outcome().cloned()))
        });
        let decided = decided.map(|it| (it.rule(), it.action(), it.outcome().cloned()));
        prop_assert_eq!(decided, alone);
    }

    /// A rule that could match and denies is never passed over: a call that it denies with known
    /// values is not allowed with values that cannot be compared.
    #[test]
    fn denied_call_is_not_allowed_in_another_spelling(
        path in prop::sample::select(vec!["keys/a", "./keys/a", "src/../keys/a", "keys//a", "src/../../x/keys/a", "KEYS/a", "keys/{a}", "$PWD/keys/a"]),
    ) {
        let rules = rules(
            "[[permission-rules]]\npath = 'keys/**'\naction = 'reject'\n\
             [[permission-rules]]\nkind = 'read'\naction = 'allow'",
        );
        let call = json!({"kind": "read", "locations": [{"path": path}]});
        prop_assert_ne!(action(&rules, &call), Some(Action::Allow));
    }
}

#[test]
fn without_rules_no_line_is_read() {
    let mut watcher = Watcher::new(Rules::new(&[], "gemini", Files::Local));
    let line = asked(&json!({"kind": "read"})).to_string();
    let line = jsonrpc_core::peek(line.as_bytes()).unwrap();
    let direction = jsonrpc_core::transcript::Direction::Received;
    assert_eq!(watcher.handle_line(direction, &line), None);
}
