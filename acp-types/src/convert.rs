//! A bridge between an editor and an agent that speak different versions of the protocol.
//!
//! A [`Bridge`] takes the lines of both sides and returns the lines for both. It performs no I/O
//! and reads no clock. The editor's `initialize` and the shape of the agent's response to it decide
//! the versions. If both sides speak the same version, lines pass unchanged, byte for byte.
//! Otherwise each message is converted; ids of requests stay as they are.
//!
//! ```
//! use acp_types::convert::{Bridge, BridgeOptions, Output};
//!
//! let mut bridge = Bridge::new(BridgeOptions::default());
//! bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#);
//! let Some(Output::ToAgent(offer)) = bridge.poll_output() else { panic!("no offer") };
//! assert!(offer.contains(r#""protocolVersion":2"#));
//!
//! bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}}"#);
//! let Some(Output::Diagnostic(versions)) = bridge.poll_output() else { panic!("no diagnostic") };
//! assert_eq!(versions.to_string(), "the editor speaks version 1, the agent version 2");
//! let Some(Output::ToEditor(response)) = bridge.poll_output() else { panic!("no response") };
//! assert!(response.contains(r#""protocolVersion":1"#) && response.contains(r#""loadSession":true"#));
//! ```
//!
//! Call [`poll_output`](Bridge::poll_output) after each line until it returns `None`. Lines and
//! diagnostics are returned in the order of their creation, and lines have no line end. The
//! constants of this module limit the number of all that is kept; each of it is at most as large as
//! its line.
#![doc = include_str!("../CONVERT.md")]
use crate::v1::cancellation::CancelRequestNotification;
use crate::v1::initialization::ProtocolVersion;
use crate::v2::content::ContentBlock;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
pub use diagnostic::{BridgeDiagnostic, BridgeLoss, UnsupportedAgent};
use jsonrpc_core::wire::{DecodedValue, Extra, Raw, decode};
use jsonrpc_core::{ErrorCode, ErrorObject, Message, Notification, Request, RequestId};
use negotiation::is_cancellation;
use outbox::Outbox;
pub use side::Side;
use v1_editor::V1Editor;
use v2_editor::V2Editor;

mod call_ids;
mod content;
mod diagnostic;
mod fingerprint;
mod initialize;
mod negotiation;
mod outbox;
mod recent;
mod setup;
mod side;
mod texts;
mod v1_editor;
mod v2_editor;

/// Largest number of sessions. Past it, the oldest session without an open prompt is forgotten: its
/// tool calls are announced again.
pub const MAX_SESSIONS: usize = 1024;
/// Largest number of open requests with converted responses. A request past it is answered with an
/// error.
pub const MAX_REQUESTS: usize = 1024;
/// Largest number of open prompts of a session. A prompt past it is answered with an error.
pub const MAX_PROMPTS: usize = 16;
/// Largest number of lines of the editor before the response to `initialize`. A request past it is
/// answered with an error, another message is dropped.
pub const MAX_EARLY_LINES: usize = 64;
/// Largest number of messages of a session that are compared with a later whole message. Past it, a
/// whole message of the oldest one is sent again.
pub const MAX_MESSAGES: usize = 256;
/// Largest number of known tool calls of a session. Past it, the oldest one is forgotten, and a
/// later change of it announces it again.
pub const MAX_TOOL_CALLS: usize = 512;
/// Largest size of the content of a session's tool calls, in bytes. Past it, the oldest content is
/// forgotten: a chunk that extends it replaces it.
pub const MAX_CONTENT_BYTES: usize = 256 * 1024;
/// Largest number of terminals of a session. Past it, the output of the oldest one is forgotten.
pub const MAX_TERMINALS: usize = 64;
/// Largest size of a terminal's output, in bytes. Past it, its beginning is left out.
pub const MAX_TERMINAL_OUTPUT: usize = 32 * 1024;

/// Options of a [`Bridge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BridgeOptions {
    /// The newest version for the editor. An editor that requests an older one gets that.
    pub editor: ProtocolVersion,
    /// The newest version that is offered to the agent.
    pub agent: ProtocolVersion,
}

