//! The schema of a form, and its fields.
//!
//! Spec: [Requested
//! Schema](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema)
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Extra};
use jsonrpc_core::{object, open_enum, open_union};
use serde_json::Number;

object! {
    /// Schema of a form: a flat object in a subset of JSON Schema.
    ///
    /// Spec: [Requested
    /// Schema](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema)
    ///
    /// The fields are kept as text until [`fields`](Self::fields) decodes them, so that an invalid
    /// one does not affect the others.
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
    /// Spec: [Requested
    /// Schema](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema)
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
    /// The schema defines four types without a tag. This type represents all of them and keeps the
    /// members received.
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
