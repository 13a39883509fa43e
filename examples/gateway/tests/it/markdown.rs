//! Rendered texts: what is shown, what is removed, and the laws of streaming and of changes.
mod changes;
mod github;
mod hostile;
mod streaming;
mod terminal;

use gateway::markdown::{Source, render};

/// The HTML of a text in any format.
fn shown(source: &Source) -> String {
    let rendered = render(source).expect("texts within the limit");
    rendered.blocks.into_iter().map(|block| block.html).collect()
}

/// The HTML of a whole text.
fn html(text: &str) -> String {
    shown(&Source::complete(text))
}
