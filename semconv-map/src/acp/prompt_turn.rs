//! Turns: a prompt and everything up to its response become an `invoke_agent` span. So does each
//! turn that the agent begins itself, in version 2 and behind a bridge to version 1.
//!
//! | property | value |
//! |---|---|
//! | name, kind | `invoke_agent {gen_ai.agent.name}`, else `invoke_agent`; CLIENT |
//! | parent | the context in the `_meta` of the request, else none |
//! | `gen_ai.operation.name` | `invoke_agent` |
//! | `gen_ai.provider.name` | by policy, see [`ProviderPolicy`](crate::policy::ProviderPolicy) |
//! | `gen_ai.agent.name`, `gen_ai.agent.version`, `acp.agent.title` | `agentInfo` (the version is `acp.agent.version` in v1.39) |
//! | `acp.client.name`, `acp.client.version` | `clientInfo` |
//! | `gen_ai.conversation.id` | `sessionId` |
//! | `gen_ai.request.model` | the value of the session's config option of category `model` (of several, the one with the id `model`), else `models.currentModelId`, or the value set later by `session/set_model` |
//! | `acp.method.name`, `jsonrpc.request.id`, `acp.protocol.version` | as in [`lifecycle`] |
//! | `acp.stop_reason`, `gen_ai.response.finish_reasons` | the agent's value; by policy, see [`finish_reason`](mod@crate::finish_reason) |
//! | `gen_ai.usage.*` | `usage` of the response, see [`UsagePolicy`], else found by [extractors](crate::extract); cached tokens count as input and thoughts as output if `totalTokens` shows that the agent counted them separately; in [`GENAI_DEV`](crate::Profile::GENAI_DEV), thoughts are also recorded as `gen_ai.usage.reasoning.output_tokens` |
//! | `gen_ai.response.model` | the model that answered, if an [extractor](crate::extract) finds it |
//! | `acp.usage.context.used`, `.size`, `acp.cost.amount`, `.currency`, `.turn_amount` | the last `usage_update` |
//! | `acp.prompt.time_to_first_update` | seconds to the first message, thought, tool call or plan |
//! | `gen_ai.input.messages`, `gen_ai.output.messages` | with content capture, see [`content`](crate::content) |
//!
//! | end | status, `error.type` | finish reason |
//! |---|---|---|
//! | a response, whatever its stop reason: `cancelled` and `refusal` are not errors | unset | by policy |
//! | version 2: the session becomes idle | unset; Error with the code for the stop reason `error` | by policy |
//! | a JSON-RPC error | Error, the code | `error` |
//! | the agent exits or the client closes | Error, `agent_exited` or `client_closed` | `error` |
//! | the observer stops | unset, `acp.request.end` = `observer_stopped` | `incomplete` |
//! | the client initializes again | unset, `acp.request.end` = `initialized_again` | `incomplete` |
//!
//! A turn without a prompt begins with the first state other than `idle` of a session without open
//! turns. It has no parent, no `acp.method.name`, no `jsonrpc.request.id` and no input. The
//! repeated states of a session that is being resumed begin no turn, unless the session is still
//! working when the response arrives. In version 1 the same states count if a bridge carries them,
//! see [`STATE_META`](acp_types::session_state::STATE_META); otherwise version 1 has no begin and
//! no end of such a turn, and no span.
//!
//! The span has a link to the last turn that its session continues, if that turn was observed:
//! `acp.link.reason` is `resume` after `session/load` and `session/resume`, and `fork` after
//! `session/fork`.
//!
//! Events on the span: `acp.session.cancel`, `acp.cancel_request`, `acp.plan`, `acp.mode`,
//! `acp.config_options`, `acp.notice`, `acp.compaction`.
//!
//! ```
//! use core::time::Duration;
//! use semconv_map::{Attribute, Direction, Policy, Record, Tracker, keys};
//!
//! let mut tracker = Tracker::new(Policy::default());
//! let prompt = br#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#;
//! let answer = br#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"max_tokens"}}"#;
//! tracker.handle_line(Direction::Sent, Duration::from_secs(1), prompt);
//! tracker.handle_line(Direction::Received, Duration::from_secs(2), answer);
//!
//! let Some(Record::End(end)) = std::iter::from_fn(|| tracker.poll()).last() else { panic!("no end") };
//! assert!(end.attributes.contains(&Attribute::new(keys::ACP_STOP_REASON, "max_tokens")));
//! assert!(end.attributes.contains(&Attribute::new(keys::GEN_AI_RESPONSE_FINISH_REASONS, ["length".into()])));
//! ```
//!
//! Spec: [invoke agent span,
//! v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/gen-ai-agent-spans.md),
//! [Prompt Turn](https://agentclientprotocol.com/protocol/v1/prompt-turn)
use super::lifecycle::{self, Peers};
use crate::attribute::{AttributeValue, Attributes, clip};
use crate::close::EndCause;
use crate::content::Gate;
use crate::details::Details;
use crate::extract::TurnValues;
use crate::finish_reason::{self, finish_reason};
use crate::keys;
use crate::messages::Message;
use crate::policy::{Policy, UsagePolicy};
use crate::span::{SpanHandle, Status};
use acp_types::v1::prompt_turn::{Cost, PromptResponse, StopReason, Usage, UsageUpdate};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use core::time::Duration;
use jsonrpc_core::{ErrorObject, find_member, wire};

