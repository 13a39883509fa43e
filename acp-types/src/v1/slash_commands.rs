//! Slash commands.
//!
//! Spec: [Slash Commands](https://agentclientprotocol.com/protocol/v1/slash-commands)
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{member_union, object};

object! {
    /// The current commands.
    ///
    /// Spec: [`AvailableCommandsUpdate`](https://agentclientprotocol.com/protocol/v1/schema#availablecommandsupdate)
    pub struct AvailableCommandsUpdate {
        /// The commands.
        available_commands: Vec<AvailableCommand> = "availableCommands" [default_on_error, skip_invalid_items] or "[]",
    }
    and "_meta"
}

object! {
    /// A command at the beginning of a prompt.
    ///
    /// Spec: [`AvailableCommand`](https://agentclientprotocol.com/protocol/v1/schema#availablecommand)
    pub struct AvailableCommand {
        /// Name of the command, without the slash.
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

member_union! {
    /// The input of a command.
    ///
    /// Spec: [`AvailableCommandInput`](https://agentclientprotocol.com/protocol/v1/schema#availablecommandinput)
    pub enum AvailableCommandInput {
        /// Any text.
        Unstructured(UnstructuredCommandInput) has "hint",
    }
}

object! {
    /// Free text after the command's name.
    ///
    /// Spec: [`UnstructuredCommandInput`](https://agentclientprotocol.com/protocol/v1/schema#unstructuredcommandinput)
    pub struct UnstructuredCommandInput {
        /// Placeholder text for an empty input.
        hint: String = "hint",
    }
    and "_meta"
}
