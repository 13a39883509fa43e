//! Absolute paths, and those in a patch in the text format of Git.
use super::report::Report;
use super::rule;
use super::value::shown;
use alloc::borrow::ToOwned;
use alloc::format;

/// What stands before a path in the head of a section.
const HEADS: &[&str] = &["--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to "];

/// Looks at the text of a patch, which is at `pointer`.
pub(super) fn look_at(text: &str, pointer: &str, report: &mut Report) {
    // A section has its head up to the first piece of text; what changed may look like one.
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

/// Whether a path is absolute on any system: `/…`, `\…`, `C:\…`, `C:/…`.
pub(super) fn is_absolute(path: &str) -> bool {
    let drive = |path: &str| {
        let mut characters = path.chars();
        let is_drive = characters.next().is_some_and(|it| it.is_ascii_alphabetic());
        is_drive && characters.next() == Some(':') && matches!(characters.next(), Some('/' | '\\'))
    };
    path.starts_with(['/', '\\']) || drive(path)
}

/// Whether a path is absolute. Git quotes a path that has unusual characters.
fn is_quoted_absolute(path: &str) -> bool {
    is_absolute(path.strip_prefix('"').unwrap_or(path))
}
