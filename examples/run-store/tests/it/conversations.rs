//! Conversations of any store.
use crate::contract::LONG;
use agui_types::event::{
    Event, RunFinishedEvent, RunStartedEvent, TextMessageContentEvent, TextMessageEndEvent,
    TextMessageStartEvent,
};
use agui_types::message::Message;
use agui_types::sse;
use bytes::Bytes;
use jsonrpc_core::wire;
use run_store::{LogPart, RunRecord, RunStore, ThreadName};

pub(crate) fn thread(user: &str, id: &str) -> ThreadName {
    ThreadName { user: user.to_owned(), agent: "coder".to_owned(), id: id.to_owned() }
}

pub(crate) fn record(thread: &ThreadName, messages: &str) -> RunRecord {
    let input = format!(r#"{{"threadId":"{}","runId":"r","messages":[{messages}]}}"#, thread.id);
    let input = wire::decode(&input).expect("an input");
    RunRecord { thread: thread.text(), owner: "0".to_owned(), fingerprint: 0, input }
}

pub(crate) fn frame(event: &Event) -> Bytes {
    let mut bytes = Vec::new();
    sse::write_event(&mut bytes, event).expect("JSON");
    bytes.into()
}

pub(crate) fn user_message(id: &str, text: &str) -> String {
    format!(r#"{{"id":"{id}","role":"user","content":"{text}"}}"#)
}

/// Runs a prompt to its end.
pub(crate) async fn run(
    store: &dyn RunStore,
    name: &str,
    thread: &ThreadName,
    messages: &str,
    middle: &[Event],
) {
    assert!(store.begin_run(name, &record(thread, messages)).await.expect("a run"));
    let begin: Event = RunStartedEvent::new(&*thread.id, "r").into();
    let end: Event = RunFinishedEvent::new(&*thread.id, "r").into();
    let events = [&begin].into_iter().chain(middle).chain([&end]);
    let part =
        LogPart { base: None, after: 0, frames: events.map(frame).collect(), has_ended: true };
    store.append(name, &part, LONG).await.expect("a place");
}

pub(crate) fn answer(id: &str, text: &str) -> Vec<Event> {
    vec![
        TextMessageStartEvent::new(id).into(),
        TextMessageContentEvent::new(id, text).into(),
        TextMessageEndEvent::new(id).into(),
    ]
}

/// A client that sends only its new messages continues the conversation.
pub(crate) async fn continues_with_new_messages(store: &dyn RunStore) {
    let name = thread("u", "a");
    run(store, "1", &name, &user_message("m", "Hi"), &answer("n", "Ho")).await;
    run(store, "2", &name, &user_message("o", "More"), &answer("p", "Ha")).await;
    let record = store.run("2").await.expect("a read").expect("a run");
    let ids: Vec<_> = record.input.messages.iter().filter_map(Message::id).collect();
    assert_eq!(ids, ["m".into(), "n".into(), "o".into()]);
    // The earlier messages of an input that leaves them out are bounded.
    let long = "x".repeat(3 << 20);
    run(store, "3", &name, &user_message("q", "Long"), &answer("r", &long)).await;
    run(store, "4", &name, &user_message("s", "Long"), &answer("t", &long)).await;
    run(store, "5", &name, &user_message("u", "End"), &[]).await;
    let record = store.run("5").await.expect("a read").expect("a run");
    let ids: Vec<_> = record.input.messages.iter().filter_map(Message::id).collect();
    assert_eq!(ids, ["s".into(), "t".into(), "u".into()], "the latest within 4 MiB");
}
