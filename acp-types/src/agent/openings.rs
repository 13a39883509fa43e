//! Sessions of version 2 that are being opened: the end of a replay, and a state that the client
//! could not assign to a session.
//!
//! Spec: [Resuming Sessions](https://agentclientprotocol.com/protocol/v2/session-setup#resuming-sessions)
use super::RequestKey;
use crate::endpoint::{notification, string};
use crate::sorted_map::SortedMap;
use crate::v1::session_setup::SessionId;
use crate::v2::prompt_lifecycle::{SessionUpdate, UpdateSessionNotification};
use crate::v2::session_setup::ReplayComplete;
use alloc::vec;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{find_member, peek};

/// Openings without a response.
#[derive(Debug, Default)]
pub(super) struct SessionSetups {
    open: SortedMap<RequestKey, SessionSetup>,
    /// The last `state_update` of sessions that work, while the name of a session is unknown to the
    /// client.
    states: SortedMap<SessionId, Vec<u8>>,
}

/// An opening without a response.
#[derive(Debug)]
enum SessionSetup {
    /// The response names the session.
    Unnamed,
    /// A replay without an end.
    Replay {
        session: SessionId,
        /// A `state_update` of the session that waits for the next line: before the response, it
        /// follows the end of the replay.
        state: Option<Vec<u8>>,
    },
}

/// Lines before and after the response to an opening.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    pub(super) before: Vec<Vec<u8>>,
    pub(super) after: Option<Vec<u8>>,
}

impl SessionSetups {
    pub(super) fn begin(&mut self, key: RequestKey, method: &str, params: &str) {
        let opening = match method {
            "session/new" | "session/fork" => SessionSetup::Unnamed,
            "session/resume" => {
                // An absent start means no replay.
                let starts = find_member(params, &["replayFrom"]).filter(|from| *from != "null");
                let id = starts.and_then(|_| string(params, &["sessionId"]));
                let Some(id) = id else { return };
                SessionSetup::Replay { session: SessionId::from(&*id), state: None }
            }
            _ => return,
        };
        self.open.insert(key, opening);
    }

    /// Handles a notification of the program, and returns the lines to send.
    pub(super) fn notify(&mut self, line: Vec<u8>) -> Vec<Vec<u8>> {
        if self.open.len() == 0 {
            return vec![line];
        }
        let mut lines = self.take_held();
        if !self.holds(&line) {
            lines.push(line);
        }
        lines
    }

    /// Returns the lines that wait, before another line.
    pub(super) fn take_held(&mut self) -> Vec<Vec<u8>> {
        let states = self.open.iter_mut().filter_map(|(_, opening)| match opening {
            SessionSetup::Replay { state, .. } => state.take(),
            SessionSetup::Unnamed => None,
        });
        states.collect()
    }

    /// Records a notification, and returns whether it waits for the next line.
    fn holds(&mut self, line: &[u8]) -> bool {
        let Ok(peeked) = peek(line) else { return false };
        let Some(params) = peeked.raw_params() else { return false };
        let params = params.get();
        let Some(id) = string(params, &["sessionId"]) else { return false };
        match string(params, &["update", "sessionUpdate"]).as_deref() {
            Some("replay_complete") => self.open.retain(|_, opening| !opening.replays(&id)),
            Some("state_update") => {
                self.states.remove(&*id);
                let state = string(params, &["update", "state"]);
                if state.is_some_and(|state| state != "idle") {
                    self.states.insert(SessionId::from(&*id), line.to_vec());
                }
                let mut replays = self.open.iter_mut().map(|(_, opening)| opening);
                if let Some(SessionSetup::Replay { state, .. }) =
                    replays.find(|opening| opening.replays(&id))
                {
                    *state = Some(line.to_vec());
                    return true;
                }
            }
            _ => {}
        }
        false
    }

    /// Ends an opening with this result; `None` for an error.
    pub(super) fn end(&mut self, key: RequestKey, result: Option<&Raw>) -> Surroundings {
        let mut lines = Surroundings::default();
        let setup = self.open.remove(&key);
        lines.before = self.take_held();
        let Some(opening) = setup else { return lines };
        match opening {
            SessionSetup::Replay { session, state } => {
                if result.is_some() {
                    let end = SessionUpdate::ReplayComplete(ReplayComplete::new());
                    let end = UpdateSessionNotification::new(session.as_str(), end);
                    lines.before.push(notification(&end));
                }
                lines.before.extend(state);
            }
            SessionSetup::Unnamed => {
                let id = result.and_then(|result| string(result.as_str(), &["sessionId"]));
                lines.after = id.and_then(|id| self.states.remove(&*id));
            }
        }
        if self.open.len() == 0 {
            self.states.clear();
        }
        lines
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl SessionSetup {
    /// Returns whether this is a replay of the session.
    fn replays(&self, id: &str) -> bool {
        matches!(self, Self::Replay { session, .. } if session.as_str() == id)
    }
}
