//! Methods of the protocol as data, and the types that stand for them.
//!
//! ```
//! use acp_types::methods::{self, Direction, RequestParams, Stability};
//! use acp_types::v1::prompt_turn::PromptRequest;
//!
//! assert_eq!(PromptRequest::METHOD, "session/prompt");
//! let method = methods::find(methods::V1, Direction::ToAgent, "session/prompt").ok_or("no such method")?;
//! assert_eq!((method.params, method.result), ("PromptRequest", Some("PromptResponse")));
//! assert!(method.session_scoped);
//! assert_eq!(method.stability, Stability::Stable);
//! # Ok::<(), &str>(())
//! ```
#![doc = include_str!("../METHODS.md")]
pub use crate::dispatch::{NotificationParams, OrNull, RequestParams};
use core::fmt;

mod v1;
mod v2;

pub use v1::V1;
pub use v2::V2;

/// A method of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Method {
    /// Its name on the wire.
    pub name: &'static str,
    /// Who receives it.
    pub direction: Direction,
    /// Whether it is answered.
    pub kind: MethodKind,
    /// The type of its parameters, by its name in the schema.
    pub params: &'static str,
    /// The type of its result, by its name in the schema; notifications have none.
    pub result: Option<&'static str>,
    /// Whether its parameters must name a session. Those of `elicitation/create` may.
    pub session_scoped: bool,
    /// What its receiver must have said before it may be sent, a path or a few words; nothing for the baseline.
    pub gate: Option<&'static str>,
    /// Whether the specification may still change it.
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

/// Whether the specification may still change something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stability {
    /// It stays as it is.
    Stable,
    /// It belongs to a version that is a draft as a whole.
    Draft,
    /// It does not belong to its version yet: it may change, or go.
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

/// Who receives a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The client sends, the agent receives.
    ToAgent,
    /// The agent sends, the client receives.
    ToClient,
    /// Either sends, the other receives.
    ToEither,
    /// The conductor of a chain of proxies sends, a proxy receives.
    ToProxy,
    /// A proxy or the conductor of its chain sends, the other receives.
    ToProxyOrConductor,
}

/// Whether a method is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodKind {
    /// It is answered, once.
    Request,
    /// It is not answered.
    Notification,
}

/// The method of this name that the receiver in `direction` may get.
///
/// Where it is a request and a notification, it is the request.
pub fn find(table: &'static [Method], direction: Direction, name: &str) -> Option<&'static Method> {
    table.iter().find(|method| {
        method.name == name
            && (method.direction == direction || method.direction == Direction::ToEither)
    })
}

const fn request<P: RequestParams>(
    direction: Direction,
    session_scoped: bool,
    gate: Option<&'static str>,
) -> Method {
    Method {
        name: P::METHOD,
        direction,
        kind: MethodKind::Request,
        params: P::NAME,
        result: Some(P::RESPONSE),
        session_scoped,
        gate,
        stability: Stability::Stable,
    }
}

const fn notification<P: NotificationParams>(
    direction: Direction,
    session_scoped: bool,
    gate: Option<&'static str>,
) -> Method {
    Method {
        name: P::METHOD,
        direction,
        kind: MethodKind::Notification,
        params: P::NAME,
        result: None,
        session_scoped,
        gate,
        stability: Stability::Stable,
    }
}
