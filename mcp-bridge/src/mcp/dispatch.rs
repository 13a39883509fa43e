//! Decoding of params and results by method.
//!
//! Names follow the schema: a client request is sent by a client and received by a server. Methods
//! of all versions are decoded; the [table](super::methods) lists the versions of each.
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
use super::method::{Method, MethodKind, Receiver};
use super::mrtr::{InputRequest, InputRequiredResult};
use super::progress::ProgressNotificationParams;
use super::prompts::{GetPromptOutcome, GetPromptRequestParams, ListPromptsResult};
use super::resources::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceOutcome,
    ReadResourceRequestParams, ResourceRequestParams,
};
use super::roots::ListRootsResult;
use super::sampling::{CreateMessageRequestParams, CreateMessageResult};
use super::skills::{GetSkillResult, ListSkillsResult, ReadResourceDirectoryRequestParams};
use super::subscriptions::SubscriptionsListenRequestParams;
use super::tasks::{
    CancelTaskResult, ListTasksResult, Task, TaskRequestParams, UpdateTaskRequestParams,
};
use super::tools::{CallToolOutcome, CallToolRequestParams, ListToolsResult};
use alloc::boxed::Box;
use alloc::string::String;
use jsonrpc_core::wire::{DecodeError, Extra, Raw, decode};
use serde_json::value::RawValue;

/// Returns the text of an object, `{}` if it is absent.
fn object(value: Option<&RawValue>) -> &str {
    value.map(RawValue::get).filter(|text| *text != "null").unwrap_or("{}")
}

macro_rules! row {
    ($method:literal, $receiver:ident, $kind:ident, $Params:ident, $result:expr,
        $since:ident, ($($until:ident)?), ($($gate:literal)?), ($($input:ident)?)) => {
        Method {
            name: $method,
            receiver: Receiver::$receiver,
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

/// Declares the messages that one side receives, with the params of each method.
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
                #[doc(alias = $method)]
                $Variant(Box<$Params>),
            )+
            /// A method that this crate does not know.
            Other {
                /// Name of the method.
                method: String,
                /// The params as received.
                params: Option<Raw>,
            },
        }

        impl $Name {
            /// The methods of this enum, see [`methods`](super::methods).
            pub const METHODS: &'static [Method] = &[$($row,)+];

            /// Decodes the params of a method. Absent and `null` params decode as an empty object.
            ///
            /// # Errors
            /// Returns an error if the method is known and the params do not match it. The pointer
            /// is relative to the params.
            pub fn decode(method: &str, params: Option<&RawValue>) -> Result<Self, DecodeError> {
                Ok(match method {
                    $( $method => Self::$Variant(Box::new(decode(object(params))?)), )+
                    other => Self::Other { method: other.into(), params: params.map(Raw::from) },
                })
            }

            /// Returns the method name.
            pub fn method(&self) -> &str {
                match self {
                    $( Self::$Variant(_) => $method, )+
                    Self::Other { method, .. } => method,
                }
            }

            /// Encodes the params.
            ///
            /// # Errors
            /// Serialization does not fail in practice, see [`Raw::from_value`].
            pub fn to_params(&self) -> Result<Option<Raw>, serde_json::Error> {
                match self {
                    $( Self::$Variant(params) => Raw::from_value(params).map(Some), )+
                    Self::Other { params, .. } => Ok(params.clone()),
                }
            }
        }
    };
}

