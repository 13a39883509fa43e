//! Traces of the official ACP conductor.
use super::stored::Event;
use super::{Direction, Entry};
use crate::message::{Message, Notification, Request, Response};
use crate::wire::{self, DecodeError, Raw};
use crate::{ErrorObject, RequestId};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use serde_json::value::RawValue;

/// Reads the output of the official ACP conductor with `--trace` (a `.jsons` file): one of the
/// traced connections.
///
/// A trace has messages as the conductor interpreted them, not as on the wire: ids are the
/// conductor's own, unknown members are missing, and so are responses to untraced requests. The
/// messages are encoded again here. Embedded messages of other protocols, such as MCP, are left
/// out.
///
/// Format: crate `agent-client-protocol-conductor` 5.0.0, module `trace`.
///
/// ```
/// use jsonrpc_core::transcript::{Conductor, Direction};
///
/// let trace = r#"{"type":"request","ts":0.25,"protocol":"acp","from":"Client","to":"Agent","id":"7f","method":"session/new","params":{"cwd":"/tmp"}}"#;
/// let mut conductor = Conductor::new("Client", "Agent");
/// let entry = conductor.entry(trace)?.ok_or("of another connection")?;
/// assert_eq!((entry.time.as_millis(), entry.direction), (250, Direction::Sent));
/// assert_eq!(&*entry.bytes, br#"{"jsonrpc":"2.0","id":"7f","method":"session/new","params":{"cwd":"/tmp"}}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Conductor {
    us: String,
    them: String,
    /// Requests of other protocols, since their responses do not name the protocol.
    elsewhere: BTreeSet<RequestId>,
}

impl Conductor {
    /// Largest number of open requests of other protocols; responses beyond it are attributed to
    /// this connection.
    pub const MAX_ELSEWHERE: usize = 1024;

    /// Creates a reader for the connection between two components with the trace's names (`Client`,
    /// `Proxy(0)`, `Agent`), from the point of view of the first.
    pub fn new(us: impl Into<String>, them: impl Into<String>) -> Self {
        Self { us: us.into(), them: them.into(), elsewhere: BTreeSet::new() }
    }

    /// Decodes a line of the trace; `None` if it belongs to another connection or protocol, or is
    /// not a message.
    ///
    /// # Errors
    /// The line is not an event of a trace.
    pub fn entry(&mut self, line: &str) -> Result<Option<Entry<'static>>, DecodeError> {
        let event: Event = wire::decode(line)?;
        let Ok(time) = Duration::try_from_secs_f64(event.ts) else { return Ok(None) };
        let Some(direction) = self.direction(&event) else { return Ok(None) };
        let id = event.id.clone().unwrap_or(RequestId::NULL);
        let method = event.method.as_deref().unwrap_or_default();
        let message = match &*event.kind {
            "request" if self.is_elsewhere(&event) => None,
            "request" => Some(Request::new(id, method, raw(&event.params)).into()),
            "notification" if self.is_elsewhere(&event) => None,
            "notification" => Some(Notification::new(method, raw(&event.params)).into()),
            "response" if self.elsewhere.remove(&id) => None,
            "response" => Some(response(id, &event)?),
            _ => None,
        };
        Ok(message.map(|message: Message<'_>| {
            let mut bytes = Vec::new();
            message.to_line(&mut bytes);
            bytes.pop();
            Entry { time, direction, bytes: bytes.into() }
        }))
    }

    fn direction(&self, event: &Event) -> Option<Direction> {
        let from = event.from.as_deref()?;
        let to = event.to.as_deref()?;
        if from == self.us && to == self.them {
            Some(Direction::Sent)
        } else if from == self.them && to == self.us {
            Some(Direction::Received)
        } else {
            None
        }
    }

    fn is_elsewhere(&mut self, event: &Event) -> bool {
        let is_elsewhere = event.protocol.as_deref().is_some_and(|protocol| protocol != "acp");
        if is_elsewhere
            && let Some(id) = &event.id
            && self.elsewhere.len() < Self::MAX_ELSEWHERE
        {
            self.elsewhere.insert(id.clone());
        }
        is_elsewhere
    }
}

fn response(id: RequestId, event: &Event) -> Result<Message<'_>, DecodeError> {
    let payload = raw(&event.payload).unwrap_or(RawValue::NULL);
    let outcome = if event.is_error == Some(true) {
        let error: ErrorObject =
            wire::decode(payload.get()).map_err(|error| error.below("payload"))?;
        Err(error)
    } else {
        Ok(payload)
    };
    Ok(Response::new(id, outcome).into())
}

fn raw(raw: &Option<Raw>) -> Option<&RawValue> {
    raw.as_ref().map(Raw::as_ref)
}
