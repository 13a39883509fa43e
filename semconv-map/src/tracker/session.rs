//! What is known of one session.
use super::Over;
use super::spans::Spans;
use crate::acp::prompt_turn::{Answer, Money, Tokens, Turn, TurnEnd, TurnKind};
use crate::acp::tool_call::{OpenToolCall, ToolEnd};
use crate::attribute::{Attribute, MAX_NAME_BYTES, clip, cut};
use crate::keys::{self, event, link};
use crate::policy::Policy;
use crate::span::{Link, SpanHandle};
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::{JsonStr, find_member};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Tool calls of a session that have ended, and are remembered so that a late update does not begin them again.
const ENDED_TOOL_CALLS: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Session {
    /// What the agent is at, in the order it came.
    pub(super) turns: Vec<Turn>,
    /// The turn that ended last.
    pub(super) last_turn: Option<SpanHandle>,
    /// What the next turn continues, and why.
    continues: Option<(SpanHandle, &'static str)>,
    /// Whether another session was said to own it.
    pub(super) is_subagent: bool,
    pub(super) tools: BTreeMap<String, OpenToolCall>,
    /// With the turn in which they ended.
    ended_tools: VecDeque<(Option<SpanHandle>, String)>,
    pub(super) model: Option<String>,
    pub(super) tokens: Tokens,
    /// What the session has cost, if that is known.
    pub(super) cost: Option<Money>,
    /// What it was before the client initialized again, for when it is loaded.
    former: Option<Former>,
    /// How many `session/load` are not answered.
    pub(super) loading: usize,
    /// Whether it was first heard of while a `session/fork` was not answered, which makes it.
    pub(super) is_forming: bool,
    /// The updates they replayed.
    pub(super) replayed: i64,
    /// Whether it was made or loaded, and not closed.
    is_active: bool,
    /// When it was last heard of, in messages.
    pub(super) last_seen: u64,
}

/// What agents count on when a session is loaded.
#[derive(Debug)]
struct Former {
    cost: Option<Money>,
    tokens: Tokens,
}

impl Session {
    /// It was made just now, whatever had its id before.
    pub(super) fn begin(&mut self) {
        (self.former, self.last_turn) = (None, None);
        self.cost.get_or_insert_default();
    }

    /// It was loaded, and goes on where it was.
    pub(super) fn resume(&mut self) {
        if let Some(Former { cost, tokens }) = self.former.take() {
            self.cost = self.cost.take().or(cost);
            self.tokens = tokens;
        }
        self.continue_from(self.last_turn, link::RESUME);
    }

    /// Whether nothing is lost but what is known of it.
    pub(super) fn is_idle(&self) -> bool {
        self.turns.is_empty() && self.tools.is_empty() && self.loading == 0
    }

    /// Whether updates tell what happened before.
    pub(super) fn is_replaying(&self) -> bool {
        (self.loading > 0 || self.is_forming) && self.turns.is_empty()
    }

    /// Whether a tool call has ended, so that what comes of it is late.
    ///
    /// Some agents count their calls anew in each turn: one that is announced in a later turn than it ended in is
    /// another, and begins.
    pub(super) fn has_ended(&mut self, tool_call: &str, announced: bool) -> bool {
        let turn = self.turns.first().map(|turn| turn.span);
        let Some(at) = self.ended_tools.iter().position(|(_, ended)| ended == tool_call) else {
            return false;
        };
        let is_another = announced
            && turn.is_some()
            && self.ended_tools.get(at).is_some_and(|(ended_in, _)| *ended_in != turn);
        if is_another {
            self.ended_tools.remove(at);
        }
        !is_another
    }

    /// The turn that updates and requests of the agent belong to: the oldest one, for agents answer in order.
    pub(super) fn turn(&mut self) -> Option<&mut Turn> {
        self.turns.first_mut()
    }

    /// The next turn goes on with another.
    pub(super) fn continue_from(&mut self, turn: Option<SpanHandle>, reason: &'static str) {
        self.continues = turn.map(|turn| (turn, reason));
    }

    /// The links of a turn that starts.
    pub(super) fn take_links(&mut self) -> Vec<Link> {
        let link = self.continues.take().map(|(to, reason)| {
            let attributes = Vec::from([Attribute::new(keys::ACP_LINK_REASON, reason)]);
            Link { to, attributes }
        });
        Vec::from_iter(link)
    }

    /// The tool call of the current turn, if it is the only one that runs.
    pub(super) fn only_tool(&self) -> Option<&OpenToolCall> {
        let turn = self.turns.first().map(|turn| turn.span);
        let mut running = self.tools.values().filter(|tool| tool.turn == turn);
        running.next().filter(|_| running.next().is_none())
    }

    pub(super) fn end_tool(
        &mut self,
        policy: &Policy,
        spans: &mut Spans,
        now: Duration,
        id: &str,
        how: ToolEnd,
    ) {
        let Some((id, tool)) = self.tools.remove_entry(id) else { return };
        let span = tool.span;
        let (name, status, attributes, details) = tool.end(policy, how);
        spans.details(now, span, event::DETAILS, details);
        spans.end(now, span, name, status, attributes);
        self.forget_tool(id);
    }

    /// Takes no more updates of a tool call.
    pub(super) fn forget_tool(&mut self, id: String) {
        if self.ended_tools.len() >= ENDED_TOOL_CALLS {
            self.ended_tools.pop_front();
        }
        let turn = self.turns.first().map(|turn| turn.span);
        self.ended_tools.push_back((turn, id));
    }

    /// Ends the tool calls that `belongs` picks.
    pub(super) fn end_tools(
        &mut self,
        policy: &Policy,
        spans: &mut Spans,
        now: Duration,
        how: ToolEnd,
        belongs: impl Fn(&OpenToolCall) -> bool,
    ) {
        let picked = self.tools.iter().filter(|(_, tool)| belongs(tool));
        let mut ids: Vec<_> = picked.map(|(id, tool)| (tool.span, id.clone())).collect();
        ids.sort_unstable();
        for (_, id) in ids {
            self.end_tool(policy, spans, now, &id, how);
        }
    }

    /// Ends a turn, and before it the tool calls that are still open in it.
    fn end_turn(
        &mut self,
        policy: &Policy,
        spans: &mut Spans,
        now: Duration,
        id: &str,
        span: SpanHandle,
        how: TurnEnd<'_>,
    ) {
        let Some(at) = self.turns.iter().position(|turn| turn.span == span) else { return };
        let tools = match how {
            TurnEnd::Over(over) => ToolEnd::Over(over),
            _ => ToolEnd::TurnEnd,
        };
        self.end_tools(policy, spans, now, tools, |tool| tool.turn == Some(span));
        let turn = self.turns.remove(at);
        let (status, attributes, details) = turn.end(policy, id, how, &mut self.tokens);
        spans.details(now, span, event::INFERENCE_DETAILS, details);
        spans.end(now, span, None, status, attributes);
        self.last_turn = Some(span);
    }

    /// The turns that end when the session is idle.
    fn until_idle(&self) -> Vec<SpanHandle> {
        let until_idle = self.turns.iter().filter(|turn| turn.kind != TurnKind::Prompt);
        until_idle.map(|turn| turn.span).collect()
    }

    /// Takes the model out of an object with `configOptions`, or with `models` as older agents have it.
    pub(super) fn on_options(&mut self, object: &str) {
        let member = |name| find_member(object, &[name]);
        let option = || model_option(member("configOptions")?);
        let older = || {
            let models = serde_json::from_str::<Models<'_>>(member("models")?).ok()?;
            Some(clip(&models.current_model_id)).filter(|_| self.model.is_none())
        };
        if let Some(model) = option().or_else(older) {
            self.model = Some(model);
        }
    }
}

/// What config options of both versions have in common.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigOption<'a> {
    #[serde(borrow)]
    category: Option<Cow<'a, str>>,
    #[serde(borrow)]
    current_value: Option<&'a RawValue>,
}

