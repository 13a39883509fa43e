//! What the conventions leave open, and what belongs to whoever runs the observer.
use crate::content::{Capture, Gate, Redaction};
use crate::keys;
use crate::messages::ContentLimits;
use crate::metric::{self, Row};
use alloc::borrow::Cow;
use core::hash::{Hash, Hasher};

/// A release of the semantic conventions, as data: what differs between releases is looked up here and nowhere else.
///
/// | | [`V1_39`](Self::V1_39) | [`V1_41`](Self::V1_41) | [`GENAI_DEV`](Self::GENAI_DEV) |
/// |---|---|---|---|
/// | `fs/*`, `terminal/*` | `execute_tool {method}`, INTERNAL | the method, SERVER | the method, SERVER |
/// | the agent's version | `acp.agent.version` | `gen_ai.agent.version` | `gen_ai.agent.version` |
/// | tokens out of a cache | | `gen_ai.usage.cache_read.input_tokens` | `gen_ai.usage.cache_read.input_tokens` |
/// | tokens into a cache | | `gen_ai.usage.cache_creation.input_tokens` | `gen_ai.usage.cache_write.input_tokens` |
/// | tokens of thoughts | | | `gen_ai.usage.reasoning.output_tokens` |
/// | what a tool was given and gave back, if it is no object | as it is | as it is | the member `value` of one |
/// | a completed compaction | an event | an event | an event, and a part of the message |
/// | `gen_ai.provider.name` | on turns and subagents | on turns and subagents | on turns, and in the event with their content |
/// | metrics | [see there](crate::metric) | [see there](crate::metric) | [see there](crate::metric) |
///
/// ```
/// use semconv_map::Profile;
///
/// assert_eq!(Profile::default(), Profile::V1_41);
/// assert_eq!(Profile::V1_41.schema_url(), "https://opentelemetry.io/schemas/1.41.1");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    schema_url: &'static str,
    pub(crate) agent_version: &'static str,
    pub(crate) cache_read_tokens: Option<&'static str>,
    pub(crate) cache_write_tokens: Option<&'static str>,
    pub(crate) reasoning_tokens: Option<&'static str>,
    pub(crate) client_tools: ClientTools,
    pub(crate) tool_content: ToolContent,
    /// Whether a message has a part for that the context was shortened.
    pub(crate) compaction_part: bool,
    /// Whether a span of an agent within the agent has a provider.
    pub(crate) subagent_provider: bool,
    /// Whether the event with a turn's content has a provider.
    pub(crate) event_provider: bool,
    pub(crate) metrics: [&'static [Row]; 2],
}

/// What a tool's arguments and result are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolContent {
    /// Any JSON value.
    Any,
    /// An object; another value becomes the member `value` of one.
    Object,
}

/// How a profile reads the agent's `fs/*` and `terminal/*` requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ClientTools {
    /// As requests: a SERVER span of the method.
    Protocol,
    /// As tools that the client runs: an INTERNAL span `execute_tool {method}`.
    ExecuteTool,
}

impl Profile {
    /// Semantic conventions v1.39.0: `fs/*` and `terminal/*` requests are `execute_tool` spans.
    pub const V1_39: Self = Self {
        schema_url: "https://opentelemetry.io/schemas/1.39.0",
        agent_version: keys::ACP_AGENT_VERSION,
        cache_read_tokens: None,
        cache_write_tokens: None,
        reasoning_tokens: None,
        client_tools: ClientTools::ExecuteTool,
        tool_content: ToolContent::Any,
        compaction_part: false,
        subagent_provider: true,
        event_provider: false,
        metrics: metric::V1_39,
    };

    /// Semantic conventions v1.41.1, the last release whose GenAI part is not moved elsewhere; the default.
    pub const V1_41: Self = Self {
        schema_url: SCHEMA_URL,
        agent_version: keys::GEN_AI_AGENT_VERSION,
        cache_read_tokens: Some(keys::GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS),
        cache_write_tokens: Some(keys::GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS),
        reasoning_tokens: None,
        client_tools: ClientTools::Protocol,
        tool_content: ToolContent::Any,
        compaction_part: false,
        subagent_provider: true,
        event_provider: false,
        metrics: metric::V1_41,
    };

