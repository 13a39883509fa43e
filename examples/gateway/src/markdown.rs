//! Renders the texts of agents as safe HTML: Markdown block by block, also while it is streamed,
//! the output of terminals, code, and changes of files.
//!
//! ```
//! use gateway::markdown::{Source, render};
//!
//! let rendered = render(&Source::streamed("# Plan\n\nRead *all* of\nthe"))?;
//! assert_eq!(rendered.blocks[0].html, "<h3>Plan</h3>\n");
//! assert_eq!(rendered.blocks[1].html, "<p>Read <em>all</em> of<br>\nthe</p>\n");
//! // The paragraph may still grow.
//! assert_eq!(rendered.finished, 1);
//! # Ok::<(), gateway::markdown::TooMuch>(())
//! ```
//!
//! The changes of a file are a table with line numbers, in which changed words are marked:
//!
//! ```
//! use gateway::markdown::{Format, Source, render};
//!
//! let mut change = Source::of(Format::Diff, "let a = 2;\n");
//! change.before = "let a = 1;\n".into();
//! change.name = "src/main.rs".into();
//! assert!(render(&change)?.blocks[0].html.contains("hl-mark\">2</span>"));
//! # Ok::<(), gateway::markdown::TooMuch>(())
//! ```
//!
//! Spec: [GitHub Flavored Markdown](https://github.github.com/gfm/),
//! [ECMA-48](https://ecma-international.org/publications-and-standards/standards/ecma-48/)
//!
//! Markdown: GitHub's tables, task lists, strikethrough, footnotes, alerts and bare URLs,
//! highlighted code, formulas as code. Text that is still streamed is rendered block by block:
//! `finished` is the number of blocks that later text cannot change.
//!
//! | input | output |
//! |---|---|
//! | raw HTML | its harmless tags (`<kbd>`, `<details>`, `<br>`); images are shown as text, everything else is removed |
//! | links | `http`, `https` and `mailto`, in a new tab; without an address otherwise |
//! | images | `data:` images in PNG, JPEG, GIF or WebP; other images become links |
//! | headings | two levels lower, since headings of the page rank above those of a message |
//! | code | `<span>` elements with classes that begin with `hl-`, without styles |
//!
//! Other formats, with control characters and changes of direction shown:
//!
//! | format | output |
//! |---|---|
//! | terminal | a `pre` element with classes for 16 colours and effects, as a terminal shows it: later text replaces that at its place |
//! | changes of a file | a table with line numbers, highlighted, in which changed words are marked |
//! | unified diff | the same, for each hunk |
//! | code of a file | highlighted |
//!
//! Limits: 64 texts at once, 1 MiB of text, 32 levels of nesting, 256 raw tags in a text (more are
//! shown as text), 64 KiB of a highlighted block and 128 KiB of highlighted code in a text, in
//! which long lines count more, 10 seconds for the code of all texts (only hostile code takes as
//! long), 1,000 rows of changes, 800 milliseconds to compare the lines of a text, 20,000 styled
//! parts of output.
use serde::{Deserialize, Serialize};
use std::slice;
use std::time::{Duration, Instant};

mod blocks;
mod changes;
mod clean;
mod code;
mod controls;
mod lines;
mod patch;
mod rewrite;
mod table;
mod terminal;

/// Renders a text, with colours for code within [`TIME`].
///
/// # Errors
///
/// The text is longer than [`MAX_TEXT`], or both texts of a change are.
pub fn render(source: &Source) -> Result<RenderedText, TooMuch> {
    let mut rendered = render_all(slice::from_ref(source), Instant::now() + TIME)?;
    rendered.pop().ok_or(TooMuch::Texts(0))
}

/// Renders the texts of a request. Code after `until` has no colours, and changes after it are not
/// compared.
///
/// # Errors
///
/// There are more than [`MAX_TEXTS`], or one is longer than [`MAX_TEXT`].
pub fn render_all(sources: &[Source], until: Instant) -> Result<Vec<RenderedText>, TooMuch> {
    if sources.len() > MAX_TEXTS {
        return Err(TooMuch::Texts(sources.len()));
    }
    sources.iter().map(|source| render_until(source, until)).collect()
}

fn render_until(source: &Source, until: Instant) -> Result<RenderedText, TooMuch> {
    let length = source.text.len().saturating_add(source.before.len());
    if length > MAX_TEXT {
        return Err(TooMuch::Bytes(length));
    }
    let html = match source.format {
        Format::Markdown => return Ok(blocks::render(source, until)),
        Format::Terminal => terminal::html(&source.text),
        Format::Code => code::html(&source.name, &source.text, until),
        Format::Diff => changes::html(&source.before, &source.text, &source.name, until),
        Format::Patch => patch::html(&source.text, until),
    };
    let end = source.text.encode_utf16().count();
    Ok(RenderedText { blocks: vec![Block { end, html }], finished: 1, has_references: false })
}

/// Maximum length of a text, in bytes.
pub const MAX_TEXT: usize = 1024 * 1024;

/// Maximum number of texts of a request.
pub const MAX_TEXTS: usize = 64;

/// Recommended time for all texts of a request, which only hostile code reaches: some expressions
/// of languages try again and again.
pub const TIME: Duration = Duration::from_secs(10);

/// A text to render.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Source {
    /// The text; of a change, the text after it.
    pub text: String,
    /// Whether the text has ended. Otherwise the last block of Markdown is open.
    #[serde(rename = "isComplete")]
    pub is_complete: bool,
    /// The format of the text.
    #[serde(default)]
    pub format: Format,
    /// The language of code, or the path of its file, which determines the highlighting of code and
    /// changes.
    #[serde(default)]
    pub name: String,
    /// The text before a change.
    #[serde(default)]
    pub before: String,
}

/// The format of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Format {
    /// GitHub Flavored Markdown.
    #[default]
    Markdown,
    /// The output of a terminal, with its colours.
    Terminal,
    /// Code of a file or language.
    Code,
    /// A file before and after a change.
    Diff,
    /// The changes of files as a unified diff.
    Patch,
}

impl Source {
    /// A whole text in Markdown.
    pub fn complete(text: impl Into<String>) -> Self {
        Self::of(Format::Markdown, text)
    }

    /// The beginning of a text in Markdown.
    pub fn streamed(text: impl Into<String>) -> Self {
        Self { is_complete: false, ..Self::complete(text) }
    }

    /// A whole text in this format.
    pub fn of(format: Format, text: impl Into<String>) -> Self {
        let name = String::new();
        let before = String::new();
        Self { text: text.into(), is_complete: true, format, name, before }
    }
}

/// The blocks of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RenderedText {
    /// The top-level blocks, in order.
    pub blocks: Vec<Block>,
    /// Number of blocks that later text cannot change. What follows can be rendered without them,
    /// unless `has_references` is set.
    pub finished: usize,
    /// Whether the text defines targets of links or footnotes, to which any of its blocks may
    /// refer.
    #[serde(rename = "hasReferences")]
    pub has_references: bool,
}

/// A paragraph, list, table, code block, or another block that is in no other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Block {
    /// The end of the block in the text, in UTF-16 code units, which are the units of strings in
    /// JavaScript.
    pub end: usize,
    /// Safe HTML.
    pub html: String,
}

/// A limit is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TooMuch {
    /// The text exceeds [`MAX_TEXT`].
    #[error("a text of {0} bytes, more than {MAX_TEXT}")]
    Bytes(usize),
    /// The texts exceed [`MAX_TEXTS`].
    #[error("{0} texts, more than {MAX_TEXTS}; send the others in another request")]
    Texts(usize),
}
