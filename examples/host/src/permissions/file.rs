//! A file of rules.
use crate::permissions::rule::Rule;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The content of a file of rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RuleFile {
    permission_rules: Vec<Rule>,
}

/// A file of rules is invalid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file cannot be read.
    #[error("{path}: {error}", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The file has a mistake.
    #[error("{path}: line {line}, column {column}: {why}", path = .path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The line of the mistake, from 1.
        line: usize,
        /// The column of the mistake, from 1, in characters.
        column: usize,
        /// What the file has there, and what is expected.
        why: String,
    },
}

/// Reads a file with a list `permission-rules`, as TOML.
///
/// # Errors
/// The file cannot be read, or has a mistake.
pub fn read_rules(path: &Path) -> Result<Vec<Rule>, FileError> {
    let read = fs::read_to_string(path);
    let text = read.map_err(|error| FileError::Read { path: path.to_owned(), error })?;
    let file: Result<RuleFile, _> = toml::from_str(&text);
    file.map(|file| file.permission_rules).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or(&text);
        let last = before.rsplit('\n').next().unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = last.chars().count() + 1;
        FileError::Parse { path: path.to_owned(), line, column, why: error.message().to_owned() }
    })
}
