//! Authentication: login and logout.
//!
//! Spec: [Authentication](https://agentclientprotocol.com/protocol/v1/authentication), [version
//! 2](https://agentclientprotocol.com/protocol/v2/authentication)
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_enum, string_id};

string_id! {
    /// Identifies an authentication method.
    ///
    /// Spec: [`AuthMethodId`](https://agentclientprotocol.com/protocol/v1/schema#authmethodid),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#authmethodid)
    pub struct AuthMethodId;
}

object! {
    /// **Unstable.** A request for the authentication state.
    ///
    /// Method `auth/status`.
    /// Spec: [`AuthStatusRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#authstatusrequest),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#authstatusrequest)
    #[doc(alias = "auth/status")]
    pub struct AuthStatusRequest {}
    and "_meta"
}

object! {
    /// **Unstable.** The authentication state.
    ///
    /// Method `auth/status`.
    /// Spec: [`AuthStatusResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#authstatusresponse),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#authstatusresponse)
    pub struct AuthStatusResponse {
        /// Whether a session can begin at present.
        state: AuthState = "state",
    }
    optional {
        /// Accounts of the agent, for display; absent means none.
        accounts: Vec<AuthAccount> = "accounts" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// **Unstable.** A change of the authentication state.
    ///
    /// Method `auth/status_update`.
    /// Spec: [`AuthStatusUpdateNotification`](https://agentclientprotocol.com/protocol/v1/draft/schema#authstatusupdatenotification),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#authstatusupdatenotification)
    #[doc(alias = "auth/status_update")]
    pub struct AuthStatusUpdateNotification {
        /// Whether a session can begin at present.
        state: AuthState = "state",
    }
    optional {
        /// Accounts of the agent, for display; absent means none.
        accounts: Vec<AuthAccount> = "accounts" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

open_enum! {
    /// **Unstable.** Whether a session can begin at present. An unknown name means `unknown`.
    ///
    /// Spec: [`AuthState`](https://agentclientprotocol.com/protocol/v1/draft/schema#authstate),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#authstate)
    pub enum AuthState {
        /// A session can begin: the user is logged in.
        Authenticated = "authenticated",
        /// The user has to log in first.
        Unauthenticated = "unauthenticated",
        /// A session can begin; no login is required.
        NotRequired = "not_required",
        /// The agent does not know the state.
        UnknownState = "unknown",
    }
}

impl AuthState {
    /// Returns the state, with `unknown` for an unknown name.
    pub fn or_unknown(&self) -> &Self {
        if self.is_known() { self } else { &Self::UnknownState }
    }
}

object! {
    /// **Unstable.** An account of an agent.
    ///
    /// Spec: [`AuthAccount`](https://agentclientprotocol.com/protocol/v1/draft/schema#authaccount),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#authaccount)
    pub struct AuthAccount {
        /// Human-readable name.
        label: String = "label",
    }
    optional {
        /// Short text beside the name, such as the source of the credential.
        description: String = "description" [default_on_error],
        /// Whether the account is in use.
        active: bool = "active" [default_on_error],
        /// The user's name.
        name: String = "name" [default_on_error],
        /// The user's e-mail address.
        email: String = "email" [default_on_error],
        /// The organization of the account.
        organization: String = "organization" [default_on_error],
    }
    and "_meta"
}
