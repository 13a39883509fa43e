//! What is skimmed is what serde_json reads, as far as somebody asks.
use crate::json;
use jsonrpc_core::{PeekError, Skim};
use proptest::prelude::*;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// What is done with a member.
#[derive(Clone, Copy, Debug)]
enum Step {
    Pass,
    Take,
    Enter,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Name(String),
    Value(String),
    End,
}

/// Skims as the steps say, over and over, and tells after each thing it saw how far it had read. It ends at the end of the
/// outermost object, at an error, or when so much was seen.
fn skimmed(text: &[u8], steps: &[Step], most: usize) -> (Vec<(Seen, usize)>, Option<PeekError>) {
    let (mut seen, mut depth) = (Vec::new(), 1);
    let mut run = || -> Result<(), PeekError> {
        let mut skim = Skim::new(text)?;
        for step in steps.iter().cycle() {
            if depth == 0 || seen.len() >= most {
                return Ok(());
            }
            let Some(name) = skim.next_name()? else {
                depth -= 1;
                seen.push((Seen::End, skim.read()));
                continue;
            };
            seen.push((Seen::Name(String::from_utf8_lossy(&name).into_owned()), skim.read()));
            match step {
                Step::Enter if skim.enter() => depth += 1,
                Step::Take if seen.len() < most => {
                    let value = String::from_utf8_lossy(skim.value()?).into_owned();
                    seen.push((Seen::Value(value), skim.read()));
                }
                _ => {}
            }
        }
        Ok(())
    };
    let error = run().err();
    (seen, error)
}

/// The members of an object, as they come.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Collect)
    }
}

struct Collect;

impl<'de> Visitor<'de> for Collect {
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
fn parsed(text: &str, steps: &mut impl Iterator<Item = Step>, seen: &mut Vec<Seen>) {
    let Members(members) = serde_json::from_str(text).expect("an object");
    for (name, value) in members {
        seen.push(Seen::Name(name));
        match steps.next() {
            Some(Step::Enter) if value.get().starts_with('{') => parsed(value.get(), steps, seen),
            Some(Step::Take) => seen.push(Seen::Value(value.get().to_owned())),
            _ => {}
        }
    }
    // The end takes a step as well.
    steps.next();
    seen.push(Seen::End);
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(prop::sample::select(vec![Step::Pass, Step::Take, Step::Enter]), 1..12)
}

/// An object that is deep and long enough, some of its names the same.
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
fn what_is_not_read_may_be_anything() -> Result<(), PeekError> {
    let mut skim = Skim::new(b" {\"a\" : [1, \"]\"] , \"b\":2,\xff")?;
    assert_eq!(skim.next_name()?.as_deref(), Some(&b"a"[..]));
    assert_eq!(skim.value()?, b"[1, \"]\"]");
    assert_eq!(skim.value(), Err(PeekError::Syntax { at: 17 }));
    assert_eq!(skim.next_name()?.as_deref(), Some(&b"b"[..]));
    assert!(!skim.enter());
    assert_eq!(skim.value()?, b"2");
    assert_eq!(skim.read(), 25);
    assert_eq!(skim.next_name(), Err(PeekError::Syntax { at: 25 }));
    assert!(Skim::new(b"[]").is_err() && Skim::new(b"").is_err());
    Ok(())
}

/// A bracket that is missing is not made up, however the text goes on.
#[test]
fn what_breaks_off_is_an_error() {
    let text = r#"{"a":{"b":"c\"","d":[{}]},"e":-1}"#;
    for length in 0..text.len() {
        let (_, error) =
            skimmed(&text.as_bytes()[..length], &[Step::Enter, Step::Take], usize::MAX);
        assert!(error.is_some(), "{}", &text[..length]);
    }
    for text in
        [r#"{"a":1 "b":2}"#, r#"{"a":1,}"#, r#"{,"a":1}"#, r#"{"a" 1}"#, r#"{"a":,"b":1}"#, "{1:2}"]
    {
        let (_, error) = skimmed(text.as_bytes(), &[Step::Pass], usize::MAX);
        assert!(error.is_some(), "{text}");
    }
}

proptest! {
    /// Whatever is passed over, taken or entered: names and values are those that a parser gives.
    #[test]
    fn members_are_those_of_a_parser(text in object(), steps in steps()) {
        let mut expected = Vec::new();
        parsed(&text, &mut steps.iter().copied().cycle(), &mut expected);
        let (seen, error) = skimmed(text.as_bytes(), &steps, usize::MAX);
        prop_assert_eq!(error, None);
        let seen: Vec<Seen> = seen.into_iter().map(|(seen, _)| seen).collect();
        prop_assert_eq!(seen, expected);
    }

    /// What was seen hangs on the bytes that were read, and on no others.
    #[test]
    fn what_was_not_read_makes_no_difference(
        text in object(), steps in steps(), other in json::damaged(json::value()), which: prop::sample::Index,
    ) {
        let (seen, _) = skimmed(text.as_bytes(), &steps, usize::MAX);
        let count = which.index(seen.len()) + 1;
        let read = seen[count - 1].1;
        for tail in ["", &other] {
            let changed = [&text.as_bytes()[..read], tail.as_bytes()].concat();
            let (again, error) = skimmed(&changed, &steps, count);
            prop_assert_eq!(error, None);
            prop_assert_eq!(&again[..], &seen[..count]);
        }
    }

    /// Bytes of any kind do no harm, and come to an end.
    #[test]
    fn anything_may_come(text in json::damaged(object()), noise in prop::collection::vec(any::<u8>(), 0..40), steps in steps(), at: prop::sample::Index) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len() + 1);
        bytes.splice(at..at, noise);
        let (seen, _) = skimmed(&bytes, &steps, usize::MAX);
        prop_assert!(seen.iter().all(|(_, read)| *read <= bytes.len() + 1));
        prop_assert!(seen.len() <= 2 * bytes.len() + 1);
    }
}
