//! The law of wire types, on small types that use every part of the vocabulary.
use jsonrpc_core::wire::{self, Extra, Presence};
use jsonrpc_core::{member_union, object, open_enum, open_union, string_id};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

mod errors;

string_id! {
    /// An identifier.
    pub struct Id;
}

open_enum! {
    /// A list of names.
    pub enum Colour {
        /// Red.
        Red = "red",
        /// Blue.
        Blue = "blue",
    }
}

object! {
    /// An object with every kind of member.
    pub struct Item {
        /// Required.
        id: Id = "id",
        /// Required, and a list.
        colours: Vec<Colour> = "colours",
    }
    optional {
        /// Optional.
        amount: f64 = "amount",
        /// Optional, nested.
        inner: Box<Event> = "inner",
    }
    patch {
        /// Patched.
        title: String = "title",
    }
    and "_meta"
}

object! {
    /// An object with a flattened union.
    pub struct Frame {
        /// A sibling of the union's members.
        message: String = "message",
    }
    rest {
        /// The union.
        event: Event,
    }
}

open_union! {
    /// A union.
    pub enum Event by "type" {
        /// A variant with members.
        Item(Box<Item>) = "item",
        /// A variant without known members.
        Nothing(Extra) = "nothing",
    }
}

open_union! {
    /// A union with an optional tag.
    pub enum Server by "type" {
        /// Tagged.
        Frame(Frame) = "frame",
    }
    untagged {
        /// Usually without a tag.
        Item(Item) = "item",
    }
}

open_union! {
    /// A union with a variant that never has a tag.
    pub enum Choice by "type" {
        /// Tagged.
        Frame(Frame) = "frame",
    }
    untagged {
        /// Never tagged.
        Item(Item),
    }
}

member_union! {
    /// A union without a tag.
    pub enum Shape {
        /// Has `id`.
        Item(Item) has "id",
        /// Has `message`.
        Frame(Frame) has "message",
    }
}

/// JSON as a newer peer might send it.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"~/]{1,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

pub(crate) fn unknown_members() -> impl Strategy<Value = Vec<(String, Value)>> {
    prop::collection::btree_map("x[a-z\"]{0,3}", any_json(), 0..4)
        .prop_map(|map| map.into_iter().collect())
}

pub(crate) fn item() -> impl Strategy<Value = Vec<(String, Value)>> {
    let patch = prop_oneof![
        Just(None),
        Just(Some(Value::Null)),
        "\\PC{0,4}".prop_map(|text| Some(Value::from(text)))
    ];
    let colour = prop_oneof![Just("red".to_owned()), "[a-z]{1,5}"];
    (
        "\\PC{0,4}",
        prop::collection::vec(colour, 0..3),
        prop::option::of(prop::option::of(any::<i32>().prop_map(|number| f64::from(number) / 4.0))),
        patch,
        prop::option::of(any_json()),
        unknown_members(),
    )
        .prop_map(|(id, colours, amount, title, meta, unknown)| {
            let known = [
                Some(("id", Value::from(id))),
                Some(("colours", Value::from(colours))),
                amount.map(|amount| ("amount", Value::from(amount))),
                title.map(|title| ("title", title)),
                meta.map(|meta| ("_meta", meta)),
            ];
            known
                .into_iter()
                .flatten()
                .map(|(name, value)| (name.to_owned(), value))
                .chain(unknown)
                .collect()
        })
}

/// An event's members in any order, with the tag at any place.
pub(crate) fn event() -> impl Strategy<Value = Vec<(String, Value)>> {
    let variant = prop_oneof![
        (Just("item".to_owned()), item()),
        (Just("nothing".to_owned()), unknown_members()),
        ("z[a-z]{0,3}", unknown_members()),
    ];
    variant
        .prop_map(|(tag, mut members)| {
            members.push(("type".to_owned(), Value::from(tag)));
            members
        })
        .prop_shuffle()
}

/// Text with the members in the given order, which a `Map` would not keep.
pub(crate) fn text(members: &[(String, Value)]) -> String {
    let members: Vec<_> =
        members.iter().map(|(name, value)| format!("{}:{value}", json!(name))).collect();
    format!("{{{}}}", members.join(","))
}

fn value(members: Vec<(String, Value)>) -> Value {
    Value::Object(members.into_iter().collect::<Map<_, _>>())
}

