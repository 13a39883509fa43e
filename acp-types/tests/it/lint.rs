//! Each rule reports its violations, and nothing else.
use crate::shapes::cases;
use crate::stored::assert_is_stored;
use acp_types::lint::{Finding, LintLimits, Linter, RULES, Rule, Severity};
use jsonrpc_core::transcript::Direction;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/lint")
}

/// A linter with both schemas created, which takes longer than a conversation.
pub(crate) fn linter() -> Linter {
    static LINTER: LazyLock<Linter> = LazyLock::new(|| {
        let mut linter = Linter::default();
        for version in [1, 2] {
            // It is taken for what its parameters are of.
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":{version},"info":{{"name":"","version":""}}}}}}"#
            );
            linter.handle_line(Direction::Sent, line.as_bytes());
        }
        linter
    });
    LINTER.fresh()
}

/// Parses a conversation with one line for each message: `>` from the client, `<` from the agent.
fn lines(text: &str) -> impl Iterator<Item = (Direction, &str)> {
    text.lines().map(|line| match line.split_at(2) {
        ("> ", line) => (Direction::Sent, line),
        ("< ", line) => (Direction::Received, line),
        _ => panic!("{line}"),
    })
}

fn findings(mut linter: Linter, text: &str) -> Vec<Finding> {
    for (direction, line) in lines(text) {
        linter.handle_line(direction, line.as_bytes());
    }
    linter.finish();
    assert_eq!(linter.missed(), 0);
    std::iter::from_fn(|| linter.poll_finding()).collect()
}

fn fixture(rule: &Rule, name: &str) -> String {
    let path = fixtures().join(rule.code).join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn valid_fixtures_have_no_findings() {
    for rule in RULES {
        // Rules about unstable features have conversations with unstable methods, each of which is
        // a finding.
        let unstable =
            Rule::find("unstable-method").filter(|unstable| *unstable != rule).into_iter();
        let linter = unstable.fold(linter(), Linter::without);
        assert_eq!(findings(linter, &fixture(rule, "valid.txt")), [], "{}", rule.code);
    }
}

#[test]
fn each_rule_reports_its_violations() {
    for rule in RULES {
        let text = fixture(rule, "invalid.txt");
        let found = findings(linter(), &text);
        assert!(found.iter().any(|found| found.rule == rule), "{}: {found:?}", rule.code);
        let found = findings(linter().without(rule), &text);
        assert!(found.iter().all(|found| found.rule != rule), "{}: {found:?}", rule.code);
    }
}

/// The printed findings of all invalid fixtures are those of the list.
#[test]
fn invalid_fixtures_have_the_findings_of_the_list() {
    let mut list = String::new();
    for rule in RULES {
        list.push_str(&format!("{}\n", rule.code));
        for found in findings(linter(), &fixture(rule, "invalid.txt")) {
            list.push_str(&format!("  {found}\n"));
        }
    }
    assert_is_stored(&list, &fixtures().join("findings.txt"));
}

#[test]
fn rules_have_unique_names_documentation_and_fixtures() {
    let codes: BTreeSet<_> = RULES.iter().map(|rule| rule.code).collect();
    assert_eq!(codes.len(), RULES.len());
    let page = include_str!("../../LINT.md");
    for rule in RULES {
        let row = format!("| `{}` | {} | {} | ", rule.code, rule.severity, rule.about);
        assert!(page.contains(&row), "{row}");
        for version in [1, 2] {
            let spec = rule.spec(version);
            assert!(spec.starts_with("https://"), "{spec}");
        }
        assert_eq!(Rule::find(rule.code), Some(rule));
    }
    assert_eq!(page.lines().filter(|line| line.starts_with("| `")).count(), RULES.len());
    let folders =
        fs::read_dir(fixtures()).unwrap().filter(|it| it.as_ref().unwrap().path().is_dir());
    assert_eq!(folders.count(), RULES.len());
    assert!(Severity::Info < Severity::Warning && Severity::Warning < Severity::Error);
}

#[test]
fn limits_hold_and_missed_findings_are_counted() {
    let mut limits = LintLimits::default();
    limits.findings = 3;
    limits.sessions = 1;
    limits.requests = 2;
    let mut linter = Linter::new(limits);
    for number in 0..10 {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"session/prompt","params":{{"sessionId":"s{number}"}}}}"#
        );
        linter.handle_line(Direction::Sent, line.as_bytes());
    }
    linter.finish();
    let found: Vec<_> = std::iter::from_fn(|| linter.poll_finding()).collect();
    assert_eq!(found.len(), 3);
    // Two of each line, one of the kept session, one of each of the two kept requests.
    assert_eq!(linter.missed(), 10 * 2 + 1 + 2 - 3);
}

