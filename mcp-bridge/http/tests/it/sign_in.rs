//! Sign-in of the client at a server with an authorization server, in a browser of this machine.
use crate::client::connect_with_sign_in;
use crate::endpoint::Tools;
use crate::world::http;
use axum::Json;
use axum::extract::State;
use axum::http::header::{AUTHORIZATION, LOCATION};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use jsonrpc_core::wire::Raw;
use mcp_bridge::client::auth::{
    AssertionRequest, AuthOptions, ClientRegistration, Credentials, DpopKey, Grant,
};
use mcp_bridge::client::{CallParams, ConnectError};
use mcp_bridge::mcp::base::Era;
use mcp_bridge_http::{Assertions, Endpoint, EndpointOptions, Loopback, SignIn, router};
use reqwest::redirect::Policy;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// Tokens that the authorization server issues, in order. The server accepts the last one issued.
#[derive(Default)]
pub(crate) struct TokenIssuer {
    pub(crate) origin: String,
    /// Whether tokens are bound to keys.
    is_dpop: bool,
    tokens: Mutex<Vec<String>>,
    /// The grants requested.
    grants: Mutex<Vec<String>>,
    registrations: AtomicUsize,
    forbids_refresh: AtomicBool,
    revoked: Mutex<Vec<String>>,
    /// Held while no token is issued.
    gate: tokio::sync::Mutex<()>,
    requested: tokio::sync::Notify,
}

impl TokenIssuer {
    fn accepts(&self, authorization: Option<&str>) -> bool {
        let tokens = self.tokens.lock().expect("tokens");
        let scheme = self.token_type();
        tokens.last().is_some_and(|token| authorization == Some(&format!("{scheme} {token}")))
    }

    fn token_type(&self) -> &'static str {
        if self.is_dpop { "DPoP" } else { "Bearer" }
    }

    pub(crate) fn grants(&self) -> Vec<String> {
        self.grants.lock().expect("grants").clone()
    }

    /// Returns the number of registered clients.
    pub(crate) fn registrations(&self) -> usize {
        self.registrations.load(SeqCst)
    }

    /// Returns the tokens that the client has revoked.
    pub(crate) fn revoked(&self) -> Vec<String> {
        self.revoked.lock().expect("tokens").clone()
    }

    /// Issues no tokens until the result is dropped.
    pub(crate) async fn hold_tokens(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.gate.lock().await
    }

    /// Waits for a request of a token.
    pub(crate) async fn token_requested(&self) {
        self.requested.notified().await;
    }

    /// Revokes all refresh tokens.
    pub(crate) fn forbid_refresh(&self) {
        self.forbids_refresh.store(true, SeqCst);
    }

    /// Revokes all access tokens.
    pub(crate) fn revoke(&self) {
        self.tokens.lock().expect("tokens").push("unknown to the client".into());
    }
}

async fn metadata(State(issued): State<Arc<TokenIssuer>>, uri: Uri) -> Json<Value> {
    let origin = &issued.origin;
    Json(match uri.path().contains("protected-resource") {
        true => json!({ "resource": format!("{origin}/mcp"), "authorization_servers": [origin] }),
        false => json!({
            "issuer": origin,
            "authorization_endpoint": format!("{origin}/authorize"),
            "token_endpoint": format!("{origin}/token"),
            "registration_endpoint": format!("{origin}/register"),
            "revocation_endpoint": format!("{origin}/revoke"),
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "dpop_signing_alg_values_supported": issued.is_dpop.then_some(["ES256"]),
        }),
    })
}

/// The page. It redirects at once, after a redirect of another page.
async fn authorize(uri: Uri) -> Response {
    let query = uri.query().expect("a query").replace("%3A", ":").replace("%2F", "/");
    let value = |name: &str| {
        query
            .split('&')
            .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
            .expect("a parameter")
    };
    let callback = value("redirect_uri");
    http()
        .build()
        .expect("a client")
        .get(format!("{callback}?code=x&state=other"))
        .send()
        .await
        .expect("a page");
    let location = format!("{callback}?code=c1&state={}", value("state"));
    (StatusCode::FOUND, [(LOCATION, location)]).into_response()
}

