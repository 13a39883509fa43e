//! Ends of connections.
use crate::attribute::Attributes;
use crate::keys::{self, end, error_type};
use crate::span::Status;

/// Reason why a connection is no longer observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CloseReason {
    /// The client closed the connection. Open spans end with the error `client_closed`.
    ClientClosed,
    /// The agent exited or closed the connection. Open spans end with the error `agent_exited`.
    AgentExited,
    /// Observation stops while the connection continues. Open spans end without an error.
    ObserverStopped,
}

/// Reason why a connection ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Over {
    Closed(CloseReason),
    /// The client initialized again.
    InitializedAgain,
}

impl Over {
    /// Returns the status of spans that end with the connection. If it is not an error, the reason is set as `key`.
    pub(crate) fn set(self, key: &'static str, attributes: &mut Attributes) -> Status {
        let error = match self {
            Self::Closed(CloseReason::ClientClosed) => error_type::CLIENT_CLOSED,
            Self::Closed(CloseReason::AgentExited) => error_type::AGENT_EXITED,
            Self::Closed(CloseReason::ObserverStopped) => {
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
