//! The content of a message that was sent in chunks, as a fingerprint.
use crate::v2::content::{ContentBlock, TextContent};
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;

/// The fingerprint of content: its length, and a hash. The size of chunks does not change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ContentFingerprint {
    length: u64,
    hash: u64,
    /// Number of times that the message began anew.
    pub(super) revision: u32,
}

impl Default for ContentFingerprint {
    fn default() -> Self {
        // Spec: FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/
        Self { length: 0, hash: 0xcbf2_9ce4_8422_2325, revision: 0 }
    }
}

impl ContentFingerprint {
    /// Returns an empty fingerprint, for the content that replaces this one.
    pub(super) fn revised(&self) -> Self {
        Self { revision: self.revision.saturating_add(1), ..Self::default() }
    }

    fn push_bytes(&mut self, bytes: impl IntoIterator<Item = u8>) {
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            self.length += 1;
        }
    }

    pub(super) fn push(&mut self, block: &ContentBlock) {
        match plain(block) {
            Some(text) => self.push_bytes(text.text.bytes()),
            None => {
                // No text has these bytes.
                self.push_bytes([0xff]);
                self.push_bytes(Raw::of(block).as_str().bytes());
                self.push_bytes([0xfe]);
            }
        }
    }

    /// Returns the part of `content` after what was sent; `None` if it begins otherwise.
    pub(super) fn rest(&self, content: &[ContentBlock]) -> Option<Vec<ContentBlock>> {
        let mut head = Self { revision: self.revision, ..Self::default() };
        for (index, block) in content.iter().enumerate() {
            if head == *self {
                return Some(content.get(index..)?.to_vec());
            }
            let before = head;
            head.push(block);
            if head.length <= self.length {
                continue;
            }
            let at = usize::try_from(self.length - before.length).ok()?;
            let text = plain(block)?;
            let (old, new) = text.text.split_at_checked(at)?;
            let mut prefix = before;
            prefix.push_bytes(old.bytes());
            let mut rest = text.clone();
            rest.text = new.into();
            let rest = [ContentBlock::Text(rest)].into_iter();
            let after = content.get(index + 1..)?.iter().cloned();
            return (prefix == *self).then(|| rest.chain(after).collect());
        }
        (head == *self).then(Vec::new)
    }
}

/// Returns the text of a block that may be split.
fn plain(block: &ContentBlock) -> Option<&TextContent> {
    match block {
        ContentBlock::Text(text)
            if text.annotations.is_none() && text.meta.is_none() && text.extra.is_empty() =>
        {
            Some(text)
        }
        _ => None,
    }
}
