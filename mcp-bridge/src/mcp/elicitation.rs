//! Elicitation: requests of a server for input from the user, by form or by URL.
//!
//! Spec: [Elicitation](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation)
//! (2026-07-28), [the
//! same](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation) (2025-11-25)
use super::tasks::TaskMetadata;
use alloc::boxed::Box;
use alloc::string::String;
use jsonrpc_core::wire::{DecodeError, Extra, Raw};
use jsonrpc_core::{object, open_enum, open_union};

pub use super::requested_schema::{
    BooleanSchema, Choice, EnumOption, MultiSelectEnumSchema, MultiSelectItems, NumberSchema,
    PrimitiveSchemaDefinition, RequestedSchema, SchemaType, StringFormat, StringSchema,
};

open_union! {
    /// The params of `elicitation/create`: a request for input from the user.
    ///
    /// Up to 2025-11-25 the server sends it as a request. Since 2026-07-28 it is one of the
    /// [`input_requests`](super::mrtr::InputRequiredResult::input_requests) of a result.
    ///
    /// Spec: [`ElicitRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#elicitrequestparams)
    ///
    /// An unknown mode is preserved. It must not be presented as a form:
    ///
    /// ```
    /// use jsonrpc_core::wire;
    /// use mcp_bridge::mcp::elicitation::ElicitRequestParams;
    ///
    /// let form = r#"{"message":"Name?","requestedSchema":{"type":"object","properties":{}}}"#;
    /// assert_eq!(wire::decode::<ElicitRequestParams>(form)?.tag(), "form");
    /// let newer = r#"{"mode":"wizard","message":"Name?"}"#;
    /// assert!(!wire::decode::<ElicitRequestParams>(newer)?.is_known());
    /// # Ok::<(), wire::DecodeError>(())
    /// ```
    #[doc(alias = "elicitation/create")]
    pub enum ElicitRequestParams by "mode" {
        /// The user opens a URL. Since 2025-11-25.
        Url(Box<ElicitRequestURLParams>) = "url",
    }
    untagged {
        /// The user fills in a form. This is the default if the mode is absent.
        Form(Box<ElicitRequestFormParams>) = "form",
    }
}

impl ElicitRequestParams {
    /// Returns the message for the user, or `None` in an unknown mode.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Url(url) => Some(&url.message),
            Self::Form(form) => Some(&form.message),
            Self::Unknown(_) => None,
        }
    }
}

object! {
    /// An elicitation by form.
    ///
    /// Spec: [`ElicitRequestFormParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#elicitrequestformparams)
    ///
    /// The schema of 2026-07-28 does not define `_meta` here, but peers send and preserve it.
    pub struct ElicitRequestFormParams {
        /// The message for the user.
        message: String = "message",
        /// Schema of the answer, kept as text to preserve it exactly. [`schema`](Self::schema)
        /// decodes it.
        requested_schema: Raw = "requestedSchema",
    }
    optional {
        /// Requests a task instead of a result. In 2025-11-25 only.
        task: TaskMetadata = "task",
    }
    and "_meta"
}

impl ElicitRequestFormParams {
    /// Decodes the schema.
    ///
    /// # Errors
    /// Returns an error if the schema is not an object or one of its own members has a wrong type.
    /// The fields are not decoded.
    pub fn schema(&self) -> Result<RequestedSchema, DecodeError> {
        self.requested_schema.decode()
    }
}

object! {
    /// An elicitation by URL.
    ///
    /// Spec: [`ElicitRequestURLParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#elicitrequesturlparams)
    pub struct ElicitRequestURLParams {
        /// The reason, for the user.
        message: String = "message",
        /// The URL to open.
        url: String = "url",
    }
    optional {
        /// Identifies the elicitation in `notifications/elicitation/complete`. Required in
        /// 2025-11-25, removed in 2026-07-28.
        elicitation_id: String = "elicitationId",
        /// Requests a task instead of a result. In 2025-11-25 only.
        task: TaskMetadata = "task",
    }
    and "_meta"
}

object! {
    /// The result of `elicitation/create`.
    ///
    /// Spec: [`ElicitResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#elicitresult)
    ///
    /// ```
    /// use jsonrpc_core::wire::{self, Raw};
    /// use mcp_bridge::mcp::elicitation::{ElicitAction, ElicitResult};
    ///
    /// let mut result = ElicitResult::new(ElicitAction::Accept);
    /// result.content.get_or_insert_default().insert("row", Raw::from_value(&12)?);
    /// assert_eq!(serde_json::to_string(&result)?, r#"{"action":"accept","content":{"row":12}}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[doc(alias = "elicitation/create")]
    pub struct ElicitResult {
        /// The action of the user.
        action: ElicitAction = "action",
    }
    optional {
        /// Values of the form by field, as received. Present only if the form was accepted.
        content: Extra = "content",
    }
    and "_meta"
}

open_enum! {
    /// The user's response to an elicitation. An unknown action is not a consent.
    ///
    /// Spec: [Response
    /// Actions](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#response-actions)
    pub enum ElicitAction {
        /// The user submitted an answer.
        Accept = "accept",
        /// The user declined.
        Decline = "decline",
        /// The user dismissed the request without an answer.
        Cancel = "cancel",
    }
}

object! {
    /// The params of `notifications/elicitation/complete`: an elicitation by URL is complete. In
    /// 2025-11-25 only.
    ///
    /// Spec: [`ElicitationCompleteNotification`](https://modelcontextprotocol.io/specification/2025-11-25/schema#elicitationcompletenotification)
    #[doc(alias = "notifications/elicitation/complete")]
    pub struct ElicitationCompleteNotificationParams {
        /// Id of the elicitation.
        elicitation_id: String = "elicitationId",
    }
    and "_meta"
}
