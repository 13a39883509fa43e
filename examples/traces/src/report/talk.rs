//! The conversation of a page.

mod call;

use super::conversation::{Conversation, Item, ItemKind, Permission};
use super::look::Look;
use super::session::Session;
use super::text::{escaped, grouped, span_of_time};
use acp_types::session_state::{Entry, Message, MessageKind};
use call::Calls;
pub(super) use call::shown_block;
use core::fmt::{self, Write};
use core::time::Duration;

/// Maximum number of bytes of a label.
pub(super) const MAX_LABEL: usize = 160;

/// Writer of items of a conversation.
pub(super) struct Talks<'a> {
    conversation: &'a Conversation,
    look: Look<'a>,
    calls: Calls<'a>,
    /// Query of the page with lines, to which the line is appended.
    lines: Option<&'a str>,
    /// Maximum number of items of a turn.
    quota: usize,
    omitted: usize,
}

/// Minimum number of items of a turn: the prompt, the first and the last steps, and the end.
const MIN_ITEMS: usize = 6;

impl<'a> Talks<'a> {
    pub(super) fn new(
        conversation: &'a Conversation,
        session: &'a Session,
        look: Look<'a>,
        lines: Option<&'a str>,
        turns: usize,
    ) -> Self {
        let calls = Calls::new(session, look);
        let quota = (look.detail.items / turns.max(1)).max(MIN_ITEMS);
        Self { conversation, look, calls, lines, quota, omitted: conversation.omitted }
    }

    /// Returns the number of items that were not written.
    pub(super) fn omitted(&self) -> usize {
        self.omitted
    }

    /// Writes the items of a turn. Of many, the first and the last ones are written.
    pub(super) fn write(&mut self, page: &mut String, items: &[&Item]) -> fmt::Result {
        let omitted = items.len().saturating_sub(self.quota);
        let end = if omitted > 0 { self.quota / 2 } else { items.len() };
        let (first, rest) = items.split_at_checked(end).unwrap_or((items, &[]));
        for item in first {
            self.item(page, item)?;
        }
        if omitted > 0 {
            self.omitted += omitted;
            writeln!(page, "<p class=\"item note cut\">… {omitted} parts are not shown …</p>")?;
        }
        for item in rest.iter().skip(omitted) {
            self.item(page, item)?;
        }
        Ok(())
    }

    fn item(&self, page: &mut String, item: &Item) -> fmt::Result {
        self.look.check_size(page)?;
        let line = self.line(item);
        match &item.kind {
            ItemKind::Turn(..) => Ok(()),
            ItemKind::Entry(number) => self.entry(page, item, *number, &line),
            ItemKind::Permission(permission) => self.permission(page, item, permission, &line),
            ItemKind::Failure(method, error) => {
                let words = match self.look.shows_content() {
                    true => self.look.html(&error.message, self.look.detail.text),
                    false => "message not shown".to_owned(),
                };
                writeln!(
                    page,
                    "<p class=\"item failure\">{line}<b>Error</b> <code>{}</code> {words} ({})</p>",
                    escaped(method),
                    error.code
                )
            }
            ItemKind::Setting(name, value) => writeln!(
                page,
                "<p class=\"item note\">{line}{}: {}</p>",
                self.look.label(name, MAX_LABEL),
                self.look.label(value, MAX_LABEL)
            ),
            ItemKind::Plan(entries) => self.plan(page, entries, &line),
            ItemKind::Load => {
                writeln!(page, "<p class=\"item note\">{line}Loading the session</p>")
            }
            ItemKind::Cancel => {
                writeln!(page, "<p class=\"item note\">{line}Cancelled by the user</p>")
            }
            ItemKind::End(reason) => {
                let reason = escaped(reason);
                writeln!(page, "<p class=\"item note end\">{line}End of the turn: {reason}</p>")
            }
        }
    }

    /// Returns the link to the line of an item.
    fn line(&self, item: &Item) -> String {
        let line = item.line;
        self.lines.map_or_else(String::new, |lines| {
            format!("<a class=\"line\" href=\"{lines}{line}#line-{line}\">{line}</a>")
        })
    }

