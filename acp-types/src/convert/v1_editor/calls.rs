//! Tool calls and requests for permission.
//!
//! Spec: [Tool Calls](https://agentclientprotocol.com/protocol/v1/tool-calls),
//! [in version 2](https://agentclientprotocol.com/protocol/v2/tool-calls)
use super::send;
use super::terminals::Terminals;
use crate::convert::call_ids::{CallIds, Mention, MentionKind};
use crate::convert::content::produced_to_v1;
use crate::convert::outbox::Outbox;
use crate::convert::recent::Recent;
use crate::convert::{BridgeLoss, MAX_CONTENT_BYTES, MAX_TOOL_CALLS, members};
use crate::v1::prompt_turn::SessionUpdate;
use crate::v1::session_setup::SessionId;
use crate::v1::tool_calls::{
    Content, PermissionOption, PermissionOptionKind, RequestPermissionRequest, ToolCall,
    ToolCallContent as ContentV1, ToolCallStatus, ToolCallUpdate as Change, ToolKind,
};
use crate::v2::permissions::{
    RequestPermissionRequest as PermissionRequestV2, RequestPermissionSubject,
};
use crate::v2::tool_calls::{
    ToolCallContent, ToolCallContentChunk, ToolCallStatus as Status, ToolCallUpdate,
};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::RequestId;
use jsonrpc_core::wire::{Extra, Meta, Presence, Raw};

/// The announced tool calls of a session, and the terminals that they show.
#[derive(Debug)]
pub(super) struct Calls {
    pub(super) ids: CallIds,
    calls: Recent<Call>,
    pub(super) terminals: Terminals,
}

/// An announced tool call.
#[derive(Debug, Default)]
struct Call {
    /// The content, which version 1 replaces as a whole.
    content: Vec<(ToolCallContent, usize)>,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            ids: CallIds::default(),
            calls: Recent::new(MAX_TOOL_CALLS),
            terminals: Terminals::default(),
        }
    }
}

impl Calls {
    /// Replaces or extends the content of a call within the limit, and returns whether the call is
    /// new.
    fn change(
        &mut self,
        id: &str,
        replaces: bool,
        content: impl IntoIterator<Item = ToolCallContent>,
        out: &mut Outbox,
    ) -> bool {
        let is_new = self.calls.get(id).is_none();
        let call = self.calls.entry(id, |_| true, Call::default);
        if replaces {
            call.content.clear();
        }
        let sized = content.into_iter().map(|content| {
            let size = Raw::of(&content).as_str().len();
            (content, size)
        });
        call.content.extend(sized);
        while call.content.len() > 1 && call.size() > MAX_CONTENT_BYTES {
            call.content.remove(0);
            out.lose_of(BridgeLoss::Content, id, "MAX_CONTENT_BYTES");
        }
        while self.calls.values().map(Call::size).sum::<usize>() > MAX_CONTENT_BYTES
            && self.calls.forget_oldest(id)
        {}
        is_new
    }

    fn content(&self, id: &str, out: &mut Outbox) -> Vec<ContentV1> {
        let Some(call) = self.calls.get(id) else { return Vec::new() };
        let each = call.content.iter();
        each.flat_map(|(content, _)| produced_to_v1(id, content, |id| self.terminals.text(id), out))
            .collect()
    }

    /// Returns the calls that show a terminal.
    fn with_terminal(&self, terminal: &str) -> Vec<String> {
        let shows = |content: &ToolCallContent| matches!(content, ToolCallContent::Terminal(it) if it.terminal_id.as_str() == terminal);
        let calls = self.calls.iter();
        let calls = calls.filter(|(_, call)| call.content.iter().any(|(it, _)| shows(it)));
        calls.map(|(id, _)| id.to_string()).collect()
    }
}

impl Call {
    fn size(&self) -> usize {
        self.content.iter().map(|(_, size)| size).sum()
    }
}

