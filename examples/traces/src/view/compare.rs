//! The differences between two sessions.

use super::Page;
use super::html::{Address, document, navigation};
use super::library::{Library, PageError};
use crate::report::{escaped, steps_of};
use crate::summary::{SESSION_COLUMNS, sessions};
use serde_json::Value;
use similar::{Algorithm, ChangeTag, TextDiff};
use std::fmt::Write;

/// Maximum number of steps of a session that are compared. The time is quadratic in the
/// differences.
const MAX_STEPS: usize = 2000;

/// Returns the page with the differences between the transcripts `a` and `b`. Without `b`, it is a
/// choice.
pub(super) fn page(library: &mut Library, a: &str, b: &str) -> Page {
    if b.is_empty() {
        return choice(library, a);
    }
    let of_a = side(library, a)?;
    let of_b = side(library, b)?;
    let mut body = totals([(a, &of_a), (b, &of_b)]);
    let old: Vec<_> = of_a.steps_as_str();
    let new: Vec<_> = of_b.steps_as_str();
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).diff_slices(&old, &new);
    body += "<pre class=\"change\">";
    for group in diff.grouped_ops(3) {
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let (tag, sign) = match change.tag() {
                ChangeTag::Equal => ("span", ' '),
                ChangeTag::Delete => ("del", '-'),
                ChangeTag::Insert => ("ins", '+'),
            };
            // Writing to a `String` does not fail.
            let _ = writeln!(body, "<{tag}>{sign} {}</{tag}>", escaped(change.value()));
        }
        body += "<span class=\"cut\">…</span>\n";
    }
    body += "</pre>";
    if old == new {
        body += "<p>Both sessions have the same steps.</p>";
    }
    if of_a.is_long || of_b.is_long {
        let _ = write!(body, "<p class=\"none\">The first {MAX_STEPS} steps are compared.</p>");
    }
    Ok(document("Differences", &navigation(None), &body))
}

/// A compared transcript.
struct Side {
    steps: Vec<String>,
    is_long: bool,
    rows: Vec<Vec<Value>>,
}

impl Side {
    fn steps_as_str(&self) -> Vec<&str> {
        self.steps.iter().map(String::as_str).collect()
    }
}

fn side(library: &mut Library, name: &str) -> Result<Side, PageError> {
    let privacy = library.privacy().clone();
    let path = library.find(name)?.path;
    let reading = library.open(name)?.reading();
    let mut steps = steps_of(reading, &privacy);
    let is_long = steps.len() > MAX_STEPS;
    steps.truncate(MAX_STEPS);
    Ok(Side { steps, is_long, rows: sessions(&path, reading, &privacy) })
}

/// Returns a table of the totals of both sides.
fn totals(sides: [(&str, &Side); 2]) -> String {
    let header = sides.map(|(name, _)| {
        format!("<th><a href=\"{}\">{}</a></th>", Address::session(name), escaped(name))
    });
    let mut table =
        format!("<table class=\"list both\"><thead><tr><th></th>{}</tr></thead>", header.concat());
    for (column, name) in SESSION_COLUMNS.iter().enumerate().skip(1) {
        let cells = sides.map(|(_, side)| {
            let values = side.rows.iter().filter_map(|row| row.get(column));
            let values = values.filter(|value| !value.is_null()).map(|value| match value {
                Value::String(text) => escaped(text),
                other => other.to_string(),
            });
            format!("<td>{}</td>", values.collect::<Vec<_>>().join(", "))
        });
        // Writing to a `String` does not fail.
        let _ = write!(table, "<tr><th>{}</th>{}</tr>", name.replace('_', " "), cells.concat());
    }
    table + "</table>"
}

/// Returns the page on which the other transcript is chosen.
fn choice(library: &Library, a: &str) -> Page {
    let a = library.find(a)?.name;
    let options = library.transcripts()?.into_iter().filter(|it| it.name != a);
    let options = options.map(|it| format!("<option>{}</option>", escaped(&it.name)));
    let body = format!(
        "<form action=\"/compare\"><p>{a} <input type=\"hidden\" name=\"a\" value=\"{a}\"></p>\
         <p><label>and <select name=\"b\">{}</select></label> <button>Compare</button></p></form>",
        options.collect::<String>(),
        a = escaped(&a),
    );
    Ok(document("Compare sessions", &navigation(None), &body))
}
