//! Tool calls: announced by three kinds of messages, updated in any order, ended once.
use crate::arguments::ArgsMode;
use crate::frame::Frame;
use crate::outbox::Outbox;
use crate::terminal::Terminals;
use crate::tool_name::{Clues, parent_in_meta, tool_name};
use acp_types::v1::tool_calls::ToolCallId;
use agui_types::id::ToolCallId as CallId;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use serde::{Deserialize, Serialize};

mod call;
mod change;
mod description;
mod shown;
mod status;

pub(crate) use change::Change;
pub(crate) use description::CallDescription;
pub(crate) use status::Denial;

use call::{Call, CallFrame, Pace};
use status::Stage;

/// The tool calls of a thread, by [key](Self::key).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "StoredCalls")]
pub(crate) struct ToolCalls {
    calls: BTreeMap<ToolCallId, Call>,
    /// Keys of the calls without a result, in order of creation. Each line of the agent looks at
    /// these calls only.
    #[serde(skip_serializing)]
    open: BTreeMap<u64, ToolCallId>,
    /// When the arguments of open calls settle, with their numbers.
    #[serde(skip_serializing)]
    settling: BTreeSet<(Duration, u64)>,
    begun: u64,
    /// Approximate size in bytes.
    bytes: usize,
    pace: Pace,
    /// Names of page tools, which the agent's own calls must not have.
    page_tools: BTreeSet<String>,
}

/// The stored form of [`ToolCalls`].
#[derive(Deserialize)]
struct StoredCalls {
    calls: BTreeMap<ToolCallId, Call>,
    begun: u64,
    bytes: usize,
    pace: Pace,
    page_tools: BTreeSet<String>,
}

impl From<StoredCalls> for ToolCalls {
    fn from(stored: StoredCalls) -> Self {
        let StoredCalls { calls, begun, bytes, pace, page_tools } = stored;
        let open = || calls.iter().filter(|(_, call)| call.stage() < Stage::Finished);
        let settling = open().filter_map(|(_, call)| Some((call.settles()?, call.number())));
        let settling = settling.collect();
        let open = open().map(|(key, call)| (call.number(), key.clone())).collect();
        Self { calls, open, settling, begun, bytes, pace, page_tools }
    }
}

impl ToolCalls {
    /// Creates a thread's calls. Arguments are sent by `mode`, at the latest when they have not
    /// changed for `settle`.
    pub(crate) fn new(mode: ArgsMode, settle: Option<Duration>) -> Self {
        Self {
            calls: BTreeMap::new(),
            open: BTreeMap::new(),
            settling: BTreeSet::new(),
            begun: 0,
            bytes: 0,
            pace: Pace { mode, settle },
            page_tools: BTreeSet::new(),
        }
    }

    /// Sets the names of the page's tools.
    pub(crate) fn set_page_tools(&mut self, names: BTreeSet<String>) {
        self.page_tools = names;
    }

    /// Returns the key of a call: its id within its lane, since subagents may reuse the agent's
    /// ids.
    pub(crate) fn key(lane: &str, id: &ToolCallId) -> ToolCallId {
        if lane.is_empty() { id.clone() } else { format!("\0{lane}\0{id}").into() }
    }

    /// Handles a message about a tool call.
    pub(crate) fn handle(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        terminals: &Terminals,
        mut change: Change,
    ) {
        let key = Self::key(frame.lane, &change.id);
        let is_another = self.calls.get(&key).is_some_and(|call| call.precedes(frame, &change));
        if out.history().is_some() {
            self.conclude(frame, out, terminals, (!is_another).then_some(&key));
        }
        let known = self.take(&key).filter(|_| !is_another);
        let begins = known.is_none();
        let mut call = match known {
            Some(call) => call,
            None => self.begin(frame, out, terminals, &change),
        };
        if change.announces {
            call.announce(frame.turn, change.asks);
        }
        let changed = call.merge(&mut change, frame.limits);
        self.with_owner(frame, terminals, &mut call, |call, at| {
            if begins {
                call.start(at, out);
            }
            if begins || changed.shown {
                call.show(at, out);
            }
            if call.stage() == Stage::Finished {
                if changed.output {
                    call.show_late(at, out, &change);
                }
                call.forget_output();
            } else {
                call.advance(at, out, &mut change);
            }
        });
        self.put(key, call);
        self.keep_within_bytes(frame, out, terminals);
    }

