//! Decoding of documents in each mode, with the places of errors and diagnostics.
use super::decode_error::DecodeError;
use super::diagnostic::{Diagnostic, MAX_DIAGNOSTICS};
use super::mode::Mode;
use super::pointer::pointers;
use super::problem::{Problem, ProblemKind, SkippedValue};
use super::raw::Raw;
use super::reader::ValueReader;
use super::serde_reader::read_serde;
use super::value::Wire;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

/// Decodes one JSON document.
///
/// ```
/// let error = jsonrpc_core::wire::decode::<Vec<u32>>("[1,-2]").unwrap_err();
/// assert_eq!((error.pointer(), error.to_string().as_str()), ("/1", "at /1: expected u32, got number"));
/// ```
///
/// # Errors
/// The text is not JSON, or not a `T`.
pub fn decode<T: Wire>(json: &str) -> Result<T, DecodeError> {
    // Generated for each type, as below: a `match` is smaller than `?`.
    let mut value = T::blank();
    match read_strict(json, &mut value) {
        Ok(()) => Ok(value),
        Err(error) => Err(error),
    }
}

fn read_strict(json: &str, value: &mut dyn Wire) -> Result<(), DecodeError> {
    decode_into(json, value, Mode::Strict).map(|_| ())
}

/// Decodes one JSON document as a type with serde's traits, with the places of errors.
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct Point(u8, u8);
///
/// let error = jsonrpc_core::wire::decode_serde::<Vec<Point>>("[[1,2],[3,300]]").err();
/// assert_eq!(error.map(|error| error.to_string()).as_deref(), Some("at /1/1: expected u8, got number"));
/// ```
///
/// # Errors
/// The text is not JSON, or not a `T`.
pub fn decode_serde<T: DeserializeOwned>(json: &str) -> Result<T, DecodeError> {
    let mut reader = ValueReader::new(json, Mode::Strict);
    match read_serde(&mut reader) {
        Ok(value) if reader.scanner.end().is_some() => Ok(value),
        _ => Err(error(json, reader.problem)),
    }
}

/// Decodes one JSON document in a [mode](Mode).
///
/// ```
/// use jsonrpc_core::wire::{self, DiagnosticCode, Mode};
///
/// jsonrpc_core::object! {
///     /// A step.
///     pub struct Step {
///         /// The work of the step.
///         name: String = "name",
///     }
/// }
/// jsonrpc_core::object! {
///     /// A plan.
///     pub struct Plan {
///         /// The steps in order.
///         steps: Vec<Step> = "steps" [skip_invalid_items, default_on_null] or "[]",
///     }
///     optional {
///         /// The urgency.
///         priority: u8 = "priority" [default_on_error],
///     }
/// }
///
/// let text = r#"{"steps":[{"name":"read"},{"name":7},{"name":"write"}],"priority":"high"}"#;
/// assert_eq!(wire::decode::<Plan>(text).unwrap_err().pointer(), "/steps/1/name");
///
/// let plan = wire::decode_with::<Plan>(text, Mode::Preserve)?;
/// assert_eq!((plan.value.steps.len(), plan.value.priority), (2, None));
/// let diagnostics: Vec<_> = plan.diagnostics.iter().map(ToString::to_string).collect();
/// assert_eq!(diagnostics, [
///     "skipped_item at /steps/1: at /steps/1/name: expected a string, got number",
///     "default_on_error at /priority: expected u8, got string",
/// ]);
/// assert_eq!(plan.encode()?, text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The text is not JSON, or not a `T` even in this mode.
pub fn decode_with<T: Wire>(json: &str, mode: Mode) -> Result<DecodedValue<T>, DecodeError> {
    let mut value = T::blank();
    match decode_into(json, &mut value, mode) {
        Ok(read) => Ok(read.map(|()| value)),
        Err(error) => Err(error),
    }
}

