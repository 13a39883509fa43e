//! Events of a call, for its caller.
use jsonrpc_core::wire::Raw;
use mcp_bridge::client::CallError;
use mcp_bridge::mcp::logging::LoggingMessageNotificationParams;
use mcp_bridge::mcp::progress::ProgressNotificationParams;
use mcp_bridge::mcp::tools::CallToolResult;
use mcp_bridge::server::Needs;

/// An event of a call.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallEvent {
    /// The server needs answers, which [`OpenCall::answer`](crate::OpenCall::answer) takes by key.
    Needs(Needs),
    /// The server no longer needs the answer with this key. Up to 2025-11-25.
    Withdrawn(String),
    /// Progress, if the parameters of the call request it. Progress that is not read in time is
    /// dropped.
    Progress(Box<ProgressNotificationParams>),
    /// A log message, if the parameters of the call request its level. One that is not read in time
    /// is dropped. Messages that cannot be attributed to a call are dropped as well.
    Log(Box<LoggingMessageNotificationParams>),
    /// The result of a [request](crate::McpClient::open_request) that is no tool call, as received.
    Answered(Raw),
    /// The call has ended, or the request has no result.
    Ended(Result<Box<CallToolResult>, CallError>),
}
