//! Calls and requests past the limits of a connection.
use super::*;
use acp_types::agent::{Diagnostic, Problem};

#[test]
fn calls_past_the_limit_end_at_once() {
    let mut limits = Limits::default();
    limits.calls = 2;
    let mut agent = Agent::with_limits(limits);
    let call = || Call::new(&ReadTextFileRequest::new("s", "/x"));
    let calls = [(); 3].map(|()| agent.0.call(call(), NOW));
    assert_eq!(agent.sent().len(), 2);
    assert_eq!(agent.0.open_calls(), 3);
    assert_eq!(agent.events(), [Event::CallEnded(calls[2], Err(CallError::Full))]);
    // The end of a call has to be polled before another one fits.
    agent.line(json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": "text" } }));
    let refused = agent.0.call(call(), NOW);
    assert_eq!(agent.sent().len(), 0);
    let ended: Vec<_> = agent.events();
    assert!(matches!(ended[0], Event::CallEnded(call, Ok(_)) if call == calls[0]), "{ended:?}");
    assert_eq!(ended[1..], [Event::CallEnded(refused, Err(CallError::Full))]);
    agent.0.call(call(), NOW);
    assert_eq!(agent.sent().len(), 1);
}

#[test]
fn request_without_room_is_answered_by_the_machine() {
    let mut limits = Limits::default();
    limits.event_bytes = 100;
    let mut agent = Agent::with_limits(limits);
    let ask = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": prompt("s") });
    agent.line(ask(1));
    agent.line(ask(2));
    let sent = agent.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(&sent[0]["id"], &json!(2));
    assert_eq!(sent[0]["error"]["message"], "too many messages are waiting");
    let events = agent.events();
    assert!(
        matches!(
            &events[..],
            [
                Event::Request(..),
                Event::Diagnostic(Diagnostic::Refused { problem: Problem::Limit, .. })
            ]
        ),
        "{events:?}"
    );
    agent.line(ask(3));
    assert!(matches!(&agent.events()[..], [Event::Request(..)]));
}
