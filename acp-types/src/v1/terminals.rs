//! Commands that the client runs for the agent.
//!
//! Spec: [Terminals](https://agentclientprotocol.com/protocol/v1/terminals)
use crate::shared::session_setup::{EnvVariable, SessionId};
pub use crate::shared::terminals::TerminalId;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;

object! {
    /// A request to run a command in a terminal.
    ///
    /// Method `terminal/create`.
    /// Spec: [`CreateTerminalRequest`](https://agentclientprotocol.com/protocol/v1/schema#createterminalrequest)
    ///
    /// ```
    /// use acp_types::v1::terminals::CreateTerminalRequest;
    ///
    /// let mut request = CreateTerminalRequest::new("sess-1", "cargo");
    /// request.args = Some(vec!["test".into()]);
    /// assert_eq!(
    ///     serde_json::to_string(&request)?,
    ///     r#"{"sessionId":"sess-1","command":"cargo","args":["test"]}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[doc(alias = "terminal/create")]
    pub struct CreateTerminalRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// The command.
        command: String = "command",
    }
    optional {
        /// Arguments of the program.
        args: Vec<String> = "args" [default_on_null],
        /// Additional environment variables.
        env: Vec<EnvVariable> = "env" [default_on_null],
        /// Absolute path of the working directory.
        cwd: String = "cwd",
        /// Largest size of the kept output, in bytes. The oldest output is dropped first.
        output_byte_limit: u64 = "outputByteLimit",
    }
    and "_meta"
}

object! {
    /// The command was started.
    ///
    /// Method `terminal/create`.
    /// Spec: [`CreateTerminalResponse`](https://agentclientprotocol.com/protocol/v1/schema#createterminalresponse)
    pub struct CreateTerminalResponse {
        /// Identifier of the terminal.
        terminal_id: TerminalId = "terminalId",
    }
    and "_meta"
}

object! {
    /// A request for the output so far.
    ///
    /// Method `terminal/output`.
    /// Spec: [`TerminalOutputRequest`](https://agentclientprotocol.com/protocol/v1/schema#terminaloutputrequest)
    #[doc(alias = "terminal/output")]
    pub struct TerminalOutputRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Identifier of the terminal.
        terminal_id: TerminalId = "terminalId",
    }
    and "_meta"
}

object! {
    /// The output so far.
    ///
    /// Method `terminal/output`.
    /// Spec: [`TerminalOutputResponse`](https://agentclientprotocol.com/protocol/v1/schema#terminaloutputresponse)
    ///
    /// ```
    /// use acp_types::v1::terminals::{TerminalExitStatus, TerminalOutputResponse};
    ///
    /// let mut exit_status = TerminalExitStatus::new();
    /// exit_status.exit_code = Some(0);
    /// let mut response = TerminalOutputResponse::new("ok\n", false);
    /// response.exit_status = Some(exit_status);
    /// assert_eq!(
    ///     serde_json::to_string(&response)?,
    ///     r#"{"output":"ok\n","truncated":false,"exitStatus":{"exitCode":0}}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct TerminalOutputResponse {
        /// The output.
        output: String = "output",
        /// Whether the beginning was dropped because of the limit.
        truncated: bool = "truncated",
    }
    optional {
        /// Exit status; absent while the command runs.
        exit_status: TerminalExitStatus = "exitStatus" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The exit status of a command.
    ///
    /// Spec: [`TerminalExitStatus`](https://agentclientprotocol.com/protocol/v1/schema#terminalexitstatus)
    pub struct TerminalExitStatus {}
    optional {
        /// Exit code; absent if a signal ended the command.
        exit_code: u32 = "exitCode" [default_on_error],
        /// The signal that ended the command.
        signal: String = "signal" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A request that waits for the end of a command.
    ///
    /// Method `terminal/wait_for_exit`.
    /// Spec: [`WaitForTerminalExitRequest`](https://agentclientprotocol.com/protocol/v1/schema#waitforterminalexitrequest)
    #[doc(alias = "terminal/wait_for_exit")]
    pub struct WaitForTerminalExitRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Identifier of the terminal.
        terminal_id: TerminalId = "terminalId",
    }
    and "_meta"
}

object! {
    /// The command has ended.
    ///
    /// Method `terminal/wait_for_exit`.
    /// Spec: [`WaitForTerminalExitResponse`](https://agentclientprotocol.com/protocol/v1/schema#waitforterminalexitresponse)
    pub struct WaitForTerminalExitResponse {}
    optional {
        /// Exit code; absent if a signal ended the command.
        exit_code: u32 = "exitCode" [default_on_error],
        /// The signal that ended the command.
        signal: String = "signal" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A request to kill a command and keep its terminal.
    ///
    /// Method `terminal/kill`.
    /// Spec: [`KillTerminalRequest`](https://agentclientprotocol.com/protocol/v1/schema#killterminalrequest)
    #[doc(alias = "terminal/kill")]
    pub struct KillTerminalRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Identifier of the terminal.
        terminal_id: TerminalId = "terminalId",
    }
    and "_meta"
}

object! {
    /// The command was killed.
    ///
    /// Method `terminal/kill`.
    /// Spec: [`KillTerminalResponse`](https://agentclientprotocol.com/protocol/v1/schema#killterminalresponse)
    pub struct KillTerminalResponse {}
    and "_meta"
}

object! {
    /// A request to release a terminal. A running command is killed.
    ///
    /// Method `terminal/release`.
    /// Spec: [`ReleaseTerminalRequest`](https://agentclientprotocol.com/protocol/v1/schema#releaseterminalrequest)
    #[doc(alias = "terminal/release")]
    pub struct ReleaseTerminalRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Identifier of the terminal.
        terminal_id: TerminalId = "terminalId",
    }
    and "_meta"
}

object! {
    /// The terminal was released.
    ///
    /// Method `terminal/release`.
    /// Spec: [`ReleaseTerminalResponse`](https://agentclientprotocol.com/protocol/v1/schema#releaseterminalresponse)
    pub struct ReleaseTerminalResponse {}
    and "_meta"
}
