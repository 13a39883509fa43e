//! Files with the expected result of a test.
use std::path::Path;
use std::{env, fs};

/// Asserts that a file has this text. `ACP_TYPES_WRITE` writes the file before, for review.
pub(crate) fn assert_is_stored(text: &str, path: &Path) {
    if env::var_os("ACP_TYPES_WRITE").is_some() {
        fs::write(path, text).unwrap();
    }
    let stored = fs::read_to_string(path).unwrap_or_default();
    for (number, (line, stored)) in text.lines().zip(stored.lines()).enumerate() {
        assert_eq!(line, stored, "line {} of {}", number + 1, path.display());
    }
    assert_eq!(text, stored, "{}", path.display());
}
