//! What is looked at of each message on the one way through it.
use alloc::borrow::Cow;
use jsonrpc_core::{Found, JsonStr, Skim};

pub(super) const PATHS: [&[&str]; 9] = [
    &["sessionId"],
    &["_meta"],
    &["update"],
    &["update", "sessionUpdate"],
    &["update", "toolCallId"],
    &["update", "status"],
    &["update", "kind"],
    &["update", "name"],
    &["update", "_meta"],
];

/// The values at [`PATHS`] in the params, as JSON text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Members<'a> {
    pub(crate) session: Option<&'a str>,
    pub(crate) meta: Option<&'a str>,
    /// Nothing where only the members named here are recorded of it.
    pub(crate) update: Option<&'a [u8]>,
    pub(crate) session_update: Option<&'a str>,
    pub(crate) tool_call_id: Option<&'a str>,
    pub(crate) status: Option<&'a str>,
    pub(crate) kind: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) update_meta: Option<&'a str>,
}

impl<'a> Members<'a> {
    /// One that comes twice is none.
    #[inline]
    pub(super) fn new(found: [Found<'a>; PATHS.len()]) -> Self {
        let found = found.map(|member| member.ok().flatten());
        let [session, meta, update, of_update @ ..] = found;
        let [session_update, tool_call_id, status, kind, name, update_meta] = of_update;
        Self {
            session,
            meta,
            update: update.map(str::as_bytes),
            session_update,
            tool_call_id,
            status,
            kind,
            name,
            update_meta,
        }
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

    /// Whether nothing else is recorded of the message.
    fn are_enough(&self, interest: Interest) -> bool {
        let of_tool_call = [self.tool_call_id, self.status, self.kind, self.name, self.update_meta];
        self.session.is_some()
            && self.are_all(interest)
            && (self.are_of_text() || of_tool_call.iter().all(Option::is_some))
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
        let mut skim = Skim::new(line).ok()?;
        let mut is_update = false;
        while let Some(name) = skim.next_name().ok()? {
            match &*name {
                b"method" => is_update = skim.value().ok()? == br#""session/update""#,
                b"params" if is_update && skim.enter() => break,
                b"params" | b"id" | b"result" | b"error" => return None,
                _ => {}
            }
        }
        let mut members = Members::default();
        while let Some(name) = skim.next_name().ok()? {
            match &*name {
                b"sessionId" if members.session.is_none() => {
                    members.session = Some(text(&mut skim)?);
                }
                b"update" if members.session_update.is_none() && skim.enter() => {
                    members.read(&mut skim, line, interest)?;
                }
                _ => continue,
            }
            if members.session.is_some() && members.session_update.is_some() {
                return Some(Self { members, read: skim.read() });
            }
        }
        None
    }
}

impl<'a> Members<'a> {
    /// Reads an update that was entered, as far as there is something to be known.
    fn read(&mut self, skim: &mut Skim<'a>, line: &'a [u8], interest: Interest) -> Option<()> {
        let start = skim.read() - 1;
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
            if self.are_enough(interest) {
                return Some(());
            }
        }
        if !self.are_all(interest) {
            self.update = line.get(start..skim.read());
        }
        Some(())
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
