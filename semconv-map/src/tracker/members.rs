//! What is looked at of each message on the one way through it.
use alloc::borrow::Cow;
use jsonrpc_core::{Found, JsonStr, RequestId, Skim};

pub(super) const PATHS: [&[&str]; 3] = [&["sessionId"], &["_meta"], &["update"]];

/// What was found at [`PATHS`].
pub(super) type FoundMembers<'a> = [Found<'a>; PATHS.len()];

/// What is in the params of a message, and in its `update`, as JSON text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Members<'a> {
    pub(crate) session: Option<&'a str>,
    /// `update`; nothing where only the members named below are recorded of it.
    pub(crate) update: Option<&'a [u8]>,
    pub(crate) session_update: Option<&'a str>,
    pub(crate) tool_call_id: Option<&'a str>,
    pub(crate) status: Option<&'a str>,
    pub(crate) kind: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) update_meta: Option<&'a str>,
}

impl<'a> Members<'a> {
    /// What was found at [`PATHS`], without what is in `update`. One that comes twice is none.
    #[inline]
    pub(super) fn new([session, _, update]: FoundMembers<'a>) -> Self {
        let found = |member: Found<'a>| member.ok().flatten();
        let update = found(update).map(str::as_bytes);
        Self { session: found(session), update, ..Self::default() }
    }

    /// The same with what is in `update`.
    pub(super) fn of_update(mut self, interest: Interest) -> Self {
        let update = self.update.unwrap_or_default();
        if let Ok(mut skim) = Skim::new(update) {
            // It was read before, so it has an end.
            let _ = self.read(&mut skim, update, interest);
        }
        self
    }

    /// Whether they say more of a text of the agent.
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
    fn are_enough(&self) -> bool {
        let of_tool_call = [self.tool_call_id, self.status, self.kind, self.name, self.update_meta];
        self.session.is_some() && (of_tool_call.iter().all(Option::is_some) || self.are_of_text())
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

/// What updates start with, as nearly all agents write them.
const USUAL_UPDATE: &[u8] = br#"{"jsonrpc":"2.0","method":"session/update","params":"#;

/// What requests and responses start with, as nearly all programs write them.
const USUAL_REQUEST: &[u8] = br#"{"jsonrpc":"2.0","id":"#;

/// How the result of a response follows on its id.
const USUAL_RESULT: &[u8] = br#","result":{"#;

/// A `session/update` that was read as far as there is something to be known.
///
/// Most lines are of these, and the longest, so they are skimmed: what stands behind the last member that makes a
/// difference is not looked at, and the rest is not checked. Of members that come twice the first counts.
#[derive(Debug)]
pub(super) struct Update<'a> {
    pub(super) members: Members<'a>,
    /// How many bytes of the line were looked at.
    pub(super) read: usize,
}

impl<'a> Update<'a> {
    /// Nothing for any other message, for one whose method stands behind its params or with escapes, for one that lacks
    /// something, and for one that breaks off before all is known. One with an id that stands before its params is a request.
    pub(super) fn read(line: &'a [u8], interest: Interest) -> Option<Self> {
        let (mut skim, json) = params(line)?;
        let before = line.len() - json.len();
        let mut members = Members::default();
        while let Some(name) = skim.next_name().ok()? {
            match &*name {
                b"sessionId" if members.session.is_none() => {
                    members.session = Some(text(&mut skim)?);
                }
                b"update" if members.session_update.is_none() && skim.enter() => {
                    members.read(&mut skim, json, interest)?;
                }
                _ => continue,
            }
            if members.session.is_some() && members.session_update.is_some() {
                return Some(Self { members, read: before + skim.read() });
            }
        }
        None
    }
}

impl<'a> Members<'a> {
    /// Reads an update that was entered and is in `json`, as far as there is something to be known.
    fn read(&mut self, skim: &mut Skim<'a>, json: &'a [u8], interest: Interest) -> Option<()> {
        let (start, mut are_all) = (skim.read() - 1, false);
        while let Some(name) = skim.next_name().ok()? {
            let member = match &*name {
                b"sessionUpdate" => &mut self.session_update,
                b"toolCallId" => &mut self.tool_call_id,
                b"status" => &mut self.status,
                b"kind" => &mut self.kind,
                b"name" => &mut self.name,
                b"_meta" => &mut self.update_meta,
                _ => continue,
            };
            if member.is_none() {
                *member = Some(text(skim)?);
            }
            if &*name == b"sessionUpdate" {
                are_all = self.are_all(interest);
            }
            if are_all && self.are_enough() {
                return Some(());
            }
        }
        if !are_all {
            self.update = json.get(start..skim.read());
        }
        Some(())
    }
}

/// The id of an answer that is a result, read no further than to where that begins; nothing for any other message, and for
/// what is written in another way.
pub(super) fn answered(line: &[u8]) -> Option<RequestId> {
    let line = line.strip_prefix(USUAL_REQUEST)?;
    let (id, rest) = line.split_at_checked(line.iter().position(|byte| *byte == b',')?)?;
    let id = core::str::from_utf8(id).ok().filter(|_| rest.starts_with(USUAL_RESULT))?;
    match id.as_bytes() {
        [b'0'] | [b'1'..=b'9', ..] => id.parse::<i64>().ok().map(RequestId::from),
        _ => JsonStr::new(id)?.as_plain().filter(|id| !id.contains('"')).map(RequestId::from),
    }
}

/// Enters the params of an update; gives the part of its line that is skimmed as well.
fn params(line: &[u8]) -> Option<(Skim<'_>, &[u8])> {
    if line.starts_with(USUAL_REQUEST) {
        return None;
    }
    if let Some(params) = line.strip_prefix(USUAL_UPDATE) {
        return Some((Skim::new(params).ok()?, params));
    }
    let (mut skim, mut is_update) = (Skim::new(line).ok()?, false);
    loop {
        match &*skim.next_name().ok()?? {
            b"method" => is_update = skim.value().ok()? == br#""session/update""#,
            b"params" if is_update && skim.enter() => return Some((skim, line)),
            b"params" | b"id" | b"result" | b"error" => return None,
            _ => {}
        }
    }
}

fn text<'a>(skim: &mut Skim<'a>) -> Option<&'a str> {
    core::str::from_utf8(skim.value().ok()?).ok()
}

/// A member that is a string.
#[inline]
pub(crate) fn string(member: &str) -> Option<Cow<'_, str>> {
    JsonStr::new(member)?.decode()
}
