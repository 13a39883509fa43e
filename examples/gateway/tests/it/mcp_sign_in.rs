//! Sign-ins at MCP servers over HTTP.
use crate::gateway::{Gateway, input, refusal, soon};
use crate::mcp_tools::Flights;
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use mcp_bridge_http::{Endpoint, EndpointOptions, router};
use reqwest::header::{COOKIE, HOST, SET_COOKIE};
use serde_json::{Value, json};
use std::fs;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::net::TcpListener;

/// An MCP server with its authorization server.
#[derive(Default)]
struct ProtectedServer {
    origin: String,
    /// The header of the only client. Without one, the client is public.
    client: Option<&'static str>,
    /// The tokens that were issued. The last one is accepted.
    tokens: Mutex<Vec<String>>,
    /// The grants of the tokens.
    grants: Mutex<Vec<String>>,
    /// The tokens that the client has revoked.
    revoked: Mutex<Vec<String>>,
}

impl ProtectedServer {
    fn accepts(&self, authorization: Option<&str>) -> bool {
        let tokens = self.tokens.lock().unwrap();
        tokens.last().is_some_and(|token| authorization == Some(&format!("Bearer {token}")))
    }

    fn grants(&self) -> Vec<String> {
        self.grants.lock().unwrap().clone()
    }

    /// Accepts no token until the next one is issued.
    fn expire(&self) {
        self.tokens.lock().unwrap().push("expired".to_owned());
    }
}

fn authorization(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok())
}

async fn metadata(State(server): State<Arc<ProtectedServer>>, uri: Uri) -> Json<Value> {
    let origin = &server.origin;
    Json(match uri.path().contains("protected-resource") {
        true => json!({ "resource": format!("{origin}/mcp"), "authorization_servers": [origin] }),
        false => json!({
            "issuer": origin,
            "authorization_endpoint": format!("{origin}/authorize"),
            "token_endpoint": format!("{origin}/token"),
            "registration_endpoint": format!("{origin}/register"),
            "revocation_endpoint": format!("{origin}/revoke"),
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported":
                [if server.client.is_some() { "client_secret_basic" } else { "none" }],
        }),
    })
}

async fn revoke(State(server): State<Arc<ProtectedServer>>, form: String) {
    let token = form.split('&').find_map(|pair| pair.strip_prefix("token=")).unwrap();
    server.revoked.lock().unwrap().push(token.to_owned());
}

async fn token(
    State(server): State<Arc<ProtectedServer>>,
    headers: HeaderMap,
    form: String,
) -> Response {
    if server.client.is_some() && authorization(&headers) != server.client {
        let error = Json(json!({ "error": "invalid_client" }));
        return (StatusCode::UNAUTHORIZED, error).into_response();
    }
    let grant = form.split('&').find_map(|pair| pair.strip_prefix("grant_type=")).unwrap();
    server.grants.lock().unwrap().push(grant.to_owned());
    let mut tokens = server.tokens.lock().unwrap();
    let token = format!("t{}", tokens.len() + 1);
    tokens.push(token.clone());
    Json(json!({ "access_token": token, "token_type": "Bearer", "refresh_token": "r1" }))
        .into_response()
}

async fn serve(client: Option<&'static str>) -> Arc<ProtectedServer> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let server = Arc::new(ProtectedServer { origin, client, ..ProtectedServer::default() });
    let checks = server.clone();
    let mut options = EndpointOptions::default();
    options.authenticate = Some(Arc::new(move |headers| {
        checks.accepts(authorization(headers)).then(|| "ada".to_owned())
    }));
    let app = Router::new()
        .route("/.well-known/{*rest}", get(metadata))
        .route("/register", post(async || Json(json!({ "client_id": "c1" }))))
        .route("/token", post(token))
        .route("/revoke", post(revoke))
        .with_state(server.clone())
        .merge(router("/mcp", Endpoint::new(Arc::new(Flights::default()), options)));
    tokio::spawn(async move { axum::serve(listener, app).await });
    server
}

