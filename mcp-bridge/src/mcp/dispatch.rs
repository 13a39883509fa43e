//! Reading params and results by their method.
//!
//! Names are the schema's: a client request is one that a client sends and a server receives. The methods of all versions
//! are read; the [table](super::methods) says which version has which.
//!
//! ```
//! use jsonrpc_core::Message;
//! use mcp_bridge::mcp::dispatch::ClientRequest;
//!
//! let line = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1}}}"#;
//! let Message::Request(request) = Message::decode(line)? else { panic!("not a request") };
//! let ClientRequest::CallTool(call) = ClientRequest::decode(&request.method, request.params)? else { panic!("not a call") };
//! assert_eq!(call.name, "add");
//!
//! let request = ClientRequest::decode("example/ping", None)?;
//! assert!(matches!(request, ClientRequest::Other { method, .. } if method == "example/ping"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use super::base::ProtocolVersion as Version;
use super::base::{EmptyResult, PaginatedRequestParams, RequestParams};
use super::cancellation::CancelledNotificationParams;
use super::completion::{CompleteRequestParams, CompleteResult};
use super::discover::DiscoverResult;
use super::elicitation::{
    ElicitRequestParams, ElicitResult, ElicitationCompleteNotificationParams,
};
use super::lifecycle::{InitializeRequestParams, InitializeResult};
use super::logging::{LoggingMessageNotificationParams, SetLevelRequestParams};
use super::methods::{Direction, Method, MethodKind};
use super::progress::ProgressNotificationParams;
use super::prompts::{GetPromptOutcome, GetPromptRequestParams, ListPromptsResult};
use super::resources::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceOutcome,
    ReadResourceRequestParams, ResourceRequestParams,
};
use super::roots::ListRootsResult;
use super::sampling::{CreateMessageRequestParams, CreateMessageResult};
use super::subscriptions::SubscriptionsListenRequestParams;
use super::tasks::{
    CancelTaskResult, ListTasksResult, Task, TaskRequestParams, UpdateTaskRequestParams,
};
use super::tools::{CallToolOutcome, CallToolRequestParams, ListToolsResult};
use alloc::boxed::Box;
use alloc::string::String;
use jsonrpc_core::wire::{DecodeError, Extra, Raw, decode};
use serde_json::value::RawValue;

/// The text of an object that may be absent.
fn object(value: Option<&RawValue>) -> &str {
    value.map(RawValue::get).filter(|text| *text != "null").unwrap_or("{}")
}

macro_rules! row {
    ($method:literal, $direction:ident, $kind:ident, $Params:ident, $result:expr,
        $since:ident, ($($until:ident)?), ($($gate:literal)?), ($($input:ident)?)) => {
        Method {
            name: $method,
            direction: Direction::$direction,
            kind: MethodKind::$kind,
            params: stringify!($Params),
            result: $result,
            since: Version::$since,
            until: row!(@some $(Version::$until)?),
            gate: row!(@some $($gate)?),
            is_input_request: row!(@flag $($input)?),
        }
    };
    (@some) => { None };
    (@some $value:expr) => { Some($value) };
    (@flag) => { false };
    (@flag input_request) => { true };
}

/// What one side receives, with params of its own for each method.
macro_rules! params {
    (
        [$($attr:tt)*] $Name:ident = [$($row:expr,)+];
        $( $method:literal $Variant:ident($Params:ident) )+
    ) => {
        $($attr)*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $Name {
            $(
                #[doc = concat!("`", $method, "`")]
                $Variant(Box<$Params>),
            )+
            /// A method that this version does not know.
            Other {
                /// The method.
                method: String,
                /// The params as they came.
                params: Option<Raw>,
            },
        }

        impl $Name {
            /// The methods, see [`methods`](super::methods).
            pub const METHODS: &'static [Method] = &[$($row,)+];

            /// Reads the params by the method; absent ones and `null` as an empty object.
            ///
            /// # Errors
            /// The method is known and these are not its params. The pointer begins at the params.
            pub fn decode(method: &str, params: Option<&RawValue>) -> Result<Self, DecodeError> {
                Ok(match method {
                    $( $method => Self::$Variant(Box::new(decode(object(params))?)), )+
                    other => Self::Other { method: other.into(), params: params.map(Raw::from) },
                })
            }

            /// The method.
            pub fn method(&self) -> &str {
                match self {
                    $( Self::$Variant(_) => $method, )+
                    Self::Other { method, .. } => method,
                }
            }

            /// Writes the params.
            ///
            /// # Errors
            /// None that can happen; see [`Raw::from_value`].
            pub fn to_params(&self) -> Result<Option<Raw>, serde_json::Error> {
                match self {
                    $( Self::$Variant(params) => Raw::from_value(params).map(Some), )+
                    Self::Other { params, .. } => Ok(params.clone()),
                }
            }
        }
    };
}

