//! The response to a run request: bytes in, events out.
use crate::enforce::{self, Removal, RemovalKind, SchemaError};
use crate::event::Event;
use crate::expand::Expander;
use crate::id::{RunId, ThreadId, ToolCallId};
use crate::input::RunAgentInput;
use crate::legacy::ThinkingConverter;
use crate::message::Message;
#[cfg(feature = "protobuf")]
use crate::proto;
use crate::reduce::{Reducer, RunEnd, Warning};
use crate::rule::{Breach, Rule, Violation};
use crate::sse;
use crate::transport::BodyEncoding;
use crate::verify::Verifier;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use serde_json::Value;

/// The reader of an answer.
///
/// Pass the bytes of the body to [`push`](Self::push), then call [`finish`](Self::finish). Call
/// [`poll`](Self::poll) after each until it returns `None`. Each event passes the stages of the
/// specification's processing model: decoding, [retired names](crate::legacy),
/// [enforcement](crate::enforce), [order](Verifier::tolerant), [chunks](crate::expand),
/// [reduction](crate::reduce). A middleware reads decoded events with
/// [`next_whole`](Self::next_whole) and passes them on with [`handle`](Self::handle).
///
/// Verdicts are those of the first-party client: an unknown role or subtype is an error, another
/// run may follow a run that failed, and a body without events is accepted. Beyond its checks, all
/// runs have to belong to the requested conversation, each run has to end under the identifier it
/// began with, one of them has to be the requested run, and the last one has to end.
///
/// Spec: [Processing Model, 1.0](https://ag-ui.com/spec/1.0/basic/processing)
#[derive(Debug)]
pub struct Response {
    body: Body,
    thinking: ThinkingConverter,
    expander: Expander,
    verifier: Verifier,
    identity: Identity,
    reducer: Reducer,
    ready: VecDeque<Result<ReceivedEvent, ResponseError>>,
    /// Notes for the next event.
    deviations: Vec<Deviation>,
    /// Number of events received.
    count: u64,
    /// No event follows: an error or the end was returned.
    over: bool,
    /// The body has ended.
    ended: bool,
    /// The body so far has nothing that could be the beginning of an event.
    empty: bool,
}

#[derive(Debug)]
enum Body {
    Sse(sse::Decoder),
    #[cfg(feature = "protobuf")]
    Protobuf(proto::Decoder),
    /// A status other than success, and the server's explanation.
    Refusal {
        status: u16,
        text: Vec<u8>,
    },
}

/// An event as the application receives it, with the changes made to it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReceivedEvent {
    /// The event: known, expanded and in order.
    pub event: Event,
    /// Material that was removed from the event or dropped before it, and changes that could not be
    /// applied.
    pub deviations: Vec<Deviation>,
}

/// A deviation that an application may want to log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Deviation {
    /// AG-UI 1.0 does not describe this material, or describes it differently.
    #[error("{0}")]
    Removed(Removal),
    /// The event was not applied, or was applied differently.
    #[error("{0}")]
    Reduced(Warning),
}

