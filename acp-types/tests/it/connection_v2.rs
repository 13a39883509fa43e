//! Turns of version 2, both sides: a prompt is accepted at once, and updates report its turn.
use acp_types::client::{Prompt, ReceivedValue, TurnEnd};
use acp_types::connection::{ConnectionOptions, Context, Peer, v2};
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
use jsonrpc_core::wire::decode;
use jsonrpc_core::{ErrorObject, memory};
use std::sync::Mutex;

/// An accepted prompt, and the channel that cancels its turn.
struct Turn {
    session: SessionId,
    client: Peer,
    cancelled: oneshot::Receiver<()>,
}

/// Accepts prompts; [`work`] processes them.
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
        let session = request.session_id;
        let client = context.peer().clone();
        self.turns.unbounded_send(Turn { session, client, cancelled }).unwrap();
        Ok(PromptResponse::new("m"))
    }

    async fn cancel_session(&self, _: CancelSessionNotification, _: Peer) {
        let cancel = self.cancel.lock().unwrap().take();
        // The answer to the question may have ended the turn before.
        let _ = cancel.expect("a turn").send(());
    }
}

/// Requests permission in each turn, and reports its end.
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
        let call = client.send(&question).await.unwrap();
        let (answer, was_cancelled) = match select(call, cancelled).await {
            Either::Left((answer, _)) => (answer, false),
            Either::Right((_, call)) => {
                call.withdraw();
                (call.await, true)
            }
        };
        let outcome = answer.unwrap().outcome;
        let is_granted = question.is_granted_by(&outcome);
        let was_cancelled =
            was_cancelled || matches!(outcome, RequestPermissionOutcome::Cancelled(_));
        let reason = if was_cancelled { "cancelled" } else { "end_turn" };
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

/// A message received by the client.
enum ClientMessage {
    Request,
    Update(String),
}

/// Allows the first request; leaves later ones open until they are cancelled.
struct Client {
    seen: mpsc::UnboundedSender<ClientMessage>,
    has_request: Mutex<bool>,
}

#[async_trait::async_trait]
impl v2::Client for Client {
    async fn request_permission(
        &self,
        _: RequestPermissionRequest,
        context: Context,
    ) -> Result<RequestPermissionResponse, ErrorObject> {
        self.seen.unbounded_send(ClientMessage::Request).unwrap();
        let had_request = std::mem::replace(&mut *self.has_request.lock().unwrap(), true);
        Ok(RequestPermissionResponse::new(if had_request {
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
        self.seen.unbounded_send(ClientMessage::Update(update)).unwrap();
    }
}

/// Returns the messages up to the end of a turn; `on_request` handles a question.
async fn turn(
    seen: &mut mpsc::UnboundedReceiver<ClientMessage>,
    on_request: impl Fn(),
) -> Vec<String> {
    let mut messages = Vec::new();
    while let Some(seen) = seen.next().await {
        match seen {
            ClientMessage::Request => on_request(),
            ClientMessage::Update(update) => {
                let is_over = update.contains(r#""idle""#);
                messages.push(update);
                if is_over {
                    break;
                }
            }
        }
    }
    messages
}

fn reason(end: &ReceivedValue<TurnEnd>) -> String {
    serde_json::from_str::<serde_json::Value>(end.raw.as_str()).unwrap()["update"]["stopReason"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// A turn is reported by updates and ends when the session is idle: once by itself, once by a
/// cancellation during a question.
#[test]
fn turns_of_version_2_end_when_idle() {
    let ((reads, writes), (client_reads, client_writes)) = memory::duplex(4);
    let (turns, taken) = mpsc::unbounded();
    let agent = Agent { turns, cancel: Mutex::default() };
    let (agent, _) = v2::connect_agent(agent, reads, writes, ConnectionOptions::default());
    let (seen, mut sees) = mpsc::unbounded();
    let client = Client { seen, has_request: Mutex::default() };
    let initialize =
        InitializeRequest::new(ProtocolVersion::V2, Implementation::new("client", "1"));
    let (client, sessions) = v2::connect_client(
        client,
        client_reads,
        client_writes,
        initialize,
        ConnectionOptions::default(),
    );
    let user = async {
        assert_eq!(sessions.initialized().await.unwrap().version, ProtocolVersion::V2);
        let session = sessions.open(NewSessionRequest::new("/p")).await.unwrap();

        let (end, messages) =
            join(session.prompt(Prompt::v2(["go".into()])), turn(&mut sees, || ())).await;
        assert_eq!(reason(&end.unwrap()), "end_turn");
        let running = r#"{"sessionUpdate":"state_update","state":"running"}"#;
        let idle = r#"{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}"#;
        assert_eq!(messages, [running, "call pending", "call completed", idle]);

        let prompt = session.prompt(Prompt::v2(["go".into()]));
        let (end, messages) = join(prompt, turn(&mut sees, || session.cancel())).await;
        assert_eq!(reason(&end.unwrap()), "cancelled");
        let idle = idle.replace("end_turn", "cancelled");
        assert_eq!(messages, [running, "call pending", "call cancelled", &*idle]);
        drop(session);
        sessions.shut_down();
    };
    // The worker ends with the agent, which holds the other end of its queue.
    let ((ends, ()), ()) = block_on(join(join(join(agent, client), user), work(taken)));
    assert!(matches!(ends, (Ok(()), Ok(()))));
}
