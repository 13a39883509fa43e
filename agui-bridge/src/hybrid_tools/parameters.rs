//! Detection of AG-UI requests, and their parameters for an agent.
use crate::chat_history::{ChatHistory, ChatRole, HistoryRule};
use crate::json::{self, Members};
use agui_types::input::RunAgentInput;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Extra, Raw, decode};

/// Names of an agent's parameters.
pub mod parameter {
    /// The thread.
    pub const THREAD_ID: &str = "agui_thread_id";
    /// The thread, as the id of the agent's conversation memory.
    pub const MEMORY_ID: &str = "memory_id";
    /// The run.
    pub const RUN_ID: &str = "agui_run_id";
    /// The state, as JSON.
    pub const STATE: &str = "agui_state";
    /// The page's tools, as JSON.
    pub const TOOLS: &str = "agui_tools";
    /// The context for the model, as JSON.
    pub const CONTEXT: &str = "agui_context";
    /// The properties for the agent, as JSON.
    pub const FORWARDED_PROPS: &str = "agui_forwarded_props";
    /// `true` without messages: the page requests the stored conversation.
    pub const LOAD_CHAT_HISTORY: &str = "agui_load_chat_history";
    /// The results of the latest tool cycle, as JSON: `[{"tool_call_id","content"}]`.
    pub const TOOL_CALL_RESULTS: &str = "agui_tool_call_results";
    /// The assistant message of the latest tool cycle, as JSON: a list with one element.
    pub const ASSISTANT_TOOL_CALL_MESSAGES: &str = "agui_assistant_tool_call_messages";
    /// The names of the agent's own tools, as JSON.
    pub const BACKEND_TOOL_NAMES: &str = "backend_tool_names";
    /// The names of the page's tools, as JSON.
    pub const TOOL_NAMES: &str = "agui_tool_names";
}

/// The members that identify an AG-UI request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detection {
    /// Requires all of `threadId`, `runId`, `state`, `messages`, `tools`, `context` and
    /// `forwardedProps`.
    #[default]
    Strict,
    /// Requires `threadId`, `runId`, `messages` and `tools`.
    Lax,
}

/// Returns whether a request body is an AG-UI run input, as opposed to an agent's own format.
///
/// Under both rules `messages`, `tools` and `context` have to be lists if present. A body that is
/// not a JSON object is not an input.
///
/// ```
/// use agui_bridge::hybrid_tools::{Detection, is_agui_input};
///
/// let body = r#"{"threadId":"t","runId":"r","messages":[],"tools":[]}"#;
/// assert!(is_agui_input(body, Detection::Lax));
/// assert!(!is_agui_input(body, Detection::Strict));
/// assert!(!is_agui_input(r#"{"parameters":{"question":"Hi"}}"#, Detection::Lax));
/// ```
pub fn is_agui_input(body: &str, detection: Detection) -> bool {
    let Ok(members) = decode::<Extra>(body) else { return false };
    let keys: &[&str] = match detection {
        Detection::Strict => {
            &["threadId", "runId", "state", "messages", "tools", "context", "forwardedProps"]
        }
        Detection::Lax => &["threadId", "runId", "messages", "tools"],
    };
    let is_list = |key: &str| {
        members.get(key).is_none_or(|value| value.as_str().trim_start().starts_with('['))
    };
    keys.iter().all(|key| members.get(key).is_some())
        && ["messages", "tools", "context"].iter().all(|key| is_list(key))
}

