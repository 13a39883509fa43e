//! An AG-UI agent in an editor: an ACP agent on stdio that posts to an AG-UI agent.
//!
//! ```console
//! $ cargo run -p mini --bin mini-client -- \
//!     paint the door -- target/debug/mini-editor-agent http://127.0.0.1:4002/
//! ```
//!
//! [`AcpAgent`] is one session: prompts of the editor become inputs of runs, events become updates,
//! and an interrupt becomes a request for permission. [`EditorAgent::turn`] executes its
//! outputs: it posts, notifies, asks and responds.
use acp_types::connection::{ConnectionOptions, Context, Result, async_trait, stdio, v1};
use acp_types::v1::initialization::{
    AgentCapabilities, Implementation, InitializeRequest, InitializeResponse, ProtocolVersion,
};
use acp_types::v1::prompt_turn::{PromptRequest, PromptResponse};
use acp_types::v1::session_setup::{NewSessionRequest, NewSessionResponse, SessionId};
use agui_bridge::acp_agent::{AcpAgent, AcpAgentOptions, Output, Question, QuestionAnswer};
use agui_types::input::RunAgentInput;
use agui_types::sse::{CONTENT_TYPE, Decoder};
use clap::Parser;
use jsonrpc_core::{ErrorCode, ErrorObject};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Largest number of sessions.
const MAX_SESSIONS: usize = 256;

/// Runs an AG-UI agent as an ACP agent on standard input and output, for editors
#[derive(Debug, Parser)]
#[command(name = "mini-editor-agent", version)]
struct Args {
    /// Address of the AG-UI agent
    url: reqwest::Url,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let args = Args::parse();
    // The HTTP client needs a provider of cryptography for `https` URLs.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::new();
    let agent = EditorAgent { http, url: args.url, sessions: Mutex::default() };
    let (reader, writer) = stdio();
    let (connection, _editor) =
        v1::connect_agent(agent, reader, writer, ConnectionOptions::default());
    // It ends when the editor closes the input.
    connection.await
}

struct EditorAgent {
    http: reqwest::Client,
    url: reqwest::Url,
    /// `None` while a turn has the session.
    sessions: Mutex<BTreeMap<SessionId, Option<AcpAgent>>>,
}

#[async_trait]
impl v1::Agent for EditorAgent {
    async fn initialize(&self, _: InitializeRequest, _: Context) -> Result<InitializeResponse> {
        let mut capabilities = AgentCapabilities::new();
        capabilities.prompt_capabilities = Some(AcpAgent::prompt_capabilities());
        let mut response = InitializeResponse::new(ProtocolVersion::V1);
        response.agent_capabilities = Some(capabilities);
        let info = Implementation::new("mini-editor-agent", env!("CARGO_PKG_VERSION"));
        response.agent_info = Some(info);
        Ok(response)
    }

    async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse> {
        let mut sessions = self.sessions();
        if sessions.len() >= MAX_SESSIONS {
            return Err(failure("too many sessions"));
        }
        // The id is also that of the AG-UI thread, which has to be unique.
        let random = getrandom::u64().map_err(failure)?;
        let id = SessionId::from(format!("session-{random:016x}"));
        let session = AcpAgent::new(id.clone(), AcpAgentOptions::new());
        sessions.insert(id.clone(), Some(session));
        Ok(NewSessionResponse::new(id))
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse> {
        let taken = self.sessions().get_mut(&request.session_id).and_then(Option::take);
        let mut session = taken.ok_or_else(|| failure("no such session, or it is in a turn"))?;
        let run_id = format!("run-{}", session.conversation().messages().len());
        let response = match session.handle_prompt(&request, run_id) {
            Ok(()) => self.turn(&mut session, &context).await,
            Err(error) => Err(error.to_error()),
        };
        self.sessions().insert(request.session_id, Some(session));
        response
    }
}

impl EditorAgent {
    fn sessions(&self) -> MutexGuard<'_, BTreeMap<SessionId, Option<AcpAgent>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles the outputs of a session, and the events of its runs, until it responds to the
    /// prompt.
    async fn turn(&self, session: &mut AcpAgent, context: &Context) -> Result<PromptResponse> {
        let mut events = None;
        let mut post_error = None;
        loop {
            while let Some(output) = session.poll_output() {
                match output {
                    Output::Run(input) => match self.post(&input).await {
                        Ok(response) => events = Some((response, Decoder::default())),
                        Err(error) => {
                            post_error = Some(failure(error));
                            session.handle_stream_end();
                        }
                    },
                    Output::Update(update) => context.peer().notify(&*update).await?,
                    Output::Ask(id, question) => {
                        let answer = ask(question, context).await;
                        session.handle_answer(&id, &answer);
                    }
                    // Dropping the response ends the run of the AG-UI agent.
                    Output::CancelRun(_) => {
                        events = None;
                        session.handle_stream_end();
                    }
                    Output::Lost(lost) => eprintln!("the editor does not receive {lost}"),
                    Output::Respond(response) => return post_error.map_or(response, Err),
                    _ => {}
                }
            }
            let Some((response, decoder)) = &mut events else {
                return Err(failure("the turn has no end"));
            };
            tokio::select! {
                bytes = response.chunk() => match bytes {
                    Ok(Some(bytes)) => {
                        decoder.push(&bytes);
                        while let Some(frame) = decoder.next_frame() {
                            // An event that cannot be read is left out.
                            if let Some(event) = frame.ok().and_then(|frame| frame.decode().ok()) {
                                session.handle_event(event);
                            }
                        }
                    }
                    _ => {
                        events = None;
                        session.handle_stream_end();
                    }
                },
                () = context.cancelled() => session.handle_cancel(),
            }
        }
    }

    /// Posts an input. The response has the events of the run.
    async fn post(&self, input: &RunAgentInput) -> reqwest::Result<reqwest::Response> {
        let request = self.http.post(self.url.clone()).header("accept", CONTENT_TYPE).json(input);
        request.send().await?.error_for_status()
    }
}

/// Asks the user of the editor.
async fn ask(question: Question, context: &Context) -> QuestionAnswer {
    // Forms are for editors that support them, which the options of the session would declare.
    let Question::Permission(question) = question else { return QuestionAnswer::Failed };
    match context.peer().request(&*question).await {
        Ok(answer) => QuestionAnswer::Permission(answer.outcome),
        Err(_) => QuestionAnswer::Failed,
    }
}

fn failure(reason: impl Display) -> ErrorObject {
    ErrorObject::new(ErrorCode::INTERNAL_ERROR, reason.to_string())
}
