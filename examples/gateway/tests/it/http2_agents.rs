//! Agents behind Streamable HTTP over HTTP/2.
use crate::certificate::Certificate;
use crate::gateway::Gateway;
use crate::http_agents::{Agent, Does, next};
use axum::http::Version;

/// More threads than the number of streams that an agent must allow on a connection.
const THREADS: usize = 105;

/// The settings of an agent with HTTP/2 without TLS.
fn h2c(url: &str) -> String {
    format!("permission = 'allow'\n[agents.a]\nurl = '{url}'\nh2c = true")
}

#[tokio::test]
async fn one_connection_carries_all_sessions() {
    let (url, mut heard) = Agent::serve(Does::Works).await;
    let gateway = Gateway::configured(&h2c(&url)).await;
    for (thread, run) in [("t", "1"), ("u", "2"), ("t", "3")] {
        let told = gateway.ask(thread, run, "go").await.rest().await;
        assert_eq!(told.end(), "success");
        assert_eq!(&*told.text(), "done");
    }
    // The first session's stream stays open during the other's, and is not opened again.
    for (what, session) in [
        ("initialize", None),
        ("GET", None),
        ("GET", Some("s")),
        ("session/prompt", Some("s")),
        ("GET", Some("s1")),
        ("session/prompt", Some("s1")),
        ("session/prompt", Some("s")),
    ] {
        let had = next(&mut heard, what).await;
        assert_eq!(had.version, Version::HTTP_2, "{what}");
        assert_eq!(had.connection, 0, "{what}");
        let found = had.headers.get("acp-session-id").map(|id| id.to_str().unwrap());
        assert_eq!(found, session, "{what}");
    }
}

#[tokio::test]
async fn http_version_is_negotiated_over_tls() {
    let certificate = Certificate::new();
    let roots = certificate.file("certificate.pem");
    let roots = [("SSL_CERT_FILE", roots.to_str().unwrap())];
    for (protocols, version) in [
        (&["h2", "http/1.1"][..], Version::HTTP_2),
        (&["http/1.1"], Version::HTTP_11),
        (&[], Version::HTTP_11),
    ] {
        let tls = Some(certificate.acceptor(protocols));
        let (url, mut heard) = Agent::serve_over(Does::Works, tls).await;
        let arguments = ["--agent-url", &url, "--permission", "allow"];
        let gateway = Gateway::start(&arguments, &roots).await;
        assert_eq!(gateway.ask("t", "1", "go").await.rest().await.end(), "success");
        for what in ["initialize", "GET", "GET", "session/prompt"] {
            assert_eq!(next(&mut heard, what).await.version, version, "{protocols:?} {what}");
        }
    }
}

#[tokio::test]
async fn idle_sessions_release_their_streams() {
    let (url, mut heard) = Agent::serve(Does::Works).await;
    let gateway = Gateway::configured(&h2c(&url)).await;
    for thread in 0..THREADS {
        let (thread, run) = (format!("t{thread}"), format!("r{thread}"));
        assert_eq!(gateway.ask(&thread, &run, "go").await.rest().await.end(), "success", "{run}");
    }
    for _ in 0..THREADS {
        assert_eq!(next(&mut heard, "session/prompt").await.connection, 0);
    }
}

#[tokio::test]
async fn https_agent_must_be_trusted() {
    let certificate = Certificate::new();
    let other = Certificate::new();
    let roots = other.file("certificate.pem");
    let roots = [("SSL_CERT_FILE", roots.to_str().unwrap())];
    let (url, mut heard) = Agent::serve_over(Does::Works, Some(certificate.acceptor(&[]))).await;
    let gateway = Gateway::start(&["--agent-url", &url], &roots).await;
    let told = gateway.ask("t", "1", "go").await.rest().await;
    assert_eq!(told.end(), "AGENT_UNAVAILABLE");
    let message = &told.error().message;
    assert!(message.contains("invalid peer certificate: "), "{message}");
    assert!(heard.try_recv().is_err(), "it was asked for something");
}
