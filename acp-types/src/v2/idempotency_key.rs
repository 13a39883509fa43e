//! Keys of prompts that a client may repeat.
//!
//! Spec: [Retrying a Prompt](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#retrying-a-prompt)
use alloc::sync::Arc;
use core::fmt;
use jsonrpc_core::wire::{Fault, ValueReader, View, Wire};
use jsonrpc_core::{__json_schema, object};

/// Identifies one submission of a prompt within its session, in each attempt.
///
/// Spec: [`IdempotencyKey`](https://agentclientprotocol.com/protocol/v2/schema#idempotencykey)
///
/// A key has 1 to [`MAX_LENGTH`](Self::MAX_LENGTH) characters. Another value is an error, which an
/// agent answers with `-32602`.
///
/// ```
/// use acp_types::v2::prompt_lifecycle::IdempotencyKey;
///
/// assert_eq!(IdempotencyKey::new("prompt-7").map(|key| key.to_string()).as_deref(), Some("prompt-7"));
/// assert_eq!(IdempotencyKey::new(""), None);
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey(Arc<str>);

impl IdempotencyKey {
    /// The largest number of characters.
    pub const MAX_LENGTH: usize = 255;

    /// Creates a key; `None` if it is empty or too long.
    pub fn new(key: impl Into<Arc<str>>) -> Option<Self> {
        let key = key.into();
        let is_valid = !key.is_empty() && key.chars().nth(Self::MAX_LENGTH).is_none();
        is_valid.then_some(Self(key))
    }

    /// Returns the key as on the wire.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for IdempotencyKey {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Wire for IdempotencyKey {
    fn blank() -> Self {
        Self(Arc::default())
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        match Self::new(&*reader.string()?) {
            Some(key) => *self = key,
            None => return Err(reader.invalid("a string of 1 to 255 characters")),
        }
        Ok(())
    }

    fn view(&self) -> View<'_> {
        View::Str(&self.0)
    }
}

object! { @serde IdempotencyKey }

__json_schema! { IdempotencyKey, _generator => jsonrpc_core::wire::schema::schemars::json_schema!({
    "type": "string", "minLength": 1, "maxLength": Self::MAX_LENGTH
}) }
