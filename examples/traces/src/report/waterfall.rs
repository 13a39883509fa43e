//! Waterfalls of spans.

use super::look::Look;
use super::session::{Kind, Session, Span, shown};
use super::text::{clipped, escaped, span_of_time};
use core::fmt::{self, Write};
use core::time::Duration;
use semconv_map::{Attribute, keys};

/// Maximum indentation of spans.
const MAX_DEPTH: usize = 16;

/// Maximum length of a label in characters.
const MAX_LABEL: usize = 160;

/// Minimum number of spans of a turn.
const MIN_SPANS: usize = 4;

/// Writer of waterfalls.
pub(super) struct Waterfalls<'a> {
    session: &'a Session,
    look: Look<'a>,
    /// Maximum number of spans of a turn.
    quota: usize,
    pub(super) omitted: usize,
}

impl<'a> Waterfalls<'a> {
    pub(super) fn new(session: &'a Session, look: Look<'a>, turns: usize) -> Self {
        let quota = (look.detail.spans / turns.max(1)).max(MIN_SPANS);
        Self { session, look, quota, omitted: 0 }
    }

    /// Writes the spans below `roots` with a scale of their own, because users pause between turns.
    pub(super) fn write(&mut self, page: &mut String, roots: &[usize]) -> fmt::Result {
        let Some((start, end)) = self.session.extent(roots) else { return Ok(()) };
        page.write_str("<div class=\"spans\">")?;
        let mut room = self.quota;
        let before = self.omitted;
        // Spans to write, with their depth, in reverse order.
        let mut rest: Vec<_> = roots.iter().rev().map(|at| (*at, 0)).collect();
        while let Some((at, depth)) = rest.pop() {
            let Some(span) = self.session.spans.get(at) else { continue };
            if room > 0 {
                room -= 1;
                self.row(page, span, depth, (start, end))?;
            } else {
                self.omitted += 1;
            }
            rest.extend(span.below.iter().rev().map(|at| (*at, (depth + 1).min(MAX_DEPTH))));
        }
        if self.omitted > before {
            let omitted = self.omitted - before;
            write!(page, "<p class=\"cut\">… {omitted} spans are not shown</p>")?;
        }
        page.write_str("</div>")
    }

    fn row(
        &self,
        page: &mut String,
        span: &Span,
        depth: usize,
        (start, end): (Duration, Duration),
    ) -> fmt::Result {
        let whole = end.saturating_sub(start).as_secs_f64().max(f64::MIN_POSITIVE);
        let share = |time: Duration| (100.0 * time.as_secs_f64() / whole).min(100.0);
        let class = class(span.kind());
        let failed = if span.error.is_some() { " failed" } else { "" };
        writeln!(
            page,
            "<details class=\"{class}{failed}\"><summary><span class=\"name\" style=\"--depth:{depth}\">{name}</span>\
             <span class=\"track\"><span class=\"bar\" style=\"left:{left:.2}%;width:{width:.2}%\"></span></span>\
             <span class=\"time\">{time}</span></summary>",
            name = name(span),
            left = share(span.start.saturating_sub(start)).min(99.5),
            width = share(span.duration()),
            time = span_of_time(span.duration()),
        )?;
        page.write_str("<table>")?;
        if let Some(Some(words)) = &span.error {
            write!(page, "<tr><th>error</th><td>{}</td></tr>", self.value(words))?;
        }
        if self.look.detail.attributes || span.error.is_some() {
            self.attributes(page, &span.attributes)?;
            for event in &span.events {
                let after = span_of_time(event.time.saturating_sub(span.start));
                write!(page, "<tr><th>{}</th><td>after {after}</td></tr>", key(event.name))?;
                self.attributes(page, &event.attributes)?;
            }
        }
        page.write_str("</table></details>\n")
    }

    fn attributes(&self, page: &mut String, attributes: &[Attribute]) -> fmt::Result {
        for attribute in attributes {
            let value = self.value(&shown(&attribute.value));
            write!(page, "<tr><th>{}</th><td>{value}</td></tr>", key(attribute.key))?;
        }
        Ok(())
    }

    /// Returns a value, which the tracker has redacted.
    fn value(&self, value: &str) -> String {
        let (start, more) = clipped(value, self.look.detail.text);
        escaped(start) + if more > 0 { "…" } else { "" }
    }
}

/// Returns the class of a span.
pub(super) fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Turn => "turn",
        Kind::Subagent => "subagent",
        Kind::Tool => "tool",
        Kind::Permission => "permission",
        Kind::Request => "request",
    }
}

/// Returns the label of a span as plain text, with the human-readable part first.
pub(super) fn label(span: &Span) -> String {
    match span.kind() {
        Kind::Turn => "Turn".to_owned(),
        Kind::Subagent => span.text(keys::ACP_SUBAGENT_TITLE).unwrap_or_else(|| span.name.clone()),
        Kind::Tool => {
            let tool = span.text(keys::GEN_AI_TOOL_NAME).unwrap_or_else(|| span.name.clone());
            let title = span.text(keys::ACP_TOOL_TITLE).filter(|title| *title != tool);
            title.map_or_else(|| tool.clone(), |title| format!("{tool}: {title}"))
        }
        Kind::Permission => match span.text(keys::ACP_PERMISSION_OUTCOME) {
            Some(outcome) => {
                let option = span.text(keys::ACP_PERMISSION_OPTION_KIND).unwrap_or(outcome);
                format!("permission: {option}")
            }
            None => "permission: no answer".to_owned(),
        },
        Kind::Request => span.name.clone(),
    }
}

/// Returns the label of a span. The complete text is among the attributes.
fn name(span: &Span) -> String {
    let label = label(span);
    let end = label.char_indices().nth(MAX_LABEL).map_or(label.len(), |(end, _)| end);
    let (start, more) = clipped(&label, end);
    // Isolates right-to-left text.
    let mut label = format!("<bdi>{}{}</bdi>", escaped(start), if more > 0 { "…" } else { "" });
    if span.error.is_some() {
        let why = span.text(keys::ERROR_TYPE).unwrap_or_else(|| "failed".to_owned());
        label += &format!(" <em>{}</em>", escaped(&why));
    }
    label
}

/// Formats the name of an attribute or event, with break opportunities after dots.
fn key(name: &str) -> String {
    escaped(name).replace('.', ".<wbr>")
}
