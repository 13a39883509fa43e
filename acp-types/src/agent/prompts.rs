//! Prompts of version 2: their messages, and repetitions.
//!
//! Spec: [Retrying a Prompt](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#retrying-a-prompt)
use crate::sorted_map::SortedMap;
use crate::v1::session_setup::SessionId;
use crate::v2::prompt_lifecycle::{IdempotencyKey, MessageId};
use alloc::collections::VecDeque;

/// The key of a prompt, in its session.
pub(super) type PromptKey = (SessionId, IdempotencyKey);

/// The messages of accepted prompts, by key; the newest within a limit.
#[derive(Debug)]
pub(super) struct Messages {
    by_key: SortedMap<PromptKey, MessageId>,
    /// The keys, oldest first.
    order: VecDeque<PromptKey>,
    limit: usize,
}

impl Messages {
    pub(super) fn new(limit: usize) -> Self {
        Self { by_key: SortedMap::default(), order: VecDeque::new(), limit }
    }

    pub(super) fn get(&self, key: &PromptKey) -> Option<&MessageId> {
        self.by_key.get(key)
    }

    pub(super) fn insert(&mut self, key: PromptKey, message: MessageId) {
        self.order.push_back(key.clone());
        self.by_key.insert(key, message);
        while self.order.len() > self.limit
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_key.remove(&oldest);
        }
    }
}
