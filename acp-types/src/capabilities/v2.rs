//! **Preview.** Permitted messages of version 2.
//!
//! Spec: [Initialization](https://agentclientprotocol.com/protocol/v2/initialization)
use super::{Reason, Refusal, allows_method, needs, unknown};
use crate::methods::{Receiver, V2};
use crate::v2::authentication::AuthMethod;
use crate::v2::content::ContentBlock;
use crate::v2::elicitation::ElicitationMode;
use crate::v2::initialization::{
    AgentCapabilities, ClientCapabilities, InitializeRequest, InitializeResponse,
    SessionCapabilities,
};
use crate::v2::prompt_lifecycle::SessionUpdate;
use crate::v2::prompt_suggestions::PromptSuggestionsUpdate;
use crate::v2::session_setup::McpServer;
use crate::v2::slash_commands::AvailableCommand;
use crate::v2::system_prompt::SystemPromptMode;

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
    /// The member `additionalDirectories` of session setup.
    AdditionalDirectories,
    /// The member `systemPrompt` of session setup.
    SystemPrompt(&'a SystemPromptMode),
    /// A command of a session.
    Command(&'a AvailableCommand),
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
    SystemPromptMode => SystemPrompt,
    AvailableCommand => Command,
    AuthMethod => AuthMethod
}

/// Announced capabilities of both sides of a version 2 connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Capabilities {
    client: ClientCapabilities,
    agent: AgentCapabilities,
    has_auth_methods: bool,
}

impl Capabilities {
    /// Creates the capabilities from the `initialize` pair.
    pub fn new(request: &InitializeRequest, response: &InitializeResponse) -> Self {
        Self {
            client: request.capabilities.clone().unwrap_or_default(),
            agent: response.capabilities.clone().unwrap_or_default(),
            has_auth_methods: response.auth_methods.as_ref().is_some_and(|all| !all.is_empty()),
        }
    }

