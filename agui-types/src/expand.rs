//! Chunks, and what they stand for.
//!
//! Spec: [The chunked form, 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming#the-chunked-form)
use crate::event::Event;
use crate::verify::Violation;
use alloc::vec::Vec;

mod lanes;

pub(crate) use lanes::{Expansion, Lanes};

/// Puts start, content and end in the place of chunks.
///
/// It stands between [enforcement](crate::enforce) and [verification](crate::verify). What it keeps is the identifier
/// and the opening members of each chunk stream that is open: one for the agent itself and one for each subagent.
///
/// | chunk | gives |
/// |---|---|
/// | the first of a message or call in its lane | the end of what the lane had, a start, and a content event for a `delta` or `rawEvent` |
/// | one that goes on, with a `delta`, `rawEvent` or `metadata` | a content event |
/// | one that goes on with nothing | nothing |
///
/// | other event | ends |
/// |---|---|
/// | `RUN_*`, `MESSAGES_SNAPSHOT` | every chunk stream |
/// | `RAW`, `ACTIVITY_*`, `REASONING_ENCRYPTED_VALUE`, `SUBAGENT_STARTED`, unknown ones | none |
/// | any other | that of the subagent it belongs to or is about, or of the agent itself |
///
/// Metadata goes to the start and the content, the provider's event to the content. A chunk's timestamp, and members
/// that this version does not know, belong to no event that it gives. A stream that stops has no ends.
///
/// ```
/// use agui_types::event::Event;
/// use agui_types::expand::Expander;
/// use jsonrpc_core::wire;
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
/// Spec: [Closing a chunk stream, 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming#closing-a-chunk-stream)
#[derive(Clone, Debug, Default)]
pub struct Expander {
    next_index: u64,
    lanes: Lanes,
}

impl Expander {
    /// How many chunk streams are open at once at most.
    pub const MAX_STREAMS: usize = Lanes::MAX;

    /// An expander of a stream that begins.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next event and appends what it stands for to `out`.
    ///
    /// # Errors
    /// A chunk opens nothing and goes on with nothing, contradicts the first one, could belong to several, or is one
    /// stream too much. Nothing is appended.
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
