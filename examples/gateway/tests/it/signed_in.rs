//! Sessions of browsers, over restarts of the gateway and over a WebSocket.
use crate::gateway::{Gateway, http, soon};
use futures::StreamExt;
use nix::sys::signal::Signal;
use reqwest::redirect::Policy;
use reqwest::{Method, Response};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

/// A gateway with two users, and its store in the folder.
async fn start(folder: &TempDir) -> Gateway {
    let config = folder.path().join("gateway.toml");
    let settings = "[auth.tokens]\nalice = 'the-token-of-alice'\nbob = 'the-token-of-bob'";
    fs::write(&config, settings).unwrap();
    let store = folder.path().join("gateway.db");
    let arguments = ["--config", config.to_str().unwrap(), "--store", store.to_str().unwrap()];
    Gateway::demo(&arguments).await
}

/// The session of a browser. A client chooses the port of its cookie by the `Host` header.
struct Browser {
    cookie: String,
    key: String,
}

const HOST: &str = "localhost:8787";

impl Browser {
    async fn open(gateway: &Gateway) -> Self {
        let client = http().redirect(Policy::none()).build().unwrap();
        let page = client.get(gateway.url("/?token=the-token-of-alice"));
        let page = page.header("sec-fetch-site", "none").header("host", HOST);
        let response = soon(page.send()).await.unwrap();
        let text = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        let cookie = text("set-cookie").split(';').next().unwrap().to_owned();
        Self { cookie, key: text("location").strip_prefix("/#key=").unwrap().to_owned() }
    }

    fn headers(&self) -> [(&'static str, &str); 3] {
        [("host", HOST), ("cookie", &self.cookie), ("sign-in-key", &self.key)]
    }

    async fn send(&self, gateway: &Gateway, method: Method, path: &str) -> Response {
        let mut request = gateway.client.request(method, gateway.url(path));
        for (name, value) in self.headers() {
            request = request.header(name, value);
        }
        soon(request.send()).await.unwrap()
    }

    async fn current(&self, gateway: &Gateway) -> Option<String> {
        let response = self.send(gateway, Method::GET, "/api/sessions").await;
        if response.status() == 401 {
            return None;
        }
        let list: Value = soon(response.json()).await.unwrap();
        assert_eq!(list["user"], "alice");
        list["current"].as_str().map(str::to_owned)
    }

    async fn sign_out(&self, gateway: &Gateway) {
        let path = format!("/api/sessions/{}", self.current(gateway).await.unwrap());
        assert_eq!(self.send(gateway, Method::DELETE, &path).await.status(), 204);
    }
}

#[tokio::test]
async fn sessions_survive_a_restart_and_ended_ones_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = start(&folder).await;
    let browser = Browser::open(&gateway).await;
    let ended = Browser::open(&gateway).await;
    ended.sign_out(&gateway).await;
    gateway.signal(Signal::SIGKILL);
    gateway.ended().await;
    let gateway = start(&folder).await;
    assert!(browser.current(&gateway).await.is_some());
    assert_eq!(ended.current(&gateway).await, None);
}

#[tokio::test]
async fn websocket_ends_with_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = start(&folder).await;
    let browser = Browser::open(&gateway).await;
    let mut request = gateway.url("/api/ai/ws").replacen("http", "ws", 1);
    request.push_str("?agent=demo");
    let mut request = request.into_client_request().unwrap();
    for (name, value) in browser.headers() {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    let (mut socket, _) = soon(connect_async(request)).await.unwrap();
    browser.sign_out(&gateway).await;
    let is_closed = async {
        loop {
            match socket.next().await {
                Some(Ok(Message::Close(_))) | None => return,
                Some(Ok(_)) => {}
                Some(Err(error)) => panic!("{error}"),
            }
        }
    };
    soon(is_closed).await;
}
