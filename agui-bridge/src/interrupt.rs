//! Runs that end while the agent's turn goes on, and the runs that go on with it.
use crate::json;
use crate::question::{About, By, Settlement};
use crate::stop::{Failure, TurnEnd};
use crate::translator::{Before, Translator};
use crate::{PermissionAnswer, Policy, Unanswered};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::tool_calls::{PermissionOptionId, ToolKind};
use agui_types::event::{RunFinishedInterruptOutcome, RunFinishedOutcome};
use agui_types::id::RunId;
use agui_types::interrupt::{ResumeEntry, ResumeStatus};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};

/// What follows when a run has begun.
#[must_use = "a prompt is only to be sent when this says so"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Begun {
    /// The prompt is to be sent now.
    Prompt,
    /// The run goes on with the turn of the run before; the agent gets its answers from
    /// [`poll_response`](Translator::poll_response). There is nothing to send.
    Resumed,
    /// The turn of the run before has to end first. The prompt is to be sent when
    /// [`poll_prompt`](Translator::poll_prompt) says so.
    Wait {
        /// Whether that turn is to be cancelled, with `session/cancel`.
        cancel: bool,
    },
    /// The run has ended already, and the agent has nothing to do for it.
    Ended,
}

/// A turn whose run was interrupted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Parked {
    pub(crate) cancelled: bool,
    /// The turn has ended, and no run has told it.
    pub(crate) end: Option<TurnEnd>,
}

/// The answers that a run was resumed with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Resumed {
    run_id: RunId,
    /// By question, fingerprints of the answers.
    answers: BTreeMap<u64, u64>,
}

/// Why a run does not resume.
enum ResumeError {
    /// Another set of questions is open.
    Mismatch(String),
    /// An answer is none to its question.
    Invalid(String),
    /// ACP cannot change a tool's arguments.
    Edit,
    /// The answer comes too late.
    Expired(String),
}

impl ResumeError {
    fn code(&self) -> &'static str {
        match self {
            Self::Mismatch(_) => "RESUME_MISMATCH",
            Self::Invalid(_) => "RESUME_INVALID",
            Self::Edit => "EDIT_UNSUPPORTED",
            Self::Expired(_) => "INTERRUPT_EXPIRED",
        }
    }

    fn message(self) -> String {
        match self {
            Self::Mismatch(message) | Self::Invalid(message) | Self::Expired(message) => message,
            Self::Edit => "The agent does not take changed arguments.".to_owned(),
        }
    }
}

impl Translator {
    /// Tells the time, counted from one moment of the caller's choosing; a time before the last one counts as that.
    ///
    /// Call it before each `handle_*` and `begin_run`, and when [`poll_timeout`](Self::poll_timeout) says so. Gives the
    /// failure that ended the run, if its time is over: the agent is still at the turn then, and its session is to be
    /// cancelled or left.
    #[must_use = "the agent is still at the turn of a run that ends here"]
    pub fn tick(&mut self, now: Duration) -> Option<Failure> {
        let before = self.now.unwrap_or(now);
        let now = now.max(before);
        self.now = Some(now);
        let waited = self.questions.waits_for_person();
        self.expire_questions(now);
        if self.run.is_some() {
            self.settle_arguments(now);
            self.show_due_terminals(now);
        }
        let run = self.run.as_mut()?;
        if !waited {
            run.working = run.working.saturating_add(now.saturating_sub(before));
            run.quiet = run.quiet.saturating_add(now.saturating_sub(before));
        }
        let over =
            |limit: Option<Duration>, time: Duration| limit.is_some_and(|limit| time >= limit);
        let times = &self.options.times;
        let (failure, message) = if over(times.turn, run.working) {
            (Failure::TurnTimeout, "The turn takes too long.")
        } else if over(times.idle, run.quiet) {
            (Failure::IdleTimeout, "Nothing came from the agent for too long.")
        } else {
            self.suspend_if_due();
            return None;
        };
        self.handle_failure(failure, message);
        Some(failure)
    }

