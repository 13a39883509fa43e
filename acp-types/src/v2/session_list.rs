//! The sessions that an agent knows.
//!
//! Spec: [Session List](https://agentclientprotocol.com/protocol/v2/session-list)
use super::session_setup::{AbsolutePath, SessionId};
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Meta;
use jsonrpc_core::{object, open_enum, string_id};

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

object! {
    /// What a list of sessions shows of this one has changed: absent stays, `null` clears.
    ///
    /// Spec: [`SessionInfoUpdate`](https://agentclientprotocol.com/protocol/v2/schema#sessioninfoupdate)
    pub struct SessionInfoUpdate {}
    patch {
        /// What it is about, for people.
        title: String = "title" [default_on_error],
        /// When it was last active, an ISO 8601 timestamp.
        updated_at: String = "updatedAt" [default_on_error],
        /// `_meta`: a patch by key; a key that is `null` goes away.
        meta: Meta = "_meta",
    }
}

object! {
    /// **Unstable.** The client puts a session away.
    ///
    /// Method `session/archive`. Spec: [`ArchiveSessionRequest`](https://agentclientprotocol.com/protocol/v2/draft/schema#archivesessionrequest)
    pub struct ArchiveSessionRequest {
        /// Which one.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The session is put away.
    ///
    /// Method `session/archive`. Spec: [`ArchiveSessionResponse`](https://agentclientprotocol.com/protocol/v2/draft/schema#archivesessionresponse)
    pub struct ArchiveSessionResponse {}
    and "_meta"
}

object! {
    /// **Unstable.** The client takes a session out again.
    ///
    /// Method `session/unarchive`. Spec: [`UnarchiveSessionRequest`](https://agentclientprotocol.com/protocol/v2/draft/schema#unarchivesessionrequest)
    pub struct UnarchiveSessionRequest {
        /// Which one.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The session is out again.
    ///
    /// Method `session/unarchive`. Spec: [`UnarchiveSessionResponse`](https://agentclientprotocol.com/protocol/v2/draft/schema#unarchivesessionresponse)
    pub struct UnarchiveSessionResponse {}
    and "_meta"
}

open_enum! {
    /// **Unstable.** Which sessions to list. An agent refuses one that it does not know.
    ///
    /// Spec: [`SessionArchiveFilter`](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionarchivefilter)
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
    /// Method `session/set_title`. Spec: [`SetSessionTitleRequest`](https://agentclientprotocol.com/protocol/v2/draft/schema#setsessiontitlerequest)
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
    /// Method `session/set_title`. Spec: [`SetSessionTitleResponse`](https://agentclientprotocol.com/protocol/v2/draft/schema#setsessiontitleresponse)
    pub struct SetSessionTitleResponse {
        /// The title as the agent keeps it.
        title: String = "title",
    }
    and "_meta"
}
