//! Authentication: login and logout.
//!
//! Spec: [Authentication](https://agentclientprotocol.com/protocol/v2/authentication)
pub use crate::shared::authentication::{
    AuthAccount, AuthMethodId, AuthState, AuthStatusRequest, AuthStatusResponse,
    AuthStatusUpdateNotification,
};
use crate::shared::session_setup::EnvVariable;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_union};

open_union! {
    /// An authentication method of an agent.
    ///
    /// Spec: [`AuthMethod`](https://agentclientprotocol.com/protocol/v2/schema#authmethod)
    pub enum AuthMethod by "type" {
        /// A login in a terminal, in which the client runs the agent's program.
        Terminal(AuthMethodTerminal) = "terminal",
        /// A login by the agent itself, on `auth/login`.
        Agent(AuthMethodAgent) = "agent",
    }
}

object! {
    /// A login in a terminal, in which the client runs the agent's program.
    ///
    /// Spec: [`AuthMethodTerminal`](https://agentclientprotocol.com/protocol/v2/schema#authmethodterminal)
    pub struct AuthMethodTerminal {
        /// Identifier of the method; not valid in `auth/login`.
        method_id: AuthMethodId = "methodId",
        /// Human-readable name.
        name: String = "name",
    }
    optional {
        /// Human-readable description.
        description: String = "description" [default_on_error],
        /// Additional arguments of the agent's command.
        args: Vec<String> = "args" [default_on_null],
        /// Additional variables of the agent's environment, with unique names.
        env: Vec<EnvVariable> = "env" [default_on_null],
    }
    and "_meta"
}

object! {
    /// A login by the agent itself.
    ///
    /// Spec: [`AuthMethodAgent`](https://agentclientprotocol.com/protocol/v2/schema#authmethodagent)
    pub struct AuthMethodAgent {
        /// Identifier of the method, for `auth/login`.
        method_id: AuthMethodId = "methodId",
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
    /// Method `auth/login`.
    /// Spec: [`LoginAuthRequest`](https://agentclientprotocol.com/protocol/v2/schema#loginauthrequest)
    #[doc(alias = "auth/login")]
    pub struct LoginAuthRequest {
        /// One of the agent's authentication methods.
        method_id: AuthMethodId = "methodId",
    }
    and "_meta"
}

object! {
    /// The login succeeded.
    ///
    /// Method `auth/login`.
    /// Spec: [`LoginAuthResponse`](https://agentclientprotocol.com/protocol/v2/schema#loginauthresponse)
    pub struct LoginAuthResponse {}
    and "_meta"
}

object! {
    /// A request to log out.
    ///
    /// Method `auth/logout`.
    /// Spec: [`LogoutAuthRequest`](https://agentclientprotocol.com/protocol/v2/schema#logoutauthrequest)
    #[doc(alias = "auth/logout")]
    pub struct LogoutAuthRequest {}
    and "_meta"
}

object! {
    /// The logout succeeded.
    ///
    /// Method `auth/logout`.
    /// Spec: [`LogoutAuthResponse`](https://agentclientprotocol.com/protocol/v2/schema#logoutauthresponse)
    pub struct LogoutAuthResponse {}
    and "_meta"
}
