//! Questions for hosts that show no forms: in the result of the call, for the model to ask.
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

/// The name of the tool with which a model brings answers.
pub const ANSWER_TOOL: &str = "answer_question";

/// What the tool takes.
const ANSWER_SCHEMA: &str = r#"{"type":"object","properties":{"tool":{"type":"string","description":"The tool that asks"},"state":{"type":"string","description":"The state from its result, unchanged"},"answers":{"type":"object","description":"What the user did about each question, by its key","additionalProperties":{"type":"object","properties":{"action":{"type":"string","enum":["accept","decline","cancel"]},"content":{"type":"object","description":"The answer, as the question's schema asks for it; for `accept` only"}},"required":["action"]}}},"required":["tool","state","answers"]}"#;

object! {
    /// A result that asks: the structured content of [`ask_in_result`].
    pub struct AsksInResult {
        /// `input_required`.
        status: String = "status",
        /// The tool that asks.
        tool: String = "tool",
        /// What comes back with the answers.
        state: String = "state",
        /// The questions.
        questions: Vec<QuestionInResult> = "questions",
    }
}

object! {
    /// A question in a result.
    pub struct QuestionInResult {
        /// What an answer is for.
        key: String = "key",
        /// The question, for people to read.
        message: String = "message",
        /// The form of the answer.
        schema: Raw = "schema",
    }
    optional {
        /// What the question shows.
        context: Raw = "context",
    }
}

object! {
    /// The arguments of [`ANSWER_TOOL`].
    pub struct AnswerArguments {
        /// The tool that asked.
        tool: String = "tool",
        /// The state that came with the questions.
        state: String = "state",
        /// The answers by key, each an [`ElicitResult`](crate::mcp::elicitation::ElicitResult).
        answers: Extra = "answers",
    }
}

/// The tool with which a model brings answers: to be offered beside those that ask.
pub fn answer_tool() -> Tool {
    // What is written here is JSON.
    let schema = Raw::from_text(ANSWER_SCHEMA).unwrap_or_else(|_| RawValue::TRUE.into());
    let mut tool = Tool::new(ANSWER_TOOL, schema);
    let description = "Goes on with a tool that asked the user something, with what the user said. \
        Ask the user first: do not answer instead.";
    tool.description = Some(description.into());
    tool
}

/// The result of a call that asks the user, for hosts that show no forms: the model asks, and calls [`ANSWER_TOOL`]. Nothing if
/// there is no question to the user in a form.
///
/// The answers are what the model says that the user said: they are no consent to what a model may not do by itself.
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
    let asked = AsksInResult::new("input_required", tool, state, questions);
    let asked = Raw::from_value(&asked).ok()?;
    let text = format!(
        "The user has to answer before this can go on:\n{messages}Ask the user, then call `{ANSWER_TOOL}`.\n{}",
        asked.as_str()
    );
    let mut result = CallToolResult::new([ContentBlock::Text(TextContent::new(text))]);
    result.structured_content = Presence::Value(asked);
    Some(result)
}

fn question(ask: &Ask) -> Option<QuestionInResult> {
    let ServerRequest::Elicit(params) = &ask.request else { return None };
    let ElicitRequestParams::Form(form) = &**params else { return None };
    let schema = form.requested_schema.clone();
    let mut question = QuestionInResult::new(&*ask.key, &*form.message, schema);
    let context = ask.context.as_ref().filter(|context| !context.is_empty());
    question.context = context.map(|context| context.as_raw().clone());
    (ask.kind == EntryKind::Elicit).then_some(question)
}

impl AnswerArguments {
    /// What goes on with the call that asked.
    pub fn as_resumption<'a>(&'a self, principal: &'a str) -> Resumption<'a> {
        let answers = self.answers.iter();
        let answers = answers.map(|(key, it)| (key.to_string(), Outcome::Value(it.clone())));
        let (state, tool, arguments) = (&*self.state, &*self.tool, None);
        Resumption { state, tool, arguments, principal, answers: answers.collect() }
    }
}
