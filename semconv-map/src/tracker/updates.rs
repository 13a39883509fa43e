//! Updates of sessions.
use super::{Tracker, plan};
use crate::acp::members::Members;
use crate::acp::prompt_turn::{self, Answer, Money, Turn, TurnKind, count};
use crate::acp::subagent::{self, SubagentState};
use crate::acp::tool_call::{OpenToolCall, ToolReport};
use crate::attribute::{Attributes, MAX_NAME_BYTES, clip, cut};
use crate::content::Gate;
use crate::json::{member, string};
use crate::keys::{self, event, link};
use crate::metric;
use crate::span::{Parent, SpanHandle, SpanKind};
use acp_types::session_state::STATE_META;
use acp_types::v1::compaction::CompactionStatus;
use acp_types::v1::prompt_turn::{ContentChunk, SessionUpdate, UsageUpdate};
use core::str;
use jsonrpc_core::{find_member, wire};

impl Tracker {
    /// Handles a `session/update`. Text is skipped unless content is recorded.
    pub(super) fn on_update(&mut self, members: &Members<'_>) {
        let session = members.session.unwrap_or_default();
        let kind = members.session_update;
        let (Ok(session), Ok(kind)) =
            (str::from_utf8(session), str::from_utf8(kind.unwrap_or_default()))
        else {
            self.quiet.forget();
            self.counters.invalid_lines += 1;
            return;
        };
        let (Some(id), Some(kind)) = (string(session), string(kind)) else {
            self.counters.undecodable += 1;
            return;
        };
        let is_text = matches!(&*kind, "agent_message_chunk" | "agent_thought_chunk");
        let is_work = is_text
            || matches!(
                &*kind,
                "tool_call"
                    | "tool_call_update"
                    | "tool_call_content_chunk"
                    | "plan"
                    | "plan_update"
                    | "subagent_update"
                    | "agent_message"
                    | "agent_thought"
            );
        if self.sessions.get(&id).is_none()
            && self.is_forking()
            && let Some(session) = self.sessions.get_or_insert(&id)
        {
            session.is_forming = true;
        }
        if let Some(session) = self.sessions.get_mut(&id) {
            if session.is_replaying() {
                if is_work || matches!(&*kind, "user_message" | "user_message_chunk") {
                    session.replayed = session.replayed.saturating_add(1);
                    return;
                }
            } else if let Some(turn) = session.turn().filter(|_| is_work) {
                turn.on_work(self.spans.now());
            }
        }
        if is_text && !self.interest.texts {
            self.quiet.begin(session.as_bytes());
            return;
        }
        let Ok(update) = str::from_utf8(members.update.unwrap_or_default()) else {
            self.counters.undecodable += 1;
            return;
        };
        match &*kind {
            "tool_call" | "tool_call_update" => self.on_tool_call_update(&id, update, members),
            "config_option_update" => {
                if let Some(session) = self.sessions.get_or_insert(&id) {
                    session.on_options(update);
                }
                self.turn_event(&id, event::CONFIG_OPTIONS, Attributes::default());
            }
            "state_update" if self.peers.is_v2() => self.on_state(&id, update),
            // The state of a version 2 agent behind a bridge, which works without a prompt.
            "session_info_update" if !self.peers.is_v2() => {
                if let Some(state) = find_member(update, &["_meta", STATE_META]) {
                    self.on_state(&id, state);
                }
            }
            "terminal_update" | "terminal_output_chunk" if self.policy.records_content() => {
                let limit = self.policy.content_limits.tool_bytes;
                if let Some(session) = self.sessions.get_or_insert(&id) {
                    session.terminals.on_update(update, limit);
                }
            }
            "subagent_update" => self.on_subagent(&id, update),
            "plan" | "plan_update" | "plan_removed" => {
                let attributes = plan::attributes(&kind, update);
                if let Some(attributes) = self.count_undecodable(attributes) {
                    self.turn_event(&id, event::PLAN, attributes);
                }
            }
            // Text is decoded only if content is recorded.
            "agent_message_chunk" | "agent_thought_chunk" => {
                if let Ok(update) = wire::decode::<SessionUpdate>(update) {
                    self.on_typed_update(&id, &update);
                }
            }
            "current_mode_update" | "usage_update" | "notice" | "compaction_update" => {
                if let Some(update) = self.decode::<SessionUpdate>(update) {
                    self.on_typed_update(&id, &update);
                }
            }
            _ => {}
        }
    }