    /// When [`tick`](Self::tick) next has something to do, if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let now = self.now?;
        let working = self.run.as_ref().filter(|_| !self.questions.waits_for_person());
        let left = |limit: Option<Duration>, time: Duration| {
            limit.map(|limit| now.saturating_add(limit.saturating_sub(time)))
        };
        let turn = working.and_then(|run| left(self.options.times.turn, run.working));
        let idle = working.and_then(|run| left(self.options.times.idle, run.quiet));
        let settling = working.and_then(|_| self.calls.settling());
        let terminals = self.run.as_ref().and_then(|_| self.terminals.due());
        let expiry = self.questions.expiry();
        [self.collecting, expiry, turn, idle, settling, terminals].into_iter().flatten().min()
    }

    /// Whether the run has ended and the agent's turn goes on: with an interrupt, or with
    /// [frontend calls](crate::frontend_tool) that are pending.
    pub fn is_interrupted(&self) -> bool {
        self.parked.is_some()
    }

    /// Whether the prompt of the run that began with [`Begun::Wait`] is to be sent now; says so once.
    pub fn poll_prompt(&mut self) -> bool {
        core::mem::take(&mut self.prompt_due)
    }

    /// The run that was resumed with just these answers, the last time one was: whoever brings them again gets its
    /// events, not another run.
    pub fn resumed_by(&self, answers: &[ResumeEntry]) -> Option<&RunId> {
        let resumed = self.resumed.as_ref().filter(|_| !answers.is_empty())?;
        let known = |answer: &ResumeEntry| {
            let number = self.question_number(answer.interrupt_id.as_str())?;
            Some(*resumed.answers.get(&number)? == fingerprint(answer))
        };
        let same = answers.len() == resumed.answers.len()
            && answers.iter().all(|answer| known(answer) == Some(true));
        same.then_some(&resumed.run_id)
    }

    /// Interrupts the open run when it is time.
    pub(crate) fn suspend_if_due(&mut self) {
        let due = self.collecting.is_none_or(|due| self.now.is_some_and(|now| due <= now));
        let numbers = self.questions.soon();
        if !due || numbers.is_empty() || self.run.is_none() {
            return;
        }
        self.collecting = None;
        self.close_texts();
        self.show_terminals();
        self.end_calls();
        self.restate_if_quiet();
        self.suspend_subagents();
        self.tell_last();
        self.questions.put_off();
        self.parked = Some(Parked::default());
        self.interrupt_run(&numbers);
    }

    /// Ends the open run as a success while its turn goes on.
    pub(crate) fn park(&mut self) {
        if self.run.is_none() {
            return;
        }
        self.questions.put_off();
        self.collecting = None;
        self.close_texts();
        self.show_terminals();
        self.close_calls(false);
        self.restate_if_quiet();
        self.suspend_subagents();
        self.tell_last();
        self.parked = Some(Parked::default());
        let outcome = self.success();
        self.finish_run(outcome, None);
    }

    fn interrupt_run(&mut self, numbers: &[u64]) {
        let interrupts = self.interrupts(numbers);
        let outcome = RunFinishedInterruptOutcome::new(interrupts);
        self.finish_run(RunFinishedOutcome::Interrupt(outcome), None);
    }

    /// Goes on with the turn of the run before, in the run that has just begun.
    pub(crate) fn go_on(
        &mut self,
        parked: Parked,
        answers: &[ResumeEntry],
        prompt: &[ContentBlock],
    ) -> Begun {
        let open = self.questions.interrupted();
        let abandons = !prompt.is_empty() && self.options.unanswered == Unanswered::Abandon;
        if answers.is_empty() && !open.is_empty() && !abandons {
            self.parked = Some(parked);
            if prompt.is_empty() {
                self.interrupt_run(&open);
            } else {
                let ids: Vec<_> = open.iter().map(|number| self.interrupt_id(*number)).collect();
                let message = format!("These questions have no answer: {}.", ids.join(", "));
                self.fail_run("INTERRUPTS_OPEN", &message, None, None);
            }
            return Begun::Ended;
        }
        let mut cancelled = parked.cancelled;
        if answers.is_empty() {
            cancelled |= !open.is_empty();
            self.cancel_questions();
        } else if let Err(error) = self.take_answers(answers, &open, prompt.is_empty()) {
            self.parked = Some(parked);
            self.fail_run(error.code(), &error.message(), None, None);
            return Begun::Ended;
        }
        self.questions.forget_settled();
        self.catch_up();
        let ended = parked.end.is_some();
        if prompt.is_empty() {
            if let Some(run) = &mut self.run {
                run.cancelled |= cancelled;
            }
            match parked.end {
                Some(end) => self.end_turn(end),
                None => self.put_later(),
            }
            return if self.run.is_some() { Begun::Resumed } else { Begun::Ended };
        }
        if let Some(run) = &mut self.run {
            run.before = Some(Before { prompt: prompt.to_vec(), cancelled });
        }
        match parked.end {
            Some(end) => self.end_turn(end),
            None => self.put_later(),
        }
        match ended {
            true if self.poll_prompt() => Begun::Prompt,
            true => Begun::Ended,
            false => Begun::Wait { cancel: cancelled && !parked.cancelled },
        }
    }

    /// Answers the open questions, all or none.
    fn take_answers(
        &mut self,
        answers: &[ResumeEntry],
        open: &[u64],
        must_match: bool,
    ) -> Result<(), ResumeError> {
        let (mut read, mut seen, mut strange) = (Vec::new(), BTreeMap::new(), 0);
        for answer in answers {
            let id = answer.interrupt_id.as_str();
            let number = self.question_number(id);
            let settled = number.and_then(|number| self.questions.settled(number));
            let question = number.and_then(|number| self.questions.get(number));
            match (number, question) {
                (Some(number), Some(question)) => {
                    read.push((number, self.read_answer(answer, &question.about)?));
                }
                _ if settled == Some(By::Time) && answer.status == ResumeStatus::Resolved => {
                    return Err(ResumeError::Expired(format!("Too late for `{}`.", short(id))));
                }
                _ => strange += usize::from(settled.is_none()),
            }
            if let Some(number) = number
                && seen.insert(number, fingerprint(answer)).is_some()
            {
                let message = format!("There are two answers to `{}`.", short(id));
                return Err(ResumeError::Invalid(message));
            }
        }
        let missing = open.iter().find(|number| !seen.contains_key(number));
        if let Some(missing) = missing {
            let message = format!("There is no answer to `{}`.", self.interrupt_id(*missing));
            return Err(ResumeError::Mismatch(message));
        }
        if must_match && strange == answers.len() {
            return Err(ResumeError::Mismatch("None of these questions is open.".to_owned()));
        }
        if strange > 0 {
            self.warn("Some answers are to questions that are not open.");
        }
        for (number, settlement) in read {
            self.resolve(number, &settlement, By::Person);
        }
        if let Some(run) = &self.run {
            self.resumed = Some(Resumed { run_id: run.run_id.clone(), answers: seen });
        }
        Ok(())
    }

    fn read_answer(&self, answer: &ResumeEntry, about: &About) -> Result<Settlement, ResumeError> {
        match &answer.status {
            ResumeStatus::Cancelled => return Ok(about.cancelled()),
            ResumeStatus::Resolved => {}
            _ => {
                let message =
                    format!("`{}` is no status of an answer.", short(answer.status.as_str()));
                return Err(ResumeError::Invalid(message));
            }
        }
        let id = short(answer.interrupt_id.as_str());
        let payload = answer.payload.as_ref();
        match about {
            About::Permission(permission) => {
                let option = |id: &str| PermissionAnswer::Selected(PermissionOptionId::from(id));
                match read_permission(payload)? {
                    Some(Choice::Option(chosen)) if permission.offers(&option(&chosen)) => {
                        Ok(Settlement::Permission(option(&chosen)))
                    }
                    Some(Choice::Approved(approved)) => {
                        let policy =
                            if approved { Policy::allow_all() } else { Policy::reject_all() };
                        let answer = policy.decide("", &ToolKind::Other, &permission.options);
                        Ok(Settlement::Permission(answer))
                    }
                    _ => Err(ResumeError::Invalid(format!(
                        "The answer to `{id}` is none of its options."
                    ))),
                }
            }
            About::Elicitation(elicitation) => {
                let invalid = |why: &str| {
                    ResumeError::Invalid(format!("The answer to `{id}` does not fit: {why}."))
                };
                let action = elicitation
                    .action(payload)
                    .ok_or_else(|| invalid("expected what the form asks for"))?;
                elicitation.check(&action).map_err(|error| invalid(&format!("{error}")))?;
                Ok(Settlement::Elicitation(action))
            }
        }
    }
}

