use super::FrameError;
use alloc::string::String;
use bytes::Bytes;
use core::fmt;

/// The bytes of one message, without what frames them. Cloning copies nothing, and those that were read are a part of
/// the buffer they were read into.
#[derive(Clone)]
pub struct Frame {
    bytes: Bytes,
    /// Whether it is known that there is no line break in it.
    #[cfg(feature = "codec")]
    is_one_line: bool,
}

impl Frame {
    /// The text, to be read as a [`Message`](crate::Message).
    ///
    /// # Errors
    /// The bytes are not UTF-8: they came under a [policy](super::TextPolicy) that lets such pass, or were never
    /// checked.
    pub fn text(&self) -> Result<&str, FrameError> {
        core::str::from_utf8(&self.bytes)
            .map_err(|error| FrameError::utf8(error.valid_up_to(), &self.bytes))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, to be kept.
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// Of a message that was written on one line.
    #[cfg(feature = "async")]
    pub(crate) fn one_line(bytes: Bytes) -> Self {
        Self {
            bytes,
            #[cfg(feature = "codec")]
            is_one_line: true,
        }
    }

    #[cfg(feature = "codec")]
    pub(crate) fn is_one_line(&self) -> bool {
        self.is_one_line
    }
}

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Frame {}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Frame").field(&self.bytes).finish()
    }
}

impl From<Bytes> for Frame {
    fn from(bytes: Bytes) -> Self {
        Self {
            bytes,
            #[cfg(feature = "codec")]
            is_one_line: false,
        }
    }
}

impl From<String> for Frame {
    fn from(text: String) -> Self {
        Bytes::from(text).into()
    }
}

impl From<&str> for Frame {
    fn from(text: &str) -> Self {
        Bytes::copy_from_slice(text.as_bytes()).into()
    }
}
