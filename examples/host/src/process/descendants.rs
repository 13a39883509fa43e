//! All processes below this one, also those in sessions of their own.
//!
//! A subreaper becomes the parent of each descendant that loses its parent, so that none can leave
//! it.
//!
//! Spec: [`PR_SET_CHILD_SUBREAPER`](https://man7.org/linux/man-pages/man2/PR_SET_CHILD_SUBREAPER.2const.html)
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Pid, getpid};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// Time to kill all descendants. Those of another user cannot be killed.
const KILL_TIME: Duration = Duration::from_secs(2);

/// Interval of attempts: a process may start others while it is killed.
const AGAIN: Duration = Duration::from_millis(10);

/// Makes this process the parent of orphaned descendants.
pub(super) fn adopt() -> io::Result<()> {
    Ok(nix::sys::prctl::set_child_subreaper(true)?)
}

/// Removes ended orphans from the table of processes. The status of `except` is left for its own
/// wait.
pub(super) fn reap_except(except: Pid) {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    while let Ok(status) = waitid(Id::All, flags)
        && let Some(ended) = status.pid().filter(|ended| *ended != except)
    {
        let _reaped = waitpid(ended, Some(WaitPidFlag::WNOHANG));
    }
}

/// Removes all ended children. Returns whether others are left.
pub(super) fn reap() -> bool {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return true,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
}

/// Sends SIGKILL to each descendant.
pub(super) fn kill_each() {
    let parents = parents();
    for pid in parents.keys().filter(|pid| is_below(&parents, **pid, getpid().as_raw())) {
        // It may have ended by itself.
        let _gone = kill(Pid::from_raw(*pid), Signal::SIGKILL);
    }
}

/// Kills all descendants, and waits for their end. `changed` returns when a child has ended.
pub(super) async fn kill_all(mut changed: impl AsyncFnMut()) {
    let deadline = Instant::now() + KILL_TIME;
    while reap() && Instant::now() < deadline {
        kill_each();
        let _waited = timeout(AGAIN, changed()).await;
    }
}

/// Returns the parent of each process that is visible.
///
/// Spec: [`/proc/pid/stat`](https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html)
fn parents() -> BTreeMap<i32, i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return BTreeMap::new() };
    let parent_of = |entry: fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // The name of the program is in parentheses, and may contain any character.
        let (_, rest) = stat.rsplit_once(')')?;
        Some((pid, rest.split_whitespace().nth(1)?.parse().ok()?))
    };
    entries.flatten().filter_map(parent_of).collect()
}

/// Returns whether a process is a descendant of `top`.
fn is_below(parents: &BTreeMap<i32, i32>, pid: i32, top: i32) -> bool {
    let mut ancestors = std::iter::successors(parents.get(&pid), |parent| parents.get(parent));
    // The table is no snapshot: a reused number could form a circle.
    ancestors.by_ref().take(parents.len()).any(|ancestor| *ancestor == top)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_at_any_depth() {
        let parents = BTreeMap::from([(2, 1), (3, 2), (4, 3), (5, 1), (7, 8), (8, 7)]);
        let below = |top| parents.keys().filter(|pid| is_below(&parents, **pid, top)).count();
        assert_eq!(below(2), 2);
        assert_eq!(below(1), 4);
        assert_eq!(below(4), 0);
        assert_eq!(below(9), 0);
    }

    #[test]
    fn own_parent_is_read() {
        let own = getpid().as_raw();
        let parent = i32::try_from(std::os::unix::process::parent_id()).unwrap();
        assert_eq!(parents().get(&own), Some(&parent));
    }
}
