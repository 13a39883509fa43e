//! Writes a context into an elicitation.
use super::section::{self, Section};
use super::{Carriers, ContextLimits, EXTENSION, LATER_NAME, ModelContext, NAME, json};
use crate::mcp::elicitation::ElicitRequestParams;
use alloc::format;
use alloc::string::String;
use jsonrpc_core::wire::{Meta, Raw};

/// Keys of a context in `_meta` and in schemas, in order of precedence.
pub(super) const KEYS: [&str; 3] = [EXTENSION, NAME, LATER_NAME];

/// Options of [`encode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodeOptions {
    /// The carriers to write. An elicitation in URL mode has no schema and uses the others.
    pub carriers: Carriers,
    /// Whether schema, message and `_meta` use [`LATER_NAME`] instead of [`NAME`].
    pub is_later_name: bool,
    /// Treatment of a message with a section marker in its text.
    pub marker: Marker,
    /// Size limits.
    pub limits: ContextLimits,
}

impl EncodeOptions {
    /// Creates options with [`NAME`], [`Marker::Break`] and the default limits.
    pub fn new(carriers: Carriers) -> Self {
        let marker = Marker::default();
        let limits = ContextLimits::default();
        Self { carriers, is_later_name: false, marker, limits }
    }
}

/// Treatment of a message with a section marker in its text, which a reader would otherwise take
/// for a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Marker {
    /// Inserts a space: `--x-model-context:` becomes `-- x-model-context:`.
    #[default]
    Break,
    /// Returns [`EncodeError::Marker`].
    Refuse,
}

/// An error writing a context into an elicitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The context is too large.
    #[error("the context has {actual} bytes, the limit is {limit}")]
    TooLarge {
        /// Size in bytes.
        actual: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The context is nested too deeply.
    #[error("the context has {actual} levels, the limit is {limit}")]
    TooDeep {
        /// Number of levels.
        actual: usize,
        /// The limit.
        limit: usize,
    },
    /// The message including its section is too large.
    #[error("the message with its context has {actual} bytes, the limit is {limit}")]
    MessageTooLarge {
        /// Size in bytes.
        actual: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The text of the message contains a section marker and [`Marker::Refuse`] is set.
    #[error("the text of the message contains a context marker")]
    Marker,
    /// The schema is not an object.
    #[error("the requested schema is not an object")]
    Schema,
    /// `_meta` is not an object.
    #[error("`_meta` is not an object")]
    Meta,
    /// The mode of the elicitation is unknown.
    #[error("unknown mode of elicitation")]
    Mode,
}

/// Writes a context into an elicitation, replacing a previous one. An empty context has no effect.
///
/// Markers in the text of the message are treated as [`EncodeOptions::marker`] says. Everything
/// else is preserved, including the order of members.
///
/// # Errors
/// Returns an error if the context exceeds the limits or the elicitation cannot carry it. The
/// elicitation is then unchanged.
pub fn encode(
    request: &mut ElicitRequestParams,
    context: &ModelContext,
    encoding: &EncodeOptions,
) -> Result<(), EncodeError> {
    if context.is_empty() {
        return Ok(());
    }
    let text = json::compact(context.as_str());
    check(&text, &encoding.limits)?;
    match request {
        ElicitRequestParams::Form(form) => {
            let message = message(&form.message, &text, encoding)?;
            let schema = schema(&form.requested_schema, context, encoding)?;
            form.meta = meta(form.meta.as_ref(), context, encoding)?;
            form.requested_schema = schema;
            form.message = message;
        }
        ElicitRequestParams::Url(url) => {
            let message = message(&url.message, &text, encoding)?;
            url.meta = meta(url.meta.as_ref(), context, encoding)?;
            url.message = message;
        }
        ElicitRequestParams::Unknown(_) => return Err(EncodeError::Mode),
    }
    Ok(())
}

fn check(text: &str, limits: &ContextLimits) -> Result<(), EncodeError> {
    if text.len() > limits.bytes {
        return Err(EncodeError::TooLarge { actual: text.len(), limit: limits.bytes });
    }
    let depth = json::depth(text);
    if depth > limits.depth {
        return Err(EncodeError::TooDeep { actual: depth, limit: limits.depth });
    }
    Ok(())
}

fn name(encoding: &EncodeOptions) -> &'static str {
    if encoding.is_later_name { LATER_NAME } else { NAME }
}

fn message(message: &str, context: &str, encoding: &EncodeOptions) -> Result<String, EncodeError> {
    let mut clean = message;
    while let Some(Section::Context { end, .. }) = section::find(clean, &encoding.limits) {
        clean = clean.get(..end).unwrap_or_default();
    }
    let mut clean = match (section::neutralise(clean), encoding.marker) {
        (Some(_), Marker::Refuse) => return Err(EncodeError::Marker),
        (Some(broken), Marker::Break) => broken,
        (None, _) => clean.into(),
    };
    if encoding.carriers.message {
        clean.push_str(&format!("\n\n--{}: application/json\n{context}", name(encoding)));
    }
    let actual = clean.len();
    let limit = encoding.limits.message;
    if encoding.carriers.message && actual > limit {
        return Err(EncodeError::MessageTooLarge { actual, limit });
    }
    Ok(clean)
}

fn schema(
    schema: &Raw,
    context: &ModelContext,
    encoding: &EncodeOptions,
) -> Result<Raw, EncodeError> {
    let with = [(name(encoding), context.as_raw())];
    let with = if encoding.carriers.schema { &with[..] } else { &[] };
    match json::edit(schema.as_str(), &KEYS, with) {
        Some(schema) => Ok(schema),
        None if with.is_empty() => Ok(schema.clone()),
        None => Err(EncodeError::Schema),
    }
}

fn meta(
    meta: Option<&Meta>,
    context: &ModelContext,
    encoding: &EncodeOptions,
) -> Result<Option<Meta>, EncodeError> {
    let with = [(EXTENSION, context.as_raw()), (name(encoding), context.as_raw())];
    if !encoding.carriers.meta {
        return Ok(meta.cloned().and_then(without_contexts));
    }
    let edited = json::edit(meta.map_or("{}", Meta::as_str), &KEYS, &with);
    edited.map(|edited| Some(edited.into())).ok_or(EncodeError::Meta)
}

/// Returns `_meta` without contexts, or `None` if it has no other members.
pub(super) fn without_contexts(meta: Meta) -> Option<Meta> {
    match json::edit(meta.as_str(), &KEYS, &[]) {
        Some(edited) if edited.as_str() != meta.as_str() => {
            Some(edited).filter(|edited| edited.as_str() != "{}").map(Meta::from)
        }
        _ => Some(meta),
    }
}
