//! Reads a text a second time, to find out where and why a type does not take it, and whether its specification says what
//! to do about that.
use super::decode::DecodeError;
use super::diagnostic::DiagnosticCode;
use super::mark::{self, Recovery};
use super::object::Name;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::{self, Vec};
use core::fmt::{self, Display};
use serde::de::value::MapAccessDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::de::StrRead;
use serde_json::value::RawValue;

/// How deep arrays and objects may lie in each other, which is what `serde_json` takes.
const MAX_DEPTH: usize = 127;

/// Reads `text`, which is JSON, and says why it is no `T`.
pub(super) fn locate<T: DeserializeOwned>(text: &str) -> Result<T, DecodeError> {
    let root = Located { text: text.trim_ascii(), depth: 0 };
    root.settle(T::deserialize(root))
}

/// A value in the text.
#[derive(Clone, Copy)]
struct Located<'de> {
    text: &'de str,
    depth: usize,
}

#[derive(Debug)]
enum LocateError {
    /// Of the value that is being read, in serde's words.
    Here(String),
    /// With a pointer that starts at the value that is being read.
    Located(DecodeError),
}

impl<'de> Located<'de> {
    fn json<T>(
        self,
        read: impl FnOnce(&mut serde_json::Deserializer<StrRead<'de>>) -> serde_json::Result<T>,
    ) -> Result<T, LocateError> {
        let read = read(&mut serde_json::Deserializer::from_str(self.text));
        read.map_err(|error| LocateError::Here(error.to_string()))
    }

    /// Gives an error of this value its form.
    fn settle<T>(self, read: Result<T, LocateError>) -> Result<T, DecodeError> {
        read.map_err(|error| match error {
            LocateError::Here(message) => self.error(&message),
            LocateError::Located(error) => error,
        })
    }

    /// Says a serde message without the value it quotes.
    fn error(self, message: &str) -> DecodeError {
        let message = message.rsplit_once(" at line ").map_or(message, |(message, _)| message);
        let problem = if let Some(name) = message.strip_prefix("missing field ") {
            format!("expected member {name}, got none")
        } else if let Some(name) = message.strip_prefix("duplicate field ") {
            format!("expected one member {name}, got two")
        } else if let Some((_, expected)) = message.rsplit_once(", expected ") {
            format!("expected {expected}, got {}", self.kind())
        } else {
            message.to_owned()
        };
        DecodeError::new(problem)
    }

    fn kind(self) -> &'static str {
        match self.text.as_bytes().first() {
            Some(b'{') => "object",
            Some(b'[') => "array",
            Some(b'"') => "string",
            Some(b't' | b'f') => "boolean",
            Some(b'n') => "null",
            _ => "number",
        }
    }

    fn check_depth(self) -> Result<(), LocateError> {
        if self.depth < MAX_DEPTH {
            return Ok(());
        }
        let problem = format!("expected at most {MAX_DEPTH} levels, got more");
        Err(DecodeError::new(problem).into())
    }

    fn members(self) -> Result<LocatedMembers<'de>, LocateError> {
        self.check_depth()?;
        let Pairs(members) = self.json(|json| Pairs::deserialize(json))?;
        Ok(LocatedMembers { object: self, members: members.into_iter(), value: None })
    }

    fn child(self, text: &'de RawValue) -> Self {
        Self { text: text.get(), depth: self.depth + 1 }
    }
}

macro_rules! forward_to_json {
    ($($method:ident)+) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, LocateError> {
            self.json(|json| json.$method(visitor))
        }
    )+ };
}

