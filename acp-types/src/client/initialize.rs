//! `initialize`, and the selection of the version.
use super::pending_event::PendingEvent;
use super::poll::read;
use super::session::Stage;
use super::{
    AgentVersion, CallError, CloseReason, Connection, Diagnostic, Initialization,
    InitializeResponse, Purpose, ReceivedValue, SessionKey, Token, UnsupportedVersion,
};
use crate::spoken::{self, Shape};
use crate::v1::initialization::ProtocolVersion;
use crate::v2::error::{UNSUPPORTED_PROTOCOL_VERSION, UnsupportedProtocolVersionErrorData};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::{Extra, Raw, decode};
use jsonrpc_core::{ErrorObject, Request, peek_member};
use serde_json::value::RawValue;

impl Connection {
    pub(super) fn send_initialize(&mut self, now: Duration) {
        let params = self.initialize_params();
        let deadline = now.saturating_add(self.options.call_timeout);
        if let Ok(id) = self.base.peer.register(Token::Initialize, Some(deadline)) {
            let request = Request::new(id, "initialize", params.as_ref());
            self.base.outgoing.push(request, Purpose::Initialize);
        }
    }

    /// Returns the parameters of the newest version, followed by those of the older one with
    /// different names.
    fn initialize_params(&self) -> Raw {
        match (&self.options.v1, &self.options.v2) {
            (Some(v1), Some(v2)) => {
                let read = |raw: Raw| raw.decode::<Extra>().unwrap_or_default();
                let mut members = read(Raw::of(v2));
                for (name, value) in read(Raw::of(v1)).iter() {
                    if members.get(name).is_none() {
                        members.insert(name, value.clone());
                    }
                }
                Raw::of(&members)
            }
            (None, Some(v2)) => Raw::of(v2),
            (Some(v1), None) => Raw::of(v1),
            (None, None) => Raw::of(&Extra::new()),
        }
    }

    fn offered(&self) -> Vec<ProtocolVersion> {
        let v1 = self.options.v1.is_some().then_some(ProtocolVersion::V1);
        let v2 = self.options.v2.is_some().then_some(ProtocolVersion::V2);
        v1.into_iter().chain(v2).collect()
    }

    /// Handles the response to `initialize`.
    pub(super) fn handle_initialized(&mut self, outcome: Result<&RawValue, CallError>) {
        match outcome.and_then(|result| self.read_initialized(result)) {
            Ok((initialized, spoken)) => {
                self.agent_version = spoken;
                self.initialized = Some(initialized.clone());
                self.base.push(PendingEvent::Initialized(Box::new(initialized)));
                self.refuse_other_version();
                self.base.outgoing.release();
            }
            Err(CallError::Closed(reason)) => self.close(reason),
            Err(CallError::Answered(error)) if error.code == UNSUPPORTED_PROTOCOL_VERSION => {
                self.close(self.unsupported(&error));
            }
            Err(error) => self.close(CloseReason::Initialize(Box::new(error))),
        }
    }

    /// Returns the reason for an error that may name the versions of the agent.
    fn unsupported(&self, error: &ErrorObject) -> CloseReason {
        let data = error.data.as_ref().map(Raw::decode::<UnsupportedProtocolVersionErrorData>);
        let answered = data.and_then(Result::ok).and_then(|data| data.supported.into_iter().max());
        let message = Some(UnsupportedVersion::clipped(&error.message))
            .filter(|message: &String| !message.is_empty());
        let offered = self.offered();
        CloseReason::Version(UnsupportedVersion { answered, unread: None, message, offered })
    }

    fn read_initialized(
        &mut self,
        result: &RawValue,
    ) -> Result<(Initialization, AgentVersion), CallError> {
        let member = |name: &str| peek_member(result.get(), name).ok().flatten();
        let refused = |answered, unread| {
            let message = None;
            let offered = self.offered();
            let error = UnsupportedVersion { answered, unread, message, offered };
            CallError::Closed(CloseReason::Version(error))
        };
        let text = member("protocolVersion").unwrap_or("0");
        let claimed: ProtocolVersion =
            decode(text).map_err(|_| refused(None, Some(UnsupportedVersion::clipped(text))))?;
        let shape =
            spoken::of_initialized(Some(u64::from(claimed.0)), |name| member(name).is_some());
        let (version, spoken) = match shape {
            Shape::V1 => (ProtocolVersion::V1, AgentVersion::V1),
            Shape::V2 => (ProtocolVersion::V2, AgentVersion::V2),
            Shape::Either => (ProtocolVersion::V2, AgentVersion::Claimed),
        };
        let offered = self.offered();
        let requested = offered.last().copied().unwrap_or(ProtocolVersion::V1);
        let is_named = ProtocolVersion::V1 <= claimed && claimed <= requested;
        if !is_named || !offered.contains(&version) {
            return Err(refused(Some(claimed), None));
        }
        let value = if version == ProtocolVersion::V2 {
            let decoded = self.base.diagnostics.tolerate("initialize", read(result.get()));
            decoded.map(|response| InitializeResponse::V2(Box::new(response)))
        } else {
            let decoded = self.base.diagnostics.tolerate("initialize", read(result.get()));
            decoded.map(|response| InitializeResponse::V1(Box::new(response)))
        };
        let value = value.map_err(CallError::Invalid)?;
        if version != claimed {
            self.base.diagnostics.push(Diagnostic::OtherVersion { claimed, spoken: version });
        }
        let response = ReceivedValue { value, raw: Raw::from(result) };
        Ok((Initialization { version, claimed, response }, spoken))
    }

    /// Handles the shape of a message, which decides the version if the agent has only claimed it
    /// so far.
    pub(super) fn settle(&mut self, shape: Shape) {
        if self.agent_version != AgentVersion::Claimed {
            return;
        }
        match shape {
            Shape::Either => {}
            Shape::V2 => self.agent_version = AgentVersion::V2,
            Shape::V1 => {
                self.agent_version = AgentVersion::V1;
                let claimed = ProtocolVersion::V2;
                if let Some(initialized) = &mut self.initialized {
                    initialized.version = ProtocolVersion::V1;
                }
                let spoken = ProtocolVersion::V1;
                self.base.diagnostics.push(Diagnostic::OtherVersion { claimed, spoken });
            }
        }
    }

    /// Refuses sessions that were requested in another version before the version was known.
    fn refuse_other_version(&mut self) {
        let is_v2 = self.agent_version.is_v2();
        let other = |key: &SessionKey| {
            let stage = self.sessions.get(*key).map(|session| &session.stage);
            matches!(stage, Some(Stage::Opening(opening)) if opening.is_v2 != is_v2)
        };
        let wrong: Vec<_> = self.sessions.keys().filter(other).collect();
        for key in wrong {
            if let Some(Stage::Opening(opening)) = self.sessions.end(key) {
                self.forget(&opening.request);
            }
            self.sessions.push(key, PendingEvent::Refused(CallError::Version));
        }
    }
}