impl Default for BridgeOptions {
    fn default() -> Self {
        Self { editor: ProtocolVersion::V2, agent: ProtocolVersion::V2 }
    }
}

impl BridgeOptions {
    /// Sets the newest version for the editor.
    #[must_use]
    pub fn with_editor(mut self, version: ProtocolVersion) -> Self {
        self.editor = version;
        self
    }

    /// Sets the newest version for the agent.
    #[must_use]
    pub fn with_agent(mut self, version: ProtocolVersion) -> Self {
        self.agent = version;
        self
    }
}

/// An output of a [`Bridge`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Output {
    /// A line for the editor.
    ToEditor(String),
    /// A line for the agent.
    ToAgent(String),
    /// A decision, a tolerated deviation or a loss; for logs.
    Diagnostic(BridgeDiagnostic),
}

/// A bridge between two versions; see the [module documentation](self).
#[derive(Debug)]
pub struct Bridge {
    options: BridgeOptions,
    stage: Stage,
    /// Lines of the editor before the response to `initialize`.
    early: VecDeque<String>,
    out: Outbox,
}

#[derive(Debug)]
enum Stage {
    /// The editor has not sent `initialize`.
    Waiting,
    /// The agent has not answered.
    Offered(Box<Offer>),
    /// Both sides speak the same version.
    Same,
    V1Editor(Box<V1Editor>),
    V2Editor(Box<V2Editor>),
    /// The sides have no common version.
    Failed(UnsupportedAgent),
}

/// The request `initialize`.
#[derive(Debug)]
struct Offer {
    id: RequestId,
    /// The version of the editor.
    editor: ProtocolVersion,
    /// The version that the agent was offered.
    offered: ProtocolVersion,
    params: Raw,
}

impl Bridge {
    /// Creates a bridge, before the first line.
    pub fn new(options: BridgeOptions) -> Self {
        let stage = Stage::Waiting;
        let early = VecDeque::new();
        let out = Outbox::default();
        Self { options, stage, early, out }
    }

