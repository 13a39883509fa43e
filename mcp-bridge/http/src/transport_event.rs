//! Events of the background task of a client, which its transport reports.
use jsonrpc_core::framing::FrameError;
use mcp_bridge::client::UpstreamCall;
use reqwest::header::HeaderValue;

/// An event of the background task.
#[derive(Debug)]
pub(crate) enum TransportEvent {
    /// The receiver of a call was dropped.
    Abandoned(UpstreamCall),
    /// A message was received, in the response of a request of a call.
    Line(String, Option<UpstreamCall>),
    /// A line that is no text, or is too long.
    BadLine(FrameError),
    /// The server has started a session.
    Session(HeaderValue),
    /// The connection or the session has ended.
    Closed,
}
