//! Files of rules, and their mistakes.
use host::permissions::{Action, FileError, Rule, read_rules};
use std::fs;
use tempfile::TempDir;

fn read(text: &str) -> Result<Vec<Rule>, FileError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rules.toml");
    fs::write(&path, text).unwrap();
    read_rules(&path)
}

#[test]
fn rules_are_read_in_order() {
    let rules = read(
        "[[permission-rules]]\nkind = 'read'\naction = 'allow'\n\n[[permission-rules]]\naction = 'ask'\n",
    );
    let actions: Vec<_> = rules.unwrap().iter().map(|rule| rule.action).collect();
    assert_eq!(actions, [Action::Allow, Action::Ask]);
}

#[test]
fn written_rules_are_the_read_ones() {
    let rules = read(
        "[[permission-rules]]\nagent = 'a*'\ntool = ['t', 'u']\ntitle = 'x'\nkind = 'read'\npath = 'src/**'\n\
         command = \"git 'a b' *\"\naction = 'reject'\n",
    )
    .unwrap();
    let text = toml::to_string(&rules[0]).unwrap();
    let again: Rule = toml::from_str(&text).unwrap();
    assert_eq!(toml::to_string(&again).unwrap(), text);
    assert_eq!(again.command, rules[0].command);
    assert!(text.contains(r#"command = ["git 'a b' *"]"#), "{text}");
}

#[test]
fn mistake_has_its_place_and_what_is_expected() {
    for (rule, place, expected) in [
        ("", "line 1, column 1", "missing field `action`"),
        ("action = 'deny'", "line 2, column 10", "expected one of `allow`, `ask`, `reject`"),
        (
            "action = 'ask'\nkinds = 'read'",
            "line 3, column 1",
            "unknown field `kinds`, expected one of `agent`, `tool`",
        ),
        (
            "action = 'ask'\nkind = 'reed'",
            "line 3, column 8",
            "an unknown kind `reed`, expected one of read, edit, delete",
        ),
        ("action = 'ask'\nkind = ['read', 'x']", "line 3, column 8", "an unknown kind `x`"),
        (
            "action = 'ask'\nkind = []",
            "line 3, column 8",
            "an empty list, expected at least one entry",
        ),
        (
            "action = 'ask'\nkind = 7",
            "line 3, column 8",
            "integer `7`, expected a string or a list of strings",
        ),
        (
            "action = 'ask'\npath = '/etc/*'",
            "line 3, column 8",
            "expected a glob below the working directory, such as `src/**`",
        ),
        ("action = 'ask'\npath = '../x'", "line 3, column 8", "absolute or not normalized"),
        (
            "action = 'ask'\npath = 'src/['",
            "line 3, column 8",
            "an invalid glob (unclosed character class",
        ),
        ("action = 'ask'\ntool = 'a{'", "line 3, column 8", "such as `mcp__*`"),
        (
            "action = 'ask'\ncommand = ' '",
            "line 3, column 11",
            "expected words, such as `cargo test *`",
        ),
        ("action = 'ask'\ncommand = \"git 'x\"", "line 3, column 11", "open quote"),
    ] {
        let error = read(&format!("[[permission-rules]]\n{rule}\n")).unwrap_err().to_string();
        assert!(error.contains(&format!("rules.toml: {place}: ")), "{rule}: {error}");
        assert!(error.contains(expected), "{rule}: {error}");
    }
    let error = read("rules = []").unwrap_err().to_string();
    assert!(error.contains("unknown field `rules`, expected `permission-rules`"), "{error}");
    let missing = read_rules(std::path::Path::new("/nowhere/rules.toml")).unwrap_err().to_string();
    assert!(missing.starts_with("/nowhere/rules.toml: "), "{missing}");
}
