//! Runs with several readers, late readers, or none.
use crate::gateway::{Gateway, input, refusal};
use crate::run::Run;
use futures::FutureExt;
use futures::future::{BoxFuture, select_all};
use serde_json::Value;

#[tokio::test]
async fn several_readers_get_whole_run() {
    let gateway = Gateway::asking_in_stream().await;
    let mut first = gateway.ask("t", "1", "permission").await;
    let asked = first.until_asked().await;
    let input = input("t", "1", "permission");
    let second = Run::new(&input, gateway.follow("1", None).await);
    let third = gateway.run(&input).await;
    let answer = serde_json::json!({ "optionId": "allow-once" });
    assert_eq!(gateway.post(&format!("interrupts/{asked}"), &answer).await.0, 202);
    let first = first.rest().await;
    assert_eq!(first.end(), "success");
    assert_eq!(first.events, second.rest().await.events);
    assert_eq!(first.events, third.rest().await.events);
    let later = gateway.run(&input).await.rest().await;
    assert_eq!(first.events, later.events, "also after its end");
}

#[tokio::test]
async fn returning_client_gets_missed_events() {
    let gateway = Gateway::demo(&[]).await;
    let mut run = gateway.ask("t", "1", "slow").await;
    run.until("1 of 50").await;
    run.reconnect(&gateway).await;
    run.until("25 of 50").await;
    run.reconnect(&gateway).await;
    let told = run.rest().await;
    assert_eq!(told.end(), "success");
    let whole = Run::new(&input("t", "1", "slow"), gateway.follow("1", None).await).rest().await;
    assert_eq!(told.events, whole.events);
}

#[tokio::test]
async fn invalid_positions_are_refused() {
    let gateway = Gateway::demo(&[]).await;
    for run in ["1", "2"] {
        gateway.ask("t", run, "hello").await.rest().await;
    }
    let body = gateway.follow("1", None).await.text().await.unwrap();
    let last = body.lines().rev().find_map(|line| line.strip_prefix("id: ")).unwrap();
    assert_eq!(gateway.follow("1", Some(last)).await.status(), 204);
    for (run, after, status, message) in [
        ("never", None, 404, "no such run is going on or kept"),
        ("2", Some(last), 409, "the run has no event `1:"),
        ("1", Some("1:9999"), 409, "the run has no event `1:9999`"),
        ("1", Some("nonsense"), 409, "the run has no event `nonsense`"),
    ] {
        let (got, said) = refusal(gateway.follow(run, after).await).await;
        assert_eq!(got.as_u16(), status, "{run} {after:?}");
        assert!(said.starts_with(message), "{said}");
    }
}

#[tokio::test]
async fn readers_of_run_are_limited() {
    let gateway = Gateway::configured("[limits]\nreaders = 2").await;
    let mut first = gateway.ask("t", "1", "slow").await;
    let second = gateway.follow("1", None).await;
    assert_eq!(second.status(), 200);
    let (status, said) = refusal(gateway.follow("1", None).await).await;
    assert_eq!(status.as_u16(), 429);
    assert_eq!(&*said, "2 readers already follow this run");
    first.until("1 of 50").await;
    assert_eq!(first.rest().await.end(), "success");
}

#[tokio::test]
async fn ended_runs_make_room_for_others() {
    let gateway = Gateway::configured("[limits]\nruns = 2").await;
    for run in ["1", "2"] {
        gateway.ask("t", run, "hello").await.rest().await;
    }
    let mut going_on = gateway.ask("t", "3", "slow").await;
    going_on.until("1 of 50").await;
    assert_eq!(gateway.follow("1", None).await.status(), 404);
    assert_eq!(gateway.follow("2", None).await.status(), 200);
    let mut another = gateway.ask("u", "4", "slow").await;
    another.until("1 of 50").await;
    let (status, _) = refusal(gateway.chat(&input("v", "5", "hello")).await).await;
    assert_eq!(status, 503);
    assert_eq!(going_on.rest().await.end(), "success");
    assert_eq!(another.rest().await.end(), "success");
}

