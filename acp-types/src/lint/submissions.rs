//! Version 2: prompts with keys, which may be repeated.
use super::report::{LintLimits, Report};
use super::rule;
use super::value::{Json, shown, text};
use alloc::borrow::{Cow, ToOwned};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

/// The prompts of a session, by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Submissions(BTreeMap<String, Submission>);

#[derive(Clone, Debug)]
struct Submission {
    /// Fingerprint of the content.
    content: u64,
    /// The message, once a response has named it.
    message: Option<String>,
}

/// Returns the FNV-1a hash of a text.
fn fingerprint(text: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

impl Submissions {
    /// Records a prompt.
    pub(super) fn prompt(&mut self, params: Json<'_>, limits: &LintLimits, report: &mut Report) {
        let Some(key) = text(params, "idempotencyKey") else { return };
        let content = fingerprint(params.get("prompt").unwrap_or(Json::NULL).as_text());
        match self.0.get(&*key) {
            Some(before) if before.content != content => {
                let message = format!("`{}` is the key of another prompt", shown(&key));
                report.add(&rule::PROMPT_KEY_REUSED, "/params/idempotencyKey", message);
            }
            Some(_) => {}
            None if self.0.len() < limits.names => {
                self.0.insert(key.into_owned(), Submission { content, message: None });
            }
            None => {}
        }
    }

    /// Checks the result of a prompt with this key.
    pub(super) fn accepted(&mut self, key: Json<'_>, result: Json<'_>, report: &mut Report) {
        let Some(submission) = key.as_str().and_then(|key| self.0.get_mut(&*key)) else { return };
        let Some(message) = text(result, "messageId") else { return };
        match &submission.message {
            Some(before) if *before != *message => {
                let problem = format!(
                    "the prompt is the message `{}`, got `{}`",
                    shown(before),
                    shown(&message)
                );
                report.add(&rule::PROMPT_REPEATED, "/result/messageId", problem);
            }
            Some(_) => {}
            None => submission.message = Some(message.into_owned()),
        }
    }

    /// Forgets a prompt that failed, which may be submitted again.
    pub(super) fn refused(&mut self, key: Json<'_>) {
        let Some(key) = key.as_str().map(|key: Cow<'_, str>| key.as_ref().to_owned()) else {
            return;
        };
        if self.0.get(&key).is_some_and(|submission| submission.message.is_none()) {
            self.0.remove(&key);
        }
    }
}
