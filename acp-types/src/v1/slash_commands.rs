//! Commands that a user may begin a prompt with.
//!
//! Spec: [Slash Commands](https://agentclientprotocol.com/protocol/v1/slash-commands)
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{member_union, object};

object! {
    /// The commands as they are now.
    ///
    /// Spec: [`AvailableCommandsUpdate`](https://agentclientprotocol.com/protocol/v1/schema#availablecommandsupdate)
    pub struct AvailableCommandsUpdate {
        /// All of them.
        available_commands: Vec<AvailableCommand> = "availableCommands" [default_on_error, skip_invalid_items] or "[]",
    }
    and "_meta"
}

object! {
    /// A command that a user may begin a prompt with.
    ///
    /// Spec: [`AvailableCommand`](https://agentclientprotocol.com/protocol/v1/schema#availablecommand)
    pub struct AvailableCommand {
        /// Its name, without the slash.
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

member_union! {
    /// What a command wants after its name.
    ///
    /// Spec: [`AvailableCommandInput`](https://agentclientprotocol.com/protocol/v1/schema#availablecommandinput)
    pub enum AvailableCommandInput {
        /// Any text.
        Unstructured(UnstructuredCommandInput) has "hint",
    }
}

object! {
    /// All text that follows a command's name is its input.
    ///
    /// Spec: [`UnstructuredCommandInput`](https://agentclientprotocol.com/protocol/v1/schema#unstructuredcommandinput)
    pub struct UnstructuredCommandInput {
        /// What to show until something is typed.
        hint: String = "hint",
    }
    and "_meta"
}
