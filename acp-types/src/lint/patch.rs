//! Absolute paths, including those in patches in Git's format.
use super::report::Report;
use super::rule;
use super::value::shown;
use alloc::borrow::ToOwned;
use alloc::format;

/// Line prefixes before a path in the header of a section.
const HEADS: &[&str] = &["--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to "];

/// Checks the text of a patch, which is at `pointer`.
pub(super) fn look_at(text: &str, pointer: &str, report: &mut Report) {
    // The header of a section ends at the first hunk; changed lines may look like header lines.
    let mut is_head = true;
    for line in text.lines() {
        if line.starts_with("diff --git ") {
            is_head = true;
        } else if line.starts_with("@@ ") || line.starts_with("GIT binary patch") {
            is_head = false;
        }
        let path = HEADS.iter().find_map(|head| line.strip_prefix(head)).filter(|_| is_head);
        if let Some(path) = path
            && !is_quoted_absolute(path)
        {
            let message = format!("expected an absolute path, got `{}`", shown(path));
            report.add(&rule::PATCH_PATH, pointer.to_owned(), message);
        }
    }
}

/// Returns whether a path is absolute on any system: `/…`, `\…`, `C:\…`, `C:/…`.
pub(super) fn is_absolute(path: &str) -> bool {
    let drive = |path: &str| {
        let mut characters = path.chars();
        let is_drive = characters.next().is_some_and(|it| it.is_ascii_alphabetic());
        is_drive && characters.next() == Some(':') && matches!(characters.next(), Some('/' | '\\'))
    };
    path.starts_with(['/', '\\']) || drive(path)
}

/// Returns whether a path is absolute. Git quotes a path with unusual characters.
fn is_quoted_absolute(path: &str) -> bool {
    is_absolute(path.strip_prefix('"').unwrap_or(path))
}
