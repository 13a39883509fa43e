//! The request `initialize` and the response to it, which decide the versions.
//!
//! Spec: [Version
//! Negotiation](https://agentclientprotocol.com/protocol/v1/initialization#version-negotiation),
//! [in version 2](https://agentclientprotocol.com/protocol/v2/initialization#version-negotiation)
use super::initialize::{offer_to_v1, offer_to_v2, response_to_v1, response_to_v2};
use super::side::Side;
use super::v1_editor::V1Editor;
use super::v2_editor::V2Editor;
use super::{Bridge, BridgeDiagnostic, Offer, Stage, UnsupportedAgent, refuse};
use crate::client::UnsupportedVersion;
use crate::spoken::{self, Shape};
use crate::v1::initialization::ProtocolVersion;
use crate::v2::error::{UNSUPPORTED_PROTOCOL_VERSION, UnsupportedProtocolVersionErrorData};
use crate::{capabilities, v1, v2};
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Mode, Raw, Wire, decode, decode_with};
use jsonrpc_core::{ErrorCode, ErrorObject, Kind, Message, Request, peek, peek_member};
use serde_json::value::RawValue;

/// Returns whether a line is `$/cancel_request`, which may precede the response to `initialize`.
pub(super) fn is_cancellation(line: &str) -> bool {
    let peeked = peek(line.as_bytes());
    peeked.is_ok_and(|it| it.method().is_some_and(|method| method == "$/cancel_request"))
}

fn member<'a>(params: &'a RawValue, name: &str) -> Option<&'a str> {
    peek_member(params.get(), name).ok().flatten()
}

impl Bridge {
    /// Handles a line before `initialize`. The agent rejects other messages itself.
    pub(super) fn handle_first(&mut self, line: &str) {
        match Message::decode(line) {
            Ok(Message::Request(request)) if request.method == "initialize" => {
                if let Err(error) = self.offer(line, &request) {
                    let message = error.to_string();
                    refuse(
                        Side::Editor,
                        &request,
                        ErrorCode::INVALID_PARAMS,
                        &message,
                        &mut self.out,
                    );
                }
            }
            _ => self.out.forward(Side::Agent, line),
        }
    }

    fn offer(&mut self, line: &str, request: &Request<'_>) -> Result<(), DecodeError> {
        let empty = Raw::of(&jsonrpc_core::wire::Extra::new());
        let params = request.params.unwrap_or(empty.as_ref());
        let requested = member(params, "protocolVersion").map_or(Ok(ProtocolVersion(0)), decode)?;
        let shape =
            spoken::of_initialize(Some(requested.0.into()), |name| member(params, name).is_some());
        let speaks_v2 = shape == Shape::V2 && self.options.editor >= ProtocolVersion::V2;
        let editor = if speaks_v2 { ProtocolVersion::V2 } else { ProtocolVersion::V1 };
        let agent = self.options.agent.clamp(ProtocolVersion::V1, ProtocolVersion::V2);
        let mut offered = agent;
        match (editor, agent) {
            (ProtocolVersion::V1, ProtocolVersion::V2) => {
                let read = read::<v1::initialization::InitializeRequest>(params)?;
                let offer = offer_to_v2(&read, &mut self.out);
                self.out.request(Side::Agent, &request.id, "initialize", &offer);
            }
            (ProtocolVersion::V2, ProtocolVersion::V1) => {
                let read = read::<v2::initialization::InitializeRequest>(params)?;
                let offer = offer_to_v1(&read);
                self.out.request(Side::Agent, &request.id, "initialize", &offer);
            }
            _ if requested > editor && editor == ProtocolVersion::V1 => {
                let mut offer = read::<v1::initialization::InitializeRequest>(params)?;
                offer.protocol_version = ProtocolVersion::V1;
                self.out.request(Side::Agent, &request.id, "initialize", &offer);
            }
            _ => {
                offered = requested;
                self.out.forward(Side::Agent, line);
            }
        }
        let id = request.id.clone();
        let params = Raw::from(params);
        self.stage = Stage::Offered(Box::new(Offer { id, editor, offered, params }));
        Ok(())
    }

