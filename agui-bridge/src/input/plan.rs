use super::blocks::Blocks;
use super::session_memory::{SessionMemory, Standing, instructions};
use super::transcript::{last_entry, transcript};
use super::{Divergence, Forwarded, InputError, MAX_MESSAGES, Prompt, Repeat, Rules, SessionScope};
use crate::json::Print;
use acp_types::v1::content::ContentBlock;
use acp_types::v1::initialization::PromptCapabilities;
use agui_types::id::ToolCallId;
use agui_types::input::RunAgentInput;
use agui_types::message::{Message, ToolMessage};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What is to be done for an input, in this order: session, answers, prompt.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// What becomes of the thread's session, before anything is sent to it.
    pub session: SessionStep,
    /// Results of tools for which someone waits, each new.
    pub answers: Vec<ToolMessage>,
    /// What to send; nothing where the input says nothing new. With neither prompt nor answers the run is
    /// `RUN_STARTED`, then `RUN_FINISHED`.
    pub prompt: Option<Prompt>,
    /// Where the conversation is another than the agent's, as a JSON pointer to the first message that is, or to the list
    /// where it ends too early.
    pub diverged: Option<String>,
    /// What else the input asks for, and may.
    pub forwarded: Forwarded,
    /// Results that nobody waits for, as texts; they are in the prompt where there is one.
    pub(super) late: Vec<String>,
    pub(super) told: Told,
}

/// What becomes of a thread's session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SessionStep {
    /// It goes on. Where the thread has none, and there is nothing to send, none is needed.
    Keep,
    /// `session/new`.
    New {
        /// For its `systemPrompt`, where [`Rules::system_prompt`] says that the agent takes one.
        system_prompt: Option<String>,
    },
    /// `session/fork` of it.
    Fork,
    /// `session/resume` or `session/load` of [`Forwarded::session_id`].
    Attach,
}

/// What the agent is told beside the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Told {
    pub(super) instructions: Option<Print>,
    pub(super) context: Option<Print>,
}

/// What system and developer messages say.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Instructions {
    text: Option<String>,
}

impl Instructions {
    pub(super) fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let text = texts.collect::<Vec<_>>().join("\n\n");
        Self { text: Some(text).filter(|text| !text.is_empty()) }
    }

    fn print(&self) -> Option<Print> {
        self.text.as_deref().map(|text| Print::default().and(text))
    }
}

impl SessionMemory {
    /// Says what an input asks for, of an agent that has these capabilities; nothing changes before it is
    /// [accepted](Self::accept). `waits` says whether someone waits for the result of a call.
    ///
    /// | the messages | follows |
    /// |---|---|
    /// | are those that the agent has, and users' messages | a prompt with those, in order |
    /// | are users' messages alone, none of which the agent has | the same, where [`Rules::new_alone`] says so |
    /// | … and results of calls for which someone waits | [`answers`](Plan::answers); with users' messages both |
    /// | … and results for which nobody waits | text at the begin of the prompt, or of a later one |
    /// | … and nothing else, or what the agent said itself | no prompt |
    /// | are others: one is edited, gone, or was never said by the agent | by [`Divergence`] |
    /// | end with a message that was answered: the answer is to be given again | by [`Divergence`] |
    /// | lack the end of what the agent said, and go on | a prompt: the page has lost its connection |
    /// | are those of a run that ended with `RUN_ERROR` | its prompt again |
    /// | have a history, and the thread has no session | a new session, with the history as text |
    /// | … and [`Forwarded::session_id`] names one | that session, which knows it |
    ///
    /// | what comes with them | becomes |
    /// |---|---|
    /// | system and developer messages that are new or changed | `systemPrompt` of a new session, else a text before all others |
    /// | `context` | a block for each entry, behind what the user says |
    /// | `state` | a block of JSON, where [`Rules::state`] says so |
    /// | `forwardedProps` | [`Forwarded`] |
    /// | `parentRunId` | nothing: a branch is told by its messages |
    /// | `tools`, `resume` | nothing: [`frontend_tool`](crate::frontend_tool) and [`begin_run`](crate::Translator::begin_run) read them |
    ///
    /// Parts of messages become blocks by the table of [`work`](super::work).
    ///
    /// # Errors
    /// There are no messages or too many, a new one is blank, a value is broken or too large, a part is of a kind that the
    /// agent does not take, or the conversation is another and that is not allowed. The error says where.
    pub fn plan(
        &self,
        input: &RunAgentInput,
        rules: &Rules,
        capabilities: &PromptCapabilities,
        waits: impl Fn(&ToolCallId) -> bool,
    ) -> Result<Plan, InputError> {
        let messages = &input.messages;
        if messages.is_empty() {
            return Err(InputError::NoMessages);
        }
        if messages.len() > MAX_MESSAGES {
            let limit = format!("{MAX_MESSAGES} messages");
            return Err(InputError::TooLarge { pointer: "/messages".to_string(), limit });
        }
        let forwarded = rules.forwarded.read(input.forwarded_props.as_ref())?;
        let aim = self.aim(messages, rules, &forwarded)?;
        let (answers, late) = self.results(messages, &aim, waits);
        let mut plan = Plan {
            session: SessionStep::Keep,
            answers,
            prompt: None,
            diverged: aim.diverged.clone(),
            forwarded,
            late,
            told: Told { instructions: self.instructions, context: self.context },
        };
        self.prompt(&mut plan, input, rules, capabilities, aim)?;
        Ok(plan)
    }

