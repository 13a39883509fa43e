//! Logging in to the agent, and out again.
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
    /// A way to log in that an agent offers.
    ///
    /// Spec: [`AuthMethod`](https://agentclientprotocol.com/protocol/v2/schema#authmethod)
    pub enum AuthMethod by "type" {
        /// The client runs the agent's program in a terminal, where the user logs in.
        Terminal(AuthMethodTerminal) = "terminal",
        /// The agent sees to it, when `auth/login` asks it to.
        Agent(AuthMethodAgent) = "agent",
    }
}

object! {
    /// The client runs the agent's program in a terminal, where the user logs in.
    ///
    /// Spec: [`AuthMethodTerminal`](https://agentclientprotocol.com/protocol/v2/schema#authmethodterminal)
    pub struct AuthMethodTerminal {
        /// Names it; not for `auth/login`.
        method_id: AuthMethodId = "methodId",
        /// What to call it before the user.
        name: String = "name",
    }
    optional {
        /// More about it, for the user.
        description: String = "description" [default_on_error],
        /// Arguments to add to the agent's command.
        args: Vec<String> = "args" [default_on_null],
        /// Variables to set over the agent's environment, each name once.
        env: Vec<EnvVariable> = "env" [default_on_null],
    }
    and "_meta"
}

object! {
    /// The agent sees to the login itself.
    ///
    /// Spec: [`AuthMethodAgent`](https://agentclientprotocol.com/protocol/v2/schema#authmethodagent)
    pub struct AuthMethodAgent {
        /// Names it in `auth/login`.
        method_id: AuthMethodId = "methodId",
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
    /// Method `auth/login`. Spec: [`LoginAuthRequest`](https://agentclientprotocol.com/protocol/v2/schema#loginauthrequest)
    #[doc(alias = "auth/login")]
    pub struct LoginAuthRequest {
        /// One of the ways that the agent offered.
        method_id: AuthMethodId = "methodId",
    }
    and "_meta"
}

object! {
    /// The agent is logged in.
    ///
    /// Method `auth/login`. Spec: [`LoginAuthResponse`](https://agentclientprotocol.com/protocol/v2/schema#loginauthresponse)
    pub struct LoginAuthResponse {}
    and "_meta"
}

object! {
    /// The client asks the agent to log out.
    ///
    /// Method `auth/logout`. Spec: [`LogoutAuthRequest`](https://agentclientprotocol.com/protocol/v2/schema#logoutauthrequest)
    #[doc(alias = "auth/logout")]
    pub struct LogoutAuthRequest {}
    and "_meta"
}

object! {
    /// The agent is logged out.
    ///
    /// Method `auth/logout`. Spec: [`LogoutAuthResponse`](https://agentclientprotocol.com/protocol/v2/schema#logoutauthresponse)
    pub struct LogoutAuthResponse {}
    and "_meta"
}