/// A gateway with the server `docs`, with a secret in its address, and the server `plain`, which is
/// not signed in to.
async fn gateway(server: &ProtectedServer, more: &str) -> (Gateway, TempDir) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("gateway.toml");
    let origin = &server.origin;
    let settings = format!(
        "{more}\n[agents.model.model]\n[mcp-servers.docs]\nurl = '{origin}/mcp?key=canary-url'\n\
         [mcp-servers.plain]\nurl = '{origin}/mcp'\nheader.Authorization = 'Bearer canary-token'\n"
    );
    fs::write(&file, settings).unwrap();
    (Gateway::start(&["--config", file.to_str().unwrap()], &[]).await, folder)
}

async fn change(gateway: &Gateway, path: &str) -> reqwest::Response {
    let url = gateway.url(&format!("/api/ai/mcp-servers/{path}"));
    soon(gateway.client.post(url).send()).await.unwrap()
}

async fn list(gateway: &Gateway) -> (Value, String) {
    let url = gateway.url("/api/ai/mcp-servers");
    let text = soon(gateway.client.get(url).send()).await.unwrap().text().await.unwrap();
    (serde_json::from_str(&text).unwrap(), text)
}

/// Waits until a server has a state, and returns the list.
async fn until(gateway: &Gateway, server: usize, state: &str) -> String {
    soon(async {
        loop {
            let (list, text) = list(gateway).await;
            if list["servers"][server]["state"] == state {
                return text;
            }
        }
    })
    .await
}

/// Waits until the server has refused a request.
async fn needs_login(gateway: &Gateway) -> String {
    let text = until(gateway, 0, "needs-login").await;
    assert!(text.contains("a user has to sign in at the server"), "{text}");
    text
}

/// Begins a sign-in. Returns the cookie, and the redirect of the page.
async fn begin(gateway: &Gateway, server: &str) -> (String, String) {
    let response = change(gateway, &format!("{server}/login")).await;
    assert_eq!(response.status(), StatusCode::OK);
    let cookie = response.headers()[SET_COOKIE].to_str().unwrap().to_owned();
    let page = response.json::<Value>().await.unwrap()["url"].as_str().unwrap().to_owned();
    let state = page.split('&').find_map(|pair| pair.strip_prefix("state=")).unwrap();
    (cookie, format!("/mcp/servers/{server}/callback?code=c1&state={state}"))
}

/// Follows a redirect, without credentials of the gateway.
async fn follow(gateway: &Gateway, path: &str, cookie: &str) -> (StatusCode, String) {
    let cookie = cookie.split(';').next().unwrap();
    let request = reqwest::Client::new().get(gateway.url(path)).header(COOKIE, cookie);
    let response = soon(request.send()).await.unwrap();
    assert_eq!(response.headers()["referrer-policy"], "no-referrer");
    assert_eq!(response.headers()["content-security-policy"], "default-src 'none'");
    (response.status(), response.text().await.unwrap())
}

#[tokio::test]
async fn only_the_browser_that_began_a_sign_in_finishes_it() {
    let server = serve(None).await;
    let (gateway, _folder) = gateway(&server, "").await;
    let text = needs_login(&gateway).await;
    assert!(!text.contains("canary"), "{text}");
    let (cookie, redirect) = begin(&gateway, "docs").await;
    let (name, attributes) = cookie.split_once('=').unwrap();
    let port = gateway.address.rsplit_once(':').unwrap().1;
    assert_eq!(name, format!("mcp-sign-in-{port}"));
    for attribute in ["; Path=/mcp/servers/docs/callback;", "; HttpOnly;", "; SameSite=Lax"] {
        assert!(attributes.contains(attribute), "{cookie}");
    }
    // Another user has opened the page, or has the cookie of another sign-in.
    for other in ["", "mcp-sign-in-1=x", &format!("{name}={}", "0".repeat(64))] {
        let (status, page) = follow(&gateway, &redirect, other).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{page}");
        assert!(page.contains("it was begun in another browser. Begin it"), "{page}");
    }
    let forged = follow(&gateway, "/mcp/servers/docs/callback?code=c1&state=x", &cookie).await;
    assert_eq!(forged.0, StatusCode::CONFLICT, "{}", forged.1);
    let (status, page) = follow(&gateway, &redirect, &cookie).await;
    assert_eq!(status, StatusCode::OK, "{page}");
    assert!(page.contains("You are signed in."), "{page}");
    let again = follow(&gateway, &redirect, &cookie).await;
    assert_eq!(again.0, StatusCode::CONFLICT, "it ends once");
}

