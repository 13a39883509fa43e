//! The members of a message that are recorded, found in one pass and no further than to the last of them.
use alloc::borrow::Cow;
use jsonrpc_core::{Head, JsonStr, Kind, MemberReader, Payload, Peeked, RequestId};

/// The members of the params of a message, and of its `update`, as JSON text. Of members that come twice the first counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Members<'a> {
    pub(crate) session: Option<&'a str>,
    /// `_meta`.
    pub(crate) meta: Option<&'a str>,
    /// `update`; `None` where only the members named below are recorded of it.
    pub(crate) update: Option<&'a [u8]>,
    pub(crate) session_update: Option<&'a str>,
    pub(crate) tool_call_id: Option<&'a str>,
    pub(crate) status: Option<&'a str>,
    pub(crate) kind: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) update_meta: Option<&'a str>,
}

impl<'a> Members<'a> {
    /// The session and `_meta` of params.
    #[inline]
    pub(super) fn of_params(params: &'a str) -> Self {
        let mut found = Self::default();
        let Ok(mut members) = MemberReader::new(params.as_bytes()) else { return found };
        while let Ok(Some(name)) = members.next_name() {
            let member = match &*name {
                b"sessionId" => &mut found.session,
                b"_meta" => &mut found.meta,
                _ => continue,
            };
            if member.is_none() {
                *member = members.value().ok();
            }
        }
        found
    }

    /// The members of a tool call.
    pub(super) fn of_tool_call(call: &'a str) -> Self {
        let mut found = Self::default();
        if let Ok(mut members) = MemberReader::new(call.as_bytes()) {
            while let Some(Some(())) = found.read_member(&mut members) {}
        }
        found
    }

    /// Whether they are of a text of the agent.
    pub(super) fn are_of_text(&self) -> bool {
        self.session_update.is_some_and(|kind| TEXTS.contains(&kind))
    }

    /// Whether text that changed nothing before the update changes nothing after it: no turn begins with it, and none ends.
    pub(super) fn keep_quiet(&self) -> bool {
        self.session_update.is_some_and(|kind| WITHIN_TURNS.contains(&kind))
    }

    /// Whether nothing is recorded of the update but what they name.
    fn are_all(&self, interest: Interest) -> bool {
        let is_of_tool_call = self.session_update.is_some_and(|kind| TOOL_CALLS.contains(&kind));
        self.are_of_text() && !interest.texts || is_of_tool_call && !interest.tool_calls
    }

    /// Whether nothing else is recorded of a message of whose update they are all.
    fn are_complete(&self) -> bool {
        let of_tool_call = [self.tool_call_id, self.status, self.kind, self.name, self.update_meta];
        self.session.is_some() && (of_tool_call.iter().all(Option::is_some) || self.are_of_text())
    }

    /// Reads the next member of an update, or of a tool call; `Some(None)` at its end.
    #[inline]
    fn read_member(&mut self, members: &mut MemberReader<'a>) -> Option<Option<()>> {
        let Some(name) = members.next_name().ok()? else { return Some(None) };
        let member = match &*name {
            b"sessionUpdate" => &mut self.session_update,
            b"toolCallId" => &mut self.tool_call_id,
            b"status" => &mut self.status,
            b"kind" => &mut self.kind,
            b"name" => &mut self.name,
            b"_meta" => &mut self.update_meta,
            _ => return Some(Some(())),
        };
        if member.is_none() {
            *member = Some(members.value().ok()?);
        }
        Some(Some(()))
    }

    /// Reads an update that was entered and is in `json`, as far as something of it is recorded.
    fn read_update(
        &mut self,
        members: &mut MemberReader<'a>,
        json: &'a [u8],
        interest: Interest,
    ) -> Option<()> {
        let start = members.position() - 1;
        while self.read_member(members)?.is_some() {
            if self.are_all(interest) && self.are_complete() {
                return Some(());
            }
        }
        if !self.are_all(interest) {
            self.update = json.get(start..members.position());
        }
        Some(())
    }
}

/// The kinds of updates that are text of the agent, as JSON text.
const TEXTS: [&str; 2] = [r#""agent_message_chunk""#, r#""agent_thought_chunk""#];

/// The kinds of updates that tell of a tool call.
const TOOL_CALLS: [&str; 2] = [r#""tool_call""#, r#""tool_call_update""#];

/// The most frequent kinds of updates that neither begin nor end a turn.
const WITHIN_TURNS: [&str; 4] =
    [r#""tool_call""#, r#""tool_call_update""#, r#""plan""#, r#""usage_update""#];

/// Of which updates more is recorded than the members that [`Members`] names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interest {
    pub(super) texts: bool,
    pub(super) tool_calls: bool,
}

/// A `session/update` that was read as far as something of it is recorded.
///
/// Most lines are of these, and the longest: what stands behind the last member that makes a difference is not looked at,
/// and nothing else is checked.
#[derive(Debug)]
pub(super) struct Update<'a> {
    pub(super) members: Members<'a>,
    /// How many bytes of the line were looked at.
    pub(super) read: usize,
}

const SESSION_UPDATE: &str = r#""session/update""#;

impl<'a> Update<'a> {
    /// `None` for any other message, for one whose method stands behind its params or with escapes, for one that lacks
    /// something, and for one that breaks off before all is known. One with an id that stands before its params is a request.
    pub(super) fn read(line: &'a [u8], interest: Interest) -> Option<Self> {
        let mut head = Head::read(line)?;
        let is_update = head.payload == Payload::Params && head.method == Some(SESSION_UPDATE);
        if !is_update || head.id.is_some() || !head.members.enter() {
            return None;
        }
        Self::of_params(&mut head.members, line, interest)
    }

    /// The same of a message that was looked at before.
    pub(super) fn of(message: &Peeked<'a>, interest: Interest) -> Option<Self> {
        let is_update = message.method().is_some_and(|method| method == "session/update");
        if message.kind() != Kind::Notification || !is_update {
            return None;
        }
        let params = message.params()?;
        let mut members = MemberReader::new(params.as_bytes()).ok()?;
        let mut update = Self::of_params(&mut members, params.as_bytes(), interest)?;
        update.read += params.as_ptr().addr() - message.line().as_ptr().addr();
        Some(update)
    }

    /// Reads params that were entered and are in `json`.
    fn of_params(
        params: &mut MemberReader<'a>,
        json: &'a [u8],
        interest: Interest,
    ) -> Option<Self> {
        let mut members = Members::default();
        while let Some(name) = params.next_name().ok()? {
            match &*name {
                b"sessionId" if members.session.is_none() => {
                    members.session = Some(params.value().ok()?);
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

/// The id of a response that is a result, read no further than to where an object begins there; `None` for any other
/// message.
pub(super) fn answered(line: &[u8]) -> Option<RequestId> {
    let mut head = Head::read(line)?;
    let is_object = head.payload == Payload::Result && head.members.enter();
    head.id.filter(|_| is_object && head.method.is_none()).and_then(request_id)
}

/// An id as most programs write it.
fn request_id(id: &str) -> Option<RequestId> {
    match id.as_bytes() {
        [b'0'] | [b'1'..=b'9', ..] => id.parse::<i64>().ok().map(RequestId::from),
        _ => JsonStr::new(id)?.as_plain().map(RequestId::from),
    }
}

/// A member that is a string.
#[inline]
pub(crate) fn string(member: &str) -> Option<Cow<'_, str>> {
    JsonStr::new(member)?.decode()
}