async fn register(State(issued): State<Arc<TokenIssuer>>) -> Json<Value> {
    issued.registrations.fetch_add(1, SeqCst);
    Json(json!({ "client_id": "c1" }))
}

async fn revoke(State(issued): State<Arc<TokenIssuer>>, form: String) {
    let token = form.split('&').find_map(|pair| pair.strip_prefix("token=")).expect("a token");
    issued.revoked.lock().expect("tokens").push(token.to_owned());
}

async fn token(State(issued): State<Arc<TokenIssuer>>, form: String) -> Response {
    issued.requested.notify_one();
    drop(issued.gate.lock().await);
    let grant = form.split('&').find_map(|pair| pair.strip_prefix("grant_type=")).expect("a grant");
    issued.grants.lock().expect("grants").push(grant.to_owned());
    let mut tokens = issued.tokens.lock().expect("tokens");
    let is_refreshed = form.contains("refresh_token=r1") && !issued.forbids_refresh.load(SeqCst);
    let is_signed = form.contains("client_assertion=signed");
    let is_valid = form.contains("code=c1") || is_refreshed || is_signed;
    if !is_valid {
        return (StatusCode::BAD_REQUEST, Json(json!({ "error": "invalid_grant" })))
            .into_response();
    }
    let token = format!("t{}", tokens.len());
    tokens.push(token.clone());
    let kind = issued.token_type();
    Json(json!({ "access_token": token, "token_type": kind, "refresh_token": "r1" }))
        .into_response()
}

/// Starts an MCP server that requires a token of the authorization server at the same address.
pub(crate) async fn server() -> Arc<TokenIssuer> {
    serve(false, |_, app| app).await
}

/// The same, with another router.
pub(crate) async fn serve(
    is_dpop: bool,
    layer: impl FnOnce(&str, axum::Router) -> axum::Router,
) -> Arc<TokenIssuer> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let origin = format!("http://{}", listener.local_addr().expect("an address"));
    let issued = Arc::new(TokenIssuer { origin, is_dpop, ..TokenIssuer::default() });
    let checks = Arc::clone(&issued);
    let mut options = EndpointOptions::default();
    options.authenticate = Some(Arc::new(move |headers| {
        let authorization = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        checks.accepts(authorization).then(|| "ada".to_owned())
    }));
    let app = axum::Router::new()
        .route("/.well-known/oauth-protected-resource/mcp", get(metadata))
        .route("/.well-known/oauth-authorization-server", get(metadata))
        .route("/authorize", get(authorize))
        .route("/register", post(register))
        .route("/token", post(token))
        .route("/revoke", post(revoke))
        .with_state(Arc::clone(&issued))
        .merge(router("/mcp", Endpoint::new(Tools::idle(), options)));
    let app = layer(&issued.origin, app);
    tokio::spawn(async move { axum::serve(listener, app).await });
    issued
}

/// Creates a sign-in in which the user approves each page.
async fn sign_in(issued: &TokenIssuer, credentials: Option<Credentials>) -> Arc<SignIn> {
    Arc::new(approved(issued, credentials, None).await)
}

/// The same, with a key.
pub(crate) async fn approved(
    issued: &TokenIssuer,
    credentials: Option<Credentials>,
    dpop_key: Option<DpopKey>,
) -> SignIn {
    let browser = Loopback::bind(|url| {
        let page = http().build().expect("a client").get(url);
        tokio::spawn(page.send());
    });
    let browser = browser.await.expect("a port");
    let mut options = AuthOptions::new("test", browser.redirect_uri());
    options.dpop_key = dpop_key;
    let http = http().redirect(Policy::none()).build().expect("a client");
    let url = format!("{}/mcp", issued.origin);
    SignIn::new(http, &url, options, credentials, Arc::new(browser)).expect("a URL")
}

