//! Content of a tool call, in either version of ACP.
use crate::content::bounded_block;
use crate::json::{self, Members};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::tool_calls::{Diff, ToolCallContent};
use acp_types::v2::diffs::{Diff as Changes, DiffOperation};
use acp_types::v2::tool_calls::ToolCallContent as ToolCallContentV2;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;

/// Longest path or name of omitted content.
const NAME_BYTES: usize = 4096;

#[derive(Clone, Debug)]
pub(crate) enum ProducedContent {
    Block(ContentBlock),
    /// A file before and after.
    Diff(Box<Diff>),
    /// Changes of files.
    Changes(Box<Changes>),
    Terminal(String),
    Other(String, Raw),
}

impl From<ToolCallContent> for ProducedContent {
    fn from(content: ToolCallContent) -> Self {
        match content {
            ToolCallContent::Content(content) => Self::Block(content.content),
            ToolCallContent::Diff(diff) => Self::Diff(diff),
            ToolCallContent::Terminal(terminal) => {
                Self::Terminal(terminal.terminal_id.as_str().into())
            }
            other => Self::Other(other.tag().into(), json::raw(&other)),
        }
    }
}

impl From<ToolCallContentV2> for ProducedContent {
    fn from(content: ToolCallContentV2) -> Self {
        match content {
            ToolCallContentV2::Content(content) => Self::Block(content.content.into()),
            ToolCallContentV2::Diff(diff) => Self::Changes(diff),
            ToolCallContentV2::Terminal(terminal) => {
                Self::Terminal(terminal.terminal_id.as_str().into())
            }
            other => Self::Other(other.tag().into(), json::raw(&other)),
        }
    }
}

impl ProducedContent {
    /// Returns the text of text content.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Block(ContentBlock::Text(text)) => Some(&text.text),
            _ => None,
        }
    }

    /// Returns the content for a page in at most `limit` bytes; longer content is replaced by its
    /// type and size.
    pub(crate) fn shown(&self, limit: usize) -> Raw {
        let shown = match self {
            Self::Block(block) => {
                let block = bounded_block(block, limit);
                return Members::new().with("type", "content").with("content", &block).into_raw();
            }
            Self::Diff(diff) => tagged("diff", json::raw(&**diff)),
            Self::Changes(changes) => tagged("diff", json::raw(&**changes)),
            Self::Terminal(id) => {
                Members::new().with("type", "terminal").with("terminalId", id).into_raw()
            }
            Self::Other(_, raw) => raw.clone(),
        };
        let bytes = shown.as_str().len();
        if bytes <= limit { shown } else { self.stand_in(bytes) }
    }

    fn stand_in(&self, bytes: usize) -> Raw {
        let kind = match self {
            Self::Block(_) => "content",
            Self::Diff(_) | Self::Changes(_) => "diff",
            Self::Terminal(_) => "terminal",
            Self::Other(kind, _) => kind,
        };
        let path = match self {
            Self::Diff(diff) => Some(json::head(&diff.path, NAME_BYTES)),
            _ => None,
        };
        Members::new()
            .with("type", json::head(kind, NAME_BYTES))
            .with_some("path", path.as_ref())
            .with("omittedBytes", &bytes)
            .into_raw()
    }
}

/// Returns an object with its tag, as its union writes it.
fn tagged(tag: &'static str, object: Raw) -> Raw {
    let members = object.decode::<jsonrpc_core::wire::Extra>().unwrap_or_default();
    let mut tagged = jsonrpc_core::wire::Extra::new();
    tagged.insert("type", json::raw(tag));
    members.iter().for_each(|(name, value)| tagged.insert(name, value.clone()));
    json::raw(&tagged)
}

/// Returns changes of files as text: the patch, or one line for each file.
pub(crate) fn changes_text(changes: &Changes) -> String {
    if let Some(patch) = &changes.patch {
        return patch.text.clone();
    }
    let line = |operation: &DiffOperation| match operation {
        DiffOperation::Add(change)
        | DiffOperation::Delete(change)
        | DiffOperation::Modify(change) => {
            format!("{} {}", operation.tag(), change.path.as_str())
        }
        DiffOperation::Move(pair) | DiffOperation::Copy(pair) => {
            format!("{} {} {}", operation.tag(), pair.old_path.as_str(), pair.path.as_str())
        }
        _ => operation.tag().into(),
    };
    let lines: Vec<_> = changes.changes.iter().map(|change| line(&change.operation)).collect();
    lines.join("\n")
}