    /// Returns the next output, if any.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.poll()
    }

    /// Returns whether both sides speak the same version. The bytes of both sides can then pass
    /// without the bridge, once its output was polled.
    pub fn is_passing(&self) -> bool {
        matches!(self.stage, Stage::Same)
    }

    /// Returns whether an agent of version 1 works without a prompt in any session. It does not
    /// report the end of that: call [`handle_silence`](Self::handle_silence) once it has sent
    /// nothing for a while.
    pub fn awaits_silence(&self) -> bool {
        matches!(&self.stage, Stage::V2Editor(it) if it.awaits_silence())
    }

    /// Ends the work without a prompt of an agent of version 1, except in sessions in which it
    /// waits for the user.
    pub fn handle_silence(&mut self) {
        if let Stage::V2Editor(it) = &mut self.stage {
            it.fell_silent(&mut self.out);
        }
    }

    /// Handles a line of the editor, without its line end.
    pub fn handle_editor_line(&mut self, line: &str) {
        match &mut self.stage {
            Stage::Waiting => self.handle_first(line),
            Stage::Offered(_) if is_cancellation(line) => self.out.forward(Side::Agent, line),
            Stage::Offered(_) if self.early.len() < MAX_EARLY_LINES => {
                self.early.push_back(line.into());
            }
            Stage::Offered(_) => {
                self.out.diagnose(BridgeDiagnostic::Full(Side::Editor, "MAX_EARLY_LINES"));
                self.refuse_line(line, "`initialize` is not answered");
            }
            Stage::Same => self.out.forward(Side::Agent, line),
            Stage::Failed(error) => {
                let message = error.to_string();
                self.refuse_line(line, &message);
            }
            Stage::V1Editor(_) | Stage::V2Editor(_) => self.handle_line(Side::Editor, line),
        }
    }

    /// Handles a line of the agent, without its line end.
    pub fn handle_agent_line(&mut self, line: &str) {
        match &mut self.stage {
            Stage::Waiting | Stage::Same => self.out.forward(Side::Editor, line),
            Stage::Failed(_) => {}
            Stage::Offered(offer) => match Message::decode(line) {
                Ok(Message::Response(response)) if response.id == offer.id => {
                    match response.outcome {
                        Ok(result) => self.initialized(line, result),
                        Err(error) => self.not_initialized(line, &error),
                    }
                }
                _ => self.out.forward(Side::Editor, line),
            },
            Stage::V1Editor(_) | Stage::V2Editor(_) => self.handle_line(Side::Agent, line),
        }
    }

    fn handle_line(&mut self, from: Side, line: &str) {
        let out = &mut self.out;
        let message = match Message::decode(line) {
            Ok(message) => message,
            Err(_) if line.trim_ascii().is_empty() => return,
            Err(error) => {
                if from == Side::Editor {
                    let id = error.id().cloned().unwrap_or(RequestId::NULL);
                    out.error(from, &id, ErrorObject::new(error.code(), error.to_string()));
                }
                return out.diagnose(BridgeDiagnostic::Unreadable(from, error.to_string()));
            }
        };
        match (&mut self.stage, from, message) {
            (Stage::V1Editor(it), Side::Editor, Message::Request(request)) => {
                it.editor_request(line, &request, out);
            }
            (Stage::V1Editor(it), Side::Editor, Message::Notification(notification)) => {
                it.editor_notification(line, &notification, out);
            }
            // Results of both versions are equal for the agent's requests.
            (Stage::V1Editor(_), Side::Editor, Message::Response(_)) => {
                out.forward(Side::Agent, line);
            }
            (Stage::V1Editor(it), Side::Agent, Message::Request(request)) => {
                it.agent_request(line, &request, out);
            }
            (Stage::V1Editor(it), Side::Agent, Message::Notification(notification)) => {
                it.agent_notification(line, &notification, out);
            }
            (Stage::V1Editor(it), Side::Agent, Message::Response(response)) => {
                it.agent_response(line, &response, out);
            }
            (Stage::V2Editor(it), Side::Editor, Message::Request(request)) => {
                it.editor_request(line, &request, out);
            }
            (Stage::V2Editor(it), Side::Editor, Message::Notification(notification)) => {
                it.editor_notification(line, &notification, out);
            }
            (Stage::V2Editor(it), Side::Editor, Message::Response(response)) => {
                it.editor_response(line, &response, out);
            }
            (Stage::V2Editor(it), Side::Agent, Message::Request(request)) => {
                it.agent_request(line, &request, out);
            }
            (Stage::V2Editor(it), Side::Agent, Message::Notification(notification)) => {
                it.agent_notification(line, &notification, out);
            }
            (Stage::V2Editor(it), Side::Agent, Message::Response(response)) => {
                it.agent_response(line, &response, out);
            }
            _ => {}
        }
    }
}

/// Answers a request with an error, and reports that.
fn refuse(to: Side, request: &Request<'_>, code: ErrorCode, message: &str, out: &mut Outbox) {
    let error = ErrorObject::new(code, message);
    out.error(to, &request.id, error.clone());
    out.diagnose(BridgeDiagnostic::Refused(to, request.method.to_string(), error));
}

/// Returns a value, and reports the deviations that were tolerated.
fn tolerate<T>(from: Side, read: DecodedValue<T>, out: &mut Outbox) -> T {
    for deviation in &read.diagnostics {
        out.diagnose(BridgeDiagnostic::Tolerated(from, deviation.to_string()));
    }
    read.value
}

/// Returns the id of the request that `$/cancel_request` names.
fn cancelled(notification: &Notification<'_>) -> Option<RequestId> {
    if notification.method != "$/cancel_request" {
        return None;
    }
    let params: CancelRequestNotification = decode(notification.params?.get()).ok()?;
    Some(params.request_id)
}

/// Returns the unknown members, without the names of optional members that were `null`.
fn members(extra: &Extra) -> Extra {
    let mut members = Extra::new();
    extra.iter().for_each(|(name, value)| members.insert(name, value.clone()));
    members
}

/// Returns the text of content, without other blocks.
fn text_of(content: &[ContentBlock]) -> String {
    let texts = content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(&*text.text),
        _ => None,
    });
    texts.collect()
}
