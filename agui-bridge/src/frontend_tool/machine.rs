//! The state machine of frontend calls.
use super::agent_calls::AgentCalls;
use super::calls::{CallState, Calls, Stage, Turn};
use super::report::Report;
use super::{
    Action, CallError, CallOwner, Completion, Expiry, FrontendCall, FrontendToolOptions, NewCall,
    Outcome, ToolMode, ToolResult, ToolSet, late_text, schema,
};
use acp_types::v1::tool_calls::ToolCallId as AgentId;
use agui_types::id::ToolCallId;
use agui_types::message::Message;
use agui_types::tool::Tool;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// The frontend calls of a thread: events for the page, answers for the agent.
///
/// Each call that [`handle_call`](Self::handle_call) accepts ends exactly once: by one
/// [`Action::Answer`], or by [`handle_withdrawn`](Self::handle_withdrawn). This holds for repeated,
/// lost, late and cancelled messages.
///
/// | event while the agent waits | answer |
/// |---|---|
/// | [`complete`](Self::complete) | `Result` |
/// | expiry of a parked call | `Pending` or `TimedOut`, by [`Expiry`] |
/// | [`handle_cancel`](Self::handle_cancel), [`handle_turn_end`](Self::handle_turn_end), a new turn | `Cancelled` |
///
/// See the [module documentation](super) for an example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrontendTools {
    options: FrontendToolOptions,
    calls: Calls,
    agent: AgentCalls,
    turn: Turn,
    run_is_open: bool,
    page_is_gone: bool,
    begun: u64,
    last_activity: Duration,
    last_keep_alive: Duration,
    actions: VecDeque<Action>,
}

impl FrontendTools {
    /// Creates a thread without calls.
    pub fn new(options: FrontendToolOptions) -> Self {
        Self {
            options,
            calls: Calls::default(),
            agent: AgentCalls::default(),
            turn: Turn::Over,
            run_is_open: false,
            page_is_gone: false,
            begun: 0,
            last_activity: Duration::ZERO,
            last_keep_alive: Duration::ZERO,
            actions: VecDeque::new(),
        }
    }

    /// Returns the tools of the run, for the binding to list. They change with each run; notify the
    /// agent (`notifications/tools/list_changed`), so that it lists them again.
    pub fn tools(&self) -> &ToolSet {
        self.agent.tools()
    }

    /// Begins a run with a prompt for the agent. Waiting calls of an earlier turn are cancelled.
    /// Calls made since the last run begin, unless cancelled.
    pub fn begin_turn(&mut self, tools: &[Tool], now: Duration) {
        self.handle_turn_end();
        self.turn = Turn::Open;
        self.begin_run(tools, now);
    }

    /// Begins a run that continues the turn of the parked calls. Pass its input to
    /// [`handle_messages`](Self::handle_messages) next. Calls made since the last run begin.
    pub fn resume_turn(&mut self, tools: &[Tool], now: Duration) {
        self.begin_run(tools, now);
    }

    /// Handles the agent's request for a tool. Returns the id of the call.
    ///
    /// A call between two runs of a turn is accepted as well; the page sees it when the next run
    /// begins.
    ///
    /// # Errors
    /// The call is not accepted. The binding answers the agent with the error, and no action
    /// follows.
    pub fn handle_call(&mut self, call: NewCall, now: Duration) -> Result<ToolCallId, CallError> {
        let (name, mode) = self.check(&call)?;
        self.calls.make_room(self.options.max_calls)?;
        let agent_id = call.agent_id.or_else(|| self.agent.announced_for(&name, &call.arguments));
        self.begun += 1;
        // A call that is in the stream as the agent's own has its id there.
        let unused_id = agent_id.as_ref().filter(|id| !self.agent.is_shown(id));
        let call_id = self.calls.new_id(unused_id, self.begun);
        self.agent.handle_call(agent_id, call_id.clone(), &name, &call.arguments);
        let arguments = call.arguments;
        let begin = FrontendCall { call_id: call_id.clone(), name: name.clone(), arguments, mode };
        let waiting_to_begin = if self.run_is_open {
            self.actions.push_back(Action::Begin(begin));
            None
        } else {
            Some(begin)
        };
        let (stage, answer) = self.first_stage(mode, now);
        if !self.is_waiting() {
            self.last_keep_alive = now;
        }
        let number = self.begun;
        let call = CallState { number, name, stream_id: None, stage, waiting_to_begin };
        self.calls.insert(call_id.clone(), call);
        if let Some(outcome) = answer {
            self.actions.push_back(Action::Answer { call_id: call_id.clone(), outcome });
        }
        self.last_activity = now;
        Ok(call_id)
    }

    /// Sets the id of a begun call in the stream. It differs from the call's own id if the thread
    /// has used that. Results are matched by the stream's id from then on.
    pub fn handle_begun(&mut self, call_id: &ToolCallId, stream_id: ToolCallId) {
        if let Some(call) = self.calls.get_mut(call_id) {
            call.stream_id = Some(stream_id).filter(|id| id != call_id);
        }
    }

