//! Questions of a server to the user: forms, and pages to go to.
//!
//! Spec: [Elicitation](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation)
//! (2026-07-28), [the same](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation) (2025-11-25)
use super::tasks::TaskMetadata;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Extra, Raw};
use jsonrpc_core::{object, open_enum, open_union};
use serde_json::Number;

open_union! {
    /// The params of `elicitation/create`: a question to the user.
    ///
    /// Up to 2025-11-25 it is a request of the server; from 2026-07-28 on it is one of the
    /// [`input_requests`](super::mrtr::InputRequiredResult::input_requests) of a result.
    ///
    /// Spec: [`ElicitRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#elicitrequestparams)
    ///
    /// A mode that this version does not know is kept, and must not be shown as a form:
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
    pub enum ElicitRequestParams by "mode" {
        /// The user is sent to a page. From 2025-11-25 on.
        Url(Box<ElicitRequestURLParams>) = "url",
    }
    untagged {
        /// The user fills in a form; meant when there is no mode.
        Form(Box<ElicitRequestFormParams>) = "form",
    }
}

impl ElicitRequestParams {
    /// The question, for people to read; nothing in a mode that this version does not know.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Url(url) => Some(&url.message),
            Self::Form(form) => Some(&form.message),
            Self::Unknown(_) => None,
        }
    }
}

object! {
    /// The user fills in a form.
    ///
    /// Spec: [`ElicitRequestFormParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#elicitrequestformparams)
    ///
    /// The schema of 2026-07-28 has no `_meta` here, and its peers send and keep it all the same.
    pub struct ElicitRequestFormParams {
        /// The question, for people to read.
        message: String = "message",
        /// What the form gives, kept as text, so that it leaves as it came; [`schema`](Self::schema) reads it.
        requested_schema: Raw = "requestedSchema",
    }
    optional {
        /// Asks for a task instead of an answer. In 2025-11-25 only.
        task: TaskMetadata = "task",
    }
    and "_meta"
}

impl ElicitRequestFormParams {
    /// Reads the schema.
    ///
    /// # Errors
    /// It is not an object, or one of its own members is of a wrong type; single fields are not read yet.
    pub fn schema(&self) -> Result<RequestedSchema, DecodeError> {
        self.requested_schema.decode()
    }
}

object! {
    /// The user is sent to a page.
    ///
    /// Spec: [`ElicitRequestURLParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#elicitrequesturlparams)
    pub struct ElicitRequestURLParams {
        /// Why, for people to read.
        message: String = "message",
        /// The page.
        url: String = "url",
    }
    optional {
        /// Names the question, for `notifications/elicitation/complete`. Required in 2025-11-25, gone in 2026-07-28.
        elicitation_id: String = "elicitationId",
        /// Asks for a task instead of an answer. In 2025-11-25 only.
        task: TaskMetadata = "task",
    }
    and "_meta"
}

object! {
    /// What a form gives: a flat object in a part of JSON Schema.
    ///
    /// Spec: [Requested Schema](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema)
    ///
    /// Each field stays text until [`fields`](Self::fields) reads it, so that a bad one does not lose the others.
    ///
    /// ```
    /// use jsonrpc_core::wire;
    /// use mcp_bridge::mcp::elicitation::{PrimitiveSchemaDefinition, RequestedSchema};
    ///
    /// let schema: RequestedSchema = wire::decode(
    ///     r#"{"type":"object","properties":{"seat":{"type":"string","enum":["12A","12C"]},"bag":{"$ref":"x"}},"required":["seat"]}"#,
    /// )?;
    /// let fields: Vec<_> = schema.fields().collect();
    /// let Some(Ok(PrimitiveSchemaDefinition::String(seat))) = fields.first().map(|(_, field)| field) else { panic!("no seat") };
    /// assert_eq!(seat.choices().map(|choice| choice.value).collect::<Vec<_>>(), ["12A", "12C"]);
    /// assert!(schema.is_required("seat"));
    /// assert!(matches!(fields.get(1), Some(("bag", Err(_)))));
    /// # Ok::<(), wire::DecodeError>(())
    /// ```
    pub struct RequestedSchema {
        /// Always `object`.
        r#type: SchemaType = "type",
        /// The fields by name, as they came and in the order to show them.
        properties: Extra = "properties",
    }
    optional {
        /// The dialect of JSON Schema; absent means 2020-12.
        schema: String = "$schema",
        /// Names of the fields that must be filled in.
        required: Vec<String> = "required",
    }
}

