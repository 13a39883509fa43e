//! Runs that are stopped, and runs that are refused.
use crate::gateway::{Gateway, input, refusal, soon};
use crate::run::Run;
use serde_json::{Value, json};

#[tokio::test]
async fn run_is_cancelled_by_id() {
    let gateway = Gateway::demo(&[]).await;
    let mut run = gateway.ask("t", "r 1/ü", "slow").await;
    run.until("1 of 50").await;
    let (status, _) = gateway.post("runs/r%201%2F%C3%BC/cancel", &Value::Null).await;
    assert_eq!(status, 202);
    assert_eq!(run.rest().await.end(), "cancelled");
    assert_eq!(gateway.ask("t", "2", "hello").await.rest().await.end(), "success");
}

#[tokio::test]
async fn clients_of_0_x_hear_of_it_as_an_error() {
    let gateway = Gateway::demo(&[]).await;
    let mut old = input("t", "r", "slow");
    old.as_object_mut().unwrap().remove("protocolVersion");
    let mut run = gateway.run(&old).await;
    run.until("1 of 50").await;
    gateway.post("runs/r/cancel", &Value::Null).await;
    assert_eq!(run.rest().await.end(), "CANCELLED");
}

#[tokio::test]
async fn cancelling_unknown_run_is_not_found() {
    let gateway = Gateway::demo(&[]).await;
    gateway.ask("t", "over", "hello").await.rest().await;
    for run in ["never", "over"] {
        let (status, said) = gateway.post(&format!("runs/{run}/cancel"), &Value::Null).await;
        assert_eq!(status.as_u16(), 404);
        assert_eq!(&*said, "no such run is going on");
    }
}

#[tokio::test]
async fn run_with_open_permission_is_cancelled() {
    let gateway = Gateway::asking_in_stream().await;
    let mut run = gateway.ask("t", "r", "edit").await;
    let asked = run.until_asked().await;
    assert_eq!(gateway.post("runs/r/cancel", &Value::Null).await.0, 202);
    let told = run.rest().await;
    assert_eq!(told.end(), "cancelled");
    assert_eq!(told.results().len(), 1, "the tool call has its result");
    assert_eq!(
        told.customs("acp.permission.resolved"),
        [json!({ "interruptId": asked, "outcome": "cancelled", "answeredBy": "end" })]
    );
    let (status, _) =
        gateway.post(&format!("interrupts/{asked}"), &json!({ "optionId": "allow-once" })).await;
    assert_eq!(status, 409);
}

#[tokio::test]
async fn thread_has_one_run_at_a_time() {
    let gateway = Gateway::asking_in_stream().await;
    let mut run = gateway.ask("t", "1", "permission").await;
    let asked = run.until_asked().await;
    for (thread, id, message) in [
        ("t", "2", "a run is going on in this thread"),
        ("t", "1", "another run has this id"),
        ("another", "1", "another run has this id"),
    ] {
        let (status, said) = refusal(gateway.chat(&input(thread, id, "hello")).await).await;
        assert_eq!(status.as_u16(), 409, "{thread} {id}");
        assert_eq!(&*said, message, "{thread} {id}");
    }
    gateway.post(&format!("interrupts/{asked}"), &json!({ "optionId": "allow-once" })).await;
    assert_eq!(run.rest().await.end(), "success");
    assert_eq!(gateway.ask("t", "2", "hello").await.rest().await.end(), "success");
}

#[cfg(unix)]
#[tokio::test]
async fn unread_run_is_cancelled_after_grace() {
    let mut gateway = Gateway::script("cancellable", &["--disconnect-grace", "0"]).await;
    let mut run = gateway.ask("t", "1", "work").await;
    run.until("working").await;
    drop(run);
    gateway.says("agent: cancelled").await;
    let next = gateway.ask("t", "2", "again").await.rest().await;
    assert_eq!(next.end(), "success");
    assert_eq!(&*next.text(), "and again");
}

#[cfg(unix)]
#[tokio::test]
async fn run_waits_for_end_of_cancelled_run() {
    let mut gateway = Gateway::script("ignores-cancel", &["--cancel-grace", "1"]).await;
    let mut run = gateway.ask("t", "1", "work").await;
    run.until("working").await;
    gateway.post("runs/1/cancel", &Value::Null).await;
    gateway.says("agent: heard and ignored").await;
    let next = gateway.ask("t", "2", "again").await;
    assert_eq!(run.rest().await.end(), "cancelled");
    let next = next.rest().await;
    assert_eq!(next.end(), "success");
    assert_eq!(&*next.text(), "a new session");
    // The question in the abandoned session has an answer.
    let answer = gateway.says("agent: permission").await;
    assert!(answer.contains(r#""outcome":{"outcome":"cancelled"}"#), "{answer}");
}

#[cfg(unix)]
#[tokio::test]
async fn run_is_cancelled_during_agent_start() {
    let mut gateway = Gateway::script("reads-nothing", &["--exit-grace", "0"]).await;
    let input = input("t", "1", "hello");
    let request = gateway.client.post(gateway.url("/api/ai/chat")).json(&input);
    let request = tokio::spawn(request.send());
    gateway.says("agent: started").await;
    assert_eq!(gateway.post("runs/1/cancel", &Value::Null).await.0, 202);
    let told = Run::new(&input, soon(request).await.unwrap().unwrap()).rest().await;
    assert_eq!(told.tags(), vec!["RUN_STARTED", "RUN_FINISHED"]);
    assert_eq!(told.end(), "cancelled");
}
