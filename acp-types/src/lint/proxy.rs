//! Proxies between client and agent. The conductor that links them takes the place of the client.
//!
//! Spec: [Proxy Chains](https://agentclientprotocol.com/rfds/proxy-chains)
use super::pending::{PendingRequest, fits, protocol_version};
use super::report::Report;
use super::rule;
use super::schema::Schemas;
use super::value::{Json, shown, text};
use crate::methods::{self, MethodKind};
use crate::v1::extensibility::EXTENSION_PREFIX;
use alloc::format;
use jsonrpc_core::transcript::Direction;

/// State of an agent that is a proxy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Proxy {
    /// The version in its successor's response to `initialize`, if any.
    answered: Option<Option<u64>>,
}

impl Proxy {
    /// Handles the result of the wrapped `initialize`.
    pub(super) fn handle_result(
        &mut self,
        requested_by: Direction,
        pending: &PendingRequest,
        result: Json<'_>,
    ) {
        let is_initialize = pending.method == "proxy/successor"
            && requested_by == Direction::Received
            && pending.params().get("method").is_some();
        if is_initialize {
            self.answered = Some(protocol_version(result));
        }
    }
}

/// Checks a message to or from the successor of a proxy.
pub(super) fn check_message(
    proxy: Option<Proxy>,
    version: u16,
    kind: MethodKind,
    params: Json<'_>,
    schemas: &mut Schemas,
    report: &mut Report,
) {
    if proxy.is_none() {
        let message = "`proxy/initialize` did not come before";
        report.add(&rule::PROXY_UNASKED, "/method", message);
    }
    let Some(name) = text(params, "method") else { return };
    let pointer = "/params/method";
    if name == "$/cancel_request" {
        let message = "`$/cancel_request` names a request of this connection";
        report.add(&rule::PROXY_CANCEL, pointer, message);
        return;
    }
    let wrapped = params.get("params").unwrap_or(Json::NULL);
    if !(wrapped.is_null() || wrapped.is_object() || wrapped.is_array()) {
        let message = "expected an object or an array";
        report.add(&rule::PROXY_MESSAGE, "/params/params", message);
    }
    if name.starts_with(EXTENSION_PREFIX) || name.starts_with("$/") {
        return;
    }
    // A wrapped message to the successor is for an agent; one from it is from an agent.
    let direction = report.direction.reversed();
    let table = if version == 2 { methods::V2 } else { methods::V1 };
    let found = table.iter().find(|method| {
        *method.name == *name && method.kind == kind && fits(method.receiver, direction)
    });
    match found.filter(|method| !method.name.starts_with("proxy/")) {
        Some(method) => {
            schemas.look_at(version, method.params, wrapped, "/params/params", report);
        }
        None => {
            let message = format!("`{}` is not valid in this direction", shown(&name));
            report.add(&rule::PROXY_MESSAGE, pointer, message);
        }
    }
}

/// Checks the response of a proxy to `proxy/initialize`.
pub(super) fn check_initialized(proxy: Option<Proxy>, result: Json<'_>, report: &mut Report) {
    let answered = proxy.and_then(|proxy| proxy.answered);
    let Some(successors) = answered else {
        let message = "the successor has not answered `initialize`";
        return report.add(&rule::PROXY_FORWARD, "", message);
    };
    if let (Some(of_successor), Some(of_proxy)) = (successors, protocol_version(result))
        && of_successor != of_proxy
    {
        let message = format!("the successor answered {of_successor}, the proxy {of_proxy}");
        report.add(&rule::PROXY_VERSION, "/result/protocolVersion", message);
    }
}
