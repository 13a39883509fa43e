//! Ways of working that a user switches an agent between.
//!
//! Spec: [Session Modes](https://agentclientprotocol.com/protocol/v1/session-modes)
use crate::shared::session_setup::SessionId;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, string_id};

string_id! {
    /// Names a mode.
    ///
    /// Spec: [`SessionModeId`](https://agentclientprotocol.com/protocol/v1/schema#sessionmodeid)
    pub struct SessionModeId;
}

object! {
    /// The modes of a session, and the one it is in.
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
        /// The one it is in.
        current_mode_id: SessionModeId = "currentModeId",
        /// All that it has.
        available_modes: Vec<SessionMode> = "availableModes" [default_on_error, skip_invalid_items] or "[]",
    }
    and "_meta"
}

object! {
    /// A way of working.
    ///
    /// Spec: [`SessionMode`](https://agentclientprotocol.com/protocol/v1/schema#sessionmode)
    pub struct SessionMode {
        /// Names it.
        id: SessionModeId = "id",
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
    /// The client switches a session to a mode.
    ///
    /// Method `session/set_mode`. Spec: [`SetSessionModeRequest`](https://agentclientprotocol.com/protocol/v1/schema#setsessionmoderequest)
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
        /// Which session.
        session_id: SessionId = "sessionId",
        /// One of its modes.
        mode_id: SessionModeId = "modeId",
    }
    and "_meta"
}

object! {
    /// The session is in the mode.
    ///
    /// Method `session/set_mode`. Spec: [`SetSessionModeResponse`](https://agentclientprotocol.com/protocol/v1/schema#setsessionmoderesponse)
    pub struct SetSessionModeResponse {}
    and "_meta"
}

object! {
    /// The agent switched the session to a mode.
    ///
    /// Spec: [`CurrentModeUpdate`](https://agentclientprotocol.com/protocol/v1/schema#currentmodeupdate)
    pub struct CurrentModeUpdate {
        /// The one it is in now.
        current_mode_id: SessionModeId = "currentModeId",
    }
    and "_meta"
}
