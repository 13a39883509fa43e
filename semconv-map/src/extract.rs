//! Extractors: tokens, cost, models, tool names and exit codes that agents send outside of the
//! members of the protocol.
//!
//! Agents put values into `_meta`, private notifications and the results of tools. An [`Extractor`]
//! is a row of a table: an agent, a kind of message, a place in it, and the value found there.
//! [`Extractors`] are the rows in use: those of this crate, and those of the program before them.
//!
//! | agent | message | place | value | seen in |
//! |---|---|---|---|---|
//! | `gemini` | answer | `/_meta/quota/token_count/input_tokens`, `…/output_tokens` | tokens of the turn | recording |
//! | `gemini` | answer | `/_meta/quota/model_usage/0/model` | model | recording |
//! | `gemini` | tool call | `/toolCallId`, before `__` | tool name | recording |
//! | `codex` | answer | `/_meta/quota/model_usage/0/model` | model | recording |
//! | `fast-agent` | answer | `/_meta/field_meta/openhands.dev~1metrics/status_line`, before ` in` and ` out` | tokens of the turn | recording |
//! | `fast-agent`, `opencode` | announcement | `/title`, if it is an identifier | tool name | recording |
//! | `cline` | tool call | `/title`, before `: ` | tool name | recording |
//! | `opencode` | tool call | `/rawOutput/metadata/exit` | exit code | recording |
//! | any | tool call | `/_meta/claudeCode/toolName`, `/_meta/toolName`, `/_meta/tool_name` | tool name | recording |
//! | any | tool call | `/_meta/terminal_output/data` | output | source of the agents |
//! | any | tool call | `/_meta/terminal_exit/exit_code`, `/rawOutput/exit_code` | exit code | recording |
//! | `qwen` | `session/update` | `/update/_meta/usage/inputTokens` and its siblings | tokens of a model call | source of the agent |
//! | `openhands` | `session/update` | `/_meta/openhands.dev~1metrics/input_tokens` and its siblings, also below `field_meta` | tokens and cost of the session | source of the agent |
//! | any | `_x.ai/session_notification` | `/update/usage/inputTokens` and its siblings | tokens of the turn | description of the agent |
//! | any | tool call | `/_meta/x.ai~1tool/name` | tool name | description of the agent |
//!
//! Members of the protocol take precedence: `usage` of the response over extracted tokens, `name`
//! over an extracted tool name.
//!
//! ```
//! use semconv_map::extract::Extractors;
//! use semconv_map::{ClosedBy, Direction, Policy, Record, Tracker, keys};
//! use std::time::Duration;
//!
//! let mut policy = Policy::default();
//! policy.extractors = Extractors::from_json(
//!     r#"[{"agent":"*","message":"_example.com/usage","path":"/tokens/in","value":"input_tokens"}]"#,
//! )?;
//! let mut tracker = Tracker::new(policy);
//! for (direction, line) in [
//!     (Direction::Sent, r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#),
//!     (Direction::Received, r#"{"jsonrpc":"2.0","method":"_example.com/usage","params":{"sessionId":"s","tokens":{"in":7}}}"#),
//! ] {
//!     tracker.handle_line(direction, Duration::ZERO, line.as_bytes());
//! }
//! tracker.close(Duration::ZERO, ClosedBy::Client);
//! let Some(Record::End(end)) = std::iter::from_fn(|| tracker.poll()).last() else { panic!("no end") };
//! let tokens = end.attributes.iter().find(|attribute| attribute.key == keys::GEN_AI_USAGE_INPUT_TOKENS);
//! assert_eq!(tokens.map(|tokens| tokens.value.clone()), Some(7.into()));
//! # Ok::<(), semconv_map::extract::ExtractorError>(())
//! ```
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use jsonrpc_core::pointer::segment_name;
use jsonrpc_core::{JsonStr, array_items, find_member};
use serde::Deserialize;

mod agents;
mod turn_values;

pub(crate) use turn_values::{ToolFacts, TurnValues};

/// Maximum number of extractors in a list of the program.
pub const MAX_EXTRACTORS: usize = 256;

/// A place in the messages of an agent, and the value found there. See the [module](self)
/// documentation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Extractor {
    /// Part of the agent's name in `initialize`, in any case; `*` for any agent.
    pub agent: Cow<'static, str>,
    /// The messages that contain the value.
    pub message: Message,
    /// JSON pointer from the root of the message to the value.
    ///
    /// Spec: [RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)
    pub path: Cow<'static, str>,
    /// If present, the value is the word before the first occurrence of this text.
    #[serde(default)]
    pub before: Option<Cow<'static, str>>,
    /// The value.
    pub value: ExtractedValue,
    /// What a number of tokens or a cost covers.
    #[serde(default)]
    pub covers: Coverage,
}

