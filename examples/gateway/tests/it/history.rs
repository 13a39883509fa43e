//! Conversations in a file: after a restart, over HTTP, and as events.
use crate::gateway::{Gateway, PROGRAM, command, command_of, input, refusal, script, soon};
use crate::interrupts::{OpenQuestion, answered_booking, booking};
use crate::reading::waiting_of;
use crate::run::{EndedRun, Run};
use agui_types::message::Message;
use agui_types::reduce::Reducer;
#[cfg(unix)]
use nix::sys::signal::Signal;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::path::PathBuf;
use tempfile::TempDir;

/// A folder with the file of a gateway.
struct HistoryFolder(TempDir);

impl HistoryFolder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("gateway.db")
    }

    async fn gateway(&self, arguments: &[&str]) -> Gateway {
        let path = self.path();
        Gateway::demo(&[&["--store", path.to_str().unwrap()], arguments].concat()).await
    }
}

/// Ends a gateway without a chance to write anything.
async fn kill(mut gateway: Gateway) {
    gateway.child.kill().await.unwrap();
}

/// Opens a conversation, and reads it as a strict client.
async fn connected(gateway: &Gateway, agent: &str, thread: &str, run: &str) -> Run {
    let mut input = input(thread, run, "");
    input["messages"] = json!([]);
    let url = gateway.url(&format!("/api/ai/agents/{agent}/connect"));
    let response = soon(gateway.client.post(url).json(&input).send()).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    Run::new(&input, response)
}

/// The texts of the user and the agent.
fn texts(told: &EndedRun) -> Vec<String> {
    let mut reducer = Reducer::new();
    for event in &told.events {
        assert_eq!(reducer.handle(event), None, "{event:?}");
    }
    let text = |message: &Message| match message {
        Message::User(user) => Some(user.content.text()),
        Message::Assistant(assistant) => assistant.content.clone(),
        _ => None,
    };
    reducer.messages().iter().filter_map(text).collect()
}

