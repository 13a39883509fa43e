//! Questions of the agent to the user: each gets one answer, whatever happens.
use crate::elicitation::{Elicitation, ElicitationMode};
use crate::frame::Frame;
use crate::json::Members;
use crate::options::Options;
use crate::outbox::Outbox;
use crate::permission::{Permission, PermissionMode};
use crate::terminal::Terminals;
use crate::timestamp::timestamp;
use crate::tool_call::{Denial, ToolCalls};
use acp_types::v1::elicitation::{CreateElicitationResponse, ElicitationAction};
use acp_types::v1::tool_calls::ToolCallId;
use agui_types::interrupt::Interrupt;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::RequestId;
use jsonrpc_core::wire::Extra;
use serde::{Deserialize, Serialize};

mod response;
mod resume;
mod settlement;

pub use response::{Answer, Response};
pub(crate) use settlement::{SettledBy, Settlement};

use resume::Resumed;

/// The questions of a thread, by the number in their interrupt ids.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Questions {
    rules: Rules,
    open: BTreeMap<u64, Question>,
    /// Questions of interrupts that were not settled by the client, which does not know that.
    settled: BTreeMap<u64, SettledBy>,
    asked: u64,
    /// When the open run is to be interrupted.
    collecting: Option<Duration>,
    resumed: Option<Resumed>,
    responses: VecDeque<Response>,
}

/// The options that questions depend on.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Rules {
    permission: PermissionMode,
    elicitation: ElicitationMode,
    legacy_interrupts: bool,
    /// The beginning of interrupt ids.
    prefix: String,
    collect: Duration,
    answer: Option<Duration>,
    epoch: Option<Duration>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Question {
    request_id: RequestId,
    about: About,
    put: Put,
    expires: Option<Duration>,
}

/// The request that a question stems from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum About {
    Permission(Permission),
    Elicitation(Box<Elicitation>),
}

/// Whether the client has a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Put {
    /// It is to be put in the next run.
    Later,
    /// The stream has it.
    InStream,
    /// The run is about to be interrupted for it.
    Soon,
    /// The run was interrupted for it.
    Interrupted,
}

/// The way in which a question is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    InStream,
    Interrupt,
}

/// The state of the agent's turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnState {
    /// Whether a run is open.
    pub(crate) has_run: bool,
    /// Whether the agent works for a run that is open or will follow.
    pub(crate) goes_on: bool,
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

impl About {
    /// The answer that neither agrees nor refuses.
    pub(crate) fn cancelled(&self) -> Settlement {
        match self {
            Self::Permission(_) => Settlement::cancelled_permission(),
            Self::Elicitation(_) => Settlement::cancelled_elicitation(),
        }
    }

    /// The answer that refuses, where the agent offers one.
    fn refused(&self) -> Settlement {
        match self {
            Self::Permission(permission) => Settlement::Permission(permission.refused()),
            Self::Elicitation(_) => self.cancelled(),
        }
    }

    fn call(&self) -> Option<&ToolCallId> {
        match self {
            Self::Permission(permission) => permission.call(),
            Self::Elicitation(elicitation) => elicitation.call(),
        }
    }
}

impl Questions {
    pub(crate) fn new(options: &Options) -> Self {
        let rules = Rules {
            permission: options.permission.clone(),
            elicitation: options.elicitation,
            legacy_interrupts: options.legacy_interrupts,
            prefix: options.interrupt_prefix.clone(),
            collect: options.times.collect,
            answer: options.times.answer,
            epoch: options.times.epoch,
        };
        Self {
            rules,
            open: BTreeMap::new(),
            settled: BTreeMap::new(),
            asked: 0,
            collecting: None,
            resumed: None,
            responses: VecDeque::new(),
        }
    }

    /// Takes a question: a policy answers it, or it is put to the user, now or in the next run.
    pub(crate) fn ask(&mut self, desk: &mut Desk<'_>, request_id: RequestId, about: About) {
        if desk.turn.is_cancelling {
            let settlement = about.cancelled();
            return self.settle(desk, request_id, &about, &settlement, SettledBy::End);
        }
        let policy = self.policy(desk, &about);
        let way = self.way(&desk.frame, &about).filter(|_| policy.is_none() && desk.turn.goes_on);
        match way {
            Some(way) => self.put(desk, request_id, about, way),
            None => {
                let policy = policy.filter(|_| desk.turn.goes_on);
                let settlement = policy.unwrap_or_else(|| about.refused());
                self.settle(desk, request_id, &about, &settlement, SettledBy::Policy);
            }
        }
    }

    /// Answers a question beside the runs' input.
    pub(crate) fn answer(&mut self, desk: &mut Desk<'_>, number: u64, settlement: &Settlement) {
        let was_interrupted = self.open.get(&number).is_some_and(|it| it.put == Put::Interrupted);
        self.resolve(desk, number, settlement, SettledBy::User);
        if was_interrupted {
            self.note_settled(number, SettledBy::User, desk.frame.limits.permissions);
        }
    }

    /// Accepts the elicitation of a page that the user has visited.
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

