//! The mapping of a [`RunAgentInput`] to prompts of an ACP agent.
//!
//! AG-UI clients send the whole conversation with each input, while ACP agents keep it themselves,
//! so only new messages go to the agent. A [`SessionMemory`] determines these for a thread, even if
//! the user edited messages, requests another answer, or provides a history. Its [`Rules`] decide
//! how these cases, context, state and forwarded properties are handled.
//!
//! [`work`] is the short form for programs that keep one session for each thread regardless of
//! edits. The caller remembers the last message.
//!
//! ```
//! use acp_types::v1::initialization::PromptCapabilities;
//! use agui_bridge::input::{Work, work};
//! use agui_types::input::RunAgentInput;
//! use jsonrpc_core::wire;
//!
//! let text = r#"{"threadId":"t","runId":"r","messages":[
//!     {"id":"u1","role":"user","content":"Hi"},
//!     {"id":"a1","role":"assistant","content":"Hello."},
//!     {"id":"u2","role":"user","content":"What is new?"}]}"#;
//! let input: RunAgentInput = wire::decode(text)?;
//!
//! let Work::Prompt(prompt) = work(&input, &PromptCapabilities::new(), Some(&"u1".into()))? else { panic!() };
//! assert_eq!(serde_json::to_string(&prompt.blocks)?, r#"[{"type":"text","text":"What is new?"}]"#);
//! assert_eq!(prompt.last_message.as_str(), "u2");
//!
//! assert_eq!(work(&input, &PromptCapabilities::new(), Some(&"u2".into()))?, Work::Nothing);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use acp_types::v1::content::ContentBlock;
use acp_types::v1::initialization::PromptCapabilities;
use agui_types::id::MessageId;
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use blocks::Blocks;
use serde::{Deserialize, Serialize};

mod background;
mod blocks;
mod cancelled;
mod compared_text;
mod cursors;
mod forwarded;
mod plan;
mod rules;
mod session_memory;
mod session_step;
mod transcript;

pub use blocks::UnsupportedContent;
pub(crate) use cancelled::Instruction;
pub(crate) use cursors::TimelineUpdate;
pub use forwarded::{AllowedMembers, ForwardedMembers, branch_of, follows};
pub(crate) use plan::FallbackTurn;
pub use plan::Plan;
pub use rules::{Divergence, Repeat, Rules, SessionScope};
pub(crate) use session_memory::Circumstances;
pub use session_memory::{MAX_KNOWN, MAX_QUEUED, SessionMemory};
pub use session_step::SessionStep;

/// Largest number of `context` entries.
pub const MAX_CONTEXT_ENTRIES: usize = 64;
/// Largest size of a `context` entry's description and value, in bytes.
pub const MAX_CONTEXT_BYTES: usize = 64 << 10;
/// Largest size of the shared state if it goes to the agent, in bytes.
pub const MAX_STATE_BYTES: usize = 64 << 10;
/// Largest number of messages of an input.
pub const MAX_MESSAGES: usize = 20_000;
/// Largest size of images, audio and documents in a prompt, in decoded bytes.
pub const MAX_MEDIA_BYTES: usize = 16 << 20;

/// The work that an input requires.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "an input requires a prompt or none")]
pub enum Work {
    /// Send a prompt.
    Prompt(Prompt),
    /// None: the input has no new user message. The run is `RUN_STARTED`, then `RUN_FINISHED`.
    Nothing,
}

/// A prompt for the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Prompt {
    /// The content of `session/prompt`.
    pub blocks: Vec<ContentBlock>,
    /// The last message of the conversation that the agent has once the prompt is sent.
    pub last_message: MessageId,
    /// Number of earlier messages that the agent has never received: the history of an unknown
    /// thread, or of an edited one. They are not sent. If the session is new, inform the client
    /// with [`handle_new_session`](crate::Translator::handle_new_session).
    pub unseen: usize,
}