    fn entry(&self, page: &mut String, item: &Item, number: u64, line: &str) -> fmt::Result {
        let talk = item.session.and_then(|at| self.conversation.sessions.get(at));
        let Some(talk) = talk else { return Ok(()) };
        match talk.state.entry(number) {
            Some(Entry::Message(message)) => self.message(page, message, line),
            Some(Entry::ToolCall(id)) => match talk.state.tool_call(id.as_str()) {
                Some(call) => self.calls.write(page, talk, call, line),
                None => Ok(()),
            },
            Some(Entry::Compaction(_)) => {
                writeln!(page, "<p class=\"item note\">{line}The context was compacted</p>")
            }
            Some(Entry::SessionMessage(_)) => {
                writeln!(page, "<p class=\"item note\">{line}Message between sessions</p>")
            }
            // The limits of the session's state removed it.
            _ => Ok(()),
        }
    }

    fn message(&self, page: &mut String, message: &Message, line: &str) -> fmt::Result {
        let (class, name) = match message.kind {
            MessageKind::User => ("user", "User"),
            MessageKind::Thought => ("thought", "Thought"),
            _ => ("agent", "Agent"),
        };
        let blocks: Vec<_> = message.content.iter().map(shown_block).collect();
        let text = blocks.join("\n");
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        let length = format!("{} characters", grouped(length));
        if !self.look.shows_content() {
            return writeln!(
                page,
                "<p class=\"item said {class}\">{line}<b>{name}</b> <small>{length}</small></p>"
            );
        }
        let html = self.look.html(&text, self.look.detail.message);
        if message.kind == MessageKind::Thought {
            return writeln!(
                page,
                "<details class=\"item said thought\"><summary>{line}<b>{name}</b> <small>{length}</small>\
                 </summary><div dir=\"auto\">{html}</div></details>"
            );
        }
        writeln!(
            page,
            "<article class=\"item said {class}\">{line}<b>{name}</b><div dir=\"auto\">{html}</div></article>"
        )
    }

    fn permission(
        &self,
        page: &mut String,
        item: &Item,
        permission: &Permission,
        line: &str,
    ) -> fmt::Result {
        let (class, decision) = match &permission.answer {
            None => ("open", "no answer".to_owned()),
            Some((_, None)) => ("denied", "cancelled".to_owned()),
            Some((_, Some(choice))) => {
                let name = match self.look.shows_content() {
                    true => format!(", {}", self.look.label(&choice.name, MAX_LABEL)),
                    false => String::new(),
                };
                let class = if choice.is_granted { "granted" } else { "denied" };
                (class, escaped(&choice.kind.replace('_', " ")) + &name)
            }
        };
        let title = permission.title.as_deref().filter(|_| self.look.shows_titles());
        let title = title.map(|title| self.look.label(title, MAX_LABEL)).unwrap_or_default();
        let wait = permission.answer.as_ref().map(|(time, _)| time.saturating_sub(item.time));
        let wait =
            wait.map(|wait: Duration| format!(" <small>after {}</small>", span_of_time(wait)));
        writeln!(
            page,
            "<p class=\"item permission {class}\">{line}<b>Permission</b> {title} <em>{decision}</em>{}</p>",
            wait.unwrap_or_default()
        )
    }

    fn plan(&self, page: &mut String, entries: &[(String, String)], line: &str) -> fmt::Result {
        if entries.is_empty() {
            return Ok(());
        }
        let done = entries.iter().filter(|(status, _)| status == "completed").count();
        write!(
            page,
            "<details class=\"item plan\" open><summary>{line}<b>Plan</b> <small>{done} of {} done</small>\
             </summary><ol>",
            entries.len()
        )?;
        for (status, text) in entries {
            let html = match self.look.shows_content() {
                true => self.look.html(text, self.look.detail.text),
                false => escaped(&status.replace('_', " ")),
            };
            write!(page, "<li class=\"{}\">{html}</li>", escaped(status))?;
        }
        page.write_str("</ol></details>\n")
    }
}
