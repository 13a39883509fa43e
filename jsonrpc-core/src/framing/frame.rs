//! The bytes of one message.
use super::FrameError;
use alloc::string::String;
use bytes::Bytes;
use bytestring::ByteString;
use core::fmt;

/// The bytes of one message, without their framing. Clones share memory; received bytes are a slice
/// of the read buffer.
#[derive(Clone)]
pub struct Frame {
    content: Content,
}

#[derive(Clone)]
enum Content {
    /// Validated text.
    Text(ByteString),
    Bytes(Bytes),
}

impl Frame {
    /// Returns the text, for decoding as a [`Message`](crate::Message).
    ///
    /// # Errors
    /// The bytes are not UTF-8: they were accepted under a [policy](super::TextPolicy) that permits
    /// it, or were never validated.
    pub fn text(&self) -> Result<&str, FrameError> {
        match &self.content {
            Content::Text(text) => Ok(text),
            Content::Bytes(bytes) => core::str::from_utf8(bytes)
                .map_err(|error| FrameError::utf8(error.valid_up_to(), bytes)),
        }
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.content {
            Content::Text(text) => text.as_bytes(),
            Content::Bytes(bytes) => bytes,
        }
    }

    /// Returns the bytes, consuming the frame.
    pub fn into_bytes(self) -> Bytes {
        match self.content {
            Content::Text(text) => text.into_bytes(),
            Content::Bytes(bytes) => bytes,
        }
    }

    fn new(content: Content) -> Self {
        Self { content }
    }

    /// Creates a frame from bytes that have to be text.
    #[cfg(feature = "codec")]
    pub(crate) fn of_text(bytes: Bytes) -> Result<Self, FrameError> {
        match ByteString::try_from(bytes.clone()) {
            Ok(text) => Ok(Self::new(Content::Text(text))),
            Err(error) => Err(FrameError::utf8(error.valid_up_to(), &bytes)),
        }
    }
}

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Frame {}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            Content::Text(text) => f.debug_tuple("Frame").field(text.as_bytes()).finish(),
            Content::Bytes(bytes) => f.debug_tuple("Frame").field(bytes).finish(),
        }
    }
}

impl From<Bytes> for Frame {
    fn from(bytes: Bytes) -> Self {
        Self::new(Content::Bytes(bytes))
    }
}

impl From<String> for Frame {
    fn from(text: String) -> Self {
        Self::new(Content::Text(text.into()))
    }
}

impl From<&str> for Frame {
    fn from(text: &str) -> Self {
        Self::new(Content::Text(text.into()))
    }
}
