//! Access: hosts, pages of other sites, and users.
use crate::server::Refusal;
use crate::settings::{AuthSettings, SettingsError, SiteSettings};
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use run_telemetry::trace_context::{TRACEPARENT, TRACESTATE};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use subtle::ConstantTimeEq;
use tower_http::cors::{AllowOrigin, CorsLayer};

/// Time for which a browser may cache the permissions of other sites.
const CORS_TIME: Duration = Duration::from_secs(600);

/// A user of the gateway. The threads and runs of a user are invisible to others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Principal(Arc<str>);

impl From<&str> for Principal {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl Principal {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A value that is hidden when settings are printed.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(String);

/// Printed instead of a secret.
const HIDDEN: &str = "(hidden)";

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl Secret {
    /// Returns the secret itself, for its receiver.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(secret: String) -> Self {
        Self(secret)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(HIDDEN)
    }
}

/// The rules of the site.
#[derive(Debug)]
pub(crate) struct Site {
    /// Permitted `Host` names, in addition to addresses and `localhost`.
    hosts: Vec<String>,
    /// Other sites with pages that may use the gateway.
    origins: Vec<HeaderValue>,
    tokens: Vec<(Principal, Secret)>,
    trusted_header: Option<HeaderName>,
}

impl Site {
    pub(crate) fn new(site: &SiteSettings, auth: &AuthSettings) -> Result<Self, SettingsError> {
        let origins = site
            .origins
            .iter()
            .map(|origin| {
                let is_origin =
                    origin.split_once("://").is_some_and(|(_, host)| !host.contains('/'));
                let value = HeaderValue::from_str(origin).ok().filter(|_| is_origin);
                value.ok_or_else(|| SettingsError::Origin(origin.clone()))
            })
            .collect::<Result<_, _>>()?;
        let trusted_header = auth
            .trusted_header
            .as_ref()
            .map(|name| name.parse().map_err(|_| SettingsError::Header(name.clone())))
            .transpose()?;
        let tokens = auth
            .tokens
            .iter()
            .map(|(name, token)| (Principal(name.as_str().into()), token.clone()))
            .collect();
        Ok(Self { hosts: site.hosts.clone(), origins, tokens, trusted_header })
    }

    /// Returns whether users are authenticated.
    pub(crate) fn asks(&self) -> bool {
        !self.tokens.is_empty() || self.trusted_header.is_some()
    }

    /// Permits requests from pages of the configured sites only.
    pub(crate) fn cors(&self) -> CorsLayer {
        CorsLayer::new()
            .allow_origin(AllowOrigin::list(self.origins.iter().cloned()))
            .allow_methods([Method::DELETE, Method::GET, Method::POST])
            .allow_headers([
                header::AUTHORIZATION,
                header::CONTENT_TYPE,
                HeaderName::from_static("last-event-id"),
                HeaderName::from_static(TRACEPARENT),
                HeaderName::from_static(TRACESTATE),
            ])
            .max_age(CORS_TIME)
    }

    /// Rejects pages of other sites by the `Origin` of the browser, and unknown host names, which may be rebound
    /// to this address.
    fn foreign(&self, headers: &HeaderMap) -> Option<Refusal> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST).unwrap_or_default();
        let is_ours = |host: &Authority| {
            let name = host.host();
            name == "localhost"
                || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
                || self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(name))
        };
        if !host.parse().is_ok_and(|host| is_ours(&host)) {
            let message = "the Host header must be an address, localhost, or one of site.hosts";
            return Some(Refusal::new(StatusCode::FORBIDDEN, message));
        }
        let origin = headers.get(header::ORIGIN)?;
        let is_own = origin
            .to_str()
            .is_ok_and(|origin| origin.split_once("://").is_some_and(|(_, origin)| origin == host));
        (!is_own && !self.origins.contains(origin)).then(|| {
            Refusal::new(StatusCode::FORBIDDEN, "pages of other sites may not use this gateway")
        })
    }

    /// Returns the user of a request; without authentication all requests have the same user.
    fn principal(&self, headers: &HeaderMap) -> Option<Principal> {
        if !self.asks() {
            return Some(Principal("".into()));
        }
        let said = self.trusted_header.as_ref().and_then(|name| headers.get(name)?.to_str().ok());
        if let Some(said) = said.filter(|said| !said.is_empty()) {
            return Some(Principal(said.into()));
        }
        let given = headers.get(header::AUTHORIZATION)?.as_bytes();
        let (scheme, given) = given.split_at_checked("Bearer ".len())?;
        if !scheme.eq_ignore_ascii_case(b"Bearer ") {
            return None;
        }
        // All tokens are compared, so that the time does not depend on which one is similar.
        let matching = self
            .tokens
            .iter()
            .filter(|(_, Secret(token))| bool::from(token.as_bytes().ct_eq(given)));
        matching.fold(None, |_, (principal, _)| Some(principal.clone()))
    }
}

/// Rejects pages of other sites.
pub(crate) async fn only_our_pages(
    State(site): State<Arc<Site>>,
    request: Request,
    next: Next,
) -> Response {
    match site.foreign(request.headers()) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    }
}

/// Rejects requests without a user; others carry a [`Principal`] from here on.
pub(crate) async fn only_who_is_known(
    State(site): State<Arc<Site>>,
    mut request: Request,
    next: Next,
) -> Response {
    match site.principal(request.headers()) {
        Some(principal) => {
            request.extensions_mut().insert(principal);
            next.run(request).await
        }
        None => {
            let refusal = Refusal::new(StatusCode::UNAUTHORIZED, "a bearer token is needed");
            let ask = [(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))];
            (ask, refusal).into_response()
        }
    }
}
