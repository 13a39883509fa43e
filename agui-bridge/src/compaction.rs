//! Making room in the agent's context.
use crate::ids;
use crate::json::{self, Members};
use crate::translator::Translator;
use acp_types::v1::compaction::{CompactionSummaryChunk, CompactionUpdate};
use acp_types::v1::content::ContentBlock;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use jsonrpc_core::wire::Presence;
use serde::{Deserialize, Serialize};

/// How many compactions are told apart; the oldest by name are forgotten.
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

impl Translator {
    pub(crate) fn compaction_update(&mut self, update: CompactionUpdate) {
        let limits = self.options.limits;
        let id = update.compaction_id.as_str().to_owned();
        let before = self.compactions.compactions.get(&id).cloned();
        let mut compaction = before.clone().unwrap_or_else(running);
        compaction.status = json::head(update.status.as_str(), limits.message).to_owned();
        match update.summary {
            Presence::Absent => {}
            Presence::Null => compaction.summary.clear(),
            Presence::Value(blocks) => {
                compaction.summary.clear();
                blocks.iter().for_each(|block| append(&mut compaction, block, limits.result));
            }
        }
        let error = match update.error {
            Presence::Value(error) => Presence::Value(json::cut(error, limits.message)),
            other => other,
        };
        error.apply_to(&mut compaction.error);
        if before.as_ref() != Some(&compaction) {
            self.show_compaction(id, compaction);
        }
    }

    pub(crate) fn compaction_chunk(&mut self, chunk: &CompactionSummaryChunk) {
        let id = chunk.compaction_id.as_str().to_owned();
        let before = self.compactions.compactions.get(&id).cloned();
        let mut compaction = before.unwrap_or_else(running);
        append(&mut compaction, &chunk.content, self.options.limits.result);
        self.show_compaction(id, compaction);
    }

    fn show_compaction(&mut self, id: String, compaction: Compaction) {
        let summary = Some(&compaction.summary).filter(|summary| !summary.is_empty());
        let content = Members::new()
            .with("compactionId", json::head(&id, self.options.limits.message))
            .with("status", &compaction.status)
            .with_some("summary", summary)
            .with_some("error", compaction.error.as_ref());
        if self.is_modern() {
            let activity = json::head(&id, self.options.limits.message);
            let activity = format!("{}compaction-{activity}", ids::ACTIVITY);
            self.activity(activity, "acp.compaction", content);
        } else {
            self.custom("acp.compaction", content.into_raw());
        }
        let compactions = &mut self.compactions.compactions;
        if !compactions.contains_key(&id) && compactions.len() >= MAX_COMPACTIONS {
            compactions.pop_first();
        }
        compactions.insert(id, compaction);
    }
}

fn running() -> Compaction {
    Compaction { status: "in_progress".to_owned(), summary: String::new(), error: None }
}

fn append(compaction: &mut Compaction, block: &ContentBlock, limit: usize) {
    let text = match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::ResourceLink(link) => crate::content::link_text(link),
        other => format!("[{}]", other.tag()),
    };
    let room = limit.saturating_sub(compaction.summary.len());
    compaction.summary.push_str(json::head(&text, room));
}
