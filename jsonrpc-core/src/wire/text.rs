//! Reads JSON text into a type with the scanner: one pass, strings borrowed where they have no escapes.
//!
//! It takes what serde_json takes, and makes the same of it, but not all of that: where it gives nothing,
//! [`locate`](super::locate) says whether the text is right after all, and if not, why.
//!
//! What does not hang on the type is in functions of its own that are not inlined, so that each type adds little code.
use super::mark;
use super::object::{ASK, Name};
use crate::json_str::JsonStr;
use crate::scan::Scanner;
use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt::{self, Display};
use core::iter;
use core::ops::Range;
use serde::de::value::{BorrowedStrDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

/// How deep arrays and objects may lie in each other, which is what serde_json takes.
const MAX_DEPTH: usize = 127;

/// Reads a whole text.
pub(super) fn read<'de, T: Deserialize<'de>>(text: &'de str) -> Option<T> {
    let mut scanner = Scanner::of_any_depth(text.as_bytes());
    let value = read_next(text, &mut scanner)?;
    scanner.end()?;
    Some(value)
}

/// Reads the next value of a text.
pub(crate) fn read_next<'de, T: Deserialize<'de>>(
    text: &'de str,
    scanner: &mut Scanner<'de>,
) -> Option<T> {
    scanner.next_token();
    T::deserialize(&mut Text { text, scanner, depth: 0 }).ok()
}

struct Text<'s, 'de> {
    text: &'de str,
    scanner: &'s mut Scanner<'de>,
    depth: usize,
}

/// The text is not JSON, or not of the type, or something that is not read here.
#[derive(Debug)]
struct Unread;

impl core::error::Error for Unread {}

impl Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot be read")
    }
}

