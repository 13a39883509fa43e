//! The end of the gateway: streams end, and no process is left ([`Gateway::ended`] waits for all).
use crate::gateway::{Gateway, input};
use nix::sys::signal::Signal;

#[tokio::test]
async fn streams_end_with_gateway() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let gateway = Gateway::asking_in_stream().await;
        let mut slow = gateway.ask("one", "1", "slow").await;
        let mut asking = gateway.ask("two", "2", "edit").await;
        slow.until("1 of 50").await;
        asking.until_asked().await;
        gateway.signal(signal);
        for run in [slow, asking] {
            let told = run.rest().await;
            assert_eq!(told.end(), "GATEWAY_SHUTDOWN", "{signal}");
            assert_eq!(told.error().message, "The gateway is ending.");
        }
        assert!(gateway.ended().await.success(), "{signal}");
    }
}

#[tokio::test]
async fn children_of_agent_end_with_gateway() {
    let gateway = Gateway::script("with-child", &["--exit-grace", "0"]).await;
    let mut run = gateway.ask("t", "1", "work").await;
    run.until("working").await;
    gateway.signal(Signal::SIGTERM);
    assert_eq!(run.rest().await.end(), "GATEWAY_SHUTDOWN");
    assert!(gateway.ended().await.success());
}

#[tokio::test]
async fn agent_that_ignores_sigterm_is_killed() {
    let gateway = Gateway::script("stays", &["--exit-grace", "0"]).await;
    assert_eq!(gateway.ask("t", "1", "hello").await.rest().await.end(), "success");
    gateway.signal(Signal::SIGTERM);
    assert!(gateway.ended().await.success());
}

#[tokio::test]
async fn gateway_ends_during_agent_start() {
    let mut gateway = Gateway::script("reads-nothing", &["--exit-grace", "0"]).await;
    let request = gateway.client.post(gateway.url("/api/ai/chat")).json(&input("t", "1", "hello"));
    let request = tokio::spawn(request.send());
    gateway.says("agent: started").await;
    gateway.signal(Signal::SIGTERM);
    let response = request.await.unwrap().unwrap();
    assert_eq!(response.status(), 200);
    let events = response.text().await.unwrap();
    assert!(events.contains(r#""outcome":{"type":"cancelled"}"#), "{events}");
    assert!(gateway.ended().await.success());
}

#[tokio::test]
async fn gateway_ends_with_stalled_client() {
    let gateway = Gateway::script("floods", &["--exit-grace", "0"]).await;
    let run = gateway.ask("t", "1", "go").await;
    gateway.signal(Signal::SIGTERM);
    assert!(gateway.ended().await.success());
    drop(run);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn killed_gateway_leaves_no_agent() {
    let gateway = Gateway::script("cancellable", &[]).await;
    let mut run = gateway.ask("t", "1", "work").await;
    run.until("working").await;
    let stays = Gateway::script("stays", &[]).await;
    stays.ask("t", "1", "hello").await.rest().await;
    for gateway in [gateway, stays] {
        gateway.signal(Signal::SIGKILL);
        assert!(!gateway.ended().await.success());
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn daemons_of_agent_end_with_gateway() {
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let gateway = Gateway::script("starts-daemon", &["--exit-grace", "0"]).await;
        let mut run = gateway.ask("t", "1", "work").await;
        run.until("working").await;
        gateway.signal(signal);
        assert_eq!(gateway.ended().await.success(), signal == Signal::SIGTERM, "{signal}");
    }
}