/// Parameters of a run for an agent with its own parameter format.
///
/// | input | parameter |
/// |---|---|
/// | `threadId` | `agui_thread_id`, `memory_id` |
/// | `runId` | `agui_run_id` |
/// | `state`, `tools`, `context`, `forwardedProps` | `agui_state`, `agui_tools`, `agui_context`, `agui_forwarded_props`: the JSON text, if present |
/// | `messages` | [`history`](Self::history); without messages `agui_load_chat_history` is `true` and there is no history |
/// | the latest tool cycle, under [its rule](HistoryRule::LatestToolCycle) | `agui_tool_call_results`, `agui_assistant_tool_call_messages`, if present |
///
/// ```
/// use agui_bridge::chat_history::HistoryRule;
/// use agui_bridge::hybrid_tools::{AgentParameters, parameter};
///
/// let body = r#"{"threadId":"t","runId":"r","messages":[],"tools":[],"state":{"a":1}}"#;
/// let agent = AgentParameters::read(body, HistoryRule::KeepAll)?;
/// assert_eq!(agent.get(parameter::THREAD_ID), Some("t"));
/// assert_eq!(agent.get(parameter::STATE), Some(r#"{"a":1}"#));
/// assert_eq!((agent.get(parameter::LOAD_CHAT_HISTORY), &agent.history), (Some("true"), &None));
/// # Ok::<(), jsonrpc_core::wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AgentParameters {
    /// Values by [name](parameter).
    pub parameters: BTreeMap<String, String>,
    /// The conversation; `None` if the page requests the stored one.
    pub history: Option<ChatHistory>,
}

impl AgentParameters {
    /// Reads a run's input. It requires less than [`is_agui_input`]: `threadId`, `runId` and
    /// `messages`.
    ///
    /// # Errors
    /// The body is not JSON, or a member is missing or has a wrong type. The error has the place.
    pub fn read(body: &str, rule: HistoryRule) -> Result<Self, DecodeError> {
        decode(body).map(|input| Self::of(&input, rule))
    }

    /// Returns the parameters of a run's input.
    pub fn of(input: &RunAgentInput, rule: HistoryRule) -> Self {
        let mut agent = Self::default();
        agent.set(parameter::THREAD_ID, input.thread_id.as_str());
        agent.set(parameter::MEMORY_ID, input.thread_id.as_str());
        agent.set(parameter::RUN_ID, input.run_id.as_str());
        let as_json = [
            (parameter::STATE, input.state.clone()),
            (parameter::TOOLS, input.tools.as_ref().map(json::raw)),
            (parameter::CONTEXT, input.context.as_ref().map(json::raw)),
            (parameter::FORWARDED_PROPS, input.forwarded_props.clone()),
        ];
        for (name, value) in as_json {
            value.iter().for_each(|value| agent.set(name, value.as_str()));
        }
        if input.messages.is_empty() {
            agent.set(parameter::LOAD_CHAT_HISTORY, "true");
            return agent;
        }
        let history = ChatHistory::read(&input.messages, rule);
        if rule == HistoryRule::LatestToolCycle {
            agent.set_cycle(&history);
        }
        agent.history = Some(history);
        agent
    }

    /// Returns the value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.parameters.insert(name.to_owned(), value.to_owned());
    }

    fn set_cycle(&mut self, history: &ChatHistory) {
        let mut messages = history.messages.iter().rev();
        let Some(called) = messages.find(|message| !message.tool_calls.is_empty()) else { return };
        let calls: Vec<Raw> = called
            .tool_calls
            .iter()
            .map(|call| {
                let function =
                    Members::new().with("name", &call.name).with("arguments", &call.arguments);
                let call = Members::new().with("id", &call.id).with("type", "function");
                call.with("function", &function.into_extra()).into_raw()
            })
            .collect();
        let message = Members::new().with("role", called.role.as_str()).with("tool_calls", &calls);
        let text = Some(called.text()).filter(|text| !text.is_empty());
        let message = message.with_some("content", text.as_ref()).into_raw();
        self.set(parameter::ASSISTANT_TOOL_CALL_MESSAGES, json::raw(&[message]).as_str());
        let results = history.messages.iter().filter(|message| message.role == ChatRole::Tool);
        let results: Vec<Raw> = results
            .map(|result| {
                let content =
                    Members::new().with_some("tool_call_id", result.tool_call_id.as_ref());
                content.with("content", &result.text()).into_raw()
            })
            .collect();
        if !results.is_empty() {
            self.set(parameter::TOOL_CALL_RESULTS, json::raw(&results).as_str());
        }
    }
}
