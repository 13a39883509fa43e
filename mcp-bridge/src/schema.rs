//! Converts JSON Schemas into forms that strict clients accept, and validates the answers against
//! the original schema.
//!
//! The schema of an elicitation is a small subset of JSON Schema: a flat object of text, numbers,
//! booleans and choices. Clients reject the whole elicitation for anything else (a reference, a
//! nested object, `null` as a type), or silently ignore a keyword. [`restrict`] converts the schema
//! of a Rust type into one that all clients accept, and reports what was lost. [`Form::read`]
//! reassembles the answer and validates it against the original schema.
//!
//! | in the schema | in the form | [`SchemaLoss`] |
//! |---|---|---|
//! | reference, `allOf` | the resolved schema | |
//! | `null` as a type or alternative | an optional field | [`LossKind::Nullable`] |
//! | alternatives that are constant texts | a choice with titles: the title, the description, or the text | [`LossKind::TitleAdded`] |
//! | choice of numbers or other constants | a choice of their JSON texts | [`LossKind::AsText`] |
//! | nested object | its fields, named `outer.inner` | [`LossKind::Flattened`] |
//! | exclusive bound of an integer | the next integer | [`LossKind::Bound`] |
//! | anything else | a field for JSON text | [`LossKind::AsJson`] |
//! | keyword that forms do not support (`pattern`, `uniqueItems`, `format: "uuid"`, …) | omitted | [`LossKind::Dropped`] |
//!
//! Spec: [Requested
//! Schema](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema)
//! (2026-07-28)
//!
//! ```
//! use jsonrpc_core::wire::{self, Raw};
//! use mcp_bridge::mcp::elicitation::ElicitResult;
//! use mcp_bridge::schema::{self, LossKind};
//!
//! let form = schema::restrict(&Raw::from_text(
//!     r##"{"type":"object","required":["seat"],"properties":{
//!         "seat":{"$ref":"#/$defs/Seat"},"note":{"type":["string","null"]}},
//!         "$defs":{"Seat":{"type":"object","required":["row"],"properties":{"row":{"type":"integer","format":"uint8","minimum":1}}}}}"##,
//! )?)?;
//! assert_eq!(
//!     form.requested_schema().as_str(),
//!     r#"{"type":"object","properties":{"seat.row":{"type":"integer","minimum":1},"note":{"type":"string"}},"required":["seat.row"]}"#,
//! );
//! let losses: Vec<_> = form.losses().iter().map(|loss| (loss.pointer.as_str(), loss.kind)).collect();
//! assert_eq!(losses, [
//!     ("/properties/seat", LossKind::Flattened),
//!     ("/properties/seat/properties/row/format", LossKind::Dropped),
//!     ("/properties/note", LossKind::Nullable),
//! ]);
//!
//! let answer: ElicitResult = wire::decode(r#"{"action":"accept","content":{"seat.row":12}}"#)?;
//! let content = answer.content.unwrap_or_default();
//! assert_eq!(form.read::<serde_json::Value>(&content)?.to_string(), r#"{"seat":{"row":12}}"#);
//!
//! let wrong: ElicitResult = wire::decode(r#"{"action":"accept","content":{"seat.row":0}}"#)?;
//! let problems = form.read::<serde_json::Value>(&wrong.content.unwrap_or_default()).unwrap_err();
//! assert_eq!(problems.to_string(), "at /seat.row: expected at least 1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use crate::mcp::elicitation::{ElicitRequestFormParams, RequestedSchema};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use jsonrpc_core::pointer::segment_name;
use jsonrpc_core::wire::{Extra, Raw};
use serde::de::DeserializeOwned;
use serde_json::Value;

mod answer;
#[cfg(feature = "schemars")]
pub(crate) mod declared;
#[cfg(feature = "validate")]
mod full;
pub(crate) mod keywords;
mod restrict;

pub use answer::check;
pub use restrict::{MAX_FIELDS, MAX_LEVELS, restrict};

/// A form derived from a JSON Schema.
///
/// The [module](self) has an example.
#[derive(Clone, Debug)]
pub struct Form {
    requested_schema: Raw,
    schema: RequestedSchema,
    fields: Vec<restrict::Field>,
    losses: Vec<SchemaLoss>,
    #[cfg(feature = "validate")]
    full: full::FullValidator,
}

impl Form {
    /// Creates the form of a type from its JSON Schema. Fields keep the order of their declaration.
    ///
    /// # Errors
    /// As for [`restrict`].
    #[cfg(feature = "schemars")]
    pub fn of<T: schemars::JsonSchema + DeserializeOwned>() -> Result<Self, SchemaViolation> {
        let mut generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
        let schema = generator.root_schema_for::<T>();
        let schema = Raw::from_value(&schema).map_err(|_| SchemaViolation::new("", "an object"))?;
        restrict::restrict_in_order(&schema, declared::fields_at::<T>)
    }

    /// Returns the schema to send.
    pub fn requested_schema(&self) -> &Raw {
        &self.requested_schema
    }

