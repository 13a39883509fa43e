//! Sign-ins of users at MCP servers that require authorization. The connection to a server is shared, so a sign-in holds for all
//! users.
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
use host::http::{Part, Principal, RequestError, SiteSettings, cookie_suffix, cookies_of};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// The path that pages redirect to.
const CALLBACK: &str = "/mcp/servers/{server}/callback";

/// Time for which a browser can finish a sign-in, in seconds.
const COOKIE_TIME: u32 = 3600;

/// Characters of a name that are encoded in a path.
///
/// Spec: [RFC 3986, section 2.3](https://www.rfc-editor.org/rfc/rfc3986#section-2.3)
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The addresses that authorization servers may redirect to: those of the settings of the site, and of the listener.
#[derive(Clone, Debug)]
pub struct CallbackSites {
    hosts: Vec<String>,
    origins: Vec<String>,
    listen: SocketAddr,
}

impl CallbackSites {
    /// Returns the addresses of a program that listens on `listen`.
    pub fn new(site: &SiteSettings, listen: SocketAddr) -> Self {
        Self { hosts: site.hosts.clone(), origins: site.origins.clone(), listen }
    }

    /// Returns whether a user reaches the program at an origin. Another address may belong to another machine, although a request
    /// can name it: a name of the settings with the port of the listener or without one, an origin of the settings, or the
    /// address of the listener. On all addresses, only local ones are known.
    fn has(&self, origin: &str) -> bool {
        let Some((scheme, host)) = origin.split_once("://") else { return false };
        let Ok(host) = host.parse::<Authority>() else { return false };
        let name = host.host();
        let port = host.port_u16();
        let default = if scheme == "https" { 443 } else { 80 };
        let is_own_port = port.unwrap_or(default) == self.listen.port();
        let is_of_settings = self.origins.iter().any(|own| own == origin)
            || self.hosts.iter().any(|own| own.eq_ignore_ascii_case(name))
                && (port.is_none() || is_own_port);
        let listens_on = |address: IpAddr| {
            let own = self.listen.ip();
            own == address || address.is_loopback() && (own.is_loopback() || own.is_unspecified())
        };
        let is_listener = name.eq_ignore_ascii_case("localhost")
            && listens_on(Ipv4Addr::LOCALHOST.into())
            || name.trim_matches(['[', ']']).parse().is_ok_and(listens_on);
        is_of_settings || is_own_port && is_listener
    }
}

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
struct Begun {
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

/// Returns the route that pages of authorization servers redirect to. A browser sends no credentials with such a redirect, but the
/// cookie of the sign-in that it began.
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
    let Some(page) = begun? else { return Ok(Json(Begun { url: None }).into_response()) };
    let cookie = cookie(&cookie_name(host(&uri, &headers)), &redirect_uri, &page.browser);
    Ok(([(SET_COOKIE, cookie)], Json(Begun { url: Some(page.url) })).into_response())
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

/// Returns the cookie of a sign-in, which the browser sends to the callback only. It is sent with a redirect of the authorization
/// server, which is another site, so it is `Lax`.
///
/// Spec: [RFC 6265bis, `SameSite`](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.6.7)
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
    use super::{CallbackSites, origin, redirect_uri};
    use axum::http::{HeaderMap, HeaderValue, Uri, header};
    use host::http::SiteSettings;

    #[test]
    fn redirect_uri_is_of_the_address_of_the_browser() {
        let (path, absolute) = ("/api/ai/mcp-servers/a%20b/login", "https://chat.example:8443/api");
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

    #[test]
    fn redirect_leads_to_addresses_of_settings_and_listener_only() {
        let site = SiteSettings {
            hosts: vec!["chat.example".to_owned(), "192.0.2.7".to_owned()],
            origins: vec!["https://chat.example:8443".to_owned()],
            ..SiteSettings::default()
        };
        let local = ["http://127.0.0.1:8787", "http://localhost:8787", "http://[::1]:8787"];
        let of_settings = [
            "https://chat.example",
            "http://chat.example",
            "http://chat.example:8787",
            "https://chat.example:8443",
            "http://192.0.2.7:8787",
        ];
        let foreign = [
            "http://203.0.113.9",
            "http://203.0.113.9:8787",
            "http://[2001:db8::9]:8787",
            "http://localhost:1",
            "http://127.0.0.1",
            "http://chat.example:9000",
            "https://chat.example:9443",
            "http://chat.example@203.0.113.9:8787",
            "http://other.example",
            "chat.example",
        ];
        let listeners =
            [("127.0.0.1:8787", true), ("0.0.0.0:8787", true), ("198.51.100.4:8787", false)];
        for (listen, is_local) in listeners {
            let sites = CallbackSites::new(&site, listen.parse().unwrap());
            for origin in local {
                assert_eq!(sites.has(origin), is_local, "{origin} at {listen}");
            }
            for origin in of_settings {
                assert!(sites.has(origin), "{origin} at {listen}");
            }
            for origin in foreign {
                assert!(!sites.has(origin), "{origin} at {listen}");
            }
            let own = "http://198.51.100.4:8787";
            assert_eq!(sites.has(own), !is_local, "{own} at {listen}");
        }
    }
}
