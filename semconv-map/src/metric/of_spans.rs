//! Metrics derived from spans: one table per profile, and its evaluation.
use super::{
    ACP_PERMISSION_WAIT_DURATION, ACP_PROMPT_DURATION, ACP_PROMPT_TIME_TO_FIRST_UPDATE,
    ACP_TOOL_CALL_DURATION, GEN_AI_CLIENT_INFERENCE_USAGE_CACHE_READ_INPUT_TOKENS,
    GEN_AI_CLIENT_INFERENCE_USAGE_CACHE_WRITE_INPUT_TOKENS,
    GEN_AI_CLIENT_INFERENCE_USAGE_INPUT_TOKENS, GEN_AI_CLIENT_INFERENCE_USAGE_OUTPUT_TOKENS,
    GEN_AI_CLIENT_INFERENCE_USAGE_REASONING_OUTPUT_TOKENS, GEN_AI_CLIENT_OPERATION_DURATION,
    GEN_AI_CLIENT_OPERATION_TIME_TO_FIRST_CHUNK, GEN_AI_CLIENT_TOKEN_USAGE,
    GEN_AI_EXECUTE_TOOL_DURATION, GEN_AI_INVOKE_AGENT_DURATION, GEN_AI_INVOKE_AGENT_TOOL_CALLS,
    MCP_CLIENT_OPERATION_DURATION, MCP_SERVER_OPERATION_DURATION, Metric, MetricValue,
    RPC_CLIENT_CALL_DURATION, RPC_SERVER_CALL_DURATION, keys,
};
use crate::acp::members::UPDATE;
use crate::attribute::{Attribute, AttributeValue};
use crate::span::SpanKind;
use alloc::vec::Vec;
use core::time::Duration;

/// A metric derived from the spans of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    metric: &'static Metric,
    of: Operation,
    value: Value,
    /// Attributes copied from the span.
    attributes: &'static [&'static str],
    /// An attribute that the span does not have.
    more: Option<(&'static str, &'static str)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Turn,
    Subagent,
    McpClient,
    McpServer,
    ToolCall,
    ClientCall,
    ServerCall,
}

/// Source of the value. If the span does not have it, nothing is recorded.
#[derive(Clone, Copy, Debug)]
enum Value {
    Duration,
    Attribute(&'static str),
    ToolCalls,
}

const fn row(
    metric: &'static Metric,
    of: Operation,
    value: Value,
    attributes: &'static [&'static str],
) -> Row {
    Row { metric, of, value, attributes, more: None }
}

const fn tokens(
    metric: &'static Metric,
    usage: &'static str,
    key: &'static str,
    value: &'static str,
) -> Row {
    let more = Some((key, value));
    Row { metric, of: Operation::Turn, value: Value::Attribute(usage), attributes: MODEL, more }
}

const TURN: &[&str] = &[
    keys::GEN_AI_OPERATION_NAME,
    keys::GEN_AI_PROVIDER_NAME,
    keys::GEN_AI_REQUEST_MODEL,
    keys::ERROR_TYPE,
];
const MODEL: &[&str] =
    &[keys::GEN_AI_OPERATION_NAME, keys::GEN_AI_PROVIDER_NAME, keys::GEN_AI_REQUEST_MODEL];
const AGENT: &[&str] = &[keys::GEN_AI_AGENT_NAME, keys::GEN_AI_REQUEST_MODEL, keys::ERROR_TYPE];
const TOOL: &[&str] =
    &[keys::GEN_AI_TOOL_NAME, keys::GEN_AI_TOOL_TYPE, keys::GEN_AI_AGENT_NAME, keys::ERROR_TYPE];
const CALL: &[&str] =
    &[keys::RPC_SYSTEM_NAME, keys::RPC_METHOD, keys::RPC_RESPONSE_STATUS_CODE, keys::ERROR_TYPE];

const MCP: &[&str] = &[
    keys::MCP_METHOD_NAME,
    keys::MCP_PROTOCOL_VERSION,
    keys::GEN_AI_OPERATION_NAME,
    keys::GEN_AI_TOOL_NAME,
    keys::GEN_AI_PROMPT_NAME,
    keys::NETWORK_TRANSPORT,
    keys::RPC_RESPONSE_STATUS_CODE,
    keys::ERROR_TYPE,
];

