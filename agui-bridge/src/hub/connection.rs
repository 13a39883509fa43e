//! The connection to the agent, and calls of the program on it.
use super::version::speaks_v2;
use super::{Hub, Login};
use crate::Failure;
use crate::conversation::Trouble;
use acp_types::client::{
    Call, CallKey, CloseReason, Connection, Initialization, Options, RepeatedAnswer, Reply,
    RequestKey,
};
use alloc::string::ToString;
use core::time::Duration;
use jsonrpc_core::ErrorObject;

impl Hub {
    /// Opens a connection, and closes an open one first. `initialize` is transmitted first.
    pub fn connect(&mut self, options: Options, now: Duration) {
        self.handle_closed(CloseReason::ClientClosed, now);
        self.login = Login::Done;
        self.connection = Some(Connection::new(options, now));
        self.threads.find_again();
        self.for_each_thread(now, |conversation| conversation.handle_connecting(now));
    }

    /// Opens a connection with a login: sessions are opened after the response to `login`.
    pub fn connect_with_login(&mut self, options: Options, login: Call, now: Duration) {
        self.connect(options, now);
        self.login = Login::Planned(login);
    }

    /// Handles that the agent is unavailable. Waiting runs fail.
    pub fn handle_unavailable(&mut self, failure: Failure, message: &str, now: Duration) {
        self.lose(&Trouble::Failed(failure, message.to_string()), now);
    }

    /// Handles that the agent refused the connection, with this error. Waiting runs fail.
    pub fn handle_denied(&mut self, error: &ErrorObject, now: Duration) {
        self.lose(&Trouble::Refused(error.clone()), now);
    }

    /// Handles the end of the connection. Pass in all read lines first.
    pub fn handle_closed(&mut self, reason: CloseReason, now: Duration) {
        if let Some(connection) = &mut self.connection {
            connection.handle_closed(reason);
            self.drive(now);
        }
    }

    /// Returns the agent's response to `initialize`, once received.
    pub fn initialized(&self) -> Option<&Initialization> {
        self.connection.as_ref()?.initialized()
    }

    /// Returns whether a connection is open or being opened.
    pub fn is_connected(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| !connection.is_closed())
    }

    /// Answers a request of the agent that was passed to the program.
    ///
    /// # Errors
    /// The request is already answered.
    pub fn reply(
        &mut self,
        request: RequestKey,
        reply: impl Into<Reply>,
    ) -> Result<(), RepeatedAnswer> {
        self.connection.as_mut().ok_or(RepeatedAnswer)?.reply(request, reply)
    }

    /// Calls the agent outside of the conversations.
    /// [`HubEvent::CallEnded`](super::HubEvent::CallEnded) follows. Returns `None` without a
    /// connection. A login or logout of version 1 is sent in the agent's version.
    pub fn call(&mut self, call: Call, now: Duration) -> Option<CallKey> {
        let connection = self.connection.as_mut()?;
        let call = if speaks_v2(connection) { call.in_v2() } else { call };
        let key = connection.call(call, now);
        self.drive(now);
        Some(key)
    }

    /// Withdraws a call of the program with `$/cancel_request`, once. The end of the call still
    /// follows.
    pub fn withdraw(&mut self, call: CallKey) {
        if let Some(connection) = &mut self.connection {
            connection.withdraw(call);
        }
    }

    pub(super) fn lose(&mut self, trouble: &Trouble, now: Duration) {
        self.threads.lose(trouble);
        self.for_each_thread(now, |conversation| conversation.disconnect(trouble.clone(), now));
    }
}
