//! The conversation as known to an agent's session.
use super::background::Background;
use super::cancelled::{CancelledMessages, Instruction};
use super::compared_text::compared_text;
use super::cursors::{Timeline, TurnPlace};
use super::session_step::SessionStep;
use crate::json::{Print, cut};
use crate::runs::CANCELLED;
use agui_types::content::{Content, ContentPart, TextPart};
use agui_types::event::{Event, RunFinishedEvent, RunFinishedOutcome, TextMessageRole};
use agui_types::id::{MessageId, ToolCallId};
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

mod timeline;

pub(crate) use timeline::Circumstances;

/// Largest number of compared messages; the latest count.
pub const MAX_KNOWN: usize = 4096;
/// Largest number of texts that wait for the next prompt; the latest are kept.
pub const MAX_QUEUED: usize = 64;
/// Largest size of such a text, in bytes.
const MAX_QUEUED_BYTES: usize = 64 << 10;
/// Largest number of known tool results; the latest calls by id are kept.
const MAX_RESULTS: usize = 4096;

/// The part of a thread's conversation that an agent has, for comparison with new inputs.
///
/// AG-UI clients send the whole conversation with each input, possibly changed: an edited message,
/// a repeated question, another branch. [`plan`](Self::plan) compares an input with the agent's
/// conversation and returns the actions; [`accept`](Self::accept) records that they were done.
/// [`handle_event`](Self::handle_event) records the agent's messages. The memory stores
/// fingerprints, not texts. It can be serialized as JSON and restored elsewhere.
///
/// ```
/// use acp_types::v1::initialization::PromptCapabilities;
/// use agui_bridge::input::{SessionMemory, Rules, SessionStep};
/// use agui_types::event::{TextMessageContentEvent, TextMessageStartEvent};
/// use jsonrpc_core::wire;
///
/// let (rules, takes) = (Rules::new(), PromptCapabilities::new());
/// let mut conversation = SessionMemory::new();
/// let first = wire::decode(r#"{"threadId":"t","runId":"1","messages":[{"id":"u1","role":"user","content":"Hi"}]}"#)?;
/// let plan = conversation.plan(&first, &rules, &takes, |_| false)?;
/// assert_eq!(plan.session, SessionStep::New { system_prompt: None });
/// conversation.accept(&first, &plan); // the prompt was sent
/// conversation.handle_event(&TextMessageStartEvent::new("a1").into()); // an event of the page's stream
/// conversation.handle_event(&TextMessageContentEvent::new("a1", "Hello.").into());
///
/// let next = wire::decode(r#"{"threadId":"t","runId":"2","messages":[
///     {"id":"u1","role":"user","content":"Hi"},{"id":"a1","role":"assistant","content":"Hello."},
///     {"id":"u2","role":"user","content":"What is new?"}]}"#)?;
/// let plan = conversation.plan(&next, &rules, &takes, |_| false)?;
/// assert_eq!(plan.session, SessionStep::Keep);
/// assert_eq!(plan.prompt.ok_or("nothing new")?.blocks.len(), 1);
///
/// // The user has edited an earlier message, so the agent's session has a different conversation.
/// let edited = wire::decode(r#"{"threadId":"t","runId":"3","messages":[{"id":"u1","role":"user","content":"Ho"}]}"#)?;
/// let plan = conversation.plan(&edited, &rules, &takes, |_| false)?;
/// assert_eq!(plan.diverged.as_deref(), Some("/messages/0"));
/// assert_eq!(plan.session, SessionStep::New { system_prompt: None });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionMemory {
    /// Messages of user and agent, in order; the latest ones.
    known: Vec<Known>,
    /// Number of earlier messages that were removed.
    forgotten: usize,
    /// Calls with a result that the agent has, or produced.
    results: BTreeSet<ToolCallId>,
    /// Texts for the beginning of the next prompt.
    queued: Vec<String>,
    /// Background that the agent has.
    #[serde(flatten)]
    background: Background,
    /// Whether the thread has a session.
    has_session: bool,
    /// Whether the last run ended with an error.
    has_failed: bool,
    /// Messages that the agent does not have, and does not receive.
    #[serde(default, skip_serializing_if = "CancelledMessages::is_empty")]
    cancelled: CancelledMessages,
    /// Messages of turns that ended, or were cancelled, without an answer, and of interrupted turns
    /// without their agent. A new session does not receive them as instructions.
    #[serde(default, skip_serializing_if = "CancelledMessages::is_empty")]
    unanswered: CancelledMessages,
    /// The turn of the last prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<OpenTurn>,
    /// The timeline of the session.
    #[serde(default, skip_serializing_if = "Timeline::is_empty")]
    timeline: Timeline,
    /// Whether the session has messages that the conversation no longer has.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    has_more: bool,
    /// Whether the prompt of the open turn is meant for another session, and was not sent.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    is_unsent_elsewhere: bool,
}

