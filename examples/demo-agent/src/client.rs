//! A session's access to the client.

use crate::updates::Update;
use acp_types::connection::{Peer, PendingRawCall, RequestError};
use acp_types::methods::RequestParams;
use acp_types::v1::prompt_turn::SessionNotification;
use acp_types::v1::session_setup::SessionId;
use acp_types::v2::prompt_lifecycle::UpdateSessionNotification;
use core::future::Future;
use jsonrpc_core::wire::Raw;
use serde::Serialize;
use tokio::task::spawn_local;

/// The client, for one session.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    peer: Peer,
    session_id: SessionId,
    is_v2: bool,
}

impl Client {
    pub(crate) fn new(peer: Peer, session_id: SessionId) -> Self {
        Self { peer, session_id, is_v2: false }
    }

    /// Creates a client that speaks version 2.
    pub(crate) fn v2(peer: Peer, session_id: SessionId) -> Self {
        Self { peer, session_id, is_v2: true }
    }

    pub(crate) fn is_v2(&self) -> bool {
        self.is_v2
    }

    /// Sends an update of the session.
    pub(crate) async fn update(&self, update: impl Into<Update>) {
        self.update_of(&self.session_id, update.into()).await;
    }

    /// Sends an update of a session: this one, or one that it owns.
    pub(crate) async fn update_of(&self, session: &SessionId, update: Update) {
        let lost = match (self.is_v2, update) {
            (false, Update::Both(update)) => {
                self.peer.notify(&SessionNotification::new(session.clone(), update)).await.err()
            }
            // The script says in words what version 1 does not have.
            (false, Update::V2(_)) => return,
            (true, update) => match update.in_v2() {
                Ok(update) => {
                    let params = UpdateSessionNotification::new(session.clone(), update);
                    self.peer.notify(&params).await.err()
                }
                Err(error) => return eprintln!("demo-agent: an update is lost: {error}"),
            },
        };
        if let Some(error) = lost {
            eprintln!("demo-agent: an update is lost: {error}");
        }
    }

    /// Sends a request; the caller awaits the response.
    ///
    /// # Errors
    /// Too many requests are open, or the client has gone.
    pub(crate) async fn ask(
        &self,
        method: &'static str,
        params: &Raw,
    ) -> Result<PendingRawCall, RequestError> {
        self.peer.send_raw(method, params.as_ref()).await
    }

    /// Sends a request and ignores its response.
    pub(crate) async fn ask_in_passing<P: RequestParams + Serialize + 'static>(&self, params: &P) {
        if let Ok(call) = self.peer.send(params).await {
            wait_in_passing(call);
        }
    }
}

/// Awaits a response that is not needed, because dropping the call would cancel it.
pub(crate) fn wait_in_passing(call: impl Future + 'static) {
    spawn_local(async {
        call.await;
    });
}
