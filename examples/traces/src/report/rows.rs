//! Spans as a table.

use super::session::{Session, Span};
use super::waterfall::{class, label};
use crate::table::Table;
use semconv_map::keys;
use serde_json::{Value, json};
use std::time::UNIX_EPOCH;

const COLUMNS: [&str; 11] = [
    "span",
    "parent",
    "start",
    "seconds",
    "kind",
    "name",
    "label",
    "session",
    "error",
    "input_tokens",
    "output_tokens",
];

/// Returns a row for each span, in order of their start. `span` is the number of the row, `parent`
/// that of its parent.
pub(super) fn of(session: &Session) -> Table {
    let mut parents = vec![None; session.spans.len()];
    for (number, span) in session.spans.iter().enumerate() {
        for below in &span.below {
            if let Some(parent) = parents.get_mut(*below) {
                *parent = Some(number + 1);
            }
        }
    }
    let mut table = Table::new(&COLUMNS);
    for ((number, span), parent) in session.spans.iter().enumerate().zip(parents) {
        let start = UNIX_EPOCH.checked_add(span.start).map(humantime::format_rfc3339_millis);
        table.push(vec![
            json!(number + 1),
            json!(parent),
            json!(start.map(|start| start.to_string())),
            json!(span.duration().as_secs_f64()),
            json!(class(span.kind())),
            json!(span.name),
            json!(label(span)),
            json!(span.text(keys::GEN_AI_CONVERSATION_ID)),
            error(span),
            json!(span.count(keys::GEN_AI_USAGE_INPUT_TOKENS)),
            json!(span.count(keys::GEN_AI_USAGE_OUTPUT_TOKENS)),
        ]);
    }
    table
}

/// Returns the type of a span's error.
fn error(span: &Span) -> Value {
    let error = span.error.as_ref();
    json!(error.map(|_| span.text(keys::ERROR_TYPE).unwrap_or_else(|| "failed".to_owned())))
}
