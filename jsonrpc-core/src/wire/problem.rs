//! Errors of values, and the values that annotations permit to be invalid.
use super::diagnostic::DiagnosticCode;
use alloc::string::String;

/// Largest depth, equal to serde_json's.
pub(super) const MAX_DEPTH: usize = 127;

/// Reading failed. The [`ValueReader`](super::ValueReader) has the reason.
#[derive(Debug)]
pub struct Fault(pub(super) ());

/// The error of a value, and its place.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) at: usize,
    pub(super) what: ProblemKind,
}

#[derive(Debug)]
pub(super) enum ProblemKind {
    /// Another form was expected.
    Expected(&'static str),
    /// An object of this type was expected.
    Object(&'static str),
    /// The object lacks this member.
    Missing(&'static str),
    /// The object repeats this member.
    Twice(&'static str),
    /// The nesting is too deep.
    TooDeep,
    /// Another form was expected, as described by a type with serde's traits.
    Other(String),
    /// A complete message.
    Message(String),
}

impl ProblemKind {
    pub(super) fn message(&self, came: &str) -> String {
        match self {
            Self::Expected(what) => alloc::format!("expected {what}, got {came}"),
            Self::Object(name) => alloc::format!("expected an object ({name}), got {came}"),
            Self::Missing(name) => alloc::format!("expected member `{name}`, got none"),
            Self::Twice(name) => alloc::format!("expected one member `{name}`, got two"),
            Self::TooDeep => alloc::format!("expected at most {MAX_DEPTH} levels, got more"),
            Self::Other(what) => alloc::format!("expected {what}, got {came}"),
            Self::Message(message) => message.clone(),
        }
    }
}

/// A value that was not read because of its annotations.
#[derive(Debug)]
pub(super) struct SkippedValue {
    pub(super) code: DiagnosticCode,
    pub(super) at: usize,
    pub(super) problem: Problem,
}
