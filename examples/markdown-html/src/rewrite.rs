//! Changes the events of a parser into what a page shows.
use crate::clean::is_shown_image;
use crate::code::{Highlighter, language};
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
            Event::InlineMath(formula) | Event::DisplayMath(formula) => {
                self.out.push(Event::Code(formula));
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
            event @ (Event::Code(_) | Event::HardBreak | Event::Rule) => self.out.push(event),
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
                let (id, classes, attrs) = (None, Vec::new(), Vec::new());
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
            Tag::Link { .. } => {
                self.links += 1;
                self.out.push(Event::Start(tag));
            }
            Tag::Image { link_type, dest_url, title, id } => {
                self.links += 1;
                let is_image = is_shown_image(&dest_url);
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
            return self.out.push(Event::Text(text));
        }
        let mut finder = LinkFinder::new();
        finder.kinds(&[LinkKind::Url]);
        for span in finder.spans(&text) {
            let part = CowStr::from(span.as_str().to_owned());
            if span.kind().is_none() {
                self.out.push(Event::Text(part));
                continue;
            }
            let (dest_url, title, id) = (part.clone(), "".into(), "".into());
            let link = Tag::Link { link_type: LinkType::Autolink, dest_url, title, id };
            self.out.extend([Event::Start(link), Event::Text(part), Event::End(TagEnd::Link)]);
        }
    }

    fn raw(&mut self, raw: CowStr<'a>, event: fn(CowStr<'a>) -> Event<'a>) {
        self.tags += raw.matches('<').count();
        // Only images of Markdown have addresses that are checked.
        let is_text = self.tags > MAX_TAGS || raw.to_ascii_lowercase().contains("<img");
        self.out.push(if is_text { Event::Text(raw) } else { event(raw) });
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
        let end = Event::End(TagEnd::CodeBlock);
        self.out.extend([Event::Start(Tag::CodeBlock(kind)), Event::Text(text.into()), end]);
    }

    fn tag(&mut self, html: String) {
        self.out.push(Event::InlineHtml(html.into()));
    }
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
