//! Changes of a file: the changed lines with their surroundings.
use crate::markdown::code::Highlighter;
use crate::markdown::controls::visible;
use crate::markdown::lines::Lines;
use crate::markdown::table::Table;
use similar::{DiffOp, InlineChange, TextDiff};
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Unchanged lines that are shown before and after a change.
const CONTEXT_LINES: usize = 3;

/// Maximum number of lines, before and after, of a change of which the words are compared.
const MAX_WORDS_LINES: usize = 200;

/// Work of comparing the words of a text: for each change, the product of its bytes before and
/// after.
const MAX_WORDS_WORK: usize = 1 << 28;

/// Time to compare the lines of a text. Lines that are not compared until then are shown as removed
/// and added.
const TIME: Duration = Duration::from_millis(800);

/// Returns the changes of a file as a table.
pub(crate) fn html(before: &str, after: &str, path: &str, until: Instant) -> String {
    let mut table = Table::default();
    write(&mut table, &Change { before, after, path, first: [1, 1] }, &Limits::new(until));
    table.finish()
}

/// What is left of the limits of a text.
pub(crate) struct Limits {
    until: Instant,
    highlighter: Highlighter,
    words_work: Cell<usize>,
}

impl Limits {
    pub(crate) fn new(until: Instant) -> Self {
        let words_work = Cell::new(MAX_WORDS_WORK);
        let highlighter = Highlighter::new(until);
        Self { until: until.min(Instant::now() + TIME), highlighter, words_work }
    }

    /// Returns whether the words of a change are compared, and counts the work.
    fn take_words(&self, op: &DiffOp, old: &[&str], new: &[&str]) -> bool {
        let DiffOp::Replace { old_len, new_len, .. } = op else { return false };
        let bytes = |lines: Option<&[&str]>| {
            lines.unwrap_or_default().iter().map(|line| line.len()).sum::<usize>()
        };
        let work = bytes(old.get(op.old_range())).saturating_mul(bytes(new.get(op.new_range())));
        let left = self.words_work.get().checked_sub(work);
        if old_len + new_len > MAX_WORDS_LINES || left.is_none() {
            return false;
        }
        self.words_work.set(left.unwrap_or_default());
        true
    }
}

/// A part of a file before and after, and the numbers of its first lines.
pub(crate) struct Change<'a> {
    pub(crate) before: &'a str,
    pub(crate) after: &'a str,
    pub(crate) path: &'a str,
    pub(crate) first: [usize; 2],
}

/// Adds the rows of a change.
pub(crate) fn write(table: &mut Table, change: &Change<'_>, limits: &Limits) {
    let before = visible(change.before);
    let after = visible(change.after);
    let [before, after] = line_ends(&before, &after);
    let diff = TextDiff::configure().deadline(limits.until).diff_lines(&*before, &*after);
    let sides = [&before, &after].map(|text| Lines::new(text, change.path, &limits.highlighter));
    let mut end = 0;
    for group in diff.grouped_ops(CONTEXT_LINES) {
        for op in group {
            table.gap(op.old_range().start.saturating_sub(end));
            end = op.old_range().end;
            let lines: Box<dyn Iterator<Item = InlineChange<'_, str>>> =
                if limits.take_words(&op, diff.old_slices(), diff.new_slices()) {
                    Box::new(diff.iter_inline_changes_deadline(&op, None))
                } else {
                    Box::new(diff.iter_changes(&op).map(InlineChange::from))
                };
            lines.for_each(|line| write_line(table, &line, &sides, change.first));
        }
    }
    table.gap(before.lines().count().saturating_sub(end));
}

fn write_line(
    table: &mut Table,
    line: &InlineChange<'_, str>,
    [old, new]: &[Lines; 2],
    first: [usize; 2],
) {
    if !table.counts(line.tag()) {
        return;
    }
    let mut text = String::new();
    let mut marked: Vec<Range<usize>> = Vec::new();
    let mut has_same = false;
    for (is_marked, part) in line.values() {
        let start = text.len();
        text.push_str(part);
        if part.trim().is_empty() {
            continue;
        } else if *is_marked {
            marked.push(start..text.len());
        } else {
            has_same = true;
        }
    }
    // Marks of a line that is different as a whole tell nothing.
    if !has_same {
        marked.clear();
    }
    let html = match (line.old_index(), line.new_index()) {
        (_, Some(at)) => new.html(at, &text, &marked),
        (Some(at), None) => old.html(at, &text, &marked),
        (None, None) => return,
    };
    let numbers =
        [line.old_index().map(|at| at + first[0]), line.new_index().map(|at| at + first[1])];
    table.line(line.tag(), numbers, &html);
}

/// Removes the carriage returns of line ends that both texts have.
fn line_ends<'a>(before: &'a str, after: &'a str) -> [Cow<'a, str>; 2] {
    // Pictures of carriage returns, which `visible` has made of them.
    const END: &str = "\u{240d}\n";
    if before.contains(END) == after.contains(END) {
        [before, after].map(|text| Cow::Owned(text.replace(END, "\n")))
    } else {
        [before, after].map(Cow::Borrowed)
    }
}
