//! Limits of threads, runs and bytes, and the share of one user.
#[cfg(unix)]
use crate::gateway::script;
use crate::gateway::{Gateway, input, refusal, soon};
use crate::run::Run;
use futures::stream::FuturesUnordered;
use futures::{SinkExt, StreamExt};
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use std::pin::pin;
use tokio_tungstenite::tungstenite::Message;

const USERS: &str = "[auth.tokens]\nalice = 'a-secret'\nbob = 'b-secret'";

async fn send(gateway: &Gateway, token: &str, input: &Value) -> Response {
    let request = gateway.client.post(gateway.url("/api/ai/chat")).bearer_auth(token);
    soon(request.json(input).send()).await.unwrap()
}

/// A run that succeeds.
async fn works(gateway: &Gateway, token: &str, thread: &str, run: &str) {
    let input = input(thread, run, "hello");
    let told = Run::new(&input, send(gateway, token, &input).await).rest().await;
    assert_eq!(told.end(), "success", "{token} {thread}");
}

/// A run that waits for an answer in the stream.
async fn waits(gateway: &Gateway, token: &str, thread: &str, run: &str) -> Run {
    let input = input(thread, run, "permission");
    let mut run = Run::new(&input, send(gateway, token, &input).await);
    run.until_asked().await;
    run
}

async fn is_refused(gateway: &Gateway, token: &str, input: &Value, status: u16, why: &str) {
    let response = send(gateway, token, input).await;
    assert_eq!(response.headers().get("retry-after").map(|wait| wait.to_str().unwrap()), Some("5"));
    let (got, said) = refusal(response).await;
    assert_eq!(got, status, "{said}");
    assert!(said.contains(why), "{said}");
}

/// The number of runs that the gateway keeps. Runs without a place stay in the store, from which
/// they can be read again.
#[cfg(unix)]
async fn kept_runs(gateway: &mut Gateway) -> String {
    gateway.signal(nix::sys::signal::Signal::SIGUSR1);
    let said = gateway.says("open: ").await;
    said.split(", ").find(|part| part.ends_with(" runs")).expect("runs").to_owned()
}

#[tokio::test]
async fn user_fills_a_quarter_of_threads() {
    let settings = format!("permission = 'ask-in-stream'\n[limits]\nthreads = 8\n{USERS}");
    let gateway = Gateway::configured(&settings).await;
    // Idle threads are closed one after another.
    for number in 0..10 {
        works(&gateway, "a-secret", &format!("t{number}"), &number.to_string()).await;
    }
    let _first = waits(&gateway, "a-secret", "first", "first").await;
    let _second = waits(&gateway, "a-secret", "second", "second").await;
    let third = input("third", "third", "hello");
    is_refused(&gateway, "a-secret", &third, 429, "2 threads of yours are active").await;
    works(&gateway, "b-secret", "t", "1").await;
}

#[tokio::test]
async fn threads_are_limited() {
    let settings = "permission = 'ask-in-stream'\n[limits]\nthreads = 2";
    let gateway = Gateway::configured(settings).await;
    let _first = waits(&gateway, "", "first", "first").await;
    for number in 0..3 {
        works(&gateway, "", &format!("t{number}"), &number.to_string()).await;
    }
    let _second = waits(&gateway, "", "second", "second").await;
    let third = input("third", "third", "hello");
    is_refused(&gateway, "", &third, 503, "too many threads are open").await;
}

#[tokio::test]
async fn user_fills_a_quarter_of_runs() {
    let settings = format!("permission = 'ask-in-stream'\n[limits]\nruns = 4\n{USERS}");
    let gateway = Gateway::configured(&settings).await;
    for number in 0..3 {
        works(&gateway, "b-secret", "t", &number.to_string()).await;
    }
    let _waiting = waits(&gateway, "a-secret", "t", "first").await;
    let next = input("other", "next", "hello");
    is_refused(&gateway, "a-secret", &next, 429, "1 runs of yours are active").await;
    works(&gateway, "b-secret", "t", "4").await;
}

#[cfg(unix)]
#[tokio::test]
async fn inputs_count_as_kept_bytes() {
    // The events of the runs are far below the limit.
    let mut gateway = Gateway::configured("[limits]\nkept-bytes = 1000000").await;
    let large = input("t", "large", &format!("hello {}", "x".repeat(1_100_000)));
    let told = Run::new(&large, send(&gateway, "", &large).await).rest().await;
    assert_eq!(told.end(), "success");
    works(&gateway, "", "other", "small").await;
    assert_eq!(kept_runs(&mut gateway).await, "0 of 1 runs");
    works(&gateway, "", "another", "next").await;
    assert_eq!(kept_runs(&mut gateway).await, "0 of 2 runs");
}