mod start;
mod usage;

pub(super) use start::span_name;
pub(crate) use start::{input, start, start_unprompted};
pub(crate) use usage::Tokens;

pub(super) const OPERATION: &str = "invoke_agent";

/// Attributes of the end of a turn that its content event also has, for backends that read log
/// records only.
const OF_EVENT: [&str; 7] = [
    keys::ERROR_TYPE,
    keys::GEN_AI_RESPONSE_MODEL,
    keys::GEN_AI_USAGE_INPUT_TOKENS,
    keys::GEN_AI_USAGE_OUTPUT_TOKENS,
    keys::GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
    keys::GEN_AI_USAGE_CACHE_WRITE_INPUT_TOKENS,
    keys::GEN_AI_USAGE_REASONING_OUTPUT_TOKENS,
];

/// A unit of work of the agent in a session: an unanswered prompt, work without a prompt, or the
/// work of a subagent.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) span: SpanHandle,
    pub(crate) kind: TurnKind,
    started: Duration,
    first_update: Option<Duration>,
    context: Option<(u64, u64)>,
    /// Cost of the session at the start of the turn, if known.
    cost_before: Option<Money>,
    cost: Option<Money>,
    /// The messages attribute of the user's input, for the event at the end.
    pub(crate) input: Option<String>,
    /// The provider attribute of the event at the end, if the profile has one.
    provider: Option<Cow<'static, str>>,
    /// The requested model, for the event at the end.
    model: Option<String>,
    /// The reasoning level, for the event at the end.
    pub(crate) reasoning_level: Option<String>,
    /// Whether the agent compacted its context.
    pub(crate) is_compacted: bool,
    /// Values found by extractors.
    pub(crate) values: TurnValues,
    /// The agent's output, with content capture.
    pub(crate) output: Option<Box<Message>>,
}

/// What ends a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnKind {
    /// The response to the prompt.
    Prompt,
    /// The session becoming idle, after the response of version 2.
    Accepted,
    /// The session becoming idle, without a prompt.
    Unprompted,
    /// The subagent becoming idle.
    Subagent,
}

/// An amount in a currency. The currency is absent if the amount is zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Money {
    amount: f64,
    currency: Option<String>,
}

impl From<&Cost> for Money {
    fn from(cost: &Cost) -> Self {
        Self { amount: cost.amount, currency: Some(clip(&cost.currency)) }
    }
}

impl Money {
    /// Creates an amount in a currency that the agent does not name.
    pub(crate) fn of_unnamed(amount: f64) -> Self {
        Self { amount, currency: None }
    }

    /// Returns the increase, never negative, or `None` if the currencies differ.
    pub(crate) fn since(&self, before: &Self) -> Option<f64> {
        let is_comparable = before.currency.is_none() || before.currency == self.currency;
        is_comparable.then(|| (self.amount - before.amount).max(0.0))
    }

    pub(crate) fn currency(&self) -> Option<String> {
        self.currency.clone()
    }
}

