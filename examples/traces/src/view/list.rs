//! The list of sessions.

use super::Page;
use super::html::{Address, navigation, refreshed};
use super::library::{Library, TranscriptFile};
use crate::report::escaped;
use crate::summary::SESSION_COLUMNS;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// Maximum number of transcripts that are read for the list. Of further ones, the name is listed.
const MAX_READ: usize = 100;

/// Maximum size of a transcript that is read for the list, in bytes.
const MAX_SIZE: u64 = 32 << 20;

/// Seconds between updates of the list.
const UPDATE_SECONDS: u32 = 10;

/// Returns the page with the sessions, the latest first.
pub(super) fn page(library: &mut Library) -> Page {
    let mut rows = String::new();
    let transcripts = library.transcripts()?;
    for (number, transcript) in transcripts.iter().enumerate() {
        let reads = number < MAX_READ && transcript.size <= MAX_SIZE;
        let found = if reads { cells_of(library, transcript) } else { Vec::new() };
        let address = Address::session(&transcript.name);
        let name = Path::new(&transcript.name).file_name().unwrap_or_default().to_string_lossy();
        let link = format!("<td><a href=\"{address}\">{}</a></td>", escaped(&name));
        if found.is_empty() {
            let columns = SESSION_COLUMNS.len() - 1;
            let size = transcript.size.div_ceil(1024);
            // Writing to a `String` does not fail.
            let _ = writeln!(rows, "<tr>{link}<td colspan=\"{columns}\">{size} KiB</td></tr>");
        }
        for cells in found {
            let _ = writeln!(rows, "<tr>{link}{cells}</tr>");
        }
    }
    let header: String =
        SESSION_COLUMNS.iter().map(|name| format!("<th>{}</th>", name.replace('_', " "))).collect();
    let body = format!(
        "<div class=\"scroll\"><table class=\"list\"><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>"
    );
    Ok(refreshed(UPDATE_SECONDS, "Sessions", &navigation(None), &body))
}

/// Returns the cells of the sessions of a transcript, without those of the file.
fn cells_of(library: &mut Library, transcript: &TranscriptFile) -> Vec<String> {
    // Narrow pages show the name of the column before the value.
    let cell = |(name, value): (&&str, &Value)| {
        let name = name.replace('_', " ");
        let (class, text) = match value {
            Value::Null => return "<td></td>".to_owned(),
            Value::String(text) => ("", escaped(text)),
            Value::Number(number) if number.is_f64() => {
                (" class=\"number\"", format!("{:.2}", number.as_f64().unwrap_or_default()))
            }
            other => (" class=\"number\"", other.to_string()),
        };
        format!("<td data-name=\"{name}\"{class}>{text}</td>")
    };
    let cells = |row: &Vec<Value>| SESSION_COLUMNS.iter().zip(row).skip(1).map(cell).collect();
    library.rows(transcript).iter().map(cells).collect()
}
