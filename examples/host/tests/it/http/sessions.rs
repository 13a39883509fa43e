//! Sessions of browsers.
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use futures::{FutureExt, StreamExt, stream};
use host::http::{
    Access, AuthSettings, Principal, SiteSettings, UserLimits, authenticate, check_site,
    session_routes, sign_in,
};
use http_body_util::BodyExt;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use tower::ServiceExt;

const ALICE: &str = "the-token-of-alice";
const MALLORY: &str = "the-token-of-mallory";

fn auth(users: &[(&str, &str)]) -> AuthSettings {
    let tokens = users.iter().map(|(user, token)| ((*user).to_owned(), (*token).to_owned().into()));
    AuthSettings { tokens: tokens.collect::<BTreeMap<_, _>>(), ..AuthSettings::default() }
}

fn new_access(users: &[(&str, &str)]) -> Arc<Access> {
    let limits = UserLimits { at_work: 100, a_minute: 1000 };
    let listen = ([127, 0, 0, 1], 8080).into();
    let (access, _) = Access::new(&SiteSettings::default(), &auth(users), limits, listen).unwrap();
    Arc::new(access)
}

fn of_two() -> Arc<Access> {
    new_access(&[("alice", ALICE), ("mallory", MALLORY)])
}

async fn request(access: &Arc<Access>, request: Request<Body>) -> Response {
    let name = async |Extension(user): Extension<Principal>| user.as_str().to_owned();
    let endless = async || {
        let first = stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"first"))]);
        Body::from_stream(first.chain(stream::pending()))
    };
    let api = Router::new().route("/name", get(name)).route("/stream", get(endless));
    let api = api.merge(session_routes(access.clone()));
    let api = api.route_layer(from_fn_with_state(access.clone(), authenticate));
    let page = Router::new().route("/", get(async || "the page"));
    let page = page.route_layer(from_fn_with_state(access.clone(), sign_in));
    let all = api.merge(page).layer(from_fn_with_state(access.clone(), check_site));
    all.oneshot(request).await.unwrap()
}

/// Sends a request with these headers.
async fn send(
    access: &Arc<Access>,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> Response {
    let mut builder = Request::builder().method(method).uri(path);
    builder = builder.header(header::HOST, "localhost:8080");
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    request(access, builder.body(Body::empty()).unwrap()).await
}

async fn text(response: Response) -> String {
    let body = to_bytes(response.into_body(), 100_000).await.unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}

/// The cookie and the key of a browser.
struct Browser {
    cookie: String,
    key: String,
}

impl Browser {
    /// Opens the address with a token.
    async fn open(access: &Arc<Access>, token: &str) -> Self {
        let page = format!("/?token={token}");
        let response = send(access, "GET", &page, &[("sec-fetch-site", "none")]).await;
        Self::of(response.headers())
    }

    fn of(headers: &HeaderMap) -> Self {
        let text = |name| headers[name].to_str().unwrap();
        let cookie = text(header::SET_COOKIE).split(';').next().unwrap().to_owned();
        let key = text(header::LOCATION).strip_prefix("/#key=").unwrap().to_owned();
        Self { cookie, key }
    }

    async fn send(&self, access: &Arc<Access>, method: &str, path: &str) -> Response {
        send(access, method, path, &[("cookie", &self.cookie), ("sign-in-key", &self.key)]).await
    }

    async fn name(&self, access: &Arc<Access>) -> (u16, String) {
        let response = self.send(access, "GET", "/name").await;
        (response.status().as_u16(), text(response).await)
    }

    async fn list(&self, access: &Arc<Access>) -> Value {
        let response = self.send(access, "GET", "/api/sessions").await;
        assert_eq!(response.status(), StatusCode::OK);
        serde_json::from_str(&text(response).await).unwrap()
    }
}

/// A page of another site cannot sign the user in as another one.
#[tokio::test]
async fn token_of_an_address_is_exchanged_only_if_the_user_opened_it() {
    let access = of_two();
    let open = async |headers: &[(&str, &str)]| {
        send(&access, "GET", &format!("/?token={MALLORY}"), headers).await
    };
    for site in ["none", "same-origin"] {
        let response = open(&[("sec-fetch-site", site)]).await;
        assert_eq!(response.status(), StatusCode::SEE_OTHER, "{site}");
        let browser = Browser::of(response.headers());
        assert_eq!(browser.name(&access).await, (200, "mallory".to_owned()));
    }
    for headers in [
        &[("sec-fetch-site", "cross-site")][..],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "NONE")],
        &[],
    ] {
        let response = open(headers).await;
        assert_eq!(response.status(), StatusCode::OK, "{headers:?}");
        assert!(!response.headers().contains_key(header::SET_COOKIE), "{headers:?}");
        assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
        assert_eq!(response.headers()[header::REFERRER_POLICY], "no-referrer");
        assert_eq!(text(response).await, "the page", "it asks its user");
    }
}

