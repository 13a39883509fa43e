//! Paths: what is compared, and what is not allowed.
use crate::permissions::{Connection, rule, rules};
use host::permissions::{Action, Files};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn read(path: &str) -> Value {
    json!({"kind": "read", "locations": [{"path": path}]})
}

fn allows(root: &Path, call: &Value) -> bool {
    let rules = [rule("path = '**'\naction = 'allow'")];
    Connection::new(&rules, root).ask(call).is_some_and(|it| it.action() == Action::Allow)
}

/// A folder with `src/a`, and with links.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::create_dir_all(folder.path().join("root/src")).unwrap();
    fs::write(folder.path().join("root/src/a"), "").unwrap();
    fs::write(folder.path().join("key"), "").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(folder.path(), folder.path().join("root/src/out")).unwrap();
        symlink("../../key", folder.path().join("root/src/key")).unwrap();
        symlink("nowhere", folder.path().join("root/src/broken")).unwrap();
        symlink(folder.path().join("root"), folder.path().join("link")).unwrap();
    }
    folder
}

#[test]
fn path_below_the_directory_is_allowed() {
    let folder = folder();
    let root = folder.path().join("root");
    for path in ["src/a", "./src/a", "src//a", "src/new/file", "src", "."] {
        assert!(allows(&root, &read(path)), "{path}");
        let absolute = root.join(path);
        assert!(allows(&root, &read(absolute.to_str().unwrap())), "{path}");
    }
    // The path of an agent that has resolved its working directory.
    #[cfg(unix)]
    assert!(allows(&folder.path().join("link"), &read(root.join("src/a").to_str().unwrap())));
}

#[test]
fn path_that_may_lead_elsewhere_is_never_allowed() {
    let folder = folder();
    let root = folder.path().join("root");
    let outside = folder.path().join("key");
    let sibling = format!("{}2/a", root.display());
    let mut paths = vec![
        "..",
        "../key",
        "src/../a",
        "src/../../key",
        "/etc/passwd",
        "",
        "~/key",
        "~root/key",
        "src/*",
        "src/?",
        "src/{a,b}",
        "src/[a]",
        "$HOME/key",
        "%HOME%/key",
        "file:///etc/passwd",
        "src/\0a",
        "src/a\n",
        "src/a/b",
        outside.to_str().unwrap(),
        &sibling,
    ];
    if cfg!(unix) {
        paths.extend(["src/out", "src/out/key", "src/key", "src/broken", "src/out/root/src/a"]);
    }
    for path in paths {
        assert!(!allows(&root, &read(path)), "{path:?}");
        assert!(
            !allows(&root, &read(root.join(path).to_str().unwrap())) || path.is_empty(),
            "{path:?}"
        );
        // A match of a rule that denies cannot be excluded.
        let rules = rules(
            "[[permission-rules]]\npath = 'key'\naction = 'reject'\n[[permission-rules]]\naction = 'allow'",
        );
        let decision = Connection::new(&rules, &root).ask(&read(path));
        assert_eq!(decision.map(|it| it.action()), Some(Action::Ask), "{path:?}");
    }
}

/// A folder is removed with the paths below it.
#[test]
fn removal_of_a_folder_concerns_the_paths_below_it() {
    let folder = folder();
    let root = folder.path().join("root");
    let rules = rules(
        "[[permission-rules]]\npath = ['secrets/keys/**', '**/.env*']\naction = 'reject'\n\
         [[permission-rules]]\naction = 'allow'",
    );
    let decide = |kind: &str, path: &str| {
        let call = json!({"kind": kind, "locations": [{"path": path}]});
        Connection::new(&rules, &root).ask(&call).unwrap().action()
    };
    let absolute = root.to_str().unwrap().to_owned();
    for kind in ["delete", "move"] {
        for path in
            ["secrets/keys/a", "secrets/keys", "secrets/", "./Secrets", "secrets", ".", &absolute]
        {
            assert_eq!(decide(kind, path), Action::Reject, "{kind} {path}");
        }
        // It may have a file of such a name.
        assert_eq!(decide(kind, "src"), Action::Ask, "{kind}");
        assert_eq!(decide(kind, "src/a"), Action::Allow, "{kind}");
    }
    assert_eq!(decide("read", "secrets"), Action::Allow);
}

