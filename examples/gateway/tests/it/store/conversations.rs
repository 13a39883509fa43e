//! Conversations of any store.
use crate::store::contract::LONG;
use agui_types::event::{
    Event, MessagesSnapshotEvent, RunFinishedEvent, RunStartedEvent, TextMessageContentEvent,
    TextMessageEndEvent, TextMessageStartEvent,
};
use agui_types::interrupt::{ResumeEntry, ResumeStatus};
use agui_types::message::Message;
use agui_types::sse;
use bytes::Bytes;
use gateway::store::{LogPart, RunRecord, RunStore, ThreadName};
use jsonrpc_core::wire;

pub(crate) fn thread(user: &str, id: &str) -> ThreadName {
    ThreadName { user: user.to_owned(), agent: "coder".to_owned(), id: id.to_owned() }
}

pub(crate) fn record(thread: &ThreadName, messages: &str) -> RunRecord {
    let input = format!(r#"{{"threadId":"{}","runId":"r","messages":[{messages}]}}"#, thread.id);
    let input = wire::decode(&input).expect("an input");
    RunRecord { thread: thread.text(), owner: "0".to_owned(), fingerprint: 0, input, cancel: None }
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

/// A client without the conversation that answers a question with its last message leaves the
/// conversation as it is.
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

/// A client that has missed a part of the last answer, and goes on, removes nothing. One that asks
/// again does.
pub(crate) async fn keeps_missed_answers(store: &dyn RunStore) {
    let [m, o, q] = [("m", "Hi"), ("o", "More"), ("q", "On")].map(|(id, it)| user_message(id, it));
    let assistant =
        |id: &str, text: &str| format!(r#"{{"id":"{id}","role":"assistant","content":"{text}"}}"#);
    let call = r#"{"id":"c","type":"function","function":{"name":"look","arguments":"{}"}}"#;
    let calling = format!(r#"{{"id":"t","role":"assistant","toolCalls":[{call}]}}"#);
    let cut_calling = calling.replace(r#""{}""#, r#""{""#);
    let renewed_calling = format!(r#"{{"id":"t-2","role":"assistant","toolCalls":[{call}]}}"#);
    let result = r#"{"id":"r","role":"tool","toolCallId":"c","content":"Seen."}"#;
    let renewed_result = r#"{"id":"r-2","role":"tool","toolCallId":"c","content":"Seen."}"#;
    let n = assistant("n", "Ho");
    let p = assistant("p", "Ha, ha");
    let whole = ["m", "n", "o", "t", "r", "p", "q"];
    let inputs = [
        ("its last answer", format!("{m},{n},{o},{q}"), &whole[..]),
        ("a part of the text", format!("{m},{n},{o},{},{q}", assistant("p", "Ha")), &whole),
        ("the last text", format!("{m},{n},{o},{calling},{result},{q}"), &whole),
        ("a result", format!("{m},{n},{o},{calling},{q}"), &whole),
        ("all calls", format!("{m},{n},{o},{p},{q}"), &whole),
        ("all answers", format!("{m},{o},{q}"), &whole),
        ("nothing", format!("{m},{n},{o},{calling},{result},{p},{q}"), &whole),
        (
            "its ids",
            format!(
                "{},{},{},{renewed_calling},{renewed_result},{q}",
                user_message("m-2", "Hi"),
                assistant("n-2", "Ho"),
                user_message("o-2", "More"),
            ),
            &["m-2", "n-2", "o-2", "t-2", "r-2", "p", "q"],
        ),
        ("the beginning", format!("{o},{q}"), &whole),
        ("the text of a known message", format!("{m},{n},{o},{},{q}", assistant("p", "")), &whole),
        ("the end of a call", format!("{m},{n},{o},{cut_calling},{q}"), &whole),
        (
            "its ids, and the end of the text",
            format!(
                "{},{},{},{renewed_calling},{renewed_result},{},{q}",
                user_message("m-2", "Hi"),
                assistant("n-2", "Ho"),
                user_message("o-2", "More"),
                assistant("p-2", "Ha"),
            ),
            &["m-2", "n-2", "o-2", "t-2", "r-2", "p", "q"],
        ),
        (
            "some ids",
            format!(
                "{},{},{o},{calling},{result},{p},{q}",
                user_message("m-2", "Hi"),
                assistant("n-2", "Ho")
            ),
            &["m-2", "n-2", "o", "t", "r", "p", "q"],
        ),
        ("nothing, and asks again", format!("{m},{n},{o}"), &["m", "n", "o"]),
        (
            "nothing, and edits",
            format!("{m},{n},{},{q}", user_message("o", "Less")),
            &["m", "n", "o", "q"],
        ),
        ("nothing, and goes back", format!("{m},{n},{q}"), &["m", "n", "q"]),
    ];
    for (lacks, input, expected) in inputs {
        let name = thread("u", lacks);
        let run_name = |place: &str| format!("{lacks} {place}");
        run(store, &run_name("1"), &name, &m, &answer("n", "Ho")).await;
        let before = format!("{m},{n},{o},{calling},{result}");
        run(store, &run_name("2"), &name, &before, &answer("p", "Ha, ha")).await;
        run(store, &run_name("3"), &name, &input, &[]).await;
        assert_eq!(ids_before(store, &run_name("3")).await, expected, "the client lacks {lacks}");
        let texts = texts_before(store, &run_name("3")).await;
        let has_answer = texts.iter().any(|text| text == "p: Ha, ha");
        assert_eq!(has_answer, expected.contains(&"p"), "the client lacks {lacks}");
        let record = store.run(&run_name("3")).await.expect("a read").expect("a run");
        let history = serde_json::to_string(&record.input.messages).expect("JSON");
        assert!(!history.contains(r#""arguments":"{""#), "the client lacks {lacks}");
    }
}

/// A conversation without an answer, of which a client has the messages with new ids.
pub(crate) async fn recognizes_prompts(store: &dyn RunStore) {
    let name = thread("u", "prompts");
    run(store, "p1", &name, &user_message("m", "Hi"), &[]).await;
    let renewed = format!("{},{}", user_message("m-2", "Hi"), user_message("o", "More"));
    run(store, "p2", &name, &renewed, &[]).await;
    assert_eq!(ids_before(store, "p2").await, ["m-2", "o"]);
    run(store, "p3", &name, &user_message("q", "Hi"), &[]).await;
    assert_eq!(ids_before(store, "p3").await, ["m-2", "o", "q"], "a new message alone");
}

/// What an agent repeats of its conversation stays at its place.
pub(crate) async fn keeps_places(store: &dyn RunStore) {
    let name = thread("u", "places");
    let assistant = |id: &str| format!(r#"{{"id":"{id}","role":"assistant","content":"Ho"}}"#);
    let [m, o, q] = [("m", "Hi"), ("o", "More"), ("q", "On")].map(|(id, it)| user_message(id, it));
    run(store, "s1", &name, &m, &answer("n", "Ho")).await;
    let repeated = format!("{m},{},{},{o}", user_message("x", "There"), assistant("y"));
    let snapshot = MessagesSnapshotEvent::new(record(&name, &repeated).input.messages).into();
    run(store, "s2", &name, &o, &[vec![snapshot], answer("p", "Ha")].concat()).await;
    run(store, "s3", &name, &q, &[]).await;
    assert_eq!(ids_before(store, "s3").await, ["m", "n", "x", "y", "o", "p", "q"]);
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

/// A run that waits for the end of another one has the whole answer of that one, however much of it
/// the client had.
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
