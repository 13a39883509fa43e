//! Changes of files as a unified diff.
use crate::markdown::changes::{Change, Limits, write};
use crate::markdown::code;
use crate::markdown::controls::visible;
use crate::markdown::table::Table;
use std::time::Instant;

/// The name of a file that does not exist before or after a change.
const NO_FILE: &str = "/dev/null";

/// Returns the changes as a table, or the text as code if no changes can be read from it.
pub(crate) fn html(text: &str, until: Instant) -> String {
    let hunks = hunks(text);
    let Some(first) = hunks.first() else { return code::html("diff", text, until) };
    let has_files = hunks.iter().any(|hunk| hunk.path != first.path);
    let limits = Limits::new(until);
    let mut table = Table::default();
    let mut path = None;
    for hunk in &hunks {
        let line = hunk.first[1];
        if has_files && path.replace(hunk.path) != Some(hunk.path) {
            table.note(&format!("{}, line {line}", visible(hunk.path)));
        } else {
            table.note(&format!("Line {line}"));
        }
        let [before, after] = &hunk.texts;
        let change = Change { before, after, path: hunk.path, first: hunk.first };
        write(&mut table, &change, &limits);
    }
    table.finish()
}

fn hunks(text: &str) -> Vec<Hunk<'_>> {
    let mut old = "";
    let mut path = "";
    let mut hunks: Vec<Hunk<'_>> = Vec::new();
    for line in text.split_inclusive('\n') {
        match hunks.last_mut().filter(|hunk| hunk.left != [0, 0]) {
            Some(hunk) => hunk.push(line),
            None if line.starts_with("@@") => hunks.extend(Hunk::new(line, path)),
            None => match (line.strip_prefix("--- "), line.strip_prefix("+++ ")) {
                (Some(before), _) => old = before.trim(),
                (_, Some(after)) => path = name(old, after.trim()),
                _ => {}
            },
        }
    }
    hunks
}

/// Returns the name of a file by its names before and after a change, without the prefixes of Git.
fn name<'a>(old: &'a str, new: &'a str) -> &'a str {
    let before = old.strip_prefix("a/");
    let after = new.strip_prefix("b/");
    match (before, after) {
        (Some(before), _) if new == NO_FILE => before,
        (_, Some(after)) if before.is_some() || old == NO_FILE => after,
        _ if new == NO_FILE => old,
        _ => new,
    }
}

/// A part of a file before and after.
struct Hunk<'a> {
    path: &'a str,
    first: [usize; 2],
    /// Number of lines before and after that do not follow yet.
    left: [usize; 2],
    texts: [String; 2],
}

impl<'a> Hunk<'a> {
    /// Reads a line like `@@ -1,2 +3,4 @@`.
    fn new(line: &str, path: &'a str) -> Option<Self> {
        let mut words = line.split_whitespace().skip(1);
        let (old, before) = range(words.next()?, '-')?;
        let (new, after) = range(words.next()?, '+')?;
        let texts = Default::default();
        Some(Self { path, first: [old, new], left: [before, after], texts })
    }

    fn push(&mut self, line: &str) {
        let is_in = match line.as_bytes().first() {
            Some(b'-') => [true, false],
            Some(b'+') => [false, true],
            Some(b'\\') => return,
            _ => [true, true],
        };
        // Some programs omit the space of an empty line.
        let line = line.get(1..).filter(|_| !line.starts_with('\n')).unwrap_or("\n");
        for ((text, left), is_in) in self.texts.iter_mut().zip(&mut self.left).zip(is_in) {
            if is_in {
                text.push_str(line);
                *left = left.saturating_sub(1);
            }
        }
    }
}

/// Reads the first line and the number of lines.
fn range(word: &str, sign: char) -> Option<(usize, usize)> {
    let word = word.strip_prefix(sign)?;
    let (first, count) = word.split_once(',').unwrap_or((word, "1"));
    let number = |word: &str| usize::try_from(word.parse::<u32>().ok()?).ok();
    Some((number(first)?, number(count)?))
}
