//! Runs that wait for the end of the one that is going on.
use super::{Reply, Rules, Run, StartError};
use crate::settings::WhenBusy;
use std::collections::VecDeque;
use tokio_util::sync::CancellationToken;

pub(crate) struct Queue {
    rules: Rules,
    waiting: VecDeque<(Box<Run>, Reply)>,
}

impl Queue {
    pub(crate) fn new(rules: Rules) -> Self {
        Self { rules, waiting: VecDeque::new() }
    }

    /// A run comes while there is one, which `going_on` stops.
    pub(crate) fn push(&mut self, run: Box<Run>, reply: Reply, going_on: &CancellationToken) {
        self.waiting.retain(|(_, reply)| !reply.is_closed());
        // One that is being stopped ends soon: the first behind it waits whatever the rule is.
        let may_wait = match self.rules.when_busy {
            WhenBusy::Reject => going_on.is_cancelled() && self.waiting.is_empty(),
            WhenBusy::Queue => self.waiting.len() < self.rules.queue,
            WhenBusy::Supersede => {
                going_on.cancel();
                for (_, reply) in self.waiting.drain(..) {
                    let _ = reply.send(Err(StartError::Busy));
                }
                true
            }
        };
        if may_wait {
            self.waiting.push_back((run, reply));
        } else {
            let _ = reply.send(Err(StartError::Busy));
        }
    }

    /// The next; whoever does not wait any more was told that the thread is busy.
    pub(crate) fn pop(&mut self) -> Option<(Box<Run>, Reply)> {
        std::iter::from_fn(|| self.waiting.pop_front()).find(|(_, reply)| !reply.is_closed())
    }
}
