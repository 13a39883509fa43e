//! Putting a context into an elicitation.
use super::section::{self, Section};
use super::{Carriers, EXTENSION, LATER_NAME, Limits, ModelContext, NAME, json};
use crate::mcp::elicitation::ElicitRequestParams;
use alloc::format;
use alloc::string::String;
use jsonrpc_core::wire::{Meta, Raw};

/// The names under which `_meta` and schemas may have a context, the first first.
pub(super) const KEYS: [&str; 3] = [EXTENSION, NAME, LATER_NAME];

/// How a context is put into an elicitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Encoding {
    /// Into which carriers. A page has no schema, so that it takes the others.
    pub carriers: Carriers,
    /// Whether schema, message and `_meta` use [`LATER_NAME`] instead of [`NAME`].
    pub is_later_name: bool,
    /// What to do about a message that has a marker of a section in its text.
    pub marker: Marker,
    /// How large the context may be.
    pub limits: Limits,
}

impl Encoding {
    /// With [`NAME`], markers broken and the limits that there are by default.
    pub fn new(carriers: Carriers) -> Self {
        let (marker, limits) = (Marker::default(), Limits::default());
        Self { carriers, is_later_name: false, marker, limits }
    }
}

/// What to do about a message that has a marker of a section in its text, where readers would find it first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marker {
    /// A space is put into it: `--x-model-context:` becomes `-- x-model-context:`.
    #[default]
    Break,
    /// It is an error.
    Refuse,
}

/// A context cannot be put into an elicitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// It is too large.
    #[error("the context has {actual} bytes, more than {limit}")]
    TooLarge {
        /// Its bytes.
        actual: usize,
        /// Those that are allowed.
        limit: usize,
    },
    /// It is too deep.
    #[error("the context has {actual} levels, more than {limit}")]
    TooDeep {
        /// Its levels.
        actual: usize,
        /// Those that are allowed.
        limit: usize,
    },
    /// The message with its section is too large.
    #[error("the message has {actual} bytes with the context, more than {limit}")]
    MessageTooLarge {
        /// Its bytes.
        actual: usize,
        /// Those that are allowed.
        limit: usize,
    },
    /// The message has a marker in its text, and [`Marker::Refuse`] was asked for.
    #[error("the message has a marker of a context in its text")]
    Marker,
    /// The schema is not an object.
    #[error("the requested schema is not an object")]
    Schema,
    /// `_meta` is not an object.
    #[error("`_meta` is not an object")]
    Meta,
    /// The mode of the elicitation is not known.
    #[error("the mode of the elicitation is not known")]
    Mode,
}

/// Puts a context into an elicitation, instead of the one that it may have. An empty context changes nothing.
///
/// Beside that, markers in the text of the message are [broken](Marker::Break); nothing else changes, not even the order
/// of members.
///
/// # Errors
/// The context is over the limits, or does not fit in; the elicitation is then as it was.
pub fn encode(
    request: &mut ElicitRequestParams,
    context: &ModelContext,
    encoding: &Encoding,
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

fn check(text: &str, limits: &Limits) -> Result<(), EncodeError> {
    if text.len() > limits.bytes {
        return Err(EncodeError::TooLarge { actual: text.len(), limit: limits.bytes });
    }
    let depth = json::depth(text);
    if depth > limits.depth {
        return Err(EncodeError::TooDeep { actual: depth, limit: limits.depth });
    }
    Ok(())
}

fn name(encoding: &Encoding) -> &'static str {
    if encoding.is_later_name { LATER_NAME } else { NAME }
}

fn message(message: &str, context: &str, encoding: &Encoding) -> Result<String, EncodeError> {
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
    let (actual, limit) = (clean.len(), encoding.limits.message);
    if encoding.carriers.message && actual > limit {
        return Err(EncodeError::MessageTooLarge { actual, limit });
    }
    Ok(clean)
}

fn schema(schema: &Raw, context: &ModelContext, encoding: &Encoding) -> Result<Raw, EncodeError> {
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
    encoding: &Encoding,
) -> Result<Option<Meta>, EncodeError> {
    let with = [(EXTENSION, context.as_raw()), (name(encoding), context.as_raw())];
    if !encoding.carriers.meta {
        return Ok(meta.cloned().and_then(without_contexts));
    }
    let edited = json::edit(meta.map_or("{}", Meta::as_str), &KEYS, &with);
    edited.map(|edited| Some(edited.into())).ok_or(EncodeError::Meta)
}

/// The `_meta` without contexts; nothing if it had nothing else.
pub(super) fn without_contexts(meta: Meta) -> Option<Meta> {
    match json::edit(meta.as_str(), &KEYS, &[]) {
        Some(edited) if edited.as_str() != meta.as_str() => {
            Some(edited).filter(|edited| edited.as_str() != "{}").map(Meta::from)
        }
        _ => Some(meta),
    }
}
