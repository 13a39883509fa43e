//! Elicitation: forms and URLs for the user.
//!
//! Spec: [Elicitation](https://agentclientprotocol.com/protocol/v1/elicitation), [version 2](https://agentclientprotocol.com/protocol/v2/elicitation)
use super::session_setup::SessionId;
use super::tool_calls::ToolCallId;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Entries, Extra, Fault, Members, Raw, ValueReader, View, Wire};
use jsonrpc_core::{
    __json_schema, RequestId, member_union, object, open_enum, open_union, string_id,
};

string_id! {
    /// Identifies an elicitation by URL.
    ///
    /// Spec: [`ElicitationId`](https://agentclientprotocol.com/protocol/v1/schema#elicitationid), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationid)
    pub struct ElicitationId;
}

object! {
    /// An elicitation by URL.
    ///
    /// Spec: [`ElicitationUrlMode`](https://agentclientprotocol.com/protocol/v1/schema#elicitationurlmode), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationurlmode)
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
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema#createelicitationrequest), [version 2](https://agentclientprotocol.com/protocol/v2/schema#createelicitationrequest)
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
    /// Spec: [`ElicitationSessionScope`](https://agentclientprotocol.com/protocol/v1/schema#elicitationsessionscope), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationsessionscope)
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
    /// Spec: [`ElicitationRequestScope`](https://agentclientprotocol.com/protocol/v1/schema#elicitationrequestscope), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationrequestscope)
    pub struct ElicitationRequestScope {
        /// Identifier of the request.
        request_id: RequestId = "requestId",
    }
}

open_enum! {
    /// The type of a form's content.
    ///
    /// Spec: [`ElicitationSchemaType`](https://agentclientprotocol.com/protocol/v1/schema#elicitationschematype), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationschematype)
    pub enum ElicitationSchemaType {
        /// An object, with a member for each field.
        Object = "object",
    }
}

/// The fields of a form by name, in the agent's order.
///
/// Spec: [`ElicitationSchema`](https://agentclientprotocol.com/protocol/v1/schema#elicitationschema), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationschema)
///
/// The order of members is not significant in JSON, but it is the display order of the fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ElicitationProperties(
    /// Names and fields.
    pub Vec<(String, ElicitationPropertySchema)>,
);

impl ElicitationProperties {
    /// Returns the field with this name.
    pub fn get(&self, name: &str) -> Option<&ElicitationPropertySchema> {
        self.0.iter().find(|(property, _)| property == name).map(|(_, schema)| schema)
    }
}

impl Wire for ElicitationProperties {
    fn blank() -> Self {
        Self::default()
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        reader.members("an object (ElicitationProperties)", &mut |name, reader| {
            let mut schema = ElicitationPropertySchema::blank();
            schema.read(reader)?;
            self.0.push((name.into_owned(), schema));
            Ok(())
        })
    }

    fn view(&self) -> View<'_> {
        View::Object(self)
    }
}

impl Members for ElicitationProperties {
    fn write_members(&self, out: &mut Entries<'_>) {
        self.0.iter().for_each(|(name, schema)| out.entry(name, schema));
    }
}

object! { @serde ElicitationProperties }

__json_schema! { ElicitationProperties, generator => {
    let property = object!(@schema ElicitationPropertySchema, generator);
    jsonrpc_core::wire::schema::schemars::json_schema!({ "type": "object", "additionalProperties": property })
} }

open_union! {
    /// A field of a form.
    ///
    /// Spec: [`ElicitationPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#elicitationpropertyschema), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationpropertyschema)
    pub enum ElicitationPropertySchema by "type" {
        /// A string, or a selection from several values.
        String(Box<StringPropertySchema>) = "string",
        /// A number.
        Number(Box<NumberPropertySchema>) = "number",
        /// An integer.
        Integer(Box<IntegerPropertySchema>) = "integer",
        /// A boolean.
        Boolean(Box<BooleanPropertySchema>) = "boolean",
        /// Selections from several values.
        Array(Box<MultiSelectPropertySchema>) = "array",
    }
}

open_enum! {
    /// The format of a string. An unknown format imposes no constraint.
    ///
    /// Spec: [`StringFormat`](https://agentclientprotocol.com/protocol/v1/schema#stringformat), [version 2](https://agentclientprotocol.com/protocol/v2/schema#stringformat)
    pub enum StringFormat {
        /// An e-mail address.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A date.
        Date = "date",
        /// A date and a time.
        DateTime = "date-time",
    }
}

object! {
    /// A string field, or a selection from several values.
    ///
    /// Spec: [`StringPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#stringpropertyschema), [version 2](https://agentclientprotocol.com/protocol/v2/schema#stringpropertyschema)
    pub struct StringPropertySchema {}
    optional {
        /// The field's label.
        title: String = "title" [default_on_error],
        /// Human-readable description.
        description: String = "description" [default_on_error],
        /// Smallest number of characters.
        min_length: u32 = "minLength",
        /// Largest number of characters.
        max_length: u32 = "maxLength",
        /// A regular expression that the string has to match.
        pattern: String = "pattern",
        /// Format of the string.
        format: StringFormat = "format",
        /// Initial value.
        default: String = "default" [default_on_error],
        /// The permitted values.
        r#enum: Vec<String> = "enum",
        /// The permitted values, with titles.
        one_of: Vec<EnumOption> = "oneOf",
    }
    and "_meta"
}

