//! The login after `initialize`, and the error for a user if it fails.
use super::version::speaks_v2;
use super::{Hub, HubEvent, Login};
use crate::Failure;
use crate::SignIn;
use crate::conversation::Trouble;
use acp_types::client::CallError;
use alloc::boxed::Box;
use core::time::Duration;

impl Hub {
    /// Returns whether the agent requires a login: it has refused a session for that reason, and
    /// has opened none since.
    pub fn needs_login(&self) -> bool {
        self.needs_login
    }

    /// Handles a login outside of [`connect_with_login`](Self::connect_with_login), by a
    /// [call](Self::call) of the program or by other means: the agent counts as logged in until it
    /// refuses a session again.
    pub fn handle_logged_in(&mut self) {
        self.needs_login = false;
    }

    /// Sends the planned login, or lets the conversations begin.
    pub(super) fn log_in(&mut self, now: Duration) {
        if let Login::Planned(call) = core::mem::replace(&mut self.login, Login::Done)
            && let Some(connection) = &mut self.connection
        {
            let call = if speaks_v2(connection) { call.in_v2() } else { call };
            self.login = Login::Open(connection.call(call, now));
            return;
        }
        let Some(initialized) = self.initialized().cloned() else { return };
        let features = self.features(&initialized);
        self.for_each_thread(now, |conversation| {
            conversation.handle_connected(features.clone(), now);
        });
        self.events.push_back(HubEvent::Connected(Box::new(initialized)));
    }

    /// Classifies the failure of a login; a method that the agent refuses is followed by those that
    /// it has.
    pub(super) fn login_trouble(&self, error: &CallError) -> Trouble {
        let methods = self.initialized().map(|it| it.response.value.auth_methods());
        match (error, methods) {
            (CallError::Answered(error) | CallError::AuthRequired { error, .. }, Some(methods)) => {
                Trouble::Refused(SignIn::explain_method(error, &methods))
            }
            _ => {
                let sign_in = &self.options.conversation.sign_in;
                Trouble::of("authenticate", error, Failure::AgentTimeout, sign_in)
            }
        }
    }
}
