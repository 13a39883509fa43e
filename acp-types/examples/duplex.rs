//! An agent and a client in one process, on an in-memory connection. The agent asks for permission
//! before it answers.
//!
//! `cargo run -p acp-types --example duplex --features async`
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use acp_types::client::{Prompt, TurnEnd};
use acp_types::connection::{ConnectionOptions, Context, Peer, Result, async_trait, v1};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::initialization::{InitializeRequest, InitializeResponse, ProtocolVersion};
use acp_types::v1::prompt_turn::{
    ContentChunk, PromptRequest, PromptResponse, SessionNotification, SessionUpdate, StopReason,
};
use acp_types::v1::session_setup::{NewSessionRequest, NewSessionResponse};
use acp_types::v1::tool_calls::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome, ToolCallUpdate,
};
use jsonrpc_core::memory;
use jsonrpc_core::wire::Extra;

/// Asks for permission, then answers.
struct MyAgent;

#[async_trait]
impl v1::Agent for MyAgent {
    async fn initialize(&self, _: InitializeRequest, _: Context) -> Result<InitializeResponse> {
        Ok(InitializeResponse::new(ProtocolVersion::V1))
    }

    async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse> {
        Ok(NewSessionResponse::new("session-1"))
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse> {
        let session = request.session_id;
        let option = PermissionOption::new("once", "Allow once", PermissionOptionKind::AllowOnce);
        let call = ToolCallUpdate::new("call-1");
        let permission = RequestPermissionRequest::new(session.clone(), call, [option]);
        let response = context.peer().request(&permission).await?;
        let text = match response.outcome.option_id() {
            Some(option) => format!("The user selected `{}`.", option.as_str()),
            None => "The user refused.".to_owned(),
        };
        let update = SessionUpdate::AgentMessageChunk(ContentChunk::new(text));
        context.peer().notify(&SessionNotification::new(session, update)).await?;
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

/// Selects the first option of each permission request, and prints the agent's text.
struct MyClient;

#[async_trait]
impl v1::Client for MyClient {
    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse> {
        let outcome = match request.options.into_iter().next() {
            Some(option) => {
                println!("permission: {}", option.name);
                let selected = SelectedPermissionOutcome::new(option.option_id);
                RequestPermissionOutcome::Selected(selected)
            }
            None => RequestPermissionOutcome::Cancelled(Extra::default()),
        };
        Ok(RequestPermissionResponse::new(outcome))
    }

    async fn session_update(&self, notification: SessionNotification, _: Peer) {
        if let SessionUpdate::AgentMessageChunk(chunk) = notification.update
            && let ContentBlock::Text(text) = chunk.content
        {
            println!("agent: {}", text.text);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ((agent_reader, agent_writer), (client_reader, client_writer)) = memory::duplex(8);
    let (agent, _) =
        v1::connect_agent(MyAgent, agent_reader, agent_writer, ConnectionOptions::default());
    let initialize = InitializeRequest::new(ProtocolVersion::V1);
    let (client, sessions) = v1::connect_client(
        MyClient,
        client_reader,
        client_writer,
        initialize,
        ConnectionOptions::default(),
    );
    // Its end drops `sessions`, which shuts the connection down.
    let turn = async move {
        let session = sessions.open(NewSessionRequest::new("/project", [])).await?;
        let end = session.prompt(Prompt::v1(["Hello".into()])).await?;
        if let TurnEnd::V1(response) = end.value {
            println!("stop reason: {}", response.stop_reason.as_str());
        }
        Ok::<_, Box<dyn std::error::Error>>(())
    };
    // Both sides run while their futures are polled.
    let (agent, client, turn) =
        futures::executor::block_on(async { futures::join!(agent, client, turn) });
    agent?;
    client?;
    turn
}
