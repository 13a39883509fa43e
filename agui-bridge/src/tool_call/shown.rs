//! The activity of a tool call, as shown to the page.
use crate::json::{self, Members};
use crate::limits::Limits;
use crate::produced::ProducedContent;
use acp_types::v1::content::ContentBlock;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};

/// Size of content beyond which only changed members are shown again.
const LARGE: usize = 4096;

/// The activity's content besides title, kind and status until the call has its result; afterwards
/// fingerprints only.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Shown {
    /// The last run with the activity.
    pub(super) run: Option<u64>,
    locations: Option<Raw>,
    locations_print: Option<u64>,
    /// Diffs, terminals and media.
    items: Vec<Raw>,
    items_print: Option<u64>,
    /// The end of the text.
    progress: String,
    /// Fingerprints of the last shown members.
    sent: Vec<(String, u64)>,
}

impl Shown {
    pub(super) fn set_locations(&mut self, locations: Raw) -> bool {
        let text = locations.as_str();
        let print = (text != "[]").then(|| json::fingerprint(&[text]));
        self.locations = Some(locations);
        core::mem::replace(&mut self.locations_print, print) != print
    }

    pub(super) fn known_locations(&self) -> Option<&Raw> {
        self.locations.as_ref().filter(|locations| locations.as_str() != "[]")
    }

    pub(super) fn locations(&self) -> Raw {
        self.locations.clone().unwrap_or_else(|| json::raw(&[(); 0]))
    }

    /// Sets the content. Returns whether the items differ, and whether the text does.
    pub(super) fn set_content(
        &mut self,
        content: &[ProducedContent],
        appends: bool,
        limits: &Limits,
    ) -> (bool, bool) {
        let mut progress = if appends { self.progress.clone() } else { String::new() };
        if !appends {
            self.items.clear();
        }
        let taken: usize = self.items.iter().map(|item| item.as_str().len()).sum();
        let mut room = limits.value.saturating_sub(taken);
        for item in content {
            if let Some(text) = item.as_text() {
                progress.push_str(json::tail(text, limits.progress));
                continue;
            }
            let shown = item.shown(room);
            room = room.saturating_sub(shown.as_str().len());
            self.items.push(shown);
        }
        let progress = String::from(json::tail(&progress, limits.progress));
        let texts: Vec<&str> = self.items.iter().map(Raw::as_str).collect();
        let print = (!texts.is_empty()).then(|| json::fingerprint(&texts));
        let items = core::mem::replace(&mut self.items_print, print) != print;
        let text = progress != self.progress;
        self.progress = progress;
        (items, text)
    }

    /// Returns the content for a page.
    pub(super) fn content(&self, with_progress: bool) -> Vec<Raw> {
        let mut content = self.items.clone();
        if with_progress && !self.progress.is_empty() {
            let text = ContentBlock::from(self.progress.as_str());
            content.push(Members::new().with("type", "content").with("content", &text).into_raw());
        }
        content
    }

    /// Returns the members that differ from the last shown ones; for a call without content, only
    /// the kept ones.
    pub(super) fn changes(&mut self, members: &Members, gone: bool) -> Vec<(&'static str, Raw)> {
        let mut changed = Vec::new();
        for name in ["title", "kind", "status", "locations", "content"] {
            let Some(value) = members.get(name) else { continue };
            let is_gone = match name {
                "locations" => gone && self.locations.is_none(),
                "content" => gone && self.items.is_empty() && self.progress.is_empty(),
                _ => false,
            };
            if is_gone {
                continue;
            }
            let print = json::fingerprint(&[value.as_str()]);
            match self.sent.iter_mut().find(|(sent, _)| sent == name) {
                Some((_, sent)) if *sent == print => continue,
                Some((_, sent)) => *sent = print,
                None => self.sent.push((name.into(), print)),
            }
            changed.push((name, value.clone()));
        }
        changed
    }

    /// Returns whether the unchanged part is large.
    pub(super) fn is_large(&self, changed: &[(&'static str, Raw)]) -> bool {
        !changed.iter().any(|(name, _)| *name == "content") && self.bytes() > LARGE
    }

    pub(super) fn bytes(&self) -> usize {
        let items: usize = self.items.iter().map(|item| item.as_str().len()).sum();
        items + self.progress.len() + self.locations.as_ref().map_or(0, |raw| raw.as_str().len())
    }

    /// Releases the content.
    pub(super) fn forget(&mut self) {
        self.locations = None;
        self.items = Vec::new();
        self.progress = String::new();
    }
}
