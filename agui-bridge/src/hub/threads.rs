//! The threads of a hub: by number, by name, and by deadline.
use crate::conversation::{Conversation, SessionNumber, Trouble};
use acp_types::client::SessionKey;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

/// Number of a thread within its hub.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ThreadNumber(pub(super) u64);

/// A thread of a hub.
#[derive(Debug)]
pub(super) struct HubThread {
    pub(super) name: Arc<str>,
    pub(super) conversation: Conversation,
    /// The attached session of the conversation.
    pub(super) session: Option<(SessionNumber, SessionKey)>,
    /// Time of its timer; not after the conversation's deadline.
    timer: Option<Duration>,
    /// Time of the end of the last run; `None` while a run is open.
    rests_since: Option<Duration>,
}

/// The threads of a hub.
#[derive(Debug, Default)]
pub(super) struct Threads {
    all: BTreeMap<ThreadNumber, HubThread>,
    by_name: BTreeMap<Arc<str>, ThreadNumber>,
    by_session: BTreeMap<SessionKey, ThreadNumber>,
    timers: BTreeSet<(Duration, ThreadNumber)>,
    /// Threads without an open run, by the end of their last run.
    resting: BTreeSet<(Duration, ThreadNumber)>,
    numbered: u64,
    /// Failure of the last connection attempt, until the next one.
    lost: Option<Trouble>,
}

impl Threads {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(|name| &**name)
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = ThreadNumber> + '_ {
        self.all.keys().copied()
    }

    pub(super) fn find(&self, name: &str) -> Option<ThreadNumber> {
        self.by_name.get(name).copied()
    }

    pub(super) fn get(&self, number: ThreadNumber) -> Option<&HubThread> {
        self.all.get(&number)
    }

    pub(super) fn get_mut(&mut self, number: ThreadNumber) -> Option<&mut HubThread> {
        self.all.get_mut(&number)
    }

    /// Returns the number of the next thread.
    pub(super) fn next(&self) -> ThreadNumber {
        ThreadNumber(self.numbered + 1)
    }

    pub(super) fn insert(
        &mut self,
        name: &str,
        conversation: Conversation,
        now: Duration,
    ) -> ThreadNumber {
        let number = self.next();
        self.numbered = number.0;
        let name: Arc<str> = name.into();
        let thread = HubThread {
            name: name.clone(),
            conversation,
            session: None,
            timer: None,
            rests_since: Some(now),
        };
        self.resting.insert((now, number));
        self.by_name.insert(name, number);
        self.all.insert(number, thread);
        number
    }

    pub(super) fn remove(&mut self, number: ThreadNumber) -> Option<HubThread> {
        let removed = self.all.remove(&number)?;
        self.by_name.remove(&removed.name);
        if let Some((_, key)) = removed.session {
            self.by_session.remove(&key);
        }
        if let Some(timer) = removed.timer {
            self.timers.remove(&(timer, number));
        }
        if let Some(since) = removed.rests_since {
            self.resting.remove(&(since, number));
        }
        Some(removed)
    }

    /// Returns the thread of a session, with the conversation's number of the session.
    pub(super) fn session(&self, key: SessionKey) -> Option<(ThreadNumber, SessionNumber)> {
        let number = *self.by_session.get(&key)?;
        Some((number, self.all.get(&number)?.session?.0))
    }

    pub(super) fn of_session(&self, key: SessionKey) -> Option<&HubThread> {
        self.all.get(self.by_session.get(&key)?)
    }

    /// Sets the attached session of a conversation. Returns the previous one.
    pub(super) fn attach(
        &mut self,
        number: ThreadNumber,
        session: Option<(SessionNumber, SessionKey)>,
    ) -> Option<SessionKey> {
        let before = core::mem::replace(&mut self.all.get_mut(&number)?.session, session);
        if let Some((_, key)) = before {
            self.by_session.remove(&key);
        }
        if let Some((_, key)) = session {
            self.by_session.insert(key, number);
        }
        before.map(|(_, key)| key)
    }

    /// Forgets the sessions of a closed connection.
    pub(super) fn detach_all(&mut self) {
        self.by_session.clear();
        self.all.values_mut().for_each(|thread| thread.session = None);
    }

    /// Sets the timer of a thread after its conversation has handled an input.
    ///
    /// A timer that fires early is harmless, and cheaper than a new timer for each piece of text.
    pub(super) fn set_timer(&mut self, number: ThreadNumber, now: Duration) {
        let Some(thread) = self.all.get_mut(&number) else { return };
        let next = thread.conversation.poll_timeout();
        let is_kept =
            thread.timer.is_some_and(|timer| timer > now && next.is_some_and(|next| timer <= next));
        if !is_kept && thread.timer != next {
            if let Some(timer) = thread.timer {
                self.timers.remove(&(timer, number));
            }
            self.timers.extend(next.map(|next| (next, number)));
            thread.timer = next;
        }
        let rests = !thread.conversation.is_running();
        if rests != thread.rests_since.is_some() {
            match thread.rests_since {
                Some(since) => self.resting.remove(&(since, number)),
                None => self.resting.insert((now, number)),
            };
            thread.rests_since = rests.then_some(now);
        }
    }

    /// Returns the threads with expired timers.
    pub(super) fn due(&self, now: Duration) -> Vec<ThreadNumber> {
        let due = self.timers.iter().take_while(|(timer, _)| *timer <= now);
        due.map(|(_, number)| *number).collect()
    }

    /// Returns the threads that were idle for too long.
    pub(super) fn idle(&self, now: Duration, limit: Duration) -> Vec<ThreadNumber> {
        let is_over = |since: Duration| since.saturating_add(limit) <= now;
        let idle = self.resting.iter().take_while(|(since, _)| is_over(*since));
        idle.map(|(_, number)| *number).collect()
    }

    pub(super) fn poll_timeout(&self, idle: Duration) -> Option<Duration> {
        let timer = self.timers.first().map(|(timer, _)| *timer);
        let idle = self.resting.first().map(|(since, _)| since.saturating_add(idle));
        timer.into_iter().chain(idle).min()
    }

    /// Records a failed connection attempt, for threads that are added before the next attempt.
    pub(super) fn lose(&mut self, trouble: &Trouble) {
        self.lost = Some(trouble.clone());
    }

    /// Records a connection attempt.
    pub(super) fn find_again(&mut self) {
        self.lost = None;
    }

    pub(super) fn lost(&self) -> Option<Trouble> {
        self.lost.clone()
    }
}
