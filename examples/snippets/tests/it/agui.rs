//! The AG-UI agent for a page and in an editor, and page tools.
use acp_types::connection::{ConnectionOptions, v1};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::{SessionUpdate, StopReason};
use agui_bridge::frontend_tool::{NewCall, Outcome};
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::sse::Decoder;
use agui_types::verify::Verifier;
use core::time::Duration;
use futures::executor::block_on;
use futures::join;
use jsonrpc_core::memory;
use jsonrpc_core::wire::{Raw, decode};
use snippets::acp_client::{Agreeable, initialize, turn};
use snippets::agui_agent::answer;
use snippets::agui_in_editor::Bridged;
use snippets::frontend_tools::Thread;
use std::error::Error;

const PAGE: &str = r#"{"threadId":"t","runId":"r","protocolVersion":"1.0",
    "messages":[{"id":"u","role":"user","content":"Paint it"}],
    "tools":[{"name":"pick","description":"Asks the user for one."}]}"#;

#[test]
fn page_tool_is_called_if_provided() -> Result<(), Box<dyn Error>> {
    let input: RunAgentInput = decode(PAGE)?;
    let body = block_on(answer(&input))?;
    let (mut decoder, mut verifier, mut last) =
        (Decoder::default(), Verifier::strict_for(&input), None);
    decoder.push(&body);
    decoder.finish();
    while let Some(frame) = decoder.next_frame() {
        let event: Event = frame?.decode()?;
        verifier.handle(&event)?;
        last = Some(event);
    }
    verifier.finish()?;
    let Some(Event::RunFinished(finished)) = last else { return Err("no end".into()) };
    let outcome = r#"{"type":"success","pendingToolCallIds":["pick"]}"#;
    assert_eq!(serde_json::to_string(&finished.outcome)?, outcome);
    Ok(())
}

#[test]
fn editor_drives_the_agent() -> Result<(), Box<dyn Error>> {
    let ((agent_reads, agent_writes), (client_reads, client_writes)) = memory::duplex(1);
    let client = Agreeable::default();
    let told = client.0.clone();
    let options = ConnectionOptions::default();
    let (agent, _) = v1::connect_agent(Bridged::default(), agent_reads, agent_writes, options);
    let (client, sessions) =
        v1::connect_client(client, client_reads, client_writes, initialize(), options);
    let turn = turn(&sessions, "Paint it");
    let (agent, client, stop) = block_on(async { join!(agent, client, turn) });
    assert_eq!(stop?, StopReason::EndTurn);
    agent?;
    client?;
    let told = told.lock().map_err(|error| error.to_string())?;
    let tags: Vec<_> = told.iter().map(SessionUpdate::tag).collect();
    let text = "agent_message_chunk";
    assert_eq!(tags, [text, "tool_call", "tool_call_update", "tool_call_update", text]);
    let Some(SessionUpdate::AgentMessageChunk(last)) = told.last() else {
        return Err("no text".into());
    };
    assert_eq!(last.content, ContentBlock::from("I paint it green."));
    Ok(())
}

#[test]
fn parked_call_is_answered_by_the_next_input() -> Result<(), Box<dyn Error>> {
    let at = Duration::from_millis;
    let mut thread = Thread::default();
    thread.post(&decode(PAGE)?, at(0))?;
    let call = thread.call(NewCall::new("pick", Raw::from_text(r#"{"of":"green"}"#)?), at(1))?;
    let first = thread.stream(at(200));
    assert!(matches!(first.last(), Some(Event::RunFinished(_))), "{first:?}");
    assert!(thread.answers.0.is_empty());

    let mut next: RunAgentInput = decode(PAGE)?;
    next.run_id = "r2".into();
    let result = format!(r#"{{"id":"m","role":"tool","toolCallId":"{call}","content":"green"}}"#);
    next.messages.push(decode(&result)?);
    thread.post(&next, at(1000))?;
    let chunk = r#"{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Thanks."}}}"#;
    thread.update(decode(chunk)?, at(1010));
    thread.end_turn();
    let second = thread.stream(at(1020));
    let types: Vec<_> = second.iter().map(Event::tag).collect();
    let text = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"];
    assert_eq!(types, [&["RUN_STARTED"], &text[..], &["RUN_FINISHED"]].concat());
    let [(id, Outcome::Result(result))] = &thread.answers.0[..] else {
        return Err(format!("{:?}", thread.answers).into());
    };
    assert_eq!((id, result.content.text().as_str()), (&call, "green"));
    Ok(())
}
