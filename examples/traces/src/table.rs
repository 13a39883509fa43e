//! Tables as text, CSV and JSON.

use clap::ValueEnum;
use serde_json::{Map, Value};

/// Format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns
    Table,
    /// Comma-separated values with a header (RFC 4180)
    Csv,
    /// An array of objects
    Json,
}

/// Maximum width of a column of aligned text, in characters. Longer values are truncated.
const MAX_WIDTH: usize = 36;

/// A table with named columns.
#[derive(Debug)]
pub(crate) struct Table {
    columns: &'static [&'static str],
    rows: Vec<Vec<Value>>,
}

impl Table {
    pub(crate) fn new(columns: &'static [&'static str]) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row with a value for each column.
    pub(crate) fn push(&mut self, row: Vec<Value>) {
        self.rows.push(row);
    }

    /// Returns the table as text.
    pub(crate) fn text(&self, format: Format) -> String {
        match format {
            Format::Table => self.aligned(),
            Format::Csv => self.csv(),
            Format::Json => format!("{:#}\n", self.json()),
        }
    }

    fn aligned(&self) -> String {
        let shown = |value: &Value| match value {
            Value::Null => "-".to_owned(),
            Value::String(text) => clipped(text),
            Value::Number(number) if number.is_f64() => {
                format!("{:.3}", number.as_f64().unwrap_or_default())
            }
            other => other.to_string(),
        };
        let header = self.columns.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let rows = self.rows.iter().map(|row| row.iter().map(shown).collect());
        let rows: Vec<Vec<String>> = core::iter::once(header).chain(rows).collect();
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
        };
        let widths: Vec<_> = (0..self.columns.len()).map(width).collect();
        let mut text = String::new();
        for row in &rows {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        text
    }

    fn csv(&self) -> String {
        let mut text = self.columns.join(",");
        text.push_str("\r\n");
        for row in &self.rows {
            let cells = row.iter().map(|value| match value {
                Value::Null => String::new(),
                Value::String(text) => quoted(text),
                other => other.to_string(),
            });
            text.push_str(&cells.collect::<Vec<_>>().join(","));
            text.push_str("\r\n");
        }
        text
    }

    fn json(&self) -> Value {
        let object = |row: &Vec<Value>| {
            let members = self.columns.iter().zip(row);
            let members = members.map(|(name, value)| ((*name).to_owned(), value.clone()));
            Value::Object(members.collect::<Map<_, _>>())
        };
        self.rows.iter().map(object).collect()
    }
}

/// Returns a text for a terminal: without control characters, and not longer than [`MAX_WIDTH`].
fn clipped(text: &str) -> String {
    let text = text.replace(char::is_control, "\u{fffd}");
    match text.char_indices().nth(MAX_WIDTH) {
        Some(_) => text.chars().take(MAX_WIDTH - 1).chain(['…']).collect(),
        None => text,
    }
}

/// Returns a cell of CSV. A text that a spreadsheet would evaluate is preceded by an apostrophe.
fn quoted(text: &str) -> String {
    let prefix = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    if text.contains([',', '"', '\r', '\n']) {
        format!("\"{prefix}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{prefix}{text}")
    }
}
