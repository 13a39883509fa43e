//! The snippets at work.

mod acp;
