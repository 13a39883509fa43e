//! Detection of the prompt that an agent repeats.
use crate::content::skill_text;
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::MessageId;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Maximum number of bytes of a prompt that is recognized after the end of its turn.
const MAX_LATE: usize = 4096;

/// The prompt of the last turn, as far as the agent has not repeated it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Echo {
    text: String,
    repeated: usize,
    blocks: Vec<ContentBlock>,
    /// The message that the agent has made of the prompt, in version 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<MessageId>,
}

impl Echo {
    pub(crate) fn new(prompt: &[ContentBlock]) -> Self {
        let mut echo = Self::default();
        for block in prompt {
            match block {
                ContentBlock::Text(text) => echo.text.push_str(&text.text),
                other => echo.blocks.push(other.clone()),
            }
        }
        echo
    }

    /// Sets the message that the agent has made of the prompt.
    pub(crate) fn set_message(&mut self, message: MessageId) {
        self.message = Some(message);
    }

    /// Returns whether a message is the prompt, whatever its content.
    pub(crate) fn is_message(&self, message: &MessageId) -> bool {
        self.message.as_ref() == Some(message)
    }

    /// Adds a block that is sent beside the prompt.
    pub(crate) fn expect_block(&mut self, block: ContentBlock) {
        self.blocks.push(block);
    }

    /// Forgets what is too long to be held without a run. Some agents repeat the prompt after the
    /// end of the turn.
    pub(crate) fn end_turn(&mut self) {
        if self.text.len() > MAX_LATE {
            self.text = String::new();
            self.repeated = 0;
        }
        self.blocks.retain(|block| matches!(block, ContentBlock::ResourceLink(_)));
    }

    /// Returns whether a user chunk repeats the prompt.
    pub(crate) fn takes(&mut self, block: &ContentBlock) -> bool {
        match block {
            ContentBlock::Text(text) => self.takes_text(&text.text),
            other => {
                let place = self.blocks.iter().position(|block| is_same(block, other));
                place.map(|place| self.blocks.remove(place)).is_some()
            }
        }
    }

    /// Returns whether a user chunk would repeat the prompt.
    pub(crate) fn is_next(&self, block: &ContentBlock) -> bool {
        match block {
            ContentBlock::Text(text) => self.rest().starts_with(&text.text),
            other => self.blocks.iter().any(|block| is_same(block, other)),
        }
    }

    fn rest(&self) -> &str {
        self.text.get(self.repeated..).unwrap_or_default()
    }

    fn takes_text(&mut self, text: &str) -> bool {
        let repeats = self.rest().starts_with(text);
        self.repeated += if repeats { text.len() } else { 0 };
        repeats
    }

    /// Returns whether a text of the user completes a repetition of the prompt's text.
    pub(crate) fn completes(&mut self, text: &str) -> bool {
        !text.is_empty() && self.takes_text(text) && self.repeated == self.text.len()
    }

    /// Returns whether a whole user message repeats the prompt.
    pub(crate) fn takes_all(&mut self, blocks: &[ContentBlock]) -> bool {
        let mut tried = self.clone();
        let repeats = !blocks.is_empty() && blocks.iter().all(|block| tried.takes(block));
        if repeats {
            *self = tried;
        }
        repeats
    }
}

/// Returns whether two blocks are the same. Agents may add members to a skill.
fn is_same(block: &ContentBlock, other: &ContentBlock) -> bool {
    block == other || skill_text(block).is_some_and(|skill| Some(skill) == skill_text(other))
}
