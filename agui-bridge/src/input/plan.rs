//! The plan of an input: session, answers and prompt.
use super::background::Background;
use super::blocks::Blocks;
use super::cancelled::Instruction;
use super::cursors::TurnPlace;
use super::session_memory::{MessageComparison, SessionMemory};
use super::session_step::SessionStep;
use super::transcript::{last_entry, transcript};
use super::{
    Divergence, ForwardedMembers, InputError, MAX_MESSAGES, Prompt, Repeat, Rules, SessionScope,
};
use crate::json::Print;
use acp_types::v1::content::ContentBlock;
use acp_types::v1::initialization::PromptCapabilities;
use acp_types::v1::session_cursors::CursorId;
use agui_types::id::ToolCallId;
use agui_types::input::RunAgentInput;
use agui_types::message::{Message, ToolMessage};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The actions for an input, in this order: session, answers, prompt.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The action on the thread's session before anything is sent to it.
    pub session: SessionStep,
    /// New results of waiting calls.
    pub answers: Vec<ToolMessage>,
    /// The prompt; `None` if the input has nothing new. With neither prompt nor answers, the run is
    /// `RUN_STARTED`, then `RUN_FINISHED`.
    pub prompt: Option<Prompt>,
    /// The first difference from the agent's conversation, as a JSON pointer to the message, or to
    /// the list if it ends too early.
    pub diverged: Option<String>,
    /// Further requests of the input that are allowed.
    pub forwarded: ForwardedMembers,
    /// Results without a waiting call, as texts. They are part of the prompt if there is one.
    late: Vec<String>,
    background: Background,
    /// The messages of the prompt.
    pub(crate) instruction: Instruction,
    /// Index of the first block of these messages in the prompt.
    pub(crate) first_said: usize,
    /// The beginning of the turn.
    place: TurnPlace,
    /// The turn if the agent refuses to fork the session.
    pub(crate) fallback: Option<Box<FallbackTurn>>,
}

/// A turn in a new session with the conversation as text, in place of one in a fork.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FallbackTurn {
    pub(crate) session: SessionStep,
    pub(crate) first_said: usize,
    pub(crate) prompt: Prompt,
}

impl SessionMemory {
    /// Plans the actions for an input, for an agent with these capabilities. The memory changes
    /// only when the plan is [accepted](Self::accept). `waits` returns whether a call waits for its
    /// result.
    ///
    /// | the messages | action |
    /// |---|---|
    /// | are those of the agent, and new user messages | a prompt with the new ones, in order |
    /// | are user messages only, none known to the agent | the same, if [`Rules::new_alone`] is set |
    /// | … and results of waiting calls | [`answers`](Plan::answers); with user messages both |
    /// | … and results without a waiting call | text at the beginning of this or a later prompt |
    /// | … and nothing else, or the agent's own messages | no prompt |
    /// | go back: a message of the user is edited, or is to be answered again, and the agent has a cursor before its turn | a fork at the cursor, with the new messages, by [`Divergence`] |
    /// | differ: one is edited, missing, or not from the agent | by [`Divergence`] |
    /// | end with a message that was answered, also without text, to repeat the answer | by [`Divergence`] |
    /// | lack the end of the agent's last message, and continue | a prompt: the page lost its connection |
    /// | are those of a run that ended with `RUN_ERROR` | its prompt again |
    /// | have some that were cancelled before they were sent | the same without those |
    /// | … and end with one | its prompt: the user sends it again |
    /// | have some that were cancelled without an answer, for a new session | the same with those as history |
    /// | have a history, and the thread has no session | a new session, with the history as text |
    /// | … and [`ForwardedMembers::session_id`] names one | that session, which knows the history |
    ///
    /// | other members | result |
    /// |---|---|
    /// | new or changed system and developer messages | `systemPrompt` of a new session, otherwise a text before all others |
    /// | `context` | a block for each entry, after the user's messages |
    /// | `state` | a block of JSON, if [`Rules::state`] is set |
    /// | `forwardedProps` | [`ForwardedMembers`] |
    /// | `parentRunId` | ignored: a conversation that goes back is recognized by its messages |
    /// | `tools`, `resume` | ignored: [`frontend_tool`](crate::frontend_tool) and [`begin_run`](crate::Translator::begin_run) read them |
    ///
    /// Message parts become blocks by the table of [`work`](super::work).
    ///
    /// # Errors
    /// The input has no messages or too many, a new message is blank, a value is invalid or too
    /// large, the agent does not support a part, or the conversation differs and that is not
    /// allowed. The error has the place.
    pub fn plan(
        &self,
        input: &RunAgentInput,
        rules: &Rules,
        capabilities: &PromptCapabilities,
        waits: impl Fn(&ToolCallId) -> bool,
    ) -> Result<Plan, InputError> {
        if input.messages.is_empty() {
            return Err(InputError::NoMessages);
        }
        if input.messages.len() > MAX_MESSAGES {
            let limit = format!("{MAX_MESSAGES} messages");
            return Err(InputError::TooLarge { pointer: "/messages".to_string(), limit });
        }
        let forwarded = rules.forwarded.read(input.forwarded_props.as_ref())?;
        let messages = &*self.without_cancelled(input);
        let last = last_words(messages).max(self.after_unanswered(input));
        let aim = self.aim(input, messages, last, rules, &forwarded)?;
        let (answers, late) = self.results(messages, &aim, waits);
        let new_session = matches!(&aim.session, Session::Fork(Some(_))).then(|| Aim {
            session: Session::New,
            unseen: last,
            place: TurnPlace::default(),
            ..aim.clone()
        });
        let mut plan = Plan {
            session: SessionStep::Keep,
            answers,
            prompt: None,
            diverged: aim.diverged.clone(),
            forwarded,
            late,
            background: self.background(),
            instruction: Instruction::default(),
            first_said: 0,
            place: aim.place,
            fallback: None,
        };
        let fallback = match new_session {
            Some(aim) => {
                let mut plan = plan.clone();
                self.prompt(&mut plan, input, messages, rules, capabilities, aim)?;
                let Plan { session, first_said, prompt, .. } = plan;
                prompt.map(|prompt| FallbackTurn { session, first_said, prompt }.into())
            }
            None => None,
        };
        self.prompt(&mut plan, input, messages, rules, capabilities, aim)?;
        plan.fallback = fallback;
        Ok(plan)
    }

