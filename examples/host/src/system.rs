//! Differences between operating systems: processes and their groups, signals, pipes.
//!
//! | | Linux | other Unix | Windows |
//! |---|---|---|---|
//! | the agent and its children | a process group | a process group | a job |
//! | a child leaves it | by `setsid`, but not the guard of a transport or a terminal | by `setsid` | if started with `CREATE_BREAKAWAY_FROM_JOB` |
//! | a command that is a script | names its interpreter | names its interpreter | is found without its extension, by `PATHEXT` |
//! | an exit status | 8 bits | 8 bits | 32 bits |
//! | a signal | goes to the group | goes to the group | Ctrl-C and Ctrl-Break come from the console; only the kill is ours |
//! | busy pipes | are widened | stay as they are | stay as they are |
//! | this program is killed | the guard kills the group | the agent sees its input end | the job ends with it |

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::termination;
#[cfg(unix)]
pub(crate) use unix::{
    End, ProcessGroup, editor_ends, find, forward_signals, lead_group, second_end, wait_ready,
    widen,
};
#[cfg(windows)]
pub use windows::termination;
#[cfg(windows)]
pub(crate) use windows::{
    End, ProcessGroup, editor_ends, find, forward_signals, lead_group, second_end, wait_ready,
    widen,
};

/// Readiness of a pipe.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ready {
    Read,
    Write,
}

/// A signal to a process group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Hangup,
    Interrupt,
    Kill,
    Terminate,
}

impl Signal {
    /// Returns the number in POSIX; the exit status of a process that it ended is this plus 128.
    ///
    /// Spec: [kill](https://pubs.opengroup.org/onlinepubs/9799919799/utilities/kill.html)
    pub(crate) fn number(self) -> i32 {
        match self {
            Self::Hangup => 1,
            Self::Interrupt => 2,
            Self::Kill => 9,
            Self::Terminate => 15,
        }
    }
}
