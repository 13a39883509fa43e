//! Baggage in the `_meta` of requests.
use super::meta_text;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// Key in `_meta` of the baggage.
pub const BAGGAGE: &str = "baggage";
/// Maximum length of a `baggage` in bytes. Longer values are rejected.
///
/// Spec: [Limits](https://www.w3.org/TR/baggage/#limits)
pub const MAX_BAGGAGE_BYTES: usize = 8192;
/// Maximum number of members of a `baggage`. Values with more are rejected.
///
/// Spec: [Limits](https://www.w3.org/TR/baggage/#limits)
pub const MAX_BAGGAGE_MEMBERS: usize = 64;

/// Data that the caller propagates to all services on the way.
///
/// Baggage may identify users and customers, so this crate does not record it as attributes. A
/// caller that records it has to select the keys.
///
/// ```
/// use semconv_map::trace_context::Baggage;
///
/// let baggage = Baggage::parse("tenant=blue%20sky;ttl=3, user = 7").ok_or("no baggage")?;
/// let entries: Vec<_> = baggage.entries().collect();
/// assert_eq!(entries, [("tenant", "blue sky".into()), ("user", "7".into())]);
/// assert_eq!(Baggage::parse("no value"), None);
/// # Ok::<(), &str>(())
/// ```
///
/// Spec: [W3C Baggage](https://www.w3.org/TR/baggage/)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baggage(Box<str>);

impl Baggage {
    /// Parses the value of the header. Returns `None` if it is invalid or exceeds the limits.
    pub fn parse(header: &str) -> Option<Self> {
        let mut members = 0;
        let is_valid = header.len() <= MAX_BAGGAGE_BYTES
            && header.split(',').all(|member| {
                members += 1;
                members <= MAX_BAGGAGE_MEMBERS && is_member(member)
            });
        is_valid.then(|| Self(header.into()))
    }

    /// Parses the key of a request's `_meta`, given as JSON text. Returns `None` if there is no
    /// valid baggage.
    pub fn from_meta(meta: &str) -> Option<Self> {
        Self::parse(&meta_text(meta, BAGGAGE)?)
    }

    /// Returns the value of the header, as received.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the keys and values, without properties. Invalid UTF-8 becomes U+FFFD, as specified.
    pub fn entries(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        self.0.split(',').filter_map(|member| {
            let (key, value) = member.split(';').next()?.split_once('=')?;
            Some((trim(key), decoded(trim(value))))
        })
    }
}

fn is_member(member: &str) -> bool {
    let mut parts = member.split(';');
    let Some((key, value)) = parts.next().and_then(|pair| pair.split_once('=')) else {
        return false;
    };
    let is_property = |property: &str| match property.split_once('=') {
        Some((key, value)) => is_key(key) && is_value(value),
        None => is_key(property),
    };
    is_key(key) && is_value(value) && parts.all(is_property)
}

fn is_key(key: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let key = trim(key);
    !key.is_empty() && key.bytes().all(is_part)
}

fn is_value(value: &str) -> bool {
    trim(value).bytes().all(|byte| byte.is_ascii_graphic() && !b"\",;\\".contains(&byte))
}

/// Removes the optional spaces and tabs around names and values.
fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// Decodes percent-encoding.
fn decoded(value: &str) -> Cow<'_, str> {
    if !value.contains('%') {
        return value.into();
    }
    let digit =
        |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let pair = after.split_first_chunk::<2>().filter(|_| byte == b'%');
        let escaped =
            pair.and_then(|([high, low], after)| Some((digit(high)? << 4 | digit(low)?, after)));
        let (byte, after) = escaped.unwrap_or((byte, after));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}
