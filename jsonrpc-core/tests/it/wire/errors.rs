//! Errors of types: their place, and the expected and the found value.
use super::*;
use std::collections::BTreeMap;

#[test]
fn errors_have_a_place_and_expected_and_found_values() {
    let table = [
        (r#"{"type":"item","id":1,"colours":[]}"#, "at /id: expected a string, got number"),
        (r#"{"id":1,"colours":[],"type":"item"}"#, "at /id: expected a string, got number"),
        (
            r#"{"type":"item","id":"a","colours":["red",{}]}"#,
            "at /colours/1: expected a string, got object",
        ),
        (
            r#"{"colours":["red",{}],"id":"a","type":"item"}"#,
            "at /colours/1: expected a string, got object",
        ),
        (r#"{"type":"item","id":"a"}"#, "expected member `colours`, got none"),
        (r#"{"type":"item","id":"a","id":"b","colours":[]}"#, "expected one member `id`, got two"),
        (
            r#"{"type":"item","id":"a","type":"item","colours":[]}"#,
            "expected one member `type`, got two",
        ),
        (r#"{"id":"a"}"#, "expected member `type`, got none"),
        (r#"{"type":7}"#, "at /type: expected a string, got number"),
        (r#"["item"]"#, "expected an object (Event), got array"),
        (
            r#"{"type":"item","id":"a","colours":[],"inner":{"type":"item","colours":[],"id":false}}"#,
            "at /inner/id: expected a string, got boolean",
        ),
        (
            r#"{"inner":{"colours":[],"id":false,"type":"item"},"type":"item","id":"a","colours":[]}"#,
            "at /inner/id: expected a string, got boolean",
        ),
        ("[DONE]", "expected JSON, got expected value at line 1 column 2"),
        (r#"{"type":"#, "expected JSON, got EOF while parsing a value at line 1 column 8"),
    ];
    for (text, expected) in table {
        let error = wire::decode::<Event>(text).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

/// Errors in types of serde have a place, as in types of the macros.
#[test]
fn errors_have_a_place_in_types_of_every_kind() {
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
    enum Key {
        One,
    }
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
    struct MapKey(u8);
    #[derive(Debug, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "only errors are looked at")]
    enum Choice {
        Pair(u8, bool),
        Named { size: u8 },
    }
    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code, reason = "only errors are looked at")]
    struct Settings {
        #[serde(default)]
        numbers: BTreeMap<i32, BTreeMap<MapKey, u8>>,
        #[serde(default)]
        keys: BTreeMap<Key, u8>,
        #[serde(default)]
        choice: Option<Choice>,
        #[serde(default)]
        tuple: Option<(u8, f32, char)>,
        #[serde(default)]
        big: Option<u128>,
        #[serde(default)]
        raw: Option<wire::Raw>,
        #[serde(default)]
        any: Option<Value>,
        last: u8,
    }
    let good = r#""numbers":{"-7":{"3":1}},"keys":{"One":1},"choice":{"pair":[1,true]},"tuple":[1,1.5,"x"],
        "big":340282366920938463463374607431768211455,"raw":[1.50],"any":{"a":[null]}"#;
    let table = [
        (format!(r#"{{{good},"last":300}}"#), "at /last: expected u8, got number"),
        (r#"{"numbers":{"-7":{"3":-1}}}"#.into(), "at /numbers/-7/3: expected u8, got number"),
        (r#"{"keys":{"One":"x"}}"#.into(), "at /keys/One: expected u8, got string"),
        (r#"{"keys":{"Two":1}}"#.into(), "at /keys: expected `One`, got object"),
        (
            r#"{"choice":{"named":{"size":"x"}}}"#.into(),
            "at /choice/named/size: expected u8, got string",
        ),
        (r#"{"tuple":[1,1.5,"xy"]}"#.into(), "at /tuple/2: expected a character, got string"),
        (r#"{"tuple":[1,1.5]}"#.into(), "at /tuple: expected a tuple of size 3, got array"),
        (r#"{"big":-1}"#.into(), "at /big: expected u128, got number"),
        ("{}".into(), "expected member `last`, got none"),
        ("[]".into(), "expected struct Settings with 8 elements, got array"),
    ];
    for (text, expected) in table {
        let error = wire::decode_serde::<Settings>(&text).expect_err(&text);
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

#[test]
fn error_next_to_a_deep_value_is_found() {
    let deep = format!(r#"{{"type":"nothing","deep":{}{}}}"#, "[".repeat(1000), "]".repeat(1000));
    assert!(wire::decode::<Event>(&deep).is_ok());
    let wrong = deep.replace(r#""nothing""#, "7");
    let error = wire::decode::<Event>(&wrong).expect_err("a tag that is a number");
    assert_eq!(error.to_string(), "at /type: expected a string, got number");
}