    /// Records that a call was denied. Its result gives the reason unless the agent gives one.
    pub(crate) fn set_denial(&mut self, key: &ToolCallId, id: &CallId, denial: Option<Denial>) {
        let call = self.calls.get_mut(key).filter(|call| call.id() == id);
        if let Some(call) = call {
            call.set_denial(denial);
        }
    }

    /// Sends end and result of each call that the agent left open.
    pub(crate) fn close(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        terminals: &Terminals,
        is_cancelled: bool,
    ) {
        self.conclude(frame, out, terminals, None);
        for key in self.before(Stage::Finished) {
            self.update(frame, terminals, &key, |call, at| call.abandon(at, out, is_cancelled));
        }
    }

    /// Sends the end of each call. Results follow later.
    pub(crate) fn end_all(&mut self, frame: &Frame<'_>, out: &mut Outbox, terminals: &Terminals) {
        for key in self.before(Stage::Ended) {
            self.end(frame, out, terminals, &key);
        }
    }

    /// Sends the end of a call with known arguments.
    pub(crate) fn end_if_known(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        terminals: &Terminals,
        key: &ToolCallId,
    ) {
        self.update(frame, terminals, key, |call, at| call.end_if_known(at, out));
    }

    /// Sends the end of a call.
    fn end(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        terminals: &Terminals,
        key: &ToolCallId,
    ) {
        self.update(frame, terminals, key, |call, at| call.end(at, out));
    }

    /// Sends the ends of calls with arguments that have not changed for long enough.
    pub(crate) fn settle(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        terminals: &Terminals,
        now: Duration,
    ) {
        if self.settling().is_none_or(|settles| settles > now) {
            return;
        }
        let due = self.settling.iter().take_while(|(settles, _)| *settles <= now);
        // In order of creation.
        let due: BTreeMap<_, _> =
            due.filter_map(|(_, number)| Some((*number, self.open.get(number)?.clone()))).collect();
        due.values().for_each(|key| self.end(frame, out, terminals, key));
    }

    /// Sends the results of the calls that the agent has ended, except for one.
    pub(crate) fn conclude(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        terminals: &Terminals,
        except: Option<&ToolCallId>,
    ) {
        let over = self.open().filter(|(key, call)| call.is_over() && except != Some(key));
        let over: Vec<_> = over.map(|(key, _)| key.clone()).collect();
        for key in over {
            self.update(frame, terminals, &key, |call, at| {
                call.end(at, out);
                call.conclude(at, out);
            });
        }
    }

    /// Returns the identifier of a call in the stream.
    pub(crate) fn id(&self, key: &ToolCallId) -> Option<&CallId> {
        self.calls.get(key).map(Call::id)
    }

    /// Returns whether the agent has ended a call.
    pub(crate) fn is_over(&self, key: &ToolCallId) -> bool {
        self.calls.get(key).is_some_and(Call::is_over)
    }

    /// Returns the members of a call that a user decides on.
    pub(crate) fn describe(&self, key: &ToolCallId) -> Option<CallDescription> {
        self.calls.get(key).map(Call::describe)
    }

    /// Returns whether the arguments of a call are being sent.
    pub(crate) fn is_one_open(&self) -> bool {
        self.open().any(|(_, call)| call.stage() == Stage::Started)
    }

    /// Returns whether a call lacks its result.
    pub(crate) fn has_open(&self) -> bool {
        self.open().next().is_some()
    }

    /// Returns the time at which arguments settle next.
    pub(crate) fn settling(&self) -> Option<Duration> {
        self.settling.first().map(|(settles, _)| *settles)
    }