/// Evicted runs are released at once, not at the end of their retention time.
#[cfg(unix)]
#[tokio::test]
async fn evicted_runs_release_memory() {
    let mut gateway = Gateway::configured("[limits]\nruns = 2").await;
    for run in 0..40 {
        let told = gateway.ask("t", &run.to_string(), "hello").await.rest().await;
        assert_eq!(told.end(), "success");
    }
    let tasks = |said: &str| -> usize {
        let words: Vec<_> = said.split_whitespace().collect();
        words[words.len() - 2].parse().unwrap()
    };
    // The release of ended runs takes a moment.
    let mut said = String::new();
    let gone = async {
        while said.is_empty() || tasks(&said) > 20 {
            gateway.signal(nix::sys::signal::Signal::SIGUSR1);
            said = gateway.says("open: ").await;
        }
    };
    crate::gateway::soon(gone).await;
    assert!(said.starts_with("open: 1 threads, 0 of 2 runs, "), "{said}");
}

/// Posts two inputs to a thread with an open run and room for one that waits. Returns the input
/// that waits, and its response; the other one is refused.
pub(crate) async fn waiting_of<'i: 'g, 'g>(
    gateway: &'g Gateway,
    inputs: &'i [Value; 2],
) -> (&'i Value, BoxFuture<'g, reqwest::Response>) {
    let both = inputs.each_ref().map(|input| gateway.chat(input).boxed());
    let (refused, which, mut waiting) = select_all(both).await;
    assert_eq!(refusal(refused).await.0, 409);
    (&inputs[1 - which], waiting.remove(0))
}

#[tokio::test]
async fn runs_queue_or_supersede_by_setting() {
    let gateway = Gateway::configured(
        "permission = 'ask-in-stream'\nwhen-busy = 'queue'\n[limits]\nqueue = 1",
    )
    .await;
    let mut first = gateway.ask("t", "1", "permission").await;
    let asked = first.until_asked().await;
    let inputs = ["2", "3"].map(|run| input("t", run, "hello"));
    let (which, waiting) = waiting_of(&gateway, &inputs).await;
    let answer = serde_json::json!({ "optionId": "allow-once" });
    gateway.post(&format!("interrupts/{asked}"), &answer).await;
    assert_eq!(first.rest().await.end(), "success");
    let begun = waiting.await;
    assert_eq!(begun.status(), 200);
    assert_eq!(Run::new(which, begun).rest().await.end(), "success");

    let gateway = Gateway::configured("when-busy = 'supersede'").await;
    let mut first = gateway.ask("t", "1", "slow").await;
    first.until("1 of 50").await;
    let second = gateway.ask("t", "2", "hello").await;
    assert_eq!(first.rest().await.end(), "cancelled");
    assert_eq!(second.rest().await.end(), "success");
}

/// Its client leaves while the run waits.
#[tokio::test]
async fn waiting_run_without_a_reader_is_not_carried_out() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let settings = "permission = 'ask-in-stream'\nwhen-busy = 'queue'\n[limits]\nqueue = 1\n\
                    [times]\ndisconnect-grace = 0.1";
    std::fs::write(file.path(), settings).unwrap();
    let arguments = ["--config", file.path().to_str().unwrap()];
    let mut gateway = Gateway::start(&arguments, &[("RUST_LOG", "gateway=info")]).await;
    let mut first = gateway.ask("t", "1", "permission").await;
    let asked = first.until_asked().await;
    let inputs = ["2", "3"].map(|run| input("t", run, "hello"));
    let (left, waiting) = waiting_of(&gateway, &inputs).await;
    drop(waiting);
    gateway.says("nobody reads the run").await;
    let answer = serde_json::json!({ "optionId": "allow-once" });
    gateway.post(&format!("interrupts/{asked}"), &answer).await;
    assert_eq!(first.rest().await.end(), "success");
    let response = gateway.follow(left["runId"].as_str().unwrap(), None).await;
    let told = Run::new(left, response).rest().await;
    assert_eq!(told.end(), "cancelled");
    assert_eq!(told.text(), "");
    let result = told.finished().result.as_ref().unwrap().as_str();
    assert!(result.contains("no-reader"), "{result}");
}
