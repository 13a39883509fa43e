//! Tool calls in a conversation.

use super::super::conversation::Talk;
use super::super::look::Look;
use super::super::session::{Kind, Session, Span};
use super::super::text::{escaped, span_of_time};
use super::MAX_LABEL;
use acp_types::session_state::{ProducedContent, ToolCallState};
use acp_types::v2::content::{ContentBlock, EmbeddedResourceResource};
use acp_types::v2::tool_calls::{ToolCallContent, ToolKind};
use core::fmt::{self, Write};
use semconv_map::keys;
use similar::TextDiff;
use std::collections::HashMap;

/// Maximum number of bytes of both texts of a change that is shown as a difference. The time to
/// find one is quadratic.
const MAX_COMPARED: usize = 64 << 10;

/// Writer of tool calls.
pub(super) struct Calls<'a> {
    look: Look<'a>,
    /// Spans by session and tool call.
    spans: HashMap<(String, String), &'a Span>,
}

impl<'a> Calls<'a> {
    pub(super) fn new(session: &'a Session, look: Look<'a>) -> Self {
        let spans = session.of_kind(Kind::Tool).filter_map(|span| {
            let session = span.text(keys::GEN_AI_CONVERSATION_ID).unwrap_or_default();
            Some(((session, span.text(keys::GEN_AI_TOOL_CALL_ID)?), span))
        });
        Self { look, spans: spans.collect() }
    }

    /// Writes a tool call: verb, target, status and duration, with its arguments and results
    /// folded.
    pub(super) fn write(
        &self,
        page: &mut String,
        talk: &Talk,
        call: &ToolCallState,
        line: &str,
    ) -> fmt::Result {
        let id = call.update.tool_call_id.as_str();
        let span = self.spans.get(&(talk.id.clone(), id.to_owned())).copied();
        let name = span.and_then(|span| span.text(keys::GEN_AI_TOOL_NAME));
        let verb = match verb(call.kind_or_other()) {
            Some(verb) => verb.to_owned(),
            None => name.map_or_else(|| "Tool".to_owned(), |name| escaped(&name)),
        };
        let title = call.title().filter(|_| self.look.shows_titles());
        let target = title.map(|title| without_verb(title, &verb)).unwrap_or_default();
        let target = self.look.label(target, MAX_LABEL);
        let status = call.status();
        let time =
            span.filter(|_| call.is_over()).map(|it| format!(", {}", span_of_time(it.duration())));
        let class = escaped(status.as_str());
        let words = status.as_str().replace('_', " ");
        write!(
            page,
            "<details class=\"item call {class}\"><summary>{line}<b>{verb}</b> {target} \
             <small>{}{}</small></summary>",
            escaped(&words),
            time.unwrap_or_default()
        )?;
        if self.look.shows_content() {
            self.contents(page, talk, call, span)?;
        }
        page.write_str("</details>\n")
    }

    fn contents(
        &self,
        page: &mut String,
        talk: &Talk,
        call: &ToolCallState,
        span: Option<&Span>,
    ) -> fmt::Result {
        let limit = self.look.detail.text;
        if let Some(input) = call.update.raw_input.value().filter(|raw| raw.as_str() != "{}") {
            self.part(page, "Input", &pretty(input.as_str(), limit))?;
        }
        for produced in &call.content {
            match produced {
                ProducedContent::Content(ToolCallContent::Content(content)) => {
                    self.part(page, "Output", &shown_block(&content.content))?;
                }
                ProducedContent::Content(ToolCallContent::Diff(diff)) => {
                    let patch = diff.patch.as_ref().map(|patch| patch.text.as_str());
                    self.change(page, "Change", patch.unwrap_or_default())?;
                }
                ProducedContent::Content(ToolCallContent::Terminal(terminal)) => {
                    let state = talk.state.terminal(terminal.terminal_id.as_str());
                    if let Some(state) = state.filter(|state| !state.output.is_empty()) {
                        self.part(page, "Terminal", &String::from_utf8_lossy(&state.output))?;
                    }
                }
                ProducedContent::Texts(diff) => {
                    let old = diff.old_text.as_deref().unwrap_or_default();
                    self.change(page, diff.path.as_str(), &difference(old, &diff.new_text))?;
                }
                _ => {}
            }
        }
        // Some agents report output in places that only the extractors of the span know.
        let is_only_terminal = call.content.iter().all(|produced| {
            matches!(produced, ProducedContent::Content(ToolCallContent::Terminal(it))
                if talk.state.terminal(it.terminal_id.as_str()).is_none_or(|it| it.output.is_empty()))
        });
        let result = span.and_then(|span| span.text(keys::GEN_AI_TOOL_CALL_RESULT));
        let raw = call.update.raw_output.value().map(|raw| raw.as_str().to_owned());
        if let Some(result) = result.or(raw).filter(|_| is_only_terminal) {
            self.part(page, "Output", &pretty(&result, limit))?;
        }
        Ok(())
    }

