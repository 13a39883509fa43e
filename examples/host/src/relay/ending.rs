//! The end of a session: signals to the agent, and deadlines.
//!
//! | event | effect |
//! |---|---|
//! | the editor closed its end | the agent's input is closed; SIGTERM after the grace, SIGKILL after [`KILL_AFTER`] |
//! | SIGTERM, SIGINT or SIGHUP | the agent gets the same signal; SIGKILL after [`KILL_AFTER`] |
//! | the agent exited | its output is forwarded to its end, for at least [`DRAIN`] |
//!
//! Signals go to the agent's whole process group, or job. The rest of the group gets SIGKILL at the
//! end of the session.

use crate::system::Signal;
use core::time::Duration;
use std::time::Instant;

/// Time for the agent to end after a signal.
pub(crate) const KILL_AFTER: Duration = Duration::from_secs(2);

/// Time to wait for a silent process that holds the agent's output, after the exit of the agent.
pub(crate) const DRAIN: Duration = Duration::from_millis(250);

/// Input of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The editor closed this program's input, or stopped reading its output.
    EditorClosed,
    /// This program got a signal.
    Signal(Signal),
    /// The agent exited, with this status.
    AgentExited(i32),
    /// The agent's output has ended and was forwarded.
    OutputEnded,
}

/// Output of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send a signal to the agent's process group.
    Signal(Signal),
    /// Kill the rest of the group and exit with this status.
    Finish(i32),
}

/// The end of a session as a state machine. Call [`handle`](Self::handle), then
/// [`poll`](Self::poll) until it returns `None`.
#[derive(Debug)]
pub(crate) struct Shutdown {
    grace: Duration,
    to_forward: Option<Signal>,
    next: Option<(Instant, Step)>,
    exited: Option<(Instant, i32)>,
    output_ended: bool,
    is_wanted: bool,
}

/// The next step against an agent that does not end.
#[derive(Clone, Copy, Debug)]
enum Step {
    Terminate,
    Kill,
    GiveUp,
}

impl Shutdown {
    /// `grace` is the time for the agent to end by itself, after the editor has gone.
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

    /// Returns the next action at this time.
    ///
    /// `holding`: bytes for the editor were read but not yet written. They delay the end, unless
    /// the end was requested by a signal or the editor has gone.
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

    /// Returns the time of the next [`poll`](Self::poll) without an event.
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

    /// Runs the machine along a time line, and polls it at its timeouts.
    fn run(events: &[(f64, Event)], holding: bool) -> Vec<(f64, Action)> {
        let start = Instant::now();
        let mut ending = Shutdown::new(GRACE);
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
    fn agent_that_ends_with_its_input_gets_no_signal() {
        let events =
            [(1.0, Event::EditorClosed), (4.5, Event::OutputEnded), (4.5, Event::AgentExited(3))];
        assert_eq!(run(&events, false), [(4.5, Action::Finish(3))]);
    }

    #[test]
    fn persistent_agent_is_terminated_then_killed_then_abandoned() {
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
    fn process_that_holds_the_output_delays_the_end_briefly() {
        assert_eq!(run(&[(1.0, Event::AgentExited(0))], false), [(1.25, Action::Finish(0))]);
    }

    #[test]
    fn slow_editor_gets_all_output() {
        let events = [(1.0, Event::AgentExited(0)), (2.1, Event::OutputEnded)];
        assert_eq!(run(&events, true), [(2.1, Action::Finish(0))]);
    }

    #[test]
    fn closed_editor_does_not_delay_the_end() {
        let events = [(1.0, Event::EditorClosed), (2.0, Event::AgentExited(0))];
        assert_eq!(run(&events, true), [(2.25, Action::Finish(0))]);
    }
}
