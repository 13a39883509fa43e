//! Where content goes: what people, models and tools wrote.
//!
//! By default nowhere. [`Policy::content`] says whether it goes to spans, into events, or both; [`Policy::titles`] and
//! [`Policy::paths`] say the same of two kinds of it apart, which tell much and are short; [`Policy::redaction`] sees
//! each text before it is recorded.
//!
//! | content | attribute | [`ContentKind`] | by |
//! |---|---|---|---|
//! | what the user sent | `gen_ai.input.messages` | `Prompt`, `Data`, `Uri`, `Title` | `content` |
//! | what the agent said and thought | `gen_ai.output.messages` | `Answer`, `Thought`, `Data`, `Uri`, `Title` | `content` |
//! | what a tool was given, and gave back | `gen_ai.tool.call.arguments`, `.result` | `ToolArguments`, `ToolResult` | `content` |
//! | what a tool or a subagent is doing | `acp.tool.title`, `acp.subagent.title` | `Title` | `titles` |
//! | files and URIs | `acp.tool.locations`, `acp.fs.path`; on spans only `mcp.resource.uri` | `Path`, `Uri` | `paths` |
//! | command lines | `acp.terminal.command` | `Command` | `content` |
//! | messages of errors | the status of a span, not in events | `ErrorMessage` | `content` |
//!
//! On a span a structured value is a JSON string. In an event it is [`AttributeValue::Json`]: a value for who writes log
//! records. The event comes right before the end of its span (for `fs/*` and `terminal/*` right after the start), and does
//! not count against [`Limits::events_per_span`](crate::Limits::events_per_span):
//!
//! | span | event |
//! |---|---|
//! | a turn | `gen_ai.client.inference.operation.details`, the conventions' own |
//! | any other | `acp.details` |
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
//! tracker.handle_line(Direction::ClientToAgent, Duration::ZERO, prompt);
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
    /// Nowhere.
    #[default]
    Off,
    /// On spans.
    Span,
    /// In events of the spans.
    Event,
    /// On spans and in their events.
    SpanAndEvent,
}

/// Whether one kind of content is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Gate {
    /// Where the rest is.
    #[default]
    WithContent,
    /// On spans, whatever is with the rest.
    Always,
    /// Nowhere.
    Never,
}

/// What a text is, for a [`Redaction`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ContentKind {
    /// The user wrote it, or attached it.
    Prompt,
    /// The agent said it.
    Answer,
    /// The agent thought it.
    Thought,
    /// A string, or the name of a member, in what a tool was given.
    ToolArguments,
    /// A string, or the name of a member, in what a tool gave back.
    ToolResult,
    /// For people to read: what a tool or a subagent is doing, what a resource is called.
    Title,
    /// Where a file is, with the line after a colon where that is known.
    Path,
    /// Where a resource is.
    Uri,
    /// A command line.
    Command,
    /// Why something failed, in the words of a peer.
    ErrorMessage,
    /// An image, audio or a file in base64.
    Data,
}

/// Changes content before it is recorded.
///
/// It is asked for each text by itself: a part of a message as a whole, however many pieces it came in; each string in a
/// tool's arguments. These are cut after that. Other texts are cut before they come to it, so the last word may be half of
/// one, and what it gives back for them is not cut again. Numbers in what tools were given are not shown to it; arguments
/// that are nested more than 127 deep become `null`.
#[derive(Clone)]
pub struct Redaction(Arc<Hook>);

type Hook = dyn Fn(ContentKind, &str) -> Option<String> + Send + Sync;

impl Redaction {
    /// A redaction by a function that gives what to record instead of a text, or nothing to record it as it is.
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

/// A redaction equals its clones.
impl PartialEq for Redaction {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Redaction {}

impl Policy {
    /// Whether and where something behind a gate is recorded: on the span, in an event.
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

    /// Whether something behind a gate is recorded anywhere.
    pub(crate) fn records(&self, gate: Gate) -> bool {
        self.places(gate) != (false, false)
    }

    /// Whether content is recorded anywhere.
    pub(crate) fn records_content(&self) -> bool {
        self.content != Capture::Off
    }

    pub(crate) fn redacted(&self, kind: ContentKind, text: String) -> String {
        self.replacement(kind, &text).unwrap_or(text)
    }

    /// Replaces the strings of a JSON text, which stays one.
    pub(crate) fn redacted_json<'a>(&self, kind: ContentKind, json: &'a str) -> Cow<'a, str> {
        if self.redaction.is_none() {
            return json.into();
        }
        // What cannot be looked into (it is nested too deep, or has a number beyond all bounds) is not let through.
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
                values.iter_mut().for_each(|value| self.redact_value(kind, value));
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

/// What is recorded of a span's content: on the span, and in an event of it.
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

    /// A structured value: text on the span, a value in the event.
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

/// The texts of a list, each redacted.
pub(crate) fn redacted_list(
    policy: &Policy,
    kind: ContentKind,
    texts: impl Iterator<Item = String>,
) -> Vec<Cow<'static, str>> {
    texts.map(|text| policy.redacted(kind, text).into()).collect()
}