/// The end of a turn as reported by the agent: the prompt response, or in version 2 the idle state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    stop_reason: Option<StopReason>,
    usage: Option<Usage>,
    error: Option<ErrorObject>,
}

impl From<PromptResponse> for Answer {
    fn from(response: PromptResponse) -> Self {
        Self { stop_reason: Some(response.stop_reason), usage: response.usage, error: None }
    }
}

impl Answer {
    /// Decodes the idle state of a session. Missing and invalid members are skipped.
    pub(crate) fn of_idle(update: &str) -> Self {
        let member = |name| find_member(update, &[name]);
        Self {
            stop_reason: member("stopReason").and_then(|json| wire::decode(json).ok()),
            usage: member("usage").and_then(|json| wire::decode(json).ok()),
            error: member("error").and_then(|json| wire::decode(json).ok()),
        }
    }

    fn set(
        &self,
        policy: &Policy,
        attributes: &mut Attributes,
    ) -> (Status, Option<Cow<'static, str>>) {
        let Some(reason) = &self.stop_reason else { return (Status::Unset, None) };
        attributes.set(keys::ACP_STOP_REASON, clip(reason.as_str()));
        let status = match &self.error {
            _ if reason.as_str() != STOP_REASON_ERROR => Status::Unset,
            Some(error) => lifecycle::failure(policy, error, attributes),
            None => lifecycle::unreadable_failure(attributes),
        };
        (status, Some(finish_reason(reason, policy.finish_reason)))
    }
}

/// Stop reason of version 2 for a failed turn.
const STOP_REASON_ERROR: &str = "error";

