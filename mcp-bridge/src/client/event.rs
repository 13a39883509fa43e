//! Events of clients.
use super::{CallError, ConnectError, ListedTools, UpstreamCall};
use crate::mcp::base::ProtocolVersion;
use crate::mcp::capabilities::{Implementation, ServerCapabilities};
use crate::mcp::dispatch::ServerNotification;
use crate::mcp::logging::LoggingMessageNotificationParams;
use crate::mcp::progress::ProgressNotificationParams;
use crate::mcp::subscriptions::ServerChange;
use crate::mcp::tasks::Task;
use crate::mcp::tools::CallToolResult;
use crate::server::Needs;
use alloc::boxed::Box;
use alloc::string::String;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::Raw;

/// An event returned by [`Client::poll_event`](super::Client::poll_event).
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The handshake succeeded.
    Ready(Box<ServerDescription>),
    /// The handshake failed. The connection cannot be used.
    Unusable(ConnectError),
    /// The complete tool list, all pages included.
    Tools(Box<ListedTools>),
    /// The tool list could not be retrieved.
    ToolsFailed(CallError),
    /// The server reports a change. See [`Client::subscribe`](super::Client::subscribe).
    Changed(ServerChange),
    /// The server acknowledged the subscription: it reports all changes from now on. Since
    /// 2026-07-28.
    Subscribed,
    /// The server ended or rejected a subscription.
    SubscriptionEnded {
        /// Whether the server had acknowledged the subscription. Changes since its end are unknown.
        was_open: bool,
        /// The reason, unless the server ended the subscription regularly.
        error: Option<ErrorObject>,
    },
    /// A call completed.
    Done {
        /// The call.
        call: UpstreamCall,
        /// The result of the tool. If the server left out `content`, it is empty.
        result: Box<CallToolResult>,
    },
    /// A [request](super::Client::request) that is no tool call completed.
    Answered {
        /// The request.
        call: UpstreamCall,
        /// The result as received. [`ServerResult`](crate::mcp::dispatch::ServerResult) decodes it.
        result: Raw,
    },
    /// A call or another request failed without a result.
    Failed {
        /// The call.
        call: UpstreamCall,
        /// The reason.
        error: CallError,
    },
    /// A call needs input. [`Client::answer`](super::Client::answer) continues it.
    Needs {
        /// The call.
        call: UpstreamCall,
        /// The requests to answer. From 2026-07-28 the state belongs to the server and has to be
        /// returned byte for byte.
        needs: Needs,
    },
    /// A request for input that belongs to no call was refused: the call of its stream has ended,
    /// or it names no call and the [connection is shared](super::ClientOptions::is_shared) or has
    /// not exactly one open call. Up to 2025-11-25.
    Unassigned {
        /// The method, such as `elicitation/create`.
        method: String,
        /// Number of open calls.
        open_calls: usize,
    },
    /// The server cancelled a request for input. Up to 2025-11-25.
    Withdrawn {
        /// The call that the request belonged to.
        call: UpstreamCall,
        /// Key of the request.
        key: String,
    },
    /// A call continues as a task. The client polls the task until it ends.
    Task {
        /// The call.
        call: UpstreamCall,
        /// The current state of the task.
        task: Box<Task>,
    },
    /// Progress of a call.
    Progress {
        /// The call.
        call: UpstreamCall,
        /// The progress.
        params: Box<ProgressNotificationParams>,
    },
    /// A log message. See [`Client::set_log_level`](super::Client::set_log_level).
    Log {
        /// The call that the message belongs to: that of the transport, or else the only open call
        /// of a connection that is not [shared](super::ClientOptions::is_shared).
        call: Option<UpstreamCall>,
        /// The message.
        params: Box<LoggingMessageNotificationParams>,
    },
    /// The server rejected a level of log messages. Up to 2025-11-25. It is not requested again.
    LogLevelFailed(ErrorObject),
    /// Any other notification of the server.
    Notification(ServerNotification),
    /// A line was malformed or is not a message that a client receives. An error response was sent
    /// if one is due.
    Malformed(String),
}

/// Properties of the server, learned in the handshake.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerDescription {
    /// The negotiated protocol version.
    pub version: ProtocolVersion,
    /// The capabilities of the server.
    pub capabilities: ServerCapabilities,
    /// Name and version that the server claims, if any. The value is not verified.
    pub server_info: Option<Implementation>,
    /// Usage instructions for the model.
    pub instructions: Option<String>,
}