    /// Handles the tool messages of a run's input, and returns the effect of each.
    pub fn handle_messages(
        &mut self,
        messages: &[Message],
        now: Duration,
    ) -> Vec<(ToolCallId, Completion)> {
        let mut done = Vec::new();
        for message in messages {
            if let Message::Tool(message) = message {
                let id = message.tool_call_id.clone();
                let completion = self.complete(&id, ToolResult::from(message), now);
                done.push((id, completion));
            }
        }
        done
    }

    /// Handles the result of the call with this id in the stream, from any channel.
    pub fn complete(
        &mut self,
        call_id: &ToolCallId,
        result: ToolResult,
        now: Duration,
    ) -> Completion {
        let Some(call_id) = self.calls.find(call_id) else { return Completion::Unknown };
        let Some(call) = self.calls.get_mut(&call_id) else { return Completion::Unknown };
        let stage = core::mem::replace(&mut call.stage, Stage::Done);
        let shown = call.stream_id.as_ref().unwrap_or(&call_id);
        let action = match stage {
            Stage::Done => return Completion::AlreadyDone,
            Stage::Open => {
                let text = late_text(&call.name, shown, &result);
                Action::PrefixPrompt { call_id, text }
            }
            Stage::Sync { .. } | Stage::Parked { .. } => {
                Action::Answer { call_id, outcome: Outcome::Result(result) }
            }
        };
        self.last_activity = now;
        self.actions.push_back(action);
        Completion::Delivered
    }

    /// Returns whether the result of the call with this id in the stream would be
    /// [delivered](Completion::Delivered).
    pub fn awaits(&self, call_id: &ToolCallId) -> bool {
        let call = self.calls.find(call_id).and_then(|id| self.calls.get(&id));
        call.is_some_and(|call| call.stage != Stage::Done)
    }

    /// Handles the end of the page's stream before the end of its run: synchronous calls are
    /// parked. The next run has a page again.
    pub fn handle_disconnect(&mut self, now: Duration) {
        self.page_is_gone = true;
        for call_id in self.calls.in_stage(|stage| matches!(stage, Stage::Sync { .. })) {
            self.park(&call_id, now);
        }
    }

    /// Handles the withdrawal of a call: the agent cancelled its request, or the connection closed.
    /// No answer follows. A later result becomes an [`Action::PrefixPrompt`].
    pub fn handle_withdrawn(&mut self, call_id: &ToolCallId) {
        let waits = self.calls.get_mut(call_id).filter(|call| call.stage.waits());
        if let Some(call) = waits {
            call.stage = Stage::Open;
        }
    }

    /// Handles the cancellation of the turn: waiting calls are cancelled, and no call is accepted
    /// until the turn ends.
    pub fn handle_cancel(&mut self) {
        if self.turn == Turn::Open {
            self.turn = Turn::Cancelled;
        }
        self.cancel_waiting();
    }

    /// Handles the end of the turn and its run: calls that still wait (the agent has abandoned
    /// their requests) are cancelled.
    pub fn handle_turn_end(&mut self) {
        self.cancel_waiting();
        self.turn = Turn::Over;
        self.run_is_open = false;
        self.agent.handle_turn_end(&mut self.actions);
    }

