//! The beginning of runs: wait for the agent, continue its session, plan the turn.
use super::active::{ActiveRun, PlannedTurn, Stage};
use super::branches::Branch;
use super::output::{Notice, RunEvent, RunOutput, SessionNumber, SessionOrigin};
use super::remembered::RememberedSession;
use super::runs::{Acceptance, Novelty, PendingRun, RunRefused, RunRequest};
use super::session::{AgentState, ConversationSession};
use super::{Admission, Conversation, ConversationDiagnostic, Trouble};
use crate::CancelReason;
use crate::input::{Divergence, InputError, Instruction, Plan, Rules, SessionScope, SessionStep};
use crate::{Failure, Times, TurnStart};
use acp_types::client::OpenedSession;
use acp_types::v1::initialization::PromptCapabilities;
use agui_types::id::{MessageId, RunId};
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::Meta;
use serde::{Deserialize, Serialize};

/// A run that waits for the agent or for its session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StartingRun {
    pub(super) run: PendingRun,
    /// The session being opened; `None` while the agent is not connected, and when the session is
    /// open.
    pub(super) loading: Option<UnclaimedSession>,
    /// The replay of the open session, which may go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) replay: Option<OpenReplay>,
}

/// A replay that may go on after the response to `session/load`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenReplay {
    /// The end of its silence.
    pub(super) until: Duration,
    /// The end of the longest wait.
    latest: Duration,
}

impl StartingRun {
    fn new(run: PendingRun, loading: Option<UnclaimedSession>) -> Self {
        Self { run, loading, replay: None }
    }
}

/// A session that is being opened before a run needs it, or for one that was cancelled. The next
/// run takes it: an agent would repeat a conversation once for each request.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct UnclaimedSession {
    pub(super) number: SessionNumber,
    /// Whether the agent repeats the conversation (`session/load`).
    pub(super) has_replay: bool,
    /// Whether it is a new session (`session/new`), and not a continued one.
    #[serde(default)]
    pub(super) is_new: bool,
}

/// The plan of a run.
struct ChosenPlan<'a> {
    /// The input with the messages that the agent has after it.
    sent: &'a RunAgentInput,
    plan: Plan,
    branch: Option<Branch>,
}

impl Conversation {
    /// Handles the input of a run.
    ///
    /// | the thread | result |
    /// |---|---|
    /// | knows a run with this input, or with these answers | [`Acceptance::Again`] |
    /// | has no open run | [`Acceptance::Begun`]; [`Acceptance::Resumed`] if the input continues an interrupted turn |
    /// | … but the agent is not connected, or its session has to be continued first | [`Acceptance::Queued`] |
    /// | has an open run, and the input only [follows](crate::input::follows) | [`Acceptance::Again`], with the open run |
    /// | has an open run | depends on [`WhenBusy`](super::WhenBusy): [`Acceptance::Queued`] or an error |
    ///
    /// # Errors
    /// The run does not begin. The conversation is unchanged.
    pub fn handle_run(
        &mut self,
        run: impl Into<RunRequest>,
        now: Duration,
    ) -> Result<Acceptance, RunRefused> {
        self.begin_input(now);
        let mut request = run.into();
        let run = PendingRun { cancel: request.cancel.take(), request };
        match self.known.novelty(&run.request.input) {
            Novelty::New => {}
            Novelty::Same => return Ok(Acceptance::Again(run.run_id().clone())),
            Novelty::Other => return Err(RunRefused::OtherRun),
        }
        match &self.active {
            Some(active) if run.follows() => return Ok(Acceptance::Again(active.run_id.clone())),
            Some(_) => {
                self.translator.end_quiet_turn();
                self.flush();
            }
            None => {}
        }
        let accepted = if self.is_busy() { self.enqueue(run) } else { self.start(run) };
        self.advance();
        accepted
    }