    fn begin(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        terminals: &Terminals,
        change: &Change,
    ) -> Call {
        self.make_room(frame, out, terminals);
        let (name, source) = tool_name(Clues {
            name: change.name.as_deref(),
            meta: change.meta.as_ref(),
            kind: change.kind.as_ref(),
            title: change.title.as_deref(),
        });
        let name = source.unlike(name, &self.page_tools);
        self.begun += 1;
        let parent = parent_in_meta(change.meta.as_ref());
        let parent = parent.and_then(|id| self.calls.get(&Self::key(frame.lane, &id.into())));
        let parent = parent.map(|call| call.id().clone());
        let id = out.tool_call_id(change.id.as_str());
        Call::new(frame, id, name, source, self.begun).with_parent(parent)
    }

    /// Removes the oldest call with a result; without any, completes the oldest call first.
    fn make_room(&mut self, frame: &Frame<'_>, out: &mut Outbox, terminals: &Terminals) {
        while self.calls.len() >= frame.limits.tool_calls.max(1) {
            let age = |call: &Call| (call.stage() != Stage::Finished, call.number());
            let oldest = self.calls.iter().min_by_key(|(_, call)| age(call));
            let oldest = oldest.map(|(key, _)| key.clone());
            let Some(mut call) = oldest.and_then(|key| self.take(&key)) else { return };
            if call.stage() != Stage::Finished {
                self.with_owner(frame, terminals, &mut call, |call, at| {
                    call.abandon(at, out, false);
                });
            }
        }
    }

    /// Completes the oldest calls while all calls together exceed the limit.
    fn keep_within_bytes(&mut self, frame: &Frame<'_>, out: &mut Outbox, terminals: &Terminals) {
        while self.bytes > frame.limits.tool_call_bytes {
            let Some((_, key)) = self.open.first_key_value() else { return };
            let key = key.clone();
            self.update(frame, terminals, &key, |call, at| call.abandon(at, out, false));
        }
    }

    /// Returns the calls without a result, in order of creation.
    fn open(&self) -> impl Iterator<Item = (&ToolCallId, &Call)> {
        self.open.values().filter_map(|key| self.calls.get_key_value(key))
    }

    /// Returns the keys of the calls before a stage, in order of creation.
    fn before(&self, stage: Stage) -> Vec<ToolCallId> {
        let calls = self.open().filter(|(_, call)| call.stage() < stage);
        calls.map(|(key, _)| key.clone()).collect()
    }

    /// Changes a call. Its events are attributed to its owner.
    fn update(
        &mut self,
        frame: &Frame<'_>,
        terminals: &Terminals,
        key: &ToolCallId,
        change: impl FnOnce(&mut Call, &CallFrame<'_>),
    ) {
        if let Some(mut call) = self.take(key) {
            self.with_owner(frame, terminals, &mut call, change);
            self.put(key.clone(), call);
        }
    }

    fn with_owner(
        &self,
        frame: &Frame<'_>,
        terminals: &Terminals,
        call: &mut Call,
        change: impl FnOnce(&mut Call, &CallFrame<'_>),
    ) {
        let owner = call.owner().cloned();
        let frame = frame.owned_by(owner.as_ref());
        change(call, &CallFrame { frame, terminals, pace: self.pace });
    }

    fn take(&mut self, key: &ToolCallId) -> Option<Call> {
        let call = self.calls.remove(key)?;
        self.bytes = self.bytes.saturating_sub(call.bytes());
        self.open.remove(&call.number());
        if let Some(settles) = call.settles() {
            self.settling.remove(&(settles, call.number()));
        }
        Some(call)
    }

    fn put(&mut self, key: ToolCallId, call: Call) {
        self.bytes = self.bytes.saturating_add(call.bytes());
        if call.stage() < Stage::Finished {
            self.open.insert(call.number(), key.clone());
            self.settling.extend(call.settles().map(|settles| (settles, call.number())));
        }
        self.calls.insert(key, call);
    }
}
