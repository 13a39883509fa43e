//! Requests that are not turns: `initialize`, `authenticate`, `session/new` and the like.
//!
//! | what | value |
//! |---|---|
//! | name | the method; `jsonrpc` for a method that the protocol does not define |
//! | kind | CLIENT for requests of the client, SERVER for requests of the agent |
//! | parent | what the request's `_meta` names (client); the tool call or turn it belongs to (agent) |
//! | `rpc.system.name` | `jsonrpc` |
//! | `rpc.method` | the method, or `_OTHER` with `rpc.method_original` |
//! | `jsonrpc.request.id`, `jsonrpc.protocol.version` | the id without quotes; `2.0` |
//! | `acp.method.name` | the method |
//! | `gen_ai.conversation.id` | the session, if the request names one or its answer makes one |
//! | `acp.session.fork.id` | the session that `session/fork` made |
//! | `acp.protocol.version` | what the agent answered to `initialize` |
//! | `network.transport` | what the policy says |
//! | `rpc.response.status_code`, `error.type` | the code of an error, as text |
//! | status | Error for an error; with its message only when content is recorded |
//!
//! The protocol is [`acp_types::methods`], version 1 and version 2 with what is unstable in them.
//!
//! Spec: [JSON-RPC spans, v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/rpc/json-rpc.md)
use crate::attribute::{Attributes, clip, cut};
use crate::content::{ContentKind, Gate};
use crate::keys;
use crate::policy::{Policy, ProviderPolicy};
use crate::span::{SpanKind, Status};
use crate::tracker::Direction;
use acp_types::methods;
use acp_types::v1::initialization::Implementation;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use jsonrpc_core::{ErrorObject, find_member, wire};

/// The method as it may stand in a span's name: nothing for one that neither version of the protocol defines, be it as
/// unstable.
pub(crate) fn known_method(direction: Direction, method: &str) -> Option<&'static str> {
    let receiver = match direction {
        Direction::ClientToAgent => methods::Direction::ToAgent,
        Direction::AgentToClient => methods::Direction::ToClient,
    };
    let mut versions = [methods::V1, methods::V2].into_iter();
    let known = versions.find_map(|version| methods::find(version, receiver, method));
    known.map(|known| known.name)
}

/// The kind of span that a request is.
pub(crate) fn span_kind(direction: Direction) -> SpanKind {
    match direction {
        Direction::ClientToAgent => SpanKind::Client,
        Direction::AgentToClient => SpanKind::Server,
    }
}

/// A request as it comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) direction: Direction,
    /// As text; nothing for `null`.
    pub(crate) id: Option<&'a str>,
    pub(crate) method: &'a str,
    /// The same, for one that the protocol defines.
    pub(crate) known: Option<&'static str>,
    pub(crate) session: Option<&'a str>,
}

/// The name of a request's span, and `attributes` with those that it has.
#[inline]
pub(crate) fn start(
    policy: &Policy,
    peers: &Peers,
    call: Call<'_>,
    mut attributes: Attributes,
) -> (Cow<'static, str>, Attributes) {
    set_rpc(&mut attributes, call.known, call.method);
    attributes.set_some(keys::GEN_AI_CONVERSATION_ID, call.session.map(clip));
    set_call(&mut attributes, policy, peers, call);
    (call.known.unwrap_or(SYSTEM).into(), attributes)
}

/// The attributes of every request that is a call of JSON-RPC and nothing else.
#[inline]
pub(crate) fn set_rpc(attributes: &mut Attributes, known: Option<&'static str>, method: &str) {
    attributes.set(keys::RPC_SYSTEM_NAME, SYSTEM);
    attributes.set(keys::RPC_METHOD, known.unwrap_or("_OTHER"));
    if known.is_none() {
        attributes.set(keys::RPC_METHOD_ORIGINAL, clip(method));
    }
    attributes.set(keys::JSONRPC_PROTOCOL_VERSION, "2.0");
}

