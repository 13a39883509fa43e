//! Rendered Markdown: what is shown, what is removed, and the law of streaming.
#![expect(clippy::expect_used, reason = "tests")]
mod github;
mod hostile;
mod streaming;

use markdown_html::{Source, render};

/// The HTML of a whole text.
fn html(text: &str) -> String {
    let rendered = render(&Source::complete(text)).expect("a text within the limit");
    rendered.blocks.into_iter().map(|block| block.html).collect()
}
