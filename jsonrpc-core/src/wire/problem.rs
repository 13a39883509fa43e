//! Errors of values, and the values that annotations permit to be invalid.
use super::decode::MAX_DIAGNOSTICS;
use super::diagnostic::DiagnosticCode;
use super::reader::ValueReader;
use alloc::string::String;

/// Largest depth, equal to serde_json's.
pub(super) const MAX_DEPTH: usize = 127;

/// Reading failed. The [`ValueReader`] has the reason.
#[derive(Debug)]
pub struct Fault(pub(super) ());

/// The error of a value, and its place.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) at: usize,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
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

impl What {
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
pub(super) struct Note {
    pub(super) code: DiagnosticCode,
    pub(super) at: usize,
    pub(super) problem: Problem,
}

impl ValueReader<'_> {
    /// Returns the error of the next value, which has another form than `what`.
    #[cold]
    pub fn expected(&mut self, what: &'static str) -> Fault {
        self.next_byte();
        self.fail(self.last, What::Expected(what))
    }

    /// Returns the error of the last value, which is not `what`.
    #[cold]
    pub fn invalid(&mut self, what: &'static str) -> Fault {
        self.problem = Some(Problem { at: self.last, what: What::Expected(what) });
        Fault(())
    }

    /// Records that the text is not JSON.
    #[cold]
    pub(super) fn broken(&mut self) -> Fault {
        self.is_broken = true;
        Fault(())
    }

    /// Returns the error of the value at `at`. If annotations may permit it, reading continues after the value.
    #[cold]
    #[inline(never)]
    pub(super) fn fail(&mut self, at: usize, what: What) -> Fault {
        self.problem = Some(Problem { at, what });
        self.go_behind(at);
        Fault(())
    }

    /// Moves after the value at `at`, if reading continues.
    pub(super) fn go_behind(&mut self, at: usize) {
        if self.guards > 0 {
            self.scanner.go_to(at);
            self.is_broken |= self.scanner.value().is_none();
        }
    }

    /// Records that the value at `at` was not read because of the current error.
    pub(super) fn record(&mut self, code: DiagnosticCode, at: usize) {
        let Some(problem) = self.problem.take() else { return };
        if self.notes.len() < MAX_DIAGNOSTICS {
            self.notes.push(Note { code, at, problem });
        } else {
            self.omitted += 1;
        }
    }
}