    /// Which session the input is for, and where what is new for it begins.
    fn aim(
        &self,
        messages: &[Message],
        rules: &Rules,
        forwarded: &Forwarded,
    ) -> Result<Aim, InputError> {
        let last = last_words(messages);
        let fresh = |start, unseen| Aim { session: Session::New, start, unseen, diverged: None };
        if forwarded.session_id.is_some() && !self.has_session {
            return Ok(Aim { session: Session::Attach, ..fresh(last, 0) });
        }
        if rules.session == SessionScope::Turn || !self.has_session || self.is_empty() {
            return Ok(fresh(last, last));
        }
        let diverged = match self.standing(messages, rules.new_alone) {
            Standing::Known(start) if !has_answer(messages, start) => {
                let again = self.has_failed && !has_question(messages, start);
                let start = if again { last } else { start };
                return Ok(Aim { session: Session::Same, ..fresh(start, 0) });
            }
            // Past the end is what is missing. What is known and goes on with an answer was never asked of the agent.
            Standing::Known(at) | Standing::Diverged(at) if at < messages.len() => {
                format!("/messages/{at}")
            }
            Standing::Known(_) | Standing::Diverged(_) => "/messages".to_string(),
        };
        let session = match rules.divergence {
            Divergence::Reject => return Err(InputError::Diverged { pointer: diverged }),
            Divergence::NewSession => Session::New,
            Divergence::Fork => Session::Fork,
            Divergence::Ignore => Session::Same,
        };
        Ok(Aim { session, start: last, unseen: last, diverged: Some(diverged) })
    }

    /// Results that are new: those for which someone waits, and texts of the others.
    fn results(
        &self,
        messages: &[Message],
        aim: &Aim,
        waits: impl Fn(&ToolCallId) -> bool,
    ) -> (Vec<ToolMessage>, Vec<String>) {
        let (mut answers, mut late) = (Vec::new(), Vec::new());
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
        rules: &Rules,
        capabilities: &PromptCapabilities,
        aim: Aim,
    ) -> Result<(), InputError> {
        let mut said = Blocks::new(capabilities, rules.unsupported);
        let mut last = None;
        for (index, message) in input.messages.iter().enumerate().skip(aim.start) {
            if let Message::User(user) = message {
                let pointer = format!("/messages/{index}/content");
                said.content(&user.content, &pointer)?;
                last = Some((user.id.clone(), pointer));
            }
        }
        if let Some((_, pointer)) = last.as_ref().filter(|_| said.blocks.is_empty()) {
            return Err(InputError::Blank { pointer: pointer.clone() });
        }
        let late = rules.prompt_on_late_result && !(plan.late.is_empty() && self.queued.is_empty());
        let id = last.map(|(id, _)| id).or_else(|| input.messages.last()?.id().filter(|_| late));
        let Some(last_message) = id else { return Ok(()) };
        let instructions = instructions(&input.messages);
        let is_new = aim.session == Session::New;
        let changed = is_new || instructions.print() != self.instructions;
        let mut before = Blocks::new(capabilities, rules.unsupported);
        plan.session = match aim.session {
            Session::Same => SessionStep::Keep,
            Session::Fork => SessionStep::Fork,
            Session::Attach => SessionStep::Attach,
            Session::New => SessionStep::New {
                system_prompt: instructions.text.clone().filter(|_| rules.system_prompt),
            },
        };
        if let Some(text) = instructions.text.as_ref().filter(|_| changed)
            && !(is_new && rules.system_prompt)
        {
            before.text(text);
        }
        let earlier = input.messages.get(..aim.unseen).unwrap_or_default();
        match aim.session {
            Session::New => {
                if let Some(text) = transcript(earlier, rules.transcript_bytes) {
                    before.background("agui-transcript://thread", "text/plain", text);
                }
            }
            Session::Fork => before.text(&back_to(earlier)),
            Session::Same | Session::Attach => {}
        }
        self.queued.iter().chain(&plan.late).for_each(|text| before.text(text));
        let context = self.beside(plan, input, rules, capabilities, is_new)?;
        plan.told.instructions = instructions.print();
        let (first, second) =
            if rules.context_first { (context, said.blocks) } else { (said.blocks, context) };
        let blocks = before.blocks.into_iter().chain(first).chain(second).collect();
        plan.prompt = Some(Prompt { blocks, last_message, unseen: aim.unseen });
        Ok(())
    }