    fn on_typed_update(&mut self, id: &str, update: &SessionUpdate) {
        let mut attributes = Attributes::default();
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => self.on_chunk(id, false, chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => self.on_chunk(id, true, chunk),
            SessionUpdate::CurrentModeUpdate(mode) => {
                attributes.set(keys::ACP_SESSION_MODE_ID, clip(mode.current_mode_id.as_str()));
                self.turn_event(id, event::MODE, attributes);
            }
            SessionUpdate::UsageUpdate(usage) => self.on_usage(id, usage),
            SessionUpdate::Notice(notice) => {
                attributes.set(keys::ACP_NOTICE_SEVERITY, clip(notice.severity.as_str()));
                self.turn_event(id, event::NOTICE, attributes);
            }
            SessionUpdate::CompactionUpdate(compaction) => {
                attributes.set(keys::ACP_COMPACTION_STATUS, clip(compaction.status.as_str()));
                self.turn_event(id, event::COMPACTION, attributes);
                if self.policy.profile.compaction_part
                    && compaction.status == CompactionStatus::Completed
                    && let Some(turn) = self.sessions.get_mut(id).and_then(|session| session.turn())
                {
                    turn.is_compacted = true;
                    if let Some(output) = &mut turn.output {
                        output.push_compaction(compaction.compaction_id.as_str());
                    }
                }
            }
            _ => {}
        }
    }

    fn on_chunk(&mut self, id: &str, reasoning: bool, chunk: &ContentChunk) {
        let turn = self.sessions.get_mut(id).and_then(|session| session.turn());
        if let Some(output) = turn.and_then(|turn| turn.output.as_mut()) {
            let message_id = chunk.message_id.as_ref().map(|id| id.as_str());
            output.push_chunk(reasoning, message_id, &chunk.content);
        }
    }

    fn on_usage(&mut self, id: &str, usage: &UsageUpdate) {
        let Some(session) = self.sessions.get_or_insert(id) else { return };
        let cost = usage.cost.as_ref().map(|cost| Money::from(&**cost));
        let before = cost.clone().and_then(|cost| session.cost.replace(cost));
        if let Some(turn) = session.turn() {
            turn.on_usage(usage);
        }
        for (metric, tokens) in [
            (&metric::ACP_SESSION_CONTEXT_USED, usage.used),
            (&metric::ACP_SESSION_CONTEXT_SIZE, usage.size),
        ] {
            self.spans.measure(metric, count(tokens), self.peers.metric_attributes());
        }
        let Some((cost, before)) = cost.zip(before) else { return };
        if let Some(added) = cost.since(&before).filter(|added| *added > 0.0) {
            let mut attributes = self.peers.metric_attributes();
            attributes.set_some(keys::ACP_COST_CURRENCY, cost.currency());
            self.spans.measure(&metric::ACP_SESSION_COST, added, attributes);
        }
    }

    /// Handles a state of version 2.
    fn on_state(&mut self, id: &str, update: &str) {
        let Some(state) = member(update, "state") else { return };
        let is_working = state != "idle";
        let Some(session) = self.sessions.get_or_insert(id) else {
            self.spans.dropped_spans += u64::from(is_working);
            return;
        };
        session.is_working = is_working;
        if is_working {
            return self.start_unprompted(id);
        }
        let answer = Answer::of_idle(update);
        if let Some(turn) = session.turn() {
            turn.values.read_answer(&self.active, update);
        }
        self.sessions.on_idle(&self.policy, &mut self.spans, id, &answer);
    }

    /// Starts a turn of a session that works without a prompt.
    pub(super) fn start_unprompted(&mut self, id: &str) {
        let policy = &self.policy;
        let peers = &self.peers;
        let now = self.spans.now();
        let Some(session) = self.sessions.get_mut(id) else { return };
        let is_due = session.is_working && session.turns.is_empty() && !session.is_subagent;
        if !is_due || session.is_replaying() {
            return;
        }
        let model = session.model.as_deref();
        let (name, attributes) = prompt_turn::start_unprompted(policy, peers, id, model);
        let mut start = self.spans.next(Parent::Root, SpanKind::Client, name, attributes);
        start.links = session.take_links();
        let Some(span) = self.spans.start(start) else { return };
        let kind = TurnKind::Unprompted;
        let cost = session.cost.clone();
        let mut turn = Turn::new(policy, peers, kind, span, now, cost, session.model.as_deref());
        let (_, in_event) = policy.places(Gate::WithContent);
        turn.reasoning_level = session.reasoning_level.clone().filter(|_| in_event);
        session.turns.push(turn);
    }