/// Messages of an agent, and the root of the pointers into them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Cow<'static, str>")]
#[non_exhaustive]
pub enum Message {
    /// `answer`: the result of `session/prompt`; in version 2 also the update to the idle state.
    Answer,
    /// `announcement`: an update of the type `tool_call`. Only its id, title, `_meta` and
    /// `rawOutput` are available.
    Announcement,
    /// `tool_call`: an announcement, a `tool_call_update`, or the tool call of a permission
    /// request. Only its id, title, `_meta` and `rawOutput` are available.
    ToolCall,
    /// Params of the notification with this method.
    Notification(Cow<'static, str>),
}

impl From<Cow<'static, str>> for Message {
    fn from(name: Cow<'static, str>) -> Self {
        match &*name {
            "answer" => Self::Answer,
            "announcement" => Self::Announcement,
            "tool_call" => Self::ToolCall,
            _ => Self::Notification(name),
        }
    }
}

/// A value that an [`Extractor`] finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExtractedValue {
    /// Number of input tokens.
    InputTokens,
    /// Number of output tokens.
    OutputTokens,
    /// Number of all tokens, which decides whether cached and reasoning tokens are counted as input
    /// and output.
    TotalTokens,
    /// Number of input tokens read from a cache.
    CacheReadTokens,
    /// Number of input tokens written to a cache.
    CacheWriteTokens,
    /// Number of output tokens used for reasoning.
    ReasoningTokens,
    /// Cost, in the currency of the agent's choice.
    Cost,
    /// Model that answered.
    Model,
    /// Name of a tool, an identifier.
    ToolName,
    /// Output of a command. Several outputs of a tool call are joined.
    ToolOutput,
    /// Exit code of a command.
    ExitCode,
}

/// What a number of tokens or a cost covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Coverage {
    /// The turn so far. The last number counts.
    #[default]
    Turn,
    /// A call of a model. The numbers are added up.
    Call,
    /// The session so far. The turn is the difference to its start.
    Session,
}

/// The extractors in use: those of the program, then those of this crate. The first that finds a
/// value of its kind in a message decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extractors {
    own: Arc<[Extractor]>,
    has_agents: bool,
}

impl Default for Extractors {
    /// Returns the extractors of this crate.
    fn default() -> Self {
        Self { own: Arc::default(), has_agents: true }
    }
}

impl Extractors {
    /// Returns no extractors: only members of the protocol are recorded.
    pub fn none() -> Self {
        Self { own: Arc::default(), has_agents: false }
    }

    /// Reads a JSON array of [`Extractor`]s, which precede those of this crate.
    ///
    /// # Errors
    /// Returns an error if the text is not an array of extractors, if a path is not a JSON pointer,
    /// or if there are more than [`MAX_EXTRACTORS`].
    pub fn from_json(json: &str) -> Result<Self, ExtractorError> {
        let own: Vec<Extractor> = serde_json::from_str(json).map_err(ExtractorError::Json)?;
        if own.len() > MAX_EXTRACTORS {
            return Err(ExtractorError::TooMany(own.len()));
        }
        if let Some(at) = own.iter().position(|row| !row.path.starts_with('/')) {
            return Err(ExtractorError::Path(at));
        }
        Ok(Self { own: own.into(), has_agents: true })
    }

    /// Returns the extractors of an agent.
    pub(crate) fn of_agent(&self, agent: Option<&str>) -> Active {
        let agents = if self.has_agents { agents::AGENTS } else { &[] };
        let agent = agent.unwrap_or_default().to_ascii_lowercase();
        let rows = self.own.iter().chain(agents);
        let rows =
            rows.filter(|row| row.agent == "*" || agent.contains(&*row.agent.to_ascii_lowercase()));
        let rows: Vec<_> = rows.cloned().collect();
        let reads = |wanted: &str| {
            rows.iter().any(
                |row| matches!(&row.message, Message::Notification(method) if method == wanted),
            )
        };
        let is_other = |row: &Extractor| {
            matches!(row.message, Message::ToolCall | Message::Announcement)
                && !row.path.starts_with("/_meta")
                && !row.path.starts_with("/rawOutput")
        };
        let reads_other = rows.iter().any(is_other);
        Active { reads_updates: reads("session/update"), reads_other, rows }
    }
}

