//! The beginning of turns.
use super::OPERATION;
use crate::acp::lifecycle::{self, Peers, RequestCall};
use crate::attribute::{Attributes, clip};
use crate::keys;
use crate::messages::Message;
use crate::policy::Policy;
use acp_types::v1::prompt_turn::PromptRequest;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

/// Returns the name and the attributes of the span of a prompt.
pub(crate) fn start(
    policy: &Policy,
    peers: &Peers,
    call: RequestCall<'_>,
    model: Option<&str>,
) -> (Cow<'static, str>, Attributes) {
    let mut attributes = attributes(policy, peers, call.session, model);
    lifecycle::set_call(&mut attributes, policy, peers, call);
    (span_name(peers), attributes)
}

/// Returns the name and the attributes of the span of a turn without a prompt.
pub(crate) fn start_unprompted(
    policy: &Policy,
    peers: &Peers,
    session: &str,
    model: Option<&str>,
) -> (Cow<'static, str>, Attributes) {
    let mut attributes = attributes(policy, peers, Some(session), model);
    peers.set_protocol_version(&mut attributes);
    attributes.set_some(keys::NETWORK_TRANSPORT, policy.network_transport.clone());
    (span_name(peers), attributes)
}

/// Returns the common attributes of all turns.
fn attributes(
    policy: &Policy,
    peers: &Peers,
    session: Option<&str>,
    model: Option<&str>,
) -> Attributes {
    let mut attributes = Attributes::of_span();
    peers.set_gen_ai(OPERATION, session, &mut attributes);
    attributes.set(keys::GEN_AI_PROVIDER_NAME, peers.provider(&policy.provider, model));
    peers.set_turn(policy, &mut attributes);
    attributes.set_some(keys::GEN_AI_REQUEST_MODEL, model.map(clip));
    attributes
}

/// Returns the span name of turns and subagents.
pub(in crate::acp) fn span_name(peers: &Peers) -> Cow<'static, str> {
    peers.agent_name().map_or(OPERATION.into(), |name| format!("{OPERATION} {name}").into())
}

/// Returns the messages attribute of the user's input.
pub(crate) fn input(policy: &Policy, request: &PromptRequest) -> String {
    Message::of_blocks(policy.content_limits, &request.prompt).into_input(policy)
}