    /// Handles the passage of time. Poll the actions afterwards.
    pub fn handle_timeout(&mut self, now: Duration) {
        let is_due = |stage: Stage| stage.until().is_some_and(|until| until <= now);
        for call_id in self.calls.in_stage(is_due) {
            match self.calls.get(&call_id).map(|call| call.stage) {
                Some(Stage::Sync { until }) => self.park(&call_id, until.max(now)),
                _ => self.expire(&call_id),
            }
        }
        if self.quiet_at().is_some_and(|at| at <= now) {
            self.run_is_open = false;
            let parked = self.calls.in_stage(Stage::is_parked);
            self.actions.push_back(Action::EndRun { parked });
        }
        if self.keep_alive_at().is_some_and(|at| at <= now) {
            self.last_keep_alive = now;
            for call_id in self.calls.in_stage(Stage::waits) {
                self.actions.push_back(Action::KeepAlive { call_id });
            }
        }
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) has to be called next.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let times = [self.calls.poll_timeout(), self.quiet_at(), self.keep_alive_at()];
        times.into_iter().flatten().min()
    }

    /// Returns the next action.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Handles a report of a tool call, and returns the owner of the call. `update` is the action
    /// that shows the report.
    pub(super) fn handle_report(
        &mut self,
        report: &Report<'_>,
        update: impl FnOnce() -> Action,
    ) -> CallOwner {
        self.agent.handle(report, update, &mut self.actions)
    }

    /// Handles a permission request about the call of a report.
    pub(super) fn handle_asked(&mut self, report: &Report<'_>) {
        self.agent.handle_asked(report, &mut self.actions);
    }

    /// Returns whether reports of a call are kept out of the stream.
    pub(super) fn is_hidden(&self, id: &AgentId) -> bool {
        self.agent.is_hidden(id)
    }

    /// Records activity of the agent that concerns no tool.
    pub(crate) fn note_activity(&mut self, now: Duration) {
        self.last_activity = now;
    }

    /// Returns whether a turn is open: the next input with results [resumes](Self::resume_turn) it.
    pub fn is_turn_open(&self) -> bool {
        self.turn != Turn::Over
    }

    /// Returns whether the agent waits for a call.
    pub fn is_waiting(&self) -> bool {
        self.calls.any(Stage::waits)
    }

    /// Sets the tools that the binding lists before the next run begins.
    pub(crate) fn set_tools(&mut self, tools: &[Tool]) {
        self.agent.set_tools(ToolSet::new(tools, &self.options));
    }

    fn begin_run(&mut self, tools: &[Tool], now: Duration) {
        self.set_tools(tools);
        self.run_is_open = true;
        self.page_is_gone = false;
        self.last_activity = now;
        self.actions.extend(self.calls.take_waiting_to_begin().map(Action::Begin));
    }

    fn check(&self, call: &NewCall) -> Result<(String, ToolMode), CallError> {
        match self.turn {
            Turn::Over => return Err(CallError::NoActiveRun),
            Turn::Cancelled => return Err(CallError::Cancelled),
            Turn::Open => {}
        }
        let tools = self.agent.tools();
        let name = tools.page_name(&call.tool).ok_or(CallError::UnknownTool)?;
        let mode = tools.mode(name).ok_or(CallError::UnknownTool)?;
        if call.arguments.as_str().len() > self.options.max_arguments {
            return Err(CallError::TooLarge);
        }
        if !call.arguments.as_str().trim_start().starts_with('{') {
            return Err(CallError::NotAnObject);
        }
        if self.options.check_arguments
            && let Some(schema) = tools.schema(name)
        {
            schema::check(schema, &call.arguments)
                .map_err(|(pointer, expected)| CallError::Invalid { pointer, expected })?;
        }
        if !self.run_is_open && self.calls.waiting_to_begin() >= self.options.max_parked {
            return Err(CallError::TooMany);
        }
        Ok((name.to_string(), mode))
    }

    fn first_stage(&self, mode: ToolMode, now: Duration) -> (Stage, Option<Outcome>) {
        match mode {
            ToolMode::Ack => (Stage::Open, Some(Outcome::Acked)),
            ToolMode::Sync if self.run_is_open && !self.page_is_gone => {
                (Stage::Sync { until: now.saturating_add(self.options.sync_wait) }, None)
            }
            ToolMode::Sync | ToolMode::Park if self.has_room_to_park() => (self.parked(now), None),
            _ => (Stage::Open, Some(Outcome::Pending)),
        }
    }

    fn has_room_to_park(&self) -> bool {
        self.calls.count(Stage::is_parked) < self.options.max_parked
    }

    fn parked(&self, now: Duration) -> Stage {
        Stage::Parked { until: now.saturating_add(self.options.park_wait) }
    }

    fn park(&mut self, call_id: &ToolCallId, now: Duration) {
        let parked = self.has_room_to_park().then(|| self.parked(now));
        match (parked, self.calls.get_mut(call_id)) {
            (Some(parked), Some(call)) => call.stage = parked,
            _ => self.answer(call_id, Stage::Open, Outcome::Pending),
        }
    }

    fn expire(&mut self, call_id: &ToolCallId) {
        let outcome = match self.options.expiry {
            Expiry::Pending => Outcome::Pending,
            Expiry::TimedOut => Outcome::TimedOut,
        };
        self.answer(call_id, Stage::Open, outcome);
    }

    fn cancel_waiting(&mut self) {
        for call_id in self.calls.in_stage(Stage::waits) {
            self.answer(&call_id, Stage::Done, Outcome::Cancelled);
        }
    }

    fn answer(&mut self, call_id: &ToolCallId, stage: Stage, outcome: Outcome) {
        if let Some(call) = self.calls.get_mut(call_id) {
            call.stage = stage;
            // A page does not run a call that the agent knows as cancelled.
            call.waiting_to_begin = call.waiting_to_begin.take().filter(|_| stage != Stage::Done);
            self.actions.push_back(Action::Answer { call_id: call_id.clone(), outcome });
        }
    }

    /// Returns when the run ends for its parked calls, if no other work remains.
    fn quiet_at(&self) -> Option<Duration> {
        if self.calls.is_empty() {
            return None;
        }
        let parked = self.calls.any(Stage::is_parked);
        let in_run = self.calls.any(|stage| matches!(stage, Stage::Sync { .. }));
        if !self.run_is_open || !parked || in_run || self.agent.runs() {
            return None;
        }
        let quiet =
            if self.agent.is_idle() { self.options.park_quiet } else { self.options.stalled_quiet };
        Some(self.last_activity.saturating_add(quiet))
    }

    fn keep_alive_at(&self) -> Option<Duration> {
        // One signal serves all calls, so the first one of a call is due at most one interval after
        // it began.
        self.is_waiting().then(|| self.last_keep_alive.saturating_add(self.options.keep_alive))
    }
}
