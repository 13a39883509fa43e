//! Reading parameters and results by their method.
//!
//! Names are the schema's: a client request is one that a client sends and an agent receives.
//!
//! ```
//! use acp_types::v1::dispatch::ClientRequest;
//! use jsonrpc_core::wire::Raw;
//!
//! let params = Raw::from_text(r#"{"sessionId":"s","prompt":[{"type":"text","text":"Hi"}]}"#)?;
//! let request = ClientRequest::decode("session/prompt", Some(params.as_ref()))?;
//! let ClientRequest::PromptRequest(prompt) = request else { panic!("not a prompt") };
//! assert_eq!(prompt.session_id.as_str(), "s");
//!
//! let request = ClientRequest::decode("_example.com/ping", None)?;
//! assert!(matches!(request, ClientRequest::Other { method, .. } if method == "_example.com/ping"));
//! # Ok::<(), jsonrpc_core::wire::DecodeError>(())
//! ```
use super::authentication::{
    AuthenticateRequest, AuthenticateResponse, LogoutRequest, LogoutResponse,
};
use super::cancellation::CancelRequestNotification;
use super::elicitation::{
    CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
};
use super::file_system::{
    ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use super::initialization::{InitializeRequest, InitializeResponse};
use super::prompt_turn::{CancelNotification, PromptRequest, PromptResponse, SessionNotification};
use super::session_config_options::{
    SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
};
use super::session_list::{
    DeleteSessionRequest, DeleteSessionResponse, ListSessionsRequest, ListSessionsResponse,
};
use super::session_modes::{SetSessionModeRequest, SetSessionModeResponse};
use super::session_setup::{
    CloseSessionRequest, CloseSessionResponse, LoadSessionRequest, LoadSessionResponse,
    NewSessionRequest, NewSessionResponse, ResumeSessionRequest, ResumeSessionResponse,
};
use super::terminals::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReleaseTerminalRequest, ReleaseTerminalResponse, TerminalOutputRequest, TerminalOutputResponse,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
use super::tool_calls::{RequestPermissionRequest, RequestPermissionResponse};
use crate::methods::{NotificationParams, RequestParams};
use alloc::boxed::Box;
use alloc::string::String;
use jsonrpc_core::wire::{DecodeError, Raw, decode};
use serde_json::value::RawValue;

/// Requests of one side and their results.
macro_rules! requests {
    (
        $(#[$rattr:meta])* pub enum $Requests:ident;
        $(#[$sattr:meta])* pub enum $Responses:ident;
        $( $method:literal $Request:ident -> $Response:ident, )+
    ) => {
        $(#[$rattr])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $Requests {
            $(
                #[doc = concat!("`", $method, "`")]
                $Request(Box<$Request>),
            )+
            /// A method that this version does not know.
            Other {
                /// The method.
                method: String,
                /// The parameters as they came.
                params: Option<Raw>,
            },
        }

        impl $Requests {
            /// Reads the parameters of a request; absent ones and `null` as an empty object.
            ///
            /// # Errors
            /// The method is known and these are not its parameters. The pointer begins at the parameters.
            pub fn decode(method: &str, params: Option<&RawValue>) -> Result<Self, DecodeError> {
                Ok(match method {
                    $( $method => Self::$Request(decode(object(params))?), )+
                    other => Self::Other { method: other.into(), params: params.map(Raw::from) },
                })
            }

            /// The method.
            pub fn method(&self) -> &str {
                match self {
                    $( Self::$Request(_) => $method, )+
                    Self::Other { method, .. } => method,
                }
            }
        }

        $(#[$sattr])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $Responses {
            $(
                #[doc = concat!("`", $method, "`")]
                $Response(Box<$Response>),
            )+
            /// The result of a method that this version does not know.
            Other {
                /// The method of the request.
                method: String,
                /// The result as it came.
                result: Raw,
            },
        }

        impl $Responses {
            /// Reads the result of a request by the method of that; `null` as an empty object, for there are agents
            /// that answer so where there is nothing to say.
            ///
            /// # Errors
            /// The method is known and this is not its result. The pointer begins at the result.
            pub fn decode(method: &str, result: &RawValue) -> Result<Self, DecodeError> {
                Ok(match method {
                    $( $method => Self::$Response(decode(object(Some(result)))?), )+
                    other => Self::Other { method: other.into(), result: result.into() },
                })
            }

            /// The method of the request.
            pub fn method(&self) -> &str {
                match self {
                    $( Self::$Response(_) => $method, )+
                    Self::Other { method, .. } => method,
                }
            }
        }

        $(
            impl RequestParams for $Request {
                const METHOD: &'static str = $method;
                type Response = $Response;
            }
        )+
    };
}

/// Notifications of one side.
macro_rules! notifications {
    ( $(#[$attr:meta])* pub enum $Notifications:ident; $( $Notification:ident, )+ ) => {
        $(#[$attr])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $Notifications {
            $(
                #[doc = concat!("Of [`", stringify!($Notification), "`].")]
                $Notification($Notification),
            )+
            /// A method that this version does not know.
            Other {
                /// The method.
                method: String,
                /// The parameters as they came.
                params: Option<Raw>,
            },
        }

        impl $Notifications {
            /// Reads the parameters of a notification; absent ones and `null` as an empty object.
            ///
            /// # Errors
            /// The method is known and these are not its parameters. The pointer begins at the parameters.
            pub fn decode(method: &str, params: Option<&RawValue>) -> Result<Self, DecodeError> {
                Ok(match method {
                    $(
                        <$Notification as NotificationParams>::METHOD => {
                            Self::$Notification(decode(object(params))?)
                        }
                    )+
                    other => Self::Other { method: other.into(), params: params.map(Raw::from) },
                })
            }

            /// The method.
            pub fn method(&self) -> &str {
                match self {
                    $( Self::$Notification(_) => <$Notification as NotificationParams>::METHOD, )+
                    Self::Other { method, .. } => method,
                }
            }
        }
    };
}

requests! {
    /// A request that a client sends and an agent receives.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum ClientRequest;

    /// A result that an agent sends and a client receives.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum AgentResponse;

    "initialize" InitializeRequest -> InitializeResponse,
    "authenticate" AuthenticateRequest -> AuthenticateResponse,
    "logout" LogoutRequest -> LogoutResponse,
    "session/new" NewSessionRequest -> NewSessionResponse,
    "session/load" LoadSessionRequest -> LoadSessionResponse,
    "session/resume" ResumeSessionRequest -> ResumeSessionResponse,
    "session/close" CloseSessionRequest -> CloseSessionResponse,
    "session/list" ListSessionsRequest -> ListSessionsResponse,
    "session/delete" DeleteSessionRequest -> DeleteSessionResponse,
    "session/set_mode" SetSessionModeRequest -> SetSessionModeResponse,
    "session/set_config_option" SetSessionConfigOptionRequest -> SetSessionConfigOptionResponse,
    "session/prompt" PromptRequest -> PromptResponse,
}

requests! {
    /// A request that an agent sends and a client receives.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum AgentRequest;

    /// A result that a client sends and an agent receives.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum ClientResponse;

    "session/request_permission" RequestPermissionRequest -> RequestPermissionResponse,
    "fs/read_text_file" ReadTextFileRequest -> ReadTextFileResponse,
    "fs/write_text_file" WriteTextFileRequest -> WriteTextFileResponse,
    "terminal/create" CreateTerminalRequest -> CreateTerminalResponse,
    "terminal/output" TerminalOutputRequest -> TerminalOutputResponse,
    "terminal/wait_for_exit" WaitForTerminalExitRequest -> WaitForTerminalExitResponse,
    "terminal/kill" KillTerminalRequest -> KillTerminalResponse,
    "terminal/release" ReleaseTerminalRequest -> ReleaseTerminalResponse,
    "elicitation/create" CreateElicitationRequest -> CreateElicitationResponse,
}

notifications! {
    /// A notification that a client sends and an agent receives.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum ClientNotification;

    CancelNotification,
    CancelRequestNotification,
}

notifications! {
    /// A notification that an agent sends and a client receives.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum AgentNotification;

    SessionNotification,
    CompleteElicitationNotification,
    CancelRequestNotification,
}

impl NotificationParams for CancelNotification {
    const METHOD: &'static str = "session/cancel";
}

impl NotificationParams for SessionNotification {
    const METHOD: &'static str = "session/update";
}

impl NotificationParams for CompleteElicitationNotification {
    const METHOD: &'static str = "elicitation/complete";
}

impl NotificationParams for CancelRequestNotification {
    const METHOD: &'static str = "$/cancel_request";
}

/// The text of an object that may be absent.
fn object(value: Option<&RawValue>) -> &str {
    value.map(RawValue::get).filter(|text| *text != "null").unwrap_or("{}")
}
