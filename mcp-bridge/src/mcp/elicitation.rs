//! Elicitation: requests of a server for input from the user, by form or by URL.
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
        /// Schema of the answer, kept as text to preserve it exactly. [`schema`](Self::schema) decodes it.
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
    /// Returns an error if the schema is not an object or one of its own members has a wrong type. The fields are not
    /// decoded.
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
        /// Identifies the elicitation in `notifications/elicitation/complete`. Required in 2025-11-25, removed in
        /// 2026-07-28.
        elicitation_id: String = "elicitationId",
        /// Requests a task instead of a result. In 2025-11-25 only.
        task: TaskMetadata = "task",
    }
    and "_meta"
}

object! {
    /// Schema of a form: a flat object in a subset of JSON Schema.
    ///
    /// Spec: [Requested Schema](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema)
    ///
    /// The fields are kept as text until [`fields`](Self::fields) decodes them, so that an invalid one does not affect
    /// the others.
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
        /// The fields by name, in display order.
        properties: Extra = "properties",
    }
    optional {
        /// The JSON Schema dialect. If absent, it is 2020-12.
        schema: String = "$schema",
        /// Names of the required fields.
        required: Vec<String> = "required",
    }
}

impl RequestedSchema {
    /// Decodes each field separately and yields it with its name, in order.
    pub fn fields(
        &self,
    ) -> impl Iterator<Item = (&str, Result<PrimitiveSchemaDefinition, DecodeError>)> {
        self.properties.iter().map(|(name, field)| (name, field.decode()))
    }

    /// Returns whether a field is required.
    pub fn is_required(&self, name: &str) -> bool {
        self.required.iter().flatten().any(|required| required == name)
    }
}

open_enum! {
    /// The type of a schema.
    ///
    /// Spec: [Requested Schema](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema)
    pub enum SchemaType {
        /// An object with one member for each field.
        Object = "object",
    }
}

open_union! {
    /// A field of a form.
    ///
    /// Spec: [`PrimitiveSchemaDefinition`](https://modelcontextprotocol.io/specification/2026-07-28/schema#primitiveschemadefinition)
    pub enum PrimitiveSchemaDefinition by "type" {
        /// Text, or a single choice.
        String(Box<StringSchema>) = "string",
        /// A number.
        Number(Box<NumberSchema>) = "number" [shared],
        /// An integer.
        Integer(Box<NumberSchema>) = "integer" [shared],
        /// A boolean.
        Boolean(Box<BooleanSchema>) = "boolean",
        /// A multiple choice. Since 2025-11-25.
        Array(Box<MultiSelectEnumSchema>) = "array",
    }
}

open_enum! {
    /// Format of a text field. An unknown format is informational.
    ///
    /// Spec: [`StringSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#stringschema)
    pub enum StringFormat {
        /// An e-mail address.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A date, `2026-07-28`.
        Date = "date",
        /// A date and time, RFC 3339.
        DateTime = "date-time",
    }
}

object! {
    /// A text field or a single choice.
    ///
    /// The schema defines four types without a tag. This type represents all of them and keeps the members received.
    ///
    /// Spec: [`StringSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#stringschema),
    /// [`UntitledSingleSelectEnumSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#untitledsingleselectenumschema),
    /// [`TitledSingleSelectEnumSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#titledsingleselectenumschema),
    /// [`LegacyTitledEnumSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#legacytitledenumschema)
    pub struct StringSchema {}
    optional {
        /// Label of the field.
        title: String = "title",
        /// Description of the field, for the user.
        description: String = "description",
        /// Minimum length in characters.
        min_length: Number = "minLength",
        /// Maximum length in characters.
        max_length: Number = "maxLength",
        /// Format of the text.
        format: StringFormat = "format",
        /// Initial value. For choices since 2025-11-25.
        default: String = "default",
        /// The permitted values.
        r#enum: Vec<String> = "enum",
        /// Labels of the values in `enum`, in the same order. Deprecated since 2025-11-25.
        enum_names: Vec<String> = "enumNames",
        /// The permitted values with labels. Since 2025-11-25.
        one_of: Vec<EnumOption> = "oneOf",
    }
}

