//! Serde's deserializer over [`ValueReader`], for types with serde's traits.
//!
//! It accepts what serde_json accepts, with the same result, and borrows strings without escapes.
use super::problem::{Fault, Problem, ProblemKind};
use super::reader::ValueReader;
use super::walk::Walk;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use core::fmt::{self, Display};
use core::iter;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer, MapDeserializer};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

/// The newtype name by which a type requests the text of a value from serde_json's formats.
pub(super) const TEXT: &str = "$serde_json::private::RawValue";

/// Reads the next value as a type with serde's traits.
///
/// # Errors
/// The value is not a `T`.
pub fn read_serde<'de, T: Deserialize<'de>>(reader: &mut ValueReader<'de>) -> Result<T, Fault> {
    reader.skips_items = false;
    reader.next_byte();
    let start = reader.last;
    let depth = reader.depth;
    T::deserialize(Value(reader)).map_err(|error| {
        error.locate(reader, start);
        reader.depth = depth;
        reader.go_behind(start);
        Fault(())
    })
}

/// The next value of the text.
struct Value<'r, 'de>(&'r mut ValueReader<'de>);

/// The error of a type. It is empty if the reader has the reason and the place.
#[derive(Debug)]
struct SerdeError(Option<Box<ProblemKind>>);

impl SerdeError {
    #[cold]
    fn new(what: ProblemKind) -> Self {
        Self(Some(Box::new(what)))
    }

    #[cold]
    fn expected(what: &dyn Display) -> Self {
        Self::new(ProblemKind::Other(what.to_string()))
    }

    /// Moves the reason to the reader, for the value at `at`.
    #[cold]
    fn locate(self, reader: &mut ValueReader<'_>, at: usize) -> Self {
        if let Some(what) = self.0 {
            reader.problem = Some(Problem { at, what: *what });
        }
        Self(None)
    }
}

impl From<Fault> for SerdeError {
    fn from(_: Fault) -> Self {
        Self(None)
    }
}

impl core::error::Error for SerdeError {}

impl Display for SerdeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value is invalid")
    }
}

impl de::Error for SerdeError {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(ProblemKind::Message(message.to_string()))
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
        Self::new(ProblemKind::Missing(name))
    }

    fn duplicate_field(name: &'static str) -> Self {
        Self::new(ProblemKind::Twice(name))
    }
}

impl<'de> Value<'_, 'de> {
    /// Reads a number. `float` parses one that is no 64-bit integer.
    fn number<V: Visitor<'de>>(
        self,
        visitor: V,
        float: fn(&str) -> Option<f64>,
    ) -> Result<V::Value, SerdeError> {
        let text = self.0.number("a value")?;
        if let Ok(number) = text.parse::<u64>() {
            return visitor.visit_u64(number);
        }
        if let Ok(number) = text.parse::<i64>() {
            return visitor.visit_i64(number);
        }
        match float(text).filter(|number| number.is_finite()) {
            Some(number) => visitor.visit_f64(number),
            None => Err(self.0.invalid("a number in the range of its type").into()),
        }
    }

    fn object<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        let mut members = MemberAccess::enter(self.0)?;
        let value = visitor.visit_map(&mut members)?;
        members.end(value)
    }

    fn array<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        self.0.enter()?;
        let mut items = Items { reader: self.0, is_first: true, is_at_end: false };
        let value = visitor.visit_seq(&mut items)?;
        if items.has_next()? {
            return Err(SerdeError::expected(&"fewer items"));
        }
        self.0.depth -= 1;
        Ok(value)
    }
}

