//! A replay that goes on after the response to `session/load`.
//!
//! An agent has to repeat the conversation before its response. Some respond first. A conversation
//! sends its prompt after a [silence](crate::Times::replay); if the agent was silent for longer,
//! the rest of the replay arrives in the turn of the prompt. Nothing marks its end, and a new
//! answer may equal an old one. A message of the user in that turn is never new: the page shows its
//! own messages, and agents repeat others only in replays. Therefore:
//!
//! | update | result |
//! |---|---|
//! | a message of the user | dropped, with what is held, which is older |
//! | the text or a call of the thread's answer to that message, if its turn ended regularly | dropped |
//! | anything else while the replay is late, and the thread's last answer is missing | held |
//! | anything else | shown |
//!
//! What is held is shown when the replay is over: with the thread's last answer, the prompt, a
//! question of the agent, the end of the turn, or some silence of the replay. Nothing new is lost;
//! the worst is that something old is shown twice.
//!
//! The repetition of an answer that was cut off is shown, if no message of the user follows it. No
//! text decides whether it is old: an agent that has the part of the thread, repeats it and then
//! answers sends the same updates as an agent that lacks it, and begins its answer with the same
//! words. The same holds for the last answer in a session that the client names, since its turn is
//! unknown, and for one that an edit has removed from the thread while the session goes on.
use super::Translator;
use super::exchanges::Exchanges;
use crate::echo::Echo;
use crate::update::{Part, Update};
use crate::waiting::WaitingUpdates;
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::MessageId;
use acp_types::v2::content::{ContentBlock as ContentBlockV2, SkillReference};
use agui_types::id::ToolCallId;
use agui_types::message::Message;
use alloc::collections::BTreeSet;
use alloc::string::String;
use core::mem;
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// Largest size of a message of the user that is compared as a whole, in bytes.
const MAX_USER_BYTES: usize = 1 << 20;

/// Recognizes the parts of a late replay.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LateReplay {
    thread: Exchanges,
    /// Text of the message of the user that is being repeated, in one or more chunks.
    user: Option<String>,
    /// Whether the agent has responded before it has repeated the whole thread.
    is_late: bool,
    is_over: bool,
    held: WaitingUpdates,
    /// The end of the silence after which the replay is over.
    until: Option<Duration>,
    /// The repeated calls, with updates of their own.
    calls: BTreeSet<ToolCallId>,
}

/// An update in comparison with the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    /// It completes a text of the thread, or is a call of the thread.
    Same,
    /// It is the beginning of a text of the thread, or blank.
    Beginning,
    Other,
}

/// The result for an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Old,
    /// Either a part of the replay or new.
    Undecided,
    New,
}

impl LateReplay {
    /// Creates the state for a thread, after the part of it that the agent has repeated.
    fn new(thread: Exchanges, repeated: WaitingUpdates) -> Self {
        let mut late = Self {
            thread,
            user: None,
            is_late: false,
            is_over: false,
            held: WaitingUpdates::default(),
            until: None,
            calls: BTreeSet::new(),
        };
        for update in repeated.into_updates() {
            match update.part() {
                Part::User(text) => {
                    if !late.repeat_user(&text) && late.thread.repeats_current_user(&text) {
                        late.thread.restart_answer();
                    }
                }
                part => _ = late.compare(&part),
            }
        }
        late.user = None;
        late.is_over = late.thread.is_complete();
        late.is_late = late.thread.expects_more();
        late
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns whether the agent repeats a message of the user that the thread has.
    fn repeat_user(&mut self, text: &str) -> bool {
        let user = self.user.get_or_insert_default();
        if user.len().saturating_add(text.len()) <= MAX_USER_BYTES {
            user.push_str(text);
        }
        self.thread.repeat_user(text) || self.thread.repeat_user(user)
    }

    /// Compares a part of the agent with the answer that the agent repeats.
    fn compare(&mut self, part: &Part<'_>) -> Comparison {
        self.user = None;
        match part {
            Part::Answer(text) if text.trim().is_empty() => Comparison::Beginning,
            Part::Answer(text) if self.thread.repeat_text(text) => {
                if self.thread.is_said() {
                    Comparison::Same
                } else {
                    Comparison::Beginning
                }
            }
            Part::Call { id, begins } => {
                let id = ToolCallId::from(*id);
                let is_repeated = self.thread.repeat_call(&id);
                if is_repeated || !begins && self.calls.contains(&id) {
                    self.calls.insert(id);
                    return Comparison::Same;
                }
                Comparison::Other
            }
            // Thoughts and plans precede the text that decides.
            Part::Other if !self.thread.is_said() => Comparison::Beginning,
            _ => Comparison::Other,
        }
    }

    fn judge(&mut self, part: &Part<'_>) -> Verdict {
        if self.is_over || !self.is_late && !self.thread.has_begun() {
            return Verdict::New;
        }
        let was_said = self.thread.has_whole_text();
        let is_answered = was_said && self.thread.is_last() && matches!(part, Part::Answer(_));
        let verdict = match self.compare(part) {
            // The agent may lack an answer that was cut off.
            _ if !self.thread.has_whole_answer() => Verdict::New,
            Comparison::Same => Verdict::Old,
            Comparison::Beginning => Verdict::Undecided,
            Comparison::Other => Verdict::New,
        };
        if verdict == Verdict::Old {
            self.is_over = self.thread.is_complete();
        } else if verdict == Verdict::New {
            self.is_over = !self.is_late || is_answered;
            if !was_said {
                self.thread.set_different();
            }
            if !self.is_over {
                return Verdict::Undecided;
            }
        }
        verdict
    }
}

impl Translator {
    /// Handles that the agent has responded to `session/load`. The rest of the replay may follow.
    pub(crate) fn handle_loaded(&mut self) {
        self.is_loaded = true;
    }

