//! Commands: what is compared, and what is not allowed.
use crate::permissions::{Connection, action, rule, rules};
use host::permissions::Action;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;

fn execute(command: &Value) -> Value {
    json!({"kind": "execute", "rawInput": {"command": command}})
}

#[test]
fn words_are_compared_with_words() {
    let table = [
        ("git status", json!("git status"), true),
        ("git status", json!("git  status"), true),
        ("git status", json!("git 'status'"), true),
        ("git status", json!("git status -s"), false),
        ("git status", json!("git"), false),
        ("git status *", json!("git status"), true),
        ("git status *", json!("git status -s -b"), true),
        ("git status *", json!("git push"), false),
        ("git st*", json!("git status"), true),
        ("git 'a b'", json!("git \"a b\""), true),
        ("git a b", json!("git 'a b'"), false),
        ("git status", json!(["git", "status"]), true),
        ("git status", json!(["git status"]), false),
        ("git status", json!(["/bin/bash", "-lc", "git status"]), true),
        ("git status", json!("bash -c 'git status'"), true),
        ("git status", json!("sh -c \"bash -c 'git status'\""), true),
        ("bash *", json!("bash -c 'git status'"), false),
        ("git status", json!("/tmp/git status"), false),
        ("git status", json!("./sh -c 'git status'"), false),
        ("git status", json!(["/tmp/of the agent/bash", "-c", "git status"]), false),
        ("git status", json!(["/usr/bin/bash", "-c", "git status"]), true),
        ("git status", json!(["fish", "-c", "git status"]), false),
        ("bash build.sh", json!("bash build.sh"), true),
        ("*", json!("anything at all"), true),
    ];
    for (pattern, command, is_allowed) in table {
        let rules = [rule(&format!("command = {pattern:?}\naction = 'allow'"))];
        let expected = is_allowed.then_some(Action::Allow);
        assert_eq!(action(&rules, &execute(&command)), expected, "{pattern}: {command}");
    }
}

/// Each of these does more than its first words.
const NOT_SIMPLE: [&str; 24] = [
    "ls; rm x",
    "ls && rm x",
    "ls || rm x",
    "ls | sh",
    "ls & rm x",
    "ls > x",
    "ls < x",
    "ls $(rm x)",
    "ls `rm x`",
    "ls\nrm x",
    "ls\rrm x",
    "ls $HOME",
    "ls ~",
    "ls *",
    "ls ?",
    "ls [a]",
    "ls {a,b}",
    "ls \\; rm",
    "ls # x",
    "ls 'a;b'",
    "ls %PATH%",
    "ls ^& rm x",
    "ls 'open",
    "PATH=. ls",
];

#[test]
fn command_that_is_not_simple_is_never_allowed() {
    let allow = [rule("command = '*'\naction = 'allow'")];
    let reject = rules(
        "[[permission-rules]]\ncommand = 'rm *'\naction = 'reject'\n\
         [[permission-rules]]\nkind = 'execute'\naction = 'allow'",
    );
    for text in NOT_SIMPLE {
        for command in [json!(text), json!(["sh", "-c", text]), json!(["bash", "-lc", text])] {
            assert_eq!(action(&allow, &execute(&command)), None, "{command}");
            // A match cannot be excluded.
            assert_eq!(action(&reject, &execute(&command)), Some(Action::Ask), "{command}");
        }
    }
    let smart = "ls \u{2018}a\u{2019}";
    assert_eq!(action(&allow, &execute(&json!(smart))), None);
}

