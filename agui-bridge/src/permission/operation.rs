//! The operation that a permission request is about, as the request describes it.
use crate::json::{self, Members};
use crate::tool_call::CallDescription;
use acp_types::v1::tool_calls::ToolKind;
use acp_types::v2::permissions::{CommandPermissionSubject, RequestPermissionSubject};
use alloc::format;
use alloc::string::String;
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
