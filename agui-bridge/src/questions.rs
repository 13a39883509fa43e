//! Questions of the agent to the user. Each receives exactly one answer.
use crate::AnsweredBy;
use crate::elicitation::Elicitation;
use crate::frame::Frame;
use crate::json::Members;
use crate::limits::Limits;
use crate::options::Options;
use crate::outbox::Outbox;
use crate::permission::PermissionDecision;
use crate::terminal::Terminals;
use crate::timestamp::timestamp;
use crate::tool_call::ToolCalls;
use acp_types::v1::elicitation::ElicitationAction;
use agui_types::interrupt::Interrupt;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::RequestId;
use serde::{Deserialize, Serialize};

mod about;
mod response;
mod resume;
mod rules;
mod settlement;

pub(crate) use about::About;
pub use response::{Answer, Response};
pub(crate) use settlement::Settlement;

use about::note_denial;
use resume::ResumeAnswers;
use rules::{QuestionRoute, Rules};

/// The questions of a thread, by the number in their interrupt ids.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Questions {
    rules: Rules,
    open: BTreeMap<u64, Question>,
    /// Interrupted questions that were settled without the client, which does not know that.
    settled: BTreeMap<u64, AnsweredBy>,
    count: u64,
    /// The time at which the open run is interrupted.
    collecting: Option<Duration>,
    resumed: Option<ResumeAnswers>,
    /// Whether the user has cancelled a question of the turn.
    #[serde(default)]
    is_left: bool,
    responses: VecDeque<Response>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Question {
    request_id: RequestId,
    about: About,
    put: QuestionStage,
    expires: Option<Duration>,
}

/// Whether the client has a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum QuestionStage {
    /// To be sent in the next run.
    Later,
    /// Sent in the stream.
    InStream,
    /// The run is about to be interrupted for it.
    Soon,
    /// The run was interrupted for it.
    Interrupted,
}

/// The state of the agent's turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnState {
    /// Whether a run is open.
    pub(crate) has_run: bool,
    /// Whether the agent works for the open run or for one that follows.
    pub(crate) goes_on: bool,
    /// Whether the open run may end with an interrupt. While its session is being opened, the end
    /// would lose the prompt.
    pub(crate) can_interrupt: bool,
    /// Whether the turn is being cancelled.
    pub(crate) is_cancelling: bool,
}

/// The parts of a translator that questions concern.
#[derive(Debug)]
pub(crate) struct Desk<'a> {
    pub(crate) frame: Frame<'a>,
    pub(crate) out: &'a mut Outbox,
    pub(crate) calls: &'a mut ToolCalls,
    pub(crate) terminals: &'a Terminals,
    pub(crate) turn: TurnState,
}

