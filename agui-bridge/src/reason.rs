//! The reason of an agent's error for people: its text and the text of its `data`, without
//! credentials.
use crate::json;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{Extra, Raw};

/// Maximum number of bytes of a reason.
const MAX_REASON: usize = 1024;

/// Members of `data` that hold its text, the best first.
const TEXTS: [&str; 7] =
    ["details", "detail", "message", "error", "reason", "description", "_errors"];

/// Maximum nesting of `data` that is searched.
const MAX_DEPTH: usize = 4;

/// Minimum length of a word that is taken for a credential if it has letters and digits.
const MIN_OPAQUE: usize = 24;

/// Beginnings of words that are credentials.
const KEYS: [&str; 8] = ["sk-", "xai-", "ghp_", "gho_", "github_pat_", "glpat-", "AIza", "xox"];

/// Replaces a credential.
const HIDDEN: &str = "(hidden)";

/// Returns the message of an error, followed by the text of its `data` unless one has the other: at
/// most 1 KiB, without credentials.
///
/// | `data` | text |
/// |---|---|
/// | a string | the string |
/// | an object | the text of its first member of `details`, `detail`, `message`, `error`, `reason`, `description`, `_errors` |
/// | an array | the text of its first element |
/// | any other | none |
///
/// ```
/// use jsonrpc_core::wire::Raw;
/// use jsonrpc_core::{ErrorCode, ErrorObject};
///
/// let mut error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "Internal error");
/// error.data = Some(Raw::from_text(r#"{"details":"the key sk-abc123 is expired"}"#)?);
/// assert_eq!(agui_bridge::reason(&error), "Internal error: the key (hidden) is expired");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn reason(error: &ErrorObject) -> String {
    let message = error.message.trim();
    let data = error.data.as_ref().and_then(|data| text_of(data, MAX_DEPTH));
    let data = data.as_deref().map(str::trim).filter(|data| !data.is_empty());
    let both = match data {
        Some(data) if data.contains(message) => data.to_owned(),
        Some(data) if !message.contains(data) => {
            format!("{}: {data}", message.trim_end_matches(['.', ':']))
        }
        _ => message.to_owned(),
    };
    json::cut(without_credentials(&both), MAX_REASON)
}

fn text_of(data: &Raw, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let text = data.as_str();
    if text.starts_with('"') {
        return data.decode().ok();
    }
    if text.starts_with('[') {
        let elements = data.decode_serde::<alloc::vec::Vec<Raw>>().ok()?;
        return elements.first().and_then(|first| text_of(first, depth));
    }
    let members = text.starts_with('{').then(|| data.decode::<Extra>().ok()).flatten()?;
    TEXTS.iter().find_map(|name| text_of(members.get(name)?, depth))
}

/// Returns the beginning of a text on one line, for logs and messages: without control characters
/// and escape sequences of terminals, and without credentials.
///
/// ```
/// let line = agui_bridge::excerpt("\u{1b}[31mError\u{1b}[0m: key sk-abc123 of\thttps://u:p@host/?k=v", 80);
/// assert_eq!(line, "Error: key (hidden) of https://host/?(hidden)");
/// ```
pub fn excerpt(text: &str, limit: usize) -> String {
    let mut plain = String::new();
    let mut letters = json::head(text, limit.saturating_mul(4)).chars();
    while let Some(letter) = letters.next() {
        match letter {
            // An escape sequence ends with a letter.
            '\u{1b}' => drop(letters.find(char::is_ascii_alphabetic)),
            _ if letter.is_control() => plain.push(' '),
            _ => plain.push(letter),
        }
    }
    let plain = without_credentials(plain.trim());
    let head = json::head(&plain, limit);
    if head.len() < plain.len() { format!("{head}…") } else { plain }
}

/// Replaces what looks like a credential: keys with a known beginning, tokens after `Bearer`, long
/// words of letters and digits, and users and queries of URLs.
fn without_credentials(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut is_token = false;
    for word in text.split_inclusive(|c: char| c.is_whitespace() || "\"'`,<>()[]{}".contains(c)) {
        let end = word.trim_end_matches(|c: char| c.is_whitespace() || "\"'`,<>()[]{}".contains(c));
        let rest = word.get(end.len()..).unwrap_or_default();
        match end.split_once("://") {
            _ if end.is_empty() => {}
            // The text may have been cleaned before.
            _ if is_token && end != "hidden" => clean.push_str(HIDDEN),
            Some((scheme, address)) => push_url(&mut clean, scheme, address),
            None => push_word(&mut clean, end),
        }
        clean.push_str(rest);
        is_token = end.eq_ignore_ascii_case("bearer") || (end.is_empty() && is_token);
    }
    clean
}