impl Calls {
    pub(super) fn tool_call(
        &mut self,
        id: &SessionId,
        mut update: ToolCallUpdate,
        meta: Option<&Meta>,
        out: &mut Outbox,
    ) {
        // A cleared title or kind becomes an initial one.
        let describes = !update.title.is_absent()
            || !update.kind.is_absent()
            || update.name.value().is_some()
            || update.raw_input.value().is_some();
        let mention = Mention { kind: MentionKind::Update { describes }, ends: ends(&update) };
        update.tool_call_id = self.ids.mention(&update.tool_call_id, mention);
        let (change, is_new) = self.change_call(&mut update, out);
        let update = match is_new {
            true => SessionUpdate::ToolCall(Box::new(announcement(change, out))),
            false => SessionUpdate::ToolCallUpdate(Box::new(change)),
        };
        send(id, update, meta, out);
    }

    pub(super) fn content_chunk(
        &mut self,
        id: &SessionId,
        chunk: ToolCallContentChunk,
        meta: Option<&Meta>,
        out: &mut Outbox,
    ) {
        let update = MentionKind::Update { describes: false };
        let call = self.ids.mention(&chunk.tool_call_id, Mention { kind: update, ends: None });
        let is_new = self.change(call.as_str(), false, [chunk.content], out);
        let mut change = Change::new(call.clone());
        change.content = self.content(call.as_str(), out).into();
        change.meta = chunk.meta;
        let update = match is_new {
            true => SessionUpdate::ToolCall(Box::new(announcement(change, out))),
            false => SessionUpdate::ToolCallUpdate(Box::new(change)),
        };
        send(id, update, meta, out);
    }

    /// Sends the text of a terminal to the calls that show it.
    pub(super) fn terminal_changed(&self, id: &SessionId, terminal: &str, out: &mut Outbox) {
        let calls = self.with_terminal(terminal);
        if calls.is_empty() {
            out.lose(BridgeLoss::Terminal, terminal);
        }
        for call in calls {
            let content = self.content(&call, out);
            let mut change = Change::new(call);
            change.content = content.into();
            send(id, SessionUpdate::ToolCallUpdate(Box::new(change)), None, out);
        }
    }

    /// Converts a change of a tool call, and returns whether the call is new.
    fn change_call(&mut self, update: &mut ToolCallUpdate, out: &mut Outbox) -> (Change, bool) {
        if self.calls.get(update.tool_call_id.as_str()).is_none() {
            remove_nulls(update);
        }
        let id = update.tool_call_id.as_str();
        let mut change = Change::new(update.tool_call_id.clone());
        let is_new = match &update.content {
            Presence::Absent => self.change(id, false, [], out),
            Presence::Null => {
                out.lose_of(BridgeLoss::Cleared, id, "content");
                self.change(id, true, [], out)
            }
            Presence::Value(content) => self.change(id, true, content.iter().cloned(), out),
        };
        if !update.content.is_absent() {
            change.content = self.content(id, out).into();
        }
        change.title = unless_cleared(&update.title, String::new(), (id, "title"), out);
        change.kind = match unless_cleared(&update.kind, ToolKind::Other, (id, "kind"), out) {
            Presence::Value(kind) if !kind.is_known() => {
                out.lose_of(BridgeLoss::ToolStatus, id, kind.as_str());
                ToolKind::Other.into()
            }
            kind => kind,
        };
        change.status = match unless_cleared(&update.status, Status::Pending, (id, "status"), out) {
            Presence::Value(status) => status_to_v1(id, &status, out).into(),
            _ => Presence::Absent,
        };
        change.locations = match &update.locations {
            Presence::Absent => Presence::Absent,
            Presence::Null => {
                out.lose_of(BridgeLoss::Cleared, id, "locations");
                Presence::Value(Vec::new())
            }
            Presence::Value(locations) => {
                Presence::Value(locations.iter().cloned().map(Into::into).collect())
            }
        };
        change.name = kept(&update.name, (id, "name"), out);
        change.raw_input = kept(&update.raw_input, (id, "rawInput"), out);
        change.raw_output = kept(&update.raw_output, (id, "rawOutput"), out);
        change.meta = kept(&update.meta, (id, "_meta"), out).value().cloned();
        if !update.capabilities.is_absent() {
            out.lose(BridgeLoss::Controls, id);
        }
        change.extra = members(&update.extra);
        (change, is_new)
    }

