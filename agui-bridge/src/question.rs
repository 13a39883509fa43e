//! What the agent asks and a person answers: each question gets one answer, whatever happens.
use crate::elicitation::{Elicitation, ElicitationMode};
use crate::json::Members;
use crate::permission::{Permission, PermissionAnswer, PermissionMode};
use crate::translator::Translator;
use acp_types::v1::elicitation::{CreateElicitationResponse, ElicitationAction};
use acp_types::v1::tool_calls::{RequestPermissionResponse, ToolCallId};
use agui_types::interrupt::Interrupt;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::Extra;
use jsonrpc_core::{RequestId, member_union};
use serde::{Deserialize, Serialize};

/// A response to send to the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// The request that it is for, as it was handed in.
    pub request_id: RequestId,
    /// Its result.
    pub result: Answer,
}

member_union! {
    /// The result of a request that asks the user something. It reads the same in ACP v1 and v2.
    ///
    /// Spec: [`RequestPermissionResponse`](https://agentclientprotocol.com/protocol/v1/schema#requestpermissionresponse),
    /// [`CreateElicitationResponse`](https://agentclientprotocol.com/protocol/v1/schema#createelicitationresponse) (ACP v1)
    pub enum Answer {
        /// Of `session/request_permission`.
        Permission(RequestPermissionResponse) has "outcome",
        /// Of `elicitation/create`.
        Elicitation(CreateElicitationResponse) has "action",
    }
}

/// An answer was not taken; what was asked is as open as before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// Nothing was asked under this id.
    #[error("nothing was asked under this id")]
    Unknown,
    /// It has its answer.
    #[error("the question has its answer already")]
    Answered,
    /// The permission request does not offer this option.
    #[error("the permission request does not offer this option")]
    Option,
    /// A permission request was answered as an elicitation, or the other way round.
    #[error("the question is of another kind")]
    Kind,
    /// The content does not fit what the form asks for.
    #[error("at {pointer}: expected {expected}")]
    Content {
        /// Where, as a JSON pointer into the content.
        pointer: String,
        /// What is expected there.
        expected: String,
    },
}

/// The questions of a thread, by the number in their interrupt ids.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Questions {
    open: BTreeMap<u64, Question>,
    /// Questions of interrupts that got their answers from elsewhere: the client does not know.
    settled: BTreeMap<u64, By>,
    asked: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    request_id: RequestId,
    pub(crate) about: About,
    told: Told,
    expires: Option<Duration>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum About {
    Permission(Permission),
    Elicitation(Box<Elicitation>),
}

/// Whether the client knows of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Told {
    /// No run is open: at the next one.
    Later,
    /// In the stream.
    InStream,
    /// The run is about to be interrupted for it.
    Soon,
    /// The run was interrupted for it.
    Interrupted,
}

/// How a question is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Way {
    InStream,
    Interrupt,
}

/// Who settles a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum By {
    Person,
    Policy,
    /// Nobody answered in time.
    Time,
    /// The agent does not want an answer any more.
    Agent,
    /// The turn ended, or is cancelled.
    End,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Settlement {
    Permission(PermissionAnswer),
    Elicitation(ElicitationAction),
}

impl About {
    /// The answer that says nothing.
    pub(crate) fn cancelled(&self) -> Settlement {
        match self {
            Self::Permission(_) => Settlement::Permission(PermissionAnswer::Cancelled),
            Self::Elicitation(_) => {
                Settlement::Elicitation(ElicitationAction::Cancel(Extra::new()))
            }
        }
    }

    /// The answer that says no, where the agent offers one.
    pub(crate) fn refused(&self) -> Settlement {
        match self {
            Self::Permission(permission) => Settlement::Permission(permission.refused()),
            Self::Elicitation(_) => self.cancelled(),
        }
    }

    fn call(&self) -> Option<&ToolCallId> {
        match self {
            Self::Permission(permission) => permission.call.as_ref(),
            Self::Elicitation(elicitation) => elicitation.call.as_ref(),
        }
    }
}