enum Choice {
    Option(String),
    Approved(bool),
}

/// What an answer to a permission request says.
///
/// | payload | is |
/// |---|---|
/// | `{"optionId":"…"}` | that option |
/// | `{"approved":true}`, `true` | the first option that allows once, else always, else none |
/// | `{"approved":false}`, `false` | the first option that rejects once, else always, else none |
/// | one with `editedArgs` | an error |
fn read_permission(payload: Option<&Raw>) -> Result<Option<Choice>, ResumeError> {
    let Some(payload) = payload else { return Ok(None) };
    if let Ok(approved) = payload.decode::<bool>() {
        return Ok(Some(Choice::Approved(approved)));
    }
    let members = payload.as_str().starts_with('{').then(|| payload.decode::<Extra>().ok());
    let Some(members) = members.flatten() else { return Ok(None) };
    if members.get("editedArgs").is_some() {
        return Err(ResumeError::Edit);
    }
    let option = members.get("optionId").map(|id| id.decode::<String>().ok().map(Choice::Option));
    let approved = || members.get("approved")?.decode().ok().map(Choice::Approved);
    Ok(option.unwrap_or_else(approved))
}

fn fingerprint(answer: &ResumeEntry) -> u64 {
    let payload = answer.payload.as_ref().map_or("", Raw::as_str);
    json::fingerprint(&[answer.status.as_str(), payload])
}

/// An identifier as messages show it.
fn short(id: &str) -> &str {
    json::head(id, 64)
}
