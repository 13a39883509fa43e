//! Inputs during runs: cancellation, results of page tools, answers to questions.
use crate::hub::AnswerBody;
use crate::refusal::Refusal;
use crate::threads::Threads;
use agui_bridge::AnswerError;
use agui_bridge::frontend_tool::{Completion, ToolResult};
use agui_types::content::Content;
use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode};
use host::http::Principal;
use host::http::{Part, read_json};
use std::sync::Arc;

/// `POST /api/ai/chat/runs/{runId}/cancel`
pub(super) async fn cancel(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    Part(Path(run_id)): Part<Path<String>>,
) -> Result<StatusCode, Refusal> {
    if threads.cancel(&principal, &run_id).await {
        return Ok(StatusCode::ACCEPTED);
    }
    Err(Refusal::new(StatusCode::NOT_FOUND, "no such run is going on"))
}

/// `POST /api/ai/chat/runs/{runId}/tools/{toolCallId}`: the result of a page tool, during the run.
pub(super) async fn tool_result(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    Part(Path((run_id, call_id))): Part<Path<(String, String)>>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let PageResult { content, error, .. } = read_json(&headers, body).await?;
    let mut result = ToolResult::new(content);
    result.is_error = error.is_some();
    match threads.tool_result(&principal, &run_id, &call_id.into(), result) {
        Some(Completion::Delivered) => Ok(StatusCode::ACCEPTED),
        Some(Completion::AlreadyDone) => {
            Err(Refusal::new(StatusCode::CONFLICT, "the call has its result"))
        }
        _ => Err(Refusal::new(StatusCode::NOT_FOUND, "no such call waits for a result")),
    }
}

jsonrpc_core::object! {
    /// The result of a page tool.
    pub struct PageResult {
        /// Text of the result.
        content: Content = "content",
    }
    optional {
        /// Text of the error.
        error: String = "error",
    }
}

/// `POST /api/ai/chat/interrupts/{interruptId}`
pub(super) async fn answer_question(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    Part(Path(interrupt_id)): Part<Path<String>>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let body: AnswerBody = read_json(&headers, body).await?;
    let answer = body.answer().ok_or_else(|| {
        let message = "expected one of `optionId`, `action`, and `cancelled: true`";
        Refusal::new(StatusCode::BAD_REQUEST, message)
    })?;
    match threads.answer(&principal, &interrupt_id, answer) {
        Ok(()) => Ok(StatusCode::ACCEPTED),
        Err(error @ AnswerError::Unknown) => Err(Refusal::new(StatusCode::NOT_FOUND, error)),
        Err(error @ AnswerError::Answered) => Err(Refusal::new(StatusCode::CONFLICT, error)),
        Err(error) => Err(Refusal::new(StatusCode::BAD_REQUEST, error)),
    }
}
