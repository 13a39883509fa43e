//! Agents and clients over a connection in memory.
use acp_types::connection::{Context, Extension, Peer, Problem, RequestError, v1, v2};
use acp_types::methods::{self, Direction, Method, MethodKind, RequestParams};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::initialization::{InitializeRequest, InitializeResponse, ProtocolVersion};
use acp_types::v1::prompt_turn::{
    CancelNotification, ContentChunk, PromptRequest, PromptResponse, SessionNotification,
    SessionUpdate, StopReason,
};
use acp_types::v1::session_setup::{NewSessionRequest, NewSessionResponse, SessionId};
use acp_types::v1::tool_calls::{
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse, ToolCallUpdate,
};
use acp_types::v2::initialization as initialization2;
use acp_types::v2::permissions as permissions2;
use acp_types::v2::prompt_lifecycle as lifecycle2;
use acp_types::v2::session_setup as setup2;
use futures::channel::oneshot;
use futures::executor::block_on;
use futures::future::{Future, join};
use futures::{FutureExt, select};
use jsonrpc_core::driver::{self, Driver, Handler, Options};
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{CancelMethod, ErrorCode, ErrorObject, Request, memory, object};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

fn options() -> Options {
    Options::new(CancelMethod::ACP)
}

fn refused<T>() -> Result<T, ErrorObject> {
    Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "not here"))
}

/// Runs an agent in version 1 and something that speaks to it; what it gave, after both ended well.
fn with_agent<A: v1::Agent, F: Future>(agent: A, speak: impl FnOnce(Peer) -> F) -> F::Output {
    let ((reads, writes), (client_reads, client_writes)) = memory::duplex(4);
    let (agent, _) = v1::connect_agent(agent, reads, writes, options());
    let (client, peer) = v1::connect_client(Nobody, client_reads, client_writes, options());
    let spoken = async {
        let output = speak(peer.clone()).await;
        peer.shut_down();
        output
    };
    let (ends, output) = block_on(join(join(agent, client), spoken));
    assert!(matches!(ends, (Ok(()), Ok(()))));
    output
}

/// Does only what it must.
struct Nobody;

#[async_trait::async_trait]
impl v1::Agent for Nobody {
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
impl v1::Client for Nobody {
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
impl v2::Agent for Nobody {
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
impl v2::Client for Nobody {
    async fn request_permission(
        &self,
        _: permissions2::RequestPermissionRequest,
        _: Context,
    ) -> Result<permissions2::RequestPermissionResponse, ErrorObject> {
        refused()
    }

    async fn update_session(&self, _: lifecycle2::UpdateSessionNotification, _: Peer) {}
}

/// Sends requests without types.
struct Silent;

#[async_trait::async_trait]
impl Handler for Silent {
    async fn request(&self, _: Request<'_>, _: driver::Context) -> Result<Raw, ErrorObject> {
        refused()
    }
}

/// Each method of the table reaches its own handler, which the error for wrong parameters names.
#[test]
fn every_request_of_the_tables_is_read_by_its_method() {
    for (table, direction) in [
        (methods::V1, Direction::ToAgent),
        (methods::V1, Direction::ToClient),
        (methods::V2, Direction::ToAgent),
        (methods::V2, Direction::ToClient),
    ] {
        let ((reads, writes), (client_reads, client_writes)) = memory::duplex(4);
        let is_v1 = core::ptr::eq(table, methods::V1);
        let side: std::pin::Pin<Box<dyn Future<Output = _>>> = match (is_v1, direction) {
            (true, Direction::ToAgent) => {
                Box::pin(v1::connect_agent(Nobody, reads, writes, options()).0)
            }
            (true, _) => Box::pin(v1::connect_client(Nobody, reads, writes, options()).0),
            (false, Direction::ToAgent) => {
                Box::pin(v2::connect_agent(Nobody, reads, writes, options()).0)
            }
            (false, _) => Box::pin(v2::connect_client(Nobody, reads, writes, options()).0),
        };
        let (driver, client) =
            Driver::new(client_reads, client_writes, Arc::new(Silent), options());
        let is_request =
            |method: &&Method| method.direction == direction && method.kind == MethodKind::Request;
        let asked = async {
            for method in table.iter().filter(is_request) {
                let wrong = Raw::from_text("[]").unwrap();
                let Err(driver::RequestError::Answered(error)) =
                    client.request(method.name, wrong.as_ref()).await
                else {
                    panic!("{} was answered", method.name)
                };
                assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{}", method.name);
                assert!(error.message.contains(method.name), "{error}");
            }
            client.shut_down();
        };
        let ((side, driver), ()) = block_on(join(join(side, driver), asked));
        assert!(matches!((side, driver), (Ok(()), Ok(()))));
    }
}

#[test]
fn what_is_not_there_is_an_unknown_method() {
    let error = with_agent(Nobody, async |agent| {
        let request = acp_types::v1::session_list::ListSessionsRequest::new();
        agent.request(&request).await.map(|_| ()).unwrap_err()
    });
    let error = ErrorObject::from(error);
    assert_eq!(error.code, ErrorCode::METHOD_NOT_FOUND);
    assert!(error.message.contains("session/list"), "{error}");
}

/// Answers a prompt when its session is cancelled or the prompt is taken back, and hears of problems.
#[derive(Default)]
struct Patient {
    turns: Mutex<BTreeMap<SessionId, oneshot::Sender<()>>>,
    problems: Arc<Mutex<Vec<String>>>,
}

object! {
    /// Asks how many turns run.
    pub struct TurnsRequest {}
}

object! {
    /// How many turns run.
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
        _: NewSessionRequest,
        _: Context,
    ) -> Result<NewSessionResponse, ErrorObject> {
        refused()
    }

