//! Lists of sessions.
//!
//! Spec: [Session List](https://agentclientprotocol.com/protocol/v2/session-list)
use super::session_setup::AbsolutePath;
pub use crate::shared::session_list::{
    ArchiveSessionRequest, ArchiveSessionResponse, SessionArchiveFilter, SessionInfoUpdate,
    SetSessionTitleRequest, SetSessionTitleResponse, UnarchiveSessionRequest,
    UnarchiveSessionResponse,
};
use crate::shared::session_setup::SessionId;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, string_id};

string_id! {
    /// The start of a page of sessions. Opaque; an empty cursor is valid.
    ///
    /// Spec: [`SessionListCursor`](https://agentclientprotocol.com/protocol/v2/schema#sessionlistcursor)
    pub struct SessionListCursor;
}

object! {
    /// A request for a page of the agent's sessions.
    ///
    /// Method `session/list`.
    /// Spec: [`ListSessionsRequest`](https://agentclientprotocol.com/protocol/v2/schema#listsessionsrequest)
    #[doc(alias = "session/list")]
    pub struct ListSessionsRequest {}
    optional {
        /// Limits the list to this working directory.
        cwd: AbsolutePath = "cwd",
        /// Cursor from the previous page.
        cursor: SessionListCursor = "cursor",
        /// **Unstable.** Filter of archived sessions; absent means that they are excluded.
        archived: SessionArchiveFilter = "archived",
    }
    and "_meta"
}

object! {
    /// A page of sessions.
    ///
    /// Method `session/list`.
    /// Spec: [`ListSessionsResponse`](https://agentclientprotocol.com/protocol/v2/schema#listsessionsresponse)
    pub struct ListSessionsResponse {
        /// The sessions of this page.
        sessions: Vec<SessionInfo> = "sessions" [default_on_error, skip_invalid_items] or "[]",
    }
    optional {
        /// Cursor of the next page; absent on the last page.
        next_cursor: SessionListCursor = "nextCursor",
    }
    and "_meta"
}

object! {
    /// A session in a list.
    ///
    /// Spec: [`SessionInfo`](https://agentclientprotocol.com/protocol/v2/schema#sessioninfo)
    pub struct SessionInfo {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Working directory of the session.
        cwd: AbsolutePath = "cwd",
    }
    optional {
        /// Additional directories.
        additional_directories: Vec<AbsolutePath> = "additionalDirectories" [default_on_null],
        /// Human-readable title.
        title: String = "title" [default_on_error],
        /// Time of the last activity, an ISO 8601 timestamp.
        updated_at: String = "updatedAt" [default_on_error],
        /// **Unstable.** Whether the session is archived.
        archived: bool = "archived" [default_on_error],
    }
    and "_meta"
}