    /// Handles an update of a session that another session owns.
    fn on_subagent(&mut self, owner: &str, update: &str) {
        let report = subagent::SubagentReport::new(update);
        let Some(id) = report.session() else {
            self.counters.undecodable += 1;
            return;
        };
        let turn = self.sessions.get(owner).and_then(|owner| owner.turns.first());
        let turn = turn.map(|turn| turn.span);
        let Some(session) = self.sessions.get_or_insert(&id) else {
            self.spans.dropped_spans += 1;
            return;
        };
        let is_new = !core::mem::replace(&mut session.is_subagent, true);
        let is_idle = session.turns.is_empty();
        match report.state() {
            SubagentState::Idle => {
                let answer = report.state.map(Answer::of_idle).unwrap_or_default();
                self.sessions.on_idle(&self.policy, &mut self.spans, &id, &answer);
            }
            SubagentState::Busy if is_idle => self.start_subagent(&report, owner, turn, &id),
            SubagentState::Unspecified if is_idle && is_new => {
                self.start_subagent(&report, owner, turn, &id);
            }
            SubagentState::Busy | SubagentState::Unspecified | SubagentState::Unknown => {}
        }
    }

    fn start_subagent(
        &mut self,
        report: &subagent::SubagentReport<'_>,
        owner: &str,
        turn: Option<SpanHandle>,
        id: &str,
    ) {
        let policy = &self.policy;
        let now = self.spans.now();
        let Some(session) = self.sessions.get_mut(id) else { return };
        let (name, mut attributes, details) = report.start(policy, &self.peers, owner, id);
        attributes.extend(details.span);
        session.continue_from(session.last_turn, link::SUBAGENT);
        let parent = turn.map_or(Parent::Root, Parent::Span);
        let mut start = self.spans.next(parent, SpanKind::Internal, name, attributes);
        start.links = session.take_links();
        let Some(span) = self.spans.start(start) else { return };
        self.spans.details(span, event::DETAILS, details.event);
        let kind = TurnKind::Subagent;
        let cost = session.cost.clone();
        session.turns.push(Turn::new(policy, &self.peers, kind, span, now, cost, None));
        if let Some(turn) = turn {
            self.sessions.add_subagent(turn, id, span);
        }
    }

    fn on_tool_call_update(&mut self, id: &str, update: &str, members: &Members<'_>) {
        match self.report(update, members) {
            Some(report) => {
                self.on_tool_call(id, &report);
            }
            None => self.counters.undecodable += 1,
        }
    }

    /// Decodes a message about a tool call. Content is decoded only if it is recorded; otherwise it
    /// has no influence on whether the call is recorded.
    pub(super) fn report<'a>(
        &self,
        json: &'a str,
        members: &Members<'a>,
    ) -> Option<ToolReport<'a>> {
        let whole = self.interest.tool_calls.then(|| serde_json::from_str(json).ok()).flatten();
        let report: ToolReport<'a> = whole.or_else(|| ToolReport::of_members(members))?;
        Some(report.extract(&self.active))
    }

    /// Handles an update of a tool call. Returns its span if it is open afterwards.
    pub(super) fn on_tool_call(&mut self, id: &str, report: &ToolReport<'_>) -> Option<SpanHandle> {
        let policy = &self.policy;
        let spans = &mut self.spans;
        let Some(session) = self.sessions.get_or_insert(id) else {
            spans.dropped_spans += 1;
            return None;
        };
        let key = cut(&report.id, MAX_NAME_BYTES);
        if session.has_ended(key, report) {
            return None;
        }
        if !session.tools.contains_key(key) {
            let turn = session.turns.first();
            let parent = turn.map_or(Parent::Root, |turn| Parent::Span(turn.span));
            let turn = turn.map(|turn| turn.span);
            let (started, attributes) = report.start(policy, &self.peers, id);
            let name = started.span_name();
            let start = spans.next(parent, SpanKind::Internal, name, attributes);
            let Some(span) = spans.start(start) else {
                session.forget_tool(key.into());
                return None;
            };
            if let Some(output) = session.turn().and_then(|turn| turn.output.as_mut()) {
                output.push_tool_call(&report.id, started.tool_name());
            }
            session.tools.insert(key.into(), OpenToolCall::new(policy, span, turn, started));
        }
        let tool = session.tools.get_mut(key)?;
        tool.update(policy, report);
        let span = tool.span;
        let Some(how) = report.end() else { return Some(span) };
        session.end_tool(policy, spans, key, how);
        None
    }

    fn turn_event(&mut self, id: &str, name: &'static str, attributes: Attributes) {
        if let Some(turn) = self.sessions.get_mut(id).and_then(|session| session.turn()) {
            self.spans.event(turn.span, name, attributes);
        }
    }
}
