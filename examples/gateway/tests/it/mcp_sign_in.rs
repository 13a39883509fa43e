//! Sign-ins at MCP servers over HTTP.
use crate::gateway::{Gateway, refusal, soon};
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::http::header::WWW_AUTHENTICATE;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use reqwest::header::{COOKIE, SET_COOKIE};
use serde_json::{Value, json};
use std::fs;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::net::TcpListener;

/// An MCP server that accepts no token, with its authorization server. Contains the tokens that were revoked.
#[derive(Default)]
struct Protected {
    origin: String,
    revoked: Mutex<Vec<String>>,
}

async fn metadata(State(server): State<Arc<Protected>>, uri: Uri) -> Json<Value> {
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
            "token_endpoint_auth_methods_supported": ["none"],
        }),
    })
}

async fn revoke(State(server): State<Arc<Protected>>, form: String) {
    let token = form.split('&').find_map(|pair| pair.strip_prefix("token=")).unwrap();
    server.revoked.lock().unwrap().push(token.to_owned());
}

async fn refuse() -> Response {
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer scope=\"read\"")]).into_response()
}

async fn serve() -> Arc<Protected> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let server = Arc::new(Protected { origin, ..Protected::default() });
    let token = json!({ "access_token": "t1", "token_type": "Bearer", "refresh_token": "r1" });
    let app = Router::new()
        .route("/.well-known/{*rest}", get(metadata))
        .route("/register", post(async || Json(json!({ "client_id": "c1" }))))
        .route("/token", post(async move || Json(token)))
        .route("/revoke", post(revoke))
        .route("/mcp", any(refuse))
        .with_state(server.clone());
    tokio::spawn(async move { axum::serve(listener, app).await });
    server
}

/// A gateway with the server `docs`, with a secret in its address, and the server `plain`, which is not signed in to.
async fn gateway(server: &Protected, more: &str) -> (Gateway, TempDir) {
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

/// Waits until the server has refused a request.
async fn needs_login(gateway: &Gateway) -> String {
    soon(async {
        loop {
            let (list, text) = list(gateway).await;
            if list["servers"][0]["state"] == "needs-login" {
                return text;
            }
        }
    })
    .await
}

/// Begins a sign-in. Returns the cookie, and the redirect of the page.
async fn begin(gateway: &Gateway) -> (String, String) {
    let response = change(gateway, "docs/login").await;
    assert_eq!(response.status(), StatusCode::OK);
    let cookie = response.headers()[SET_COOKIE].to_str().unwrap().to_owned();
    let page = response.json::<Value>().await.unwrap()["url"].as_str().unwrap().to_owned();
    let state = page.split('&').find_map(|pair| pair.strip_prefix("state=")).unwrap();
    (cookie, format!("/mcp/servers/docs/callback?code=c1&state={state}"))
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
    let server = serve().await;
    let (gateway, _folder) = gateway(&server, "").await;
    let text = needs_login(&gateway).await;
    assert!(!text.contains("canary"), "{text}");
    let (cookie, redirect) = begin(&gateway).await;
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

#[tokio::test]
async fn sign_out_revokes_the_tokens() {
    let server = serve().await;
    let (gateway, _folder) = gateway(&server, "").await;
    needs_login(&gateway).await;
    let (cookie, redirect) = begin(&gateway).await;
    assert_eq!(follow(&gateway, &redirect, &cookie).await.0, StatusCode::OK);
    assert_eq!(list(&gateway).await.0["servers"][0]["logout"], true);
    let left = change(&gateway, "docs/logout").await;
    assert_eq!(left.json::<Value>().await.unwrap(), json!({ "revoked": true }));
    assert_eq!(*server.revoked.lock().unwrap(), ["r1", "t1"]);
    let servers = list(&gateway).await.0;
    assert_eq!(servers["servers"][0]["state"], "needs-login");
    assert_eq!(servers["servers"][0]["logout"], false);
}

#[tokio::test]
async fn sign_ins_are_for_known_servers_and_by_setting() {
    let server = serve().await;
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
