//! Agents and clients with handlers, over an in-memory connection.
use acp_types::client::{CallError, Diagnostic, Prompt, PromptError, ReceivedValue, TurnEnd};
use acp_types::connection::{
    ConnectionOptions, Context, Extension, Peer, RequestError, Sessions, v1, v2,
};
use acp_types::methods::{self, RequestParams};
use acp_types::v1::initialization::{InitializeRequest, InitializeResponse, ProtocolVersion};
use acp_types::v1::prompt_turn::{
    ContentChunk, PromptRequest, PromptResponse, SessionNotification, SessionUpdate, StopReason,
};
use acp_types::v1::session_setup::{NewSessionRequest, NewSessionResponse};
use acp_types::v1::tool_calls::{RequestPermissionRequest, RequestPermissionResponse};
use acp_types::v2::initialization as initialization2;
use acp_types::v2::permissions as permissions2;
use acp_types::v2::prompt_lifecycle as lifecycle2;
use acp_types::v2::session_setup as setup2;
use core::future::poll_fn;
use futures::executor::block_on;
use futures::future::{Future, join, join3};
use futures::{FutureExt, SinkExt, StreamExt, select};
use jsonrpc_core::framing::Frame;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject, memory, object};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

mod congested;
mod ends;
mod handlers;

fn refused<T>() -> Result<T, ErrorObject> {
    Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "not here"))
}

fn initialize() -> InitializeRequest {
    InitializeRequest::new(ProtocolVersion::V1)
}

/// Runs an agent of version 1 with a client, and returns the client's result after both ended
/// successfully.
fn with_agent<A: v1::Agent, F: Future>(agent: A, speak: impl FnOnce(Sessions) -> F) -> F::Output {
    let ((reads, writes), (client_reads, client_writes)) = memory::duplex(4);
    let (agent, _) = v1::connect_agent(agent, reads, writes, ConnectionOptions::default());
    let options = ConnectionOptions::default();
    let (client, sessions) =
        v1::connect_client(Minimal, client_reads, client_writes, initialize(), options);
    let spoken = async {
        let output = speak(sessions.clone()).await;
        sessions.shut_down();
        output
    };
    let (ends, output) = block_on(join(join(agent, client), spoken));
    assert!(matches!(ends, (Ok(()), Ok(()))), "{ends:?}");
    output
}

/// The other side of a connection, controlled by the test.
struct Wire {
    reads: memory::Reader,
    writes: memory::Writer,
}

impl Wire {
    fn new((reads, writes): memory::End) -> Self {
        Self { reads, writes }
    }

    async fn send(&mut self, message: Value) {
        self.writes.send(Frame::from(message.to_string())).await.expect("it reads");
    }

    async fn next(&mut self) -> Value {
        let frame = self.reads.next().await.expect("a frame").expect("no IO").expect("whole");
        serde_json::from_str(frame.text().expect("text")).expect("JSON")
    }

    /// Sends a request, and returns the response.
    async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }
}

/// Implements only the required methods.
struct Minimal;

#[async_trait::async_trait]
impl v1::Agent for Minimal {
    async fn initialize(
        &self,
        _: InitializeRequest,
        _: Context,
    ) -> Result<InitializeResponse, ErrorObject> {
        refused()
    }

    async fn new_session(
        &self,
        _: NewSessionRequest,
        _: Context,
    ) -> Result<NewSessionResponse, ErrorObject> {
        refused()
    }

    async fn prompt(&self, _: PromptRequest, _: Context) -> Result<PromptResponse, ErrorObject> {
        refused()
    }
}

#[async_trait::async_trait]
impl v1::Client for Minimal {
    async fn request_permission(
        &self,
        _: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, ErrorObject> {
        refused()
    }

    async fn session_update(&self, _: SessionNotification, _: Peer) {}
}

#[async_trait::async_trait]
impl v2::Agent for Minimal {
    async fn initialize(
        &self,
        _: initialization2::InitializeRequest,
        _: Context,
    ) -> Result<initialization2::InitializeResponse, ErrorObject> {
        refused()
    }

    async fn new_session(
        &self,
        _: setup2::NewSessionRequest,
        _: Context,
    ) -> Result<setup2::NewSessionResponse, ErrorObject> {
        refused()
    }

