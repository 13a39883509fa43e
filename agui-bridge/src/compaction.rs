//! Compaction of the agent's context.
use crate::content::link_text;
use crate::frame::Frame;
use crate::ids;
use crate::json::{self, Members};
use crate::outbox::Outbox;
use acp_types::v1::compaction::{CompactionSummaryChunk, CompactionUpdate};
use acp_types::v1::content::ContentBlock;
use acp_types::v2::compaction::{CompactionStatus, CompactionUpdate as CompactionUpdateV2};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use jsonrpc_core::wire::Presence;
use serde::{Deserialize, Serialize};

/// Largest number of distinguished compactions; the smallest ids are removed first.
const MAX_COMPACTIONS: usize = 64;

/// The compactions of a thread, by the agent's ids.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Compactions {
    compactions: BTreeMap<String, Compaction>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Compaction {
    status: String,
    summary: String,
    error: Option<String>,
}

impl Compactions {
    pub(crate) fn handle_update(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        update: CompactionUpdate,
    ) {
        let limits = frame.limits;
        let id = update.compaction_id.as_str().to_owned();
        let before = self.compactions.get(&id).cloned();
        let mut compaction = before.clone().unwrap_or_else(Compaction::new);
        compaction.status = json::head(update.status.as_str(), limits.message).to_owned();
        match update.summary {
            Presence::Absent => {}
            Presence::Null => compaction.summary.clear(),
            Presence::Value(blocks) => {
                compaction.summary.clear();
                blocks.iter().for_each(|block| compaction.append(block, limits.result));
            }
        }
        let error = match update.error {
            Presence::Value(error) => Presence::Value(json::cut(error, limits.message)),
            other => other,
        };
        error.apply_to(&mut compaction.error);
        if before.as_ref() != Some(&compaction) {
            self.show(frame, out, id, compaction);
        }
    }

    /// As [`handle_update`](Self::handle_update), for version 2, in which an update without a
    /// status keeps the present one.
    pub(crate) fn handle_update_v2(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        mut update: CompactionUpdateV2,
    ) {
        let known = self.compactions.get(update.compaction_id.as_str());
        if let Some(known) = known.filter(|_| update.status == Presence::Absent) {
            update.status = Presence::Value(CompactionStatus::from(known.status.as_str()));
        }
        self.handle_update(frame, out, update.into());
    }

    pub(crate) fn handle_chunk(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        chunk: &CompactionSummaryChunk,
    ) {
        let id = chunk.compaction_id.as_str().to_owned();
        let before = self.compactions.get(&id).cloned();
        let mut compaction = before.unwrap_or_else(Compaction::new);
        compaction.append(&chunk.content, frame.limits.result);
        self.show(frame, out, id, compaction);
    }

    fn show(&mut self, frame: &Frame<'_>, out: &mut Outbox, id: String, compaction: Compaction) {
        let shown_id = json::head(&id, frame.limits.message);
        let summary = Some(&compaction.summary).filter(|summary| !summary.is_empty());
        let content = Members::new()
            .with("compactionId", shown_id)
            .with("status", &compaction.status)
            .with_some("summary", summary)
            .with_some("error", compaction.error.as_ref());
        if frame.is_modern {
            let activity = format!("{}compaction-{shown_id}", ids::ACTIVITY);
            out.activity(frame, activity, "acp.compaction", content);
        } else {
            out.custom(frame, "acp.compaction", content.into_raw());
        }
        if !self.compactions.contains_key(&id) && self.compactions.len() >= MAX_COMPACTIONS {
            self.compactions.pop_first();
        }
        self.compactions.insert(id, compaction);
    }
}

impl Compaction {
    fn new() -> Self {
        Self { status: "in_progress".to_owned(), summary: String::new(), error: None }
    }

    fn append(&mut self, block: &ContentBlock, limit: usize) {
        let text = match block {
            ContentBlock::Text(text) => text.text.clone(),
            ContentBlock::ResourceLink(link) => link_text(link),
            other => format!("[{}]", other.tag()),
        };
        let room = limit.saturating_sub(self.summary.len());
        self.summary.push_str(json::head(&text, room));
    }
}
