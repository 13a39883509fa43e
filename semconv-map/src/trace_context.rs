//! Trace context in the `_meta` of requests: parsing and injection.
//!
//! A [`Tracker`](crate::Tracker) parses trace context in every request and returns it as
//! [`Parent::Remote`](crate::span::Parent::Remote) and
//! [`SpanStart::baggage`](crate::span::SpanStart::baggage). It never modifies a line. A proxy can
//! [`inject`] the context of the span that [`Tracker::request_span`](crate::Tracker::request_span)
//! returns. ACP and MCP use the same keys.
//!
//! Spec: [W3C Trace Context, Level 1](https://www.w3.org/TR/trace-context-1/), [W3C
//! Baggage](https://www.w3.org/TR/baggage/), [ACP
//! extensibility](https://agentclientprotocol.com/protocol/v1/extensibility)
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use jsonrpc_core::{JsonStr, find_member};

mod baggage;
mod inject;

pub use baggage::{BAGGAGE, Baggage, MAX_BAGGAGE_BYTES, MAX_BAGGAGE_MEMBERS};
pub use inject::{InjectError, Injection, inject};

/// Key in `_meta` of the parent span.
pub const TRACEPARENT: &str = "traceparent";
/// Key in `_meta` of vendor-specific trace data.
pub const TRACESTATE: &str = "tracestate";
/// Maximum length of a `tracestate` in bytes. A longer value is dropped, but the parent is kept.
///
/// The specification requires at least 512, see
/// [Limits](https://www.w3.org/TR/trace-context-1/#tracestate-limits).
pub const MAX_TRACESTATE_BYTES: usize = 1024;
/// Maximum number of members of a `tracestate`.
///
/// Spec: [list](https://www.w3.org/TR/trace-context-1/#list)
pub const MAX_TRACESTATE_MEMBERS: usize = 32;

/// Context of a remote span.
///
/// ```
/// use semconv_map::trace_context::TraceContext;
///
/// let context = TraceContext::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", None);
/// assert_eq!(context.map(|context| context.is_sampled()), Some(true));
/// assert_eq!(TraceContext::parse("00-00000000000000000000000000000000-00f067aa0ba902b7-01", None), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[doc(alias("traceparent", "tracestate"))]
pub struct TraceContext {
    /// Trace id, never all zero.
    pub trace_id: [u8; 16],
    /// Span id, never all zero.
    pub span_id: [u8; 8],
    /// Trace flags. Bit 0 is *sampled*.
    pub flags: u8,
    /// Vendor-specific trace data, as received.
    pub tracestate: Option<String>,
}

impl TraceContext {
    /// Creates a context without a `tracestate`. Returns `None` if an id is all zero.
    pub fn new(trace_id: [u8; 16], span_id: [u8; 8], flags: u8) -> Option<Self> {
        let is_valid = trace_id != [0; 16] && span_id != [0; 8];
        is_valid.then_some(Self { trace_id, span_id, flags, tracestate: None })
    }

    /// Creates the context of a new span with this id: in the trace of its parent, with the flags
    /// and the `tracestate` of the parent, else in a sampled trace with the id `trace_id`. An id of
    /// zeros, which is invalid, becomes 1.
    ///
    /// ```
    /// use semconv_map::trace_context::TraceContext;
    ///
    /// let turn = TraceContext::of_span(None, [0xab; 16], [1; 8]);
    /// let tool = TraceContext::of_span(Some(&turn), [0xcd; 16], [2; 8]);
    /// assert_eq!(turn.traceparent(), "00-abababababababababababababababab-0101010101010101-01");
    /// assert_eq!(tool.traceparent(), "00-abababababababababababababababab-0202020202020202-01");
    /// ```
    #[inline]
    pub fn of_span(parent: Option<&Self>, trace_id: [u8; 16], span_id: [u8; 8]) -> Self {
        let span_id = valid(span_id);
        match parent {
            Some(parent) => Self { span_id, ..parent.clone() },
            None => Self { trace_id: valid(trace_id), span_id, flags: SAMPLED, tracestate: None },
        }
    }