fn push_url(clean: &mut String, scheme: &str, address: &str) {
    let (place, query) = match address.find(['?', '#']) {
        Some(at) => address.split_at(at),
        None => (address, ""),
    };
    let (host, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    clean.push_str(scheme);
    clean.push_str("://");
    clean.push_str(host);
    push_word(clean, path);
    if let Some(mark) = query.get(..1) {
        clean.push_str(mark);
        clean.push_str(HIDDEN);
    }
}

fn push_word(clean: &mut String, word: &str) {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut rest = word;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_of_key(c)).unwrap_or(rest.len());
        let (run, others) = rest.split_at(end);
        clean.push_str(if is_credential(run) { HIDDEN } else { run });
        let next = others.find(is_of_key).unwrap_or(others.len());
        let (between, after) = others.split_at(next);
        clean.push_str(between);
        rest = after;
    }
}

fn is_credential(run: &str) -> bool {
    let has_key = |key: &str| run.len() > key.len() + 3 && run.starts_with(key);
    let is_opaque = |part: &str| {
        part.len() >= MIN_OPAQUE
            && part.bytes().any(|byte| byte.is_ascii_digit())
            && part.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    KEYS.iter().any(|key| has_key(key)) || run.split('-').any(is_opaque)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonrpc_core::ErrorCode;
    use proptest::prelude::*;

    #[test]
    fn text_of_data_follows_message() {
        for (data, expected) in [
            (
                r#""Unauthorized (401) from https://api.x.ai""#,
                "Internal error: Unauthorized (401) from https://api.x.ai",
            ),
            (r#"{"details":"Invalid Mode"}"#, "Internal error: Invalid Mode"),
            (
                r#"{"error":{"code":400,"message":"too many tokens"}}"#,
                "Internal error: too many tokens",
            ),
            (r#"{"_errors":["expected array"]}"#, "Internal error: expected array"),
            (r#"{"error":"Internal error: no model"}"#, "Internal error: no model"),
            (r#"{"sessionId":"s"}"#, "Internal error"),
            (r#""Internal""#, "Internal error"),
            ("{\"error\":{\"error\":{\"error\":{\"error\":\"deep\"}}}}", "Internal error"),
            ("7", "Internal error"),
            ("null", "Internal error"),
            (r#"[]"#, "Internal error"),
        ] {
            let mut error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "Internal error");
            error.data = Some(Raw::from_text(data).unwrap());
            assert_eq!(reason(&error), expected, "{data}");
        }
    }

    #[test]
    fn credentials_are_hidden() {
        for (text, expected) in [
            ("Incorrect API key: sk-proj-12345678.", "Incorrect API key: (hidden)."),
            ("Authorization: Bearer abc.def", "Authorization: Bearer (hidden)"),
            ("got \"Bearer  abc\"", "got \"Bearer  (hidden)\""),
            ("no Bearer (hidden)", "no Bearer (hidden)"),
            (
                "404 for http://127.0.0.1:1/mcp/threads/0123456789abcdef0123456789abcdef/mcp",
                "404 for http://127.0.0.1:1/mcp/threads/(hidden)/mcp",
            ),
            ("at https://u:p@host:1/a?key=b#c", "at https://host:1/a?(hidden)"),
            ("no model claude-sonnet-4-5-20250929", "no model claude-sonnet-4-5-20250929"),
            ("/home/me/project/a_b.rs:12", "/home/me/project/a_b.rs:12"),
        ] {
            assert_eq!(without_credentials(text), expected);
        }
    }

    proptest! {
        /// An excerpt is one line within its limit.
        #[test]
        fn excerpt_is_bounded(text in any::<String>(), limit in 0_usize..60) {
            let excerpt = excerpt(&text, limit);
            prop_assert!(excerpt.len() <= limit + '…'.len_utf8());
            prop_assert!(!excerpt.chars().any(char::is_control));
        }

        /// A reason is bounded and has no key, wherever the key is.
        #[test]
        fn key_is_in_no_reason(before in "[ -~]{0,40}", after in "[ -~]{0,40}") {
            let key = "sk-q0q0q0q0q0";
            let data = alloc::format!("{before} {key} {after}");
            let mut error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "Internal error");
            error.data = Some(Raw::from_value(&data).unwrap());
            prop_assert!(!reason(&error).contains(key));
        }
    }
}
