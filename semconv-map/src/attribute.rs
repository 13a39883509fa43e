//! Attributes: a name and a value of a type that OpenTelemetry supports.
//!
//! Spec: [Attribute](https://opentelemetry.io/docs/specs/otel/common/#attribute)
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use jsonrpc_core::{PeekedMessage, RequestId};

/// An attribute of a span or an event.
///
/// ```
/// use semconv_map::attribute::{Attribute, AttributeValue};
/// use semconv_map::keys;
///
/// let attribute = Attribute::new(keys::GEN_AI_OPERATION_NAME, "invoke_agent");
/// assert_eq!(attribute.key, "gen_ai.operation.name");
/// assert_eq!(attribute.value, AttributeValue::from("invoke_agent"));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Attribute {
    /// The name, one of [`keys`](crate::keys).
    pub key: &'static str,
    /// The value.
    pub value: AttributeValue,
}

impl Attribute {
    /// Creates an attribute.
    pub fn new(key: &'static str, value: impl Into<AttributeValue>) -> Self {
        Self { key, value: value.into() }
    }
}

/// The value of an [`Attribute`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AttributeValue {
    /// Text.
    String(Cow<'static, str>),
    /// A boolean.
    Bool(bool),
    /// An integer.
    I64(i64),
    /// A floating-point number. Values produced by this crate are finite.
    F64(f64),
    /// A list of strings.
    StringArray(Vec<Cow<'static, str>>),
    /// JSON text of a structured value, in events only. Log records carry the value, span events
    /// the text.
    Json(String),
}

impl From<&'static str> for AttributeValue {
    fn from(value: &'static str) -> Self {
        Self::String(Cow::Borrowed(value))
    }
}

impl From<String> for AttributeValue {
    fn from(value: String) -> Self {
        Self::String(Cow::Owned(value))
    }
}

impl From<Cow<'static, str>> for AttributeValue {
    fn from(value: Cow<'static, str>) -> Self {
        Self::String(value)
    }
}

impl From<bool> for AttributeValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for AttributeValue {
    fn from(value: i64) -> Self {
        Self::I64(value)
    }
}

impl From<f64> for AttributeValue {
    fn from(value: f64) -> Self {
        Self::F64(value)
    }
}

impl From<Vec<Cow<'static, str>>> for AttributeValue {
    fn from(values: Vec<Cow<'static, str>>) -> Self {
        Self::StringArray(values)
    }
}

/// A list of one string.
impl From<[Cow<'static, str>; 1]> for AttributeValue {
    fn from(values: [Cow<'static, str>; 1]) -> Self {
        Self::StringArray(vec::Vec::from(values))
    }
}

/// Maximum length in bytes of a name chosen by a peer (tool, agent, mode, id). Longer names are
/// truncated.
pub const MAX_NAME_BYTES: usize = 256;

/// Truncates a name of a peer to [`MAX_NAME_BYTES`].
pub(crate) fn clip(name: &str) -> String {
    cut(name, MAX_NAME_BYTES).into()
}

/// Returns the id of a message as text without quotes, or `None` for `null`.
pub(crate) fn id_text<'a>(id: &'a RequestId, message: &PeekedMessage<'a>) -> Option<&'a str> {
    id.as_str().or(message.id()).filter(|_| !id.is_null())
}

/// Truncates a text to at most `max` bytes.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let end = (0..=max).rev().find(|&at| text.is_char_boundary(at));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// Maximum number of attributes at the start of a span.
pub(crate) const MAX_OF_SPAN: usize = 16;

/// A list of attributes under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes(pub(crate) Vec<Attribute>);

impl Attributes {
    /// Creates a list with capacity for the start of a span.
    pub(crate) fn of_span() -> Self {
        Self::of_span_in(Vec::new())
    }

    /// Creates a list for the start of a span, reusing the memory of another.
    pub(crate) fn of_span_in(mut memory: Vec<Attribute>) -> Self {
        memory.clear();
        memory.reserve(MAX_OF_SPAN);
        Self(memory)
    }

    pub(crate) fn set(&mut self, key: &'static str, value: impl Into<AttributeValue>) {
        self.0.push(Attribute::new(key, value));
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    pub(crate) fn set_some(&mut self, key: &'static str, value: Option<impl Into<AttributeValue>>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }
}