/// Declares the requests of one side and their results. Each has a row: name, types, first and last
/// version, required capability.
macro_rules! requests {
    (
        $receiver:ident;
        $(#[$rattr:meta])* pub enum $Requests:ident;
        $(#[$sattr:meta])* pub enum $Results:ident;
        $( $method:literal $Variant:ident($Params:ident) -> $Result:ident
            [$since:ident .. $($until:ident)?] $(if $gate:literal)? $(also $input:ident)?; )+
    ) => {
        params! {
            [$(#[$rattr])*] $Requests = [$(
                row!($method, $receiver, Request, $Params, Some(stringify!($Result)),
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
            /// A result of a method that this crate does not know.
            Other {
                /// Method of the request.
                method: String,
                /// The result as received.
                result: Raw,
            },
        }

        impl $Results {
            /// Decodes the result of a request by the method of the request. `null` decodes as an
            /// empty object.
            ///
            /// # Errors
            /// Returns an error if the method is known and the result does not match it. The
            /// pointer is relative to the result.
            pub fn decode(method: &str, result: &RawValue) -> Result<Self, DecodeError> {
                Ok(match method {
                    $( $method => Self::$Variant(Box::new(decode(object(Some(result)))?)), )+
                    other => Self::Other { method: other.into(), result: result.into() },
                })
            }

            /// Returns the method of the request.
            pub fn method(&self) -> &str {
                match self {
                    $( Self::$Variant(_) => $method, )+
                    Self::Other { method, .. } => method,
                }
            }

            /// Encodes the result.
            ///
            /// # Errors
            /// Serialization does not fail in practice, see [`Raw::from_value`].
            pub fn to_result(&self) -> Result<Raw, serde_json::Error> {
                match self {
                    $( Self::$Variant(result) => Raw::from_value(result), )+
                    Self::Other { result, .. } => Ok(result.clone()),
                }
            }
        }
    };
}

/// Declares the notifications of one side, one row for each.
macro_rules! notifications {
    (
        $receiver:ident;
        $(#[$attr:meta])* pub enum $Notifications:ident;
        $( $method:literal $Variant:ident($Params:ident)
            [$since:ident .. $($until:ident)?] $(if $gate:literal)?; )+
    ) => {
        params! {
            [$(#[$attr])*] $Notifications = [$(
                row!($method, $receiver, Notification, $Params, None,
                    $since, ($($until)?), ($($gate)?), ()),
            )+];
            $( $method $Variant($Params) )+
        }
    };
}

requests! {
    Server;

    /// A request that a client sends and a server receives.
    ///
    /// Spec: [`ClientRequest`](https://modelcontextprotocol.io/specification/2026-07-28/schema#clientrequest)
    pub enum ClientRequest;

    /// A result that a server sends and a client receives.
    ///
    /// The result of a task-augmented `tools/call` of 2025-11-25 is not covered: decode it as
    /// [`CreateTaskResult`](super::tasks::CreateTaskResult).
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
    "skills/list" ListSkills(PaginatedRequestParams) -> ListSkillsResult
        [V20260728..] if "extensions.io.modelcontextprotocol/skills";
    "skills/get" GetSkill(ResourceRequestParams) -> GetSkillResult
        [V20260728..] if "extensions.io.modelcontextprotocol/skills";
    "resources/directory/read" ReadResourceDirectory(ReadResourceDirectoryRequestParams) -> ListResourcesResult
        [V20260728..] if "extensions.io.modelcontextprotocol/skills.directoryRead";
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
    Client;

    /// A request that a server sends and a client receives. Since 2026-07-28 it is part of a
    /// [result](super::mrtr).
    ///
    /// Spec: [`ServerRequest`](https://modelcontextprotocol.io/specification/2025-11-25/schema#serverrequest),
    /// [`InputRequest`](https://modelcontextprotocol.io/specification/2026-07-28/schema#inputrequest)
    pub enum ServerRequest;

    /// A result that a client sends and a server receives. Since 2026-07-28 it is one of the
    /// `inputResponses` of a retried request.
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
    Server;

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
    Client;

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

impl InputRequiredResult {
    /// Decodes each request separately by its method and yields it with its key.
    pub fn requests(&self) -> impl Iterator<Item = (&str, Result<ServerRequest, DecodeError>)> {
        let requests = self.input_requests.iter().flat_map(Extra::iter);
        requests
            .map(|(key, request)| (key, request.decode().and_then(|it: InputRequest| it.read())))
    }
}

impl InputRequest {
    /// Decodes the params by method.
    ///
    /// # Errors
    /// Returns an error if the method is known and the params do not match it. The pointer is
    /// relative to the params.
    pub fn read(&self) -> Result<ServerRequest, DecodeError> {
        ServerRequest::decode(&self.method, self.params.as_ref().map(AsRef::as_ref))
    }
}
