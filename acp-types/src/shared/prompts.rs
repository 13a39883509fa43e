//! Messages of a turn and what the turn costs.
//!
//! Spec: [Prompt Turn](https://agentclientprotocol.com/protocol/v1/prompt-turn), [version 2](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle)
use alloc::boxed::Box;
use alloc::string::String;
use jsonrpc_core::{ErrorObject, object, string_id};

string_id! {
    /// Names a message within its session.
    ///
    /// Spec: [`MessageId`](https://agentclientprotocol.com/protocol/v1/schema#messageid), [version 2](https://agentclientprotocol.com/protocol/v2/schema#messageid)
    pub struct MessageId;
}

object! {
    /// **Unstable.** Tokens that were used.
    ///
    /// Spec: [`Usage`](https://agentclientprotocol.com/protocol/v1/draft/schema#usage), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#usage)
    pub struct Usage {
        /// All of them.
        total_tokens: u64 = "totalTokens",
        /// Those that the model read.
        input_tokens: u64 = "inputTokens",
        /// Those that the model wrote.
        output_tokens: u64 = "outputTokens",
    }
    optional {
        /// Those that the model reasoned with.
        thought_tokens: u64 = "thoughtTokens" [default_on_error],
        /// Those that were read from a cache.
        cached_read_tokens: u64 = "cachedReadTokens" [default_on_error],
        /// Those that were written to a cache.
        cached_write_tokens: u64 = "cachedWriteTokens" [default_on_error],
    }
    and "_meta"
}

object! {
    /// How full the context is, and what the session has cost.
    ///
    /// Spec: [`UsageUpdate`](https://agentclientprotocol.com/protocol/v1/schema#usageupdate), [version 2](https://agentclientprotocol.com/protocol/v2/schema#usageupdate)
    pub struct UsageUpdate {
        /// Tokens in the context now.
        used: u64 = "used",
        /// Tokens that the context holds at most.
        size: u64 = "size",
    }
    optional {
        /// What the session has cost so far.
        cost: Box<Cost> = "cost" [default_on_error],
    }
    and "_meta"
}

object! {
    /// An amount of money.
    ///
    /// Spec: [`Cost`](https://agentclientprotocol.com/protocol/v1/schema#cost), [version 2](https://agentclientprotocol.com/protocol/v2/schema#cost)
    pub struct Cost {
        /// How much, in units of the currency.
        amount: f64 = "amount",
        /// Which currency, an ISO 4217 code.
        currency: String = "currency",
    }
    and "_meta"
}

object! {
    /// The work of a session failed. **Unstable** in version 1.
    ///
    /// Spec: [`ErrorStopReason`](https://agentclientprotocol.com/protocol/v1/draft/schema#errorstopreason), [version 2](https://agentclientprotocol.com/protocol/v2/schema#errorstopreason)
    pub struct ErrorStopReason {}
    optional {
        /// What went wrong, where the agent says so.
        error: Box<ErrorObject> = "error" [default_on_error],
    }
}
