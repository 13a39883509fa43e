//! Requests that another gateway has to answer, because the thread is there.
use super::{Ask, Message, Told};
use crate::server::{self, MAX_BODY, Refusal, read_body};
use crate::site::Principal;
use crate::threads::{Target, Threads};
use axum::body::{Body, to_bytes};
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use run_store::Delivery;
use semconv_map::trace_context::{TRACEPARENT, TRACESTATE};
use std::sync::Arc;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// Marks a request that another gateway has forwarded to this one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forwarded;

/// Forwards a request about a thread, a run or a question to the gateway that has it.
pub(crate) async fn to_its_owner(
    State(threads): State<Arc<Threads>>,
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
    next: Next,
) -> Response {
    // Whatever is wrong with them, the routes say.
    let Ok(params) = params else { return next.run(request).await };
    match elsewhere(&threads, &params, request).await {
        Ok(Answered::Elsewhere(response)) => response,
        Ok(Answered::Here(request)) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// Who answers a request.
enum Answered {
    Here(Request),
    Elsewhere(Response),
}

async fn elsewhere(
    threads: &Threads,
    params: &RawPathParams,
    request: Request,
) -> Result<Answered, Refusal> {
    let principal = request.extensions().get::<Principal>().cloned();
    let Some(principal) = principal.filter(|_| request.extensions().get::<Forwarded>().is_none())
    else {
        return Ok(Answered::Here(request));
    };
    let param = |name: &str| params.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    let target = match (param("interrupt_id"), param("run_id"), param("thread"), param("agent")) {
        (Some(id), ..) => Target::Interrupt(id),
        // What it says is read anywhere, its spans are not.
        (None, Some(id), ..)
            if request.method() == Method::POST || request.uri().path().ends_with("/spans") =>
        {
            Target::Run(id)
        }
        (None, None, Some(thread), Some(agent)) => Target::Thread { agent, thread },
        _ => return Ok(Answered::Here(request)),
    };
    let Some(owner) = threads.owner(&principal, target).await? else {
        return Ok(Answered::Here(request));
    };
    let (parts, body) = request.into_parts();
    let bytes = read_body(&parts.headers, body).await?;
    let body = String::from_utf8(bytes.clone())
        .map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, format!("the body: {error}")))?;
    let ask = Ask {
        principal: principal.as_str().to_owned(),
        method: parts.method.clone(),
        path: parts.uri.to_string(),
        body,
        trace: None,
    };
    Ok(match threads.replicas().forward(&owner, ask).await? {
        Some(told) => Answered::Elsewhere(told.into_response()),
        // Nobody has it any more.
        None => Answered::Here(Request::from_parts(parts, Body::from(bytes))),
    })
}

impl IntoResponse for Told {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_GATEWAY);
        (status, [(header::CONTENT_TYPE, "application/json")], self.body).into_response()
    }
}

/// Answers what other gateways forward, and says that this one lives, until it ends.
pub(crate) async fn serve(threads: Arc<Threads>, ending: CancellationToken) {
    let mut inbox = threads.replicas().hear();
    let answering = async {
        while let Some(heard) = inbox.recv().await {
            match heard {
                Delivery::More(run) => threads.replicas().more(&run),
                Delivery::Message(text) => hear(&threads, &text),
            }
        }
    };
    let living = async {
        let mut beats = interval(threads.replicas().beat_time());
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beats.tick().await;
            match threads.replicas().beat().await {
                Ok(lost) => lost.iter().for_each(|thread| threads.lose(thread)),
                Err(error) => tracing::warn!(%error, "others may take this gateway for dead"),
            }
        }
    };
    tokio::select! {
        () = ending.cancelled() => {}
        () = async { tokio::join!(answering, living); } => {}
    }
}

fn hear(threads: &Arc<Threads>, text: &str) {
    match serde_json::from_str(text) {
        Ok(Message::Told { id, told }) => threads.replicas().told(&id, told),
        Ok(Message::Ask { id, from, ask }) => {
            let threads = threads.clone();
            tokio::spawn(async move {
                let told = answer(&threads, ask).await;
                let message = Message::Told { id, told };
                if let Err(error) = threads.replicas().send(&from, &message).await {
                    tracing::warn!(%error, "what came of a request was not told");
                }
            });
        }
        Err(error) => tracing::warn!(%error, "a message of another gateway that cannot be read"),
    }
}

/// Answers as the routes do.
async fn answer(threads: &Arc<Threads>, ask: Ask) -> Told {
    let request = Request::builder()
        .method(ask.method)
        .uri(ask.path)
        .header(header::CONTENT_TYPE, "application/json")
        .extension(Principal::from(&*ask.principal))
        .extension(Forwarded);
    // The caller's span, which the gateway that was asked has made.
    let request = match ask.trace {
        None => request,
        Some((parent, state)) => {
            let request = request.header(TRACEPARENT, parent);
            state.into_iter().fold(request, |request, state| request.header(TRACESTATE, state))
        }
    };
    let request = request.body(Body::from(ask.body));
    let response = match request {
        Ok(request) => server::answer(threads, request).await,
        Err(error) => Refusal::new(StatusCode::BAD_REQUEST, error).into_response(),
    };
    let status = response.status().as_u16();
    match to_bytes(response.into_body(), MAX_BODY).await {
        Ok(body) => Told { status, body: String::from_utf8_lossy(&body).into_owned() },
        Err(error) => Told {
            status: StatusCode::INTERNAL_SERVER_ERROR.as_u16(),
            body: serde_json::json!({ "error": error.to_string() }).to_string(),
        },
    }
}
