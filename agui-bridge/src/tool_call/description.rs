//! The description of a tool call in a question about it.
use super::change::Change;
use crate::json::{self, Members};
use crate::limits::Limits;
use crate::produced::ProducedContent;
use crate::tool_name::{Clues, named, tool_name};
use acp_types::v1::tool_calls::ToolKind;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};

/// The members of a tool call that a user decides on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CallDescription {
    pub(crate) title: Option<String>,
    /// The tool's name.
    pub(crate) name: Option<String>,
    pub(crate) kind: Option<ToolKind>,
    pub(crate) raw_input: Option<Raw>,
    pub(crate) content: Option<Vec<Raw>>,
    pub(crate) locations: Option<Raw>,
}

impl CallDescription {
    /// Returns the members of a request. All together have at most the size of a
    /// [value](Limits::value); longer ones are replaced by their size.
    pub(crate) fn of(change: &Change, limits: &Limits) -> Self {
        let title = change.title.clone().filter(|title| !title.is_empty());
        let clues = Clues {
            name: change.name.as_deref(),
            meta: change.meta.as_ref(),
            kind: change.kind.as_ref(),
            title: title.as_deref(),
        };
        let mut description = Self {
            name: named(clues).then(|| tool_name(clues).0),
            title: title.map(|title| json::cut(title, limits.message)),
            kind: change.kind.clone(),
            ..Self::default()
        };
        description.raw_input = description.bounded(change.raw_input.as_ref(), limits);
        description.content = change.content.as_ref().map(|content| {
            let mut room = description.room(limits);
            let shown = |item: &ProducedContent| {
                let shown = item.shown(room);
                room = room.saturating_sub(shown.as_str().len());
                shown
            };
            content.iter().map(shown).collect()
        });
        description.locations = description.bounded(change.locations.as_ref(), limits);
        description
    }

    /// Adds members that the request lacks.
    pub(crate) fn complete(&mut self, known: Self, limits: &Limits) {
        self.title = self.title.take().or(known.title);
        self.name = self.name.take().or(known.name);
        self.kind = self.kind.take().or(known.kind);
        if self.raw_input.is_none() {
            self.raw_input = self.bounded(known.raw_input.as_ref(), limits);
        }
        if self.content.is_none() {
            let size =
                |content: &Vec<Raw>| content.iter().map(|item| item.as_str().len()).sum::<usize>();
            let room = self.room(limits);
            self.content = known.content.filter(|content| size(content) <= room);
        }
        if self.locations.is_none() {
            self.locations = self.bounded(known.locations.as_ref(), limits);
        }
    }

    fn bounded<T: Serialize>(&self, value: Option<&T>, limits: &Limits) -> Option<Raw> {
        value.map(|value| json::bounded(value, self.room(limits)))
    }

    fn room(&self, limits: &Limits) -> usize {
        let texts = [self.raw_input.as_ref(), self.locations.as_ref()];
        let texts = texts.into_iter().flatten().chain(self.content.iter().flatten());
        limits.value.saturating_sub(texts.map(|text| text.as_str().len()).sum())
    }

    /// Returns the members as an object, in the form of ACP.
    pub(crate) fn members(&self) -> Members {
        Members::new()
            .with_some("title", self.title.as_ref())
            .with_some("name", self.name.as_ref())
            .with_some("kind", self.kind.as_ref())
            .with_some("rawInput", self.raw_input.as_ref())
            .with_some("content", self.content.as_ref())
            .with_some("locations", self.locations.as_ref())
    }
}