impl StringSchema {
    /// Returns the permitted values in order. The iterator is empty for free text.
    pub fn choices(&self) -> impl Iterator<Item = Choice<'_>> {
        let names = self.enum_names.iter().flatten().map(|name| Some(name.as_str()));
        let names = names.chain(core::iter::repeat(None));
        let plain = self.r#enum.iter().flatten().zip(names);
        let plain = plain.map(|(value, title)| Choice { value, title });
        self.one_of.iter().flatten().map(EnumOption::choice).chain(plain)
    }
}

object! {
    /// A permitted value with its label.
    ///
    /// Spec: [`TitledSingleSelectEnumSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#titledsingleselectenumschema)
    pub struct EnumOption {
        /// The value.
        r#const: String = "const",
        /// Label of the value.
        title: String = "title",
    }
}

impl EnumOption {
    fn choice(&self) -> Choice<'_> {
        Choice { value: &self.r#const, title: Some(&self.title) }
    }
}

/// A permitted value, independent of its representation in the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice<'a> {
    /// The value.
    pub value: &'a str,
    /// Label of the value, if it has one.
    pub title: Option<&'a str>,
}

object! {
    /// A number field.
    ///
    /// Spec: [`NumberSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#numberschema)
    pub struct NumberSchema {}
    optional {
        /// Label of the field.
        title: String = "title",
        /// Description of the field, for the user.
        description: String = "description",
        /// Minimum value.
        minimum: Number = "minimum",
        /// Maximum value.
        maximum: Number = "maximum",
        /// Initial value.
        default: Number = "default",
    }
}

object! {
    /// A boolean field.
    ///
    /// Spec: [`BooleanSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#booleanschema)
    pub struct BooleanSchema {}
    optional {
        /// Label of the field.
        title: String = "title",
        /// Description of the field, for the user.
        description: String = "description",
        /// Initial value.
        default: bool = "default",
    }
}

object! {
    /// A multiple choice. Since 2025-11-25.
    ///
    /// The schema defines two types that differ in their items. This type represents both.
    ///
    /// Spec: [`UntitledMultiSelectEnumSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#untitledmultiselectenumschema),
    /// [`TitledMultiSelectEnumSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#titledmultiselectenumschema)
    pub struct MultiSelectEnumSchema {
        /// The permitted values.
        items: MultiSelectItems = "items",
    }
    optional {
        /// Label of the field.
        title: String = "title",
        /// Description of the field, for the user.
        description: String = "description",
        /// Minimum number of selected values.
        min_items: Number = "minItems",
        /// Maximum number of selected values.
        max_items: Number = "maxItems",
        /// Initially selected values.
        default: Vec<String> = "default",
    }
}

object! {
    /// The permitted values of a multiple choice: `enum` without labels, or `anyOf` with labels.
    ///
    /// Spec: [`MultiSelectEnumSchema`](https://modelcontextprotocol.io/specification/2026-07-28/schema#multiselectenumschema)
    pub struct MultiSelectItems {}
    optional {
        /// `string`, used with `enum`.
        r#type: String = "type",
        /// The values.
        r#enum: Vec<String> = "enum",
        /// The permitted values with labels.
        any_of: Vec<EnumOption> = "anyOf",
    }
}

impl MultiSelectItems {
    /// Returns the permitted values in order.
    pub fn choices(&self) -> impl Iterator<Item = Choice<'_>> {
        let plain = self.r#enum.iter().flatten().map(|value| Choice { value, title: None });
        self.any_of.iter().flatten().map(EnumOption::choice).chain(plain)
    }
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
    /// Spec: [Response Actions](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#response-actions)
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
    /// The params of `notifications/elicitation/complete`: an elicitation by URL is complete. In 2025-11-25 only.
    ///
    /// Spec: [`ElicitationCompleteNotification`](https://modelcontextprotocol.io/specification/2025-11-25/schema#elicitationcompletenotification)
    #[doc(alias = "notifications/elicitation/complete")]
    pub struct ElicitationCompleteNotificationParams {
        /// Id of the elicitation.
        elicitation_id: String = "elicitationId",
    }
    and "_meta"
}