    /// Cancels the question that the agent has withdrawn, if it is open.
    pub(crate) fn withdraw(&mut self, desk: &mut Desk<'_>, request_id: &RequestId) {
        let mut open = self.open.iter();
        if let Some((&number, question)) =
            open.find(|(_, question)| question.request_id == *request_id)
        {
            let settlement = question.about.cancelled();
            self.resolve(desk, number, &settlement, SettledBy::Agent);
        }
    }

    /// Cancels all open questions.
    pub(crate) fn cancel_all(&mut self, desk: &mut Desk<'_>) {
        while let Some((&number, question)) = self.open.first_key_value() {
            let settlement = question.about.cancelled();
            self.resolve(desk, number, &settlement, SettledBy::End);
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
            self.resolve(desk, number, &settlement, SettledBy::Time);
        }
    }

    /// Puts the questions that came while no run was open.
    pub(crate) fn put_waiting(&mut self, desk: &mut Desk<'_>) {
        for number in self.numbers(Put::Later) {
            let Some(question) = self.open.get(&number) else { continue };
            let way = self.way(&desk.frame, &question.about).unwrap_or(Way::InStream);
            if let Some(call) = question.about.call() {
                desk.calls.end_if_known(&desk.frame, desk.out, desk.terminals, call);
            }
            self.show(desk, number, way);
        }
    }

    /// Has all questions that no interrupt has put be put again in the next run.
    pub(crate) fn put_off(&mut self) {
        let open = self.open.values_mut().filter(|question| question.put != Put::Interrupted);
        open.for_each(|question| question.put = Put::Later);
        self.collecting = None;
    }

