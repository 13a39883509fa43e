//! Validation of answers against the whole schema (feature `validate`).
use super::{AnswerProblem, SchemaViolation};
use alloc::string::ToString;
use alloc::sync::Arc;
use jsonrpc_core::wire::Raw;
use jsonschema::{Draft, Validator};
use serde_json::Value;

/// A compiled schema.
#[derive(Clone, Debug)]
pub(super) struct FullValidator(Arc<Validator>);

impl FullValidator {
    pub(super) fn new(schema: &Raw) -> Result<Self, SchemaViolation> {
        let schema: Value = schema.decode().map_err(|_| SchemaViolation::new("", "a schema"))?;
        let options = jsonschema::options().with_draft(Draft::Draft202012);
        let validator = options.should_validate_formats(true).build(&schema);
        validator.map(|validator| Self(Arc::new(validator))).map_err(|error| SchemaViolation {
            pointer: error.instance_path().to_string(),
            expected: "a valid schema".into(),
        })
    }

    /// Returns the problems of a value. They do not contain the value.
    pub(super) fn check<'a>(
        &'a self,
        value: &'a Value,
    ) -> impl Iterator<Item = AnswerProblem> + 'a {
        self.0.iter_errors(value).map(|error| {
            let pointer = error.instance_path().to_string();
            AnswerProblem::new(&pointer, error.masked().to_string())
        })
    }
}
