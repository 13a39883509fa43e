//! The table of changes: a row for each line.
use pulldown_cmark::Event;
use pulldown_cmark::html::push_html;
use similar::ChangeTag;

/// Maximum number of shown rows. Changes of more lines end with their number.
const MAX_ROWS: usize = 1_000;

/// A table that is written row by row.
#[derive(Default)]
pub(crate) struct Table {
    rows: String,
    shown: usize,
    left_out: usize,
    added: usize,
    removed: usize,
}

impl Table {
    /// Counts a line, and returns whether its row is shown.
    pub(crate) fn counts(&mut self, tag: ChangeTag) -> bool {
        match tag {
            ChangeTag::Insert => self.added += 1,
            ChangeTag::Delete => self.removed += 1,
            ChangeTag::Equal => {}
        }
        let is_shown = self.shown < MAX_ROWS;
        self.shown += usize::from(is_shown);
        self.left_out += usize::from(!is_shown);
        is_shown
    }

    /// Adds a line with its numbers before and after the change.
    pub(crate) fn line(&mut self, tag: ChangeTag, [before, after]: [Option<usize>; 2], line: &str) {
        let (class, sign, element) = match tag {
            ChangeTag::Insert => ("added", "+", "ins"),
            ChangeTag::Delete => ("removed", "−", "del"),
            ChangeTag::Equal => ("same", "", "span"),
        };
        let number = |number: Option<usize>| number.map(|number| number.to_string());
        let [before, after] = [before, after].map(|at| number(at).unwrap_or_default());
        self.rows.push_str(&format!(
            "<tr class=\"diff-{class}\"><td class=\"diff-number\">{before}</td>\
             <td class=\"diff-number\">{after}</td>\
             <td class=\"diff-sign\" aria-hidden=\"true\">{sign}</td>\
             <td class=\"diff-line\"><{element}>{line}</{element}></td></tr>\n"
        ));
    }

    /// Adds a row in place of lines that are left out.
    pub(crate) fn gap(&mut self, lines: usize) {
        match lines {
            0 => {}
            1 => self.note("1 unchanged line"),
            _ => self.note(&format!("{lines} unchanged lines")),
        }
    }

    /// Adds a row for a note between lines.
    pub(crate) fn note(&mut self, note: &str) {
        if self.shown < MAX_ROWS {
            self.shown += 1;
            self.write_note(note);
        }
    }

    /// Returns the numbers of lines and the table.
    pub(crate) fn finish(mut self) -> String {
        if self.left_out > 0 {
            self.write_note(&format!("{} more lines", self.left_out));
        }
        format!(
            "<span class=\"diff-added-count\">+{}</span> \
             <span class=\"diff-removed-count\">−{}</span>\n\
             <table><tbody>\n{}</tbody></table>\n",
            self.added, self.removed, self.rows
        )
    }

    fn write_note(&mut self, note: &str) {
        self.rows.push_str("<tr class=\"diff-gap\"><td colspan=\"4\">");
        push_html(&mut self.rows, std::iter::once(Event::Text(note.into())));
        self.rows.push_str("</td></tr>\n");
    }
}
