//! Content blocks, and content of tool calls.
use super::BridgeLoss;
use super::outbox::Outbox;
use super::texts::{diff_of_texts, texts_of_diff};
use crate::alike::{alike, content_to_v2};
use crate::{v1, v2};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Converts a block of the object `id` to version 1; `None` if that has no such block.
pub(super) fn block_to_v1(
    id: &str,
    block: &v2::content::ContentBlock,
    out: &mut Outbox,
) -> Option<v1::content::ContentBlock> {
    if !block.is_known() || matches!(block, v2::content::ContentBlock::Skill(_)) {
        out.lose_of(BridgeLoss::Content, id, block.tag());
        return None;
    }
    let mut block = block.clone();
    if let v2::content::ContentBlock::ResourceLink(link) = &mut block {
        if link.icons.take().is_some() {
            out.lose_of(BridgeLoss::Content, id, "icons");
        }
        if link.size.is_some_and(|size| i64::try_from(size).is_err()) {
            out.lose_of(BridgeLoss::Content, id, "size");
            link.size = None;
        }
    }
    Some(block.into())
}

pub(super) fn blocks_to_v1(
    id: &str,
    blocks: &[v2::content::ContentBlock],
    out: &mut Outbox,
) -> Vec<v1::content::ContentBlock> {
    blocks.iter().filter_map(|block| block_to_v1(id, block, out)).collect()
}

/// Converts a block of the object `id` to version 2. A value that version 2 does not permit is
/// lost.
pub(super) fn block_to_v2(
    id: &str,
    block: &v1::content::ContentBlock,
    out: &mut Outbox,
) -> Option<v2::content::ContentBlock> {
    let block_v2 = content_to_v2(block);
    if block_v2.is_none() {
        out.lose_of(BridgeLoss::Content, id, block.tag());
    }
    block_v2
}

pub(super) fn blocks_to_v2(
    id: &str,
    blocks: &[v1::content::ContentBlock],
    out: &mut Outbox,
) -> Vec<v2::content::ContentBlock> {
    blocks.iter().filter_map(|block| block_to_v2(id, block, out)).collect()
}

/// Converts content of the tool call `id` to version 1. Terminals become `text`.
pub(super) fn produced_to_v1(
    id: &str,
    content: &v2::tool_calls::ToolCallContent,
    text_of_terminal: impl FnOnce(&str) -> alloc::string::String,
    out: &mut Outbox,
) -> Vec<v1::tool_calls::ToolCallContent> {
    use v1::tool_calls::ToolCallContent as To;
    use v2::tool_calls::ToolCallContent as From;
    match content {
        From::Content(content) => {
            let block = block_to_v1(id, &content.content, out);
            let converted = block.map(|block| {
                let mut content_v1 = v1::tool_calls::Content::new(block);
                content_v1.meta = content.meta.clone();
                content_v1.extra = content.extra.clone();
                To::Content(content_v1)
            });
            converted.into_iter().collect()
        }
        From::Diff(diff) => {
            let (texts, is_same) = texts_of_diff(diff);
            if !is_same {
                let first = diff.changes.first();
                let operation = first.map_or("no change", |change| change.operation.tag());
                out.lose_of(BridgeLoss::Diff, id, operation);
            }
            texts
        }
        From::Terminal(terminal) => {
            out.lose_of(BridgeLoss::Terminal, id, terminal.terminal_id.as_str());
            let text = text_of_terminal(terminal.terminal_id.as_str());
            Vec::from([To::Content(v1::tool_calls::Content::new(text))])
        }
        From::Session(reference) => Vec::from([To::Session(reference.clone())]),
        From::Unknown(content) => {
            out.lose_of(BridgeLoss::Content, id, content.tag());
            Vec::new()
        }
    }
}

/// Converts content of the tool call `id` to version 2.
pub(super) fn produced_to_v2(
    id: &str,
    content: &[v1::tool_calls::ToolCallContent],
    out: &mut Outbox,
) -> Vec<v2::tool_calls::ToolCallContent> {
    use v1::tool_calls::ToolCallContent as From;
    use v2::tool_calls::ToolCallContent as To;
    let each = content.iter().filter_map(|content| match content {
        From::Diff(texts) => Some(To::Diff(Box::new(diff_of_texts(texts)))),
        From::Content(content) => {
            let mut content_v2 =
                v2::tool_calls::Content::new(block_to_v2(id, &content.content, out)?);
            content_v2.meta = content.meta.clone();
            content_v2.extra = content.extra.clone();
            Some(To::Content(Box::new(content_v2)))
        }
        other => alike(other),
    });
    each.collect()
}
