//! Error responses to requests with unknown values that must not be ignored.
use crate::v2::content::ContentBlock;
use crate::v2::prompt_lifecycle::PromptRequest;
use crate::v2::session_setup::{McpServer, ResumeSessionRequest};
use crate::v2::system_prompt::SystemPrompt;
use alloc::format;
use jsonrpc_core::{ErrorCode, ErrorObject};

/// Returns the error for the first unknown item of a list of tags.
fn first_unknown<'a>(
    at: &str,
    what: &str,
    items: impl IntoIterator<Item = (bool, &'a str)>,
) -> Option<ErrorObject> {
    let mut items = items.into_iter().enumerate();
    let (index, (_, name)) = items.find(|(_, (is_known, _))| !is_known)?;
    Some(unknown(&format!("{at}/{index}"), what, name))
}

/// Returns the error for an unknown value.
fn unknown(at: &str, what: &str, name: &str) -> ErrorObject {
    ErrorObject::new(ErrorCode::INVALID_PARAMS, format!("at {at}: unknown {what} `{name}`"))
}

impl PromptRequest {
    /// Returns the error for unknown values that an agent must not ignore (invalid parameters), or
    /// `None` if all values are known.
    ///
    /// ```
    /// use acp_types::v2::prompt_lifecycle::PromptRequest;
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

impl ResumeSessionRequest {
    /// Returns the error for unknown values that an agent must not ignore (invalid parameters), or
    /// `None` if all values are known.
    pub fn rejection(&self) -> Option<ErrorObject> {
        unknown_server(self.mcp_servers.as_deref().unwrap_or_default())
            .or_else(|| unknown_system_prompt(self.system_prompt.as_deref()))
            .or_else(|| {
                let from = self.replay_from.as_ref().filter(|from| !from.is_known())?;
                Some(unknown("/replayFrom", "start of a replay", from.tag()))
            })
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
