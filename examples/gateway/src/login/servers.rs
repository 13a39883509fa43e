//! Sign-ins of users at MCP servers that require authorization. The connection to a server is
//! shared, so a sign-in holds for all users.
use crate::login::error::LoginError;
use crate::login::logins::Logins;
use crate::tools::OfferedServer;
use crate::tools::sources::{AuthError, ServerStatus, ToolServer};
use axum::extract::{Extension, OriginalUri, Path};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, ORIGIN, REFERRER_POLICY, SET_COOKIE,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use host::http::{Part, Principal, RequestError, cookie_suffix, cookies_of};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use std::sync::Arc;

/// The path that pages redirect to.
const CALLBACK: &str = "/mcp/servers/{server}/callback";

/// Time for which a browser can finish a sign-in, in seconds.
const COOKIE_TIME: u32 = 3600;

/// Characters of a name that are encoded in a path.
///
/// Spec: [RFC 3986, section 2.3](https://www.rfc-editor.org/rfc/rfc3986#section-2.3)
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A server for the list of a page.
#[derive(Debug, Serialize)]
struct ListedServer<'a> {
    name: &'a str,
    state: &'static str,
    /// Why the server cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Whether a user has signed in, and can sign out.
    logout: bool,
}

/// The servers for the list of a page.
#[derive(Debug, Serialize)]
struct ServerList<'a> {
    /// Whether a sign-in can begin.
    enabled: bool,
    servers: Vec<ListedServer<'a>>,
}

/// A sign-in that has begun.
#[derive(Debug, Serialize)]
struct SignInStart {
    /// The page to open. Without it, no user is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

/// A sign-out.
#[derive(Debug, Serialize)]
struct Left {
    /// Whether the authorization server has revoked the tokens.
    revoked: bool,
    /// Why the tokens may still be valid, although they are removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Returns the routes below `/api/ai/mcp-servers`, for callers with a [`Principal`].
pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/api/ai/mcp-servers", get(list))
        .route("/api/ai/mcp-servers/{server}/login", post(begin))
        .route("/api/ai/mcp-servers/{server}/logout", post(leave))
}

/// Returns the route that pages of authorization servers redirect to. A browser sends no
/// credentials with such a redirect, but the cookie of the sign-in that it began.
pub fn callback_router<S: Clone + Send + Sync + 'static>(logins: Arc<Logins>) -> Router<S> {
    Router::new().route(CALLBACK, get(finish)).layer(Extension(logins))
}

async fn list(Extension(logins): Extension<Arc<Logins>>) -> Response {
    let servers = logins.servers.iter().map(|it| listed(it)).collect();
    Json(ServerList { enabled: logins.is_enabled, servers }).into_response()
}

fn listed(offered: &OfferedServer) -> ListedServer<'_> {
    let server = &offered.server;
    let (state, message) = match server.status() {
        ServerStatus::Ready => ("ready", None),
        ServerStatus::NeedsSignIn(reason) => ("needs-login", Some(reason)),
        ServerStatus::Unavailable(reason) => ("unavailable", Some(reason)),
        _ => ("connecting", None),
    };
    ListedServer { name: server.name(), state, message, logout: server.is_signed_in() }
}

async fn begin(
    Extension(logins): Extension<Arc<Logins>>,
    Extension(user): Extension<Principal>,
    Part(Path(name)): Part<Path<String>>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Result<Response, LoginError> {
    let server = logins.changeable(&name)?;
    let origin = origin(&uri, &headers);
    if !logins.callback_sites.has(&origin) {
        return Err(LoginError::OtherSite(origin));
    }
    let redirect_uri = redirect_uri(&origin, &name);
    let begun = server.begin_sign_in(&redirect_uri).await.map_err(LoginError::SignIn);
    let user = user.as_str();
    tracing::info!(server = name, user, is_begun = begun.is_ok(), "a sign-in at an MCP server");
    let Some(page) = begun? else { return Ok(Json(SignInStart { url: None }).into_response()) };
    let cookie = cookie(&cookie_name(host(&uri, &headers)), &redirect_uri, &page.browser);
    Ok(([(SET_COOKIE, cookie)], Json(SignInStart { url: Some(page.url) })).into_response())
}

/// `POST …/logout`: removes the tokens, for all users.
async fn leave(
    Extension(logins): Extension<Arc<Logins>>,
    Extension(user): Extension<Principal>,
    Part(Path(name)): Part<Path<String>>,
) -> Result<Json<Left>, LoginError> {
    let left = logins.changeable(&name)?.sign_out().await;
    tracing::info!(server = name, user = user.as_str(), is_revoked = ?left, "a sign-out");
    let message = left.as_ref().err().map(ToString::to_string);
    Ok(Json(Left { revoked: left.unwrap_or_default(), message }))
}

/// Returns the cookie of a sign-in, which the browser sends to the callback only. It is sent with a
/// redirect of the authorization server, which is another site, so it is `Lax`.
///
/// Spec: [RFC 6265bis,
/// `SameSite`](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.6.7)
fn cookie(name: &str, redirect_uri: &str, secret: &str) -> String {
    let path = redirect_uri.splitn(4, '/').last().unwrap_or_default();
    let secure = if redirect_uri.starts_with("https:") { "; Secure" } else { "" };
    format!("{name}={secret}; Path=/{path}; Max-Age={COOKIE_TIME}; HttpOnly; SameSite=Lax{secure}")
}

/// Returns the name of the cookie.
fn cookie_name(host: &str) -> String {
    format!("mcp-sign-in-{}", cookie_suffix(host))
}

/// Returns the host of a request, which HTTP/2 has in the URI. It was checked for the whole site.
fn host<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> &'a str {
    let host = headers.get(HOST).and_then(|value| value.to_str().ok());
    host.or(uri.authority().map(Authority::as_str)).unwrap_or_default()
}

