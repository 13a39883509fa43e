//! Logging in to the agent, and out again.
//!
//! Spec: [Authentication](https://agentclientprotocol.com/protocol/v1/authentication)
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_enum, open_union, string_id};

string_id! {
    /// Names a way to log in.
    ///
    /// Spec: [`AuthMethodId`](https://agentclientprotocol.com/protocol/v1/schema#authmethodid)
    pub struct AuthMethodId;
}

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

object! {
    /// **Unstable.** The client asks whether the user has to log in.
    ///
    /// Method `auth/status`. Spec: [`AuthStatusRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#authstatusrequest)
    pub struct AuthStatusRequest {}
    and "_meta"
}

object! {
    /// **Unstable.** Whether the user has to log in.
    ///
    /// Method `auth/status`. Spec: [`AuthStatusResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#authstatusresponse)
    pub struct AuthStatusResponse {
        /// Whether a session can begin as things are.
        state: AuthState = "state",
    }
    optional {
        /// The accounts that the agent has, to show; absent means none.
        accounts: Vec<AuthAccount> = "accounts" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// **Unstable.** Whether the user has to log in has changed.
    ///
    /// Method `auth/status_update`. Spec: [`AuthStatusUpdateNotification`](https://agentclientprotocol.com/protocol/v1/draft/schema#authstatusupdatenotification)
    pub struct AuthStatusUpdateNotification {
        /// Whether a session can begin as things are.
        state: AuthState = "state",
    }
    optional {
        /// The accounts that the agent has, to show; absent means none.
        accounts: Vec<AuthAccount> = "accounts" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

open_enum! {
    /// **Unstable.** Whether a session can begin as things are. One that is not known means `unknown`.
    ///
    /// Spec: [`AuthState`](https://agentclientprotocol.com/protocol/v1/draft/schema#authstate)
    pub enum AuthState {
        /// It can: the user is logged in.
        Authenticated = "authenticated",
        /// It cannot: the user has to log in.
        Unauthenticated = "unauthenticated",
        /// It can: nobody has to log in.
        NotRequired = "not_required",
        /// The agent does not know.
        UnknownState = "unknown",
    }
}

impl AuthState {
    /// The state to act on: one that is not known is `unknown`.
    pub fn or_unknown(&self) -> &Self {
        if self.is_known() { self } else { &Self::UnknownState }
    }
}

object! {
    /// **Unstable.** An account that an agent has.
    ///
    /// Spec: [`AuthAccount`](https://agentclientprotocol.com/protocol/v1/draft/schema#authaccount)
    pub struct AuthAccount {
        /// What to call it before the user.
        label: String = "label",
    }
    optional {
        /// Whether it is in use.
        active: bool = "active" [default_on_error],
        /// The user's name.
        name: String = "name" [default_on_error],
        /// The user's e-mail address.
        email: String = "email" [default_on_error],
        /// The organization that it belongs to.
        organization: String = "organization" [default_on_error],
    }
    and "_meta"
}
