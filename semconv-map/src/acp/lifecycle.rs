//! Requests other than turns: `initialize`, `authenticate`, `session/new` and so on.
//!
//! | property | value |
//! |---|---|
//! | name | the method; `jsonrpc` if the protocol does not define the method |
//! | kind | CLIENT for requests of the client, SERVER for requests of the agent |
//! | parent | client requests: the context in `_meta`; agent requests: the tool call or turn that they belong to |
//! | `rpc.system.name` | `jsonrpc` |
//! | `rpc.method` | the method, or `_OTHER` with `rpc.method_original` |
//! | `jsonrpc.request.id`, `jsonrpc.protocol.version` | the id without quotes; `2.0` |
//! | `acp.method.name` | the method |
//! | `gen_ai.conversation.id` | the session that the request names or the response creates |
//! | `acp.session.fork.id` | the session created by `session/fork` |
//! | `acp.protocol.version` | the version in the response to `initialize` |
//! | `network.transport` | [`Policy::network_transport`](crate::Policy::network_transport) |
//! | `rpc.response.status_code`, `error.type` | the code of an error, as text |
//! | status | Error for an error response; the message is recorded with content capture only |
//!
//! The known methods are those of [`acp_types::methods`], versions 1 and 2, including unstable
//! ones.
//!
//! Spec: [JSON-RPC spans,
//! v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/rpc/json-rpc.md)
use crate::attribute::{Attributes, clip, cut};
use crate::content::{ContentKind, Gate};
use crate::keys;
use crate::policy::{Policy, ProviderPolicy};
use crate::provider::provider;
use crate::span::{SpanKind, Status};
use acp_types::methods::{self, Receiver};
use acp_types::v1::initialization::Implementation;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use jsonrpc_core::transcript::Direction;
use jsonrpc_core::{ErrorObject, find_member, wire};

/// Returns the method for use in a span name, or `None` if neither version of the protocol defines
/// it.
pub(crate) fn known_method(direction: Direction, method: &str) -> Option<&'static str> {
    let receiver = Receiver::of(direction);
    let mut versions = [methods::V1, methods::V2].into_iter();
    let known = versions.find_map(|version| methods::find(version, receiver, method));
    known.map(|known| known.name)
}

/// Returns the span kind of a request.
pub(crate) fn span_kind(direction: Direction) -> SpanKind {
    match direction {
        Direction::Sent => SpanKind::Client,
        Direction::Received => SpanKind::Server,
    }
}

/// A request as received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestCall<'a> {
    pub(crate) direction: Direction,
    /// The id as text. `None` for `null`.
    pub(crate) id: Option<&'a str>,
    pub(crate) method: &'a str,
    /// The method, if the protocol defines it.
    pub(crate) known: Option<&'static str>,
    pub(crate) session: Option<&'a str>,
}

/// Returns the name of a request span, and adds its attributes to `attributes`.
#[inline]
pub(crate) fn start(
    policy: &Policy,
    peers: &Peers,
    call: RequestCall<'_>,
    mut attributes: Attributes,
) -> (Cow<'static, str>, Attributes) {
    set_rpc(&mut attributes, call.known, call.method);
    attributes.set_some(keys::GEN_AI_CONVERSATION_ID, call.session.map(clip));
    set_call(&mut attributes, policy, peers, call);
    (call.known.unwrap_or(SYSTEM).into(), attributes)
}

/// Sets the attributes of plain JSON-RPC requests.
#[inline]
pub(crate) fn set_rpc(attributes: &mut Attributes, known: Option<&'static str>, method: &str) {
    attributes.set(keys::RPC_SYSTEM_NAME, SYSTEM);
    attributes.set(keys::RPC_METHOD, known.unwrap_or("_OTHER"));
    if known.is_none() {
        attributes.set(keys::RPC_METHOD_ORIGINAL, clip(method));
    }
    attributes.set(keys::JSONRPC_PROTOCOL_VERSION, "2.0");
}

/// Sets the attributes common to all requests.
#[inline]
pub(crate) fn set_call(
    attributes: &mut Attributes,
    policy: &Policy,
    peers: &Peers,
    call: RequestCall<'_>,
) {
    let method = call.known.map_or_else(|| Cow::Owned(clip(call.method)), Cow::Borrowed);
    attributes.set(keys::ACP_METHOD_NAME, method);
    attributes.set_some(keys::JSONRPC_REQUEST_ID, call.id.map(clip));
    attributes.set_some(keys::ACP_PROTOCOL_VERSION, peers.protocol_version);
    attributes.set_some(keys::NETWORK_TRANSPORT, policy.network_transport.clone());
}

/// Sets the attributes of a JSON-RPC error and returns the span status.
pub(crate) fn failure(policy: &Policy, error: &ErrorObject, attributes: &mut Attributes) -> Status {
    attributes.set(keys::ERROR_TYPE, error.code.0.to_string());
    set_status_code(error, attributes);
    let (on_span, _) = policy.places(Gate::WithContent);
    let description = on_span.then(|| {
        let message = cut(&error.message, MAX_DESCRIPTION_BYTES).into();
        policy.redacted(ContentKind::ErrorMessage, message)
    });
    Status::Error { description }
}

