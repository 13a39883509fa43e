//! An ACP agent that edits a file, with permission.
use acp_types::connection::{Context, v1};
use acp_types::v1::initialization::{InitializeRequest, InitializeResponse, ProtocolVersion};
use acp_types::v1::prompt_turn::{
    PromptRequest, PromptResponse, SessionNotification, SessionUpdate, StopReason,
};
use acp_types::v1::session_setup::{NewSessionRequest, NewSessionResponse};
use acp_types::v1::tool_calls::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    ToolCall, ToolCallStatus, ToolCallUpdate,
};
use jsonrpc_core::ErrorObject;

/// An agent with one tool.
#[derive(Debug)]
pub struct Editor;

#[async_trait::async_trait]
impl v1::Agent for Editor {
    async fn initialize(
        &self,
        _: InitializeRequest,
        _: Context,
    ) -> Result<InitializeResponse, ErrorObject> {
        Ok(InitializeResponse::new(ProtocolVersion::V1))
    }

    async fn new_session(
        &self,
        _: NewSessionRequest,
        _: Context,
    ) -> Result<NewSessionResponse, ErrorObject> {
        Ok(NewSessionResponse::new("session-1"))
    }

    async fn prompt(
        &self,
        request: PromptRequest,
        context: Context,
    ) -> Result<PromptResponse, ErrorObject> {
        let (peer, session) = (context.peer(), request.session_id);
        let call = SessionUpdate::ToolCall(Box::new(ToolCall::new("call-1", "Edit a file")));
        peer.notify(&SessionNotification::new(session.clone(), call)).await?;

        let options = [PermissionOption::new("yes", "Allow", PermissionOptionKind::AllowOnce)];
        let ask =
            RequestPermissionRequest::new(session.clone(), ToolCallUpdate::new("call-1"), options);
        let answer = peer.request(&ask).await?;

        let mut update = ToolCallUpdate::new("call-1");
        let allowed = matches!(answer.outcome, RequestPermissionOutcome::Selected(_));
        update.status =
            if allowed { ToolCallStatus::Completed } else { ToolCallStatus::Failed }.into();
        let update = SessionUpdate::ToolCallUpdate(Box::new(update));
        peer.notify(&SessionNotification::new(session, update)).await?;
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}