fn again<T: serde::Serialize + wire::Wire>(text: &str) -> Result<Value, TestCaseError> {
    let typed: T =
        wire::decode(text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
    let written =
        serde_json::to_string(&typed).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let mut direct = Vec::new();
    wire::write(&typed, &mut direct);
    prop_assert_eq!(String::from_utf8_lossy(&direct), written.as_str());
    serde_json::from_str(&written)
        .map_err(|error| TestCaseError::fail(format!("{written}: {error}")))
}

proptest! {
    /// An object round-trips.
    #[test]
    fn objects_round_trip(members in item().prop_shuffle()) {
        prop_assert_eq!(again::<Item>(&text(&members))?, value(members));
    }

    /// A union round-trips, with its tag at any place.
    #[test]
    fn unions_round_trip(members in event()) {
        prop_assert_eq!(again::<Event>(&text(&members))?, value(members));
    }

    /// A flattened union receives the members that the object does not define.
    #[test]
    fn flattened_unions_round_trip(mut members in event(), message in "\\PC{0,4}", at in any::<prop::sample::Index>()) {
        members.insert(at.index(members.len()), ("message".to_owned(), Value::from(message)));
        prop_assert_eq!(again::<Frame>(&text(&members))?, value(members));
    }

    /// A variant with an optional tag keeps a present tag.
    #[test]
    fn untagged_variants_keep_a_tag(mut members in item(), tagged in any::<bool>(), at in any::<prop::sample::Index>()) {
        if tagged {
            members.insert(at.index(members.len()), ("type".to_owned(), Value::from("item")));
        }
        prop_assert_eq!(again::<Server>(&text(&members))?, value(members));
    }

    /// A union by members round-trips, known or not.
    #[test]
    fn member_unions_round_trip(
        members in prop_oneof![item(), unknown_members()].prop_shuffle(),
        framed in prop::option::of(event().prop_filter("`id` comes first", |members| {
            members.iter().all(|(name, _)| name != "id")
        })),
    ) {
        let members = match framed {
            Some(mut members) => {
                members.push(("message".to_owned(), Value::from("hi")));
                members
            }
            None => members,
        };
        prop_assert_eq!(again::<Shape>(&text(&members))?, value(members));
    }

    /// Decoding any text returns a value or an error.
    #[test]
    fn decoding_does_not_panic(text in "[\\[\\]{}:,\"0-9a-z\\\\ ]{0,40}") {
        let _ = wire::decode::<Server>(&text);
        let _ = wire::decode::<Frame>(&text);
    }
}

#[test]
fn recursive_types_do_not_overflow_the_stack() {
    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code, reason = "only errors are looked at")]
    enum DeepTree {
        Deeper(Box<DeepTree>),
        List(Vec<DeepTree>),
    }
    for (open, close) in [(r#"{"Deeper":"#, "}"), (r#"{"List":["#, "]}")] {
        let text = format!("{}7{}", open.repeat(2_000), close.repeat(2_000));
        let error = wire::decode_serde::<DeepTree>(&text).expect_err("too deep");
        assert_eq!(error.problem(), "expected at most 127 levels, got more");
    }
}

