//! The history of conversations in a file.
use crate::store::contract::LONG;
use crate::store::conversations::{
    answer, continues_after_waiting, continues_with_answers, continues_with_new_messages, frame,
    keeps_messages, keeps_missed_answers, keeps_places, recognizes_prompts, record, run, thread,
    user_message,
};
use agui_types::event::{
    ActivitySnapshotEvent, CustomEvent, Event, MessagesSnapshotEvent, RunErrorEvent,
    RunFinishedEvent, RunFinishedInterruptOutcome, RunFinishedOutcome, RunStartedEvent,
};
use agui_types::interrupt::Interrupt;
use agui_types::message::Message;
use gateway::store::{
    FileLimits, FileStore, LastRun, LogPart, RunRecord, RunStore, ThreadQuery, ThreadSummary,
};
use jsonrpc_core::wire::{self, Extra, Raw};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

const LIMITS: FileLimits = FileLimits {
    bytes: 64 << 20,
    threads: FileLimits::THREADS,
    shares: 1,
    age: Duration::from_secs(3600),
};

async fn list(store: &FileStore, user: &str, search: &str) -> Vec<ThreadSummary> {
    let query = ThreadQuery { search: Some(search.to_owned()), ..ThreadQuery::default() };
    store.threads(user, query).await.expect("a list").threads
}

async fn titles(store: &FileStore, search: &str) -> Vec<String> {
    list(store, "u", search).await.into_iter().map(|thread| thread.title).collect()
}

fn memory() -> FileStore {
    FileStore::in_memory(LIMITS).expect("memory")
}

#[tokio::test]
async fn conversations_of_one_user_are_listed_and_searched() {
    let store = memory();
    run(&store, "1", &thread("u", "a"), &user_message("m", "Fix the  Büro test"), &[]).await;
    let said = answer("n", "It was a RACE condition.");
    run(&store, "2", &thread("u", "b"), &user_message("m", "Why 100%?"), &said).await;
    run(&store, "3", &thread("other", "c"), &user_message("m", "Fix mine"), &[]).await;
    assert_eq!(titles(&store, "").await, ["Why 100%?", "Fix the Büro test"]);
    assert_eq!(titles(&store, "BÜRO").await, ["Fix the Büro test"]);
    assert_eq!(titles(&store, "race CONDITION").await, ["Why 100%?"], "answers are searched");
    assert_eq!(titles(&store, "100%").await, ["Why 100%?"], "a sign is no wildcard");
    assert_eq!(titles(&store, "mine").await, [""; 0], "another user's");
    assert_eq!(titles(&store, "r").await, ["Why 100%?", "Fix the Büro test"], "one character");
    assert_eq!(titles(&store, "\"x").await, [""; 0], "a quotation mark is text");
    let found = store.thread("other", None, "a").await.expect("a read");
    assert_eq!(found, None, "another user's");
}

#[tokio::test]
async fn renames_do_not_add_to_the_text() {
    let store = memory();
    let name = thread("user", "a");
    run(&store, "1", &name, &user_message("m", "Hi"), &answer("n", "Ho")).await;
    for title in ["First title", "Second title", "Third title"] {
        assert!(store.rename(&name, title).await.expect("a title"));
    }
    assert_eq!(list(&store, "user", "third").await.len(), 1);
    assert_eq!(list(&store, "user", "second").await, [], "an earlier title is not searched");
}

