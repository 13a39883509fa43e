//! Slash commands.
//!
//! Spec: [Slash Commands](https://agentclientprotocol.com/protocol/v2/slash-commands)
use super::paths::AbsolutePath;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_union};

object! {
    /// The current commands.
    ///
    /// Spec: [`AvailableCommandsUpdate`](https://agentclientprotocol.com/protocol/v2/schema#availablecommandsupdate)
    pub struct AvailableCommandsUpdate {
        /// The commands.
        available_commands: Vec<AvailableCommand> = "availableCommands" [skip_invalid_items] or "[]",
    }
    and "_meta"
}

open_union! {
    /// An available command.
    ///
    /// Spec: [`AvailableCommand`](https://agentclientprotocol.com/protocol/v2/schema#availablecommand)
    pub enum AvailableCommand by "type" {
        /// A command at the beginning of a prompt.
        Command(Command) = "command",
        /// **Unstable.** A skill. Requires the client's `session.commands.skill`.
        Skill(Skill) = "skill",
    }
}

impl AvailableCommand {
    /// Returns the name, also for a command of an unknown kind.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Command(command) => Some(Cow::Borrowed(&command.name)),
            Self::Skill(skill) => Some(Cow::Borrowed(&skill.name)),
            Self::Unknown(command) => command.members().get("name")?.decode().ok().map(Cow::Owned),
        }
    }

    /// Returns the human-readable description, also for a command of an unknown kind.
    pub fn description(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Command(command) => Some(Cow::Borrowed(&command.description)),
            Self::Skill(skill) => Some(Cow::Borrowed(&skill.description)),
            Self::Unknown(command) => {
                command.members().get("description")?.decode().ok().map(Cow::Owned)
            }
        }
    }
}

object! {
    /// A command at the beginning of a prompt.
    ///
    /// Spec: [`Command`](https://agentclientprotocol.com/protocol/v2/schema#command)
    pub struct Command {
        /// Name of the command, without the slash and without white space.
        name: String = "name",
        /// Human-readable description.
        description: String = "description",
    }
    optional {
        /// Input after the command's name; absent means no input.
        input: AvailableCommandInput = "input" [default_on_error],
    }
    and "_meta"
}

open_union! {
    /// The input of a command.
    ///
    /// Spec: [`AvailableCommandInput`](https://agentclientprotocol.com/protocol/v2/schema#availablecommandinput)
    pub enum AvailableCommandInput by "type" {
        /// Any text.
        Text(TextCommandInput) = "text",
    }
}

object! {
    /// Free text after the command's name.
    ///
    /// Spec: [`TextCommandInput`](https://agentclientprotocol.com/protocol/v2/schema#textcommandinput)
    pub struct TextCommandInput {
        /// Placeholder text for an empty input.
        hint: String = "hint",
    }
    and "_meta"
}

object! {
    /// **Unstable.** A skill that the user can invoke by a reference in a prompt.
    ///
    /// Spec: [`Skill`](https://agentclientprotocol.com/protocol/v2/draft/schema#skill)
    pub struct Skill {
        /// Name of the skill, unique among commands and skills, without whitespace.
        name: String = "name",
        /// Human-readable description.
        description: String = "description",
    }
    optional {
        /// Absolute path of the file that defines the skill, on the agent's machine.
        path: AbsolutePath = "path" [default_on_error],
    }
    and "_meta"
}