/// An error that ends the reading of an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResponseError {
    /// The server refused the request.
    #[error("HTTP {status}: {body}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// The beginning of the body as text, at most [`Response::MAX_REFUSAL_BYTES`].
        body: String,
    },
    /// A server-sent event is invalid.
    #[error(transparent)]
    Frame(#[from] sse::FrameError),
    /// A protobuf frame is invalid.
    #[cfg(feature = "protobuf")]
    #[error(transparent)]
    Protobuf(#[from] proto::FrameError),
    /// An event is malformed.
    #[error("event {index}: {problem}")]
    Malformed {
        /// Index of the event in the body, from zero.
        index: u64,
        /// The defect.
        problem: SchemaError,
    },
    /// The events are out of order or end too early.
    #[error(transparent)]
    Violation(#[from] Violation),
}

impl ResponseError {
    /// Returns whether the server refused before the run began and accepts the same request later.
    /// The `Retry-After` header, if present, has the delay.
    pub fn may_send_again(&self) -> bool {
        matches!(self, Self::Status { status: 429 | 503, .. })
    }
}

impl Response {
    /// Largest size of a kept refusal body, in bytes.
    pub const MAX_REFUSAL_BYTES: usize = 64 * 1024;

    pub(super) fn new(
        input: &RunAgentInput,
        reducer: Reducer,
        status: u16,
        content_type: Option<&str>,
    ) -> Self {
        let body = match (status, BodyEncoding::of_content_type(content_type)) {
            (200..=299, BodyEncoding::Sse) => Body::Sse(sse::Decoder::default()),
            #[cfg(feature = "protobuf")]
            (200..=299, BodyEncoding::Protobuf) => Body::Protobuf(proto::Decoder::default()),
            _ => Body::Refusal { status, text: Vec::new() },
        };
        Self {
            body,
            thinking: ThinkingConverter::new(format!("{}-thinking-", input.run_id)),
            expander: Expander::new(),
            verifier: Verifier::tolerant(),
            identity: Identity::of(input),
            reducer,
            ready: VecDeque::new(),
            deviations: Vec::new(),
            count: 0,
            over: false,
            ended: false,
            empty: true,
        }
    }

    /// Handles the next bytes of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.body {
            Body::Sse(decoder) => {
                // Whole lines that are no event, such as comments, are not a truncated event.
                self.empty = bytes.last().map_or(self.empty, |last| matches!(last, b'\n' | b'\r'));
                decoder.push(bytes);
            }
            #[cfg(feature = "protobuf")]
            Body::Protobuf(decoder) => {
                self.empty &= bytes.is_empty();
                decoder.push(bytes);
            }
            Body::Refusal { text, .. } => {
                let room = Self::MAX_REFUSAL_BYTES.saturating_sub(text.len());
                text.extend(bytes.iter().take(room));
            }
        }
    }

    /// Handles the end of the body.
    pub fn finish(&mut self) {
        self.ended = true;
        if let Body::Sse(decoder) = &mut self.body {
            decoder.finish();
        }
    }

    /// Returns the next event, or the error that ends the answer. Returns `None` when more bytes
    /// are needed, and after an error or the end.
    pub fn poll(&mut self) -> Option<Result<ReceivedEvent, ResponseError>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            match self.next_whole()? {
                Ok((event, removals)) => self.handle(event, removals),
                Err(failure) => return Some(Err(failure)),
            }
        }
    }

    /// Returns whether no event follows: after an error, and after the end of the body. Until then,
    /// `None` from [`poll`](Self::poll) is a request for more bytes.
    pub fn is_finished(&self) -> bool {
        self.over && self.ready.is_empty()
    }

    /// Returns the next decoded event for a middleware. `null`s of 0.x peers are reported.
    pub fn next_whole(&mut self) -> Option<Result<(Event, Vec<Removal>), ResponseError>> {
        if self.over {
            return None;
        }
        let next = self.decode_next().or_else(|| self.check_end().map(Err));
        if matches!(next, Some(Ok(_))) {
            self.count += 1;
        } else {
            self.over |= self.ended || next.is_some();
        }
        next
    }

    /// Handles an event of [`next_whole`](Self::next_whole), possibly changed by a middleware.
    /// [`poll`](Self::poll) returns the results.
    pub fn handle(&mut self, event: Event, removals: Vec<Removal>) {
        if let Err(failure) = self.process(event, removals) {
            self.over = true;
            self.ready.push_back(Err(failure));
        }
    }

    /// Returns the messages so far.
    pub fn messages(&self) -> &[Message] {
        self.reducer.messages()
    }

    /// Returns the state so far.
    pub fn state(&self) -> &Value {
        self.reducer.state()
    }

    /// Returns how the last run ended, or `None` while it runs.
    pub fn end(&self) -> Option<&RunEnd> {
        self.reducer.end()
    }

    /// Returns the tool calls that wait for the application.
    pub fn pending_tool_call_ids(&self) -> Vec<&ToolCallId> {
        self.reducer.pending_tool_call_ids()
    }

    pub(super) fn into_parts(self) -> (Vec<Message>, Value) {
        self.reducer.into_parts()
    }

    fn decode_next(&mut self) -> Option<Result<(Event, Vec<Removal>), ResponseError>> {
        match &mut self.body {
            Body::Sse(decoder) => {
                let frame = match decoder.next_frame()? {
                    Ok(frame) => frame,
                    Err(error) => return Some(Err(error.into())),
                };
                let index = self.count;
                match enforce::read_event(&frame.data) {
                    Ok(read) => Some(Ok(read)),
                    // The last frame may have been cut off with the body.
                    Err(_) if self.ended && !self.identity.over => {
                        self.empty = false;
                        None
                    }
                    Err(problem) => Some(Err(ResponseError::Malformed { index, problem })),
                }
            }
            #[cfg(feature = "protobuf")]
            Body::Protobuf(decoder) => loop {
                match decoder.next_frame()? {
                    Ok(proto::Frame::Event(event)) => return Some(Ok((event, Vec::new()))),
                    Ok(proto::Frame::Unknown { .. }) => {}
                    Err(error) => return Some(Err(error.into())),
                }
            },
            Body::Refusal { .. } => None,
        }
    }

    /// Checks the end of the body.
    fn check_end(&mut self) -> Option<ResponseError> {
        if !self.ended {
            return None;
        }
        if let Body::Refusal { status, text } = &self.body {
            let body = String::from_utf8_lossy(text).into_owned();
            return Some(ResponseError::Status { status: *status, body });
        }
        if self.empty && self.count == 0 {
            return None;
        }
        let breach = self.identity.check_end().err()?;
        Some(breach.into_violation(self.count, None).into())
    }

    fn process(&mut self, event: Event, removals: Vec<Removal>) -> Result<(), ResponseError> {
        let index = self.count.saturating_sub(1);
        let malformed = |problem| ResponseError::Malformed { index, problem };
        let mut deviations: Vec<Deviation> = removals.into_iter().map(Deviation::Removed).collect();
        let (event, retired) = self.thinking.handle(event).map_err(malformed)?;
        deviations.extend(retired.into_iter().map(Deviation::Removed));
        let (event, removals) = enforce::enforce_event(event);
        if let Some(unknown) = removals.iter().find(|it| it.kind == RemovalKind::Name) {
            let pointer = unknown.pointer.clone();
            let name = unknown.name.clone();
            return Err(malformed(SchemaError::Name { pointer, name }));
        }
        deviations.extend(removals.into_iter().map(Deviation::Removed));
        self.deviations.append(&mut deviations);
        let Some(event) = event else {
            self.verifier.skip();
            return Ok(());
        };
        self.verifier.handle(&event)?;
        let checked = self.identity.check(&event);
        checked.map_err(|breach| breach.into_violation(index, Some(event.tag())))?;
        let mut expanded = Vec::new();
        self.expander.handle(event, &mut expanded)?;
        for event in expanded {
            self.deviations.extend(self.reducer.handle(&event).map(Deviation::Reduced));
            let deviations = mem::take(&mut self.deviations);
            self.ready.push_back(Ok(ReceivedEvent { event, deviations }));
        }
        Ok(())
    }
}

