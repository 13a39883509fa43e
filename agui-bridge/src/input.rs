//! What a [`RunAgentInput`] asks of an ACP agent.
//!
//! AG-UI clients send the whole conversation each time, ACP agents keep it themselves: only what is new goes to the
//! agent. Which message was the last one, the caller remembers for each thread.
//!
//! ```
//! use acp_types::v1::initialization::PromptCapabilities;
//! use agui_bridge::input::{Work, work};
//! use agui_types::input::RunAgentInput;
//! use jsonrpc_core::wire;
//!
//! let text = r#"{"threadId":"t","runId":"r","messages":[
//!     {"id":"u1","role":"user","content":"Hi"},
//!     {"id":"a1","role":"assistant","content":"Hello."},
//!     {"id":"u2","role":"user","content":"What is new?"}]}"#;
//! let input: RunAgentInput = wire::decode(text)?;
//!
//! let Work::Prompt(prompt) = work(&input, &PromptCapabilities::new(), Some(&"u1".into()))? else { panic!() };
//! assert_eq!(serde_json::to_string(&prompt.blocks)?, r#"[{"type":"text","text":"What is new?"}]"#);
//! assert_eq!(prompt.last_message.as_str(), "u2");
//!
//! assert_eq!(work(&input, &PromptCapabilities::new(), Some(&"u2".into()))?, Work::Nothing);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use acp_types::v1::content::{
    Annotations, AudioContent, BlobResourceContents, ContentBlock, EmbeddedResource,
    EmbeddedResourceResource, ImageContent, ResourceLink, Role, TextResourceContents,
};
use acp_types::v1::initialization::PromptCapabilities;
use agui_types::content::{Content, ContentPart, DataSource, PartSource, UrlSource};
use agui_types::id::MessageId;
use agui_types::input::{Context, RunAgentInput};
use agui_types::message::Message;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// Entries of `context` that are taken.
pub const MAX_CONTEXT_ENTRIES: usize = 64;
/// Bytes of description and value of one entry of `context`.
pub const MAX_CONTEXT_BYTES: usize = 64 << 10;
/// Bytes of images, audio and documents in one prompt, decoded.
pub const MAX_MEDIA_BYTES: usize = 16 << 20;

/// What there is to do for a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Send a prompt.
    Prompt(Prompt),
    /// Nothing: no user message is new. The run is `RUN_STARTED`, then `RUN_FINISHED`.
    Nothing,
}

/// A prompt for the agent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// What to send with `session/prompt`.
    pub blocks: Vec<ContentBlock>,
    /// The message that is the last accepted one once the prompt was sent.
    pub last_message: MessageId,
    /// Messages before the new ones that the agent never saw: the history of a thread that is not known, or one that was
    /// edited. They are not sent; where the session is new, let the client know
    /// ([`handle_new_session`](crate::Translator::handle_new_session)).
    pub unseen: usize,
}

/// An input cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// There are no messages.
    #[error("at /messages: expected at least one message, got none")]
    NoMessages,
    /// The new user messages say nothing.
    #[error("at {pointer}: expected text or media, got a blank message")]
    Blank {
        /// The last of them.
        pointer: String,
    },
    /// A value is not what it should be.
    #[error("at {pointer}: expected {expected}")]
    Invalid {
        /// Where it is, as a JSON pointer.
        pointer: String,
        /// What it should be.
        expected: &'static str,
    },
    /// The agent does not take this kind of content.
    #[error("at {pointer}: the agent does not take {what}")]
    Unsupported {
        /// Where it is, as a JSON pointer.
        pointer: String,
        /// What it is.
        what: &'static str,
    },
    /// A value is too large.
    #[error("at {pointer}: expected at most {limit}")]
    TooLarge {
        /// Where it is, as a JSON pointer.
        pointer: String,
        /// How much is taken, with its unit.
        limit: String,
    },
}

impl InputError {
    /// The HTTP status to answer with.
    ///
    /// | error | status |
    /// |---|---|
    /// | no messages, blank, invalid | 400 |
    /// | too large | 413 |
    /// | unsupported | 415 |
    pub fn status(&self) -> u16 {
        match self {
            Self::NoMessages | Self::Blank { .. } | Self::Invalid { .. } => 400,
            Self::TooLarge { .. } => 413,
            Self::Unsupported { .. } => 415,
        }
    }
}