#[tokio::test]
async fn browser_with_a_session_of_another_user_is_asked() {
    let access = of_two();
    let alice = Browser::open(&access, ALICE).await;
    let open = async |token: &str, cookie: &str| {
        let headers = [("sec-fetch-site", "none"), ("cookie", cookie)];
        send(&access, "GET", &format!("/?token={token}"), &headers).await
    };
    let response = open(MALLORY, &alice.cookie).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert!(!response.headers().contains_key(header::SET_COOKIE));
    assert_eq!(open(ALICE, &alice.cookie).await.status(), StatusCode::SEE_OTHER);
    let ended = "gateway-8080=00000000000000000000000000000000";
    assert_eq!(open(MALLORY, ended).await.status(), StatusCode::SEE_OTHER);
    assert_eq!(alice.name(&access).await, (200, "alice".to_owned()));
}

/// Another site has no token of another user.
#[tokio::test]
async fn single_user_is_not_asked() {
    let access = new_access(&[("alice", ALICE)]);
    for headers in [&[("sec-fetch-site", "cross-site")][..], &[]] {
        let response = send(&access, "GET", &format!("/?token={ALICE}"), headers).await;
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        let wrong = send(&access, "GET", "/?token=another-token", headers).await;
        assert_eq!(wrong.status(), StatusCode::SEE_OTHER);
        assert!(!wrong.headers().contains_key(header::SET_COOKIE));
    }
}

/// The page begins a session after its user has confirmed it.
#[tokio::test]
async fn bearer_token_is_exchanged_for_a_session() {
    let access = of_two();
    let bearer = format!("Bearer {MALLORY}");
    let headers = [("authorization", &*bearer), ("user-agent", "A browser")];
    let response = send(&access, "POST", "/api/sessions", &headers).await;
    assert_eq!(response.status(), StatusCode::CREATED);
    let cookie = response.headers()[header::SET_COOKIE].to_str().unwrap().to_owned();
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
    let answer: Value = serde_json::from_str(&text(response).await).unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let browser = Browser { cookie, key: answer["key"].as_str().unwrap().to_owned() };
    let list = browser.list(&access).await;
    assert_eq!(list["user"], "mallory");
    assert_eq!(list["sessions"][0]["id"], list["current"]);
    assert_eq!(list["sessions"][0]["agent"], "A browser");
    let by_session = browser.send(&access, "POST", "/api/sessions").await;
    assert_eq!(by_session.status(), StatusCode::BAD_REQUEST, "a session begins no other one");
    let foreign = [("authorization", &*bearer), ("origin", "https://evil.example")];
    let foreign = send(&access, "POST", "/api/sessions", &foreign).await;
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn sessions_are_ended_one_by_one_with_their_streams() {
    let access = of_two();
    let one = Browser::open(&access, ALICE).await;
    let other = Browser::open(&access, ALICE).await;
    let mallory = Browser::open(&access, MALLORY).await;
    assert_ne!(one.cookie, other.cookie);
    assert_ne!(one.key, other.key);
    let list = one.list(&access).await;
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2, "those of the user");
    let mut ended = one.send(&access, "GET", "/stream").await.into_body();
    let mut kept = other.send(&access, "GET", "/stream").await.into_body();
    for body in [&mut ended, &mut kept] {
        let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(&*first, b"first");
    }
    let path = format!("/api/sessions/{}", list["current"].as_str().unwrap());
    let foreign = mallory.send(&access, "DELETE", &path).await;
    assert_eq!(foreign.status(), StatusCode::NOT_FOUND);
    assert_eq!(one.name(&access).await.0, 200);
    assert_eq!(one.send(&access, "DELETE", &path).await.status(), StatusCode::NO_CONTENT);
    assert_eq!(one.name(&access).await.0, 401);
    let error = ended.frame().now_or_never().expect("an end").unwrap().unwrap_err();
    assert_eq!(error.to_string(), "the session has ended");
    assert_eq!(other.name(&access).await, (200, "alice".to_owned()));
    assert_eq!(mallory.name(&access).await, (200, "mallory".to_owned()));
    let next = kept.frame().now_or_never();
    assert!(next.is_none(), "the stream of the other session goes on");
}

#[tokio::test]
async fn sessions_end_with_their_token() {
    let access = of_two();
    let alice = Browser::open(&access, ALICE).await;
    let mallory = Browser::open(&access, MALLORY).await;
    let mut stream = mallory.send(&access, "GET", "/stream").await.into_body();
    access.reload(&auth(&[("alice", ALICE), ("mallory", "another-token")])).unwrap();
    assert_eq!(alice.name(&access).await, (200, "alice".to_owned()));
    assert_eq!(mallory.name(&access).await.0, 401);
    assert!(stream.frame().await.unwrap().is_err());
    access.reload(&auth(&[("alice", ALICE), ("mallory", MALLORY)])).unwrap();
    assert_eq!(mallory.name(&access).await.0, 401, "the session has ended");
}

/// A server on another port of the host can set a cookie of the same name.
#[tokio::test]
async fn all_cookies_of_the_name_are_tried() {
    let access = of_two();
    let browser = Browser::open(&access, ALICE).await;
    let other = |count| "gateway-8080=of-another-port; ".repeat(count);
    for (count, status) in [(1, 200), (7, 200), (8, 401)] {
        let cookies = other(count) + &browser.cookie;
        let headers = [("cookie", &*cookies), ("sign-in-key", &*browser.key)];
        assert_eq!(send(&access, "GET", "/name", &headers).await.status(), status, "{count}");
    }
}
