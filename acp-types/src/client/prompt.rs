//! Prompts of the user.
use crate::{v1, v2};
use alloc::vec::Vec;
use jsonrpc_core::wire::Meta;

/// A prompt of the user.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// The content.
    pub content: PromptContent,
    /// The `_meta` of the request, for example for trace context.
    pub meta: Option<Meta>,
}

/// The content of a prompt, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PromptContent {
    /// Version 1.
    V1(Vec<v1::content::ContentBlock>),
    /// Version 2.
    V2(Vec<v2::content::ContentBlock>),
}

impl Prompt {
    /// Creates a prompt of version 1.
    pub fn v1(content: impl IntoIterator<Item = v1::content::ContentBlock>) -> Self {
        Self { content: PromptContent::V1(content.into_iter().collect()), meta: None }
    }

    /// Creates a prompt of version 2.
    pub fn v2(content: impl IntoIterator<Item = v2::content::ContentBlock>) -> Self {
        Self { content: PromptContent::V2(content.into_iter().collect()), meta: None }
    }

    /// Sets the `_meta` of the request.
    #[must_use]
    pub fn with_meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }
}
