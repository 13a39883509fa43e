//! Reduction: the conversation and the state that a stream of events produces.
//!
//! Spec: [State, 1.0](https://ag-ui.com/spec/1.0/events/state),
//! [Streaming Messages, 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming)
use crate::event::{Event, RunErrorEvent, RunFinishedEvent, RunFinishedOutcome, RunStartedEvent};
use crate::id::ToolCallId;
use crate::input::RunAgentInput;
use crate::json_patch::JsonDocument;
use crate::message::Message;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Raw};
use serde_json::{Map, Value};

mod conversation;
mod members;
mod warning;

pub use warning::Warning;

use conversation::Conversation;

/// Applies events in order and holds the resulting messages and state, as the first-party client
/// does.
///
/// The input has to be [enforced](crate::enforce), [expanded](crate::expand) and
/// [verified](crate::verify). The reducer does not fail: what it cannot apply it skips, with a
/// [`Warning`].
///
/// | event | result |
/// |---|---|
/// | `TEXT_MESSAGE_*`, `REASONING_MESSAGE_*` | a message, which grows; an existing one is continued |
/// | `TOOL_CALL_*` | a call in its parent message, or in a new assistant message with the parent's identifier or else the call's |
/// | `TOOL_CALL_RESULT` | a tool message, after the message that holds the call and after the tool messages there |
/// | `STATE_SNAPSHOT`, `STATE_DELTA` | the state, replaced or changed; a change is applied whole or not at all |
/// | `MESSAGES_SNAPSHOT` | its messages replace existing ones or are appended; other messages are removed, except activities and reasoning unless the snapshot has some |
/// | `ACTIVITY_SNAPSHOT`, `ACTIVITY_DELTA` | an activity message, its content replaced or changed |
/// | `REASONING_ENCRYPTED_VALUE` | the value, kept with its message or call |
/// | `RUN_STARTED` | the messages of its input that are missing |
/// | `RUN_FINISHED`, `RUN_ERROR` | the run's [end](Self::end) |
/// | any other | no change |
///
/// Metadata is merged key by key into the resulting message, or into the call for call events.
/// Messages of a subagent carry its `subagentRunId`.
///
/// The cost of a delta is proportional to its length, for any number of messages. The cost of a
/// result grows with the number of messages after its call, the cost of an activity change with the
/// activity's content.
///
/// ```
/// use agui_types::reduce::Reducer;
/// use agui_types::jsonrpc_core::wire;
/// use serde_json::json;
///
/// let mut reducer = Reducer::new();
/// for text in [
///     r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
///     r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#,
///     r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hel"}"#,
///     r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"lo"}"#,
///     r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/done","value":true}]}"#,
/// ] {
///     assert_eq!(reducer.handle(&wire::decode(text)?), None);
/// }
/// assert_eq!(
///     serde_json::to_value(reducer.messages())?,
///     json!([{"id": "m", "role": "assistant", "content": "Hello"}])
/// );
/// assert_eq!(reducer.state(), &json!({"done": true}));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Spec: [Event Streams, 1.0](https://ag-ui.com/spec/1.0/events)
#[derive(Clone, Debug)]
pub struct Reducer {
    conversation: Conversation,
    state: JsonDocument,
    /// Calls of the run, in order.
    made: Vec<ToolCallId>,
    known: BTreeSet<ToolCallId>,
    answered: BTreeSet<ToolCallId>,
    end: Option<RunEnd>,
}

/// How a run ended.
///
/// Spec: [Runs and Steps, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle)
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a run ends with one of these two events")]
pub enum RunEnd {
    /// The run succeeded, waits for answers or was cancelled.
    Finished(RunFinishedEvent),
    /// The run failed.
    Failed(RunErrorEvent),
}

impl Default for Reducer {
    fn default() -> Self {
        Self::new()
    }
}

impl Reducer {
    /// Default largest size of all messages, in bytes of compact JSON (approximate). The state has
    /// its own limit ([`JsonDocument::DEFAULT_LIMIT`]).
    pub const DEFAULT_LIMIT: usize = 64 * 1024 * 1024;

    /// Largest number of metadata keys that merging creates on one message or call.
    pub const MAX_METADATA_KEYS: usize = 1_024;

    /// Creates a reducer without messages, with `{}` as the state.
    pub fn new() -> Self {
        Self {
            conversation: Conversation::new(Self::DEFAULT_LIMIT),
            state: JsonDocument::new(Value::Object(Map::new())),
            made: Vec::new(),
            known: BTreeSet::new(),
            answered: BTreeSet::new(),
            end: None,
        }
    }

    /// Creates a reducer with these messages and this state.
    pub fn holding(messages: Vec<Message>, state: Value) -> Self {
        let mut reducer = Self::new();
        reducer.state = JsonDocument::new(state);
        reducer.conversation.hold(messages);
        reducer
    }

