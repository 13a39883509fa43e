//! The page's tools within a conversation: their machine, and late results.
use super::{ConversationDiagnostic, Notice, RefusedServers};
use crate::contextual_tools::{ContextualToolsStore, Wire};
use crate::frontend_tool::{
    Binding, FrontendToolOptions, FrontendTools, NewCall, Outcome, ToolMode,
};
use crate::input::MAX_QUEUED;
use crate::json::Print;
use crate::{Translator, conversation};
use acp_types::v1::session_setup::{McpServer, SessionId};
use agui_types::id::ToolCallId;
use agui_types::tool::Tool;
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeSet, VecDeque};
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{Meta, Raw};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The page's tools of one thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PageToolsPart {
    pub(super) machine: FrontendTools,
    access: conversation::PageTools,
    /// Tools of the last run's input.
    tools: Vec<Tool>,
    /// Tools that the extension method may call in the session.
    contextual: ContextualToolsStore,
    replies: Replies,
    /// Transports of MCP that the agent does not accept.
    refused: RefusedServers,
    /// Fingerprint of the tools when a session was opened last; `None` without tools.
    #[serde(default)]
    provided: Option<Print>,
}

/// Outcomes of calls that were not polled yet.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Replies {
    /// Texts for the beginning of the next prompt.
    late: Vec<String>,
    /// Calls by the extension method, which were acknowledged on arrival.
    acknowledged: BTreeSet<ToolCallId>,
    notices: VecDeque<Notice>,
}

impl Binding for Replies {
    fn answer(&mut self, call_id: &ToolCallId, outcome: Outcome) {
        if !self.acknowledged.remove(call_id) {
            self.notices.push_back(Notice::ToolAnswered(call_id.clone(), outcome));
        }
    }

    fn keep_alive(&mut self, call_id: &ToolCallId) {
        if !self.acknowledged.contains(call_id) {
            self.notices.push_back(Notice::ToolAlive(call_id.clone()));
        }
    }

    fn prefix_prompt(&mut self, _: &ToolCallId, text: &str) {
        self.late.push(text.to_owned());
        let surplus = self.late.len().saturating_sub(MAX_QUEUED);
        if surplus > 0 {
            self.late.drain(..surplus);
            let dropped = ConversationDiagnostic::LateResultsDropped(surplus);
            self.notices.push_back(Notice::Diagnostic(dropped));
        }
    }
}

/// Additions to a session that make the page's tools available to its agent.
#[derive(Debug, Default)]
pub(super) struct Provision {
    pub(super) servers: Vec<McpServer>,
    pub(super) meta: Option<Meta>,
}

impl PageToolsPart {
    pub(super) fn new(access: conversation::PageTools, mut options: FrontendToolOptions) -> Self {
        if matches!(access, conversation::PageTools::Contextual) {
            // Calls are acknowledged before they reach the page.
            options.modes = vec![("*".to_owned(), ToolMode::Ack)];
        }
        Self {
            machine: FrontendTools::new(options),
            access,
            tools: Vec::new(),
            contextual: ContextualToolsStore::new(),
            replies: Replies::default(),
            refused: RefusedServers::default(),
            provided: None,
        }
    }

    /// Returns whether the session that was opened last gives its agent access to the tools as they
    /// are now.
    pub(super) fn is_provided(&self) -> bool {
        match &self.access {
            conversation::PageTools::Contextual => self.provided == self.fingerprint(),
            conversation::PageTools::Mcp { always, .. } => {
                *always || self.provided.is_some() || self.tools.is_empty()
            }
            conversation::PageTools::Off => true,
        }
    }

    fn fingerprint(&self) -> Option<Print> {
        let text = serde_json::to_string(&self.tools).unwrap_or_default();
        (!self.tools.is_empty()).then(|| Print::default().and(&text))
    }

