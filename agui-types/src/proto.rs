//! The binary transport: protobuf frames (feature `protobuf`).
//!
//! A body is a sequence of frames, each a length (four bytes, big-endian) and an event.
//! [`write_event`] appends a frame, [`Decoder`] splits a body.
//! [`BodyEncoding::negotiate`](crate::transport::BodyEncoding::negotiate) selects the form of a
//! response.
//!
//! The binary form expresses less than JSON. It has no place for unknown members, variants and
//! names, for members of patch operations beyond RFC 6902, or for `encryptedValueType`; values with
//! these are refused. Numbers become doubles. An empty list equals an absent one. Where the schema
//! requires a string, an empty one equals an absent one.
//!
//! ```
//! use agui_types::event::{Event, TextMessageContentEvent};
//! use agui_types::proto::{self, Decoder, Frame};
//!
//! let event = Event::from(TextMessageContentEvent::new("m", "Hi"));
//! let mut body = Vec::new();
//! proto::write_event(&mut body, &event)?;
//! assert_eq!(body, b"\0\0\0\x0d\x12\x0b\x0a\x02\x08\x01\x12\x01m\x1a\x02Hi");
//!
//! let (mut decoder, mut read) = (Decoder::default(), Vec::new());
//! for piece in body.chunks(3) {
//!     decoder.push(piece);
//!     while let Some(frame) = decoder.next_frame() {
//!         read.push(frame?);
//!     }
//! }
//! decoder.finish()?;
//! assert_eq!(read, [Frame::Event(event)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Spec: [HTTP + Protobuf, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-protobuf)
use crate::event::Event;
use alloc::vec::Vec;
use bytes::BufMut;

/// Declares a protobuf message and its conversions from and to a type of this crate. Fields are
/// listed, and written, in the order of their numbers.
macro_rules! message {
    ($Wire:ident is $Type:ident { $($field:ident: $Field:ty [$($attr:tt)*],)* } $(without { $($lost:ident = $name:literal)* })?) => {
        #[derive(Clone, PartialEq, prost::Message)]
        pub(super) struct $Wire {
            $( #[prost($($attr)*)] $field: $Field, )*
        }

        impl Field<$Wire> for $Type {
            fn to_wire(&self) -> Result<$Wire, EncodeError> {
                closed(&self.extra)?;
                $( $( without($name, &self.$lost)?; )* )?
                Ok($Wire { $( $field: self.$field.to_wire()?, )* })
            }

            fn from_wire(wire: $Wire) -> Result<Self, DecodeError> {
                Ok(Self {
                    $( $field: Field::from_wire(wire.$field)?, )*
                    $( $( $lost: None, )* )?
                    extra: Extra::new(),
                })
            }
        }

        impl Field<Option<$Wire>> for $Type {
            fn to_wire(&self) -> Result<Option<$Wire>, EncodeError> {
                Field::<$Wire>::to_wire(self).map(Some)
            }

            fn from_wire(wire: Option<$Wire>) -> Result<Self, DecodeError> {
                Field::<$Wire>::from_wire(wire.unwrap_or_default())
            }
        }
    };
}

mod content;
mod decoder;
mod envelope;
mod event;
mod field;
mod message;
mod operation;
mod value;

pub use decoder::{Decoder, FrameError};
pub use envelope::Frame;
pub use field::{DecodeError, EncodeError};

/// The media type of a response with frames.
///
/// Spec: [HTTP + Protobuf, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-protobuf)
pub const CONTENT_TYPE: &str = "application/vnd.ag-ui.event+proto";

/// Appends an event as a frame.
///
/// # Errors
/// The event contains something that the binary form cannot express, or a value that is too deep or
/// too long. [Enforcement](crate::enforce) removes unknown material, except for
/// `encryptedValueType` and members of patch operations. `out` stays unchanged.
///
/// Spec: [HTTP + Protobuf, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-protobuf)
pub fn write_event(out: &mut impl BufMut, event: &Event) -> Result<(), EncodeError> {
    let message = encode_event(event)?;
    let length = u32::try_from(message.len()).map_err(|_| EncodeError::TooLong)?;
    out.put_u32(length);
    out.put_slice(&message);
    Ok(())
}

/// Writes an event as a protobuf message, without a frame around it.
///
/// # Errors
/// As [`write_event`].
///
/// Spec: [HTTP + Protobuf, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-protobuf)
pub fn encode_event(event: &Event) -> Result<Vec<u8>, EncodeError> {
    envelope::encode(event)
}

/// Reads a protobuf message: an event, or the field number of an unknown one.
///
/// # Errors
/// The bytes are not a message, hold no event or several, or the event's type contradicts its
/// field.
///
/// Spec: [HTTP + Protobuf, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-protobuf)
pub fn decode_event(message: &[u8]) -> Result<Frame, DecodeError> {
    envelope::decode(message)
}
