//! Elicitation: forms and URLs for the user.
//!
//! Spec: [Elicitation](https://agentclientprotocol.com/protocol/v1/elicitation), [version
//! 2](https://agentclientprotocol.com/protocol/v2/elicitation)
use super::session_setup::SessionId;
use super::tool_calls::ToolCallId;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Fault, Raw, ValueReader, View, Wire};
use jsonrpc_core::{
    __json_schema, RequestId, member_union, object, open_enum, open_union, string_id,
};

pub use super::elicitation_schema::{
    BooleanPropertySchema, ElicitationProperties, ElicitationPropertySchema, EnumOption,
    IntegerPropertySchema, MultiSelectItems, MultiSelectPropertySchema, NumberPropertySchema,
    StringFormat, StringMultiSelectItems, StringPropertySchema, TitledMultiSelectItems,
};

string_id! {
    /// Identifies an elicitation by URL.
    ///
    /// Spec: [`ElicitationId`](https://agentclientprotocol.com/protocol/v1/schema#elicitationid),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationid)
    pub struct ElicitationId;
}

object! {
    /// An elicitation by URL.
    ///
    /// Spec: [`ElicitationUrlMode`](https://agentclientprotocol.com/protocol/v1/schema#elicitationurlmode),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationurlmode)
    pub struct ElicitationUrlMode {
        /// Identifier of the elicitation, for `elicitation/complete`.
        elicitation_id: ElicitationId = "elicitationId",
        /// The URL to visit.
        url: String = "url",
    }
    rest {
        /// The session or request that the elicitation belongs to.
        scope: ElicitationScope,
    }
}

member_union! {
    /// The session or request that an elicitation belongs to.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema#createelicitationrequest),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#createelicitationrequest)
    pub enum ElicitationScope {
        /// A session.
        Session(ElicitationSessionScope) has "sessionId",
        /// A request of the client outside of sessions.
        Request(ElicitationRequestScope) has "requestId",
    }
}

object! {
    /// The session that an elicitation belongs to.
    ///
    /// Spec: [`ElicitationSessionScope`](https://agentclientprotocol.com/protocol/v1/schema#elicitationsessionscope),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationsessionscope)
    pub struct ElicitationSessionScope {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
    }
    optional {
        /// Identifier of the tool call that caused the elicitation.
        tool_call_id: ToolCallId = "toolCallId" [default_on_error],
    }
}

object! {
    /// The client's request that an elicitation belongs to.
    ///
    /// Spec: [`ElicitationRequestScope`](https://agentclientprotocol.com/protocol/v1/schema#elicitationrequestscope),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationrequestscope)
    pub struct ElicitationRequestScope {
        /// Identifier of the request.
        request_id: RequestId = "requestId",
    }
}

open_enum! {
    /// The type of a form's content.
    ///
    /// Spec: [`ElicitationSchemaType`](https://agentclientprotocol.com/protocol/v1/schema#elicitationschematype),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationschematype)
    pub enum ElicitationSchemaType {
        /// An object, with a member for each field.
        Object = "object",
    }
}

object! {
    /// The result of an elicitation.
    ///
    /// Method `elicitation/create`.
    /// Spec: [`CreateElicitationResponse`](https://agentclientprotocol.com/protocol/v1/schema#createelicitationresponse),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#createelicitationresponse)
    pub struct CreateElicitationResponse {}
    rest {
        /// The user's action.
        action: ElicitationAction,
    }
    and "_meta"
}

open_union! {
    /// The user's action on an elicitation. An unknown action counts as `cancel`.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema#createelicitationresponse),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#createelicitationresponse)
    pub enum ElicitationAction by "action" {
        /// The user answered.
        Accept(ElicitationAcceptAction) = "accept",
        /// The user declined.
        Decline(Extra) = "decline",
        /// The user dismissed it without an answer.
        Cancel(Extra) = "cancel",
    }
}

impl ElicitationAction {
    /// Returns whether the user dismissed the elicitation. An unknown action counts as such.
    pub fn is_cancel(&self) -> bool {
        matches!(self, Self::Cancel(_) | Self::Unknown(_))
    }
}

object! {
    /// The user answered the elicitation.
    ///
    /// Spec: [`ElicitationAcceptAction`](https://agentclientprotocol.com/protocol/v1/schema#elicitationacceptaction),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationacceptaction)
    pub struct ElicitationAcceptAction {}
    optional {
        /// Content of the form; absent for an elicitation by URL.
        content: BTreeMap<String, ElicitationContentValue> = "content",
    }
}

/// The value of a form field.
///
/// Spec: [`ElicitationContentValue`](https://agentclientprotocol.com/protocol/v1/schema#elicitationcontentvalue),
/// [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationcontentvalue)
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitationContentValue {
    /// A string, or a selection from several values.
    String(String),
    /// An integer.
    Integer(i64),
    /// A number with a fraction or an exponent.
    Number(f64),
    /// A boolean.
    Boolean(bool),
    /// Selections from several values.
    StringArray(Vec<String>),
    /// Any other JSON value, kept verbatim.
    Unknown(Raw),
}

impl From<Raw> for ElicitationContentValue {
    fn from(value: Raw) -> Self {
        let text = value.as_str();
        let known = match text.as_bytes().first() {
            Some(b'"') => value.decode().map(Self::String),
            Some(b't' | b'f') => value.decode().map(Self::Boolean),
            Some(b'[') => value.decode().map(Self::StringArray),
            Some(b'-' | b'0'..=b'9') if text.contains(['.', 'e', 'E']) => {
                value.decode().map(Self::Number)
            }
            Some(b'-' | b'0'..=b'9') => value.decode().map(Self::Integer),
            _ => return Self::Unknown(value),
        };
        known.unwrap_or(Self::Unknown(value))
    }
}

impl Wire for ElicitationContentValue {
    fn blank() -> Self {
        Self::Boolean(false)
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        let mut value = Raw::blank();
        value.read(reader)?;
        *self = value.into();
        Ok(())
    }

    fn view(&self) -> View<'_> {
        match self {
            Self::String(value) => value.view(),
            Self::Integer(value) => value.view(),
            Self::Number(value) => value.view(),
            Self::Boolean(value) => value.view(),
            Self::StringArray(value) => value.view(),
            Self::Unknown(value) => value.view(),
        }
    }
}

object! { @serde ElicitationContentValue }

__json_schema! { ElicitationContentValue, generator => jsonrpc_core::wire::schema::schemars::json_schema!({ "anyOf": [
    object!(@schema str, generator), object!(@schema i64, generator), object!(@schema f64, generator),
    object!(@schema bool, generator), object!(@schema Vec<String>, generator), true,
] }) }

object! {
    /// An elicitation by URL is complete.
    ///
    /// Method `elicitation/complete`.
    /// Spec: [`CompleteElicitationNotification`](https://agentclientprotocol.com/protocol/v1/schema#completeelicitationnotification),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#completeelicitationnotification)
    #[doc(alias = "elicitation/complete")]
    pub struct CompleteElicitationNotification {
        /// Identifier of the elicitation.
        elicitation_id: ElicitationId = "elicitationId",
    }
    and "_meta"
}
