//! Runs without a prompt, which show the turns that the agent begins itself.
use super::active::ActiveRun;
use super::output::Notice;
use super::runs::{Acceptance, PendingRun, RunRefused, RunRequest};
use super::{Conversation, TurnStart};

impl Conversation {
    /// Returns whether the agent has begun a turn without a prompt, of which a part waits for a
    /// run.
    pub fn has_activity(&self) -> bool {
        !self.is_running() && self.translator.has_activity()
    }

    /// Begins a run that shows what the agent does, without a prompt. It ends at once if the agent
    /// does nothing.
    pub(super) fn begin_following(&mut self, run: PendingRun) -> Result<Acceptance, RunRefused> {
        let PendingRun { request, cancel } = run;
        let begun = self.translator.begin_run(&request.whole(), &[]);
        let begun = begun.map_err(|_| RunRefused::Busy)?;
        let RunRequest { input, meta, .. } = request;
        self.known.insert(&input);
        self.has_run = true;
        self.is_refused = begun == TurnStart::Ended;
        self.active = Some(ActiveRun::new(input.run_id.clone(), meta));
        self.page.set_tools(input.tools.as_deref().unwrap_or_default());
        let joins = begun == TurnStart::Resumed;
        if joins {
            self.page.resume_turn(self.now);
        } else {
            self.translator.handle_no_work();
        }
        if let Some(reason) = cancel {
            self.stop(reason);
        }
        Ok(if joins { Acceptance::Resumed } else { Acceptance::Begun })
    }

    /// Returns whether the agent works on a turn: that of a prompt, or its own.
    pub(super) fn has_turn(&self) -> bool {
        let has_own = self.translator.has_own_turn();
        self.session.as_ref().is_some_and(|session| session.has_turn || has_own)
    }

    /// Announces what the agent does outside of runs, once until the next run.
    pub(super) fn announce(&mut self) {
        let is_active = self.has_activity();
        if is_active && !self.is_announced {
            self.notices.push_back(Notice::Activity);
        }
        self.is_announced = is_active;
    }
}
