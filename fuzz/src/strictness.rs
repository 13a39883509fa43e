//! Properties of the strictness levels.
use crate::message::parts;
use jsonrpc_core::{Message, MessageError};
use serde_json::Value;

/// A message that is valid strictly is valid tolerantly with the same result, and so from tolerant to lenient. Lenient
/// decoding reports each deviation that strict decoding rejects.
pub fn strictness(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let (strict, tolerant) = (Message::decode_strict(text), Message::decode(text));
    let lenient = Message::decode_lenient(text);
    if let Ok(strict) = &strict {
        let tolerant = tolerant.as_ref().expect("what is strictly a message is one");
        assert_eq!(parts(strict), parts(tolerant));
        let (lenient, diagnostics) = lenient.as_ref().expect("what is strictly a message is one");
        assert_eq!(parts(strict), parts(lenient));
        assert_eq!(diagnostics, &[]);
    }
    if let Ok(tolerant) = &tolerant {
        let (lenient, _) = lenient.as_ref().expect("what is taken for a message is one");
        assert_eq!(essence(tolerant), essence(lenient));
    }
    let is_syntax =
        |error: Option<&MessageError>| matches!(error, Some(MessageError::Syntax { .. }));
    assert_eq!(is_syntax(strict.as_ref().err()), is_syntax(tolerant.as_ref().err()));
    assert_eq!(is_syntax(strict.as_ref().err()), is_syntax(lenient.as_ref().err()));
    let Ok((_, diagnostics)) = lenient else { return };
    assert_eq!(diagnostics.is_empty(), strict.is_ok());
    assert!(diagnostics.len() <= 12, "{diagnostics:?}");
    // serde_json's values are less expressive than the text: no size, no lone surrogate.
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    for diagnostic in diagnostics {
        let parent = diagnostic.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
        assert!(value.pointer(parent).is_some(), "{diagnostic}");
    }
}

/// Returns the content of a message, without unknown members.
fn essence(message: &Message<'_>) -> Vec<String> {
    let mut parts = parts(message);
    parts.truncate(parts.len() - message.extra().count());
    parts
}
