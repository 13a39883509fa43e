//! Whole turns in version 2, both sides: a prompt is answered at once, and what becomes of it is told.
use acp_types::connection::{Context, Peer, v2};
use acp_types::v1::initialization::ProtocolVersion;
use acp_types::v2::initialization::{Implementation, InitializeRequest, InitializeResponse};
use acp_types::v2::permissions::{
    CancelledPermissionOutcome, PermissionOption, PermissionOptionKind, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, SelectedPermissionOutcome,
};
use acp_types::v2::prompt_lifecycle::{
    CancelSessionNotification, PromptRequest, PromptResponse, SessionUpdate,
    UpdateSessionNotification,
};
use acp_types::v2::session_setup::{NewSessionRequest, NewSessionResponse, SessionId};
use futures::StreamExt;
use futures::channel::{mpsc, oneshot};
use futures::executor::block_on;
use futures::future::{Either, join, select};
use jsonrpc_core::driver::Options;
use jsonrpc_core::wire::decode;
use jsonrpc_core::{CancelMethod, ErrorObject, memory};
use std::sync::Mutex;

/// A prompt that was taken in, and what ends its turn early.
struct Turn {
    session: SessionId,
    client: Peer,
    cancelled: oneshot::Receiver<()>,
}

/// Takes prompts in; [`work`] does what they ask for.
struct Agent {
    turns: mpsc::UnboundedSender<Turn>,
    cancel: Mutex<Option<oneshot::Sender<()>>>,
}

#[async_trait::async_trait]
impl v2::Agent for Agent {
    async fn initialize(
        &self,
        _: InitializeRequest,
        _: Context,
    ) -> Result<InitializeResponse, ErrorObject> {
        Ok(InitializeResponse::new(ProtocolVersion::V2, Implementation::new("agent", "1")))
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
        let (cancel, cancelled) = oneshot::channel();
        *self.cancel.lock().unwrap() = Some(cancel);
        let (session, client) = (request.session_id, context.peer().clone());
        self.turns.unbounded_send(Turn { session, client, cancelled }).unwrap();
        Ok(PromptResponse::new("m"))
    }

    async fn cancel_session(&self, _: CancelSessionNotification, _: Peer) {
        let cancel = self.cancel.lock().unwrap().take();
        cancel.expect("a turn").send(()).expect("it waits");
    }
}

/// Asks for permission in each turn, and says how it ends.
async fn work(mut turns: mpsc::UnboundedReceiver<Turn>) {
    while let Some(Turn { session, client, cancelled }) = turns.next().await {
        let tell = async |update: &str| {
            let update = decode::<SessionUpdate>(update).unwrap();
            let update = UpdateSessionNotification::new(session.clone(), update);
            client.notify(&update).await.unwrap();
        };
        tell(r#"{"sessionUpdate":"state_update","state":"running"}"#).await;
        tell(r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"Run","status":"pending"}"#)
            .await;
        let yes = PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce);
        let question = RequestPermissionRequest::new(session.clone(), "Run it?", [yes]);
        let asked = client.send(&question).await.unwrap();
        let (answer, reason) = match select(asked, cancelled).await {
            Either::Left((answer, _)) => (answer, "end_turn"),
            Either::Right((_, asked)) => {
                asked.cancel();
                (asked.await, "cancelled")
            }
        };
        let is_granted = question.is_granted_by(&answer.unwrap().outcome);
        let status = if is_granted { "completed" } else { "cancelled" };
        tell(&format!(
            r#"{{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"{status}"}}"#
        ))
        .await;
        tell(&format!(
            r#"{{"sessionUpdate":"state_update","state":"idle","stopReason":"{reason}"}}"#
        ))
        .await;
    }
}

/// What a client saw.
enum Seen {
    Asked,
    Told(String),
}

/// Says yes at first; then it leaves questions open until they are taken back.
struct Client {
    seen: mpsc::UnboundedSender<Seen>,
    is_asked: Mutex<bool>,
}

#[async_trait::async_trait]
impl v2::Client for Client {
    async fn request_permission(
        &self,
        _: RequestPermissionRequest,
        context: Context,
    ) -> Result<RequestPermissionResponse, ErrorObject> {
        self.seen.unbounded_send(Seen::Asked).unwrap();
        let was_asked = std::mem::replace(&mut *self.is_asked.lock().unwrap(), true);
        Ok(RequestPermissionResponse::new(if was_asked {
            context.cancelled().await;
            RequestPermissionOutcome::Cancelled(CancelledPermissionOutcome::new())
        } else {
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new("yes"))
        }))
    }

    async fn update_session(&self, notification: UpdateSessionNotification, _: Peer) {
        assert_eq!(notification.session_id.as_str(), "s");
        let update = match notification.update {
            SessionUpdate::ToolCallUpdate(call) => {
                format!("call {}", call.status.value().unwrap().as_str())
            }
            other => serde_json::to_string(&other).unwrap(),
        };
        self.seen.unbounded_send(Seen::Told(update)).unwrap();
    }
}

/// What was told up to the end of a turn; a question is answered by what `asked` does.
async fn turn(seen: &mut mpsc::UnboundedReceiver<Seen>, asked: impl AsyncFn()) -> Vec<String> {
    let mut told = Vec::new();
    while let Some(seen) = seen.next().await {
        match seen {
            Seen::Asked => asked().await,
            Seen::Told(update) => {
                let is_over = update.contains(r#""idle""#);
                told.push(update);
                if is_over {
                    break;
                }
            }
        }
    }
    told
}

/// A turn is told, not answered: once to its end, once up to where the user cancels it while a question is open.
#[test]
fn turns_of_version_2() {
    let ((reads, writes), (client_reads, client_writes)) = memory::duplex(4);
    let options = || Options::new(CancelMethod::ACP);
    let (turns, taken) = mpsc::unbounded();
    let agent = Agent { turns, cancel: Mutex::default() };
    let (agent, _) = v2::connect_agent(agent, reads, writes, options());
    let (seen, mut sees) = mpsc::unbounded();
    let client = Client { seen, is_asked: Mutex::default() };
    let (client, agent_peer) = v2::connect_client(client, client_reads, client_writes, options());
    let user = async {
        let initialize =
            InitializeRequest::new(ProtocolVersion::V2, Implementation::new("client", "1"));
        let agreed = agent_peer.request(&initialize).await.unwrap();
        assert_eq!(agreed.protocol_version, ProtocolVersion::V2);
        let session = agent_peer.request(&NewSessionRequest::new("/p")).await.unwrap().session_id;
        let prompt = PromptRequest::new(session.clone(), ["go".into()]);

        assert_eq!(agent_peer.request(&prompt).await.unwrap().message_id.as_str(), "m");
        let told = turn(&mut sees, async || ()).await;
        let running = r#"{"sessionUpdate":"state_update","state":"running"}"#;
        let idle = r#"{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}"#;
        assert_eq!(told, [running, "call pending", "call completed", idle]);

        agent_peer.request(&prompt).await.unwrap();
        let told = turn(&mut sees, async || {
            agent_peer.notify(&CancelSessionNotification::new(session.clone())).await.unwrap();
        })
        .await;
        let idle = idle.replace("end_turn", "cancelled");
        assert_eq!(told, [running, "call pending", "call cancelled", &*idle]);
        agent_peer.shut_down();
    };
    // The worker ends with the agent, which has the other end of its queue.
    let ((ends, ()), ()) = block_on(join(join(join(agent, client), user), work(taken)));
    assert!(matches!(ends, (Ok(()), Ok(()))));
}
