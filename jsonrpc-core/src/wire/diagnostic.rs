//! Diagnostics of lenient decoding.
use alloc::string::String;
use core::fmt;

/// The largest number of diagnostics of one document.
pub(super) const MAX_DIAGNOSTICS: usize = 256;

/// A deviation from the specification that was accepted: the treatment, the place and the reason.
/// It contains no values of the peer.
///
/// ```
/// use jsonrpc_core::wire::{self, DiagnosticCode, Mode};
///
/// jsonrpc_core::object! {
///     /// A step.
///     pub struct Step {}
///     optional {
///         /// The urgency.
///         priority: u8 = "priority" [default_on_error],
///     }
/// }
///
/// let step = wire::decode_with::<Step>(r#"{"priority":"high"}"#, Mode::SpecLenient)?;
/// let diagnostic = &step.diagnostics[0];
/// assert_eq!((diagnostic.code, &*diagnostic.pointer), (DiagnosticCode::DefaultOnError, "/priority"));
/// assert_eq!(diagnostic.to_string(), "default_on_error at /priority: expected u8, got string");
/// # Ok::<(), wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The treatment.
    pub code: DiagnosticCode,
    /// The place as a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)) into the
    /// received text; empty for the whole document.
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
            Self::DefaultOnError => "default_on_error",
            Self::DefaultOnNull => "default_on_null",
            Self::SkippedItem => "skipped_item",
        }
    }
}