    /// The blocks of context and state, unless the agent has them.
    fn beside(
        &self,
        plan: &mut Plan,
        input: &RunAgentInput,
        rules: &Rules,
        capabilities: &PromptCapabilities,
        is_new: bool,
    ) -> Result<Vec<ContentBlock>, InputError> {
        let mut blocks = Blocks::new(capabilities, rules.unsupported);
        blocks.context(input.context.as_deref().unwrap_or_default())?;
        if let Some(state) = input.state.as_ref().filter(|_| rules.state) {
            blocks.state(state, &rules.state_without)?;
        }
        let text = serde_json::to_string(&blocks.blocks).unwrap_or_default();
        let print = Print::default().and(&text);
        let same = self.context == Some(print) && !is_new;
        plan.told.context = Some(print);
        let left_out = rules.repeat == Repeat::WhenChanged && same;
        Ok(if left_out { Vec::new() } else { blocks.blocks })
    }
}

/// Which session an input is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Session {
    Same,
    New,
    Fork,
    Attach,
}

struct Aim {
    session: Session,
    /// The first message that is new for it.
    start: usize,
    /// How many messages before that it has not seen.
    unseen: usize,
    diverged: Option<String>,
}

/// Where the messages begin after which nobody but the user said anything.
fn last_words(messages: &[Message]) -> usize {
    let is_answer = |message: &Message| matches!(message, Message::Assistant(_) | Message::Tool(_));
    messages.iter().rposition(is_answer).map_or(0, |last| last + 1)
}

/// Whether the agent is said to have said something among these messages.
fn has_answer(messages: &[Message], start: usize) -> bool {
    let said = |message: &Message| match message {
        Message::Assistant(assistant) => {
            assistant.content.as_ref().is_some_and(|text| !text.is_empty())
        }
        _ => false,
    };
    messages.iter().skip(start).any(said)
}

/// Whether the user says something among these messages.
fn has_question(messages: &[Message], start: usize) -> bool {
    messages.iter().skip(start).any(|message| matches!(message, Message::User(_)))
}

/// The result of a call for which nobody waits.
fn late_text(messages: &[Message], tool: &ToolMessage) -> String {
    let calls = messages.iter().filter_map(|message| match message {
        Message::Assistant(assistant) => assistant.tool_calls.as_ref(),
        _ => None,
    });
    let call = calls.flatten().find(|call| call.id == tool.tool_call_id);
    let name = call.map_or("tool", |call| &call.function.name);
    crate::frontend_tool::late_text(name, &tool.tool_call_id, &tool.into())
}

/// What a fork is told, that knows more than the user's conversation has.
fn back_to(earlier: &[Message]) -> String {
    match last_entry(earlier) {
        Some(last) => format!(
            "The user went back in the conversation: nothing counts that was said after this.\n\n{last}"
        ),
        None => "The user began anew: nothing counts that was said before.".to_string(),
    }
}
