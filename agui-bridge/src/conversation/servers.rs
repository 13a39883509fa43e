//! Sessions that an agent refuses because of the page's MCP server: they are opened over another transport, then without it.
use super::active::Stage;
use super::output::{Command, OpenSession, SessionNumber};
use super::session::AgentState;
use super::{AgentFeatures, Conversation, ConversationDiagnostic};
use crate::reason::reason;
use acp_types::client::CallError;
use acp_types::v1::session_setup::McpServer;
use alloc::boxed::Box;
use serde::{Deserialize, Serialize};

/// Transports of MCP servers that an agent announces, but does not accept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedServers {
    http: bool,
    sse: bool,
    stdio: bool,
}

/// A request for a session with the page's MCP server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenAttempt {
    open: OpenSession,
    /// The server in the request; `None` in the last attempt.
    server: Option<McpServer>,
    /// Transports of earlier attempts.
    refused: RefusedServers,
}

impl RefusedServers {
    /// Returns the transports of both.
    pub(crate) fn and(self, other: Self) -> Self {
        let Self { http, sse, stdio } = other;
        Self { http: self.http | http, sse: self.sse | sse, stdio: self.stdio | stdio }
    }

    /// Removes the transports from the features of an agent.
    pub(crate) fn restrict(self, features: &mut AgentFeatures) {
        features.mcp_http &= !self.http;
        features.mcp_sse &= !self.sse;
        features.mcp_stdio &= !self.stdio;
    }

    fn with(mut self, server: &McpServer) -> Self {
        match server {
            McpServer::Http(_) => self.http = true,
            McpServer::Sse(_) => self.sse = true,
            _ => self.stdio = true,
        }
        self
    }
}

impl OpenAttempt {
    pub(super) fn new(open: OpenSession, server: McpServer) -> Self {
        Self { open, server: Some(server), refused: RefusedServers::default() }
    }
}

impl Conversation {
    /// Opens a refused session again, over the next transport of the page's MCP server, or without the server. Returns
    /// `false` if the refusal has another reason, or the session had no server.
    pub(super) fn reopen(&mut self, error: &CallError) -> bool {
        let (CallError::Answered(error), AgentState::Connected(features)) = (error, &self.agent)
        else {
            return false;
        };
        let Some(OpenAttempt { mut open, server: Some(server), refused }) = self.attempt.take()
        else {
            return false;
        };
        let number = SessionNumber(self.sessions + 1);
        match self.active.as_mut().map(|active| &mut active.stage) {
            Some(Stage::Opening { session, .. }) => *session = number,
            // The run was cancelled, or waits for `session/load`.
            _ => return false,
        }
        let refused = refused.with(&server);
        self.page.diagnose(ConversationDiagnostic::ServerRefused(reason(error)));
        let next = self.page.provide(features, refused).servers.into_iter().next();
        open.mcp_servers.clone_from(&self.options.mcp_servers);
        open.mcp_servers.extend(next.clone());
        self.sessions += 1;
        self.attached = Some(number);
        self.attempt = Some(OpenAttempt { open: open.clone(), server: next, refused });
        self.commands.push_back(Command::Open(number, Box::new(open)));
        true
    }

    /// Handles that a session is open: transports that were refused before are not used again.
    pub(super) fn handle_attempt_opened(&mut self) {
        let Some(OpenAttempt { server, refused, .. }) = self.attempt.take() else { return };
        if refused != RefusedServers::default() {
            self.page.handle_servers_refused(refused);
            if server.is_none() {
                self.translator.warn(NO_TOOLS);
            }
        }
    }
}

/// Notice of a session without the page's tools.
const NO_TOOLS: &str =
    "The page's tools are not available: the agent does not accept their MCP server.";
