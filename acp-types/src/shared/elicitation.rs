//! Questions to the user: forms, and pages to go to.
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
    /// Names a question that sends the user to a page.
    ///
    /// Spec: [`ElicitationId`](https://agentclientprotocol.com/protocol/v1/schema#elicitationid), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationid)
    pub struct ElicitationId;
}

object! {
    /// The user is sent to a page.
    ///
    /// Spec: [`ElicitationUrlMode`](https://agentclientprotocol.com/protocol/v1/schema#elicitationurlmode), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationurlmode)
    pub struct ElicitationUrlMode {
        /// Names the question, for `elicitation/complete`.
        elicitation_id: ElicitationId = "elicitationId",
        /// The page.
        url: String = "url",
    }
    rest {
        /// What the question belongs to.
        scope: ElicitationScope,
    }
}

member_union! {
    /// What a question belongs to.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema#createelicitationrequest), [version 2](https://agentclientprotocol.com/protocol/v2/schema#createelicitationrequest)
    pub enum ElicitationScope {
        /// A session.
        Session(ElicitationSessionScope) has "sessionId",
        /// A request of the client that is not of a session.
        Request(ElicitationRequestScope) has "requestId",
    }
}

object! {
    /// A question belongs to a session.
    ///
    /// Spec: [`ElicitationSessionScope`](https://agentclientprotocol.com/protocol/v1/schema#elicitationsessionscope), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationsessionscope)
    pub struct ElicitationSessionScope {
        /// Which one.
        session_id: SessionId = "sessionId",
    }
    optional {
        /// Which of its tool calls asks.
        tool_call_id: ToolCallId = "toolCallId" [default_on_error],
    }
}

object! {
    /// A question belongs to a request of the client.
    ///
    /// Spec: [`ElicitationRequestScope`](https://agentclientprotocol.com/protocol/v1/schema#elicitationrequestscope), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationrequestscope)
    pub struct ElicitationRequestScope {
        /// Which one.
        request_id: RequestId = "requestId",
    }
}

open_enum! {
    /// What a form gives.
    ///
    /// Spec: [`ElicitationSchemaType`](https://agentclientprotocol.com/protocol/v1/schema#elicitationschematype), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationschematype)
    pub enum ElicitationSchemaType {
        /// An object with a member for each field.
        Object = "object",
    }
}

/// The fields of a form by name, in the order in which the agent wrote them.
///
/// Spec: [`ElicitationSchema`](https://agentclientprotocol.com/protocol/v1/schema#elicitationschema), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationschema)
///
/// JSON gives the order of members no meaning, and people do: it is the order to show the fields in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ElicitationProperties(
    /// Names and fields.
    pub Vec<(String, ElicitationPropertySchema)>,
);

impl ElicitationProperties {
    /// The field of this name.
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
        /// Text, or one out of several.
        String(Box<StringPropertySchema>) = "string",
        /// A number.
        Number(Box<NumberPropertySchema>) = "number",
        /// A whole number.
        Integer(Box<IntegerPropertySchema>) = "integer",
        /// Yes or no.
        Boolean(Box<BooleanPropertySchema>) = "boolean",
        /// Several out of several.
        Array(Box<MultiSelectPropertySchema>) = "array",
    }
}

open_enum! {
    /// What a text must look like. An unknown one is no rule, only a remark.
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
    /// A field for text, or one out of several.
    ///
    /// Spec: [`StringPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#stringpropertyschema), [version 2](https://agentclientprotocol.com/protocol/v2/schema#stringpropertyschema)
    pub struct StringPropertySchema {}
    optional {
        /// The field's label.
        title: String = "title" [default_on_error],
        /// More about it, for the user.
        description: String = "description" [default_on_error],
        /// How many characters at least.
        min_length: u32 = "minLength",
        /// How many characters at most.
        max_length: u32 = "maxLength",
        /// A regular expression that the text must match.
        pattern: String = "pattern",
        /// What the text must look like.
        format: StringFormat = "format",
        /// What to begin with.
        default: String = "default" [default_on_error],
        /// The values to choose from.
        r#enum: Vec<String> = "enum",
        /// The values to choose from, with what to call them.
        one_of: Vec<EnumOption> = "oneOf",
    }
    and "_meta"
}

