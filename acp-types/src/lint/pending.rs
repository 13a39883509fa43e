//! Open requests, and receivers of methods.
use super::value::{Json, is_text, text};
use crate::methods::Receiver;
use crate::spoken::{self, Shape};
use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::string::String;
use jsonrpc_core::transcript::Direction;

/// An open request.
#[derive(Clone, Debug)]
pub(super) struct PendingRequest {
    pub(super) line: u64,
    pub(super) method: String,
    pub(super) session: Option<String>,
    /// JSON text of its parameters, if the response depends on them.
    params: Box<str>,
    /// Whether its session was cancelled after it.
    pub(super) is_cancelled: bool,
    /// Whether it was withdrawn by `$/cancel_request`.
    pub(super) is_taken_back: bool,
    /// Whether its session was cancelled, closed or deleted after it.
    pub(super) is_stopped: bool,
}

/// Returns the version in parameters or a result of `initialize`.
pub(super) fn protocol_version(value: Json<'_>) -> Option<u64> {
    value.get("protocolVersion").and_then(Json::as_u64)
}

/// Returns whether a method is valid in this direction. The conductor is the client of a proxy.
pub(super) fn fits(to: Receiver, direction: Direction) -> bool {
    match to {
        Receiver::Either | Receiver::ProxyOrConductor => true,
        Receiver::Proxy => direction == Direction::Sent,
        Receiver::Agent | Receiver::Client => to == Receiver::of(direction),
    }
}

pub(super) fn is_initialize(method: &str) -> bool {
    matches!(method, "initialize" | "proxy/initialize")
}

/// Returns the version of parameters of `initialize`, by their shape.
pub(super) fn version_of_request(params: Json<'_>) -> u16 {
    let shape = spoken::of_initialize(protocol_version(params), |name| params.get(name).is_some());
    if shape == Shape::V2 { 2 } else { 1 }
}

/// Returns the version of a result of `initialize`, by its shape, otherwise by its number.
pub(super) fn version_of_result(result: Json<'_>) -> u16 {
    let shape = spoken::of_initialized(protocol_version(result), |name| result.get(name).is_some());
    if shape == Shape::V1 { 1 } else { 2 }
}

/// Returns the part of the parameters that is needed to check the response.
fn kept<'a>(method: &str, params: Json<'a>) -> Json<'a> {
    match method {
        "session/request_permission" | "elicitation/create" => params,
        "session/prompt" => params.get("idempotencyKey").unwrap_or(Json::NULL),
        // Of a wrapped request, whether it is `initialize`.
        "proxy/successor" if is_text(params, "method", "initialize") => {
            Json::new(r#"{"method":"initialize"}"#)
        }
        _ if is_initialize(method) => params,
        _ => Json::NULL,
    }
}

impl PendingRequest {
    pub(super) fn new(line: u64, method: &str, params: Json<'_>) -> Self {
        Self {
            line,
            session: text(params, "sessionId").map(Cow::into_owned),
            params: kept(method, params).as_text().into(),
            method: method.to_owned(),
            is_cancelled: false,
            is_taken_back: false,
            is_stopped: false,
        }
    }

    pub(super) fn params(&self) -> Json<'_> {
        Json::new(&self.params)
    }
}
