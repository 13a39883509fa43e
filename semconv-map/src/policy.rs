//! Configuration: choices that the conventions leave open, and capture of content.
use crate::content::{Capture, Gate, Redaction};
use crate::content_limits::ContentLimits;
use crate::extract::Extractors;
use crate::keys;
use crate::metric::{self, Row};
use alloc::borrow::Cow;
use core::hash::{Hash, Hasher};

mod capture;

/// A release of the semantic conventions. All differences between releases are defined here.
///
/// | | [`V1_39`](Self::V1_39) | [`V1_41`](Self::V1_41) | [`GENAI_DEV`](Self::GENAI_DEV) |
/// |---|---|---|---|
/// | `fs/*`, `terminal/*` | `execute_tool {method}`, INTERNAL, with arguments and result | the method, SERVER | the method, SERVER |
/// | `acp.method.name` of tool calls | `session/update` | | |
/// | the agent's version | `acp.agent.version` | `gen_ai.agent.version` | `gen_ai.agent.version` |
/// | tokens read from a cache | | `gen_ai.usage.cache_read.input_tokens` | `gen_ai.usage.cache_read.input_tokens` |
/// | tokens written to a cache | | `gen_ai.usage.cache_creation.input_tokens` | `gen_ai.usage.cache_write.input_tokens` |
/// | reasoning tokens | | | `gen_ai.usage.reasoning.output_tokens` |
/// | tool arguments and results other than objects | unchanged | unchanged | the member `value` of an object |
/// | a completed compaction | an event | an event | an event, and a part of the message |
/// | `gen_ai.provider.name` | on turns and subagents | on turns and subagents | on turns, and in the event with their content |
/// | MCP errors that the client caused, on SERVER spans | Error, `error.type` | Error, `error.type` | unset, see [`mcp::CLIENT_ERRORS`](crate::mcp::CLIENT_ERRORS) |
/// | `gen_ai.request.reasoning.level`, `gen_ai.conversation.compacted` | | | in the event with the content of a turn |
/// | metrics | [table](crate::metric) | [table](crate::metric) | [table](crate::metric) |
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
    /// Whether messages have a part for compactions of the context.
    pub(crate) compaction_part: bool,
    /// Whether the span of a subagent has a provider.
    pub(crate) subagent_provider: bool,
    /// Whether the content event of a turn has a provider, the reasoning level and compactions.
    pub(crate) inference_event: bool,
    /// Whether errors that an MCP client caused are no errors of SERVER spans.
    pub(crate) ignores_client_errors: bool,
    pub(crate) metrics: [&'static [Row]; 2],
}

/// Form of the arguments and the result of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolContent {
    /// Any JSON value.
    Any,
    /// An object. Other values become its member `value`.
    Object,
}

/// Mapping of the agent's `fs/*` and `terminal/*` requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ClientTools {
    /// As requests: a SERVER span named after the method.
    Protocol,
    /// As tools run by the client: an INTERNAL span `execute_tool {method}`.
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
        inference_event: false,
        ignores_client_errors: false,
        metrics: metric::V1_39,
    };

    /// Semantic conventions v1.41.1, the last release that contains the GenAI conventions. This is
    /// the default.
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
        inference_event: false,
        ignores_client_errors: false,
        metrics: metric::V1_41,
    };

    /// The GenAI conventions in their own repository, at commit `06ec68e` of 2026-10-07. They have
    /// no release, and names may change.
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
        inference_event: true,
        ignores_client_errors: true,
        metrics: metric::DEV,
    };

    /// Returns the schema URL for the instrumentation scope.
    ///
    /// Spec: [Schema URL](https://opentelemetry.io/docs/specs/otel/schemas/#schema-url)
    pub fn schema_url(&self) -> &'static str {
        self.schema_url
    }
}

/// Each profile has a distinct schema URL.
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

/// Schema URL of the default profile, [`Profile::V1_41`].
pub const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.41.1";

/// What is recorded, and how open questions of the conventions are resolved.
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
    /// The release of the conventions.
    pub profile: Profile,
    /// Mapping of stop reasons.
    pub finish_reason: FinishReasonPolicy,
    /// Provider of the agent.
    pub provider: ProviderPolicy,
    /// Mapping of tool types.
    pub tool_type: ToolTypePolicy,
    /// Meaning of the token counts that the agent reports.
    pub usage: UsagePolicy,
    /// Places of tokens, cost, models, tool names and exit codes outside of the protocol.
    pub extractors: Extractors,
    /// Value of `network.transport`, `pipe` for stdio. `None` omits the attribute.
    pub network_transport: Option<Cow<'static, str>>,
    /// Where prompts, answers, tool arguments and results, commands and error messages are
    /// recorded.
    pub content: Capture,
    /// Whether titles of tools and subagents are recorded.
    pub titles: Gate,
    /// Whether paths of files and URIs of resources are recorded outside of messages, arguments and
    /// results.
    pub paths: Gate,
    /// Size limits of recorded content.
    pub content_limits: ContentLimits,
    /// Whether notifications of an [`RpcTracker`](crate::RpcTracker) are recorded as spans, as the
    /// conventions for MCP describe. Such spans have no duration.
    pub record_notifications: bool,
    /// Transforms content before it is recorded.
    pub redaction: Option<Redaction>,
    /// Whether [metrics](crate::metric) are recorded.
    pub record_metrics: bool,
}

/// Mapping of stop reasons to finish reasons. `acp.stop_reason` always contains the original value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FinishReasonPolicy {
    /// The values of the message schemas, see
    /// [`finish_reason`](fn@crate::finish_reason::finish_reason).
    #[default]
    Semconv,
    /// The stop reason unchanged.
    Verbatim,
}

/// Value of `gen_ai.provider.name`, which the conventions require and ACP does not provide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProviderPolicy {
    /// The provider of the requested model or of the agent, with its name in the conventions, see
    /// [`provider`](mod@crate::provider). Otherwise the name of the agent, or `acp` if it has none.
    #[default]
    WellKnown,
    /// The name of the agent, or `acp` if it has none.
    AgentName,
    /// `acp.` followed by the name of the agent, or `acp` if it has none.
    Prefixed,
    /// A fixed name.
    Fixed(Cow<'static, str>),
}

/// Mapping of ACP tool kinds to `gen_ai.tool.type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolTypePolicy {
    /// No type, because the conventions describe where a tool runs, while the kind describes what
    /// it does. `acp.tool.kind` contains the kind.
    #[default]
    Omit,
    /// The table in [`tool_type`](mod@crate::tool_type).
    ByKind,
    /// The observed place of execution: `function` if the agent requested files or terminals of the
    /// client while this was the only running tool call, else `extension`.
    ByExecution,
}

/// Meaning of the token counts in a prompt response. The specification describes totals of the
/// session, but most agents report the turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UsagePolicy {
    /// Counts of the turn.
    #[default]
    PerTurn,
    /// Totals of the session. The counts of a turn are the differences to the previous totals.
    Cumulative,
}
