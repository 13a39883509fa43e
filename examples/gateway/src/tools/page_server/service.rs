//! The tools of the page and the server's own, for the agent of one conversation.
use super::asking::UserAsker;
use crate::tools::events::{ALIVE_TIME, AUDIT, EventHandler, FromServer, Withdraw};
use crate::tools::questions::{CallEnd, failed};
use crate::tools::toolbox::Toolbox;
use agui_bridge::frontend_tool::{NewCall, agent_call_id};
use async_trait::async_trait;
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::mcp::content::{ContentBlock, TextContent};
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::server::{CallOutcome, ServerOptions, ToolCall};
use mcp_bridge_http::{CallContext, Service};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;
use tokio::time::interval;

/// The service behind the endpoint.
pub(super) struct PageService {
    pub(super) tools: Mutex<Arc<[Tool]>>,
    /// The server's own tools, if they are offered.
    pub(super) toolbox: Option<Arc<Toolbox>>,
    pub(super) user: String,
    pub(super) events: EventHandler,
    pub(super) calls: Arc<AtomicU64>,
}

#[async_trait]
impl Service for PageService {
    fn options(&self, _principal: &str) -> ServerOptions {
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut info = Implementation::new("spanwire-ui", env!("CARGO_PKG_VERSION"));
        info.title = Some("The user's page".to_owned());
        ServerOptions::new(info, tools)
    }

    async fn call(&self, call: &ToolCall, context: &CallContext) -> CallOutcome {
        let key = self.calls.fetch_add(1, Ordering::Relaxed);
        let user = &*self.user;
        let tool = &*call.name;
        let content = call.arguments.as_str();
        tracing::info!(target: AUDIT, event = "tool.call", user, tool, content);
        let mut withdraw = Withdraw { events: &self.events, key, is_over: false };
        match self.own(&call.name) {
            Some(toolbox) => self.call_own(toolbox, call, context, &mut withdraw).await.into(),
            None => self.call_page(call, context, &mut withdraw).await.into(),
        }
    }
}

impl PageService {
    /// Returns the server's own tools, if the name is one of them and not one of the page.
    fn own(&self, name: &str) -> Option<&Toolbox> {
        let toolbox = self.toolbox.as_deref()?;
        let offered = self.tools.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let offered = offered.iter().find(|tool| tool.name == name)?;
        toolbox.for_agents().any(|own| own == *offered).then_some(toolbox)
    }

    async fn call_page(
        &self,
        call: &ToolCall,
        context: &CallContext,
        withdraw: &mut Withdraw<'_>,
    ) -> CallToolResult {
        let (reply, result) = oneshot::channel();
        let mut request = NewCall::new(&*call.name, call.arguments.clone());
        request.agent_id = call.meta.as_ref().and_then(agent_call_id);
        let key = withdraw.key;
        let context = context.clone();
        (self.events)(FromServer::Call { key, call: request, context, reply });
        let result = result.await.ok();
        withdraw.is_over = true;
        let (text, is_error) = result.unwrap_or_else(|| ("the page is gone".to_owned(), true));
        let mut result = CallToolResult::new([ContentBlock::Text(TextContent::new(text))]);
        result.is_error = is_error.then_some(true);
        result
    }

    async fn call_own(
        &self,
        toolbox: &Toolbox,
        call: &ToolCall,
        context: &CallContext,
        withdraw: &mut Withdraw<'_>,
    ) -> CallToolResult {
        let questions = toolbox.questions();
        if !questions.has(&call.name) {
            withdraw.is_over = true;
            return match toolbox.call(&call.name).await {
                Ok(text) => CallToolResult::new([ContentBlock::Text(TextContent::new(text))]),
                Err(error) => failed(&error),
            };
        }
        let asking = UserAsker { events: &self.events, call, key: withdraw.key };
        let name = &call.name;
        let arguments = call.arguments.clone();
        let calling = questions.call_held(name, arguments, &self.user, &asking);
        let alive = async {
            let mut beat = interval(ALIVE_TIME);
            for beats in 0_u32.. {
                beat.tick().await;
                context.progress(f64::from(beats), None, Some("waiting for the user"));
            }
        };
        let held = tokio::select! {
            held = calling => held,
            () = alive => CallEnd::Ended(failed("nobody answers")),
        };
        match held {
            CallEnd::Done(result) => {
                withdraw.is_over = true;
                result
            }
            CallEnd::Ended(result) => result,
        }
    }
}