/// As a tool of version 2 sends its content in pieces.
#[test]
fn paths_of_pieces_of_content_count() {
    let folder = folder();
    let root = folder.path().join("root");
    let allow = [rule("path = 'src/**'\naction = 'allow'")];
    let chunk = |content: Value| json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": content});
    let diff =
        |path: &str| json!({"type": "diff", "changes": [{"operation": "add", "path": path}]});
    for (pieces, action) in [
        (vec![], Some(Action::Allow)),
        (vec![diff("src/b"), diff("src/c")], Some(Action::Allow)),
        (vec![diff("src/b"), diff("docs/a")], None),
        (vec![diff("docs/a"), diff("src/b")], None),
        (vec![json!({"type": "diff", "changes": 7}), diff("src/b")], None),
        (
            vec![json!({"type": "content", "content": {"type": "text", "text": "docs/a"}})],
            Some(Action::Allow),
        ),
    ] {
        let mut connection = Connection::new(&allow, &root);
        for piece in &pieces {
            connection.update(&chunk(piece.clone()));
        }
        let decision = connection.ask(&read("src/a"));
        assert_eq!(decision.map(|it| it.action()), action, "{pieces:?}");
    }
}

#[test]
fn all_paths_of_a_call_have_to_be_allowed() {
    let folder = folder();
    let root = folder.path().join("root");
    let reject = rules(
        "[[permission-rules]]\npath = 'docs/**'\naction = 'reject'\n[[permission-rules]]\naction = 'allow'",
    );
    let allow = [rule("path = 'src/**'\naction = 'allow'")];
    for other in [
        json!({"locations": [{"path": "src/a"}, {"path": "docs/a"}]}),
        json!({"content": [{"type": "diff", "path": "docs/a", "newText": "x"}]}),
        // Version 2: each change of a diff.
        json!({"content": [{"type": "diff", "changes": [
            {"operation": "modify", "path": "src/a"}, {"operation": "delete", "path": "docs/a"}]}]}),
        json!({"content": [{"type": "diff", "changes": [
            {"operation": "move", "path": "src/a", "oldPath": "docs/a"}]}]}),
        json!({"rawInput": {"path": "docs/a"}}),
        json!({"rawInput": {"file_path": "docs/a"}}),
        json!({"rawInput": {"edits": [{"targetFile": "docs/a"}]}}),
        json!({"rawInput": {"from": "src/a", "to": "docs/a"}}),
        json!({"rawInput": {"changes": {"docs/a": {"type": "delete"}}}}),
        json!({"rawInput": {"paths": ["src/a", "docs/a"]}}),
    ] {
        let mut call = read("src/a");
        call.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
        let action = |rules| Connection::new(rules, &root).ask(&call).map(|it| it.action());
        assert_eq!(action(&allow), None, "{call}");
        assert_eq!(action(&reject), Some(Action::Reject), "{call}");
    }
    for other in [
        json!({"rawInput": {"pattern": "docs/a", "new_string": "docs/a"}}),
        json!({"content": [{"type": "content", "content": {"type": "text", "text": "docs/a"}}]}),
        json!({"content": [{"type": "diff", "changes": [
            {"operation": "copy", "path": "src/b", "oldPath": "src/a"}]}]}),
    ] {
        let mut call = read("src/a");
        call.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
        let action = Connection::new(&allow, &root).ask(&call).map(|it| it.action());
        assert_eq!(action, Some(Action::Allow), "{call}");
    }
}

