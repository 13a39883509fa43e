//! The member reader agrees with serde_json.
use crate::json;
use jsonrpc_core::{MemberReader, PeekError, array_items, find_member, peek_member};
use proptest::prelude::*;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// An action on a member.
#[derive(Clone, Copy, Debug)]
enum Step {
    Pass,
    Take,
    Enter,
}

/// A part of an object.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Name(String),
    Value(String),
    End,
}

/// Reads as the steps require, cyclically, and records the position after each part. Ends at the
/// end of the outermost object, at an error, or after `most` parts.
fn read(text: &[u8], steps: &[Step], most: usize) -> (Vec<(Part, usize)>, Option<PeekError>) {
    let mut seen = Vec::new();
    let mut depth = 1;
    let mut run = || -> Result<(), PeekError> {
        let mut members = MemberReader::new(text)?;
        for step in steps.iter().cycle() {
            if depth == 0 || seen.len() >= most {
                return Ok(());
            }
            let Some(name) = members.next_name()? else {
                depth -= 1;
                seen.push((Part::End, members.position()));
                continue;
            };
            seen.push((
                Part::Name(String::from_utf8_lossy(&name).into_owned()),
                members.position(),
            ));
            match step {
                Step::Enter if members.enter() => depth += 1,
                Step::Take if seen.len() < most => {
                    let value = members.value()?.to_owned();
                    seen.push((Part::Value(value), members.position()));
                }
                _ => {}
            }
        }
        Ok(())
    };
    let error = run().err();
    (seen, error)
}

/// The members of an object, in order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

/// The same with a parser.
fn parsed(text: &str, steps: &mut impl Iterator<Item = Step>, seen: &mut Vec<Part>) {
    let Members(members) = serde_json::from_str(text).expect("an object");
    for (name, value) in members {
        seen.push(Part::Name(name));
        match steps.next() {
            Some(Step::Enter) if value.get().starts_with('{') => parsed(value.get(), steps, seen),
            Some(Step::Take) => seen.push(Part::Value(value.get().to_owned())),
            _ => {}
        }
    }
    // The end consumes a step as well.
    steps.next();
    seen.push(Part::End);
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(prop::sample::select(vec![Step::Pass, Step::Take, Step::Enter]), 1..12)
}

/// A nested object with some repeated names.
fn object() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        3 => prop::sample::select(vec![r#""a""#, r#""\u0061""#, r#""b\"""#, r#""""#]).prop_map(str::to_owned),
        1 => json::string(),
    ];
    let long = "[a-z ]{0,12}(\\\\\"|\\\\\\\\|\\\\n){0,6}";
    let long =
        prop::collection::vec(long, 0..24).prop_map(|parts| format!("\"{}\"", parts.concat()));
    let value = prop_oneof![2 => json::value(), 1 => long];
    let objects = value.prop_recursive(4, 32, 5, move |inner| {
        json::object(prop::collection::vec((name.clone(), inner), 0..5))
    });
    objects.prop_filter("an object", |text| text.starts_with('{'))
}

#[test]
fn bytes_behind_the_last_member_are_not_checked() -> Result<(), PeekError> {
    let mut members = MemberReader::new(b" {\"a\" : [1, \"]\"] , \"b\":2,\xff")?;
    assert_eq!(members.next_name()?.as_deref(), Some(&b"a"[..]));
    assert_eq!(members.value()?, "[1, \"]\"]");
    assert_eq!(members.value(), Err(PeekError::Syntax { at: 17 }));
    assert_eq!(members.next_name()?.as_deref(), Some(&b"b"[..]));
    assert!(!members.enter());
    assert_eq!(members.value()?, "2");
    assert_eq!(members.position(), 25);
    assert_eq!(members.next_name(), Err(PeekError::Syntax { at: 25 }));
    assert!(MemberReader::new(b"[]").is_err() && MemberReader::new(b"").is_err());
    Ok(())
}

/// Bytes are the same value, before their UTF-8 is validated.
#[test]
fn value_as_bytes_may_be_any_text() -> Result<(), PeekError> {
    let json = b"{\"a\":\"\xff\",\"b\":-1}";
    let mut members = MemberReader::new(json)?;
    members.next_name()?;
    let mut strict = members.clone();
    assert_eq!(strict.value(), Err(PeekError::Utf8 { at: 6 }));
    assert_eq!(members.value_bytes()?, b"\"\xff\"");
    assert_eq!(members.position(), 8);
    assert_eq!(strict.position(), 8);
    members.next_name()?;
    assert_eq!(members.value_bytes()?, b"-1");
    assert!(members.value_bytes().is_err());
    Ok(())
}