/// Requests of one side and their results, each with its row of the table: name, types, first and last version, gate.
macro_rules! requests {
    (
        $direction:ident;
        $(#[$rattr:meta])* pub enum $Requests:ident;
        $(#[$sattr:meta])* pub enum $Results:ident;
        $( $method:literal $Variant:ident($Params:ident) -> $Result:ident
            [$since:ident .. $($until:ident)?] $(if $gate:literal)? $(also $input:ident)?; )+
    ) => {
        params! {
            [$(#[$rattr])*] $Requests = [$(
                row!($method, $direction, Request, $Params, Some(stringify!($Result)),
                    $since, ($($until)?), ($($gate)?), ($($input)?)),
            )+];
            $( $method $Variant($Params) )+
        }

        $(#[$sattr])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $Results {
            $(
                #[doc = concat!("`", $method, "`")]
                $Variant(Box<$Result>),
            )+
            /// The result of a method that this version does not know.
            Other {
                /// The method of the request.
                method: String,
                /// The result as it came.
                result: Raw,
            },
        }

        impl $Results {
            /// Reads the result of a request by the method of that; `null` as an empty object.
            ///
            /// # Errors
            /// The method is known and this is not its result. The pointer begins at the result.
            pub fn decode(method: &str, result: &RawValue) -> Result<Self, DecodeError> {
                Ok(match method {
                    $( $method => Self::$Variant(Box::new(decode(object(Some(result)))?)), )+
                    other => Self::Other { method: other.into(), result: result.into() },
                })
            }

            /// The method of the request.
            pub fn method(&self) -> &str {
                match self {
                    $( Self::$Variant(_) => $method, )+
                    Self::Other { method, .. } => method,
                }
            }

            /// Writes the result.
            ///
            /// # Errors
            /// None that can happen; see [`Raw::from_value`].
            pub fn to_result(&self) -> Result<Raw, serde_json::Error> {
                match self {
                    $( Self::$Variant(result) => Raw::from_value(result), )+
                    Self::Other { result, .. } => Ok(result.clone()),
                }
            }
        }
    };
}

/// Notifications of one side, each with its row of the table.
macro_rules! notifications {
    (
        $direction:ident;
        $(#[$attr:meta])* pub enum $Notifications:ident;
        $( $method:literal $Variant:ident($Params:ident)
            [$since:ident .. $($until:ident)?] $(if $gate:literal)?; )+
    ) => {
        params! {
            [$(#[$attr])*] $Notifications = [$(
                row!($method, $direction, Notification, $Params, None,
                    $since, ($($until)?), ($($gate)?), ()),
            )+];
            $( $method $Variant($Params) )+
        }
    };
}

requests! {
    ToServer;

    /// A request that a client sends and a server receives.
    ///
    /// Spec: [`ClientRequest`](https://modelcontextprotocol.io/specification/2026-07-28/schema#clientrequest)
    pub enum ClientRequest;

    /// A result that a server sends and a client receives.
    ///
    /// The result of a `tools/call` of 2025-11-25 that asked for a [task](super::tasks::CreateTaskResult) is not among
    /// them: who asked for one reads it as that.
    ///
    /// Spec: [`ServerResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#serverresult)
    pub enum ServerResult;

    "initialize" Initialize(InitializeRequestParams) -> InitializeResult [V20241105..V20251125];
    "server/discover" Discover(RequestParams) -> DiscoverResult [V20260728..];
    "ping" Ping(RequestParams) -> EmptyResult [V20241105..V20251125];
    "tools/list" ListTools(PaginatedRequestParams) -> ListToolsResult [V20241105..] if "tools";
    "tools/call" CallTool(CallToolRequestParams) -> CallToolOutcome [V20241105..] if "tools";
    "prompts/list" ListPrompts(PaginatedRequestParams) -> ListPromptsResult [V20241105..] if "prompts";
    "prompts/get" GetPrompt(GetPromptRequestParams) -> GetPromptOutcome [V20241105..] if "prompts";
    "resources/list" ListResources(PaginatedRequestParams) -> ListResourcesResult [V20241105..] if "resources";
    "resources/templates/list" ListResourceTemplates(PaginatedRequestParams) -> ListResourceTemplatesResult
        [V20241105..] if "resources";
    "resources/read" ReadResource(ReadResourceRequestParams) -> ReadResourceOutcome [V20241105..] if "resources";
    "resources/subscribe" Subscribe(ResourceRequestParams) -> EmptyResult [V20241105..V20251125] if "resources.subscribe";
    "resources/unsubscribe" Unsubscribe(ResourceRequestParams) -> EmptyResult
        [V20241105..V20251125] if "resources.subscribe";
    "completion/complete" Complete(CompleteRequestParams) -> CompleteResult [V20241105..] if "completions";
    "logging/setLevel" SetLevel(SetLevelRequestParams) -> EmptyResult [V20241105..V20251125] if "logging";
    "subscriptions/listen" SubscriptionsListen(SubscriptionsListenRequestParams) -> EmptyResult [V20260728..];
    "tasks/get" GetTask(TaskRequestParams) -> Task [V20251125..] if "tasks";
    "tasks/result" GetTaskPayload(TaskRequestParams) -> Extra [V20251125..V20251125] if "tasks";
    "tasks/update" UpdateTask(UpdateTaskRequestParams) -> EmptyResult
        [V20260728..] if "extensions.io.modelcontextprotocol/tasks";
    "tasks/cancel" CancelTask(TaskRequestParams) -> CancelTaskResult [V20251125..] if "tasks";
    "tasks/list" ListTasks(PaginatedRequestParams) -> ListTasksResult [V20251125..V20251125] if "tasks.list";
}

requests! {
    ToClient;

    /// A request that a server sends and a client receives; from 2026-07-28 on it is inside of a
    /// [result](super::mrtr).
    ///
    /// Spec: [`ServerRequest`](https://modelcontextprotocol.io/specification/2025-11-25/schema#serverrequest),
    /// [`InputRequest`](https://modelcontextprotocol.io/specification/2026-07-28/schema#inputrequest)
    pub enum ServerRequest;

    /// A result that a client sends and a server receives; from 2026-07-28 on it is one of the `inputResponses` of the
    /// request that is made again.
    ///
    /// Spec: [`ClientResult`](https://modelcontextprotocol.io/specification/2025-11-25/schema#clientresult),
    /// [`InputResponse`](https://modelcontextprotocol.io/specification/2026-07-28/schema#inputresponse)
    pub enum ClientResult;

    "ping" Ping(RequestParams) -> EmptyResult [V20241105..V20251125];
    "elicitation/create" Elicit(ElicitRequestParams) -> ElicitResult
        [V20250618..V20251125] if "elicitation" also input_request;
    "sampling/createMessage" CreateMessage(CreateMessageRequestParams) -> CreateMessageResult
        [V20241105..V20251125] if "sampling" also input_request;
    "roots/list" ListRoots(RequestParams) -> ListRootsResult [V20241105..V20251125] if "roots" also input_request;
    "tasks/get" GetTask(TaskRequestParams) -> Task [V20251125..V20251125] if "tasks";
    "tasks/result" GetTaskPayload(TaskRequestParams) -> Extra [V20251125..V20251125] if "tasks";
    "tasks/cancel" CancelTask(TaskRequestParams) -> CancelTaskResult [V20251125..V20251125] if "tasks.cancel";
    "tasks/list" ListTasks(PaginatedRequestParams) -> ListTasksResult [V20251125..V20251125] if "tasks.list";
}

notifications! {
    ToServer;

    /// A notification that a client sends and a server receives.
    ///
    /// Spec: [`ClientNotification`](https://modelcontextprotocol.io/specification/2025-11-25/schema#clientnotification)
    pub enum ClientNotification;

    "notifications/initialized" Initialized(RequestParams) [V20241105..V20251125];
    "notifications/cancelled" Cancelled(CancelledNotificationParams) [V20241105..];
    "notifications/progress" Progress(ProgressNotificationParams) [V20241105..V20251125];
    "notifications/roots/list_changed" RootsListChanged(RequestParams) [V20241105..V20251125];
    "notifications/tasks/status" TaskStatus(Task) [V20251125..V20251125] if "tasks";
}

notifications! {
    ToClient;

    /// A notification that a server sends and a client receives.
    ///
    /// Spec: [`ServerNotification`](https://modelcontextprotocol.io/specification/2026-07-28/schema#servernotification)
    pub enum ServerNotification;

    "notifications/cancelled" Cancelled(CancelledNotificationParams) [V20241105..];
    "notifications/progress" Progress(ProgressNotificationParams) [V20241105..];
    "notifications/message" LoggingMessage(LoggingMessageNotificationParams) [V20241105..];
    "notifications/tools/list_changed" ToolListChanged(RequestParams) [V20241105..];
    "notifications/prompts/list_changed" PromptListChanged(RequestParams) [V20241105..];
    "notifications/resources/list_changed" ResourceListChanged(RequestParams) [V20241105..];
    "notifications/resources/updated" ResourceUpdated(ResourceRequestParams) [V20241105..];
    "notifications/subscriptions/acknowledged" SubscriptionsAcknowledged(SubscriptionsListenRequestParams)
        [V20260728..];
    "notifications/elicitation/complete" ElicitationComplete(ElicitationCompleteNotificationParams)
        [V20251125..V20251125] if "elicitation.url";
    "notifications/tasks/status" TaskStatus(Task) [V20251125..V20251125] if "tasks";
    "notifications/tasks" Task(Task) [V20260728..] if "extensions.io.modelcontextprotocol/tasks";
}
