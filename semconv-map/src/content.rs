//! Capture of content: the text that users, models and tools produce.
//!
//! Content is not recorded by default. [`Policy::content`] selects whether it is recorded on spans, in events, or both.
//! [`Policy::titles`] and [`Policy::paths`] control two short and informative kinds separately. [`Policy::redaction`]
//! processes each text before it is recorded.
//!
//! | content | attribute | [`ContentKind`] | policy |
//! |---|---|---|---|
//! | input of the user | `gen_ai.input.messages` | `Prompt`, `Data`, `Uri`, `Title` | `content` |
//! | output and thoughts of the agent | `gen_ai.output.messages` | `Answer`, `Thought`, `Data`, `Uri`, `Title` | `content` |
//! | arguments and results of tools | `gen_ai.tool.call.arguments`, `.result` | `ToolArguments`, `ToolResult` | `content` |
//! | titles of tools and subagents | `acp.tool.title`, `acp.subagent.title` | `Title` | `titles` |
//! | files and URIs | `acp.tool.locations`, `acp.fs.path`; on spans only: `mcp.resource.uri` | `Path`, `Uri` | `paths` |
//! | command lines | `acp.terminal.command` | `Command` | `content` |
//! | error messages | span status, not in events | `ErrorMessage` | `content` |
//!
//! On a span, a structured value is a JSON string. In an event it is [`AttributeValue::Json`], a structured value for
//! log records. The event immediately precedes the end of its span (for `fs/*` and `terminal/*` it follows the start,
//! and with [`V1_39`](crate::Profile::V1_39) a second event has the result), and does not count against [`Limits::events_per_span`](crate::Limits::events_per_span):
//!
//! | span | event |
//! |---|---|
//! | turn | `gen_ai.client.inference.operation.details`, defined by the conventions |
//! | any other span | `acp.details` |
//!
//! ```
//! use core::time::Duration;
//! use semconv_map::content::{Capture, ContentKind, Redaction};
//! use semconv_map::{Direction, Policy, Record, Tracker, keys};
//!
//! let mut policy = Policy::default();
//! policy.content = Capture::Span;
//! policy.redaction = Some(Redaction::new(|kind, text| match kind {
//!     ContentKind::Data => Some(String::new()),
//!     _ => text.contains("hunter2").then(|| text.replace("hunter2", "***")),
//! }));
//! let mut tracker = Tracker::new(policy);
//! let prompt = br#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"My password is hunter2"}]}}"#;
//! tracker.handle_line(Direction::Sent, Duration::ZERO, prompt);
//!
//! let Some(Record::Start(turn)) = tracker.poll() else { panic!("no turn") };
//! let input = turn.attributes.iter().find(|attribute| attribute.key == keys::GEN_AI_INPUT_MESSAGES);
//! let expected = r#"[{"parts":[{"content":"My password is ***","type":"text"}],"role":"user"}]"#;
//! assert_eq!(input.map(|input| input.value.clone()), Some(String::from(expected).into()));
//! ```
//!
//! Spec: [Capturing instructions, inputs, and outputs, v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/gen-ai-spans.md#capturing-instructions-inputs-and-outputs)
use crate::attribute::{AttributeValue, Attributes};
use crate::policy::Policy;
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use serde_json::Value;

/// Where content is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Capture {
    /// Content is not recorded.
    #[default]
    Off,
    /// Content is recorded on spans.
    Span,
    /// Content is recorded in events of the spans.
    Event,
    /// Content is recorded on spans and in events.
    SpanAndEvent,
}

/// Whether one kind of content is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Gate {
    /// Recorded in the same places as other content.
    #[default]
    WithContent,
    /// Recorded on spans, independent of other content.
    Always,
    /// Not recorded.
    Never,
}

/// Kind of a text that is passed to a [`Redaction`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ContentKind {
    /// Text written or attached by the user.
    Prompt,
    /// Text written by the agent.
    Answer,
    /// Thoughts of the agent.
    Thought,
    /// A string or member name in the arguments of a tool.
    ToolArguments,
    /// A string or member name in the result of a tool.
    ToolResult,
    /// A human-readable title of a tool call, a subagent or a resource.
    Title,
    /// Path of a file, followed by a colon and the line if known.
    Path,
    /// URI of a resource.
    Uri,
    /// A command line.
    Command,
    /// An error message of a peer.
    ErrorMessage,
    /// An image, audio or a file in base64.
    Data,
}

/// Transforms content before it is recorded.
///
/// The function is called for each text separately: for a whole part of a message, regardless of the number of chunks,
/// and for each string in tool arguments and results. A list of strings, such as the words of a command, is also passed as one
/// text, separated by spaces; if that has another replacement, it replaces the list. These texts are truncated afterwards. Other texts are truncated before, so
/// the last word may be incomplete, and the replacement is not truncated again. Numbers in tool arguments are not
/// passed to the function. Arguments nested more than 127 levels deep are replaced by `null`.
#[derive(Clone)]
pub struct Redaction(Arc<Hook>);

type Hook = dyn Fn(ContentKind, &str) -> Option<String> + Send + Sync;

impl Redaction {
    /// Creates a redaction. The function returns the replacement of a text, or `None` to record it unchanged.
    pub fn new(
        redact: impl Fn(ContentKind, &str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(redact))
    }
}

impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redaction")
    }
}

/// A redaction is equal to its clones only.
impl PartialEq for Redaction {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Redaction {}

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
        // JSON that cannot be decoded (too deeply nested, or with a number out of range) is not recorded.
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
        self.redaction.as_ref().and_then(|Redaction(redact)| redact(kind, text))
    }
}

/// Returns the texts of a list, separated by spaces, if it has more than one item and nothing else.
fn joined(values: &[Value]) -> Option<String> {
    let texts: Option<Vec<_>> = values.iter().map(Value::as_str).collect();
    texts.filter(|texts| texts.len() > 1).map(|texts| texts.join(" "))
}

/// Content of a span to record: on the span, and in an event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Details {
    pub(crate) span: Attributes,
    pub(crate) event: Attributes,
}

impl Details {
    pub(crate) fn set(
        &mut self,
        policy: &Policy,
        gate: Gate,
        key: &'static str,
        value: impl Into<AttributeValue>,
    ) {
        let value = value.into();
        let (on_span, in_event) = policy.places(gate);
        if in_event {
            self.event.set(key, value.clone());
        }
        if on_span {
            self.span.set(key, value);
        }
    }

    /// Sets a structured value: text on the span, a value in the event.
    pub(crate) fn set_json(&mut self, policy: &Policy, key: &'static str, json: String) {
        let (on_span, in_event) = policy.places(Gate::WithContent);
        if in_event {
            self.event.set(key, AttributeValue::Json(json.clone()));
        }
        if on_span {
            self.span.set(key, json);
        }
    }
}

/// Redacts each text of a list.
pub(crate) fn redacted_list(
    policy: &Policy,
    kind: ContentKind,
    texts: impl Iterator<Item = String>,
) -> Vec<Cow<'static, str>> {
    texts.map(|text| policy.redacted(kind, text).into()).collect()
}
