//! Request ids.
use crate::json_str::JsonStr;
use crate::json_text;
use crate::wire::{Fault, Raw, ValueReader, View, Wire};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};

/// The id of a request, which its response repeats.
///
/// Spec: [`id`](https://www.jsonrpc.org/specification#request_object) (JSON-RPC 2.0)
///
/// It is written as it was read: `1.0`, `1e3`, numbers beyond 64 bits, escapes in strings. It is
/// compared by value: `1`, `1.0` and `10e-1` are equal, `1` and `"1"` differ. The order is total
/// and has no further meaning.
///
/// Small integers and `null` do not allocate. Clones share text.
///
/// ```
/// use jsonrpc_core::RequestId;
///
/// let id: RequestId = serde_json::from_str("1.0")?;
/// assert_eq!(id, RequestId::from(1));
/// assert_eq!(serde_json::to_string(&id)?, "1.0");
/// assert_eq!(RequestId::from("a\"b").to_string(), "a\"b");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct RequestId(Repr);

#[derive(Clone)]
enum Repr {
    Null,
    Integer(i64),
    String(Arc<str>),
    Notation(Arc<IdNotation>),
}

/// An id with a notation that does not follow from its value.
struct IdNotation {
    text: Raw,
    meaning: NotationMeaning,
}

enum NotationMeaning {
    Integer(i64),
    /// In the form of [`normal_form`].
    Number(Box<str>),
    String(Box<str>),
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
enum IdValue<'a> {
    Null,
    Integer(i64),
    Number(&'a str),
    String(&'a str),
}

impl RequestId {
    /// The id `null`: discouraged for requests, and used in responses to messages with an
    /// unreadable id.
    pub const NULL: Self = Self(Repr::Null);

    /// The longest accepted id, in bytes of JSON text. A peer chooses its ids, and each is stored
    /// while its request is open.
    pub const MAX_LEN: usize = 4096;

    /// Returns the id as an integer, if it fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self.meaning() {
            IdValue::Integer(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the id as a string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self.meaning() {
            IdValue::String(value) => Some(value),
            _ => None,
        }
    }

    /// Returns whether the id is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.0, Repr::Null)
    }

    /// Creates an id from the text of a JSON value; `None` unless it is a string, a number or
    /// `null` of permitted length.
    #[inline]
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        match small_integer(text.as_bytes()) {
            Some(value) => Some(value.into()),
            None => Self::from_any_text(text),
        }
    }

    fn from_any_text(text: &str) -> Option<Self> {
        if text.len() > Self::MAX_LEN {
            return None;
        }
        let meaning = match text.as_bytes().first()? {
            b'n' => return Some(Self::NULL),
            b'"' => match JsonStr::new(text)?.decode()? {
                Cow::Borrowed(plain) => return Some(plain.into()),
                Cow::Owned(value) => NotationMeaning::String(value.into()),
            },
            b'-' | b'0'..=b'9' => match text.parse() {
                Ok(value) if text != "-0" => return Some(Self(Repr::Integer(value))),
                _ => NotationMeaning::of_number(text),
            },
            _ => return None,
        };
        let text = Raw::from_text(text).ok()?;
        Some(Self(Repr::Notation(Arc::new(IdNotation { text, meaning }))))
    }

    /// Appends the JSON text.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Repr::Null => out.extend_from_slice(b"null"),
            Repr::Integer(value) => json_text::integer(*value < 0, value.unsigned_abs(), out),
            Repr::String(value) => json_text::string(value, out),
            Repr::Notation(notation) => out.extend_from_slice(notation.text.as_str().as_bytes()),
        }
    }

    fn meaning(&self) -> IdValue<'_> {
        match &self.0 {
            Repr::Null => IdValue::Null,
            Repr::Integer(value) => IdValue::Integer(*value),
            Repr::String(value) => IdValue::String(value),
            Repr::Notation(notation) => match &notation.meaning {
                NotationMeaning::Integer(value) => IdValue::Integer(*value),
                NotationMeaning::Number(normal) => IdValue::Number(normal),
                NotationMeaning::String(value) => IdValue::String(value),
            },
        }
    }
}

/// Returns the value of a short number.
#[inline]
fn small_integer(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > 9 || text.first() == Some(&b'0') {
        return None;
    }
    text.iter().try_fold(0, |value, byte| match byte {
        b'0'..=b'9' => Some(10 * value + i64::from(byte - b'0')),
        _ => None,
    })
}

impl NotationMeaning {
    fn of_number(text: &str) -> Self {
        let normal = normal_form(text);
        integer(&normal).map_or_else(|| Self::Number(normal.into()), Self::Integer)
    }
}

/// Longer exponents are not evaluated; such a number equals only itself in the same notation.
const MAX_EXPONENT_DIGITS: usize = 17;

/// Returns a canonical text of a JSON number: the digits without zeros at either end, and the power
/// of ten.
fn normal_form(text: &str) -> String {
    let (sign, unsigned) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return "0e0".into();
    }
    let size = exponent.trim_start_matches(['+', '-']).trim_start_matches('0');
    if size.len() > MAX_EXPONENT_DIGITS {
        return text.into();
    }
    let size: i64 = size.parse().unwrap_or(0);
    let exponent = if exponent.starts_with('-') { -size } else { size };
    let trailing = digits.len() - digits.trim_end_matches('0').len();
    let shift = i64::try_from(trailing).unwrap_or(0) - i64::try_from(fraction.len()).unwrap_or(0);
    format!("{sign}{significant}e{}", exponent + shift)
}

/// Returns the value of a [`normal_form`] that is a 64-bit integer.
fn integer(normal: &str) -> Option<i64> {
    let (digits, exponent) = normal.split_once('e')?;
    let digits: i64 = digits.parse().ok()?;
    digits.checked_mul(10_i64.checked_pow(exponent.parse().ok()?)?)
}

impl From<i64> for RequestId {
    fn from(id: i64) -> Self {
        Self(Repr::Integer(id))
    }
}

impl From<&str> for RequestId {
    fn from(id: &str) -> Self {
        Self(Repr::String(id.into()))
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        self.meaning() == other.meaning()
    }
}

impl Eq for RequestId {}

impl PartialOrd for RequestId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RequestId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.meaning().cmp(&other.meaning())
    }
}

impl Hash for RequestId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.meaning().hash(state);
    }
}

/// A string without quotes and escapes; other ids as written.
impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Null => f.write_str("null"),
            Repr::Integer(value) => value.fmt(f),
            Repr::String(value) => f.write_str(value),
            Repr::Notation(notation) => match &notation.meaning {
                NotationMeaning::String(value) => f.write_str(value),
                _ => f.write_str(notation.text.as_str()),
            },
        }
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::String(value) => fmt::Debug::fmt(value, f),
            Repr::Notation(notation) => f.write_str(notation.text.as_str()),
            _ => fmt::Display::fmt(self, f),
        }
    }
}

impl Wire for RequestId {
    fn blank() -> Self {
        Self(Repr::Null)
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        const WHAT: &str = "a string, a number or null of at most 4096 bytes";
        match Self::from_text(reader.text()?) {
            Some(id) => *self = id,
            None => return Err(reader.invalid(WHAT)),
        }
        Ok(())
    }

    fn view(&self) -> View<'_> {
        match &self.0 {
            Repr::Null => View::Null,
            Repr::Integer(value) => View::Signed(*value),
            Repr::String(value) => View::Str(value),
            Repr::Notation(notation) => notation.text.view(),
        }
    }
}

crate::object! { @serde RequestId }
