//! Serde's traits for values: adapters between any format and JSON text, generated once for each
//! format.
//!
//! A value is decoded from the JSON text of the format's value. serde_json provides that text
//! itself, so numbers and white space are unchanged. For other formats, and for values that serde
//! buffers for `flatten` and for tagged and untagged enums, the text is written here.
use super::decode::decode;
use super::serde_reader::TEXT;
use super::value::{View, Wire};
use super::writer::{Entries, Sink};
use crate::{checked, json_text};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::any::type_name;
use core::fmt;
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Decodes a value from any self-describing format.
///
/// # Errors
/// The error of the format, or its value is not a `T`.
pub fn deserialize<'de, T: Wire, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let Text(json) = Text::deserialize(deserializer)?;
    decode(&json).map_err(de::Error::custom)
}

/// The JSON text of the next value of a format.
struct Text<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(TEXT, TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    /// A format that knows the newtype name.
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Text<'de>, A::Error> {
        match members.next_key::<PlainString<'de>>()? {
            Some(PlainString(name)) if name == TEXT => {
                members.next_value::<PlainString<'de>>().map(|PlainString(text)| Text(text))
            }
            first => {
                let mut out = Vec::new();
                let first = first.map(|PlainString(name)| name);
                members_of(first, members, &mut out)?;
                text(out)
            }
        }
    }

    /// Any other format.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<Text<'de>, D::Error> {
        let mut out = Vec::new();
        value.deserialize_any(TextWriter(&mut out))?;
        text(out)
    }
}

fn text<'de, E: de::Error>(out: Vec<u8>) -> Result<Text<'de>, E> {
    String::from_utf8(out).map(|text| Text(text.into())).map_err(E::custom)
}

/// A string, borrowed if the format permits it.
struct PlainString<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for PlainString<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PlainStringVisitor;

        impl<'de> Visitor<'de> for PlainStringVisitor {
            type Value = PlainString<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<PlainString<'de>, E> {
                Ok(PlainString(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<PlainString<'de>, E> {
                self.visit_string(text.into())
            }

            fn visit_string<E>(self, text: String) -> Result<PlainString<'de>, E> {
                Ok(PlainString(Cow::Owned(text)))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<PlainString<'de>, E> {
                self.visit_string(alloc::format!("{number}"))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<PlainString<'de>, E> {
                self.visit_string(alloc::format!("{number}"))
            }
        }

        deserializer.deserialize_any(PlainStringVisitor)
    }
}

/// Writes the next value of a format as JSON text.
struct TextWriter<'o>(&'o mut Vec<u8>);

fn members_of<'de, A: MapAccess<'de>>(
    first: Option<Cow<'de, str>>,
    mut members: A,
    out: &mut Vec<u8>,
) -> Result<(), A::Error> {
    out.push(b'{');
    let mut next = first;
    let mut is_first = true;
    while let Some(name) = next {
        if !core::mem::take(&mut is_first) {
            out.push(b',');
        }
        json_text::string(&name, out);
        out.push(b':');
        members.next_value_seed(TextWriter(out))?;
        next = members.next_key::<PlainString<'de>>()?.map(|PlainString(name)| name);
    }
    out.push(b'}');
    Ok(())
}

impl<'de> DeserializeSeed<'de> for TextWriter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! scalars {
    ($($visit:ident($Scalar:ty) |$value:ident, $out:ident| $write:expr;)+) => { $(
        fn $visit<E>(self, $value: $Scalar) -> Result<(), E> {
            let $out = self.0;
            $write;
            Ok(())
        }
    )+ };
}

impl<'de> Visitor<'de> for TextWriter<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that JSON has")
    }

    scalars! {
        visit_bool(bool) |value, out| super::write(&value, out);
        visit_u64(u64) |value, out| super::write(&value, out);
        visit_i64(i64) |value, out| super::write(&value, out);
        visit_u128(u128) |value, out| json_text::display(value, out);
        visit_i128(i128) |value, out| json_text::display(value, out);
        visit_f64(f64) |value, out| super::write(&value, out);
        visit_str(&str) |value, out| json_text::string(value, out);
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn visit_none<E: de::Error>(self) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let out = self.0;
        out.push(b'[');
        let start = out.len();
        loop {
            let end = out.len();
            if end > start {
                out.push(b',');
            }
            if items.next_element_seed(TextWriter(out))?.is_none() {
                out.truncate(end);
                break;
            }
        }
        out.push(b']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let first = members.next_key::<PlainString<'de>>()?.map(|PlainString(name)| name);
        members_of(first, members, self.0)
    }
}

/// Encodes a value in any format.
///
/// # Errors
/// The error of the format.
pub fn serialize<S: Serializer>(value: &dyn Wire, serializer: S) -> Result<S::Ok, S::Error> {
    match value.view() {
        View::Null => serializer.serialize_none(),
        View::Bool(value) => serializer.serialize_bool(value),
        View::Unsigned(number) => serializer.serialize_u64(number),
        View::Signed(number) => serializer.serialize_i64(number),
        View::Float(number) => serializer.serialize_f64(number),
        View::Str(text) => serializer.serialize_str(text),
        View::Text(json) => serialize_text(&json, serializer),
        View::List(list) => {
            let mut items = serializer.serialize_seq(Some(list.len()))?;
            for item in (0..list.len()).filter_map(|at| list.item(at)) {
                items.serialize_element(&Part(item))?;
            }
            items.end()
        }
        View::Object(object) => {
            let mut members = serializer.serialize_map(None)?;
            let mut written = Ok(());
            let mut each = |name: &str, value: &dyn Wire| {
                if written.is_ok() {
                    written = members.serialize_entry(name, &Part(value));
                }
            };
            let mut entries = Entries::new(object, Sink::Each(&mut each));
            object.write_members(&mut entries);
            entries.end();
            written?;
            members.end()
        }
    }
}

struct Part<'v>(&'v dyn Wire);

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self.0, serializer)
    }
}

/// Returns whether a serializer is one of serde_json's own, which accept JSON text directly. Others
/// would encode the special name instead of the value. A false negative affects only the notation
/// of numbers.
fn takes_text<S>() -> bool {
    let name = type_name::<S>();
    name.starts_with("&mut serde_json::ser::Serializer<")
        || name == "serde_json::value::ser::Serializer"
}

/// Encodes JSON text. A format other than JSON receives its value.
fn serialize_text<S: Serializer>(json: &str, serializer: S) -> Result<S::Ok, S::Error> {
    if takes_text::<S>()
        && let Some(raw) = checked::raw(json)
    {
        return raw.serialize(serializer);
    }
    match serde_json::from_str::<Value>(json) {
        Ok(value) => value.serialize(serializer),
        Err(error) => Err(S::Error::custom(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This detection decides whether numbers keep their notation.
    #[test]
    fn serializers_of_serde_json_are_known() {
        type Text<'o> = &'o mut serde_json::Serializer<&'o mut Vec<u8>>;
        type Pretty<'o> =
            &'o mut serde_json::Serializer<Vec<u8>, serde_json::ser::PrettyFormatter<'o>>;
        assert!(takes_text::<Text<'_>>());
        assert!(takes_text::<Pretty<'_>>());
        assert!(takes_text::<serde_json::value::Serializer>());
        assert!(!takes_text::<serde::ser::Impossible<(), serde_json::Error>>());
    }
}
