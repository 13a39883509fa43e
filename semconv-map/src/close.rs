//! Ends of connections.
use crate::attribute::Attributes;
use crate::keys::{self, end, error_type};
use crate::span::Status;

/// Side that ended the connection or its observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClosedBy {
    /// The client closed the connection. Open spans end with the error `client_closed`.
    Client,
    /// The agent exited or closed the connection. Open spans end with the error `agent_exited`.
    Agent,
    /// The observer stops while the connection continues. Open spans end without an error.
    Observer,
}

/// Reason why a connection ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EndCause {
    Closed(ClosedBy),
    /// The client initialized again.
    InitializedAgain,
}

impl EndCause {
    /// Returns the status of spans that end with the connection. If it is not an error, the reason
    /// is set as `key`.
    pub(crate) fn set(self, key: &'static str, attributes: &mut Attributes) -> Status {
        let error = match self {
            Self::Closed(ClosedBy::Client) => error_type::CLIENT_CLOSED,
            Self::Closed(ClosedBy::Agent) => error_type::AGENT_EXITED,
            Self::Closed(ClosedBy::Observer) => {
                attributes.set(key, end::OBSERVER_STOPPED);
                return Status::Unset;
            }
            Self::InitializedAgain => {
                attributes.set(key, end::INITIALIZED_AGAIN);
                return Status::Unset;
            }
        };
        attributes.set(keys::ERROR_TYPE, error);
        Status::Error { description: None }
    }
}