#[tokio::test]
async fn client_signs_in_and_repeats_its_request() {
    for era in [Era::Modern, Era::Legacy] {
        let issued = server().await;
        let sign_in = sign_in(&issued, None).await;
        let url = format!("{}/mcp", issued.origin);
        let client = connect_with_sign_in(&url, era, &sign_in).await.expect("a server");
        let tools = client.tools().await.expect("a list").tools;
        assert!(tools.iter().any(|tool| tool.name == "of-ada"), "{tools:?}");
        assert_eq!(issued.grants(), ["authorization_code"]);

        issued.revoke();
        let quick = || client.call(CallParams::new("quick", Raw::from_text("{}").expect("JSON")));
        let (first, second) = tokio::join!(quick(), quick());
        assert_eq!(first.expect("a result").content, second.expect("a result").content);
        assert_eq!(
            issued.grants(),
            ["authorization_code", "refresh_token"],
            "requests share a sign-in"
        );
    }
}

#[tokio::test]
async fn stored_credentials_need_no_user() {
    let issued = server().await;
    let url = format!("{}/mcp", issued.origin);
    let first = sign_in(&issued, None).await;
    connect_with_sign_in(&url, Era::Modern, &first).await.expect("a server");
    let stored = serde_json::to_string(&first.credentials().await).expect("JSON");
    let second = sign_in(&issued, serde_json::from_str(&stored).expect("credentials")).await;
    connect_with_sign_in(&url, Era::Modern, &second)
        .await
        .expect("a server")
        .tools()
        .await
        .expect("a list");
    assert_eq!(issued.grants(), ["authorization_code"]);
}

#[tokio::test]
async fn failed_sign_in_names_its_reason() {
    let issued = server().await;
    let url = format!("{}/mcp", issued.origin);
    let options = AuthOptions::new("test", "http://127.0.0.1:1/callback");
    let http = http().redirect(Policy::none()).build().expect("a client");
    let browser = Arc::new(RefusingBrowser);
    let sign_in = Arc::new(SignIn::new(http, &url, options, None, browser).expect("a URL"));
    let refused = connect_with_sign_in(&url, Era::Modern, &sign_in).await;
    let Err(ConnectError::Refused(error)) = refused else { panic!("connected: {refused:?}") };
    assert_eq!(error.message, "the sign-in was cancelled: no browser");
}

/// Signs for one authorization server.
struct AssertionSigner {
    issuer: String,
}

#[async_trait::async_trait]
impl Assertions for AssertionSigner {
    async fn assertion(&self, request: &AssertionRequest) -> std::io::Result<String> {
        match request.issuer == self.issuer {
            true => Ok("signed".to_owned()),
            false => Err(std::io::Error::other("no key")),
        }
    }
}

#[tokio::test]
async fn program_signs_in_without_a_user() {
    for era in [Era::Modern, Era::Legacy] {
        let issued = server().await;
        let url = format!("{}/mcp", issued.origin);
        let connect = |issuer: Option<String>| {
            let mut options = AuthOptions::new("test", "");
            options.grant = Grant::ClientAssertion;
            options.registration = Some(ClientRegistration::new(&issued.origin, "c1", None));
            let signs =
                issuer.map(|issuer| Arc::new(AssertionSigner { issuer }) as Arc<dyn Assertions>);
            let http = http().redirect(Policy::none()).build().expect("a client");
            let sign_in = SignIn::without_user(http, &url, options, signs).expect("a URL");
            let sign_in = Arc::new(sign_in);
            let url = url.clone();
            async move { connect_with_sign_in(&url, era, &sign_in).await }
        };
        for (issuer, reason) in
            [(None, "the program provides no JWT"), (Some(String::new()), "no key")]
        {
            let refused = connect(issuer).await;
            let Err(ConnectError::Refused(error)) = refused else { panic!("{refused:?}") };
            assert_eq!(error.message, format!("the sign-in was cancelled: {reason}"));
        }
        let client = connect(Some(issued.origin.clone())).await.expect("a server");
        // An expired token is requested again.
        issued.revoke();
        client.tools().await.expect("a list");
        assert_eq!(issued.grants(), ["client_credentials", "client_credentials"]);
        assert_eq!(issued.registrations(), 0);
    }
}

struct RefusingBrowser;

#[async_trait::async_trait]
impl mcp_bridge_http::Browser for RefusingBrowser {
    async fn open(&self, _url: &str) -> std::io::Result<()> {
        Err(std::io::Error::other("no browser"))
    }

    async fn redirect(&self) -> std::io::Result<String> {
        std::future::pending().await
    }
}
