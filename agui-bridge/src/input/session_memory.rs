use super::plan::{Instructions, Plan};
use crate::json::{Print, cut};
use agui_types::content::Content;
use agui_types::event::Event;
use agui_types::id::{MessageId, ToolCallId};
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Messages that are compared; of a longer conversation, the latest.
pub const MAX_KNOWN: usize = 4096;
/// Texts that wait for the next prompt; of more, the latest.
pub const MAX_QUEUED: usize = 64;
/// Bytes of one of them.
const MAX_QUEUED_BYTES: usize = 64 << 10;
/// Tool results that are known; of more, the latest calls in the order of their ids.
const MAX_RESULTS: usize = 4096;

/// What an agent has of a thread's conversation, and what of an input is new for it.
///
/// AG-UI clients send the whole conversation with each input, and may have changed it: a message edited, an answer to be
/// given again, another branch. [`plan`](Self::plan) holds an input against what the agent has, and says what to do;
/// when that was done, [`accept`](Self::accept) notes it. What the agent says meanwhile is noted by
/// [`handle_event`](Self::handle_event). It keeps fingerprints, no texts, and can be written as JSON and go on
/// elsewhere.
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
/// conversation.handle_event(&TextMessageStartEvent::new("a1").into()); // what the page is told
/// conversation.handle_event(&TextMessageContentEvent::new("a1", "Hello.").into());
///
/// let next = wire::decode(r#"{"threadId":"t","runId":"2","messages":[
///     {"id":"u1","role":"user","content":"Hi"},{"id":"a1","role":"assistant","content":"Hello."},
///     {"id":"u2","role":"user","content":"What is new?"}]}"#)?;
/// let plan = conversation.plan(&next, &rules, &takes, |_| false)?;
/// assert_eq!(plan.session, SessionStep::Keep);
/// assert_eq!(plan.prompt.ok_or("nothing new")?.blocks.len(), 1);
///
/// // The user has changed what was said first: the agent's session is another conversation now.
/// let edited = wire::decode(r#"{"threadId":"t","runId":"3","messages":[{"id":"u1","role":"user","content":"Ho"}]}"#)?;
/// let plan = conversation.plan(&edited, &rules, &takes, |_| false)?;
/// assert_eq!(plan.diverged.as_deref(), Some("/messages/0"));
/// assert_eq!(plan.session, SessionStep::New { system_prompt: None });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionMemory {
    /// What user and agent said, in order; the latest.
    known: Vec<Known>,
    /// How many were forgotten before those.
    forgotten: usize,
    /// Calls whose results the agent has, or gave.
    results: BTreeSet<ToolCallId>,
    /// Texts for the begin of the next prompt.
    pub(super) queued: Vec<String>,
    /// What the agent was last told beside the conversation.
    pub(super) instructions: Option<Print>,
    pub(super) context: Option<Print>,
    /// Whether the thread has a session.
    pub(super) has_session: bool,
    /// Whether the last run ended with an error.
    pub(super) has_failed: bool,
}

/// A message that user or agent said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Known {
    id: MessageId,
    by_agent: bool,
    print: Print,
    bytes: usize,
}

/// How an input's messages stand to those that the agent has.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Standing {
    /// They are those, and perhaps more: the index of the first that the agent does not have.
    Known(usize),
    /// They are others from this index on.
    Diverged(usize),
}

impl SessionMemory {
    /// A thread without messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that the agent has what the input says: its prompt was sent, or there was none to send.
    pub fn accept(&mut self, input: &RunAgentInput, plan: &Plan) {
        self.has_session |= plan.prompt.is_some();
        if plan.prompt.is_none() {
            self.queue(&plan.late);
        } else {
            self.queued.clear();
            self.instructions = plan.told.instructions;
            self.context = plan.told.context;
        }
        if plan.diverged.is_none() || plan.prompt.is_some() {
            self.has_failed &= plan.prompt.is_none();
            self.know(&input.messages);
        }
    }

    /// Notes what the page is told: its next input has it as messages.
    pub fn handle_event(&mut self, event: &Event) {
        match event {
            Event::TextMessageStart(start) => {
                let id = start.message_id.clone();
                self.push(Known { id, by_agent: true, print: Print::default(), bytes: 0 });
            }
            Event::TextMessageContent(content) => {
                let open = self.known.iter_mut().rev().find(|known| known.id == content.message_id);
                if let Some(known) = open {
                    known.print = known.print.and(&content.delta);
                    known.bytes = known.bytes.saturating_add(content.delta.len());
                }
            }
            Event::TextMessageEnd(end) => {
                // Without text it is no message that could be compared.
                self.known.retain(|known| known.id != end.message_id || known.bytes > 0);
            }
            Event::RunError(_) => self.has_failed = true,
            Event::ToolCallResult(result) => self.answered(result.tool_call_id.clone()),
            Event::MessagesSnapshot(snapshot) => {
                self.has_session = true;
                self.know(&snapshot.messages);
            }
            _ => {}
        }
    }

