//! Questions in the result of a call, for hosts that show no forms. The model asks them.
use super::ask::Ask;
use super::journal::{EntryKind, Outcome};
use super::turn::Resumption;
use crate::mcp::content::{ContentBlock, TextContent};
use crate::mcp::dispatch::ServerRequest;
use crate::mcp::elicitation::ElicitRequestParams;
use crate::mcp::tools::{CallToolResult, Tool};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::object;
use jsonrpc_core::wire::{Extra, Presence, Raw};
use serde_json::value::RawValue;

/// Name of the tool that the model calls with the answers.
pub const ANSWER_TOOL: &str = "answer_question";

/// Input schema of the tool.
const ANSWER_SCHEMA: &str = r#"{"type":"object","properties":{"tool":{"type":"string","description":"The tool that asked"},"state":{"type":"string","description":"The state from its result, unchanged"},"answers":{"type":"object","description":"The response of the user to each question, by key","additionalProperties":{"type":"object","properties":{"action":{"type":"string","enum":["accept","decline","cancel"]},"content":{"type":"object","description":"The answer, according to the schema of the question; only with `accept`"}},"required":["action"]}}},"required":["tool","state","answers"]}"#;

object! {
    /// Structured content of the result of [`ask_in_result`].
    pub struct AsksInResult by name {
        /// `input_required`.
        status: String = "status",
        /// Name of the tool that asks.
        tool: String = "tool",
        /// State to return with the answers.
        state: String = "state",
        /// The open questions.
        questions: Vec<QuestionInResult> = "questions",
    }
}

object! {
    /// A question in a result.
    pub struct QuestionInResult by name {
        /// Key of the question.
        key: String = "key",
        /// The message for the user.
        message: String = "message",
        /// Schema of the answer.
        schema: Raw = "schema",
    }
    optional {
        /// Data to display with the question.
        context: Raw = "context",
    }
}

object! {
    /// Arguments of [`ANSWER_TOOL`].
    pub struct AnswerArguments by name {
        /// Name of the tool that asked.
        tool: String = "tool",
        /// The state returned with the questions.
        state: String = "state",
        /// The answers by key, each an [`ElicitResult`](crate::mcp::elicitation::ElicitResult).
        answers: Extra = "answers",
    }
}

/// Returns the definition of [`ANSWER_TOOL`], to be listed with the tools that ask.
pub fn answer_tool() -> Tool {
    // The constant is valid JSON.
    let schema = Raw::from_text(ANSWER_SCHEMA).unwrap_or_else(|_| RawValue::TRUE.into());
    let mut tool = Tool::new(ANSWER_TOOL, schema);
    let description = "Continues a tool call that asked the user a question. Ask the user first; \
        never answer in place of the user.";
    tool.description = Some(description.into());
    tool
}

/// Returns a result that asks the model to ask the user and to call [`ANSWER_TOOL`] with the
/// answers. It is meant for hosts that show no forms. Returns `None` if there is no question to the
/// user in a form.
///
/// The answers come from the model. They are not a consent to anything that a model may not do by
/// itself.
///
/// ```
/// use jsonrpc_core::wire::{self, Raw};
/// use mcp_bridge::plugin::{AnswerArguments, answer_tool, ask_in_result};
///
/// assert_eq!(answer_tool().name, "answer_question");
/// assert_eq!(ask_in_result("greet", "9c41", &[]), None);
///
/// let called = r#"{"tool":"greet","state":"9c41","answers":{"askName":{"action":"accept","content":{"name":"Ada"}}}}"#;
/// let called: AnswerArguments = wire::decode(called)?;
/// let resumption = called.as_resumption("ada");
/// assert_eq!((resumption.state, resumption.answers.len()), ("9c41", 1));
/// # Ok::<(), wire::DecodeError>(())
/// ```
pub fn ask_in_result(tool: &str, state: &str, asks: &[Ask]) -> Option<CallToolResult> {
    let questions: Vec<_> = asks.iter().filter_map(question).collect();
    if questions.is_empty() {
        return None;
    }
    let messages =
        questions.iter().map(|question| format!("{}: {}\n", question.key, question.message));
    let messages: String = messages.collect();
    let status = "input_required".into();
    let tool = tool.into();
    let state = state.into();
    let asked = AsksInResult::from(AsksInResultMembers { status, tool, state, questions });
    let asked = Raw::from_value(&asked).ok()?;
    let text = format!(
        "User input is required to continue:\n{messages}Ask the user, then call `{ANSWER_TOOL}`.\n{}",
        asked.as_str()
    );
    let mut result = CallToolResult::new([ContentBlock::Text(TextContent::new(text))]);
    result.structured_content = Presence::Value(asked);
    Some(result)
}

fn question(ask: &Ask) -> Option<QuestionInResult> {
    let ServerRequest::Elicit(params) = &ask.request else { return None };
    let ElicitRequestParams::Form(form) = &**params else { return None };
    let mut question = QuestionInResult::from(QuestionInResultMembers {
        key: ask.key.to_string(),
        message: form.message.to_string(),
        schema: form.requested_schema.clone(),
    });
    let context = ask.context.as_ref().filter(|context| !context.is_empty());
    question.context = context.map(|context| context.as_raw().clone());
    (ask.kind == EntryKind::Elicit).then_some(question)
}

impl AnswerArguments {
    /// Returns the resumption of the call that asked.
    pub fn as_resumption<'a>(&'a self, principal: &'a str) -> Resumption<'a> {
        let answers = self.answers.iter();
        let answers = answers.map(|(key, it)| (key.to_string(), Outcome::Value(it.clone())));
        let state = &*self.state;
        let tool = &*self.tool;
        let arguments = None;
        Resumption { state, tool, arguments, principal, answers: answers.collect() }
    }
}
