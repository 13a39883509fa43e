//! Sessions that an agent refuses because of MCP servers, or in which its first prompt fails
//! because of them: they are opened with the page's server over another transport, then without it;
//! and in the same way without the configured servers.
use super::active::{ActiveRun, PlannedTurn, Stage};
use super::output::{Command, OpenSession, SessionNumber, SessionOrigin};
use super::refused_servers::RefusedServers;
use super::session::AgentState;
use super::{Conversation, ConversationDiagnostic};
use crate::reason::reason;
use acp_types::client::{CallError, Update};
use acp_types::v1::prompt_turn::SessionUpdate;
use acp_types::v1::session_setup::McpServer;
use acp_types::v2::prompt_lifecycle::SessionUpdate as SessionUpdateV2;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use jsonrpc_core::ErrorObject;
use serde::{Deserialize, Serialize};

/// A request for a session with MCP servers. It ends with the first sign that the agent works on a
/// prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenAttempt {
    open: OpenSession,
    /// The page's server in the request, if it has one; the last attempt does not.
    server: Option<McpServer>,
    /// Whether the request has the configured servers.
    has_configured: bool,
    /// Servers of earlier attempts.
    refused: RefusedServers,
    /// Whether an earlier attempt has failed in its prompt, which a later one has to show to be due
    /// to its servers.
    has_failed_prompt: bool,
    /// The first turn of the session, once its prompt is sent.
    turn: Option<PlannedTurn>,
}

impl OpenAttempt {
    pub(super) fn new(open: OpenSession, server: Option<McpServer>, has_configured: bool) -> Self {
        let refused = RefusedServers::default();
        Self { open, server, has_configured, refused, has_failed_prompt: false, turn: None }
    }

