//! Wire types inside user types, in serde_json and in another format.
use crate::wire::{
    Choice, Colour, Event, Frame, Id, Item, Server, Shape, event, item, text, unknown_members,
};
use jsonrpc_core::wire::{self, Extra, Meta, Presence, Raw, Wire};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Debug;

#[derive(Debug, Serialize, Deserialize)]
struct FlattenedStruct<T> {
    note: String,
    #[serde(flatten)]
    inner: T,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum InternalTag<T> {
    Inner(T),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value")]
enum AdjacentTag<T> {
    Inner(T),
}

#[derive(Debug, Serialize, Deserialize)]
enum ExternalTag<T> {
    Inner(T),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum UntaggedUnion<T> {
    Number(u64),
    Inner(T),
}

#[derive(Debug, Serialize, Deserialize)]
struct Container<T> {
    boxed: Box<T>,
    optional: Option<T>,
    list: Vec<T>,
    map: BTreeMap<String, T>,
    newtype: Newtype<T>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Newtype<T>(T);

trait AnyWireType: Wire + Serialize + DeserializeOwned + Debug {}

impl<T: Wire + Serialize + DeserializeOwned + Debug> AnyWireType for T {}

fn fail(context: &str, error: impl ToString) -> TestCaseError {
    TestCaseError::fail(format!("{context}: {}", error.to_string()))
}

/// Decodes and encodes the text of a user type; the JSON value is unchanged.
fn same_value<T: Serialize + DeserializeOwned>(text: &str) -> Result<String, TestCaseError> {
    let expected: Value = serde_json::from_str(text).map_err(|error| fail(text, error))?;
    let typed: T = serde_json::from_str(text).map_err(|error| fail(text, error))?;
    let written = serde_json::to_string(&typed).map_err(|error| fail(text, error))?;
    let again: Value = serde_json::from_str(&written).map_err(|error| fail(&written, error))?;
    prop_assert_eq!(&again, &expected, "{}", text);
    // Through a tree, from bytes and from a reader.
    let typed: T = serde_json::from_value(expected.clone()).map_err(|error| fail(text, error))?;
    prop_assert_eq!(serde_json::to_value(typed).map_err(|error| fail(text, error))?, expected);
    let typed: T = serde_json::from_slice(text.as_bytes()).map_err(|error| fail(text, error))?;
    let from_slice = serde_json::to_string(&typed).map_err(|error| fail(text, error))?;
    let typed: T = serde_json::from_reader(text.as_bytes()).map_err(|error| fail(text, error))?;
    let from_reader = serde_json::to_string(&typed).map_err(|error| fail(text, error))?;
    prop_assert_eq!(from_slice.as_str(), written.as_str());
    prop_assert_eq!(from_reader.as_str(), written.as_str());
    Ok(written)
}

/// The law for a value in each composition that accepts any JSON.
fn composes<T: AnyWireType>(json: &str) -> Result<(), TestCaseError> {
    let direct = same_value::<T>(json)?;
    let decoded = wire::decode::<T>(json).map_err(|error| fail(json, error))?;
    let mut written = Vec::new();
    wire::write(&decoded, &mut written);
    prop_assert_eq!(String::from_utf8_lossy(&written), direct.as_str());
    let plain = format!(
        r#"{{"boxed":{direct},"optional":{direct},"list":[{direct},{direct}],"map":{{"a":{direct}}},"newtype":{direct}}}"#
    );
    // Numbers keep their notation where serde does not buffer.
    prop_assert_eq!(&same_value::<Container<T>>(&plain)?, &plain);
    let external = format!(r#"{{"Inner":{direct}}}"#);
    prop_assert_eq!(&same_value::<ExternalTag<T>>(&external)?, &external);
    let adjacent = format!(r#"{{"kind":"Inner","value":{direct}}}"#);
    prop_assert_eq!(&same_value::<AdjacentTag<T>>(&adjacent)?, &adjacent);
    same_value::<AdjacentTag<T>>(&format!(r#"{{"value":{direct},"kind":"Inner"}}"#))?;
    if direct.parse::<u64>().is_err() {
        same_value::<UntaggedUnion<T>>(&direct)?;
    }
    other_format::<T>(&direct)
}

/// The law for an object in the compositions that accept objects.
fn object_composes<T: AnyWireType>(json: &str) -> Result<(), TestCaseError> {
    composes::<T>(json)?;
    let members = json.trim().strip_prefix('{').unwrap_or_default();
    let comma = if members.trim() == "}" { "" } else { "," };
    same_value::<FlattenedStruct<T>>(&format!(r#"{{"note":"n"{comma}{members}"#))?;
    same_value::<InternalTag<T>>(&format!(r#"{{"kind":"Inner"{comma}{members}"#))?;
    Ok(())
}

/// The value in a binary format is the same, except for the notation of numbers.
fn other_format<T: AnyWireType>(json: &str) -> Result<(), TestCaseError> {
    let value: T = wire::decode(json).map_err(|error| fail(json, error))?;
    let mut bytes = Vec::new();
    ciborium::into_writer(&value, &mut bytes).map_err(|error| fail(json, error))?;
    let again: T = ciborium::from_reader(&*bytes).map_err(|error| fail(json, error))?;
    let tree = |value: &T| serde_json::to_value(value).map_err(|error| fail(json, error));
    prop_assert_eq!(tree(&again)?, tree(&value)?, "{}", json);
    Ok(())
}

/// Additional members of a newer peer, with numbers in other notations than Rust's.
fn newer(mut members: Vec<(String, Value)>) -> String {
    members.push(("xNewer".to_owned(), json!({"a": [null, {"b": "\u{e9}\n"}]})));
    let text = text(&members);
    let head = text.strip_suffix('}').unwrap_or_default();
    format!(r#"{head},"xPrice":1.50,"xLarge":18446744073709551616}}"#)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Objects and unions compose, with any additions of a newer peer.
    #[test]
    fn objects_and_unions_compose(item in item().prop_shuffle(), event in event(), unknown in unknown_members()) {
        object_composes::<Item>(&newer(item.clone()))?;
        object_composes::<Box<Item>>(&newer(item.clone()))?;
        object_composes::<Server>(&newer(item.clone()))?;
        object_composes::<Choice>(&newer(item.clone()))?;
        object_composes::<Shape>(&newer(item))?;
        object_composes::<Shape>(&newer(unknown.clone()))?;
        object_composes::<Event>(&newer(event.clone()))?;
        let mut framed = event;
        framed.push(("message".to_owned(), json!("m")));
        object_composes::<Frame>(&newer(framed))?;
        object_composes::<Extra>(&newer(unknown))?;
    }

    /// Any JSON composes, and so do strings.
    #[test]
    fn other_shapes_compose(json in crate::json::value(), text in any::<String>()) {
        if serde_json::from_str::<Value>(&json).is_ok() {
            composes::<Raw>(json.trim())?;
            composes::<Meta>(json.trim())?;
        }
        let text = json!(text).to_string();
        composes::<Id>(&text)?;
        composes::<Colour>(&text)?;
        composes::<Presence<String>>(&text)?;
        composes::<Option<Id>>("null")?;
        composes::<jsonrpc_core::RequestId>(&json!("a").to_string())?;
    }
}

/// An additional member does not change the variant of an untagged enum, and keeps the types of a
/// tagged one readable.
#[test]
fn unknown_member_does_not_change_the_variant() {
    for extra in ["", r#","other":1"#, r#","_meta":{"a":1.50}"#, r#","inner":null"#] {
        let text = format!(r#"{{"id":"c","colours":[]{extra}}}"#);
        let untagged: UntaggedUnion<Item> = serde_json::from_str(&text).expect(&text);
        assert!(matches!(untagged, UntaggedUnion::Inner(_)), "{text}");
        let text = format!(r#"{{"note":"n","id":"c","colours":[]{extra}}}"#);
        let flat: FlattenedStruct<Item> = serde_json::from_str(&text).expect(&text);
        assert_eq!(flat.note, "n");
    }
}

/// Identifiers and names are valid map keys.
#[test]
fn names_are_keys() -> Result<(), Box<dyn std::error::Error>> {
    let text = r#"{"a":1,"b":2}"#;
    let map: BTreeMap<Id, u8> = serde_json::from_str(text)?;
    assert_eq!(serde_json::to_string(&map)?, text);
    let map: BTreeMap<Colour, u8> = serde_json::from_value(json!({"red": 1}))?;
    assert_eq!(serde_json::to_value(&map)?, json!({"red": 1}));
    Ok(())
}

/// The special name of serde_json's raw values is ordinary data if a peer sends it.
#[test]
fn name_of_raw_values_is_a_member() -> Result<(), Box<dyn std::error::Error>> {
    let value = json!({"$serde_json::private::RawValue": "1", "a": 2});
    let extra: Extra = serde_json::from_value(json!({"inner": value}))?;
    assert_eq!(extra.get("inner").map(Raw::as_str), Some(value.to_string().as_str()));
    Ok(())
}
