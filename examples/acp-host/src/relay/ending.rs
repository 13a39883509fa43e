//! The end of a session, and the signals that the agent receives.
//!
//! | what happened | what follows |
//! |---|---|
//! | the editor closed its end | the agent's input is closed; after the grace SIGTERM, after [`KILL_AFTER`] SIGKILL |
//! | SIGTERM, SIGINT or SIGHUP | the agent gets the same; after [`KILL_AFTER`] SIGKILL |
//! | the agent exited | its output is passed on to its end, for [`DRAIN`] at least |
//!
//! Signals go to the agent's whole process group, or job. What is left of it when the session is over gets SIGKILL.

use crate::system::Signal;
use core::time::Duration;
use std::time::Instant;

/// Time for the agent to exit after a signal.
pub(crate) const KILL_AFTER: Duration = Duration::from_secs(2);

/// How long a silent process that holds the agent's output is waited for, once the agent itself has exited.
pub(crate) const DRAIN: Duration = Duration::from_millis(250);

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The editor closed our input, or takes no more of our output.
    EditorClosed,
    /// A signal asks this program to end.
    Signal(Signal),
    /// The agent exited, with this status.
    AgentExited(i32),
    /// The agent's output has ended and is passed on.
    OutputEnded,
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send a signal to the agent's process group.
    Signal(Signal),
    /// Kill what is left of the group and exit with this status.
    Finish(i32),
}

/// The end of a session, as a state machine: tell it what happened, ask it what to do.
#[derive(Debug)]
pub(crate) struct Ending {
    grace: Duration,
    to_forward: Option<Signal>,
    next: Option<(Instant, Step)>,
    exited: Option<(Instant, i32)>,
    output_ended: bool,
    is_wanted: bool,
}

/// What an agent that does not end has before it.
#[derive(Clone, Copy, Debug)]
enum Step {
    Terminate,
    Kill,
    GiveUp,
}

impl Ending {
    /// `grace`: how long the agent may take to end by itself, once the editor has gone.
    pub(crate) fn new(grace: Duration) -> Self {
        Self {
            grace,
            to_forward: None,
            next: None,
            exited: None,
            output_ended: false,
            is_wanted: false,
        }
    }

    pub(crate) fn handle(&mut self, event: Event, now: Instant) {
        match event {
            Event::EditorClosed => {
                if !self.is_wanted {
                    self.next = now.checked_add(self.grace).map(|at| (at, Step::Terminate));
                }
                self.is_wanted = true;
            }
            Event::Signal(signal) => {
                self.to_forward = Some(signal);
                self.next = Some((now + KILL_AFTER, Step::Kill));
                self.is_wanted = true;
            }
            Event::AgentExited(status) => self.exited = Some((now, status)),
            Event::OutputEnded => self.output_ended = true,
        }
    }

    /// Returns the next action that is due, if any.
    ///
    /// `holding`: bytes for the editor were read and are not yet written. They are waited for, unless a signal has arrived
    /// or the editor has gone.
    pub(crate) fn poll(&mut self, now: Instant, holding: bool) -> Option<Action> {
        if let Some((at, status)) = self.exited {
            let drained = now >= at + DRAIN && (self.is_wanted || !holding);
            return (self.output_ended || drained).then_some(Action::Finish(status));
        }
        if let Some(signal) = self.to_forward.take() {
            return Some(Action::Signal(signal));
        }
        let (at, step) = self.next?;
        if now < at {
            return None;
        }
        let (following, action) = match step {
            Step::Terminate => (Step::Kill, Action::Signal(Signal::Terminate)),
            Step::Kill => (Step::GiveUp, Action::Signal(Signal::Kill)),
            Step::GiveUp => (Step::GiveUp, Action::Finish(128 + Signal::Kill.number())),
        };
        self.next = Some((now + KILL_AFTER, following));
        Some(action)
    }

    /// Returns whether the editor or a signal ended the session.
    pub(crate) fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// When to ask again if nothing happens.
    pub(crate) fn poll_timeout(&self, now: Instant) -> Option<Instant> {
        match self.exited {
            Some((at, _)) => Some((at + DRAIN).max(now + DRAIN / 10)),
            None => self.next.map(|(at, _)| at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(5);

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    /// Runs the machine along a time line, asking whenever it wants to be asked.
    fn run(events: &[(f64, Event)], holding: bool) -> Vec<(f64, Action)> {
        let start = Instant::now();
        let mut ending = Ending::new(GRACE);
        let mut happened = Vec::new();
        let mut events = events.iter().peekable();
        let mut now = start;
        for _ in 0..100 {
            while let Some((_, event)) = events.next_if(|(at, _)| start + seconds(*at) <= now) {
                ending.handle(*event, now);
            }
            while let Some(action) = ending.poll(now, holding) {
                happened.push((now.duration_since(start).as_secs_f64(), action));
                if matches!(action, Action::Finish(_)) {
                    return happened;
                }
            }
            let next = events.peek().map(|(at, _)| start + seconds(*at));
            let Some(at) = next.into_iter().chain(ending.poll_timeout(now)).min() else { break };
            now = at;
        }
        happened
    }

    #[test]
    fn an_agent_that_ends_with_its_input_is_left_alone() {
        let events =
            [(1.0, Event::EditorClosed), (4.5, Event::OutputEnded), (4.5, Event::AgentExited(3))];
        assert_eq!(run(&events, false), [(4.5, Action::Finish(3))]);
    }

    #[test]
    fn an_agent_that_stays_is_told_then_killed_then_given_up() {
        let expected = [
            (6.0, Action::Signal(Signal::Terminate)),
            (8.0, Action::Signal(Signal::Kill)),
            (10.0, Action::Finish(137)),
        ];
        assert_eq!(run(&[(1.0, Event::EditorClosed)], false), expected);
    }

    #[test]
    fn signals_are_forwarded_at_once() {
        let events = [
            (1.0, Event::Signal(Signal::Interrupt)),
            (1.5, Event::Signal(Signal::Terminate)),
            (1.5, Event::EditorClosed),
        ];
        let expected = [
            (1.0, Action::Signal(Signal::Interrupt)),
            (1.5, Action::Signal(Signal::Terminate)),
            (3.5, Action::Signal(Signal::Kill)),
            (5.5, Action::Finish(137)),
        ];
        assert_eq!(run(&events, false), expected);
    }

    #[test]
    fn a_process_that_holds_the_output_is_waited_for_a_little() {
        assert_eq!(run(&[(1.0, Event::AgentExited(0))], false), [(1.25, Action::Finish(0))]);
    }

    #[test]
    fn a_slow_editor_gets_everything() {
        let events = [(1.0, Event::AgentExited(0)), (2.1, Event::OutputEnded)];
        assert_eq!(run(&events, true), [(2.1, Action::Finish(0))]);
    }

    #[test]
    fn an_editor_that_has_gone_is_not_waited_for() {
        let events = [(1.0, Event::EditorClosed), (2.0, Event::AgentExited(0))];
        assert_eq!(run(&events, true), [(2.25, Action::Finish(0))]);
    }
}
