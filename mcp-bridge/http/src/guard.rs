//! Checks of the `Host`, `Origin`, `Accept` and `Content-Type` headers.
use axum::http::uri::Authority;
use axum::http::{HeaderMap, header};
use std::net::IpAddr;

/// Returns whether the `Host` header contains a name of this server: one of `hosts`, or a local
/// name.
///
/// This check prevents DNS rebinding: a page with a domain that resolves to this machine sends its
/// own host name.
pub(crate) fn is_our_host(headers: &HeaderMap, hosts: &[String]) -> bool {
    let mut given = headers.get_all(header::HOST).iter();
    let host = given.next().and_then(|host| host.to_str().ok()).filter(|_| given.next().is_none());
    host.is_some_and(|host| is_allowed(host, hosts))
}

/// Returns whether the `Origin` header, if present, is local or one of `origins`.
pub(crate) fn is_our_origin(headers: &HeaderMap, origins: &[String]) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let Ok(origin) = origin.to_str() else { return false };
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    origins.iter().any(|allowed| allowed == origin)
        || host.is_some_and(|host| is_allowed(host, &[]))
}

fn is_allowed(authority: &str, names: &[String]) -> bool {
    let Ok(authority) = authority.parse::<Authority>() else { return false };
    let host = authority.host();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|address| address.is_loopback())
        || names.iter().any(|name| host.eq_ignore_ascii_case(name))
}

/// Returns whether the client accepts a media type.
pub(crate) fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    let group = media_type.split_once('/').map_or("", |(group, _)| group);
    let all = headers.get_all(header::ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
    all.flat_map(|accept| accept.split(',')).any(|range| {
        let range = range.split(';').next().unwrap_or_default().trim();
        range.eq_ignore_ascii_case(media_type)
            || range == "*/*"
            || range.strip_suffix("/*").is_some_and(|range| range.eq_ignore_ascii_case(group))
    })
}

/// Returns whether the content type is JSON.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}
