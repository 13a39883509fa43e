//! An AG-UI client over any HTTP stack: requests to send, responses to read.
//!
//! An [`Agent`] holds a conversation and creates the [`Request`] that starts a run. The program
//! sends the request and passes the bytes of the answer to a [`Response`], which yields events,
//! messages and state.
//!
//! ```
//! use agui_types::client::Agent;
//! use agui_types::event::Event;
//! use agui_types::message::{Message, UserMessage};
//!
//! let mut agent = Agent::new("t1");
//! agent.messages.push(Message::User(UserMessage::new("u1", "Hi")));
//! let request = agent.request("r1", Vec::new())?;
//! assert_eq!((request.method, request.headers[1]), ("POST", ("accept", "text/event-stream")));
//! assert!(request.body.starts_with(br#"{"threadId":"t1","runId":"r1","messages":[{"role":"user","id":"u1","#));
//!
//! // Any HTTP stack supplies these: a status, a content type, bytes in pieces of any size.
//! let mut response = request.response(200, Some("text/event-stream"));
//! let mut body = [
//!     "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t1\",\"runId\":\"r1\"}\n\ndata: {\"type\":\"TEXT_MESS",
//!     "AGE_CHUNK\",\"messageId\":\"m1\",\"delta\":\"Hello.\"}\n\n",
//!     "data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t1\",\"runId\":\"r1\"}\n\n",
//! ]
//! .into_iter();
//! let mut types = Vec::new();
//! while !response.is_finished() {
//!     match response.poll() {
//!         Some(received) => types.push(received?.event.tag().to_owned()),
//!         None => match body.next() {
//!             Some(bytes) => response.push(bytes.as_bytes()),
//!             None => response.finish(),
//!         },
//!     }
//! }
//! assert_eq!(types, ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"]);
//!
//! agent.take(response);
//! assert_eq!(agent.messages.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Connecting again
//!
//! The protocol has no resumption: the `id` and `retry` fields of server-sent events have no
//! meaning, and a request that is sent twice starts two runs. So nothing here is sent again by
//! itself:
//!
//! | what happened | what the agent may have done | what to do |
//! |---|---|---|
//! | no connection | nothing | send the same request again, if you like |
//! | status 429 or 503 ([`ResponseError::may_send_again`]) | nothing | send the same request again, when the server wants it |
//! | any other status that is no success | nothing, or too little | tell the user |
//! | the body ended within a run ([`Rule::Truncated`](crate::verify::Rule::Truncated)) | anything | keep what there is ([`Agent::take`]), ask again in a new run |
//! | the body has no event | nothing | ask again in a new run |
//!
//! Spec: [HTTP + Server-Sent Events, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-sse),
//! [Processing Model, 1.0](https://ag-ui.com/spec/1.0/basic/processing)
use crate::enforce::{self, Removal};
use crate::event::RunFinishedOutcome;
use crate::id::{InterruptId, RunId, ThreadId};
use crate::input::{Context, RunAgentInput};
use crate::interrupt::{Interrupt, ResumeEntry};
use crate::message::Message;
use crate::reduce::{Reducer, RunEnd};
use crate::tool::Tool;
use crate::{PROTOCOL_VERSION, sse};
use alloc::vec::Vec;
use core::fmt;
use jsonrpc_core::wire::Raw;
use serde_json::{Map, Value};

mod response;

pub use response::{Deviation, ReceivedEvent, Response, ResponseError};

/// A conversation with an agent.
///
/// Set the public fields before the next [`request`](Self::request). Answer a call of an
/// application tool with a [tool message](crate::message::ToolMessage) after the message that holds
/// the call.
///
/// ```
/// use agui_types::client::Agent;
/// use agui_types::message::{Message, UserMessage};
///
/// let mut agent = Agent::new("thread-1");
/// agent.messages.push(Message::User(UserMessage::new("message-1", "Hi")));
/// let request = agent.request("run-1", Vec::new())?;
/// // Send `request.body` with `request.headers`, and pass the response to `request.response`.
/// assert!(request.body.starts_with(br#"{"threadId":"thread-1""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Spec: [Run Input, 1.0](https://ag-ui.com/spec/1.0/basic/run-input)
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Agent {
    /// Identifier of the conversation.
    pub thread_id: ThreadId,
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// The shared state.
    pub state: Value,
    /// Tools that the application provides.
    pub tools: Vec<Tool>,
    /// Context for the model.
    pub context: Vec<Context>,
    /// Properties for the agent, passed through unchanged.
    pub forwarded_props: Option<Raw>,
    /// Whether `Accept` includes protobuf, as the preferred form.
    #[cfg(feature = "protobuf")]
    pub accepts_protobuf: bool,
    interrupts: Vec<Interrupt>,
}

impl Agent {
    /// Creates a conversation without messages, with `{}` as its state.
    pub fn new(thread_id: impl Into<ThreadId>) -> Self {
        Self {
            thread_id: thread_id.into(),
            messages: Vec::new(),
            state: Value::Object(Map::new()),
            tools: Vec::new(),
            context: Vec::new(),
            forwarded_props: None,
            #[cfg(feature = "protobuf")]
            accepts_protobuf: false,
            interrupts: Vec::new(),
        }
    }