    /// Sets the messages that the agent of a loaded session has, for its replay. Each has whether
    /// it is a prompt with the agent's whole answer.
    pub(crate) fn expect_replay<'a>(
        &mut self,
        messages: impl Iterator<Item = (&'a Message, bool)>,
    ) {
        let updates = mem::take(&mut self.repeated_updates);
        if mem::take(&mut self.is_loaded) {
            self.late = Some(LateReplay::new(Exchanges::of(messages), updates));
        }
    }

    /// Leaves the replay out: the conversation goes on in another session.
    pub(crate) fn drop_replay(&mut self) {
        self.forget_replay();
        self.named = None;
        self.late = None;
    }

    /// Forgets what a session has repeated since it was loaded, before a run: the session has
    /// ended.
    pub(crate) fn forget_replay(&mut self) {
        self.is_loaded = false;
        self.replay = None;
        self.repeated = None;
        self.repeated_updates = WaitingUpdates::default();
    }

    /// Records what is sent as the prompt of the open run: a skill, if any, and these blocks.
    pub(crate) fn handle_prompt_sent(&mut self, skill: Option<&str>, blocks: &[ContentBlock]) {
        self.echo = Echo::new(blocks);
        if let Some(skill) = skill {
            let skill = ContentBlockV2::Skill(SkillReference::new(skill));
            self.echo.expect_block(skill.into());
        }
    }

    /// Takes a chunk of the user that repeats the prompt, unless it belongs to a replay.
    pub(super) fn takes_echo(&mut self, block: &ContentBlock) -> bool {
        self.replay.is_none() && self.late.is_none() && self.echo.takes(block)
    }

    /// Returns whether a message is the prompt, unless it belongs to a replay.
    pub(super) fn is_prompt(&self, message: &MessageId) -> bool {
        self.replay.is_none() && self.late.is_none() && self.echo.is_message(message)
    }

    /// Returns whether a chunk of the user repeats the prompt.
    pub(crate) fn is_echo(&self, block: &ContentBlock) -> bool {
        self.replay.is_none() && self.late.is_none() && self.echo.is_next(block)
    }

    /// Takes a part of a late replay; returns any other update.
    pub(super) fn take_late(&mut self, update: Update) -> Option<Update> {
        if !update.is_conversation() {
            return Some(update);
        }
        if matches!(update, Update::Asked(..)) {
            // Agents ask in turns, not in replays.
            self.show_held();
        }
        let Some(late) = &mut self.late else { return Some(update) };
        let part = update.part();
        if let Part::User(text) = &part {
            self.take_late_user(text);
            return None;
        }
        let was_over = late.is_over;
        let was_said = late.thread.has_whole_text();
        match late.judge(&part) {
            Verdict::Old => {
                // What precedes an old part is old as well.
                late.held = WaitingUpdates::default();
                None
            }
            Verdict::Undecided => {
                let quiet = self.basis.options.times.quiet;
                let until = self.basis.now.map(|now| now.saturating_add(quiet));
                late.until = late.until.or(until);
                late.held.push(update, &self.basis.options.limits);
                None
            }
            Verdict::New => {
                if late.is_over && !was_over {
                    self.is_unclear |= !was_said;
                    self.show_held();
                }
                Some(update)
            }
        }
    }

    /// Drops a message of the user, and what the agent has repeated before it.
    fn take_late_user(&mut self, text: &str) {
        let Some(late) = &mut self.late else { return };
        late.held = WaitingUpdates::default();
        late.is_late = true;
        late.until = self.basis.now.map(|now| now.saturating_add(self.basis.options.times.quiet));
        if late.repeat_user(text) {
            late.is_over = false;
            return;
        }
        let is_again = late.thread.repeats_current_user(text);
        let is_prompt = !late.thread.is_doubtful() && self.echo.completes(text);
        if !is_again {
            late.is_over |= is_prompt;
        } else if is_prompt && late.thread.may_be_said() {
            // It is either the prompt or its earlier repetition.
            self.is_unclear = true;
        } else {
            late.thread.restart_answer();
            late.is_over = false;
        }
    }

    /// Returns whether the answer of the turn may have an old part, since a late replay was
    /// unclear.
    pub(crate) fn has_unclear_answer(&self) -> bool {
        self.is_unclear
    }

    /// Ends the turn in which a replay may arrive.
    pub(super) fn end_late_replay(&mut self) {
        self.show_held();
        self.late = None;
    }

    /// Shows what was not recognized as a part of a late replay, which is over.
    pub(crate) fn show_held(&mut self) {
        let Some(late) = &mut self.late else { return };
        late.is_over = true;
        late.until = None;
        let held = mem::take(&mut late.held);
        self.is_unclear |= !held.is_empty() && !late.thread.has_whole_text();
        if held.dropped() > 0 {
            self.handle_dropped(held.dropped());
        }
        held.into_updates().for_each(|update| self.show(update));
    }

    /// Ends a late replay after its silence.
    pub(super) fn end_silent_replay(&mut self, now: Duration) {
        if self.late_until().is_some_and(|until| until <= now) {
            self.show_held();
        }
    }

    /// Returns the end of the silence that ends a late replay.
    pub(super) fn late_until(&self) -> Option<Duration> {
        self.late.as_ref().filter(|late| !late.is_over)?.until
    }
}