    /// Keeps a text for the begin of the next prompt: a result that comes
    /// [late](crate::frontend_tool::Action::Tell).
    pub fn tell_later(&mut self, text: impl Into<String>) {
        self.queue(&[text.into()]);
    }

    /// The session is gone: the next prompt begins one.
    pub fn forget_session(&mut self) {
        *self = Self { queued: core::mem::take(&mut self.queued), ..Self::default() };
    }

    fn queue(&mut self, texts: &[String]) {
        self.queued.extend(texts.iter().map(|text| cut(text.clone(), MAX_QUEUED_BYTES)));
        let surplus = self.queued.len().saturating_sub(MAX_QUEUED);
        self.queued.drain(..surplus);
    }

    fn know(&mut self, messages: &[Message]) {
        (self.known, self.forgotten) = (Vec::new(), 0);
        for message in messages {
            if let Message::Tool(tool) = message {
                self.answered(tool.tool_call_id.clone());
            }
            if let Some(known) = Known::of(message) {
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

    /// Whether the agent has the result of a call, or gave it.
    pub(super) fn has_result(&self, id: &ToolCallId) -> bool {
        self.results.contains(id)
    }

    /// Whether nothing was said.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Holds messages against those that the agent has.
    ///
    /// Only what user and agent said is compared, by id and text. What the agent said last may be missing, or be cut,
    /// where the user goes on: the page has lost its connection.
    pub(super) fn standing(&self, messages: &[Message], may_be_new_alone: bool) -> Standing {
        let said = messages.iter().enumerate();
        let said = said.filter_map(|(index, message)| Some((index, Known::of(message)?)));
        let is_new =
            |theirs: &Known| !theirs.by_agent && self.known.iter().all(|ours| ours.id != theirs.id);
        if may_be_new_alone && said.clone().all(|(_, theirs)| is_new(&theirs)) {
            return Standing::Known(0);
        }
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
        // What is left of what the agent has is its own words, so that the page may have missed them.
        let missed = known.clone().all(|known| known.by_agent);
        let rest = said.clone();
        match said.next() {
            None if known.peek().is_none() => Standing::Known(next),
            None if self.has_failed && missed => Standing::Known(next),
            // The answer is to be given again, or the conversation ends earlier.
            None => Standing::Diverged(next),
            Some((index, theirs)) => {
                let is_last = known.clone().nth(1).is_none();
                let cut = is_last && known.peek().is_some_and(|ours| ours.is_cut(&theirs));
                let mut after = rest.skip(usize::from(cut));
                let goes_on = after.clone().next().is_some_and(|(_, theirs)| !theirs.by_agent);
                let changed =
                    after.any(|(_, theirs)| known.clone().any(|ours| ours.id == theirs.id));
                if goes_on && missed && !changed {
                    Standing::Known(index + usize::from(cut))
                } else {
                    Standing::Diverged(index)
                }
            }
        }
    }
}

impl Known {
    /// What is compared of a message; nothing for one that user and agent did not say.
    fn of(message: &Message) -> Option<Self> {
        let (id, by_agent, text) = match message {
            Message::User(user) => (&user.id, false, said(&user.content)),
            Message::Assistant(assistant) => {
                let text = assistant.content.clone().filter(|text| !text.is_empty())?;
                (&assistant.id, true, text)
            }
            _ => return None,
        };
        let print = Print::default().and(&text);
        Some(Self { id: id.clone(), by_agent, print, bytes: text.len() })
    }

    /// Whether a message of the page's is this one. What the agent told of the user is by either.
    fn is(&self, theirs: &Self) -> bool {
        self.id == theirs.id && self.print == theirs.print
    }

    /// Whether a message of the page's is the begin of this one.
    fn is_cut(&self, theirs: &Self) -> bool {
        self.by_agent && self.id == theirs.id && theirs.bytes < self.bytes
    }
}

/// Text, or parts as JSON.
fn said(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        parts => serde_json::to_string(parts).unwrap_or_default(),
    }
}

/// What a thread was told by its system and developer messages.
pub(super) fn instructions(messages: &[Message]) -> Instructions {
    let texts = messages.iter().filter_map(|message| match message {
        Message::System(system) => Some(&*system.content),
        Message::Developer(developer) => Some(&*developer.content),
        _ => None,
    });
    Instructions::of(texts.filter(|text| !text.trim().is_empty()))
}
