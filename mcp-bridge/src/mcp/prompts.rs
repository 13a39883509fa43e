//! Templates of messages that a server offers.
//!
//! Spec: [Prompts](https://modelcontextprotocol.io/specification/2026-07-28/server/prompts)
use super::base::{CacheScope, ResultType};
use super::capabilities::Icon;
use super::content::{ContentBlock, Role};
use super::mrtr::InputRequiredResult;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Extra, Raw};
use jsonrpc_core::{object, open_union};
use serde_json::Number;

object! {
    /// The answer to `prompts/list`.
    ///
    /// Each prompt stays text until [`prompts`](Self::prompts) reads it, so that a bad one does not lose the others.
    ///
    /// Spec: [`ListPromptsResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#listpromptsresult)
    pub struct ListPromptsResult {
        /// The prompts, as they came.
        raw_prompts: Vec<Raw> = "prompts",
    }
    optional {
        /// Where the next page begins.
        next_cursor: String = "nextCursor",
        /// How long the answer may be kept, in milliseconds. Required from 2026-07-28 on.
        ttl_ms: Number = "ttlMs",
        /// Who may be given it meanwhile. Required from 2026-07-28 on.
        cache_scope: CacheScope = "cacheScope",
        /// `complete`. Required from 2026-07-28 on.
        result_type: ResultType = "resultType",
    }
    and "_meta"
}

impl ListPromptsResult {
    /// Reads each prompt on its own, with its index in the list.
    pub fn prompts(&self) -> impl Iterator<Item = (usize, Result<Prompt, DecodeError>)> {
        self.raw_prompts.iter().map(Raw::decode).enumerate()
    }
}

object! {
    /// A template that a server offers.
    ///
    /// Spec: [`Prompt`](https://modelcontextprotocol.io/specification/2026-07-28/schema#prompt)
    pub struct Prompt {
        /// Unique within the server.
        name: String = "name",
    }
    optional {
        /// Its name, for people.
        title: String = "title",
        /// What it is for.
        description: String = "description",
        /// What it can be filled in with.
        arguments: Vec<PromptArgument> = "arguments",
        /// Pictures of it. From 2025-11-25 on.
        icons: Vec<Icon> = "icons",
    }
    and "_meta"
}

object! {
    /// Something that a template can be filled in with.
    ///
    /// Spec: [`PromptArgument`](https://modelcontextprotocol.io/specification/2026-07-28/schema#promptargument)
    pub struct PromptArgument {
        /// Its name.
        name: String = "name",
    }
    optional {
        /// Its name, for people.
        title: String = "title",
        /// What it is.
        description: String = "description",
        /// Whether it has to be there.
        required: bool = "required",
    }
}

object! {
    /// The params of `prompts/get`.
    ///
    /// Spec: [`GetPromptRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#getpromptrequestparams)
    pub struct GetPromptRequestParams {
        /// Which prompt.
        name: String = "name",
    }
    optional {
        /// What to fill in, by name: strings.
        arguments: Extra = "arguments",
        /// Answers to what the server needed, by key. From 2026-07-28 on.
        input_responses: Extra = "inputResponses",
        /// The state that came with the need, to the byte. From 2026-07-28 on.
        request_state: String = "requestState",
    }
    and "_meta"
}

open_union! {
    /// What came of `prompts/get`.
    ///
    /// Spec: [`GetPromptResultResponse`](https://modelcontextprotocol.io/specification/2026-07-28/schema#getpromptresultresponse)
    pub enum GetPromptOutcome by "resultType" {
        /// The server needs something first. From 2026-07-28 on.
        InputRequired(Box<InputRequiredResult>) = "input_required",
    }
    untagged {
        /// The prompt.
        Complete(Box<GetPromptResult>) = "complete",
    }
}

object! {
    /// A template that was filled in.
    ///
    /// Spec: [`GetPromptResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#getpromptresult)
    pub struct GetPromptResult {
        /// The messages.
        messages: Vec<PromptMessage> = "messages",
    }
    optional {
        /// What it is.
        description: String = "description",
        /// `complete`. Required from 2026-07-28 on.
        result_type: ResultType = "resultType",
    }
    and "_meta"
}

object! {
    /// A message of a prompt.
    ///
    /// Spec: [`PromptMessage`](https://modelcontextprotocol.io/specification/2026-07-28/schema#promptmessage)
    pub struct PromptMessage {
        /// Who says it.
        role: Role = "role",
        /// What is said.
        content: ContentBlock = "content",
    }
}