#[test]
fn object_that_breaks_off_is_an_error() {
    let text = r#"{"a":{"b":"c\"","d":[{}]},"e":-1}"#;
    for length in 0..text.len() {
        let (_, error) = read(&text.as_bytes()[..length], &[Step::Enter, Step::Take], usize::MAX);
        assert!(error.is_some(), "{}", &text[..length]);
    }
    for text in
        [r#"{"a":1 "b":2}"#, r#"{"a":1,}"#, r#"{,"a":1}"#, r#"{"a" 1}"#, r#"{"a":,"b":1}"#, "{1:2}"]
    {
        let (_, error) = read(text.as_bytes(), &[Step::Pass], usize::MAX);
        assert!(error.is_some(), "{text}");
    }
}

#[test]
fn name_with_quotes_is_one_name() {
    let object = r#"{"a":1,"b":2,"a\":1,\"b":3,"c\\":4,"c\\\"":5}"#;
    assert_eq!(find_member(object, &["a\":1,\"b"]), Some("3"));
    assert_eq!(find_member(object, &["c\\"]), Some("4"));
    assert_eq!(find_member(object, &["c\\\""]), Some("5"));
    assert_eq!(find_member(object, &["a\":1,\"c"]), None);
}

#[test]
fn items_that_break_off_end() {
    let text = r#"[1, "]" ,{"a":[]},[[]]]"#;
    assert_eq!(array_items(text).collect::<Vec<_>>(), ["1", r#""]""#, r#"{"a":[]}"#, "[[]]"]);
    for length in 0..text.len() {
        assert!(array_items(&text[..length]).count() <= 4);
    }
    assert_eq!(
        array_items("[]").chain(array_items(r#"{"a":1}"#)).chain(array_items("")).count(),
        0
    );
}

proptest! {
    /// The items of an array match those of serde_json.
    #[test]
    fn items_are_those_of_a_parser(text in json::value()) {
        let expected: Vec<&RawValue> = serde_json::from_str(&text).unwrap_or_default();
        let expected: Vec<_> = expected.into_iter().map(RawValue::get).collect();
        prop_assert_eq!(array_items(&text).collect::<Vec<_>>(), expected);
    }

    /// For any members skipped, taken or entered, names and values agree with a parser.
    #[test]
    fn members_are_those_of_a_parser(text in object(), steps in steps()) {
        let mut expected = Vec::new();
        parsed(&text, &mut steps.iter().copied().cycle(), &mut expected);
        let (seen, error) = read(text.as_bytes(), &steps, usize::MAX);
        prop_assert_eq!(error, None);
        let seen: Vec<Part> = seen.into_iter().map(|(seen, _)| seen).collect();
        prop_assert_eq!(seen, expected);
    }

    /// The results depend only on the bytes up to the position.
    #[test]
    fn bytes_behind_the_position_make_no_difference(
        text in object(), steps in steps(), other in json::damaged(json::value()), which: prop::sample::Index,
    ) {
        let (seen, _) = read(text.as_bytes(), &steps, usize::MAX);
        let count = which.index(seen.len()) + 1;
        let end = seen[count - 1].1;
        for tail in ["", &other] {
            let changed = [&text.as_bytes()[..end], tail.as_bytes()].concat();
            let (again, error) = read(&changed, &steps, count);
            prop_assert_eq!(error, None);
            prop_assert_eq!(&again[..], &seen[..count]);
        }
    }

    /// Reading ends for any bytes.
    #[test]
    fn reading_ends_for_any_bytes(text in json::damaged(object()), noise in prop::collection::vec(any::<u8>(), 0..40), steps in steps(), at: prop::sample::Index) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len() + 1);
        bytes.splice(at..at, noise);
        let (seen, _) = read(&bytes, &steps, usize::MAX);
        prop_assert!(seen.iter().all(|(_, read)| *read <= bytes.len() + 1));
        prop_assert!(seen.len() <= 2 * bytes.len() + 1);
    }

    /// A member at a path is the first one with each name; without repeated names it is the member
    /// of serde_json.
    #[test]
    fn member_at_a_path_is_the_first(text in object(), path in prop::collection::vec(prop::sample::select(vec!["a", "b\"", ""]), 1..4)) {
        let mut expected = Some(&*text);
        for name in &path {
            let Members(members) = expected.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Members(vec![]));
            expected = members.iter().find(|(other, _)| other == name).map(|(_, value)| value.get());
        }
        prop_assert_eq!(find_member(&text, &path), expected);
    }

    /// A requested member of a validated object is unique.
    #[test]
    fn peeked_member_is_the_only_one(text in prop_oneof![object(), json::value()], name in prop::sample::select(vec!["a", "b\"", "", "c"])) {
        let Members(members) = serde_json::from_str(&text).unwrap_or(Members(vec![]));
        let mut same = members.iter().filter(|(other, _)| other == name).map(|(_, value)| value.get());
        let expected = match (same.next(), same.next()) {
            (_, Some(_)) => Err(PeekError::Duplicate),
            (found, None) => Ok(found),
        };
        prop_assert_eq!(peek_member(&text, name), expected);
    }
}
