//! Messages as content blocks of a prompt.
use super::{InputError, MAX_CONTEXT_BYTES, MAX_CONTEXT_ENTRIES, MAX_MEDIA_BYTES, MAX_STATE_BYTES};
use acp_types::v1::content::{
    Annotations, AudioContent, BlobResourceContents, ContentBlock, EmbeddedResource,
    EmbeddedResourceResource, ImageContent, ResourceLink, Role, TextResourceContents,
};
use acp_types::v1::initialization::PromptCapabilities;
use agui_types::content::{Content, ContentPart, DataSource, PartSource, UrlSource};
use agui_types::input::Context;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use jsonrpc_core::is_public_url;
use jsonrpc_core::pointer::segment_name;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The handling of content that the agent does not support.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum UnsupportedContent {
    /// The input is refused: [`InputError::Unsupported`].
    #[default]
    Reject,
    /// Replaced by a text that names the missing content.
    Placeholder,
}

pub(super) struct Blocks<'a> {
    capabilities: &'a PromptCapabilities,
    unsupported: UnsupportedContent,
    pub(super) blocks: Vec<ContentBlock>,
    media_bytes: usize,
}

#[derive(Clone, Copy)]
enum Media {
    Image,
    Audio,
    Video,
    Document,
}

impl Media {
    fn is_taken(self, capabilities: &PromptCapabilities) -> bool {
        let taken = match self {
            Self::Image => capabilities.image,
            Self::Audio => capabilities.audio,
            Self::Video | Self::Document => capabilities.embedded_context,
        };
        taken == Some(true)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Image => "images",
            Self::Audio => "audio",
            Self::Video => "videos",
            Self::Document => "documents",
        }
    }
}

impl<'a> Blocks<'a> {
    pub(super) fn new(
        capabilities: &'a PromptCapabilities,
        unsupported: UnsupportedContent,
    ) -> Self {
        Self { capabilities, unsupported, blocks: Vec::new(), media_bytes: 0 }
    }

