//! Splits a text into its top-level blocks.
use crate::markdown::clean::clean;
use crate::markdown::rewrite::Rewriter;
use crate::markdown::{Block, RenderedText, Source};
use pulldown_cmark::{Event, Options, Parser, TextMergeWithOffset, html};
use std::time::Instant;

const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_MATH)
    .union(Options::ENABLE_GFM);

/// Renders Markdown.
pub(crate) fn render(source: &Source, until: Instant) -> RenderedText {
    let text = source.text.as_str();
    let parser = Parser::new_ext(text, OPTIONS);
    let mut has_references = parser.reference_definitions().iter().next().is_some();
    let mut rewriter = Rewriter::new(until);
    let mut blocks = Vec::new();
    let mut finished = 0;
    let mut units = Units::new(text);
    let mut depth = 0_usize;
    let open_from = start_of_open_lines(text);
    for (event, range) in TextMergeWithOffset::new(parser.into_offset_iter()) {
        has_references |= matches!(event, Event::FootnoteReference(_));
        if depth == 0 && range.start < open_from {
            finished = blocks.len();
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        rewriter.push(event);
        if depth == 0 {
            let mut page = String::new();
            html::push_html(&mut page, rewriter.take().into_iter());
            blocks.push(Block { end: units.at(range.end), html: clean(&page) });
        }
    }
    if source.is_complete {
        finished = blocks.len();
    }
    RenderedText { blocks, finished, has_references }
}

/// Returns the position of the lines that later text may change. A block that begins there can
/// still become a part of the block before it. These are the last line, and the one before it if
/// the last can be the second row of a table: without that row, the first is no table.
fn start_of_open_lines(text: &str) -> usize {
    let start_of_last = |text: &str| text.rfind('\n').map_or(0, |at| at + 1);
    let last = start_of_last(text);
    let (before, line) = text.split_at(last);
    if line.is_empty() || line.contains(|it| !"|:- \t".contains(it)) {
        return last;
    }
    start_of_last(before.strip_suffix('\n').unwrap_or(before))
}

/// Converts increasing positions in bytes to UTF-16 code units.
struct Units<'a> {
    text: &'a str,
    bytes: usize,
    units: usize,
}

impl<'a> Units<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, bytes: 0, units: 0 }
    }

    fn at(&mut self, bytes: usize) -> usize {
        let between = self.text.get(self.bytes..bytes).unwrap_or_default();
        self.units += between.encode_utf16().count();
        self.bytes = self.bytes.max(bytes);
        self.units
    }
}
