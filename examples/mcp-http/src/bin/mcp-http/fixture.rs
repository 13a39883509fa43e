//! What the conformance suite calls, as data.
use jsonrpc_core::wire::Raw;
use mcp_bridge::mcp::dispatch::{ClientResult, ServerRequest};
use mcp_bridge::mcp::mrtr::InputRequest;
use mcp_bridge::mcp::tools::Tool;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// All of it.
#[derive(Debug, Deserialize)]
pub(crate) struct Fixture {
    pub(crate) tools: Vec<FixtureTool>,
    pub(crate) prompts: Vec<FixturePrompt>,
    pub(crate) resources: Vec<Value>,
    pub(crate) templates: Vec<Value>,
    pub(crate) contents: Vec<Value>,
}

/// A tool, and what it does.
#[derive(Debug, Deserialize)]
pub(crate) struct FixtureTool {
    pub(crate) tool: Tool,
    pub(crate) does: Does,
}

/// What a tool does.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Does {
    /// Gives this result; `$name` stands for an argument.
    Give(Value),
    /// Asks, round by round, and then says what was answered.
    Ask(Rounds),
    /// Tells of progress, in three steps.
    Progress,
    /// Writes these into a log.
    Log(Vec<String>),
    /// Has the list of tools change.
    ChangeTools,
    /// Ends the stream before the result.
    EndStream,
    /// Asks with a context, and says what of it the client saw.
    Context,
}

/// What a tool or a prompt asks.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Rounds {
    /// Requests by key, round by round. `$name` stands for an argument.
    pub(crate) rounds: Vec<BTreeMap<String, Value>>,
    /// Whether the client carries a state, or the answers alone say how far it is.
    #[serde(default)]
    pub(crate) has_state: bool,
    /// Whether what the client cannot do is left out.
    #[serde(default)]
    pub(crate) only_declared: bool,
    /// The tool that goes on with the answers, as a task.
    #[serde(default)]
    pub(crate) then: Option<String>,
}

/// A prompt, and its messages; `$name` stands for an argument.
#[derive(Debug, Deserialize)]
pub(crate) struct FixturePrompt {
    pub(crate) prompt: Value,
    pub(crate) messages: Value,
    /// What it asks before.
    #[serde(default)]
    pub(crate) asks: Option<BTreeMap<String, Value>>,
}

impl Fixture {
    pub(crate) fn read() -> serde_json::Result<Self> {
        serde_json::from_str(include_str!("fixture.json"))
    }
}

/// The requests of a round, with the arguments in their places.
pub(crate) fn requests(
    round: &BTreeMap<String, Value>,
    arguments: &Value,
) -> Result<Vec<(String, ServerRequest)>, jsonrpc_core::wire::DecodeError> {
    let read = |(key, request): (&String, &Value)| {
        let raw = Raw::from_text(fill(request, arguments).to_string())?;
        let input: InputRequest = raw.decode()?;
        Ok((key.clone(), input.read()?))
    };
    round.iter().map(read).collect()
}

/// Puts arguments into the places that `$name` marks.
pub(crate) fn fill(value: &Value, arguments: &Value) -> Value {
    match value {
        Value::String(text) => {
            let mut text = text.clone();
            for (name, argument) in arguments.as_object().into_iter().flatten() {
                let argument = argument.as_str().map_or_else(|| argument.to_string(), Into::into);
                text = text.replace(&format!("${name}"), &argument);
            }
            Value::String(text)
        }
        Value::Array(items) => items.iter().map(|item| fill(item, arguments)).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), fill(value, arguments))).collect()
        }
        other => other.clone(),
    }
}

/// Whether an answer is one to a request.
pub(crate) fn answers(request: &ServerRequest, answer: &Raw) -> bool {
    ClientResult::decode(request.method(), answer.as_ref()).is_ok()
}
