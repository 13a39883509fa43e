//! The snippets at work.

mod acp;
mod agui;