    /// Cancels a run. Returns whether the run was waiting or open.
    ///
    /// A waiting run begins in its turn, and ends immediately. The agent has
    /// [`cancel_grace`](super::ConversationOptions::cancel_grace) to end the turn of an open run.
    pub fn handle_cancel(&mut self, run_id: &RunId, reason: CancelReason, now: Duration) -> bool {
        self.begin_input(now);
        let mut found = self.cancel_queued(run_id, reason);
        if self.starting.as_ref().is_some_and(|starting| starting.run.run_id() == run_id) {
            found = true;
            self.cancel_starting(reason);
        }
        if self.active.as_ref().is_some_and(|active| active.run_id == *run_id) {
            found = true;
            self.stop(reason);
        }
        self.advance();
        found
    }

    pub(super) fn is_busy(&self) -> bool {
        self.active.is_some() || self.starting.is_some()
    }

    /// Returns the session that is being opened without an open run.
    pub(super) fn opening(&self) -> Option<UnclaimedSession> {
        self.starting.as_ref().and_then(|starting| starting.loading).or(self.unclaimed)
    }

    /// Replaces the session that is being opened without an open run.
    pub(super) fn reopen_as(&mut self, number: SessionNumber) {
        let loading = self.starting.as_mut().and_then(|starting| starting.loading.as_mut());
        if let Some(opening) = loading.or(self.unclaimed.as_mut()) {
            opening.number = number;
        }
    }

    fn enqueue(&mut self, run: PendingRun) -> Result<Acceptance, RunRefused> {
        let is_ending = match (&self.active, &self.starting) {
            (Some(active), _) => active.is_cancelled,
            (None, Some(starting)) => starting.run.cancel.is_some(),
            (None, None) => false,
        };
        let input = run.request.input.clone();
        let cancel = run.cancel;
        let until = self.options.queue_wait.map(|wait| self.now.saturating_add(wait));
        match self.queue.push(run, until, is_ending) {
            Admission::Refused(_) => return Err(RunRefused::Busy),
            Admission::Waits => {}
            Admission::Supersedes(runs) => {
                for run in runs {
                    self.cancel_waiting(&run.request);
                    self.refuse(&run, RunRefused::Busy);
                }
                self.cancel_starting(CancelReason::NewerRun);
                self.stop(CancelReason::NewerRun);
            }
        }
        self.known.insert(&input);
        if let Some(reason) = cancel {
            self.cancel_queued(&input.run_id, reason);
        }
        Ok(Acceptance::Queued)
    }

    /// Cancels a run in the queue. Returns whether it is there.
    fn cancel_queued(&mut self, run_id: &RunId, reason: CancelReason) -> bool {
        let Some(run) = self.queue.iter_mut().find(|run| run.run_id() == run_id) else {
            return false;
        };
        run.cancel.get_or_insert(reason);
        let run = run.clone();
        self.cancel_waiting(&run.request);
        true
    }

    /// Refuses a waiting run.
    pub(super) fn refuse(&mut self, run: &PendingRun, why: RunRefused) {
        self.leave(run, RunOutput::Refused(why));
    }

    /// Reports that a waiting run does not begin.
    fn leave(&mut self, run: &PendingRun, output: RunOutput) {
        self.known.remove(run.run_id());
        self.events.push_back(RunEvent { run_id: run.run_id().clone(), output });
    }

    /// Begins waiting runs until one is open.
    pub(super) fn start_next(&mut self) {
        while !self.is_busy() {
            let Some(run) = self.queue.pop() else { return };
            self.start_waiting(run);
            self.flush();
        }
    }

    /// Begins a run that has waited.
    pub(super) fn start_waiting(&mut self, run: PendingRun) {
        let waited = run.clone();
        match self.start(run) {
            Ok(Acceptance::Again(run_id)) => self.leave(&waited, RunOutput::Again(run_id)),
            Ok(_) => {}
            Err(why) => self.refuse(&waited, why),
        }
    }