/// An error mapping an input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum InputError {
    /// The input has no messages.
    #[error("at /messages: expected at least one message")]
    NoMessages,
    /// The new user messages are blank.
    #[error("at {pointer}: expected text or media, got a blank message")]
    Blank {
        /// The last of them, as a JSON pointer.
        pointer: String,
    },
    /// A value is invalid.
    #[error("at {pointer}: expected {expected}")]
    Invalid {
        /// Place of the value, as a JSON pointer.
        pointer: String,
        /// The expected value.
        expected: Cow<'static, str>,
    },
    /// The agent does not support this kind of content.
    #[error("at {pointer}: the agent does not support {what}")]
    Unsupported {
        /// Place of the content, as a JSON pointer.
        pointer: String,
        /// The kind of content.
        what: Cow<'static, str>,
    },
    /// The conversation differs from the agent's, and the rule is [`Divergence::Reject`].
    #[error("at {pointer}: expected the conversation unchanged")]
    Diverged {
        /// Place of the first difference, as a JSON pointer.
        pointer: String,
    },
    /// A value is too large.
    #[error("at {pointer}: expected at most {limit}")]
    TooLarge {
        /// Place of the value, as a JSON pointer.
        pointer: String,
        /// The limit, with its unit.
        limit: String,
    },
}

impl InputError {
    /// Returns the HTTP status of the response.
    ///
    /// | error | status |
    /// |---|---|
    /// | no messages, blank, invalid | 400 |
    /// | diverged | 409 |
    /// | too large | 413 |
    /// | unsupported | 415 |
    pub fn status(&self) -> u16 {
        match self {
            Self::NoMessages | Self::Blank { .. } | Self::Invalid { .. } => 400,
            Self::Diverged { .. } => 409,
            Self::TooLarge { .. } => 413,
            Self::Unsupported { .. } => 415,
        }
    }
}

/// Finds the new messages of `input` for an agent with these capabilities that has everything up to
/// the message `accepted`.
///
/// | message after the accepted one | result |
/// |---|---|
/// | user | its parts, in order |
/// | system, developer | a text block |
/// | assistant, tool, reasoning, activity, unknown | none: the agent produced it |
///
/// Without an accepted message in the input, the new messages are those after the last message that
/// is not of the user, system or developer. Earlier ones count as unseen.
///
/// | part | block | without the agent's capability |
/// |---|---|---|
/// | text | text; blank parts are left out | |
/// | image, audio with data | image, audio | error |
/// | video, document with data | resource with a blob | error |
/// | any with an http or https URL of a public host | resource link, which every agent supports | |
/// | any with a provider's file | error | error |
/// | `binary` of 0.x | as the equivalent media part | |
///
/// An ACP image or audio block requires data, with an optional `uri`. A part that has only a URL
/// therefore becomes a link, and nothing is fetched. A program that fetches the data replaces the
/// part before this call.
///
/// Each entry of `context` follows as a resource, or as text if the agent does not support
/// resources; blank entries are left out. `tools`, `state`, `forwardedProps` and `resume` are
/// ignored.
///
/// # Errors
/// The input has no messages, its new messages are blank, or a part is invalid, too large, or not
/// supported by the agent. The error has the place.
pub fn work(
    input: &RunAgentInput,
    capabilities: &PromptCapabilities,
    accepted: Option<&MessageId>,
) -> Result<Work, InputError> {
    if input.messages.is_empty() {
        return Err(InputError::NoMessages);
    }
    let (start, unseen) = new_messages(&input.messages, accepted);
    let mut blocks = Blocks::new(capabilities, UnsupportedContent::Reject);
    let mut last = None;
    for (index, message) in input.messages.iter().enumerate().skip(start) {
        let pointer = format!("/messages/{index}/content");
        match message {
            Message::User(user) => {
                blocks.content(&user.content, &pointer)?;
                last = Some((user.id.clone(), pointer));
            }
            Message::System(system) => blocks.text(&system.content),
            Message::Developer(developer) => blocks.text(&developer.content),
            _ => {}
        }
    }
    let Some((last_message, pointer)) = last else { return Ok(Work::Nothing) };
    if blocks.blocks.is_empty() {
        return Err(InputError::Blank { pointer });
    }
    blocks.context(input.context.as_deref().unwrap_or_default())?;
    Ok(Work::Prompt(Prompt { blocks: blocks.blocks, last_message, unseen }))
}

/// Returns the start of the new messages, and the number of earlier ones that the agent has never
/// received.
fn new_messages(messages: &[Message], accepted: Option<&MessageId>) -> (usize, usize) {
    let known = accepted
        .and_then(|id| messages.iter().rposition(|message| message.id().as_ref() == Some(id)));
    if let Some(known) = known {
        return (known + 1, 0);
    }
    let is_new = |message: &&Message| {
        matches!(message, Message::User(_) | Message::System(_) | Message::Developer(_))
    };
    let new = messages.iter().rev().take_while(is_new).count();
    let start = messages.len() - new;
    (start, start)
}
