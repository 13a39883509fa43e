//! Lists of sessions.
//!
//! Spec: [Session List](https://agentclientprotocol.com/protocol/v1/session-list)
pub use crate::shared::session_list::{
    ArchiveSessionRequest, ArchiveSessionResponse, DeleteSessionRequest, DeleteSessionResponse,
    SessionArchiveFilter, SessionInfoUpdate, SetSessionTitleRequest, SetSessionTitleResponse,
    UnarchiveSessionRequest, UnarchiveSessionResponse,
};
use crate::shared::session_setup::SessionId;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;

object! {
    /// A request for a page of the agent's sessions.
    ///
    /// Method `session/list`.
    /// Spec: [`ListSessionsRequest`](https://agentclientprotocol.com/protocol/v1/schema#listsessionsrequest)
    #[doc(alias = "session/list")]
    pub struct ListSessionsRequest {}
    optional {
        /// Limits the list to this working directory, an absolute path.
        cwd: String = "cwd",
        /// Opaque cursor from the previous page.
        cursor: String = "cursor",
        /// **Unstable.** Filter of archived sessions; absent means that they are excluded.
        archived: SessionArchiveFilter = "archived",
    }
    and "_meta"
}

object! {
    /// A page of sessions.
    ///
    /// Method `session/list`.
    /// Spec: [`ListSessionsResponse`](https://agentclientprotocol.com/protocol/v1/schema#listsessionsresponse)
    pub struct ListSessionsResponse {
        /// The sessions of this page.
        sessions: Vec<SessionInfo> = "sessions" [default_on_error, skip_invalid_items] or "[]",
    }
    optional {
        /// Cursor of the next page; absent on the last page.
        next_cursor: String = "nextCursor" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A session in a list.
    ///
    /// Spec: [`SessionInfo`](https://agentclientprotocol.com/protocol/v1/schema#sessioninfo)
    pub struct SessionInfo {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Absolute path of the working directory.
        cwd: String = "cwd",
    }
    optional {
        /// Absolute paths of additional directories.
        additional_directories: Vec<String> = "additionalDirectories" [default_on_error, skip_invalid_items],
        /// Human-readable title.
        title: String = "title" [default_on_error],
        /// Time of the last activity, an ISO 8601 timestamp.
        updated_at: String = "updatedAt" [default_on_error],
        /// **Unstable.** Whether the session is archived.
        archived: bool = "archived" [default_on_error],
    }
    and "_meta"
}