impl Questions {
    fn remove(&mut self, number: u64) -> Option<Question> {
        self.open.remove(&number)
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Question> {
        self.open.get(&number)
    }

    fn numbers(&self, told: impl Fn(Told) -> bool) -> Vec<u64> {
        let told = self.open.iter().filter(|(_, question)| told(question.told));
        told.map(|(number, _)| *number).collect()
    }

    /// The questions that the run before was interrupted for and that have no answer.
    pub(crate) fn interrupted(&self) -> Vec<u64> {
        self.numbers(|told| told == Told::Interrupted)
    }

    /// The questions that the open run is to be interrupted for.
    pub(crate) fn soon(&self) -> Vec<u64> {
        self.numbers(|told| told == Told::Soon)
    }

    /// Who settled a question of an interrupt in place of the client.
    pub(crate) fn settled(&self, number: u64) -> Option<By> {
        self.settled.get(&number).copied()
    }

    fn settle(&mut self, number: u64, by: By, limit: usize) {
        self.settled.insert(number, by);
        while self.settled.len() > limit {
            self.settled.pop_first();
        }
    }

    pub(crate) fn forget_settled(&mut self) {
        self.settled.clear();
    }

    /// The question about something.
    pub(crate) fn number_of(&self, is: impl Fn(&About) -> bool) -> Option<u64> {
        self.open.iter().find(|(_, question)| is(&question.about)).map(|(number, _)| *number)
    }

    /// Has what is asked in the stream be asked again in the next run.
    pub(crate) fn put_off(&mut self) {
        for question in self.open.values_mut().filter(|question| question.told != Told::Interrupted)
        {
            question.told = Told::Later;
        }
    }

    /// Whether someone has not answered yet.
    pub(crate) fn waits_for_person(&self) -> bool {
        !self.open.is_empty()
    }

    /// When the next question expires.
    pub(crate) fn expiry(&self) -> Option<Duration> {
        self.open.values().filter_map(|question| question.expires).min()
    }

    fn expired(&self, now: Duration) -> Vec<u64> {
        let due = |question: &Question| question.expires.is_some_and(|expires| expires <= now);
        let due = self.open.iter().filter(|(_, question)| due(question));
        due.map(|(number, _)| *number).collect()
    }
}

impl Translator {
    /// Answers a question by `policy`, where that is who answers, or has a person answer it.
    pub(crate) fn ask(&mut self, request_id: RequestId, about: About, policy: Option<Settlement>) {
        if self.is_cancelling() {
            let settlement = about.cancelled();
            return self.settle(request_id, &about, &settlement, By::End);
        }
        let way = self.way_of(&about).filter(|_| policy.is_none() && self.has_turn());
        match way {
            Some(way) => self.put(request_id, about, way),
            None => {
                let settlement =
                    policy.filter(|_| self.has_turn()).unwrap_or_else(|| about.refused());
                self.settle(request_id, &about, &settlement, By::Policy);
            }
        }
    }

    /// How a person is asked something, if one is.
    fn way_of(&self, about: &About) -> Option<Way> {
        let way = match about {
            About::Permission(_) => match &self.options.permission {
                PermissionMode::Policy(_) => return None,
                PermissionMode::InStream => Way::InStream,
                PermissionMode::Interrupt => Way::Interrupt,
            },
            About::Elicitation(_) => match &self.options.elicitation {
                ElicitationMode::Decline => return None,
                ElicitationMode::InStream => Way::InStream,
                ElicitationMode::Interrupt => Way::Interrupt,
            },
        };
        let knows_interrupts = self.is_modern() || self.options.legacy_interrupts;
        Some(if knows_interrupts { way } else { Way::InStream })
    }

    /// Answers a question aside from the runs' input.
    pub(crate) fn answer(&mut self, number: u64, settlement: &Settlement) {
        let interrupted = self.questions.interrupted().contains(&number);
        self.resolve(number, settlement, By::Person);
        if interrupted {
            self.questions.settle(number, By::Person, self.options.limits.permissions);
        }
        self.heard();
    }

    /// Puts a question, or has it wait for a run.
    fn put(&mut self, request_id: RequestId, about: About, way: Way) {
        let full = self.questions.open.len() >= self.options.limits.permissions;
        let too_long = serde_json::to_vec(&about)
            .is_ok_and(|question| question.len() > self.options.limits.value);
        if full || too_long {
            let settlement = about.refused();
            return self.settle(request_id, &about, &settlement, By::Policy);
        }
        self.questions.asked += 1;
        let number = self.questions.asked;
        let expires =
            self.options.times.answer.and_then(|time| self.now.map(|now| now.saturating_add(time)));
        let question = Question { request_id, about, told: Told::Later, expires };
        self.questions.open.insert(number, question);
        if self.run.is_some() {
            self.tell_question(number, way);
            self.suspend_if_due();
        }
    }

    /// Puts the questions that came while no run was open.
    pub(crate) fn put_later(&mut self) {
        for number in self.questions.numbers(|told| told == Told::Later) {
            let Some(question) = self.questions.get(number) else { continue };
            let way = self.way_of(&question.about).unwrap_or(Way::InStream);
            if let Some(call) = question.about.call().cloned() {
                self.close_arguments(&call);
            }
            self.tell_question(number, way);
        }
        self.suspend_if_due();
    }

    fn tell_question(&mut self, number: u64, way: Way) {
        self.close_texts();
        let told = match way {
            Way::InStream => {
                let id = self.interrupt_id(number);
                let Some(question) = self.questions.get(number) else { return };
                let value = Members::new().with("interruptId", &id);
                let (name, value) = match &question.about {
                    About::Permission(permission) => {
                        ("acp.permission.requested", self.permission_value(value, permission))
                    }
                    About::Elicitation(elicitation) => {
                        ("acp.elicitation.requested", self.elicitation_value(value, elicitation))
                    }
                };
                self.custom(name, value.into_raw());
                Told::InStream
            }
            Way::Interrupt => {
                let collect = self.options.times.collect;
                self.collecting = self.now.map(|now| now.saturating_add(collect));
                Told::Soon
            }
        };
        if let Some(question) = self.questions.open.get_mut(&number) {
            question.told = told;
        }
    }

