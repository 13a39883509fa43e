//! Messages and other content as JSON text of bounded size.
//!
//! | ACP content block | part |
//! |---|---|
//! | `text` | `text` |
//! | `image` | `blob`, modality `image`; `uri` if the data exceeds the limit and there is a URI |
//! | `audio` | `blob`, modality `audio` |
//! | `resource_link` | `uri`, modality by MIME type (else `document`), with `name`, `title`, `size` |
//! | `resource` with text | `text`, with `uri` and `mime_type` |
//! | `resource` with a blob | `blob`, modality by MIME type (else `document`), with `uri` |
//! | any other | a part of the same type without content |
//! | thought | `reasoning` |
//! | tool call | `tool_call` |
//! | completed compaction | [`GENAI_DEV`](crate::Profile::GENAI_DEV) only: `compaction` with the `id`, without the summary |
//!
//! Content that exceeds the [`ContentLimits`] is truncated to valid JSON: text is shortened and its
//! part marked `"truncated":true`; base64 data is replaced by an empty string, because a fragment
//! is useless; further parts are left out. A [`Redaction`](crate::content::Redaction) processes
//! texts, data, URIs, names and titles. Types, modalities, MIME types, ids and tool names are not
//! redacted.
//!
//! Spec: [input
//! messages](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/gen-ai-input-messages.json),
//! [output
//! messages](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/gen-ai-output-messages.json)
//! (v1.41.1)
use crate::attribute::{clip, cut};
use crate::content::ContentKind;
pub use crate::content_limits::{
    ContentLimits, MAX_MESSAGE_BYTES, MAX_PART_BYTES, MAX_PARTS, MAX_TOOL_CONTENT_BYTES,
};
use crate::policy::Policy;
use acp_types::v1::content::{ContentBlock, EmbeddedResourceResource};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::{Map, Value, json};

/// A message under construction, within the limits.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    limits: ContentLimits,
    parts: Vec<Part>,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Part {
    /// The message that the last streamed text belongs to. `None` if the last part cannot be
    /// extended.
    stream: Option<Stream>,
    members: Map<String, Value>,
}

/// Identifies the text that a chunk continues.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stream {
    kind: &'static str,
    message_id: Option<String>,
}

impl Part {
    fn redact(&mut self, policy: &Policy, texts: ContentKind) {
        let is = |kind| self.members.get("type").is_some_and(|given| given == kind);
        let content = if is("blob") {
            ContentKind::Data
        } else if is("reasoning") {
            ContentKind::Thought
        } else {
            texts
        };
        // The name of a tool is not a title.
        let name = if is("tool_call") { None } else { Some(ContentKind::Title) };
        for (member, kind) in [
            ("content", Some(content)),
            ("uri", Some(ContentKind::Uri)),
            ("name", name),
            ("title", Some(ContentKind::Title)),
        ] {
            if let (Some(Value::String(text)), Some(kind)) = (self.members.get_mut(member), kind) {
                *text = policy.redacted(kind, core::mem::take(text));
            }
        }
    }
}

impl Message {
    pub(crate) fn new(limits: ContentLimits) -> Self {
        Self { limits, parts: Vec::new(), bytes: 0 }
    }

    /// Creates the message of the user's input.
    pub(crate) fn of_blocks(limits: ContentLimits, blocks: &[ContentBlock]) -> Self {
        let mut message = Self::new(limits);
        for block in blocks {
            message.push_block(block);
        }
        message
    }

    /// Appends a chunk of output or, as `reasoning`, of thoughts.
    pub(crate) fn push_chunk(
        &mut self,
        reasoning: bool,
        message_id: Option<&str>,
        block: &ContentBlock,
    ) {
        let ContentBlock::Text(text) = block else {
            self.push_block(block);
            return;
        };
        let kind = if reasoning { "reasoning" } else { "text" };
        let stream = Stream { kind, message_id: message_id.map(clip) };
        let continues = self.parts.last().is_some_and(|part| part.stream.as_ref() == Some(&stream));
        if continues {
            self.extend_last(&text.text);
        } else {
            self.push_text(kind, &text.text, Some(stream), Map::new());
        }
    }

    /// Appends a tool call.
    pub(crate) fn push_tool_call(&mut self, id: &str, name: &str) {
        self.push(
            None,
            members([
                ("type", "tool_call".into()),
                ("id", clip(id).into()),
                ("name", clip(name).into()),
            ]),
        );
    }

    /// Appends a context compaction.
    pub(crate) fn push_compaction(&mut self, id: &str) {
        self.push(None, members([("type", "compaction".into()), ("id", clip(id).into())]));
    }

    /// Returns the messages attribute of the user's input.
    pub(crate) fn into_input(self, policy: &Policy) -> String {
        json!([{ "role": "user", "parts": self.into_parts(policy, ContentKind::Prompt) }])
            .to_string()
    }

    /// Returns the messages attribute of the agent's output.
    pub(crate) fn into_output(self, policy: &Policy, finish_reason: &str) -> String {
        let parts = self.into_parts(policy, ContentKind::Answer);
        json!([{ "role": "assistant", "parts": parts, "finish_reason": finish_reason }]).to_string()
    }

    fn into_parts(self, policy: &Policy, texts: ContentKind) -> Vec<Value> {
        let parts = self.parts.into_iter().map(|mut part| {
            if policy.redaction.is_some() {
                part.redact(policy, texts);
            }
            Value::Object(part.members)
        });
        parts.collect()
    }

