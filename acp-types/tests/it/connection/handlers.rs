//! The handlers of agents and clients, one for each method.
use super::*;
use acp_types::methods::{Method, MethodKind, Receiver};
use acp_types::v1::session_setup::{LoadSessionRequest, LoadSessionResponse};
use acp_types::v1::tool_calls::{RequestPermissionOutcome, ToolCallUpdate};
use std::cell::RefCell;
use std::rc::Rc;

/// Each method of the table reaches its own handler: invalid parameters are refused, and valid ones
/// are not dispatched as unknown.
#[test]
fn every_request_reaches_its_handler() {
    for (table, receiver) in [
        (methods::V1, Receiver::Agent),
        (methods::V1, Receiver::Client),
        (methods::V2, Receiver::Agent),
        (methods::V2, Receiver::Client),
    ] {
        let ((reads, writes), end) = memory::duplex(4);
        let is_v1 = core::ptr::eq(table, methods::V1);
        let options = ConnectionOptions::default();
        let info = || initialization2::Implementation::new("client", "1");
        let initialize2 = || initialization2::InitializeRequest::new(ProtocolVersion::V2, info());
        type Side = std::pin::Pin<Box<dyn Future<Output = std::io::Result<()>>>>;
        let (side, _sessions): (Side, Option<Sessions>) = match (is_v1, receiver) {
            (true, Receiver::Agent) => {
                (Box::pin(v1::connect_agent(Minimal, reads, writes, options).0), None)
            }
            (true, _) => {
                let (client, sessions) =
                    v1::connect_client(Minimal, reads, writes, initialize(), options);
                (Box::pin(client), Some(sessions))
            }
            (false, Receiver::Agent) => {
                (Box::pin(v2::connect_agent(Minimal, reads, writes, options).0), None)
            }
            (false, _) => {
                let (client, sessions) =
                    v2::connect_client(Minimal, reads, writes, initialize2(), options);
                (Box::pin(client), Some(sessions))
            }
        };
        let is_request =
            |method: &&Method| method.receiver == receiver && method.kind == MethodKind::Request;
        let request = async {
            let mut wire = Wire::new(end);
            if receiver == Receiver::Client {
                assert_eq!(wire.next().await["method"], "initialize");
                let info = json!({ "name": "agent", "version": "1" });
                let result = match is_v1 {
                    true => json!({ "protocolVersion": 1 }),
                    false => json!({ "protocolVersion": 2, "info": info }),
                };
                wire.send(json!({ "jsonrpc": "2.0", "id": 1, "result": result })).await;
            }
            for (id, method) in table.iter().filter(is_request).enumerate() {
                let answer = wire.ask(id as u64, method.name, json!([])).await;
                let code = answer["error"]["code"].clone();
                assert_eq!(code, ErrorCode::INVALID_PARAMS.0, "{}", method.name);
            }
        };
        let (side, ()) = block_on(join(side, request));
        assert!(side.is_ok());
    }
}

#[test]
fn unimplemented_method_is_not_found() {
    let error = with_agent(Patient::default(), async |sessions| {
        let request = acp_types::v1::session_list::ListSessionsRequest::new();
        sessions.initialized().await.unwrap();
        sessions.peer().request(&request).await.map(|_| ()).unwrap_err()
    });
    let error = ErrorObject::from(error);
    assert_eq!(error.code, ErrorCode::METHOD_NOT_FOUND);
    assert!(error.message.contains("session/list"), "{error}");
}

/// An agent on one thread, not `Send`, that requests permission within a prompt and records
/// prompts.
struct PermissionAgent(Rc<RefCell<Vec<String>>>);

#[async_trait::async_trait(?Send)]
impl v1::LocalAgent for PermissionAgent {
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

    async fn load_session(
        &self,
        request: LoadSessionRequest,
        context: Context,
    ) -> Result<LoadSessionResponse, ErrorObject> {
        let update = SessionUpdate::UserMessageChunk(ContentChunk::new("before"));
        context.peer().notify(&SessionNotification::new(request.session_id, update)).await?;
        Ok(LoadSessionResponse::new())
    }

    async fn prompt(
        &self,
        request: PromptRequest,
        context: Context,
    ) -> Result<PromptResponse, ErrorObject> {
        assert!(context.request_id().as_i64().is_some());
        let log = Rc::clone(&self.0);
        let question =
            RequestPermissionRequest::new(request.session_id, ToolCallUpdate::new("c"), []);
        let answer = context.peer().request(&question).await?;
        log.borrow_mut().push(answer.outcome.tag().to_owned());
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

/// A client that makes a call while answering a question, and records updates.
#[derive(Clone, Default)]
struct AskingBack {
    updates: Rc<RefCell<Vec<SessionUpdate>>>,
}

#[async_trait::async_trait(?Send)]
impl v1::LocalClient for AskingBack {
    async fn request_permission(
        &self,
        _: RequestPermissionRequest,
        context: Context,
    ) -> Result<RequestPermissionResponse, ErrorObject> {
        let answer = context.peer().request(&TurnsRequest::new()).await;
        assert!(matches!(answer, Err(RequestError::Call(CallError::Answered(_)))), "{answer:?}");
        let cancelled = RequestPermissionOutcome::Cancelled(Default::default());
        Ok(RequestPermissionResponse::new(cancelled))
    }

    async fn session_update(&self, notification: SessionNotification, _: Peer) {
        self.updates.borrow_mut().push(notification.update);
    }
}

/// Calls within handlers, beyond the number of handlers, do not block others; history precedes its
/// session.
#[test]
fn handlers_call_each_other_in_turn() {
    let log = Rc::new(RefCell::new(Vec::new()));
    let ((reads, writes), (client_reads, client_writes)) = memory::duplex(1);
    let mut few = ConnectionOptions::default();
    few.handlers = 1;
    let (agent, _) = v1::connect_local_agent(PermissionAgent(Rc::clone(&log)), reads, writes, few);
    let client = AskingBack::default();
    let updates = client.updates.clone();
    let (client, sessions) =
        v1::connect_local_client(client, client_reads, client_writes, initialize(), few);
    let turn = async {
        let loaded = sessions.open(LoadSessionRequest::new("old", "/", [])).await.unwrap();
        sessions.peer().caught_up().await;
        assert_eq!(updates.borrow().len(), 1);
        let session = sessions.open(NewSessionRequest::new("/", [])).await.unwrap();
        let go = || Prompt::v1(["x".into()]);
        let ends = join(session.prompt(go()), loaded.prompt(go())).await;
        sessions.shut_down();
        (stopped(ends.0), stopped(ends.1))
    };
    let (ends, turns) = block_on(join(join(agent, client), turn));
    assert!(matches!(ends, (Ok(()), Ok(()))));
    assert_eq!(turns, (StopReason::EndTurn, StopReason::EndTurn));
    assert_eq!(*log.borrow(), ["cancelled"; 2]);
}