    /// The interrupts that tell of questions, from now on told.
    pub(crate) fn interrupts(&mut self, numbers: &[u64]) -> Vec<Interrupt> {
        let mut interrupts = Vec::new();
        for number in numbers {
            let id = self.interrupt_id(*number);
            let Some(question) = self.questions.get(*number) else { continue };
            let mut interrupt = match &question.about {
                About::Permission(permission) => self.permission_interrupt(id, permission),
                About::Elicitation(elicitation) => self.elicitation_interrupt(id, elicitation),
            };
            let epoch = self.options.times.epoch;
            let expires = question.expires.and_then(|expires| epoch?.checked_add(expires));
            interrupt.expires_at = expires.map(crate::timestamp::timestamp);
            interrupts.push(interrupt);
            if let Some(question) = self.questions.open.get_mut(number) {
                question.told = Told::Interrupted;
            }
        }
        interrupts
    }

    pub(crate) fn interrupt_id(&self, number: u64) -> String {
        format!("{}{number}", self.options.interrupt_prefix)
    }

    /// The number of a question that was asked under this id.
    pub(crate) fn question_number(&self, interrupt_id: &str) -> Option<u64> {
        let number = interrupt_id.strip_prefix(&*self.options.interrupt_prefix)?.parse().ok()?;
        let asked = (1..=self.questions.asked).contains(&number);
        (asked && interrupt_id == self.interrupt_id(number)).then_some(number)
    }

    /// The question that is open under this id.
    pub(crate) fn open_question(&self, interrupt_id: &str) -> Result<(u64, &About), AnswerError> {
        let number = self.question_number(interrupt_id).ok_or(AnswerError::Unknown)?;
        let question = self.questions.get(number).ok_or(AnswerError::Answered)?;
        Ok((number, &question.about))
    }

    /// Notes that the agent does not want an answer any more, as `$/cancel_request` says: it gets `cancelled`, unless
    /// it got another before.
    pub fn handle_request_withdrawn(&mut self, request_id: &RequestId) {
        let mut open = self.questions.open.iter();
        let asked = open.find(|(_, question)| question.request_id == *request_id);
        if let Some((&number, question)) = asked {
            let settlement = question.about.cancelled();
            self.resolve(number, &settlement, By::Agent);
        }
    }

    /// Takes the next response that has to go to the agent.
    pub fn poll_response(&mut self) -> Option<Response> {
        self.responses.pop_front()
    }

    /// Answers `cancelled` to whatever still waits.
    pub(crate) fn cancel_questions(&mut self) {
        while let Some((&number, question)) = self.questions.open.first_key_value() {
            let settlement = question.about.cancelled();
            self.resolve(number, &settlement, By::End);
        }
        self.collecting = None;
    }

    /// Answers what nobody has answered in time.
    pub(crate) fn expire_questions(&mut self, now: Duration) {
        for number in self.questions.expired(now) {
            let Some(question) = self.questions.get(number) else { continue };
            let settlement = question.about.refused();
            self.resolve(number, &settlement, By::Time);
        }
    }

    /// Answers a question that was put.
    pub(crate) fn resolve(&mut self, number: u64, settlement: &Settlement, by: By) {
        let Some(question) = self.questions.remove(number) else { return };
        match question.told {
            Told::InStream => {
                let value = Members::new().with("interruptId", &self.interrupt_id(number));
                let (name, value) = match settlement {
                    Settlement::Permission(answer) => {
                        ("acp.permission.resolved", crate::permission::outcome(value, answer))
                    }
                    Settlement::Elicitation(action) => {
                        ("acp.elicitation.resolved", value.with("action", action.tag()))
                    }
                };
                self.custom(name, value.into_raw());
            }
            Told::Interrupted if by != By::Person => {
                self.questions.settle(number, by, self.options.limits.permissions);
            }
            Told::Interrupted | Told::Later | Told::Soon => {}
        }
        self.note_denial(&question.about, settlement, by);
        self.respond(question.request_id, settlement);
        if self.questions.soon().is_empty() {
            self.collecting = None;
        }
    }

    /// Answers a request that nobody was asked about; the stream tells, where one is open.
    pub(crate) fn settle(
        &mut self,
        request_id: RequestId,
        about: &About,
        settlement: &Settlement,
        by: By,
    ) {
        self.note_denial(about, settlement, by);
        let told = match (about, settlement) {
            (About::Permission(permission), Settlement::Permission(answer)) => {
                let value = self.permission_subject(Members::new(), permission);
                Some(("acp.permission", crate::permission::outcome(value, answer)))
            }
            (About::Elicitation(elicitation), Settlement::Elicitation(action)) => {
                let value = Members::new().with("message", &elicitation.message);
                Some(("acp.elicitation", value.with("action", action.tag())))
            }
            _ => None,
        };
        if let Some((name, value)) = told.filter(|_| self.run.is_some()) {
            self.custom(name, value.into_raw());
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
}