#[cfg(unix)]
#[tokio::test]
async fn user_fills_a_quarter_of_bytes() {
    let settings = format!("[limits]\nkept-bytes = 1000000\n{USERS}");
    let mut gateway = Gateway::configured(&settings).await;
    // Each input counts once after its run, so the first two of alice exceed her share. The third
    // takes the place of the first.
    for (token, run, length, kept) in [
        ("b-secret", "of-bob", 140_000, "0 of 1 runs"),
        ("a-secret", "first", 140_000, "0 of 2 runs"),
        ("a-secret", "second", 140_000, "0 of 3 runs"),
        ("a-secret", "third", 1, "0 of 3 runs"),
    ] {
        let input = input(run, run, &format!("hello {}", "x".repeat(length)));
        let told = Run::new(&input, send(&gateway, token, &input).await).rest().await;
        assert_eq!(told.end(), "success", "{run}");
        assert_eq!(kept_runs(&mut gateway).await, kept, "{run}");
    }
}

/// A script of a model that calls a tool with arguments of these lengths. Each call waits for the
/// user.
#[cfg(unix)]
fn calls(lengths: &[(&str, usize)]) -> tempfile::NamedTempFile {
    let answers = lengths.iter().map(|(word, length)| {
        let from = "x".repeat(*length);
        let call = format!(
            "{{ tool = 'book_flight', arguments = {{ from = '{from}', destination = 'Lisbon' }} }}"
        );
        format!("[[answers]]\nword = '{word}'\nsteps = [{{ call = [{call}] }}, {{ say = '{{result}}' }}]\n")
    });
    let answers = answers.chain(["[[answers]]\nsteps = [{ say = 'Hello.' }]\n".to_owned()]);
    let script = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(script.path(), answers.collect::<String>()).unwrap();
    script
}

/// Waiting calls of tools and runs have one limit, of each user and of all users.
#[cfg(unix)]
#[tokio::test]
async fn waiting_calls_count_as_kept_bytes() {
    let script = calls(&[("wait", 100_000), ("excessive", 130_000)]);
    let model = format!("[agents.a.model]\nscript = {:?}", script.path());
    let settings = format!("[limits]\nkept-bytes = 1000000\n{model}\n{USERS}");
    let mut gateway = Gateway::configured(&settings).await;
    let run = async |gateway: &Gateway, token: &str, run: &str, text: String| {
        let input = input(run, run, &text);
        Run::new(&input, send(gateway, token, &input).await).rest().await
    };
    let large = || format!("hello {}", "y".repeat(160_000));
    // The share of alice is 250 KB. The run with the call is dropped, and the call is not.
    assert_eq!(run(&gateway, "a-secret", "asks", "wait".into()).await.end(), "interrupt");
    assert_eq!(run(&gateway, "a-secret", "second", large()).await.end(), "success");
    assert_eq!(run(&gateway, "a-secret", "third", "hello".into()).await.end(), "success");
    assert_eq!(
        kept_runs(&mut gateway).await,
        "0 of 1 runs",
        "160 KB have no place beside the call"
    );
    // Bob has the same share. A call that does not fit into the half of it is refused.
    assert_eq!(run(&gateway, "b-secret", "first", large()).await.end(), "success");
    assert_eq!(run(&gateway, "b-secret", "second", "hello".into()).await.end(), "success");
    assert_eq!(kept_runs(&mut gateway).await, "0 of 3 runs");
    let refused = run(&gateway, "b-secret", "excessive", "excessive".into()).await;
    assert_eq!(refused.end(), "success");
    assert_eq!(refused.results().len(), 1);
    assert!(refused.results()[0].contains("store is full"), "{:?}", refused.results());
}

/// Calls of four users wait. Together with the logs of the runs, which have the arguments twice, they
/// exceed the limit.
#[cfg(unix)]
#[tokio::test]
async fn waiting_calls_of_all_users_are_limited() {
    let script = calls(&[("wait", 100_000)]);
    let model = format!("[agents.a.model]\nscript = {:?}", script.path());
    let users: String = (0..5).map(|user| format!("u{user} = 'secret-{user}'\n")).collect();
    let settings = format!("[limits]\nkept-bytes = 1000000\n{model}\n[auth.tokens]\n{users}");
    let mut gateway = Gateway::configured(&settings).await;
    for user in 0..5 {
        let (text, end) = if user < 4 { ("wait", "interrupt") } else { ("hello", "success") };
        let input = input("t", "run", text);
        let sent = send(&gateway, &format!("secret-{user}"), &input).await;
        assert_eq!(Run::new(&input, sent).rest().await.end(), end, "{user}");
    }
    assert_eq!(kept_runs(&mut gateway).await, "0 of 3 runs");
}

