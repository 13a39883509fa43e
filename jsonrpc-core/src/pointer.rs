//! Segments of JSON pointers.
//!
//! Spec: [Syntax, RFC 6901](https://www.rfc-editor.org/rfc/rfc6901#section-3)
use alloc::borrow::Cow;
use alloc::string::String;

/// Appends a segment to a JSON pointer: the name of a member, or the index of an item.
///
/// ```
/// use jsonrpc_core::pointer::{push_segment, segment_name};
///
/// let mut pointer = String::from("/properties");
/// push_segment(&mut pointer, "a/b~c");
/// assert_eq!(pointer, "/properties/a~1b~0c");
/// assert_eq!(segment_name("a~1b~0c"), "a/b~c");
/// ```
pub fn push_segment(pointer: &mut String, name: &str) {
    pointer.push('/');
    for character in name.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// Returns the name that a segment of a JSON pointer refers to.
pub fn segment_name(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') {
        segment.replace("~1", "/").replace("~0", "~").into()
    } else {
        segment.into()
    }
}
