//! Places and redaction of content under a policy.
use super::Policy;
use crate::content::{Capture, ContentKind, Gate};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::Value;

impl Policy {
    /// Returns where content behind a gate is recorded: on the span, in an event.
    pub(crate) fn places(&self, gate: Gate) -> (bool, bool) {
        let in_event = matches!(self.content, Capture::Event | Capture::SpanAndEvent);
        match gate {
            Gate::WithContent => {
                (matches!(self.content, Capture::Span | Capture::SpanAndEvent), in_event)
            }
            Gate::Always => (true, in_event),
            Gate::Never => (false, false),
        }
    }

    /// Returns whether content behind a gate is recorded anywhere.
    pub(crate) fn records(&self, gate: Gate) -> bool {
        self.places(gate) != (false, false)
    }

    /// Returns whether content is recorded anywhere.
    pub(crate) fn records_content(&self) -> bool {
        self.content != Capture::Off
    }

    pub(crate) fn redacted(&self, kind: ContentKind, text: String) -> String {
        self.replacement(kind, &text).unwrap_or(text)
    }

    /// Redacts the strings of a JSON text. The result is valid JSON.
    pub(crate) fn redacted_json<'a>(&self, kind: ContentKind, json: &'a str) -> Cow<'a, str> {
        if self.redaction.is_none() {
            return json.into();
        }
        // JSON that cannot be decoded (too deeply nested, or with a number out of range) is not
        // recorded.
        let mut value = serde_json::from_str::<Value>(json).unwrap_or_default();
        self.redact_value(kind, &mut value);
        value.to_string().into()
    }

    fn redact_value(&self, kind: ContentKind, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(other) = self.replacement(kind, text) {
                    *text = other;
                }
            }
            Value::Array(values) => {
                let words = joined(values);
                values.iter_mut().for_each(|value| self.redact_value(kind, value));
                if let Some(words) = words {
                    let whole = self.redacted(kind, words);
                    if joined(values).is_some_and(|separate| separate != whole) {
                        *values = Vec::from([whole.into()]);
                    }
                }
            }
            Value::Object(members) => {
                let before = core::mem::take(members);
                for (name, mut value) in before {
                    self.redact_value(kind, &mut value);
                    members.insert(self.redacted(kind, name), value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn replacement(&self, kind: ContentKind, text: &str) -> Option<String> {
        self.redaction.as_ref()?.replacement(kind, text)
    }
}

/// Returns the texts of a list, separated by spaces, if it has more than one item and nothing else.
fn joined(values: &[Value]) -> Option<String> {
    let texts: Option<Vec<_>> = values.iter().map(Value::as_str).collect();
    texts.filter(|texts| texts.len() > 1).map(|texts| texts.join(" "))
}