impl de::Error for Unread {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

impl<'de> Text<'_, 'de> {
    #[inline(never)]
    fn value(&mut self) -> Result<&'de str, Unread> {
        let place = self.scanner.value().ok_or(Unread)?;
        self.slice(place)
    }

    #[inline(always)]
    fn slice(&self, place: Range<usize>) -> Result<&'de str, Unread> {
        self.text.get(place).ok_or(Unread)
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unread> {
        let text = self.value()?;
        if let Ok(number) = text.parse::<u64>() {
            return visitor.visit_u64(number);
        }
        // Negative zero is a number with a fraction to serde_json.
        if text != "-0"
            && let Ok(number) = text.parse::<i64>()
        {
            return visitor.visit_i64(number);
        }
        visitor.visit_f64(serde_json::from_str(text).map_err(|_| Unread)?)
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
        Ok(match self.scanner.text().ok_or(Unread)? {
            (_, Some(text)) => Cow::Owned(text),
            (place, None) => Cow::Borrowed(self.slice(place)?),
        })
    }

    /// The name of the next member; nothing at the end of the object.
    #[inline(never)]
    fn name(&mut self, is_first: bool) -> Result<Option<Name<'de>>, Unread> {
        let is_any = if is_first { self.scanner.enter() } else { self.scanner.go_on() };
        if !is_any.ok_or(Unread)? {
            return Ok(None);
        }
        let (place, has_escapes) = self.scanner.name_place().ok_or(Unread)?;
        let name = self.slice(place)?;
        if !has_escapes {
            return Ok(Some(Name::Borrowed(name)));
        }
        let name = JsonStr::between_quotes(name).decode().ok_or(Unread)?;
        Ok(Some(Name::Owned(name.into_owned().into())))
    }

    /// The value of the member `tag` of the object whose member `name` is read next, if that is a string without escapes.
    #[inline(never)]
    fn tag(&mut self, name: &str, tag: &str) -> Option<&'de str> {
        let mut scanner = self.scanner.clone();
        if name != tag {
            let found = scanner.find_member(tag);
            self.scanner.remember(&scanner);
            found?;
        }
        if scanner.next_token() != b'"' {
            return None;
        }
        match scanner.text()? {
            (place, None) => self.text.get(place),
            (_, Some(_)) => None,
        }
    }

    /// Whether there is another item in the array.
    #[inline(never)]
    fn has_item(&mut self, is_first: bool) -> Result<bool, Unread> {
        self.scanner.next_item(is_first).ok_or(Unread)
    }

    /// Reads what lies inside an array or an object.
    #[inline]
    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Unread>,
    ) -> Result<T, Unread> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Unread);
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    #[inline]
    fn object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unread> {
        self.nested(|text| {
            let mut members = Members { text, next: Next::First };
            let value = visitor.visit_map(&mut members)?;
            if matches!(members.next, Next::None) { Ok(value) } else { Err(Unread) }
        })
    }

    fn array<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unread> {
        self.nested(|text| {
            let mut items = Items { text, next: Next::First };
            let value = visitor.visit_seq(&mut items)?;
            if matches!(items.next, Next::None) { Ok(value) } else { Err(Unread) }
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
        self.string(visitor)
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        self.string(visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        self.object(visitor)
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
        // A name that no type can have is an agreement: one of ours, or the one for a raw value.
        if name.starts_with('$') && !name.starts_with(mark::PREFIX) {
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
        visitor.visit_enum(self.text()?.into_deserializer())
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        self.value()?;
        visitor.visit_unit()
    }

    // serde_json has rules of its own for these.
    fn deserialize_f32<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unread> {
        Err(Unread)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unread> {
        Err(Unread)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unread> {
        Err(Unread)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f64 char unit unit_struct seq tuple tuple_struct struct identifier
    }
}

/// What comes next in an array or an object.
enum Next {
    First,
    Other,
    None,
}

struct Members<'m, 's, 'de> {
    text: &'m mut Text<'s, 'de>,
    next: Next,
}

impl<'de> MapAccess<'de> for &mut Members<'_, '_, 'de> {
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
        seed.deserialize(MemberName { name, text: &mut *self.text }).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unread> {
        seed.deserialize(&mut *self.text)
    }
}

/// The name of a member, which stands for nothing but itself here.
struct MemberName<'m, 's, 'de> {
    name: Name<'de>,
    /// Where its value comes next.
    text: &'m mut Text<'s, 'de>,
}

impl<'de> Deserializer<'de> for MemberName<'_, '_, 'de> {
    type Error = Unread;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        match self.name {
            Name::Borrowed(name) => visitor.visit_borrowed_str(name),
            Name::Owned(name) => visitor.visit_string(String::from(name)),
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unread> {
        if let (Some(tag), Name::Borrowed(name)) = (name.strip_prefix(ASK), &self.name)
            && let Some(value) = self.text.tag(name, tag)
        {
            return visitor.visit_seq(SeqDeserializer::new(
                [*name, value].map(BorrowedStrDeserializer::new).into_iter(),
            ));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unread> {
        visitor.visit_enum(self.name.as_str().into_deserializer())
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq
        tuple tuple_struct map struct identifier ignored_any
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
        seed.deserialize(&mut *self.text).map(Some)
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

    /// What is read here must not be read by the slow way: that would be right, and nobody would see it.
    #[test]
    fn what_is_json_is_read_in_one_pass() {
        for text in [
            "null",
            " true ",
            "[false,\n\t1,-1,0,-0,1.5,1e3,-2.5E-3,18446744073709551615,-9223372036854775808]",
            r#"{"a":{"b":[{},[],"",{"c":null}]},"d":"plain","e":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}"#,
            r#"{"\u0061":1,"":2,"é":3}"#,
        ] {
            let expected: Value = serde_json::from_str(text).unwrap();
            assert_eq!(read::<Value>(text), Some(expected), "{text}");
        }
        let members = read::<BTreeMap<&str, Option<Vec<u8>>>>(r#"{"a":[1,255],"b":null}"#).unwrap();
        assert_eq!(members["a"].as_deref(), Some(&[1, 255][..]));
        assert_eq!(members["b"], None);
        let raw = read::<Vec<&RawValue>>(r#"[ {"a" : 1 } , "x"]"#).unwrap();
        assert_eq!((raw[0].get(), raw[1].get()), (r#"{"a" : 1 }"#, r#""x""#));
    }

    #[test]
    fn what_is_no_json_or_of_another_type_is_left_to_the_slow_way() {
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
            assert_eq!(read::<Value>(text), None, "{text}");
        }
        assert_eq!(read::<u8>("256"), None);
        assert_eq!(read::<&str>("1"), None);
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read::<Value>(&nested(MAX_DEPTH)).is_some());
        assert!(read::<Value>(&nested(MAX_DEPTH + 1)).is_none());
    }

    /// The first name of an object, its `type` where that is told before its turn, and the values of the members.
    struct Told(String, Option<String>, Vec<Value>);

    impl<'de> Deserialize<'de> for Told {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct ToldVisitor;

            impl<'de> Visitor<'de> for ToldVisitor {
                type Value = Told;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("an object")
                }

                fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Told, A::Error> {
                    use crate::wire::Members;
                    let (name, tag) =
                        members.next_name_and_tag("$wire::tag type")?.expect("a member");
                    let mut values = alloc::vec![MapAccess::next_value(&mut members)?];
                    while let Some((_, value)) = members.next_entry::<de::IgnoredAny, _>()? {
                        values.push(value);
                    }
                    Ok(Told(name.as_str().into(), tag.map(|tag| tag.as_str().into()), values))
                }
            }

            deserializer.deserialize_map(ToldVisitor)
        }
    }

    /// To keep what stands before a tag would be right too, and nobody would see it.
    #[test]
    fn a_tag_is_told_wherever_it_stands() {
        for (text, name, tag) in [
            (r#"{"type":"a","b":1}"#, "type", Some("a")),
            (r#"{"b" : {"type":"no"} , "c":"type", "type" : "a"}"#, "b", Some("a")),
            (r#"{"b":1,"t\u0079pe":"a"}"#, "b", None),
            (r#"{"b":1,"type":"\u0061"}"#, "b", None),
            (r#"{"b":1,"type":null}"#, "b", None),
            (r#"{"b":1}"#, "b", None),
            (r#"{"\u0062":1,"type":"a"}"#, "b", None),
        ] {
            let told = read::<Told>(text).expect(text);
            assert_eq!((&*told.0, told.1.as_deref()), (name, tag), "{text}");
        }
        assert!(read::<Told>(r#"{"b":1,"type":"a","c":}"#).is_none());
    }

    /// Where a long string that was passed over ends is remembered until it is read.
    #[test]
    fn what_was_passed_over_is_read_whole() {
        for text in [
            r#"{"b":"a text of more than sixteen bytes","type":"a"}"#,
            r#"{"b":{"c":"the first of two long texts","d":["and the second, also long"]},"type":"a"}"#,
            r#"{"b":["a long text without escapes","a long text\nwith \"escapes\"","short"],"type":"a"}"#,
            r#"{"b":{"a long name of a member":"and its long value"},"c":"a long text","type":"a"}"#,
            r#"{"b":{"type":"a long text is a tag here"},"type":"another long text is one here"}"#,
            r#"{"b":"a long text, and no tag","c":"a long text, and no tag"}"#,
        ] {
            let Value::Object(expected) = serde_json::from_str(text).expect(text) else {
                panic!("{text} is no object")
            };
            let told = read::<Told>(text).expect(text);
            let expected_tag = expected.get("type").and_then(Value::as_str);
            assert_eq!(told.1.as_deref(), expected_tag, "{text}");
            assert!(told.2.iter().eq(expected.values()), "{text}");
        }
    }
}
