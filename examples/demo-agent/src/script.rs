//! The steps of a turn.

use crate::page_tools::PageTools;
use acp_types::methods::RequestParams;
use acp_types::v1::prompt_turn::{SessionUpdate, StopReason, Usage};
use acp_types::v1::session_setup::{McpServerStdio, SessionId};
use acp_types::v1::terminals::TerminalId;
use acp_types::v1::tool_calls::ToolCallId;
use acp_types::v2::prompt_lifecycle::SessionUpdate as UpdateV2;
use core::fmt;
use core::time::Duration;
use jsonrpc_core::wire::{DecodeError, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One step of a turn. After its last step a turn ends with `end_turn`.
#[derive(Debug)]
pub(crate) enum Step {
    /// Send an update.
    Update(SessionUpdate),
    /// Send an update that only version 2 has.
    UpdateV2(Box<UpdateV2>),
    /// Send an update of a session that this one owns.
    UpdateOwned(SessionId, SessionUpdate),
    /// Wait.
    Wait(Duration),
    /// Send a request, and continue with the steps that follow from its response.
    Ask(Question),
    /// Call a tool of the client's page, and continue with the steps that follow from its result.
    CallPage(PageCall),
    /// From now on edits need no permission in this session.
    AllowEdits,
    /// Mark a terminal as used; it is released if the turn is cancelled.
    UseTerminal(TerminalId),
    /// Mark the terminal as released.
    ForgetTerminal,
    /// Count tokens, for the response to the prompt.
    Spend(Usage),
    /// Work on these steps after the turn, in a turn without a prompt.
    Later(Vec<Step>),
    /// Write a line that is not a message.
    Noise(&'static str),
    /// End the turn.
    Stop(StopReason),
    /// Respond to the prompt with an error.
    Fail(ErrorObject),
    /// End the process.
    Exit(u8),
}

/// A request to the client.
pub(crate) struct Question {
    pub(crate) method: &'static str,
    pub(crate) params: Raw,
    pub(crate) then: Then,
}

/// The steps that follow from a response.
pub(crate) type Then = Box<dyn FnOnce(Result<Raw, ErrorObject>) -> Vec<Step>>;

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question").field("method", &self.method).finish_non_exhaustive()
    }
}

/// A call of a tool of the page.
pub(crate) struct PageCall {
    pub(crate) server: Box<McpServerStdio>,
    pub(crate) id: String,
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    pub(crate) then: Box<dyn FnOnce(Result<String, String>) -> Vec<Step>>,
}

impl fmt::Debug for PageCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageCall").field("tool", &self.tool).finish_non_exhaustive()
    }
}

/// Sends a request; `then` gets the typed response. A response of another type fails the turn.
pub(crate) fn ask<P>(
    params: &P,
    then: impl FnOnce(Result<P::Response, ErrorObject>) -> Vec<Step> + 'static,
) -> Step
where
    P: RequestParams<Response: DeserializeOwned> + Serialize,
{
    let then = move |answer: Result<Raw, ErrorObject>| match answer.map(|raw| raw.decode()) {
        Ok(Ok(result)) => then(Ok(result)),
        Ok(Err(error)) => vec![Step::Fail(wrong_answer(P::METHOD, &error))],
        Err(error) => then(Err(error)),
    };
    match Raw::from_value(params) {
        Ok(params) => Step::Ask(Question { method: P::METHOD, params, then: Box::new(then) }),
        Err(error) => Step::Fail(ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string())),
    }
}

pub(crate) fn wrong_answer(method: &str, error: &DecodeError) -> ErrorObject {
    let message = format!("the client's answer to {method} is wrong: {error}");
    ErrorObject::new(ErrorCode::INTERNAL_ERROR, message)
}

/// What a client shows. In version 2 each client shows all of it but suggestions and skills.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ShownUpdates {
    pub(crate) notices: bool,
    pub(crate) compactions: bool,
    pub(crate) subagents: bool,
    pub(crate) suggestions: bool,
    pub(crate) skills: bool,
    pub(crate) cursors: bool,
}

/// The context of a turn: the facts about the session that words may use.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) session_id: SessionId,
    /// The connection speaks version 2.
    pub(crate) is_v2: bool,
    /// The session's working directory. Its files are not accessed.
    pub(crate) cwd: String,
    /// The client runs commands for agents.
    pub(crate) has_terminal: bool,
    /// The updates that the client shows.
    pub(crate) shows: ShownUpdates,
    /// The client shows forms.
    pub(crate) shows_forms: bool,
    /// The way to call the page's tools.
    pub(crate) page: PageTools,
    /// Edits need permission.
    pub(crate) asks: bool,
    /// Prompts before the current one.
    pub(crate) prompts: Vec<String>,
    /// Number of created ids.
    pub(crate) ids: u64,
}

impl Scene {
    /// Creates an id for a tool call.
    pub(crate) fn tool_call_id(&mut self) -> ToolCallId {
        self.ids += 1;
        format!("call-{}", self.ids).into()
    }

    /// Creates an id for a message.
    pub(crate) fn message_id(&mut self) -> String {
        self.ids += 1;
        format!("message-{}", self.ids)
    }

    /// The path of a file in the working directory.
    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.cwd.trim_end_matches('/'))
    }
}
