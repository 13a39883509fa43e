//! Members of messages that several events change, and their sizes.
use super::{Reducer, Warning};
use crate::Metadata;
use crate::content::Content;
use crate::message::Message;
use alloc::string::String;
use jsonrpc_core::wire::Extra;
use serde::Serialize;

/// The text member of a message.
pub(super) enum Text<'a> {
    Plain(&'a mut String),
    Optional(&'a mut Option<String>),
    Content(&'a mut Content),
}

pub(super) fn text(message: &mut Message) -> Option<(Text<'_>, &mut Option<Metadata>)> {
    Some(match message {
        Message::Developer(it) => (Text::Plain(&mut it.content), &mut it.metadata),
        Message::System(it) => (Text::Plain(&mut it.content), &mut it.metadata),
        Message::Reasoning(it) => (Text::Plain(&mut it.content), &mut it.metadata),
        Message::Assistant(it) => (Text::Optional(&mut it.content), &mut it.metadata),
        Message::User(it) => (Text::Content(&mut it.content), &mut it.metadata),
        Message::Tool(it) => (Text::Content(&mut it.content), &mut it.metadata),
        Message::Activity(_) | Message::Unknown(_) => return None,
    })
}

pub(super) fn encrypted(
    message: &mut Message,
) -> Option<(&mut Option<String>, &mut Option<String>)> {
    Some(match message {
        Message::Developer(it) => (&mut it.encrypted_value, &mut it.encrypted_value_type),
        Message::System(it) => (&mut it.encrypted_value, &mut it.encrypted_value_type),
        Message::Assistant(it) => (&mut it.encrypted_value, &mut it.encrypted_value_type),
        Message::User(it) => (&mut it.encrypted_value, &mut it.encrypted_value_type),
        Message::Tool(it) => (&mut it.encrypted_value, &mut it.encrypted_value_type),
        Message::Reasoning(it) => (&mut it.encrypted_value, &mut it.encrypted_value_type),
        Message::Activity(_) | Message::Unknown(_) => return None,
    })
}

/// Sets each key: the last value wins, without a deep merge. Returns the resulting size.
///
/// Spec: [Merging, 1.0](https://ag-ui.com/spec/1.0/basic/metadata#merging)
pub(super) fn merge(
    kept: &mut Option<Metadata>,
    metadata: Option<&Metadata>,
    mut total: usize,
    limit: usize,
) -> Result<usize, Warning> {
    let Some(metadata) = metadata else { return Ok(total) };
    let kept = kept.get_or_insert_default();
    for (name, value) in metadata.iter() {
        let old = kept.get(name).map(|old| old.as_str().len());
        if old.is_none() && kept.len() >= Reducer::MAX_METADATA_KEYS {
            return Err(Warning::TooMuch);
        }
        let freed = old.map_or(0, |old| old + name.len() + 4);
        let before = total.saturating_sub(freed);
        total = grown(before, limit, name.len() + value.as_str().len() + 4)?;
        kept.insert(name, value.clone());
    }
    Ok(total)
}

/// Returns the size of an object in bytes of compact JSON (approximate).
pub(super) fn size(object: &Extra) -> usize {
    object.iter().map(|(name, value)| name.len() + value.as_str().len() + 4).sum()
}

/// Returns the size of a value in bytes of compact JSON.
pub(super) fn written<T: Serialize>(value: &T) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}

/// Returns the size after an addition.
pub(super) fn grown(size: usize, limit: usize, more: usize) -> Result<usize, Warning> {
    let after = size.saturating_add(more);
    if after > limit { Err(Warning::TooMuch) } else { Ok(after) }
}
