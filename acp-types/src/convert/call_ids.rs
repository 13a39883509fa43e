//! Ids of tool calls for the editor.
//!
//! Some agents use the id of a tool call again after the end of that call, for another one. Editors
//! would take it for a change of the first: they would ask for a permission with the title or the
//! content of a call that has ended. The editor therefore receives the id with a number, `~2` for
//! the second call.
use super::MAX_TOOL_CALLS;
use super::recent::Recent;
use crate::v1::elicitation::{
    CreateElicitationRequest, ElicitationMode, ElicitationScope, ElicitationSessionScope,
};
use crate::v1::tool_calls::ToolCallId;
use alloc::format;

/// The ids of a session.
#[derive(Debug)]
pub(super) struct CallIds {
    /// The last call by the id of the agent.
    last: Recent<Call>,
}

#[derive(Clone, Debug)]
struct Call {
    id: ToolCallId,
    /// Whether a `tool_call` of version 1 has announced it.
    is_announced: bool,
    /// Whether the agent has reported its end.
    is_over: bool,
    /// Whether its turn has ended it without a report.
    is_ended: bool,
}

/// The members of a message about a call that decide whether the call is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mention {
    pub(super) kind: MentionKind,
    /// Whether the message has a status, and whether that is the end of the call.
    pub(super) ends: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MentionKind {
    /// A `tool_call` of version 1.
    Announcement,
    /// A request for permission.
    Question,
    /// Another message, with or without a title, a name, a kind or an input.
    Update { describes: bool },
}

impl Default for CallIds {
    fn default() -> Self {
        Self { last: Recent::new(MAX_TOOL_CALLS) }
    }
}

impl CallIds {
    /// Returns the id for the editor of the call that a message is about.
    pub(super) fn mention(&mut self, id: &ToolCallId, it: Mention) -> ToolCallId {
        let new = |id| Call { id, is_announced: false, is_over: false, is_ended: false };
        if self.last.get(id.as_str()).is_some_and(|call| call.precedes(it)) {
            let next = self.next(id);
            self.last.entry(id.as_str(), |_| true, || new(next.clone())).clone_from(&new(next));
        }
        let first = match self.last.get(id.as_str()) {
            None if self.is_taken(id.as_str()) => self.next(id),
            _ => id.clone(),
        };
        let call = self.last.entry(id.as_str(), |_| true, || new(first));
        if it.kind == MentionKind::Announcement {
            call.is_announced = true;
            call.is_ended = false;
        }
        call.is_over |= it.ends == Some(true);
        call.id.clone()
    }

    /// Returns the id for the editor of the last call with an id of the agent.
    pub(super) fn last(&self, id: &ToolCallId) -> ToolCallId {
        self.last.get(id.as_str()).map_or_else(|| id.clone(), |call| call.id.clone())
    }

    /// Returns whether the agent has reported the end of the last call with an id.
    pub(super) fn is_over(&self, id: &ToolCallId) -> bool {
        self.last.get(id.as_str()).is_some_and(|call| call.is_over)
    }

    /// Handles the end of a call of this id for the editor with its turn. The agent may still
    /// report about it.
    pub(super) fn end(&mut self, id: &ToolCallId) {
        if let Some((_, call)) = self.last.iter_mut().find(|(_, call)| call.id == *id) {
            call.is_ended = true;
        }
    }

    /// Returns an id that no call has.
    fn next(&self, id: &ToolCallId) -> ToolCallId {
        let used = self.last(id);
        let number = used.as_str().strip_prefix(id.as_str()).and_then(|it| it.strip_prefix('~'));
        let mut number = number.and_then(|it| it.parse::<u64>().ok()).unwrap_or(1);
        loop {
            number = number.saturating_add(1);
            let next = format!("{id}~{number}");
            if !self.is_taken(&next) {
                return next.into();
            }
        }
    }

    /// Returns whether the agent uses an id, or the editor has it for another call.
    fn is_taken(&self, id: &str) -> bool {
        self.last.iter().any(|(of_agent, call)| of_agent == id || call.id.as_str() == id)
    }
}

impl Call {
    /// Returns whether a message with the id of this call is about another one.
    fn precedes(&self, it: Mention) -> bool {
        match it.kind {
            // Some agents announce a call after its end.
            MentionKind::Announcement => self.is_over && self.is_announced,
            MentionKind::Question => self.is_over || self.is_ended,
            MentionKind::Update { describes } => {
                (self.is_over || self.is_ended) && describes && it.ends == Some(false)
            }
        }
    }
}

/// Returns the session of an elicitation, with its tool call.
pub(super) fn session_scope(
    it: &mut CreateElicitationRequest,
) -> Option<&mut ElicitationSessionScope> {
    let scope = match &mut it.mode {
        ElicitationMode::Form(form) => &mut form.scope,
        ElicitationMode::Url(url) => &mut url.scope,
        ElicitationMode::Unknown(_) => return None,
    };
    match scope {
        ElicitationScope::Session(scope) => Some(scope),
        _ => None,
    }
}
