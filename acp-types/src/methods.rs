//! Methods of the protocol as data, and their types.
//!
//! ```
//! use acp_types::methods::{self, Receiver, RequestParams, Stability};
//! use acp_types::v1::prompt_turn::PromptRequest;
//!
//! assert_eq!(PromptRequest::METHOD, "session/prompt");
//! let method = methods::find(methods::V1, Receiver::Agent, "session/prompt").ok_or("no such method")?;
//! assert_eq!(method.params, "PromptRequest");
//! assert_eq!(method.result, Some("PromptResponse"));
//! assert!(method.session_scoped);
//! assert_eq!(method.stability, Stability::Stable);
//! # Ok::<(), &str>(())
//! ```
#![doc = include_str!("../METHODS.md")]
pub use crate::dispatch::OrNull;
pub use crate::method::{Method, MethodKind, Receiver, Stability, find};
pub use crate::params::{NotificationParams, RequestParams};
use crate::{v1, v2};

/// The methods of version 1, including unstable ones.
///
/// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
pub const V1: &[Method] = v1::dispatch::METHODS;

/// The methods of version 2, which is a preview.
///
/// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
pub const V2: &[Method] = v2::dispatch::METHODS;
