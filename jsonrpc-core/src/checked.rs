//! Conversion of validated text to serde_json's raw value without a second validation.
use alloc::boxed::Box;
use alloc::string::String;
use core::iter;
use serde::de::value::{BorrowedStrDeserializer, Error, MapDeserializer};
use serde::de::{Error as _, IntoDeserializer, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use serde_json::value::RawValue;

/// Converts the text of one JSON value, which [`Scanner`](crate::scan::Scanner) has validated,
/// without surrounding white space.
#[inline]
pub(crate) fn raw(checked: &str) -> Option<&RawValue> {
    let raw = <&RawValue>::deserialize(CheckedText(checked));
    // If a version of serde_json uses another protocol, the text is parsed again.
    raw.or_else(|_| serde_json::from_str(checked)).ok()
}

/// Converts the text of one JSON value, which [`write`](crate::wire::write()) has produced.
pub(crate) fn boxed(written: String) -> Result<Box<RawValue>, serde_json::Error> {
    Box::deserialize(CheckedText(written)).map_err(serde_json::Error::custom)
}

/// A raw value requests a newtype with a special name, and accepts a map from that name to text.
struct CheckedText<T>(T);

impl<'de, T: IntoText<'de>> Deserializer<'de> for CheckedText<T> {
    type Error = Error;

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let member = (name, self.0.into_text());
        visitor.visit_map(MapDeserializer::new(iter::once(member)))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("expected to be asked for a raw value"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq
        tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Text that is passed on unchanged: borrowed or owned.
trait IntoText<'de> {
    type Text: IntoDeserializer<'de, Error>;

    fn into_text(self) -> Self::Text;
}

impl<'de> IntoText<'de> for &'de str {
    type Text = BorrowedStrDeserializer<'de, Error>;

    #[inline]
    fn into_text(self) -> Self::Text {
        BorrowedStrDeserializer::new(self)
    }
}

impl<'de> IntoText<'de> for String {
    type Text = String;

    fn into_text(self) -> String {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raw_value_takes_text_that_was_checked() {
        let text = r#"{"a":[1.50]}"#;
        let raw = <&RawValue>::deserialize(CheckedText(text));
        assert!(raw.is_ok_and(|raw| raw.get().as_ptr() == text.as_ptr()));
    }

    #[test]
    fn a_raw_value_takes_memory_that_was_written() {
        let text = String::from(r#"{"a":[1.50]}"#).into_boxed_str().into_string();
        let at = text.as_ptr();
        assert!(boxed(text).is_ok_and(|raw| raw.get().as_ptr() == at));
    }
}