    /// Converts a request for permission. A tool call that is new is announced first.
    pub(super) fn permission(
        &mut self,
        id: &SessionId,
        request: &RequestId,
        mut it: PermissionRequestV2,
        out: &mut Outbox,
    ) -> RequestPermissionRequest {
        let invented = || format!("permission-{request}");
        let kind = MentionKind::Question;
        let call = match it.subject.as_deref_mut() {
            Some(RequestPermissionSubject::ToolCall(subject)) => {
                let call = &mut subject.tool_call;
                let mention = Mention { kind, ends: ends(call) };
                call.tool_call_id = self.ids.mention(&call.tool_call_id, mention);
                let (mut change, is_new) = self.change_call(&mut subject.tool_call, out);
                if let Some(description) = &it.description {
                    let id = change.tool_call_id.as_str();
                    out.lose_of(BridgeLoss::Permission, id, "description");
                    let content = change.content.value().cloned();
                    let content = content.unwrap_or_else(|| self.content(id, out));
                    change.content = described(description, content).into();
                }
                if is_new && change.title.is_absent() {
                    out.lose(BridgeLoss::ToolTitle, change.tool_call_id.as_str());
                    change.title = it.title.clone().into();
                } else {
                    out.lose_of(BridgeLoss::Permission, change.tool_call_id.as_str(), "title");
                }
                if is_new {
                    let mut call = announcement(change.clone(), out);
                    if ends(&subject.tool_call) == Some(true) {
                        // What is to be permitted has not ended.
                        out.lose_of(BridgeLoss::ToolStatus, call.tool_call_id.as_str(), "status");
                        call.status = None;
                    }
                    send(id, SessionUpdate::ToolCall(Box::new(call)), None, out);
                }
                change
            }
            Some(RequestPermissionSubject::Command(subject)) => {
                let call = subject.tool_call_id.as_ref();
                let call = call.map(|id| self.ids.mention(id, Mention { kind, ends: None }));
                let is_known =
                    call.as_ref().is_some_and(|id| self.calls.get(id.as_str()).is_some());
                let mut change = Change::new(call.unwrap_or_else(|| invented().into()));
                out.lose(BridgeLoss::Permission, change.tool_call_id.as_str());
                if !is_known {
                    change.title = it.title.clone().into();
                    change.kind = ToolKind::Execute.into();
                }
                let mut input = Extra::new();
                input.insert("command", Raw::of(&subject.command));
                input.insert("cwd", Raw::of(&subject.cwd));
                change.raw_input = Raw::of(&input).into();
                if let Some(description) = &it.description {
                    let content = self.content(change.tool_call_id.as_str(), out);
                    change.content = described(description, content).into();
                }
                change
            }
            subject @ (None | Some(RequestPermissionSubject::Unknown(_))) => {
                let mut change = Change::new(invented());
                out.lose(BridgeLoss::Permission, change.tool_call_id.as_str());
                change.title = it.title.clone().into();
                if let Some(description) = &it.description {
                    change.content = described(description, Vec::new()).into();
                }
                if let Some(subject) = subject {
                    change.raw_input = Raw::of(subject).into();
                }
                change
            }
        };
        let id = call.tool_call_id.as_str();
        let options = it.options.into_iter().map(|option| known_option(id, option, out));
        let options: Vec<_> = options.collect();
        let mut request_v1 = RequestPermissionRequest::new(it.session_id, call, options);
        request_v1.meta = it.meta;
        request_v1
    }
}

