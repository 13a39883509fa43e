//! The machines of both sides in a common form, for the driver.
use super::RequestError;
use crate::agent;
use crate::client::{
    self, AgentNotification, AgentRequest, Call, CallError, CloseReason, Diagnostic, OpenedSession,
    ReceivedValue, RequestKey, SessionEvent, TurnEnd, TurnError, Update,
};
use crate::endpoint::{self, Endpoint};
use crate::{v1, v2};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorObject, RequestId};

/// The driver reads no clock: use the runtime's timeouts around a call.
pub(super) const NOW: Duration = Duration::ZERO;

/// The result of a call.
#[derive(Debug)]
pub(super) enum Done {
    Result(Raw),
    Opened(Box<OpenedSession>),
    Turn(Box<ReceivedValue<TurnEnd>>),
}

/// An event of either machine. Calls, sessions and turns share their numbers.
#[derive(Debug)]
pub(super) enum MachineEvent<R, N> {
    Request(RequestKey, R),
    Notification(N),
    Cancelled(RequestKey),
    Ended(u64, Result<Done, RequestError>),
    Initialized,
    Problem(Diagnostic),
    Closed,
}

/// A machine with its events in a common form.
pub(super) trait Machine: Send + fmt::Debug + 'static {
    type Request: Send;
    type Notification: Send;

    type Token;
    type Open;
    type PendingEvent: endpoint::Event;

    /// Returns what both machines have.
    fn base(&mut self) -> &mut Endpoint<Self::Token, Self::Open, Self::PendingEvent>;
    fn handle_line(&mut self, line: Result<&str, FrameError>);
    /// Handles the end of the peer's lines. Open requests can still be answered.
    fn handle_end(&mut self);
    fn handle_closed(&mut self);
    fn poll_transmit(&mut self) -> Option<Vec<u8>>;
    fn poll(&mut self) -> Option<MachineEvent<Self::Request, Self::Notification>>;
    fn call(&mut self, call: Call) -> u64;
    fn notify(&mut self, line: Vec<u8>) -> Result<(), CallError>;
    fn reply(&mut self, key: RequestKey, outcome: Result<Raw, ErrorObject>);

    fn transmits(&mut self) -> usize {
        self.base().outgoing.len()
    }

    fn request_id(&mut self, key: RequestKey) -> RequestId {
        self.base().requests.id(key).cloned().unwrap_or(RequestId::NULL)
    }
}

impl Machine for agent::Connection {
    type Request = agent::ClientRequest;
    type Notification = agent::ClientNotification;
    type Token = agent::Token;
    type Open = agent::OpenRequest;
    type PendingEvent = agent::PendingEvent;

    fn base(&mut self) -> &mut Endpoint<Self::Token, Self::Open, Self::PendingEvent> {
        &mut self.base
    }

    fn handle_line(&mut self, line: Result<&str, FrameError>) {
        self.handle_line(line);
    }

    fn handle_end(&mut self) {
        self.handle_end();
    }

    fn handle_closed(&mut self) {
        self.handle_closed(CloseReason::ClientClosed);
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.poll_transmit().map(|transmit| transmit.line)
    }

    fn poll(&mut self) -> Option<MachineEvent<Self::Request, Self::Notification>> {
        Some(match self.poll_event()? {
            agent::Event::Request(key, request) => MachineEvent::Request(key, request.value),
            agent::Event::Notification(event) => MachineEvent::Notification(event.value),
            agent::Event::Cancelled(key) => MachineEvent::Cancelled(key),
            agent::Event::CallEnded(key, outcome) => {
                let outcome = outcome.map(|result| Done::Result(result.raw));
                MachineEvent::Ended(key.get(), outcome.map_err(RequestError::from))
            }
            agent::Event::Diagnostic(diagnostic) => MachineEvent::Problem(diagnostic),
            agent::Event::Closed(_) => MachineEvent::Closed,
        })
    }

    fn call(&mut self, call: Call) -> u64 {
        self.call(call, NOW).get()
    }

    fn notify(&mut self, line: Vec<u8>) -> Result<(), CallError> {
        self.notify_line(line)
    }

    fn reply(&mut self, key: RequestKey, outcome: Result<Raw, ErrorObject>) {
        // The machine has already answered a cancelled prompt, or the connection has closed.
        let _ = self.answer(key, outcome);
    }
}

