//! Extensibility: extension methods, and keys of `_meta`.
//!
//! Spec: [Extensibility](https://agentclientprotocol.com/protocol/v1/extensibility)
//!
//! Requests and notifications of unknown methods, including extensions, are the `Other` of
//! [`ClientRequest`](super::dispatch::ClientRequest) and its siblings. Unknown members of a type are in its `extra`,
//! keys of `_meta` in its `meta`.
//!
//! Most unknown values are ignored, or shown in a plain form. Requests that an agent must refuse instead have a method
//! `rejection`.
use super::content::ContentBlock;
use super::prompt_turn::PromptRequest;
use super::session_config_options::SetSessionConfigOptionRequest;
use super::session_list::ListSessionsRequest;
use super::session_setup::{
    ForkSessionRequest, LoadSessionRequest, McpServer, NewSessionRequest, ResumeSessionRequest,
};
use super::system_prompt::SystemPrompt;
use crate::rejection::{first_unknown, unknown};
use jsonrpc_core::ErrorObject;

/// The prefix of extension methods.
pub const EXTENSION_PREFIX: &str = "_";

/// The key of `_meta` for the [`traceparent`](https://www.w3.org/TR/trace-context/#traceparent-header) of W3C Trace
/// Context.
pub const TRACEPARENT: &str = "traceparent";

/// The key of `_meta` for the [`tracestate`](https://www.w3.org/TR/trace-context/#tracestate-header) of W3C Trace
/// Context.
pub const TRACESTATE: &str = "tracestate";

/// The key of `_meta` for the [baggage](https://www.w3.org/TR/baggage/) of W3C.
pub const BAGGAGE: &str = "baggage";

impl PromptRequest {
    /// Returns the error for unknown values that an agent must not ignore (invalid parameters), or `None` if all values
    /// are known.
    ///
    /// ```
    /// use acp_types::v1::prompt_turn::PromptRequest;
    /// use jsonrpc_core::{ErrorCode, wire};
    ///
    /// let params = r#"{"sessionId":"s","prompt":[{"type":"text","text":"Look:"},{"type":"hologram"}]}"#;
    /// let refusal = wire::decode::<PromptRequest>(params)?.rejection().ok_or("nothing to refuse")?;
    /// assert_eq!(refusal.code, ErrorCode::INVALID_PARAMS);
    /// assert_eq!(refusal.message, "at /prompt/1: unknown content `hologram`");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rejection(&self) -> Option<ErrorObject> {
        unknown_content("/prompt", &self.prompt)
    }
}

impl NewSessionRequest {
    /// Returns the error for unknown values that an agent must not ignore (invalid parameters), or `None` if all values
    /// are known.
    pub fn rejection(&self) -> Option<ErrorObject> {
        unknown_server(&self.mcp_servers)
            .or_else(|| unknown_system_prompt(self.system_prompt.as_deref()))
    }
}

impl ResumeSessionRequest {
    /// Returns the error for unknown values that an agent must not ignore (invalid parameters), or `None` if all values
    /// are known.
    pub fn rejection(&self) -> Option<ErrorObject> {
        unknown_server(self.mcp_servers.as_deref().unwrap_or_default())
            .or_else(|| unknown_system_prompt(self.system_prompt.as_deref()))
    }
}

impl ForkSessionRequest {
    /// Returns the error for unknown values that an agent must not ignore (invalid parameters), or `None` if all values
    /// are known.
    pub fn rejection(&self) -> Option<ErrorObject> {
        unknown_server(self.mcp_servers.as_deref().unwrap_or_default())
            .or_else(|| unknown_system_prompt(self.system_prompt.as_deref()))
    }
}

impl LoadSessionRequest {
    /// Returns the error for unknown values that an agent must not ignore (invalid parameters), or `None` if all values
    /// are known.
    pub fn rejection(&self) -> Option<ErrorObject> {
        unknown_server(&self.mcp_servers)
            .or_else(|| unknown_system_prompt(self.system_prompt.as_deref()))
    }
}

impl ListSessionsRequest {
    /// Returns the error for unknown values that an agent must not ignore (invalid parameters), or `None` if all values
    /// are known.
    pub fn rejection(&self) -> Option<ErrorObject> {
        let filter = self.archived.as_ref().filter(|filter| !filter.is_known())?;
        Some(unknown("/archived", "filter", filter.as_str()))
    }
}

impl SetSessionConfigOptionRequest {
    /// Returns the error for unknown values that an agent must not ignore (invalid parameters), or `None` if all values
    /// are known.
    pub fn rejection(&self) -> Option<ErrorObject> {
        (!self.value.is_known()).then(|| unknown("/type", "type of a value", self.value.tag()))
    }
}

fn unknown_content(at: &str, content: &[ContentBlock]) -> Option<ErrorObject> {
    first_unknown(at, "content", content.iter().map(|block| (block.is_known(), block.tag())))
}

fn unknown_server(servers: &[McpServer]) -> Option<ErrorObject> {
    let servers = servers.iter().map(|server| (server.is_known(), server.tag()));
    first_unknown("/mcpServers", "transport", servers)
}

fn unknown_system_prompt(prompt: Option<&SystemPrompt>) -> Option<ErrorObject> {
    let prompt = prompt?;
    if !prompt.mode.is_known() {
        return Some(unknown("/systemPrompt/mode", "mode", prompt.mode.as_str()));
    }
    unknown_content("/systemPrompt/content", &prompt.content)
}