impl RequestedSchema {
    /// Reads each field on its own, with its name, in order.
    pub fn fields(
        &self,
    ) -> impl Iterator<Item = (&str, Result<PrimitiveSchemaDefinition, DecodeError>)> {
        self.properties.iter().map(|(name, field)| (name, field.decode()))
    }

    /// Whether a field must be filled in.
    pub fn is_required(&self, name: &str) -> bool {
        self.required.iter().flatten().any(|required| required == name)
    }
}

open_enum! {
    /// What a schema describes.
    ///
    /// Spec: [Requested Schema](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema)
    pub enum SchemaType {
        /// An object with a member for each field.
        Object = "object",
    }
}

open_union! {
    /// A field of a form.
    ///
    /// Spec: [`PrimitiveSchemaDefinition`](https://modelcontextprotocol.io/specification/2026-07-28/schema#primitiveschemadefinition)
    pub enum PrimitiveSchemaDefinition by "type" {
        /// Text, or one out of several.
        String(Box<StringSchema>) = "string",
        /// A number.
        Number(Box<NumberSchema>) = "number" [shared],
        /// A whole number.
        Integer(Box<NumberSchema>) = "integer" [shared],
        /// Yes or no.
        Boolean(Box<BooleanSchema>) = "boolean",
        /// Several out of several. From 2025-11-25 on.
        Array(Box<MultiSelectEnumSchema>) = "array",
    }
}

open_enum! {
    /// What a text must look like. An unknown one is no rule, only a remark.
    ///
    /// Spec: [`StringSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#stringschema)
    pub enum StringFormat {
        /// An e-mail address.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A date, `2026-07-28`.
        Date = "date",
        /// A date and a time, RFC 3339.
        DateTime = "date-time",
    }
}

object! {
    /// A field for text, or one out of several.
    ///
    /// The schema has four types that no tag tells apart; here they are one, with the members that came.
    ///
    /// Spec: [`StringSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#stringschema),
    /// [`UntitledSingleSelectEnumSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#untitledsingleselectenumschema),
    /// [`TitledSingleSelectEnumSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#titledsingleselectenumschema),
    /// [`LegacyTitledEnumSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#legacytitledenumschema)
    pub struct StringSchema {}
    optional {
        /// The field's label.
        title: String = "title",
        /// More about it, for the user.
        description: String = "description",
        /// How many characters at least.
        min_length: Number = "minLength",
        /// How many characters at most.
        max_length: Number = "maxLength",
        /// What the text must look like.
        format: StringFormat = "format",
        /// What to begin with. For choices from 2025-11-25 on.
        default: String = "default",
        /// The values to choose from.
        r#enum: Vec<String> = "enum",
        /// What to call them, in their order. Before 2025-11-25, and deprecated since.
        enum_names: Vec<String> = "enumNames",
        /// The values to choose from, with what to call them. From 2025-11-25 on.
        one_of: Vec<EnumOption> = "oneOf",
    }
}

impl StringSchema {
    /// The values to choose from, in order; none where any text will do.
    pub fn choices(&self) -> impl Iterator<Item = Choice<'_>> {
        let names = self.enum_names.iter().flatten().map(|name| Some(name.as_str()));
        let names = names.chain(core::iter::repeat(None));
        let plain = self.r#enum.iter().flatten().zip(names);
        let plain = plain.map(|(value, title)| Choice { value, title });
        self.one_of.iter().flatten().map(EnumOption::choice).chain(plain)
    }
}

