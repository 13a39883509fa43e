//! The keys of an OpenID provider, over HTTP.
use crate::http::oidc::{auth, key_set, new_access, send, settings, token};
use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use host::http::OidcSettings;
use serde_json::{Value, json};
use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// A provider on loopback.
struct Provider {
    url: String,
    keys: Arc<Mutex<String>>,
    /// Requests for the keys.
    read: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Provider {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let keys = Arc::new(Mutex::new(key_set()));
        let read = Arc::<AtomicUsize>::default();
        let served = keys.clone();
        let counted = read.clone();
        let serve_keys = async move || {
            counted.fetch_add(1, Ordering::SeqCst);
            served.lock().unwrap().clone()
        };
        let router = Router::new().route("/keys", get(serve_keys));
        let task = tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
        Self { url, keys, read, task }
    }

    fn settings(&self) -> OidcSettings {
        let mut settings = settings();
        settings.jwks_file = None;
        settings.jwks_url = Some(format!("{}/keys", self.url));
        settings
    }

    fn reads(&self) -> usize {
        self.read.load(Ordering::SeqCst)
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Returns the keys of the fixtures without this one.
fn set_without(key: &str) -> String {
    let mut set: Value = serde_json::from_str(&key_set()).unwrap();
    set["keys"].as_array_mut().unwrap().retain(|it| it["kid"] != key);
    set.to_string()
}

/// Lets time pass without waiting.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// Requests at the same time need one fetch, and unknown keys one in 30 seconds.
#[tokio::test]
async fn keys_are_fetched_once_in_an_interval() {
    let provider = Provider::start().await;
    *provider.keys.lock().unwrap() = set_without("ec");
    let access = new_access(&provider.settings()).unwrap();
    let rsa = token("RS256");
    let all = futures::future::join_all((0..20).map(|_| send(&access, &rsa))).await;
    assert!(all.iter().all(|answer| *answer == (200, "alice".to_owned())), "{all:?}");
    assert_eq!(provider.reads(), 1);
    *provider.keys.lock().unwrap() = key_set();
    for _ in 0..4 {
        assert_eq!(send(&access, &token("ES256")).await.0, 401);
        assert_eq!(send(&access, &token("unknown key")).await.0, 401);
    }
    assert_eq!(provider.reads(), 1, "tokens with unknown keys do not cause fetches at will");
    pass(Duration::from_secs(30)).await;
    let ec = token("ES256");
    let all = futures::future::join_all((0..20).map(|_| send(&access, &ec))).await;
    assert!(all.iter().all(|answer| *answer == (200, "alice".to_owned())), "{all:?}");
    assert_eq!(provider.reads(), 2);
}

/// Tokens that no key can make valid cause no fetch.
#[tokio::test]
async fn tokens_that_cannot_be_valid_cause_no_fetch() {
    let provider = Provider::start().await;
    let access = new_access(&provider.settings()).unwrap();
    for name in ["none", "HMAC with public key", "logout token", "more than 16 KiB", "two parts"] {
        assert_eq!(send(&access, &token(name)).await.0, 401, "{name}");
    }
    assert_eq!(provider.reads(), 0);
}

/// A client that leaves does not end the fetch, which the next one is not allowed to repeat.
#[tokio::test]
async fn fetch_goes_on_without_its_request() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/keys", listener.local_addr().unwrap());
    let begun = Arc::new(Notify::new());
    let released = Arc::new(Notify::new());
    let begins = begun.clone();
    let waits = released.clone();
    let serve_keys = async move || {
        begins.notify_one();
        waits.notified().await;
        key_set()
    };
    let router = Router::new().route("/keys", get(serve_keys));
    let serving = tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
    let mut settings = settings();
    settings.jwks_file = None;
    settings.jwks_url = Some(url);
    let access = new_access(&settings).unwrap();
    let rsa = token("RS256");
    tokio::select! {
        answer = send(&access, &rsa) => panic!("{answer:?}"),
        () = begun.notified() => {}
    }
    released.notify_one();
    assert_eq!(send(&access, &rsa).await, (200, "alice".to_owned()));
    serving.abort();
}

#[tokio::test]
async fn missing_keys_are_no_fault_of_the_token() {
    let provider = Provider::start().await;
    *provider.keys.lock().unwrap() = "{}".to_owned();
    let access = new_access(&provider.settings()).unwrap();
    for _ in 0..20 {
        let error = "the keys of the OpenID provider cannot be read; try again in 30 s".to_owned();
        assert_eq!(send(&access, &token("expired")).await, (503, error));
    }
    assert_eq!(provider.reads(), 1);
}

#[tokio::test]
async fn reload_keeps_keys_of_the_same_provider() {
    let provider = Provider::start().await;
    let settings = provider.settings();
    let access = new_access(&settings).unwrap();
    access.clone().load_keys().await;
    assert_eq!(provider.reads(), 1);
    *provider.keys.lock().unwrap() = "{}".to_owned();
    access.reload(&auth(&settings)).unwrap();
    assert_eq!(send(&access, &token("RS256")).await, (200, "alice".to_owned()));
    let mut other = settings;
    other.audience = Some("other".to_owned());
    access.reload(&auth(&other)).unwrap();
    assert_eq!(send(&access, &token("RS256")).await.0, 503);
}

/// Serves metadata, which this function creates for the URL of the provider, and returns the answer
/// to a valid token.
async fn with_metadata(metadata: impl FnOnce(&str) -> Value) -> (u16, String) {
    let provider = Provider::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let issuer = format!("http://{}", listener.local_addr().unwrap());
    let mut document = metadata(&provider.url);
    if document["issuer"].is_null() {
        document["issuer"] = json!(format!("{issuer}/"));
    }
    let metadata = get(async move || document.to_string());
    let router = Router::new().route("/.well-known/openid-configuration", metadata);
    let serving = tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
    let mut settings = settings();
    settings.jwks_file = None;
    settings.issuer = Some(format!("{issuer}/"));
    let answer = send(&new_access(&settings).unwrap(), &token("RS256")).await;
    serving.abort();
    answer
}

#[tokio::test]
async fn keys_are_discovered() {
    let found = with_metadata(|url| json!({ "jwks_uri": format!("{url}/keys") })).await;
    // The keys are known, and the issuer of the fixtures is another one.
    assert_eq!(found, (401, "the token has another issuer".to_owned()));
    let keys = |url: &str| format!("{url}/keys");
    let other = with_metadata(|url| json!({ "jwks_uri": keys(url), "issuer": "https://a" })).await;
    assert_eq!(other.0, 503, "metadata of another issuer");
    assert_eq!(with_metadata(|_| json!({})).await.0, 503);
    assert_eq!(with_metadata(|_| json!({ "jwks_uri": "http://login.example/keys" })).await.0, 503);
}

/// A provider that answers in a wrong way, or not at all.
async fn with_keys_at(router: Router) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/keys", listener.local_addr().unwrap());
    let serving = tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
    let mut settings = settings();
    settings.jwks_file = None;
    settings.jwks_url = Some(url);
    let answer = send(&new_access(&settings).unwrap(), &token("RS256")).await;
    serving.abort();
    answer.0
}

