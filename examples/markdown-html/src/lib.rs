//! Renders Markdown as safe HTML, block by block, also while it is streamed.
//!
//! ```
//! use markdown_html::{Source, render};
//!
//! let rendered = render(&Source::streamed("# Plan\n\nRead *all* of\nthe"))?;
//! assert_eq!(rendered.blocks[0].html, "<h3>Plan</h3>\n");
//! assert_eq!(rendered.blocks[1].html, "<p>Read <em>all</em> of<br>\nthe</p>\n");
//! // The paragraph may still grow.
//! assert_eq!(rendered.finished, 1);
//! # Ok::<(), markdown_html::TooLong>(())
//! ```
//!
//! Spec: [GitHub Flavored Markdown](https://github.github.com/gfm/)
use serde::{Deserialize, Serialize};

mod blocks;
mod clean;
mod code;
mod rewrite;

pub use blocks::render;

/// Maximum length of a text, in bytes.
pub const MAX_TEXT: usize = 1024 * 1024;

/// A text to render.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Source {
    /// Markdown.
    pub text: String,
    /// Whether the text has ended. Otherwise its last block is open.
    #[serde(rename = "isComplete")]
    pub is_complete: bool,
}

impl Source {
    /// A whole text.
    pub fn complete(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_complete: true }
    }

    /// The beginning of a text.
    pub fn streamed(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_complete: false }
    }
}

/// The blocks of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Rendered {
    /// The top-level blocks, in order.
    pub blocks: Vec<Block>,
    /// Number of blocks that later text cannot change. What follows can be rendered without them, unless
    /// `has_references` is set.
    pub finished: usize,
    /// Whether the text defines targets of links or footnotes, to which any of its blocks may refer.
    #[serde(rename = "hasReferences")]
    pub has_references: bool,
}

/// A paragraph, list, table, code block, or another block that is in no other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Block {
    /// The end of the block in the text, in UTF-16 code units, which are the units of strings in JavaScript.
    pub end: usize,
    /// Safe HTML.
    pub html: String,
}

/// The text exceeds [`MAX_TEXT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a text of {0} bytes, more than {MAX_TEXT}")]
pub struct TooLong(pub usize);