    /// Returns the additions to a session of this agent.
    pub(super) fn provide(
        &mut self,
        features: &conversation::AgentFeatures,
        refused: RefusedServers,
    ) -> Provision {
        self.provided = self.fingerprint();
        let mut features = features.clone();
        features.remove_transports(self.refused.and(features.refused).and(refused));
        match &self.access {
            conversation::PageTools::Contextual => {
                Provision { servers: Vec::new(), meta: Wire::default().announce(None, &self.tools) }
            }
            conversation::PageTools::Mcp { servers, always }
                if *always || !self.tools.is_empty() =>
            {
                let server = servers.iter().find(|server| features.reaches(server)).cloned();
                if server.is_none() {
                    self.diagnose(ConversationDiagnostic::ToolsUnreachable);
                }
                Provision { servers: server.into_iter().collect(), meta: None }
            }
            _ => Provision::default(),
        }
    }

    /// Handles that the agent accepts a session only without these servers.
    pub(super) fn handle_servers_refused(&mut self, refused: RefusedServers) {
        self.refused = self.refused.and(refused);
        self.replies.notices.push_back(Notice::ServersRefused(refused));
    }

    /// Returns the servers that the agent has refused.
    pub(super) fn refused(&self) -> RefusedServers {
        self.refused
    }

    /// Sets the tools of an input, for sessions opened from now on. An agent may list them before a
    /// run begins.
    pub(super) fn set_tools(&mut self, tools: &[Tool]) {
        if tools != self.tools {
            self.tools = tools.to_vec();
            self.machine.set_tools(tools);
            self.replies.notices.push_back(Notice::ToolsChanged);
        }
    }

    /// Begins a turn with the current tools.
    pub(super) fn begin_turn(&mut self, now: Duration) {
        self.machine.begin_turn(&self.tools, now);
    }

    /// Continues the previous turn with the current tools.
    pub(super) fn resume_turn(&mut self, now: Duration) {
        self.machine.resume_turn(&self.tools, now);
    }

    /// Replaces the tools that the extension method may call in a session.
    pub(super) fn offer_contextual(&mut self, session: &SessionId) {
        let tools: Vec<Raw> =
            self.tools.iter().filter_map(|tool| Raw::from_value(tool).ok()).collect();
        for skipped in self.contextual.set(session.as_str(), tools) {
            self.diagnose(ConversationDiagnostic::ToolSkipped(skipped.to_string()));
        }
    }

    /// Forgets the tools of a released session.
    pub(super) fn forget_session(&mut self, session: &SessionId) {
        self.contextual.delete(session.as_str());
    }

    /// Handles a call by the extension method, and returns the response.
    pub(super) fn handle_contextual(
        &mut self,
        params: Option<&RawValue>,
        now: Duration,
    ) -> Result<Raw, ErrorObject> {
        let call = Wire::default().dispatch(&self.contextual, params)?;
        if !call.has_prefix {
            self.diagnose(ConversationDiagnostic::MissingPrefix(call.requested_name));
        }
        let name = call.name.clone();
        let new = NewCall::new(call.name, call.arguments);
        match self.machine.handle_call(new, now) {
            Ok(call_id) => {
                self.replies.acknowledged.insert(call_id);
            }
            Err(error) => {
                self.diagnose(ConversationDiagnostic::CallNotShown(name, error.to_string()));
            }
        }
        Ok(crate::json::raw(&call.response))
    }

    /// Performs the machine's actions.
    pub(super) fn drive(&mut self, translator: &mut Translator) {
        self.machine.drive(&mut self.replies, translator);
    }

    /// Takes the texts for the beginning of a prompt.
    pub(super) fn take_late(&mut self) -> Vec<String> {
        core::mem::take(&mut self.replies.late)
    }

    pub(super) fn poll_notice(&mut self) -> Option<Notice> {
        self.replies.notices.pop_front()
    }

    pub(super) fn diagnose(&mut self, diagnostic: ConversationDiagnostic) {
        self.replies.notices.push_back(Notice::Diagnostic(diagnostic));
    }
}