    fn push_block(&mut self, block: &ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.push_text("text", &text.text, None, Map::new()),
            ContentBlock::Image(image) => {
                self.push_blob("image", Some(&image.mime_type), &image.data, image.uri.as_deref());
            }
            ContentBlock::Audio(audio) => {
                self.push_blob("audio", Some(&audio.mime_type), &audio.data, None);
            }
            ContentBlock::ResourceLink(link) => {
                let mut part = uri_part(link.mime_type.as_deref(), &link.uri);
                part.insert("name".into(), clip(&link.name).into());
                insert_some(&mut part, "title", link.title.as_deref());
                if let Some(size) = link.size {
                    part.insert("size".into(), size.into());
                }
                self.push(None, part);
            }
            ContentBlock::Resource(resource) => match &resource.resource {
                EmbeddedResourceResource::Text(text) => {
                    let mut more = members([("uri", clip(&text.uri).into())]);
                    insert_some(&mut more, "mime_type", text.mime_type.as_deref());
                    self.push_text("text", &text.text, None, more);
                }
                EmbeddedResourceResource::Blob(blob) => {
                    let mime_type = blob.mime_type.as_deref();
                    self.push_blob(modality(mime_type), mime_type, &blob.blob, Some(&blob.uri));
                }
                _ => {
                    self.push(None, members([("type", "resource".into())]));
                }
            },
            unknown => {
                self.push(None, members([("type", clip(unknown.tag()).into())]));
            }
        }
    }

    fn push_text(
        &mut self,
        kind: &str,
        text: &str,
        stream: Option<Stream>,
        mut part: Map<String, Value>,
    ) {
        part.insert("type".into(), kind.into());
        part.insert("content".into(), "".into());
        if self.push(stream, part) {
            self.extend_last(text);
        }
    }

    /// Extends the text of the last part, within the limits.
    fn extend_last(&mut self, text: &str) {
        let Some(part) = self.parts.last_mut() else { return };
        if part.members.contains_key(TRUNCATED) {
            return;
        }
        let Some(Value::String(content)) = part.members.get_mut("content") else { return };
        let room = self
            .limits
            .part_bytes
            .saturating_sub(content.len())
            .min(self.limits.message_bytes.saturating_sub(self.bytes));
        let piece = cut(text, room);
        content.push_str(piece);
        self.bytes += piece.len();
        if piece.len() < text.len() {
            part.members.insert(TRUNCATED.into(), true.into());
        }
    }

    fn push_blob(
        &mut self,
        modality: &str,
        mime_type: Option<&str>,
        data: &str,
        uri: Option<&str>,
    ) {
        let fits = data.len() <= self.limits.part_bytes
            && data.len() <= self.limits.message_bytes.saturating_sub(self.bytes);
        let mut part = match uri {
            Some(uri) if !fits && modality == "image" => uri_part(mime_type, uri),
            _ => {
                let content = if fits { data } else { "" };
                let mut part = members([("type", "blob".into()), ("content", content.into())]);
                insert_some(&mut part, "mime_type", mime_type);
                insert_some(&mut part, "uri", uri);
                part
            }
        };
        part.insert("modality".into(), modality.into());
        if fits {
            self.bytes += data.len();
        } else {
            part.insert(TRUNCATED.into(), true.into());
        }
        self.push(None, part);
    }

    /// Appends a part, unless there are too many.
    fn push(&mut self, stream: Option<Stream>, members: Map<String, Value>) -> bool {
        let fits = self.parts.len() < self.limits.parts;
        if fits {
            self.parts.push(Part { stream, members });
        }
        fits
    }
}

/// Returns the arguments or the result of a tool as JSON text, redacted and then truncated to
/// [`ContentLimits::tool_bytes`].
pub(crate) fn tool_content(policy: &Policy, kind: ContentKind, json: &str) -> String {
    let limit = policy.content_limits.tool_bytes;
    let redacted = policy.redacted_json(kind, json);
    if redacted.len() <= limit {
        return redacted.into_owned();
    }
    json!({ TRUNCATED: cut(&redacted, limit), "bytes": json.len() }).to_string()
}

/// Member that marks a truncated part, and an object that replaces a longer value.
const TRUNCATED: &str = "truncated";

fn uri_part(mime_type: Option<&str>, uri: &str) -> Map<String, Value> {
    let mut part = members([
        ("type", "uri".into()),
        ("modality", modality(mime_type).into()),
        ("uri", cut(uri, MAX_PATH_BYTES).into()),
    ]);
    insert_some(&mut part, "mime_type", mime_type);
    part
}

fn modality(mime_type: Option<&str>) -> &'static str {
    let kind = mime_type.and_then(|mime_type| mime_type.split('/').next()).unwrap_or_default();
    ["image", "audio", "video"].into_iter().find(|known| *known == kind).unwrap_or("document")
}

fn members<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

fn insert_some(part: &mut Map<String, Value>, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        part.insert(name.into(), clip(value).into());
    }
}

/// Returns `path:line`, for the locations of a tool call.
pub(crate) fn location(path: &str, line: Option<u32>) -> String {
    let path = cut(path, MAX_PATH_BYTES);
    line.map_or_else(|| path.into(), |line| format!("{path}:{line}"))
}

/// Maximum length of a path or a URI in bytes.
pub(crate) const MAX_PATH_BYTES: usize = 4096;
