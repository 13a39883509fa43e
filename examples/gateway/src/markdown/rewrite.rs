//! Changes the events of a parser into what a page shows.
use crate::markdown::clean::is_shown_image;
use crate::markdown::code::{Highlighter, language};
use linkify::{LinkFinder, LinkKind};
use pulldown_cmark::{
    Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Tag, TagEnd,
};
use std::collections::HashMap;
use std::time::Instant;

/// Maximum number of blocks and styles around a text. Deeper ones are left out, their text is not.
const MAX_DEPTH: usize = 32;

/// Maximum number of raw tags. A parser of HTML takes time for each open tag at each new one.
const MAX_TAGS: usize = 256;

/// Maximum number of bytes of a text and of an attribute in the document. The writer of HTML looks
/// through the rest of it for each character that it escapes.
const MAX_NODE: usize = 16 * 1024;

/// Separates two texts of the document, and is removed from it.
const SEPARATOR: &str = "<!---->";

/// Rewrites the events of a text, a block at a time.
pub(crate) struct Rewriter<'a> {
    out: Vec<Event<'a>>,
    /// The open elements, and whether each one is shown.
    open: Vec<bool>,
    /// Number of open links and images.
    links: usize,
    /// The language and the text of the open code block.
    code: Option<(String, String)>,
    table: Option<Table>,
    /// Whether each open image is shown as an image.
    images: Vec<bool>,
    /// Footnotes by name, in order of their appearance from 1.
    footnotes: HashMap<CowStr<'a>, usize>,
    tags: usize,
    highlighter: Highlighter,
}

#[derive(Default)]
struct Table {
    alignments: Vec<Alignment>,
    column: usize,
    is_head: bool,
}

impl<'a> Rewriter<'a> {
    pub(crate) fn new(until: Instant) -> Self {
        Self {
            out: Vec::new(),
            open: Vec::new(),
            links: 0,
            code: None,
            table: None,
            images: Vec::new(),
            footnotes: HashMap::new(),
            tags: 0,
            highlighter: Highlighter::new(until),
        }
    }

