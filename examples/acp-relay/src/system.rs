//! What is another thing on each operating system: processes and their groups, signals, the ends of pipes.
//!
//! | | Linux | other Unix | Windows |
//! |---|---|---|---|
//! | the agent and what it started | a process group | a process group | a job |
//! | who leaves that of its own accord | calls `setsid` | calls `setsid` | is started with `CREATE_BREAKAWAY_FROM_JOB` |
//! | a command that is a script | names its interpreter | names its interpreter | is found without its ending, by `PATHEXT` |
//! | an exit status | 8 bits | 8 bits | 32 bits |
//! | a signal for them | to the group | to the group | Ctrl-C and Ctrl-Break reach them from the console; only the kill is ours |
//! | pipes through which much comes | are widened | stay as they are | stay as they are |
//! | this program is killed | the agent is killed | the agent sees its input end | the agent and what it started are killed |

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{
    AgentProcess, End, become_agent, editor_ends, find, forward_signals, start, wait_ready, widen,
};
#[cfg(windows)]
pub(crate) use windows::{
    AgentProcess, End, become_agent, editor_ends, find, forward_signals, start, wait_ready, widen,
};

/// What an end of a pipe is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ready {
    Read,
    Write,
}

/// Told to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Hangup,
    Interrupt,
    Kill,
    Terminate,
}

impl Signal {
    /// Its number in POSIX; the exit status of what it ended is 128 more.
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