    /// Returns the interrupts that ended the last run. The next run has to resolve or cancel each
    /// of them. The caller compares [`expires_at`](crate::interrupt::Interrupt::expires_at) with
    /// its clock; an expired interrupt can only be cancelled.
    pub fn interrupts(&self) -> &[Interrupt] {
        &self.interrupts
    }

    /// Creates the request that starts a run. It leaves out activities and anything that AG-UI 1.0
    /// does not describe ([`Request::removals`]).
    ///
    /// # Errors
    /// An interrupt of the last run has no entry in `resume`.
    ///
    /// Spec: [`RunAgentInput`, 1.0](https://ag-ui.com/spec/1.0/schema#runagentinput)
    pub fn request(
        &self,
        run_id: impl Into<RunId>,
        resume: Vec<ResumeEntry>,
    ) -> Result<Request, MissingAnswers> {
        let open = self.interrupts.iter().map(|interrupt| &interrupt.id);
        let open = open.filter(|id| resume.iter().all(|entry| entry.interrupt_id != **id));
        let open: Vec<_> = open.cloned().collect();
        if !open.is_empty() {
            return Err(MissingAnswers { ids: open });
        }
        let sent = self.messages.iter().filter(|it| !matches!(it, Message::Activity(_)));
        let messages: Vec<_> = sent.cloned().collect();
        let mut input = RunAgentInput::new(self.thread_id.clone(), run_id, messages);
        input.protocol_version = Some(PROTOCOL_VERSION.into());
        // A value always has a JSON form. A state of `null` is left out.
        input.state = Raw::from_value(&self.state).ok().filter(|_| !self.state.is_null());
        input.tools = Some(self.tools.clone());
        input.context = Some(self.context.clone());
        let empty = || Raw::from_text("{}").ok();
        input.forwarded_props = self.forwarded_props.clone().or_else(empty);
        input.resume = Some(resume).filter(|resume| !resume.is_empty());
        let (input, removals) = enforce::enforce_input(input);
        let held = Reducer::holding(self.messages.clone(), self.state.clone());
        Ok(Request::new(input, held, removals, self.accept()))
    }

    #[cfg(feature = "protobuf")]
    fn accept(&self) -> &'static str {
        const BOTH: &str = "application/vnd.ag-ui.event+proto, text/event-stream;q=0.9";
        if self.accepts_protobuf { BOTH } else { sse::CONTENT_TYPE }
    }

    #[cfg(not(feature = "protobuf"))]
    fn accept(&self) -> &'static str {
        sse::CONTENT_TYPE
    }

    /// Applies a response: its messages, state and interrupts. A run that was cut off, failed or
    /// was abandoned contributes everything before that point.
    pub fn take(&mut self, response: Response) {
        self.interrupts.clear();
        if let Some(RunEnd::Finished(finished)) = response.end()
            && let Some(RunFinishedOutcome::Interrupt(outcome)) = &finished.outcome
        {
            self.interrupts.clone_from(&outcome.interrupts);
        }
        (self.messages, self.state) = response.into_parts();
    }
}

/// The HTTP request that starts a run, without its URL.
///
/// Spec: [Request, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-sse#request)
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request {
    /// `POST`.
    pub method: &'static str,
    /// Header names in lower case, and their values. The application adds its own, such as
    /// `authorization`.
    pub headers: [(&'static str, &'static str); 2],
    /// The run input as JSON.
    pub body: Vec<u8>,
    /// What the request leaves out because AG-UI 1.0 does not describe it.
    pub removals: Vec<Removal>,
    input: RunAgentInput,
    /// The conversation, activities included.
    held: Reducer,
}

impl Request {
    fn new(
        input: RunAgentInput,
        held: Reducer,
        removals: Vec<Removal>,
        accept: &'static str,
    ) -> Self {
        Self {
            method: "POST",
            headers: [("content-type", "application/json"), ("accept", accept)],
            // An input always has a JSON form.
            body: serde_json::to_vec(&input).unwrap_or_default(),
            removals,
            input,
            held,
        }
    }

    /// Returns the run input of the request.
    pub fn input(&self) -> &RunAgentInput {
        &self.input
    }

    /// Creates the reader of the answer that begins with this status and `Content-Type`.
    pub fn response(&self, status: u16, content_type: Option<&str>) -> Response {
        Response::new(&self.input, self.held.clone(), status, content_type)
    }
}

/// An error creating a request: interrupts of the last run have no answer.
///
/// Spec: [Interrupts and Resume, 1.0](https://ag-ui.com/spec/1.0/basic/patterns/interrupt-resume)
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct MissingAnswers {
    /// The interrupts without an answer.
    pub ids: Vec<InterruptId>,
}

impl fmt::Display for MissingAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupts of the last run have no answer:")?;
        self.ids.iter().try_for_each(|id| write!(f, " {:?}", id.as_str()))
    }
}
