//! The tracker of a connection, by its protocol.

use core::time::Duration;
use jsonrpc_core::{PeekedMessage, RequestId};
use semconv_map::rpc::{ConnectionEnd, RpcTracker};
use semconv_map::span::SpanHandle;
use semconv_map::{Attribute, ClosedBy, Counters, Direction, Record, Tracker};

/// The tracker of an ACP connection, or of one of MCP. Directions are those of the client.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one value for each connection")]
pub(crate) enum ProtocolTracker {
    Acp(Tracker),
    McpClient(RpcTracker),
    /// The server sends what the client receives.
    McpServer(RpcTracker),
}

impl ProtocolTracker {
    pub(crate) fn handle_line(&mut self, direction: Direction, time: Duration, line: &[u8]) {
        match self {
            Self::Acp(tracker) => tracker.handle_line(direction, time, line),
            Self::McpClient(tracker) => tracker.handle_line(direction, time, line),
            Self::McpServer(tracker) => tracker.handle_line(direction.reversed(), time, line),
        }
    }

    pub(crate) fn handle_peeked(
        &mut self,
        direction: Direction,
        time: Duration,
        message: &PeekedMessage<'_>,
    ) {
        match self {
            Self::Acp(tracker) => tracker.handle_peeked(direction, time, message),
            Self::McpClient(tracker) => tracker.handle_peeked(direction, time, message),
            Self::McpServer(tracker) => tracker.handle_peeked(direction.reversed(), time, message),
        }
    }

    pub(crate) fn is_quiet(&self, line: &[u8]) -> bool {
        match self {
            Self::Acp(tracker) => tracker.is_quiet(line),
            Self::McpClient(_) | Self::McpServer(_) => false,
        }
    }

    pub(crate) fn decisive_prefix(&self, start: &[u8]) -> Option<usize> {
        match self {
            Self::Acp(tracker) => tracker.decisive_prefix(start),
            Self::McpClient(_) | Self::McpServer(_) => None,
        }
    }

    pub(crate) fn close(&mut self, time: Duration, by: ClosedBy) {
        match self {
            Self::Acp(tracker) => tracker.close(time, by),
            Self::McpClient(tracker) | Self::McpServer(tracker) => {
                let end = match by {
                    ClosedBy::Observer => ConnectionEnd::ObserverStopped,
                    _ => ConnectionEnd::Closed,
                };
                tracker.close(time, end);
            }
        }
    }

    #[inline]
    pub(crate) fn poll(&mut self) -> Option<Record> {
        match self {
            Self::Acp(tracker) => tracker.poll(),
            Self::McpClient(tracker) | Self::McpServer(tracker) => tracker.poll(),
        }
    }

    pub(crate) fn recycle(&mut self, attributes: Vec<Attribute>) {
        if let Self::Acp(tracker) = self {
            tracker.recycle(attributes);
        }
    }

    pub(crate) fn request_span(&self, sender: Direction, id: &RequestId) -> Option<SpanHandle> {
        match self {
            Self::Acp(tracker) => tracker.request_span(sender, id),
            Self::McpClient(tracker) => tracker.request_span(sender, id),
            Self::McpServer(tracker) => tracker.request_span(sender.reversed(), id),
        }
    }

    pub(crate) fn counters(&self) -> Counters {
        match self {
            Self::Acp(tracker) => tracker.counters(),
            Self::McpClient(tracker) | Self::McpServer(tracker) => tracker.counters(),
        }
    }
}
