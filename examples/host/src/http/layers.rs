//! The layers of a router.
use crate::http::access::{AUDIT, Access, Admission};
use crate::http::connection::hold;
use crate::http::grant::Grant;
use crate::http::request_refusal::RequestRefusal;
use crate::http::sessions::SessionSecrets;
use crate::http::site::Site;
use crate::http::users::{Credentials, cookie_name};
use crate::http::{Connection, Principal};
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use percent_encoding::percent_decode_str;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Prefix of the query with which [`sign_in`] is called.
const TOKEN_QUERY: &str = "token=";

/// Header of responses of the API. A browser gives such a response only to pages of the same
/// origin.
///
/// Spec: [Cross-Origin-Resource-Policy](https://fetch.spec.whatwg.org/#cross-origin-resource-policy-header)
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Refuses requests for other hosts, and of pages of other sites. Browsers do not guess the type of
/// a response. For all routes.
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
/// [`Principal`](crate::http::Principal) and an [`RequestPermit`](crate::http::RequestPermit) from
/// here on. A handler that answers before its work is done keeps a copy of the latter. The response
/// ends with the session of the request.
pub async fn authenticate(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let mut response = match access.admit(&parts).await {
        Ok(Admission { grant, session, at_work }) => {
            let record = AuditRecord::of(&parts, &grant.user);
            parts.extensions.insert(grant.user.clone());
            parts.extensions.insert(at_work.clone());
            parts.extensions.insert(grant);
            let end = session.as_ref().map(|session| session.end.clone());
            if let Some(session) = session {
                parts.extensions.insert(session);
            }
            let handled = next.run(Request::from_parts(parts, body));
            let response = tokio::select! {
                biased;
                response = handled => response,
                () = at_work.session_ended() => RequestRefusal::unknown(None).into_response(),
            };
            record.write(response.status());
            let response = hold(response, at_work);
            match end {
                Some(end) => response.map(|body| Body::new(SessionBody::new(body, end))),
                None => response,
            }
        }
        Err(refused) => refused.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// A request of a user, for an audit log.
struct AuditRecord {
    user: Principal,
    address: String,
    method: Method,
    path: String,
}

impl AuditRecord {
    fn of(request: &Parts, user: &Principal) -> Self {
        let connection = request.extensions.get::<Connection>();
        let address = connection.map(|it| it.peer().ip().to_string()).unwrap_or_default();
        let method = request.method.clone();
        let path = request.uri.path().to_owned();
        Self { user: user.clone(), address, method, path }
    }

    /// Records a request that changes something, or opens a WebSocket.
    fn write(&self, status: StatusCode) {
        if self.method.is_safe() && status != StatusCode::SWITCHING_PROTOCOLS {
            return;
        }
        let Self { user, address, method, path } = self;
        let user = user.as_str();
        let method = method.as_str();
        let status = u64::from(status.as_u16());
        tracing::info!(target: AUDIT, event = "request", user, address, method, path, status);
    }
}

/// Exchanges the token of `?token=…` for a session, and redirects to the page without the query.
/// For the route of the page.
///
/// Scripts cannot read its cookie, and browsers do not send it with requests of other sites. The
/// cookie is valid with its key, which the page finds in the fragment `#key=…` of its address and
/// sends in the header `Sign-In-Key`; see [`Access::without_scripts`].
///
/// With several users, a page of another site could sign the user in as another one. The token is
/// then left to the page, which has to ask its user, unless the browser states that the user or the
/// own page opened the address, and it has no session of another user.
///
/// Spec: [RFC 6265bis,
/// `SameSite`](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.6.7);
/// [Fetch metadata](https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header)
pub async fn sign_in(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let token = query.split('&').find_map(|pair| pair.strip_prefix(TOKEN_QUERY));
    let Some(token) = token else { return next.run(request).await };
    let token = percent_decode_str(token).collect::<Vec<_>>();
    let (parts, body) = request.into_parts();
    let response = match access.exchange(&parts, &token).await {
        Ok(TokenExchange::Session(secrets)) => {
            let SessionSecrets { key, .. } = &secrets;
            let fragment = if access.needs_key { format!("#key={key}") } else { String::new() };
            let page = format!("{}{fragment}", parts.uri.path());
            let cookie = access.cookie(&parts, &secrets);
            let headers = [(header::LOCATION, page), (header::SET_COOKIE, cookie)];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        // The page without its token asks for one.
        Ok(TokenExchange::Invalid) => {
            (StatusCode::SEE_OTHER, [(header::LOCATION, parts.uri.path())]).into_response()
        }
        Ok(TokenExchange::Unconfirmed) => next.run(Request::from_parts(parts, body)).await,
        Err(refused) => refused.into_response(),
    };
    let private = [(header::CACHE_CONTROL, "no-store"), (header::REFERRER_POLICY, "no-referrer")];
    (private, response).into_response()
}

/// Result of a token in an address.
enum TokenExchange {
    Session(SessionSecrets),
    Invalid,
    /// The user has to be asked.
    Unconfirmed,
}

impl Access {
    async fn exchange(
        &self,
        request: &Parts,
        token: &[u8],
    ) -> Result<TokenExchange, RequestRefusal> {
        let needs_care = self.needs_key && self.users().has_several;
        if needs_care && !Site::is_opened_by_user(request) {
            return Ok(TokenExchange::Unconfirmed);
        }
        let address = request.extensions.get::<Connection>().map(|it| it.peer().ip());
        let Credentials::Valid(grant) = self.attempt(address, token).await? else {
            return Ok(TokenExchange::Invalid);
        };
        let other = self.session_of(request, None).await;
        if needs_care && other.is_some_and(|session| session.user != grant.user) {
            return Ok(TokenExchange::Unconfirmed);
        }
        Ok(TokenExchange::Session(self.begin_session(request, &grant).await?))
    }

    /// Begins a session for a user with a token.
    pub(crate) async fn begin_session(
        &self,
        request: &Parts,
        grant: &Grant,
    ) -> Result<SessionSecrets, RequestRefusal> {
        let address = request.extensions.get::<Connection>().map(|it| it.peer().ip().to_string());
        let address = address.unwrap_or_default();
        let agent = request.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        let secrets = self.sessions.begin(grant, address.clone(), agent.unwrap_or_default()).await;
        let secrets = secrets.map_err(|error| RequestRefusal::failed(&error))?;
        tracing::info!(target: AUDIT, event = "login", user = grant.user.as_str(), address);
        Ok(secrets)
    }

    /// Returns the `Set-Cookie` of a session.
    pub(crate) fn cookie(&self, request: &Parts, secrets: &SessionSecrets) -> String {
        let name = cookie_name(request);
        let secure = if self.site.is_encrypted { "; Secure" } else { "" };
        let SessionSecrets { cookie, .. } = secrets;
        format!("{name}={cookie}; Path=/; HttpOnly; SameSite=Strict{secure}")
    }
}

/// The body of a response that fails when its session ends.
struct SessionBody {
    body: Body,
    end: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl SessionBody {
    fn new(body: Body, end: CancellationToken) -> Self {
        Self { body, end: Box::pin(end.cancelled_owned()) }
    }
}

impl HttpBody for SessionBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.end.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Some(Err(axum::Error::new("the session has ended"))));
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
