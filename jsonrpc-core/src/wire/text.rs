//! Serde's deserializer over the scanner: one pass, with borrowed strings where they have no escapes.
//!
//! It accepts what serde_json accepts, with the same result. Its errors have their place in the text.
use super::reader::{Problem, What};
use super::via_serde::TEXT;
use crate::JsonStr;
use crate::scan::Scanner;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::{self, Display};
use core::iter;
use core::ops::Range;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer, MapDeserializer};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

/// Largest depth, equal to serde_json's.
const MAX_DEPTH: usize = 127;

/// Reads a whole text. An error without a problem means that the text is not JSON.
pub(super) fn read<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Option<Problem>> {
    let mut scanner = Scanner::of_any_depth(text.as_bytes());
    scanner.next_token();
    let start = scanner.at();
    let read = T::deserialize(&mut Text { text, scanner: &mut scanner, depth: 0 });
    let value = read.map_err(|error| error.into_problem(start))?;
    scanner.end().ok_or(None)?;
    Ok(value)
}

struct Text<'s, 'de> {
    text: &'de str,
    scanner: &'s mut Scanner<'de>,
    depth: usize,
}

/// The text is not JSON, or not of the type.
#[derive(Debug)]
struct Unread(Option<Box<Located>>);

#[derive(Debug)]
struct Located {
    what: String,
    /// Whether the kind of the value belongs to the message.
    is_kind: bool,
    /// Start of the value.
    at: Option<usize>,
}

impl Unread {
    const SYNTAX: Self = Self(None);

    #[cold]
    fn new(what: String, is_kind: bool) -> Self {
        Self(Some(Box::new(Located { what, is_kind, at: None })))
    }

    #[cold]
    fn expected(what: &dyn Display) -> Self {
        Self::new(what.to_string(), true)
    }

    /// Sets the place of the error to `at`, unless it has one within that value.
    #[cold]
    fn within(mut self, at: usize) -> Self {
        if let Some(located) = &mut self.0 {
            located.at.get_or_insert(at);
        }
        self
    }

    #[cold]
    fn into_problem(self, start: usize) -> Option<Problem> {
        let Located { what, is_kind, at } = *self.0?;
        let what = if is_kind { What::Other(what) } else { What::Message(what) };
        Some(Problem { at: at.unwrap_or(start), what })
    }
}

impl core::error::Error for Unread {}

impl Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_ref().map_or("expected JSON", |located| &located.what))
    }
}

impl de::Error for Unread {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(message.to_string(), false)
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::expected(&expected)
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::expected(&expected)
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Self::expected(&expected)
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        let names = expected.iter().map(|name| format!("`{name}`")).collect::<alloc::vec::Vec<_>>();
        match names.as_slice() {
            [] => Self::expected(&"no variant"),
            [one] => Self::expected(one),
            [one, other] => Self::expected(&format_args!("{one} or {other}")),
            several => Self::expected(&format_args!("one of {}", several.join(", "))),
        }
    }

    fn missing_field(name: &'static str) -> Self {
        Self::new(format!("expected member `{name}`, got none"), false)
    }

    fn duplicate_field(name: &'static str) -> Self {
        Self::new(format!("expected one member `{name}`, got two"), false)
    }
}

