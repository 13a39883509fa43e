//! Hosts and origins: the pages that may use the server.
use crate::http::AccessError;
use crate::http::request_refusal::RequestRefusal;
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderName, HeaderValue, Method, header};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;
use tower_http::cors::{AllowOrigin, CorsLayer};

/// How long a browser may remember the permissions of pages of other sites.
const CORS_TIME: Duration = Duration::from_secs(600);

/// The site of a server.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SiteSettings {
    /// Names accepted in `Host`, beside addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Other sites with pages that may use the server, such as `https://app.example`.
    pub origins: Vec<String>,
    /// The URL of the server for agents, such as `http://gateway.internal:8787`. The default is its
    /// own address.
    pub agents_url: Option<String>,
    /// The certificate of the listener and those of its issuers, a file in PEM. Without it,
    /// connections are in clear.
    pub tls_cert: Option<PathBuf>,
    /// The key of the certificate, a file in PEM.
    pub tls_key: Option<PathBuf>,
    /// Whether a listener beyond loopback may be in clear, for example behind a TLS proxy.
    pub clear_text: bool,
}

/// The rules of the site.
#[derive(Debug)]
pub(crate) struct Site {
    hosts: Vec<String>,
    origins: Vec<HeaderValue>,
    /// Whether browsers reach the server by `https` only.
    pub(crate) is_encrypted: bool,
}

impl Site {
    pub(crate) fn new(settings: &SiteSettings) -> Result<Self, AccessError> {
        let origin = |origin: &String| {
            let is_origin = origin.split_once("://").is_some_and(|(_, host)| !host.contains('/'));
            let value = HeaderValue::from_str(origin).ok().filter(|_| is_origin);
            value.ok_or_else(|| AccessError::Origin(origin.clone()))
        };
        let origins = settings.origins.iter().map(origin).collect::<Result<_, _>>()?;
        let is_encrypted = settings.tls_cert.is_some();
        Ok(Self { hosts: settings.hosts.clone(), origins, is_encrypted })
    }

    /// Returns the cross-origin rules: only pages of the configured sites may read responses.
    pub(crate) fn cors(&self) -> CorsLayer {
        CorsLayer::new()
            .allow_origin(AllowOrigin::list(self.origins.iter().cloned()))
            .allow_methods([Method::DELETE, Method::GET, Method::POST])
            .allow_headers([
                header::AUTHORIZATION,
                header::CONTENT_TYPE,
                HeaderName::from_static("last-event-id"),
                HeaderName::from_static("traceparent"),
                HeaderName::from_static("tracestate"),
            ])
            .max_age(CORS_TIME)
    }

    /// Returns why a request is refused, if it is: a page of another site sent it, or a name was
    /// rebound to this address.
    ///
    /// Spec: [RFC 9112, section 3.2](https://www.rfc-editor.org/rfc/rfc9112#section-3.2); [RFC
    /// 9113, section 8.3.1](https://www.rfc-editor.org/rfc/rfc9113#section-8.3.1), for the
    /// authority of HTTP/2.
    pub(crate) fn refusal(&self, request: &Parts) -> Option<RequestRefusal> {
        let mut hosts = request.headers.get_all(header::HOST).iter();
        let first = hosts.next().map(HeaderValue::to_str);
        let second = hosts.next();
        let authority = request.uri.authority().map(|authority| Ok(authority.as_str()));
        // A proxy may have read another one of several.
        let host = first.or(authority).and_then(Result::ok).filter(|_| second.is_none());
        let Some(host) = host else {
            return Some(RequestRefusal::malformed("expected one Host header"));
        };
        if !host.parse().is_ok_and(|host| self.is_own(&host)) {
            let why = "the Host header must be an address, localhost, or one of site.hosts";
            return Some(RequestRefusal::foreign(why));
        }
        let origin = request.headers.get(header::ORIGIN)?;
        let is_own = origin
            .to_str()
            .is_ok_and(|origin| origin.split_once("://").is_some_and(|(_, origin)| origin == host));
        (!is_own && !self.origins.contains(origin))
            .then(|| RequestRefusal::foreign("pages of other sites may not use this gateway"))
    }

    /// Returns whether a browser sent the request for a page of another site that did not name
    /// itself, as for an image.
    ///
    /// Spec: [Fetch metadata](https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header)
    pub(crate) fn is_embedded(request: &Parts) -> bool {
        let site = request.headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let is_foreign = matches!(site, Some(b"cross-site" | b"same-site"));
        is_foreign && !request.headers.contains_key(header::ORIGIN)
    }

    /// Returns whether a browser states that its user or a page of this site opened the address.
    /// Without a statement it is not known: browsers state it only over TLS and on loopback.
    ///
    /// Spec: [Fetch metadata](https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header)
    pub(crate) fn is_opened_by_user(request: &Parts) -> bool {
        let site = request.headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        matches!(site, Some(b"none" | b"same-origin"))
    }

    fn is_own(&self, host: &Authority) -> bool {
        let name = host.host();
        let port = host.as_str().strip_prefix(name);
        let is_valid = port.is_some_and(|port| port.is_empty() || host.port_u16().is_some());
        is_valid
            && (name == "localhost"
                || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
                || self.hosts.iter().any(|own| own.eq_ignore_ascii_case(name)))
    }
}
