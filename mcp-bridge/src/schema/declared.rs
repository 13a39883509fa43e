//! Declaration order of the fields of a type. The JSON Schema of a type lists the fields by name,
//! because `serde_json` sorts members; the `Deserialize` implementation of a struct preserves the
//! order.
use alloc::string::String;
use core::fmt;
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;

/// Returns the fields of the struct at `path` in a `T`, as declared. Returns `None` if there is no
/// struct, or one with flattened fields.
pub(crate) fn fields_at<T: DeserializeOwned>(path: &[String]) -> Option<&'static [&'static str]> {
    let mut fields = None;
    // Deserialization always ends with an error, because there is no value.
    let _end = T::deserialize(Probe { path, fields: &mut fields });
    fields
}

/// A deserializer without a value. It follows a path and records the fields at its end.
struct Probe<'a> {
    path: &'a [String],
    fields: &'a mut Option<&'static [&'static str]>,
}

/// The end of the path is reached.
#[derive(Debug, thiserror::Error)]
#[error("there is no value")]
struct NoValue;

impl Error for NoValue {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = NoValue;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NoValue> {
        Err(NoValue)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoValue> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, NoValue> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NoValue> {
        let Some((first, path)) = self.path.split_first() else {
            *self.fields = Some(fields);
            return Err(NoValue);
        };
        let value = Some(Probe { path, fields: self.fields });
        visitor.visit_map(OneMember { name: Some(first), value })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map enum identifier ignored_any
    }
}

/// A map that contains only the member on the path.
struct OneMember<'a> {
    name: Option<&'a str>,
    value: Option<Probe<'a>>,
}

impl<'de> MapAccess<'de> for OneMember<'_> {
    type Error = NoValue;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, NoValue> {
        let Some(name) = self.name.take() else { return Err(NoValue) };
        let name: StrDeserializer<'_, NoValue> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, NoValue> {
        seed.deserialize(self.value.take().ok_or(NoValue)?)
    }
}
