//! Requests that open a session.
use crate::{v1, v2};
use alloc::boxed::Box;

/// A request that opens a session.
///
/// The agent's capabilities state whether it supports the method; see
/// [`capabilities`](mod@crate::capabilities).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionSetupRequest {
    /// `session/new`, version 1.
    New(Box<v1::session_setup::NewSessionRequest>),
    /// `session/load`, version 1.
    Load(Box<v1::session_setup::LoadSessionRequest>),
    /// `session/resume`, version 1.
    Resume(Box<v1::session_setup::ResumeSessionRequest>),
    /// `session/fork`, version 1.
    Fork(Box<v1::session_setup::ForkSessionRequest>),
    /// `session/new`, version 2.
    NewV2(Box<v2::session_setup::NewSessionRequest>),
    /// `session/resume`, version 2.
    ResumeV2(Box<v2::session_setup::ResumeSessionRequest>),
    /// `session/fork`, version 2.
    ForkV2(Box<v2::session_setup::ForkSessionRequest>),
}

macro_rules! open_from {
    ($($Request:ty => $Variant:ident,)+) => { $(
        impl From<$Request> for SessionSetupRequest {
            fn from(request: $Request) -> Self {
                Self::$Variant(Box::new(request))
            }
        }
    )+ };
}

open_from! {
    v1::session_setup::NewSessionRequest => New,
    v1::session_setup::LoadSessionRequest => Load,
    v1::session_setup::ResumeSessionRequest => Resume,
    v1::session_setup::ForkSessionRequest => Fork,
    v2::session_setup::NewSessionRequest => NewV2,
    v2::session_setup::ResumeSessionRequest => ResumeV2,
    v2::session_setup::ForkSessionRequest => ForkV2,
}
