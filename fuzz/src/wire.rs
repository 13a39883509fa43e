//! Properties of the wire macros.
use jsonrpc_core::{object, open_enum, open_union, string_id, wire};
use serde_json::Value;

string_id! {
    /// An identifier.
    pub struct Id;
}

open_enum! {
    /// A list of names.
    pub enum Colour {
        /// A colour.
        Red = "red",
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
        amount: i64 = "amount",
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
    /// An object with a union flat in it.
    pub struct Framed {
        /// A sibling of the union's members.
        message: String = "message",
    }
    rest {
        /// The union.
        event: Event,
    }
}

open_union! {
    /// A union with one variant that may lack the tag.
    pub enum Event by "type" {
        /// A variant with a flattened union.
        Framed(Box<Framed>) = "framed",
    }
    untagged {
        /// Usually without a tag.
        Item(Item) = "item",
    }
}

/// A decodable text is encoded as the same JSON value; an error has a place.
pub fn wire(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    match wire::decode::<Event>(text) {
        Ok(event) => {
            let written = serde_json::to_string(&event).expect("an event is JSON");
            let again: Event = wire::decode(&written).expect("what was written can be read");
            assert_eq!(again, event);
            // serde_json's values are less expressive than the text: no size, no depth, no lone
            // surrogate.
            if let Ok(given) = serde_json::from_str::<Value>(text) {
                let written: Value =
                    serde_json::from_str(&written).expect("what was written is JSON");
                assert_eq!(written, given);
            }
        }
        Err(error) => {
            if let Ok(given) = serde_json::from_str::<Value>(text) {
                let parent = error.pointer().rsplit_once('/').map_or("", |(parent, _)| parent);
                assert!(given.pointer(parent).is_some(), "{error}");
            }
        }
    }
}
