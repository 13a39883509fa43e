//! The end of a session: signals to the agent, and deadlines.
//!
//! | event | effect |
//! |---|---|
//! | the editor closed the input, or stopped reading | the agent's input is closed; SIGTERM after the grace, SIGKILL after [`KILL_AFTER`] |
//! | SIGTERM, SIGINT or SIGHUP | the agent gets the same signal; SIGKILL after [`KILL_AFTER`] |
//! | the agent exited | its output is forwarded to its end, or until it is silent for [`DRAIN`], at most for the grace and [`KILL_AFTER`]; for [`DRAIN`] after a signal, or if the editor is gone. An editor that has not closed the input is waited for |
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
    /// The editor closed this program's input. It may still read.
    InputEnded,
    /// The editor stopped reading this program's output.
    EditorGone,
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
    /// The progress of the agent's output after its exit, and the time of its last change.
    silent: Option<(u64, Instant)>,
    /// The time at which the editor closed the input, or was gone.
    closed: Option<Instant>,
    output_ended: bool,
    is_wanted: bool,
    /// Whether the rest of the agent's output is not waited for.
    is_unread: bool,
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
            silent: None,
            closed: None,
            output_ended: false,
            is_wanted: false,
            is_unread: false,
        }
    }

    pub(crate) fn handle(&mut self, event: Event, now: Instant) {
        match event {
            Event::InputEnded | Event::EditorGone => {
                self.is_unread |= event == Event::EditorGone;
                self.closed.get_or_insert(now);
                if !self.is_wanted {
                    self.next = now.checked_add(self.grace).map(|at| (at, Step::Terminate));
                }
                self.is_wanted = true;
            }
            Event::Signal(signal) => {
                self.to_forward = Some(signal);
                self.next = Some((now + KILL_AFTER, Step::Kill));
                self.is_wanted = true;
                self.is_unread = true;
            }
            Event::AgentExited(status) => self.exited = Some((now, status)),
            Event::OutputEnded => self.output_ended = true,
        }
    }

    /// Returns the next action at this time.
    ///
    /// `progress` is the [number](super::pass::Progress::count) of reads and writes of the agent's
    /// output.
    pub(crate) fn poll(&mut self, now: Instant, progress: u64) -> Option<Action> {
        if let Some((at, status)) = self.exited {
            let (_, since) = *self.silent.insert(match self.silent {
                Some((earlier, since)) if earlier == progress => (earlier, since),
                _ => (progress, now),
            });
            let is_holding = progress % 2 == 1;
            let is_over = if self.is_unread {
                now >= at + DRAIN
            } else {
                let is_silent = now >= since + DRAIN && !is_holding;
                is_silent || self.latest_end(at, is_holding).is_some_and(|latest| now >= latest)
            };
            return (self.output_ended || is_over).then_some(Action::Finish(status));
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

    /// Returns the time at which an agent that exited at `exited` has no more output: other
    /// processes may go on writing, or the editor may not read. An editor that has not closed the
    /// input is waited for.
    fn latest_end(&self, exited: Instant, is_holding: bool) -> Option<Instant> {
        let since = match self.closed {
            Some(closed) => exited.max(closed),
            None if is_holding => return None,
            None => exited,
        };
        since.checked_add(self.grace.saturating_add(KILL_AFTER))
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

    /// Progress of an output with nothing to forward.
    const NOTHING: fn(f64) -> u64 = |_| 4;

    /// Progress of an output that the editor does not read.
    const HELD: fn(f64) -> u64 = |_| 5;

    /// Runs the machine along a time line, and polls it at its timeouts. `progress` is that of the
    /// output by the time.
    fn run(events: &[(f64, Event)], progress: fn(f64) -> u64) -> Vec<(f64, Action)> {
        let start = Instant::now();
        let mut ending = Shutdown::new(GRACE);
        let mut happened = Vec::new();
        let mut events = events.iter().peekable();
        let mut now = start;
        for _ in 0..1000 {
            while let Some((_, event)) = events.next_if(|(at, _)| start + seconds(*at) <= now) {
                ending.handle(*event, now);
            }
            let passed = now.duration_since(start).as_secs_f64();
            while let Some(action) = ending.poll(now, progress(passed)) {
                happened.push((passed, action));
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
            [(1.0, Event::InputEnded), (4.5, Event::OutputEnded), (4.5, Event::AgentExited(3))];
        assert_eq!(run(&events, NOTHING), [(4.5, Action::Finish(3))]);
    }

    #[test]
    fn persistent_agent_is_terminated_then_killed_then_abandoned() {
        let expected = [
            (6.0, Action::Signal(Signal::Terminate)),
            (8.0, Action::Signal(Signal::Kill)),
            (10.0, Action::Finish(137)),
        ];
        assert_eq!(run(&[(1.0, Event::InputEnded)], NOTHING), expected);
    }

    #[test]
    fn signals_are_forwarded_at_once() {
        let events = [
            (1.0, Event::Signal(Signal::Interrupt)),
            (1.5, Event::Signal(Signal::Terminate)),
            (1.5, Event::InputEnded),
        ];
        let expected = [
            (1.0, Action::Signal(Signal::Interrupt)),
            (1.5, Action::Signal(Signal::Terminate)),
            (3.5, Action::Signal(Signal::Kill)),
            (5.5, Action::Finish(137)),
        ];
        assert_eq!(run(&events, NOTHING), expected);
    }

    #[test]
    fn process_that_holds_the_output_delays_the_end_briefly() {
        assert_eq!(run(&[(1.0, Event::AgentExited(0))], NOTHING), [(1.25, Action::Finish(0))]);
    }

    #[test]
    fn slow_editor_gets_all_output() {
        let events = [(1.0, Event::AgentExited(0)), (2.1, Event::OutputEnded)];
        assert_eq!(run(&events, HELD), [(2.1, Action::Finish(0))]);
    }

    #[test]
    fn editor_that_closed_the_input_gets_all_output() {
        let events =
            [(1.0, Event::InputEnded), (2.0, Event::AgentExited(0)), (4.0, Event::OutputEnded)];
        assert_eq!(run(&events, HELD), [(4.0, Action::Finish(0))]);
    }

    #[test]
    fn output_that_goes_on_is_forwarded() {
        let until_three = |passed: f64| if passed < 3.0 { (passed * 20.0) as u64 * 2 } else { 120 };
        let finished = run(&[(1.0, Event::AgentExited(0))], until_three);
        let [(at, Action::Finish(0))] = finished[..] else { panic!("{finished:?}") };
        assert!((3.2..3.4).contains(&at), "{at}");
    }

    #[test]
    fn process_that_goes_on_writing_delays_the_end_for_a_while() {
        let endless = |passed: f64| (passed * 20.0) as u64 * 2;
        let finished = run(&[(1.0, Event::AgentExited(0))], endless);
        let [(at, Action::Finish(0))] = finished[..] else { panic!("{finished:?}") };
        assert!((8.0..8.1).contains(&at), "{at}");
    }

    #[test]
    fn editor_that_closed_the_input_and_does_not_read_is_left() {
        let events = [(1.0, Event::InputEnded), (2.0, Event::AgentExited(0))];
        let finished = run(&events, HELD);
        let [(at, Action::Finish(0))] = finished[..] else { panic!("{finished:?}") };
        assert!((9.0..9.1).contains(&at), "{at}");
    }

    #[test]
    fn editor_that_does_not_read_does_not_delay_the_end() {
        for gone in [Event::EditorGone, Event::Signal(Signal::Terminate)] {
            let events = [(1.0, gone), (2.0, Event::AgentExited(0))];
            let finished = run(&events, HELD);
            assert_eq!(finished.last(), Some(&(2.25, Action::Finish(0))), "{gone:?}");
        }
    }
}
