//! Questions of the server's own tools to the user of the conversation.
use super::{FromServer, PageService, ToolQuestion};
use crate::questions::Asker;
use acp_types::v1::elicitation::ElicitationAction;
use agui_bridge::frontend_tool::agent_call_id;
use async_trait::async_trait;
use jsonrpc_core::wire::{Extra, Meta, Raw};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::elicitation::ElicitRequestParams;
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
        let question = match self.question(session_id, ask) {
            Ok(question) => Box::new(question),
            Err(why) => return Outcome::Error(why),
        };
        let (reply, answer) = oneshot::channel();
        let asked = FromServer::Ask { key: self.key, question, reply };
        let answer = match self.service.requests.send(asked).await {
            Ok(()) => answer.await.ok(),
            Err(_) => None,
        };
        let answer = answer.unwrap_or_else(|| ElicitationAction::Cancel(Extra::new()));
        match Raw::from_value(&answer) {
            Ok(answer) => Outcome::Value(answer),
            Err(error) => Outcome::Error(error.to_string()),
        }
    }
}

impl Asking<'_> {
    fn question(&self, session_id: &str, ask: &Ask) -> Result<ToolQuestion, String> {
        let form = match &ask.request {
            ServerRequest::Elicit(params) => match &**params {
                ElicitRequestParams::Form(form) => form,
                _ => return Err("the user can be asked by form only".to_owned()),
            },
            _ => return Err("no model is available".to_owned()),
        };
        let mut meta = Extra::new();
        if let Some(context) = ask.context.as_ref().filter(|context| !context.is_empty()) {
            meta.insert(mcp_bridge::context::NAME, context.as_raw().clone());
        }
        if let Ok(key) = Raw::from_value(&ask.key) {
            meta.insert("elicitKey", key);
        }
        // Lets a page that ends the call know that the question needs no answer.
        if let Ok(session_id) = Raw::from_value(&session_id) {
            meta.insert("sessionId", session_id);
        }
        Ok(ToolQuestion {
            tool: self.call.name.clone(),
            agent_id: self.call.meta.as_ref().and_then(agent_call_id),
            message: form.message.clone(),
            schema: form.requested_schema.decode().map_err(|error| error.to_string())?,
            meta: Raw::from_value(&meta).ok().map(Meta::from),
        })
    }
}
