//! Approximate sizes of parts of the state.
use super::{ProducedContent, ToolCallState};
use crate::v2::content::{ContentBlock, EmbeddedResourceResource};
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Presence, Raw};

/// Approximate size of an entry besides its text, in bytes.
pub(super) const OVERHEAD: usize = 64;

fn weight_of_extra(extra: &Extra) -> usize {
    extra.iter().map(|(name, value)| name.len() + value.as_str().len()).sum()
}

/// Returns the approximate size of a content block, in bytes.
pub(super) fn weight(block: &ContentBlock) -> usize {
    OVERHEAD
        + match block {
            ContentBlock::Text(text) => text.text.len(),
            ContentBlock::Image(image) => image.data.len(),
            ContentBlock::Audio(audio) => audio.data.len(),
            ContentBlock::ResourceLink(link) => link.uri.len() + link.name.len(),
            ContentBlock::Resource(resource) => match &resource.resource {
                EmbeddedResourceResource::Text(text) => text.text.len(),
                EmbeddedResourceResource::Blob(blob) => blob.blob.len(),
                EmbeddedResourceResource::Unknown(extra) => weight_of_extra(extra),
            },
            ContentBlock::Skill(skill) => skill.name.len(),
            ContentBlock::Unknown(block) => weight_of_extra(block.members()),
        }
}

pub(super) fn weight_of_produced(produced: &ProducedContent) -> usize {
    use crate::v2::tool_calls::ToolCallContent;
    match produced {
        ProducedContent::Content(ToolCallContent::Content(content)) => weight(&content.content),
        ProducedContent::Content(ToolCallContent::Diff(diff)) => {
            let patch = diff.patch.as_ref().map_or(0, |patch| patch.text.len());
            OVERHEAD * (1 + diff.changes.len()) + patch
        }
        ProducedContent::Content(ToolCallContent::Terminal(_) | ToolCallContent::Session(_)) => {
            OVERHEAD
        }
        ProducedContent::Content(ToolCallContent::Unknown(content)) => {
            OVERHEAD + weight_of_extra(content.members())
        }
        ProducedContent::Texts(diff) => {
            OVERHEAD + diff.new_text.len() + diff.old_text.as_ref().map_or(0, |text| text.len())
        }
    }
}

pub(super) fn weight_of_call(call: &ToolCallState) -> usize {
    let raw = |raw: &Presence<Raw>| raw.value().map_or(0, |raw| raw.as_str().len());
    let produced: usize = call.content.iter().map(weight_of_produced).sum();
    OVERHEAD + raw(&call.update.raw_input) + raw(&call.update.raw_output) + produced
}

pub(super) fn weight_of_blocks(blocks: &Presence<Vec<ContentBlock>>) -> usize {
    OVERHEAD + blocks.value().map_or(0, |blocks| blocks.iter().map(weight).sum())
}
