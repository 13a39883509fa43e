//! Translates ACP agent traffic into AG-UI event streams, and AG-UI input into ACP requests, without IO.
#![no_std]

extern crate alloc;

mod arguments;
mod content;
mod ids;
pub mod input;
mod json;
mod limits;
mod permission;
mod plan;
mod result;
mod state;
mod stop;
mod text;
mod tool_call;
mod tool_name;
mod translator;
mod unified_diff;
mod usage;

pub use arguments::ArgsMode;
pub use limits::Limits;
pub use permission::{AnswerError, PermissionAnswer, PermissionMode, PermissionResponse, Policy};
pub use stop::Failure;
pub use translator::{Options, RunOpen, Translator};
