//! The conversation as known to an agent's session.
use crate::json::{Print, cut};
use agui_types::content::Content;
use agui_types::event::Event;
use agui_types::id::{MessageId, ToolCallId};
use agui_types::message::Message;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

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
/// AG-UI clients send the whole conversation with each input, possibly changed: an edited message, a repeated question,
/// another branch. [`plan`](Self::plan) compares an input with the agent's conversation and returns the actions;
/// [`accept`](Self::accept) records that they were done. [`handle_event`](Self::handle_event) records the agent's
/// messages. The memory stores fingerprints, not texts. It can be serialized as JSON and restored elsewhere.
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
}

/// Fingerprints of the background for the agent beside the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Background {
    pub(super) instructions: Option<Print>,
    pub(super) context: Option<Print>,
}

/// A message of the user or the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Known {
    id: MessageId,
    by_agent: bool,
    print: Print,
    bytes: usize,
}

/// An input's messages in comparison with the agent's.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Standing {
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
                let id = start.message_id.clone();
                self.push(Known { id, by_agent: true, print: Print::default(), bytes: 0 });
            }
            Event::TextMessageContent(content) => {
                self.handle_text(&content.message_id, &content.delta);
            }
            Event::TextMessageEnd(end) => {
                // A message without text cannot be compared.
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

    /// Adds a piece of a message that is sent to the page.
    pub(crate) fn handle_text(&mut self, id: &MessageId, delta: &str) {
        if let Some(known) = self.known.iter_mut().rev().find(|known| known.id == *id) {
            known.print = known.print.and(delta);
            known.bytes = known.bytes.saturating_add(delta.len());
        }
    }

    /// Records the loss of the session. The next prompt begins a new one.
    pub fn forget_session(&mut self) {
        *self = Self { queued: core::mem::take(&mut self.queued), ..Self::default() };
    }

    /// Records that the agent has a prompt, with this background.
    pub(super) fn handle_prompt(&mut self, background: Background) {
        (self.has_session, self.has_failed) = (true, false);
        self.background = background;
        self.queued.clear();
    }

    /// Stores texts for the beginning of the next prompt.
    pub(super) fn queue(&mut self, texts: &[String]) {
        self.queued.extend(texts.iter().map(|text| cut(text.clone(), MAX_QUEUED_BYTES)));
        let surplus = self.queued.len().saturating_sub(MAX_QUEUED);
        self.queued.drain(..surplus);
    }

    /// Records that the agent has these messages, and no others.
    pub(super) fn know(&mut self, messages: &[Message]) {
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

    /// Returns whether the conversation is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Compares messages with those of the agent.
    ///
    /// Only messages of user and agent are compared, by role, text and place. Their ids are not: some clients make new
    /// ones for each input. The agent's last message may be missing or truncated if the user continues: the page lost its
    /// connection.
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
        // The rest are the agent's own messages, which the page may have missed.
        let missed = known.clone().all(|known| known.by_agent);
        let rest = said.clone();
        match said.next() {
            None if known.peek().is_none() => Standing::Known(next),
            None if self.has_failed && missed => Standing::Known(next),
            // The answer is to be repeated, or the conversation ends earlier.
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
    /// Returns the compared parts of a message, or `None` for other roles.
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

    /// Returns whether a message of the page equals this one. A user message of the agent is the page's under its id.
    fn is(&self, theirs: &Self) -> bool {
        let is_same_role = self.by_agent == theirs.by_agent || self.id == theirs.id;
        is_same_role && self.bytes == theirs.bytes && self.print == theirs.print
    }

    /// Returns whether a message of the page is the beginning of this one.
    fn is_cut(&self, theirs: &Self) -> bool {
        self.by_agent && self.id == theirs.id && theirs.bytes < self.bytes
    }
}

/// Returns the text, or the parts as JSON.
fn said(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        parts => serde_json::to_string(parts).unwrap_or_default(),
    }
}
