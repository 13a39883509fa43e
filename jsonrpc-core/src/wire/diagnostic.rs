use alloc::string::String;
use core::fmt;

/// Something in the peer's text that was taken although it is not as the specification says: what was done, where, and
/// why. It never repeats the peer's values.
///
/// ```
/// use jsonrpc_core::{Message, wire::DiagnosticCode};
///
/// let (message, diagnostics) = Message::decode_lenient(r#"{"id":1,"method":"m"}"#)?;
/// assert_eq!(message.id(), Some(&1.into()));
/// assert_eq!((diagnostics[0].code, &*diagnostics[0].pointer), (DiagnosticCode::MissingVersion, ""));
/// assert_eq!(diagnostics[0].to_string(), "missing_version: expected member `jsonrpc`, got none");
/// # Ok::<(), jsonrpc_core::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What was done.
    pub code: DiagnosticCode,
    /// Where, as a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)) into the text as it came; empty
    /// for the whole document.
    pub pointer: String,
    /// Why: what was expected there, and what came.
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

/// What was done about something that is not as the specification says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DiagnosticCode {
    /// A message without `jsonrpc` was taken as one of JSON-RPC 2.0.
    MissingVersion,
    /// A message with another `jsonrpc` was taken as one of JSON-RPC 2.0.
    OtherVersion,
    /// `null` was taken as if the member were absent.
    NullMember,
    /// `params` that are neither an object nor an array were taken.
    ScalarParams,
    /// Of a member that comes twice, the last was taken.
    DuplicateMember,
    /// `result` or `error` where it has no place was taken as a member that JSON-RPC does not know.
    StrayMember,
    /// A response without an outcome was taken as one whose result is `null`.
    MissingResult,
    /// A response without `id` was taken as one whose id is `null`.
    MissingId,
    /// An `error` that is not an error object was taken as the `data` of one.
    BadErrorObject,
    /// A member that cannot be read got the value that the specification gives for that.
    DefaultOnError,
    /// A member that is `null` got the value that the specification gives for that.
    DefaultOnNull,
    /// An item that cannot be read was left out of its list, as the specification says.
    SkippedItem,
}

impl DiagnosticCode {
    /// A name for logs and reports, which stays.
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