    /// Creates a reducer with the messages and the state of a run's input.
    ///
    /// # Errors
    /// The state is nested too deeply, or has a number outside the range of a double.
    pub fn for_input(input: &RunAgentInput) -> Result<Self, DecodeError> {
        let empty = || Ok(Value::Object(Map::new()));
        let state = input.state.as_ref().map_or_else(empty, Raw::decode)?;
        Ok(Self::holding(input.messages.clone(), state))
    }

    /// Sets the largest size of all messages, in bytes of compact JSON (approximate).
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.conversation.set_limit(limit);
        self
    }

    /// Returns the messages, in order.
    pub fn messages(&self) -> &[Message] {
        self.conversation.messages()
    }

    /// Returns the state.
    pub fn state(&self) -> &Value {
        self.state.value()
    }

    /// Returns how the last run ended, or `None` while it runs.
    pub fn end(&self) -> Option<&RunEnd> {
        self.end.as_ref()
    }

    /// Returns the calls of the run that wait for the application: those that its end lists,
    /// otherwise all calls without a result.
    ///
    /// Spec: [Frontend tools, 1.0](https://ag-ui.com/spec/1.0/events/tool-calls#frontend-tools)
    pub fn pending_tool_call_ids(&self) -> Vec<&ToolCallId> {
        if let Some(RunEnd::Finished(finished)) = &self.end
            && let Some(RunFinishedOutcome::Success(success)) = &finished.outcome
            && let Some(listed) = &success.pending_tool_call_ids
            && !listed.is_empty()
        {
            return listed.iter().collect();
        }
        self.made.iter().filter(|call| !self.answered.contains(*call)).collect()
    }

    /// Returns the messages and the state, consuming the reducer.
    pub fn into_parts(self) -> (Vec<Message>, Value) {
        (self.conversation.into_messages(), self.state.into_value())
    }

    /// Handles the next event. Returns a warning if the event was not applied, or was applied
    /// differently.
    #[must_use = "a warning reports what was not applied"]
    pub fn handle(&mut self, event: &Event) -> Option<Warning> {
        let done = match event {
            Event::TextMessageStart(e) => self.conversation.start_text(e),
            Event::TextMessageContent(e) => {
                self.conversation.append(&e.message_id, Some(&e.delta), e.metadata.as_ref())
            }
            Event::TextMessageEnd(e) => {
                self.conversation.append(&e.message_id, None, e.metadata.as_ref())
            }
            Event::ReasoningMessageStart(e) => self.conversation.start_reasoning(e),
            Event::ReasoningMessageContent(e) => {
                self.conversation.append(&e.message_id, Some(&e.delta), e.metadata.as_ref())
            }
            Event::ReasoningMessageEnd(e) => {
                self.conversation.append(&e.message_id, None, e.metadata.as_ref())
            }
            Event::ToolCallStart(e) => {
                if self.known.insert(e.tool_call_id.clone()) {
                    self.made.push(e.tool_call_id.clone());
                }
                self.conversation.start_call(e)
            }
            Event::ToolCallArgs(e) => {
                self.conversation.append_arguments(&e.tool_call_id, &e.delta, e.metadata.as_ref())
            }
            Event::ToolCallEnd(e) => {
                self.conversation.append_arguments(&e.tool_call_id, "", e.metadata.as_ref())
            }
            Event::ToolCallResult(e) => {
                self.answered.insert(e.tool_call_id.clone());
                self.conversation.answer(e)
            }
            Event::StateSnapshot(e) => match e.snapshot.decode() {
                Ok(state) => self.state.replace(state).map_err(|_| Warning::TooMuch),
                Err(_) => Err(Warning::Unreadable),
            },
            Event::StateDelta(e) => self.state.apply(&e.delta).map_err(Warning::Patch),
            Event::MessagesSnapshot(e) => self.conversation.restate(&e.messages),
            Event::ActivitySnapshot(e) => self.conversation.show(e),
            Event::ActivityDelta(e) => self.conversation.change(e),
            Event::ReasoningEncryptedValue(e) => self.conversation.keep_encrypted(e),
            Event::RunStarted(e) => self.start(e),
            Event::RunFinished(e) => {
                self.end = Some(RunEnd::Finished(e.clone()));
                Ok(())
            }
            Event::RunError(e) => {
                self.end = Some(RunEnd::Failed(e.clone()));
                Ok(())
            }
            Event::TextMessageChunk(_)
            | Event::ToolCallChunk(_)
            | Event::ReasoningMessageChunk(_) => Err(Warning::NotExpanded),
            Event::Unknown(_) => Err(Warning::UnknownEvent),
            _ => Ok(()),
        };
        done.err()
    }

    fn start(&mut self, event: &RunStartedEvent) -> Result<(), Warning> {
        (self.made, self.known, self.answered) = Default::default();
        self.end = None;
        match &event.input {
            Some(input) => self.conversation.meet(&input.messages),
            None => Ok(()),
        }
    }
}