impl<'de> Deserializer<'de> for Located<'de> {
    type Error = LocateError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, LocateError> {
        match self.text.as_bytes().first() {
            Some(b'{') => visitor.visit_map(self.members()?),
            Some(b'[') => {
                self.check_depth()?;
                let items: Vec<&RawValue> = self.json(|json| Vec::deserialize(json))?;
                visitor.visit_seq(LocatedItems { array: self, items: items.into_iter(), at: 0 })
            }
            _ => self.json(|json| json.deserialize_any(visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, LocateError> {
        if self.text == "null" { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, LocateError> {
        // A name that no type can have is an agreement: one of ours, or between serde_json and a type of its own.
        if let Some(marks) = name.strip_prefix(mark::PREFIX) {
            let read = self.settle(visitor.visit_newtype_struct(self));
            return read.map_err(|error| mark::recover(marks, self.text, error).into());
        }
        if name.starts_with('$') {
            return self.json(|json| json.deserialize_newtype_struct(name, visitor));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, LocateError> {
        if !self.text.starts_with('{') {
            return self.json(|json| json.deserialize_enum(name, variants, visitor));
        }
        visitor.visit_enum(MapAccessDeserializer::new(self.members()?))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, LocateError> {
        visitor.visit_unit()
    }

    forward_to_json! { deserialize_i128 deserialize_u128 deserialize_f32 deserialize_bytes deserialize_byte_buf }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f64 char str string unit unit_struct seq tuple tuple_struct map struct
        identifier
    }
}

struct LocatedMembers<'de> {
    object: Located<'de>,
    members: vec::IntoIter<(Name<'de>, &'de RawValue)>,
    value: Option<(Box<str>, &'de RawValue)>,
}

impl<'de> MapAccess<'de> for LocatedMembers<'de> {
    type Error = LocateError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, LocateError> {
        let Some((name, value)) = self.members.next() else { return Ok(None) };
        self.value = Some((name.as_str().into(), value));
        seed.deserialize(LocatedName(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, LocateError> {
        let Some((name, value)) = self.value.take() else {
            return Err(de::Error::custom("a member's value was asked for before its name"));
        };
        let child = self.object.child(value);
        let read = child.settle(seed.deserialize(child));
        read.map_err(|error| error.below(&name).into())
    }
}

/// The name of a member, which may stand for a number or a boolean, as it may for `serde_json`.
struct LocatedName<'de>(Name<'de>);

macro_rules! read_number {
    ($($method:ident $visit:ident)+) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, LocateError> {
            match self.0.as_str() {
                // As a value it might have space around it.
                name if name.contains([' ', '\t', '\n', '\r']) => self.deserialize_any(visitor),
                name => match serde_json::from_str(name) {
                    Ok(number) => visitor.$visit(number),
                    Err(_) => self.deserialize_any(visitor),
                },
            }
        }
    )+ };
}

impl<'de> Deserializer<'de> for LocatedName<'de> {
    type Error = LocateError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, LocateError> {
        match self.0 {
            Name::Borrowed(name) => visitor.visit_borrowed_str(name),
            Name::Owned(name) => visitor.visit_str(&name),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, LocateError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, LocateError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, LocateError> {
        visitor.visit_enum(self.0.as_str().into_deserializer())
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

struct LocatedItems<'de> {
    array: Located<'de>,
    items: vec::IntoIter<&'de RawValue>,
    at: usize,
}

impl<'de> SeqAccess<'de> for LocatedItems<'de> {
    type Error = LocateError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, LocateError> {
        let Some(item) = self.items.next() else { return Ok(None) };
        let child = self.array.child(item);
        let at = self.at;
        self.at += 1;
        let read = child.settle(seed.deserialize(child));
        read.map(Some).map_err(|error| error.below(&at.to_string()).into())
    }
}

/// The members of an object in the order they came.
pub(super) struct Pairs<'de>(pub(super) Vec<(Name<'de>, &'de RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;

        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Pairs<'de>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = members.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(PairsVisitor)
    }
}

impl From<DecodeError> for LocateError {
    fn from(error: DecodeError) -> Self {
        Self::Located(error)
    }
}

impl core::error::Error for LocateError {}

impl Display for LocateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here(message) => f.write_str(message),
            Self::Located(error) => error.fmt(f),
        }
    }
}

impl de::Error for LocateError {
    fn custom<T: Display>(message: T) -> Self {
        match Carried::read(&format!("{message:#}")) {
            Some(error) => Self::Located(error),
            None => Self::Here(message.to_string()),
        }
    }
}

/// An error about a part of the text that was kept and read later, on its way through whatever error type its reader has.
///
/// It shows as the error does, but to [`LocateError`] it shows everything.
pub(super) struct Carried(pub(super) DecodeError);

const CARRIED: &str = "\u{1}";

impl Display for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(error) = self;
        if !f.alternate() {
            return error.fmt(f);
        }
        let (pointer, problem) = (error.pointer(), error.problem());
        let (code, at, default) = match error.recovery() {
            Some(Recovery { code, pointer, default }) => (code.as_str(), &**pointer, &**default),
            None => ("", "", ""),
        };
        let lengths = (pointer.len(), at.len(), default.len());
        write!(f, "{CARRIED}{code} {} {} {} ", lengths.0, lengths.1, lengths.2)?;
        write!(f, "{pointer}{at}{default}{problem}")
    }
}

impl Carried {
    fn read(text: &str) -> Option<DecodeError> {
        let mut parts = text.strip_prefix(CARRIED)?.splitn(5, ' ');
        let code = parts.next()?;
        let mut lengths = [0_usize; 3];
        for length in &mut lengths {
            *length = parts.next()?.parse().ok()?;
        }
        let [pointer, at, default] = lengths;
        let (pointer, rest) = parts.next()?.split_at_checked(pointer)?;
        let (at, rest) = rest.split_at_checked(at)?;
        let (default, problem) = rest.split_at_checked(default)?;
        let code = [
            DiagnosticCode::DefaultOnError,
            DiagnosticCode::DefaultOnNull,
            DiagnosticCode::SkippedItem,
        ]
        .into_iter()
        .find(|known| known.as_str() == code);
        let recovery =
            code.map(|code| Recovery { code, pointer: at.into(), default: default.into() });
        Some(DecodeError::new(problem.to_owned()).under(pointer).recoverable(recovery))
    }
}
