//! Spans of HTTP requests, as a middleware of axum.
//!
//! Spec: [HTTP server
//! span](https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-server-span)
use super::{Telemetry, cut};
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use futures::StreamExt;
use opentelemetry::trace::SpanKind;
use semconv_map::trace_context::{TRACEPARENT, TRACESTATE, TraceContext};

/// The span of a request; an extension of the request.
#[derive(Clone, Debug)]
pub struct HttpSpan(pub TraceContext);

/// Methods that spans name; others are `_OTHER`.
const METHODS: [Method; 9] = [
    Method::CONNECT,
    Method::DELETE,
    Method::GET,
    Method::HEAD,
    Method::OPTIONS,
    Method::PATCH,
    Method::POST,
    Method::PUT,
    Method::TRACE,
];

/// Records a span for a request. It ends with the response, including a streamed body.
pub async fn traced(
    State(telemetry): State<Telemetry>,
    mut request: Request,
    next: Next,
) -> Response {
    if !telemetry.traces() {
        return next.run(request).await;
    }
    let is_known = METHODS.contains(request.method());
    let method = if is_known { request.method().as_str() } else { "_OTHER" }.to_owned();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let named = if is_known { &*method } else { "HTTP" };
    let name = route.as_ref().map_or_else(|| named.to_owned(), |route| format!("{named} {route}"));
    let parent = remote(request.headers());
    let Some(mut span) = telemetry.span(name, SpanKind::Server, parent.as_ref()) else {
        return next.run(request).await;
    };
    span.set("http.request.method", method);
    span.set("url.scheme", "http");
    span.set("url.path", cut(request.uri().path()));
    if let Some(route) = route {
        span.set("http.route", route);
    }
    if let Some(context) = span.context() {
        request.extensions_mut().insert(HttpSpan(context));
    }
    let response = next.run(request).await;
    let status = response.status();
    span.set("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.fail(status.as_u16().to_string());
    }
    let kind = response.headers().get(header::CONTENT_TYPE);
    if kind.is_none_or(|kind| kind != "text/event-stream") {
        return response;
    }
    response.map(|body| {
        Body::from_stream(body.into_data_stream().inspect(move |_| {
            let _lives_as_long_as_the_stream = &span;
        }))
    })
}

/// Returns the span of the caller from the headers of a request.
///
/// Spec: [Trace Context HTTP Headers
/// Format](https://www.w3.org/TR/trace-context-1/#trace-context-http-headers-format)
pub fn remote(headers: &HeaderMap) -> Option<TraceContext> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    // Several headers form one list.
    let states = headers.get_all(TRACESTATE).iter().filter_map(|state| state.to_str().ok());
    let state = states.collect::<Vec<_>>().join(",");
    TraceContext::parse(text(TRACEPARENT)?, Some(&*state).filter(|state| !state.is_empty()))
}
