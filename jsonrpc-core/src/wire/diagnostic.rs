//! Diagnostics of lenient decoding.
use alloc::string::String;
use core::fmt;

/// A deviation from the specification that was accepted: the treatment, the place and the reason. It contains no values
/// of the peer.
///
/// ```
/// use jsonrpc_core::{Message, wire::DiagnosticCode};
///
/// let (message, diagnostics) = Message::decode_lenient(r#"{"id":1,"method":"m"}"#)?;
/// assert_eq!(message.id(), Some(&1.into()));
/// assert_eq!((diagnostics[0].code, &*diagnostics[0].pointer), (DiagnosticCode::MissingVersion, ""));
/// assert_eq!(diagnostics[0].to_string(), "missing_version: expected member `jsonrpc`");
/// # Ok::<(), jsonrpc_core::MessageError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The treatment.
    pub code: DiagnosticCode,
    /// The place as a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)) into the received text; empty
    /// for the whole document.
    pub pointer: String,
    /// The expected value, and the found kind of value.
    pub problem: String,
}

impl Diagnostic {
    pub(crate) fn new(
        code: DiagnosticCode,
        pointer: impl Into<String>,
        problem: impl Into<String>,
    ) -> Self {
        Self { code, pointer: pointer.into(), problem: problem.into() }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code.as_str())?;
        if !self.pointer.is_empty() {
            write!(f, " at {}", self.pointer)?;
        }
        write!(f, ": {}", self.problem)
    }
}

/// The treatment of a deviation from the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DiagnosticCode {
    /// A message without `jsonrpc` was accepted as JSON-RPC 2.0.
    MissingVersion,
    /// A message with another `jsonrpc` was accepted as JSON-RPC 2.0.
    OtherVersion,
    /// `null` counted as an absent member.
    NullMember,
    /// `params` that are neither an object nor an array were accepted.
    ScalarParams,
    /// The last of a repeated member was used.
    DuplicateMember,
    /// A misplaced `result` or `error` counted as an unknown member.
    StrayMember,
    /// A response without an outcome counted as one with the result `null`.
    MissingResult,
    /// A response without `id` counted as one with the id `null`.
    MissingId,
    /// An `error` that is not an error object became the `data` of one.
    BadErrorObject,
    /// An invalid member was replaced with the value that the specification defines.
    DefaultOnError,
    /// A member that is `null` was replaced with the value that the specification defines.
    DefaultOnNull,
    /// An invalid item was left out of its list, as the specification defines.
    SkippedItem,
}

impl DiagnosticCode {
    /// Returns a stable name for logs and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MissingVersion => "missing_version",
            Self::OtherVersion => "other_version",
            Self::NullMember => "null_member",
            Self::ScalarParams => "scalar_params",
            Self::DuplicateMember => "duplicate_member",
            Self::StrayMember => "stray_member",
            Self::MissingResult => "missing_result",
            Self::MissingId => "missing_id",
            Self::BadErrorObject => "bad_error_object",
            Self::DefaultOnError => "default_on_error",
            Self::DefaultOnNull => "default_on_null",
            Self::SkippedItem => "skipped_item",
        }
    }
}