    fn part(&self, page: &mut String, name: &str, text: &str) -> fmt::Result {
        let html = self.look.html(text.trim_end(), self.look.detail.text);
        write!(page, "<h4>{name}</h4><pre dir=\"auto\">{html}</pre>")
    }

    /// Writes a change, with a class for its added and removed lines.
    fn change(&self, page: &mut String, path: &str, patch: &str) -> fmt::Result {
        write!(page, "<h4>{}</h4><pre class=\"change\">", self.look.label(path, MAX_LABEL))?;
        let mut room = self.look.detail.text;
        for line in patch.lines() {
            let tag = match line.as_bytes().first() {
                Some(b'+') => "ins",
                Some(b'-') => "del",
                _ => "span",
            };
            writeln!(page, "<{tag}>{}</{tag}>", self.look.html(line, room))?;
            room = room.saturating_sub(line.len() + 1);
            if room == 0 {
                page.write_str("<span class=\"cut\">…</span>")?;
                break;
            }
        }
        page.write_str("</pre>")
    }
}

/// Returns the verb for a kind of tool. Tools of other kinds have their name.
fn verb(kind: &ToolKind) -> Option<&'static str> {
    Some(match kind {
        ToolKind::Read => "Read",
        ToolKind::Edit => "Edit",
        ToolKind::Delete => "Delete",
        ToolKind::Move => "Move",
        ToolKind::Search => "Search",
        ToolKind::Execute => "Run",
        ToolKind::Think => "Think",
        ToolKind::Fetch => "Fetch",
        ToolKind::SwitchMode => "Switch mode",
        _ => return None,
    })
}

/// Returns a title without the verb that is shown before it.
fn without_verb<'a>(title: &'a str, verb: &str) -> &'a str {
    let (start, rest) = title.split_at_checked(verb.len()).unwrap_or(("", title));
    if start.eq_ignore_ascii_case(verb) && rest.starts_with(' ') {
        rest.trim_start()
    } else {
        title
    }
}

/// Returns a content block as text.
pub(in crate::report) fn shown_block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => format!("[image, {}]", image.mime_type),
        ContentBlock::Audio(audio) => format!("[audio, {}]", audio.mime_type),
        ContentBlock::ResourceLink(link) => format!("[{}]({})", link.name, link.uri),
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::Text(text) => format!("[{}]\n{}", text.uri, text.text),
            EmbeddedResourceResource::Blob(blob) => format!("[{}]", blob.uri),
            _ => "[resource]".to_owned(),
        },
        ContentBlock::Unknown(block) => format!("[{}]", block.tag()),
        _ => "[content]".to_owned(),
    }
}

/// Returns JSON with indentation, or as it is if it is long.
fn pretty(json: &str, limit: usize) -> String {
    let value: Option<serde_json::Value> =
        Some(json).filter(|json| json.len() <= limit).and_then(|it| serde_json::from_str(it).ok());
    match value {
        Some(serde_json::Value::String(text)) => text,
        Some(value) => format!("{value:#}"),
        None => json.to_owned(),
    }
}

/// Returns the changed lines between two texts, with the lines around them.
fn difference(old: &str, new: &str) -> String {
    if old.len() + new.len() > MAX_COMPARED || old.is_empty() {
        return new.lines().map(|line| format!("+{line}\n")).collect();
    }
    TextDiff::from_lines(old, new).unified_diff().context_radius(2).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verb_is_not_repeated() {
        let table = [
            ("read a", "a"),
            ("Read", "Read"),
            ("Readme", "Readme"),
            ("é Read", "é Read"),
            ("", ""),
        ];
        for (title, expected) in table {
            assert_eq!(without_verb(title, "Read"), expected, "{title}");
        }
    }

    #[test]
    fn each_kind_of_tool_has_a_verb_or_its_name() {
        let without = ["other", "newer"];
        for kind in ToolKind::NAMES.iter().copied().chain(["newer"]) {
            assert_eq!(verb(&kind.into()).is_none(), without.contains(&kind), "{kind}");
        }
    }
}