/// Finds what is new in `input` for an agent that has these capabilities and was sent everything up to the message
/// `accepted`.
///
/// | message after the accepted one | becomes |
/// |---|---|
/// | user | its parts, in order |
/// | system, developer | a text block |
/// | assistant, tool, reasoning, activity, unknown | nothing: the agent said it |
///
/// Without an accepted message, or when the input does not have it, the new messages are those after the last one that
/// is not the user's, system's or developer's; the ones before are counted as unseen.
///
/// | part | block | where the agent has no such capability |
/// |---|---|---|
/// | text | text; blank ones are left out | |
/// | image, audio with data | image, audio | error |
/// | video, document with data | resource with a blob | error |
/// | any with an http or https URL | resource link | |
/// | any with a provider's file | error | error |
/// | `binary` of 0.x | as the media part that it is | |
///
/// Each entry of `context` follows as a resource, or as a text where the agent takes no resources; blank ones are left
/// out. `tools`, `state`, `forwardedProps` and `resume` are not read.
///
/// # Errors
/// The input has no messages, its new messages are blank, or a part is broken, too large, or of a kind that the agent
/// does not take. The error says where.
pub fn work(
    input: &RunAgentInput,
    capabilities: &PromptCapabilities,
    accepted: Option<&MessageId>,
) -> Result<Work, InputError> {
    if input.messages.is_empty() {
        return Err(InputError::NoMessages);
    }
    let (start, unseen) = new_messages(&input.messages, accepted);
    let mut blocks = Blocks { capabilities, blocks: Vec::new(), media_bytes: 0 };
    let mut last = None;
    for (index, message) in input.messages.iter().enumerate().skip(start) {
        let pointer = format!("/messages/{index}/content");
        match message {
            Message::User(user) => {
                blocks.content(&user.content, &pointer)?;
                last = Some((user.id.clone(), pointer));
            }
            Message::System(system) => blocks.text(&system.content),
            Message::Developer(developer) => blocks.text(&developer.content),
            _ => {}
        }
    }
    let Some((last_message, pointer)) = last else { return Ok(Work::Nothing) };
    if blocks.blocks.is_empty() {
        return Err(InputError::Blank { pointer });
    }
    blocks.context(input.context.as_deref().unwrap_or_default())?;
    Ok(Work::Prompt(Prompt { blocks: blocks.blocks, last_message, unseen }))
}

/// Where the new messages begin, and how many before them the agent never saw.
fn new_messages(messages: &[Message], accepted: Option<&MessageId>) -> (usize, usize) {
    let known = accepted
        .and_then(|id| messages.iter().rposition(|message| message.id().as_ref() == Some(id)));
    if let Some(known) = known {
        return (known + 1, 0);
    }
    let is_new = |message: &&Message| {
        matches!(message, Message::User(_) | Message::System(_) | Message::Developer(_))
    };
    let new = messages.iter().rev().take_while(is_new).count();
    let start = messages.len() - new;
    (start, start)
}

struct Blocks<'a> {
    capabilities: &'a PromptCapabilities,
    blocks: Vec<ContentBlock>,
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

impl Blocks<'_> {
    fn text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.blocks.push(ContentBlock::from(text));
        }
    }

    fn content(&mut self, content: &Content, pointer: &str) -> Result<(), InputError> {
        match content {
            Content::Text(text) => self.text(text),
            Content::Parts(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    self.part(part, &format!("{pointer}/{index}"))?;
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
        let invalid = |member: &str, expected| InputError::Invalid {
            pointer: format!("{pointer}/source/{member}"),
            expected,
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
        let (value, mime_type) = (data.value.as_str(), data.mime_type.as_str());
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
            return Err(InputError::Invalid { pointer, expected: "an http or https URL" });
        };
        let path = rest.split(['?', '#']).next().unwrap_or(rest).trim_end_matches('/');
        let name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(rest);
        let mut link = ResourceLink::new(name, url.value.as_str());
        link.mime_type = url.mime_type.clone();
        self.blocks.push(ContentBlock::ResourceLink(Box::new(link)));
        Ok(())
    }

    fn context(&mut self, context: &[Context]) -> Result<(), InputError> {
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
            self.blocks.push(if self.capabilities.embedded_context == Some(true) {
                let mut contents =
                    TextResourceContents::new(format!("agui-context://{index}"), text);
                contents.mime_type = Some("text/plain".into());
                resource(EmbeddedResourceResource::Text(contents))
            } else {
                ContentBlock::from(text)
            });
        }
        Ok(())
    }
}

/// A resource for the model alone.
fn resource(resource: EmbeddedResourceResource) -> ContentBlock {
    let mut annotations = Annotations::new();
    annotations.audience = Some(vec![Role::Assistant]);
    let mut embedded = EmbeddedResource::new(resource);
    embedded.annotations = Some(Box::new(annotations));
    ContentBlock::Resource(Box::new(embedded))
}

const PROVIDER_FILE: &str = "files that a provider holds";

fn unsupported(pointer: &str, what: &'static str) -> InputError {
    InputError::Unsupported { pointer: pointer.into(), what }
}

fn is_mime_type(text: &str) -> bool {
    let is_token =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_graphic() && c != '/');
    let essence = text.split(';').next().unwrap_or_default().trim();
    essence.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}

/// How many bytes a base64 text (RFC 4648, section 4, with its padding) stands for.
fn base64_bytes(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    let right = text.len().is_multiple_of(4)
        && padding <= 2
        && !digits.is_empty()
        && digits.bytes().all(is_digit);
    right.then(|| text.len() / 4 * 3 - padding)
}