    /// Parses the values of the two headers. Returns `None` if `traceparent` is invalid.
    ///
    /// An invalid `tracestate` is dropped, as specified.
    pub fn parse(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let bytes = traceparent.as_bytes();
        let version = hex::<1>(bytes.get(0..2)?)?;
        let after = bytes.get(VERSION_0_LEN);
        if version == [0xff]
            || (version == [0] && after.is_some())
            || after.is_some_and(|&byte| byte != b'-')
            || [2, 35, 52].iter().any(|&at| bytes.get(at) != Some(&b'-'))
        {
            return None;
        }
        let trace_id = hex(bytes.get(3..35)?)?;
        let span_id = hex(bytes.get(36..52)?)?;
        let [flags] = hex::<1>(bytes.get(53..VERSION_0_LEN)?)?;
        let tracestate = tracestate.filter(|state| is_tracestate(state)).map(String::from);
        Some(Self { tracestate, ..Self::new(trace_id, span_id, flags)? })
    }

    /// Parses the two keys of a request's `_meta`, given as JSON text. Returns `None` if there is
    /// no valid context.
    ///
    /// ```
    /// use semconv_map::trace_context::TraceContext;
    ///
    /// let meta = r#"{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00","tracestate":"a=1"}"#;
    /// let context = TraceContext::from_meta(meta).ok_or("no context")?;
    /// assert_eq!(context.tracestate.as_deref(), Some("a=1"));
    /// # Ok::<(), &str>(())
    /// ```
    pub fn from_meta(meta: &str) -> Option<Self> {
        Self::parse(&meta_text(meta, TRACEPARENT)?, meta_text(meta, TRACESTATE).as_deref())
    }

    /// Returns the value of `traceparent`, in version 00, with the two defined flags *sampled* and
    /// *random*.
    ///
    /// ```
    /// use semconv_map::trace_context::TraceContext;
    ///
    /// let context = TraceContext::new([0xab; 16], [0x07; 8], 0xff).ok_or("no context")?;
    /// assert_eq!(context.traceparent(), "00-abababababababababababababababab-0707070707070707-03");
    /// # Ok::<(), &str>(())
    /// ```
    ///
    /// Spec: [trace-flags, Level 2](https://www.w3.org/TR/trace-context-2/#trace-flags)
    pub fn traceparent(&self) -> String {
        let trace = u128::from_be_bytes(self.trace_id);
        let span = u64::from_be_bytes(self.span_id);
        format!("00-{trace:032x}-{span:016x}-{:02x}", self.flags & 3)
    }

    /// Returns whether the caller samples the trace.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED == SAMPLED
    }
}

/// The flag *sampled*.
const SAMPLED: u8 = 1;

/// Replaces the invalid id of zeros by 1.
fn valid<const N: usize>(mut id: [u8; N]) -> [u8; N] {
    if id == [0; N]
        && let Some(last) = id.last_mut()
    {
        *last = 1;
    }
    id
}

/// Returns a member of `_meta` that is a string.
fn meta_text<'a>(meta: &'a str, key: &str) -> Option<Cow<'a, str>> {
    JsonStr::new(find_member(meta, &[key])?)?.decode()
}

/// Length of `00-`, 32 digits, `-`, 16 digits, `-`, 2 digits.
const VERSION_0_LEN: usize = 55;

/// Parses lower-case hexadecimal digits.
fn hex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let digit = |digit: &u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    let (pairs, rest) = digits.as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Some(bytes)
}

fn is_tracestate(state: &str) -> bool {
    let mut members = 0;
    state.len() <= MAX_TRACESTATE_BYTES
        && state.split(',').map(str::trim).filter(|member| !member.is_empty()).all(|member| {
            members += 1;
            members <= MAX_TRACESTATE_MEMBERS && is_member(member)
        })
}

fn is_member(member: &str) -> bool {
    let Some((key, value)) = member.split_once('=') else { return false };
    let in_key =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-*/@".contains(&byte);
    let in_value = |byte: u8| matches!(byte, 0x20..=0x7e) && byte != b'=';
    !key.is_empty()
        && key.bytes().all(in_key)
        && !value.is_empty()
        && value.len() <= 256
        && value.bytes().all(in_value)
}
