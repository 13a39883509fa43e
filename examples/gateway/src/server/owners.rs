//! Requests to the gateway that owns their subject, and those of other gateways to this one.
use crate::refusal::Refusal;
use crate::replicas::{ForwardedMark, ForwardedRequest, ForwardedResponse};
use crate::telemetry::trace_context::{TRACEPARENT, TRACESTATE};
use crate::threads::{Target, Threads};
use axum::body::{Body, to_bytes};
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use host::http::Principal;
use host::http::{MAX_BODY, read_body};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Forwards a request about a thread, a run or a question to its owner.
pub(super) async fn to_its_owner(
    State(threads): State<Arc<Threads>>,
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
    next: Next,
) -> Response {
    // The routes report invalid parameters.
    let Ok(params) = params else { return next.run(request).await };
    match elsewhere(&threads, &params, request).await {
        Ok(RequestPlace::Elsewhere(response)) => response,
        Ok(RequestPlace::Here(request)) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// The gateway that answers a request.
enum RequestPlace {
    Here(Request),
    Elsewhere(Response),
}

async fn elsewhere(
    threads: &Threads,
    params: &RawPathParams,
    request: Request,
) -> Result<RequestPlace, Refusal> {
    let principal = request.extensions().get::<Principal>().cloned();
    let Some(principal) =
        principal.filter(|_| request.extensions().get::<ForwardedMark>().is_none())
    else {
        return Ok(RequestPlace::Here(request));
    };
    let param = |name: &str| params.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    let target = match (param("interrupt_id"), param("run_id"), param("thread"), param("agent")) {
        (Some(id), ..) => Target::Interrupt(id),
        // Any gateway can read the events of a run, but only its owner the spans.
        (None, Some(id), ..)
            if request.method() == Method::POST || request.uri().path().ends_with("/spans") =>
        {
            Target::Run(id)
        }
        (None, None, Some(thread), Some(agent)) => Target::Thread { agent, thread },
        _ => return Ok(RequestPlace::Here(request)),
    };
    let Some(owner) = threads.owner(&principal, target).await? else {
        return Ok(RequestPlace::Here(request));
    };
    let (parts, body) = request.into_parts();
    let bytes = read_body(&parts.headers, body).await?;
    let body = String::from_utf8(bytes.clone())
        .map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, format!("the body: {error}")))?;
    let forwarded = ForwardedRequest {
        principal: principal.as_str().to_owned(),
        method: parts.method.clone(),
        path: parts.uri.to_string(),
        body,
        trace: None,
    };
    Ok(match forwarded.send(threads.replicas(), &owner).await? {
        Some(response) => RequestPlace::Elsewhere(response.into_response()),
        // The owner has released it.
        None => RequestPlace::Here(Request::from_parts(parts, Body::from(bytes))),
    })
}

/// Runs this replica until it ends: sends heartbeats, and answers forwarded requests.
pub(crate) async fn serve_replica(threads: Arc<Threads>, ending: CancellationToken) {
    let answering = threads.clone();
    let answer = move |request: String| {
        let threads = answering.clone();
        async move {
            let response = match serde_json::from_str(&request) {
                Ok(request) => answer(&threads, request).await,
                Err(error) => ForwardedResponse {
                    status: StatusCode::BAD_REQUEST.as_u16(),
                    body: serde_json::json!({ "error": error.to_string() }).to_string(),
                },
            };
            serde_json::to_string(&response).unwrap_or_default()
        }
        .boxed()
    };
    let lost = |thread: &str| threads.lose(thread);
    threads.replicas().serve(answer, lost, ending).await;
}

/// Answers a forwarded request by the routes.
async fn answer(threads: &Arc<Threads>, forwarded: ForwardedRequest) -> ForwardedResponse {
    let request = Request::builder()
        .method(forwarded.method)
        .uri(forwarded.path)
        .header(header::CONTENT_TYPE, "application/json")
        .extension(Principal::from(&*forwarded.principal))
        .extension(ForwardedMark);
    // The span of the request at the gateway that forwards it.
    let request = match forwarded.trace {
        None => request,
        Some((parent, state)) => {
            let request = request.header(TRACEPARENT, parent);
            state.into_iter().fold(request, |request, state| request.header(TRACESTATE, state))
        }
    };
    let request = request.body(Body::from(forwarded.body));
    let response = match request {
        Ok(request) => super::answer(threads, request).await,
        Err(error) => Refusal::new(StatusCode::BAD_REQUEST, error).into_response(),
    };
    let status = response.status().as_u16();
    match to_bytes(response.into_body(), MAX_BODY).await {
        Ok(body) => ForwardedResponse { status, body: String::from_utf8_lossy(&body).into_owned() },
        Err(error) => ForwardedResponse {
            status: StatusCode::INTERNAL_SERVER_ERROR.as_u16(),
            body: serde_json::json!({ "error": error.to_string() }).to_string(),
        },
    }
}