    /// Plans the first turn of another thread, which begins as this one does: in a fork of this
    /// thread's session, at a cursor if this thread has gone on. Returns `None` without a place to
    /// fork the session at.
    pub(crate) fn plan_branch(
        &self,
        input: &RunAgentInput,
        rules: &Rules,
        capabilities: &PromptCapabilities,
    ) -> Option<Plan> {
        // The messages of a branch begin as those of this thread.
        let rules = Rules { new_alone: false, ..rules.clone() };
        let mut plan = self.plan(input, &rules, capabilities, |_| false).ok()?;
        if plan.prompt.is_none() || plan.forwarded.session_id.is_some() {
            return None;
        }
        let goes_on = plan.session == SessionStep::Keep && plan.diverged.is_none();
        if goes_on && !self.has_failed() && !self.has_more() {
            let cancelled = self.cancelled_alone().unwrap_or_default();
            let new = cancelled.plan(input, &rules, capabilities, |_| false).ok()?;
            // A fork would carry out instructions that were given up.
            if !plan.instruction.is_part_of(&new.instruction) {
                return None;
            }
            let Plan { session, first_said, prompt, .. } = new;
            plan.fallback =
                prompt.map(|prompt| FallbackTurn { session, first_said, prompt }.into());
            plan.session = SessionStep::Fork { cursor: None };
            plan.place.after = self.last_entry();
        }
        plan.fallback.is_some().then_some(plan)
    }

    /// Records that the agent has the input: its prompt was sent, or there was none.
    pub fn accept(&mut self, input: &RunAgentInput, plan: &Plan) {
        let messages = self.without_cancelled(input);
        match &plan.prompt {
            Some(_) => self.handle_prompt(plan.background, &plan.instruction),
            None => self.queue(&plan.late),
        }
        let is_same = plan.diverged.is_none() && plan.session == SessionStep::Keep;
        if is_same && self.has_session() && self.are_new_alone(&messages) {
            self.know_more(&messages);
        } else if plan.diverged.is_none() || plan.prompt.is_some() {
            self.know(&messages);
        }
        if plan.prompt.is_some() {
            self.handle_step(&plan.session, plan.diverged.is_some());
            self.begin_turn(&plan.instruction, &plan.session, plan.place);
        }
    }

