//! Proxies: programs between client and agent. The conductor, which links them, stands where the client does.
//!
//! Spec: [Proxy Chains](https://agentclientprotocol.com/rfds/proxy-chains)
use super::messages::{Pending, fits, protocol_version};
use super::schema::shown;
use super::{Linter, rule};
use crate::methods::{self, MethodKind};
use crate::v1::extensibility::EXTENSION_PREFIX;
use alloc::format;
use jsonrpc_core::transcript::Direction;
use serde_json::{Value, json};

/// How far a proxy has come that was asked to be one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Proxy {
    /// Its successor has answered `initialize`; with this version, where it named one.
    answered: Option<Option<u64>>,
}

/// What is kept of a wrapped request until it is answered: whether it is `initialize`.
pub(super) fn kept(params: &Value) -> Value {
    match params.get("method").and_then(Value::as_str) {
        Some("initialize") => json!({"method": "initialize"}),
        _ => Value::Null,
    }
}

impl Linter {
    /// Looks at a message to or from the successor of a proxy.
    pub(super) fn successor(&mut self, version: u16, kind: MethodKind, params: &Value) {
        if self.connection.proxy.is_none() {
            let message = "`proxy/initialize` did not come before";
            self.report.add(&rule::PROXY_UNASKED, "/method", message);
        }
        let Some(name) = params.get("method").and_then(Value::as_str) else { return };
        let pointer = "/params/method";
        if name == "$/cancel_request" {
            let message = "`$/cancel_request` names a request of this connection";
            self.report.add(&rule::PROXY_CANCEL, pointer, message);
            return;
        }
        let wrapped = params.get("params").unwrap_or(&Value::Null);
        if !(wrapped.is_null() || wrapped.is_object() || wrapped.is_array()) {
            let message = "expected an object or an array";
            self.report.add(&rule::PROXY_MESSAGE, "/params/params", message);
        }
        if name.starts_with(EXTENSION_PREFIX) || name.starts_with("$/") {
            return;
        }
        // What a proxy wraps is for an agent; what comes wrapped is of one.
        let direction = self.report.direction.reversed();
        let table = if version == 2 { methods::V2 } else { methods::V1 };
        let found = table.iter().find(|method| {
            method.name == name && method.kind == kind && fits(method.direction, direction)
        });
        match found.filter(|method| !method.name.starts_with("proxy/")) {
            Some(method) => {
                let report = &mut self.report;
                self.schemas.look_at(version, method.params, wrapped, "/params/params", report);
            }
            None => {
                let message = format!("`{}` does not go there", shown(name));
                self.report.add(&rule::PROXY_MESSAGE, pointer, message);
            }
        }
    }

    /// Notes what the successor of a proxy answered to `initialize`.
    pub(super) fn successor_answered(
        &mut self,
        asked: Direction,
        pending: &Pending,
        result: &Value,
    ) {
        let is_initialize = pending.method == "proxy/successor"
            && asked == Direction::Received
            && pending.params.get("method").is_some();
        if let Some(proxy) = self.connection.proxy.as_mut().filter(|_| is_initialize) {
            proxy.answered = Some(protocol_version(result));
        }
    }

    /// Looks at what a proxy answers to `proxy/initialize`.
    pub(super) fn proxy_answered(&mut self, result: &Value) {
        let answered = self.connection.proxy.and_then(|proxy| proxy.answered);
        let Some(successors) = answered else {
            let message = "the successor has not answered `initialize`";
            return self.report.add(&rule::PROXY_FORWARD, "", message);
        };
        if let (Some(of_successor), Some(own)) = (successors, protocol_version(result))
            && of_successor != own
        {
            let message = format!("the successor answered {of_successor}, the proxy {own}");
            self.report.add(&rule::PROXY_VERSION, "/result/protocolVersion", message);
        }
    }
}