    /// Checks whether `subject` may be sent.
    ///
    /// # Errors
    /// The subject must not be sent; the error has the reason.
    pub fn allows<'a>(&self, subject: impl Into<Subject<'a>>) -> Result<(), Refusal> {
        match subject.into() {
            Subject::Method(receiver, name) => {
                allows_method(V2, receiver, name, |gate| self.holds(gate))
            }
            Subject::Content(content) => self.allows_content(content),
            Subject::Update(update) => self.allows_update(update),
            Subject::McpServer(server) => self.allows_mcp_server(server),
            Subject::Elicitation(mode) => self.allows_elicitation(mode),
            Subject::AuthMethod(method) => self.allows_auth_method(method),
            Subject::AdditionalDirectories => {
                let gate = "capabilities.session.additionalDirectories";
                needs("additionalDirectories", gate, |gate| self.holds(gate))
            }
            Subject::SystemPrompt(mode) => self.allows_system_prompt(mode),
            Subject::Command(command) => self.allows_command(command),
            Subject::InitialConfigOptions => {
                let gate = "capabilities.session.options";
                needs("configOptions", gate, |gate| self.holds(gate))
            }
        }
    }

    fn allows_content(&self, content: &ContentBlock) -> Result<(), Refusal> {
        let gate = match content {
            ContentBlock::Text(_) | ContentBlock::ResourceLink(_) => "capabilities.session",
            ContentBlock::Image(_) => "capabilities.session.prompt.image",
            ContentBlock::Audio(_) => "capabilities.session.prompt.audio",
            ContentBlock::Resource(_) => "capabilities.session.prompt.embeddedContext",
            ContentBlock::Skill(_) => "capabilities.session.prompt.skill",
            ContentBlock::Unknown(content) => return unknown(content.tag()),
        };
        needs(content.tag(), gate, |gate| self.holds(gate))
    }

    /// Checks an update. Every client supports all updates but suggestions and skills, if the agent
    /// supports sessions.
    fn allows_update(&self, update: &SessionUpdate) -> Result<(), Refusal> {
        if let SessionUpdate::Unknown(update) = update {
            unknown(update.tag())?;
        }
        needs(update.tag(), "capabilities.session", |gate| self.holds(gate))?;
        match update {
            SessionUpdate::AvailableCommandsUpdate(update) => update
                .available_commands
                .iter()
                .try_for_each(|command| self.allows_command(command)),
            SessionUpdate::PromptSuggestionsUpdate(update) => self.allows_suggestions(update),
            _ => Ok(()),
        }
    }

    /// Checks a command. Skills are supported by clients and agents that announce them.
    fn allows_command(&self, command: &AvailableCommand) -> Result<(), Refusal> {
        match command {
            AvailableCommand::Command(_) => Ok(()),
            AvailableCommand::Skill(_) => {
                let gates =
                    ["capabilities.session.commands.skill", "capabilities.session.prompt.skill"];
                gates
                    .into_iter()
                    .try_for_each(|gate| needs(command.tag(), gate, |gate| self.holds(gate)))
            }
            AvailableCommand::Unknown(command) => unknown(command.tag()),
        }
    }

    /// Checks suggestions. The client has to support their content as well.
    fn allows_suggestions(&self, update: &PromptSuggestionsUpdate) -> Result<(), Refusal> {
        let name = "prompt_suggestions_update";
        let needs = |gate: &'static str| needs(name, gate, |gate| self.holds(gate));
        needs("capabilities.session.promptSuggestions")?;
        for block in update.suggestions.iter().flat_map(|suggestion| &suggestion.prompt) {
            self.allows_content(block)?;
            match block {
                ContentBlock::Image(_) => needs("capabilities.session.promptSuggestions.image")?,
                ContentBlock::Audio(_) => needs("capabilities.session.promptSuggestions.audio")?,
                ContentBlock::Resource(_) => {
                    needs("capabilities.session.promptSuggestions.embeddedContext")?;
                }
                // The client has no capability for skills in suggestions.
                ContentBlock::Skill(_) => return Err(Reason::NotInVersion.of(block.tag())),
                ContentBlock::Text(_)
                | ContentBlock::ResourceLink(_)
                | ContentBlock::Unknown(_) => {}
            }
        }
        Ok(())
    }

    /// Returns whether the agent supports skills at any position of a prompt.
    #[cfg(feature = "lint")]
    pub(crate) fn allows_inline_skills(&self) -> bool {
        self.holds("capabilities.session.prompt.skill.inline")
    }

    fn allows_mcp_server(&self, server: &McpServer) -> Result<(), Refusal> {
        let gate = match server {
            McpServer::Stdio(_) => "capabilities.session.mcp.stdio",
            McpServer::Http(_) => "capabilities.session.mcp.http",
            McpServer::Acp(_) => "capabilities.session.mcp.acp",
            McpServer::Unknown(server) => return unknown(server.tag()),
        };
        needs(server.tag(), gate, |gate| self.holds(gate))
    }

    fn allows_elicitation(&self, mode: &ElicitationMode) -> Result<(), Refusal> {
        let gate = match mode {
            ElicitationMode::Form(_) => "capabilities.elicitation.form",
            ElicitationMode::Url(_) => "capabilities.elicitation.url",
            ElicitationMode::Unknown(mode) => return unknown(mode.tag()),
        };
        needs(mode.tag(), gate, |gate| self.holds(gate))
    }

    fn allows_auth_method(&self, method: &AuthMethod) -> Result<(), Refusal> {
        match method {
            AuthMethod::Agent(_) => Ok(()),
            AuthMethod::Terminal(_) => {
                needs(method.tag(), "capabilities.auth.terminal", |gate| self.holds(gate))
            }
            AuthMethod::Unknown(method) => unknown(method.tag()),
        }
    }

    fn allows_system_prompt(&self, mode: &SystemPromptMode) -> Result<(), Refusal> {
        let gate = match mode {
            SystemPromptMode::Append => "capabilities.session.systemPrompt",
            SystemPromptMode::Override => "capabilities.session.systemPrompt.mode.override",
            SystemPromptMode::Unknown(mode) => return unknown(mode.as_str()),
        };
        needs(mode.as_str(), gate, |gate| self.holds(gate))
    }

    /// Returns whether a gate is open: one of the table of methods, or one of the above.
    fn holds(&self, gate: &str) -> bool {
        let elicitation = self.client.elicitation.as_ref();
        let has_form = elicitation.is_some_and(|elicitation| elicitation.form.is_some());
        let has_url = elicitation.is_some_and(|elicitation| elicitation.url.is_some());
        let session = self.client.session.as_ref();
        let suggestions = session.and_then(|session| session.prompt_suggestions.as_ref());
        if let Some(path) = gate.strip_prefix("capabilities.session.promptSuggestions") {
            return suggestions.is_some_and(|suggestions| match path {
                "" => true,
                ".image" => suggestions.image.is_some(),
                ".audio" => suggestions.audio.is_some(),
                ".embeddedContext" => suggestions.embedded_context.is_some(),
                _ => false,
            });
        }
        if gate == "capabilities.session.commands.skill" {
            let commands = session.and_then(|session| session.commands.as_ref());
            return commands.is_some_and(|commands| commands.skill.is_some());
        }
        if let Some(path) = gate.strip_prefix("capabilities.session") {
            return self.agent.session.as_ref().is_some_and(|session| session_has(session, path));
        }
        match gate {
            "authMethods" => self.has_auth_methods,
            "capabilities.auth.status" => {
                self.agent.auth.as_ref().is_some_and(|auth| auth.status.is_some())
            }
            "capabilities.auth.terminal" => {
                self.client.auth.as_ref().is_some_and(|auth| auth.terminal.is_some())
            }
            "capabilities.providers" => self.agent.providers.is_some(),
            "capabilities.elicitation, by mode" => has_form || has_url,
            "capabilities.elicitation.form" => has_form,
            "capabilities.elicitation.url" => has_url,
            "configOptions of the session"
            | "capabilities.cancel of the tool call"
            | "capabilities.cancel of the terminal" => true,
            _ => false,
        }
    }
}

