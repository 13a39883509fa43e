//! The fields of forms.
//!
//! Spec: [Elicitation](https://agentclientprotocol.com/protocol/v1/elicitation), [version
//! 2](https://agentclientprotocol.com/protocol/v2/elicitation)
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Entries, Fault, Members, ValueReader, View, Wire};
use jsonrpc_core::{__json_schema, object, open_enum, open_union};

/// The fields of a form by name, in the agent's order.
///
/// Spec: [`ElicitationSchema`](https://agentclientprotocol.com/protocol/v1/schema#elicitationschema),
/// [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationschema)
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
    /// Spec: [`ElicitationPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#elicitationpropertyschema),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationpropertyschema)
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
    /// Spec: [`StringFormat`](https://agentclientprotocol.com/protocol/v1/schema#stringformat),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#stringformat)
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
    /// Spec: [`StringPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#stringpropertyschema),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#stringpropertyschema)
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
        /// A regular expression that the string has to match. **Removed** from version 2: agents of
        /// schema 1.15 and earlier send it.
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
    /// Spec: [`EnumOption`](https://agentclientprotocol.com/protocol/v1/schema#enumoption),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#enumoption)
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
    /// Spec: [`NumberPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#numberpropertyschema),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#numberpropertyschema)
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
    /// Spec: [`IntegerPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#integerpropertyschema),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#integerpropertyschema)
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
    /// Spec: [`BooleanPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#booleanpropertyschema),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#booleanpropertyschema)
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
    /// Spec: [`MultiSelectPropertySchema`](https://agentclientprotocol.com/protocol/v1/schema#multiselectpropertyschema),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#multiselectpropertyschema)
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
    /// Spec: [`MultiSelectItems`](https://agentclientprotocol.com/protocol/v1/schema#multiselectitems),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#multiselectitems)
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
    /// Spec: [`StringMultiSelectItems`](https://agentclientprotocol.com/protocol/v1/schema#stringmultiselectitems),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#stringmultiselectitems)
    pub struct StringMultiSelectItems {
        /// The values.
        r#enum: Vec<String> = "enum",
    }
    and "_meta"
}

object! {
    /// Permitted values with titles.
    ///
    /// Spec: [`TitledMultiSelectItems`](https://agentclientprotocol.com/protocol/v1/schema#titledmultiselectitems),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#titledmultiselectitems)
    pub struct TitledMultiSelectItems {
        /// The values.
        any_of: Vec<EnumOption> = "anyOf",
    }
    and "_meta"
}