    /// Begins a run, or lets it wait for the agent and its session.
    fn start(&mut self, run: PendingRun) -> Result<Acceptance, RunRefused> {
        if run.follows() {
            return self.begin_following(run);
        }
        if run.cancel.is_some() {
            return self.begin(run);
        }
        let continued = match &self.agent {
            AgentState::Connecting => {
                self.known.insert(&run.request.input);
                self.starting = Some(StartingRun::new(run, None));
                return Ok(Acceptance::Queued);
            }
            AgentState::Connected(features)
                if self.session.is_none() && !self.translator.is_interrupted() =>
            {
                self.remembered.as_ref().and_then(|remembered| remembered.origin(features))
            }
            _ => None,
        };
        let unclaimed = self.unclaimed.take();
        if unclaimed.is_none() && continued.is_none() {
            return self.begin(run);
        }
        self.page.set_tools(run.request.input.tools.as_deref().unwrap_or_default());
        let loading = match (unclaimed, continued) {
            (None, Some(origin)) => {
                let has_replay = matches!(origin, SessionOrigin::Load(_));
                let number = self.open(origin, None, None, run.request.meta.clone());
                Some(UnclaimedSession { number, has_replay, is_new: false })
            }
            (unclaimed, _) => unclaimed,
        };
        self.known.insert(&run.request.input);
        self.starting = Some(StartingRun::new(run, loading));
        Ok(Acceptance::Queued)
    }

    /// Cancels the run that waits for the agent or for its session. It ends without them.
    pub(super) fn cancel_starting(&mut self, reason: CancelReason) {
        if let Some(mut starting) = self.starting.take() {
            self.unclaimed = starting.loading;
            starting.run.cancel.get_or_insert(reason);
            self.start_waiting(starting.run);
        }
    }

    /// Handles that the session was continued: the waiting run begins.
    pub(super) fn handle_continued(&mut self, number: SessionNumber, opened: &mut OpenedSession) {
        let opening = self.opening();
        let starting = self.starting.take();
        self.unclaimed = None;
        let has_replay = opening.is_some_and(|opening| opening.has_replay);
        let is_new = opening.is_some_and(|opening| opening.is_new);
        let session = ConversationSession::new(number, opened);
        let mut replay = core::mem::take(&mut opened.replay);
        let cursors = self.take_cursors(&mut replay);
        // Without a run, the replay goes on until the next one begins.
        let silence = self.options.translator.times.replay;
        let waits = starting.is_none() || !silence.is_zero();
        let continues = waits && has_replay;
        if !replay.is_empty() || continues {
            self.translator.begin_replay();
            self.translator.read_replay(replay.into_iter().map(|update| update.value));
        }
        if !continues {
            self.translator.end_replay();
        }
        if has_replay {
            self.translator.handle_loaded();
        }
        self.session = Some(ConversationSession { is_unused: is_new, ..session });
        self.show_commands(opened);
        self.restore_settings();
        if is_new {
            self.handle_attempt_opened();
        } else if let Some(remembered) = &self.remembered {
            self.memory.restore(remembered.memory());
        }
        self.memory.handle_replayed_cursors(opened.session_id.as_str(), &cursors);
        if let Some(StartingRun { run, .. }) = starting {
            if continues {
                let latest = self.now.saturating_add(Times::MAX_REPLAY);
                let replay = OpenReplay { until: self.now, latest };
                let starting = StartingRun::new(run, None);
                self.starting = Some(StartingRun { replay: Some(replay), ..starting });
                self.extend_replay();
            } else {
                self.start_waiting(run);
            }
        }
    }

    /// Handles an update of the session: a replay that a run waits for goes on.
    pub(super) fn extend_replay(&mut self) {
        let silence = self.options.translator.times.replay;
        let replay = self.starting.as_mut().and_then(|starting| starting.replay.as_mut());
        if let Some(replay) = replay {
            replay.until = self.now.saturating_add(silence).min(replay.latest);
        }
    }

    /// Begins the run that waits for the end of a replay, if that is silent. Returns whether it
    /// was.
    pub(super) fn end_replay(&mut self) -> bool {
        let until = self.replay_until();
        let starting = self.starting.take_if(|_| until.is_some_and(|until| until <= self.now));
        let is_silent = starting.is_some();
        if let Some(starting) = starting {
            self.start_waiting(starting.run);
        }
        is_silent
    }

