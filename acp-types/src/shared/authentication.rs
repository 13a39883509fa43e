//! Logging in to the agent, and out again.
//!
//! Spec: [Authentication](https://agentclientprotocol.com/protocol/v1/authentication), [version 2](https://agentclientprotocol.com/protocol/v2/authentication)
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_enum, string_id};

string_id! {
    /// Names a way to log in.
    ///
    /// Spec: [`AuthMethodId`](https://agentclientprotocol.com/protocol/v1/schema#authmethodid), [version 2](https://agentclientprotocol.com/protocol/v2/schema#authmethodid)
    pub struct AuthMethodId;
}

object! {
    /// **Unstable.** The client asks whether the user has to log in.
    ///
    /// Method `auth/status`. Spec: [`AuthStatusRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#authstatusrequest), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#authstatusrequest)
    #[doc(alias = "auth/status")]
    pub struct AuthStatusRequest {}
    and "_meta"
}

object! {
    /// **Unstable.** Whether the user has to log in.
    ///
    /// Method `auth/status`. Spec: [`AuthStatusResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#authstatusresponse), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#authstatusresponse)
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
    /// Method `auth/status_update`. Spec: [`AuthStatusUpdateNotification`](https://agentclientprotocol.com/protocol/v1/draft/schema#authstatusupdatenotification), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#authstatusupdatenotification)
    #[doc(alias = "auth/status_update")]
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
    /// Spec: [`AuthState`](https://agentclientprotocol.com/protocol/v1/draft/schema#authstate), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#authstate)
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
    /// Spec: [`AuthAccount`](https://agentclientprotocol.com/protocol/v1/draft/schema#authaccount), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#authaccount)
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
