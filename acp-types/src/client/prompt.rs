//! Prompts of the user.
use crate::v2::prompt_lifecycle::IdempotencyKey;
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
    /// Version 2: identifies the prompt in its session, in each attempt; see
    /// [`Options::prompt_keys`](super::Options::prompt_keys). Version 1 has no keys.
    pub idempotency_key: Option<IdempotencyKey>,
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
        Self::new(PromptContent::V1(content.into_iter().collect()))
    }

    /// Creates a prompt of version 2.
    pub fn v2(content: impl IntoIterator<Item = v2::content::ContentBlock>) -> Self {
        Self::new(PromptContent::V2(content.into_iter().collect()))
    }

    fn new(content: PromptContent) -> Self {
        Self { content, meta: None, idempotency_key: None }
    }

    /// Sets the `_meta` of the request.
    #[must_use]
    pub fn with_meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Sets the key of the prompt, to repeat one without an answer: the agent answers with the
    /// message that it has.
    #[must_use]
    pub fn with_idempotency_key(mut self, key: IdempotencyKey) -> Self {
        self.idempotency_key = Some(key);
        self
    }
}
