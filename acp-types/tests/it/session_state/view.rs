//! A session as updates of version 2 that create it, from its public contents without terminals.
use acp_types::session_state::{
    Entry, Message, MessageKind, ProducedContent, SessionState, ToolCallState,
};
use acp_types::v2::agent_plan::{PlanUpdate, PlanUpdateContent};
use acp_types::v2::prompt_lifecycle::{
    AgentMessage, AgentThought, MessageId, SessionUpdate, UserMessage,
};
use acp_types::v2::prompt_suggestions::PromptSuggestionsUpdate;
use acp_types::v2::tool_calls::{ToolCallContent, ToolCallUpdate};
use jsonrpc_core::wire::Presence;

pub(crate) struct View {
    pub(crate) updates: Vec<SessionUpdate>,
}

pub(crate) trait SessionView {
    /// Returns the session as an agent of version 2 would send it.
    fn view_v2(&self) -> View;
}

impl SessionView for SessionState {
    fn view_v2(&self) -> View {
        let mut updates = Vec::new();
        for (number, entry) in self.entries() {
            updates.extend(match entry {
                Entry::Message(message) => Some(said(number, message)),
                Entry::ToolCall(id) => self
                    .tool_call(id.as_str())
                    .map(|call| SessionUpdate::ToolCallUpdate(Box::new(called(call)))),
                Entry::Compaction(id) => self
                    .compaction(id.as_str())
                    .map(|it| SessionUpdate::CompactionUpdate(Box::new(it.clone()))),
                Entry::SessionMessage(message) => {
                    Some(SessionUpdate::SessionMessage(Box::new(message.clone())))
                }
                _ => None,
            });
        }
        for (id, plan) in self.plans() {
            let mut plan = plan.clone();
            if let (None, PlanUpdateContent::Items(items)) = (id, &mut plan) {
                items.plan_id = "plan".into();
            }
            updates.push(SessionUpdate::PlanUpdate(Box::new(PlanUpdate::new(plan))));
        }
        let subagents = self.subagents().cloned().map(Box::new);
        updates.extend(subagents.map(SessionUpdate::SubagentUpdate));
        let cursors = self.cursors().cloned().map(Box::new);
        updates.extend(cursors.map(SessionUpdate::CursorUpdate));
        let suggestions = PromptSuggestionsUpdate::new(self.suggestions().to_vec());
        updates.push(SessionUpdate::PromptSuggestionsUpdate(suggestions));
        updates.push(SessionUpdate::SessionInfoUpdate(Box::new(self.info().clone())));
        updates.extend(self.usage().cloned().map(SessionUpdate::UsageUpdate));
        updates.extend(self.state().cloned().map(SessionUpdate::StateUpdate));
        View { updates }
    }
}

fn said(number: u64, message: &Message) -> SessionUpdate {
    let id = message.message_id.clone();
    let id = id.unwrap_or_else(|| MessageId::from(format!("message-{number}")));
    let content = Presence::Value(message.content.clone());
    let meta = message.meta.clone().map_or(Presence::Absent, Presence::Value);
    match message.kind {
        MessageKind::User => {
            let mut update = UserMessage::new(id);
            update.content = content;
            update.meta = meta;
            SessionUpdate::UserMessage(Box::new(update))
        }
        MessageKind::Agent => {
            let mut update = AgentMessage::new(id);
            update.content = content;
            update.meta = meta;
            SessionUpdate::AgentMessage(Box::new(update))
        }
        _ => {
            let mut update = AgentThought::new(id);
            update.content = content;
            update.meta = meta;
            SessionUpdate::AgentThought(Box::new(update))
        }
    }
}

fn called(call: &ToolCallState) -> ToolCallUpdate {
    let mut update = call.update.clone();
    let content: Vec<_> = call
        .content
        .iter()
        .map(|produced| match produced {
            ProducedContent::Content(content) => content.clone(),
            ProducedContent::Texts(diff) => ToolCallContent::Diff(Box::new(diff.clone().into())),
            other => panic!("{other:?}"),
        })
        .collect();
    update.content = Presence::Absent;
    if !content.is_empty() {
        update.content = Presence::Value(content);
    }
    update
}
