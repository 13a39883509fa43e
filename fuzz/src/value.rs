//! JSON values with unambiguous pointers.
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::fmt;

/// Returns the value of a text in which no object repeats a name, so that each pointer has one
/// target. Returns `None` if serde_json's values cannot represent the text: size, depth, lone
/// surrogates.
pub(crate) fn value(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().map(|Distinct(value)| value)
}

struct Distinct(Value);

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Distinct;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Distinct, E> {
        Ok(Distinct(Value::Null))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Distinct, E> {
        Ok(Distinct(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Distinct, E> {
        Ok(Distinct(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Distinct, E> {
        Ok(Distinct(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Distinct, E> {
        Ok(Distinct(value.into()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Distinct, E> {
        Ok(Distinct(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Distinct, A::Error> {
        let mut found = Vec::new();
        while let Some(Distinct(item)) = items.next_element()? {
            found.push(item);
        }
        Ok(Distinct(found.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Distinct, A::Error> {
        let mut found = Map::new();
        while let Some((name, Distinct(value))) = members.next_entry::<String, _>()? {
            if found.insert(name, value).is_some() {
                return Err(A::Error::custom("a name comes twice"));
            }
        }
        Ok(Distinct(found.into()))
    }
}