    /// Returns the events since the last call.
    pub(crate) fn take(&mut self) -> Vec<Event<'a>> {
        std::mem::take(&mut self.out)
    }

    pub(crate) fn push(&mut self, event: Event<'a>) {
        match event {
            Event::Start(tag) => {
                let shown = self.open.len() < MAX_DEPTH || matches!(tag, Tag::CodeBlock(_));
                self.open.push(shown);
                if shown {
                    self.start(tag);
                }
            }
            Event::End(tag) => {
                if self.open.pop().unwrap_or_default() {
                    self.end(tag);
                }
            }
            Event::Text(text) => self.text(text),
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                self.code(code);
            }
            Event::Html(raw) => self.raw(raw, Event::Html),
            Event::InlineHtml(raw) => self.raw(raw, Event::InlineHtml),
            Event::FootnoteReference(name) => {
                let number = self.footnote(name);
                self.tag(format!("<sup>{number}</sup>"));
            }
            // Agents end lines where they mean it.
            Event::SoftBreak => self.out.push(Event::HardBreak),
            Event::TaskListMarker(is_done) => {
                let (name, mark) = if is_done { ("Done", '☑') } else { ("Open", '☐') };
                self.tag(format!(
                    r#"<span class="task" role="img" aria-label="{name}">{mark}</span> "#
                ));
            }
            event @ (Event::HardBreak | Event::Rule) => self.out.push(event),
        }
    }

    fn start(&mut self, tag: Tag<'a>) {
        match tag {
            Tag::CodeBlock(kind) => {
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info,
                    CodeBlockKind::Indented => CowStr::Borrowed(""),
                };
                self.code = Some((language(&info), String::new()));
            }
            Tag::Heading { level, .. } => {
                let level = lower(level);
                let id = None;
                let classes = Vec::new();
                let attrs = Vec::new();
                self.out.push(Event::Start(Tag::Heading { level, id, classes, attrs }));
            }
            Tag::FootnoteDefinition(name) => {
                let number = self.footnote(name);
                self.tag(format!("<div class=\"footnote\"><sup>{number}</sup> "));
            }
            Tag::Table(alignments) => {
                self.out.push(Event::Start(Tag::Table(Vec::new())));
                self.table = Some(Table { alignments, ..Table::default() });
            }
            Tag::TableHead | Tag::TableRow => self.start_row(tag),
            Tag::TableCell => self.cell(),
            Tag::Link { link_type, dest_url, title, id } => {
                self.links += 1;
                let dest_url = within_limit(dest_url);
                let title = within_limit(title);
                self.out.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
            }
            Tag::Image { link_type, dest_url, title, id } => {
                self.links += 1;
                // Nothing of an image in Base64 is escaped.
                let is_image = is_shown_image(&dest_url) && !dest_url.contains('&');
                let dest_url = if is_image { dest_url } else { within_limit(dest_url) };
                let title = within_limit(title);
                self.images.push(is_image);
                self.out.push(Event::Start(match is_image {
                    true => Tag::Image { link_type, dest_url, title, id },
                    false => Tag::Link { link_type: LinkType::Inline, dest_url, title, id },
                }));
            }
            tag => self.out.push(Event::Start(tag)),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::CodeBlock => {
                let (language, text) = self.code.take().unwrap_or_default();
                self.code_block(&language, text);
            }
            TagEnd::Heading(level) => self.out.push(Event::End(TagEnd::Heading(lower(level)))),
            TagEnd::FootnoteDefinition => self.tag("</div>\n".into()),
            TagEnd::TableCell => {
                let is_head = self.table.as_ref().is_some_and(|table| table.is_head);
                self.tag(if is_head { "</th>" } else { "</td>" }.into());
            }
            TagEnd::Link => {
                self.links = self.links.saturating_sub(1);
                self.out.push(Event::End(tag));
            }
            TagEnd::Image => {
                self.links = self.links.saturating_sub(1);
                let is_image = self.images.pop().unwrap_or_default();
                self.out.push(Event::End(if is_image { TagEnd::Image } else { TagEnd::Link }));
            }
            tag => self.out.push(Event::End(tag)),
        }
    }

    fn text(&mut self, text: CowStr<'a>) {
        if let Some((_, code)) = &mut self.code {
            return code.push_str(&text);
        }
        if self.links > 0 {
            return self.plain(&text);
        }
        let mut finder = LinkFinder::new();
        finder.kinds(&[LinkKind::Url]);
        for span in finder.spans(&text) {
            if span.kind().is_none() || span.as_str().len() > MAX_NODE {
                self.plain(span.as_str());
                continue;
            }
            let part = CowStr::from(span.as_str().to_owned());
            let dest_url = part.clone();
            let title = "".into();
            let id = "".into();
            let link = Tag::Link { link_type: LinkType::Autolink, dest_url, title, id };
            self.out.extend([Event::Start(link), Event::Text(part), Event::End(TagEnd::Link)]);
        }
    }

    /// Writes text without links.
    fn plain(&mut self, text: &str) {
        let (first, mut rest) = split_at_limit(text);
        self.out.push(Event::Text(first.to_owned().into()));
        // The alternative text of an image is an attribute.
        while !rest.is_empty() && !self.images.contains(&true) {
            let (next, later) = split_at_limit(rest);
            self.tag(SEPARATOR.to_owned());
            self.out.push(Event::Text(next.to_owned().into()));
            rest = later;
        }
    }

    fn code(&mut self, code: CowStr<'a>) {
        if code.len() <= MAX_NODE {
            return self.out.push(Event::Code(code));
        }
        self.tag("<code>".to_owned());
        self.plain(&code);
        self.tag("</code>".to_owned());
    }

    fn raw(&mut self, raw: CowStr<'a>, event: fn(CowStr<'a>) -> Event<'a>) {
        self.tags += raw.matches('<').count();
        // Only images of Markdown have addresses that are checked.
        let is_shown_as_text = self.tags > MAX_TAGS
            || raw.len() > MAX_NODE
            || raw.to_ascii_lowercase().contains("<img");
        if is_shown_as_text {
            self.plain(&raw);
        } else {
            self.out.push(event(raw));
        }
    }

    /// Returns the number of a footnote.
    fn footnote(&mut self, name: CowStr<'a>) -> usize {
        let next = self.footnotes.len() + 1;
        *self.footnotes.entry(name).or_insert(next)
    }

    fn start_row(&mut self, row: Tag<'a>) {
        if let Some(table) = &mut self.table {
            table.column = 0;
            table.is_head = matches!(row, Tag::TableHead);
        }
        self.out.push(Event::Start(row));
    }

    /// Begins a cell. Its alignment is a class, since a page may forbid styles.
    fn cell(&mut self) {
        let table = self.table.get_or_insert_default();
        let name = if table.is_head { "th" } else { "td" };
        let alignment = table.alignments.get(table.column).copied();
        table.column += 1;
        self.tag(match alignment {
            Some(Alignment::Right) => format!("<{name} class=\"align-right\">"),
            Some(Alignment::Center) => format!("<{name} class=\"align-center\">"),
            _ => format!("<{name}>"),
        });
    }

    fn code_block(&mut self, language: &str, text: String) {
        if let Some(html) = self.highlighter.highlight(language, &text) {
            return self
                .tag(format!("<pre><code class=\"language-{language}\">{html}</code></pre>\n"));
        }
        let kind = CodeBlockKind::Fenced(language.to_owned().into());
        self.out.push(Event::Start(Tag::CodeBlock(kind)));
        self.plain(&text);
        self.out.push(Event::End(TagEnd::CodeBlock));
    }

    fn tag(&mut self, html: String) {
        self.out.push(Event::InlineHtml(html.into()));
    }
}

/// Splits a text behind the first [`MAX_NODE`] bytes, or before the character there.
fn split_at_limit(text: &str) -> (&str, &str) {
    let limit = text.len().min(MAX_NODE);
    let end = (0..=limit).rev().find(|end| text.is_char_boundary(*end));
    text.split_at(end.unwrap_or_default())
}

/// Returns an address or a title that is not too long for an attribute.
fn within_limit(value: CowStr<'_>) -> CowStr<'_> {
    if value.len() > MAX_NODE { "".into() } else { value }
}

/// Headings of the page rank above those of a message.
fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}
