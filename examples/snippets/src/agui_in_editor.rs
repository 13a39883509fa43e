//! The AG-UI agent of `agui_agent` in an editor, as an ACP agent.
use crate::agui_agent::answer;
use acp_types::connection::{Context, v1};
use acp_types::v1::initialization::{
    AgentCapabilities, InitializeRequest, InitializeResponse, ProtocolVersion,
};
use acp_types::v1::prompt_turn::{PromptRequest, PromptResponse};
use acp_types::v1::session_setup::{NewSessionRequest, NewSessionResponse};
use agui_bridge::acp_agent::{AcpAgent, AcpAgentOptions, Output, Question, QuestionAnswer};
use agui_types::sse::Decoder;
use jsonrpc_core::{ErrorCode, ErrorObject};
use std::sync::{Mutex, PoisonError};

/// One session. A turn takes it out, and puts it back.
#[derive(Debug, Default)]
pub struct Bridged(Mutex<Option<AcpAgent>>);

impl Bridged {
    fn put(&self, session: AcpAgent) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
    }
}

#[async_trait::async_trait]
impl v1::Agent for Bridged {
    async fn initialize(
        &self,
        _: InitializeRequest,
        _: Context,
    ) -> Result<InitializeResponse, ErrorObject> {
        let mut capabilities = AgentCapabilities::new();
        capabilities.prompt_capabilities = Some(AcpAgent::prompt_capabilities());
        let mut response = InitializeResponse::new(ProtocolVersion::V1);
        response.agent_capabilities = Some(capabilities);
        Ok(response)
    }

    async fn new_session(
        &self,
        _: NewSessionRequest,
        _: Context,
    ) -> Result<NewSessionResponse, ErrorObject> {
        self.put(AcpAgent::new("session-1", AcpAgentOptions::new()));
        Ok(NewSessionResponse::new("session-1"))
    }

    async fn prompt(
        &self,
        request: PromptRequest,
        context: Context,
    ) -> Result<PromptResponse, ErrorObject> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let busy = || ErrorObject::new(ErrorCode::INVALID_REQUEST, "no session, or one in a turn");
        let mut session = taken.ok_or_else(busy)?;
        let run = format!("run-{}", session.conversation().messages().len());
        let turn = match session.handle_prompt(&request, run) {
            Ok(()) => turn(&mut session, &context).await,
            Err(error) => Err(error.to_error()),
        };
        self.put(session);
        turn
    }
}

/// Executes the session's steps until it responds to the prompt.
async fn turn(session: &mut AcpAgent, context: &Context) -> Result<PromptResponse, ErrorObject> {
    let failed = |why: &str| ErrorObject::new(ErrorCode::INTERNAL_ERROR, why);
    while let Some(output) = session.poll_output() {
        match output {
            // A program would post the request here, and stream its response.
            Output::Run(input) => {
                let body = answer(&input).await.map_err(|error| failed(&error.to_string()))?;
                let mut decoder = Decoder::default();
                decoder.push(&body);
                decoder.finish();
                while let Some(frame) = decoder.next_frame() {
                    let frame = frame.map_err(|error| failed(&error.to_string()))?;
                    let event = frame.decode().map_err(|error| failed(&error.to_string()))?;
                    session.handle_event(event);
                }
                session.handle_stream_end();
            }
            Output::Update(update) => context.peer().notify(&*update).await?,
            Output::Ask(id, Question::Permission(question)) => {
                let answer = context.peer().request(&*question).await?;
                session.handle_answer(&id, &QuestionAnswer::Permission(answer.outcome));
            }
            Output::Respond(response) => return response,
            _ => {}
        }
    }
    Err(failed("the turn has no end"))
}
