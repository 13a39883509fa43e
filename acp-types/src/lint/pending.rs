//! Open requests, and where methods may go.
use super::value::text;
use crate::methods::Direction as Receiver;
use crate::spoken::{self, Shape};
use alloc::borrow::ToOwned;
use alloc::string::String;
use jsonrpc_core::transcript::Direction;
use serde_json::{Value, json};

/// An open request.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) line: u64,
    pub(super) method: String,
    pub(super) session: Option<String>,
    /// Its parameters, where the response depends on them.
    pub(super) params: Value,
    /// Its session was cancelled after it.
    pub(super) is_cancelled: bool,
    /// `$/cancel_request` named it.
    pub(super) is_taken_back: bool,
    /// Its session was cancelled, closed or deleted after it.
    pub(super) is_stopped: bool,
}

/// Returns the version that parameters or a result of `initialize` name.
pub(super) fn protocol_version(value: &Value) -> Option<u64> {
    value.get("protocolVersion").and_then(Value::as_u64)
}

/// Whether a method may go in this direction. The client of a proxy is its conductor.
pub(super) fn fits(to: Receiver, direction: Direction) -> bool {
    match to {
        Receiver::ToEither | Receiver::ToProxyOrConductor => true,
        Receiver::ToProxy => direction == Direction::Sent,
        Receiver::ToAgent | Receiver::ToClient => to == receiver(direction),
    }
}

pub(super) fn is_initialize(method: &str) -> bool {
    matches!(method, "initialize" | "proxy/initialize")
}

/// Returns the version of parameters of `initialize`, by their shape.
pub(super) fn version_of_request(params: &Value) -> u16 {
    let shape = spoken::of_initialize(protocol_version(params), |name| params.get(name).is_some());
    if shape == Shape::V2 { 2 } else { 1 }
}

/// Returns the version of a result of `initialize`, by its shape; where that does not decide, by the number.
pub(super) fn version_of_result(result: &Value) -> u16 {
    let shape = spoken::of_initialized(protocol_version(result), |name| result.get(name).is_some());
    if shape == Shape::V1 { 1 } else { 2 }
}

/// Returns what is kept of parameters to check the response.
fn kept(method: &str, params: Value) -> Value {
    match method {
        "session/request_permission" | "elicitation/create" => params,
        // Of a wrapped request, whether it is `initialize`.
        "proxy/successor" if text(&params, "method") == Some("initialize") => {
            json!({"method": "initialize"})
        }
        _ if is_initialize(method) => params,
        _ => Value::Null,
    }
}

impl Pending {
    pub(super) fn new(line: u64, method: &str, params: Value) -> Self {
        Self {
            line,
            session: text(&params, "sessionId").map(str::to_owned),
            params: kept(method, params),
            method: method.to_owned(),
            is_cancelled: false,
            is_taken_back: false,
            is_stopped: false,
        }
    }
}

/// Returns the receiver of a line.
pub(super) fn receiver(direction: Direction) -> Receiver {
    match direction {
        Direction::Sent => Receiver::ToAgent,
        Direction::Received => Receiver::ToClient,
    }
}
