//! The sessions that an agent knows.
//!
//! Spec: [Session List](https://agentclientprotocol.com/protocol/v1/session-list), [version 2](https://agentclientprotocol.com/protocol/v2/session-list)
use super::session_setup::SessionId;
use alloc::string::String;
use jsonrpc_core::wire::Meta;
use jsonrpc_core::{object, open_enum};

object! {
    /// The client wants a session out of the list.
    ///
    /// Method `session/delete`. Spec: [`DeleteSessionRequest`](https://agentclientprotocol.com/protocol/v1/schema#deletesessionrequest), [version 2](https://agentclientprotocol.com/protocol/v2/schema#deletesessionrequest)
    #[doc(alias = "session/delete")]
    pub struct DeleteSessionRequest {
        /// Which one.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// The session is out of the list.
    ///
    /// Method `session/delete`. Spec: [`DeleteSessionResponse`](https://agentclientprotocol.com/protocol/v1/schema#deletesessionresponse), [version 2](https://agentclientprotocol.com/protocol/v2/schema#deletesessionresponse)
    pub struct DeleteSessionResponse {}
    and "_meta"
}

object! {
    /// What a list of sessions shows of this one has changed: absent stays, `null` clears.
    ///
    /// Spec: [`SessionInfoUpdate`](https://agentclientprotocol.com/protocol/v1/schema#sessioninfoupdate), [version 2](https://agentclientprotocol.com/protocol/v2/schema#sessioninfoupdate)
    pub struct SessionInfoUpdate {}
    patch {
        /// What it is about, for people.
        title: String = "title" [default_on_error],
        /// When it was last active, an ISO 8601 timestamp.
        updated_at: String = "updatedAt" [default_on_error],
        /// `_meta`: what peers agreed on outside the protocol; in version 2 a patch by key, where `null` removes a key.
        meta: Meta = "_meta",
    }
}

object! {
    /// **Unstable.** The client puts a session away.
    ///
    /// Method `session/archive`. Spec: [`ArchiveSessionRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#archivesessionrequest), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#archivesessionrequest)
    #[doc(alias = "session/archive")]
    pub struct ArchiveSessionRequest {
        /// Which one.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The session is put away.
    ///
    /// Method `session/archive`. Spec: [`ArchiveSessionResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#archivesessionresponse), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#archivesessionresponse)
    pub struct ArchiveSessionResponse {}
    and "_meta"
}

object! {
    /// **Unstable.** The client takes a session out again.
    ///
    /// Method `session/unarchive`. Spec: [`UnarchiveSessionRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#unarchivesessionrequest), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#unarchivesessionrequest)
    #[doc(alias = "session/unarchive")]
    pub struct UnarchiveSessionRequest {
        /// Which one.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The session is out again.
    ///
    /// Method `session/unarchive`. Spec: [`UnarchiveSessionResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#unarchivesessionresponse), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#unarchivesessionresponse)
    pub struct UnarchiveSessionResponse {}
    and "_meta"
}

open_enum! {
    /// **Unstable.** Which sessions to list. An agent refuses one that it does not know.
    ///
    /// Spec: [`SessionArchiveFilter`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionarchivefilter), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionarchivefilter)
    pub enum SessionArchiveFilter {
        /// Those that are not put away.
        Exclude = "exclude",
        /// All of them.
        Include = "include",
        /// Those that are put away.
        Only = "only",
    }
}

object! {
    /// **Unstable.** The client gives a session a title.
    ///
    /// Method `session/set_title`. Spec: [`SetSessionTitleRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#setsessiontitlerequest), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#setsessiontitlerequest)
    #[doc(alias = "session/set_title")]
    pub struct SetSessionTitleRequest {
        /// Which one.
        session_id: SessionId = "sessionId",
        /// The title.
        title: String = "title",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The session has a title.
    ///
    /// Method `session/set_title`. Spec: [`SetSessionTitleResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#setsessiontitleresponse), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#setsessiontitleresponse)
    pub struct SetSessionTitleResponse {
        /// The title as the agent keeps it.
        title: String = "title",
    }
    and "_meta"
}
