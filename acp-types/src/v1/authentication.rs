//! Authentication: login and logout.
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
    /// An authentication method of an agent.
    ///
    /// Spec: [`AuthMethod`](https://agentclientprotocol.com/protocol/v1/schema#authmethod)
    pub enum AuthMethod by "type" {
        /// A login in a terminal, in which the client runs the agent's program.
        Terminal(AuthMethodTerminal) = "terminal",
    }
    untagged {
        /// A login by the agent itself, on `authenticate`; the variant without a tag.
        Agent(AuthMethodAgent) = "agent",
    }
}

object! {
    /// A login in a terminal, in which the client runs the agent's program.
    ///
    /// Spec: [`AuthMethodTerminal`](https://agentclientprotocol.com/protocol/v1/schema#authmethodterminal)
    pub struct AuthMethodTerminal {
        /// Identifier of the method; not valid in `authenticate`.
        id: AuthMethodId = "id",
        /// Human-readable name.
        name: String = "name",
    }
    optional {
        /// Human-readable description.
        description: String = "description" [default_on_error],
        /// Additional arguments of the agent's command.
        args: Vec<String> = "args" [default_on_null],
        /// Additional variables of the agent's environment.
        env: BTreeMap<String, String> = "env" [default_on_null],
    }
    and "_meta"
}

object! {
    /// A login by the agent itself.
    ///
    /// Spec: [`AuthMethodAgent`](https://agentclientprotocol.com/protocol/v1/schema#authmethodagent)
    pub struct AuthMethodAgent {
        /// Identifier of the method, for `authenticate`.
        id: AuthMethodId = "id",
        /// Human-readable name.
        name: String = "name",
    }
    optional {
        /// Human-readable description.
        description: String = "description" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A request to log in.
    ///
    /// Method `authenticate`.
    /// Spec: [`AuthenticateRequest`](https://agentclientprotocol.com/protocol/v1/schema#authenticaterequest)
    #[doc(alias = "authenticate")]
    pub struct AuthenticateRequest {
        /// One of the agent's authentication methods.
        method_id: AuthMethodId = "methodId",
    }
    and "_meta"
}

object! {
    /// The login succeeded.
    ///
    /// Method `authenticate`.
    /// Spec: [`AuthenticateResponse`](https://agentclientprotocol.com/protocol/v1/schema#authenticateresponse)
    pub struct AuthenticateResponse {}
    and "_meta"
}

object! {
    /// A request to log out.
    ///
    /// Method `logout`.
    /// Spec: [`LogoutRequest`](https://agentclientprotocol.com/protocol/v1/schema#logoutrequest)
    #[doc(alias = "logout")]
    pub struct LogoutRequest {}
    and "_meta"
}

object! {
    /// The logout succeeded.
    ///
    /// Method `logout`.
    /// Spec: [`LogoutResponse`](https://agentclientprotocol.com/protocol/v1/schema#logoutresponse)
    pub struct LogoutResponse {}
    and "_meta"
}