/// A text of few different characters, so that parts of it are found.
fn text() -> impl Strategy<Value = String> {
    "[abé\"% ]{0,12}"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// For any texts and any search, a user finds the own conversations that contain it, in any
    /// case.
    #[test]
    fn search_finds_every_conversation_with_the_text(
        texts in prop::collection::vec((prop_oneof![Just("u"), Just("user"), Just("other")], text()), 0..8),
        search in "[abéABÉ\"% ]{0,5}",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let folder = tempfile::tempdir().expect("a folder");
            let store = FileStore::open(&folder.path().join("store.db"), LIMITS).expect("a file");
            for (number, (user, text)) in texts.iter().enumerate() {
                let id = number.to_string();
                let said = answer("n", text);
                run(&store, &id, &thread(user, &id), &user_message("m", "-"), &said).await;
            }
            let sought = search.trim().to_lowercase();
            for user in ["u", "user", "other"] {
                let found = list(&store, user, &search).await.into_iter();
                let mut found: Vec<_> = found.map(|thread| thread.id).collect();
                found.sort();
                let with_text = texts.iter().enumerate().filter(|(_, (owner, text))| {
                    *owner == user && text.to_lowercase().contains(&sought)
                });
                let expected: Vec<_> = with_text.map(|(number, _)| number.to_string()).collect();
                prop_assert_eq!(found, expected, "{} {:?}", user, sought);
            }
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn list_is_read_in_parts() {
    let store = memory();
    for number in 0..7 {
        let name = number.to_string();
        run(&store, &name, &thread("u", &name), &user_message("m", &name), &[]).await;
    }
    let mut titles = Vec::new();
    let mut after = None;
    loop {
        let query = ThreadQuery { search: None, after, limit: Some(3) };
        let page = store.threads("u", query).await.expect("a list");
        assert!(page.threads.len() <= 3);
        titles.extend(page.threads.into_iter().map(|thread| thread.title));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(titles, ["6", "5", "4", "3", "2", "1", "0"]);
}

#[tokio::test]
async fn title_of_the_user_outranks_that_of_the_agent_and_of_the_prompt() {
    let store = memory();
    let name = thread("u", "a");
    let value = |title: &str| Raw::from_text(format!(r#"{{"title":"{title}"}}"#)).expect("JSON");
    let retitled = |title| [CustomEvent::new("acp.session_info", value(title)).into()];
    let prompt = user_message("m", &"word ".repeat(50));
    run(&store, "1", &name, &prompt, &[]).await;
    let by_prompt = titles(&store, "").await.concat();
    assert!(by_prompt.starts_with("word word") && by_prompt.chars().count() == 80, "{by_prompt}");
    run(&store, "2", &name, &prompt, &retitled("By the agent")).await;
    assert_eq!(titles(&store, "by the AGENT").await, ["By the agent"]);
    assert!(store.rename(&name, "Mine\n now").await.expect("a title"));
    run(&store, "3", &name, &prompt, &retitled("Again")).await;
    assert_eq!(titles(&store, "mine NOW").await, ["Mine now"]);
    assert!(!store.rename(&thread("u", "missing"), "x").await.expect("an answer"));
}

#[tokio::test]
async fn last_run_of_a_thread_outlives_its_retention() {
    let store = memory();
    let name = thread("u", "a");
    for run_name in ["1", "2"] {
        run(&store, run_name, &name, &user_message("m", "Hi"), &[]).await;
        store.retire_run(run_name).await.expect("a change");
    }
    assert!(store.run("1").await.expect("a read").is_none(), "a later run has its messages");
    let last = store.last_run(&name).await.expect("a read").expect("a run");
    assert_eq!(last.name, "2");
    assert!(store.read("2", 0).await.expect("a read").expect("a run").has_ended);
    let again = store.begin_run("2", &record(&name, "")).await;
    assert!(again.expect("a run"), "a run of the same name replaces it");
}

#[tokio::test]
async fn run_of_another_thread_may_have_the_id_of_a_retired_one() {
    let store = memory();
    for id in ["a", "b"] {
        run(&store, "1", &thread("u", id), &user_message("m", id), &answer("n", id)).await;
        store.retire_run("1").await.expect("a change");
    }
    for id in ["a", "b"] {
        let last = store.last_run(&thread("u", id)).await.expect("a read").expect("a run");
        assert_eq!(last.record.input.thread_id.as_str(), id);
        assert_eq!(
            store.read(&last.name, 0).await.expect("a read").expect("a run").frames.len(),
            5
        );
    }
}

#[tokio::test]
async fn refused_run_leaves_the_history_as_it_was() {
    let store = memory();
    let name = thread("u", "a");
    assert!(store.begin_run("0", &record(&name, &user_message("m", "Hi"))).await.expect("a run"));
    store.forget_run("0").await.expect("a change");
    assert_eq!(titles(&store, "").await, [""; 0], "the conversation has not begun");
    run(&store, "1", &name, &user_message("m", "Hi"), &[]).await;
    store.retire_run("1").await.expect("a change");
    assert!(store.begin_run("2", &record(&name, &user_message("n", "Ha"))).await.expect("a run"));
    store.forget_run("2").await.expect("a change");
    assert_eq!(store.last_run(&name).await.expect("a read").expect("a run").name, "1");
}

#[tokio::test]
async fn activities_of_earlier_runs_stay_at_their_place() {
    let store = memory();
    let name = thread("u", "a");
    let content: Extra = wire::decode(r#"{"steps":1}"#).expect("JSON");
    let mut events = answer("n", "Done.");
    events.insert(0, ActivitySnapshotEvent::new("plan", "PLAN", content).into());
    let first = user_message("m", "Hi");
    run(&store, "1", &name, &first, &events).await;
    let said = r#"{"id":"n","role":"assistant","content":"Done."}"#;
    // The client leaves out the activity.
    let second = format!("{first},{said},{}", user_message("o", "More"));
    run(&store, "2", &name, &second, &[]).await;
    let LastRun { record, .. } = store.last_run(&name).await.expect("a read").expect("a run");
    let ids = |record: &RunRecord| -> Vec<String> {
        let ids = record.input.messages.iter().filter_map(Message::id);
        ids.map(|id| id.to_string()).collect()
    };
    assert_eq!(ids(&record), ["m", "plan", "n", "o"]);
    // An edited first message keeps its id, and begins anew.
    run(&store, "3", &name, &user_message("m", "Hey"), &[]).await;
    let LastRun { record, .. } = store.last_run(&name).await.expect("a read").expect("a run");
    assert_eq!(ids(&record), ["m"]);
}

#[tokio::test]
async fn questions_outlast_runs_that_leave_them_open() {
    let store = memory();
    let name = thread("u", "a");
    let begun: Event = RunStartedEvent::new("a", "r").into();
    let run = async |run: &str, messages: &str, end: &Event| {
        assert!(store.begin_run(run, &record(&name, messages)).await.expect("a run"));
        let frames = [&begun, end].into_iter().map(frame).collect();
        let part = LogPart { base: None, after: 0, frames, has_ended: true };
        store.append(run, &part, LONG).await.expect("a place");
        store.retire_run(run).await.expect("a change");
    };
    let error = |code: &str| Event::from(RunErrorEvent::new("no").with_code(code));
    let mut asking = RunFinishedEvent::new("a", "asking");
    let interrupt = Interrupt::new("q", "tool_call");
    let outcome = RunFinishedInterruptOutcome::new(vec![interrupt]);
    asking.outcome = Some(RunFinishedOutcome::Interrupt(outcome));
    let question = async || {
        let last = store.last_run(&name).await.expect("a read").expect("a run");
        last.question.map(|finished| finished.run_id.to_string())
    };
    run("0", &user_message("l", "Ha"), &error("INTERRUPTS_OPEN")).await;
    assert_eq!(question().await, None, "there is none");
    run("1", &user_message("m", "Hi"), &asking.into()).await;
    assert_eq!(question().await, None, "the run itself ends with it");
    let codes = ["INTERRUPTS_OPEN", "RESUME_MISMATCH", "RESUME_INVALID", "EDIT_UNSUPPORTED"];
    for (number, code) in codes.into_iter().enumerate() {
        run(&format!("2-{number}"), &user_message("n", "Ho"), &error(code)).await;
        assert_eq!(question().await.as_deref(), Some("asking"), "{code}");
    }
    run("3", &user_message("o", "On"), &error("AGENT_EXITED")).await;
    assert_eq!(question().await, None, "the turn has ended");
}

#[tokio::test]
async fn conversation_continues_with_new_messages_alone() {
    continues_with_new_messages(&memory()).await;
}

#[tokio::test]
async fn answers_without_the_conversation_keep_it() {
    continues_with_answers(&memory()).await;
}

#[tokio::test]
async fn conversation_keeps_its_messages() {
    keeps_messages(&memory()).await;
}

#[tokio::test]
async fn missed_answers_are_kept() {
    keeps_missed_answers(&memory()).await;
}

#[tokio::test]
async fn prompts_are_recognized_by_their_contents() {
    recognizes_prompts(&memory()).await;
}

#[tokio::test]
async fn repeated_conversation_stays_at_its_place() {
    keeps_places(&memory()).await;
}

#[tokio::test]
async fn waiting_run_has_the_whole_answer_before_it() {
    continues_after_waiting(&memory()).await;
}

#[tokio::test]
async fn removed_conversation_leaves_nothing() {
    let store = memory();
    let name = thread("u", "a");
    run(&store, "1", &name, &user_message("m", "Hi"), &answer("n", "Ho")).await;
    store.remember(&name.text(), Some("session")).await.expect("a text");
    assert!(store.remove(&name).await.expect("a change"));
    assert!(!store.remove(&name).await.expect("a change"));
    assert_eq!(titles(&store, "").await, [""; 0]);
    assert!(store.run("1").await.expect("a read").is_none());
    assert_eq!(store.recall(&name.text()).await.expect("a read"), None);
}

#[tokio::test]
async fn run_cut_off_by_a_crash_is_not_running() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.db");
    let store = FileStore::open(&path, LIMITS).expect("a file");
    let begun = record(&thread("u", "a"), &user_message("m", "Hi"));
    assert!(store.begin_run("1", &begun).await.expect("a run"));
    assert!(list(&store, "u", "").await[0].is_running);
    drop(store);
    let store = FileStore::open(&path, LIMITS).expect("a file");
    assert!(!list(&store, "u", "").await[0].is_running);
    assert!(store.run("1").await.expect("a read").is_some(), "its events can be read");
}

/// Returns the size of the file after writing `count` conversations of about 100 kB within a limit
/// of 1 MB.
async fn written(path: &Path, count: usize) -> (Vec<String>, u64) {
    let limits = FileLimits { bytes: 1 << 20, ..LIMITS };
    let store = FileStore::open(path, limits).expect("a file");
    for number in 0..count {
        let name = number.to_string();
        let text = "x".repeat(100_000);
        let message = user_message("m", &number.to_string());
        run(&store, &name, &thread("u", &name), &message, &answer("n", &text)).await;
        store.retire_run(&name).await.expect("a change");
    }
    let titles = titles(&store, "").await;
    drop(store);
    (titles, std::fs::metadata(path).expect("a file").len())
}

#[tokio::test]
async fn oldest_conversations_leave_a_full_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (titles, bytes) = written(&folder.path().join("store.db"), 30).await;
    assert_eq!(titles.first().map(String::as_str), Some("29"));
    assert!((2..20).contains(&titles.len()), "{titles:?}");
    let expected = (0..30).rev().take(titles.len()).map(|number| number.to_string());
    assert!(titles.iter().cloned().eq(expected), "the newest stay: {titles:?}");
    assert!(bytes < 3 << 20, "space is returned: {bytes}");
}

#[tokio::test]
async fn old_conversations_are_moved_when_the_file_is_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.db");
    let _written = written(&path, 2).await;
    let other = rusqlite::Connection::open(&path).expect("a database");
    other.execute("UPDATE thread SET used = 0 WHERE id = '1'", ()).expect("a change");
    drop(other);
    let store = FileStore::open(&path, LIMITS).expect("a file");
    assert_eq!(titles(&store, "").await, ["0"]);
    assert_eq!(store.trash("u").await.expect("a list").len(), 1);
}

/// A message of the agent in the conversation.
#[derive(Clone, Copy, Debug)]
enum Said {
    Text(&'static str),
    /// A call of a tool, and its result.
    Call,
}

/// The part of it that a client has received.
#[derive(Clone, Copy, Debug)]
enum Receipt {
    Whole,
    Beginning,
    Nothing,
}

/// A turn of a conversation, and what a client has of its answer.
fn turn() -> impl Strategy<Value = Vec<(Said, Receipt)>> {
    let said = prop_oneof![
        prop::sample::select(vec!["ok", "ok then", "I see. "]).prop_map(Said::Text),
        Just(Said::Call),
    ];
    let seen = prop::sample::select(vec![Receipt::Whole, Receipt::Beginning, Receipt::Nothing]);
    prop::collection::vec((said, seen), 0..4)
}

/// The messages of a conversation, and those that a client has.
struct Views {
    whole: Vec<Value>,
    of_client: Vec<Value>,
}

impl Views {
    fn new(turns: &[Vec<(Said, Receipt)>], has_new_ids: bool) -> Self {
        let mut views = Self { whole: Vec::new(), of_client: Vec::new() };
        let renewed = |message: &Value| {
            let mut message = message.clone();
            if has_new_ids {
                message["id"] = json!(format!("{}-of-client", message["id"].as_str().unwrap()));
            }
            message
        };
        for (number, answer) in turns.iter().enumerate() {
            let user = json!({"id": format!("u{number}"), "role": "user", "content": "go on"});
            views.of_client.push(renewed(&user));
            views.whole.push(user);
            for (place, (said, seen)) in answer.iter().enumerate() {
                let id = format!("{number}.{place}");
                match said {
                    Said::Text(text) => {
                        // Without ids, equal texts are one message or another.
                        let text =
                            if has_new_ids { format!("{text}{id}") } else { (*text).to_owned() };
                        let message = json!({"id": id, "role": "assistant", "content": text});
                        let mut client = renewed(&message);
                        match seen {
                            Receipt::Whole => views.of_client.push(client),
                            // Without its id nothing says that it is the beginning of another.
                            Receipt::Beginning if !has_new_ids => {
                                client["content"] = json!(&text[..1]);
                                views.of_client.push(client);
                            }
                            Receipt::Beginning | Receipt::Nothing => {}
                        }
                        views.whole.push(message);
                    }
                    Said::Call => {
                        let function = json!({"name": "look", "arguments": "{}"});
                        let call = json!({"id": id, "type": "function", "function": function});
                        let calling = json!({"id": format!("c{id}"), "role": "assistant", "toolCalls": [call]});
                        let result = json!(
                            {"id": format!("r{id}"), "role": "tool", "toolCallId": id, "content": "Seen."});
                        if !matches!(seen, Receipt::Nothing) {
                            views.of_client.push(renewed(&calling));
                        }
                        if matches!(seen, Receipt::Whole) {
                            views.of_client.push(renewed(&result));
                        }
                        views.whole.extend([calling, result]);
                    }
                }
            }
        }
        views
    }
}

/// Returns messages without their ids.
fn contents(messages: &[Value]) -> Vec<Value> {
    let content = |message: &Value| {
        let mut message = message.clone();
        message.as_object_mut().expect("a message").remove("id");
        message
    };
    messages.iter().map(content).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    /// A client that goes on removes no message and doubles none, whatever it has missed of the
    /// answers.
    #[test]
    fn client_that_goes_on_removes_nothing(
        turns in prop::collection::vec(turn(), 1..4),
        has_new_ids in any::<bool>(),
        is_early in any::<bool>(),
    ) {
        let mut views = Views::new(&turns, has_new_ids);
        if views.of_client.iter().all(|message| message["role"] == "user") {
            // Messages of the user alone, each with a new id, would be new ones.
            views = Views::new(&turns, false);
        }
        let new = json!({"id": "new", "role": "user", "content": "go on"});
        let input = [&views.of_client[..], std::slice::from_ref(&new)].concat();
        let expected = [&views.whole[..], &[new]].concat();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let history = runtime.block_on(async {
            let store = memory();
            let name = thread("u", "a");
            let last = views.whole.iter().rposition(|it| it["role"] == "user").expect("a turn");
            let joined = |messages: &[Value]| {
                messages.iter().map(Value::to_string).collect::<Vec<_>>().join(",")
            };
            let asked = record(&name, &joined(&views.whole[..=last]));
            assert!(store.begin_run("1", &asked).await.expect("a run"));
            let begun = Event::from(RunStartedEvent::new("a", "r"));
            let whole = views.whole.iter().map(|it| serde_json::from_value(it.clone()));
            let whole = whole.collect::<Result<Vec<Message>, _>>().expect("messages");
            let answer = Event::from(MessagesSnapshotEvent::new(whole));
            let end = Event::from(RunFinishedEvent::new("a", "r"));
            let part = |after: u64, events: &[&Event], has_ended: bool| {
                let frames = events.iter().map(|event| frame(event)).collect();
                LogPart { base: None, after, frames, has_ended }
            };
            store.append("1", &part(0, &[&begun], false), LONG).await.expect("a place");
            let rest = part(1, &[&answer, &end], true);
            if !is_early {
                store.append("1", &rest, LONG).await.expect("a place");
            }
            assert!(store.begin_run("2", &record(&name, &joined(&input))).await.expect("a run"));
            if is_early {
                store.append("1", &rest, LONG).await.expect("a place");
            }
            store.run("2").await.expect("a read").expect("a run").input.messages
        });
        let history = serde_json::to_value(history).expect("JSON");
        let history = history.as_array().expect("messages").clone();
        prop_assert_eq!(contents(&history), contents(&expected));
    }
}
