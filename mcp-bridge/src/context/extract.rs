//! Reads a context from an elicitation.
use super::encode::{KEYS, without_contexts};
use super::problem::ContextProblem;
use super::section::{self, Section};
use super::{Carrier, ContextLimits, ModelContext, json};
use crate::mcp::elicitation::ElicitRequestParams;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use jsonrpc_core::pointer::push_segment;
use jsonrpc_core::wire::{Extra, Meta, Raw};
use serde_json::Value;

/// An elicitation and the context that it carried.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Extraction {
    /// The context. `None` if it is absent, empty or invalid.
    pub context: Option<ModelContext>,
    /// The carrier of the context.
    pub source: Option<Carrier>,
    /// The elicitation without the context in any carrier, as forms, models and logs should receive
    /// it.
    pub request: ElicitRequestParams,
    /// A section of an unsupported media type, as received. It is removed from the message.
    pub raw_section: Option<String>,
    /// Irregularities of the carriers.
    pub diagnostics: Vec<ContextDiagnostic>,
}

/// An irregularity of a carrier. It never contains the content of the carrier.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextDiagnostic {
    /// The carrier.
    pub carrier: Carrier,
    /// Location in the params, a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)).
    pub pointer: String,
    /// The problem.
    pub problem: ContextProblem,
}

impl fmt::Display for ContextDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", self.pointer, self.problem)
    }
}

/// Extracts the context from an elicitation: the first in the order of [`Carrier`], under any of
/// its names.
///
/// A carrier that is invalid is skipped and reported as a diagnostic. The keys of contexts are
/// removed from `_meta` and the schema whatever their value; a section is removed from the message
/// only if it was read or has another media type.
pub fn extract(request: &ElicitRequestParams, limits: &ContextLimits) -> Extraction {
    let mut found = Extractor { limits, contexts: Vec::new(), diagnostics: Vec::new() };
    let mut request = request.clone();
    let raw_section = match &mut request {
        ElicitRequestParams::Form(form) => {
            found.members(Carrier::Meta, form.meta.as_ref().map(Meta::as_str));
            found.members(Carrier::Schema, Some(form.requested_schema.as_str()));
            let schema = json::edit(form.requested_schema.as_str(), &KEYS, &[]);
            form.requested_schema = schema.unwrap_or_else(|| form.requested_schema.clone());
            form.meta = form.meta.take().and_then(without_contexts);
            found.message(&mut form.message)
        }
        ElicitRequestParams::Url(url) => {
            found.members(Carrier::Meta, url.meta.as_ref().map(Meta::as_str));
            url.meta = url.meta.take().and_then(without_contexts);
            found.message(&mut url.message)
        }
        ElicitRequestParams::Unknown(_) => None,
    };
    let (context, source) = match found.contexts.into_iter().next() {
        Some((source, context)) => (Some(context), Some(source)),
        None => (None, None),
    };
    Extraction { context, source, request, raw_section, diagnostics: found.diagnostics }
}

/// The state of an extraction.
struct Extractor<'a> {
    limits: &'a ContextLimits,
    contexts: Vec<(Carrier, ModelContext)>,
    diagnostics: Vec<ContextDiagnostic>,
}

impl Extractor<'_> {
    /// Reads the keys of an object.
    fn members(&mut self, carrier: Carrier, object: Option<&str>) {
        let object = object.and_then(|text| serde_json::from_str::<Extra>(text).ok());
        let object = object.unwrap_or_default();
        for key in KEYS {
            let Some(value) = object.get(key) else { continue };
            let context = section::check(value.as_str(), self.limits)
                .and_then(|()| section::read_value(value.clone()));
            let parent = if carrier == Carrier::Meta { "/_meta" } else { "/requestedSchema" };
            let mut pointer = String::from(parent);
            push_segment(&mut pointer, key);
            self.record(carrier, pointer, context);
        }
    }

    /// Reads the sections of a message and removes them; encoders that do not replace sections
    /// leave several. Returns a section of an unsupported media type.
    fn message(&mut self, message: &mut String) -> Option<String> {
        while let Some(section) = section::find(message, self.limits) {
            let (end, context) = match section {
                Section::Context { end, context } => (end, Ok(context)),
                Section::Unsupported { end } => (end, Err(ContextProblem::UnsupportedMime)),
                Section::Bad(problem) => {
                    self.record(Carrier::Message, "/message".into(), Err(problem));
                    return None;
                }
            };
            let is_unsupported = context.is_err();
            self.record(Carrier::Message, "/message".into(), context);
            let section = message.split_off(end);
            if is_unsupported {
                return Some(section.trim_start_matches(['\r', '\n']).into());
            }
        }
        None
    }

    fn record(
        &mut self,
        carrier: Carrier,
        pointer: String,
        context: Result<Option<ModelContext>, ContextProblem>,
    ) {
        let problem = match (context, self.contexts.first()) {
            (Ok(None), _) => return,
            (Ok(Some(context)), Some((_, first))) if is_same(first.as_raw(), context.as_raw()) => {
                return;
            }
            (Ok(Some(_)), Some(_)) => ContextProblem::Mismatch,
            (Ok(Some(context)), None) => {
                self.contexts.push((carrier, context));
                return;
            }
            (Err(problem), _) => problem,
        };
        let diagnostic = ContextDiagnostic { carrier, pointer, problem };
        // One diagnostic for each kind is enough for a message with many sections.
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }
}

/// Returns whether two texts are equal as JSON values: peers may reorder members, and write `1.0`
/// for `1`.
fn is_same(one: &Raw, other: &Raw) -> bool {
    let value = |raw: &Raw| serde_json::from_str::<Value>(raw.as_str()).ok();
    let means_same = || Some(is_same_value(&value(one)?, &value(other)?));
    one == other || means_same() == Some(true)
}

fn is_same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(one, other)| is_same_value(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_in_other =
                |(name, one)| other.get(name).is_some_and(|it| is_same_value(one, it));
            one.len() == other.len() && one.iter().all(is_in_other)
        }
        _ => one == other,
    }
}
