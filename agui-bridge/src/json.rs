//! Construction and truncation of JSON texts.
use alloc::string::String;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Returns `value` as JSON text; `null` for a value without a JSON form, which the protocols do not have.
pub(crate) fn raw<T: Serialize + ?Sized>(value: &T) -> Raw {
    Raw::from_value(value).unwrap_or_else(|_| Raw::from(RawValue::NULL))
}

/// Returns `value` as JSON text, or its size if that exceeds `limit` bytes.
pub(crate) fn bounded<T: Serialize + ?Sized>(value: &T, limit: usize) -> Raw {
    let value = raw(value);
    let bytes = value.as_str().len();
    if bytes <= limit { value } else { omitted(bytes).into_raw() }
}

/// Returns items as a JSON list, or the size of the list if that exceeds `limit` bytes. `size` is the expected size.
///
/// A list beyond the limit is measured, but not stored.
pub(crate) fn list<T: Serialize>(items: impl Iterator<Item = T>, size: usize, limit: usize) -> Raw {
    let mut text = String::with_capacity(if size <= limit { size } else { 0 });
    text.push('[');
    let mut bytes = 1;
    for item in items {
        // A value always has a JSON form.
        let item = serde_json::to_string(&item).unwrap_or_default();
        bytes += item.len() + 1;
        if bytes <= limit {
            text.push_str(if text.len() > 1 { "," } else { "" });
            text.push_str(&item);
        }
    }
    text.push(']');
    // An empty list has no item, and its end is not counted yet.
    let bytes = bytes.max("[]".len());
    if bytes > limit {
        return omitted(bytes).into_raw();
    }
    Raw::from_text(text).unwrap_or_else(|_| Raw::from(RawValue::NULL))
}

/// Returns the replacement of a value that is too long.
pub(crate) fn omitted(bytes: usize) -> Members {
    Members::new().with("omittedBytes", &bytes)
}

/// A JSON object under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members(Extra);

impl Members {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn with<T: Serialize + ?Sized>(mut self, name: &'static str, value: &T) -> Self {
        self.0.insert(name, raw(value));
        self
    }

    pub(crate) fn with_some<T: Serialize>(self, name: &'static str, value: Option<&T>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub(crate) fn and(mut self, others: Self) -> Self {
        others.0.iter().for_each(|(name, value)| self.0.insert(name, value.clone()));
        self
    }

    pub(crate) fn set(&mut self, name: &str, value: Raw) {
        self.0.insert(name, value);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Raw> {
        self.0.get(name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.0.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_extra(self) -> Extra {
        self.0
    }

    pub(crate) fn into_raw(self) -> Raw {
        self.to_raw()
    }

    pub(crate) fn to_raw(&self) -> Raw {
        raw(&self.0)
    }
}

/// Returns the longest prefix of `text` that fits into `limit` bytes and ends at a character boundary.
pub(crate) fn head(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// Returns the longest suffix of `text` that fits into `limit` bytes and begins at a character boundary.
pub(crate) fn tail(text: &str, limit: usize) -> &str {
    let start =
        (text.len().saturating_sub(limit)..=text.len()).find(|start| text.is_char_boundary(*start));
    text.get(start.unwrap_or_default()..).unwrap_or_default()
}

/// Truncates `text` to `limit` bytes, with a mark at its end.
pub(crate) fn cut(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        let bytes = text.len();
        text.truncate(head(&text, limit).len());
        text.push_str(&alloc::format!("\n[cut: {limit} of {bytes} bytes]"));
    }
    text
}

/// Fingerprint of a text that is not stored: FNV-1a, 64 bits. It does not resist collisions by an adversary.
///
/// Spec: [FNV](https://www.rfc-editor.org/rfc/rfc9923)
pub(crate) fn fingerprint(texts: &[&str]) -> u64 {
    let ends = texts.iter().flat_map(|text| text.bytes().map(u64::from).chain([256]));
    ends.fold(Print::default().0, fnv)
}

fn fnv(hash: u64, byte: u64) -> u64 {
    (hash ^ byte).wrapping_mul(0x0100_0000_01b3)
}

/// The incremental [`fingerprint`] of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Print(u64);

impl Default for Print {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Print {
    /// Returns the fingerprint of the text so far and `more`.
    pub(crate) fn and(self, more: &str) -> Self {
        let (words, rest) = more.as_bytes().as_chunks::<8>();
        // The compiler unrolls the inner loop.
        let add = |hash, bytes: &[u8]| bytes.iter().copied().map(u64::from).fold(hash, fnv);
        Self(add(words.iter().fold(self.0, |hash, word| add(hash, word)), rest))
    }
}