    /// Returns the end of the silence that a run waits for.
    pub(super) fn replay_until(&self) -> Option<Duration> {
        Some(self.starting.as_ref()?.replay?.until)
    }

    /// Handles that the session was not continued: the waiting run gets a new one.
    pub(super) fn handle_not_continued(&mut self, trouble: &Trouble) {
        let is_new = self.opening().is_some_and(|opening| opening.is_new);
        let starting = self.starting.take();
        self.unclaimed = None;
        self.translator.cancel_questions();
        self.respond();
        self.attached = None;
        self.end_session();
        if is_new {
            self.fail_preparation(trouble);
        } else {
            self.forget_remembered();
            self.diagnose(ConversationDiagnostic::SessionLost(trouble.reason()));
        }
        if let Some(starting) = starting {
            self.start_waiting(starting.run);
        }
    }

    /// Begins a run with the open session, or with a new one.
    fn begin(&mut self, run: PendingRun) -> Result<Acceptance, RunRefused> {
        let PendingRun { request, cancel } = run;
        let whole = request.whole();
        if !self.has_conversation() {
            self.memory.forget_session();
        }
        let RunRequest { input, meta, .. } = &request;
        let answers = input.resume.as_deref().unwrap_or_default();
        if let Some(run_id) = self.translator.resumed_by(answers) {
            return Ok(Acceptance::Again(run_id.clone()));
        }
        self.translator.end_replay();
        let ChosenPlan { sent, mut plan, branch } = self.choose_plan(&request, &whole)?;
        if plan.diverged.is_some() && !answers.is_empty() {
            // Answers continue the turn with the agent's conversation.
            plan.prompt = None;
        }
        self.plan_replay(&whole, &plan);
        let blocks = plan.prompt.as_ref().map_or(&[][..], |prompt| &prompt.blocks);
        let begun = self.translator.begin_run(&whole, blocks).map_err(|_| RunRefused::Busy)?;
        self.known.insert(input);
        self.has_run = true;
        self.is_refused = begun == TurnStart::Ended;
        // The agent does not receive the prompt of a run that was cancelled before it began.
        let is_unsent = cancel.is_some() && begun == TurnStart::Prompt;
        let mut source = None;
        if !is_unsent && (!self.is_refused || plan.prompt.is_none()) {
            self.begin_branch(&request, branch.is_some());
            if let Some(branch) = branch {
                self.memory = branch.memory;
                source = Some(branch.source);
            }
            self.memory.accept(sent, &plan);
            self.keep_cancelled();
        } else if cancel.is_some() {
            self.cancel_waiting(&request);
        }
        for pointer in &plan.forwarded.left_out {
            let left_out = ConversationDiagnostic::PropertyLeftOut(pointer.clone());
            self.notices.push_back(Notice::Diagnostic(left_out));
        }
        let turn = PlannedTurn::of(plan, source);
        self.active = Some(ActiveRun::new(input.run_id.clone(), meta.clone()));
        if !self.is_refused {
            self.page.set_tools(input.tools.as_deref().unwrap_or_default());
        }
        match (begun, &turn) {
            (TurnStart::Prompt, Some(_)) => self.page.begin_turn(self.now),
            (TurnStart::Prompt | TurnStart::Ended, _) => {}
            _ => self.page.resume_turn(self.now),
        }
        self.page.machine.handle_messages(&input.messages, self.now);
        match (begun, turn, cancel) {
            (TurnStart::Prompt, _, Some(reason)) => {
                self.translator.handle_cancel(reason);
                self.translator.handle_stopped();
            }
            (TurnStart::Prompt, Some(turn), None) => self.begin_turn(turn),
            (TurnStart::Prompt, None, None) => self.translator.handle_no_work(),
            (TurnStart::Wait { cancel }, Some(turn), _) => {
                let until = cancel.then(|| self.now.saturating_add(self.options.cancel_grace));
                if cancel {
                    self.page.machine.handle_cancel();
                    self.cancel_turn();
                }
                self.set_stage(Stage::Waiting { turn, until });
            }
            // The run continues the previous turn, or has ended.
            _ => {}
        }
        if let Some(reason) = cancel {
            self.stop(reason);
        }
        Ok(if begun == TurnStart::Resumed { Acceptance::Resumed } else { Acceptance::Begun })
    }