impl<'de> Deserializer<'de> for Value<'_, 'de> {
    type Error = SerdeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        match self.0.next_byte() {
            b'"' => match self.0.string()? {
                Cow::Owned(text) => visitor.visit_string(text),
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            },
            b'{' => self.object(visitor),
            b'[' => self.array(visitor),
            b't' | b'f' => visitor.visit_bool(self.0.text()? == "true"),
            b'n' => {
                self.0.null()?;
                visitor.visit_unit()
            }
            _ => self.number(visitor, |text| text.parse().ok()),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        if self.0.null()? { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        if name == TEXT {
            let member = (name, BorrowedStrDeserializer::new(self.0.text()?));
            return visitor.visit_map(MapDeserializer::new(iter::once(member)));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        match self.0.next_byte() {
            b'"' => visitor.visit_enum(self.0.string()?.into_deserializer()),
            b'{' => {
                let mut members = MemberAccess::enter(self.0)?;
                let value = visitor.visit_enum(MapAccessDeserializer::new(&mut members))?;
                members.end(value)
            }
            _ => Err(SerdeError::expected(&"string or map")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        self.0.text()?;
        visitor.visit_unit()
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        match self.0.text()?.parse() {
            Ok(number) => visitor.visit_i128(number),
            Err(_) => Err(self.0.invalid("i128").into()),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        match self.0.text()?.parse() {
            Ok(number) => visitor.visit_u128(number),
            Err(_) => Err(self.0.invalid("u128").into()),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        self.number(visitor, |text| text.parse::<f32>().ok().map(f64::from))
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        if self.0.next_byte() != b'"' {
            return self.deserialize_any(visitor);
        }
        match self.0.string()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
            Cow::Owned(text) => visitor.visit_byte_buf(text.into_bytes()),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        self.deserialize_bytes(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f64 char str string unit unit_struct seq tuple tuple_struct map struct
        identifier
    }
}

/// The members of an object. The walk is absent after the last one.
struct MemberAccess<'r, 'de> {
    reader: &'r mut ValueReader<'de>,
    walk: Option<Walk>,
}

impl<'r, 'de> MemberAccess<'r, 'de> {
    fn enter(reader: &'r mut ValueReader<'de>) -> Result<Self, SerdeError> {
        reader.enter()?;
        Ok(Self { reader, walk: Some(Walk::at(true)) })
    }

    fn next(&mut self) -> Result<Option<Cow<'de, str>>, Fault> {
        let Some(walk) = &mut self.walk else { return Ok(None) };
        let name = walk.next(self.reader)?;
        if name.is_none() {
            self.walk = None;
        }
        Ok(name)
    }

    /// Leaves the object with a value, unless another member follows.
    fn end<T>(&mut self, value: T) -> Result<T, SerdeError> {
        if self.next()?.is_some() {
            return Err(SerdeError::expected(&"fewer members"));
        }
        self.reader.depth -= 1;
        Ok(value)
    }
}

impl<'de> MapAccess<'de> for &mut MemberAccess<'_, 'de> {
    type Error = SerdeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, SerdeError> {
        self.next()?.map(|name| seed.deserialize(MemberName(name))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, SerdeError> {
        value(self.reader, seed)
    }
}

/// The items of an array.
struct Items<'r, 'de> {
    reader: &'r mut ValueReader<'de>,
    is_first: bool,
    is_at_end: bool,
}

impl Items<'_, '_> {
    fn has_next(&mut self) -> Result<bool, Fault> {
        if self.is_at_end {
            return Ok(false);
        }
        match self.reader.scanner.next_item(core::mem::take(&mut self.is_first)) {
            Some(is_more) => self.is_at_end = !is_more,
            None => return Err(self.reader.broken()),
        }
        Ok(!self.is_at_end)
    }
}

impl<'de> SeqAccess<'de> for &mut Items<'_, 'de> {
    type Error = SerdeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, SerdeError> {
        if self.has_next()? { value(self.reader, seed).map(Some) } else { Ok(None) }
    }
}

/// Reads a value within another one.
fn value<'de, S: DeserializeSeed<'de>>(
    reader: &mut ValueReader<'de>,
    seed: S,
) -> Result<S::Value, SerdeError> {
    reader.next_byte();
    let at = reader.last;
    seed.deserialize(Value(reader)).map_err(|error| error.locate(reader, at))
}

/// The name of a member, which may represent a number or a boolean, as in serde_json.
struct MemberName<'de>(Cow<'de, str>);
macro_rules! read_number {
    ($($method:ident $visit:ident)+) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
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
    type Error = SerdeError;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        match self.0 {
            Cow::Borrowed(name) => visitor.visit_borrowed_str(name),
            Cow::Owned(name) => visitor.visit_string(name),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
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