/// Decodes one JSON document in a [mode](Mode) into a [blank](Wire::blank) value, as
/// [`decode_with`] does.
///
/// Unlike it, this function is compiled once for all types.
///
/// ```
/// use jsonrpc_core::wire::{self, Mode, Wire};
///
/// let mut count = u64::blank();
/// let read = wire::decode_into("7", &mut count, Mode::Strict)?;
/// assert!(read.diagnostics.is_empty() && count == 7);
/// # Ok::<(), wire::DecodeError>(())
/// ```
///
/// # Errors
/// The text is not JSON, or not a value of this type even in this mode. The value may have been
/// changed.
pub fn decode_into(
    json: &str,
    value: &mut dyn Wire,
    mode: Mode,
) -> Result<DecodedValue<()>, DecodeError> {
    let mut reader = ValueReader::new(json, mode);
    if value.read(&mut reader).is_ok() && reader.scanner.end().is_some() {
        let ValueReader { notes, omitted, .. } = reader;
        return Ok(if notes.is_empty() { ().into() } else { diagnostics(json, notes, omitted) });
    }
    Err(error(json, reader.problem))
}

impl Raw {
    /// Decodes the text as `T`.
    ///
    /// # Errors
    /// The value is not a `T`. The error has the place.
    pub fn decode<T: Wire>(&self) -> Result<T, DecodeError> {
        decode(self.as_str())
    }

    /// Decodes the text as a type with serde's traits.
    ///
    /// # Errors
    /// The value is not a `T`. The error has the place.
    pub fn decode_serde<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode_serde(self.as_str())
    }
}

/// A value, and the diagnostics of its text.
#[derive(Clone, Debug)]
pub struct DecodedValue<T> {
    /// The value.
    pub value: T,
    /// Accepted deviations from the specification, in order.
    pub diagnostics: Vec<Diagnostic>,
    /// Number of further diagnostics.
    pub omitted: usize,
}

impl<T> DecodedValue<T> {
    /// The largest number of diagnostics of one document; further ones are counted. The total
    /// length of their pointers is limited as well, to that of the document or 64 KiB, whichever is
    /// larger.
    pub const MAX_DIAGNOSTICS: usize = MAX_DIAGNOSTICS;

    /// Replaces the value.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> DecodedValue<U> {
        let Self { value, diagnostics, omitted } = self;
        DecodedValue { value: make(value), diagnostics, omitted }
    }
}

/// A value without diagnostics.
impl<T> From<T> for DecodedValue<T> {
    fn from(value: T) -> Self {
        Self { value, diagnostics: Vec::new(), omitted: 0 }
    }
}

impl<T: Serialize> DecodedValue<T> {
    /// Encodes the value as serde_json does. After [`Mode::Preserve`] the result is the decoded
    /// JSON value.
    ///
    /// # Errors
    /// The `Serialize` of a type outside of `wire` failed.
    pub fn encode(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&self.value)
    }
}

/// Returns the error of an invalid document.
#[cold]
fn error(json: &str, problem: Option<Problem>) -> DecodeError {
    // A type may reject a text before a syntax error.
    if let Err(error) = serde_json::from_str::<IgnoredAny>(json) {
        return DecodeError::syntax(error);
    }
    let unread =
        || Problem { at: 0, what: ProblemKind::Message(String::from("the text cannot be read")) };
    let Problem { at, what } = problem.unwrap_or_else(unread);
    let pointer = pointers(json, &[at]).pop().unwrap_or_default();
    DecodeError::new(pointer, what.message(kind(json, at)))
}

#[cold]
fn diagnostics(json: &str, notes: Vec<SkippedValue>, omitted: usize) -> DecodedValue<()> {
    let mut places: Vec<_> = notes.iter().flat_map(|note| [note.at, note.problem.at]).collect();
    places.sort_unstable();
    places.dedup();
    let pointers = pointers(json, &places);
    let pointer = |at: usize| pointers.get(places.binary_search(&at).ok()?);
    let total = notes.len() + omitted;
    let diagnostics: Vec<_> = notes
        .iter()
        .filter_map(|SkippedValue { code, at, problem }| {
            let message = problem.what.message(kind(json, problem.at));
            let place = pointer(*at)?;
            let inner = pointer(problem.at)?;
            let is_same = problem.at == *at;
            let why = if is_same { message } else { format!("at {inner}: {message}") };
            Some(Diagnostic::new(*code, place.as_str(), why))
        })
        .collect();
    let omitted = total - diagnostics.len();
    DecodedValue { value: (), diagnostics, omitted }
}

/// Returns the kind of the value at a place.
fn kind(json: &str, at: usize) -> &'static str {
    match json.as_bytes().get(at) {
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b't' | b'f') => "boolean",
        Some(b'n') => "null",
        _ => "number",
    }
}