/// Returns the origin of the page that sent a request, or else of the request.
fn origin(uri: &Uri, headers: &HeaderMap) -> String {
    let host = host(uri, headers);
    // A page of another site names itself, not this program.
    let own = |origin: &&str| origin.split_once("://").is_some_and(|(_, name)| name == host);
    let origin = headers.get(ORIGIN).and_then(|value| value.to_str().ok());
    let origin = origin.filter(own).map(str::to_owned);
    origin.unwrap_or_else(|| format!("http://{host}"))
}

/// Returns the address of the callback below an origin.
fn redirect_uri(origin: &str, server: &str) -> String {
    let server = utf8_percent_encode(server, RESERVED).to_string();
    format!("{origin}{}", CALLBACK.replace("{server}", &server))
}

async fn finish(
    Extension(logins): Extension<Arc<Logins>>,
    name: Result<Part<Path<String>>, RequestError>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Response {
    let cookie = cookie_name(host(&uri, &headers));
    let ended = async {
        let Part(Path(name)) = name?;
        let server = logins.server(&name)?;
        let redirect = uri.to_string();
        // Servers on other ports of the host can set cookies of the same name.
        let mut browsers: Vec<_> = cookies_of(&headers, &cookie).collect();
        if browsers.is_empty() {
            browsers.push("");
        }
        let mut ended = Err(AuthError::OtherBrowser);
        for browser in browsers {
            ended = server.finish_sign_in(&redirect, browser).await;
            if !matches!(ended, Err(AuthError::OtherBrowser)) {
                break;
            }
        }
        tracing::info!(server = name, is_signed_in = ended.is_ok(), "a sign-in has ended");
        ended.map_err(LoginError::SignIn)
    };
    let (status, text) = match ended.await {
        Ok(()) => (
            StatusCode::OK,
            "You are signed in. Close this page and return to the chat.".to_owned(),
        ),
        Err(error) => {
            (error.status(), format!("The sign-in failed: {error}. Begin it again in the chat."))
        }
    };
    let headers = [
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    (status, headers, Html(page(&text))).into_response()
}

fn page(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!("<!doctype html><meta charset=utf-8><title>Sign-in</title><p>{text}")
}

impl Logins {
    /// Returns a server at which users can sign in and out.
    fn changeable(&self, name: &str) -> Result<&ToolServer, LoginError> {
        if !self.is_enabled {
            return Err(LoginError::Off);
        }
        self.server(name)
    }

    fn server(&self, name: &str) -> Result<&ToolServer, LoginError> {
        let mut servers = self.servers.iter().map(|offered| &offered.server);
        let server = servers.find(|server| server.name() == name && server.has_sign_in());
        server.ok_or_else(|| LoginError::UnknownServer(name.to_owned()))
    }
}

impl LoginError {
    /// Returns the status of a failed sign-in.
    pub(crate) fn of_sign_in(error: &AuthError) -> StatusCode {
        match error {
            AuthError::OtherSignIn | AuthError::NoCode => StatusCode::CONFLICT,
            AuthError::Denied(_) | AuthError::OtherBrowser => StatusCode::FORBIDDEN,
            _ => StatusCode::BAD_GATEWAY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{origin, redirect_uri};
    use axum::http::{HeaderMap, HeaderValue, Uri, header};

    #[test]
    fn redirect_uri_is_of_the_address_of_the_browser() {
        let path = "/api/ai/mcp-servers/a%20b/login";
        let absolute = "https://chat.example:8443/api";
        let table = [
            (path, Some("127.0.0.1:8787"), Some("http://127.0.0.1:8787"), "http://127.0.0.1:8787"),
            (path, Some("chat.example"), Some("https://chat.example"), "https://chat.example"),
            (path, Some("chat.example"), Some("https://other.example"), "http://chat.example"),
            (path, Some("127.0.0.1:8787"), None, "http://127.0.0.1:8787"),
            // HTTP/2.
            (absolute, None, Some("https://chat.example:8443"), "https://chat.example:8443"),
        ];
        for (uri, host, origin_header, expected) in table {
            let given = [(header::HOST, host), (header::ORIGIN, origin_header)];
            let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
            let headers: HeaderMap =
                given.map(|(name, value)| (name, HeaderValue::from_static(value))).collect();
            let redirect = redirect_uri(&origin(&Uri::from_static(uri), &headers), "a b");
            assert_eq!(
                redirect,
                format!("{expected}/mcp/servers/a%20b/callback"),
                "{uri} {host:?}"
            );
        }
    }
}
