//! Taking a context out of an elicitation.
use super::encode::{KEYS, without_contexts};
use super::section::{self, Section};
use super::{Carrier, Limits, ModelContext, json};
use crate::mcp::elicitation::ElicitRequestParams;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use jsonrpc_core::wire::{Extra, Meta, Raw};
use serde_json::Value;

/// An elicitation, and the context that it carried.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Extracted {
    /// The context; nothing if it carries none that can be read, or an empty one.
    pub context: Option<ModelContext>,
    /// Where it was found.
    pub source: Option<Carrier>,
    /// The elicitation without it, in all carriers: what a form, a model and a log are to see.
    pub request: ElicitRequestParams,
    /// A section of the message that is of a type which is not read, as it came. It is not in the message any more.
    pub raw_section: Option<String>,
    /// What is odd about the carriers.
    pub diagnostics: Vec<ContextDiagnostic>,
}

/// Something odd about a carrier. It never repeats what is in there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextDiagnostic {
    /// Which carrier.
    pub carrier: Carrier,
    /// Where, as a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)) into the params.
    pub pointer: String,
    /// What is odd.
    pub problem: ContextProblem,
}

impl fmt::Display for ContextDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", self.pointer, self.problem)
    }
}

/// What is odd about a carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ContextProblem {
    /// It has another context than the one before it, which counts. Something on the way may have changed one of them.
    Mismatch,
    /// It has JSON that is not an object.
    NotAnObject,
    /// It has more bytes than are allowed.
    TooLarge,
    /// It has more levels than are allowed.
    TooDeep,
    /// The section is of a type that is not read.
    UnsupportedMime,
    /// The section's first line has no media type.
    MalformedHeader,
    /// The section has no JSON, or a part of it.
    InvalidJson,
    /// The section has more than JSON.
    TrailingText,
}

impl fmt::Display for ContextProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mismatch => "expected the same context as before, got another",
            Self::NotAnObject => "expected an object, got other JSON",
            Self::TooLarge => "expected fewer bytes",
            Self::TooDeep => "expected fewer levels",
            Self::UnsupportedMime => "expected application/json in UTF-8, got another type",
            Self::MalformedHeader => "expected a media type, got none",
            Self::InvalidJson => "expected JSON",
            Self::TrailingText => "expected JSON, got text behind it",
        })
    }
}

/// Takes the context out of an elicitation: the first in the order of [`Carrier`], under whichever name.
///
/// A carrier that cannot be read is passed over, and a diagnostic tells. The keys of contexts leave `_meta` and the schema
/// whatever they hold; a section leaves the message only if it was read, or says of itself that it is of another type.
pub fn extract(request: &ElicitRequestParams, limits: &Limits) -> Extracted {
    let mut found = Finding { limits, contexts: Vec::new(), diagnostics: Vec::new() };
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
    Extracted { context, source, request, raw_section, diagnostics: found.diagnostics }
}

/// What was found so far.
struct Finding<'a> {
    limits: &'a Limits,
    contexts: Vec<(Carrier, ModelContext)>,
    diagnostics: Vec<ContextDiagnostic>,
}

impl Finding<'_> {
    /// Looks into an object.
    fn members(&mut self, carrier: Carrier, object: Option<&str>) {
        let object = object.and_then(|text| serde_json::from_str::<Extra>(text).ok());
        let object = object.unwrap_or_default();
        for key in KEYS {
            let Some(value) = object.get(key) else { continue };
            let context = section::check(value.as_str(), self.limits)
                .and_then(|()| section::read_value(value.clone()));
            let parent = if carrier == Carrier::Meta { "/_meta" } else { "/requestedSchema" };
            let pointer = alloc::format!("{parent}/{}", key.replace('/', "~1"));
            self.note(carrier, pointer, context);
        }
    }

    /// Looks into a message, and cuts its sections off: encoders that do not look for one leave several. Gives the one
    /// that is of another type.
    fn message(&mut self, message: &mut String) -> Option<String> {
        while let Some(section) = section::find(message, self.limits) {
            let (end, context) = match section {
                Section::Context { end, context } => (end, Ok(context)),
                Section::Unsupported { end } => (end, Err(ContextProblem::UnsupportedMime)),
                Section::Bad(problem) => {
                    self.note(Carrier::Message, "/message".into(), Err(problem));
                    return None;
                }
            };
            let is_unsupported = context.is_err();
            self.note(Carrier::Message, "/message".into(), context);
            let section = message.split_off(end);
            if is_unsupported {
                return Some(section.trim_start_matches(['\r', '\n']).into());
            }
        }
        None
    }

    fn note(
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
        // A message may have many sections; one diagnostic tells of all that are odd in the same way.
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }
}

/// Whether two texts mean the same: peers may write members in another order, and `1.0` for `1`.
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