    /// Handles the agent's response. Its shape decides the version: an agent that responds without
    /// the members that version 2 requires cannot serve a session in it.
    pub(super) fn initialized(&mut self, line: &str, result: &RawValue) {
        let Stage::Offered(offer) = core::mem::replace(&mut self.stage, Stage::Waiting) else {
            return;
        };
        let text = member(result, "protocolVersion").unwrap_or("0");
        let answered: Option<ProtocolVersion> = decode(text).ok();
        let versions = ProtocolVersion::V1..=ProtocolVersion::V2;
        let Some(claimed) = answered.filter(|answered| versions.contains(answered)) else {
            let offered = offer.offered;
            let supported = Vec::new();
            let unread = answered.is_none().then(|| UnsupportedVersion::clipped(text));
            return self.fail(&offer, UnsupportedAgent { offered, answered, unread, supported });
        };
        let shape =
            spoken::of_initialized(Some(claimed.0.into()), |name| member(result, name).is_some());
        let agent = if shape == Shape::V2 { ProtocolVersion::V2 } else { ProtocolVersion::V1 };
        let editor = offer.editor;
        self.out.diagnose(BridgeDiagnostic::Spoken { editor, agent, claimed });
        match self.begin(&offer, agent, claimed, line, result) {
            Ok(stage) => self.stage = stage,
            Err(error) => {
                let message = error.to_string();
                self.out.diagnose(BridgeDiagnostic::Unreadable(Side::Agent, message.clone()));
                let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, message);
                self.out.error(Side::Editor, &offer.id, error);
            }
        }
        self.release();
    }

    /// Handles the lines that waited for the response to `initialize`.
    fn release(&mut self) {
        for line in core::mem::take(&mut self.early) {
            self.handle_editor_line(&line);
        }
    }

    fn begin(
        &mut self,
        offer: &Offer,
        agent: ProtocolVersion,
        claimed: ProtocolVersion,
        line: &str,
        result: &RawValue,
    ) -> Result<Stage, DecodeError> {
        use v1::initialization::{InitializeRequest as Request1, InitializeResponse as Response1};
        use v2::initialization::{InitializeRequest as Request2, InitializeResponse as Response2};
        let to = Side::Editor;
        let id = &offer.id;
        let params = offer.params.as_ref();
        Ok(match (offer.editor, agent) {
            (ProtocolVersion::V1, ProtocolVersion::V2) => {
                let response = read::<Response2>(result)?;
                let response_v1 = response_to_v1(&response, &mut self.out);
                let request = read::<Request1>(params)?;
                let capabilities = capabilities::v1::Capabilities::new(&request, &response_v1);
                self.out.result(to, id, &response_v1);
                Stage::V1Editor(Box::new(V1Editor::new(capabilities)))
            }
            (ProtocolVersion::V2, ProtocolVersion::V1) => {
                let response = read::<Response1>(result)?;
                let response_v2 = response_to_v2(&response, &mut self.out);
                self.out.result(to, id, &response_v2);
                let request = offer_to_v1(&read::<Request2>(params)?);
                let capabilities = capabilities::v1::Capabilities::new(&request, &response);
                Stage::V2Editor(Box::new(V2Editor::new(capabilities)))
            }
            (editor, _) => {
                if claimed == editor {
                    self.out.forward(to, line);
                } else if editor == ProtocolVersion::V1 {
                    let mut response = read::<Response1>(result)?;
                    response.protocol_version = editor;
                    self.out.result(to, id, &response);
                } else {
                    let mut response = read::<Response2>(result)?;
                    response.protocol_version = editor;
                    self.out.result(to, id, &response);
                }
                Stage::Same
            }
        })
    }

    /// Handles an error in response to `initialize`.
    pub(super) fn not_initialized(&mut self, line: &str, error: &ErrorObject) {
        let Stage::Offered(offer) = core::mem::replace(&mut self.stage, Stage::Waiting) else {
            return;
        };
        if error.code != UNSUPPORTED_PROTOCOL_VERSION {
            self.out.forward(Side::Editor, line);
            return self.release();
        }
        let data = error.data.as_ref();
        let data: Option<UnsupportedProtocolVersionErrorData> =
            data.and_then(|data| data.decode().ok());
        let supported = data.map(|data| data.supported).unwrap_or_default();
        let offered = offer.offered;
        self.fail(&offer, UnsupportedAgent { offered, answered: None, unread: None, supported });
    }

    fn fail(&mut self, offer: &Offer, error: UnsupportedAgent) {
        let is_v2 = offer.editor == ProtocolVersion::V2;
        // Version 1 has no code for this error.
        let code = if is_v2 { UNSUPPORTED_PROTOCOL_VERSION } else { ErrorCode::INTERNAL_ERROR };
        let mut object = ErrorObject::new(code, error.to_string());
        let answered = error.answered.into_iter().collect();
        let supported = if error.supported.is_empty() { answered } else { error.supported.clone() };
        let data = UnsupportedProtocolVersionErrorData::new(error.offered, supported);
        object.data = Some(Raw::of(&data));
        self.out.error(Side::Editor, &offer.id, object);
        self.out.diagnose(BridgeDiagnostic::Unsupported(error.clone()));
        self.stage = Stage::Failed(error);
        self.release();
    }

    /// Answers a request that cannot be handled.
    pub(super) fn refuse_line(&mut self, line: &str, message: &str) {
        let peeked = peek(line.as_bytes()).ok().filter(|it| it.kind() == Kind::Request);
        if let Some(id) = peeked.and_then(|it| it.request_id()) {
            let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, message);
            self.out.error(Side::Editor, &id, error);
        }
    }
}

fn read<T: Wire>(value: &RawValue) -> Result<T, DecodeError> {
    decode_with(value.get(), Mode::SpecLenient).map(|read| read.value)
}
