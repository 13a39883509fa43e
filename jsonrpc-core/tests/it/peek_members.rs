//! Members found on the way are those found one by one; a cache changes nothing.
use crate::json;
use jsonrpc_core::{
    Found, Kind, Peek, PeekCache, PeekError, RequestId, Shape, peek, peek_member, peek_members,
};
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

/// A shape that was learnt from short ids must not let a long one pass.
#[test]
fn a_cache_checks_ids() {
    let mut cache = PeekCache::new([]);
    let line = |id: &str| format!(r#"{{"id":"{id}","method":"m"}}"#);
    for id in ["a", "b", "c"] {
        assert!(cache.peek(line(id).as_bytes()).is_ok());
    }
    let long = line(&"a".repeat(RequestId::MAX_LEN));
    let error = cache.peek(long.as_bytes()).map(|(peek, [])| peek.kind());
    assert_eq!(error, Err(PeekError::Shape(Shape::Id)));
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

/// A text with what stands between two of its quotes replaced, each time by something else.
fn variants() -> impl Strategy<Value = Vec<String>> {
    let call = params().prop_map(|params| {
        format!(r#"{{"jsonrpc":"2.0","id":"q","method":"m","params":{params},"more":"x"}}"#)
    });
    let content = prop_oneof![
        6 => "[a-z ]{0,20}",
        1 => json::string().prop_map(|text| text[1..text.len() - 1].to_owned()),
        1 => "[a-z\"\\\\\n\u{1}é:,{}]{0,8}",
    ];
    let text = prop_oneof![2 => call, 1 => json::envelope()];
    (text, any::<prop::sample::Index>(), prop::collection::vec(content, 1..5)).prop_map(
        |(text, which, contents)| {
            let quotes: Vec<usize> = text.match_indices('"').map(|(at, _)| at).collect();
            let pairs: Vec<_> = quotes.windows(2).map(|pair| (pair[0] + 1, pair[1])).collect();
            let Some((start, end)) = pairs.get(which.index(pairs.len().max(1))) else {
                return vec![text];
            };
            let line = |content| format!("{}{content}{}", &text[..*start], &text[*end..]);
            contents.into_iter().map(line).collect()
        },
    )
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

    /// A cache gives what peeking gives, whatever came before.
    #[test]
    fn a_cache_changes_nothing(
        variants in prop::collection::vec(variants(), 1..4),
        order in prop::collection::vec(any::<prop::sample::Index>(), 4..30),
        damaged in json::damaged(json::envelope()),
    ) {
        let lines: Vec<&String> = variants.iter().flatten().chain([&damaged]).collect();
        let mut cache = PeekCache::new(PATHS);
        for which in order {
            let line = lines[which.index(lines.len())].as_bytes();
            prop_assert_eq!(seen(cache.peek(line)), seen(peek_members(line, PATHS)));
            // Nothing of it hangs on the bytes being text.
            let cut = &line[..line.len() - line.len().min(1)];
            prop_assert_eq!(seen(cache.peek(cut)), seen(peek_members(cut, PATHS)));
        }
    }
}
