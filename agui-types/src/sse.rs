//! Server-sent events, the HTTP transport of events.
//!
//! [`write_event`] appends one event to a response body. [`DeltaWriter`] appends the deltas of one
//! message at lower cost. [`Decoder`] splits a body that arrives in pieces of any size. The module
//! performs no I/O.
//!
//! ```
//! use agui_types::event::{CustomEvent, Event, RunErrorEvent};
//! use agui_types::sse::{self, Decoder};
//! use agui_types::jsonrpc_core::wire::Raw;
//!
//! let events: [Event; 2] = [
//!     CustomEvent::new("acme.progress", Raw::from_value(&0.5)?).into(),
//!     RunErrorEvent::new("the agent has gone away").into(),
//! ];
//! let mut body = Vec::new();
//! for event in &events {
//!     sse::write_event(&mut body, event)?;
//!     sse::write_comment(&mut body, "keep-alive");
//! }
//!
//! let (mut decoder, mut read) = (Decoder::default(), Vec::new());
//! for piece in body.chunks(7) {
//!     decoder.push(piece);
//!     while let Some(frame) = decoder.next_frame() {
//!         read.push(frame?.decode::<Event>()?);
//!     }
//! }
//! assert_eq!(read, events);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Spec: [HTTP + Server-Sent Events, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-sse),
//! [Server-sent events, HTML](https://html.spec.whatwg.org/multipage/server-sent-events.html)
use crate::event::Event;
use alloc::vec::Vec;
use jsonrpc_core::wire;

mod decoder;
mod delta;

pub use decoder::{Decoder, Frame, FrameError};
pub use delta::{DeltaWriter, JsonString};

/// The media type of a response with events.
///
/// Spec: [Response, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-sse#response)
pub const CONTENT_TYPE: &str = "text/event-stream";

/// Appends an event: one `data` line and an empty line, each ended by a line feed. The JSON is
/// written without an intermediate buffer: a delta costs one copy of its text.
///
/// # Errors
/// A value in the event has no JSON form, which does not happen for events that were decoded or
/// created from the types of this crate. Nothing is appended then.
///
/// Spec: [Response, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-sse#response)
pub fn write_event(out: &mut Vec<u8>, event: &Event) -> Result<(), serde_json::Error> {
    out.extend_from_slice(BEGIN);
    wire::write_on_one_line(event, out);
    out.extend_from_slice(END);
    Ok(())
}

/// Appends an `id` line for the next event.
///
/// AG-UI does not use it, since the binding defines no resumption; it serves producers with their
/// own clients. Line feeds, carriage returns and NULs in `id` are left out.
///
/// Spec: [No resumption, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-sse#no-resumption)
pub fn write_id(out: &mut Vec<u8>, id: &str) {
    out.extend_from_slice(b"id: ");
    id.split(['\n', '\r', '\0']).for_each(|part| out.extend_from_slice(part.as_bytes()));
    out.push(b'\n');
}

/// Appends a comment, which receivers ignore: one comment line for each line of `text`, then an
/// empty line.
///
/// ```
/// let mut body = Vec::new();
/// agui_types::sse::write_comment(&mut body, "keep-alive");
/// assert_eq!(body, b": keep-alive\n\n");
/// ```
///
/// Spec: [Response, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-sse#response)
pub fn write_comment(out: &mut Vec<u8>, text: &str) {
    for line in text.split(['\n', '\r']) {
        out.extend_from_slice(b": ");
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
    out.push(b'\n');
}

const BEGIN: &[u8] = b"data: ";
const END: &[u8] = b"\n\n";
