//! What is wrong with what was set, said without its value: that may be a secret.
use std::fmt;
use toml::de::Error;

/// Where a file of settings, or a variable, is wrong, and in what way.
#[derive(Debug)]
pub(crate) struct Mistake {
    /// Line and column in a file, from 1.
    place: Option<(usize, usize)>,
    why: String,
}

impl Mistake {
    /// `text` is what was read; nothing of it is kept but the names of its keys.
    pub(super) fn new(text: &str, error: &Error) -> Self {
        let place = error.span().map(|span| {
            let before = text.get(..span.start).unwrap_or(text);
            let line = before.rsplit('\n').next().unwrap_or_default();
            (before.matches('\n').count() + 1, line.chars().count() + 1)
        });
        Self { place, why: without_value(error.message()) }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&self.why)
    }
}

/// Returns the message without the value that serde quotes: it names only the value's type. The expected type stands last,
/// and is not from the text.
fn without_value(message: &str) -> String {
    match message.rsplit_once(", expected ") {
        Some((got, expected)) if !got.starts_with("unknown field") => {
            let kind = got.split(['"', '`']).next().unwrap_or_default().trim_end();
            format!("{kind}, expected {expected}")
        }
        _ => message.to_owned(),
    }
}
