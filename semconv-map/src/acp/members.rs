//! Recorded members of a message, found in one pass that stops at the last of them.
use crate::json::string;
use alloc::borrow::Cow;
use jsonrpc_core::{Head, JsonStr, Kind, MemberReader, Payload, PeekedMessage, RequestId};

/// `acp.method.name` of tool calls, as opposed to requests that are recorded as tools.
pub(crate) const UPDATE: &str = "session/update";

/// Members of the params of a message and of its `update`, as JSON text. Of duplicate members, the
/// first is used. The UTF-8 of those that every text has is not validated, because most of them are
/// only compared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Members<'a> {
    pub(crate) session: Option<&'a [u8]>,
    /// `_meta`.
    pub(crate) meta: Option<&'a str>,
    /// `update`. `None` if only the members below are recorded.
    pub(crate) update: Option<&'a [u8]>,
    pub(crate) session_update: Option<&'a [u8]>,
    pub(crate) tool_call_id: Option<&'a str>,
    pub(crate) status: Option<&'a str>,
    pub(crate) kind: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    /// `title`, if it precedes the last of the other members.
    pub(crate) title: Option<&'a str>,
    /// `rawOutput`, if it precedes the last of the other members.
    pub(crate) raw_output: Option<&'a str>,
    pub(crate) update_meta: Option<&'a str>,
    /// Whether `rawInput` precedes the last of the other members.
    pub(crate) has_input: bool,
}

impl<'a> Members<'a> {
    /// Reads the session and `_meta` of params.
    #[inline]
    pub(crate) fn of_params(params: &'a str) -> Self {
        let mut found = Self::default();
        let Ok(mut members) = MemberReader::new(params.as_bytes()) else { return found };
        while let Ok(Some(name)) = members.next_name() {
            match &*name {
                b"sessionId" if found.session.is_none() => {
                    found.session = members.value_bytes().ok();
                }
                b"_meta" if found.meta.is_none() => found.meta = members.value().ok(),
                _ => {}
            }
        }
        found
    }

    /// Returns the session, if it is a string.
    pub(crate) fn session(&self) -> Option<Cow<'a, str>> {
        string(core::str::from_utf8(self.session?).ok()?)
    }

    /// Reads the members of a tool call.
    pub(crate) fn of_tool_call(call: &'a str) -> Self {
        let mut found = Self::default();
        if let Ok(mut members) = MemberReader::new(call.as_bytes()) {
            while let Some(Some(())) = found.read_member(&mut members) {}
        }
        found
    }

    /// Returns whether the update is text of the agent.
    pub(crate) fn are_of_text(&self) -> bool {
        self.session_update.is_some_and(|kind| TEXTS.contains(&kind))
    }

    /// Returns whether text that had no effect before the update has no effect after it: the update
    /// neither starts nor ends a turn.
    pub(crate) fn keep_quiet(&self) -> bool {
        self.session_update.is_some_and(|kind| WITHIN_TURNS.contains(&kind))
    }

    /// Returns whether these members are all that is recorded of the update.
    fn are_all(&self, interest: Interest) -> bool {
        let is_of_tool_call = self.session_update.is_some_and(|kind| TOOL_CALLS.contains(&kind));
        self.are_of_text() && !interest.texts || is_of_tool_call && !interest.tool_calls
    }

    /// Returns whether these members of the update are all that is recorded of the message.
    fn are_complete(&self, interest: Interest) -> bool {
        self.session.is_some()
            && (self.have_tool_call() || self.are_of_text())
            && self.are_all(interest)
    }

    fn have_tool_call(&self) -> bool {
        self.tool_call_id.is_some()
            && self.status.is_some()
            && self.kind.is_some()
            && self.name.is_some()
            && self.update_meta.is_some()
    }

    /// Reads the next member of an update or a tool call. Returns `Some(None)` at its end.
    #[inline]
    fn read_member(&mut self, members: &mut MemberReader<'a>) -> Option<Option<()>> {
        let Some(name) = members.next_name().ok()? else { return Some(None) };
        let member = match &*name {
            b"sessionUpdate" => {
                if self.session_update.is_none() {
                    self.session_update = Some(members.value_bytes().ok()?);
                }
                return Some(Some(()));
            }
            b"toolCallId" => &mut self.tool_call_id,
            b"status" => &mut self.status,
            b"kind" => &mut self.kind,
            b"name" => &mut self.name,
            b"title" => &mut self.title,
            b"rawOutput" => &mut self.raw_output,
            b"_meta" => &mut self.update_meta,
            b"rawInput" => {
                self.has_input |= members.value_bytes().ok()? != b"null";
                return Some(Some(()));
            }
            _ => return Some(Some(())),
        };
        if member.is_none() {
            *member = Some(members.value().ok()?);
        }
        Some(Some(()))
    }

    /// Reads an update up to the last recorded member. `json` is inside the update.
    fn read_update(
        &mut self,
        members: &mut MemberReader<'a>,
        json: &'a [u8],
        interest: Interest,
    ) -> Option<()> {
        let start = members.position() - 1;
        while self.read_member(members)?.is_some() {
            if self.are_complete(interest) {
                return Some(());
            }
        }
        if !self.are_all(interest) {
            self.update = json.get(start..members.position());
        }
        Some(())
    }
}