object! {
    /// A value to choose, with what to call it.
    ///
    /// Spec: [`TitledSingleSelectEnumSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#titledsingleselectenumschema)
    pub struct EnumOption {
        /// The value.
        r#const: String = "const",
        /// What to call it before the user.
        title: String = "title",
    }
}

impl EnumOption {
    fn choice(&self) -> Choice<'_> {
        Choice { value: &self.r#const, title: Some(&self.title) }
    }
}

/// A value to choose, in whichever way the schema has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice<'a> {
    /// The value.
    pub value: &'a str,
    /// What to call it before the user; the value itself, if there is nothing.
    pub title: Option<&'a str>,
}

object! {
    /// A field for a number.
    ///
    /// Spec: [`NumberSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#numberschema)
    pub struct NumberSchema {}
    optional {
        /// The field's label.
        title: String = "title",
        /// More about it, for the user.
        description: String = "description",
        /// The least.
        minimum: Number = "minimum",
        /// The most.
        maximum: Number = "maximum",
        /// What to begin with.
        default: Number = "default",
    }
}

object! {
    /// A field for yes or no.
    ///
    /// Spec: [`BooleanSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#booleanschema)
    pub struct BooleanSchema {}
    optional {
        /// The field's label.
        title: String = "title",
        /// More about it, for the user.
        description: String = "description",
        /// What to begin with.
        default: bool = "default",
    }
}

object! {
    /// A field for several out of several. From 2025-11-25 on.
    ///
    /// The schema has two types, which differ in their items.
    ///
    /// Spec: [`UntitledMultiSelectEnumSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#untitledmultiselectenumschema),
    /// [`TitledMultiSelectEnumSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#titledmultiselectenumschema)
    pub struct MultiSelectEnumSchema {
        /// The values to choose from.
        items: MultiSelectItems = "items",
    }
    optional {
        /// The field's label.
        title: String = "title",
        /// More about it, for the user.
        description: String = "description",
        /// How many at least.
        min_items: Number = "minItems",
        /// How many at most.
        max_items: Number = "maxItems",
        /// What to begin with.
        default: Vec<String> = "default",
    }
}

object! {
    /// The values of a field for several: `enum` as they are, or `anyOf` with what to call them.
    ///
    /// Spec: [`MultiSelectEnumSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#multiselectenumschema)
    pub struct MultiSelectItems {}
    optional {
        /// `string`, beside `enum`.
        r#type: String = "type",
        /// The values.
        r#enum: Vec<String> = "enum",
        /// The values with what to call them.
        any_of: Vec<EnumOption> = "anyOf",
    }
}

impl MultiSelectItems {
    /// The values to choose from, in order.
    pub fn choices(&self) -> impl Iterator<Item = Choice<'_>> {
        let plain = self.r#enum.iter().flatten().map(|value| Choice { value, title: None });
        self.any_of.iter().flatten().map(EnumOption::choice).chain(plain)
    }
}

object! {
    /// What came of a question: the result of `elicitation/create`.
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
    pub struct ElicitResult {
        /// What the user did.
        action: ElicitAction = "action",
    }
    optional {
        /// What the form was filled in with, by field, each value as it came; only of an accepted form.
        content: Extra = "content",
    }
    and "_meta"
}

open_enum! {
    /// What the user did about a question. One that this version does not know is no consent.
    ///
    /// Spec: [Response Actions](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#response-actions)
    pub enum ElicitAction {
        /// Answered it.
        Accept = "accept",
        /// Said no.
        Decline = "decline",
        /// Turned away without an answer.
        Cancel = "cancel",
    }
}

object! {
    /// The params of `notifications/elicitation/complete`: a question on a page is done with. In 2025-11-25 only.
    ///
    /// Spec: [`ElicitationCompleteNotification`](https://modelcontextprotocol.io/specification/2025-11-25/schema#elicitationcompletenotification)
    pub struct ElicitationCompleteNotificationParams {
        /// Which one.
        elicitation_id: String = "elicitationId",
    }
    and "_meta"
}
