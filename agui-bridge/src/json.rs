//! Construction and truncation of JSON texts.
use alloc::string::String;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Returns `value` as JSON text; `null` for a value without a JSON form, which the protocols do not
/// have.
pub(crate) fn raw<T: Serialize + ?Sized>(value: &T) -> Raw {
    Raw::from_value(value).unwrap_or_else(|_| Raw::from(RawValue::NULL))
}

/// Returns `value` as JSON text, or its size if that exceeds `limit` bytes.
pub(crate) fn bounded<T: Serialize + ?Sized>(value: &T, limit: usize) -> Raw {
    let value = raw(value);
    let bytes = value.as_str().len();
    if bytes <= limit { value } else { omitted(bytes).into_raw() }
}

/// Returns items as a JSON list, or the size of the list if that exceeds `limit` bytes. `size` is
/// the expected size.
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

/// Returns the longest prefix of `text` that fits into `limit` bytes and ends at a character
/// boundary.
pub(crate) fn head(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// Returns the longest suffix of `text` that fits into `limit` bytes and begins at a character
/// boundary.
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

/// Returns the [fingerprint](Print) of texts that are not stored.
pub(crate) fn fingerprint(texts: &[&str]) -> u64 {
    // No byte has the value of the end of a text.
    texts.iter().fold(Print::default(), |print, text| Print(divided::<8>(print.and(text).0, 256))).0
}

/// The incremental fingerprint of a text: a residue by a prime, with the same result for any
/// division of the text into pieces. It does not resist collisions by an adversary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Print(u64);

impl Default for Print {
    fn default() -> Self {
        Self(0x4bf2_9ce4_8422_2325)
    }
}

impl Print {
    /// Returns the fingerprint of the text so far and `more`.
    pub(crate) fn and(self, more: &str) -> Self {
        let (words, rest) = more.as_bytes().as_chunks::<8>();
        let add = |hash, word: &[u8; 8]| divided::<64>(hash, u64::from_le_bytes(*word));
        let hash = words.iter().fold(self.0, add);
        Self(rest.iter().fold(hash, |hash, byte| divided::<8>(hash, (*byte).into())))
    }
}

/// Returns the sum, divided by `2^BITS` modulo the prime (Montgomery reduction). For eight bytes,
/// one division has the result of eight.
#[inline]
fn divided<const BITS: u32>(hash: u64, more: u64) -> u64 {
    /// The largest prime below `2^63`.
    const PRIME: u64 = (1 << 63) - 25;
    /// The inverse of `-PRIME` modulo `2^64`.
    const INVERSE: u64 = 0x0f5c_28f5_c28f_5c29;
    let sum = u128::from(hash) + u128::from(more);
    let factor = (sum as u64).wrapping_mul(INVERSE) & (u64::MAX >> (64 - BITS));
    let residue = ((sum + u128::from(factor) * u128::from(PRIME)) >> BITS) as u64;
    if residue < PRIME { residue } else { residue - PRIME }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    /// The fingerprint of a text is that of its pieces in order, and another one after any change
    /// of a byte.
    #[test]
    fn fingerprint_depends_on_each_byte_and_not_on_pieces() {
        let text = "Fingerprints: \0 \u{10ffff} as long as several words of eight bytes";
        let whole = Print::default().and(text);
        let characters = text.chars().map(|character| character.to_string());
        assert_eq!(characters.fold(Print::default(), |print, piece| print.and(&piece)), whole);
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let (before, behind) = text.split_at(at);
            assert_eq!(Print::default().and(before).and(behind), whole, "{at}");
            let changed = alloc::format!("{before}\0{}", behind.get(1..).unwrap_or("?"));
            assert_eq!(Print::default().and(&changed) == whole, changed == text, "{at}");
        }
        assert_ne!(fingerprint(&["a", "b"]), fingerprint(&["ab", ""]));
    }
}
