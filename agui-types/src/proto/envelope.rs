//! The envelope: one field for each event.
use super::event::*;
use super::field::{DecodeError, EncodeError, Field};
use crate::event::Event;
use alloc::string::ToString;
use alloc::vec::Vec;
use bytes::Buf;
use prost::Message;
use prost::{decode_length_delimiter, encode_length_delimiter};

/// Content of a frame.
///
/// Spec: [HTTP + Protobuf, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-protobuf)
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "`Unknown` covers each further event")]
pub enum Frame {
    /// An event.
    Event(Event),
    /// An event that this version does not know. Drop it.
    Unknown {
        /// Its field number in the envelope.
        field: u32,
    },
}

/// The wire type of messages, strings and lists of messages.
const LENGTH_DELIMITED: usize = 2;

macro_rules! envelope {
    ($($number:literal = $Variant:ident($Wire:ident),)*) => {
        /// Writes an event to its field.
        pub(super) fn encode(event: &Event) -> Result<Vec<u8>, EncodeError> {
            match event {
                $( Event::$Variant(event) => {
                    let wire: $Wire = event.to_wire()?;
                    put($number, &wire)
                } )*
                Event::Unknown(other) => Err(EncodeError::Unknown(other.tag().into())),
            }
        }

        /// Reads the event of a field.
        fn read(number: usize, message: &[u8]) -> Result<Option<Event>, DecodeError> {
            match number {
                $( $number => {
                    Field::from_wire($Wire::decode(message)?).map(|event| Some(Event::$Variant(event)))
                } )*
                _ => Ok(None),
            }
        }
    };
}

envelope! {
    1 = TextMessageStart(WireTextMessageStart),
    2 = TextMessageContent(WireTextMessageContent),
    3 = TextMessageEnd(WireTextMessageEnd),
    4 = ToolCallStart(WireToolCallStart),
    5 = ToolCallArgs(WireToolCallArgs),
    6 = ToolCallEnd(WireToolCallEnd),
    7 = StateSnapshot(WireStateSnapshot),
    8 = StateDelta(WireStateDelta),
    9 = MessagesSnapshot(WireMessagesSnapshot),
    10 = Raw(WireRaw),
    11 = Custom(WireCustom),
    12 = RunStarted(WireRunStarted),
    13 = RunFinished(WireRunFinished),
    14 = RunError(WireRunError),
    15 = StepStarted(WireStepStarted),
    16 = StepFinished(WireStepFinished),
    17 = TextMessageChunk(WireTextMessageChunk),
    18 = ToolCallChunk(WireToolCallChunk),
    19 = SubagentStarted(WireSubagentStarted),
    20 = SubagentFinished(WireSubagentFinished),
    21 = SubagentError(WireSubagentError),
    22 = ToolCallResult(WireToolCallResult),
    23 = ActivitySnapshot(WireActivitySnapshot),
    24 = ActivityDelta(WireActivityDelta),
    25 = ReasoningStart(WireReasoningStart),
    26 = ReasoningMessageStart(WireReasoningMessageStart),
    27 = ReasoningMessageContent(WireReasoningMessageContent),
    28 = ReasoningMessageEnd(WireReasoningMessageEnd),
    29 = ReasoningMessageChunk(WireReasoningMessageChunk),
    30 = ReasoningEnd(WireReasoningEnd),
    31 = ReasoningEncryptedValue(WireReasoningEncryptedValue),
}

fn put(number: usize, wire: &impl Message) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::new();
    let written = encode_length_delimiter(number << 3 | LENGTH_DELIMITED, &mut out)
        .and_then(|()| wire.encode_length_delimited(&mut out));
    written.map_err(|error| EncodeError::Value(error.to_string()))?;
    Ok(out)
}

/// Reads an envelope, field by field. More than one event is an error.
pub(super) fn decode(mut message: &[u8]) -> Result<Frame, DecodeError> {
    let mut known = None;
    let mut unknown = None;
    while message.has_remaining() {
        // A key is a varint, as a length is.
        let key = decode_length_delimiter(&mut message)?;
        let number = key >> 3;
        let wire_type = key & 7;
        let length = match wire_type {
            0 => {
                decode_length_delimiter(&mut message)?;
                0
            }
            1 => 8,
            LENGTH_DELIMITED => decode_length_delimiter(&mut message)?,
            5 => 4,
            _ => return Err(broken("an unsupported wire type")),
        };
        if number == 0 {
            return Err(broken("a field without a number"));
        }
        let value = message.get(..length).ok_or_else(|| broken("a truncated field"))?;
        message = message.get(length..).unwrap_or_default();
        if wire_type != LENGTH_DELIMITED {
            unknown = unknown.or(u32::try_from(number).ok());
            continue;
        }
        match read(number, value)? {
            Some(_) if known.is_some() => return Err(DecodeError::Several),
            Some(event) => known = Some(event),
            None => unknown = unknown.or(u32::try_from(number).ok()),
        }
    }
    match (known, unknown) {
        (Some(event), _) => Ok(Frame::Event(event)),
        (None, Some(field)) => Ok(Frame::Unknown { field }),
        (None, None) => Err(DecodeError::Empty),
    }
}

fn broken(what: &str) -> DecodeError {
    DecodeError::Protobuf(what.into())
}
