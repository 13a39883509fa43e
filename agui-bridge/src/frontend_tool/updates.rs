use super::machine::FrontendTools;
use super::{Action, Whose};
use crate::tool_name::Clues;
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
use acp_types::v1::tool_calls::{
    PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    SelectedPermissionOutcome, ToolCallId as AgentId, ToolCallStatus,
};
use alloc::string::ToString;
use core::time::Duration;
use jsonrpc_core::wire::Raw;

/// How many tool calls of the agent's own are watched at most.
const MAX_BUSY: usize = 1024;

impl FrontendTools {
    /// Takes in a `session/update`, and says whose it is: the agent's own go to the translator.
    ///
    /// A tool call is a frontend call where its name, title or `_meta` says that it is of the binding's server, or has the
    /// prefix of contextual tools, and the page offers the tool.
    pub fn handle_update(&mut self, notification: &SessionNotification, now: Duration) -> Whose {
        self.last_activity = now;
        match &notification.update {
            SessionUpdate::ToolCall(call) => {
                let clues = Clues {
                    name: call.name.as_deref(),
                    meta: call.meta.as_ref(),
                    kind: call.kind.as_ref(),
                    title: Some(&call.title),
                };
                let (status, input) = (call.status.as_ref(), call.raw_input.as_ref());
                self.watch(&call.tool_call_id, clues, status, input, true)
            }
            SessionUpdate::ToolCallUpdate(update) => {
                let clues = Clues {
                    name: update.name.value().map(|name| &**name),
                    meta: update.meta.as_ref(),
                    kind: update.kind.value(),
                    title: update.title.value().map(|title| &**title),
                };
                let (status, input) = (update.status.value(), update.raw_input.value());
                self.watch(&update.tool_call_id, clues, status, input, false)
            }
            _ => Whose::Agent,
        }
    }

    /// The answer to a permission request that is about a frontend call: it is allowed, because the page asks its user
    /// itself where that is called for. Nothing for any other, or one that has no option to allow it.
    pub fn handle_permission_request(
        &mut self,
        request: &RequestPermissionRequest,
        now: Duration,
    ) -> Option<RequestPermissionOutcome> {
        let update = SessionUpdate::ToolCallUpdate(request.tool_call.clone().into());
        let notification = SessionNotification::new(request.session_id.clone(), update);
        if self.handle_update(&notification, now) == Whose::Agent {
            return None;
        }
        let kinds = [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways];
        let mut options = kinds
            .iter()
            .filter_map(|kind| request.options.iter().find(|option| option.kind == *kind));
        let option = options.next()?;
        let selected = SelectedPermissionOutcome::new(option.option_id.clone());
        Some(RequestPermissionOutcome::Selected(selected))
    }

    fn watch(
        &mut self,
        id: &AgentId,
        clues: Clues<'_>,
        status: Option<&ToolCallStatus>,
        input: Option<&Raw>,
        announces: bool,
    ) -> Whose {
        let is_over = matches!(status, Some(ToolCallStatus::Completed | ToolCallStatus::Failed));
        let known = self.correlation.knows(id);
        let tool = self.correlation.announced_tool(id).or_else(|| self.tools.of_call(clues));
        let tool = tool.map(ToString::to_string);
        // Another call may have been announced as the agent's own before its name was known.
        let frontend = known || (tool.is_some() && !self.busy.contains_key(id));
        if let (true, Some(tool)) = (frontend, &tool) {
            self.correlation.announce(id, tool, input);
        }
        if !frontend {
            self.watch_own(id, status, is_over, announces);
            return Whose::Agent;
        }
        if let (true, Some(name)) = (is_over, self.correlation.announced_tool(id)) {
            let name = name.to_string();
            let status = status.map_or("", ToolCallStatus::as_str).to_string();
            self.correlation.forget(id);
            self.actions.push_back(Action::NotMade { tool_call_id: id.clone(), name, status });
        }
        Whose::Frontend
    }

    fn watch_own(
        &mut self,
        id: &AgentId,
        status: Option<&ToolCallStatus>,
        is_over: bool,
        announces: bool,
    ) {
        if is_over {
            self.busy.remove(id);
        } else if let Some(runs) = self.busy.get_mut(id) {
            *runs |= status == Some(&ToolCallStatus::InProgress);
        } else if (announces || status.is_some()) && self.busy.len() < MAX_BUSY {
            self.busy.insert(id.clone(), status == Some(&ToolCallStatus::InProgress));
        }
    }
}
