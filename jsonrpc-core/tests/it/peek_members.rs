//! Members found on the way are those found one by one.
use crate::json;
use jsonrpc_core::{Found, Kind, Peek, PeekError, peek, peek_member, peek_members};
use proptest::prelude::*;

const PATHS: [&[&str]; 6] = [&["a"], &["b"], &["a", "b"], &["a", "a"], &["b", "a", "b"], &[]];

#[test]
fn members_are_found_whatever_their_order_and_spelling() -> Result<(), PeekError> {
    let line = br#"{"params":{"b":{"\u0061" :{"b": 1.0 }},"c":{"a":7},"\u0061":{"a":[{"a":2}],"d":"}"}},"method":"m"}"#;
    let (peek, [a, b, ab, aa, bab, none]) = peek_members(line, PATHS)?;
    assert_eq!(peek.kind(), Kind::Notification);
    assert_eq!(a?, Some(r#"{"a":[{"a":2}],"d":"}"}"#));
    assert_eq!(b?, Some(r#"{"\u0061" :{"b": 1.0 }}"#));
    assert_eq!((ab?, aa?, bab?, none?), (None, Some(r#"[{"a":2}]"#), Some("1.0"), None));
    Ok(())
}

#[test]
fn a_member_that_comes_twice_is_told_at_its_place() -> Result<(), PeekError> {
    let twice = Err(PeekError::Duplicate);
    let line = br#"{"method":"m","params":{"a":{"b":1},"b":2,"a":{"a":3}}}"#;
    let (_, found) = peek_members(line, PATHS)?;
    assert_eq!(found, [twice, Ok(Some("2")), twice, twice, Ok(None), Ok(None)]);
    let (_, found) = peek_members(br#"{"method":"m","params":{"a":{"b":1,"b":1,"a":0}}}"#, PATHS)?;
    assert_eq!([found[2], found[3]], [twice, Ok(Some("0"))]);
    Ok(())
}

#[test]
fn only_calls_have_members() -> Result<(), PeekError> {
    let (peek, found) = peek_members(br#"{"id":1,"result":{"a":1},"params":{"a":2}}"#, PATHS)?;
    assert_eq!((peek.kind(), peek.params()), (Kind::Response, None));
    assert_eq!(found, [Ok(None); 6]);
    let (_, found) = peek_members(br#"{"id":1,"method":"m","params":[{"a":1}]}"#, PATHS)?;
    assert_eq!(found, [Ok(None); 6]);
    Ok(())
}

#[test]
fn depth_counts_from_the_params() {
    let line = |depth: usize| {
        let (open, close) = (r#"{"a":"#.repeat(depth), "}".repeat(depth));
        format!(r#"{{"method":"m","params":{open}0{close}}}"#)
    };
    for depth in [1, 63, 64, 65, 66, 129, 1023, 1024] {
        let line = line(depth);
        let (_, [found]) = peek_members(line.as_bytes(), [&["a", "a"]]).expect("a message");
        assert_eq!(found.map(|found| found.is_some()), Ok(depth > 1), "{depth}");
    }
    for depth in [1025, 1026, 5000] {
        let line = line(depth);
        assert_eq!(peek(line.as_bytes()).err(), Some(PeekError::TooDeep), "{depth}");
        let found = peek_members(line.as_bytes(), [&["a", "a"]]);
        assert_eq!(found.err(), Some(PeekError::TooDeep), "{depth}");
        assert!(jsonrpc_core::Message::decode(&line).is_ok(), "{depth}");
    }
}

/// All that can be seen.
fn seen<const N: usize>(peeked: Result<(Peek<'_>, [Found<'_>; N]), PeekError>) -> String {
    peeked.map_or_else(
        |error| format!("{error:?}"),
        |(peek, found)| {
            let parts = (peek.kind(), peek.id(), peek.method(), peek.params());
            format!("{parts:?} {:?} {:?} {found:?}", peek.result(), peek.error())
        },
    )
}

/// Objects whose members often have the names that are looked for, and often twice.
fn params() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![r#""a""#, r#""b""#, r#""\u0061""#, r#""c""#, r#""ab""#]);
    let name = name.prop_map(str::to_owned);
    let value = prop_oneof![3 => json::string(), 1 => json::value()];
    value.prop_recursive(4, 24, 4, move |inner| {
        json::object(prop::collection::vec((name.clone(), inner), 0..4))
    })
}

proptest! {
    /// What is found on the way is what is found name by name, and the message is the same.
    #[test]
    fn members_are_those_found_one_by_one(
        text in prop_oneof![4 => params().prop_map(|params| format!(r#"{{"method":"m","params":{params}}}"#)), 1 => json::envelope()],
    ) {
        let paths = PATHS.map(|path| if path.is_empty() { &["c"][..] } else { path });
        match (peek(text.as_bytes()), peek_members(text.as_bytes(), paths)) {
            (Ok(peek), Ok((same, found))) => {
                prop_assert_eq!(seen(Ok((peek, []))), seen(Ok((same, []))));
                for (path, found) in paths.iter().zip(found) {
                    let params = peek.params();
                    let one_by_one = path.iter().try_fold(params, |object, name| peek_member(object.unwrap_or_default(), name));
                    prop_assert_eq!(found, one_by_one, "{:?} of {}", path, text);
                }
            }
            (Err(error), Err(same)) => prop_assert_eq!(error, same),
            (one, other) => prop_assert!(false, "{:?} {:?}", one, other),
        }
    }
}
