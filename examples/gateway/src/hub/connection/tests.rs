//! Tests of runs that start between the end of a connection and the end of its transport.
use super::*;
use crate::store::{LogLimits, RunLog};
use crate::telemetry::{Program, Telemetry, TelemetryOptions};
use acp_types::client;
use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
use agui_bridge::conversation::ConversationOptions;
use agui_types::input::RunAgentInput;
use host::permissions::{Files, Rules};
use host::transport::Address;
use jsonrpc_core::wire;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;

fn connection() -> AgentConnection {
    let program = Program { name: "test", version: "1", warn: drop };
    let options = TelemetryOptions::default();
    let telemetry = Telemetry::new(program, &options, &Handle::current()).unwrap();
    let agent = AgentSetup {
        address: Address::Command {
            words: vec!["false".to_owned()],
            secrets: Vec::new(),
            variables: BTreeMap::new(),
        },
        client: client::Options::v1(InitializeRequest::new(ProtocolVersion::V1)),
        authenticate: None,
        access: None,
        rules: Rules::new(&[], "agent", Files::Remote),
        exit_grace: Duration::from_secs(1),
        is_optional: false,
        telemetry,
    };
    let options = HubOptions::new(ConversationOptions::new("/"));
    AgentConnection::new(agent, options, mpsc::unbounded_channel().0)
}

/// The task learns a moment later that the hub has closed its connection, and ends the transport
/// then.
#[tokio::test]
async fn run_waits_for_the_end_of_a_closed_connection() {
    let connection = connection();
    let conversation = Conversation::new(ConversationOptions::new("/"));
    let thread = ThreadState::new(None, watch::Sender::new(None));
    assert!(connection.open_thread("t", conversation, thread).unwrap());
    connection.shared.lock().is_open = true;
    let input: RunAgentInput =
        wire::decode(r#"{"threadId":"t","runId":"r","messages":[]}"#).unwrap();
    let limits = LogLimits { events: 64, bytes: 1 << 16, readers: 1 };
    let log = Arc::new(RunLog::new(&input, limits));
    let (reply, mut begun) = oneshot::channel();
    connection.start(
        "t",
        NewRun { run: input.into(), log, span: None, cancel: Arc::default() },
        reply,
    );
    let state = connection.shared.lock();
    assert!(!state.hub.is_connected());
    assert_eq!(state.postponed.as_ref().map(Vec::len), Some(1));
    assert!(begun.try_recv().is_err(), "the run has begun, or is refused");
}

#[tokio::test]
async fn answer_of_next_agent_is_awaited_while_one_ends() {
    let connection = connection();
    connection.shared.lock().is_open = true;
    let waited = tokio::time::timeout(Duration::ZERO, connection.initialized()).await;
    assert!(waited.is_err(), "neither answered nor refused");
    let state = connection.shared.lock();
    assert_eq!(state.waiting.len(), 0);
    assert_eq!(state.waiting_for_next.len(), 1);
    assert!(!state.hub.is_connected(), "the next agent does not start before the end");
}