    /// Returns whether the agent has messages of the thread in the open session.
    pub(super) fn has_conversation(&self) -> bool {
        self.session.as_ref().is_some_and(|session| !session.is_unused)
    }

    /// Plans a run: of its input, of the whole conversation, or of a branch.
    fn choose_plan<'a>(
        &self,
        request: &'a RunRequest,
        whole: &'a RunAgentInput,
    ) -> Result<ChosenPlan<'a>, InputError> {
        if self.has_conversation() {
            let own = self.plan(&request.input);
            return match self.plan_of_history(request, whole, &own) {
                Some(plan) => Ok(ChosenPlan { sent: whole, plan, branch: None }),
                None => Ok(ChosenPlan { sent: &request.input, plan: own?, branch: None }),
            };
        }
        match self.plan_branch(request, whole) {
            Some((plan, branch)) => Ok(ChosenPlan { sent: whole, plan, branch: Some(branch) }),
            None => Ok(ChosenPlan { sent: whole, plan: self.plan(whole)?, branch: None }),
        }
    }

    fn plan(&self, input: &RunAgentInput) -> Result<Plan, InputError> {
        let rules = self.rules();
        let capabilities = self.prompt_capabilities();
        let page = &self.page.machine;
        self.memory.plan(input, &rules, &capabilities, |call| page.awaits(call))
    }

    /// Returns the plan of the whole conversation, if that continues the one of the open session
    /// and the `own` plan of the input does not: the input repeats a message that the agent has, or
    /// lacks one that the agent is to receive, because its run was refused, or a process ended
    /// while it waited.
    fn plan_of_history(
        &self,
        request: &RunRequest,
        whole: &RunAgentInput,
        own: &Result<Plan, InputError>,
    ) -> Option<Plan> {
        if request.history.is_empty() {
            return None;
        }
        let continues = |plan: &Plan| plan.diverged.is_none() && plan.session == SessionStep::Keep;
        let own = own.as_ref().ok().filter(|plan| continues(plan));
        // The whole conversation may be large.
        if own.is_some() && !self.memory.lacks_any_of(&request.history, &request.input.messages) {
            return None;
        }
        let plan = self.plan(whole).ok().filter(continues)?;
        let has_more = own.is_none_or(|own| {
            let own = &own.instruction;
            own.is_part_of(&plan.instruction) && !plan.instruction.is_part_of(own)
        });
        has_more.then_some(plan)
    }

    /// Prepares the replay of a loaded session for the run of an input.
    fn plan_replay(&mut self, whole: &RunAgentInput, plan: &Plan) {
        if plan.session != SessionStep::Keep {
            // The conversation goes on in a session without a replay, or in one that is still to be
            // loaded.
            self.translator.drop_replay();
            if plan.session == SessionStep::Attach {
                self.translator.expect_named(whole.messages.clone());
            }
            return;
        }
        let messages = self.memory.without_cancelled(whole);
        // The agent also has a message of the prompt that is sent again.
        let is_new = |id: &MessageId| plan.instruction.has(id) && !self.memory.has(id);
        let earlier = messages.iter().filter(|message| !message.id().is_some_and(|id| is_new(&id)));
        self.translator.expect_replay(self.memory.with_completed(earlier));
        let memory = &self.memory;
        // The agent also repeats a message that the user sends again, and what an edit has removed.
        let has_prompt = plan.prompt.is_some() && !memory.has_any_of(&plan.instruction);
        let is_new = has_prompt && plan.diverged.is_none();
        let is_shown = |messages: &[Message]| is_new && memory.is_contained(messages.iter());
        self.translator.show_replay_if(whole, is_shown);
    }

    /// Returns the rules, restricted to the features of the agent.
    pub(super) fn rules(&self) -> Rules {
        let mut rules = self.options.rules.clone();
        if let AgentState::Connected(features) = &self.agent {
            rules.cursors &= features.fork;
            if !features.fork && rules.divergence == Divergence::Fork {
                rules.divergence = Divergence::NewSession;
            }
            rules.system_prompt &= features.system_prompt;
        }
        rules
    }

    /// Returns the content that the agent accepts in prompts. Without an agent any content is
    /// accepted, so that the run can begin and report the failure.
    pub(super) fn prompt_capabilities(&self) -> PromptCapabilities {
        if let AgentState::Connected(features) = &self.agent {
            return features.prompt.clone();
        }
        let mut any = PromptCapabilities::new();
        any.image = Some(true);
        any.audio = Some(true);
        any.embedded_context = Some(true);
        any
    }

    /// Keeps messages of cancelled runs in the queue from later prompts, though the agent has
    /// received an earlier text of one of them.
    fn keep_cancelled(&mut self) {
        let cancelled = self.queue.iter_mut().filter(|run| run.cancel.is_some());
        let cancelled: Vec<_> = cancelled.map(|run| run.request.clone()).collect();
        cancelled.iter().for_each(|request| self.cancel_waiting(request));
    }

    /// Handles that a run is cancelled before it works.
    fn cancel_waiting(&mut self, request: &RunRequest) {
        let rules = self.rules();
        let capabilities = self.prompt_capabilities();
        let mut memory = self.memory.clone();
        if self.session.is_none()
            && let Some(remembered) = &self.remembered
        {
            // The agent has the messages of the session that was to be continued.
            memory.restore(remembered.memory());
        }
        let whole = request.whole();
        let instruction = match memory.plan(&whole, &rules, &capabilities, |_| false) {
            Ok(plan) => plan.instruction,
            // A later process may accept the messages, without the session that they differ from.
            Err(_) => Instruction::of_last(&whole.messages),
        };
        self.handle_unsent(&instruction);
    }

    /// Handles that an instruction was cancelled before it was sent.
    pub(super) fn handle_unsent(&mut self, instruction: &Instruction) {
        self.memory.handle_cancelled(instruction);
        let earlier = match &self.remembered {
            Some(remembered) => Some(remembered.clone().with_cancelled(&self.memory)),
            None => RememberedSession::without_session(&self.memory),
        };
        self.store(earlier);
    }

    /// Stores the session and its state for a later process.
    pub(super) fn remember(&mut self) {
        let is_of_turn = self.options.rules.session == SessionScope::Turn;
        let remembered = match (&self.session, &self.remembered) {
            (Some(session), _) if !is_of_turn && !session.is_unused => {
                Some(RememberedSession::new(session.id.clone(), self.memory.clone()))
            }
            (None, Some(remembered)) => Some(remembered.clone().with_cancelled(&self.memory)),
            _ => RememberedSession::without_session(&self.memory),
        };
        self.store(remembered);
    }

    /// Handles that the stored session cannot be continued.
    pub(super) fn forget_remembered(&mut self) {
        if self.remembered.is_some() {
            self.store(RememberedSession::without_session(&self.memory));
        }
    }

    fn store(&mut self, remembered: Option<RememberedSession>) {
        let remembered = RememberedSession::with_settings(remembered, self.settings.chosen());
        if self.remembered == remembered {
            return;
        }
        self.notices.push_back(match &remembered {
            Some(remembered) => Notice::Remember(remembered.clone().into()),
            None => Notice::Forget,
        });
        self.remembered = remembered;
    }

    /// Returns the failure that prevents turns, if any.
    pub(super) fn agent_trouble(&self) -> Option<Trouble> {
        match &self.agent {
            AgentState::Connected(_) => None,
            AgentState::Connecting => Some(Trouble::Failed(
                Failure::AgentUnavailable,
                "The agent is not connected.".to_owned(),
            )),
            AgentState::Lost(trouble) => Some(trouble.clone()),
        }
    }
}

/// Returns members as `_meta` of a request, if any.
pub(super) fn meta_of(members: &jsonrpc_core::wire::Extra) -> Option<Meta> {
    (!members.is_empty()).then(|| Meta::from(crate::json::raw(members)))
}
