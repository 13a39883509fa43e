//! Permission requests of the agent.
//!
//! | property | value |
//! |---|---|
//! | span | `session/request_permission`, SERVER, child of the tool call's span, for as long as the agent waits |
//! | `acp.permission.outcome` | `selected`, `cancelled`, or an unknown value verbatim |
//! | `acp.permission.option.id` | the selected option |
//! | `acp.permission.option.kind` | its kind: `allow_once`, `allow_always`, `reject_once`, `reject_always`, or an unknown value verbatim |
//! | `acp.permission.wait.duration` | wait in seconds |
//! | event `acp.permission` | on the tool call's span, with the same attributes |
//!
//! ```
//! use core::time::Duration;
//! use semconv_map::{Direction, Policy, Record, Tracker, keys};
//!
//! let mut tracker = Tracker::new(Policy::default());
//! let asked = br#"{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"ok","name":"Allow","kind":"allow_once"}]}}"#;
//! let answered = br#"{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"ok"}}}"#;
//! tracker.handle_line(Direction::Received, Duration::from_secs(1), asked);
//! tracker.handle_line(Direction::Sent, Duration::from_secs(6), answered);
//!
//! let event = std::iter::from_fn(|| tracker.poll()).find_map(|record| match record {
//!     Record::Event(event) => Some(event),
//!     _ => None,
//! });
//! let waited = event.map(|event| event.attributes.last().map(|last| (last.key, last.value.clone())));
//! assert_eq!(waited, Some(Some((keys::ACP_PERMISSION_WAIT_DURATION, 5.0.into()))));
//! ```
//!
//! Spec: [Requesting
//! Permission](https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission)
use crate::attribute::{Attributes, clip};
use crate::keys;
use acp_types::v1::tool_calls::RequestPermissionOutcome;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::array_items;
use serde::Deserialize;

/// Maximum number of options that are remembered with their kinds.
pub const MAX_OPTIONS: usize = 32;

/// The options of an open request: id and kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options(Vec<(String, String)>);

/// The members of an option that are remembered.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OptionMembers<'a> {
    #[serde(borrow)]
    option_id: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
}

impl Options {
    /// Decodes the options of a request. Returns `None` if they are invalid.
    pub(crate) fn read(options: &str) -> Option<Self> {
        if !options.starts_with('[') {
            return None;
        }
        let mut kept = Vec::new();
        for option in array_items(options) {
            let option: OptionMembers<'_> = serde_json::from_str(option).ok()?;
            if kept.len() < MAX_OPTIONS {
                kept.push((clip(&option.option_id), clip(&option.kind)));
            }
        }
        Some(Self(kept))
    }

    /// Returns the attributes that the response adds to the span and to the event.
    pub(crate) fn answered(
        &self,
        outcome: &RequestPermissionOutcome,
        wait: Duration,
    ) -> Attributes {
        let mut attributes = Attributes::default();
        attributes.set(keys::ACP_PERMISSION_OUTCOME, clip(outcome.tag()));
        if let RequestPermissionOutcome::Selected(selected) = outcome {
            let id = clip(selected.option_id.as_str());
            let kind =
                self.0.iter().find(|(option, _)| *option == id).map(|(_, kind)| kind.clone());
            attributes.set(keys::ACP_PERMISSION_OPTION_ID, id);
            attributes.set_some(keys::ACP_PERMISSION_OPTION_KIND, kind);
        }
        attributes.set(keys::ACP_PERMISSION_WAIT_DURATION, wait.as_secs_f64());
        attributes
    }
}