#[tokio::test]
async fn wrong_answers_of_the_provider_are_refused() {
    let at = |answer| Router::new().route("/keys", answer);
    assert_eq!(with_keys_at(at(get(async || key_set()))).await, 200);
    let large = get(async || " ".repeat(256 * 1024) + &key_set());
    assert_eq!(with_keys_at(at(large)).await, 503);
    let failed = get(async || (StatusCode::INTERNAL_SERVER_ERROR, key_set()));
    assert_eq!(with_keys_at(at(failed)).await, 503);
    let moved = get(async || (StatusCode::FOUND, [("location", "/elsewhere")]));
    let moved = at(moved).route("/elsewhere", get(async || key_set()));
    assert_eq!(with_keys_at(moved).await, 503, "redirects are not followed");
    let mut settings = settings();
    // Nothing listens on this port.
    settings.jwks_file = None;
    settings.jwks_url = Some("http://127.0.0.1:1/keys".to_owned());
    assert_eq!(send(&new_access(&settings).unwrap(), &token("RS256")).await.0, 503);
}

/// Virtual time passes as soon as all tasks wait.
#[tokio::test(start_paused = true)]
async fn slow_provider_is_not_waited_for() {
    let silent = Router::new().route("/keys", get(async || pending::<String>().await));
    let limit = Duration::from_secs(11);
    let answer = tokio::time::timeout(limit, with_keys_at(silent)).await;
    assert_eq!(answer, Ok(503));
}
