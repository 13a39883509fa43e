//! A session's access to the client.

use acp_types::connection::{Peer, PendingRawCall, RequestError};
use acp_types::methods::RequestParams;
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
use acp_types::v1::session_setup::SessionId;
use core::future::Future;
use jsonrpc_core::wire::Raw;
use serde::Serialize;
use tokio::task::spawn_local;

/// The client, for one session.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    peer: Peer,
    session_id: SessionId,
}

impl Client {
    pub(crate) fn new(peer: Peer, session_id: SessionId) -> Self {
        Self { peer, session_id }
    }

    /// Sends an update of the session.
    pub(crate) async fn update(&self, update: &SessionUpdate) {
        let params = SessionNotification::new(self.session_id.clone(), update.clone());
        if let Err(error) = self.peer.notify(&params).await {
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
