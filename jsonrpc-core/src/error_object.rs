//! Error objects and their codes.
use crate::wire::Raw;
use alloc::string::String;
use core::fmt;

/// The code of an error. Any integer is valid; the constants have a common meaning.
///
/// Spec: [Error object](https://www.jsonrpc.org/specification#error_object) (JSON-RPC 2.0)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorCode(pub i64);

impl ErrorCode {
    /// The text is not JSON.
    pub const PARSE_ERROR: Self = Self(-32700);
    /// The JSON is not a request.
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// The method does not exist, or is not available.
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// The parameters are invalid for the method.
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// Internal error of the peer.
    pub const INTERNAL_ERROR: Self = Self(-32603);
    /// The request was cancelled by the peer that sent it.
    ///
    /// Spec: [`RequestCancelled`](https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#errorCodes)
    /// (LSP 3.17), and [`ErrorCode`](https://agentclientprotocol.com/protocol/v1/schema#errorcode)
    /// (ACP v1)
    pub const REQUEST_CANCELLED: Self = Self(-32800);
}

crate::transparent! { ErrorCode(i64) }

impl From<i64> for ErrorCode {
    fn from(code: i64) -> Self {
        Self(code)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

crate::object! {
    /// The error of a request.
    ///
    /// Spec: [Error object](https://www.jsonrpc.org/specification#error_object) (JSON-RPC 2.0)
    ///
    /// ```
    /// use jsonrpc_core::{ErrorCode, ErrorObject, wire};
    ///
    /// let error: ErrorObject = wire::decode(r#"{"code":-32001,"message":"full","data":{"retry":1.50}}"#)?;
    /// assert_eq!(error.code, ErrorCode(-32001));
    /// assert_eq!(error.to_string(), "full (-32001)");
    /// # Ok::<(), wire::DecodeError>(())
    /// ```
    pub struct ErrorObject {
        /// Code of the error.
        code: ErrorCode = "code",
        /// A short description.
        message: String = "message",
    }
    optional {
        /// Additional data.
        data: Raw = "data",
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl core::error::Error for ErrorObject {}