/// The client's machine, and the pending results of its events.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) machine: client::Connection,
    waiting: VecDeque<MachineEvent<AgentRequest, AgentNotification>>,
}

impl Client {
    pub(super) fn new(options: client::Options) -> Self {
        Self { machine: client::Connection::new(options, NOW), waiting: VecDeque::new() }
    }

    fn session_event(&mut self, key: u64, event: SessionEvent) {
        let event = match event {
            SessionEvent::Opened(mut opened) => {
                let replay = core::mem::take(&mut opened.replay).into_iter();
                self.waiting.extend(
                    replay.map(|update| MachineEvent::Notification(to_notification(update.value))),
                );
                MachineEvent::Ended(key, Ok(Done::Opened(opened)))
            }
            SessionEvent::Refused(error) => MachineEvent::Ended(key, Err(error.into())),
            SessionEvent::Update(update) => {
                MachineEvent::Notification(to_notification(update.value))
            }
            SessionEvent::Request(key, request) => MachineEvent::Request(key, request.value),
            SessionEvent::Withdrawn(key) => MachineEvent::Cancelled(key),
            SessionEvent::Notification(event) => MachineEvent::Notification(event.value),
            SessionEvent::TurnEnded(turn, outcome) => {
                let outcome =
                    outcome.map(|end| Done::Turn(Box::new(end))).map_err(|error| match error {
                        TurnError::Call(error) => error.into(),
                        TurnError::GraceOver => CallError::Timeout.into(),
                    });
                MachineEvent::Ended(turn.get(), outcome)
            }
            SessionEvent::Lagged { dropped } => {
                MachineEvent::Problem(Diagnostic::Dropped { count: dropped })
            }
            SessionEvent::PromptAccepted(..) => return,
        };
        self.waiting.push_back(event);
    }
}

/// Returns an update as its notification.
fn to_notification(update: Update) -> AgentNotification {
    match update {
        Update::V1(update) => {
            AgentNotification::V1(v1::dispatch::AgentNotification::SessionNotification(update))
        }
        Update::V2(update) => AgentNotification::V2(
            v2::dispatch::AgentNotification::UpdateSessionNotification(update),
        ),
    }
}

impl Machine for Client {
    type Request = AgentRequest;
    type Notification = AgentNotification;
    type Token = client::Token;
    type Open = client::OpenRequest;
    type PendingEvent = client::PendingEvent;

    fn base(&mut self) -> &mut Endpoint<Self::Token, Self::Open, Self::PendingEvent> {
        &mut self.machine.base
    }

    fn handle_line(&mut self, line: Result<&str, FrameError>) {
        self.machine.handle_line(line, NOW);
    }

    fn handle_end(&mut self) {
        self.machine.handle_closed(CloseReason::AgentClosed(String::new()));
    }

    fn handle_closed(&mut self) {
        self.machine.handle_closed(CloseReason::ClientClosed);
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.machine.poll_transmit().map(|transmit| transmit.line)
    }

    fn poll(&mut self) -> Option<MachineEvent<Self::Request, Self::Notification>> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            return Some(match self.machine.poll_event()? {
                client::Event::Initialized(_) => MachineEvent::Initialized,
                client::Event::Session(key, event) => {
                    self.session_event(key.get(), event);
                    continue;
                }
                client::Event::Request(key, request) => MachineEvent::Request(key, request.value),
                client::Event::Withdrawn(key) => MachineEvent::Cancelled(key),
                client::Event::Notification(event) => MachineEvent::Notification(event.value),
                client::Event::CallEnded(key, outcome) => {
                    let outcome = outcome.map(|result| Done::Result(result.raw));
                    MachineEvent::Ended(key.get(), outcome.map_err(RequestError::from))
                }
                client::Event::Diagnostic(diagnostic) => MachineEvent::Problem(diagnostic),
                client::Event::Closed(_) => MachineEvent::Closed,
            });
        }
    }

    fn call(&mut self, call: Call) -> u64 {
        self.machine.call(call, NOW).get()
    }

    fn notify(&mut self, line: Vec<u8>) -> Result<(), CallError> {
        self.machine.notify_line(line)
    }

    fn reply(&mut self, key: RequestKey, outcome: Result<Raw, ErrorObject>) {
        // The machine has already answered a withdrawn request, or the connection has closed.
        let _ = self.base().reply(key, outcome.into());
    }
}
