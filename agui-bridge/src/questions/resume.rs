//! Answers in the input of a run that resumes an interrupted one.
use super::{About, Desk, Questions, Settlement};
use crate::AnsweredBy;
use crate::json;
use crate::permission::PermissionAnswer;
use acp_types::v1::tool_calls::PermissionOptionId;
use agui_types::id::RunId;
use agui_types::interrupt::{ResumeEntry, ResumeStatus};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};

/// The answers of a resumed run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ResumeAnswers {
    run_id: RunId,
    /// Fingerprints of the answers, by question.
    answers: BTreeMap<u64, u64>,
}

/// An error resuming a run.
pub(crate) enum ResumeError {
    /// Other questions are open.
    Mismatch(String),
    /// An answer does not match its question.
    Invalid(String),
    /// An answer changes a tool's arguments, which ACP does not support.
    Edit,
    /// An answer is too late.
    Expired(String),
}

impl ResumeError {
    /// Returns the code of the `RUN_ERROR`.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Mismatch(_) => "RESUME_MISMATCH",
            Self::Invalid(_) => "RESUME_INVALID",
            Self::Edit => "EDIT_UNSUPPORTED",
            Self::Expired(_) => "INTERRUPT_EXPIRED",
        }
    }

    pub(crate) fn message(self) -> String {
        match self {
            Self::Mismatch(message) | Self::Invalid(message) | Self::Expired(message) => message,
            Self::Edit => "The agent does not support changed arguments.".to_owned(),
        }
    }
}

impl Questions {
    /// Returns the run that was last resumed, if these were its answers.
    pub(crate) fn resumed_by(&self, answers: &[ResumeEntry]) -> Option<&RunId> {
        let resumed = self.resumed.as_ref().filter(|_| !answers.is_empty())?;
        let is_known = |answer: &ResumeEntry| {
            let number = self.number(answer.interrupt_id.as_str())?;
            Some(*resumed.answers.get(&number)? == fingerprint(answer))
        };
        let is_same = answers.len() == resumed.answers.len()
            && answers.iter().all(|answer| is_known(answer) == Some(true));
        is_same.then_some(&resumed.run_id)
    }

    /// Answers the questions for which the last run was interrupted: all or none.
    ///
    /// `needs_match` refuses answers none of which belongs to an open question.
    pub(crate) fn resume(
        &mut self,
        desk: &mut Desk<'_>,
        run_id: &RunId,
        answers: &[ResumeEntry],
        needs_match: bool,
    ) -> Result<(), ResumeError> {
        let mut read = Vec::new();
        let mut seen = BTreeMap::new();
        let mut unknown = 0;
        for answer in answers {
            let id = answer.interrupt_id.as_str();
            let number = self.number(id);
            let settled = number.and_then(|number| self.settled.get(&number).copied());
            match number.and_then(|number| Some((number, self.about(number)?))) {
                Some((number, about)) => read.push((number, read_answer(answer, about)?)),
                None if settled == Some(AnsweredBy::Time)
                    && answer.status == ResumeStatus::Resolved =>
                {
                    return Err(ResumeError::Expired(format!("Too late for `{}`.", short(id))));
                }
                None => unknown += usize::from(settled.is_none()),
            }
            if let Some(number) = number
                && seen.insert(number, fingerprint(answer)).is_some()
            {
                let message = format!("There are two answers to `{}`.", short(id));
                return Err(ResumeError::Invalid(message));
            }
        }
        let open = self.interrupted();
        if let Some(missing) = open.iter().find(|number| !seen.contains_key(number)) {
            let message = format!("There is no answer to `{}`.", self.interrupt_id(*missing));
            return Err(ResumeError::Mismatch(message));
        }
        if needs_match && unknown == answers.len() {
            return Err(ResumeError::Mismatch("None of these questions is open.".to_owned()));
        }
        if unknown > 0 {
            desk.out.warn(&desk.frame, "Some answers are to questions that are not open.", "");
        }
        for (number, settlement) in read {
            self.resolve(desk, number, &settlement, AnsweredBy::User);
        }
        self.resumed = Some(ResumeAnswers { run_id: run_id.clone(), answers: seen });
        Ok(())
    }
}

fn read_answer(answer: &ResumeEntry, about: &About) -> Result<Settlement, ResumeError> {
    match &answer.status {
        ResumeStatus::Cancelled => return Ok(about.cancelled()),
        ResumeStatus::Resolved => {}
        _ => {
            let message =
                format!("`{}` is not a status of an answer.", short(answer.status.as_str()));
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
                Some(Choice::Approved(is_approved)) => {
                    let answer = permission.approved(is_approved);
                    if is_approved && answer == PermissionAnswer::Cancelled {
                        return Err(ResumeError::Invalid(format!(
                            "The answer to `{id}` does not fit: no option allows the call once."
                        )));
                    }
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
                .ok_or_else(|| invalid("expected the content of the form"))?;
            elicitation.check(&action).map_err(|error| invalid(&format!("{error}")))?;
            Ok(Settlement::Elicitation(action))
        }
    }
}

enum Choice {
    Option(String),
    Approved(bool),
}

/// Reads the answer to a permission request.
///
/// | payload | choice |
/// |---|---|
/// | `{"optionId":"…"}` | that option |
/// | `{"approved":true}`, `true` | the first option that allows once, otherwise an error |
/// | `{"approved":false}`, `false` | the first option that rejects once, otherwise always, otherwise none |
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

/// Returns the part of an identifier that messages show.
fn short(id: &str) -> &str {
    json::head(id, 64)
}
