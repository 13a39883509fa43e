use crate::chat_history::{ChatHistory, ChatRole, HistoryRule};
use crate::json::{self, Members};
use agui_types::input::RunAgentInput;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Extra, Raw, decode};

/// The names of an agent's parameters, exactly.
pub mod parameter {
    /// The thread.
    pub const THREAD_ID: &str = "agui_thread_id";
    /// The thread as well: where the agent keeps its conversation.
    pub const MEMORY_ID: &str = "memory_id";
    /// The run.
    pub const RUN_ID: &str = "agui_run_id";
    /// The state, as JSON.
    pub const STATE: &str = "agui_state";
    /// The page's tools, as JSON.
    pub const TOOLS: &str = "agui_tools";
    /// What the model should know, as JSON.
    pub const CONTEXT: &str = "agui_context";
    /// What is for the agent alone, as JSON.
    pub const FORWARDED_PROPS: &str = "agui_forwarded_props";
    /// `true` where there are no messages: the page asks for what was said before.
    pub const LOAD_CHAT_HISTORY: &str = "agui_load_chat_history";
    /// The results of the latest tool cycle, as JSON: `[{"tool_call_id","content"}]`.
    pub const TOOL_CALL_RESULTS: &str = "agui_tool_call_results";
    /// The assistant message of the latest tool cycle, as JSON: a list of one.
    pub const ASSISTANT_TOOL_CALL_MESSAGES: &str = "agui_assistant_tool_call_messages";
    /// The names of the agent's own tools, as JSON.
    pub const BACKEND_TOOL_NAMES: &str = "backend_tool_names";
    /// The names of the page's tools, as JSON.
    pub const TOOL_NAMES: &str = "agui_tool_names";
}

/// How much of a request has to look like AG-UI's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detection {
    /// All of `threadId`, `runId`, `state`, `messages`, `tools`, `context` and `forwardedProps` are there.
    #[default]
    Strict,
    /// `threadId`, `runId`, `messages` and `tools` are there.
    Lax,
}

/// Whether a request's body is a run's input of AG-UI, and not one in an agent's own form.
///
/// Under either rule `messages`, `tools` and `context` are lists where they are there. What is no JSON object is not.
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

/// What an agent with parameters of its own is given for a run.
///
/// | input | parameter |
/// |---|---|
/// | `threadId` | `agui_thread_id`, `memory_id` |
/// | `runId` | `agui_run_id` |
/// | `state`, `tools`, `context`, `forwardedProps` | `agui_state`, `agui_tools`, `agui_context`, `agui_forwarded_props`: the JSON text, where it is there |
/// | `messages` | [`history`](Self::history); where there are none, `agui_load_chat_history` is `true` and there is no history |
/// | the latest tool cycle, under [its rule](HistoryRule::LatestToolCycle) | `agui_tool_call_results`, `agui_assistant_tool_call_messages`, where there is one |
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
    /// What was said; nothing where the page asks for that.
    pub history: Option<ChatHistory>,
}

impl AgentParameters {
    /// Reads a run's input. It asks for less than [`is_agui_input`]: `threadId`, `runId` and `messages` have to be there.
    ///
    /// # Errors
    /// The body is not JSON, or a member is missing or of a wrong type. The error says where.
    pub fn read(body: &str, rule: HistoryRule) -> Result<Self, DecodeError> {
        decode(body).map(|input| Self::of(&input, rule))
    }

    /// The parameters for a run's input.
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

    /// The value of a parameter.
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
