//! The sessions that an agent knows.
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
    /// Where a page of sessions begins; opaque, and an empty one is one.
    ///
    /// Spec: [`SessionListCursor`](https://agentclientprotocol.com/protocol/v2/schema#sessionlistcursor)
    pub struct SessionListCursor;
}

object! {
    /// The client asks for the sessions that the agent knows, page by page.
    ///
    /// Method `session/list`. Spec: [`ListSessionsRequest`](https://agentclientprotocol.com/protocol/v2/schema#listsessionsrequest)
    #[doc(alias = "session/list")]
    pub struct ListSessionsRequest {}
    optional {
        /// Only those that work in this folder.
        cwd: AbsolutePath = "cwd",
        /// Where the page begins, from the page before.
        cursor: SessionListCursor = "cursor",
        /// **Unstable.** Which of those that were put away to list; absent means none.
        archived: SessionArchiveFilter = "archived",
    }
    and "_meta"
}

object! {
    /// A page of sessions.
    ///
    /// Method `session/list`. Spec: [`ListSessionsResponse`](https://agentclientprotocol.com/protocol/v2/schema#listsessionsresponse)
    pub struct ListSessionsResponse {
        /// The sessions of this page.
        sessions: Vec<SessionInfo> = "sessions" [default_on_error, skip_invalid_items] or "[]",
    }
    optional {
        /// Where the next page begins; absent on the last.
        next_cursor: SessionListCursor = "nextCursor",
    }
    and "_meta"
}

object! {
    /// A session in a list.
    ///
    /// Spec: [`SessionInfo`](https://agentclientprotocol.com/protocol/v2/schema#sessioninfo)
    pub struct SessionInfo {
        /// Names it.
        session_id: SessionId = "sessionId",
        /// The folder that it works in.
        cwd: AbsolutePath = "cwd",
    }
    optional {
        /// More folders that belong to it.
        additional_directories: Vec<AbsolutePath> = "additionalDirectories" [default_on_null],
        /// What it is about, for people.
        title: String = "title" [default_on_error],
        /// When it was last active, an ISO 8601 timestamp.
        updated_at: String = "updatedAt" [default_on_error],
        /// **Unstable.** Whether it was put away.
        archived: bool = "archived" [default_on_error],
    }
    and "_meta"
}
