//! Methods of the protocol as data, and their types.
//!
//! ```
//! use acp_types::methods::{self, Receiver, RequestParams, Stability};
//! use acp_types::v1::prompt_turn::PromptRequest;
//!
//! assert_eq!(PromptRequest::METHOD, "session/prompt");
//! let method = methods::find(methods::V1, Receiver::Agent, "session/prompt").ok_or("no such method")?;
//! assert_eq!((method.params, method.result), ("PromptRequest", Some("PromptResponse")));
//! assert!(method.session_scoped);
//! assert_eq!(method.stability, Stability::Stable);
//! # Ok::<(), &str>(())
//! ```
#![doc = include_str!("../METHODS.md")]
pub use crate::dispatch::{NotificationParams, OrNull, RequestParams};
use core::fmt;
use jsonrpc_core::transcript::Direction;

mod v1;
mod v2;

pub use v1::V1;
pub use v2::V2;

/// A method of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Method {
    /// Name of the method on the wire.
    pub name: &'static str,
    /// Receiver of the method.
    pub receiver: Receiver,
    /// Whether the method has a response.
    pub kind: MethodKind,
    /// Name of the parameters' type in the schema.
    pub params: &'static str,
    /// Name of the result's type in the schema; `None` for notifications.
    pub result: Option<&'static str>,
    /// Whether the parameters have to name a session. Those of `elicitation/create` may.
    pub session_scoped: bool,
    /// The capability that the receiver has to announce first, as a path or a few words; `None` for the baseline.
    pub gate: Option<&'static str>,
    /// Stability of the method.
    pub stability: Stability,
}

impl Method {
    const fn draft(self) -> Self {
        Self { stability: Stability::Draft, ..self }
    }

    const fn unstable(self) -> Self {
        Self { stability: Stability::Unstable, ..self }
    }
}

/// The stability of a part of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stability {
    /// Not subject to change.
    Stable,
    /// Part of a version that is a draft.
    Draft,
    /// Not yet part of its version: it may change or disappear.
    Unstable,
}

impl fmt::Display for Stability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stable => "stable",
            Self::Draft => "draft",
            Self::Unstable => "unstable",
        })
    }
}

/// Receiver of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Receiver {
    /// The client sends, the agent receives.
    Agent,
    /// The agent sends, the client receives.
    Client,
    /// Either side sends, the other receives.
    Either,
    /// The conductor of a chain of proxies sends, a proxy receives.
    Proxy,
    /// A proxy or the conductor of its chain sends, the other receives.
    ProxyOrConductor,
}

impl Receiver {
    /// Returns the receiver of a message. `direction` is from the client's point of view.
    pub fn of(direction: Direction) -> Self {
        match direction {
            Direction::Sent => Self::Agent,
            Direction::Received => Self::Client,
        }
    }
}

/// The kind of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC has requests and notifications")]
pub enum MethodKind {
    /// A request, with one response.
    Request,
    /// A notification, without a response.
    Notification,
}

/// Returns the method with this name and this receiver.
///
/// Of a request and a notification with the same name, the request is returned.
pub fn find(table: &'static [Method], receiver: Receiver, name: &str) -> Option<&'static Method> {
    table.iter().find(|method| {
        method.name == name && (method.receiver == receiver || method.receiver == Receiver::Either)
    })
}

const fn request<P: RequestParams>(
    receiver: Receiver,
    session_scoped: bool,
    gate: Option<&'static str>,
) -> Method {
    Method {
        name: P::METHOD,
        receiver,
        kind: MethodKind::Request,
        params: P::NAME,
        result: Some(P::RESPONSE),
        session_scoped,
        gate,
        stability: Stability::Stable,
    }
}

const fn notification<P: NotificationParams>(
    receiver: Receiver,
    session_scoped: bool,
    gate: Option<&'static str>,
) -> Method {
    Method {
        name: P::METHOD,
        receiver,
        kind: MethodKind::Notification,
        params: P::NAME,
        result: None,
        session_scoped,
        gate,
        stability: Stability::Stable,
    }
}