/// An error in the extractors of a program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractorError {
    /// The text is not a JSON array of extractors.
    #[error("expected a JSON array of extractors")]
    Json(#[source] serde_json::Error),
    /// The path of the extractor at this position is not a JSON pointer.
    #[error("extractor {0}: expected a path that begins with `/`, a JSON pointer")]
    Path(usize),
    /// There are more than [`MAX_EXTRACTORS`].
    #[error("expected at most {MAX_EXTRACTORS} extractors, got {0}")]
    TooMany(usize),
}

/// The extractors of the agent of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Active {
    rows: Vec<Extractor>,
    /// Whether each `session/update` is read.
    pub(crate) reads_updates: bool,
    /// Whether members of tool calls other than `_meta` and `rawOutput` are read.
    pub(crate) reads_other: bool,
}

impl Active {
    /// Calls `take` for each extractor of a message with a value that `lookup` finds.
    fn each<'a>(
        &self,
        is_read: impl Fn(&Message) -> bool,
        lookup: impl Fn(&str) -> Option<FoundValue<'a>>,
        mut take: impl FnMut(&Extractor, FoundValue<'a>),
    ) {
        let mut found_kinds = Vec::new();
        for row in self.rows.iter().filter(|row| is_read(&row.message)) {
            if found_kinds.contains(&row.value) {
                continue;
            }
            let found = lookup(&row.path).and_then(|found| found.before(row.before.as_deref()));
            if let Some(found) = found.filter(|found| found.fits(row.value)) {
                found_kinds.push(row.value);
                take(row, found);
            }
        }
    }
}

/// A value at a path: a text, or the JSON text of another value.
#[derive(Clone, Debug)]
pub(crate) enum FoundValue<'a> {
    Text(Cow<'a, str>),
    Json(&'a str),
}

impl<'a> FoundValue<'a> {
    /// Reads the value at a JSON pointer.
    pub(crate) fn at(json: &'a str, path: &str) -> Option<Self> {
        let mut json = json;
        for name in path.split('/').skip(1) {
            let name = segment_name(name);
            json = match find_member(json, &[&*name]) {
                Some(member) => member,
                None => array_items(json).nth(name.parse().ok()?)?,
            };
        }
        match JsonStr::new(json) {
            Some(text) => text.decode().map(Self::Text),
            None => Some(Self::Json(json.trim())),
        }
    }

    /// Returns the word before a text.
    fn before(self, text: Option<&str>) -> Option<Self> {
        let Some(text) = text else { return Some(self) };
        let Self::Text(whole) = self else { return None };
        let word = whole.split_once(text)?.0.rsplit(char::is_whitespace).next()?;
        Some(Self::Text(Cow::Owned(word.into())))
    }

    fn fits(&self, value: ExtractedValue) -> bool {
        match value {
            ExtractedValue::ToolName => self.text().is_some_and(is_identifier),
            ExtractedValue::Model => self.text().is_some_and(|model| !model.is_empty()),
            ExtractedValue::ToolOutput => self.text().is_some(),
            ExtractedValue::ExitCode => self.integer().is_some(),
            ExtractedValue::Cost => self.number().is_some(),
            _ => self.tokens().is_some(),
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Json(_) => None,
        }
    }

    /// Returns a count. In text, commas separate thousands.
    fn tokens(&self) -> Option<u64> {
        match self {
            Self::Text(text) => text.replace(',', "").parse().ok(),
            Self::Json(json) => json.parse().ok(),
        }
    }

    fn integer(&self) -> Option<i64> {
        match self {
            Self::Text(_) => None,
            Self::Json(json) => json.parse().ok(),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Text(_) => None,
            Self::Json(json) => json.parse().ok().filter(|number: &f64| number.is_finite()),
        }
    }

    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text.into_owned(),
            Self::Json(json) => json.into(),
        }
    }
}

/// Returns the name of a tool in the `_meta` of a message, at a place that does not depend on the
/// agent.
pub(crate) fn name_in_meta(meta: &str) -> Option<String> {
    let of_any = agents::AGENTS
        .iter()
        .filter(|row| row.agent == "*" && row.value == ExtractedValue::ToolName);
    let mut paths = of_any.filter_map(|row| row.path.strip_prefix("/_meta"));
    let found = paths
        .find_map(|path| FoundValue::at(meta, path).filter(|it| it.fits(ExtractedValue::ToolName)));
    found.map(FoundValue::into_text)
}

/// Returns whether a text can be the name of a tool. Sentences and paths from the root are not.
fn is_identifier(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.chars().all(is_part)
}
