//! Paths relative to the working directory of a session.
use std::io::ErrorKind;
use std::path::{Component, Path};

/// Characters that tools or shells expand.
const EXPANDED: &str = "~*?[]{}$%";

/// Returns a path relative to a directory, with `/` between its parts. Returns `None` if it is not
/// certain that the path is below the directory: it has `..` or leads through a symbolic link, for
/// example.
pub(crate) fn below(directory: &Path, text: &str) -> Option<String> {
    let is_readable = |c: char| !c.is_control() && !EXPANDED.contains(c);
    if text.is_empty() || text.contains("://") || !text.chars().all(is_readable) {
        return None;
    }
    let path = Path::new(text);
    if path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let relative = if path.is_absolute() { strip(directory, path)? } else { path.to_owned() };
    let mut parts = Vec::new();
    for part in relative.components() {
        match part {
            Component::Normal(part) => parts.push(part.to_str().filter(|it| is_portable(it))?),
            Component::CurDir => {}
            _ => return None,
        }
    }
    has_no_link(directory, &parts).then(|| parts.join("/"))
}

/// Returns the rest of a path below a directory, which may be named without its own links.
fn strip(directory: &Path, path: &Path) -> Option<std::path::PathBuf> {
    if let Ok(rest) = path.strip_prefix(directory) {
        return Some(rest.to_owned());
    }
    let real = directory.canonicalize().ok()?;
    path.strip_prefix(real).ok().map(Path::to_owned)
}

/// Returns whether each existing part of a path is a file or a folder.
fn has_no_link(directory: &Path, parts: &[&str]) -> bool {
    let mut path = directory.to_owned();
    for part in parts {
        path.push(part);
        match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => return false,
            Ok(_) => {}
            // A part of a new path.
            Err(error) if error.kind() == ErrorKind::NotFound => return true,
            Err(_) => return false,
        }
    }
    true
}

/// Returns whether a part names one file: Windows has streams behind `:`, and ignores dots and
/// spaces at the end.
fn is_portable(part: &str) -> bool {
    !cfg!(windows) || !(part.contains(':') || part.ends_with(['.', ' ']))
}
