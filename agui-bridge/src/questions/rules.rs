//! The options that decide how a question is answered.
use super::about::About;
use super::settlement::Settlement;
use crate::elicitation::ElicitationMode;
use crate::frame::Frame;
use crate::options::Options;
use crate::permission::PermissionMode;
use acp_types::v1::elicitation::ElicitationAction;
use alloc::string::String;
use core::time::Duration;
use jsonrpc_core::wire::Extra;
use serde::{Deserialize, Serialize};

/// The options that questions depend on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rules {
    permission: PermissionMode,
    elicitation: ElicitationMode,
    legacy_interrupts: bool,
    /// The prefix of interrupt ids.
    pub(super) prefix: String,
    pub(super) collect: Duration,
    pub(super) answer: Option<Duration>,
    pub(super) epoch: Option<Duration>,
}

/// The way a question is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuestionRoute {
    InStream,
    Interrupt,
}

impl Rules {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            permission: options.permission.clone(),
            elicitation: options.elicitation,
            legacy_interrupts: options.legacy_interrupts,
            prefix: options.interrupt_prefix.clone(),
            collect: options.times.collect,
            answer: options.times.answer,
            epoch: options.times.epoch,
        }
    }

    /// Returns the answer of a policy, if it answers.
    pub(super) fn policy(&self, about: &About) -> Option<Settlement> {
        match about {
            About::Permission(permission) => match &self.permission {
                PermissionMode::Policy(policy) => {
                    Some(Settlement::Permission(permission.decide(policy)))
                }
                PermissionMode::InStream | PermissionMode::Interrupt => None,
            },
            About::Elicitation(elicitation) if !elicitation.is_known() => Some(about.cancelled()),
            About::Elicitation(_) => match self.elicitation {
                ElicitationMode::Decline => {
                    Some(Settlement::Elicitation(ElicitationAction::Decline(Extra::new())))
                }
                ElicitationMode::Interrupt | ElicitationMode::InStream => None,
            },
        }
    }

    /// Returns the way a question is sent to the user, if the user answers. `is_asked` is whether
    /// the user answers permission requests in any case.
    pub(super) fn way(
        &self,
        frame: &Frame<'_>,
        about: &About,
        is_asked: bool,
    ) -> Option<QuestionRoute> {
        let way = match about {
            About::Permission(_) => match &self.permission {
                PermissionMode::Policy(_) if is_asked => QuestionRoute::Interrupt,
                PermissionMode::Policy(_) => return None,
                PermissionMode::InStream => QuestionRoute::InStream,
                PermissionMode::Interrupt => QuestionRoute::Interrupt,
            },
            About::Elicitation(_) => match self.elicitation {
                ElicitationMode::Decline => return None,
                ElicitationMode::InStream => QuestionRoute::InStream,
                ElicitationMode::Interrupt => QuestionRoute::Interrupt,
            },
        };
        let has_interrupts = frame.is_modern || self.legacy_interrupts;
        Some(if has_interrupts { way } else { QuestionRoute::InStream })
    }
}