/// A turn that has not ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OpenTurn {
    instruction: Instruction,
    /// Whether the agent has sent a text or a tool call.
    has_answer: bool,
    /// Whether its run has ended before it, with questions for the user or calls of page tools.
    is_interrupted: bool,
    /// Whether the answer may have parts of an earlier one.
    is_unclear: bool,
    /// Whether the agent was asked to cancel it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    is_cancelled: bool,
}

impl OpenTurn {
    fn new(instruction: &Instruction) -> Self {
        Self {
            instruction: instruction.clone(),
            has_answer: false,
            is_interrupted: false,
            is_unclear: false,
            is_cancelled: false,
        }
    }
}

/// A message of the user or the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Known {
    id: MessageId,
    by_agent: bool,
    print: Print,
    bytes: usize,
    /// Whether the turn of this prompt ended regularly, so that the agent has its whole answer.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    is_complete: bool,
    /// Whether the turn of this prompt has ended without a failure.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    has_ended: bool,
    /// The beginning of the turn of this prompt in the timeline of the session. A prompt of several
    /// messages begins with the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<TurnPlace>,
}

/// An input's messages in comparison with the agent's.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum MessageComparison {
    /// They continue the agent's: the index of the first that the agent lacks.
    Known(usize),
    /// They differ from this index on.
    Diverged(usize),
}

impl SessionMemory {
    /// Creates the memory of a thread without messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records an event of the page's stream, which the next input repeats as a message.
    pub fn handle_event(&mut self, event: &Event) {
        match event {
            Event::TextMessageStart(start) => {
                if start.role.as_ref() != Some(&TextMessageRole::User) {
                    self.note_answer();
                }
                self.push(Known::new(start.message_id.clone(), true, ""));
            }
            Event::ToolCallStart(_) => self.note_answer(),
            Event::TextMessageContent(content) => {
                self.handle_text(&content.message_id, &content.delta);
            }
            Event::TextMessageEnd(end) => {
                // A message without text cannot be compared.
                self.known.retain(|known| known.id != end.message_id || known.bytes > 0);
            }
            Event::RunFinished(finished) => self.handle_finished(finished),
            Event::RunError(error) => {
                self.has_failed = true;
                if error.code.as_deref() == Some(CANCELLED) {
                    self.handle_turn_cancelled();
                }
                self.turn = None;
            }
            Event::ToolCallResult(result) => self.answered(result.tool_call_id.clone()),
            Event::MessagesSnapshot(snapshot) => {
                self.has_session = true;
                self.know(&snapshot.messages);
            }
            _ => {}
        }
    }