/// The code of the user would be sent there.
#[tokio::test]
async fn sign_in_at_an_address_that_a_request_names_is_refused() {
    let server = serve(None).await;
    let (gateway, _folder) = gateway(&server, "").await;
    needs_login(&gateway).await;
    let url = gateway.url("/api/ai/mcp-servers/docs/login");
    for host in ["203.0.113.9", "203.0.113.9:80", "[2001:db8::9]", "localhost:1"] {
        let request = gateway.client.post(&url).header(HOST, host);
        let (status, error) = refusal(soon(request.send()).await.unwrap()).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{host}: {error}");
        assert!(error.contains("is no address of this program; set site.hosts"), "{error}");
    }
    begin(&gateway, "docs").await;
}

#[tokio::test]
async fn sign_out_revokes_the_tokens() {
    let server = serve(None).await;
    let (gateway, _folder) = gateway(&server, "").await;
    needs_login(&gateway).await;
    let (cookie, redirect) = begin(&gateway, "docs").await;
    assert_eq!(follow(&gateway, &redirect, &cookie).await.0, StatusCode::OK);
    assert_eq!(list(&gateway).await.0["servers"][0]["logout"], true);
    let left = change(&gateway, "docs/logout").await;
    assert_eq!(left.json::<Value>().await.unwrap(), json!({ "revoked": true }));
    assert_eq!(*server.revoked.lock().unwrap(), ["r1", "t1"]);
    let servers = list(&gateway).await.0;
    assert_eq!(servers["servers"][0]["state"], "needs-login");
    assert_eq!(servers["servers"][0]["logout"], false);
}

/// The client `c1` with its secret, and the settings with a secret of that client. `canary-1` is
/// right.
///
/// Spec: [RFC 6749, section 2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1)
const CLIENT: Option<&str> = Some("Basic YzE6Y2FuYXJ5LTE=");

/// A gateway that signs in at its servers as the client `c1` with a secret: at `work` for itself,
/// at `user` for a user, and at `wrong` with another secret.
async fn with_secret(server: &ProtectedServer) -> (Gateway, TempDir) {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("secret"), "canary-1\n").unwrap();
    fs::write(
        path("script.toml"),
        "[[answers]]\nword = 'clock'\nsteps = [{ call = [{ tool = 'work__clock' }] }, { say = '{result}' }]\n",
    )
    .unwrap();
    let origin = &server.origin;
    let entry = |name: &str, more: &str| {
        format!(
            "[mcp-servers.{name}]\nurl = '{origin}/mcp'\nsign-in.issuer = '{origin}'\n\
             sign-in.client-id = 'c1'\n{more}\n"
        )
    };
    let settings = [
        format!("[agents.model.model]\nscript = {:?}\n", path("script.toml")),
        entry("user", &format!("sign-in.client-secret-file = {:?}", path("secret"))),
        entry(
            "work",
            "sign-in.grant = 'client-credentials'\nsign-in.client-secret-variable = 'TEST_SECRET'",
        ),
        entry("wrong", "sign-in.grant = 'client-credentials'\nsign-in.client-secret = 'canary-2'"),
    ];
    fs::write(path("gateway.toml"), settings.concat()).unwrap();
    let arguments = ["--config", &path("gateway.toml")];
    let variables = [("TEST_SECRET", "canary-1"), ("RUST_LOG", "trace")];
    (Gateway::start(&arguments, &variables).await, folder)
}