    async fn prompt(
        &self,
        _: lifecycle2::PromptRequest,
        _: Context,
    ) -> Result<lifecycle2::PromptResponse, ErrorObject> {
        refused()
    }
}

#[async_trait::async_trait]
impl v2::Client for Minimal {
    async fn request_permission(
        &self,
        _: permissions2::RequestPermissionRequest,
        _: Context,
    ) -> Result<permissions2::RequestPermissionResponse, ErrorObject> {
        refused()
    }

    async fn update_session(&self, _: lifecycle2::UpdateSessionNotification, _: Peer) {}
}

/// Answers a prompt on cancellation, and collects problems.
#[derive(Default)]
struct Patient {
    turns: Mutex<u64>,
    problems: Arc<Mutex<Vec<String>>>,
}

object! {
    /// Requests the number of open turns.
    pub struct TurnsRequest {}
}

object! {
    /// The number of open turns.
    pub struct TurnsResponse {
        /// The number.
        count: u64 = "count",
    }
}

impl RequestParams for TurnsRequest {
    const METHOD: &'static str = "_example.com/turns";
    const RESPONSE: &'static str = "TurnsResponse";
    type Response = TurnsResponse;
}

#[async_trait::async_trait]
impl v1::Agent for Patient {
    async fn initialize(
        &self,
        _: InitializeRequest,
        _: Context,
    ) -> Result<InitializeResponse, ErrorObject> {
        Ok(InitializeResponse::new(ProtocolVersion::V1))
    }

    async fn new_session(
        &self,
        request: NewSessionRequest,
        _: Context,
    ) -> Result<NewSessionResponse, ErrorObject> {
        Ok(NewSessionResponse::new(request.cwd))
    }

    async fn prompt(
        &self,
        _: PromptRequest,
        context: Context,
    ) -> Result<PromptResponse, ErrorObject> {
        *self.turns.lock().unwrap() += 1;
        context.cancelled().await;
        *self.turns.lock().unwrap() -= 1;
        Ok(PromptResponse::new(StopReason::Cancelled))
    }

    async fn extension(&self, request: Extension, _: Context) -> Result<Raw, ErrorObject> {
        let Some(decoded) = request.request::<TurnsRequest>() else {
            return Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, request.method()));
        };
        decoded?;
        Ok(Extension::answer::<TurnsRequest>(&TurnsResponse::new(*self.turns.lock().unwrap())))
    }

    fn problem(&self, problem: &Diagnostic) {
        self.problems.lock().unwrap().push(format!("{problem:?}"));
    }
}

