//! Writes values as JSON text into a buffer of the caller's: what serde_json writes, without memory of its own.
//!
//! Where it fails, serde_json writes the value after all, or says why it has no JSON form.
use crate::encode;
use alloc::vec::Vec;
use core::fmt::{self, Display};
use serde::ser::{
    self, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct,
    SerializeStructVariant, SerializeTuple, SerializeTupleStruct, SerializeTupleVariant,
    Serializer,
};

/// Appends `value` as JSON text, without line ends or other space of its own.
///
/// ```
/// let mut out = b"numbers: ".to_vec();
/// jsonrpc_core::wire::write(&[Some(1), None], &mut out)?;
/// assert_eq!(out, b"numbers: [1,null]");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// `value` has no JSON form: a map whose keys are not strings, or its `Serialize` failed. Then nothing is appended.
pub fn write<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let start = out.len();
    if value.serialize(Writer { out }).is_err() {
        out.truncate(start);
        out.extend_from_slice(&serde_json::to_vec(value)?);
    }
    Ok(())
}

/// The struct and the member that stand for a raw value: an agreement between serde_json and a type of its own.
const RAW: &str = "$serde_json::private::RawValue";

struct Writer<'o> {
    out: &'o mut Vec<u8>,
}

/// Serde_json has rules of its own for the value, or it has no JSON form.
#[derive(Debug)]
struct Unwritten;

impl core::error::Error for Unwritten {}

impl Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot be written")
    }
}

impl ser::Error for Unwritten {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

impl<'o> Writer<'o> {
    fn open(self, bracket: u8, close: &'static [u8]) -> Nested<'o> {
        self.out.push(bracket);
        Nested { out: self.out, is_first: true, close }
    }

    /// A variant that has something is an object with one member.
    fn variant(self, name: &str) -> Self {
        self.out.push(b'{');
        encode::string(name, self.out);
        self.out.push(b':');
        self
    }
}

macro_rules! integers {
    ($($method:ident $Number:ty, $number:ident => $is_negative:expr, $size:expr;)+) => { $(
        #[inline]
        fn $method(self, $number: $Number) -> Result<(), Unwritten> {
            encode::integer($is_negative, $size, self.out);
            Ok(())
        }
    )+ };
}

impl<'o> Serializer for Writer<'o> {
    type Ok = ();
    type Error = Unwritten;
    type SerializeSeq = Nested<'o>;
    type SerializeTuple = Nested<'o>;
    type SerializeTupleStruct = Nested<'o>;
    type SerializeTupleVariant = Nested<'o>;
    type SerializeMap = Nested<'o>;
    type SerializeStruct = Fields<'o>;
    type SerializeStructVariant = Nested<'o>;

    integers! {
        serialize_i8 i8, number => number < 0, number.unsigned_abs().into();
        serialize_i16 i16, number => number < 0, number.unsigned_abs().into();
        serialize_i32 i32, number => number < 0, number.unsigned_abs().into();
        serialize_i64 i64, number => number < 0, number.unsigned_abs();
        serialize_u8 u8, number => false, number.into();
        serialize_u16 u16, number => false, number.into();
        serialize_u32 u32, number => false, number.into();
        serialize_u64 u64, number => false, number;
    }

    fn serialize_i128(self, number: i128) -> Result<(), Unwritten> {
        encode::display(number, self.out);
        Ok(())
    }

    fn serialize_u128(self, number: u128) -> Result<(), Unwritten> {
        encode::display(number, self.out);
        Ok(())
    }

