//! Metrics with their units, buckets and profiles.
//!
//! | metric | unit | measures | profile |
//! |---|---|---|---|
//! | `gen_ai.client.operation.duration` | s | a turn | each |
//! | `gen_ai.client.token.usage` | {token} | the tokens of a turn, separately for input and output | v1.39, v1.41 |
//! | `gen_ai.client.operation.time_to_first_chunk` | s | same as `acp.prompt.time_to_first_update` | v1.41 |
//! | `gen_ai.client.inference.usage.*` | {token} | the tokens of a turn, as counters; modality `unknown` | dev |
//! | `gen_ai.invoke_agent.duration` | s | a turn | dev |
//! | `gen_ai.invoke_agent.tool_calls` | {tool_call} | the tool calls of a turn | dev |
//! | `gen_ai.execute_tool.duration` | s | a tool call | dev |
//! | `rpc.client.call.duration`, `rpc.server.call.duration` | s | a request other than a turn or a tool call | each |
//! | `acp.prompt.duration` | s | a turn, with buckets up to half an hour | each |
//! | `acp.prompt.time_to_first_update` | s | the wait for the first update that shows work | each |
//! | `acp.tool_call.duration` | s | a tool call | each |
//! | `acp.permission.wait.duration` | s | the agent's wait for a permission | each |
//! | `acp.session.active` | {session} | sessions that were created or loaded and are not closed | each |
//! | `acp.session.context.used`, `.size` | {token} | the context window | each |
//! | `acp.session.cost` | {cost} | the cost of sessions, by `acp.cost.currency` | each |
//! | `mcp.client.operation.duration`, `mcp.server.operation.duration` | s | an MCP request, as sender or as receiver | each |
//! | `mcp.client.session.duration`, `mcp.server.session.duration` | s | an MCP connection from `initialize` to its end | each |
//!
//! A turn has no metrics of single inferences, such as `gen_ai.client.inference.duration` and
//! `gen_ai.invoke_agent.inference_calls`, because ACP does not report inferences. The metrics
//! `gen_ai.server.*` are intended for operators of models. No metric has a session, a title or a
//! path as attribute.
//!
//! Metrics are recorded if [`Policy::record_metrics`](crate::Policy::record_metrics) is set.
//!
//! ```
//! use core::time::Duration;
//! use semconv_map::{Direction, Policy, Record, Tracker, metric};
//!
//! let mut policy = Policy::default();
//! policy.record_metrics = true;
//! let mut tracker = Tracker::new(policy);
//! let prompt = br#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#;
//! let answer = br#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}"#;
//! tracker.handle_line(Direction::Sent, Duration::from_secs(1), prompt);
//! tracker.handle_line(Direction::Received, Duration::from_secs(3), answer);
//!
//! let measured = std::iter::from_fn(|| tracker.poll()).find_map(|record| match record {
//!     Record::Metric(measured) if *measured.metric == metric::ACP_PROMPT_DURATION => Some(measured.value),
//!     _ => None,
//! });
//! assert_eq!(measured, Some(2.0.into()));
//! ```
//!
//! Spec: [GenAI metrics,
//! v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/gen-ai-metrics.md),
//! [MCP,
//! v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/mcp.md),
//! [RPC metrics,
//! v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/rpc/rpc-metrics.md)
use crate::attribute::Attribute;
use crate::keys;
use crate::span_handle::SpanHandle;
use alloc::vec::Vec;
use core::time::Duration;

mod of_spans;

pub(crate) use of_spans::{DEV, PendingMeasurement, Row, V1_39, V1_41};

/// Definition of a metric and its instrument.
///
/// Spec: [Instrument](https://opentelemetry.io/docs/specs/otel/metrics/api/#instrument)
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Metric {
    /// Name of the metric.
    pub name: &'static str,
    /// Kind of instrument.
    pub instrument: Instrument,
    /// Unit in [UCUM](https://ucum.org/ucum) notation.
    pub unit: &'static str,
    /// Description of the metric.
    pub description: &'static str,
    /// Upper bounds of the histogram buckets, except the last, which is unbounded. Empty for other
    /// instruments.
    pub boundaries: &'static [f64],
}

/// Kind of instrument of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Instrument {
    /// A distribution of values in buckets.
    Histogram,
    /// A sum of non-negative values.
    Counter,
    /// A sum of values of either sign.
    UpDownCounter,
    /// The most recent value.
    Gauge,
}

/// A measured value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measurement {
    /// The metric.
    pub metric: &'static Metric,
    /// The value, in the unit of the metric.
    pub value: MetricValue,
    /// Time of the measurement, on the caller's clock.
    pub time: Duration,
    /// The measured span, for exemplars. Its end is the preceding record.
    pub span: Option<SpanHandle>,
    /// Attributes of the value.
    pub attributes: Vec<Attribute>,
}

/// The value of a [`Measurement`]. All values of a metric have the same type.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MetricValue {
    /// A count.
    I64(i64),
    /// Seconds or an amount. Always finite.
    F64(f64),
}

impl From<i64> for MetricValue {
    fn from(value: i64) -> Self {
        Self::I64(value)
    }
}

impl From<f64> for MetricValue {
    fn from(value: f64) -> Self {
        Self::F64(value)
    }
}

