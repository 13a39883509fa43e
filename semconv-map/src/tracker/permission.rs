//! Permission requests.
use super::response_effect::{OpenPermission, ResponseEffect};
use super::{OpenRequest, Tracker};
use crate::acp::lifecycle::{self, RequestCall};
use crate::acp::members::Members;
use crate::acp::permission::Options;
use crate::attribute::Attributes;
use crate::keys::event;
use crate::span::Parent;
use acp_types::v1::tool_calls::RequestPermissionResponse;
use alloc::boxed::Box;
use jsonrpc_core::{MemberReader, find_member};

impl Tracker {
    pub(super) fn start_permission(&mut self, call: RequestCall<'_>, params: &str) -> OpenRequest {
        let question = Question::of(params);
        let tool = match (call.session, question.tool_call) {
            (Some(session), Some(tool_call)) => {
                let members = Members::of_tool_call(tool_call);
                match self.report(tool_call, &members) {
                    Some(report) => self.on_tool_call(session, &report),
                    None => {
                        self.counters.undecodable += 1;
                        None
                    }
                }
            }
            _ => None,
        };
        let parent = tool.map_or_else(|| self.agent_parent(call.session), Parent::Span);
        let options = Options::read(question.options.unwrap_or_default());
        self.counters.undecodable += u64::from(options.is_none());
        let attributes = Attributes::of_span();
        let (name, attributes) = lifecycle::start(&self.policy, &self.peers, call, attributes);
        let kind = lifecycle::span_kind(call.direction);
        let start = self.spans.next(parent, kind, name, attributes);
        let span = self.spans.start(start);
        let permission =
            OpenPermission { options: options.unwrap_or_default(), asked: self.spans.now(), tool };
        OpenRequest {
            span,
            effect: ResponseEffect::Permission(Box::new(permission)),
            is_tool: false,
        }
    }

    pub(super) fn on_permission(
        &mut self,
        result: &str,
        permission: &OpenPermission,
        attributes: &mut Attributes,
    ) {
        let Some(response) = self.decode::<RequestPermissionResponse>(result) else { return };
        let waited = self.spans.now().saturating_sub(permission.asked);
        *attributes = permission.options.answered(&response.outcome, waited);
        if let Some(tool) = permission.tool {
            self.spans.event(tool, event::PERMISSION, attributes.clone());
        }
    }
}

/// Recorded members of a permission request, as JSON text.
#[derive(Default)]
struct Question<'a> {
    options: Option<&'a str>,
    /// In version 2, the tool call is part of the request's subject.
    tool_call: Option<&'a str>,
}

impl<'a> Question<'a> {
    fn of(params: &'a str) -> Self {
        let mut found = Self::default();
        let mut subject = None;
        let Ok(mut members) = MemberReader::new(params.as_bytes()) else { return found };
        while let Ok(Some(name)) = members.next_name() {
            let member = match &*name {
                b"options" => &mut found.options,
                b"toolCall" => &mut found.tool_call,
                b"subject" => &mut subject,
                _ => continue,
            };
            if member.is_none() {
                *member = members.value().ok();
            }
        }
        let of_subject = || find_member(subject?, &["toolCall"]);
        found.tool_call = found.tool_call.or_else(of_subject);
        found
    }
}
