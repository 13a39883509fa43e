//! Lists of sessions.
//!
//! Spec: [Session List](https://agentclientprotocol.com/protocol/v1/session-list), [version
//! 2](https://agentclientprotocol.com/protocol/v2/session-list)
use super::session_setup::SessionId;
use alloc::string::String;
use jsonrpc_core::wire::Meta;
use jsonrpc_core::{object, open_enum};

object! {
    /// A request to delete a session from the list.
    ///
    /// Method `session/delete`.
    /// Spec: [`DeleteSessionRequest`](https://agentclientprotocol.com/protocol/v1/schema#deletesessionrequest),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#deletesessionrequest)
    #[doc(alias = "session/delete")]
    pub struct DeleteSessionRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// The session was deleted from the list.
    ///
    /// Method `session/delete`.
    /// Spec: [`DeleteSessionResponse`](https://agentclientprotocol.com/protocol/v1/schema#deletesessionresponse),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#deletesessionresponse)
    pub struct DeleteSessionResponse {}
    and "_meta"
}

object! {
    /// A change of the session's entry in session lists. Absent members stay, `null` clears.
    ///
    /// Spec: [`SessionInfoUpdate`](https://agentclientprotocol.com/protocol/v1/schema#sessioninfoupdate),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#sessioninfoupdate)
    pub struct SessionInfoUpdate {}
    patch {
        /// Human-readable title.
        title: String = "title" [default_on_error],
        /// Time of the last activity, an ISO 8601 timestamp.
        updated_at: String = "updatedAt" [default_on_error],
        /// `_meta`: extension metadata; in version 2 a patch by key, in which `null` removes a key.
        meta: Meta = "_meta",
    }
}

object! {
    /// **Unstable.** A request to archive a session.
    ///
    /// Method `session/archive`.
    /// Spec: [`ArchiveSessionRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#archivesessionrequest),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#archivesessionrequest)
    #[doc(alias = "session/archive")]
    pub struct ArchiveSessionRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The session is archived.
    ///
    /// Method `session/archive`.
    /// Spec: [`ArchiveSessionResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#archivesessionresponse),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#archivesessionresponse)
    pub struct ArchiveSessionResponse {}
    and "_meta"
}

object! {
    /// **Unstable.** A request to restore a session from the archive.
    ///
    /// Method `session/unarchive`.
    /// Spec: [`UnarchiveSessionRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#unarchivesessionrequest),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#unarchivesessionrequest)
    #[doc(alias = "session/unarchive")]
    pub struct UnarchiveSessionRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The session is restored.
    ///
    /// Method `session/unarchive`.
    /// Spec: [`UnarchiveSessionResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#unarchivesessionresponse),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#unarchivesessionresponse)
    pub struct UnarchiveSessionResponse {}
    and "_meta"
}

open_enum! {
    /// **Unstable.** A filter of listed sessions. An agent refuses an unknown name.
    ///
    /// Spec: [`SessionArchiveFilter`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionarchivefilter),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionarchivefilter)
    pub enum SessionArchiveFilter {
        /// Sessions that are not archived.
        Exclude = "exclude",
        /// All sessions.
        Include = "include",
        /// Archived sessions.
        Only = "only",
    }
}

object! {
    /// **Unstable.** A request to set the title of a session.
    ///
    /// Method `session/set_title`.
    /// Spec: [`SetSessionTitleRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#setsessiontitlerequest),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#setsessiontitlerequest)
    #[doc(alias = "session/set_title")]
    pub struct SetSessionTitleRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// The title.
        title: String = "title",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The title is set.
    ///
    /// Method `session/set_title`.
    /// Spec: [`SetSessionTitleResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#setsessiontitleresponse),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#setsessiontitleresponse)
    pub struct SetSessionTitleResponse {
        /// The title as stored by the agent.
        title: String = "title",
    }
    and "_meta"
}
