//! ACP prompts as AG-UI messages.
use super::PromptError;
use acp_types::v1::content::{ContentBlock, EmbeddedResourceResource, ResourceLink};
use agui_types::content::{
    AudioPart, BinaryPart, Content, ContentPart, DataSource, DocumentPart, ImagePart, PartSource,
    TextPart, UrlSource,
};
use agui_types::profile::Profile;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Returns the content of a user message for a prompt.
pub(super) fn content(prompt: &[ContentBlock], profile: Profile) -> Result<Content, PromptError> {
    let mut parts = Vec::new();
    for (index, block) in prompt.iter().enumerate() {
        parts.push(part(block, profile).ok_or(PromptError::Unknown(index))?);
    }
    match &parts[..] {
        [] => Err(PromptError::Empty),
        [ContentPart::Text(text)] => Ok(Content::Text(text.text.clone())),
        _ => Ok(Content::Parts(parts)),
    }
}

fn part(block: &ContentBlock, profile: Profile) -> Option<ContentPart> {
    let modern = profile == Profile::V1;
    Some(match block {
        ContentBlock::Text(content) => text(&*content.text),
        ContentBlock::Image(image) if modern => {
            ContentPart::Image(ImagePart::new(data(&image.data, &image.mime_type)))
        }
        ContentBlock::Audio(audio) if modern => {
            ContentPart::Audio(AudioPart::new(data(&audio.data, &audio.mime_type)))
        }
        ContentBlock::Image(image) => binary(&image.data, &image.mime_type),
        ContentBlock::Audio(audio) => binary(&audio.data, &audio.mime_type),
        ContentBlock::ResourceLink(link) => linked(link, modern),
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::Text(contents) => {
                text(format!("{}\n{}", contents.uri, contents.text))
            }
            EmbeddedResourceResource::Blob(blob) => {
                let mime_type = blob.mime_type.as_deref().unwrap_or("application/octet-stream");
                if modern {
                    ContentPart::Document(DocumentPart::new(data(&blob.blob, mime_type)))
                } else {
                    binary(&blob.blob, mime_type)
                }
            }
            _ => return None,
        },
        _ => return None,
    })
}

fn linked(link: &ResourceLink, modern: bool) -> ContentPart {
    let is_web = link.uri.starts_with("https://") || link.uri.starts_with("http://");
    if modern && is_web {
        let mut source = UrlSource::new(&*link.uri);
        source.mime_type.clone_from(&link.mime_type);
        ContentPart::Document(DocumentPart::new(PartSource::Url(source)))
    } else {
        text(format!("[{}]({})", link.name, link.uri))
    }
}

fn text(text: impl Into<String>) -> ContentPart {
    ContentPart::Text(TextPart::new(text))
}

fn data(value: &str, mime_type: &str) -> PartSource {
    PartSource::Data(DataSource::new(value, mime_type))
}

fn binary(value: &str, mime_type: &str) -> ContentPart {
    let mut part = BinaryPart::new(mime_type);
    part.data = Some(value.into());
    ContentPart::Binary(part)
}