fn session_has(session: &SessionCapabilities, path: &str) -> bool {
    let prompt = session.prompt.as_ref();
    let mcp = session.mcp.as_ref();
    match path {
        "" => true,
        ".delete" => session.delete.is_some(),
        ".fork" => session.fork.is_some(),
        ".archive" => session.archive.is_some(),
        ".status" => session.status.is_some(),
        ".options" => session.options.is_some(),
        ".title" => session.title.is_some(),
        ".additionalDirectories" => session.additional_directories.is_some(),
        ".systemPrompt" => session.system_prompt.is_some(),
        ".systemPrompt.mode.override" => session
            .system_prompt
            .as_ref()
            .and_then(|prompt| prompt.mode.as_ref())
            .is_some_and(|mode| mode.r#override.is_some()),
        ".prompt.image" => prompt.is_some_and(|prompt| prompt.image.is_some()),
        ".prompt.audio" => prompt.is_some_and(|prompt| prompt.audio.is_some()),
        ".prompt.embeddedContext" => prompt.is_some_and(|prompt| prompt.embedded_context.is_some()),
        ".prompt.skill" => prompt.is_some_and(|prompt| prompt.skill.is_some()),
        ".prompt.skill.inline" => prompt
            .and_then(|prompt| prompt.skill.as_ref())
            .is_some_and(|skill| skill.inline.is_some()),
        ".mcp.stdio" => mcp.is_some_and(|mcp| mcp.stdio.is_some()),
        ".mcp.http" => mcp.is_some_and(|mcp| mcp.http.is_some()),
        ".mcp.acp" => mcp.is_some_and(|mcp| mcp.acp.is_some()),
        _ => false,
    }
}
