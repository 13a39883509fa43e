//! The gateway between the AG-UI client and the agent.
use crate::programs::{AGENT, AGUI_CLIENT, GATEWAY, Server, printed, run};

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
async fn crashed_agent_is_started_again() {
    let gateway = Server::start(GATEWAY, &["sh", "-c", "exit 1"]).await;
    for _ in 0..2 {
        let turn = run(AGUI_CLIENT, &[gateway.url.as_str(), "Hello"], b"").await;
        assert_eq!(turn.status.code(), Some(1));
    }
}
