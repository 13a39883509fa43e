//! Capture of content: the text that users, models and tools produce.
//!
//! Content is not recorded by default. [`Policy::content`](crate::Policy::content) selects whether
//! it is recorded on spans, in events, or both. [`Policy::titles`](crate::Policy::titles) and
//! [`Policy::paths`](crate::Policy::paths) control two short and informative kinds separately.
//! [`Policy::redaction`](crate::Policy::redaction) processes each text before it is recorded.
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
//! On a span, a structured value is a JSON string. In an event it is
//! [`AttributeValue::Json`](crate::AttributeValue::Json), a structured value for log records. The
//! event immediately precedes the end of its span (for `fs/*` and `terminal/*` it follows the
//! start, and with [`V1_39`](crate::Profile::V1_39) a second event has the result), and does not
//! count against [`Limits::events_per_span`](crate::Limits::events_per_span):
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
//! Spec: [Capturing instructions, inputs, and outputs,
//! v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/gen-ai-spans.md#capturing-instructions-inputs-and-outputs)
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

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
/// The function is called for each text separately: for a whole part of a message, regardless of
/// the number of chunks, and for each string in tool arguments and results. A list of strings, such
/// as the words of a command, is also passed as one text, separated by spaces; if that has another
/// replacement, it replaces the list. These texts are truncated afterwards. Other texts are
/// truncated before, so the last word may be incomplete, and the replacement is not truncated
/// again. Numbers in tool arguments are not passed to the function. Arguments nested more than 127
/// levels deep are replaced by `null`.
#[derive(Clone)]
pub struct Redaction(Arc<Hook>);

type Hook = dyn Fn(ContentKind, &str) -> Option<String> + Send + Sync;

impl Redaction {
    /// Creates a redaction. The function returns the replacement of a text, or `None` to record it
    /// unchanged.
    pub fn new(
        redact: impl Fn(ContentKind, &str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(redact))
    }

    /// Returns the replacement of a text, if it has one.
    pub(crate) fn replacement(&self, kind: ContentKind, text: &str) -> Option<String> {
        self.0(kind, text)
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
