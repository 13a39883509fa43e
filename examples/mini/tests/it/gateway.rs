//! The gateway between the AG-UI client and the agent.
use crate::agui::http;
use crate::programs::{AGENT, AGUI_CLIENT, GATEWAY, Server, printed, run, stderr};
use reqwest::StatusCode;

#[tokio::test]
async fn text_of_the_agent_reaches_the_client() {
    let gateway = Server::start(GATEWAY, &[AGENT]).await;
    for text in ["Hello there", "Hello again"] {
        let turn = run(AGUI_CLIENT, &[gateway.url.as_str(), text], b"").await;
        assert_eq!(printed(&turn), format!("You wrote: {text}\n"));
    }
}

#[tokio::test]
async fn permission_is_an_interrupt() {
    let gateway = Server::start(GATEWAY, &["--", AGENT]).await;
    let words = [gateway.url.as_str(), "remember", "the", "milk"];
    let turn = run(AGUI_CLIENT, &words, b"{\"optionId\":\"allow\"}\n").await;
    assert_eq!(printed(&turn), "I keep 1 of your notes.\n");
    let turn = run(AGUI_CLIENT, &words, b"{\"optionId\":\"reject\"}\n").await;
    assert_eq!(printed(&turn), "I have not kept the note.\n");
}

#[tokio::test]
async fn pages_of_other_sites_are_refused() {
    let gateway = Server::start(GATEWAY, &["--", AGENT]).await;
    let input =
        r#"{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"Hi"}]}"#;
    let post = |origin: &str| {
        let request = http().post(&gateway.url).header("content-type", "application/json");
        request.header("origin", origin).body(input).send()
    };
    for origin in ["https://example.com", "null", "http://127.0.0.1:1"] {
        let refused = post(origin).await.expect("a response");
        assert_eq!(refused.status(), StatusCode::FORBIDDEN, "{origin}");
    }
    let own = gateway.url.trim_end_matches('/');
    assert_eq!(post(own).await.expect("a response").status(), StatusCode::OK);
}

#[tokio::test]
async fn missing_agent_is_named() {
    let gateway = Server::start(GATEWAY, &["--", "/no/such/agent"]).await;
    let turn = run(AGUI_CLIENT, &[gateway.url.as_str(), "Hello"], b"").await;
    assert_eq!(turn.status.code(), Some(1));
    assert!(stderr(&turn).contains("/no/such/agent: "), "{}", stderr(&turn));
}

#[tokio::test]
async fn crashed_agent_is_started_again() {
    let gateway = Server::start(GATEWAY, &["sh", "-c", "exit 1"]).await;
    for _ in 0..2 {
        let turn = run(AGUI_CLIENT, &[gateway.url.as_str(), "Hello"], b"").await;
        assert_eq!(turn.status.code(), Some(1));
    }
}
