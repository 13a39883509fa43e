//! Text by which messages of the user are compared.
use agui_types::content::Content;
use alloc::string::String;

/// Returns the text, or the parts as JSON.
pub(super) fn compared_text(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        parts => serde_json::to_string(parts).unwrap_or_default(),
    }
}
