//! Clients that fall behind, and connections that are full.
use super::*;
use core::task::Poll;

/// Sends a hundred updates in each turn.
struct BusyAgent;

#[async_trait::async_trait]
impl v1::Agent for BusyAgent {
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
        let update = SessionUpdate::AgentMessageChunk(ContentChunk::new("x"));
        for _ in 0..100 {
            let update = SessionNotification::new(request.session_id.clone(), update.clone());
            context.peer().notify(&update).await?;
        }
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

/// Counts updates slowly.
struct SlowClient(Arc<Mutex<u32>>);

#[async_trait::async_trait]
impl v1::Client for SlowClient {
    async fn request_permission(
        &self,
        _: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, ErrorObject> {
        refused()
    }

    async fn session_update(&self, _: SessionNotification, _: Peer) {
        let mut is_waited = false;
        poll_fn(|task| {
            task.waker().wake_by_ref();
            if core::mem::replace(&mut is_waited, true) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        *self.0.lock().unwrap() += 1;
    }
}

/// Updates of a turn are handled when its end has arrived and the client has caught up; none is
/// lost, for any queue size.
#[test]
fn client_catches_up_after_the_end_of_a_turn() {
    for waiting in [1, 10, 1000] {
        let counted = Arc::new(Mutex::new(0));
        let ((reads, writes), (client_reads, client_writes)) = memory::duplex(2);
        let mut options = ConnectionOptions::default();
        options.notifications = waiting;
        let (agent, _) = v1::connect_agent(BusyAgent, reads, writes, ConnectionOptions::default());
        let client = SlowClient(Arc::clone(&counted));
        let (client, sessions) =
            v1::connect_client(client, client_reads, client_writes, initialize(), options);
        let turn = async {
            let session = sessions.open(NewSessionRequest::new("/", [])).await.unwrap();
            assert_eq!(
                stopped(session.prompt(Prompt::v1(["x".into()])).await),
                StopReason::EndTurn
            );
            sessions.peer().caught_up().await;
            assert_eq!(*counted.lock().unwrap(), 100);
            sessions.shut_down();
        };
        let (ends, ()) = block_on(join(join(agent, client), turn));
        assert!(matches!(ends, (Ok(()), Ok(()))));
    }
}

/// Makes a call for each update, and waits for it.
struct CallingClient(Arc<Mutex<Vec<RequestError>>>);

#[async_trait::async_trait]
impl v1::Client for CallingClient {
    async fn request_permission(
        &self,
        _: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, ErrorObject> {
        refused()
    }

    async fn session_update(&self, _: SessionNotification, peer: Peer) {
        if let Err(error) = peer.request(&TurnsRequest::new()).await {
            self.0.lock().unwrap().push(error);
        }
    }
}

/// A notification handler that waits for a response cannot block the connection forever.
#[test]
fn congested_connection_continues() {
    let errors = Arc::new(Mutex::new(Vec::new()));
    let ((reads, writes), (client_reads, client_writes)) = memory::duplex(2);
    let mut options = ConnectionOptions::default();
    options.notifications = 2;
    let (agent, _) = v1::connect_agent(BusyAgent, reads, writes, ConnectionOptions::default());
    let client = CallingClient(Arc::clone(&errors));
    let (client, sessions) =
        v1::connect_client(client, client_reads, client_writes, initialize(), options);
    let turn = async {
        let session = sessions.open(NewSessionRequest::new("/", [])).await.unwrap();
        stopped(session.prompt(Prompt::v1(["x".into()])).await);
        sessions.shut_down();
    };
    let (ends, ()) = block_on(join(join(agent, client), turn));
    assert!(matches!(ends, (Ok(()), Ok(()))));
    assert!(errors.lock().unwrap().contains(&RequestError::Congested));
}

/// At the end of the input calls end, and open requests are still answered.
#[test]
fn requests_are_answered_after_the_input_has_ended() {
    let agent = Patient::default();
    let ((reads, writes), end) = memory::duplex(4);
    let (driver, peer) = v1::connect_agent(agent, reads, writes, ConnectionOptions::default());
    let call = async {
        let answer = peer.request(&TurnsRequest::new()).await;
        assert!(matches!(answer, Err(RequestError::Call(CallError::Closed(_)))), "{answer:?}");
    };
    let client = async {
        let Wire { mut reads, writes } = Wire::new(end);
        let mut wire = Wire { reads, writes };
        wire.send(json!({ "id": 1, "method": "session/prompt", "params": { "sessionId": "s", "prompt": [] } })).await;
        wire.send(json!({ "method": "session/cancel", "params": { "sessionId": "s" } })).await;
        reads = wire.reads;
        drop(wire.writes);
        let mut answers = Vec::new();
        while let Some(frame) = reads.next().await {
            answers.push(frame.unwrap().unwrap().text().unwrap().to_owned());
        }
        assert!(
            answers.iter().any(|line| line.contains(r#""stopReason":"cancelled""#)),
            "{answers:?}"
        );
    };
    let (driver, (), ()) = block_on(join3(driver, call, client));
    assert!(driver.is_ok());
}
