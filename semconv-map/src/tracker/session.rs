//! State of one session.
use super::config_options;
use super::spans::Spans;
use crate::acp::prompt_turn::{Answer, Money, Tokens, Turn, TurnEnd, TurnKind};
use crate::acp::terminals::Terminals;
use crate::acp::tool_call::{OpenToolCall, ToolEnd, ToolReport};
use crate::attribute::{Attribute, MAX_NAME_BYTES, clip, cut};
use crate::close::EndCause;
use crate::keys::{self, event, link};
use crate::policy::Policy;
use crate::span::{Link, SpanHandle};
use acp_types::v1::tool_calls::ToolKind;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;

/// Number of ended tool calls per session that are remembered, so that a late update does not start
/// them again.
const ENDED_TOOL_CALLS: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Session {
    /// Open turns in order of their start.
    pub(super) turns: Vec<Turn>,
    /// The last turn that ended.
    pub(super) last_turn: Option<SpanHandle>,
    /// The turn that the next turn continues, and the reason.
    continues: Option<(SpanHandle, &'static str)>,
    /// Whether the session is owned by another session.
    pub(super) is_subagent: bool,
    pub(super) tools: BTreeMap<String, OpenToolCall>,
    ended_tools: VecDeque<EndedTool>,
    pub(super) model: Option<String>,
    /// Value of the config option of category `thought_level`.
    pub(super) reasoning_level: Option<String>,
    /// With content capture.
    pub(super) terminals: Terminals,
    pub(super) tokens: Tokens,
    /// Cost of the session, if known.
    pub(super) cost: Option<Money>,
    /// State before the client initialized again, restored when the session is loaded.
    former: Option<FormerState>,
    /// Number of `session/load` requests without a response.
    pub(super) loading: usize,
    /// Whether updates before the next prompt are replayed: the session was loaded, and some agents
    /// respond before the replay, or it was first observed while a `session/fork`, which creates
    /// sessions, was unanswered.
    pub(super) is_forming: bool,
    /// Number of replayed updates.
    pub(super) replayed: i64,
    /// Version 2: whether the last reported state is not idle.
    pub(super) is_working: bool,
    /// Whether the session was created or loaded, and not closed.
    is_active: bool,
    /// Sequence number of the last message of the session.
    pub(super) last_seen: u64,
}

/// A tool call that has ended.
#[derive(Debug)]
struct EndedTool {
    id: String,
    /// The turn in which it ended.
    turn: Option<SpanHandle>,
    /// Whether the agent reported the end.
    is_reported: bool,
    /// The kind in updates and permission requests, if the agent has not announced the call.
    unannounced: Option<Option<ToolKind>>,
}

impl EndedTool {
    /// Returns whether a report announces the call, which only updates and permission requests have
    /// described so far. Cline does so after the end of a rejected call.
    fn is_announced_by(&mut self, report: &ToolReport<'_>) -> bool {
        let is_described = self.unannounced.take_if(|_| report.announces());
        is_described.is_some_and(|kind| kind == report.kind())
    }
}

/// State that a loaded session continues from.
#[derive(Debug)]
struct FormerState {
    cost: Option<Money>,
    tokens: Tokens,
}

impl Session {
    /// Handles the creation of the session. Previous state under the same id is dropped.
    pub(super) fn begin(&mut self) {
        self.former = None;
        self.last_turn = None;
        self.cost.get_or_insert_default();
    }

    /// Handles the loading of the session, which continues from its previous state.
    pub(super) fn resume(&mut self) {
        if let Some(FormerState { cost, tokens }) = self.former.take() {
            self.cost = self.cost.take().or(cost);
            self.tokens = tokens;
        }
        self.continue_from(self.last_turn, link::RESUME);
    }

    /// Returns whether the session can be evicted without losing an open span.
    pub(super) fn is_idle(&self) -> bool {
        self.turns.is_empty() && self.tools.is_empty() && self.loading == 0
    }

    /// Returns whether updates are replayed.
    pub(super) fn is_replaying(&self) -> bool {
        (self.loading > 0 || self.is_forming) && self.turns.is_empty()
    }

    /// Returns whether a tool call has ended, so that a report on it is late.
    ///
    /// Some agents number their calls anew in each turn or each response of the model. A report
    /// that begins a call is about another call if the agent has ended the one with its id, or if
    /// that one ended with an earlier turn.
    pub(super) fn has_ended(&mut self, tool_call: &str, report: &ToolReport<'_>) -> bool {
        let turn = self.turns.first().map(|turn| turn.span);
        let Some(at) = self.ended_tools.iter().position(|ended| ended.id == tool_call) else {
            return false;
        };
        let Some(ended) = self.ended_tools.get_mut(at) else { return false };
        let is_another = if ended.is_reported {
            report.begins_another() && !ended.is_announced_by(report)
        } else {
            report.announces() && turn.is_some() && ended.turn != turn
        };
        if is_another {
            self.ended_tools.remove(at);
        }
        !is_another
    }

    /// Returns the turn of updates and requests of the agent: the oldest one, because agents
    /// respond in order.
    pub(super) fn turn(&mut self) -> Option<&mut Turn> {
        self.turns.first_mut()
    }

    /// Sets the turn that the next turn continues.
    pub(super) fn continue_from(&mut self, turn: Option<SpanHandle>, reason: &'static str) {
        self.continues = turn.map(|turn| (turn, reason));
    }

    /// Returns the links of a turn that starts.
    pub(super) fn take_links(&mut self) -> Vec<Link> {
        let link = self.continues.take().map(|(to, reason)| {
            let attributes = Vec::from([Attribute::new(keys::ACP_LINK_REASON, reason)]);
            Link { to, attributes }
        });
        Vec::from_iter(link)
    }

    /// Returns the tool call of the current turn, if exactly one is running.
    pub(super) fn only_tool(&self) -> Option<&OpenToolCall> {
        let turn = self.turns.first().map(|turn| turn.span);
        let mut running = self.tools.values().filter(|tool| tool.turn == turn);
        running.next().filter(|_| running.next().is_none())
    }

    pub(super) fn end_tool(&mut self, policy: &Policy, spans: &mut Spans, id: &str, how: ToolEnd) {
        let Some((id, mut tool)) = self.tools.remove_entry(id) else { return };
        let ended = EndedTool {
            id,
            turn: self.turns.first().map(|turn| turn.span),
            is_reported: how.is_reported(),
            unannounced: tool.unannounced(),
        };
        tool.add_terminals(&self.terminals);
        let span = tool.span;
        let (name, status, attributes, details) = tool.end(policy, how);
        spans.details(span, event::DETAILS, details);
        spans.end(span, name, status, attributes);
        self.remember_ended(ended);
    }

    /// Ignores further updates of a tool call without a span.
    pub(super) fn forget_tool(&mut self, id: String) {
        let turn = self.turns.first().map(|turn| turn.span);
        self.remember_ended(EndedTool { id, turn, is_reported: false, unannounced: None });
    }

    fn remember_ended(&mut self, ended: EndedTool) {
        if self.ended_tools.len() >= ENDED_TOOL_CALLS {
            self.ended_tools.pop_front();
        }
        self.ended_tools.push_back(ended);
    }

    /// Ends the tool calls that match `belongs`.
    pub(super) fn end_tools(
        &mut self,
        policy: &Policy,
        spans: &mut Spans,
        how: ToolEnd,
        belongs: impl Fn(&OpenToolCall) -> bool,
    ) {
        let picked = self.tools.iter().filter(|(_, tool)| belongs(tool));
        let mut ids: Vec<_> = picked.map(|(id, tool)| (tool.span, id.clone())).collect();
        ids.sort_unstable();
        for (_, id) in ids {
            self.end_tool(policy, spans, &id, how);
        }
    }

    /// Ends a turn, after its open tool calls.
    fn end_turn(
        &mut self,
        policy: &Policy,
        spans: &mut Spans,
        id: &str,
        span: SpanHandle,
        how: TurnEnd<'_>,
    ) {
        let Some(at) = self.turns.iter().position(|turn| turn.span == span) else { return };
        let tools = match how {
            TurnEnd::Connection(cause) => ToolEnd::Connection(cause),
            _ => ToolEnd::TurnEnd,
        };
        self.end_tools(policy, spans, tools, |tool| tool.turn == Some(span));
        let turn = self.turns.remove(at);
        let (status, attributes, details) = turn.end(policy, id, how, &mut self.tokens);
        spans.details(span, event::INFERENCE_DETAILS, details);
        spans.end(span, None, status, attributes);
        self.last_turn = Some(span);
    }

    /// Returns the turns that end when the session becomes idle.
    fn until_idle(&self) -> Vec<SpanHandle> {
        let until_idle = self.turns.iter().filter(|turn| turn.kind != TurnKind::Prompt);
        until_idle.map(|turn| turn.span).collect()
    }

    /// Reads the model and the reasoning level of an object with config options.
    pub(super) fn on_options(&mut self, object: &str) {
        if let Some(model) = config_options::model(object, self.model.is_some()) {
            self.model = Some(model);
        }
        if let Some(level) = config_options::reasoning_level(object) {
            self.reasoning_level = Some(level);
        }
    }
}

/// The known sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    sessions: BTreeMap<String, Session>,
    /// Open spans of subagents with their turn and session, oldest first.
    subagents: Vec<Subagent>,
    limit: usize,
    messages: u64,
    /// Change of the number of active sessions since it was last taken.
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

    /// Records that a subagent works within a turn of its owner.
    pub(super) fn add_subagent(&mut self, turn: SpanHandle, session: &str, span: SpanHandle) {
        self.subagents.push(Subagent { turn, session: clip(session), span });
    }

    /// Ends a turn, after the subagents that work within it, innermost first.
    pub(super) fn end_turn(
        &mut self,
        policy: &Policy,
        spans: &mut Spans,
        id: &str,
        span: SpanHandle,
        how: TurnEnd<'_>,
    ) {
        let mut ending = Vec::from([span]);
        // A subagent is newer than its turn.
        for subagent in &self.subagents {
            if ending.contains(&subagent.turn) {
                ending.push(subagent.span);
            }
        }
        let below = match how {
            TurnEnd::Connection(_) => how,
            _ => TurnEnd::ParentEnded,
        };
        while let Some(at) = self.subagents.iter().rposition(|it| ending.contains(&it.span)) {
            let Subagent { session, span: ended, .. } = self.subagents.remove(at);
            if ended != span
                && let Some(it) = self.sessions.get_mut(&session)
            {
                it.end_turn(policy, spans, &session, ended, below);
            }
        }
        if let Some(session) = self.get_mut(id) {
            session.end_turn(policy, spans, id, span, how);
        }
    }

    /// Ends the turns of a session that end when it becomes idle.
    pub(super) fn on_idle(
        &mut self,
        policy: &Policy,
        spans: &mut Spans,
        id: &str,
        answer: &Answer,
    ) {
        for span in self.get(id).map(Session::until_idle).unwrap_or_default() {
            self.end_turn(policy, spans, id, span, TurnEnd::Answered(answer));
        }
    }

    /// Returns the change of the number of active sessions since the last call.
    pub(super) fn take_change(&mut self) -> i64 {
        core::mem::take(&mut self.change)
    }

    /// Records that a session was created, loaded or closed.
    pub(super) fn set_active(&mut self, id: &str, is_active: bool) {
        let Some(session) = self.get_mut(id) else { return };
        let before = core::mem::replace(&mut session.is_active, is_active);
        self.change += i64::from(is_active) - i64::from(before);
    }

    /// Ends the turns and tool calls with spans that match `picks`, and their descendants.
    pub(super) fn end_all(
        &mut self,
        policy: &Policy,
        spans: &mut Spans,
        cause: EndCause,
        picks: impl Fn(SpanHandle) -> bool,
    ) {
        let turns = self.sessions.iter().flat_map(|(id, session)| {
            session.turns.iter().map(move |turn| (turn.span, id.clone()))
        });
        let turns: Vec<_> = turns.filter(|(span, _)| picks(*span)).collect();
        for (span, id) in turns {
            self.end_turn(policy, spans, &id, span, TurnEnd::Connection(cause));
        }
        for session in self.sessions.values_mut() {
            session.end_tools(policy, spans, ToolEnd::Connection(cause), |tool| picks(tool.span));
        }
    }

    /// Forgets all sessions.
    pub(super) fn clear(&mut self) {
        while let Some((_, session)) = self.sessions.pop_first() {
            self.change -= i64::from(session.is_active);
        }
    }

    /// Forgets all sessions, except for open work and the state that loaded sessions continue from.
    pub(super) fn start_over(&mut self) {
        for session in self.sessions.values_mut() {
            let before = core::mem::take(session);
            self.change -= i64::from(before.is_active);
            let Session { turns, tools, last_turn, last_seen, former, cost, tokens, .. } = before;
            let former = Some(former.unwrap_or(FormerState { cost, tokens }));
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

    /// Returns the session, creating it if necessary. Returns `None` if the limit is reached and
    /// all sessions are busy.
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

    /// Returns the turn for requests that name no session, if there is exactly one.
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
