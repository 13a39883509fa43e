//! A method of the protocol as data.
use crate::params::{NotificationParams, RequestParams};
use core::fmt;
use jsonrpc_core::transcript::Direction;

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
    /// The capability that has to be announced first, usually by the receiver, as a path or a few
    /// words; `None` for the baseline.
    pub gate: Option<&'static str>,
    /// Stability of the method.
    pub stability: Stability,
}

impl Method {
    pub(crate) const fn request<P: RequestParams>(receiver: Receiver) -> Self {
        Self {
            name: P::METHOD,
            receiver,
            kind: MethodKind::Request,
            params: P::NAME,
            result: Some(P::RESPONSE),
            session_scoped: false,
            gate: None,
            stability: Stability::Stable,
        }
    }

    pub(crate) const fn notification<P: NotificationParams>(receiver: Receiver) -> Self {
        Self {
            name: P::METHOD,
            receiver,
            kind: MethodKind::Notification,
            params: P::NAME,
            result: None,
            session_scoped: false,
            gate: None,
            stability: Stability::Stable,
        }
    }

    pub(crate) const fn to(self, receiver: Receiver) -> Self {
        Self { receiver, ..self }
    }

    pub(crate) const fn session_scoped(self) -> Self {
        Self { session_scoped: true, ..self }
    }

    pub(crate) const fn gate(self, gate: &'static str) -> Self {
        Self { gate: Some(gate), ..self }
    }

    pub(crate) const fn unstable(self) -> Self {
        Self { stability: Stability::Unstable, ..self }
    }

    /// Joins the tables of a version, in which methods that are not unstable are as stable as the
    /// version.
    #[expect(clippy::indexing_slicing, reason = "it runs only when the crate is compiled")]
    pub(crate) const fn join<const N: usize>(
        tables: [&[Self]; 6],
        version: Stability,
        blank: Self,
    ) -> [Self; N] {
        let mut all = [blank; N];
        let mut table = 0;
        let mut at = 0;
        while table < tables.len() {
            let mut rows = tables[table];
            while let [row, others @ ..] = rows {
                all[at] = *row;
                if !matches!(row.stability, Stability::Unstable) {
                    all[at].stability = version;
                }
                rows = others;
                at += 1;
            }
            table += 1;
        }
        assert!(at == N, "the number of methods");
        all
    }
}

/// Applies the properties of a method.
macro_rules! properties {
    ($method:expr;) => { $method };
    ($method:expr; session $($rest:tt)*) => {
        $crate::method::properties!($method.session_scoped(); $($rest)*)
    };
    ($method:expr; unstable $($rest:tt)*) => {
        $crate::method::properties!($method.unstable(); $($rest)*)
    };
    ($method:expr; to $Receiver:ident $($rest:tt)*) => {
        $crate::method::properties!($method.to($crate::method::Receiver::$Receiver); $($rest)*)
    };
    ($method:expr; $gate:literal $($rest:tt)*) => {
        $crate::method::properties!($method.gate($gate); $($rest)*)
    };
}

pub(crate) use properties;

/// The stability of a part of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stability {
    /// Not subject to change.
    Stable,
    /// Part of a version that is a preview.
    Preview,
    /// Not yet part of its version: it may change or disappear.
    Unstable,
}

impl fmt::Display for Stability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stable => "stable",
            Self::Preview => "preview",
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