object! {
    /// A value to choose, with what to call it.
    ///
    /// Spec: [`EnumOption`](https://agentclientprotocol.com/protocol/v1/schema#enumoption), [version 2](https://agentclientprotocol.com/protocol/v2/schema#enumoption)
    pub struct EnumOption {
        /// The value.
        r#const: String = "const",
        /// What to call it before the user.
        title: String = "title",
    }
    optional {
        /// More about it, for the user.
        description: String = "description" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A field for a number.
    ///
    /// Spec: [`NumberPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#numberpropertyschema), [version 2](https://agentclientprotocol.com/protocol/v2/schema#numberpropertyschema)
    pub struct NumberPropertySchema {}
    optional {
        /// The field's label.
        title: String = "title" [default_on_error],
        /// More about it, for the user.
        description: String = "description" [default_on_error],
        /// The least.
        minimum: f64 = "minimum",
        /// The most.
        maximum: f64 = "maximum",
        /// What to begin with.
        default: f64 = "default" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A field for a whole number.
    ///
    /// Spec: [`IntegerPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#integerpropertyschema), [version 2](https://agentclientprotocol.com/protocol/v2/schema#integerpropertyschema)
    pub struct IntegerPropertySchema {}
    optional {
        /// The field's label.
        title: String = "title" [default_on_error],
        /// More about it, for the user.
        description: String = "description" [default_on_error],
        /// The least.
        minimum: i64 = "minimum",
        /// The most.
        maximum: i64 = "maximum",
        /// What to begin with.
        default: i64 = "default" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A field for yes or no.
    ///
    /// Spec: [`BooleanPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#booleanpropertyschema), [version 2](https://agentclientprotocol.com/protocol/v2/schema#booleanpropertyschema)
    pub struct BooleanPropertySchema {}
    optional {
        /// The field's label.
        title: String = "title" [default_on_error],
        /// More about it, for the user.
        description: String = "description" [default_on_error],
        /// What to begin with.
        default: bool = "default" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A field for several out of several.
    ///
    /// Spec: [`MultiSelectPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#multiselectpropertyschema), [version 2](https://agentclientprotocol.com/protocol/v2/schema#multiselectpropertyschema)
    pub struct MultiSelectPropertySchema {
        /// The values to choose from.
        items: MultiSelectItems = "items",
    }
    optional {
        /// The field's label.
        title: String = "title" [default_on_error],
        /// More about it, for the user.
        description: String = "description" [default_on_error],
        /// How many at least.
        min_items: u64 = "minItems",
        /// How many at most.
        max_items: u64 = "maxItems",
        /// What to begin with.
        default: Vec<String> = "default" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

open_union! {
    /// The values of a field for several.
    ///
    /// Spec: [`MultiSelectItems`](https://agentclientprotocol.com/protocol/v1/schema#multiselectitems), [version 2](https://agentclientprotocol.com/protocol/v2/schema#multiselectitems)
    pub enum MultiSelectItems by "type" {
        /// As they are.
        String(StringMultiSelectItems) = "string",
    }
    untagged {
        /// With what to call them; meant when there is no tag.
        Titled(TitledMultiSelectItems),
    }
}

object! {
    /// Values as they are.
    ///
    /// Spec: [`StringMultiSelectItems`](https://agentclientprotocol.com/protocol/v1/schema#stringmultiselectitems), [version 2](https://agentclientprotocol.com/protocol/v2/schema#stringmultiselectitems)
    pub struct StringMultiSelectItems {
        /// The values.
        r#enum: Vec<String> = "enum",
    }
    and "_meta"
}

object! {
    /// Values with what to call them.
    ///
    /// Spec: [`TitledMultiSelectItems`](https://agentclientprotocol.com/protocol/v1/schema#titledmultiselectitems), [version 2](https://agentclientprotocol.com/protocol/v2/schema#titledmultiselectitems)
    pub struct TitledMultiSelectItems {
        /// The values.
        any_of: Vec<EnumOption> = "anyOf",
    }
    and "_meta"
}

object! {
    /// What came of a question.
    ///
    /// Method `elicitation/create`. Spec: [`CreateElicitationResponse`](https://agentclientprotocol.com/protocol/v1/schema#createelicitationresponse), [version 2](https://agentclientprotocol.com/protocol/v2/schema#createelicitationresponse)
    pub struct CreateElicitationResponse {}
    rest {
        /// What the user did.
        action: ElicitationAction,
    }
    and "_meta"
}

open_union! {
    /// What the user did about a question. An agent reads one that it does not know as `cancel`.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema#createelicitationresponse), [version 2](https://agentclientprotocol.com/protocol/v2/schema#createelicitationresponse)
    pub enum ElicitationAction by "action" {
        /// Answered it.
        Accept(ElicitationAcceptAction) = "accept",
        /// Said no.
        Decline(Extra) = "decline",
        /// Turned away without an answer.
        Cancel(Extra) = "cancel",
    }
}

impl ElicitationAction {
    /// Whether the user turned away without an answer. An action that is unknown counts as that.
    pub fn is_cancel(&self) -> bool {
        matches!(self, Self::Cancel(_) | Self::Unknown(_))
    }
}

object! {
    /// The user answered.
    ///
    /// Spec: [`ElicitationAcceptAction`](https://agentclientprotocol.com/protocol/v1/schema#elicitationacceptaction), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationacceptaction)
    pub struct ElicitationAcceptAction {}
    optional {
        /// What the form was filled in with; absent where a page asked.
        content: BTreeMap<String, ElicitationContentValue> = "content",
    }
}

/// What a field was filled in with.
///
/// Spec: [`ElicitationContentValue`](https://agentclientprotocol.com/protocol/v1/schema#elicitationcontentvalue), [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationcontentvalue)
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitationContentValue {
    /// Text, or one out of several.
    String(String),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction or an exponent.
    Number(f64),
    /// Yes or no.
    Boolean(bool),
    /// Several out of several.
    StringArray(Vec<String>),
    /// Any other JSON value, kept as it came.
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
    /// A question on a page is done with.
    ///
    /// Method `elicitation/complete`. Spec: [`CompleteElicitationNotification`](https://agentclientprotocol.com/protocol/v1/schema#completeelicitationnotification), [version 2](https://agentclientprotocol.com/protocol/v2/schema#completeelicitationnotification)
    #[doc(alias = "elicitation/complete")]
    pub struct CompleteElicitationNotification {
        /// Which one.
        elicitation_id: ElicitationId = "elicitationId",
    }
    and "_meta"
}