impl<'de> Text<'_, 'de> {
    #[inline(never)]
    fn value(&mut self) -> Result<&'de str, Unread> {
        let place = self.scanner.value().ok_or(Unread::SYNTAX)?;
        self.slice(place)
    }

    #[inline(always)]
    fn slice(&self, place: Range<usize>) -> Result<&'de str, Unread> {
        self.text.get(place).ok_or(Unread::SYNTAX)
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unread> {
        let text = self.value()?;
        if let Ok(number) = text.parse::<u64>() {
            return visitor.visit_u64(number);
        }
        // serde_json treats negative zero as a number with a fraction.
        if text != "-0"
            && let Ok(number) = text.parse::<i64>()
        {
            return visitor.visit_i64(number);
        }
        match text.parse() {
            Ok(number) if f64::is_finite(number) => visitor.visit_f64(number),
            _ => Err(Unread::expected(&"a number in the range of f64")),
        }
    }

    #[inline]
    fn string<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unread> {
        match self.text()? {
            Cow::Owned(text) => visitor.visit_string(text),
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
        }
    }

    #[inline(never)]
    fn text(&mut self) -> Result<Cow<'de, str>, Unread> {
        if self.scanner.next_token() != b'"' {
            return Err(Unread::expected(&"a string"));
        }
        match self.scanner.plain_place() {
            Ok(place) => self.slice(place).map(Cow::Borrowed),
            Err(escape) => match self.scanner.unescaped(escape) {
                Some(text) => Ok(Cow::Owned(text)),
                None => Err(Unread::expected(&"a string of Unicode characters")),
            },
        }
    }

    /// Returns the name of the next member; `None` at the end of the object.
    #[inline(never)]
    fn name(&mut self, is_first: bool) -> Result<Option<Cow<'de, str>>, Unread> {
        let is_any = if is_first { self.scanner.enter() } else { self.scanner.go_on() };
        if !is_any.ok_or(Unread::SYNTAX)? {
            return Ok(None);
        }
        let (place, has_escapes) = self.scanner.name_place().ok_or(Unread::SYNTAX)?;
        let name = self.slice(place)?;
        if !has_escapes {
            return Ok(Some(Cow::Borrowed(name)));
        }
        let name = JsonStr::between_quotes(name).decode();
        name.map(Some).ok_or_else(|| Unread::expected(&"member names of Unicode characters"))
    }

    /// Returns whether another item follows in the array.
    #[inline(never)]
    fn has_item(&mut self, is_first: bool) -> Result<bool, Unread> {
        self.scanner.next_item(is_first).ok_or(Unread::SYNTAX)
    }

    /// Reads the contents of an array or an object.
    #[inline]
    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Unread>,
    ) -> Result<T, Unread> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Unread::new(What::TooDeep.message(""), false));
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    #[inline]
    fn object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unread> {
        self.nested(|text| {
            let mut members = MemberAccess { text, next: Next::First };
            let value = visitor.visit_map(&mut members)?;
            members.end(value)
        })
    }

    fn array<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unread> {
        self.nested(|text| {
            let mut items = Items { text, next: Next::First };
            let value = visitor.visit_seq(&mut items)?;
            match items.next {
                Next::None => Ok(value),
                Next::First | Next::Other
                    if !items.text.has_item(matches!(items.next, Next::First))? =>
                {
                    Ok(value)
                }
                _ => Err(Unread::expected(&"fewer items")),
            }
        })
    }
}

