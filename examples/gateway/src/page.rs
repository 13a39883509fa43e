//! The web page, built into the program.
use crate::markdown::{RenderedText, Source, TIME, render_all};
use crate::refusal::Refusal;
use crate::threads::Threads;
use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use host::http::Principal;
use host::http::{Part, read_json};
use std::sync::Arc;
use std::time::Instant;
use tokio::task::spawn_blocking;

/// Content security policy: only resources of the gateway.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Names and contents of the files below `page`, listed by the build script.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// `GET /`
pub(crate) async fn index() -> Result<Response, Refusal> {
    file("index.html")
}

/// `GET /assets/{name}`
pub(crate) async fn asset(Part(Path(name)): Part<Path<String>>) -> Result<Response, Refusal> {
    file(&name)
}

/// `POST /api/ai/markdown`: renders texts as HTML, in turn with other users.
pub(crate) async fn markdown(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Vec<RenderedText>>, Refusal> {
    let texts: Vec<Source> = read_json(&headers, body).await?;
    let place = threads.renderings().enter(principal.as_str()).await;
    // The place is free when the work has ended, also for a client that is gone.
    let rendered = spawn_blocking(move || {
        let _place = place;
        render_all(&texts, Instant::now() + TIME)
    });
    match rendered.await {
        Ok(Ok(rendered)) => Ok(Json(rendered)),
        Ok(Err(too_much)) => Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, too_much)),
        Err(failed) => Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, failed)),
    }
}

fn file(name: &str) -> Result<Response, Refusal> {
    let (name, content) = FILES
        .iter()
        .find(|(known, _)| *known == name)
        .ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "no such file"))?;
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    Ok((headers, *content).into_response())
}