    async fn prompt(
        &self,
        request: PromptRequest,
        context: Context,
    ) -> Result<PromptResponse, ErrorObject> {
        let (cancel, cancelled) = oneshot::channel();
        self.turns.lock().unwrap().insert(request.session_id.clone(), cancel);
        select! {
            _ = cancelled.fuse() => Ok(PromptResponse::new(StopReason::Cancelled)),
            () = context.cancelled().fuse() => {
                Err(ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "taken back"))
            }
        }
    }

    async fn cancel(&self, notification: CancelNotification, _: Peer) {
        self.turns.lock().unwrap().remove(&notification.session_id);
    }

    async fn extension(&self, request: Extension, _: Context) -> Result<Raw, ErrorObject> {
        let Some(asked) = request.request::<TurnsRequest>() else {
            return Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, request.method()));
        };
        asked?;
        let count = u64::try_from(self.turns.lock().unwrap().len()).unwrap();
        Extension::answer::<TurnsRequest>(&TurnsResponse::new(count))
    }

    fn problem(&self, problem: Problem<'_>) {
        self.problems.lock().unwrap().push(format!("{problem:?}"));
    }
}

#[test]
fn sessions_run_side_by_side_and_end_one_by_one() {
    with_agent(Patient::default(), async |agent| {
        let prompt = |session: &str| PromptRequest::new(session, ["x".into()]);
        let first = agent.send(&prompt("first")).await.unwrap();
        let second = agent.send(&prompt("second")).await.unwrap();
        let third = agent.send(&prompt("third")).await.unwrap();
        let turns = agent.request(&TurnsRequest::new()).await.unwrap();
        assert_eq!(turns.count, 3);
        agent.notify(&CancelNotification::new("second")).await.unwrap();
        assert_eq!(second.await.unwrap().stop_reason, StopReason::Cancelled);
        first.cancel();
        let Err(RequestError::Connection(driver::RequestError::Answered(error))) = first.await
        else {
            panic!("it was answered")
        };
        assert_eq!(error.code, ErrorCode::REQUEST_CANCELLED);
        agent.notify(&CancelNotification::new("third")).await.unwrap();
        assert_eq!(third.await.unwrap().stop_reason, StopReason::Cancelled);
    });
}

#[test]
fn extensions_are_typed_or_unknown() {
    with_agent(Patient::default(), async |agent| {
        assert_eq!(agent.request(&TurnsRequest::new()).await.unwrap().count, 0);
        let wrong = Raw::from_text("[]").unwrap();
        let error = agent.untyped().request(TurnsRequest::METHOD, wrong.as_ref()).await;
        let Err(driver::RequestError::Answered(error)) = error else { panic!("answered") };
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
        let error = agent.untyped().request("_example.com/other", None).await;
        let Err(driver::RequestError::Answered(error)) = error else { panic!("answered") };
        assert_eq!(error.code, ErrorCode::METHOD_NOT_FOUND);
    });
}