#[test]
fn members_select_a_shape() {
    for (text, known) in [
        (r#"{"message":"m","type":"nothing"}"#, true),
        (r#"{"message":"m","id":null,"type":"nothing"}"#, true),
        (r#"{"id":null}"#, false),
        ("{}", false),
    ] {
        let shape = wire::decode::<Shape>(text).expect(text);
        assert_eq!(shape.is_known(), known, "{text}");
    }
    let error = wire::decode::<Shape>(r#"{"colours":[7],"id":"a"}"#).expect_err("a bad item");
    assert_eq!(error.to_string(), "at /colours/0: expected a string, got number");
}

#[test]
fn unnamed_variant_has_no_tag() -> Result<(), Box<dyn std::error::Error>> {
    assert_eq!(Choice::NAMES, ["frame"]);
    let untagged: Choice = wire::decode(r#"{"id":"a","colours":[]}"#)?;
    assert_eq!(untagged.tag(), "");
    assert!(untagged.is_known());
    let unknown: Choice = wire::decode(r#"{"type":"item","id":"a","colours":[]}"#)?;
    assert_eq!(unknown.tag(), "item");
    assert!(!unknown.is_known());
    let null: Choice = wire::decode(r#"{"type":null,"id":"a","colours":[]}"#)?;
    assert_eq!(null, untagged);
    Ok(())
}

/// An optional member that is `null` is `None`, and is encoded as `null` until it has a value.
#[test]
fn null_is_preserved() -> Result<(), Box<dyn std::error::Error>> {
    let text = r#"{"id":"a","colours":[],"amount":null,"_meta":null,"title":null}"#;
    let mut item: Item = wire::decode(text)?;
    assert_eq!(item.amount, None);
    assert_eq!(&item.meta, &None);
    assert_eq!(&item.title, &Presence::Null);
    assert!(item.extra.is_empty());
    assert_eq!(
        serde_json::to_value(&item)?,
        json!({"id":"a","colours":[],"amount":null,"_meta":null,"title":null})
    );
    item.amount = Some(1.5);
    item.title = Presence::Absent;
    assert_eq!(
        serde_json::to_string(&item)?,
        r#"{"id":"a","colours":[],"amount":1.5,"_meta":null}"#
    );
    assert_eq!(item, Item::new("a", []).with_amount(1.5));
    let text = r#"{"type":null,"id":"a","colours":[],"amount":null}"#;
    let choice: Choice = wire::decode(text)?;
    assert_eq!(serde_json::to_value(&choice)?, serde_json::from_str::<Value>(text)?);
    let text = r#"{"type":"item","message":"m","id":"a","colours":[],"inner":null}"#;
    let framed: Frame = wire::decode(text)?;
    assert_eq!(serde_json::to_value(&framed)?, serde_json::from_str::<Value>(text)?);
    Ok(())
}

#[test]
fn meta_is_decoded_on_demand() -> Result<(), Box<dyn std::error::Error>> {
    let item: Item = wire::decode(r#"{"id":"a","colours":[],"_meta":{"a/b":1.50}}"#)?;
    let meta = item.meta.ok_or("no _meta")?;
    assert_eq!(meta.get("a/b").ok_or("no key")?.as_str(), "1.50");
    assert_eq!(meta.get("c"), None);
    let odd: Item = wire::decode(r#"{"id":"a","colours":[],"_meta":"text"}"#)?;
    assert_eq!(odd.meta.ok_or("no _meta")?.get("a"), None);
    Ok(())
}

#[test]
fn optional_members_are_small() {
    assert_eq!(size_of::<Extra>(), size_of::<usize>());
    assert_eq!(size_of::<Option<wire::Meta>>(), size_of::<usize>());
    assert_eq!(size_of::<Id>(), 2 * size_of::<usize>());
}

open_union! {
    /// A union with tags that begin alike.
    pub enum SimilarTags by "type" {
        /// The shorter tag.
        Call(Extra) = "call",
        /// The longer tag.
        Change(Extra) = "call_changed_by_user",
    }
}

open_union! {
    /// A union with a tag that needs escapes.
    pub enum EscapedTag by "type" {
        /// The tag with escapes.
        Quoted(Extra) = "a\"b\n",
    }
}

#[test]
fn tags_are_compared_as_a_whole() -> Result<(), Box<dyn std::error::Error>> {
    for (tag, is_known) in [
        ("call", true),
        ("call_changed_by_user", true),
        ("cal", false),
        ("call_", false),
        ("call_changed_by_us", false),
        ("call_changed_by_user_", false),
        ("call_danger_by_user", false),
        ("a", false),
        ("", false),
    ] {
        let text = format!(r#"{{"type":{},"x":1}}"#, serde_json::to_string(tag)?);
        let union: SimilarTags = wire::decode(&text)?;
        assert_eq!(union.tag(), tag, "{text}");
        assert_eq!(union.is_known(), is_known, "{text}");
        assert_eq!(serde_json::to_string(&union)?, text);
    }
    let escaped: SimilarTags = wire::decode(r#"{"type":"\u0063all"}"#)?;
    assert_eq!(escaped, SimilarTags::Call(Extra::new()));
    let text = r#"{"type":"a\"b\n"}"#;
    let escaped: EscapedTag = wire::decode(text)?;
    assert!(escaped.is_known());
    assert_eq!(serde_json::to_string(&escaped)?.as_str(), text);
    assert!(wire::decode::<EscapedTag>("{\"type\":\"a\"b\n\"}").is_err());
    Ok(())
}
