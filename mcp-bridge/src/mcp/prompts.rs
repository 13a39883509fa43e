//! Prompt templates that a server offers.
//!
//! Spec: [Prompts](https://modelcontextprotocol.io/specification/2026-07-28/server/prompts)
use super::base::{ResultType, list_result};
use super::capabilities::Icon;
use super::content::{ContentBlock, Role};
use super::mrtr::InputRequiredResult;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Extra;
use jsonrpc_core::{object, open_union};

list_result! {
    /// The result of `prompts/list`.
    ///
    /// Spec: [`ListPromptsResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#listpromptsresult)
    #[doc(alias = "prompts/list")]
    pub struct ListPromptsResult { raw_prompts = "prompts", prompts: Prompt }
}

object! {
    /// A prompt template.
    ///
    /// Spec: [`Prompt`](https://modelcontextprotocol.io/specification/2026-07-28/schema#prompt)
    pub struct Prompt {
        /// Unique within the server.
        name: String = "name",
    }
    optional {
        /// Human-readable name.
        title: String = "title",
        /// Description of the prompt.
        description: String = "description",
        /// Arguments of the template.
        arguments: Vec<PromptArgument> = "arguments",
        /// Icons for user interfaces. Since 2025-11-25.
        icons: Vec<Icon> = "icons",
    }
    and "_meta"
}

object! {
    /// An argument of a prompt template.
    ///
    /// Spec: [`PromptArgument`](https://modelcontextprotocol.io/specification/2026-07-28/schema#promptargument)
    pub struct PromptArgument {
        /// Name of the argument.
        name: String = "name",
    }
    optional {
        /// Human-readable name.
        title: String = "title",
        /// Description of the argument.
        description: String = "description",
        /// Whether the argument is required.
        required: bool = "required",
    }
}

object! {
    /// The params of `prompts/get`.
    ///
    /// Spec: [`GetPromptRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#getpromptrequestparams)
    #[doc(alias = "prompts/get")]
    pub struct GetPromptRequestParams {
        /// Name of the prompt.
        name: String = "name",
    }
    optional {
        /// Arguments by name. The values are strings.
        arguments: Extra = "arguments",
        /// Responses to the input requests of the server, by key. Since 2026-07-28.
        input_responses: Extra = "inputResponses",
        /// The `requestState` of the server, returned byte for byte. Since 2026-07-28.
        request_state: String = "requestState",
    }
    and "_meta"
}

open_union! {
    /// The outcome of `prompts/get`.
    ///
    /// Spec: [`GetPromptResultResponse`](https://modelcontextprotocol.io/specification/2026-07-28/schema#getpromptresultresponse)
    #[doc(alias = "prompts/get")]
    pub enum GetPromptOutcome by "resultType" {
        /// The server requires input first. Since 2026-07-28.
        InputRequired(Box<InputRequiredResult>) = "input_required",
    }
    untagged {
        /// The prompt.
        Complete(Box<GetPromptResult>) = "complete",
    }
}

object! {
    /// A prompt with its arguments filled in.
    ///
    /// Spec: [`GetPromptResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#getpromptresult)
    pub struct GetPromptResult {
        /// The messages.
        messages: Vec<PromptMessage> = "messages",
    }
    optional {
        /// Description of the prompt.
        description: String = "description",
        /// `complete`. Required since 2026-07-28.
        result_type: ResultType = "resultType",
    }
    and "_meta"
}

object! {
    /// A message of a prompt.
    ///
    /// Spec: [`PromptMessage`](https://modelcontextprotocol.io/specification/2026-07-28/schema#promptmessage)
    pub struct PromptMessage {
        /// Author of the message.
        role: Role = "role",
        /// Content of the message.
        content: ContentBlock = "content",
    }
}
