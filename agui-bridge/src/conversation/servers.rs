//! Sessions that an agent refuses because of MCP servers: they are opened with the page's server over another transport, then
//! without it; and in the same way without the configured servers.
use super::active::Stage;
use super::output::{Command, OpenSession, SessionNumber};
use super::session::AgentState;
use super::{AgentFeatures, Conversation, ConversationDiagnostic};
use crate::reason::reason;
use acp_types::client::CallError;
use acp_types::v1::session_setup::McpServer;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// MCP servers that an agent announces to support, but does not accept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedServers {
    http: bool,
    sse: bool,
    stdio: bool,
    /// The configured servers.
    configured: bool,
}

/// A request for a session with MCP servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenAttempt {
    open: OpenSession,
    /// The page's server in the request, if it has one; the last attempt does not.
    server: Option<McpServer>,
    /// Whether the request has the configured servers.
    has_configured: bool,
    /// Servers of earlier attempts.
    refused: RefusedServers,
}

impl RefusedServers {
    /// Returns the servers of both.
    pub(crate) fn and(self, other: Self) -> Self {
        let Self { http, sse, stdio, configured } = other;
        Self {
            http: self.http | http,
            sse: self.sse | sse,
            stdio: self.stdio | stdio,
            configured: self.configured | configured,
        }
    }

    /// Removes the transports from the features of an agent.
    pub(crate) fn restrict(self, features: &mut AgentFeatures) {
        features.mcp_http &= !self.http;
        features.mcp_sse &= !self.sse;
        features.mcp_stdio &= !self.stdio;
    }

    fn has_transport(self) -> bool {
        self.http || self.sse || self.stdio
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
    pub(super) fn new(open: OpenSession, server: Option<McpServer>, has_configured: bool) -> Self {
        Self { open, server, has_configured, refused: RefusedServers::default() }
    }
}

impl Conversation {
    /// Returns the configured servers that the agent supports. The others are reported.
    pub(super) fn configured_servers(&mut self) -> Vec<McpServer> {
        let AgentState::Connected(features) = &self.agent else { return Vec::new() };
        if features.refused.and(self.page.refused()).configured {
            self.report_left_out();
            return Vec::new();
        }
        let (servers, missing): (Vec<_>, Vec<_>) =
            self.options.mcp_servers.iter().cloned().partition(|server| features.reaches(server));
        for server in missing {
            let name = name_of(&server).to_owned();
            self.page.diagnose(ConversationDiagnostic::ServerUnreachable(name));
        }
        servers
    }

    /// Opens a refused session again: with the page's server over its next transport, then without it, then the same without
    /// the configured servers. Returns `false` if the refusal has another reason, or the session had no server.
    pub(super) fn reopen(&mut self, error: &CallError) -> bool {
        let (CallError::Answered(error), AgentState::Connected(features)) = (error, &self.agent)
        else {
            return false;
        };
        let Some(OpenAttempt { mut open, server, mut has_configured, mut refused }) =
            self.attempt.take().filter(|it| it.server.is_some() || it.has_configured)
        else {
            return false;
        };
        let number = SessionNumber(self.sessions + 1);
        match self.active.as_mut().map(|active| &mut active.stage) {
            Some(Stage::Opening { session, .. }) => *session = number,
            // The run was cancelled, or waits for `session/load`.
            _ => return false,
        }
        match &server {
            Some(server) => {
                refused = refused.with(server);
                self.page.diagnose(ConversationDiagnostic::ServerRefused(reason(error)));
            }
            None => {
                // The page's server was not the reason.
                (has_configured, refused) = (false, RefusedServers::default());
                refused.configured = true;
            }
        }
        let next = self.page.provide(features, refused).servers.into_iter().next();
        let is_configured = |server: &McpServer| self.options.mcp_servers.contains(server);
        open.mcp_servers.retain(|server| has_configured && is_configured(server));
        open.mcp_servers.extend(next.clone());
        self.sessions += 1;
        self.attached = Some(number);
        let attempt = OpenAttempt { open: open.clone(), server: next, has_configured, refused };
        self.attempt = Some(attempt);
        self.commands.push_back(Command::Open(number, Box::new(open)));
        true
    }

    /// Handles that a session is open: servers that were refused before are not used again.
    pub(super) fn handle_attempt_opened(&mut self) {
        let Some(OpenAttempt { server, refused, .. }) = self.attempt.take() else { return };
        if refused.configured {
            self.report_left_out();
        }
        if refused != RefusedServers::default() {
            self.page.handle_servers_refused(refused);
            if server.is_none() && refused.has_transport() {
                self.translator.warn(NO_TOOLS);
            }
        }
    }

    /// Reports that a session does not have the configured servers, in the stream and to the program.
    fn report_left_out(&mut self) {
        let names = self.options.mcp_servers.iter().map(|server| format!("`{}`", name_of(server)));
        let names = names.collect::<Vec<_>>().join(", ");
        self.translator.warn(&format!("{NO_CONFIGURED} {names}."));
        self.page.diagnose(ConversationDiagnostic::ServersLeftOut(names));
    }
}

fn name_of(server: &McpServer) -> &str {
    match server {
        McpServer::Http(server) => &server.name,
        McpServer::Sse(server) => &server.name,
        McpServer::Stdio(server) => &server.name,
        _ => "",
    }
}

/// Notice of a session without the configured servers, before their names.
const NO_CONFIGURED: &str =
    "Tools are missing: the agent does not accept sessions with the MCP servers of the settings:";

/// Notice of a session without the page's tools.
const NO_TOOLS: &str =
    "The page's tools are not available: the agent does not accept their MCP server.";
