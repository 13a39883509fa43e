//! Errors of settings, without the invalid value, which may be a secret.
use std::fmt;
use toml::de::Error;

/// The position and the reason of an error in a file of settings or a variable.
#[derive(Debug)]
pub(crate) struct Mistake {
    /// Line and column in a file, from 1.
    place: Option<(usize, usize)>,
    why: String,
}

impl Mistake {
    /// Creates an error for the text that was read. Only names of keys are kept of it.
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

/// Returns the message without the value that serde quotes: it names only the value's type. The
/// expected type is at the end, and is not part of the text.
fn without_value(message: &str) -> String {
    match message.rsplit_once(", expected ") {
        Some((got, expected)) if !got.starts_with("unknown field") => {
            let kind = got.split(['"', '`']).next().unwrap_or_default().trim_end();
            format!("{kind}, expected {expected}")
        }
        _ => message.to_owned(),
    }
}