/// The attributes of every request, whatever its span means.
#[inline]
pub(crate) fn set_call(
    attributes: &mut Attributes,
    policy: &Policy,
    peers: &Peers,
    call: Call<'_>,
) {
    let method = call.known.map_or_else(|| Cow::Owned(clip(call.method)), Cow::Borrowed);
    attributes.set(keys::ACP_METHOD_NAME, method);
    attributes.set_some(keys::JSONRPC_REQUEST_ID, call.id.map(clip));
    attributes.set_some(keys::ACP_PROTOCOL_VERSION, peers.protocol_version);
    attributes.set_some(keys::NETWORK_TRANSPORT, policy.network_transport.clone());
}

/// What a JSON-RPC error makes of a request's span.
pub(crate) fn failure(policy: &Policy, error: &ErrorObject, attributes: &mut Attributes) -> Status {
    let code = error.code.0.to_string();
    attributes.set(keys::ERROR_TYPE, code.clone());
    attributes.set(keys::RPC_RESPONSE_STATUS_CODE, code);
    let (on_span, _) = policy.places(Gate::WithContent);
    let description = on_span.then(|| {
        let message = cut(&error.message, MAX_DESCRIPTION_BYTES).into();
        policy.redacted(ContentKind::ErrorMessage, message)
    });
    Status::Error { description }
}

/// What an answer makes of a request's span whose error cannot be read.
pub(crate) fn unreadable_failure(attributes: &mut Attributes) -> Status {
    attributes.set(keys::ERROR_TYPE, "_OTHER");
    Status::Error { description: None }
}

/// Most bytes of an error message.
const MAX_DESCRIPTION_BYTES: usize = 1024;

/// The name of a span whose method is not known.
pub(crate) const SYSTEM: &str = "jsonrpc";

fn info(object: &str, name: &str) -> Option<Peer> {
    let info = find_member(object, &[name])?;
    wire::decode::<Implementation>(info).ok().as_ref().map(Peer::from)
}

/// What the two sides said of themselves when they initialized.
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
    /// The client introduces itself; nothing is known of the agent until it answers.
    pub(crate) fn of_client(params: &str) -> Self {
        let client = info(params, "clientInfo").or_else(|| info(params, "info"));
        Self { client, ..Self::default() }
    }

    /// The agent introduces itself; `false` if it does not say which version it speaks.
    ///
    /// Some agents repeat any version and go on in version 1: it is version 2 when the agent calls itself as that does.
    pub(crate) fn on_initialized(&mut self, result: &str) -> bool {
        let v2 = info(result, "info");
        self.is_v2 = v2.is_some();
        self.agent = info(result, "agentInfo").or(v2);
        let version = find_member(result, &["protocolVersion"]);
        self.protocol_version = version.and_then(|version| version.parse().ok());
        self.protocol_version.is_some()
    }

    /// Whether a prompt is answered when it was taken in, and the turn ends when the session is idle.
    pub(crate) fn is_v2(&self) -> bool {
        self.is_v2
    }

    pub(crate) fn agent_name(&self) -> Option<&str> {
        self.agent.as_ref().map(|agent| agent.name.as_str())
    }

    /// `gen_ai.provider.name`.
    pub(crate) fn provider(&self, policy: &ProviderPolicy) -> Cow<'static, str> {
        match (policy, self.agent_name()) {
            (ProviderPolicy::Fixed(name), _) => name.clone(),
            (_, None) => "acp".into(),
            (ProviderPolicy::AgentName, Some(name)) => String::from(name).into(),
            (ProviderPolicy::Prefixed, Some(name)) => format!("acp.{name}").into(),
        }
    }

    /// What a GenAI span says of the agent, and a turn of the client as well.
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

    /// What every GenAI span carries, so that backends can group by it.
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

    /// What a metric says that is not of a span.
    pub(crate) fn metric_attributes(&self) -> Attributes {
        let mut attributes = Attributes::default();
        attributes.set_some(keys::GEN_AI_AGENT_NAME, self.agent_name().map(String::from));
        attributes
    }

    pub(crate) fn set_protocol_version(&self, attributes: &mut Attributes) {
        attributes.set_some(keys::ACP_PROTOCOL_VERSION, self.protocol_version);
    }
}
