//! Messages of a turn, and token usage.
//!
//! Spec: [Prompt Turn](https://agentclientprotocol.com/protocol/v1/prompt-turn), [version
//! 2](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle)
use alloc::boxed::Box;
use alloc::string::String;
use jsonrpc_core::wire::{Meta, Raw};
use jsonrpc_core::{ErrorObject, find_member, object, string_id};

string_id! {
    /// Identifies a message within its session.
    ///
    /// Spec: [`MessageId`](https://agentclientprotocol.com/protocol/v1/schema#messageid), [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#messageid)
    pub struct MessageId;
}

object! {
    /// **Unstable.** Token usage of a turn.
    ///
    /// Spec: [`Usage`](https://agentclientprotocol.com/protocol/v1/draft/schema#usage), [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#usage)
    pub struct Usage by name {
        /// Total tokens used.
        total_tokens: u64 = "totalTokens",
        /// Input tokens.
        input_tokens: u64 = "inputTokens",
        /// Output tokens.
        output_tokens: u64 = "outputTokens",
    }
    optional {
        /// Reasoning tokens.
        thought_tokens: u64 = "thoughtTokens" [default_on_error],
        /// Tokens read from a cache.
        cached_read_tokens: u64 = "cachedReadTokens" [default_on_error],
        /// Tokens written to a cache.
        cached_write_tokens: u64 = "cachedWriteTokens" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Context usage, and the cost of the session. In version 2 an absent cost is unchanged, and
    /// `null` clears it.
    ///
    /// Spec: [`UsageUpdate`](https://agentclientprotocol.com/protocol/v1/schema#usageupdate),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#usageupdate)
    pub struct UsageUpdate by name {
        /// Tokens in the context now.
        used: u64 = "used",
        /// Size of the context, in tokens.
        size: u64 = "size",
    }
    optional {
        /// Cost of the session so far.
        cost: Box<Cost> = "cost" [default_on_error],
    }
    patch {
        /// `_meta`: extension metadata; in version 2 a patch by key, in which `null` removes a key.
        meta: Meta = "_meta",
    }
}

impl UsageUpdate {
    /// Returns whether the cost is `null`, which clears it in version 2.
    pub(crate) fn clears_cost(&self) -> bool {
        let text = Raw::of(self);
        self.cost.is_none() && find_member(text.as_str(), &["cost"]) == Some("null")
    }
}

object! {
    /// An amount of money.
    ///
    /// Spec: [`Cost`](https://agentclientprotocol.com/protocol/v1/schema#cost), [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#cost)
    pub struct Cost {
        /// Amount, in units of the currency.
        amount: f64 = "amount",
        /// Currency, an ISO 4217 code.
        currency: String = "currency",
    }
    and "_meta"
}

object! {
    /// The work of a session failed.
    ///
    /// Spec: [`ErrorStopReason`](https://agentclientprotocol.com/protocol/v1/schema#errorstopreason),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#errorstopreason)
    pub struct ErrorStopReason {}
    optional {
        /// The error, if the agent reports it.
        error: Box<ErrorObject> = "error" [default_on_error],
    }
}
