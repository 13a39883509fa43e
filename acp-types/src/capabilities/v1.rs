//! Permitted messages of version 1.
//!
//! Spec: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization)
use super::{Refusal, allows_method, needs, unknown};
use crate::methods::{Receiver, V1};
use crate::v1::authentication::AuthMethod;
use crate::v1::content::ContentBlock;
use crate::v1::elicitation::ElicitationMode;
use crate::v1::initialization::{
    AgentCapabilities, ClientCapabilities, InitializeRequest, InitializeResponse,
};
use crate::v1::prompt_suggestions::PromptSuggestionsUpdate;
use crate::v1::prompt_turn::SessionUpdate;
use crate::v1::session_config_options::{SessionConfigKind, SessionConfigOption};
use crate::v1::session_setup::McpServer;
use crate::v1::system_prompt::SystemPromptMode;
use crate::v1::tool_calls::ToolCallContent;
use alloc::vec::Vec;

/// The subject of a check.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Subject<'a> {
    /// A method and its receiver.
    Method(Receiver, &'a str),
    /// Content of a prompt.
    Content(&'a ContentBlock),
    /// An update of an agent.
    Update(&'a SessionUpdate),
    /// An MCP server for an agent.
    McpServer(&'a McpServer),
    /// The mode of an elicitation.
    Elicitation(&'a ElicitationMode),
    /// An authentication method of an agent.
    AuthMethod(&'a AuthMethod),
    /// A configuration option of a session.
    ConfigOption(&'a SessionConfigOption),
    /// The member `additionalDirectories` of session setup.
    AdditionalDirectories,
    /// The member `systemPrompt` of session setup.
    SystemPrompt(&'a SystemPromptMode),
    /// **Unstable.** The member `configOptions` of session setup.
    InitialConfigOptions,
}

impl<'a> From<(Receiver, &'a str)> for Subject<'a> {
    fn from((receiver, name): (Receiver, &'a str)) -> Self {
        Self::Method(receiver, name)
    }
}

subjects! {
    ContentBlock => Content,
    SessionUpdate => Update,
    McpServer => McpServer,
    ElicitationMode => Elicitation,
    SessionConfigOption => ConfigOption,
    SystemPromptMode => SystemPrompt,
    AuthMethod => AuthMethod
}

/// Announced capabilities of both sides of a version 1 connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Capabilities {
    client: ClientCapabilities,
    agent: AgentCapabilities,
    can_authenticate: bool,
}

impl Capabilities {
    /// Creates the capabilities from the `initialize` pair.
    pub fn new(request: &InitializeRequest, response: &InitializeResponse) -> Self {
        let auth_methods = response.auth_methods.as_deref().unwrap_or_default();
        Self {
            client: request.client_capabilities.clone().unwrap_or_default(),
            agent: response.agent_capabilities.clone().unwrap_or_default(),
            can_authenticate: auth_methods
                .iter()
                .any(|method| !matches!(method, AuthMethod::Terminal(_))),
        }
    }

    /// Checks whether `subject` may be sent.
    ///
    /// # Errors
    /// The subject must not be sent; the error has the reason.
    pub fn allows<'a>(&self, subject: impl Into<Subject<'a>>) -> Result<(), Refusal> {
        match subject.into() {
            Subject::Method(receiver, name) => {
                allows_method(V1, receiver, name, |gate| self.holds(gate))
            }
            Subject::Content(content) => self.allows_content(content),
            Subject::Update(update) => self.allows_update(update),
            Subject::McpServer(server) => self.allows_mcp_server(server),
            Subject::Elicitation(mode) => self.allows_elicitation(mode),
            Subject::AuthMethod(method) => self.allows_auth_method(method),
            Subject::ConfigOption(option) if is_switch(option) => {
                needs(option.kind.tag(), SWITCHES, |gate| self.holds(gate))
            }
            Subject::ConfigOption(_) => Ok(()),
            Subject::AdditionalDirectories => {
                let gate = "agentCapabilities.sessionCapabilities.additionalDirectories";
                needs("additionalDirectories", gate, |gate| self.holds(gate))
            }
            Subject::SystemPrompt(mode) => self.allows_system_prompt(mode),
            Subject::InitialConfigOptions => {
                let gate = "agentCapabilities.sessionCapabilities.options";
                needs("configOptions", gate, |gate| self.holds(gate))
            }
        }
    }

    fn allows_content(&self, content: &ContentBlock) -> Result<(), Refusal> {
        let gate = match content {
            ContentBlock::Text(_) | ContentBlock::ResourceLink(_) => return Ok(()),
            ContentBlock::Image(_) => "agentCapabilities.promptCapabilities.image",
            ContentBlock::Audio(_) => "agentCapabilities.promptCapabilities.audio",
            ContentBlock::Resource(_) => "agentCapabilities.promptCapabilities.embeddedContext",
            ContentBlock::Unknown(content) => return unknown(content.tag()),
        };
        needs(content.tag(), gate, |gate| self.holds(gate))
    }

    fn allows_update(&self, update: &SessionUpdate) -> Result<(), Refusal> {
        let gate = match update {
            SessionUpdate::Notice(_) => "clientCapabilities.session.notices",
            SessionUpdate::CompactionUpdate(_) | SessionUpdate::CompactionSummaryChunk(_) => {
                "clientCapabilities.session.compaction"
            }
            SessionUpdate::PlanUpdate(_) | SessionUpdate::PlanRemoved(_) => {
                "clientCapabilities.plan"
            }
            SessionUpdate::SubagentUpdate(_)
            | SessionUpdate::SessionMessage(_)
            | SessionUpdate::SessionMessageChunk(_) => SUBAGENTS,
            SessionUpdate::ToolCall(call) if refers(call.content.as_deref()) => SUBAGENTS,
            SessionUpdate::ToolCallUpdate(call)
                if refers(call.content.value().map(Vec::as_slice)) =>
            {
                SUBAGENTS
            }
            SessionUpdate::PromptSuggestionsUpdate(update) => {
                return self.allows_suggestions(update);
            }
            SessionUpdate::CursorUpdate(_) => "clientCapabilities.session.cursors",
            SessionUpdate::ConfigOptionUpdate(update)
                if update.config_options.iter().any(is_switch) =>
            {
                SWITCHES
            }
            SessionUpdate::UserMessageChunk(_)
            | SessionUpdate::AgentMessageChunk(_)
            | SessionUpdate::AgentThoughtChunk(_)
            | SessionUpdate::ToolCall(_)
            | SessionUpdate::ToolCallUpdate(_)
            | SessionUpdate::Plan(_)
            | SessionUpdate::AvailableCommandsUpdate(_)
            | SessionUpdate::CurrentModeUpdate(_)
            | SessionUpdate::ConfigOptionUpdate(_)
            | SessionUpdate::SessionInfoUpdate(_)
            | SessionUpdate::UsageUpdate(_) => return Ok(()),
            SessionUpdate::Unknown(update) => return unknown(update.tag()),
        };
        needs(update.tag(), gate, |gate| self.holds(gate))
    }

    /// Checks suggestions. The client has to support their content as well.
    fn allows_suggestions(&self, update: &PromptSuggestionsUpdate) -> Result<(), Refusal> {
        let name = "prompt_suggestions_update";
        let needs = |gate: &'static str| needs(name, gate, |gate| self.holds(gate));
        needs("clientCapabilities.session.promptSuggestions")?;
        for block in update.suggestions.iter().flat_map(|suggestion| &suggestion.prompt) {
            self.allows_content(block)?;
            match block {
                ContentBlock::Image(_) => {
                    needs("clientCapabilities.session.promptSuggestions.image")?;
                }
                ContentBlock::Audio(_) => {
                    needs("clientCapabilities.session.promptSuggestions.audio")?;
                }
                ContentBlock::Resource(_) => {
                    needs("clientCapabilities.session.promptSuggestions.embeddedContext")?;
                }
                ContentBlock::Text(_)
                | ContentBlock::ResourceLink(_)
                | ContentBlock::Unknown(_) => {}
            }
        }
        Ok(())
    }

    fn allows_mcp_server(&self, server: &McpServer) -> Result<(), Refusal> {
        let gate = match server {
            McpServer::Stdio(_) => return Ok(()),
            McpServer::Http(_) => "agentCapabilities.mcpCapabilities.http",
            McpServer::Sse(_) => "agentCapabilities.mcpCapabilities.sse",
            McpServer::Acp(_) => "agentCapabilities.mcpCapabilities.acp",
            McpServer::Unknown(server) => return unknown(server.tag()),
        };
        needs(server.tag(), gate, |gate| self.holds(gate))
    }

    fn allows_elicitation(&self, mode: &ElicitationMode) -> Result<(), Refusal> {
        let gate = match mode {
            ElicitationMode::Form(_) => "clientCapabilities.elicitation.form",
            ElicitationMode::Url(_) => "clientCapabilities.elicitation.url",
            ElicitationMode::Unknown(mode) => return unknown(mode.tag()),
        };
        needs(mode.tag(), gate, |gate| self.holds(gate))
    }

    fn allows_auth_method(&self, method: &AuthMethod) -> Result<(), Refusal> {
        match method {
            AuthMethod::Agent(_) => Ok(()),
            AuthMethod::Terminal(_) => {
                needs(method.tag(), "clientCapabilities.auth.terminal", |gate| self.holds(gate))
            }
            AuthMethod::Unknown(method) => unknown(method.tag()),
        }
    }

    fn allows_system_prompt(&self, mode: &SystemPromptMode) -> Result<(), Refusal> {
        let gate = match mode {
            SystemPromptMode::Append => "agentCapabilities.sessionCapabilities.systemPrompt",
            SystemPromptMode::Override => {
                "agentCapabilities.sessionCapabilities.systemPrompt.mode.override"
            }
            SystemPromptMode::Unknown(mode) => return unknown(mode.as_str()),
        };
        needs(mode.as_str(), gate, |gate| self.holds(gate))
    }

    /// Returns whether a gate is open: one of the table of methods, or one of the above.
    fn holds(&self, gate: &str) -> bool {
        let path = |prefix| gate.strip_prefix(prefix);
        match (path("clientCapabilities."), path("agentCapabilities.")) {
            (Some(path), _) => self.client_has(path),
            (_, Some(path)) => self.agent_has(path),
            (None, None) => match gate {
                "authMethods: not a terminal one" => self.can_authenticate,
                "modes of the session" | "configOptions of the session" => true,
                _ => false,
            },
        }
    }

    fn client_has(&self, path: &str) -> bool {
        let client = &self.client;
        let fs = client.fs.as_ref();
        let session = client.session.as_ref();
        let suggestions = session.and_then(|session| session.prompt_suggestions.as_ref());
        let elicitation = client.elicitation.as_ref();
        let has_form = elicitation.is_some_and(|elicitation| elicitation.form.is_some());
        let has_url = elicitation.is_some_and(|elicitation| elicitation.url.is_some());
        match path {
            "fs.readTextFile" => fs.and_then(|fs| fs.read_text_file) == Some(true),
            "fs.writeTextFile" => fs.and_then(|fs| fs.write_text_file) == Some(true),
            "terminal" => client.terminal == Some(true),
            "auth.terminal" => client.auth.as_ref().and_then(|auth| auth.terminal) == Some(true),
            "elicitation, by mode" => has_form || has_url,
            "elicitation.form" => has_form,
            "elicitation.url" => has_url,
            "plan" => client.plan.is_some(),
            "subagents" => client.subagents.is_some(),
            "session.cursors" => session.is_some_and(|session| session.cursors.is_some()),
            "session.promptSuggestions" => suggestions.is_some(),
            "session.promptSuggestions.image" => suggestions.is_some_and(|it| it.image.is_some()),
            "session.promptSuggestions.audio" => suggestions.is_some_and(|it| it.audio.is_some()),
            "session.promptSuggestions.embeddedContext" => {
                suggestions.is_some_and(|it| it.embedded_context.is_some())
            }
            "session.notices" => session.is_some_and(|session| session.notices.is_some()),
            "session.compaction" => session.is_some_and(|session| session.compaction.is_some()),
            "session.configOptions.boolean" => session
                .and_then(|session| session.config_options.as_ref())
                .is_some_and(|options| options.boolean.is_some()),
            _ => false,
        }
    }

    fn agent_has(&self, path: &str) -> bool {
        let agent = &self.agent;
        let prompt = agent.prompt_capabilities.as_ref();
        let mcp = agent.mcp_capabilities.as_ref();
        let auth = agent.auth.as_ref();
        let session = agent.session_capabilities.as_ref();
        if let Some(path) = path.strip_prefix("sessionCapabilities.") {
            return session.is_some_and(|session| match path {
                "resume" => session.resume.is_some(),
                "close" => session.close.is_some(),
                "list" => session.list.is_some(),
                "delete" => session.delete.is_some(),
                "fork" => session.fork.is_some(),
                "archive" => session.archive.is_some(),
                "status" => session.status.is_some(),
                "options" => session.options.is_some(),
                "title" => session.title.is_some(),
                "additionalDirectories" => session.additional_directories.is_some(),
                "systemPrompt" => session.system_prompt.is_some(),
                "systemPrompt.mode.override" => session
                    .system_prompt
                    .as_ref()
                    .and_then(|prompt| prompt.mode.as_ref())
                    .is_some_and(|mode| mode.r#override.is_some()),
                _ => false,
            });
        }
        match path {
            "loadSession" => agent.load_session == Some(true),
            "providers" => agent.providers.is_some(),
            "auth.logout" => auth.is_some_and(|auth| auth.logout.is_some()),
            "auth.status" => auth.is_some_and(|auth| auth.status.is_some()),
            "mcpCapabilities.http" => mcp.and_then(|mcp| mcp.http) == Some(true),
            "mcpCapabilities.sse" => mcp.and_then(|mcp| mcp.sse) == Some(true),
            "mcpCapabilities.acp" => mcp.and_then(|mcp| mcp.acp) == Some(true),
            "promptCapabilities.image" => prompt.and_then(|prompt| prompt.image) == Some(true),
            "promptCapabilities.audio" => prompt.and_then(|prompt| prompt.audio) == Some(true),
            "promptCapabilities.embeddedContext" => {
                prompt.and_then(|prompt| prompt.embedded_context) == Some(true)
            }
            _ => false,
        }
    }
}

/// The gate of subagents.
const SUBAGENTS: &str = "clientCapabilities.subagents";

/// Returns whether the content of a tool call refers to a session.
fn refers(content: Option<&[ToolCallContent]>) -> bool {
    let mut content = content.into_iter().flatten();
    content.any(|content| matches!(content, ToolCallContent::Session(_)))
}

/// The gate of boolean options.
const SWITCHES: &str = "clientCapabilities.session.configOptions.boolean";

fn is_switch(option: &SessionConfigOption) -> bool {
    matches!(option.kind, SessionConfigKind::Boolean(_))
}