/// As real agents send them, and as one could that means something else.
#[test]
fn path_allows_a_call_only_with_harmless_members_beside_it() {
    let folder = folder();
    let root = folder.path().join("root");
    let allow = [rule("path = 'src/**'\naction = 'allow'")];
    let action = |input: &Value| {
        let call = json!({"kind": "edit", "locations": [{"path": "src/a"}], "rawInput": input});
        Connection::new(&allow, &root).ask(&call).map(|it| it.action())
    };
    let unified = "Index: src/a\n====\n--- src/a\t2026\n+++ src/a\n@@ -1 +1 @@\n-x\n+y\n";
    for input in [
        json!({"file_path": "src/a", "old_string": "x", "new_string": "y", "replace_all": true}),
        json!({"filepath": "src/a", "diff": unified}),
        json!({"file_path": "src/a", "edits": [{"old_string": "x", "new_string": "y"}]}),
        json!({"call_id": "c", "turn_id": "t", "auto_approved": true, "started_at_ms": 1,
            "changes": {"src/a": {"type": "update", "unified_diff": "@@ -1 +1 @@", "move_path": null}}}),
        json!({"path": "src/a", "file_text": "x", "description": "why", "unknown": null}),
    ] {
        assert_eq!(action(&input), Some(Action::Allow), "{input}");
    }
    let patch = "*** Begin Patch\n*** Update File: /etc/passwd\n@@\n+x\n*** End Patch";
    for other in [
        json!({"dest": "/etc/passwd"}),
        json!({"output": "/etc/passwd"}),
        json!({"url": "http://localhost/"}),
        json!({"changes": "/etc/passwd"}),
        json!({"changes": {"README.md": {"type": "delete"}}}),
        json!({"patch": patch}),
        json!({"diff": unified.replace("src", "docs")}),
        json!({"command": "rm -rf /"}),
        json!({"unknown": "x"}),
        json!({"unknown": true}),
        json!({"unknown": ["x"]}),
        json!({"description": {"command": "rm -rf /"}}),
        json!({"path": 7}),
    ] {
        let mut input = json!({"file_path": "src/a", "content": "x"});
        input.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
        assert_eq!(action(&input), None, "{input}");
    }
}

#[test]
fn call_without_a_path_is_not_allowed_by_a_path() {
    let rules = rules(
        "[[permission-rules]]\npath = 'key'\naction = 'reject'\n\
         [[permission-rules]]\npath = '**'\naction = 'allow'\n\
         [[permission-rules]]\nkind = ['read', 'execute']\naction = 'allow'",
    );
    let mut connection = Connection::new(&rules, Path::new("/"));
    let action = |call: Value| connection.ask(&call).map(|it| (it.rule(), it.action()));
    let [read, execute, think] = ["read", "execute", "think"].map(|kind| json!({"kind": kind}));
    let found = [read, execute, think].map(action);
    assert_eq!(found, [Some((1, Action::Ask)), Some((3, Action::Allow)), None]);
}

#[test]
fn paths_are_not_compared_without_a_known_directory() {
    let folder = folder();
    let root = folder.path().join("root");
    let rules = [rule("path = '**'\naction = 'allow'")];
    let call = read("src/a");
    assert!(Connection::new(&rules, &root).ask(&call).is_some());
    assert_eq!(Connection::with_files(&rules, &root, Files::Remote).ask(&call), None);
    assert_eq!(Connection::new(&rules, Path::new("root")).ask(&call), None);
    let mut connection = Connection::new(&rules, &root);
    let mut other = crate::permissions::asked(&call);
    other["params"]["sessionId"] = json!("other");
    assert_eq!(connection.receive(&other), None);
    let load = json!({"sessionId": "other", "cwd": root, "mcpServers": []});
    connection.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "session/load", "params": load}));
    assert!(connection.receive(&other).is_some());
    connection.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {}}));
    assert_eq!(connection.receive(&other), None);
}

proptest! {
    /// An allowed path leads below the directory, as the operating system reads it.
    #[test]
    fn allowed_path_is_below_the_directory(
        parts in prop::collection::vec(
            prop::sample::select(vec!["src", "a", "..", ".", "out", "key", "broken", "root", "", "new", "~", "*"]),
            1..6,
        ),
        is_absolute in any::<bool>(),
    ) {
        let folder = folder();
        let root = folder.path().join("root").canonicalize().unwrap();
        let relative = parts.join("/");
        let path = if is_absolute { format!("{}/{relative}", root.display()) } else { relative };
        if allows(&root, &read(&path)) {
            let mut real = root.join(&path);
            while !real.exists() {
                prop_assert!(!real.is_symlink(), "{}", path);
                real.pop();
            }
            prop_assert!(real.canonicalize().unwrap().starts_with(&root), "{}", path);
        }
    }
}
