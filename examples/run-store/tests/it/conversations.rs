//! Conversations of any store.
use crate::contract::LONG;
use agui_types::event::{
    Event, MessagesSnapshotEvent, RunFinishedEvent, RunStartedEvent, TextMessageContentEvent,
    TextMessageEndEvent, TextMessageStartEvent,
};
use agui_types::interrupt::{ResumeEntry, ResumeStatus};
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

/// Returns the ids of the messages before a run.
async fn ids_before(store: &dyn RunStore, run: &str) -> Vec<String> {
    let record = store.run(run).await.expect("a read").expect("a run");
    record.input.messages.iter().filter_map(Message::id).map(|id| id.to_string()).collect()
}

/// A snapshot of an agent removes no message, and an input only the end of a conversation.
pub(crate) async fn keeps_messages(store: &dyn RunStore) {
    let name = thread("u", "kept");
    let [m, o, q] = [("m", "Hi"), ("o", "More"), ("q", "On")].map(|(id, it)| user_message(id, it));
    run(store, "k1", &name, &m, &answer("n", "Ho")).await;
    let shorter = record(&name, &o).input.messages;
    let wiping = [vec![MessagesSnapshotEvent::new(shorter).into()], answer("p", "Ha")].concat();
    run(store, "k2", &name, &o, &wiping).await;
    run(store, "k3", &name, &q, &[]).await;
    assert_eq!(ids_before(store, "k3").await, ["m", "n", "o", "p", "q"]);

    // A client that has only the end of the conversation, with new instructions.
    let end = format!(
        r#"{{"id":"system-2","role":"system","content":"Be brief."}},{q},{}"#,
        user_message("s", "And?")
    );
    run(store, "k4", &name, &end, &[]).await;
    assert_eq!(ids_before(store, "k4").await, ["system-2", "m", "n", "o", "p", "q", "s"]);

    // The user edits a message.
    let answered = r#"{"id":"n","role":"assistant","content":"Ho"}"#;
    let edited = format!("{m},{answered},{}", user_message("o", "Else"));
    run(store, "k5", &name, &edited, &[]).await;
    assert_eq!(ids_before(store, "k5").await, ["m", "n", "o"]);
}

/// A client without the conversation that answers a question with its last message leaves the conversation as it is.
pub(crate) async fn continues_with_answers(store: &dyn RunStore) {
    let name = thread("u", "answers");
    run(store, "a1", &name, &user_message("m", "Hi"), &answer("n", "Ho")).await;
    run(store, "a2", &name, &user_message("o", "More"), &answer("p", "Ha")).await;
    let mut answered = record(&name, &user_message("o", "More"));
    answered.input =
        answered.input.with_resume(vec![ResumeEntry::new("q", ResumeStatus::Resolved)]);
    assert!(store.begin_run("a3", &answered).await.expect("a run"));
    assert_eq!(ids_before(store, "a3").await, ["m", "n", "o", "p"]);
}

/// Returns the messages before a run, each as its id and text.
async fn texts_before(store: &dyn RunStore, run: &str) -> Vec<String> {
    let record = store.run(run).await.expect("a read").expect("a run");
    let text = |message: &Message| {
        let message = serde_json::to_value(message).expect("JSON");
        let part = |name: &str| message[name].as_str().unwrap_or_default().to_owned();
        format!("{}: {}", part("id"), part("content"))
    };
    record.input.messages.iter().map(text).collect()
}

/// A run that waits for the end of another one has the whole answer of that one, however much of it the client had.
pub(crate) async fn continues_after_waiting(store: &dyn RunStore) {
    let name = thread("u", "waiting");
    let [m, o, q] = [("m", "Hi"), ("o", "More"), ("q", "On")].map(|(id, it)| user_message(id, it));
    let begun = [RunStartedEvent::new("waiting", "r").into()];
    let events = [&begun[..], &answer("n", "Ho, ho")].concat();
    let append = async |run: &str, after: usize, to: usize, has_ended: bool| {
        let frames = events[after..to].iter().map(frame).collect();
        let part = LogPart { base: None, after: after as u64, frames, has_ended };
        store.append(run, &part, LONG).await.expect("a place");
    };
    let seen = r#"{"id":"n","role":"assistant","content":"Ho"}"#;
    let edited = user_message("m", "Hey");
    let waiting = [
        ("w2", o.clone(), &["m: Hi", "n: Ho, ho", "o: More"][..]),
        ("w3", format!("{m},{seen},{q}"), &["m: Hi", "n: Ho, ho", "q: On"]),
        ("w4", format!("{m},{q}"), &["m: Hi", "n: Ho, ho", "q: On"]),
        ("w5", edited, &["m: Hey"]),
        ("w6", m.clone(), &["m: Hi"]),
    ];
    for (run, input, expected) in waiting {
        assert!(store.begin_run("w1", &record(&name, &m)).await.expect("a run"));
        append("w1", 0, 2, false).await;
        assert!(store.begin_run(run, &record(&name, &input)).await.expect("a run"));
        append("w1", 2, 4, true).await;
        assert_eq!(texts_before(store, run).await, expected, "{run}");
        for run in ["w1", run] {
            store.forget_run(run).await.expect("no run");
        }
    }

    // The first of two that wait is refused.
    assert!(store.begin_run("w1", &record(&name, &m)).await.expect("a run"));
    append("w1", 0, 2, false).await;
    for (run, input) in [("w7", &o), ("w8", &q)] {
        assert!(store.begin_run(run, &record(&name, input)).await.expect("a run"));
    }
    store.forget_run("w7").await.expect("no run");
    append("w1", 2, 4, true).await;
    assert_eq!(texts_before(store, "w8").await, ["m: Hi", "n: Ho, ho", "q: On"]);

    // Two wait, and the owner of the first run is lost.
    store.forget_run("w8").await.expect("no run");
    store.forget_run("w1").await.expect("no run");
    assert!(store.begin_run("w1", &record(&name, &m)).await.expect("a run"));
    append("w1", 0, 3, false).await;
    for (run, input) in [("w9", &o), ("w10", &q)] {
        assert!(store.begin_run(run, &record(&name, input)).await.expect("a run"));
    }
    store.end_run("w1", 3, &frame(&events[3])).await.expect("an end");
    assert_eq!(texts_before(store, "w10").await, ["m: Hi", "n: Ho, ho", "o: More", "q: On"]);
}