/// A member of older agents that the schema does not have any more.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Models<'a> {
    #[serde(borrow)]
    current_model_id: Cow<'a, str>,
}

fn model_option(options: &str) -> Option<String> {
    let options: Vec<ConfigOption<'_>> = serde_json::from_str(options).ok()?;
    let is_model = |option: &&ConfigOption<'_>| option.category.as_deref() == Some("model");
    let value = options.iter().find(is_model)?.current_value?;
    JsonStr::new(value.get())?.decode().map(|model| clip(&model))
}

/// The sessions that are known.
#[derive(Debug)]
pub(super) struct Sessions {
    sessions: BTreeMap<String, Session>,
    /// The open spans of subagents, each with the turn it belongs to and with its session. Older ones come first.
    subagents: Vec<Subagent>,
    limit: usize,
    messages: u64,
    /// How many more sessions are active than when that was last asked.
    change: i64,
}

#[derive(Debug)]
struct Subagent {
    turn: SpanHandle,
    session: String,
    span: SpanHandle,
}

impl Sessions {
    pub(super) fn new(limit: usize) -> Self {
        Self { sessions: BTreeMap::new(), subagents: Vec::new(), limit, messages: 0, change: 0 }
    }

    /// Notes that a subagent works within a turn of its owner.
    pub(super) fn add_subagent(&mut self, turn: SpanHandle, session: &str, span: SpanHandle) {
        self.subagents.push(Subagent { turn, session: clip(session), span });
    }

