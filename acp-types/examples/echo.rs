//! An agent on standard input and output that repeats each prompt.
use acp_types::connection::{ConnectionOptions, Context, Result, async_trait, stdio, v1};
use acp_types::v1::initialization::*;
use acp_types::v1::prompt_turn::*;
use acp_types::v1::session_setup::*;

struct Echo;

#[async_trait]
impl v1::Agent for Echo {
    async fn initialize(&self, _: InitializeRequest, _: Context) -> Result<InitializeResponse> {
        Ok(InitializeResponse::new(ProtocolVersion::V1))
    }

    async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse> {
        Ok(NewSessionResponse::new("session-1"))
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse> {
        for block in request.prompt {
            let update = SessionUpdate::AgentMessageChunk(ContentChunk::new(block));
            let update = SessionNotification::new(request.session_id.clone(), update);
            context.peer().notify(&update).await?;
        }
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let (reader, writer) = stdio();
    v1::connect_agent(Echo, reader, writer, ConnectionOptions::default()).0.await
}
