//! Commands that a user may begin a prompt with.
//!
//! Spec: [Slash Commands](https://agentclientprotocol.com/protocol/v2/slash-commands)
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_union};

object! {
    /// The commands as they are now.
    ///
    /// Spec: [`AvailableCommandsUpdate`](https://agentclientprotocol.com/protocol/v2/schema#availablecommandsupdate)
    pub struct AvailableCommandsUpdate {
        /// All of them.
        available_commands: Vec<AvailableCommand> = "availableCommands" [skip_invalid_items] or "[]",
    }
    and "_meta"
}

open_union! {
    /// A command that a user may give.
    ///
    /// Spec: [`AvailableCommand`](https://agentclientprotocol.com/protocol/v2/schema#availablecommand)
    pub enum AvailableCommand by "type" {
        /// One that a prompt begins with.
        Command(Command) = "command",
    }
}

impl AvailableCommand {
    /// Its name. A command of an unknown kind has one too.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Command(command) => Some(Cow::Borrowed(&command.name)),
            Self::Unknown(command) => command.members().get("name")?.decode().ok().map(Cow::Owned),
        }
    }

    /// What it does, for people to read. A command of an unknown kind says so too.
    pub fn description(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Command(command) => Some(Cow::Borrowed(&command.description)),
            Self::Unknown(command) => {
                command.members().get("description")?.decode().ok().map(Cow::Owned)
            }
        }
    }
}

object! {
    /// A command that a user may begin a prompt with.
    ///
    /// Spec: [`Command`](https://agentclientprotocol.com/protocol/v2/schema#command)
    pub struct Command {
        /// Its name, without the slash and without white space.
        name: String = "name",
        /// What it does, for people to read.
        description: String = "description",
    }
    optional {
        /// What it wants after its name; absent when nothing.
        input: AvailableCommandInput = "input" [default_on_error],
    }
    and "_meta"
}

open_union! {
    /// What a command wants after its name.
    ///
    /// Spec: [`AvailableCommandInput`](https://agentclientprotocol.com/protocol/v2/schema#availablecommandinput)
    pub enum AvailableCommandInput by "type" {
        /// Any text.
        Text(TextCommandInput) = "text",
    }
}

object! {
    /// All text that follows a command's name is its input.
    ///
    /// Spec: [`TextCommandInput`](https://agentclientprotocol.com/protocol/v2/schema#textcommandinput)
    pub struct TextCommandInput {
        /// What to show until something is typed.
        hint: String = "hint",
    }
    and "_meta"
}
