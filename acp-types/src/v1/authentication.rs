//! Logging in to the agent, and out again.
//!
//! Spec: [Authentication](https://agentclientprotocol.com/protocol/v1/authentication)
pub use crate::shared::authentication::{
    AuthAccount, AuthMethodId, AuthState, AuthStatusRequest, AuthStatusResponse,
    AuthStatusUpdateNotification,
};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_union};

open_union! {
    /// A way to log in that an agent offers.
    ///
    /// Spec: [`AuthMethod`](https://agentclientprotocol.com/protocol/v1/schema#authmethod)
    pub enum AuthMethod by "type" {
        /// The client runs the agent's program in a terminal, where the user logs in.
        Terminal(AuthMethodTerminal) = "terminal",
    }
    untagged {
        /// The agent sees to it, when `authenticate` asks it to; meant when there is no tag.
        Agent(AuthMethodAgent) = "agent",
    }
}

object! {
    /// The client runs the agent's program in a terminal, where the user logs in.
    ///
    /// Spec: [`AuthMethodTerminal`](https://agentclientprotocol.com/protocol/v1/schema#authmethodterminal)
    pub struct AuthMethodTerminal {
        /// Names it; not for `authenticate`.
        id: AuthMethodId = "id",
        /// What to call it before the user.
        name: String = "name",
    }
    optional {
        /// More about it, for the user.
        description: String = "description" [default_on_error],
        /// Arguments to add to the agent's command.
        args: Vec<String> = "args" [default_on_null],
        /// Variables to set over the agent's environment.
        env: BTreeMap<String, String> = "env" [default_on_null],
    }
    and "_meta"
}

object! {
    /// The agent sees to the login itself.
    ///
    /// Spec: [`AuthMethodAgent`](https://agentclientprotocol.com/protocol/v1/schema#authmethodagent)
    pub struct AuthMethodAgent {
        /// Names it in `authenticate`.
        id: AuthMethodId = "id",
        /// What to call it before the user.
        name: String = "name",
    }
    optional {
        /// More about it, for the user.
        description: String = "description" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The client asks the agent to log in.
    ///
    /// Method `authenticate`. Spec: [`AuthenticateRequest`](https://agentclientprotocol.com/protocol/v1/schema#authenticaterequest)
    #[doc(alias = "authenticate")]
    pub struct AuthenticateRequest {
        /// One of the ways that the agent offered.
        method_id: AuthMethodId = "methodId",
    }
    and "_meta"
}

object! {
    /// The agent is logged in.
    ///
    /// Method `authenticate`. Spec: [`AuthenticateResponse`](https://agentclientprotocol.com/protocol/v1/schema#authenticateresponse)
    pub struct AuthenticateResponse {}
    and "_meta"
}

object! {
    /// The client asks the agent to log out.
    ///
    /// Method `logout`. Spec: [`LogoutRequest`](https://agentclientprotocol.com/protocol/v1/schema#logoutrequest)
    #[doc(alias = "logout")]
    pub struct LogoutRequest {}
    and "_meta"
}

object! {
    /// The agent is logged out.
    ///
    /// Method `logout`. Spec: [`LogoutResponse`](https://agentclientprotocol.com/protocol/v1/schema#logoutresponse)
    pub struct LogoutResponse {}
    and "_meta"
}
