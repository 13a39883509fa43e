//! Questions of tools to the user of the conversation.
use crate::tools::events::{EventHandler, ask_user, tool_question};
use crate::tools::questions::Asker;
use async_trait::async_trait;
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::elicitation::ElicitRequestParams;
use mcp_bridge::plugin::{Ask, Outcome};
use mcp_bridge::server::ToolCall;

/// A call of a tool that asks the user of the conversation.
pub(super) struct UserAsker<'a> {
    pub(super) events: &'a EventHandler,
    pub(super) call: &'a ToolCall,
    pub(super) key: u64,
}

#[async_trait]
impl Asker for UserAsker<'_> {
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
            Ok(question) => ask_user(self.events, self.key, question).await,
            Err(why) => Err(why),
        };
        answer.map_or_else(Outcome::Error, Outcome::Value)
    }
}
