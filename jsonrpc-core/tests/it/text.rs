//! Decoding and encoding agree with serde_json.
use crate::json;
use jsonrpc_core::wire::{self, Extra, Raw};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// The data model of serde.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Sample {
    flag: bool,
    small: i8,
    large: u64,
    negative: i64,
    real: f64,
    single: f32,
    character: char,
    text: String,
    optional: Option<Box<Sample>>,
    list: Vec<Kind>,
    pair: (u8, String),
    map: BTreeMap<String, i32>,
    numbered: BTreeMap<u32, ()>,
    any: Value,
    raw: Raw,
    extra: Extra,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Unit,
    One(String),
    Two(u8, bool),
    Named {
        a: f64,
    },
    #[serde(rename = "line\nbreak")]
    Odd,
}

fn any_json() -> impl Strategy<Value = Value> {
    json::value()
        .prop_filter_map("a number may be too large", |text| serde_json::from_str(&text).ok())
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Unit),
        Just(Kind::Odd),
        any::<String>().prop_map(Kind::One),
        any::<(u8, bool)>().prop_map(|(a, b)| Kind::Two(a, b)),
        any::<f64>().prop_map(|a| Kind::Named { a: if a.is_finite() { a } else { -0.0 } }),
    ]
}

fn everything() -> impl Strategy<Value = Sample> {
    let numbers = (
        any::<bool>(),
        any::<i8>(),
        any::<u64>(),
        any::<i64>(),
        -1e300..1e300_f64,
        -1e30..1e30_f32,
    );
    let texts = (
        any::<char>(),
        any::<String>(),
        prop::collection::vec(kind(), 0..4),
        any::<(u8, String)>(),
    );
    let maps = (
        prop::collection::btree_map(any::<String>(), any::<i32>(), 0..3),
        prop::collection::btree_map(any::<u32>(), Just(()), 0..2),
        any_json(),
        any_json(),
    );
    (numbers, texts, maps).prop_map(|(numbers, texts, maps)| {
        let (flag, small, large, negative, real, single) = numbers;
        let (character, text, list, pair) = texts;
        let (map, numbered, any, raw) = maps;
        let raw = Raw::from_value(&raw).expect("JSON");
        let mut extra = Extra::new();
        extra.insert(text.clone(), raw.clone());
        Sample {
            flag,
            small,
            large,
            negative,
            real,
            single,
            character,
            text,
            optional: None,
            list,
            pair,
            map,
            numbered,
            any,
            raw,
            extra,
        }
    })
}

fn same<T: DeserializeOwned + PartialEq + Debug>(text: &str) -> Result<(), TestCaseError> {
    match (wire::decode_serde::<T>(text), serde_json::from_str::<T>(text)) {
        (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours, theirs),
        (Err(_), Err(_)) => {}
        (ours, theirs) => prop_assert!(false, "{:?} and {:?} of {}", ours, theirs, text),
    }
    Ok(())
}

proptest! {
    /// The output equals serde_json's, and decodes as serde_json decodes it, also if damaged.
    #[test]
    fn everything_is_written_and_read_alike(one in everything(), other in everything(), at in any::<prop::sample::Index>(), with in "\\PC?") {
        let whole = Sample { optional: Some(Box::new(other)), ..one };
        let text = serde_json::to_string(&whole).map_err(|error| TestCaseError::fail(error.to_string()))?;
        same::<Sample>(&text)?;
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let at = *at.get(&places);
        let mut damaged = text.clone();
        damaged.remove(at);
        damaged.insert_str(at, &with);
        same::<Sample>(&damaged)?;
        same::<Value>(&damaged)?;
    }

    /// Any JSON is decoded and encoded equally.
    #[test]
    fn json_is_read_and_written_alike(value in any_json()) {
        let text = value.to_string();
        same::<Value>(&text)?;
        same::<Vec<Value>>(&text)?;
        same::<BTreeMap<String, Value>>(&text)?;
        same::<Option<String>>(&text)?;
        let mut written = Vec::new();
        wire::write(&value, &mut written);
        prop_assert_eq!(String::from_utf8_lossy(&written), text);
    }
}

/// Texts at the boundary of JSON, as several types.
#[test]
fn edges_are_read_alike() -> Result<(), TestCaseError> {
    let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let texts = [
        "-0",
        "0",
        "-1",
        "00",
        "01",
        "1.",
        ".5",
        "1e5",
        "-0.0",
        "1E+2",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "1e400",
        "1e39",
        "-3.4028236e38",
        "0.500000029802322387",
        r#""\u00e9\ud83d\ude00""#,
        r#""\ud83d""#,
        r#""\ude00""#,
        r#""\x""#,
        "\"\u{1}\"",
        r#""\/\b\f\n\r\t\"\\""#,
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\":1,}",
        "{\"a\" 1}",
        " [ 1 , 2 ] ",
        "{ \"a\" : 1 }",
        "null",
        "nul",
        "true",
        "[]",
        "{}",
        "",
        " ",
        "1 1",
        "\"",
        r#"{"a\u0062":1}"#,
        r#"{"1":null,"x":null}"#,
        r#""Unit""#,
        r#"{"Unit":null}"#,
        r#"{"One":"a"}"#,
        r#"{"Two":[1,true]}"#,
        r#""line\nbreak""#,
        "\u{feff}1",
    ];
    let texts: Vec<String> =
        texts.iter().map(|text| (*text).to_owned()).chain([126, 127, 128, 200].map(deep)).collect();
    for text in &texts {
        same::<Value>(text)?;
        same::<i8>(text)?;
        same::<u64>(text)?;
        same::<i64>(text)?;
        same::<f64>(text)?;
        same::<f32>(text)?;
        same::<i128>(text)?;
        same::<u128>(text)?;
        same::<String>(text)?;
        same::<Vec<u8>>(text)?;
        same::<()>(text)?;
        for name in [text.clone(), format!("+{text}"), format!(" {text}"), format!("{text}\t")] {
            let object = serde_json::json!({ name: null }).to_string();
            same::<BTreeMap<bool, ()>>(&object)?;
            same::<BTreeMap<i8, ()>>(&object)?;
            same::<BTreeMap<u64, ()>>(&object)?;
            same::<BTreeMap<i128, ()>>(&object)?;
        }
        same::<bool>(text)?;
        same::<Option<char>>(text)?;
        same::<Kind>(text)?;
        same::<Extra>(text)?;
        same::<Raw>(text)?;
        same::<BTreeMap<u64, Value>>(text)?;
        same::<(u8, u8)>(text)?;
    }
    Ok(())
}

/// A value without a JSON number is `null`.
#[test]
fn number_that_json_lacks_is_written_as_null() {
    let mut out = b"before".to_vec();
    wire::write(&f64::NAN, &mut out);
    assert_eq!(out, b"beforenull");
}