/// Returns whether a message has a status, and whether that is the end of the call. A cleared
/// status becomes the initial one.
fn ends(it: &ToolCallUpdate) -> Option<bool> {
    match &it.status {
        Presence::Absent => None,
        Presence::Null => Some(false),
        Presence::Value(status) => {
            Some(matches!(status, Status::Completed | Status::Failed | Status::Cancelled))
        }
    }
}

/// Returns the description of a request for permission, followed by the content of its call.
fn described(description: &str, content: Vec<ContentV1>) -> Vec<ContentV1> {
    let mut described = Vec::from([ContentV1::Content(Content::new(description))]);
    described.extend(content);
    described
}

/// An option of an unknown kind is no permission.
fn known_option(id: &str, mut option: PermissionOption, out: &mut Outbox) -> PermissionOption {
    if !option.kind.is_known() {
        out.lose_of(BridgeLoss::Permission, id, option.kind.as_str());
        option.kind = PermissionOptionKind::RejectOnce;
    }
    option
}

fn status_to_v1(id: &str, status: &Status, out: &mut Outbox) -> ToolCallStatus {
    match status {
        Status::Pending => ToolCallStatus::Pending,
        Status::InProgress => ToolCallStatus::InProgress,
        Status::Completed => ToolCallStatus::Completed,
        Status::Failed => ToolCallStatus::Failed,
        Status::Cancelled => {
            out.lose_of(BridgeLoss::ToolStatus, id, status.as_str());
            ToolCallStatus::Failed
        }
        Status::Paused | Status::Unknown(_) => {
            out.lose_of(BridgeLoss::ToolStatus, id, status.as_str());
            ToolCallStatus::InProgress
        }
    }
}

/// Removes what the first update of a call clears, since the call has no values yet.
fn remove_nulls(update: &mut ToolCallUpdate) {
    fn remove<T>(member: &mut Presence<T>) {
        if matches!(member, Presence::Null) {
            *member = Presence::Absent;
        }
    }
    remove(&mut update.name);
    remove(&mut update.title);
    remove(&mut update.kind);
    remove(&mut update.status);
    remove(&mut update.content);
    remove(&mut update.locations);
    remove(&mut update.raw_input);
    remove(&mut update.raw_output);
    remove(&mut update.capabilities);
    remove(&mut update.meta);
}

/// Returns a changed value. A cleared one becomes the initial one.
fn unless_cleared<T: Clone>(
    change: &Presence<T>,
    initial: T,
    (id, name): (&str, &str),
    out: &mut Outbox,
) -> Presence<T> {
    match change {
        Presence::Null => {
            out.lose_of(BridgeLoss::Cleared, id, name);
            Presence::Value(initial)
        }
        change => change.clone(),
    }
}

/// Returns a changed value. Version 1 cannot clear one.
fn kept<T: Clone>(change: &Presence<T>, (id, name): (&str, &str), out: &mut Outbox) -> Presence<T> {
    match change {
        Presence::Null => {
            out.lose_of(BridgeLoss::Cleared, id, name);
            Presence::Absent
        }
        change => change.clone(),
    }
}

/// Returns the announcement of a tool call.
fn announcement(change: Change, out: &mut Outbox) -> ToolCall {
    fn set<T>(value: Presence<T>) -> Option<T> {
        match value {
            Presence::Value(value) => Some(value),
            Presence::Absent | Presence::Null => None,
        }
    }
    let name = set(change.name);
    let title = set(change.title).unwrap_or_else(|| {
        out.lose(BridgeLoss::ToolTitle, change.tool_call_id.as_str());
        name.clone().unwrap_or_else(|| change.tool_call_id.as_str().to_string())
    });
    let mut call = ToolCall::new(change.tool_call_id, title);
    call.name = name;
    call.kind = set(change.kind);
    call.status = set(change.status);
    call.content = set(change.content);
    call.locations = set(change.locations);
    call.raw_input = set(change.raw_input);
    call.raw_output = set(change.raw_output);
    call.meta = change.meta;
    call.extra = change.extra;
    call
}