    pub(super) fn text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.blocks.push(ContentBlock::from(text));
        }
    }

    pub(super) fn content(&mut self, content: &Content, pointer: &str) -> Result<(), InputError> {
        match content {
            Content::Text(text) => self.text(text),
            Content::Parts(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    match self.part(part, &format!("{pointer}/{index}")) {
                        Err(InputError::Unsupported { what, .. })
                            if self.unsupported == UnsupportedContent::Placeholder =>
                        {
                            self.text(&format!("[left out: the agent does not support {what}]"));
                        }
                        other => other?,
                    }
                }
            }
        }
        Ok(())
    }

    fn part(&mut self, part: &ContentPart, pointer: &str) -> Result<(), InputError> {
        let (media, source) = match part {
            ContentPart::Text(part) => {
                self.text(&part.text);
                return Ok(());
            }
            ContentPart::Image(part) => (Media::Image, &part.source),
            ContentPart::Audio(part) => (Media::Audio, &part.source),
            ContentPart::Video(part) => (Media::Video, &part.source),
            ContentPart::Document(part) => (Media::Document, &part.source),
            ContentPart::Binary(part) => {
                let modern = part.modern().ok_or_else(|| unsupported(pointer, PROVIDER_FILE))?;
                return self.part(&modern, pointer);
            }
            _ => return Err(unsupported(pointer, "content of this kind")),
        };
        match source {
            PartSource::Data(data) => self.data(media, data, pointer),
            PartSource::Url(url) => self.link(url, pointer),
            _ => Err(unsupported(pointer, PROVIDER_FILE)),
        }
    }

    fn data(&mut self, media: Media, data: &DataSource, pointer: &str) -> Result<(), InputError> {
        if !media.is_taken(self.capabilities) {
            return Err(unsupported(pointer, media.as_str()));
        }
        let invalid = |member: &str, expected: &'static str| InputError::Invalid {
            pointer: format!("{pointer}/source/{member}"),
            expected: expected.into(),
        };
        if !is_mime_type(&data.mime_type) {
            return Err(invalid("mimeType", "a media type, as in `image/png`"));
        }
        let bytes = base64_bytes(&data.value).ok_or_else(|| invalid("value", "base64"))?;
        self.media_bytes = self.media_bytes.saturating_add(bytes);
        if self.media_bytes > MAX_MEDIA_BYTES {
            let pointer = format!("{pointer}/source/value");
            return Err(InputError::TooLarge {
                pointer,
                limit: format!("{MAX_MEDIA_BYTES} bytes of media"),
            });
        }
        let value = data.value.as_str();
        let mime_type = data.mime_type.as_str();
        self.blocks.push(match media {
            Media::Image => ContentBlock::Image(Box::new(ImageContent::new(value, mime_type))),
            Media::Audio => ContentBlock::Audio(Box::new(AudioContent::new(value, mime_type))),
            Media::Video | Media::Document => {
                let uri = format!("agui-attachment://{}", self.blocks.len());
                let mut blob = BlobResourceContents::new(uri, value);
                blob.mime_type = Some(mime_type.into());
                resource(EmbeddedResourceResource::Blob(blob))
            }
        });
        Ok(())
    }

    fn link(&mut self, url: &UrlSource, pointer: &str) -> Result<(), InputError> {
        let rest = url.value.strip_prefix("https://").or_else(|| url.value.strip_prefix("http://"));
        let Some(rest) =
            rest.filter(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace))
        else {
            let pointer = format!("{pointer}/source/value");
            return Err(InputError::Invalid { pointer, expected: "an http or https URL".into() });
        };
        if !is_public_url(&url.value) {
            let pointer = format!("{pointer}/source/value");
            return Err(InputError::Invalid { pointer, expected: "a URL of a public host".into() });
        }
        let path = rest.split(['?', '#']).next().unwrap_or(rest).trim_end_matches('/');
        let name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(rest);
        let mut link = ResourceLink::new(name, url.value.as_str());
        link.mime_type = url.mime_type.clone();
        self.blocks.push(ContentBlock::ResourceLink(Box::new(link)));
        Ok(())
    }

    /// Adds the entries of `context`, each as a block.
    pub(super) fn context(&mut self, context: &[Context]) -> Result<(), InputError> {
        if context.len() > MAX_CONTEXT_ENTRIES {
            let pointer = "/context".to_string();
            return Err(InputError::TooLarge {
                pointer,
                limit: format!("{MAX_CONTEXT_ENTRIES} entries"),
            });
        }
        for (index, entry) in context.iter().enumerate() {
            if entry.value.trim().is_empty() {
                continue;
            }
            if entry.description.len().saturating_add(entry.value.len()) > MAX_CONTEXT_BYTES {
                let pointer = format!("/context/{index}");
                return Err(InputError::TooLarge {
                    pointer,
                    limit: format!("{MAX_CONTEXT_BYTES} bytes"),
                });
            }
            let text = match entry.description.trim() {
                "" => entry.value.clone(),
                description => format!("{description}:\n{}", entry.value),
            };
            self.background(&format!("agui-context://{index}"), "text/plain", text);
        }
        Ok(())
    }

    /// Adds the shared state: an object without the bridge's own member and without these members.
    /// An empty object is left out.
    pub(super) fn state(&mut self, state: &Raw, without: &[String]) -> Result<(), InputError> {
        let mut value: Value = state.decode().map_err(|_| InputError::Invalid {
            pointer: "/state".to_string(),
            expected: "JSON that is not nested too deeply".into(),
        })?;
        for pointer in without.iter().map(String::as_str).chain(["/acp"]) {
            let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
            if let Some(Value::Object(members)) = value.pointer_mut(parent) {
                members.remove(&*segment_name(name));
            }
        }
        if value.is_null() || value.as_object().is_some_and(Map::is_empty) {
            return Ok(());
        }
        let text = value.to_string();
        if text.len() > MAX_STATE_BYTES {
            let limit = format!("{MAX_STATE_BYTES} bytes");
            return Err(InputError::TooLarge { pointer: "/state".to_string(), limit });
        }
        self.background("agui-state://thread", "application/json", text);
        Ok(())
    }

    /// Adds background text that is not from the user: a resource, or text if the agent does not
    /// support resources.
    pub(super) fn background(&mut self, uri: &str, mime_type: &str, text: String) {
        self.blocks.push(if self.capabilities.embedded_context == Some(true) {
            let mut contents = TextResourceContents::new(uri, text);
            contents.mime_type = Some(mime_type.into());
            resource(EmbeddedResourceResource::Text(contents))
        } else {
            ContentBlock::from(text)
        });
    }
}

/// Creates a resource for the model only.
fn resource(resource: EmbeddedResourceResource) -> ContentBlock {
    let mut annotations = Annotations::new();
    annotations.audience = Some(vec![Role::Assistant]);
    let mut embedded = EmbeddedResource::new(resource);
    embedded.annotations = Some(Box::new(annotations));
    ContentBlock::Resource(Box::new(embedded))
}

const PROVIDER_FILE: &str = "files that a provider holds";

fn unsupported(pointer: &str, what: &'static str) -> InputError {
    InputError::Unsupported { pointer: pointer.into(), what: what.into() }
}

fn is_mime_type(text: &str) -> bool {
    let is_token =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_graphic() && c != '/');
    let essence = text.split(';').next().unwrap_or_default().trim();
    essence.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}

/// Base64 with padding. Some encoders leave bits in the last character that no byte has.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Returns the decoded size of a base64 text (RFC 4648, section 4).
fn base64_bytes(text: &str) -> Option<usize> {
    let bytes = BASE64.decode(text).ok()?;
    (!bytes.is_empty()).then_some(bytes.len())
}