    /// Returns the parts of the original schema that the form does not express.
    pub fn losses(&self) -> &[SchemaLoss] {
        &self.losses
    }

    /// Creates an elicitation with this form.
    pub fn ask(&self, message: impl Into<String>) -> ElicitRequestFormParams {
        ElicitRequestFormParams::new(message, self.requested_schema.clone())
    }

    /// Creates a repeated elicitation after an invalid answer. The message states the problems.
    pub fn ask_again(
        &self,
        message: impl fmt::Display,
        problems: &AnswerProblems,
    ) -> ElicitRequestFormParams {
        let mut text = message.to_string();
        for AnswerProblem { pointer, problem } in &problems.0 {
            let field = segment_name(pointer.get(1..).unwrap_or_default());
            text.push_str("\n- ");
            if !field.is_empty() {
                text.push_str(&field);
                text.push_str(": ");
            }
            text.push_str(problem);
        }
        self.ask(text)
    }

    /// Reads an answer: validates it against the form, reassembles the structure of the original
    /// schema, validates it against that schema (with the feature `validate`), and deserializes it
    /// as `T`.
    ///
    /// # Errors
    /// Returns the problems of the answer. [`ask_again`](Self::ask_again) presents them to the
    /// user.
    pub fn read<T: DeserializeOwned>(&self, content: &Extra) -> Result<T, AnswerProblems> {
        let value = self.read_value(content)?;
        let text = Raw::from_value(&value).map_err(|_| AnswerProblems::one("", "expected JSON"))?;
        text.decode_serde().map_err(|error| {
            AnswerProblems::one(&self.field_pointer(error.pointer()), error.problem())
        })
    }

    fn read_value(&self, content: &Extra) -> Result<Value, AnswerProblems> {
        AnswerProblems::none_of(check(&self.schema, content))?;
        let value = restrict::assemble(&self.fields, content)?;
        #[cfg(feature = "validate")]
        AnswerProblems::none_of(self.full.check(&value).map(|mut problem| {
            problem.pointer = self.field_pointer(&problem.pointer);
            problem
        }))?;
        Ok(value)
    }

    /// Returns the location of the field that `pointer` into the reassembled value leads to.
    fn field_pointer(&self, pointer: &str) -> String {
        let leads_to = |field: &&restrict::Field| {
            let rest = pointer.strip_prefix(&*field.pointer());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        match self.fields.iter().find(leads_to) {
            Some(field) => keywords::pointer("", &field.name),
            None => pointer.into(),
        }
    }
}

/// A part of a schema that its form does not express.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaLoss {
    /// Location in the schema, a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)).
    pub pointer: String,
    /// Kind of the loss.
    pub kind: LossKind,
}

/// How a form represents something that it cannot express.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LossKind {
    /// The keyword is omitted. Answers are still validated against it with the feature `validate`.
    Dropped,
    /// The field may be left empty instead of `null`.
    Nullable,
    /// A title was added to a choice.
    TitleAdded,
    /// A choice of constants that are not texts shows their JSON text.
    AsText,
    /// The fields of an object were moved to the top level.
    Flattened,
    /// An exclusive bound was replaced by the next integer.
    Bound,
    /// The field accepts JSON text.
    AsJson,
}

/// A schema that cannot be converted into a form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {pointer}: expected {expected}")]
#[non_exhaustive]
pub struct SchemaViolation {
    /// Location in the schema, a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)).
    pub pointer: String,
    /// The expected schema.
    pub expected: String,
}

impl SchemaViolation {
    pub(crate) fn new(pointer: &str, expected: &str) -> Self {
        Self { pointer: pointer.into(), expected: expected.into() }
    }
}

/// The problems of an answer, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerProblems(Vec<AnswerProblem>);

impl AnswerProblems {
    /// Maximum number of problems that are collected.
    pub const MAX: usize = 32;

    /// Returns the problems.
    pub fn iter(&self) -> impl Iterator<Item = &AnswerProblem> {
        self.0.iter()
    }

    fn one(pointer: &str, problem: &str) -> Self {
        Self(Vec::from([AnswerProblem::new(pointer, problem)]))
    }

    fn none_of(problems: impl Iterator<Item = AnswerProblem>) -> Result<(), Self> {
        let problems: Vec<_> = problems.take(Self::MAX).collect();
        if problems.is_empty() { Ok(()) } else { Err(Self(problems)) }
    }
}

impl fmt::Display for AnswerProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl core::error::Error for AnswerProblems {}

/// A problem of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnswerProblem {
    /// Location in the content, a JSON pointer ([RFC
    /// 6901](https://www.rfc-editor.org/rfc/rfc6901)).
    pub pointer: String,
    /// The expectation that is violated. It does not contain the answer.
    pub problem: String,
}

impl AnswerProblem {
    fn new(pointer: &str, problem: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), problem: problem.into() }
    }
}

impl fmt::Display for AnswerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", self.pointer, self.problem)
    }
}