object! {
    /// A permitted value, with a title.
    ///
    /// Spec: [`EnumOption`](https://agentclientprotocol.com/protocol/v1/schema#enumoption), [version 2](https://agentclientprotocol.com/protocol/v2/schema#enumoption)
    pub struct EnumOption {
        /// The value.
        r#const: String = "const",
        /// Human-readable name.
        title: String = "title",
    }
    optional {
        /// Human-readable description.
        description: String = "description" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A number field.
    ///
    /// Spec: [`NumberPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#numberpropertyschema), [version 2](https://agentclientprotocol.com/protocol/v2/schema#numberpropertyschema)
    pub struct NumberPropertySchema {}
    optional {
        /// The field's label.
        title: String = "title" [default_on_error],
        /// Human-readable description.
        description: String = "description" [default_on_error],
        /// The smallest permitted value.
        minimum: f64 = "minimum",
        /// The largest permitted value.
        maximum: f64 = "maximum",
        /// Initial value.
        default: f64 = "default" [default_on_error],
    }
    and "_meta"
}

object! {
    /// An integer field.
    ///
    /// Spec: [`IntegerPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#integerpropertyschema), [version 2](https://agentclientprotocol.com/protocol/v2/schema#integerpropertyschema)
    pub struct IntegerPropertySchema {}
    optional {
        /// The field's label.
        title: String = "title" [default_on_error],
        /// Human-readable description.
        description: String = "description" [default_on_error],
        /// The smallest permitted value.
        minimum: i64 = "minimum",
        /// The largest permitted value.
        maximum: i64 = "maximum",
        /// Initial value.
        default: i64 = "default" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A boolean field.
    ///
    /// Spec: [`BooleanPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#booleanpropertyschema), [version 2](https://agentclientprotocol.com/protocol/v2/schema#booleanpropertyschema)
    pub struct BooleanPropertySchema {}
    optional {
        /// The field's label.
        title: String = "title" [default_on_error],
        /// Human-readable description.
        description: String = "description" [default_on_error],
        /// Initial value.
        default: bool = "default" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A field for several selections.
    ///
    /// Spec: [`MultiSelectPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#multiselectpropertyschema), [version 2](https://agentclientprotocol.com/protocol/v2/schema#multiselectpropertyschema)
    pub struct MultiSelectPropertySchema {
        /// The permitted values.
        items: MultiSelectItems = "items",
    }
    optional {
        /// The field's label.
        title: String = "title" [default_on_error],
        /// Human-readable description.
        description: String = "description" [default_on_error],
        /// Smallest number of selections.
        min_items: u64 = "minItems",
        /// Largest number of selections.
        max_items: u64 = "maxItems",
        /// Initial value.
        default: Vec<String> = "default" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

open_union! {
    /// The permitted values of a multi-select field.
    ///
    /// Spec: [`MultiSelectItems`](https://agentclientprotocol.com/protocol/v1/schema#multiselectitems), [version 2](https://agentclientprotocol.com/protocol/v2/schema#multiselectitems)
    pub enum MultiSelectItems by "type" {
        /// Values without titles.
        String(StringMultiSelectItems) = "string",
    }
    untagged {
        /// Values with titles; the variant without a tag.
        Titled(TitledMultiSelectItems),
    }
}

object! {
    /// Permitted values without titles.
    ///
    /// Spec: [`StringMultiSelectItems`](https://agentclientprotocol.com/protocol/v1/schema#stringmultiselectitems), [version 2](https://agentclientprotocol.com/protocol/v2/schema#stringmultiselectitems)
    pub struct StringMultiSelectItems {
        /// The values.
        r#enum: Vec<String> = "enum",
    }
    and "_meta"
}

object! {
    /// Permitted values with titles.
    ///
    /// Spec: [`TitledMultiSelectItems`](https://agentclientprotocol.com/protocol/v1/schema#titledmultiselectitems), [version 2](https://agentclientprotocol.com/protocol/v2/schema#titledmultiselectitems)
    pub struct TitledMultiSelectItems {
        /// The values.
        any_of: Vec<EnumOption> = "anyOf",
    }
    and "_meta"
}

object! {
    /// The result of an elicitation.
    ///
    /// Method `elicitation/create`. Spec: [`CreateElicitationResponse`](https://agentclientprotocol.com/protocol/v1/schema#createelicitationresponse), [version 2](https://agentclientprotocol.com/protocol/v2/schema#createelicitationresponse)
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
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema#createelicitationresponse), [version 2](https://agentclientprotocol.com/protocol/v2/schema#createelicitationresponse)
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
    /// Spec: [`ElicitationAcceptAction`](https://agentclientprotocol.com/protocol/v1/schema#elicitationacceptaction), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationacceptaction)
    pub struct ElicitationAcceptAction {}
    optional {
        /// Content of the form; absent for an elicitation by URL.
        content: BTreeMap<String, ElicitationContentValue> = "content",
    }
}

/// The value of a form field.
///
/// Spec: [`ElicitationContentValue`](https://agentclientprotocol.com/protocol/v1/schema#elicitationcontentvalue), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationcontentvalue)
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
    /// Method `elicitation/complete`. Spec: [`CompleteElicitationNotification`](https://agentclientprotocol.com/protocol/v1/schema#completeelicitationnotification), [version 2](https://agentclientprotocol.com/protocol/v2/schema#completeelicitationnotification)
    #[doc(alias = "elicitation/complete")]
    pub struct CompleteElicitationNotification {
        /// Identifier of the elicitation.
        elicitation_id: ElicitationId = "elicitationId",
    }
    and "_meta"
}
