//! Text changes in the unified diff format.
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// Largest number of changed lines for a shortest script; beyond it the whole region is replaced.
const MAX_EDITS: usize = 256;

/// Returns the change from `old` to `new` in the unified format; empty if they are equal.
///
/// `None` as `old` means that the file did not exist.
pub(crate) fn unified_diff(path: &str, old: Option<&str>, new: &str) -> String {
    let old_lines: Vec<&str> = old.unwrap_or_default().split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let script = script(&old_lines, &new_lines);
    let hunks = hunks(&script);
    if hunks.is_empty() && old.is_some() {
        return String::new();
    }
    let from = if old.is_some() { path } else { "/dev/null" };
    let mut text = format!("--- {from}\n+++ {path}\n");
    for hunk in hunks {
        hunk.write(&mut text);
    }
    text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Both,
    Old,
    New,
}

type Line<'a> = (Side, &'a str);

fn script<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let old_rest = old.get(head..).unwrap_or_default();
    let new_rest = new.get(head..).unwrap_or_default();
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let old_middle = old_rest.get(..old_rest.len() - tail).unwrap_or_default();
    let new_middle = new_rest.get(..new_rest.len() - tail).unwrap_or_default();

    let both = |line: &&'a str| (Side::Both, *line);
    let mut script: Vec<Line<'a>> = old.iter().take(head).map(both).collect();
    script.extend(
        shortest(old_middle, new_middle).unwrap_or_else(|| replaced(old_middle, new_middle)),
    );
    script.extend(old_rest.iter().skip(old_middle.len()).map(both));
    script
}

fn replaced<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let removed = old.iter().map(|line| (Side::Old, *line));
    removed.chain(new.iter().map(|line| (Side::New, *line))).collect()
}

/// Returns the shortest script (Myers, "An O(ND) difference algorithm and its variations"), unless
/// it is too long.
fn shortest<'a>(old: &[&'a str], new: &[&'a str]) -> Option<Vec<Line<'a>>> {
    let mut search = Search { old, new, rows: Vec::new() };
    (0..=MAX_EDITS).find(|&edits| search.reaches_end(edits)).map(|_| search.script())
}

/// The reach of scripts: `rows[edits][column]` is the largest number of old lines that `edits`
/// edits consume when they consume `column - edits` more old than new lines.
struct Search<'s, 'a> {
    old: &'s [&'a str],
    new: &'s [&'a str],
    rows: Vec<Vec<Option<usize>>>,
}

impl<'a> Search<'_, 'a> {
    fn reaches_end(&mut self, edits: usize) -> bool {
        let mut row = vec![None; 2 * edits + 1];
        for (column, cell) in row.iter_mut().enumerate().step_by(2) {
            let start =
                if edits == 0 { Some(0) } else { self.after_edit(edits, column).map(|(x, _)| x) };
            *cell = start.map(|x| x + self.equal_from(x, (x + edits).saturating_sub(column)));
        }
        self.rows.push(row);
        let end = (self.old.len() + edits).checked_sub(self.new.len());
        end.is_some_and(|column| self.reach(edits, column) == Some(self.old.len()))
    }

    fn reach(&self, edits: usize, column: usize) -> Option<usize> {
        self.rows.get(edits)?.get(column).copied().flatten()
    }

    /// Returns the farther of the two ways to `column` by one more edit, and whether it removes an
    /// old line.
    fn after_edit(&self, edits: usize, column: usize) -> Option<(usize, bool)> {
        let fits = |x: &usize| {
            *x <= self.old.len()
                && (*x + edits).checked_sub(column).is_some_and(|y| y <= self.new.len())
        };
        let before = edits.checked_sub(1)?;
        let add = self.reach(before, column).filter(fits);
        let remove = column
            .checked_sub(2)
            .and_then(|left| self.reach(before, left))
            .map(|x| x + 1)
            .filter(fits);
        match (add, remove) {
            (Some(add), Some(remove)) if remove <= add => Some((add, false)),
            (Some(add), None) => Some((add, false)),
            (_, remove) => remove.map(|x| (x, true)),
        }
    }

    fn equal_from(&self, x: usize, y: usize) -> usize {
        self.old.iter().skip(x).zip(self.new.iter().skip(y)).take_while(|(a, b)| a == b).count()
    }

    /// Traces the script back from the end through the rows.
    fn script(&self) -> Vec<Line<'a>> {
        let mut x = self.old.len();
        let mut y = self.new.len();
        let mut script = Vec::new();
        for edits in (1..self.rows.len()).rev() {
            let Some((start, removes)) =
                (x + edits).checked_sub(y).and_then(|column| self.after_edit(edits, column))
            else {
                break;
            };
            let equal = x.saturating_sub(start);
            script
                .extend(self.old.iter().take(x).rev().take(equal).map(|line| (Side::Both, *line)));
            x = start;
            y = y.saturating_sub(equal);
            if removes {
                x = x.saturating_sub(1);
                script.extend(self.old.get(x).map(|line| (Side::Old, *line)));
            } else {
                y = y.saturating_sub(1);
                script.extend(self.new.get(y).map(|line| (Side::New, *line)));
            }
        }
        script.extend(self.old.iter().take(x).rev().map(|line| (Side::Both, *line)));
        script.reverse();
        script
    }
}

struct Hunk<'s, 'a> {
    old_start: usize,
    new_start: usize,
    lines: &'s [Line<'a>],
}

fn hunks<'s, 'a>(script: &'s [Line<'a>]) -> Vec<Hunk<'s, 'a>> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (at, _) in script.iter().enumerate().filter(|(_, (side, _))| *side != Side::Both) {
        let start = at.saturating_sub(CONTEXT);
        let end = (at + CONTEXT + 1).min(script.len());
        match ranges.last_mut() {
            Some(last) if start <= last.1 => last.1 = end,
            _ => ranges.push((start, end)),
        }
    }
    let count = |end: usize, side| script.iter().take(end).filter(|line| line.0 != side).count();
    let hunk = |(start, end)| Hunk {
        old_start: count(start, Side::New),
        new_start: count(start, Side::Old),
        lines: script.get(start..end).unwrap_or_default(),
    };
    ranges.into_iter().map(hunk).collect()
}

impl Hunk<'_, '_> {
    fn write(&self, text: &mut String) {
        let count = |other| self.lines.iter().filter(|line| line.0 != other).count();
        let old = count(Side::New);
        let new = count(Side::Old);
        text.push_str(&format!(
            "@@ -{} +{} @@\n",
            range(self.old_start, old),
            range(self.new_start, new)
        ));
        for (side, line) in self.lines {
            text.push(match side {
                Side::Both => ' ',
                Side::Old => '-',
                Side::New => '+',
            });
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
}

/// Formats a range: one-based, without the count if it is one; an empty range names the line
/// before.
fn range(start: usize, count: usize) -> String {
    match count {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        _ => format!("{},{count}", start + 1),
    }
}
