//! The output of a tool call, and its result in the stream.
use crate::content;
use crate::json;
use crate::limits::Limits;
use crate::produced::{ProducedContent, changes_text};
use crate::terminal::Terminals;
use crate::unified_diff::unified_diff;
use acp_types::v1::content::{ContentBlock, EmbeddedResourceResource};
use agui_types::content::{
    AudioPart, Content, ContentPart, DataSource, ImagePart, PartSource, TextPart,
};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};

/// A tool's output: text and media in order, with adjacent texts joined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Output {
    parts: Vec<Part>,
    text_bytes: usize,
    kept_bytes: usize,
    media_bytes: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Part {
    Said(ContentPart),
    /// The final output of this terminal.
    Terminal(String),
}

impl Output {
    /// Appends tool call content.
    ///
    /// | content | output |
    /// |---|---|
    /// | `content` text | the text |
    /// | `content` image, audio | the part |
    /// | `content` resource link | a link or the name, as in a message |
    /// | `content` resource | its text; for bytes, `[resource <uri>]` |
    /// | `diff` | a unified diff |
    /// | `terminal` | the end of its output and its exit code, or `[terminal <id>]` while neither is known |
    /// | anything else | `[<type>]` |
    pub(crate) fn append(&mut self, items: &[ProducedContent], limits: &Limits) {
        for item in items {
            match item {
                ProducedContent::Block(block) => self.block(block, limits),
                ProducedContent::Diff(diff) => {
                    let old = diff.old_text.as_deref();
                    self.text(&unified_diff(&diff.path, old, &diff.new_text), limits);
                }
                ProducedContent::Changes(changes) => self.text(&changes_text(changes), limits),
                ProducedContent::Terminal(id) => {
                    let id = json::head(id, limits.message).into();
                    self.parts.push(Part::Terminal(id));
                }
                ProducedContent::Other(kind, _) => self.text(&format!("[{kind}]"), limits),
            }
        }
    }

    /// Creates the output of a `rawOutput`.
    ///
    /// | value | output |
    /// |---|---|
    /// | a string | itself |
    /// | an array of content blocks; `content` of an object that is one | the blocks |
    /// | an object with `formatted_output` or `aggregated_output`, as Codex sends for commands | that text, and `exit_code` unless it is 0 |
    /// | anything else | its JSON |
    pub(crate) fn of_raw(raw: &Raw, limits: &Limits) -> Self {
        let mut output = Self::default();
        if let Ok(text) = raw.decode::<String>() {
            output.text(&text, limits);
        } else if let Some(blocks) = content_blocks(raw) {
            for block in &blocks {
                output.block(block, limits);
            }
        } else if let Some(text) = command_output(raw) {
            output.text(&text, limits);
        } else {
            output.text(raw.as_str(), limits);
        }
        output
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns whether it has any part except terminals without output.
    pub(crate) fn has_text(&self, terminals: &Terminals) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Said(_) => true,
            Part::Terminal(id) => terminals.has_output(id),
        })
    }

    /// Returns the approximate size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.kept_bytes.saturating_add(self.media_bytes)
    }

    /// Returns a fingerprint of the output.
    pub(crate) fn fingerprint(&self) -> u64 {
        let parts = json::raw(&self.parts);
        json::fingerprint(&[parts.as_str(), json::raw(&self.text_bytes).as_str()])
    }

    /// Returns the content of a result: one text, unless there are media and `media` allows them.
    /// It ends with the reason `why` it is incomplete, in brackets.
    pub(crate) fn to_content(
        &self,
        media: bool,
        terminals: &Terminals,
        limits: &Limits,
        why: Option<&str>,
    ) -> Content {
        let mut parts: Vec<ContentPart> = Vec::new();
        for part in &self.parts {
            match part {
                Part::Said(part) => match (part.as_text(), parts.last_mut()) {
                    (Some(text), Some(ContentPart::Text(last))) => {
                        append_line(&mut last.text, text);
                    }
                    _ => parts.push(part.clone()),
                },
                Part::Terminal(id) => {
                    let result = terminals.result(id);
                    mark(&mut parts, &result.unwrap_or_else(|| format!("[terminal {id}]")));
                }
            }
        }
        if self.text_bytes > limits.result {
            mark(&mut parts, &format!("[cut: {} of {} bytes]", limits.result, self.text_bytes));
        }
        if let Some(why) = why {
            mark(&mut parts, &format!("[{why}]"));
        }
        if media && !parts.iter().all(|part| part.as_text().is_some()) {
            return Content::Parts(parts);
        }
        let mut text = String::new();
        for part in &parts {
            match part.as_text() {
                Some(part) => append_line(&mut text, part),
                None => append_line(&mut text, &format!("[{}]", part.tag())),
            }
        }
        Content::Text(text)
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
        self.kept_bytes = self.kept_bytes.saturating_add(text.len());
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Said(ContentPart::Text(last))) => append_line(&mut last.text, text),
            _ => self.parts.push(Part::Said(ContentPart::Text(TextPart::new(text)))),
        }
    }

    fn media(&mut self, part: ContentPart, bytes: usize, limits: &Limits) {
        if bytes <= limits.value.saturating_sub(self.media_bytes) {
            self.media_bytes += bytes;
            self.parts.push(Part::Said(part));
        } else {
            self.text(&format!("[{} of {bytes} bytes left out]", part.tag()), limits);
        }
    }
}

fn mark(parts: &mut Vec<ContentPart>, mark: &str) {
    match parts.last_mut() {
        Some(ContentPart::Text(last)) => append_line(&mut last.text, mark),
        _ => parts.push(ContentPart::Text(TextPart::new(mark))),
    }
}

fn append_line(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}

/// Returns the blocks of an MCP `CallToolResult`, or of its `content` alone.
fn content_blocks(raw: &Raw) -> Option<Vec<ContentBlock>> {
    if raw.as_str().trim_start().starts_with('[') {
        let blocks: Vec<ContentBlock> = raw.decode().ok()?;
        let known = !blocks.is_empty() && blocks.iter().all(ContentBlock::is_known);
        return known.then_some(blocks);
    }
    members(raw)?.get("content")?.decode().ok()
}

/// Returns the output of a command, and its exit code.
fn command_output(raw: &Raw) -> Option<String> {
    let members = members(raw)?;
    let text = |name: &str| members.get(name)?.decode::<String>().ok();
    let mut text = text("formatted_output").or_else(|| text("aggregated_output"))?;
    let code = members.get("exit_code").and_then(|code| code.decode::<i64>().ok());
    if let Some(code) = code.filter(|code| *code != 0) {
        append_line(&mut text, &format!("[exit code {code}]"));
    }
    Some(text)
}

fn members(raw: &Raw) -> Option<Extra> {
    raw.as_str().trim_start().starts_with('{').then(|| raw.decode().ok())?
}
