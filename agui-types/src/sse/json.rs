//! JSON text straight into a buffer: one line, whatever is written.
use bytes::BufMut;
use core::fmt::{self, Display, Write};
use serde::ser::{
    Error as _, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, Serializer,
};
use serde_json::Error;

/// Writes a value of this crate's types as JSON. On an error, which those do not have, `out` has a part of it.
pub(super) fn write(out: &mut impl BufMut, value: &impl Serialize) -> Result<(), Error> {
    value.serialize(Json { out, verbatim: false })
}

/// Writes a string with its quotes.
pub(crate) fn write_str(out: &mut impl BufMut, text: &str) {
    out.put_u8(b'"');
    let mut rest = text.as_bytes();
    loop {
        let plain = plain_prefix(rest);
        let (before, escaped) = rest.split_at(plain);
        out.put_slice(before);
        let Some((&byte, behind)) = escaped.split_first() else { break };
        match byte {
            b'"' => out.put_slice(br#"\""#),
            b'\\' => out.put_slice(br"\\"),
            b'\n' => out.put_slice(br"\n"),
            b'\r' => out.put_slice(br"\r"),
            b'\t' => out.put_slice(br"\t"),
            0x08 => out.put_slice(br"\b"),
            0x0C => out.put_slice(br"\f"),
            other => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                out.put_slice(br"\u00");
                for half in [other >> 4, other & 15] {
                    out.put_u8(DIGITS.get(usize::from(half)).copied().unwrap_or(b'0'));
                }
            }
        }
        rest = behind;
    }
    out.put_u8(b'"');
}

/// How many bytes at the begin need no escape in a JSON string.
pub(super) fn plain_prefix(bytes: &[u8]) -> usize {
    let words = bytes.chunks_exact(8);
    let whole = bytes.len() - words.remainder().len();
    for (index, word) in words.enumerate() {
        let word = <[u8; 8]>::try_from(word).map_or(0, u64::from_le_bytes);
        let special = special_bytes(word);
        if special != 0 {
            return index * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let rest = bytes.get(whole..).unwrap_or_default();
    let found = rest.iter().position(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\'));
    found.map_or(bytes.len(), |at| whole + at)
}

/// The high bit of each byte that is a quote, a backslash or below a space; exact up to the first such byte.
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let below_space = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = zero(word ^ (ONES * u64::from(b'"')));
    let backslash = zero(word ^ (ONES * u64::from(b'\\')));
    (below_space | quote | backslash) & HIGH
}

const NOT_OURS: &str = "a value of this kind is in none of the protocol's types";

struct Json<'a, B> {
    out: &'a mut B,
    /// Strings are JSON text, to be written as it came.
    verbatim: bool,
}

/// What a serialiser says to what the types of this crate do not have.
macro_rules! refused {
    ($($method:ident($($Type:ty),*) $(-> $Ok:ty)?,)*) => { $(
        fn $method(self, $(_: $Type),*) -> Result<refused!(@ $($Ok)?), Error> {
            Err(Error::custom(NOT_OURS))
        }
    )* };
    (@) => { () };
    (@ $Ok:ty) => { $Ok };
}

impl<'a, B: BufMut> Serializer for Json<'a, B> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'a, B>;
    type SerializeMap = Items<'a, B>;
    type SerializeStruct = Self;
    type SerializeTuple = Impossible<(), Error>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeStructVariant = Impossible<(), Error>;

    fn serialize_str(self, text: &str) -> Result<(), Error> {
        if self.verbatim {
            put_line(self.out, text);
        } else {
            write_str(self.out, text);
        }
        Ok(())
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.out.put_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_i64(self, value: i64) -> Result<(), Error> {
        write!(Text(self.out), "{value}").map_err(Error::custom)
    }

    fn serialize_u64(self, value: u64) -> Result<(), Error> {
        write!(Text(self.out), "{value}").map_err(Error::custom)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.out.put_slice(b"null");
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a, B>, Error> {
        Ok(Items::open(self.out, b'[', b']'))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Items<'a, B>, Error> {
        Ok(Items::open(self.out, b'{', b'}'))
    }

    /// Objects are maps here; what comes as a struct is JSON text that was kept as it came.
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Error> {
        Ok(Self { verbatim: true, ..self })
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Error> {
        Err(Error::custom(NOT_OURS))
    }

    fn collect_str<T: Display + ?Sized>(self, _: &T) -> Result<(), Error> {
        Err(Error::custom(NOT_OURS))
    }

    refused! {
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_u8(u8), serialize_u16(u16),
        serialize_u32(u32), serialize_f32(f32), serialize_f64(f64), serialize_char(char), serialize_bytes(&[u8]),
        serialize_unit_struct(&'static str),
        serialize_unit_variant(&'static str, u32, &'static str),
        serialize_tuple(usize) -> Self::SerializeTuple,
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant,
    }
}

impl<B: BufMut> SerializeStruct for Json<'_, B> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(Json { out: self.out, verbatim: true })
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}

/// Puts JSON text on one line: between its tokens it may have line ends, within strings JSON has none.
fn put_line(out: &mut impl BufMut, json: &str) {
    let mut lines = json.split(['\n', '\r']);
    out.put_slice(lines.next().unwrap_or_default().as_bytes());
    for line in lines {
        out.put_u8(b' ');
        out.put_slice(line.as_bytes());
    }
}

struct Text<'a, B>(&'a mut B);

impl<B: BufMut> Write for Text<'_, B> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.put_slice(text.as_bytes());
        Ok(())
    }
}

/// Elements or members: what separates them is written before each but the first.
struct Items<'a, B> {
    out: &'a mut B,
    begun: bool,
    end: u8,
}

impl<'a, B: BufMut> Items<'a, B> {
    fn open(out: &'a mut B, begin: u8, end: u8) -> Self {
        out.put_u8(begin);
        Self { out, begun: false, end }
    }

    fn put<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(Json { out: self.out, verbatim: false })
    }

    fn separate(&mut self) {
        if self.begun {
            self.out.put_u8(b',');
        }
        self.begun = true;
    }

    fn close(self) -> Result<(), Error> {
        self.out.put_u8(self.end);
        Ok(())
    }
}

impl<B: BufMut> SerializeSeq for Items<'_, B> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.separate();
        self.put(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl<B: BufMut> SerializeMap for Items<'_, B> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), Error> {
        self.separate();
        self.put(name)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.out.put_u8(b':');
        self.put(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}
