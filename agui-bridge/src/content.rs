//! Content blocks as text, and as bounded JSON.
use crate::json::{self, Members};
use acp_types::v1::content::{ContentBlock, EmbeddedResourceResource, ResourceLink};
use alloc::format;
use alloc::string::String;
use jsonrpc_core::wire::Raw;

/// Returns a resource link as text: a Markdown link for an HTTP URL, otherwise the name as code.
pub(crate) fn link_text(link: &ResourceLink) -> String {
    let title = link.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&link.name);
    if link.uri.starts_with("https://") || link.uri.starts_with("http://") {
        format!(
            "[{}]({})",
            title.replace('[', "\\[").replace(']', "\\]"),
            link.uri.replace(')', "%29")
        )
    } else {
        format!("`{}`", link.name.replace('`', "'"))
    }
}

/// Returns the text with which a user invokes a skill.
pub(crate) fn invocation(skill: &str) -> String {
    format!("/{skill} ")
}

/// Returns a skill as text, if the block is one. Version 1 has no such block.
pub(crate) fn skill_text(block: &ContentBlock) -> Option<String> {
    let ContentBlock::Unknown(other) = block else { return None };
    let name = other.members().get("name").filter(|_| other.tag() == "skill")?;
    name.decode::<String>().ok().map(|name| invocation(&name))
}

/// Returns a content block as JSON; a block longer than `limit` bytes is replaced by its type and
/// size.
pub(crate) fn bounded_block(block: &ContentBlock, limit: usize) -> Raw {
    let value = json::raw(block);
    let bytes = value.as_str().len();
    if bytes <= limit {
        return value;
    }
    let (mime_type, uri) = match block {
        ContentBlock::Image(image) => (Some(&image.mime_type), image.uri.as_ref()),
        ContentBlock::Audio(audio) => (Some(&audio.mime_type), None),
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::Text(text) => (text.mime_type.as_ref(), Some(&text.uri)),
            EmbeddedResourceResource::Blob(blob) => (blob.mime_type.as_ref(), Some(&blob.uri)),
            _ => (None, None),
        },
        _ => (None, None),
    };
    let short = |text: Option<&String>| text.map(|text| String::from(json::head(text, limit)));
    Members::new()
        .with("type", json::head(block.tag(), limit))
        .with_some("mimeType", short(mime_type).as_ref())
        .with_some("uri", short(uri).as_ref())
        .with("omittedBytes", &bytes)
        .into_raw()
}
