//! Commands that the agent runs and the client shows.
//!
//! Spec: [Tool Calls](https://agentclientprotocol.com/protocol/v2/tool-calls#terminals)
use super::session_setup::AbsolutePath;
use crate::shared::session_setup::SessionId;
pub use crate::shared::terminals::TerminalId;
use alloc::string::String;
use core::num::NonZeroU16;
use jsonrpc_core::wire::{Fault, Meta, ValueReader, View, Wire};
use jsonrpc_core::{__json_schema, object};

object! {
    /// A terminal begins or changes. In each member, absence keeps the value, `null` clears it, and
    /// a value replaces it.
    ///
    /// Spec: [`TerminalUpdate`](https://agentclientprotocol.com/protocol/v2/schema#terminalupdate)
    pub struct TerminalUpdate {
        /// Identifier of the terminal. The first update with an id begins it.
        terminal_id: TerminalId = "terminalId",
    }
    patch {
        /// The command.
        command: String = "command" [default_on_error],
        /// Working directory of the command.
        cwd: AbsolutePath = "cwd" [default_on_error],
        /// The complete output, which replaces earlier output.
        output: TerminalOutput = "output" [default_on_error],
        /// Exit status; a value means that the command has ended.
        exit_status: TerminalExitStatus = "exitStatus" [default_on_error],
        /// Size of the terminal.
        size: TerminalSize = "size" [default_on_error],
        /// Operations that the client may perform at present.
        capabilities: TerminalCapabilities = "capabilities" [default_on_error],
        /// `_meta`: a patch by key, in which `null` removes a key.
        meta: Meta = "_meta",
    }
}

object! {
    /// The output of a terminal.
    ///
    /// Spec: [`TerminalOutput`](https://agentclientprotocol.com/protocol/v2/schema#terminaloutput)
    pub struct TerminalOutput {
        /// The bytes, in base64.
        data: String = "data",
    }
    and "_meta"
}

object! {
    /// Output to append to a terminal.
    ///
    /// Spec: [`TerminalOutputChunk`](https://agentclientprotocol.com/protocol/v2/schema#terminaloutputchunk)
    pub struct TerminalOutputChunk {
        /// Identifier of the terminal. The first update with an id begins it.
        terminal_id: TerminalId = "terminalId",
        /// The bytes, in base64. A character may be split between chunks.
        data: String = "data",
    }
    and "_meta"
}

object! {
    /// The exit status of a command.
    ///
    /// Spec: [`TerminalExitStatus`](https://agentclientprotocol.com/protocol/v2/schema#terminalexitstatus)
    pub struct TerminalExitStatus {}
    optional {
        /// Exit code; absent if a signal ended the command.
        exit_code: i64 = "exitCode" [default_on_error],
        /// The signal that ended the command.
        signal: String = "signal" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The size of a terminal.
    ///
    /// Spec: [`TerminalSize`](https://agentclientprotocol.com/protocol/v2/schema#terminalsize)
    pub struct TerminalSize by name {
        /// Columns.
        cols: TerminalLength = "cols",
        /// Rows.
        rows: TerminalLength = "rows",
    }
    and "_meta"
}

/// A number of columns or rows of a terminal, at least 1.
///
/// Spec: [`TerminalSize`](https://agentclientprotocol.com/protocol/v2/schema#terminalsize)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TerminalLength(
    /// The number.
    pub NonZeroU16,
);

impl Wire for TerminalLength {
    fn blank() -> Self {
        Self(NonZeroU16::MIN)
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        *self = Self(reader.integer("a nonzero u16")?);
        Ok(())
    }

    fn view(&self) -> View<'_> {
        View::Unsigned(self.0.get().into())
    }
}

object! { @serde TerminalLength }

__json_schema! { TerminalLength, generator => object!(@schema NonZeroU16, generator) }

object! {
    /// Operations that a client may perform on a terminal.
    ///
    /// Spec: [`TerminalCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#terminalcapabilities)
    pub struct TerminalCapabilities {}
    optional {
        /// Present if the client may send `terminal/cancel`.
        cancel: TerminalCancelCapabilities = "cancel" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The client may cancel the command of a terminal.
    ///
    /// Spec: [`TerminalCancelCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#terminalcancelcapabilities)
    pub struct TerminalCancelCapabilities {}
    and "_meta"
}

object! {
    /// A request to cancel the command of a terminal, without other effects.
    ///
    /// Method `terminal/cancel`.
    /// Spec: [`CancelTerminalRequest`](https://agentclientprotocol.com/protocol/v2/schema#cancelterminalrequest)
    #[doc(alias = "terminal/cancel")]
    pub struct CancelTerminalRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Identifier of the terminal.
        terminal_id: TerminalId = "terminalId",
    }
    and "_meta"
}

object! {
    /// The request was accepted. Updates of the terminal report the outcome.
    ///
    /// Method `terminal/cancel`.
    /// Spec: [`CancelTerminalResponse`](https://agentclientprotocol.com/protocol/v2/schema#cancelterminalresponse)
    pub struct CancelTerminalResponse {}
    and "_meta"
}
