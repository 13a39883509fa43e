//! Connections that the program leaves, and handlers that panic.
use super::*;
use acp_types::v1::session_setup::LoadSessionRequest;
use std::sync::MutexGuard;

/// An agent with one session. It panics at some prompts, and records problems.
#[derive(Clone, Default)]
struct Fragile {
    problems: Arc<Mutex<Vec<Diagnostic>>>,
}

impl Fragile {
    fn problems(&self) -> MutexGuard<'_, Vec<Diagnostic>> {
        self.problems.lock().unwrap()
    }
}

#[async_trait::async_trait]
impl v1::Agent for Fragile {
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
        Ok(NewSessionResponse::new("s"))
    }

    async fn prompt(
        &self,
        request: PromptRequest,
        context: Context,
    ) -> Result<PromptResponse, ErrorObject> {
        let block = request.prompt[0].clone();
        let update = SessionUpdate::AgentMessageChunk(ContentChunk::new(block));
        let update = SessionNotification::new(request.session_id.clone(), update);
        context.peer().notify(&update).await?;
        let text = serde_json::to_string(&request.prompt).unwrap();
        assert!(!text.contains("static"), "a static text");
        assert!(!text.contains("made"), "made of {}", request.session_id);
        if text.contains("other") {
            std::panic::panic_any(7);
        }
        Ok(PromptResponse::new(StopReason::EndTurn))
    }

    fn problem(&self, problem: &Diagnostic) {
        self.problems().push(problem.clone());
    }
}

/// A client with a handler of updates that panics once.
#[derive(Clone, Default)]
struct FragileClient {
    updates: Arc<Mutex<usize>>,
    problems: Arc<Mutex<Vec<Diagnostic>>>,
}

#[async_trait::async_trait]
impl v1::Client for FragileClient {
    async fn request_permission(
        &self,
        _: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, ErrorObject> {
        refused()
    }

    async fn session_update(&self, _: SessionNotification, _: Peer) {
        let updates = {
            let mut updates = self.updates.lock().unwrap();
            *updates += 1;
            *updates
        };
        assert!(updates != 1, "the first update");
    }

    fn problem(&self, problem: &Diagnostic) {
        self.problems.lock().unwrap().push(problem.clone());
    }
}

/// Runs an agent and a client until both have ended.
fn run<F: Future>(
    agent: Fragile,
    client: impl v1::Client,
    program: impl FnOnce(Sessions) -> F,
) -> F::Output {
    let ((reads, writes), (client_reads, client_writes)) = memory::duplex(4);
    let options = ConnectionOptions::default();
    let (agent, _) = v1::connect_agent(agent, reads, writes, options);
    let (client, sessions) =
        v1::connect_client(client, client_reads, client_writes, initialize(), options);
    let (ends, output) = block_on(join(join(agent, client), program(sessions)));
    assert!(matches!(ends, (Ok(()), Ok(()))), "{ends:?}");
    output
}

fn prompt(text: &str) -> Prompt {
    Prompt::v1([text.into()])
}

#[test]
fn connection_ends_when_the_program_leaves_with_an_error() {
    let left = run(Fragile::default(), Minimal, async |sessions| {
        let session = sessions.open(LoadSessionRequest::new("none", "/", [])).await?;
        session.prompt(prompt("Hi")).await?;
        Ok::<_, RequestError>(())
    });
    assert!(matches!(left, Err(RequestError::Call(CallError::Answered(_)))), "{left:?}");
}

#[test]
fn each_handle_of_the_program_keeps_the_connection() {
    run(Fragile::default(), Minimal, async |sessions| {
        let session = sessions.open(NewSessionRequest::new("/", [])).await.unwrap();
        let peer = sessions.clone().peer();
        drop(sessions);
        session.prompt(prompt("Hi")).await.unwrap();
        drop(session);
        let unknown = peer.request(&acp_types::v1::session_list::ListSessionsRequest::new()).await;
        assert!(matches!(unknown, Err(RequestError::Call(CallError::Answered(_)))), "{unknown:?}");
    });
}

#[test]
fn panic_of_a_handler_is_the_error_of_its_request() {
    let agent = Fragile::default();
    run(agent.clone(), Minimal, async |sessions| {
        let session = sessions.open(NewSessionRequest::new("/", [])).await.unwrap();
        for text in ["static", "made", "other"] {
            let error = session.prompt(prompt(text)).await.unwrap_err();
            let RequestError::Call(CallError::Answered(error)) = error else { panic!("{error}") };
            assert_eq!(error.code, ErrorCode::INTERNAL_ERROR);
            assert!(!error.message.contains(text), "the peer is not told: {}", error.message);
        }
        session.prompt(prompt("Hi")).await.unwrap();
    });
    let problems = agent.problems();
    let texts = problems.iter().map(|problem| match problem {
        Diagnostic::HandlerPanicked { request: Some(_), message } => message.clone(),
        other => panic!("{other:?}"),
    });
    assert_eq!(texts.collect::<Vec<_>>(), ["a static text", "made of s", ""]);
}

#[test]
fn panic_of_the_handler_of_a_notification_is_reported() {
    let client = FragileClient::default();
    run(Fragile::default(), client.clone(), async |sessions| {
        let session = sessions.open(NewSessionRequest::new("/", [])).await.unwrap();
        for _ in 0..2 {
            session.prompt(prompt("Hi")).await.unwrap();
            sessions.peer().caught_up().await;
        }
    });
    assert_eq!(*client.updates.lock().unwrap(), 2);
    let problems = client.problems.lock().unwrap();
    let message = "the first update".to_owned();
    assert_eq!(*problems, [Diagnostic::HandlerPanicked { request: None, message }]);
}