/// Six users have less than their shares, but together more than the limit.
#[cfg(unix)]
#[tokio::test]
async fn bytes_of_all_users_are_limited() {
    let users: String = (0..7).map(|user| format!("u{user} = 'secret-{user}'\n")).collect();
    let settings = format!("[limits]\nkept-bytes = 1000000\n[auth.tokens]\n{users}");
    let mut gateway = Gateway::configured(&settings).await;
    for user in 0..7 {
        let input = input("t", "run", &format!("hello {}", "x".repeat(204_000)));
        let sent = send(&gateway, &format!("secret-{user}"), &input).await;
        assert_eq!(Run::new(&input, sent).rest().await.end(), "success", "{user}");
    }
    assert_eq!(kept_runs(&mut gateway).await, "0 of 5 runs");
}

/// Four users have their shares, so that nothing is left for the fifth.
#[tokio::test]
async fn threads_and_runs_of_all_users_are_limited() {
    let users: String = (0..5).map(|user| format!("u{user} = 'secret-{user}'\n")).collect();
    for limit in ["threads = 4", "runs = 4"] {
        let settings =
            format!("permission = 'ask-in-stream'\n[limits]\n{limit}\n[auth.tokens]\n{users}");
        let gateway = Gateway::configured(&settings).await;
        // Idle threads and ended runs of others make room.
        for user in 0..5 {
            works(&gateway, &format!("secret-{user}"), "idle", "ended").await;
        }
        let mut waiting = Vec::new();
        for user in 0..4 {
            waiting.push(waits(&gateway, &format!("secret-{user}"), "t", "run").await);
        }
        let fifth = input("t", "run", "hello");
        is_refused(&gateway, "secret-4", &fifth, 503, "too many threads are open").await;
    }
}

#[tokio::test]
async fn long_ids_are_refused() {
    let gateway = Gateway::demo(&[]).await;
    let fits = "i".repeat(1024);
    let long = "i".repeat(1025);
    works(&gateway, "", &fits, &fits).await;
    let mut branch = input("t", "1", "hello");
    branch["forwardedProps"] = json!({ "acp": { "branchOf": long } });
    for (input, why) in [
        (input(&long, "1", "hello"), "threadId"),
        (input("t", &long, "hello"), "runId"),
        (branch, "forwardedProps.acp.branchOf"),
    ] {
        let (status, said) = refusal(send(&gateway, "", &input).await).await;
        assert_eq!(status.as_u16(), 400);
        assert_eq!(said, format!("{why}: expected at most 1024 bytes, got 1025"));
    }
}

#[tokio::test]
async fn websocket_messages_are_limited() {
    let gateway = Gateway::demo(&[]).await;
    let url = format!("ws://{}/api/ai/ws", gateway.address);
    let (mut socket, _) = soon(tokio_tungstenite::connect_async(url)).await.unwrap();
    let message = |length: usize| Message::text(" ".repeat(length));
    soon(socket.send(message(1024 * 1024))).await.unwrap();
    let answer = soon(socket.next()).await.unwrap().unwrap();
    assert!(answer.to_text().unwrap().contains("error"), "{answer}");
    // The connection may end before all of it was sent.
    let _sent = soon(socket.send(message(1024 * 1024 + 1))).await;
    let end = soon(socket.next()).await;
    assert!(!matches!(end, Some(Ok(Message::Text(_)))), "{end:?}");
}

/// Sends ten requests of one user, and one of another user while they are answered one after
/// another: the latter is not the last one.
async fn users_take_turns(request: impl Fn() -> RequestBuilder) {
    let send = async |token: &str| {
        let response = soon(request().bearer_auth(token).send()).await.unwrap();
        assert_eq!(response.status(), 200);
    };
    let mut many: FuturesUnordered<_> = (0..10).map(|_| send("a-secret")).collect();
    many.next().await;
    let mut other = pin!(send("b-secret"));
    loop {
        tokio::select! {
            biased;
            () = &mut other => return,
            next = many.next() => assert!(next.is_some() && !many.is_empty(), "all were answered"),
        }
    }
}

#[tokio::test]
async fn texts_are_rendered_in_turn() {
    let gateway = Gateway::configured(USERS).await;
    let texts = json!([{ "text": "*a* `b` [c](d)\n\n".repeat(5000), "isComplete": true }]);
    let url = gateway.url("/api/ai/markdown");
    users_take_turns(|| gateway.client.post(&url).json(&texts)).await;
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_searched_in_turn() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..3000 {
        std::fs::write(folder.path().join(number.to_string()), "").unwrap();
    }
    let command = script("asks-host");
    let root = folder.path();
    let settings = format!("[agents.own]\ncommand = {command:?}\nroot = {root:?}\n{USERS}");
    let gateway = Gateway::configured(&settings).await;
    let url = gateway.url("/api/ai/agents/own/files?query=1");
    users_take_turns(|| gateway.client.get(&url)).await;
}
