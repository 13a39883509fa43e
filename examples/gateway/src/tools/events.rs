//! What the MCP servers of a conversation report to it, and the questions of their tools to its
//! user.
use acp_types::v1::elicitation::ElicitationAction;
use agui_bridge::conversation::ToolQuestion;
use agui_bridge::frontend_tool::{NewCall, agent_call_id};
use jsonrpc_core::wire::{Extra, Meta, Raw};
use mcp_bridge::context::ModelContext;
use mcp_bridge::mcp::elicitation::ElicitRequestFormParams;
use mcp_bridge_http::CallContext;
use semconv_map::trace_context::TraceContext;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// Target of records for an audit log.
pub(crate) const AUDIT: &str = "audit";

/// Interval of progress notifications of a call that waits for the user.
pub(crate) const ALIVE_TIME: Duration = Duration::from_secs(10);

/// The result of a call for the agent: a text, and whether it is an error.
pub type TextResult = (String, bool);

/// Takes the events of a server. An event without a conversation is dropped with its reply.
pub type EventHandler = Arc<dyn Fn(FromServer) + Send + Sync>;

/// An event for the conversation.
#[derive(Debug)]
pub enum FromServer {
    /// The agent calls a tool of the page.
    Call {
        /// Identifies the call.
        key: u64,
        /// The tool and its arguments.
        call: NewCall,
        /// Sends progress notifications.
        context: CallContext,
        /// Takes the result.
        reply: oneshot::Sender<TextResult>,
    },
    /// A tool of the server, which the agent has called, asks the user.
    Ask {
        /// Identifies the call.
        key: u64,
        /// The question.
        question: Box<ToolQuestion>,
        /// Takes the answer.
        reply: oneshot::Sender<ElicitationAction>,
    },
    /// The span of the run is needed.
    Span(oneshot::Sender<Option<TraceContext>>),
    /// The agent has cancelled this call, or it has ended with open questions.
    Withdrawn(u64),
}

/// Reports a cancelled call, unless it is over.
pub(crate) struct Withdraw<'a> {
    pub(crate) events: &'a EventHandler,
    pub(crate) key: u64,
    pub(crate) is_over: bool,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            (self.events)(FromServer::Withdrawn(self.key));
        }
    }
}

/// Creates the question of a tool. With `session_id`, a page that ends the session knows that the
/// question needs no answer.
pub(crate) fn tool_question(
    (tool, call): (&str, Option<&Meta>),
    form: &ElicitRequestFormParams,
    context: Option<&ModelContext>,
    key: &str,
    session_id: Option<&str>,
) -> Result<ToolQuestion, String> {
    let mut meta = Extra::new();
    if let Some(context) = context.filter(|context| !context.is_empty()) {
        meta.insert(mcp_bridge::context::NAME, context.as_raw().clone());
    }
    let named = [("elicitKey", Some(key)), ("sessionId", session_id)];
    for (name, value) in named {
        if let Some(value) = value.and_then(|value| Raw::from_value(&value).ok()) {
            meta.insert(name, value);
        }
    }
    let schema = form.requested_schema.decode().map_err(|error| error.to_string())?;
    let mut question = ToolQuestion::new(tool, &*form.message, schema);
    question.agent_id = call.and_then(agent_call_id);
    question.meta = Some(Meta::from(&meta));
    Ok(question)
}

/// Asks the user of the conversation. Returns the answer, or a cancellation without one.
pub(crate) async fn ask_user(
    events: &EventHandler,
    key: u64,
    question: ToolQuestion,
) -> Result<Raw, String> {
    let (reply, answer) = oneshot::channel();
    events(FromServer::Ask { key, question: Box::new(question), reply });
    let answer = answer.await.unwrap_or_else(|_| ElicitationAction::Cancel(Extra::new()));
    Raw::from_value(&answer).map_err(|error| error.to_string())
}