/// Sets the code of a JSON-RPC error, without its meaning for the span.
pub(crate) fn set_status_code(error: &ErrorObject, attributes: &mut Attributes) {
    attributes.set(keys::RPC_RESPONSE_STATUS_CODE, error.code.0.to_string());
}

/// Sets the attributes of an error that cannot be decoded and returns the span status.
pub(crate) fn unreadable_failure(attributes: &mut Attributes) -> Status {
    attributes.set(keys::ERROR_TYPE, "_OTHER");
    Status::Error { description: None }
}

/// Maximum length of an error message in bytes.
const MAX_DESCRIPTION_BYTES: usize = 1024;

/// Span name of requests with an unknown method.
pub(crate) const SYSTEM: &str = "jsonrpc";

fn info(object: &str, name: &str) -> Option<Peer> {
    let info = find_member(object, &[name])?;
    wire::decode::<Implementation>(info).ok().as_ref().map(Peer::from)
}

/// What the two peers declared in the `initialize` exchange.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peers {
    agent: Option<Peer>,
    client: Option<Peer>,
    protocol_version: Option<i64>,
    is_v2: bool,
}

#[derive(Clone, Debug)]
struct Peer {
    name: String,
    title: Option<String>,
    version: String,
}

impl From<&Implementation> for Peer {
    fn from(info: &Implementation) -> Self {
        let title = info.title.as_deref().map(clip);
        Self { name: clip(&info.name), title, version: clip(&info.version) }
    }
}

impl Peers {
    /// Records the request of the client. The agent is unknown until it responds.
    pub(crate) fn of_client(params: &str) -> Self {
        let client = info(params, "clientInfo").or_else(|| info(params, "info"));
        Self { client, ..Self::default() }
    }

    /// Records the response of the agent. Returns `false` if it does not contain a protocol
    /// version.
    ///
    /// Some agents echo any requested version and continue in version 1. The version is 2 only if
    /// the agent info has the form of version 2.
    pub(crate) fn on_initialized(&mut self, result: &str) -> bool {
        let v2 = info(result, "info");
        self.is_v2 = v2.is_some();
        self.agent = info(result, "agentInfo").or(v2);
        let version = find_member(result, &["protocolVersion"]);
        self.protocol_version = version.and_then(|version| version.parse().ok());
        self.protocol_version.is_some()
    }

    /// Returns whether a prompt response only acknowledges the prompt, and the turn ends when the
    /// session becomes idle.
    pub(crate) fn is_v2(&self) -> bool {
        self.is_v2
    }

    /// Returns whether the agent answered with a protocol version that this crate knows.
    pub(crate) fn has_known_version(&self) -> bool {
        matches!(self.protocol_version, Some(1 | 2))
    }

    pub(crate) fn agent_name(&self) -> Option<&str> {
        self.agent.as_ref().map(|agent| agent.name.as_str())
    }

    /// Returns the value of `gen_ai.provider.name`.
    pub(crate) fn provider(
        &self,
        policy: &ProviderPolicy,
        model: Option<&str>,
    ) -> Cow<'static, str> {
        let agent = self.agent_name();
        let well_known = match policy {
            ProviderPolicy::WellKnown => provider(agent, model),
            _ => None,
        };
        match (policy, well_known, agent) {
            (ProviderPolicy::Fixed(name), ..) => name.clone(),
            (_, Some(name), _) => name.into(),
            (_, None, None) => "acp".into(),
            (ProviderPolicy::Prefixed, None, Some(name)) => format!("acp.{name}").into(),
            (_, None, Some(name)) => String::from(name).into(),
        }
    }

    /// Sets the agent attributes of GenAI spans and of turns.
    pub(crate) fn set_turn(&self, policy: &Policy, attributes: &mut Attributes) {
        if let Some(agent) = &self.agent {
            attributes.set(policy.profile.agent_version, agent.version.clone());
            attributes.set_some(keys::ACP_AGENT_TITLE, agent.title.clone());
        }
        if let Some(client) = &self.client {
            attributes.set(keys::ACP_CLIENT_NAME, client.name.clone());
            attributes.set(keys::ACP_CLIENT_VERSION, client.version.clone());
        }
    }

    /// Sets the attributes of every GenAI span, so that backends can group by them.
    pub(crate) fn set_gen_ai(
        &self,
        operation: &'static str,
        session: Option<&str>,
        attributes: &mut Attributes,
    ) {
        attributes.set(keys::GEN_AI_OPERATION_NAME, operation);
        attributes.set_some(keys::GEN_AI_CONVERSATION_ID, session.map(clip));
        attributes.set_some(keys::GEN_AI_AGENT_NAME, self.agent_name().map(String::from));
    }

    /// Returns the attributes of metrics that are not derived from spans.
    pub(crate) fn metric_attributes(&self) -> Attributes {
        let mut attributes = Attributes::default();
        attributes.set_some(keys::GEN_AI_AGENT_NAME, self.agent_name().map(String::from));
        attributes
    }

    pub(crate) fn set_protocol_version(&self, attributes: &mut Attributes) {
        attributes.set_some(keys::ACP_PROTOCOL_VERSION, self.protocol_version);
    }
}
