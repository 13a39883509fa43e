//! Subagents: a session owned by another session becomes an `invoke_agent` span within the owner's
//! turn while it works.
//!
//! | property | value |
//! |---|---|
//! | name, kind | `invoke_agent {gen_ai.agent.name}`, else `invoke_agent`; INTERNAL |
//! | parent | the turn of the owning session; none outside of a turn |
//! | link | `acp.link.reason` = `subagent`, to the previous work of the same subagent |
//! | start | the `subagent_update` that announces it, unless it is idle; otherwise the first state other than idle |
//! | end | the state `idle`; otherwise the end of the owner's turn, with `acp.request.end` = `parent_end` |
//! | `gen_ai.operation.name` | `invoke_agent` |
//! | `gen_ai.provider.name` | as for a turn; absent in [`GENAI_DEV`](crate::Profile::GENAI_DEV) |
//! | `gen_ai.conversation.id`, `gen_ai.agent.name` | the session of the subagent; the agent, which is the same program |
//! | `acp.session.parent.id` | the owning session |
//! | `acp.subagent.title` | subject to [`Policy::titles`](crate::Policy::titles) |
//! | `acp.stop_reason`, `gen_ai.response.finish_reasons`, `gen_ai.usage.*` | from the state `idle`, as for a turn |
//! | `gen_ai.output.messages` | with content capture: the output in the session of the subagent |
//!
//! Updates of the subagent's session belong to this span: tool calls, the plan, and nested
//! subagents. An unknown or cleared state has no effect.
//!
//! ```
//! use core::time::Duration;
//! use semconv_map::span::Parent;
//! use semconv_map::{Direction, Policy, Record, Tracker};
//!
//! let mut tracker = Tracker::new(Policy::default());
//! let prompt = br#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#;
//! let working = br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"subagent_update","sessionId":"child","state":{"state":"running"}}}}"#;
//! tracker.handle_line(Direction::Sent, Duration::from_secs(1), prompt);
//! tracker.handle_line(Direction::Received, Duration::from_secs(2), working);
//!
//! let Some(Record::Start(turn)) = tracker.poll() else { panic!("no turn") };
//! let Some(Record::Start(child)) = tracker.poll() else { panic!("no subagent") };
//! assert_eq!((&*child.name, child.parent), ("invoke_agent", Parent::Span(turn.span)));
//! ```
//!
//! Spec: [`SubagentUpdate`](https://agentclientprotocol.com/protocol/v1/draft/schema#subagentupdate)
//! (unstable), [invoke agent span,
//! v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/gen-ai-agent-spans.md)
use super::lifecycle::Peers;
use super::prompt_turn::{OPERATION, span_name};
use crate::attribute::{Attributes, clip, cut};
use crate::content::ContentKind;
use crate::details::Details;
use crate::json::string;
use crate::keys;
use crate::messages::MAX_PATH_BYTES;
use crate::policy::Policy;
use alloc::borrow::Cow;
use jsonrpc_core::find_member;

/// The members of a subagent update.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubagentReport<'a> {
    update: &'a str,
    /// The complete state, if present.
    pub(crate) state: Option<&'a str>,
}

/// State of a subagent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubagentState {
    /// The update contains no state.
    Unspecified,
    /// The state is unknown.
    Unknown,
    Idle,
    Busy,
}

impl<'a> SubagentReport<'a> {
    pub(crate) fn new(update: &'a str) -> Self {
        Self { update, state: find_member(update, &["state"]) }
    }

    /// Returns the session of the subagent.
    pub(crate) fn session(&self) -> Option<Cow<'a, str>> {
        string(find_member(self.update, &["sessionId"])?)
    }

    pub(crate) fn state(&self) -> SubagentState {
        let Some(state) = self.state else { return SubagentState::Unspecified };
        let name = find_member(state, &["state"]).and_then(string);
        match name.as_deref() {
            None | Some("unknown") => SubagentState::Unknown,
            Some("idle") => SubagentState::Idle,
            Some(_) => SubagentState::Busy,
        }
    }

    /// Returns the name and the attributes of the span, and the title.
    pub(crate) fn start(
        &self,
        policy: &Policy,
        peers: &Peers,
        owner: &str,
        session: &str,
    ) -> (Cow<'static, str>, Attributes, Details) {
        let mut attributes = Attributes::of_span();
        peers.set_gen_ai(OPERATION, Some(session), &mut attributes);
        if policy.profile.subagent_provider {
            attributes.set(keys::GEN_AI_PROVIDER_NAME, peers.provider(&policy.provider, None));
        }
        attributes.set(keys::ACP_SESSION_PARENT_ID, clip(owner));
        peers.set_protocol_version(&mut attributes);
        attributes.set_some(keys::NETWORK_TRANSPORT, policy.network_transport.clone());
        let mut details = Details::default();
        let title = find_member(self.update, &["title"]).and_then(string);
        if let Some(title) = title.filter(|_| policy.records(policy.titles)) {
            let title = policy.redacted(ContentKind::Title, cut(&title, MAX_PATH_BYTES).into());
            details.set(policy, policy.titles, keys::ACP_SUBAGENT_TITLE, title);
        }
        (span_name(peers), attributes, details)
    }
}
