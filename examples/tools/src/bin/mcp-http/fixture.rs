//! Tools, prompts and resources of the conformance suite, as data.
use jsonrpc_core::wire::Raw;
use mcp_bridge::mcp::dispatch::{ClientResult, ServerRequest};
use mcp_bridge::mcp::mrtr::InputRequest;
use mcp_bridge::mcp::tools::Tool;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The content of `fixture.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct Fixture {
    pub(crate) tools: Vec<FixtureTool>,
    pub(crate) prompts: Vec<FixturePrompt>,
    pub(crate) resources: Vec<Value>,
    pub(crate) templates: Vec<Value>,
    pub(crate) contents: Vec<Value>,
}

/// A tool and its behavior.
#[derive(Debug, Deserialize)]
pub(crate) struct FixtureTool {
    pub(crate) tool: Tool,
    pub(crate) does: FixtureAction,
}

/// Behavior of a tool.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FixtureAction {
    /// Returns this result. `$name` stands for an argument.
    Give(Value),
    /// Asks, round by round, and then returns the answers.
    Ask(Rounds),
    /// Reports progress in three steps.
    Progress,
    /// Logs these messages.
    Log(Vec<String>),
    /// Changes the tool list.
    ChangeTools,
    /// Ends the stream before the result.
    EndStream,
    /// Asks with a context and returns what the client received.
    Context,
}

/// Questions of a tool or a prompt.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Rounds {
    /// Requests by key, for each round. `$name` stands for an argument.
    pub(crate) rounds: Vec<BTreeMap<String, Value>>,
    /// Whether the client carries a state. Otherwise the answers determine the round.
    #[serde(default)]
    pub(crate) has_state: bool,
    /// Whether requests that the client does not support are left out.
    #[serde(default)]
    pub(crate) only_declared: bool,
    /// The tool that continues with the answers, as a task.
    #[serde(default)]
    pub(crate) then: Option<String>,
}

/// A prompt and its messages. `$name` stands for an argument.
#[derive(Debug, Deserialize)]
pub(crate) struct FixturePrompt {
    pub(crate) prompt: Value,
    pub(crate) messages: Value,
    /// Questions to ask before.
    #[serde(default)]
    pub(crate) asks: Option<BTreeMap<String, Value>>,
}

impl Fixture {
    pub(crate) fn read() -> serde_json::Result<Self> {
        serde_json::from_str(include_str!("fixture.json"))
    }
}

/// Returns the requests of a round, with arguments filled in.
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

/// Fills in arguments at the places marked with `$name`.
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

/// Returns whether an answer is valid for a request.
pub(crate) fn answers(request: &ServerRequest, answer: &Raw) -> bool {
    ClientResult::decode(request.method(), answer.as_ref()).is_ok()
}