/// In version 2 a turn ends with a state, which shows whether the agent honoured a cancellation.
#[test]
fn cancellation_is_ignored_in_version_2() {
    let text = fixture(&rule("closed-running"), "valid.txt");
    let [.., _, idle, _] = &text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    let (before, _) = text.split_once("> {\"jsonrpc\":\"2.0\",\"id\":2,").unwrap();
    let cancel = r#"> {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#;
    let honoured = format!("{before}{cancel}\n{idle}\n");
    assert_eq!(findings(linter(), &honoured), []);
    let found = findings(linter(), &honoured.replace("\"cancelled\"", "\"end_turn\""));
    let [found] = &found[..] else { panic!("{found:?}") };
    assert_eq!(found.rule.code, "cancel-ignored");
    assert_eq!(&*found.pointer, "/params/update/stopReason");
    assert_eq!(found.rule.spec(2), "https://agentclientprotocol.com/protocol/v2/prompt-lifecycle");
}

/// Requests of background work stay open when the foreground work is cancelled.
#[test]
fn requests_of_background_work_stay_open() {
    let text = fixture(&rule("request-not-withdrawn"), "invalid.txt");
    let background =
        r#""stopReason":"cancelled","background":[{"type":"tool_call","toolCallId":"c"}]"#;
    let background = text.replace(r#""stopReason":"cancelled""#, background);
    assert_ne!(background, text);
    assert_eq!(findings(linter(), &background), []);
}

/// A replay has one end for each request.
#[test]
fn replay_that_ends_twice_is_reported() {
    let text = fixture(&rule("replay-unfinished"), "valid.txt");
    let end = text.lines().find(|line| line.contains("replay_complete")).unwrap();
    let twice = text.replace(end, &format!("{end}\n{end}"));
    let found = findings(linter(), &twice);
    let [found] = &found[..] else { panic!("{found:?}") };
    assert_eq!(found.rule.code, "replay-end-unasked");
    assert_eq!(found.message, "the replay is already complete");
    assert_eq!(
        found.rule.spec(2),
        "https://agentclientprotocol.com/protocol/v2/session-setup#replay-complete",
    );
}

/// A prompt that failed may be submitted again, as another message.
#[test]
fn failed_prompt_may_be_submitted_again() {
    let text = fixture(&rule("prompt-repeated"), "invalid.txt");
    let refused = text.replace(
        r#"{"jsonrpc":"2.0","id":1,"result":{"messageId":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"busy"}}"#,
    );
    assert_ne!(refused, text);
    assert_eq!(findings(linter(), &refused), []);
}

/// Initial options and skills of an agent are checked against the capabilities.
#[test]
fn setup_needs_its_capabilities() {
    let text = fixture(&rule("state-missing"), "valid.txt");
    let options = r#"{"cwd":"/p","configOptions":[{"configId":"m","type":"id","value":"v"}]}"#;
    let initial = text.replace(r#"{"cwd":"/p"}"#, options);
    let skill =
        r#"{"sessionId":"s","availableCommands":[{"type":"skill","name":"n","description":"d"}]}"#;
    let skill = text.replace(r#"{"sessionId":"s"}"#, skill);
    for (text, pointer) in
        [(initial, "/params/configOptions"), (skill, "/result/availableCommands/0")]
    {
        let found = findings(linter(), &text);
        let [found] = &found[..] else { panic!("{found:?}") };
        assert_eq!(found.rule.code, "not-announced");
        assert_eq!(&*found.pointer, pointer);
    }
}

/// A missing stop reason is reported as missing.
#[test]
fn response_without_a_reason_ignores_a_cancellation() {
    for (code, member) in
        [("cancel-ignored", "stopReason"), ("permission-not-cancelled", "outcome")]
    {
        let text = fixture(&rule(code), "invalid.txt");
        let missing = text.replace(&format!("\"{member}\":\""), "\"other\":\"");
        assert_ne!(text, missing);
        for (text, says_none) in [(text, false), (missing, true)] {
            let found = findings(linter(), &text);
            let found = found.iter().find(|found| found.rule.code == code).unwrap();
            assert!(found.pointer.ends_with(&format!("/{member}")), "{found}");
            assert_eq!(
                found.message.ends_with("expected `cancelled`, got none"),
                says_none,
                "{found}"
            );
        }
    }
}

/// Stopping a session cancels its open requests; later errors are separate findings.
#[test]
fn stopping_a_session_cancels_its_requests() {
    let text = fixture(&rule("cancel-unasked"), "invalid.txt");
    let (before, answer) = text.trim_end().rsplit_once('\n').unwrap();
    for (id, method) in
        [("", "session/cancel"), (r#""id":9,"#, "session/close"), (r#""id":9,"#, "session/delete")]
    {
        let stop = format!(
            r#"> {{"jsonrpc":"2.0",{id}"method":"{method}","params":{{"sessionId":"s"}}}}"#
        );
        let other = stop.replace("\"s\"", "\"other\"");
        for (stop, is_found) in [(stop, false), (other, true)] {
            let found = findings(linter(), &format!("{before}\n{stop}\n{answer}\n"));
            let unasked = found.iter().any(|found| found.rule.code == "cancel-unasked");
            assert_eq!(unasked, is_found, "{stop}");
            assert!(found.iter().all(|found| found.rule.code != "cancel-answer"), "{found:?}");
        }
    }
}

/// Secrets are recognized by the words of their names.
#[test]
fn secrets_are_recognized_by_words() {
    let text = fixture(&rule("form-secret"), "valid.txt");
    for (name, is_secret) in [
        ("user_password", true),
        ("APIKey", true),
        ("clientSecret", true),
        ("private-key", true),
        ("Access Token", true),
        ("token", false),
        ("maxTokens", false),
        ("secretary", false),
        ("monkey", false),
        ("", false),
    ] {
        let found = findings(linter(), &text.replace("keyboard", name));
        let is_found = found.iter().any(|found| found.rule.code == "form-secret");
        assert_eq!(is_found, is_secret, "{name}");
    }
}

fn rule(code: &str) -> Rule {
    *Rule::find(code).unwrap()
}

/// Lines of the fixtures: complete, truncated or repeated.
fn conversation() -> impl Strategy<Value = Vec<(bool, Vec<u8>)>> {
    let all: Vec<_> = RULES
        .iter()
        .flat_map(|rule| [fixture(rule, "valid.txt"), fixture(rule, "invalid.txt")])
        .flat_map(|text| lines(&text).map(|(_, line)| line.as_bytes().to_vec()).collect::<Vec<_>>())
        .collect();
    let line =
        (proptest::sample::select(all), any::<bool>(), any::<proptest::sample::Index>(), 0..8);
    let line = line.prop_map(|(mut line, is_sent, at, change)| {
        let at = at.index(line.len());
        match change {
            0 => line.truncate(at),
            1 => line[at] = b'7',
            2 => line.extend_from_within(..at),
            _ => {}
        }
        (is_sent, line)
    });
    prop::collection::vec(line, 0..40)
}

proptest! {
    #![proptest_config(cases(64))]

    /// For any messages in any order the linter does not panic, and findings are about existing
    /// lines and places.
    #[test]
    fn any_conversation_is_checked(conversation in conversation()) {
        let mut linter = linter();
        for (is_sent, line) in &conversation {
            let direction = if *is_sent { Direction::Sent } else { Direction::Received };
            linter.handle_line(direction, line);
        }
        linter.finish();
        while let Some(found) = linter.poll_finding() {
            let line = usize::try_from(found.line).unwrap();
            prop_assert!((1..=conversation.len()).contains(&line));
            let line = &conversation[line - 1].1;
            if !found.pointer.is_empty()
                && let Ok(value) = serde_json::from_slice::<serde_json::Value>(line)
                && !found.message.contains("got none")
            {
                prop_assert!(value.pointer(&found.pointer).is_some() || found.rule.code.starts_with("invalid-"), "{found}");
            }
        }
    }
}

/// A request for permission and a chunk of content announce a tool call of version 2, and a turn
/// that ends as cancelled leaves none open.
#[test]
fn open_tool_calls_of_version_2_are_those_that_any_message_names() {
    let call = |members: &str| format!(r#"{{"toolCallId":"c"{members}}}"#);
    let permission = |members: &str| {
        let call = call(members);
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{{"sessionId":"s","title":"?","subject":{{"type":"tool_call","toolCall":{call}}},"options":[{{"optionId":"y","name":"Y","kind":"allow_once"}}]}}}}"#
        )
    };
    let update = |update: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#
        )
    };
    let chunk = r#"{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"content","content":{"type":"text","text":"x"}}}"#;
    let table = [
        (update(chunk), "end_turn", 1),
        (update(chunk), "cancelled", 0),
        (permission(""), "end_turn", 1),
        (permission(r#","status":"completed""#), "end_turn", 0),
    ];
    for (line, reason, expected) in table {
        let idle = update(&format!(
            r#"{{"sessionUpdate":"state_update","state":"idle","stopReason":"{reason}"}}"#
        ));
        let running = update(r#"{"sessionUpdate":"state_update","state":"running"}"#);
        let mut linter = linter();
        let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"e","version":"1"}}}"#;
        let initialized = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}}"#;
        linter.handle_line(Direction::Sent, initialize.as_bytes());
        for line in [initialized, &running, &line, &idle] {
            linter.handle_line(Direction::Received, line.as_bytes());
        }
        let findings = std::iter::from_fn(|| linter.poll_finding());
        let open = findings.filter(|finding| finding.rule.code == "tool-call-open").count();
        assert_eq!(open, expected, "{line} {reason}");
    }
}

/// An answer with a version other than 1 and 2 is reported with both versions and the next step.
#[test]
fn answer_with_another_version_is_reported_with_the_next_step() {
    for (requested, answered) in [(1, "7"), (2, "7"), (1, r#""2025-06-18""#), (2, "-1")] {
        let text = format!(
            r#"> {{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":{requested}}}}}
< {{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":{answered}}}}}"#
        );
        let found = findings(linter(), &text);
        let found: Vec<_> = found.iter().filter(|it| it.rule.code == "version-answer").collect();
        let [finding] = found[..] else { panic!("{found:?}") };
        let expected = format!(
            "version {requested} was requested, the answer is {answered}; use a release of the agent that speaks version 1 or 2"
        );
        assert_eq!(finding.message, expected);
    }
}