    fn serialize_bool(self, value: bool) -> Result<(), Unwritten> {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_f32(self, _: f32) -> Result<(), Unwritten> {
        Err(Unwritten)
    }

    fn serialize_f64(self, number: f64) -> Result<(), Unwritten> {
        let text = serde_json::to_vec(&number).map_err(|_| Unwritten)?;
        self.out.extend_from_slice(&text);
        Ok(())
    }

    fn serialize_char(self, character: char) -> Result<(), Unwritten> {
        self.serialize_str(character.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, text: &str) -> Result<(), Unwritten> {
        encode::string(text, self.out);
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), Unwritten> {
        Err(Unwritten)
    }

    fn serialize_none(self) -> Result<(), Unwritten> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unwritten> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Unwritten> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Unwritten> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
    ) -> Result<(), Unwritten> {
        self.serialize_str(name)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Unwritten> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<(), Unwritten> {
        let Self { out } = self.variant(name);
        value.serialize(Writer { out })?;
        out.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Nested<'o>, Unwritten> {
        Ok(self.open(b'[', b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Nested<'o>, Unwritten> {
        Ok(self.open(b'[', b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Nested<'o>, Unwritten> {
        Ok(self.open(b'[', b"]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Nested<'o>, Unwritten> {
        Ok(self.variant(name).open(b'[', b"]}"))
    }

    #[inline]
    fn serialize_map(self, _: Option<usize>) -> Result<Nested<'o>, Unwritten> {
        Ok(self.open(b'{', b"}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields<'o>, Unwritten> {
        Ok(if name == RAW { Fields::Raw(self.out) } else { Fields::Of(self.open(b'{', b"}")) })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Nested<'o>, Unwritten> {
        Ok(self.variant(name).open(b'{', b"}}"))
    }
}

/// An array or an object that is open.
struct Nested<'o> {
    out: &'o mut Vec<u8>,
    is_first: bool,
    close: &'static [u8],
}

impl Nested<'_> {
    #[inline]
    fn comma(&mut self) {
        if !self.is_first {
            self.out.push(b',');
        }
        self.is_first = false;
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritten> {
        self.comma();
        value.serialize(Writer { out: self.out })
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Unwritten> {
        self.comma();
        encode::string(name, self.out);
        self.out.push(b':');
        value.serialize(Writer { out: self.out })
    }

    fn close(self) -> Result<(), Unwritten> {
        self.out.extend_from_slice(self.close);
        Ok(())
    }
}

impl SerializeMap for Nested<'_> {
    type Ok = ();
    type Error = Unwritten;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), Unwritten> {
        self.comma();
        name.serialize(OnlyStr(self.out, encode::string))
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritten> {
        self.out.push(b':');
        value.serialize(Writer { out: self.out })
    }

    fn end(self) -> Result<(), Unwritten> {
        self.close()
    }
}

macro_rules! nested {
    ($($Trait:ident $method:ident ($($name:ident)?) $call:ident;)+) => { $(
        impl $Trait for Nested<'_> {
            type Ok = ();
            type Error = Unwritten;

            fn $method<T: Serialize + ?Sized>(&mut self, $($name: &'static str,)? value: &T) -> Result<(), Unwritten> {
                self.$call($($name,)? value)
            }

            fn end(self) -> Result<(), Unwritten> {
                self.close()
            }
        }
    )+ };
}

nested! {
    SerializeSeq serialize_element () item;
    SerializeTuple serialize_element () item;
    SerializeTupleStruct serialize_field () item;
    SerializeTupleVariant serialize_field () item;
    SerializeStructVariant serialize_field (name) member;
}

/// A struct that is open, or one that stands for a raw value.
enum Fields<'o> {
    Of(Nested<'o>),
    Raw(&'o mut Vec<u8>),
}

impl SerializeStruct for Fields<'_> {
    type Ok = ();
    type Error = Unwritten;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Unwritten> {
        match self {
            Self::Of(nested) => nested.member(name, value),
            Self::Raw(out) => value.serialize(OnlyStr(out, |text, out| {
                out.extend_from_slice(text.as_bytes());
            })),
        }
    }

    fn end(self) -> Result<(), Unwritten> {
        match self {
            Self::Of(nested) => nested.close(),
            Self::Raw(_) => Ok(()),
        }
    }
}

/// Writes a string in a way of its own, and nothing else.
struct OnlyStr<'o>(&'o mut Vec<u8>, fn(&str, &mut Vec<u8>));

macro_rules! unwritten {
    ($($method:ident($($Argument:ty),*) $Ok:ty;)+) => { $(
        fn $method(self, $(_: $Argument),*) -> Result<$Ok, Unwritten> {
            Err(Unwritten)
        }
    )+ };
}

impl Serializer for OnlyStr<'_> {
    type Ok = ();
    type Error = Unwritten;
    type SerializeSeq = Impossible<(), Unwritten>;
    type SerializeTuple = Impossible<(), Unwritten>;
    type SerializeTupleStruct = Impossible<(), Unwritten>;
    type SerializeTupleVariant = Impossible<(), Unwritten>;
    type SerializeMap = Impossible<(), Unwritten>;
    type SerializeStruct = Impossible<(), Unwritten>;
    type SerializeStructVariant = Impossible<(), Unwritten>;

    #[inline]
    fn serialize_str(self, text: &str) -> Result<(), Unwritten> {
        let Self(out, write) = self;
        write(text, out);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Unwritten> {
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<(), Unwritten> {
        Err(Unwritten)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Unwritten> {
        Err(Unwritten)
    }

    unwritten! {
        serialize_bool(bool) (); serialize_i8(i8) (); serialize_i16(i16) (); serialize_i32(i32) ();
        serialize_i64(i64) (); serialize_u8(u8) (); serialize_u16(u16) (); serialize_u32(u32) ();
        serialize_u64(u64) (); serialize_f32(f32) (); serialize_f64(f64) (); serialize_char(char) ();
        serialize_bytes(&[u8]) (); serialize_none() (); serialize_unit() ();
        serialize_unit_struct(&'static str) (); serialize_unit_variant(&'static str, u32, &'static str) ();
        serialize_seq(Option<usize>) Self::SerializeSeq; serialize_tuple(usize) Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) Self::SerializeTupleVariant;
        serialize_map(Option<usize>) Self::SerializeMap;
        serialize_struct(&'static str, usize) Self::SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) Self::SerializeStructVariant;
    }
}