    fn note_answer(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.has_answer = true;
        }
    }

    fn handle_finished(&mut self, finished: &RunFinishedEvent) {
        let is_interrupted = match &finished.outcome {
            Some(RunFinishedOutcome::Interrupt(_)) => true,
            Some(RunFinishedOutcome::Success(success)) => {
                success.pending_tool_call_ids.iter().flatten().next().is_some()
            }
            Some(RunFinishedOutcome::Cancelled(_)) => return self.handle_turn_cancelled(),
            _ => false,
        };
        if let Some(turn) = self.turn.as_mut().filter(|_| is_interrupted) {
            turn.is_interrupted = true;
        } else if let Some(turn) = self.turn.take() {
            if !turn.has_answer {
                self.unanswered.insert(&turn.instruction);
            }
            for known in self.prompt_of(&turn) {
                known.is_complete = !turn.is_unclear;
                known.has_ended = true;
            }
        }
    }

    /// Returns the known messages of the user that began a turn.
    fn prompt_of<'a>(&'a mut self, turn: &'a OpenTurn) -> impl Iterator<Item = &'a mut Known> {
        let users = self.known.iter_mut().filter(|known| !known.by_agent);
        users.filter(|known| turn.instruction.has(&known.id))
    }

    /// Records that the answer of the open turn may have parts of an earlier one. The replay of the
    /// agent may then differ.
    pub(crate) fn handle_unclear_answer(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.is_unclear = true;
        }
    }

    /// Records that the agent was asked to cancel the open turn.
    pub(crate) fn handle_cancel(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.is_cancelled = true;
        }
    }

    /// Ends the turn of a process that is gone. No run will show its end.
    fn end_lost_turn(&mut self) {
        match &self.turn {
            Some(turn) if turn.is_cancelled => self.handle_turn_cancelled(),
            Some(turn) if turn.is_interrupted => self.leave_interrupted_turn(),
            Some(_) => self.has_failed = true,
            None => {}
        }
        self.turn = None;
    }

    /// Records that the agent of an interrupted turn is gone. An answer to its questions does not
    /// begin it again.
    fn leave_interrupted_turn(&mut self) {
        if let Some(turn) = self.turn.as_ref().filter(|turn| turn.is_interrupted) {
            self.unanswered.insert(&turn.instruction);
        }
    }

    /// Records that the open turn was cancelled. Without an answer, its instruction is not carried
    /// out later either, unless the user sends it again.
    pub(crate) fn handle_turn_cancelled(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        if turn.has_answer {
            self.prompt_of(&turn).for_each(|known| known.has_ended = true);
        } else {
            self.unanswered.insert(&turn.instruction);
            self.has_failed = true;
        }
    }

    /// Adds a piece of a message that is sent to the page.
    pub(crate) fn handle_text(&mut self, id: &MessageId, delta: &str) {
        if let Some(known) = self.known.iter_mut().rev().find(|known| known.id == *id) {
            known.print = known.print.and(delta);
            known.bytes = known.bytes.saturating_add(delta.len());
        }
    }

    /// Records the loss of the session. The next prompt begins a new one.
    pub fn forget_session(&mut self) {
        self.leave_interrupted_turn();
        let queued = core::mem::take(&mut self.queued);
        let cancelled = core::mem::take(&mut self.cancelled);
        let unanswered = core::mem::take(&mut self.unanswered);
        let turn = self.turn.take();
        *self = Self { queued, cancelled, unanswered, turn, ..Self::default() };
    }

    /// Records that an instruction was cancelled before it was sent. The user may send it again.
    pub(crate) fn handle_cancelled(&mut self, instruction: &Instruction) {
        self.cancelled.insert(instruction);
        self.turn = None;
        // The session still has what the instruction was to replace.
        self.has_more |= core::mem::take(&mut self.is_unsent_elsewhere);
        self.known.retain(|known| known.by_agent || !instruction.has(&known.id));
        // Context of its prompt was not sent either.
        self.background = Background::default();
    }

    /// Returns a memory of the cancelled messages alone, or `None` without any.
    pub(crate) fn cancelled_alone(&self) -> Option<Self> {
        let cancelled = self.cancelled.clone();
        let unanswered = self.unanswered.clone();
        let is_empty = cancelled.is_empty() && unanswered.is_empty();
        (!is_empty).then(|| Self { cancelled, unanswered, ..Self::default() })
    }

    /// Sets the cancelled messages to those of another memory.
    pub(crate) fn set_cancelled(&mut self, other: &Self) {
        let mut other = other.clone();
        other.end_lost_turn();
        self.cancelled = other.cancelled;
        self.unanswered = other.unanswered;
    }

    /// Returns the memory of a thread with these messages that branches off from this one. `own`
    /// has the messages that were cancelled in the branch.
    pub(crate) fn branch(&self, own: &Self, messages: &[Message]) -> Self {
        let mut branch = self.clone();
        let is_open = branch.turn.is_some();
        branch.end_lost_turn();
        // The session has a part of a turn, which no message shows.
        branch.has_failed |= is_open;
        branch.cancelled.keep_those_of(messages);
        branch.cancelled.extend(&own.cancelled);
        branch.unanswered.extend(&own.unanswered);
        branch
    }

    /// Continues the conversation of an earlier process, unless this one has begun.
    pub(crate) fn restore(&mut self, earlier: &Self) {
        let mut begun = self.clone();
        let cancelled = core::mem::take(&mut begun.cancelled);
        let unanswered = core::mem::take(&mut begun.unanswered);
        begun.turn = None;
        if begun == Self::default() {
            *self = Self { cancelled, unanswered, ..earlier.clone() };
            self.end_lost_turn();
        }
    }

    /// Returns the messages of an input that the agent has or receives.
    pub(crate) fn without_cancelled<'a>(&self, input: &'a RunAgentInput) -> Cow<'a, [Message]> {
        self.cancelled.without(input)
    }

    /// Returns the index after the messages of an input of turns that ended without an answer.
    pub(super) fn after_unanswered(&self, input: &RunAgentInput) -> usize {
        self.unanswered.end_of_left_out(input)
    }

    /// Returns whether a prompt may have one message only, since earlier cancelled ones may be
    /// forgotten.
    pub(super) fn is_full_of_cancelled(&self) -> bool {
        self.cancelled.is_full()
    }

    /// Records that the turn of these messages has begun, again for those that are sent again.
    pub(super) fn begin_turn(
        &mut self,
        instruction: &Instruction,
        step: &SessionStep,
        place: TurnPlace,
    ) {
        let has_earlier = matches!(step, SessionStep::Keep | SessionStep::Fork { .. });
        let is_open = |known: &&mut Known| !has_earlier || instruction.has(&known.id);
        for known in self.known.iter_mut().filter(is_open) {
            known.is_complete = false;
            known.has_ended = false;
            known.place.take_if(|_| *step != SessionStep::Keep);
        }
        let mut users = self.known.iter_mut().filter(|known| !known.by_agent);
        // The first prompt of a new session has the earlier messages.
        if !step.is_new_session()
            && let Some(first) = users.find(|known| instruction.has(&known.id))
        {
            first.place.get_or_insert(place);
        }
        self.turn = Some(OpenTurn::new(instruction));
    }

    /// Records that the agent has a prompt of these messages, with this background.
    pub(super) fn handle_prompt(&mut self, background: Background, instruction: &Instruction) {
        self.cancelled.remove(instruction);
        self.unanswered.remove(instruction);
        self.has_session = true;
        self.has_failed = false;
        self.background = background;
        self.queued.clear();
    }

    /// Stores texts for the beginning of the next prompt.
    pub(super) fn queue(&mut self, texts: &[String]) {
        self.queued.extend(texts.iter().map(|text| cut(text.clone(), MAX_QUEUED_BYTES)));
        let surplus = self.queued.len().saturating_sub(MAX_QUEUED);
        self.queued.drain(..surplus);
    }

    /// Returns whether messages are new ones of the user alone, which continue the conversation.
    pub(super) fn are_new_alone(&self, messages: &[Message]) -> bool {
        let is_new =
            |theirs: Known| !theirs.by_agent && self.known.iter().all(|ours| ours.id != theirs.id);
        messages.iter().filter_map(Known::of).all(is_new)
    }

    /// Records that the agent has these messages, and no others.
    pub(super) fn know(&mut self, messages: &[Message]) {
        let earlier = core::mem::take(&mut self.known);
        let forgotten = core::mem::take(&mut self.forgotten);
        self.know_more(messages);
        self.keep_places(&earlier, forgotten);
        let prompts = prompts_of(&earlier, self.known.iter().filter(|known| !known.by_agent));
        let users = self.known.iter_mut().filter(|known| !known.by_agent);
        for (known, prompt) in users.zip(prompts) {
            known.is_complete = prompt.is_some_and(|prompt| prompt.is_complete);
            known.has_ended = prompt.is_some_and(|prompt| prompt.has_ended);
        }
    }

    /// Returns the messages of a thread, each with whether it is a prompt of the user with the
    /// agent's whole answer.
    pub(crate) fn with_completed<'a>(
        &self,
        messages: impl Iterator<Item = &'a Message> + Clone,
    ) -> impl Iterator<Item = (&'a Message, bool)> {
        let known: Vec<_> = messages.clone().filter_map(Known::of).collect();
        let prompts = prompts_of(&self.known, known.iter().filter(|known| !known.by_agent));
        let mut prompts = prompts.into_iter();
        messages.map(move |message| {
            let is_user = matches!(message, Message::User(_));
            let prompt = is_user.then(|| prompts.next().flatten()).flatten();
            (message, prompt.is_some_and(|prompt| prompt.is_complete))
        })
    }

    /// Records that the agent has these messages as well.
    pub(super) fn know_more(&mut self, messages: &[Message]) {
        for message in messages {
            if let Message::Tool(tool) = message {
                self.answered(tool.tool_call_id.clone());
            }
            if let Some(known) = Known::of(message)
                && (known.by_agent || !self.cancelled.has(&known.id))
            {
                self.push(known);
            }
        }
    }

    fn push(&mut self, known: Known) {
        self.known.push(known);
        let surplus = self.known.len().saturating_sub(MAX_KNOWN);
        self.known.drain(..surplus);
        self.forgotten = self.forgotten.saturating_add(surplus);
    }

    fn answered(&mut self, id: ToolCallId) {
        self.results.insert(id);
        if self.results.len() > MAX_RESULTS {
            self.results.pop_first();
        }
    }

    /// Returns whether the agent has the result of a call, or produced it.
    pub(super) fn has_result(&self, id: &ToolCallId) -> bool {
        self.results.contains(id)
    }

    /// Returns the texts for the beginning of the next prompt.
    pub(super) fn queued(&self) -> &[String] {
        &self.queued
    }

    pub(super) fn background(&self) -> Background {
        self.background
    }

    pub(super) fn has_session(&self) -> bool {
        self.has_session
    }

    pub(super) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Returns whether the session has messages that the conversation no longer has.
    pub(super) fn has_more(&self) -> bool {
        self.has_more
    }

    /// Returns whether a message of this id is known.
    pub(crate) fn has(&self, id: &MessageId) -> bool {
        self.known.iter().any(|known| known.id == *id)
    }

    /// Returns whether messages have one of the user that is neither known nor new.
    pub(crate) fn lacks_any_of(&self, messages: &[Message], new: &[Message]) -> bool {
        let known: BTreeSet<_> = self.known.iter().map(|known| &known.id).collect();
        let new: BTreeSet<_> = new.iter().filter_map(Message::id).collect();
        let is_lacking = |message: &Message| match message {
            Message::User(user) => !known.contains(&user.id) && !new.contains(&user.id),
            _ => false,
        };
        messages.iter().any(is_lacking)
    }

    /// Returns whether a message of an instruction is known.
    pub(crate) fn has_any_of(&self, instruction: &Instruction) -> bool {
        self.known.iter().any(|known| instruction.has(&known.id))
    }

    /// Returns whether a list of messages has all that are known, by id or, each with another one,
    /// by text.
    pub(crate) fn is_contained<'a>(&self, messages: impl Iterator<Item = &'a Message>) -> bool {
        let known: BTreeSet<_> = self.known.iter().map(|known| &known.id).collect();
        let mut ids = BTreeSet::new();
        let mut texts: BTreeMap<Print, usize> = BTreeMap::new();
        for message in messages {
            let Some(theirs) = Known::of(message) else { continue };
            if known.contains(&theirs.id) {
                ids.insert(theirs.id);
                continue;
            }
            *texts.entry(theirs.print).or_default() += 1;
            if let Message::User(user) = message {
                // The form in which some clients send a text.
                let part =
                    Content::Parts(vec![ContentPart::Text(TextPart::new(user.content.text()))]);
                *texts.entry(Print::default().and(&compared_text(&part))).or_default() += 1;
            }
        }
        self.known.iter().filter(|known| !ids.contains(&known.id)).all(|known| {
            texts.get_mut(&known.print).is_some_and(|count| {
                let is_left = *count > 0;
                *count -= usize::from(is_left);
                is_left
            })
        })
    }

    /// Returns whether the conversation is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns whether an input repeats the last prompt of the agent, after a turn without a text.
    /// All messages before `start` are known.
    ///
    /// Calls, results, thoughts and activities of that turn would follow the prompt.
    pub(super) fn is_repetition(
        &self,
        input: &RunAgentInput,
        messages: &[Message],
        start: usize,
    ) -> bool {
        let answers = input.resume.as_deref().unwrap_or_default();
        let is_context =
            |message: &Message| matches!(message, Message::System(_) | Message::Developer(_));
        let last = start.checked_sub(1).and_then(|last| messages.get(last));
        answers.is_empty()
            && matches!(last, Some(Message::User(_)))
            && messages.iter().skip(start).all(is_context)
            && self.known.last().is_some_and(|known| !known.by_agent && known.has_ended)
    }

    /// Compares messages with those of the agent.
    ///
    /// Only messages of user and agent are compared, by role, text and place. Their ids are not:
    /// some clients make new ones for each input. The agent's last message may be missing or
    /// truncated if the user continues: the page lost its connection.
    pub(super) fn standing(
        &self,
        messages: &[Message],
        may_be_new_alone: bool,
    ) -> MessageComparison {
        if may_be_new_alone && self.are_new_alone(messages) {
            return MessageComparison::Known(0);
        }
        let said = messages.iter().enumerate();
        let said = said.filter_map(|(index, message)| Some((index, Known::of(message)?)));
        let mut said = said.skip(self.forgotten).peekable();
        let mut known = self.known.iter().peekable();
        let mut next = 0;
        while let (Some(ours), Some((index, theirs))) = (known.peek(), said.peek()) {
            if !ours.is(theirs) {
                break;
            }
            next = index + 1;
            known.next();
            said.next();
        }
        if known.peek().is_none() && self.known.last().is_some_and(|known| !known.by_agent) {
            // The answer in a turn that was cut off: this process has not seen it.
            while let Some((index, _)) = said.next_if(|(_, theirs)| theirs.by_agent) {
                next = index + 1;
            }
        }
        // The rest are the agent's own messages, which the page may have missed.
        let missed = known.clone().all(|known| known.by_agent);
        let rest = said.clone();
        match said.next() {
            None if known.peek().is_none() => MessageComparison::Known(next),
            None if self.has_failed && missed => MessageComparison::Known(next),
            // The answer is to be repeated, or the conversation ends earlier.
            None => MessageComparison::Diverged(next),
            Some((index, theirs)) => {
                let is_last = known.clone().nth(1).is_none();
                let cut = is_last && known.peek().is_some_and(|ours| ours.is_cut(&theirs));
                let mut after = rest.skip(usize::from(cut));
                let goes_on = after.clone().next().is_some_and(|(_, theirs)| !theirs.by_agent);
                let changed =
                    after.any(|(_, theirs)| known.clone().any(|ours| ours.id == theirs.id));
                if goes_on && missed && !changed {
                    MessageComparison::Known(index + usize::from(cut))
                } else {
                    MessageComparison::Diverged(index)
                }
            }
        }
    }
}