const FIRST_UPDATE: Value = Value::Attribute(keys::ACP_PROMPT_TIME_TO_FIRST_UPDATE);
const DURATION: Row =
    row(&GEN_AI_CLIENT_OPERATION_DURATION, Operation::Turn, Value::Duration, TURN);
const INPUT: Row = tokens(
    &GEN_AI_CLIENT_TOKEN_USAGE,
    keys::GEN_AI_USAGE_INPUT_TOKENS,
    keys::GEN_AI_TOKEN_TYPE,
    "input",
);
const OUTPUT: Row = tokens(
    &GEN_AI_CLIENT_TOKEN_USAGE,
    keys::GEN_AI_USAGE_OUTPUT_TOKENS,
    keys::GEN_AI_TOKEN_TYPE,
    "output",
);

/// Metrics of all profiles.
const ACP: &[Row] = &[
    row(&RPC_CLIENT_CALL_DURATION, Operation::ClientCall, Value::Duration, CALL),
    row(&RPC_SERVER_CALL_DURATION, Operation::ServerCall, Value::Duration, CALL),
    row(&MCP_CLIENT_OPERATION_DURATION, Operation::McpClient, Value::Duration, MCP),
    row(&MCP_SERVER_OPERATION_DURATION, Operation::McpServer, Value::Duration, MCP),
    row(&ACP_PROMPT_DURATION, Operation::Turn, Value::Duration, AGENT),
    row(
        &ACP_PROMPT_TIME_TO_FIRST_UPDATE,
        Operation::Turn,
        FIRST_UPDATE,
        &[keys::GEN_AI_AGENT_NAME, keys::GEN_AI_REQUEST_MODEL],
    ),
    row(
        &ACP_TOOL_CALL_DURATION,
        Operation::ToolCall,
        Value::Duration,
        &[keys::GEN_AI_TOOL_NAME, keys::ACP_TOOL_KIND, keys::GEN_AI_AGENT_NAME, keys::ERROR_TYPE],
    ),
    row(
        &ACP_PERMISSION_WAIT_DURATION,
        Operation::ServerCall,
        Value::Attribute(keys::ACP_PERMISSION_WAIT_DURATION),
        &[keys::ACP_PERMISSION_OUTCOME, keys::ACP_PERMISSION_OPTION_KIND],
    ),
];

pub(crate) const V1_39: [&[Row]; 2] = [&[DURATION, INPUT, OUTPUT], ACP];

pub(crate) const V1_41: [&[Row]; 2] = [
    &[
        DURATION,
        INPUT,
        OUTPUT,
        row(&GEN_AI_CLIENT_OPERATION_TIME_TO_FIRST_CHUNK, Operation::Turn, FIRST_UPDATE, MODEL),
    ],
    ACP,
];

pub(crate) const DEV: [&[Row]; 2] = [
    &[
        DURATION,
        row(&GEN_AI_INVOKE_AGENT_DURATION, Operation::Turn, Value::Duration, AGENT),
        row(
            &GEN_AI_INVOKE_AGENT_TOOL_CALLS,
            Operation::Turn,
            Value::ToolCalls,
            &[keys::GEN_AI_AGENT_NAME],
        ),
        row(&GEN_AI_INVOKE_AGENT_DURATION, Operation::Subagent, Value::Duration, AGENT),
        row(
            &GEN_AI_INVOKE_AGENT_TOOL_CALLS,
            Operation::Subagent,
            Value::ToolCalls,
            &[keys::GEN_AI_AGENT_NAME],
        ),
        row(&GEN_AI_EXECUTE_TOOL_DURATION, Operation::ToolCall, Value::Duration, TOOL),
        usage(&GEN_AI_CLIENT_INFERENCE_USAGE_INPUT_TOKENS, keys::GEN_AI_USAGE_INPUT_TOKENS),
        usage(&GEN_AI_CLIENT_INFERENCE_USAGE_OUTPUT_TOKENS, keys::GEN_AI_USAGE_OUTPUT_TOKENS),
        usage(
            &GEN_AI_CLIENT_INFERENCE_USAGE_CACHE_READ_INPUT_TOKENS,
            keys::GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
        ),
        usage(
            &GEN_AI_CLIENT_INFERENCE_USAGE_CACHE_WRITE_INPUT_TOKENS,
            keys::GEN_AI_USAGE_CACHE_WRITE_INPUT_TOKENS,
        ),
        usage(
            &GEN_AI_CLIENT_INFERENCE_USAGE_REASONING_OUTPUT_TOKENS,
            keys::GEN_AI_USAGE_REASONING_OUTPUT_TOKENS,
        ),
    ],
    ACP,
];