impl<'de> Deserializer<'de> for &mut Text<'_, 'de> {
    type Error = Unread;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        match self.scanner.next_token() {
            b'"' => self.string(visitor),
            b'{' => self.object(visitor),
            b'[' => self.array(visitor),
            b't' | b'f' => match self.value()? {
                "true" => visitor.visit_bool(true),
                _ => visitor.visit_bool(false),
            },
            b'n' => {
                self.value()?;
                visitor.visit_unit()
            }
            _ => self.number(visitor),
        }
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        self.deserialize_any(visitor)
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        self.deserialize_any(visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        self.deserialize_any(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        if self.scanner.next_token() == b'n' {
            self.value()?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unread> {
        self.scanner.next_token();
        if name == TEXT {
            let member = (name, BorrowedStrDeserializer::new(self.value()?));
            return visitor.visit_map(MapDeserializer::new(iter::once(member)));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unread> {
        match self.scanner.next_token() {
            b'"' => visitor.visit_enum(self.text()?.into_deserializer()),
            b'{' => self.nested(|text| {
                let mut members = MemberAccess { text, next: Next::First };
                let value = visitor.visit_enum(MapAccessDeserializer::new(&mut members))?;
                members.end(value)
            }),
            _ => Err(Unread::expected(&"string or map")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        self.value()?;
        visitor.visit_unit()
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        self.wide(|text| text.parse().ok(), |visitor, number| visitor.visit_i128(number), visitor)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        self.wide(|text| text.parse().ok(), |visitor, number| visitor.visit_u128(number), visitor)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        let read = |text: &str| text.contains(['.', 'e', 'E']).then(|| text.parse().ok())?;
        let read = |text: &str| read(text).filter(|number: &f32| number.is_finite());
        self.wide(read, |visitor, number| visitor.visit_f32(number), visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        match self.scanner.next_token() {
            b'"' => match self.text()? {
                Cow::Borrowed(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
                Cow::Owned(text) => visitor.visit_byte_buf(text.into_bytes()),
            },
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        self.deserialize_bytes(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f64 char unit unit_struct seq tuple tuple_struct struct identifier
    }
}

impl<'de> Text<'_, 'de> {
    /// Reads a number of a type other than `f64` and 64-bit integers, if `read` accepts it.
    fn wide<T, V: Visitor<'de>>(
        &mut self,
        read: impl FnOnce(&str) -> Option<T>,
        visit: impl FnOnce(V, T) -> Result<V::Value, Unread>,
        visitor: V,
    ) -> Result<V::Value, Unread> {
        self.scanner.next_token();
        let start = self.scanner.at();
        let text = self.value()?;
        match read(text) {
            Some(number) => visit(visitor, number),
            None => {
                self.scanner.go_to(start);
                self.deserialize_any(visitor)
            }
        }
    }
}

/// The iteration over an array or an object.
enum Next {
    First,
    Other,
    None,
}

struct MemberAccess<'m, 's, 'de> {
    text: &'m mut Text<'s, 'de>,
    next: Next,
}

impl MemberAccess<'_, '_, '_> {
    /// Returns the value unless another member follows.
    fn end<T>(&mut self, value: T) -> Result<T, Unread> {
        let is_more = match self.next {
            Next::None => false,
            Next::First => self.text.name(true)?.is_some(),
            Next::Other => self.text.name(false)?.is_some(),
        };
        if is_more { Err(Unread::expected(&"fewer members")) } else { Ok(value) }
    }
}

impl<'de> MapAccess<'de> for &mut MemberAccess<'_, '_, 'de> {
    type Error = Unread;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Unread> {
        let name = match self.next {
            Next::First => self.text.name(true)?,
            Next::Other => self.text.name(false)?,
            Next::None => None,
        };
        let Some(name) = name else {
            self.next = Next::None;
            return Ok(None);
        };
        self.next = Next::Other;
        seed.deserialize(MemberName(name)).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unread> {
        self.text.scanner.next_token();
        let at = self.text.scanner.at();
        seed.deserialize(&mut *self.text).map_err(|error| error.within(at))
    }
}

/// The name of a member, which may represent a number or a boolean, as in serde_json.
struct MemberName<'de>(Cow<'de, str>);

macro_rules! read_number {
    ($($method:ident $visit:ident)+) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
            match &*self.0 {
                // As a value it might have surrounding white space.
                name if name.contains([' ', '\t', '\n', '\r']) => self.deserialize_any(visitor),
                name => match serde_json::from_str(name) {
                    Ok(number) => visitor.$visit(number),
                    Err(_) => self.deserialize_any(visitor),
                },
            }
        }
    )+ };
}

impl<'de> Deserializer<'de> for MemberName<'de> {
    type Error = Unread;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        match self.0 {
            Cow::Borrowed(name) => visitor.visit_borrowed_str(name),
            Cow::Owned(name) => visitor.visit_string(name),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unread> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unread> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    read_number! {
        deserialize_bool visit_bool
        deserialize_i8 visit_i8 deserialize_i16 visit_i16 deserialize_i32 visit_i32 deserialize_i64 visit_i64
        deserialize_u8 visit_u8 deserialize_u16 visit_u16 deserialize_u32 visit_u32 deserialize_u64 visit_u64
        deserialize_i128 visit_i128 deserialize_u128 visit_u128 deserialize_f32 visit_f32 deserialize_f64 visit_f64
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'i, 's, 'de> {
    text: &'i mut Text<'s, 'de>,
    next: Next,
}

impl<'de> SeqAccess<'de> for &mut Items<'_, '_, 'de> {
    type Error = Unread;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unread> {
        let is_more = match self.next {
            Next::First => self.text.has_item(true)?,
            Next::Other => self.text.has_item(false)?,
            Next::None => false,
        };
        if !is_more {
            self.next = Next::None;
            return Ok(None);
        }
        self.next = Next::Other;
        let at = self.text.scanner.at();
        seed.deserialize(&mut *self.text).map(Some).map_err(|error| error.within(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use alloc::format;
    use alloc::vec::Vec;
    use serde_json::Value;
    use serde_json::value::RawValue;

    #[test]
    fn json_is_read() {
        for text in [
            "null",
            " true ",
            "[false,\n\t1,-1,0,-0,1.5,1e3,-2.5E-3,18446744073709551615,-9223372036854775808]",
            r#"{"a":{"b":[{},[],"",{"c":null}]},"d":"plain","e":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}"#,
            r#"{"\u0061":1,"":2,"é":3}"#,
        ] {
            let expected: Value = serde_json::from_str(text).unwrap();
            assert_eq!(read::<Value>(text).ok(), Some(expected), "{text}");
        }
        let members = read::<BTreeMap<&str, Option<Vec<u8>>>>(r#"{"a":[1,255],"b":null}"#).unwrap();
        assert_eq!(members["a"].as_deref(), Some(&[1, 255][..]));
        assert_eq!(members["b"], None);
        let raw = read::<Vec<&RawValue>>(r#"[ {"a" : 1 } , "x"]"#).unwrap();
        assert_eq!((raw[0].get(), raw[1].get()), (r#"{"a" : 1 }"#, r#""x""#));
    }

    #[test]
    fn text_that_is_not_json_is_rejected() {
        for text in [
            "",
            " ",
            "nul",
            "+1",
            "01",
            "1.",
            ".5",
            "1e",
            "--1",
            "[1,]",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":}",
            "{,}",
            "{\"a\":1,}",
            "{a:1}",
            "\"\u{1}\"",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"a",
            "[",
            "{",
            "1 2",
            "null,",
            "1e999",
        ] {
            assert!(read::<Value>(text).is_err(), "{text}");
        }
        assert!(read::<u8>("256").is_err());
        assert!(read::<&str>("1").is_err());
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read::<Value>(&nested(MAX_DEPTH)).is_ok());
        assert!(read::<Value>(&nested(MAX_DEPTH + 1)).is_err());
    }
}
