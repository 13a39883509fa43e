//! JSON strings in their escaped form.
use crate::scan;
use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

/// A JSON string in its escaped form, compared by value.
///
/// ```
/// use jsonrpc_core::JsonStr;
///
/// let text = JsonStr::new(r#""a\u0062""#).ok_or("not a string")?;
/// assert_eq!(text, "ab");
/// assert_eq!(text.decode().as_deref(), Some("ab"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy)]
pub struct JsonStr<'a>(&'a str);

impl<'a> JsonStr<'a> {
    /// Creates a string from the text of a valid JSON value; `None` unless it is a string.
    #[inline]
    pub fn new(text: &'a str) -> Option<Self> {
        text.strip_prefix('"')?.strip_suffix('"').map(Self)
    }

    /// Reads a text that is a JSON string and no more, and returns the unescaped string as well.
    /// Returns `None` for other text, and for a lone surrogate. Allocates only for escapes.
    ///
    /// ```
    /// use jsonrpc_core::JsonStr;
    ///
    /// let (text, value) = JsonStr::parse(r#""a\tb""#).ok_or("not a string")?;
    /// assert_eq!((text.as_escaped(), &*value), (r"a\tb", "a\tb"));
    /// assert!(JsonStr::parse(r#""a"b""#).is_none() && JsonStr::parse(r#""\ud800""#).is_none());
    /// # Ok::<(), &str>(())
    /// ```
    pub fn parse(text: &'a str) -> Option<(Self, Cow<'a, str>)> {
        let json = Self::new(text)?;
        let (end, value) = match scan::plain_string(text.as_bytes(), 1) {
            Ok(end) => (end, Cow::Borrowed(json.0)),
            Err(escape) => {
                let (end, value) = scan::unescape(text.as_bytes(), 1, escape)?;
                (end + 1, Cow::Owned(value))
            }
        };
        (end == text.len()).then_some((json, value))
    }

    /// Returns the text between the quotes, with escapes, for verbatim copies.
    pub fn as_escaped(&self) -> &'a str {
        self.0
    }

    /// Returns the string if it has no escapes.
    #[inline]
    pub fn as_plain(&self) -> Option<&'a str> {
        (!self.has_escapes()).then_some(self.0)
    }

    /// Returns the unescaped string; `None` if it has a lone surrogate, which no Rust string can
    /// represent. Allocates only for escapes.
    #[inline]
    pub fn decode(&self) -> Option<Cow<'a, str>> {
        match self.as_plain() {
            Some(plain) => Some(Cow::Borrowed(plain)),
            None => self.unescaped().map(Cow::Owned),
        }
    }

    #[cold]
    fn unescaped(&self) -> Option<String> {
        let bytes = self.0.as_bytes();
        let (end, text) = scan::unescape(bytes, 0, scan::plain_prefix(bytes))?;
        (end == bytes.len()).then_some(text)
    }

    #[inline]
    fn has_escapes(&self) -> bool {
        // Most strings are short: examining each byte is cheaper than searching for one.
        let bytes = self.0.as_bytes();
        let Some(last) = bytes.last_chunk() else { return bytes.contains(&b'\\') };
        let has_escape = |word: &[u8; 8]| has_escape(u64::from_le_bytes(*word));
        // The last word covers the rest.
        bytes.as_chunks().0.iter().any(has_escape) || has_escape(last)
    }

    pub(crate) fn between_quotes(text: &'a str) -> Self {
        Self(text)
    }
}

impl PartialEq<str> for JsonStr<'_> {
    fn eq(&self, other: &str) -> bool {
        match self.as_plain() {
            Some(plain) => plain == other,
            None => self.unescaped().is_some_and(|text| text == other),
        }
    }
}

impl PartialEq<&str> for JsonStr<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl fmt::Debug for JsonStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

/// Returns whether one of the bytes is a backslash.
#[inline]
fn has_escape(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 255;
    let zero = word ^ (ONES * 0x5c);
    zero.wrapping_sub(ONES) & !zero & (ONES << 7) != 0
}
