//! Questions of tools to the user of the conversation.
use super::{EventHandler, FromServer, PageService, ToolQuestion};
use crate::tools::questions::Asker;
use acp_types::v1::elicitation::ElicitationAction;
use agui_bridge::frontend_tool::agent_call_id;
use async_trait::async_trait;
use jsonrpc_core::wire::{Extra, Meta, Raw};
use mcp_bridge::context::ModelContext;
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::elicitation::{ElicitRequestFormParams, ElicitRequestParams};
use mcp_bridge::plugin::{Ask, Outcome};
use mcp_bridge::server::ToolCall;
use tokio::sync::oneshot;

/// A call of a tool that asks the user of the conversation.
pub(super) struct Asking<'a> {
    pub(super) service: &'a PageService,
    pub(super) call: &'a ToolCall,
    pub(super) key: u64,
}

#[async_trait]
impl Asker for Asking<'_> {
    async fn ask(&self, session_id: &str, ask: &Ask) -> Outcome {
        let form = match &ask.request {
            ServerRequest::Elicit(params) => match &**params {
                ElicitRequestParams::Form(form) => form,
                _ => return Outcome::Error("the user can be asked by form only".to_owned()),
            },
            _ => return Outcome::Error("no model is available".to_owned()),
        };
        let session_id = Some(session_id);
        let call = (&*self.call.name, self.call.meta.as_ref());
        let question = tool_question(call, form, ask.context.as_ref(), &ask.key, session_id);
        let answer = match question {
            Ok(question) => ask_user(&self.service.events, self.key, question).await,
            Err(why) => Err(why),
        };
        answer.map_or_else(Outcome::Error, Outcome::Value)
    }
}

/// Creates the question of a tool. With `session_id`, a page that ends the session knows that the question needs no answer.
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
    Ok(ToolQuestion {
        tool: tool.to_owned(),
        agent_id: call.and_then(agent_call_id),
        message: form.message.clone(),
        schema: form.requested_schema.decode().map_err(|error| error.to_string())?,
        meta: Some(Meta::from(&meta)),
    })
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
