//! JSON in protobuf: `google.protobuf.Value` and `Struct`.
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Value {
    #[prost(oneof = "Kind", tags = "1, 2, 3, 4, 5, 6")]
    pub(super) kind: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum Kind {
    #[prost(int32, tag = "1")]
    Null(i32),
    #[prost(double, tag = "2")]
    Number(f64),
    #[prost(string, tag = "3")]
    String(String),
    #[prost(bool, tag = "4")]
    Bool(bool),
    #[prost(message, tag = "5")]
    Struct(Struct),
    #[prost(message, tag = "6")]
    List(List),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Struct {
    /// A map on the wire. It is a list here, to keep the order of members.
    #[prost(message, repeated, tag = "1")]
    pub(super) fields: Vec<Entry>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Entry {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(message, optional, tag = "2")]
    pub(super) value: Option<Value>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct List {
    #[prost(message, repeated, tag = "1")]
    values: Vec<Value>,
}

impl From<Kind> for Value {
    fn from(kind: Kind) -> Self {
        Self { kind: Some(kind) }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValueVisitor;

        impl<'de> Visitor<'de> for ValueVisitor {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Kind::Null(0).into())
            }

            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(Kind::Bool(value).into())
            }

            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(Kind::Number(value as f64).into())
            }

            fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
                Ok(Kind::Number(value as f64).into())
            }

            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(Kind::Number(value).into())
            }

            fn visit_str<E>(self, value: &str) -> Result<Value, E> {
                Ok(Kind::String(value.into()).into())
            }

            fn visit_string<E>(self, value: String) -> Result<Value, E> {
                Ok(Kind::String(value).into())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
                let mut list = List::default();
                while let Some(value) = elements.next_element()? {
                    list.values.push(value);
                }
                Ok(Kind::List(list).into())
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Value, A::Error> {
                read_members(members).map(|object| Kind::Struct(object).into())
            }
        }

        deserializer.deserialize_any(ValueVisitor)
    }
}

/// Reads an object as JavaScript does: a repeated member keeps its first position and its last
/// value, and names that are array indices come first, in numeric order.
fn read_members<'de, A: MapAccess<'de>>(mut members: A) -> Result<Struct, A::Error> {
    let mut fields = Vec::<Entry>::new();
    let mut places = BTreeMap::<String, usize>::new();
    while let Some((key, value)) = members.next_entry::<String, Value>()? {
        match places.get(&key).and_then(|place| fields.get_mut(*place)) {
            Some(entry) => entry.value = Some(value),
            None => {
                places.insert(key.clone(), fields.len());
                fields.push(Entry { key, value: Some(value) });
            }
        }
    }
    fields.sort_by_key(|entry| array_index(&entry.key).map_or((true, 0), |index| (false, index)));
    Ok(Struct { fields })
}

fn array_index(name: &str) -> Option<u32> {
    let plain = name == "0" || (!name.starts_with('0') && !name.starts_with('+'));
    name.parse().ok().filter(|index| plain && *index < u32::MAX)
}

impl<'de> Deserialize<'de> for Struct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)?.kind {
            Some(Kind::Struct(object)) => Ok(object),
            _ => Err(de::Error::custom("not an object")),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.kind {
            Some(Kind::Null(_)) => serializer.serialize_unit(),
            Some(Kind::Number(number)) => serialize_number(*number, serializer),
            Some(Kind::String(text)) => serializer.serialize_str(text),
            Some(Kind::Bool(value)) => serializer.serialize_bool(*value),
            Some(Kind::Struct(object)) => object.serialize(serializer),
            Some(Kind::List(list)) => list.values.serialize(serializer),
            None => Err(S::Error::custom("a value has no kind")),
        }
    }
}

/// Writes whole numbers as JavaScript does, without a fraction.
fn serialize_number<S: Serializer>(number: f64, serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let whole = number as i64;
    if !number.is_finite() {
        Err(S::Error::custom("a number is not finite"))
    } else if whole as f64 == number && (-EXACT..=EXACT).contains(&number) {
        serializer.serialize_i64(whole)
    } else {
        serializer.serialize_f64(number)
    }
}

/// Of a repeated key the last value counts, as in any protobuf map.
impl Serialize for Struct {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut last: BTreeMap<&str, &Option<Value>> =
            self.fields.iter().map(|entry| (&*entry.key, &entry.value)).collect();
        let mut object = serializer.serialize_map(None)?;
        for Entry { key, .. } in &self.fields {
            match last.remove(&**key) {
                Some(Some(value)) => object.serialize_entry(key, value)?,
                Some(None) => return Err(S::Error::custom("a member has no value")),
                None => {}
            }
        }
        object.end()
    }
}
