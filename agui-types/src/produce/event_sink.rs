//! Destinations of events.
use crate::event::Event;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// The destination of a run's events: a list, a queue, or a function.
///
/// ```
/// use agui_types::input::RunAgentInput;
/// use agui_types::{produce::Run, sse};
/// use jsonrpc_core::wire;
///
/// let input: RunAgentInput = wire::decode(r#"{"threadId":"t","runId":"r","messages":[]}"#)?;
/// let mut body = Vec::new();
/// let mut run = Run::begin(&input, |event| sse::write_event(&mut body, &event).expect("JSON"));
/// run.text(&"m".into(), "Hello.")?;
/// drop(run);
/// assert!(String::from_utf8(body)?.ends_with("\"code\":\"RUN_ABANDONED\"}\n\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Spec: [Event Streams, 1.0](https://ag-ui.com/spec/1.0/events)
pub trait EventSink {
    /// Receives the next event.
    fn put(&mut self, event: Event);
}

impl<F: FnMut(Event)> EventSink for F {
    fn put(&mut self, event: Event) {
        self(event);
    }
}

impl EventSink for Vec<Event> {
    fn put(&mut self, event: Event) {
        self.push(event);
    }
}

impl EventSink for VecDeque<Event> {
    fn put(&mut self, event: Event) {
        self.push_back(event);
    }
}