impl Questions {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            rules: Rules::new(options),
            open: BTreeMap::new(),
            settled: BTreeMap::new(),
            count: 0,
            collecting: None,
            resumed: None,
            is_left: false,
            responses: VecDeque::new(),
        }
    }

    /// Returns whether the user has cancelled a question of the turn, which ends.
    pub(crate) fn take_left(&mut self) -> bool {
        core::mem::take(&mut self.is_left)
    }

    /// Handles a question: the program or a policy answers it, or it is sent to the user, now or in
    /// the next run.
    pub(crate) fn ask(
        &mut self,
        desk: &mut Desk<'_>,
        request_id: RequestId,
        about: About,
        decision: Option<PermissionDecision>,
    ) {
        if desk.turn.is_cancelling {
            let settlement = about.cancelled();
            return self.settle(desk, request_id, &about, &settlement, AnsweredBy::End);
        }
        let is_asked = decision == Some(PermissionDecision::Ask);
        let settled = match decision {
            Some(PermissionDecision::Answer(answer)) => {
                Some((Settlement::Permission(answer), AnsweredBy::Rule))
            }
            Some(PermissionDecision::Ask) => None,
            None => self.rules.policy(&about).map(|settlement| (settlement, AnsweredBy::Policy)),
        };
        let turn = desk.turn;
        let can_ask = |way: &QuestionRoute| {
            turn.goes_on && (turn.can_interrupt || *way == QuestionRoute::InStream)
        };
        let way = self.rules.way(&desk.frame, &about, is_asked);
        let way = way.filter(|_| settled.is_none()).filter(can_ask);
        match way {
            Some(way) => self.put(desk, request_id, about, way),
            None => {
                let settled = settled.filter(|_| desk.turn.goes_on);
                let (settlement, by) =
                    settled.unwrap_or_else(|| (about.refused(), AnsweredBy::Unasked));
                self.settle(desk, request_id, &about, &settlement, by);
            }
        }
    }

    /// Answers a question outside of the runs' input.
    pub(crate) fn answer(&mut self, desk: &mut Desk<'_>, number: u64, settlement: &Settlement) {
        let was_interrupted =
            self.open.get(&number).is_some_and(|it| it.put == QuestionStage::Interrupted);
        self.resolve(desk, number, settlement, AnsweredBy::User);
        if was_interrupted {
            self.note_settled(number, AnsweredBy::User, desk.frame.limits.permissions);
        }
    }

    /// Accepts the elicitation of a URL that the user has visited.
    pub(crate) fn complete(
        &mut self,
        desk: &mut Desk<'_>,
        is_page: impl Fn(&Elicitation) -> bool,
        accept: ElicitationAction,
    ) {
        let is_it = |about: &About| matches!(about, About::Elicitation(elicitation) if is_page(elicitation));
        let question = self.open.iter().find(|(_, question)| is_it(&question.about));
        if let Some((&number, _)) = question {
            self.answer(desk, number, &Settlement::Elicitation(accept));
        }
    }

    /// Cancels a question that the agent has withdrawn.
    pub(crate) fn withdraw(&mut self, desk: &mut Desk<'_>, request_id: &RequestId) {
        let mut open = self.open.iter();
        if let Some((&number, question)) =
            open.find(|(_, question)| question.request_id == *request_id)
        {
            let settlement = question.about.cancelled();
            self.resolve(desk, number, &settlement, AnsweredBy::Agent);
        }
    }

    /// Cancels all open questions.
    pub(crate) fn cancel_all(&mut self, desk: &mut Desk<'_>) {
        while let Some((&number, question)) = self.open.first_key_value() {
            let settlement = question.about.cancelled();
            self.resolve(desk, number, &settlement, AnsweredBy::End);
        }
        self.collecting = None;
    }

    /// Cancels all open questions, since the user goes on without answering them. The stream shows
    /// each with its answer; the client already has those of an interrupt.
    pub(crate) fn leave_all(&mut self, desk: &mut Desk<'_>) {
        while let Some((&number, question)) = self.open.first_key_value() {
            let settlement = question.about.cancelled();
            match question.put {
                QuestionStage::Later => self.show_later(desk, number, QuestionRoute::InStream),
                _ => self.set_in_stream(number),
            }
            self.resolve(desk, number, &settlement, AnsweredBy::User);
        }
        self.collecting = None;
    }

    /// Refuses the questions that were not answered in time.
    pub(crate) fn expire(&mut self, desk: &mut Desk<'_>, now: Duration) {
        let is_due = |question: &Question| question.expires.is_some_and(|expires| expires <= now);
        let due = self.open.iter().filter(|(_, question)| is_due(question));
        let due: Vec<_> =
            due.map(|(number, question)| (*number, question.about.refused())).collect();
        for (number, settlement) in due {
            self.resolve(desk, number, &settlement, AnsweredBy::Time);
        }
    }

    /// Describes the call of a permission request that arrived while no run was open, since the
    /// stream has the call now.
    pub(crate) fn find_call(&mut self, request_id: &RequestId, calls: &ToolCalls, limits: &Limits) {
        let mut open = self.open.values_mut();
        let asked = open.find(|question| question.request_id == *request_id);
        if let Some(About::Permission(permission)) = asked.map(|question| &mut question.about) {
            permission.find_call(calls, limits);
        }
    }

    /// Sends the questions that arrived while no run was open.
    pub(crate) fn put_waiting(&mut self, desk: &mut Desk<'_>) {
        for number in self.numbers(QuestionStage::Later) {
            let Some(question) = self.open.get(&number) else { continue };
            let way = self
                .rules
                .way(&desk.frame, &question.about, true)
                .unwrap_or(QuestionRoute::InStream);
            self.show_later(desk, number, way);
        }
    }

    /// Schedules all questions without an interrupt for the next run.
    pub(crate) fn put_off(&mut self) {
        let open =
            self.open.values_mut().filter(|question| question.put != QuestionStage::Interrupted);
        open.for_each(|question| question.put = QuestionStage::Later);
        self.collecting = None;
    }

    /// Returns the interrupts of these questions, which count as sent from now on.
    pub(crate) fn interrupts(
        &mut self,
        frame: &Frame<'_>,
        calls: &ToolCalls,
        numbers: &[u64],
    ) -> Vec<Interrupt> {
        let mut interrupts = Vec::new();
        for number in numbers {
            let id = self.interrupt_id(*number);
            let Some(question) = self.open.get_mut(number) else { continue };
            let mut interrupt = match &question.about {
                About::Permission(permission) => permission.interrupt(id, frame.limits),
                About::Elicitation(elicitation) => elicitation.interrupt(id, calls, frame.limits),
            };
            let expires = question.expires.zip(self.rules.epoch);
            let expires = expires.and_then(|(expires, epoch)| epoch.checked_add(expires));
            interrupt.expires_at = expires.map(timestamp);
            question.put = QuestionStage::Interrupted;
            interrupts.push(interrupt);
        }
        interrupts
    }

    /// Returns the questions for which the open run is interrupted now.
    pub(crate) fn due(&self, now: Option<Duration>) -> Vec<u64> {
        let is_due = self.collecting.is_none_or(|due| now.is_some_and(|now| due <= now));
        if is_due { self.numbers(QuestionStage::Soon) } else { Vec::new() }
    }

    /// Returns the open questions for which the last run was interrupted.
    pub(crate) fn interrupted(&self) -> Vec<u64> {
        self.numbers(QuestionStage::Interrupted)
    }

    /// Returns whether a question waits for the next run.
    pub(crate) fn has_later(&self) -> bool {
        self.open.values().any(|question| question.put == QuestionStage::Later)
    }

    /// Returns whether an answer of the user is awaited.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns the time at which the next question expires or the run is interrupted.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        let expiry = self.open.values().filter_map(|question| question.expires).min();
        [self.collecting, expiry].into_iter().flatten().min()
    }

    pub(crate) fn forget_settled(&mut self) {
        self.settled.clear();
    }

    pub(crate) fn interrupt_id(&self, number: u64) -> String {
        format!("{}{number}", self.rules.prefix)
    }

    /// Returns the number of the question with an interrupt id, open or not.
    pub(crate) fn number(&self, interrupt_id: &str) -> Option<u64> {
        let number = interrupt_id.strip_prefix(&*self.rules.prefix)?.parse().ok()?;
        let is_asked = (1..=self.count).contains(&number);
        (is_asked && interrupt_id == self.interrupt_id(number)).then_some(number)
    }

    /// Returns the request of an open question.
    pub(crate) fn about(&self, number: u64) -> Option<&About> {
        self.open.get(&number).map(|question| &question.about)
    }

    pub(crate) fn poll_response(&mut self) -> Option<Response> {
        self.responses.pop_front()
    }

    fn put(
        &mut self,
        desk: &mut Desk<'_>,
        request_id: RequestId,
        about: About,
        way: QuestionRoute,
    ) {
        let limits = desk.frame.limits;
        let is_full = self.open.len() >= limits.permissions;
        if is_full || about.bytes() > limits.value {
            let settlement = about.refused();
            return self.settle(desk, request_id, &about, &settlement, AnsweredBy::Limit);
        }
        self.count += 1;
        let number = self.count;
        let expires = self.rules.answer.and_then(|time| desk.frame.after(time));
        self.open
            .insert(number, Question { request_id, about, put: QuestionStage::Later, expires });
        if desk.turn.has_run {
            self.show(desk, number, way);
        }
    }

    /// Sends a question that arrived while no run was open.
    fn show_later(&mut self, desk: &mut Desk<'_>, number: u64, way: QuestionRoute) {
        if let Some(call) = self.about(number).and_then(About::call) {
            desk.calls.end_if_known(&desk.frame, desk.out, desk.terminals, call);
        }
        self.show(desk, number, way);
    }

    /// Records that the stream shows the end of a question.
    fn set_in_stream(&mut self, number: u64) {
        if let Some(question) = self.open.get_mut(&number) {
            question.put = QuestionStage::InStream;
        }
    }

    fn show(&mut self, desk: &mut Desk<'_>, number: u64, way: QuestionRoute) {
        desk.out.close_texts();
        let id = self.interrupt_id(number);
        let Some(question) = self.open.get_mut(&number) else { return };
        if way == QuestionRoute::Interrupt {
            self.collecting = desk.frame.after(self.rules.collect);
            question.put = QuestionStage::Soon;
            return;
        }
        question.put = QuestionStage::InStream;
        let value = Members::new().with("interruptId", &id);
        let value = question.about.describe(value, desk.calls, desk.frame.limits);
        let name = match &question.about {
            About::Permission(_) => "acp.permission.requested",
            About::Elicitation(_) => "acp.elicitation.requested",
        };
        desk.out.custom(&desk.frame, name, value.into_raw());
    }

    /// Answers an open question.
    fn resolve(
        &mut self,
        desk: &mut Desk<'_>,
        number: u64,
        settlement: &Settlement,
        by: AnsweredBy,
    ) {
        let Some(question) = self.open.remove(&number) else { return };
        self.is_left |= by == AnsweredBy::User && settlement.is_cancelled();
        match question.put {
            QuestionStage::InStream => {
                let value = Members::new().with("interruptId", &self.interrupt_id(number));
                let name = match settlement {
                    Settlement::Permission(_) => "acp.permission.resolved",
                    Settlement::Elicitation(_) => "acp.elicitation.resolved",
                };
                desk.out.custom(&desk.frame, name, settlement.describe(value, by).into_raw());
            }
            QuestionStage::Interrupted if by != AnsweredBy::User => {
                self.note_settled(number, by, desk.frame.limits.permissions);
            }
            QuestionStage::Interrupted | QuestionStage::Later | QuestionStage::Soon => {}
        }
        note_denial(desk.calls, &question.about, settlement, by);
        let interrupt_id = Some(self.interrupt_id(number));
        self.respond(desk, question.request_id, &question.about, settlement, interrupt_id, by);
        if self.numbers(QuestionStage::Soon).is_empty() {
            self.collecting = None;
        }
    }

    /// Answers a request that was not sent to the user. The stream shows it if a run is open.
    fn settle(
        &mut self,
        desk: &mut Desk<'_>,
        request_id: RequestId,
        about: &About,
        settlement: &Settlement,
        by: AnsweredBy,
    ) {
        note_denial(desk.calls, about, settlement, by);
        if desk.turn.has_run {
            let (name, value) = match about {
                About::Permission(permission) => {
                    ("acp.permission", permission.describe(Members::new()))
                }
                About::Elicitation(elicitation) => {
                    ("acp.elicitation", Members::new().with("message", elicitation.message()))
                }
            };
            desk.out.custom(&desk.frame, name, settlement.describe(value, by).into_raw());
        }
        self.respond(desk, request_id, about, settlement, None, by);
    }

    fn respond(
        &mut self,
        desk: &Desk<'_>,
        request_id: RequestId,
        about: &About,
        settlement: &Settlement,
        interrupt_id: Option<String>,
        answered_by: AnsweredBy,
    ) {
        let request = about.describe(Members::new(), desk.calls, desk.frame.limits).into_raw();
        let result = settlement.to_answer();
        let call = about.call().cloned();
        let response = Response { request_id, result, request, call, interrupt_id, answered_by };
        self.responses.push_back(response);
    }

    fn note_settled(&mut self, number: u64, by: AnsweredBy, limit: usize) {
        self.settled.insert(number, by);
        while self.settled.len() > limit {
            self.settled.pop_first();
        }
    }

    fn numbers(&self, put: QuestionStage) -> Vec<u64> {
        let numbers = self.open.iter().filter(|(_, question)| question.put == put);
        numbers.map(|(number, _)| *number).collect()
    }
}