macro_rules! metrics {
    ($( #[doc = $doc:literal] $NAME:ident = $name:literal, $instrument:ident, $unit:literal, $boundaries:expr; )+) => {
        $(
            #[doc = $doc]
            pub const $NAME: Metric = Metric {
                name: $name,
                instrument: Instrument::$instrument,
                unit: $unit,
                description: $doc.trim_ascii(),
                boundaries: $boundaries,
            };
        )+

        /// All metrics.
        pub const ALL: &[Metric] = &[$( $NAME, )+];
    };
}

metrics! {
    /// Duration of a turn.
    GEN_AI_CLIENT_OPERATION_DURATION = "gen_ai.client.operation.duration", Histogram, "s", SECONDS;
    /// Number of tokens that a turn used, by type.
    GEN_AI_CLIENT_TOKEN_USAGE = "gen_ai.client.token.usage", Histogram, "{token}", TOKENS;
    /// Time from the prompt to the first update of the agent.
    GEN_AI_CLIENT_OPERATION_TIME_TO_FIRST_CHUNK = "gen_ai.client.operation.time_to_first_chunk", Histogram, "s", SECONDS;
    /// Number of input tokens.
    GEN_AI_CLIENT_INFERENCE_USAGE_INPUT_TOKENS = "gen_ai.client.inference.usage.input_tokens", Counter, "{token}", &[];
    /// Number of output tokens.
    GEN_AI_CLIENT_INFERENCE_USAGE_OUTPUT_TOKENS = "gen_ai.client.inference.usage.output_tokens", Counter, "{token}", &[];
    /// Number of input tokens that were read from the provider's cache.
    GEN_AI_CLIENT_INFERENCE_USAGE_CACHE_READ_INPUT_TOKENS = "gen_ai.client.inference.usage.cache_read.input_tokens", Counter, "{token}", &[];
    /// Number of input tokens that were written to the provider's cache.
    GEN_AI_CLIENT_INFERENCE_USAGE_CACHE_WRITE_INPUT_TOKENS = "gen_ai.client.inference.usage.cache_write.input_tokens", Counter, "{token}", &[];
    /// Number of output tokens that were used for reasoning.
    GEN_AI_CLIENT_INFERENCE_USAGE_REASONING_OUTPUT_TOKENS = "gen_ai.client.inference.usage.reasoning.output_tokens", Counter, "{token}", &[];
    /// Duration of a turn.
    GEN_AI_INVOKE_AGENT_DURATION = "gen_ai.invoke_agent.duration", Histogram, "s", &[0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6];
    /// Number of tool calls in a turn.
    GEN_AI_INVOKE_AGENT_TOOL_CALLS = "gen_ai.invoke_agent.tool_calls", Histogram, "{tool_call}", &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
    /// Duration of a tool call.
    GEN_AI_EXECUTE_TOOL_DURATION = "gen_ai.execute_tool.duration", Histogram, "s", SECONDS;
    /// Duration of a request from the client to the agent.
    RPC_CLIENT_CALL_DURATION = "rpc.client.call.duration", Histogram, "s", RPC_SECONDS;
    /// Duration of a request from the agent to the client.
    RPC_SERVER_CALL_DURATION = "rpc.server.call.duration", Histogram, "s", RPC_SECONDS;
    /// Duration of a request, as the MCP client sees it.
    MCP_CLIENT_OPERATION_DURATION = "mcp.client.operation.duration", Histogram, "s", MCP_SECONDS;
    /// Duration of a request, as the MCP server sees it.
    MCP_SERVER_OPERATION_DURATION = "mcp.server.operation.duration", Histogram, "s", MCP_SECONDS;
    /// Duration of a session, as the MCP client sees it.
    MCP_CLIENT_SESSION_DURATION = "mcp.client.session.duration", Histogram, "s", MCP_SECONDS;
    /// Duration of a session, as the MCP server sees it.
    MCP_SERVER_SESSION_DURATION = "mcp.server.session.duration", Histogram, "s", MCP_SECONDS;
    /// Duration of a turn, in buckets up to half an hour.
    ACP_PROMPT_DURATION = "acp.prompt.duration", Histogram, "s", &[0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6, 900.0, 1800.0];
    /// Time from the prompt to the first update of the agent.
    ACP_PROMPT_TIME_TO_FIRST_UPDATE = "acp.prompt.time_to_first_update", Histogram, "s", MCP_SECONDS;
    /// Duration of a tool call.
    ACP_TOOL_CALL_DURATION = "acp.tool_call.duration", Histogram, "s", MCP_SECONDS;
    /// Time that the agent waited for a permission.
    ACP_PERMISSION_WAIT_DURATION = "acp.permission.wait.duration", Histogram, "s", MCP_SECONDS;
    /// Number of sessions that are open.
    ACP_SESSION_ACTIVE = "acp.session.active", UpDownCounter, "{session}", &[];
    /// Number of tokens in the context window.
    ACP_SESSION_CONTEXT_USED = "acp.session.context.used", Gauge, "{token}", &[];
    /// Size of the context window.
    ACP_SESSION_CONTEXT_SIZE = "acp.session.context.size", Gauge, "{token}", &[];
    /// Cost of sessions, by currency; a cost that shrinks adds nothing.
    ACP_SESSION_COST = "acp.session.cost", Counter, "{cost}", &[];
}

/// 0.01 · 2^n.
const SECONDS: &[f64] =
    &[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const MCP_SECONDS: &[f64] =
    &[0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
const RPC_SECONDS: &[f64] =
    &[0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];
/// 4^n.
const TOKENS: &[f64] = &[
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16384.0,
    65536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];