    /// The interrupts of these questions, which count as put from now on.
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
                About::Permission(permission) => permission.interrupt(id, calls, frame.limits),
                About::Elicitation(elicitation) => elicitation.interrupt(id, calls, frame.limits),
            };
            let expires = question.expires.zip(self.rules.epoch);
            let expires = expires.and_then(|(expires, epoch)| epoch.checked_add(expires));
            interrupt.expires_at = expires.map(timestamp);
            question.put = Put::Interrupted;
            interrupts.push(interrupt);
        }
        interrupts
    }

    /// The questions for which the open run is to be interrupted now.
    pub(crate) fn due(&self, now: Option<Duration>) -> Vec<u64> {
        let is_due = self.collecting.is_none_or(|due| now.is_some_and(|now| due <= now));
        if is_due { self.numbers(Put::Soon) } else { Vec::new() }
    }

    /// The questions that the last run was interrupted for and that are open.
    pub(crate) fn interrupted(&self) -> Vec<u64> {
        self.numbers(Put::Interrupted)
    }

    /// Whether an answer of the user is awaited.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.open.is_empty()
    }

    /// The time at which the next question expires or the run is to be interrupted.
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

    /// The number of the question with an interrupt id, open or not.
    pub(crate) fn number(&self, interrupt_id: &str) -> Option<u64> {
        let number = interrupt_id.strip_prefix(&*self.rules.prefix)?.parse().ok()?;
        let is_asked = (1..=self.asked).contains(&number);
        (is_asked && interrupt_id == self.interrupt_id(number)).then_some(number)
    }

    /// The request behind an open question.
    pub(crate) fn about(&self, number: u64) -> Option<&About> {
        self.open.get(&number).map(|question| &question.about)
    }

    pub(crate) fn poll_response(&mut self) -> Option<Response> {
        self.responses.pop_front()
    }

    /// The answer of a policy, where that answers.
    fn policy(&self, desk: &Desk<'_>, about: &About) -> Option<Settlement> {
        match about {
            About::Permission(permission) => match &self.rules.permission {
                PermissionMode::Policy(policy) => {
                    Some(Settlement::Permission(permission.decide(policy, desk.calls)))
                }
                PermissionMode::InStream | PermissionMode::Interrupt => None,
            },
            About::Elicitation(elicitation) if !elicitation.is_known() => Some(about.cancelled()),
            About::Elicitation(_) => match self.rules.elicitation {
                ElicitationMode::Decline => {
                    Some(Settlement::Elicitation(ElicitationAction::Decline(Extra::new())))
                }
                ElicitationMode::Interrupt | ElicitationMode::InStream => None,
            },
        }
    }

    /// The way in which a question is put to the user, where the user answers.
    fn way(&self, frame: &Frame<'_>, about: &About) -> Option<Way> {
        let way = match about {
            About::Permission(_) => match &self.rules.permission {
                PermissionMode::Policy(_) => return None,
                PermissionMode::InStream => Way::InStream,
                PermissionMode::Interrupt => Way::Interrupt,
            },
            About::Elicitation(_) => match self.rules.elicitation {
                ElicitationMode::Decline => return None,
                ElicitationMode::InStream => Way::InStream,
                ElicitationMode::Interrupt => Way::Interrupt,
            },
        };
        let has_interrupts = frame.is_modern || self.rules.legacy_interrupts;
        Some(if has_interrupts { way } else { Way::InStream })
    }

    fn put(&mut self, desk: &mut Desk<'_>, request_id: RequestId, about: About, way: Way) {
        let limits = desk.frame.limits;
        let is_full = self.open.len() >= limits.permissions;
        let is_too_long =
            serde_json::to_vec(&about).is_ok_and(|question| question.len() > limits.value);
        if is_full || is_too_long {
            let settlement = about.refused();
            return self.settle(desk, request_id, &about, &settlement, SettledBy::Policy);
        }
        self.asked += 1;
        let number = self.asked;
        let expires = self.rules.answer.and_then(|time| desk.frame.after(time));
        self.open.insert(number, Question { request_id, about, put: Put::Later, expires });
        if desk.turn.has_run {
            self.show(desk, number, way);
        }
    }

    fn show(&mut self, desk: &mut Desk<'_>, number: u64, way: Way) {
        desk.out.close_texts();
        let id = self.interrupt_id(number);
        let Some(question) = self.open.get_mut(&number) else { return };
        if way == Way::Interrupt {
            self.collecting = desk.frame.after(self.rules.collect);
            question.put = Put::Soon;
            return;
        }
        question.put = Put::InStream;
        let value = Members::new().with("interruptId", &id);
        let (calls, limits) = (&*desk.calls, desk.frame.limits);
        let (name, value) = match &question.about {
            About::Permission(permission) => {
                ("acp.permission.requested", permission.describe_options(value, calls, limits))
            }
            About::Elicitation(elicitation) => {
                ("acp.elicitation.requested", elicitation.describe(value, calls, limits))
            }
        };
        desk.out.custom(&desk.frame, name, value.into_raw());
    }

    /// Answers an open question.
    fn resolve(
        &mut self,
        desk: &mut Desk<'_>,
        number: u64,
        settlement: &Settlement,
        by: SettledBy,
    ) {
        let Some(question) = self.open.remove(&number) else { return };
        match question.put {
            Put::InStream => {
                let value = Members::new().with("interruptId", &self.interrupt_id(number));
                let (name, value) = match settlement {
                    Settlement::Permission(answer) => {
                        ("acp.permission.resolved", answer.describe(value))
                    }
                    Settlement::Elicitation(action) => {
                        ("acp.elicitation.resolved", value.with("action", action.tag()))
                    }
                };
                desk.out.custom(&desk.frame, name, value.into_raw());
            }
            Put::Interrupted if by != SettledBy::User => {
                self.note_settled(number, by, desk.frame.limits.permissions);
            }
            Put::Interrupted | Put::Later | Put::Soon => {}
        }
        note_denial(desk.calls, &question.about, settlement, by);
        self.respond(question.request_id, settlement);
        if self.numbers(Put::Soon).is_empty() {
            self.collecting = None;
        }
    }

    /// Answers a request that was not put to the user; the stream shows it, where a run is open.
    fn settle(
        &mut self,
        desk: &mut Desk<'_>,
        request_id: RequestId,
        about: &About,
        settlement: &Settlement,
        by: SettledBy,
    ) {
        note_denial(desk.calls, about, settlement, by);
        let shown = match (about, settlement) {
            (About::Permission(permission), Settlement::Permission(answer)) => {
                let value = permission.describe(Members::new(), desk.calls);
                Some(("acp.permission", answer.describe(value)))
            }
            (About::Elicitation(elicitation), Settlement::Elicitation(action)) => {
                let value = Members::new().with("message", elicitation.message());
                Some(("acp.elicitation", value.with("action", action.tag())))
            }
            _ => None,
        };
        if let Some((name, value)) = shown.filter(|_| desk.turn.has_run) {
            desk.out.custom(&desk.frame, name, value.into_raw());
        }
        self.respond(request_id, settlement);
    }

    fn respond(&mut self, request_id: RequestId, settlement: &Settlement) {
        let result = match settlement {
            Settlement::Permission(answer) => Answer::Permission(answer.to_response()),
            Settlement::Elicitation(action) => {
                Answer::Elicitation(CreateElicitationResponse::new(action.clone()))
            }
        };
        self.responses.push_back(Response { request_id, result });
    }

    fn note_settled(&mut self, number: u64, by: SettledBy, limit: usize) {
        self.settled.insert(number, by);
        while self.settled.len() > limit {
            self.settled.pop_first();
        }
    }

    fn numbers(&self, put: Put) -> Vec<u64> {
        let numbers = self.open.iter().filter(|(_, question)| question.put == put);
        numbers.map(|(number, _)| *number).collect()
    }
}

/// Has the result of a call give the reason for which it was denied, unless the agent gives one.
fn note_denial(calls: &mut ToolCalls, about: &About, settlement: &Settlement, by: SettledBy) {
    let (About::Permission(permission), Settlement::Permission(answer)) = (about, settlement)
    else {
        return;
    };
    let Some(call) = permission.call() else { return };
    let denial = if answer.is_cancelled() {
        (by == SettledBy::User).then_some(Denial::Cancelled)
    } else {
        permission.denies(answer).then_some(match by {
            SettledBy::Time => Denial::Time,
            SettledBy::Policy => Denial::Policy,
            SettledBy::User | SettledBy::Agent | SettledBy::End => Denial::User,
        })
    };
    calls.set_denial(call, denial);
}
