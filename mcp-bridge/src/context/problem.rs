//! Problems of contexts.
use core::fmt;

/// Kind of a [`ContextDiagnostic`](super::ContextDiagnostic).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ContextProblem {
    /// The carrier differs from one that takes precedence. An intermediary may have changed one of
    /// them.
    Mismatch,
    /// The carrier contains JSON that is not an object.
    NotAnObject,
    /// The carrier exceeds the size limit.
    TooLarge,
    /// The carrier exceeds the depth limit.
    TooDeep,
    /// The section has an unsupported media type.
    UnsupportedMime,
    /// The first line of the section has no media type.
    MalformedHeader,
    /// The section contains no JSON or truncated JSON.
    InvalidJson,
    /// The section contains text after the JSON.
    TrailingText,
}

impl fmt::Display for ContextProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mismatch => "expected the same context as before, got another",
            Self::NotAnObject => "expected an object, got other JSON",
            Self::TooLarge => "expected fewer bytes",
            Self::TooDeep => "expected fewer levels",
            Self::UnsupportedMime => "expected application/json in UTF-8, got another type",
            Self::MalformedHeader => "expected a media type, got none",
            Self::InvalidJson => "expected JSON",
            Self::TrailingText => "expected JSON, got trailing text",
        })
    }
}