    /// Determines the session of the input, and the start of the new messages. `last` is the start
    /// of the final instruction.
    fn aim(
        &self,
        input: &RunAgentInput,
        messages: &[Message],
        last: usize,
        rules: &Rules,
        forwarded: &ForwardedMembers,
    ) -> Result<Aim, InputError> {
        let background = self.background();
        let place = TurnPlace { background, ..TurnPlace::default() };
        let fresh = |start, unseen| {
            let place = TurnPlace::default();
            Aim { session: Session::New, start, unseen, diverged: None, place }
        };
        if forwarded.session_id.is_some() && !self.has_session() {
            return Ok(Aim { session: Session::Attach, ..fresh(last, 0) });
        }
        if rules.session == SessionScope::Turn || !self.has_session() || self.is_empty() {
            return Ok(fresh(last, last));
        }
        let diverged = match self.standing(messages, rules.new_alone) {
            MessageComparison::Known(start) if self.is_repetition(input, messages, start) => {
                "/messages".to_string()
            }
            MessageComparison::Known(start) if !has_answer(messages, start) => {
                let again = self.has_failed() && !has_question(messages, start);
                let start = if again { last } else { start };
                return Ok(Aim { session: Session::Same, place, ..fresh(start, 0) });
            }
            // An index past the end marks missing messages. A known message that continues with an
            // answer was never sent to the agent.
            MessageComparison::Known(at) | MessageComparison::Diverged(at)
                if at < messages.len() =>
            {
                format!("/messages/{at}")
            }
            MessageComparison::Known(_) | MessageComparison::Diverged(_) => "/messages".to_string(),
        };
        let diverged = Some(diverged);
        if rules.use_cursors()
            && let Some((cursor, place)) =
                self.cursor_after(messages.get(..last).unwrap_or_default())
        {
            let session = Session::Fork(Some(cursor.clone()));
            let place = TurnPlace { message: None, is_sent: false, is_repeated: false, ..place };
            return Ok(Aim { session, start: last, unseen: 0, diverged, place });
        }
        let aim = Aim { diverged, ..fresh(last, last) };
        Ok(match rules.divergence {
            Divergence::Reject => {
                let pointer = aim.diverged.unwrap_or_default();
                return Err(InputError::Diverged { pointer });
            }
            Divergence::NewSession => aim,
            Divergence::Fork => Aim { session: Session::Fork(None), place, ..aim },
            Divergence::Ignore => Aim { session: Session::Same, place, ..aim },
        })
    }

    /// Returns the new results: those of waiting calls, and the others as texts.
    fn results(
        &self,
        messages: &[Message],
        aim: &Aim,
        waits: impl Fn(&ToolCallId) -> bool,
    ) -> (Vec<ToolMessage>, Vec<String>) {
        let mut answers = Vec::new();
        let mut late = Vec::new();
        for message in messages {
            let Message::Tool(tool) = message else { continue };
            let id = &tool.tool_call_id;
            if self.has_result(id)
                || answers.iter().any(|tool: &ToolMessage| tool.tool_call_id == *id)
            {
                continue;
            }
            if waits(id) {
                answers.push(tool.clone());
            } else if aim.session == Session::Same && aim.diverged.is_none() {
                late.push(late_text(messages, tool));
            }
        }
        (answers, late)
    }

    fn prompt(
        &self,
        plan: &mut Plan,
        input: &RunAgentInput,
        messages: &[Message],
        rules: &Rules,
        capabilities: &PromptCapabilities,
        aim: Aim,
    ) -> Result<(), InputError> {
        let mut said = Blocks::new(capabilities, rules.unsupported);
        let mut last = None;
        let is_user = |message: &Message| matches!(message, Message::User(_));
        let only = messages.iter().rposition(is_user).filter(|_| self.is_full_of_cancelled());
        let start = aim.start.max(only.unwrap_or_default());
        for (index, message) in messages.iter().enumerate().skip(start) {
            if let Message::User(user) = message {
                let pointer = format!("/messages/{index}/content");
                said.content(&user.content, &pointer)?;
                last = Some((user.id.clone(), pointer));
            }
        }
        if let Some((_, pointer)) = last.as_ref().filter(|_| said.blocks.is_empty()) {
            return Err(InputError::Blank { pointer: pointer.clone() });
        }
        let late =
            rules.prompt_on_late_result && !(plan.late.is_empty() && self.queued().is_empty());
        let id = last.map(|(id, _)| id).or_else(|| input.messages.last()?.id().filter(|_| late));
        let Some(last_message) = id else { return Ok(()) };
        plan.instruction = Instruction::new(messages, start);
        let instructions = instructions(messages);
        let print = instructions.as_deref().map(|text| Print::default().and(text));
        let is_new = aim.session == Session::New;
        let changed = print != aim.place.background.instructions;
        let mut before = Blocks::new(capabilities, rules.unsupported);
        plan.session = match &aim.session {
            Session::Same => SessionStep::Keep,
            Session::Fork(cursor) => SessionStep::Fork { cursor: cursor.clone() },
            Session::Attach => SessionStep::Attach,
            Session::New => SessionStep::New {
                system_prompt: instructions.clone().filter(|_| rules.system_prompt),
            },
        };
        if let Some(text) = instructions.as_ref().filter(|_| changed)
            && !(is_new && rules.system_prompt)
        {
            before.text(text);
        }
        let earlier = messages.get(..aim.unseen).unwrap_or_default();
        match aim.session {
            Session::New => {
                if let Some(text) = transcript(earlier, rules.transcript_bytes) {
                    before.background("agui-transcript://thread", "text/plain", text);
                }
            }
            Session::Fork(None) => before.text(&back_to(earlier)),
            Session::Same | Session::Fork(Some(_)) | Session::Attach => {}
        }
        self.queued().iter().chain(&plan.late).for_each(|text| before.text(text));
        let known = aim.place.background.context;
        let context = beside(plan, input, rules, capabilities, known)?;
        plan.background.instructions = print;
        let mut blocks = before.blocks;
        let mut after = Vec::new();
        if rules.context_first {
            blocks.extend(context);
        } else {
            after = context;
        }
        plan.first_said = blocks.len();
        blocks.extend(said.blocks);
        blocks.extend(after);
        plan.prompt = Some(Prompt { blocks, last_message, unseen: aim.unseen });
        Ok(())
    }
}

