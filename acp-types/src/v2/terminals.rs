//! Commands that the agent runs and the client shows.
//!
//! Spec: [Tool Calls](https://agentclientprotocol.com/protocol/v2/tool-calls#terminals)
use super::session_setup::AbsolutePath;
use crate::shared::session_setup::SessionId;
pub use crate::shared::terminals::TerminalId;
use alloc::string::String;
use jsonrpc_core::object;
use jsonrpc_core::wire::Meta;

object! {
    /// A terminal begins or changes. Absent stays, `null` clears, a value replaces.
    ///
    /// Spec: [`TerminalUpdate`](https://agentclientprotocol.com/protocol/v2/schema#terminalupdate)
    pub struct TerminalUpdate {
        /// Which one; the first update of an id begins it.
        terminal_id: TerminalId = "terminalId",
    }
    patch {
        /// The command.
        command: String = "command" [default_on_error],
        /// The folder that it runs in.
        cwd: AbsolutePath = "cwd" [default_on_error],
        /// All of its output, instead of what was.
        output: TerminalOutput = "output" [default_on_error],
        /// How it ended; a value means that it has.
        exit_status: TerminalExitStatus = "exitStatus" [default_on_error],
        /// How large it is.
        size: TerminalSize = "size" [default_on_error],
        /// What the client may do to it now.
        capabilities: TerminalCapabilities = "capabilities" [default_on_error],
        /// `_meta`: a patch by key; a key that is `null` goes away.
        meta: Meta = "_meta",
    }
}

object! {
    /// The output of a terminal.
    ///
    /// Spec: [`TerminalOutput`](https://agentclientprotocol.com/protocol/v2/schema#terminaloutput)
    pub struct TerminalOutput {
        /// Its bytes in base64.
        data: String = "data",
    }
    and "_meta"
}

object! {
    /// A piece of a terminal's output, to be added at the end.
    ///
    /// Spec: [`TerminalOutputChunk`](https://agentclientprotocol.com/protocol/v2/schema#terminaloutputchunk)
    pub struct TerminalOutputChunk {
        /// Which terminal; the first update of an id begins it.
        terminal_id: TerminalId = "terminalId",
        /// Its bytes in base64; a character may begin in one piece and end in the next.
        data: String = "data",
    }
    and "_meta"
}

object! {
    /// How a command ended.
    ///
    /// Spec: [`TerminalExitStatus`](https://agentclientprotocol.com/protocol/v2/schema#terminalexitstatus)
    pub struct TerminalExitStatus {}
    optional {
        /// Its exit code; absent when a signal ended it.
        exit_code: i64 = "exitCode" [default_on_error],
        /// The signal that ended it.
        signal: String = "signal" [default_on_error],
    }
    and "_meta"
}

object! {
    /// How large a terminal is.
    ///
    /// Spec: [`TerminalSize`](https://agentclientprotocol.com/protocol/v2/schema#terminalsize)
    pub struct TerminalSize {
        /// Characters in a line, at least 1.
        cols: u16 = "cols",
        /// Lines, at least 1.
        rows: u16 = "rows",
    }
    and "_meta"
}

object! {
    /// What the client may do to a terminal.
    ///
    /// Spec: [`TerminalCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#terminalcapabilities)
    pub struct TerminalCapabilities {}
    optional {
        /// Present when it may send `terminal/cancel`.
        cancel: TerminalCancelCapabilities = "cancel" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The client may end the command of a terminal.
    ///
    /// Spec: [`TerminalCancelCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#terminalcancelcapabilities)
    pub struct TerminalCancelCapabilities {}
    and "_meta"
}

object! {
    /// The client ends the command of a terminal, and nothing else.
    ///
    /// Method `terminal/cancel`. Spec: [`CancelTerminalRequest`](https://agentclientprotocol.com/protocol/v2/schema#cancelterminalrequest)
    #[doc(alias = "terminal/cancel")]
    pub struct CancelTerminalRequest {
        /// In which session.
        session_id: SessionId = "sessionId",
        /// Which one.
        terminal_id: TerminalId = "terminalId",
    }
    and "_meta"
}

object! {
    /// The agent is told; what becomes of the command, its updates tell.
    ///
    /// Method `terminal/cancel`. Spec: [`CancelTerminalResponse`](https://agentclientprotocol.com/protocol/v2/schema#cancelterminalresponse)
    pub struct CancelTerminalResponse {}
    and "_meta"
}