/// Sends a request about conversations. Returns the status and the body.
async fn request(
    gateway: &Gateway,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> (StatusCode, Value) {
    requested(gateway, method, &format!("/api/ai/threads{path}"), body).await
}

async fn requested(
    gateway: &Gateway,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> (StatusCode, Value) {
    let mut request = gateway.client.request(method, gateway.url(path));
    if let Some(body) = body {
        request = request.json(&body);
    }
    let response = soon(request.send()).await.unwrap();
    let status = response.status();
    let text = soon(response.text()).await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

async fn titles(gateway: &Gateway, query: &str) -> Vec<String> {
    let (status, list) = request(gateway, Method::GET, query, None).await;
    assert_eq!(status, 200, "{list}");
    let titles = list["threads"].as_array().unwrap().iter();
    titles.map(|thread| thread["title"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn conversation_survives_a_killed_gateway() {
    let kept = HistoryFolder::new();
    let gateway = kept.gateway(&[]).await;
    let told = gateway.ask("t", "1", "hello").await.rest().await;
    assert_eq!(told.end(), "success");
    kill(gateway).await;
    let gateway = kept.gateway(&[]).await;
    assert_eq!(titles(&gateway, "").await, ["hello"]);
    let again = connected(&gateway, "demo", "t", "1").await.rest().await;
    assert_eq!(texts(&again), ["hello".to_owned(), told.text()]);
    let tags = again.tags();
    assert_eq!(tags[..3], ["RUN_STARTED", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT"]);
    // Its run can be followed by its id as well.
    let followed = Run::new(&input("t", "1", "hello"), gateway.follow("1", None).await);
    assert_eq!(followed.rest().await.events, told.events);
    assert_eq!(gateway.ask("t", "2", "more").await.rest().await.end(), "success");
}

#[cfg(unix)]
#[tokio::test]
async fn run_cut_off_by_a_kill_ends_when_it_is_read() {
    let kept = HistoryFolder::new();
    let agent = script("cancellable");
    let gateway = kept.gateway(&["--agent", &agent]).await;
    let mut run = gateway.ask("t", "1", "work").await;
    run.until("working").await;
    let mut watched = connected(&gateway, "agent", "t", "1").await;
    watched.until("working").await;
    let listed = request(&gateway, Method::GET, "/t", None).await.1;
    assert_eq!(&listed["isRunning"], &json!(true), "{listed}");
    assert_eq!(&listed["runId"], &json!("1"), "{listed}");
    let removed = request(&gateway, Method::DELETE, "/t", None).await;
    assert_eq!(removed.0, StatusCode::CONFLICT, "{}", removed.1);
    kill(gateway).await;
    let gateway = kept.gateway(&["--agent", &agent]).await;
    let listed = request(&gateway, Method::GET, "/t", None).await.1;
    assert_eq!(listed["isRunning"], false, "{listed}");
    let read = connected(&gateway, "agent", "t", "1").await.rest().await;
    assert_eq!(read.end(), "GATEWAY_LOST");
    assert_eq!(texts(&read).first().map(String::as_str), Some("work"));
    let followed = Run::new(&input("t", "1", "work"), gateway.follow("1", None).await);
    assert_eq!(followed.rest().await.end(), "GATEWAY_LOST");
}

#[tokio::test]
async fn parked_question_is_shown_after_a_restart_and_ends_with_a_notice() {
    let kept = HistoryFolder::new();
    let gateway = kept.gateway(&[]).await;
    let asked = OpenQuestion::for_word(&gateway, "t", "edit").await;
    kill(gateway).await;
    let gateway = kept.gateway(&[]).await;
    let read = connected(&gateway, "demo", "t", "t-1").await.rest().await;
    assert_eq!(read.end(), "interrupt");
    let question = read.interrupts()[0].message.as_deref();
    assert_eq!(question, Some("Edit greeting.txt?\n\nA line is added."));
    let answer = asked.answered("2", "resolved", &json!({ "optionId": "allow-once" }));
    let told = gateway.run(&answer).await.rest().await;
    assert_eq!(told.end(), "cancelled", "the question went with the agent");
    let notices = told.customs("acp.notice");
    assert!(notices.iter().any(|notice| notice["severity"] == "error"), "{notices:?}");
    assert_eq!(gateway.ask("t", "3", "hello").await.rest().await.end(), "success");
}

#[tokio::test]
async fn question_of_a_tool_is_answered_after_a_restart() {
    let kept = HistoryFolder::new();
    let gateway = kept.gateway(&[]).await;
    let answer = booking(&gateway).await;
    kill(gateway).await;
    let gateway = kept.gateway(&[]).await;
    let seat = answered_booking(&gateway, &answer).await;
    assert!(seat.contains("seat"), "{seat}");
}

#[cfg(unix)]
#[tokio::test]
async fn session_of_the_agent_is_loaded_after_a_restart() {
    let kept = HistoryFolder::new();
    let agent = script("loads-session");
    let gateway = kept.gateway(&["--agent", &agent]).await;
    let mut asked = input("t", "1", "one");
    assert_eq!(gateway.run(&asked).await.rest().await.end(), "success");
    kill(gateway).await;
    let mut gateway = kept.gateway(&["--agent", &agent]).await;
    asked["runId"] = json!("2");
    let message = json!({ "id": "2-user", "role": "user", "content": "three" });
    asked["messages"].as_array_mut().unwrap().push(message);
    let told = gateway.run(&asked).await.rest().await;
    assert_eq!(told.end(), "success");
    assert_eq!(&*told.text(), "and on");
    let loading = gateway.says("agent: asked").await;
    assert!(loading.contains(r#""method":"session/load""#), "{loading}");
    let prompt = gateway.says("agent: asked").await;
    assert!(!prompt.contains("one") && prompt.contains("three"), "what it knows: {prompt}");
}

/// The demo agent forgets its sessions with the gateway.
#[cfg(unix)]
#[tokio::test]
async fn choice_of_the_user_outlasts_a_restart() {
    let kept = HistoryFolder::new();
    let gateway = kept.gateway(&[]).await;
    assert_eq!(gateway.ask("t", "1", "hello").await.rest().await.end(), "success");
    let settings = gateway.url("/api/ai/agents/demo/threads/t/settings");
    let change = json!({ "configId": "mode", "value": "auto" });
    let set = soon(gateway.client.post(&settings).json(&change).send()).await.unwrap();
    assert_eq!(set.status(), 200);
    gateway.signal(Signal::SIGTERM);
    let _status = gateway.ended().await;
    let gateway = kept.gateway(&[]).await;
    let edited = gateway.ask("t", "2", "edit").await.rest().await;
    assert_eq!(edited.end(), "success", "it does not ask");
}

/// An agent that reports facts while it resumes, and one that repeats the conversation after its
/// response.
#[cfg(unix)]
#[tokio::test]
async fn conversation_and_session_survive_each_way_of_a_restart() {
    for name in ["reports-and-resumes", "loads-late"] {
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            let kept = HistoryFolder::new();
            let agent = script(name);
            let gateway = kept.gateway(&["--agent", &agent]).await;
            assert_eq!(gateway.ask("t", "1", "one").await.rest().await.end(), "success");
            gateway.signal(signal);
            let _status = gateway.ended().await;
            let mut gateway = kept.gateway(&["--agent", &agent]).await;
            let told = gateway.ask("t", "2", "two").await.rest().await;
            assert_eq!(told.end(), "success", "{name} {signal}");
            assert_eq!(told.text(), "and on", "{name} {signal}");
            assert!(!told.tags().contains(&"MESSAGES_SNAPSHOT"), "{:?}", told.tags());
            assert!(!told.tags().contains(&"TOOL_CALL_START"), "{:?}", told.tags());
            let continuing = gateway.says("agent: asked").await;
            assert!(continuing.contains(r#""sessionId":"s""#), "{name} {signal}: {continuing}");
            let prompt = gateway.says("agent: asked").await;
            assert!(!prompt.contains("one") && prompt.contains("two"), "{prompt}");
            let read = connected(&gateway, "agent", "t", "2").await.rest().await;
            assert_eq!(texts(&read), ["one", "first", "two", "and on"], "{name} {signal}");
        }
    }
}

/// A cancellation that was answered is in the store, although the agent has not ended its turn.
#[cfg(unix)]
#[tokio::test]
async fn answered_cancellation_outlasts_a_kill() {
    let kept = HistoryFolder::new();
    let agent = script("resumes-after-a-cancel");
    let mut gateway = kept.gateway(&["--agent", &agent]).await;
    let _run = gateway.ask("t", "1", "one").await;
    gateway.says("agent: asked").await;
    assert_eq!(gateway.post("runs/1/cancel", &Value::Null).await.0, 202);
    kill(gateway).await;
    let mut gateway = kept.gateway(&["--agent", &agent]).await;
    let cut = connected(&gateway, "agent", "t", "1").await.rest().await;
    assert_eq!(cut.end(), "cancelled");
    assert_eq!(cut.finished().result.as_ref().unwrap().as_str(), r#"{"cancelReason":"user"}"#);
    let told = gateway.ask("t", "2", "two").await.rest().await;
    assert_eq!(told.end(), "success");
    let prompt = gateway.says("agent: asked").await;
    assert!(!prompt.contains("one") && prompt.contains("two"), "{prompt}");
    let read = connected(&gateway, "agent", "t", "2").await.rest().await;
    assert_eq!(texts(&read), ["one", "two", "and on"]);
}

/// A client that repeats a request after a restart receives the run that it has begun.
#[cfg(unix)]
#[tokio::test]
async fn repeated_input_follows_its_run_after_a_restart() {
    let kept = HistoryFolder::new();
    let mut gateway = kept.gateway(&[]).await;
    let told = gateway.ask("t", "1", "hello").await.rest().await;
    assert_eq!(told.end(), "success");
    let asked = OpenQuestion::for_word(&gateway, "u", "edit").await;
    let answer = asked.answered("2", "resolved", &json!({ "optionId": "allow-once" }));
    let answered = gateway.run(&answer).await.rest().await;
    assert_eq!(answered.end(), "success");
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        gateway.signal(signal);
        let _status = gateway.ended().await;
        gateway = kept.gateway(&[]).await;
        assert_eq!(gateway.ask("t", "1", "hello").await.rest().await.events, told.events);
        assert_eq!(gateway.run(&answer).await.rest().await.events, answered.events);
        let read = connected(&gateway, "demo", "t", "1").await.rest().await;
        assert_eq!(texts(&read), ["hello".to_owned(), told.text()]);
    }
}

/// Runs an input with an agent that records its prompts. Returns its texts, and the notices in the
/// page.
#[cfg(unix)]
async fn prompted(gateway: &mut Gateway, input: &Value) -> (Vec<String>, Vec<Value>) {
    let told = gateway.run(input).await.rest().await;
    assert_eq!(told.end(), "success");
    let line = gateway.says("agent: prompt: ").await;
    let prompt: Value =
        serde_json::from_str(line.strip_prefix("agent: prompt: ").unwrap()).unwrap();
    let blocks = prompt["params"]["prompt"].as_array().unwrap().iter();
    (
        blocks.map(|block| block["text"].as_str().unwrap().to_owned()).collect(),
        told.customs("acp.notice"),
    )
}

#[cfg(unix)]
#[tokio::test]
async fn conversation_of_an_agent_without_sessions_is_told_again_after_a_restart() {
    let kept = HistoryFolder::new();
    let agent = script("tells-prompts");
    let mut gateway = kept.gateway(&["--agent", &agent]).await;
    assert_eq!(prompted(&mut gateway, &input("t", "1", "one")).await.0, ["one"]);
    kill(gateway).await;
    // A client that sends only new messages, and one that has read the conversation.
    let mut gateway = kept.gateway(&["--agent", &agent]).await;
    let (texts, notices) = prompted(&mut gateway, &input("t", "2", "two")).await;
    let [earlier, new] = &texts[..] else { panic!("{texts:?}") };
    assert!(earlier.ends_with("User: one\n\nAssistant: answer 3"), "{earlier}");
    assert_eq!(new, "two");
    let [notice] = &notices[..] else { panic!("{notices:?}") };
    assert_eq!(notice["title"], "The agent continues in a new session");
    assert!(notice["description"].as_str().unwrap().contains("say it again"), "{notice}");
    let (texts, notices) = prompted(&mut gateway, &input("t", "3", "three")).await;
    assert_eq!(texts, vec!["three".to_owned()], "its session is known");
    assert_eq!(notices.len(), 0, "its session is known");
    kill(gateway).await;

    let mut gateway = kept.gateway(&["--agent", &agent]).await;
    let read = connected(&gateway, "agent", "t", "3").await.rest().await;
    let mut reducer = Reducer::new();
    read.events.iter().for_each(|event| assert_eq!(reducer.handle(event), None));
    let mut asked = input("t", "4", "four");
    let new = asked["messages"].take();
    asked["messages"] = json!(reducer.messages());
    asked["messages"].as_array_mut().unwrap().extend(new.as_array().unwrap().clone());
    let (texts, notices) = prompted(&mut gateway, &asked).await;
    for said in ["User: one", "User: two", "User: three", "Assistant: answer"] {
        assert!(texts[0].contains(said), "{texts:?}");
    }
    assert_eq!(&*texts[1], "four");
    assert_eq!(notices.len(), 1);
}

/// A client without the conversation posts during a run of another client.
#[tokio::test]
async fn message_that_waited_follows_the_whole_answer() {
    let kept = HistoryFolder::new();
    let settings = format!(
        "store = '{}'\npermission = 'ask-in-stream'\nwhen-busy = 'queue'\n[limits]\nqueue = 1",
        kept.path().display()
    );
    let gateway = Gateway::configured(&settings).await;
    let mut first = gateway.ask("t", "1", "permission").await;
    let asked = first.until_asked().await;
    let inputs = ["2", "3"].map(|run| input("t", run, "hello"));
    let (waited, waiting) = waiting_of(&gateway, &inputs).await;
    let answer = json!({ "optionId": "allow-once" });
    gateway.post(&format!("interrupts/{asked}"), &answer).await;
    let first = first.rest().await;
    let second = Run::new(waited, waiting.await).rest().await;
    assert_eq!(first.end(), "success");
    assert_eq!(second.end(), "success");

    let told = connected(&gateway, "demo", "t", waited["runId"].as_str().unwrap()).await;
    let told = told.rest().await;
    let expected = ["permission".to_owned(), first.text(), "hello".to_owned(), second.text()];
    assert_eq!(texts(&told), expected);
}

#[tokio::test]
async fn conversations_are_listed_searched_renamed_and_removed() {
    let gateway = Gateway::demo(&[]).await;
    for (thread, text) in [("a", "first question"), ("b", "second 100% question"), ("c", "hello")] {
        let told = gateway.ask(thread, &format!("{thread}-1"), text).await.rest().await;
        assert_eq!(told.end(), "success");
    }
    assert_eq!(titles(&gateway, "").await, ["hello", "second 100% question", "first question"]);
    assert_eq!(titles(&gateway, "?search=QUESTION").await.len(), 2);
    assert_eq!(titles(&gateway, "?search=100%25").await, ["second 100% question"]);
    let (_, page) = request(&gateway, Method::GET, "?limit=2", None).await;
    assert_eq!(page["threads"].as_array().unwrap().len(), 2);
    let next = format!("?limit=2&after={}", page["next"].as_str().unwrap());
    assert_eq!(titles(&gateway, &next).await, ["first question"]);

    let renamed = json!({ "title": "  Mine\nnow " });
    let (status, thread) = request(&gateway, Method::PATCH, "/a", Some(renamed)).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(&thread["title"], &json!("Mine now"));
    assert_eq!(thread["agent"], "demo");
    assert!(thread["createdAt"].as_i64() <= thread["updatedAt"].as_i64(), "{thread}");
    for wrong in [json!({ "title": " " }), json!({}), json!({ "name": "x" })] {
        let (status, why) = request(&gateway, Method::PATCH, "/a", Some(wrong)).await;
        assert_eq!(status, 400, "{why}");
    }
    assert_eq!(request(&gateway, Method::DELETE, "/a", None).await.0, 204);
    for method in [Method::GET, Method::DELETE] {
        let (status, why) = request(&gateway, method, "/a", None).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        assert_eq!(&why["error"], &json!("there is no such conversation"));
    }
    assert_eq!(gateway.follow("a-1", None).await.status(), 404, "its run is gone as well");
    assert_eq!(titles(&gateway, "").await, ["hello", "second 100% question"]);
    let empty = connected(&gateway, "demo", "a", "new").await.rest().await;
    assert_eq!(empty.end(), "success", "it can begin again");
    assert_eq!(texts(&empty).len(), 0, "it can begin again");
}

#[tokio::test]
async fn deleted_conversation_is_restored_or_deleted_from_the_trash() {
    let gateway = Gateway::demo(&[]).await;
    for thread in ["a", "b"] {
        let told = gateway.ask(thread, &format!("{thread}-1"), "hello").await.rest().await;
        assert_eq!(told.end(), "success");
        assert_eq!(request(&gateway, Method::DELETE, &format!("/{thread}"), None).await.0, 204);
    }
    let (_, list) = request(&gateway, Method::GET, "", None).await;
    assert_eq!(list["trashed"], 2, "{list}");
    let (status, trash) = requested(&gateway, Method::GET, "/api/ai/trash", None).await;
    assert_eq!(status, 200);
    let [b, a] = &trash["threads"].as_array().unwrap()[..] else { panic!("{trash}") };
    assert_eq!(a["title"], "hello");
    assert_eq!(a["reason"], "user");
    assert_eq!(a["daysLeft"], 30);
    let restore = format!("/api/ai/trash/{}/restore", a["number"]);
    let (status, thread) = requested(&gateway, Method::POST, &restore, None).await;
    assert_eq!(status, 200, "{thread}");
    assert_eq!(thread["id"], "a");
    let again = connected(&gateway, "demo", "a", "a-1").await.rest().await;
    assert_eq!(texts(&again).len(), 2, "the prompt and the answer");
    assert_eq!(gateway.ask("a", "a-3", "more").await.rest().await.end(), "success");
    let delete = format!("/api/ai/trash/{}", b["number"]);
    assert_eq!(requested(&gateway, Method::DELETE, &delete, None).await.0, 204);
    for (method, path) in [(Method::POST, &restore), (Method::DELETE, &delete)] {
        let (status, why) = requested(&gateway, method, path, None).await;
        assert_eq!(status, 404, "{why}");
    }
    let (_, trash) = requested(&gateway, Method::GET, "/api/ai/trash", None).await;
    assert_eq!(trash["threads"], json!([]));
}

#[tokio::test]
async fn user_makes_room_for_own_conversations_only() {
    let settings = "limits.history-bytes = 4_000_000\n\
         [auth.tokens]\none = 'token-of-the-one'\nother = 'token-of-the-other'";
    let gateway = Gateway::configured(settings).await;
    let chat = async |user: &str, id: &str, text: &str| {
        let request = gateway.client.post(gateway.url("/api/ai/chat"));
        let request = request.bearer_auth(format!("token-of-the-{user}"));
        let sent = soon(request.json(&input(id, id, text)).send()).await.unwrap();
        assert!(soon(sent.text()).await.unwrap().contains("RUN_FINISHED"));
    };
    let list = async |user: &str| -> Value {
        let request = gateway.client.get(gateway.url("/api/ai/threads"));
        let request = request.bearer_auth(format!("token-of-the-{user}"));
        soon(soon(request.send()).await.unwrap().json()).await.unwrap()
    };
    chat("one", "important", "hello").await;
    for number in 0..8 {
        let text = format!("hello {}", "x".repeat(400_000));
        chat("other", &number.to_string(), &text).await;
    }
    assert_eq!(list("one").await["threads"][0]["id"], "important");
    let others = list("other").await;
    assert_eq!(others["threads"][0]["id"], "7");
    assert!(others["evicted"].as_u64().unwrap() > 0, "{others}");
}

#[tokio::test]
async fn conversations_belong_to_their_user() {
    let settings = "[auth.tokens]\none = 'token-of-the-one'\nother = 'token-of-the-other'";
    let gateway = Gateway::configured(settings).await;
    let as_user = |user: &str, method: Method, path: &str| {
        let url = gateway.url(path);
        gateway.client.request(method, url).bearer_auth(format!("token-of-the-{user}"))
    };
    let body = input("t", "1", "a secret");
    let chat = as_user("one", Method::POST, "/api/ai/chat").json(&body);
    soon(soon(chat.send()).await.unwrap().text()).await.unwrap();
    let list = async |user: &str| -> Value {
        let list = soon(as_user(user, Method::GET, "/api/ai/threads").send()).await.unwrap();
        soon(list.json()).await.unwrap()
    };
    assert_eq!(list("one").await["threads"][0]["title"], "a secret");
    assert_eq!(list("other").await["threads"], json!([]));
    for method in [Method::GET, Method::PATCH, Method::DELETE] {
        let request = as_user("other", method.clone(), "/api/ai/threads/t");
        let response = soon(request.json(&json!({ "title": "x" })).send()).await.unwrap();
        assert_eq!(refusal(response).await.0, 404, "{method}");
    }
    let removed = as_user("one", Method::DELETE, "/api/ai/threads/t");
    assert_eq!(soon(removed.send()).await.unwrap().status(), 204);
    let trash = async |user: &str| -> Value {
        let trash = soon(as_user(user, Method::GET, "/api/ai/trash").send()).await.unwrap();
        soon(trash.json()).await.unwrap()
    };
    let number = trash("one").await["threads"][0]["number"].to_string();
    assert_eq!(trash("other").await["threads"], json!([]));
    let restore = format!("/api/ai/trash/{number}/restore");
    let delete = format!("/api/ai/trash/{number}");
    for (method, path) in [(Method::POST, &restore), (Method::DELETE, &delete)] {
        let response = soon(as_user("other", method, path).send()).await.unwrap();
        assert_eq!(refusal(response).await.0, 404);
    }
    let restored = soon(as_user("one", Method::POST, &restore).send()).await.unwrap();
    assert_eq!(restored.status(), 200);
    let connect = as_user("other", Method::POST, "/api/ai/agents/demo/connect").json(&body);
    let text = soon(soon(connect.send()).await.unwrap().text()).await.unwrap();
    assert!(text.contains("RUN_FINISHED") && !text.contains("a secret"), "{text}");
    let bare = gateway.client.get(gateway.url("/api/ai/threads"));
    assert_eq!(soon(bare.send()).await.unwrap().status(), 401);
}

#[cfg(unix)]
#[tokio::test]
async fn opened_conversation_continues_with_its_active_run() {
    let gateway = Gateway::script("cancellable", &[]).await;
    let mut run = gateway.ask("t", "1", "work").await;
    run.until("working").await;
    let mut watched = connected(&gateway, "agent", "t", "1").await;
    watched.until("working").await;
    assert_eq!(gateway.post("runs/1/cancel", &Value::Null).await.0, 202);
    let watched = watched.rest().await;
    assert_eq!(watched.end(), "cancelled", "what is live follows");
    assert_eq!(texts(&watched).first().map(String::as_str), Some("work"));
    assert_eq!(run.rest().await.end(), "cancelled");
}

/// The errors of a gateway that does not start.
async fn refused(arguments: &[&str]) -> String {
    let output = soon(command(&[&["--no-auth"], arguments].concat()).output()).await.unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn file_in_use_or_damaged_is_an_error_with_its_name() {
    let kept = HistoryFolder::new();
    let path = kept.path();
    let arguments = ["--store", path.to_str().unwrap()];
    let gateway = kept.gateway(&[]).await;
    let said = refused(&arguments).await;
    assert!(
        said.contains("gateway.db: another program uses this file; stop that program"),
        "{said}"
    );
    kill(gateway).await;
    let path = kept.0.path().join("damaged.db");
    let damaged = "not a database ".repeat(1000);
    std::fs::write(&path, &damaged).unwrap();
    let said = refused(&["--store", path.to_str().unwrap()]).await;
    assert!(said.contains("damaged.db: not a store"), "{said}");
    assert!(said.contains("move the file away"), "{said}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), damaged);
}

/// No file can be written, as on a full disk.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn conversations_are_read_while_the_disk_is_full() {
    let kept = HistoryFolder::new();
    let gateway = kept.gateway(&[]).await;
    assert_eq!(gateway.ask("t", "1", "hello").await.rest().await.end(), "success");
    kill(gateway).await;
    let path = kept.path();
    let before = std::fs::read(&path).unwrap();
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";
    let store = path.to_str().unwrap();
    let mut full = command_of("sh", &["-c", script, "sh", PROGRAM, "--store", store]);
    full.env_remove("GATEWAY_STORE");
    let gateway = Gateway::listening(full).await;
    assert_eq!(titles(&gateway, "").await, ["hello"]);
    let read = connected(&gateway, "demo", "t", "1").await.rest().await;
    assert_eq!(texts(&read).len(), 2, "the prompt and the answer");
    let more = gateway.client.post(gateway.url("/api/ai/chat")).json(&input("t", "2", "more"));
    let (status, why) = refusal(soon(more.send()).await.unwrap()).await;
    assert_eq!(status, 503, "{why}");
    assert!(why.contains("cannot be written") && why.contains("free space"), "{why}");
    let ready = soon(gateway.client.get(gateway.url("/readyz")).send()).await.unwrap();
    assert_eq!(ready.status(), 503);
    let ready: Value = soon(ready.json()).await.unwrap();
    assert_eq!(ready["store"], false, "{ready}");
    kill(gateway).await;
    assert_eq!(std::fs::read(&path).unwrap(), before, "the file is unchanged");
    let gateway = kept.gateway(&[]).await;
    assert_eq!(gateway.ask("t", "3", "more").await.rest().await.end(), "success");
    assert_eq!(titles(&gateway, "").await, ["hello"]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn default_file_is_below_the_state_folder_of_the_user() {
    let folder = TempDir::new().unwrap();
    let with_state_folder = || {
        let mut command = command(&[]);
        command.env_remove("GATEWAY_STORE").env("XDG_STATE_HOME", folder.path());
        command
    };
    let gateway = Gateway::listening(with_state_folder()).await;
    assert_eq!(gateway.ask("t", "1", "hello").await.rest().await.end(), "success");
    assert!(folder.path().join("spanwire/gateway.db").exists());
    // A second gateway of the user starts as well, and reports what it keeps.
    let mut second = with_state_folder();
    second.args(["--no-auth", "--listen", "127.0.0.1:0"]).stderr(std::process::Stdio::piped());
    let mut second = second.spawn().unwrap();
    let stderr = second.stderr.take().unwrap();
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(stderr));
    let mut said = String::new();
    while !(said.contains("conversations end with this program") && said.contains("listening on")) {
        said += &soon(lines.next_line()).await.unwrap().expect("it starts");
    }
    second.kill().await.unwrap();
    assert_eq!(titles(&gateway, "").await, ["hello"]);
}

/// A tab that has not seen the question sends a message, which is refused.
#[tokio::test]
async fn open_question_is_shown_after_a_refused_message() {
    let gateway = Gateway::demo(&[]).await;
    let asked = OpenQuestion::for_word(&gateway, "t", "permission").await;
    let refused = gateway.run(&input("t", "2", "hello")).await.rest().await;
    assert_eq!(refused.end(), "INTERRUPTS_OPEN");
    let shown = connected(&gateway, "demo", "t", "2").await.rest().await;
    assert_eq!(shown.interrupts(), asked.interrupts());
    let texts = texts(&shown);
    assert_eq!(texts.first().map(String::as_str), Some("permission"));
    assert_eq!(texts.last().map(String::as_str), Some("hello"));
    let answer = asked.answered("3", "resolved", &json!({ "optionId": "allow-once" }));
    assert_eq!(gateway.run(&answer).await.rest().await.end(), "success");
}
