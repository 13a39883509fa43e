//! What a [`RunAgentInput`] asks of an ACP agent.
//!
//! AG-UI clients send the whole conversation each time, ACP agents keep it themselves: only what is new goes to the
//! agent. A [`SessionMemory`] knows what that is for a thread, also where the user has edited what was said, wants another
//! answer, or comes with a history; its [`Rules`] say what becomes of that, of context, state and forwarded properties.
//!
//! [`work`] is the short form, for who keeps a session for each thread and lets it go on whatever becomes of the
//! conversation: which message was the last one, the caller remembers.
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

mod blocks;
mod forwarded;
mod plan;
mod rules;
mod session_memory;
mod transcript;

pub use blocks::Unsupported;
pub use forwarded::{Allowed, Forwarded};
pub use plan::{Plan, SessionStep};
pub use rules::{Divergence, Repeat, Rules, SessionScope};
pub use session_memory::{MAX_KNOWN, MAX_QUEUED, SessionMemory};

/// Entries of `context` that are taken.
pub const MAX_CONTEXT_ENTRIES: usize = 64;
/// Bytes of description and value of one entry of `context`.
pub const MAX_CONTEXT_BYTES: usize = 64 << 10;
/// Bytes of the shared state, where it goes to the agent.
pub const MAX_STATE_BYTES: usize = 64 << 10;
/// Messages of one input.
pub const MAX_MESSAGES: usize = 20_000;
/// Bytes of images, audio and documents in one prompt, decoded.
pub const MAX_MEDIA_BYTES: usize = 16 << 20;

/// What there is to do for a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Send a prompt.
    Prompt(Prompt),
    /// Nothing: no user message is new. The run is `RUN_STARTED`, then `RUN_FINISHED`.
    Nothing,
}

/// A prompt for the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Prompt {
    /// What to send with `session/prompt`.
    pub blocks: Vec<ContentBlock>,
    /// The message that is the last accepted one once the prompt was sent.
    pub last_message: MessageId,
    /// Messages before the new ones that the agent never saw: the history of a thread that is not known, or one that was
    /// edited. They are not sent; where the session is new, let the client know
    /// ([`handle_new_session`](crate::Translator::handle_new_session)).
    pub unseen: usize,
}

/// An input cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum InputError {
    /// There are no messages.
    #[error("at /messages: expected at least one message, got none")]
    NoMessages,
    /// The new user messages say nothing.
    #[error("at {pointer}: expected text or media, got a blank message")]
    Blank {
        /// The last of them.
        pointer: String,
    },
    /// A value is not what it should be.
    #[error("at {pointer}: expected {expected}")]
    Invalid {
        /// Where it is, as a JSON pointer.
        pointer: String,
        /// What it should be.
        expected: Cow<'static, str>,
    },
    /// The agent does not take this kind of content.
    #[error("at {pointer}: the agent does not take {what}")]
    Unsupported {
        /// Where it is, as a JSON pointer.
        pointer: String,
        /// What it is.
        what: Cow<'static, str>,
    },
    /// The conversation is another than the agent's, and [`Divergence::Reject`] is the rule.
    #[error("at {pointer}: expected the conversation as it was, got another")]
    Diverged {
        /// Where it begins to be another, as a JSON pointer.
        pointer: String,
    },
    /// A value is too large.
    #[error("at {pointer}: expected at most {limit}")]
    TooLarge {
        /// Where it is, as a JSON pointer.
        pointer: String,
        /// How much is taken, with its unit.
        limit: String,
    },
}

impl InputError {
    /// The HTTP status to answer with.
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

/// Finds what is new in `input` for an agent that has these capabilities and was sent everything up to the message
/// `accepted`.
///
/// | message after the accepted one | becomes |
/// |---|---|
/// | user | its parts, in order |
/// | system, developer | a text block |
/// | assistant, tool, reasoning, activity, unknown | nothing: the agent said it |
///
/// Without an accepted message, or when the input does not have it, the new messages are those after the last one that
/// is not the user's, system's or developer's; the ones before are counted as unseen.
///
/// | part | block | where the agent has no such capability |
/// |---|---|---|
/// | text | text; blank ones are left out | |
/// | image, audio with data | image, audio | error |
/// | video, document with data | resource with a blob | error |
/// | any with an http or https URL of a public host | resource link, which each agent takes | |
/// | any with a provider's file | error | error |
/// | `binary` of 0.x | as the media part that it is | |
///
/// An image or audio block of ACP has to have data, beside which it may name a `uri`: of what is only an address there is
/// none, and nothing is fetched here. Who fetches it puts a part with data in its place before.
///
/// Each entry of `context` follows as a resource, or as a text where the agent takes no resources; blank ones are left
/// out. `tools`, `state`, `forwardedProps` and `resume` are not read.
///
/// # Errors
/// The input has no messages, its new messages are blank, or a part is broken, too large, or of a kind that the agent
/// does not take. The error says where.
pub fn work(
    input: &RunAgentInput,
    capabilities: &PromptCapabilities,
    accepted: Option<&MessageId>,
) -> Result<Work, InputError> {
    if input.messages.is_empty() {
        return Err(InputError::NoMessages);
    }
    let (start, unseen) = new_messages(&input.messages, accepted);
    let mut blocks = Blocks::new(capabilities, Unsupported::Reject);
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

/// Where the new messages begin, and how many before them the agent never saw.
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