/// ACP does not report the modality of tokens.
const fn usage(metric: &'static Metric, usage: &'static str) -> Row {
    tokens(metric, usage, keys::GEN_AI_TOKEN_MODALITY, "unknown")
}

/// Data of a span that is kept until its end.
#[derive(Clone, Debug)]
pub(crate) struct PendingMeasurement {
    of: Operation,
    started: Duration,
    attributes: Vec<Attribute>,
    pub(crate) tool_calls: i64,
}

impl PendingMeasurement {
    /// Returns the data to keep for a span that starts, or `None` if it has no metrics.
    pub(crate) fn start(
        rows: [&'static [Row]; 2],
        started: Duration,
        kind: SpanKind,
        attributes: &[Attribute],
    ) -> Option<Self> {
        let has = |key| attributes.iter().any(|attribute| attribute.key == key);
        let operation = attributes.iter().find_map(|attribute| match &attribute.value {
            AttributeValue::String(name) if attribute.key == keys::GEN_AI_OPERATION_NAME => {
                Some(&**name)
            }
            _ => None,
        });
        let update = Attribute::new(keys::ACP_METHOD_NAME, UPDATE);
        let is_update = attributes.contains(&update);
        let of = match (operation, kind) {
            (_, SpanKind::Client) if has(keys::MCP_METHOD_NAME) => Operation::McpClient,
            _ if has(keys::MCP_METHOD_NAME) => Operation::McpServer,
            (Some("invoke_agent"), SpanKind::Client) => Operation::Turn,
            (Some("invoke_agent"), _) => Operation::Subagent,
            // A request that a profile maps to a tool belongs to a tool call, which has the metric.
            (Some(_), _) if has(keys::ACP_METHOD_NAME) && !is_update => return None,
            (Some(_), _) => Operation::ToolCall,
            (None, SpanKind::Client) => Operation::ClientCall,
            (None, _) => Operation::ServerCall,
        };
        let is_used = |key| {
            let mut rows = rows.into_iter().flatten().filter(|row| row.of == of);
            rows.any(|row| row.attributes.contains(&key))
        };
        let kept = attributes.iter().filter(|attribute| is_used(attribute.key));
        Some(Self { of, started, attributes: kept.cloned().collect(), tool_calls: 0 })
    }

    pub(crate) fn is_tool_call(&self) -> bool {
        self.of == Operation::ToolCall
    }

    /// Returns the measurements of each row that applies to the span.
    pub(crate) fn end(
        &self,
        rows: [&'static [Row]; 2],
        now: Duration,
        learnt: &[Attribute],
    ) -> Vec<(&'static Metric, MetricValue, Vec<Attribute>)> {
        let all = || self.attributes.iter().chain(learnt);
        let measured =
            rows.into_iter().flatten().filter(|row| row.of == self.of).filter_map(|row| {
                let value = match row.value {
                    Value::Duration => now.saturating_sub(self.started).as_secs_f64().into(),
                    Value::ToolCalls => self.tool_calls.into(),
                    Value::Attribute(key) => {
                        number(learnt.iter().find(|learnt| learnt.key == key)?)?
                    }
                };
                let picked = all().filter(|attribute| row.attributes.contains(&attribute.key));
                let more = row.more.map(|(key, value)| Attribute::new(key, value));
                Some((row.metric, value, picked.cloned().chain(more).collect()))
            });
        measured.collect()
    }
}

fn number(attribute: &Attribute) -> Option<MetricValue> {
    match attribute.value {
        AttributeValue::I64(number) => Some(number.into()),
        AttributeValue::F64(number) => Some(number.into()),
        _ => None,
    }
}
