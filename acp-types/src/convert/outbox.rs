//! Lines and diagnostics that were not polled.
use super::side::Side;
use super::{BridgeDiagnostic, BridgeLoss, Output};
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Raw, Wire};
use jsonrpc_core::{ErrorObject, Message, Notification, Request, RequestId, Response};

/// Output in the order of its creation.
#[derive(Debug, Default)]
pub(super) struct Outbox(VecDeque<Output>);

impl Outbox {
    pub(super) fn poll(&mut self) -> Option<Output> {
        self.0.pop_front()
    }

    /// Sends a line as it is.
    pub(super) fn forward(&mut self, to: Side, line: &str) {
        self.0.push_back(match to {
            Side::Editor => Output::ToEditor(line.into()),
            Side::Agent => Output::ToAgent(line.into()),
        });
    }

    fn send(&mut self, to: Side, message: &Message<'_>) {
        let mut bytes = Vec::new();
        message.to_line(&mut bytes);
        bytes.pop();
        let line = String::from_utf8(bytes).unwrap_or_default();
        self.forward(to, &line);
    }

    pub(super) fn request(&mut self, to: Side, id: &RequestId, method: &str, params: &dyn Wire) {
        let params = Raw::of(params);
        self.send(to, &Request::new(id.clone(), method, params.as_ref()).into());
    }

    pub(super) fn notify(&mut self, to: Side, method: &str, params: &dyn Wire) {
        let params = Raw::of(params);
        self.send(to, &Notification::new(method, params.as_ref()).into());
    }

    pub(super) fn result(&mut self, to: Side, id: &RequestId, result: &dyn Wire) {
        let result = Raw::of(result);
        self.send(to, &Response::new(id.clone(), Ok(result.as_ref())).into());
    }

    pub(super) fn error(&mut self, to: Side, id: &RequestId, error: ErrorObject) {
        self.send(to, &Response::new(id.clone(), Err(error)).into());
    }

    pub(super) fn diagnose(&mut self, diagnostic: BridgeDiagnostic) {
        self.0.push_back(Output::Diagnostic(diagnostic));
    }

    /// Reports a loss. `detail` is the name of what is lost, on the wire.
    pub(super) fn lose(&mut self, loss: BridgeLoss, detail: impl Into<String>) {
        self.diagnose(BridgeDiagnostic::Lost(loss, detail.into()));
    }

    /// Reports the loss of a part of the message, tool call or other object with an id.
    pub(super) fn lose_of(&mut self, loss: BridgeLoss, id: &str, part: &str) {
        self.lose(loss, format!("{id}: {part}"));
    }
}