    /// The GenAI conventions as they stand after they left the others, at commit `06ec68e` of 2026-10-07. They have no
    /// release, and their names may change.
    ///
    /// Spec: [semantic-conventions-genai](https://github.com/open-telemetry/semantic-conventions-genai)
    pub const GENAI_DEV: Self = Self {
        schema_url: "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev",
        agent_version: keys::GEN_AI_AGENT_VERSION,
        cache_read_tokens: Some(keys::GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS),
        cache_write_tokens: Some(keys::GEN_AI_USAGE_CACHE_WRITE_INPUT_TOKENS),
        reasoning_tokens: Some(keys::GEN_AI_USAGE_REASONING_OUTPUT_TOKENS),
        client_tools: ClientTools::Protocol,
        tool_content: ToolContent::Object,
        compaction_part: true,
        subagent_provider: false,
        event_provider: true,
        metrics: metric::DEV,
    };

    /// The schema of the names, for the instrumentation scope.
    ///
    /// Spec: [Schema URL](https://opentelemetry.io/docs/specs/otel/schemas/#schema-url)
    pub fn schema_url(&self) -> &'static str {
        self.schema_url
    }
}

/// There is one profile of each schema.
impl PartialEq for Profile {
    fn eq(&self, other: &Self) -> bool {
        self.schema_url == other.schema_url
    }
}

impl Eq for Profile {}

impl Hash for Profile {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.schema_url.hash(state);
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::V1_41
    }
}

/// The schema of the default profile, [`Profile::V1_41`].
pub const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.41.1";

/// What is recorded, and how it is read where the conventions leave it open.
///
/// ```
/// use semconv_map::content::{Capture, Gate};
/// use semconv_map::{Policy, Profile};
///
/// let mut policy = Policy::default();
/// policy.profile = Profile::V1_39;
/// policy.content = Capture::Event;
/// policy.paths = Gate::Never;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// Which names and which shapes.
    pub profile: Profile,
    /// How a stop reason is written.
    pub finish_reason: FinishReasonPolicy,
    /// Who provides the agent.
    pub provider: ProviderPolicy,
    /// Whether tools have a type.
    pub tool_type: ToolTypePolicy,
    /// What the counts of an agent's token usage mean.
    pub usage: UsagePolicy,
    /// The value of `network.transport`, `pipe` for stdio; nothing leaves the attribute out.
    pub network_transport: Option<Cow<'static, str>>,
    /// Where prompts, answers, tool arguments and results, commands and error messages are recorded.
    pub content: Capture,
    /// Whether titles of tools and subagents are recorded.
    pub titles: Gate,
    /// Whether paths of files and URIs of resources are recorded, other than within messages, arguments and results.
    pub paths: Gate,
    /// How much content is recorded at most.
    pub content_limits: ContentLimits,
    /// Whether the notifications of an [`RpcTracker`](crate::RpcTracker) are spans, as the conventions for MCP have it; they
    /// have no answer, so their spans end as they start.
    pub record_notifications: bool,
    /// Sees content before it is recorded.
    pub redaction: Option<Redaction>,
    /// Whether [metrics](crate::metric) are recorded.
    pub record_metrics: bool,
}

/// How a stop reason becomes a finish reason. `acp.stop_reason` always has the agent's own word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FinishReasonPolicy {
    /// By the words of the message schemas, see [`finish_reason`](fn@crate::finish_reason::finish_reason).
    #[default]
    Semconv,
    /// As it is.
    Verbatim,
}

/// The value of `gen_ai.provider.name`, which the conventions require and ACP does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProviderPolicy {
    /// The agent's name; `acp` when the agent gave none.
    #[default]
    AgentName,
    /// `acp.` and the agent's name; `acp` when the agent gave none.
    Prefixed,
    /// This name.
    Fixed(Cow<'static, str>),
}

/// Whether and how `gen_ai.tool.type` follows from an ACP tool kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolTypePolicy {
    /// No type: the conventions mean where a tool runs, a kind says what it does. `acp.tool.kind` has the kind.
    #[default]
    Omit,
    /// By the table of [`tool_type`](mod@crate::tool_type).
    ByKind,
    /// By where it ran, as the conventions mean it: `function` where the agent asked the client for files or terminals
    /// while it was the only one that ran, else `extension`.
    ByExecution,
}

/// What the counts in an agent's prompt response mean: the specification's words say the session, most agents the turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UsagePolicy {
    /// The turn.
    #[default]
    PerTurn,
    /// The session so far: a turn's counts are the differences to those before.
    Cumulative,
}
