//! Tool names that every model accepts, derived from the names that servers use.
//!
//! The name of a tool is unique only within its server and may contain up to 128 characters,
//! including dots. Models accept up to 64 of the characters `A-Z a-z 0-9 _ -`.
//!
//! Spec: [Tool
//! Names](https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names)
use alloc::format;
use alloc::string::String;

/// Maximum length of a name that every model accepts.
pub const MAX_LEN: usize = 64;

/// Separates the server and the tool in a name that contains both.
pub const SEPARATOR: &str = "__";

/// Returns whether every model accepts a name unchanged.
pub fn is_plain(name: &str) -> bool {
    (1..=MAX_LEN).contains(&name.len()) && name.bytes().all(is_plain_byte)
}

fn is_plain_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Derives a tool name that every model accepts.
///
/// The result is `server__tool` if that is valid, otherwise a valid prefix of it followed by eight
/// hexadecimal digits of a hash. Each `attempt` gives a different name.
///
/// The result is deterministic across programs and versions. It cannot be parsed; the
/// [`Registry`](crate::registry::Registry) maps it back to the tool.
///
/// ```
/// use mcp_bridge::names;
///
/// assert_eq!(names::mangle(Some("travel"), "book_flight", 0), "travel__book_flight");
/// assert_eq!(names::mangle(None, "files.read", 0), "files_read_3213bdc2");
/// assert_eq!(names::mangle(Some("travel"), &"x".repeat(100), 0).len(), names::MAX_LEN);
/// ```
pub fn mangle(server: Option<&str>, tool: &str, attempt: u32) -> String {
    let whole = match server {
        Some(server) => format!("{server}{SEPARATOR}{tool}"),
        None => tool.into(),
    };
    if attempt == 0 && is_plain(&whole) {
        return whole;
    }
    let hash = hash(server, tool, attempt);
    let plain = whole.chars().map(|character| {
        let byte = u8::try_from(character).ok().filter(|byte| is_plain_byte(*byte));
        byte.map_or('_', char::from)
    });
    let mut name: String = plain.take(MAX_LEN - "_".len() - HASH_LEN).collect();
    name.push_str(&format!("_{hash:08x}"));
    name
}

/// Length of the hash in hexadecimal digits.
const HASH_LEN: usize = 8;

/// [FNV-1a](https://www.rfc-editor.org/rfc/rfc9923) of the inputs. The lengths of the parts are
/// hashed as well, so that different parts never form the same input.
fn hash(server: Option<&str>, tool: &str, attempt: u32) -> u32 {
    let length = u32::try_from(server.map_or(0, |server| server.len() + 1)).unwrap_or(u32::MAX);
    let parts = [&length.to_le_bytes()[..], &attempt.to_le_bytes()];
    let texts = [server.unwrap_or_default().as_bytes(), tool.as_bytes()];
    parts
        .into_iter()
        .chain(texts)
        .flatten()
        .fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}
