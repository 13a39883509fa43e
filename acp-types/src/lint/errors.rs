//! Checks of error responses.
use super::report::Report;
use super::rule;
use crate::v2::error::{
    AUTH_REQUIRED, UNSUPPORTED_PROTOCOL_VERSION, UnsupportedProtocolVersionErrorData,
};
use alloc::format;
use jsonrpc_core::{ErrorCode, ErrorObject};

/// Checks the error response of a request.
pub(super) fn look_at(method: &str, error: &ErrorObject, report: &mut Report) {
    let code = error.code;
    let pointer = "/error/code";
    if i32::try_from(code.0).is_err() {
        report.add(&rule::ERROR_CODE, pointer, format!("{code} is not a 32-bit integer"));
    }
    if method == "auth/status" && code == AUTH_REQUIRED {
        let message = format!("`auth/status` is not answered with {code}");
        report.add(&rule::ERROR_CODE, pointer, message);
    }
    let standard = [
        ErrorCode::PARSE_ERROR,
        ErrorCode::INVALID_REQUEST,
        ErrorCode::METHOD_NOT_FOUND,
        ErrorCode::INVALID_PARAMS,
        ErrorCode::INTERNAL_ERROR,
    ];
    if RESERVED.contains(&code.0) && !standard.contains(&code) {
        report.add(&rule::ERROR_CODE_RESERVED, pointer, format!("JSON-RPC does not define {code}"));
    }
    if method == "initialize" && code == UNSUPPORTED_PROTOCOL_VERSION {
        let data =
            error.data.as_ref().map(|data| data.decode::<UnsupportedProtocolVersionErrorData>());
        if !matches!(data, Some(Ok(_))) {
            let message = "expected `data` with `requested` and `supported`";
            report.add(&rule::ERROR_DATA, "/error", message);
        }
    }
}

/// Checks error responses of cancelled requests, and cancellation errors.
pub(super) fn cancelled(
    error: &ErrorObject,
    is_taken_back: bool,
    is_stopped: bool,
    report: &mut Report,
) {
    let says_so = error.code == ErrorCode::REQUEST_CANCELLED;
    if is_taken_back && !says_so {
        let expected = ErrorCode::REQUEST_CANCELLED;
        let message = format!("expected a result or {expected}, got {}", error.code);
        report.add(&rule::CANCEL_ANSWER, "/error/code", message);
    } else if says_so && !is_taken_back && !is_stopped {
        report.add(&rule::CANCEL_UNASKED, "/error/code", "the request was not cancelled");
    }
}

/// Checks the error response of a prompt after a cancellation of its session.
pub(super) fn prompt_cancelled(error: &ErrorObject, report: &mut Report) {
    let expected = ErrorCode::REQUEST_CANCELLED;
    if error.code != expected {
        let message = format!("expected a message or {expected}, got {}", error.code);
        report.add(&rule::PROMPT_CANCELLED, "/error/code", message);
    }
}

/// The codes that JSON-RPC reserves, without those for server errors.
const RESERVED: core::ops::RangeInclusive<i64> = -32768..=-32100;
