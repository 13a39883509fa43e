//! Handshake and version negotiation.
use super::{
    Client, ClientEvent, ConnectError, ConnectionState, RequestPurpose, ServerDescription,
};
use crate::mcp::base::{Era, ProtocolVersion, RequestMetaObject, RequestParams, ResultMetaObject};
use crate::mcp::discover::DiscoverResult;
use crate::mcp::error::{UNSUPPORTED_PROTOCOL_VERSION, UnsupportedProtocolVersionData};
use crate::mcp::lifecycle::{InitializeRequestParams, InitializeResult};
use alloc::boxed::Box;
use core::time::Duration;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{Meta, Raw};

impl Client {
    /// Starts the handshake. [`ClientEvent::Ready`] or [`ClientEvent::Unusable`] follows. Repeated
    /// calls have no effect.
    pub fn start(&mut self, now: Duration) {
        if !matches!(self.state, ConnectionState::New) {
            return;
        }
        let deadline = now.checked_add(self.options.probe_timeout);
        self.state = ConnectionState::Connecting { deadline, has_retried: false };
        if self.options.era == Some(Era::Legacy) {
            return self.initialize();
        }
        self.discover(deadline);
    }

    fn discover(&mut self, deadline: Option<Duration>) {
        let mut params = RequestParams::new();
        params.meta = Some(self.request_meta(&ProtocolVersion::LATEST, None));
        if self.transmit(RequestPurpose::Discover, "server/discover", &params, deadline).is_err() {
            self.unusable(ConnectError::Silent);
        }
    }

    /// Returns the `_meta` of a request from 2026-07-28: `beside` and the members that the protocol
    /// requires.
    pub(super) fn request_meta(&self, version: &ProtocolVersion, beside: Option<&Meta>) -> Meta {
        let mut meta = RequestMetaObject::read(beside).unwrap_or_default();
        meta.protocol_version = Some(version.clone());
        meta.client_capabilities = Some(self.options.capabilities.clone());
        meta.client_info = Some(self.options.client_info.clone());
        meta.to_meta()
    }

    pub(super) fn handle_discover(&mut self, outcome: Result<Raw, ErrorObject>) {
        let result = match outcome {
            Ok(result) => result.decode::<DiscoverResult>(),
            // A newer server lists the versions that it supports.
            Err(error) if error.code == UNSUPPORTED_PROTOCOL_VERSION => {
                let data = error.data.as_ref();
                let data =
                    data.and_then(|data| data.decode::<UnsupportedProtocolVersionData>().ok());
                let supported = data.map(|data| data.supported).unwrap_or_default();
                if let ConnectionState::Connecting { deadline, has_retried: false } = self.state
                    && supported.contains(&ProtocolVersion::LATEST)
                {
                    self.state = ConnectionState::Connecting { deadline, has_retried: true };
                    return self.discover(deadline);
                }
                let has_legacy = supported.iter().any(|it| it.era() == Some(Era::Legacy));
                return self.legacy_or(has_legacy, ConnectError::Version);
            }
            Err(error) => return self.legacy_or(true, ConnectError::Refused(error)),
        };
        let result = match result {
            Ok(result) => result,
            Err(error) => return self.legacy_or(true, ConnectError::Decode(error)),
        };
        if !result.supported_versions.contains(&ProtocolVersion::LATEST) {
            let has_legacy =
                result.supported_versions.iter().any(|it| it.era() == Some(Era::Legacy));
            return self.legacy_or(has_legacy, ConnectError::Version);
        }
        let meta = ResultMetaObject::read(result.meta.as_ref()).unwrap_or_default();
        self.ready(ServerDescription {
            version: ProtocolVersion::LATEST,
            capabilities: result.capabilities,
            server_info: meta.server_info,
            instructions: result.instructions,
        });
    }

    /// Falls back to the handshake of the older generation, if the server may belong to it.
    fn legacy_or(&mut self, may_be_legacy: bool, error: ConnectError) {
        if may_be_legacy && self.options.era.is_none() {
            self.initialize();
        } else {
            self.unusable(error);
        }
    }

    fn initialize(&mut self) {
        let params = InitializeRequestParams::new(
            ProtocolVersion::LATEST_LEGACY,
            self.options.capabilities.clone(),
            self.options.client_info.clone(),
        );
        if self.transmit(RequestPurpose::Initialize, "initialize", &params, None).is_err() {
            self.unusable(ConnectError::Silent);
        }
    }

    pub(super) fn handle_initialize(&mut self, outcome: Result<Raw, ErrorObject>) {
        let result = match outcome.map(|result| result.decode::<InitializeResult>()) {
            Ok(Ok(result)) => result,
            Ok(Err(error)) => return self.unusable(ConnectError::Decode(error)),
            // A server that started slowly has also received `server/discover`, and may keep to its
            // generation.
            Err(error)
                if error.code == UNSUPPORTED_PROTOCOL_VERSION
                    && self.options.era.is_none()
                    && matches!(
                        self.state,
                        ConnectionState::Connecting { has_retried: false, .. }
                    ) =>
            {
                self.state = ConnectionState::Connecting { deadline: None, has_retried: true };
                return self.discover(None);
            }
            Err(error) => return self.unusable(ConnectError::Refused(error)),
        };
        if result.protocol_version.era() != Some(Era::Legacy) {
            return self.unusable(ConnectError::Version);
        }
        self.notify("notifications/initialized", &RequestParams::new());
        self.ready(ServerDescription {
            version: result.protocol_version,
            capabilities: result.capabilities,
            server_info: Some(result.server_info),
            instructions: result.instructions,
        });
    }

    /// Handles a handshake without a response. A server that ignores `server/discover` may be of
    /// the older generation; one that also ignores `initialize` is unusable.
    pub(super) fn handle_handshake_silence(&mut self, pending: RequestPurpose) {
        self.legacy_or(matches!(pending, RequestPurpose::Discover), ConnectError::Silent);
    }

    fn ready(&mut self, server: ServerDescription) {
        let era = server.version.era().unwrap_or(Era::Modern);
        self.has_logging = server.capabilities.logging.is_some();
        self.state = ConnectionState::Ready { era, version: server.version.clone() };
        self.events.push_back(ClientEvent::Ready(Box::new(server)));
    }

    fn unusable(&mut self, error: ConnectError) {
        self.state = ConnectionState::Failed;
        self.events.push_back(ClientEvent::Unusable(error));
    }
}
