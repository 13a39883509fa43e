//! Modes of a session.
//!
//! Spec: [Session Modes](https://agentclientprotocol.com/protocol/v1/session-modes)
use crate::shared::session_setup::SessionId;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, string_id};

string_id! {
    /// Identifies a mode.
    ///
    /// Spec: [`SessionModeId`](https://agentclientprotocol.com/protocol/v1/schema#sessionmodeid)
    pub struct SessionModeId;
}

object! {
    /// The modes of a session, and the current one.
    ///
    /// Spec: [`SessionModeState`](https://agentclientprotocol.com/protocol/v1/schema#sessionmodestate)
    ///
    /// ```
    /// use acp_types::v1::session_modes::{SessionMode, SessionModeState};
    ///
    /// let modes = vec![SessionMode::new("ask", "Ask"), SessionMode::new("code", "Code")];
    /// let state = SessionModeState::new("ask", modes);
    /// assert!(state.available_modes.iter().any(|mode| mode.id == state.current_mode_id));
    /// ```
    pub struct SessionModeState {
        /// Identifier of the current mode.
        current_mode_id: SessionModeId = "currentModeId",
        /// The available modes.
        available_modes: Vec<SessionMode> = "availableModes" [default_on_error, skip_invalid_items] or "[]",
    }
    and "_meta"
}

object! {
    /// A mode of a session.
    ///
    /// Spec: [`SessionMode`](https://agentclientprotocol.com/protocol/v1/schema#sessionmode)
    pub struct SessionMode {
        /// Identifier.
        id: SessionModeId = "id",
        /// Human-readable name.
        name: String = "name",
    }
    optional {
        /// Human-readable description.
        description: String = "description" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A request to set the mode of a session.
    ///
    /// Method `session/set_mode`.
    /// Spec: [`SetSessionModeRequest`](https://agentclientprotocol.com/protocol/v1/schema#setsessionmoderequest)
    ///
    /// ```
    /// use acp_types::v1::session_modes::SetSessionModeRequest;
    ///
    /// let request = SetSessionModeRequest::new("sess-1", "architect");
    /// assert_eq!(serde_json::to_string(&request)?, r#"{"sessionId":"sess-1","modeId":"architect"}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[doc(alias = "session/set_mode")]
    pub struct SetSessionModeRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Identifier of the mode.
        mode_id: SessionModeId = "modeId",
    }
    and "_meta"
}

object! {
    /// The mode is set.
    ///
    /// Method `session/set_mode`.
    /// Spec: [`SetSessionModeResponse`](https://agentclientprotocol.com/protocol/v1/schema#setsessionmoderesponse)
    pub struct SetSessionModeResponse {}
    and "_meta"
}

object! {
    /// The agent changed the mode of the session.
    ///
    /// Spec: [`CurrentModeUpdate`](https://agentclientprotocol.com/protocol/v1/schema#currentmodeupdate)
    pub struct CurrentModeUpdate {
        /// Identifier of the new mode.
        current_mode_id: SessionModeId = "currentModeId",
    }
    and "_meta"
}
