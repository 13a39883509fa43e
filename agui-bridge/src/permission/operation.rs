//! The operation that a permission request is about, as the request describes it.
use crate::json::{self, Members};
use crate::limits::Limits;
use crate::produced::Produced;
use crate::tool_call::Change;
use crate::tool_name::{Clues, named, tool_name};
use acp_types::v1::tool_calls::ToolKind;
use acp_types::v2::permissions::{CommandPermissionSubject, RequestPermissionSubject};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};

/// The subject of a permission request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Operation {
    /// A tool call, with the members of the request; those that it lacks are of the call when it
    /// was requested.
    Call(CallDescription),
    /// A command, and the whole subject as JSON.
    Command { command: String, cwd: String, subject: Raw },
    /// A subject of an unknown type, as JSON.
    Other(Raw),
    /// None: the title describes the operation.
    Untyped,
}

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

impl Operation {
    /// Returns the operation of a subject other than a tool call.
    pub(crate) fn of_subject(subject: Option<&RequestPermissionSubject>) -> Self {
        match subject {
            Some(subject @ RequestPermissionSubject::Command(command)) => {
                let CommandPermissionSubject { command, cwd, .. } = command;
                Self::Command {
                    command: command.clone(),
                    cwd: cwd.as_str().into(),
                    subject: json::raw(subject),
                }
            }
            Some(subject) => Self::Other(json::raw(subject)),
            None => Self::Untyped,
        }
    }

    /// Returns the name and the kind of the tool, for a policy.
    pub(super) fn tool(&self) -> (&str, &ToolKind) {
        match self {
            Self::Call(call) => {
                (call.name.as_deref().unwrap_or(""), call.kind.as_ref().unwrap_or(&ToolKind::Other))
            }
            Self::Command { .. } => ("", &ToolKind::Execute),
            Self::Other(_) | Self::Untyped => ("", &ToolKind::Other),
        }
    }

    /// Returns the size of the parts that no limit shortens.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Command { subject, .. } | Self::Other(subject) => subject.as_str().len(),
            Self::Call(_) | Self::Untyped => 0,
        }
    }

    /// Returns the text for clients that show a message only, if no tool call in the stream has it.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Command { command, cwd, .. } => Some(format!("{command}\n({cwd})")),
            Self::Other(subject) => Some(subject.as_str().into()),
            Self::Call(_) | Self::Untyped => None,
        }
    }

    /// Adds the operation to an object, in the form of ACP.
    pub(super) fn describe(&self, value: Members) -> Members {
        match self {
            Self::Call(call) => value.with("toolCall", &call.members().into_extra()),
            Self::Command { subject, .. } | Self::Other(subject) => value.with("subject", subject),
            Self::Untyped => value,
        }
    }
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
            let shown = |item: &Produced| {
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

    fn members(&self) -> Members {
        Members::new()
            .with_some("title", self.title.as_ref())
            .with_some("name", self.name.as_ref())
            .with_some("kind", self.kind.as_ref())
            .with_some("rawInput", self.raw_input.as_ref())
            .with_some("content", self.content.as_ref())
            .with_some("locations", self.locations.as_ref())
    }
}