/// Kinds of updates that are text of the agent, as JSON text.
pub(crate) const TEXTS: [&[u8]; 2] = [br#""agent_message_chunk""#, br#""agent_thought_chunk""#];

/// Kinds of updates of tool calls, as JSON text.
const TOOL_CALLS: [&[u8]; 2] = [br#""tool_call""#, br#""tool_call_update""#];

/// The most frequent kinds of updates that neither start nor end a turn.
const WITHIN_TURNS: [&[u8]; 4] =
    [br#""tool_call""#, br#""tool_call_update""#, br#""plan""#, br#""usage_update""#];

/// The updates that are recorded beyond the members of [`Members`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interest {
    pub(crate) texts: bool,
    pub(crate) tool_calls: bool,
}

/// A `session/update`, read up to the last recorded member.
///
/// Most lines, including the longest, are updates. The part after the last relevant member is not
/// read, and nothing else is validated.
#[derive(Debug)]
pub(crate) struct Update<'a> {
    pub(crate) members: Members<'a>,
    /// Number of bytes of the line that were read.
    pub(crate) read: usize,
}

const SESSION_UPDATE: &[u8] = br#""session/update""#;

impl<'a> Update<'a> {
    /// Reads the rest of a line from its head. Returns `None` for other messages, for a method
    /// after the params or with escapes, for missing members, and for a line that is truncated
    /// before all members are known. A message with an id before its params is a request.
    pub(crate) fn read(head: &mut Head<'a>, line: &'a [u8], interest: Interest) -> Option<Self> {
        let is_update = head.payload == Payload::Params && head.method == Some(SESSION_UPDATE);
        if !is_update || head.id.is_some() || !head.members.enter() {
            return None;
        }
        Self::of_params(&mut head.members, line, interest)
    }

    /// Reads the same of a message that was already peeked.
    pub(crate) fn of(message: &PeekedMessage<'a>, interest: Interest) -> Option<Self> {
        let is_update = || message.method().is_some_and(|method| method == "session/update");
        if message.kind() != Kind::Notification || !is_update() {
            return None;
        }
        let params = message.params()?;
        let mut members = MemberReader::new(params.as_bytes()).ok()?;
        let mut update = Self::of_params(&mut members, params.as_bytes(), interest)?;
        update.read += params.as_ptr().addr() - message.line().as_ptr().addr();
        Some(update)
    }

    /// Reads params. `json` is inside the params.
    fn of_params(
        params: &mut MemberReader<'a>,
        json: &'a [u8],
        interest: Interest,
    ) -> Option<Self> {
        let mut members = Members::default();
        while let Some(name) = params.next_name().ok()? {
            match &*name {
                b"sessionId" if members.session.is_none() => {
                    members.session = Some(params.value_bytes().ok()?);
                }
                b"update" if members.session_update.is_none() && params.enter() => {
                    members.read_update(params, json, interest)?;
                }
                _ => continue,
            }
            if members.session.is_some() && members.session_update.is_some() {
                return Some(Self { members, read: params.position() });
            }
        }
        None
    }
}

/// Returns the id of a successful response with an object as result. Returns `None` for other
/// messages.
pub(crate) fn answered(head: &mut Head<'_>) -> Option<RequestId> {
    let is_object = head.payload == Payload::Result && head.members.enter();
    head.id.filter(|_| is_object && head.method.is_none()).and_then(request_id)
}

/// Parses an id in its common notation.
fn request_id(id: &[u8]) -> Option<RequestId> {
    let text = core::str::from_utf8(id).ok()?;
    match id {
        [b'0'] | [b'1'..=b'9', ..] => text.parse::<i64>().ok().map(RequestId::from),
        _ => JsonStr::new(text)?.as_plain().map(RequestId::from),
    }
}