/// Identity of the runs and their conversation.
#[derive(Debug)]
struct Identity {
    thread_id: ThreadId,
    requested: RunId,
    /// The run that began last.
    current: Option<RunId>,
    /// The last run has ended.
    over: bool,
    /// The requested run has ended, or an error outside of a run stands for it.
    answered: bool,
}

impl Identity {
    fn of(input: &RunAgentInput) -> Self {
        let thread_id = input.thread_id.clone();
        let requested = input.run_id.clone();
        Self { thread_id, requested, current: None, over: false, answered: false }
    }

    fn check(&mut self, event: &Event) -> Result<(), Breach> {
        match event {
            Event::RunStarted(started) => {
                let thread = &started.thread_id;
                Rule::ThreadChanged.holds(*thread == self.thread_id, thread.as_str())?;
                self.current = Some(started.run_id.clone());
                self.over = false;
            }
            Event::RunFinished(finished) => {
                let thread = &finished.thread_id;
                let run = &finished.run_id;
                Rule::ThreadChanged.holds(*thread == self.thread_id, thread.as_str())?;
                let same = self.current.as_ref().is_none_or(|current| current == run);
                Rule::RunChanged.holds(same, run.as_str())?;
                self.end();
            }
            Event::RunError(_) => self.end(),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self) {
        self.answered |=
            self.over || self.current.as_ref().is_none_or(|run| *run == self.requested);
        self.over = true;
    }

    fn check_end(&self) -> Result<(), Breach> {
        match &self.current {
            _ if !self.over => Err(Rule::Truncated.into()),
            Some(run) if !self.answered => Err(Rule::RunNotRequested.broken_for(run.as_str())),
            _ => Ok(()),
        }
    }
}