/// The end of a turn.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TurnEnd<'a> {
    Answered(&'a Answer),
    /// A response that does not match the protocol.
    Unreadable,
    Failed(&'a ErrorObject),
    /// An error response with an invalid error.
    FailedUnreadable,
    /// The client reused the request id.
    IdReused,
    /// The enclosing span ended.
    ParentEnded,
    /// The connection ended.
    Connection(EndCause),
}

impl Turn {
    pub(crate) fn new(
        policy: &Policy,
        peers: &Peers,
        kind: TurnKind,
        span: SpanHandle,
        started: Duration,
        cost_before: Option<Money>,
        model: Option<&str>,
    ) -> Self {
        let message = || Box::new(Message::new(policy.content_limits));
        let has_event = policy.places(Gate::WithContent).1;
        let has_provider = has_event && policy.profile.inference_event;
        Self {
            span,
            kind,
            started,
            first_update: None,
            context: None,
            cost_before,
            cost: None,
            input: None,
            values: TurnValues::default(),
            provider: has_provider.then(|| peers.provider(&policy.provider, model)),
            model: model.filter(|_| has_event).map(clip),
            reasoning_level: None,
            is_compacted: false,
            output: policy.records_content().then(message),
        }
    }

    /// Records that the agent works on the turn.
    pub(crate) fn on_work(&mut self, now: Duration) {
        self.first_update.get_or_insert(now);
    }

    /// Handles a cost of the session that an extractor found.
    pub(crate) fn on_cost(&mut self, cost: Money) {
        self.cost = Some(cost);
    }

    pub(crate) fn on_usage(&mut self, usage: &UsageUpdate) {
        self.context = Some((usage.used, usage.size));
        if let Some(cost) = &usage.cost {
            self.cost = Some(Money::from(&**cost));
        }
    }

    /// Returns the status, the attributes learned since the start, and those of the content event.
    /// `before` contains the token counts of the session so far, and is updated.
    pub(crate) fn end(
        self,
        policy: &Policy,
        session: &str,
        how: TurnEnd<'_>,
        before: &mut Tokens,
    ) -> (Status, Attributes, Attributes) {
        let mut attributes = Attributes::default();
        let (status, finish) = how.set(policy, &mut attributes);
        if let Some(finish) = &finish {
            attributes.set(keys::GEN_AI_RESPONSE_FINISH_REASONS, [finish.clone()]);
        }
        attributes.set_some(keys::GEN_AI_RESPONSE_MODEL, self.values.model.clone());
        if let TurnEnd::Answered(Answer { usage: Some(usage), .. }) = how {
            usage::set(policy, policy.usage, usage, before, &mut attributes);
        } else if let Some(usage) = self.values.usage() {
            let covers = match self.values.is_of_session {
                true => UsagePolicy::Cumulative,
                false => UsagePolicy::PerTurn,
            };
            usage::set(policy, covers, &usage, before, &mut attributes);
        }
        self.set_session_usage(&mut attributes);
        let waited = self.first_update.filter(|_| self.kind != TurnKind::Subagent);
        let waited = waited.map(|first| first.saturating_sub(self.started).as_secs_f64());
        attributes.set_some(keys::ACP_PROMPT_TIME_TO_FIRST_UPDATE, waited);
        let Some(output) = self.output else { return (status, attributes, Attributes::default()) };
        let mut details = Details::default();
        let finish = finish.unwrap_or(finish_reason::INCOMPLETE.into());
        let output = output.into_output(policy, &finish);
        details.set_json(policy, keys::GEN_AI_OUTPUT_MESSAGES, output);
        attributes.extend(details.span);
        let mut event = details.event;
        if !event.0.is_empty() {
            event.set(keys::GEN_AI_OPERATION_NAME, OPERATION);
            event.set(keys::GEN_AI_CONVERSATION_ID, clip(session));
            event.set_some(keys::GEN_AI_PROVIDER_NAME, self.provider);
            event.set_some(keys::GEN_AI_REQUEST_MODEL, self.model);
            if policy.profile.inference_event {
                event.set_some(keys::GEN_AI_REQUEST_REASONING_LEVEL, self.reasoning_level);
                let compacted = self.is_compacted.then_some(true);
                event.set_some(keys::GEN_AI_CONVERSATION_COMPACTED, compacted);
            }
            event.set(keys::GEN_AI_RESPONSE_FINISH_REASONS, [finish]);
            event.set_some(keys::GEN_AI_INPUT_MESSAGES, self.input.map(AttributeValue::Json));
            let same = attributes.0.iter().filter(|it| OF_EVENT.contains(&it.key));
            event.0.extend(same.cloned());
        }
        (status, attributes, event)
    }

    fn set_session_usage(&self, attributes: &mut Attributes) {
        if let Some((used, size)) = self.context {
            attributes.set(keys::ACP_USAGE_CONTEXT_USED, count(used));
            attributes.set(keys::ACP_USAGE_CONTEXT_SIZE, count(size));
        }
        if let Some((cost, false)) = self.values.cost {
            attributes.set(keys::ACP_COST_TURN_AMOUNT, cost);
            return;
        }
        let Some(cost) = &self.cost else { return };
        attributes.set(keys::ACP_COST_AMOUNT, cost.amount);
        attributes.set_some(keys::ACP_COST_CURRENCY, cost.currency.clone());
        let added = self.cost_before.as_ref().and_then(|before| cost.since(before));
        attributes.set_some(keys::ACP_COST_TURN_AMOUNT, added);
    }
}

impl TurnEnd<'_> {
    fn set(
        self,
        policy: &Policy,
        attributes: &mut Attributes,
    ) -> (Status, Option<Cow<'static, str>>) {
        match self {
            Self::Answered(answer) => answer.set(policy, attributes),
            Self::Unreadable => (Status::Unset, None),
            Self::Failed(error) => {
                (lifecycle::failure(policy, error, attributes), Some(finish_reason::ERROR.into()))
            }
            Self::FailedUnreadable => {
                (lifecycle::unreadable_failure(attributes), Some(finish_reason::ERROR.into()))
            }
            Self::IdReused => {
                attributes.set(keys::ACP_REQUEST_END, keys::end::ID_REUSED);
                (Status::Unset, Some(finish_reason::INCOMPLETE.into()))
            }
            Self::ParentEnded => {
                attributes.set(keys::ACP_REQUEST_END, keys::end::PARENT_END);
                (Status::Unset, Some(finish_reason::INCOMPLETE.into()))
            }
            Self::Connection(cause) => {
                let status = cause.set(keys::ACP_REQUEST_END, attributes);
                let finish = match status {
                    Status::Unset => finish_reason::INCOMPLETE,
                    Status::Error { .. } => finish_reason::ERROR,
                };
                (status, Some(finish.into()))
            }
        }
    }
}

pub(crate) fn count(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}
