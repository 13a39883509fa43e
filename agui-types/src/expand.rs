//! Expansion of chunk events into start, content and end.
//!
//! Spec: [The chunked form,
//! 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming#the-chunked-form)
use crate::event::Event;
use crate::rule::Violation;
use alloc::vec::Vec;

mod lanes;

pub(crate) use lanes::{Expansion, Lanes};

/// Replaces chunks with the start, content and end events they stand for.
///
/// The stage belongs between [enforcement](crate::enforce) and [verification](crate::verify). It
/// stores the identifier and the opening members of each open chunk stream: one for the agent
/// itself and one for each subagent.
///
/// | chunk | result |
/// |---|---|
/// | the first of a message or call in its lane | the end of the lane's stream, a start, and a content event for a `delta` or `rawEvent` |
/// | a later one, with a `delta`, `rawEvent` or `metadata` | a content event |
/// | a later one without any of these | none |
///
/// | other event | closes |
/// |---|---|
/// | `RUN_*`, `MESSAGES_SNAPSHOT` | every chunk stream |
/// | `RAW`, `ACTIVITY_*`, `REASONING_ENCRYPTED_VALUE`, `SUBAGENT_STARTED`, unknown ones | none |
/// | any other | that of the subagent it belongs to or describes, or of the agent itself |
///
/// Metadata is copied to the start and the content, the provider's event to the content. A chunk's
/// timestamp and unknown members are dropped. The end of the input produces no end events.
///
/// ```
/// use agui_types::event::Event;
/// use agui_types::expand::Expander;
/// use agui_types::jsonrpc_core::wire;
///
/// let (mut expander, mut events) = (Expander::new(), Vec::new());
/// for text in [
///     r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hel"}"#,
///     r#"{"type":"TEXT_MESSAGE_CHUNK","delta":"lo"}"#,
///     r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#,
/// ] {
///     expander.handle(wire::decode(text)?, &mut events)?;
/// }
/// let types: Vec<_> = events.iter().map(Event::tag).collect();
/// assert_eq!(
///     types,
///     ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"]
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Spec: [Closing a chunk stream,
/// 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming#closing-a-chunk-stream)
#[derive(Clone, Debug, Default)]
pub struct Expander {
    next_index: u64,
    lanes: Lanes,
}

impl Expander {
    /// Largest number of open chunk streams.
    pub const MAX_STREAMS: usize = Lanes::MAX;

    /// Creates an expander for the beginning of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Handles the next event and appends its expansion to `out`.
    ///
    /// # Errors
    /// A chunk neither opens a stream nor continues one, contradicts the first chunk, is ambiguous,
    /// or exceeds [`MAX_STREAMS`](Self::MAX_STREAMS). Nothing is appended.
    pub fn handle(&mut self, event: Event, out: &mut Vec<Event>) -> Result<(), Violation> {
        let index = self.next_index;
        self.next_index += 1;
        let expanded = self.lanes.expand(&event);
        let Expansion { implied, content } =
            expanded.map_err(|breach| breach.into_violation(index, Some(event.tag())))?;
        out.extend(implied);
        match (event, content) {
            (Event::TextMessageChunk(chunk), Some(Event::TextMessageContent(mut content))) => {
                content.delta = chunk.delta.unwrap_or_default();
                content.raw_event = chunk.raw_event;
                out.push(content.into());
            }
            (Event::ToolCallChunk(chunk), Some(Event::ToolCallArgs(mut args))) => {
                args.delta = chunk.delta.unwrap_or_default();
                args.raw_event = chunk.raw_event;
                out.push(args.into());
            }
            (
                Event::ReasoningMessageChunk(chunk),
                Some(Event::ReasoningMessageContent(mut content)),
            ) => {
                content.delta = chunk.delta.unwrap_or_default();
                content.raw_event = chunk.raw_event;
                out.push(content.into());
            }
            (
                Event::TextMessageChunk(_)
                | Event::ToolCallChunk(_)
                | Event::ReasoningMessageChunk(_),
                _,
            ) => {}
            (event, _) => out.push(event),
        }
        Ok(())
    }
}
