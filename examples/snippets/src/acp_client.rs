//! An ACP client that sends one prompt, allows everything, and keeps the updates.
use acp_types::client::{Prompt, TurnEnd};
use acp_types::connection::{Context, Peer, RequestError, Sessions, v1};
use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate, StopReason};
use acp_types::v1::session_setup::NewSessionRequest;
use acp_types::v1::tool_calls::{
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome,
};
use jsonrpc_core::{ErrorCode, ErrorObject};
use std::sync::{Arc, Mutex, PoisonError};

/// A client that allows everything.
#[derive(Clone, Debug, Default)]
pub struct Agreeable(pub Arc<Mutex<Vec<SessionUpdate>>>);

#[async_trait::async_trait]
impl v1::Client for Agreeable {
    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, ErrorObject> {
        let nothing = || ErrorObject::new(ErrorCode::INVALID_PARAMS, "nothing to choose from");
        let option = request.options.into_iter().next().ok_or_else(nothing)?;
        let selected = SelectedPermissionOutcome::new(option.option_id);
        Ok(RequestPermissionResponse::new(RequestPermissionOutcome::Selected(selected)))
    }

    async fn session_update(&self, notification: SessionNotification, _: Peer) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(notification.update);
    }
}

/// The first message after the connection.
pub fn initialize() -> InitializeRequest {
    InitializeRequest::new(ProtocolVersion::V1)
}

/// One turn, in a session of its own.
///
/// # Errors
/// The agent refuses a request, or the connection has ended.
pub async fn turn(agent: &Sessions, prompt: &str) -> Result<StopReason, RequestError> {
    let session = agent.open(NewSessionRequest::new("/project", [])).await?;
    let end = session.prompt(Prompt::v1([prompt.into()])).await?;
    agent.peer().caught_up().await;
    agent.shut_down();
    Ok(match end.value {
        TurnEnd::V1(response) => response.stop_reason,
        // The client offers only version 1.
        _ => StopReason::from("unknown"),
    })
}
