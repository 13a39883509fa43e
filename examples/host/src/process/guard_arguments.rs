//! Arguments of this program when it is started as a guard.
use std::ffi::OsStr;

/// First argument of this program when it is started as a guard.
pub(super) const GUARD: &str = "--guard-for-parent";

/// Destination of a command's standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorOutput {
    /// To this program's.
    Inherited,
    /// To this program's, within a limit where a guard can count: on Linux.
    Bounded,
    /// Into the command's standard output.
    Merged,
}

impl ErrorOutput {
    /// Returns the destination with this argument of the guard.
    pub(super) fn of(argument: &OsStr) -> Self {
        let all = [Self::Bounded, Self::Merged];
        all.into_iter().find(|it| argument == it.as_str()).unwrap_or(Self::Inherited)
    }

    /// Argument of the guard.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Inherited => "inherited",
            Self::Bounded => "bounded",
            Self::Merged => "merged",
        }
    }
}

/// Processes that end with a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those of its process group.
    Group,
    /// All that it has started, where a guard can find them: on Linux.
    All,
}

impl Scope {
    /// Argument of the guard.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::All => "all",
        }
    }
}
