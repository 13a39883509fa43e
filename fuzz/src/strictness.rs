//! The property of strict decoding.
use crate::message::parts;
use jsonrpc_core::{Message, MessageError};

/// A message that is valid strictly is valid tolerantly with the same result.
pub fn strictness(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let strict = Message::decode_strict(text);
    let tolerant = Message::decode(text);
    if let Ok(strict) = &strict {
        let tolerant = tolerant.as_ref().expect("what is strictly a message is one");
        assert_eq!(parts(strict), parts(tolerant));
    }
    let is_syntax =
        |error: Option<&MessageError>| matches!(error, Some(MessageError::Syntax { .. }));
    assert_eq!(is_syntax(strict.as_ref().err()), is_syntax(tolerant.as_ref().err()));
}