    /// Ends a turn, and before it the subagents that still work within it, the innermost first.
    pub(super) fn end_turn(
        &mut self,
        policy: &Policy,
        spans: &mut Spans,
        now: Duration,
        id: &str,
        span: SpanHandle,
        how: TurnEnd<'_>,
    ) {
        let mut ending = Vec::from([span]);
        // A subagent is newer than the turn that it belongs to.
        for subagent in &self.subagents {
            if ending.contains(&subagent.turn) {
                ending.push(subagent.span);
            }
        }
        let below = match how {
            TurnEnd::Over(_) => how,
            _ => TurnEnd::ParentEnded,
        };
        while let Some(at) = self.subagents.iter().rposition(|it| ending.contains(&it.span)) {
            let Subagent { session, span: ended, .. } = self.subagents.remove(at);
            if ended != span
                && let Some(it) = self.sessions.get_mut(&session)
            {
                it.end_turn(policy, spans, now, &session, ended, below);
            }
        }
        if let Some(session) = self.get_mut(id) {
            session.end_turn(policy, spans, now, id, span, how);
        }
    }

    /// Ends the turns of a session that do not end with an answer: it is idle.
    pub(super) fn on_idle(
        &mut self,
        policy: &Policy,
        spans: &mut Spans,
        now: Duration,
        id: &str,
        answer: &Answer,
    ) {
        for span in self.get(id).map(Session::until_idle).unwrap_or_default() {
            self.end_turn(policy, spans, now, id, span, TurnEnd::Answered(answer));
        }
    }

    /// How many more sessions are active than at the last call; negative for fewer.
    pub(super) fn take_change(&mut self) -> i64 {
        core::mem::take(&mut self.change)
    }

    /// Notes that a session was made or loaded, or closed.
    pub(super) fn set_active(&mut self, id: &str, is_active: bool) {
        let Some(session) = self.get_mut(id) else { return };
        let before = core::mem::replace(&mut session.is_active, is_active);
        self.change += i64::from(is_active) - i64::from(before);
    }

    /// Ends the turns and tool calls whose spans `picks` picks, and what belongs to them.
    pub(super) fn end_all(
        &mut self,
        policy: &Policy,
        spans: &mut Spans,
        now: Duration,
        over: Over,
        picks: impl Fn(SpanHandle) -> bool,
    ) {
        let turns = self.sessions.iter().flat_map(|(id, session)| {
            session.turns.iter().map(move |turn| (turn.span, id.clone()))
        });
        let turns: Vec<_> = turns.filter(|(span, _)| picks(*span)).collect();
        for (span, id) in turns {
            self.end_turn(policy, spans, now, &id, span, TurnEnd::Over(over));
        }
        for session in self.sessions.values_mut() {
            session.end_tools(policy, spans, now, ToolEnd::Over(over), |tool| picks(tool.span));
        }
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        while let Some((_, session)) = self.sessions.pop_first() {
            self.change -= i64::from(session.is_active);
        }
    }

    /// Forgets what is known of them but what is open, and what those go on from that are loaded again.
    pub(super) fn start_over(&mut self) {
        for session in self.sessions.values_mut() {
            let before = core::mem::take(session);
            self.change -= i64::from(before.is_active);
            let Session { turns, tools, last_turn, last_seen, former, cost, tokens, .. } = before;
            let former = Some(former.unwrap_or(Former { cost, tokens }));
            *session = Session { turns, tools, last_turn, last_seen, former, ..Session::default() };
        }
    }

    pub(super) fn get(&self, id: &str) -> Option<&Session> {
        self.sessions.get(cut(id, MAX_NAME_BYTES))
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut Session> {
        self.messages += 1;
        let session = self.sessions.get_mut(cut(id, MAX_NAME_BYTES))?;
        session.last_seen = self.messages;
        Some(session)
    }

    /// The session, which may be new; nothing if all others are busy and there is no room.
    pub(super) fn get_or_insert(&mut self, id: &str) -> Option<&mut Session> {
        let id = cut(id, MAX_NAME_BYTES);
        if !self.sessions.contains_key(id) {
            if self.sessions.len() >= self.limit {
                self.forget_oldest();
            }
            if self.sessions.len() >= self.limit {
                return None;
            }
            self.sessions.insert(id.into(), Session::default());
        }
        self.get_mut(id)
    }

    pub(super) fn remove(&mut self, id: &str) {
        if let Some(session) = self.sessions.remove(cut(id, MAX_NAME_BYTES)) {
            self.change -= i64::from(session.is_active);
        }
    }

    /// The only turn there is, for requests that name no session.
    pub(super) fn only_turn(&self) -> Option<&Turn> {
        let mut turns = self.sessions.values().flat_map(|session| &session.turns);
        turns.next().filter(|_| turns.next().is_none())
    }

    fn forget_oldest(&mut self) {
        let idle = self.sessions.iter().filter(|(_, session)| session.is_idle());
        let oldest = idle.min_by_key(|(_, session)| session.last_seen).map(|(id, _)| id.clone());
        if let Some(id) = oldest {
            self.remove(&id);
        }
    }
}
