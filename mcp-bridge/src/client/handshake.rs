//! Finding out what the server is.
use super::{Client, ClientEvent, ConnectError, Pending, ServerDescription, State};
use crate::mcp::base::{Era, ProtocolVersion, RequestMetaObject, RequestParams, ResultMetaObject};
use crate::mcp::discover::DiscoverResult;
use crate::mcp::error::{UNSUPPORTED_PROTOCOL_VERSION, UnsupportedProtocolVersionData};
use crate::mcp::lifecycle::{InitializeRequestParams, InitializeResult};
use alloc::boxed::Box;
use core::time::Duration;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{Meta, Raw};

impl Client {
    /// Begins: [`ClientEvent::Ready`] or [`ClientEvent::Unusable`] follows. Does nothing the second time.
    pub fn start(&mut self, now: Duration) {
        if !matches!(self.state, State::New) {
            return;
        }
        let deadline = now.checked_add(self.options.probe_timeout);
        self.state = State::Connecting { deadline, has_asked_again: false };
        if self.options.era == Some(Era::Legacy) {
            return self.initialize();
        }
        self.discover(deadline);
    }

    fn discover(&mut self, deadline: Option<Duration>) {
        let mut params = RequestParams::new();
        params.meta = Some(self.request_meta(&ProtocolVersion::LATEST, None));
        if self.request(Pending::Discover, "server/discover", &params, deadline).is_err() {
            self.unusable(ConnectError::Silent);
        }
    }

    /// The `_meta` of a request from 2026-07-28 on: `beside`, with what the protocol asks for.
    pub(super) fn request_meta(&self, version: &ProtocolVersion, beside: Option<&Meta>) -> Meta {
        let mut meta = RequestMetaObject::read(beside).unwrap_or_default();
        meta.protocol_version = Some(version.clone());
        meta.client_capabilities = Some(self.options.capabilities.clone());
        meta.client_info = Some(self.options.client_info.clone());
        meta.to_meta()
    }

    pub(super) fn discovered(&mut self, outcome: Result<Raw, ErrorObject>) {
        let result = match outcome {
            Ok(result) => result.decode::<DiscoverResult>(),
            // A newer server that does not speak this version says which it speaks.
            Err(error) if error.code == UNSUPPORTED_PROTOCOL_VERSION => {
                let data = error.data.as_ref();
                let data =
                    data.and_then(|data| data.decode::<UnsupportedProtocolVersionData>().ok());
                let supported = data.map(|data| data.supported).unwrap_or_default();
                if let State::Connecting { deadline, has_asked_again: false } = self.state
                    && supported.contains(&ProtocolVersion::LATEST)
                {
                    self.state = State::Connecting { deadline, has_asked_again: true };
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

    /// Begins as with an old server, if it may be one.
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
        if self.request(Pending::Initialize, "initialize", &params, None).is_err() {
            self.unusable(ConnectError::Silent);
        }
    }

    pub(super) fn initialized(&mut self, outcome: Result<Raw, ErrorObject>) {
        let result = match outcome.map(|result| result.decode::<InitializeResult>()) {
            Ok(Ok(result)) => result,
            Ok(Err(error)) => return self.unusable(ConnectError::Decode(error)),
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

    /// A server that does not answer the first question may be an old one; one that does not answer the second is none.
    pub(super) fn connection_silent(&mut self, pending: Pending) {
        self.legacy_or(matches!(pending, Pending::Discover), ConnectError::Silent);
    }

    fn ready(&mut self, server: ServerDescription) {
        let era = server.version.era().unwrap_or(Era::Modern);
        self.state = State::Ready { era, version: server.version.clone() };
        self.events.push_back(ClientEvent::Ready(Box::new(server)));
    }

    fn unusable(&mut self, error: ConnectError) {
        self.state = State::Failed;
        self.events.push_back(ClientEvent::Unusable(error));
    }
}
