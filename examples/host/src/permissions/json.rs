//! JSON values that keep repeated members, so that these are not mistaken for one value.
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A JSON value. Numbers and booleans are not kept.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
    Other,
}

/// A value that an agent states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fact<T> {
    #[default]
    Absent,
    Known(T),
    /// The value is repeated, too long, or of another type.
    Unclear,
}

impl<T> Fact<T> {
    /// Replaces the value, unless the other one is absent.
    pub(crate) fn update(&mut self, other: Self) {
        if !matches!(other, Self::Absent) {
            *self = other;
        }
    }

    pub(crate) fn and_then<U>(self, read: impl FnOnce(T) -> Fact<U>) -> Fact<U> {
        match self {
            Self::Absent => Fact::Absent,
            Self::Known(value) => read(value),
            Self::Unclear => Fact::Unclear,
        }
    }

    pub(crate) fn known(self) -> Option<T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Absent | Self::Unclear => None,
        }
    }
}

impl Json {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Returns a member of an object. A member that is `null` is absent.
    pub(crate) fn get(&self, name: &str) -> Fact<&Self> {
        let Self::Object(members) = self else { return Fact::Unclear };
        let mut found = members.iter().filter(|(key, _)| key == name).map(|(_, value)| value);
        match (found.next(), found.next()) {
            (None | Some(Self::Null), None) => Fact::Absent,
            (Some(value), None) => Fact::Known(value),
            _ => Fact::Unclear,
        }
    }

    pub(crate) fn text(&self) -> Fact<String> {
        match self {
            Self::Text(text) => Fact::Known(text.clone()),
            _ => Fact::Unclear,
        }
    }

    /// Returns the items of a list of texts.
    pub(crate) fn texts(&self) -> Fact<Vec<String>> {
        let Self::List(items) = self else { return Fact::Unclear };
        let texts: Option<Vec<_>> = items.iter().map(|item| item.text().known()).collect();
        texts.map_or(Fact::Unclear, Fact::Known)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Json::Object(members))
    }
}
