//! Rendered texts: what is shown, what is removed, and the laws of streaming and of changes.
#![expect(clippy::expect_used, reason = "tests")]
mod changes;
mod github;
mod hostile;
mod streaming;
mod terminal;

use markdown_html::{Source, render};

/// The HTML of a text in any format.
fn shown(source: &Source) -> String {
    let rendered = render(source).expect("texts within the limit");
    rendered.blocks.into_iter().map(|block| block.html).collect()
}

/// The HTML of a whole text.
fn html(text: &str) -> String {
    shown(&Source::complete(text))
}
