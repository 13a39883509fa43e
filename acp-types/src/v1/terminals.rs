//! Commands that the client runs for the agent.
//!
//! Spec: [Terminals](https://agentclientprotocol.com/protocol/v1/terminals)
use crate::shared::session_setup::{EnvVariable, SessionId};
pub use crate::shared::terminals::TerminalId;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;

object! {
    /// The agent asks for a command to be run.
    ///
    /// Method `terminal/create`. Spec: [`CreateTerminalRequest`](https://agentclientprotocol.com/protocol/v1/schema#createterminalrequest)
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
        /// In which session.
        session_id: SessionId = "sessionId",
        /// The command.
        command: String = "command",
    }
    optional {
        /// Its arguments.
        args: Vec<String> = "args" [default_on_null],
        /// Variables to set in its environment.
        env: Vec<EnvVariable> = "env" [default_on_null],
        /// Absolute path of the folder to run it in.
        cwd: String = "cwd",
        /// How many bytes of output to keep; the oldest go first.
        output_byte_limit: u64 = "outputByteLimit",
    }
    and "_meta"
}

object! {
    /// The command runs.
    ///
    /// Method `terminal/create`. Spec: [`CreateTerminalResponse`](https://agentclientprotocol.com/protocol/v1/schema#createterminalresponse)
    pub struct CreateTerminalResponse {
        /// Names its terminal.
        terminal_id: TerminalId = "terminalId",
    }
    and "_meta"
}

object! {
    /// The agent asks for the output so far.
    ///
    /// Method `terminal/output`. Spec: [`TerminalOutputRequest`](https://agentclientprotocol.com/protocol/v1/schema#terminaloutputrequest)
    #[doc(alias = "terminal/output")]
    pub struct TerminalOutputRequest {
        /// In which session.
        session_id: SessionId = "sessionId",
        /// Of which terminal.
        terminal_id: TerminalId = "terminalId",
    }
    and "_meta"
}

object! {
    /// The output so far.
    ///
    /// Method `terminal/output`. Spec: [`TerminalOutputResponse`](https://agentclientprotocol.com/protocol/v1/schema#terminaloutputresponse)
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
        /// Whether its beginning is gone, because of the limit.
        truncated: bool = "truncated",
    }
    optional {
        /// How the command ended; absent while it runs.
        exit_status: TerminalExitStatus = "exitStatus" [default_on_error],
    }
    and "_meta"
}

object! {
    /// How a command ended.
    ///
    /// Spec: [`TerminalExitStatus`](https://agentclientprotocol.com/protocol/v1/schema#terminalexitstatus)
    pub struct TerminalExitStatus {}
    optional {
        /// Its exit code; absent when a signal ended it.
        exit_code: u32 = "exitCode" [default_on_error],
        /// The signal that ended it.
        signal: String = "signal" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The agent waits for a command to end.
    ///
    /// Method `terminal/wait_for_exit`. Spec: [`WaitForTerminalExitRequest`](https://agentclientprotocol.com/protocol/v1/schema#waitforterminalexitrequest)
    #[doc(alias = "terminal/wait_for_exit")]
    pub struct WaitForTerminalExitRequest {
        /// In which session.
        session_id: SessionId = "sessionId",
        /// Of which terminal.
        terminal_id: TerminalId = "terminalId",
    }
    and "_meta"
}

object! {
    /// The command has ended.
    ///
    /// Method `terminal/wait_for_exit`. Spec: [`WaitForTerminalExitResponse`](https://agentclientprotocol.com/protocol/v1/schema#waitforterminalexitresponse)
    pub struct WaitForTerminalExitResponse {}
    optional {
        /// Its exit code; absent when a signal ended it.
        exit_code: u32 = "exitCode" [default_on_error],
        /// The signal that ended it.
        signal: String = "signal" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The agent ends a command and keeps its terminal.
    ///
    /// Method `terminal/kill`. Spec: [`KillTerminalRequest`](https://agentclientprotocol.com/protocol/v1/schema#killterminalrequest)
    #[doc(alias = "terminal/kill")]
    pub struct KillTerminalRequest {
        /// In which session.
        session_id: SessionId = "sessionId",
        /// Of which terminal.
        terminal_id: TerminalId = "terminalId",
    }
    and "_meta"
}

object! {
    /// The command is ended.
    ///
    /// Method `terminal/kill`. Spec: [`KillTerminalResponse`](https://agentclientprotocol.com/protocol/v1/schema#killterminalresponse)
    pub struct KillTerminalResponse {}
    and "_meta"
}

object! {
    /// The agent has no more use for a terminal; a command still running is ended.
    ///
    /// Method `terminal/release`. Spec: [`ReleaseTerminalRequest`](https://agentclientprotocol.com/protocol/v1/schema#releaseterminalrequest)
    #[doc(alias = "terminal/release")]
    pub struct ReleaseTerminalRequest {
        /// In which session.
        session_id: SessionId = "sessionId",
        /// Which terminal.
        terminal_id: TerminalId = "terminalId",
    }
    and "_meta"
}

object! {
    /// The terminal is gone.
    ///
    /// Method `terminal/release`. Spec: [`ReleaseTerminalResponse`](https://agentclientprotocol.com/protocol/v1/schema#releaseterminalresponse)
    pub struct ReleaseTerminalResponse {}
    and "_meta"
}
