//! The agent and the client, connected.
use acp_types::connection::{ConnectionOptions, v1};
use acp_types::v1::prompt_turn::{SessionUpdate, StopReason};
use acp_types::v1::tool_calls::ToolCallStatus;
use futures::executor::block_on;
use futures::join;
use jsonrpc_core::memory;
use snippets::acp_agent::Editor;
use snippets::acp_client::{Agreeable, initialize, turn};
use std::error::Error;

#[test]
fn agent_and_client_complete_a_turn() -> Result<(), Box<dyn Error>> {
    let options = ConnectionOptions::default();
    let ((agent_reads, agent_writes), (client_reads, client_writes)) = memory::duplex(1);
    let client = Agreeable::default();
    let told = client.0.clone();
    let (agent, _) = v1::connect_agent(Editor, agent_reads, agent_writes, options);
    let (client, sessions) =
        v1::connect_client(client, client_reads, client_writes, initialize(), options);
    let turn = turn(&sessions, "Edit it");
    let (agent, client, stop) = block_on(async { join!(agent, client, turn) });
    assert_eq!(stop?, StopReason::EndTurn);
    agent?;
    client?;
    let told = told.lock().map_err(|error| error.to_string())?;
    let [SessionUpdate::ToolCall(call), SessionUpdate::ToolCallUpdate(update)] = told.as_slice()
    else {
        return Err(format!("{told:?}").into());
    };
    assert_eq!((call.title.as_str(), &update.tool_call_id), ("Edit a file", &call.tool_call_id));
    assert_eq!(update.status.value(), Some(&ToolCallStatus::Completed));
    Ok(())
}
