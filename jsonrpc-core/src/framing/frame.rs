use super::FrameError;
use alloc::string::String;
use bytes::Bytes;

/// The bytes of one message, without what frames them. Cloning copies nothing, and those that were read are a part of
/// the buffer they were read into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame(Bytes);

impl Frame {
    /// The text, to be read as a [`Message`](crate::Message).
    ///
    /// # Errors
    /// The bytes are not UTF-8: they came under a [policy](super::TextPolicy) that lets such pass, or were never
    /// checked.
    pub fn text(&self) -> Result<&str, FrameError> {
        core::str::from_utf8(&self.0)
            .map_err(|error| FrameError::utf8(error.valid_up_to(), &self.0))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, to be kept.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl From<Bytes> for Frame {
    fn from(bytes: Bytes) -> Self {
        Self(bytes)
    }
}

impl From<String> for Frame {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&str> for Frame {
    fn from(text: &str) -> Self {
        Self(Bytes::copy_from_slice(text.as_bytes()))
    }
}
