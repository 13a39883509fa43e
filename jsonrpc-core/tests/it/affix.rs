//! Starts and ends that successive lines have in common.
use jsonrpc_core::framing::Affix;
use proptest::prelude::*;
use serde_json::{Value, json};

fn learned(parts: &[&str]) -> Affix {
    let mut affix = Affix::default();
    parts.iter().for_each(|part| affix.learn(part.as_bytes()));
    affix
}

fn has_prefix(parts: &[&str], line: &str) -> bool {
    learned(parts).strip_prefix(line.as_bytes()).is_some()
}

fn has_suffix(parts: &[&str], line: &str) -> bool {
    learned(parts).strip_suffix(line.as_bytes()).is_some()
}

#[test]
fn digits_that_have_differed_may_be_any_number() {
    let parts = [r#"{"n":98,"t":""#, r#"{"n":99,"t":""#];
    for (line, expected) in [
        (r#"{"n":100,"t":"b"}"#, true),
        (r#"{"n":0,"t":"b"}"#, true),
        (r#"{"n":,"t":"b"}"#, false),
        (r#"{"n":01,"t":"b"}"#, false),
        (r#"{"n":1e5,"t":"b"}"#, false),
        (r#"{"n":1,"u":"b"}"#, false),
        (r#"{"n":1"#, false),
    ] {
        assert_eq!(has_prefix(&parts, line), expected, "{line}");
    }
    let parts = [r#"","n":"e-1"}"#, r#"","n":"e-25"}"#];
    for (line, expected) in [
        (r#"{"t":"7","n":"e-9"}"#, true),
        (r#"{"t":"7","n":"e-"}"#, false),
        (r#"{"t":"7","n":"e-00"}"#, false),
    ] {
        assert_eq!(has_suffix(&parts, line), expected, "{line}");
    }
}

#[test]
fn digits_at_two_places_are_compared() {
    let parts = [r#"{"n":1,"m":1,"t":""#, r#"{"n":2,"m":2,"t":""#];
    assert!(has_prefix(&parts, parts[1]));
    assert!(!has_prefix(&parts, r#"{"n":3,"m":3,"t":""#));
}

#[test]
fn digits_of_escapes_and_names_are_compared() {
    for (previous, last, other) in [
        (r#"{"n":"\u1234"#, r#"{"n":"\u1235"#, r#"{"n":"\u1"#),
        (r#"{"n":"\uab12"#, r#"{"n":"\uab13"#, r#"{"n":"\uab1"#),
        (r#"{"x1":"#, r#"{"x2":"#, r#"{"x3":"#),
    ] {
        assert!(has_prefix(&[previous, last], last), "{last}");
        assert!(!has_prefix(&[previous, last], other), "{other}");
    }
}

#[test]
fn nothing_is_recognized_before_and_after_learning() {
    let mut affix = Affix::default();
    assert_eq!(affix.strip_prefix(b"a"), None);
    assert_eq!(affix.strip_suffix(b"a"), None);
    affix.learn(b"a1");
    affix.learn(b"a2");
    affix.forget();
    assert_eq!(affix.strip_prefix(b"a2"), None);
    affix.learn(&[b'a'; Affix::MAX_LEN]);
    assert!(affix.strip_prefix(&[b'a'; Affix::MAX_LEN]).is_some());
    affix.learn(&[b'a'; Affix::MAX_LEN + 1]);
    assert_eq!(affix.strip_prefix(&[b'a'; Affix::MAX_LEN + 1]), None);
    affix.learn(b"");
    assert_eq!(affix.strip_prefix(b""), None);
}

/// A line of an agent that numbers its lines, and the place of its text.
fn line(members: &[(String, Value)], numbered: usize, number: u64, text: &str) -> (String, usize) {
    let mut line = String::from("{");
    for (at, (name, value)) in members.iter().enumerate() {
        let value = if at == numbered { json!(number) } else { value.clone() };
        line += &format!("{}:{value},", json!(name));
    }
    line += r#""text":"#;
    let at = line.len() + 1;
    (line + &format!("{}}}", json!(text)), at)
}

fn members() -> impl Strategy<Value = Vec<(String, Value)>> {
    let value = prop_oneof![
        any::<i64>().prop_map(Value::from),
        "[a-z0-9\\\\\"é-]{0,8}".prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
    ];
    prop::collection::vec(("[a-z]{1,3}[0-9]{0,2}", value), 1..5)
}

proptest! {
    /// A line with a learned start is the last line but for its text and one number.
    #[test]
    fn recognized_line_differs_in_a_number(
        members in members(),
        numbered: prop::sample::Index,
        numbers in prop::array::uniform3(any::<u64>()),
        other in members(),
    ) {
        let numbered = numbered.index(members.len());
        let mut affix = Affix::default();
        for number in &numbers[..2] {
            let (line, text) = line(&members, numbered, *number, "first");
            affix.learn(&line.as_bytes()[..text]);
        }
        let (next, text) = line(&members, numbered, numbers[2], "next");
        prop_assert_eq!(affix.strip_prefix(next.as_bytes()), Some(&next.as_bytes()[text..]));
        let (different, text) = line(&other, 0, numbers[2], "next");
        if let Some(rest) = affix.strip_prefix(different.as_bytes()) {
            let value = |line: &str| serde_json::from_str::<Value>(line).unwrap();
            prop_assert_eq!(rest, &different.as_bytes()[text..]);
            prop_assert_eq!(value(&different).as_object().map(|it| it.len()), value(&next).as_object().map(|it| it.len()));
        }
    }

    /// The part that was learned last is recognized, and the rest of the line is returned.
    #[test]
    fn last_part_is_recognized(
        parts in prop::collection::vec("[1-9a-c:]{1,8}", 1..5),
        rest in "[x-z]{0,4}",
    ) {
        let mut affix = Affix::default();
        for part in &parts {
            affix.learn(part.as_bytes());
            let line = format!("{part}{rest}");
            prop_assert_eq!(affix.strip_prefix(line.as_bytes()), Some(rest.as_bytes()));
            let line = format!("{rest}{part}");
            prop_assert_eq!(affix.strip_suffix(line.as_bytes()), Some(rest.as_bytes()));
        }
    }

    /// For any bytes, the rest is the end or the start of the line.
    #[test]
    fn rest_is_a_part_of_the_line(
        parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..4),
        line in prop::collection::vec(any::<u8>(), 0..8),
    ) {
        let mut affix = Affix::default();
        parts.iter().for_each(|part| affix.learn(part));
        prop_assert!(affix.strip_prefix(&line).is_none_or(|rest| line.ends_with(rest)));
        prop_assert!(affix.strip_suffix(&line).is_none_or(|rest| line.starts_with(rest)));
    }
}
