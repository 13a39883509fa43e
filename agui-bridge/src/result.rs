//! What a tool call came to, as a page shows it.
use crate::content;
use crate::json;
use crate::limits::Limits;
use crate::unified_diff::unified_diff;
use acp_types::v1::content::{ContentBlock, EmbeddedResourceResource};
use acp_types::v1::tool_calls::ToolCallContent;
use agui_types::content::{
    AudioPart, Content, ContentPart, DataSource, ImagePart, PartSource, TextPart,
};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};

/// A tool's output: texts and media, in the order they came, no two texts in a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Output {
    parts: Vec<ContentPart>,
    text_bytes: usize,
    media_bytes: usize,
}

impl Output {
    /// The output that content says.
    ///
    /// | content | output |
    /// |---|---|
    /// | `content` text | the text |
    /// | `content` image, audio | the part |
    /// | `content` resource link | a link or the name, as in a message |
    /// | `content` resource | its text; for bytes, `[resource <uri>]` |
    /// | `diff` | a unified diff |
    /// | `terminal` | `[terminal <id>]` |
    /// | anything else | `[<type>]` |
    pub(crate) fn of_content(items: &[ToolCallContent], limits: &Limits) -> Self {
        let mut output = Self::default();
        for item in items {
            match item {
                ToolCallContent::Content(content) => output.block(&content.content, limits),
                ToolCallContent::Diff(diff) => {
                    output.text(
                        &unified_diff(&diff.path, diff.old_text.as_deref(), &diff.new_text),
                        limits,
                    );
                }
                ToolCallContent::Terminal(terminal) => {
                    output.text(&format!("[terminal {}]", terminal.terminal_id), limits);
                }
                other => output.text(&format!("[{}]", other.tag()), limits),
            }
        }
        output.end(limits)
    }

    /// The output that `rawOutput` says: a string verbatim, the content of an MCP result, else the JSON text.
    pub(crate) fn of_raw(raw: &Raw, limits: &Limits) -> Self {
        let mut output = Self::default();
        if let Ok(text) = raw.decode::<String>() {
            output.text(&text, limits);
        } else if let Some(blocks) = mcp_content(raw) {
            for block in &blocks {
                output.block(block, limits);
            }
        } else {
            output.text(raw.as_str(), limits);
        }
        output.end(limits)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// As a result's content: one text, unless there are media and `media` allows them.
    pub(crate) fn to_content(&self, media: bool) -> Content {
        let is_text = self.parts.iter().all(|part| part.as_text().is_some());
        if media && !is_text {
            return Content::Parts(self.parts.clone());
        }
        let mut text = String::new();
        for part in &self.parts {
            match part.as_text() {
                Some(part) => append_line(&mut text, part),
                None => append_line(&mut text, &format!("[{}]", part.tag())),
            }
        }
        Content::Text(text)
    }

    /// The same, and in brackets why there is no more.
    pub(crate) fn ending(mut self, why: &str) -> Self {
        self.mark(&format!("[{why}]"));
        self
    }

    fn block(&mut self, block: &ContentBlock, limits: &Limits) {
        match block {
            ContentBlock::Text(text) => self.text(&text.text, limits),
            ContentBlock::Image(image) => {
                let source = DataSource::new(image.data.as_str(), image.mime_type.as_str());
                self.media(
                    ContentPart::Image(ImagePart::new(PartSource::Data(source))),
                    image.data.len(),
                    limits,
                );
            }
            ContentBlock::Audio(audio) => {
                let source = DataSource::new(audio.data.as_str(), audio.mime_type.as_str());
                self.media(
                    ContentPart::Audio(AudioPart::new(PartSource::Data(source))),
                    audio.data.len(),
                    limits,
                );
            }
            ContentBlock::ResourceLink(link) => self.text(&content::link_text(link), limits),
            ContentBlock::Resource(resource) => match &resource.resource {
                EmbeddedResourceResource::Text(text) => self.text(&text.text, limits),
                EmbeddedResourceResource::Blob(blob) => {
                    self.text(&format!("[resource {}]", blob.uri), limits);
                }
                _ => self.text("[resource]", limits),
            },
            other => self.text(&format!("[{}]", other.tag()), limits),
        }
    }

    fn text(&mut self, text: &str, limits: &Limits) {
        let room = limits.result.saturating_sub(self.text_bytes);
        self.text_bytes = self.text_bytes.saturating_add(text.len());
        let text = json::head(text, room);
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(ContentPart::Text(last)) => append_line(&mut last.text, text),
            _ => self.parts.push(ContentPart::Text(TextPart::new(text))),
        }
    }

    fn media(&mut self, part: ContentPart, bytes: usize, limits: &Limits) {
        if bytes <= limits.value.saturating_sub(self.media_bytes) {
            self.media_bytes += bytes;
            self.parts.push(part);
        } else {
            self.text(&format!("[{} of {bytes} bytes left out]", part.tag()), limits);
        }
    }

    fn end(mut self, limits: &Limits) -> Self {
        if self.text_bytes > limits.result {
            self.mark(&format!("[cut: {} of {} bytes]", limits.result, self.text_bytes));
        }
        self
    }

    fn mark(&mut self, mark: &str) {
        match self.parts.last_mut() {
            Some(ContentPart::Text(last)) => append_line(&mut last.text, mark),
            _ => self.parts.push(ContentPart::Text(TextPart::new(mark))),
        }
    }
}

fn append_line(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}

/// The blocks of an MCP `CallToolResult`.
fn mcp_content(raw: &Raw) -> Option<Vec<ContentBlock>> {
    let members =
        raw.as_str().trim_start().starts_with('{').then(|| raw.decode::<Extra>().ok())??;
    members.get("content")?.decode().ok()
}
