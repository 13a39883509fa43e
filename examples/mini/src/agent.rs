//! An ACP agent on standard input and output, which keeps notes with the user's permission.
//!
//! ```console
//! $ cargo run -p mini --bin mini-client -- remember the milk -- target/debug/mini-agent
//! ```
//!
//! Replace [`NoteAgent::answer`] with the calls of a model. It shows what each agent needs:
//! streamed text, a tool call with the user's permission, and cancellation, which drops whatever
//! the turn waits for.
use acp_types::connection::{ConnectionOptions, Context, Result, async_trait, stdio, v1};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::error::RESOURCE_NOT_FOUND;
use acp_types::v1::initialization::{
    AgentCapabilities, Implementation, InitializeRequest, InitializeResponse, ProtocolVersion,
    SessionCapabilities, SessionCloseCapabilities,
};
use acp_types::v1::prompt_turn::{
    ContentChunk, PromptRequest, PromptResponse, SessionNotification, SessionUpdate, StopReason,
};
use acp_types::v1::session_setup::{
    CloseSessionRequest, CloseSessionResponse, NewSessionRequest, NewSessionResponse, SessionId,
};
use acp_types::v1::tool_calls::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    ToolCall, ToolCallStatus, ToolCallUpdate, ToolKind,
};
use clap::Parser;
use jsonrpc_core::ErrorObject;
use serde_json::json;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time between two words.
const PAUSE: Duration = Duration::from_millis(20);
/// Largest number of sessions. A further one replaces the oldest.
const MAX_SESSIONS: usize = 256;
/// Largest number of notes in a session.
const MAX_NOTES: usize = 256;

/// An ACP agent on standard input and output, without a model
///
/// It repeats prompts word by word. A prompt that begins with "remember" calls a tool, which asks
/// for permission.
#[derive(Debug, Parser)]
#[command(name = "mini-agent", version)]
struct Args {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let Args {} = Args::parse();
    let (reader, writer) = stdio();
    let options = ConnectionOptions::default();
    let (connection, _client) = v1::connect_agent(NoteAgent::default(), reader, writer, options);
    // It ends when the client closes the input.
    connection.await
}

#[derive(Default)]
struct NoteAgent {
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    /// Number of sessions so far.
    begun: u64,
    /// The notes of each session. The ids are in the order of the sessions.
    notes: BTreeMap<SessionId, Vec<String>>,
}

#[async_trait]
impl v1::Agent for NoteAgent {
    async fn initialize(&self, _: InitializeRequest, _: Context) -> Result<InitializeResponse> {
        let mut response = InitializeResponse::new(ProtocolVersion::V1);
        response.agent_info = Some(Implementation::new("mini-agent", env!("CARGO_PKG_VERSION")));
        let mut sessions = SessionCapabilities::new();
        sessions.close = Some(SessionCloseCapabilities::new());
        let mut capabilities = AgentCapabilities::new();
        capabilities.session_capabilities = Some(sessions);
        response.agent_capabilities = Some(capabilities);
        Ok(response)
    }

    async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse> {
        let mut sessions = self.sessions();
        if sessions.notes.len() >= MAX_SESSIONS {
            sessions.notes.pop_first();
        }
        sessions.begun += 1;
        let id = SessionId::from(format!("session-{:08}", sessions.begun));
        sessions.notes.insert(id.clone(), Vec::new());
        Ok(NewSessionResponse::new(id))
    }

    async fn close_session(
        &self,
        request: CloseSessionRequest,
        _: Context,
    ) -> Result<CloseSessionResponse> {
        self.sessions().notes.remove(&request.session_id);
        Ok(CloseSessionResponse::new())
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse> {
        let session = &request.session_id;
        if !self.sessions().notes.contains_key(session) {
            // With this error the client opens another session.
            let mut error = ErrorObject::new(RESOURCE_NOT_FOUND, "unknown session");
            error.data = Some(json!({ "sessionId": session.as_str() }).into());
            return Err(error);
        }
        let stop_reason = tokio::select! {
            answer = self.answer(&request, &context) => answer?,
            () = context.cancelled() => StopReason::Cancelled,
        };
        Ok(PromptResponse::new(stop_reason))
    }
}

impl NoteAgent {
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a turn, and returns the reason for its end.
    async fn answer(&self, request: &PromptRequest, context: &Context) -> Result<StopReason> {
        let session = &request.session_id;
        let texts = request.prompt.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        let prompt = texts.collect::<Vec<_>>().join(" ");
        match prompt.strip_prefix("remember ") {
            Some(note) => self.remember(session, note, context).await,
            None => {
                say(session, &format!("You wrote: {prompt}"), context).await?;
                Ok(StopReason::EndTurn)
            }
        }
    }

    /// Calls the tool that keeps a note, if the user permits the call.
    async fn remember(
        &self,
        session: &SessionId,
        note: &str,
        context: &Context,
    ) -> Result<StopReason> {
        let number = self.sessions().notes.get(session).map_or(1, |notes| notes.len() + 1);
        let call_id = format!("note-{number}");
        let mut call = ToolCall::new(call_id.clone(), format!("Remember: {note}"));
        call.kind = Some(ToolKind::Other);
        call.status = Some(ToolCallStatus::Pending);
        update(session, SessionUpdate::ToolCall(Box::new(call)), context).await?;

        let options = [
            PermissionOption::new("allow", "Allow", PermissionOptionKind::AllowOnce),
            PermissionOption::new("reject", "Reject", PermissionOptionKind::RejectOnce),
        ];
        let call = ToolCallUpdate::new(call_id.clone());
        let question = RequestPermissionRequest::new(session.clone(), call, options);
        let outcome = context.peer().request(&question).await?.outcome;
        if let RequestPermissionOutcome::Cancelled(_) = outcome {
            return Ok(StopReason::Cancelled);
        }
        let is_kept = question.is_granted_by(&outcome) && self.keep(session, note);

        let mut change = ToolCallUpdate::new(call_id);
        let status = if is_kept { ToolCallStatus::Completed } else { ToolCallStatus::Failed };
        change.status = status.into();
        update(session, SessionUpdate::ToolCallUpdate(Box::new(change)), context).await?;
        let answer = if is_kept {
            format!("I keep {number} of your notes.")
        } else {
            "I have not kept the note.".to_owned()
        };
        say(session, &answer, context).await?;
        Ok(StopReason::EndTurn)
    }

    /// Stores a note, and returns whether there was room for it.
    fn keep(&self, session: &SessionId, note: &str) -> bool {
        let mut sessions = self.sessions();
        let Some(notes) = sessions.notes.get_mut(session) else { return false };
        let has_room = notes.len() < MAX_NOTES;
        if has_room {
            notes.push(note.to_owned());
        }
        has_room
    }
}

/// Streams a text, word by word.
async fn say(session: &SessionId, text: &str, context: &Context) -> Result<()> {
    for word in text.split_inclusive(' ') {
        let chunk = ContentChunk::new(word);
        update(session, SessionUpdate::AgentMessageChunk(chunk), context).await?;
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

async fn update(session: &SessionId, update: SessionUpdate, context: &Context) -> Result<()> {
    let notification = SessionNotification::new(session.clone(), update);
    context.peer().notify(&notification).await?;
    Ok(())
}
