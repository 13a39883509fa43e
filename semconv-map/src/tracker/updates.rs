//! What the agent reports of a session.
use super::{Tracker, member};
use crate::acp::prompt_turn::{Answer, Money, count};
use crate::acp::tool_call::{OpenToolCall, Report};
use crate::attribute::{Attributes, clip};
use crate::keys::{self, event};
use crate::metric;
use crate::span::{Parent, SpanHandle, SpanKind};
use acp_types::v1::agent_plan::{PlanEntry, PlanEntryStatus, PlanUpdateContent};
use acp_types::v1::compaction::CompactionStatus;
use acp_types::v1::prompt_turn::{ContentChunk, SessionUpdate, UsageUpdate};
use jsonrpc_core::JsonStr;

/// What is looked at of each update: its session, itself and its kind.
pub(super) const MEMBERS: [&[&str]; 3] =
    [&["sessionId"], &["update"], &["update", SessionUpdate::TAG]];

impl Tracker {
    /// Takes in a `session/update`, of which [`MEMBERS`] are there. Text is only looked past, unless content is recorded.
    pub(super) fn on_update(&mut self, [id, update, kind]: [Option<&str>; 3]) {
        let string = |text| JsonStr::new(text)?.decode();
        let (Some(id), Some(update), Some(kind)) =
            (id.and_then(string), update, kind.and_then(string))
        else {
            self.counters.undecodable += 1;
            return;
        };
        let now = self.now;
        let is_text = matches!(&*kind, "agent_message_chunk" | "agent_thought_chunk");
        let is_work = is_text
            || matches!(
                &*kind,
                "tool_call"
                    | "tool_call_update"
                    | "tool_call_content_chunk"
                    | "plan"
                    | "plan_update"
                    | "agent_message"
                    | "agent_thought"
            );
        if let Some(session) = self.sessions.get_mut(&id) {
            if session.is_replaying() {
                if is_work || kind == "user_message_chunk" {
                    session.replayed = session.replayed.saturating_add(1);
                    return;
                }
            } else if let Some(turn) = session.turn().filter(|_| is_work) {
                turn.on_work(now);
            }
        }
        match &*kind {
            "agent_message_chunk" | "agent_thought_chunk" if !self.policy.record_content => {}
            "tool_call" | "tool_call_update" => {
                self.on_tool_call(&id, update);
            }
            "config_option_update" => {
                if let Some(session) = self.sessions.get_or_insert(&id) {
                    session.on_options(update);
                }
                self.turn_event(&id, event::CONFIG_OPTIONS, Attributes::default());
            }
            "state_update" => self.on_state(&id, update),
            "agent_message_chunk"
            | "agent_thought_chunk"
            | "plan"
            | "plan_update"
            | "plan_removed"
            | "current_mode_update"
            | "usage_update"
            | "notice"
            | "compaction_update" => {
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
            SessionUpdate::Plan(plan) => {
                set_plan(&plan.entries, &mut attributes);
                self.turn_event(id, event::PLAN, attributes);
            }
            SessionUpdate::PlanUpdate(update) => {
                if let PlanUpdateContent::Items(items) = &update.plan {
                    set_plan(&items.entries, &mut attributes);
                }
                self.turn_event(id, event::PLAN, attributes);
            }
            SessionUpdate::PlanRemoved(_) => {
                set_plan(&[], &mut attributes);
                self.turn_event(id, event::PLAN, attributes);
            }
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
                    && let Some(output) = &mut turn.output
                {
                    output.push_compaction(compaction.compaction_id.as_str());
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
            self.spans.measure(self.now, metric, count(tokens), self.peers.metric_attributes());
        }
        let Some((cost, before)) = cost.zip(before) else { return };
        if let Some(added) = cost.since(&before).filter(|added| *added > 0.0) {
            let mut attributes = self.peers.metric_attributes();
            attributes.set_some(keys::ACP_COST_CURRENCY, cost.currency());
            self.spans.measure(self.now, &metric::ACP_SESSION_COST, added, attributes);
        }
    }

    /// Takes in how a session of version 2 stands.
    fn on_state(&mut self, id: &str, update: &str) {
        if self.peers.is_v2()
            && member(update, "state").is_some_and(|state| state == "idle")
            && let Some(session) = self.sessions.get_mut(id)
        {
            let answer = Answer::of_idle(update);
            session.on_idle(&self.policy, &mut self.spans, self.now, &answer);
        }
    }

    /// Takes in what is new about a tool call, and gives its span if that is open then.
    pub(super) fn on_tool_call(&mut self, id: &str, report: &str) -> Option<SpanHandle> {
        let Ok(report) = serde_json::from_str::<Report<'_>>(report) else {
            self.counters.undecodable += 1;
            return None;
        };
        let (policy, spans, now) = (&self.policy, &mut self.spans, self.now);
        let Some(session) = self.sessions.get_or_insert(id) else {
            spans.dropped_spans += 1;
            return None;
        };
        let key = clip(&report.id);
        if session.has_ended(&key, report.announces()) {
            return None;
        }
        if !session.tools.contains_key(&key) {
            let turn = session.turns.first();
            let parent = turn.map_or(Parent::Root, |turn| Parent::Span(turn.span));
            let turn = turn.map(|turn| turn.id.clone());
            let (started, attributes) = report.start(policy, &self.peers, id);
            let name = started.span_name();
            let Some(span) = spans.start(now, parent, SpanKind::Internal, name, attributes, None)
            else {
                session.forget_tool(key);
                return None;
            };
            if let Some(output) = session.turn().and_then(|turn| turn.output.as_mut()) {
                output.push_tool_call(&report.id, started.tool_name());
            }
            session.tools.insert(key.clone(), OpenToolCall::new(policy, span, turn, started));
        }
        let tool = session.tools.get_mut(&key)?;
        tool.update(&report);
        let span = tool.span;
        let Some(how) = report.end() else { return Some(span) };
        session.end_tool(policy, spans, now, &key, how);
        None
    }

    fn turn_event(&mut self, id: &str, name: &'static str, attributes: Attributes) {
        if let Some(turn) = self.sessions.get_mut(id).and_then(|session| session.turn()) {
            self.spans.event(self.now, turn.span, name, attributes);
        }
    }
}

fn set_plan(entries: &[PlanEntry], attributes: &mut Attributes) {
    let is_completed = |entry: &&PlanEntry| entry.status == PlanEntryStatus::Completed;
    let completed = entries.iter().filter(is_completed).count();
    for (key, count) in
        [(keys::ACP_PLAN_ENTRIES, entries.len()), (keys::ACP_PLAN_COMPLETED, completed)]
    {
        attributes.set(key, i64::try_from(count).unwrap_or(i64::MAX));
    }
}
