//! Attributes: a name and a value of one of the types that OpenTelemetry knows.
//!
//! Spec: [Attribute](https://opentelemetry.io/docs/specs/otel/common/#attribute)
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use jsonrpc_core::{Peeked, RequestId};

/// One attribute of a span or an event.
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
    /// An attribute.
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
    /// True or false.
    Bool(bool),
    /// An integer.
    I64(i64),
    /// A floating-point number; never NaN nor infinite when it comes out of this crate.
    F64(f64),
    /// A list of texts.
    StringArray(Vec<Cow<'static, str>>),
    /// The JSON text of a structured value, in events only: log records take the value, events of spans the text.
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

/// A list of one text.
impl From<[Cow<'static, str>; 1]> for AttributeValue {
    fn from(values: [Cow<'static, str>; 1]) -> Self {
        Self::StringArray(vec::Vec::from(values))
    }
}

/// Most bytes of a name that a peer chose (a tool, an agent, a mode, an id); a longer one is cut.
pub const MAX_NAME_BYTES: usize = 256;

/// A peer's name, not longer than [`MAX_NAME_BYTES`].
pub(crate) fn clip(name: &str) -> String {
    cut(name, MAX_NAME_BYTES).into()
}

/// `id`, which is that of a message, as text without quotes; nothing for `null`.
pub(crate) fn id_text<'a>(id: &'a RequestId, message: &Peeked<'a>) -> Option<&'a str> {
    id.as_str().or(message.id()).filter(|_| !id.is_null())
}

/// The start of a text, not longer than `max` bytes.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let end = (0..=max).rev().find(|&at| text.is_char_boundary(at));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// No span starts with more attributes.
pub(crate) const MAX_OF_SPAN: usize = 16;

/// Attributes that are being collected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes(pub(crate) Vec<Attribute>);

impl Attributes {
    /// For the start of a span.
    pub(crate) fn of_span() -> Self {
        Self::of_span_in(Vec::new())
    }

    /// For the start of a span, in memory that held others.
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