#[test]
fn what_is_taken_differently_or_not_at_all_is_told() {
    let agent = Patient::default();
    let problems = Arc::clone(&agent.problems);
    with_agent(agent, async |agent| {
        let wrong = Raw::from_text(r#"{"sessionId":7}"#).unwrap();
        agent.untyped().notify("session/cancel", wrong.as_ref()).await.unwrap();
        let odd = r#"{"protocolVersion":1,"clientCapabilities":{"terminal":"yes"}}"#;
        let odd = Raw::from_text(odd).unwrap();
        agent.untyped().request("initialize", odd.as_ref()).await.unwrap();
    });
    let problems = problems.lock().unwrap();
    let [undecodable, lenient] = problems.as_slice() else { panic!("{problems:?}") };
    assert!(undecodable.contains("/sessionId"), "{undecodable}");
    assert!(lenient.contains("/clientCapabilities/terminal"), "{lenient}");
}

/// Asks for permission inside a prompt, on one thread, with what is not `Send`.
struct Asking(Rc<RefCell<Vec<String>>>);

#[async_trait::async_trait(?Send)]
impl v1::LocalAgent for Asking {
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

    async fn prompt(
        &self,
        request: PromptRequest,
        context: Context,
    ) -> Result<PromptResponse, ErrorObject> {
        let log = Rc::clone(&self.0);
        let question =
            RequestPermissionRequest::new(request.session_id, ToolCallUpdate::new("c"), []);
        let answer = context.peer().request(&question).await?;
        log.borrow_mut().push(answer.outcome.tag().to_owned());
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

/// Answers a question by asking in turn, which ends well as often as it asks.
struct AskingBack(RefCell<u32>);

#[async_trait::async_trait(?Send)]
impl v1::LocalClient for AskingBack {
    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        context: Context,
    ) -> Result<RequestPermissionResponse, ErrorObject> {
        if self.0.replace_with(|left| left.saturating_sub(1)) > 0 {
            let prompt = PromptRequest::new(request.session_id, [ContentBlock::from("again")]);
            context.peer().request(&prompt).await?;
        }
        let cancelled = RequestPermissionOutcome::Cancelled(Default::default());
        Ok(RequestPermissionResponse::new(cancelled))
    }

    async fn session_update(&self, _: SessionNotification, _: Peer) {}
}

/// Requests inside handlers, to a depth beyond the places for handlers, hold nobody up.
#[test]
fn handlers_ask_each_other_in_turn() {
    let log = Rc::new(RefCell::new(Vec::new()));
    let ((reads, writes), (client_reads, client_writes)) = memory::duplex(1);
    let few = || {
        let mut few = options();
        few.handlers = 1;
        few
    };
    let (agent, _) = v1::connect_local_agent(Asking(Rc::clone(&log)), reads, writes, few());
    let client = AskingBack(RefCell::new(9));
    let (client, peer) = v1::connect_local_client(client, client_reads, client_writes, few());
    let turn = async {
        let turn = peer.request(&PromptRequest::new("s", ["x".into()])).await;
        peer.shut_down();
        turn
    };
    let (ends, turn) = block_on(join(join(agent, client), turn));
    assert!(matches!(ends, (Ok(()), Ok(()))));
    assert_eq!(turn.unwrap().stop_reason, StopReason::EndTurn);
    assert_eq!(*log.borrow(), ["cancelled"; 10]);
}

/// Updates of a turn are handled when its answer is there and the client has caught up.
#[test]
fn a_client_catches_up_behind_an_answer() {
    struct Telling;

    #[async_trait::async_trait]
    impl Handler for Telling {
        async fn request(
            &self,
            _: Request<'_>,
            context: driver::Context,
        ) -> Result<Raw, ErrorObject> {
            let update = SessionUpdate::AgentMessageChunk(ContentChunk::new("x"));
            for _ in 0..100 {
                let update = SessionNotification::new("s", update.clone());
                Peer::from(context.client().clone()).notify(&update).await?;
            }
            Ok(Raw::from_text(r#"{"stopReason":"end_turn"}"#).unwrap())
        }
    }

    /// Counts updates, and takes its time.
    struct Counting(Arc<Mutex<u32>>);

    #[async_trait::async_trait]
    impl v1::Client for Counting {
        async fn request_permission(
            &self,
            _: RequestPermissionRequest,
            _: Context,
        ) -> Result<RequestPermissionResponse, ErrorObject> {
            refused()
        }

        async fn session_update(&self, _: SessionNotification, _: Peer) {
            let mut is_waited = false;
            core::future::poll_fn(|task| {
                task.waker().wake_by_ref();
                if core::mem::replace(&mut is_waited, true) {
                    core::task::Poll::Ready(())
                } else {
                    core::task::Poll::Pending
                }
            })
            .await;
            *self.0.lock().unwrap() += 1;
        }
    }

    let counted = Arc::new(Mutex::new(0));
    let ((reads, writes), (client_reads, client_writes)) = memory::duplex(200);
    let (agent, _) = Driver::new(reads, writes, Arc::new(Telling), options());
    let client = Counting(Arc::clone(&counted));
    let (client, peer) = v1::connect_client(client, client_reads, client_writes, options());
    let turn = async {
        peer.request(&PromptRequest::new("s", ["x".into()])).await.unwrap();
        peer.caught_up().await;
        assert_eq!(*counted.lock().unwrap(), 100);
        peer.shut_down();
    };
    let (ends, ()) = block_on(join(join(agent, client), turn));
    assert!(matches!(ends, (Ok(()), Ok(()))));
}
