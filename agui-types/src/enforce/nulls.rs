//! Optional members that are `null`, found by comparison of the text with the decoded value.
use super::{Removal, RemovalKind, SchemaError};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::pointer::push_segment;
use jsonrpc_core::wire::{Extra, Raw, Wire};

/// An optional member that is `null`.
pub(super) struct NullMember<'a> {
    /// The pointer, with `*` for each index.
    shape: &'a str,
    /// The object with the member.
    holder: &'a Extra,
}

impl NullMember<'_> {
    pub(super) fn was_legal_in_event(&self, event_type: &str) -> bool {
        match self.shape {
            "/rawEvent" => true,
            "/parentMessageId" => matches!(event_type, "TOOL_CALL_START" | "TOOL_CALL_CHUNK"),
            "/outcome" => event_type == "RUN_FINISHED",
            "/result" => matches!(event_type, "RUN_FINISHED" | "SUBAGENT_FINISHED"),
            "/content/*/metadata" => self.is_in_media_part(),
            other => match other.strip_prefix("/input") {
                Some(shape) => NullMember { shape, ..*self }.was_legal_in_input(),
                None => self.is_in_message(),
            },
        }
    }

    pub(super) fn was_legal_in_input(&self) -> bool {
        match self.shape {
            "/state" | "/forwardedProps" | "/tools/*/parameters" | "/resume/*/payload" => true,
            _ => self.is_in_message(),
        }
    }

    fn is_in_message(&self) -> bool {
        self.shape == "/messages/*/content/*/metadata" && self.is_in_media_part()
    }

    fn is_in_media_part(&self) -> bool {
        let kind = self.holder.get("type").map(Raw::as_str);
        matches!(kind, Some(r#""image""# | r#""audio""# | r#""video""# | r#""document""#))
    }
}

/// Removes the optional members of `typed` that are `null` in `text`, which `typed` was decoded
/// from.
///
/// Decoding is lossless apart from these members, so both are walked in parallel.
pub(super) fn remove<T: Wire>(
    text: &str,
    typed: &mut T,
    was_legal: impl Fn(NullMember<'_>) -> bool,
) -> Result<Vec<Removal>, SchemaError> {
    if !text.contains("null") {
        return Ok(Vec::new());
    }
    let kept = Raw::without_nulls(typed);
    let Ok(given) = Raw::from_text(text) else { return Ok(Vec::new()) };
    let mut search =
        Search { was_legal, pointer: String::new(), shape: String::new(), found: Vec::new() };
    search.compare(&given, &kept)?;
    *typed = kept.decode()?;
    Ok(search.found)
}

struct Search<F> {
    was_legal: F,
    pointer: String,
    shape: String,
    found: Vec<Removal>,
}

impl<F: Fn(NullMember<'_>) -> bool> Search<F> {
    fn compare(&mut self, given: &Raw, kept: &Raw) -> Result<(), SchemaError> {
        if given == kept {
            return Ok(());
        }
        if let (Ok(given), Ok(kept)) = (given.decode::<Extra>(), kept.decode::<Extra>()) {
            for (name, value) in given.iter() {
                let pointer = self.pointer.len();
                let shape = self.shape.len();
                push_segment(&mut self.pointer, name);
                push_segment(&mut self.shape, name);
                match kept.get(name) {
                    Some(kept) => self.compare(value, kept)?,
                    None if value.as_str() == "null" => self.meet(name, &given)?,
                    None => {}
                }
                self.pointer.truncate(pointer);
                self.shape.truncate(shape);
            }
        } else if let (Ok(given), Ok(kept)) =
            (given.decode::<Vec<Raw>>(), kept.decode::<Vec<Raw>>())
        {
            for (index, (given, kept)) in given.iter().zip(&kept).enumerate() {
                let pointer = self.pointer.len();
                let shape = self.shape.len();
                push_segment(&mut self.pointer, &index.to_string());
                self.shape.push_str("/*");
                self.compare(given, kept)?;
                self.pointer.truncate(pointer);
                self.shape.truncate(shape);
            }
        }
        Ok(())
    }

    fn meet(&mut self, name: &str, holder: &Extra) -> Result<(), SchemaError> {
        let pointer = self.pointer.clone();
        if !(self.was_legal)(NullMember { shape: &self.shape, holder }) {
            return Err(SchemaError::Null { pointer });
        }
        let name = name.to_string();
        let removed = pointer.clone();
        self.found.push(Removal { kind: RemovalKind::LegacyNull, name, pointer, removed });
        Ok(())
    }
}
