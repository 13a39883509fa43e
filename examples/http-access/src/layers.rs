//! The layers of a router.
use crate::access::{AUDIT, Access};
use crate::connection::hold;
use crate::oidc::TokenError;
use crate::users::{self, Credentials, Session, Users};
use crate::{Connection, Principal};
use axum::Json;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;
use serde_json::json;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

/// Prefix of the query with which [`sign_in`] is called.
const TOKEN_QUERY: &str = "token=";

/// Header of responses of the API. A browser gives such a response only to pages of the same origin.
///
/// Spec: [Cross-Origin-Resource-Policy](https://fetch.spec.whatwg.org/#cross-origin-resource-policy-header)
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// A request that is refused: the response is JSON with an `error`.
#[derive(Debug)]
pub(crate) struct Refused {
    status: StatusCode,
    message: String,
    header: Option<(HeaderName, HeaderValue)>,
}

impl Refused {
    pub(crate) fn malformed(message: &str) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.to_owned(), header: None }
    }

    pub(crate) fn foreign(message: &str) -> Self {
        Self { status: StatusCode::FORBIDDEN, message: message.to_owned(), header: None }
    }

    /// There are no valid credentials, or a token of the OpenID provider is invalid for a reason.
    ///
    /// Spec: [RFC 6750, section 3](https://www.rfc-editor.org/rfc/rfc6750#section-3)
    pub(crate) fn unknown(invalid: Option<&TokenError>) -> Self {
        let scheme = if invalid.is_some() { r#"Bearer error="invalid_token""# } else { "Bearer" };
        let scheme = Some((header::WWW_AUTHENTICATE, HeaderValue::from_static(scheme)));
        let message = invalid.map_or("a bearer token is needed".to_owned(), ToString::to_string);
        Self { status: StatusCode::UNAUTHORIZED, message, header: scheme }
    }

    /// The user of a valid token has no access.
    pub(crate) fn forbidden(why: &TokenError) -> Self {
        let scheme = HeaderValue::from_static(r#"Bearer error="insufficient_scope""#);
        let header = Some((header::WWW_AUTHENTICATE, scheme));
        Self { status: StatusCode::FORBIDDEN, message: why.to_string(), header }
    }

    /// Tokens cannot be verified. The caller may repeat the request after `wait`.
    pub(crate) fn without_keys(why: &TokenError, wait: Duration) -> Self {
        Self { status: StatusCode::SERVICE_UNAVAILABLE, ..Self::later(why, wait) }
    }

    /// A limit is reached. The caller may repeat the request after `wait`.
    pub(crate) fn later(why: &impl Display, wait: Duration) -> Self {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        let message = format!("{why}; try again in {seconds} s");
        let header = Some((header::RETRY_AFTER, HeaderValue::from(seconds)));
        Self { status: StatusCode::TOO_MANY_REQUESTS, message, header }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(json!({ "error": self.message }))).into_response();
        response.headers_mut().extend(self.header);
        response
    }
}

/// Refuses requests for other hosts, and of pages of other sites. Browsers do not guess the type of a response. For all routes.
pub async fn check_site(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let mut response = match access.site.refusal(&parts) {
        Some(refused) => refused.into_response(),
        None => next.run(Request::from_parts(parts, body)).await,
    };
    let nosniff = HeaderValue::from_static("nosniff");
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}

/// Refuses requests without valid credentials, and those over a limit of their user. Others carry a
/// [`Principal`](crate::Principal) and an [`AtWork`](crate::AtWork) from here on. A handler that answers before its work
/// is done keeps a copy of the latter.
pub async fn authenticate(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let mut response = match access.admit(&parts).await {
        Ok((user, at_work)) => {
            let record = Record::of(&parts, &user);
            parts.extensions.insert(user);
            parts.extensions.insert(at_work.clone());
            let response = next.run(Request::from_parts(parts, body)).await;
            record.write(response.status());
            hold(response, at_work)
        }
        Err(refused) => refused.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// A request of a user, for an audit log.
struct Record {
    user: Principal,
    address: String,
    method: Method,
    path: String,
}

impl Record {
    fn of(request: &Parts, user: &Principal) -> Self {
        let connection = request.extensions.get::<Connection>();
        let address = connection.map(|it| it.peer().ip().to_string()).unwrap_or_default();
        let (method, path) = (request.method.clone(), request.uri.path().to_owned());
        Self { user: user.clone(), address, method, path }
    }

    /// Records a request that changes something, or opens a WebSocket.
    fn write(&self, status: StatusCode) {
        if self.method.is_safe() && status != StatusCode::SWITCHING_PROTOCOLS {
            return;
        }
        let Self { user, address, method, path } = self;
        let (user, method, status) = (user.as_str(), method.as_str(), u64::from(status.as_u16()));
        tracing::info!(target: AUDIT, event = "request", user, address, method, path, status);
    }
}

/// Exchanges the token of `?token=…` for a session, and redirects to the page without the query. For the route of the page.
///
/// Scripts cannot read its cookie, and browsers do not send it with requests of other sites. The cookie is valid with its key,
/// which the page finds in the fragment `#key=…` of its address and sends in the header `Sign-In-Key`; see
/// [`Access::without_scripts`].
///
/// Spec: [RFC 6265bis, `SameSite`](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.6.7)
pub async fn sign_in(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let token = query.split('&').find_map(|pair| pair.strip_prefix(TOKEN_QUERY));
    let Some(token) = token else { return next.run(request).await };
    let token = percent_decode_str(token).collect::<Vec<_>>();
    let address = request.extensions().get::<Connection>().map(|it| it.peer().ip());
    let mut session = None;
    let check = |users: &Users| {
        session = users.session(&token);
        users.with_token(&token)
    };
    let credentials = access.attempt(address, Some(&token), check).await;
    let response = match credentials.map(|it| (it, session)) {
        Ok((Credentials::Valid(user), Some(session))) => {
            let address = address.map(|address| address.to_string()).unwrap_or_default();
            tracing::info!(target: AUDIT, event = "login", user = user.as_str(), address);
            let name = users::cookie_name(request.headers());
            let secure = if access.site.is_encrypted { "; Secure" } else { "" };
            let Session { cookie, key } = session;
            let cookie = format!("{name}={cookie}; Path=/; HttpOnly; SameSite=Strict{secure}");
            let fragment = if access.needs_key { format!("#key={key}") } else { String::new() };
            let page = format!("{}{fragment}", request.uri().path());
            let headers = [(header::LOCATION, page), (header::SET_COOKIE, cookie)];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        // The page without its token asks for one.
        Ok(_) => {
            (StatusCode::SEE_OTHER, [(header::LOCATION, request.uri().path())]).into_response()
        }
        Err(refused) => refused.into_response(),
    };
    let private = [(header::CACHE_CONTROL, "no-store"), (header::REFERRER_POLICY, "no-referrer")];
    (private, response).into_response()
}
