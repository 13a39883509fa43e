//! Injection of trace context into lines.
use super::{BAGGAGE, Baggage, TRACEPARENT, TRACESTATE, TraceContext};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::{Kind, PeekError, PeekedMessage, peek_member};

/// A line with a context. The three parts, concatenated, are the line to send.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Injection<'a> {
    /// The bytes of the line before the change.
    pub before: &'a [u8],
    /// The inserted text. It replaces the word `null` if that was the value of `_meta`, and the
    /// context of the sender.
    pub inserted: String,
    /// The bytes of the line after the change.
    pub after: &'a [u8],
}

impl Injection<'_> {
    /// Concatenates the parts.
    pub fn to_line(&self) -> Vec<u8> {
        [self.before, self.inserted.as_bytes(), self.after].concat()
    }
}

/// A message without a place for a context. Its line should be sent unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InjectError {
    /// The message contains a relevant member twice.
    Line(PeekError),
    /// The line is a response. Responses carry no context.
    Response,
    /// `params` is not an object.
    Params,
    /// `_meta` is neither an object nor `null`.
    Meta,
}

impl core::fmt::Display for InjectError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Line(error) => error.fmt(f),
            Self::Response => f.write_str("expected a request or a notification, got a response"),
            Self::Params => f.write_str("params: expected an object"),
            Self::Meta => f.write_str("params._meta: expected an object or null"),
        }
    }
}

impl core::error::Error for InjectError {}

impl From<PeekError> for InjectError {
    fn from(error: PeekError) -> Self {
        Self::Line(error)
    }
}

/// Injects a context into `params._meta` of a request or a notification, given as its peeked line.
/// The text is inserted before the closing brace of the innermost existing object; all other bytes
/// are preserved.
///
/// The context of the sender is replaced, so that spans of the receiver are children of the
/// injected span, which has the sender's span as parent or link. A `tracestate` without a new value
/// becomes empty. A `baggage` of the sender is preserved. Returns `None` if nothing remains to be
/// inserted.
///
/// ```
/// use semconv_map::jsonrpc_core::peek;
/// use semconv_map::trace_context::{TraceContext, inject};
///
/// let context = TraceContext::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", None);
/// let line = br#"{"id":1, "method":"session/list", "params":{ "cwd":"/" }}"#;
/// let message = peek(line)?;
/// let injected = inject(&message, context.as_ref(), None)?.ok_or("nothing to inject")?;
/// let expected = br#"{"id":1, "method":"session/list", "params":{ "cwd":"/" ,"_meta":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}}"#;
/// assert_eq!(injected.to_line(), expected);
/// assert_eq!([injected.before, injected.after].concat(), line);
/// assert_eq!(inject(&peek(expected)?, context.as_ref(), None)?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if the message has no place for a context, or a relevant member twice.
pub fn inject<'a>(
    message: &PeekedMessage<'a>,
    trace: Option<&TraceContext>,
    baggage: Option<&Baggage>,
) -> Result<Option<Injection<'a>>, InjectError> {
    if message.kind() == Kind::Response {
        return Err(InjectError::Response);
    }
    let line = message.line().as_bytes();
    let place = Place::of(message)?;
    let present = |name| match place {
        Place::Meta(meta) => peek_member(meta, name),
        _ => Ok(None),
    };
    let old_parent = present(TRACEPARENT)?;
    let old_state = present(TRACESTATE)?;
    let has_baggage = present(BAGGAGE)?.is_some();
    let parent = trace.map(TraceContext::traceparent);
    let old_state = old_state.filter(|_| trace.is_some());
    let state = trace.and_then(|trace| trace.tracestate.clone());
    let state = state.or_else(|| old_state.map(|_| String::new()));
    let baggage = baggage.filter(|_| !has_baggage).map(|baggage| baggage.as_str().into());
    let mut changes = Vec::new();
    let mut members = Vec::new();
    for (name, old, text) in [
        (TRACEPARENT, old_parent, parent),
        (TRACESTATE, old_state, state),
        (BAGGAGE, None, baggage),
    ] {
        let Some(text) = text else { continue };
        // Serialized as a JSON string, with quotes and escapes.
        let text = serde_json::Value::String(text).to_string();
        match old {
            Some(old) if old == text => {}
            Some(old) => changes.push((offset(line, old), old.len(), text)),
            None => members.push(format!("\"{name}\":{text}")),
        }
    }
    if !members.is_empty() {
        let insertion = place.put(line, &members.join(","));
        let at = insertion.before.len();
        let replaced = line.len().saturating_sub(at + insertion.after.len());
        changes.push((at, replaced, insertion.inserted));
    }
    Ok(merged(line, changes))
}

/// Merges the replacements of parts of a line, each with its offset and length, into one that
/// covers them.
fn merged(line: &[u8], mut changes: Vec<(usize, usize, String)>) -> Option<Injection<'_>> {
    changes.sort_unstable();
    let from = changes.first()?.0;
    let mut at = from;
    let mut text = String::new();
    for (start, length, inserted) in changes {
        let between = line.get(at..start).unwrap_or_default();
        text.push_str(core::str::from_utf8(between).unwrap_or_default());
        text.push_str(&inserted);
        at = start + length;
    }
    Some(pieces(line, from, at, text))
}

/// The innermost existing part of `params._meta`.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// An object.
    Meta(&'a str),
    /// The value `null`.
    Null(&'a str),
    /// `params` without `_meta`.
    Params(&'a str),
    /// A message without `params`.
    Message,
}

impl<'a> Place<'a> {
    fn of(message: &PeekedMessage<'a>) -> Result<Self, InjectError> {
        let Some(params) = message.params() else {
            let is_free = peek_member(message.line(), "params")?.is_none();
            return if is_free { Ok(Self::Message) } else { Err(InjectError::Params) };
        };
        if !params.starts_with('{') {
            return Err(InjectError::Params);
        }
        match peek_member(params, "_meta")? {
            None => Ok(Self::Params(params)),
            Some(null) if null == "null" => Ok(Self::Null(null)),
            Some(meta) if meta.starts_with('{') => Ok(Self::Meta(meta)),
            Some(_) => Err(InjectError::Meta),
        }
    }

    fn put(self, line: &'a [u8], members: &str) -> Injection<'a> {
        match self {
            Self::Meta(meta) => into_object(line, meta, members),
            Self::Params(params) => into_object(line, params, &format!("\"_meta\":{{{members}}}")),
            Self::Null(null) => {
                let at = offset(line, null);
                pieces(line, at, at + null.len(), format!("{{{members}}}"))
            }
            Self::Message => {
                let close = line.iter().rposition(|&byte| byte == b'}').unwrap_or(line.len());
                let params = format!(",\"params\":{{\"_meta\":{{{members}}}}}");
                pieces(line, close, close, params)
            }
        }
    }
}

/// Inserts members before the closing brace of an object in the line.
fn into_object<'a>(line: &'a [u8], object: &str, members: &str) -> Injection<'a> {
    let close = offset(line, object) + object.len().saturating_sub(1);
    let is_empty = object.bytes().skip(1).all(|byte| byte.is_ascii_whitespace() || byte == b'}');
    let comma = if is_empty { "" } else { "," };
    pieces(line, close, close, format!("{comma}{members}"))
}

/// Returns the offset of a part within the line.
fn offset(line: &[u8], part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(line.as_ptr().addr())
}

fn pieces(line: &[u8], from: usize, to: usize, inserted: String) -> Injection<'_> {
    let before = line.get(..from).unwrap_or(line);
    let after = line.get(to..).unwrap_or_default();
    Injection { before, inserted, after }
}