/// Returns the blocks of context and state, unless the agent has them by this fingerprint.
fn beside(
    plan: &mut Plan,
    input: &RunAgentInput,
    rules: &Rules,
    capabilities: &PromptCapabilities,
    known: Option<Print>,
) -> Result<Vec<ContentBlock>, InputError> {
    let mut blocks = Blocks::new(capabilities, rules.unsupported);
    blocks.context(input.context.as_deref().unwrap_or_default())?;
    if let Some(state) = input.state.as_ref().filter(|_| rules.state) {
        blocks.state(state, &rules.state_without)?;
    }
    let text = serde_json::to_string(&blocks.blocks).unwrap_or_default();
    let print = Print::default().and(&text);
    plan.background.context = Some(print);
    let left_out = rules.repeat == Repeat::WhenChanged && known == Some(print);
    Ok(if left_out { Vec::new() } else { blocks.blocks })
}

/// The session of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Session {
    Same,
    New,
    /// A fork at a cursor, or of the whole session.
    Fork(Option<CursorId>),
    Attach,
}

#[derive(Clone)]
struct Aim {
    session: Session,
    /// The first message that is new to the session.
    start: usize,
    /// The number of earlier messages that it has not received.
    unseen: usize,
    diverged: Option<String>,
    /// The beginning of its turn.
    place: TurnPlace,
}

/// Returns the start of the final user messages.
fn last_words(messages: &[Message]) -> usize {
    let is_answer = |message: &Message| matches!(message, Message::Assistant(_) | Message::Tool(_));
    messages.iter().rposition(is_answer).map_or(0, |last| last + 1)
}

/// Returns whether these messages have one of the agent.
fn has_answer(messages: &[Message], start: usize) -> bool {
    let said = |message: &Message| match message {
        Message::Assistant(assistant) => {
            assistant.content.as_ref().is_some_and(|text| !text.is_empty())
        }
        _ => false,
    };
    messages.iter().skip(start).any(said)
}

/// Returns whether these messages have one of the user.
fn has_question(messages: &[Message], start: usize) -> bool {
    messages.iter().skip(start).any(|message| matches!(message, Message::User(_)))
}

/// Returns the text of the system and developer messages of a thread, if any.
fn instructions(messages: &[Message]) -> Option<String> {
    let texts = messages.iter().filter_map(|message| match message {
        Message::System(system) => Some(&*system.content),
        Message::Developer(developer) => Some(&*developer.content),
        _ => None,
    });
    let texts: Vec<_> = texts.filter(|text| !text.trim().is_empty()).collect();
    Some(texts.join("\n\n")).filter(|text| !text.is_empty())
}

/// Returns the result without a waiting call, as text.
fn late_text(messages: &[Message], tool: &ToolMessage) -> String {
    let calls = messages.iter().filter_map(|message| match message {
        Message::Assistant(assistant) => assistant.tool_calls.as_ref(),
        _ => None,
    });
    let call = calls.flatten().find(|call| call.id == tool.tool_call_id);
    let name = call.map_or("tool", |call| &call.function.name);
    crate::frontend_tool::late_text(name, &tool.tool_call_id, &tool.into())
}

/// Returns the note for a fork, which knows more than the user's conversation.
fn back_to(earlier: &[Message]) -> String {
    match last_entry(earlier) {
        Some(last) => format!(
            "The user went back in the conversation: nothing counts that was said after this.\n\n{last}"
        ),
        None => "The user began anew: nothing counts that was said before.".to_string(),
    }
}