    /// Stores the turn of the prompt that is sent, if the session has servers.
    pub(super) fn set_turn(&mut self, turn: &PlannedTurn) {
        self.turn = (!self.open.mcp_servers.is_empty()).then(|| turn.clone());
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

    /// Opens a refused session again: with the page's server over its next transport, then without
    /// it, then the same without the configured servers. Returns `false` if the refusal has another
    /// reason, or the session had no server.
    pub(super) fn reopen(&mut self, error: &CallError) -> bool {
        let CallError::Answered(error) = error else { return false };
        let is_for_run = self.active.as_ref().is_some_and(ActiveRun::is_opening);
        if !is_for_run && !self.opening().is_some_and(|opening| opening.is_new) {
            // The run was cancelled, or waits for `session/load`.
            return false;
        }
        let attempt = self.attempt.take().filter(|it| it.server.is_some() || it.has_configured);
        attempt.and_then(|attempt| self.open_without(attempt, error)).is_some()
    }

    /// Sends the first prompt of a session again in a session with fewer servers, in the order of
    /// [`reopen`](Self::reopen). Returns `false` if the error names no server of the session, or
    /// the agent has begun to work.
    pub(super) fn prompt_again(&mut self, error: &CallError) -> bool {
        let CallError::Answered(error) = error else { return false };
        let is_working = |stage: &Stage| matches!(stage, Stage::Working);
        let can_retry = self.translator.is_running()
            && self.active.as_ref().is_some_and(|it| !it.is_cancelled && is_working(&it.stage));
        let is_due = |it: &OpenAttempt| it.turn.is_some() && it.blames(error);
        let Some(mut attempt) = self.attempt.take_if(|it| can_retry && is_due(it)) else {
            return false;
        };
        let Some(turn) = attempt.turn.take() else { return false };
        if matches!(attempt.open.origin, SessionOrigin::New | SessionOrigin::Fork(..)) {
            self.forget_remembered();
        }
        self.release();
        attempt.has_failed_prompt = true;
        let Some(session) = self.open_without(attempt, error) else { return false };
        self.set_stage(Stage::Opening { session, turn });
        self.translator.set_opening(true);
        true
    }

    /// Opens the session of an attempt that has failed with fewer servers.
    fn open_without(&mut self, attempt: OpenAttempt, error: &ErrorObject) -> Option<SessionNumber> {
        let AgentState::Connected(features) = &self.agent else { return None };
        let OpenAttempt { mut open, server, mut has_configured, mut refused, .. } = attempt;
        match &server {
            Some(server) => {
                refused = refused.with(server);
                self.page.diagnose(ConversationDiagnostic::ServerRefused(reason(error)));
            }
            None => {
                // The page's server was not the reason.
                has_configured = false;
                refused = RefusedServers::default();
                refused.configured = true;
            }
        }
        let next = self.page.provide(features, refused).servers.into_iter().next();
        let is_configured = |server: &McpServer| self.options.mcp_servers.contains(server);
        open.mcp_servers.retain(|server| has_configured && is_configured(server));
        open.mcp_servers.extend(next.clone());
        self.sessions += 1;
        let number = SessionNumber(self.sessions);
        if let Some(Stage::Opening { session, .. }) = self.active.as_mut().map(|it| &mut it.stage) {
            *session = number;
        } else {
            self.reopen_as(number);
        }
        self.attached = Some(number);
        let has_failed_prompt = attempt.has_failed_prompt;
        let attempt = OpenAttempt::new(open.clone(), next, has_configured);
        self.attempt = Some(OpenAttempt { refused, has_failed_prompt, ..attempt });
        self.commands.push_back(Command::Open(number, Box::new(open)));
        Some(number)
    }

    /// Handles that a session is open. After a failed prompt, only the next one shows whether the
    /// servers were the reason.
    pub(super) fn handle_attempt_opened(&mut self) {
        if let Some(attempt) = self.attempt.take_if(|attempt| !attempt.has_failed_prompt) {
            let refused = RefusedServers::default();
            self.report_refused(&attempt);
            self.attempt = Some(OpenAttempt { refused, ..attempt });
        }
    }

    /// Handles that the agent works on a prompt: servers that were refused before are not used
    /// again.
    pub(super) fn handle_attempt_succeeded(&mut self) {
        if let Some(attempt) = self.attempt.take_if(|_| self.session.is_some()) {
            self.report_refused(&attempt);
        }
    }

    fn report_refused(&mut self, attempt: &OpenAttempt) {
        let refused = attempt.refused;
        if refused.configured {
            self.report_left_out();
        }
        if refused != RefusedServers::default() {
            self.page.handle_servers_refused(refused);
            if attempt.server.is_none() && refused.has_transport() {
                self.translator.warn(NO_TOOLS);
            }
        }
    }

    /// Reports that a session does not have the configured servers, in the stream and to the
    /// program.
    fn report_left_out(&mut self) {
        let names = self.options.mcp_servers.iter().map(|server| format!("`{}`", name_of(server)));
        let names = names.collect::<Vec<_>>().join(", ");
        self.translator.warn(&format!("{NO_CONFIGURED} {names}."));
        self.page.diagnose(ConversationDiagnostic::ServersLeftOut(names));
    }
}

impl OpenAttempt {
    /// Returns whether the error of a prompt is about the servers of its session: whether it names
    /// MCP, the address or program of a server, or its name as that of a server.
    fn blames(&self, error: &ErrorObject) -> bool {
        let data = error.data.as_ref().map_or("", |data| data.as_str());
        let text = format!("{} {data}", error.message).to_lowercase();
        let is_named = |server: &McpServer| {
            let name = name_of(server).to_lowercase();
            let place = match server {
                McpServer::Http(server) => &*server.url,
                McpServer::Sse(server) => &*server.url,
                McpServer::Stdio(server) => &*server.command,
                _ => "",
            };
            let place = place.split_once("://").map_or(place, |(_, rest)| rest).to_lowercase();
            let forms = ["'{}'", "\"{}\"", "`{}`", "server {}", "{} server"];
            (!place.is_empty() && text.contains(&place))
                || (!name.is_empty()
                    && forms.iter().any(|it| text.contains(&it.replace("{}", &name))))
        };
        text.contains("mcp") || self.open.mcp_servers.iter().any(is_named)
    }
}

/// Returns whether an update shows work of the agent, in contrast to facts about the session.
pub(super) fn is_work(update: &Update) -> bool {
    match update {
        Update::V1(update) => !matches!(
            update.update,
            SessionUpdate::AvailableCommandsUpdate(_)
                | SessionUpdate::CurrentModeUpdate(_)
                | SessionUpdate::ConfigOptionUpdate(_)
                | SessionUpdate::SessionInfoUpdate(_)
                | SessionUpdate::UsageUpdate(_)
                | SessionUpdate::CursorUpdate(_)
        ),
        Update::V2(update) => !matches!(
            update.update,
            SessionUpdateV2::AvailableCommandsUpdate(_)
                | SessionUpdateV2::ConfigOptionUpdate(_)
                | SessionUpdateV2::SessionInfoUpdate(_)
                | SessionUpdateV2::StateUpdate(_)
                | SessionUpdateV2::UsageUpdate(_)
                | SessionUpdateV2::CursorUpdate(_)
        ),
        _ => true,
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
