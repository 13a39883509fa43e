//! What a page shows: its private parts, and how much of them.

use super::text::{clipped, escaped, grouped};
use crate::conventions::{ReadingOptions, redacted};
use core::fmt;
use regex::Regex;
use semconv_map::Policy;
use semconv_map::content::{Capture, Gate};

/// Maximum size of a page in bytes.
pub(super) const MAX_PAGE: usize = 2_000_000;

/// Amount of data in a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detail {
    /// Bytes of a message.
    pub(super) message: usize,
    /// Bytes of other texts, such as the output of a tool.
    pub(super) text: usize,
    /// Whether the attributes of spans without an error are included.
    pub(super) attributes: bool,
    /// Number of turns.
    pub(super) turns: usize,
    /// Number of items of the conversation, shared by the turns.
    pub(super) items: usize,
    /// Number of spans, shared by the turns.
    pub(super) spans: usize,
}

/// Details from the most to the least. A page has the first one with which it is not larger than
/// [`MAX_PAGE`], or the [`LEAST`].
pub(super) const DETAILS: [Detail; 4] = [
    detail(64 << 10, 16 << 10, true, 10_000, 50_000),
    detail(16 << 10, 4 << 10, true, 5_000, 20_000),
    detail(4 << 10, 1 << 10, false, 2_000, 10_000),
    detail(1 << 10, 256, false, 1_000, 3_000),
];

/// The least detail.
pub(super) const LEAST: Detail = detail(256, 64, false, 300, 1_000);

const fn detail(
    message: usize,
    text: usize,
    attributes: bool,
    turns: usize,
    items: usize,
) -> Detail {
    Detail { message, text, attributes, turns, items, spans: items }
}

/// Content that may be shown.
#[derive(Clone, Debug)]
pub(crate) struct Privacy {
    content: bool,
    titles: bool,
    redact: Vec<Regex>,
}

impl Privacy {
    pub(crate) fn new(options: &ReadingOptions, policy: &Policy) -> Self {
        let content = policy.content != Capture::Off;
        let titles = match policy.titles {
            Gate::Always => true,
            Gate::Never => false,
            _ => content,
        };
        Self { content, titles, redact: options.redact.clone() }
    }

    /// Returns a text, redacted.
    pub(crate) fn text(&self, text: &str) -> String {
        redacted(&self.redact, text).unwrap_or_else(|| text.to_owned())
    }

    /// Returns the title of a session, redacted, if titles are shown.
    pub(crate) fn title(&self, title: &str) -> Option<String> {
        self.titles.then(|| self.text(title))
    }

    /// Returns a text as HTML: redacted, not longer than `limit` bytes, and escaped.
    pub(crate) fn html(&self, text: &str, limit: usize) -> String {
        let text = self.text(text);
        let (start, more) = clipped(&text, limit);
        let mut html = escaped(start);
        if more > 0 {
            let more = grouped(i64::try_from(more).unwrap_or(i64::MAX));
            html += &format!("<span class=\"cut\">… {more} more characters</span>");
        }
        html
    }
}

/// The view of a page on the session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    pub(super) privacy: &'a Privacy,
    pub(super) detail: Detail,
    /// Size in bytes at which writing the page is given up.
    pub(super) max_page: usize,
}

impl Look<'_> {
    /// Returns an error if the page is too large already, so that the rest is not written in vain.
    pub(super) fn check_size(&self, page: &str) -> fmt::Result {
        if page.len() <= self.max_page { Ok(()) } else { Err(fmt::Error) }
    }

    /// Returns whether messages, arguments and results are shown.
    pub(super) fn shows_content(&self) -> bool {
        self.privacy.content
    }

    /// Returns whether titles are shown.
    pub(super) fn shows_titles(&self) -> bool {
        self.privacy.titles
    }

    /// Returns a text as HTML, as [`Privacy::html`].
    pub(super) fn html(&self, text: &str, limit: usize) -> String {
        self.privacy.html(text, limit)
    }

    /// Returns the first line of a text as HTML, isolated from the direction of other texts.
    pub(super) fn label(&self, text: &str, limit: usize) -> String {
        let text = self.privacy.text(text);
        let mut lines = text.trim().lines();
        let line = lines.next().unwrap_or_default();
        let (start, more) = clipped(line, limit);
        let more = if more > 0 || lines.next().is_some() { "…" } else { "" };
        format!("<bdi>{}{more}</bdi>", escaped(start))
    }
}