impl Known {
    /// Returns the compared parts of a message, or `None` for other roles.
    fn of(message: &Message) -> Option<Self> {
        let (id, by_agent, text) = match message {
            Message::User(user) => (&user.id, false, compared_text(&user.content)),
            Message::Assistant(assistant) => {
                let text = assistant.content.clone().filter(|text| !text.is_empty())?;
                (&assistant.id, true, text)
            }
            _ => return None,
        };
        Some(Self::new(id.clone(), by_agent, &text))
    }

    fn new(id: MessageId, by_agent: bool, text: &str) -> Self {
        let print = Print::default().and(text);
        let bytes = text.len();
        Self { id, by_agent, print, bytes, is_complete: false, has_ended: false, place: None }
    }

    /// Returns whether a message of the page equals this one. A user message of the agent is the
    /// page's under its id.
    fn is(&self, theirs: &Self) -> bool {
        let is_same_role = self.by_agent == theirs.by_agent || self.id == theirs.id;
        is_same_role && self.bytes == theirs.bytes && self.print == theirs.print
    }

    /// Returns whether a message of the page is the beginning of this one.
    fn is_cut(&self, theirs: &Self) -> bool {
        self.by_agent && self.id == theirs.id && theirs.bytes < self.bytes
    }
}

/// Returns for each message of the user the known prompt that it is. The known messages are in the
/// same order; some clients renew ids.
fn prompts_of<'a, 'b>(
    known: &'a [Known],
    users: impl Iterator<Item = &'b Known>,
) -> Vec<Option<&'a Known>> {
    let mut rest = known.iter().filter(|known| !known.by_agent);
    let prompts = users.map(|user| {
        let mut later = rest.clone();
        let found = later.find(|known| known.print == user.print);
        if found.is_some() {
            rest = later;
        }
        found
    });
    prompts.collect()
}