#[tokio::test]
async fn client_with_a_secret_signs_in_for_itself() {
    let server = serve(CLIENT).await;
    let (mut gateway, _folder) = with_secret(&server).await;
    until(&gateway, 1, "ready").await;
    assert_eq!(server.grants(), ["client_credentials"]);
    server.expire();
    let told = gateway.run(&input("t", "1", "clock")).await.rest().await;
    assert!(told.text().starts_with("xxx"), "{}", told.text());
    assert_eq!(server.grants(), ["client_credentials", "client_credentials"]);
    // Its sign-in has no user.
    let (status, error) = refusal(change(&gateway, "work/login").await).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "{error}");
    let text = until(&gateway, 2, "unavailable").await;
    assert!(text.contains("invalid_client): check its id, its secret"), "{text}");
    assert!(!text.contains("canary"), "{text}");
    let mut is_logged = false;
    while let Some(line) = gateway.line().await {
        assert!(!line.contains("canary") && !line.contains("YzE6"), "{line}");
        if line.contains("rejects this client (invalid_client)") && !is_logged {
            is_logged = true;
            gateway.child.start_kill().unwrap();
        }
    }
    assert!(is_logged);
}

#[tokio::test]
async fn client_with_a_secret_signs_in_a_user() {
    let server = serve(CLIENT).await;
    let (gateway, _folder) = with_secret(&server).await;
    needs_login(&gateway).await;
    let (cookie, redirect) = begin(&gateway, "user").await;
    let (status, page) = follow(&gateway, &redirect, &cookie).await;
    assert_eq!(status, StatusCode::OK, "{page}");
    until(&gateway, 0, "ready").await;
    assert!(server.grants().contains(&"authorization_code".to_owned()));
}

#[tokio::test]
async fn sign_ins_are_for_known_servers_and_by_setting() {
    let server = serve(None).await;
    let (open, _folder) = gateway(&server, "").await;
    for path in ["none/login", "none/logout", "plain/login", "plain/logout"] {
        let (status, error) = refusal(change(&open, path).await).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert!(error.contains("no MCP server"), "{error}");
    }
    let page = follow(&open, "/mcp/servers/none/callback?code=c1&state=x", "").await;
    assert_eq!(page.0, StatusCode::NOT_FOUND, "{}", page.1);
    let page = follow(&open, "/mcp/servers/docs/callback?code=c1&state=x", "").await;
    assert_eq!(page.0, StatusCode::CONFLICT, "no sign-in is open: {}", page.1);
    let (closed, _folder) = gateway(&server, "login = false").await;
    for path in ["docs/login", "docs/logout"] {
        let (status, error) = refusal(change(&closed, path).await).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{path}");
        assert!(error.contains("the setting `login`"), "{error}");
    }
    assert_eq!(list(&closed).await.0["enabled"], false);
}

#[tokio::test]
async fn errors_of_settings_name_the_setting() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("key"), "").unwrap();
    let secure = "url = 'http://127.0.0.1:1/mcp'";
    for (settings, expected) in [
        (format!("store-key-file = '{}'\n", path("key")), "store-key-file: key file".to_owned()),
        (String::new(), "mcp-servers.docs.url: cannot sign in: invalid URL".to_owned()),
    ] {
        let url = match settings.is_empty() {
            true => {
                "url = 'http://tools.example/mcp?key=canary'\nsign-in.metadata-url = 'https://a.example'"
            }
            false => secure,
        };
        let text = format!("{settings}[agents.model.model]\n[mcp-servers.docs]\n{url}\n");
        fs::write(path("gateway.toml"), text).unwrap();
        let mut command = crate::gateway::command(&["--config", &path("gateway.toml")]);
        let output = soon(command.args(["--no-auth", "--listen", "127.0.0.1:0"]).output()).await;
        let error = String::from_utf8(output.unwrap().stderr).unwrap();
        assert!(error.contains(&expected), "{error}");
        assert!(!error.contains("canary"), "{error}");
    }
}