fn stopped(end: Result<ReceivedValue<TurnEnd>, RequestError>) -> StopReason {
    match end.expect("it ends well").value {
        TurnEnd::V1(response) => response.stop_reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn sessions_run_concurrently_and_end_separately() {
    with_agent(Patient::default(), async |sessions| {
        let open =
            async |name: &str| sessions.open(NewSessionRequest::new(name, [])).await.unwrap();
        let first = open("first").await;
        let second = open("second").await;
        assert_eq!(first.id(), "first");
        assert_eq!(second.id(), "second");
        let go = || Prompt::v1(["x".into()]);
        let steer = async {
            // Both prompts have arrived.
            while sessions.peer().request(&TurnsRequest::new()).await.unwrap().count < 2 {}
            let again = first.prompt(go()).await;
            assert!(
                matches!(again, Err(RequestError::Prompt(PromptError::TurnOpen(_)))),
                "{again:?}"
            );
            second.cancel();
        };
        let both = async {
            let mut turns =
                (Box::pin(first.prompt(go()).fuse()), Box::pin(second.prompt(go()).fuse()));
            select! {
                end = &mut turns.1 => assert_eq!(stopped(end), StopReason::Cancelled),
                _ = &mut turns.0 => panic!("it was not cancelled"),
            }
            first.cancel();
            assert_eq!(stopped(turns.0.await), StopReason::Cancelled);
        };
        join(both, steer).await;
    });
}

#[test]
fn dropped_prompt_is_cancelled() {
    with_agent(Patient::default(), async |sessions| {
        let session = sessions.open(NewSessionRequest::new("s", [])).await.unwrap();
        let mut turn = Box::pin(session.prompt(Prompt::v1(["x".into()])));
        let count = async || sessions.peer().request(&TurnsRequest::new()).await.unwrap().count;
        let mut started = Box::pin(async { while count().await == 0 {} }.fuse());
        poll_fn(|task| {
            assert!(turn.poll_unpin(task).is_pending());
            started.poll_unpin(task)
        })
        .await;
        drop(turn);
        while count().await > 0 {}
    });
}

#[test]
fn withdrawn_call_is_answered() {
    let agent = async |wire: &mut Wire| {
        let request = wire.next().await;
        assert_eq!(request["method"], "_example.com/turns");
        let withdrawn = wire.next().await;
        assert_eq!(withdrawn["method"], "$/cancel_request");
        assert_eq!(withdrawn["params"]["requestId"], request["id"]);
        let error = json!({ "code": ErrorCode::REQUEST_CANCELLED.0, "message": "" });
        wire.send(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error })).await;
    };
    let ((reads, writes), end) = memory::duplex(4);
    let (driver, peer) = v1::connect_agent(Minimal, reads, writes, ConnectionOptions::default());
    let call = async {
        let call = peer.send(&TurnsRequest::new()).await.unwrap();
        call.withdraw();
        let Err(RequestError::Call(CallError::Answered(error))) = call.await else {
            panic!("it was answered");
        };
        assert_eq!(error.code, ErrorCode::REQUEST_CANCELLED);
        // A call without a waiting task is withdrawn as well.
        drop(peer.send(&TurnsRequest::new()).await.unwrap());
        peer.shut_down();
    };
    let client = async {
        let mut wire = Wire::new(end);
        agent(&mut wire).await;
        agent(&mut wire).await;
    };
    let (driver, (), ()) = block_on(join3(driver, call, client));
    assert!(driver.is_ok());
}

#[test]
fn extensions_are_typed_or_unknown() {
    with_agent(Patient::default(), async |sessions| {
        sessions.initialized().await.unwrap();
        let peer = sessions.peer();
        assert_eq!(peer.request(&TurnsRequest::new()).await.unwrap().count, 0);
        let raw = Raw::from_text("[]").unwrap();
        let ask = async |method: &'static str| {
            let error = peer.send_raw(method, raw.as_ref()).await.unwrap().await;
            let Err(RequestError::Call(CallError::Answered(error))) = error else {
                panic!("answered");
            };
            error.code
        };
        assert_eq!(ask(TurnsRequest::METHOD).await, ErrorCode::INVALID_PARAMS);
        assert_eq!(ask("_example.com/other").await, ErrorCode::METHOD_NOT_FOUND);
    });
}

#[test]
fn tolerated_and_dropped_parts_are_reported() {
    let agent = Patient::default();
    let problems = Arc::clone(&agent.problems);
    let ((reads, writes), end) = memory::duplex(4);
    let (driver, _) = v1::connect_agent(agent, reads, writes, ConnectionOptions::default());
    let client = async {
        let mut wire = Wire::new(end);
        let wrong = json!({ "sessionId": 7 });
        wire.send(json!({ "method": "session/cancel", "params": wrong })).await;
        let odd = json!({ "protocolVersion": 1, "clientCapabilities": { "terminal": "yes" } });
        wire.ask(1, "initialize", odd).await;
    };
    let (driver, ()) = block_on(join(driver, client));
    assert!(driver.is_ok());
    let problems = problems.lock().unwrap();
    let [undecodable, lenient] = problems.as_slice() else { panic!("{problems:?}") };
    assert!(undecodable.contains("/sessionId"), "{undecodable}");
    assert!(lenient.contains("/clientCapabilities/terminal"), "{lenient}");
}

#[test]
fn session_on_an_ended_connection_is_refused() {
    let ((reads, writes), _) = memory::duplex(1);
    let options = ConnectionOptions::default();
    let (client, sessions) = v1::connect_client(Minimal, reads, writes, initialize(), options);
    drop(client);
    for _ in 0..2 {
        let opened = sessions.open(NewSessionRequest::new("/tmp", [])).now_or_never();
        let error = opened.expect("it ends").expect_err("closed");
        assert!(matches!(error, RequestError::Call(CallError::Closed(_))), "{error:?}");
    }
}