#[test]
fn call_with_unclear_command_is_not_allowed() {
    let allow = [rule("command = 'ls *'\naction = 'allow'")];
    for input in [
        json!(null),
        json!("ls"),
        json!(["ls"]),
        json!({}),
        json!({"command": null}),
        json!({"command": 7}),
        json!({"command": ["ls", 7]}),
        json!({"command": []}),
        json!({"command": ""}),
        json!({"command": "ls", "cmd": "rm x"}),
        json!({"command": "ls", "commands": ["rm x"]}),
        json!({"commands": ["ls"]}),
        json!({"command": "ls", "code": "rm x"}),
        json!({"command": "ls", "shell": "/tmp/sh"}),
        json!({"command": "ls", "env": {"LD_PRELOAD": "x.so"}}),
        json!({"command": "ls", "environment": [{"name": "PATH", "value": "."}]}),
        json!({"command": "ls", "args": "; rm x"}),
        json!({"command": "ls -a", "args": ["; rm x"]}),
        json!({"command": ["ls"], "args": ["x"]}),
        json!({"input": {"command": "ls"}}),
    ] {
        let call = json!({"kind": "execute", "title": "ls", "rawInput": input});
        assert_eq!(action(&allow, &call), None, "{input}");
    }
    let call = json!({"kind": "execute", "rawInput": {"command": "ls", "args": ["-a", "x"]}});
    assert_eq!(action(&allow, &call), Some(Action::Allow));
    let call = json!({"kind": "execute", "rawInput": {"command": "ls", "env": [], "shell": null}});
    assert_eq!(action(&allow, &call), Some(Action::Allow));
    let line =
        crate::permissions::asked(&json!({"kind": "execute", "rawInput": {"command": "ls"}}))
            .to_string();
    let twice = line.replace(r#""command":"ls""#, r#""command":"ls","command":"rm x""#);
    let mut connection = Connection::new(&allow, Path::new("/"));
    assert!(connection.receive_text(&line).is_some());
    assert_eq!(connection.receive_text(&twice), None);
}

/// Only members that are known as harmless may stand beside an allowed command.
#[test]
fn command_with_an_unknown_member_is_not_allowed() {
    let allow = [rule("command = 'make'\naction = 'allow'")];
    let root = tempfile::tempdir().unwrap();
    let allows = |member: &str, value: &Value| {
        let mut call = execute(&json!("make"));
        call["rawInput"][member] = value.clone();
        Connection::new(&allow, root.path()).ask(&call).is_some()
    };
    for (member, value) in [
        ("description", json!("Builds.")),
        ("timeout", json!(5)),
        ("timeout_ms", json!(5)),
        ("run_in_background", json!(true)),
        ("cwd", json!(root.path())),
        ("workdir", json!(".")),
        ("cwd", json!(null)),
        ("envVars", json!({})),
    ] {
        assert!(allows(member, &value), "{member}: {value}");
    }
    for (member, value) in [
        ("cwd", json!("/tmp/evil")),
        ("cwd", json!("..")),
        ("cwd", json!("src")),
        ("cwd", json!(7)),
        ("workdir", json!("/tmp/evil")),
        ("working_directory", json!("/tmp/evil")),
        ("with_escalated_permissions", json!(true)),
        ("description", json!({"command": "rm -rf /"})),
        ("timeout", json!(["rm"])),
        ("sudo", json!(true)),
        ("envVars", json!({"PATH": "/tmp/evil"})),
        ("env_vars", json!({"LD_PRELOAD": "x.so"})),
        ("Env", json!({"PATH": "."})),
        ("variables", json!({"PATH": "."})),
        ("stdin", json!("rm x")),
        ("input", json!("rm x")),
        ("argv", json!(["-f", "/tmp/evil"])),
        ("arguments", json!(["--evil"])),
        ("preCommand", json!("rm x")),
        ("interpreter", json!("sh")),
        ("Args", json!(["-f", "/tmp/evil"])),
        ("new", json!("x")),
    ] {
        assert!(!allows(member, &value), "{member}: {value}");
    }
}

/// The call does something else as well, or instead.
#[test]
fn command_in_a_call_that_changes_files_is_not_allowed() {
    let allow = [rule("command = 'make'\naction = 'allow'")];
    let root = tempfile::tempdir().unwrap();
    let diff = json!([{"type": "diff", "path": "/etc/passwd", "newText": "x"}]);
    let text = json!([{"type": "content", "content": {"type": "text", "text": "make"}}]);
    for (members, is_allowed) in [
        (json!({}), true),
        (json!({"content": []}), true),
        (json!({"content": text}), true),
        (json!({"kind": "other"}), true),
        (json!({"kind": null}), true),
        (json!({"kind": "edit"}), false),
        (json!({"kind": "read"}), false),
        (json!({"kind": 7}), false),
        (json!({"content": diff}), false),
        (json!({"content": 7}), false),
    ] {
        let mut call = execute(&json!("make"));
        call.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        let decision = Connection::new(&allow, root.path()).ask(&call);
        assert_eq!(decision.is_some(), is_allowed, "{members}");
    }
}

#[test]
fn rule_that_denies_asks_where_the_command_is_unknown() {
    let rules = rules(
        "[[permission-rules]]\ncommand = 'rm *'\naction = 'reject'\n[[permission-rules]]\naction = 'allow'",
    );
    for (call, expected) in [
        (json!({"kind": "execute", "rawInput": {"command": "rm x"}}), Action::Reject),
        (json!({"kind": "execute", "rawInput": {"command": "/bin/rm x"}}), Action::Reject),
        (json!({"kind": "execute", "rawInput": {"command": "RM x"}}), Action::Reject),
        (
            json!({"kind": "execute", "rawInput": {"command": "rm x", "env": {"A": "1"}}}),
            Action::Reject,
        ),
        (json!({"kind": "execute", "rawInput": {"command": "bash -xc 'rm x'"}}), Action::Ask),
        (
            json!({"kind": "execute", "rawInput": {"command": ["bash", "-c", "rm x", "y"]}}),
            Action::Ask,
        ),
        (json!({"kind": "execute", "rawInput": {"command": "bash --norc -c 'rm x'"}}), Action::Ask),
        (json!({"kind": "execute", "rawInput": {"command": "fish -c 'rm x'"}}), Action::Ask),
        (json!({"kind": "execute", "rawInput": {"command": "busybox sh -c 'rm x'"}}), Action::Ask),
        (json!({"kind": "execute", "rawInput": {"command": "CMD.EXE /c 'rm x'"}}), Action::Ask),
        (json!({"rawInput": {"commands": ["rm x"]}}), Action::Ask),
        (json!({"kind": "execute", "rawInput": {"command": "bash build.sh"}}), Action::Allow),
        (json!({"kind": "execute", "rawInput": {"command": "ls"}}), Action::Allow),
        (json!({"kind": "execute", "title": "rm x"}), Action::Ask),
        (json!({"kind": "execute", "rawInput": {}}), Action::Ask),
        (json!({"title": "rm x"}), Action::Ask),
        (json!({"title": "x", "rawInput": {"of": "y"}}), Action::Allow),
        (json!({"kind": "read"}), Action::Allow),
    ] {
        assert_eq!(action(&rules, &call), Some(expected), "{call}");
    }
}

#[test]
fn command_subject_of_version_2_is_compared() {
    let rules = rules(
        "[[permission-rules]]\ncommand = 'ls'\npath = 'src'\naction = 'allow'\n\
         [[permission-rules]]\nkind = 'read'\naction = 'allow'",
    );
    let cwd = Path::new(env!("CARGO_MANIFEST_DIR"));
    let options = json!([{"optionId": "y", "name": "Y", "kind": "allow_once"}]);
    let ask = |subject: Value| {
        let params =
            json!({"sessionId": "s", "title": "?", "subject": subject, "options": options});
        let line = json!({"jsonrpc": "2.0", "id": "x", "method": "session/request_permission", "params": params});
        Connection::new(&rules, cwd).receive(&line).map(|it| it.action())
    };
    let below = cwd.join("src");
    assert_eq!(ask(json!({"type": "command", "command": "ls", "cwd": below})), Some(Action::Allow));
    assert_eq!(ask(json!({"type": "command", "command": "ls", "cwd": "/"})), None);
    assert_eq!(ask(json!({"type": "command", "command": "ls; rm x", "cwd": below})), None);
    let call = json!({"toolCallId": "c", "title": "x", "kind": "read"});
    assert_eq!(ask(json!({"type": "tool_call", "toolCall": call})), Some(Action::Allow));
    assert_eq!(ask(json!({"type": "newer", "kind": "read"})), None);
}

#[cfg(unix)]
proptest! {
    /// A shell reads each allowed command as the words that were compared.
    #[test]
    fn allowed_command_is_read_by_a_shell_as_it_was_compared(
        rest in "([a-z./=:,+@_-]|[ '\"]|[;&|<>$`*?~#!(){}\\[\\]\\\\\n\t%^é]){0,8}",
    ) {
        let text = format!("p {rest}");
        // The pattern has the words of the command.
        let Some(words) = shlex_words(&text) else { return Ok(()) };
        let pattern: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        if words.iter().any(|word| word.contains(['*', '?', '[', ']', '{', '}', '\\', '\'', '\n', '\t'])) {
            let allow = [rule("command = 'p *'\naction = 'allow'")];
            prop_assert_eq!(action(&allow, &execute(&json!(text))), None, "{}", text);
            return Ok(());
        }
        let allow = [rule(&format!("command = {:?}\naction = 'allow'", pattern.join(" ")))];
        if action(&allow, &execute(&json!(text))) != Some(Action::Allow) {
            return Ok(());
        }
        let script = format!("p() {{ printf '<%s>' p \"$@\"; }}\n{text}");
        let run = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        let expected: String = words.iter().map(|word| format!("<{word}>")).collect();
        prop_assert_eq!(String::from_utf8_lossy(&run.stdout), expected, "{}", text);
    }
}

#[cfg(unix)]
fn shlex_words(text: &str) -> Option<Vec<String>> {
    shlex::split(text)
}
