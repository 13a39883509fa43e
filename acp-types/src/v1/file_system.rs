//! Files as the client sees them, unsaved changes and all.
//!
//! Spec: [File System](https://agentclientprotocol.com/protocol/v1/file-system)
use crate::shared::session_setup::SessionId;
use alloc::string::String;
use jsonrpc_core::object;

object! {
    /// The agent asks for the text of a file.
    ///
    /// Method `fs/read_text_file`. Spec: [`ReadTextFileRequest`](https://agentclientprotocol.com/protocol/v1/schema#readtextfilerequest)
    ///
    /// ```
    /// use acp_types::v1::file_system::ReadTextFileRequest;
    ///
    /// let mut request = ReadTextFileRequest::new("sess-1", "/home/user/project/main.rs");
    /// request.limit = Some(100);
    /// assert_eq!(
    ///     serde_json::to_string(&request)?,
    ///     r#"{"sessionId":"sess-1","path":"/home/user/project/main.rs","limit":100}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[doc(alias = "fs/read_text_file")]
    pub struct ReadTextFileRequest {
        /// In which session.
        session_id: SessionId = "sessionId",
        /// Absolute path of the file.
        path: String = "path",
    }
    optional {
        /// The line to begin at, counted from 1.
        line: u32 = "line",
        /// How many lines at most.
        limit: u32 = "limit",
    }
    and "_meta"
}

object! {
    /// The text of a file.
    ///
    /// Method `fs/read_text_file`. Spec: [`ReadTextFileResponse`](https://agentclientprotocol.com/protocol/v1/schema#readtextfileresponse)
    pub struct ReadTextFileResponse {
        /// The text.
        content: String = "content",
    }
    and "_meta"
}

object! {
    /// The agent gives a file a new text.
    ///
    /// Method `fs/write_text_file`. Spec: [`WriteTextFileRequest`](https://agentclientprotocol.com/protocol/v1/schema#writetextfilerequest)
    ///
    /// ```
    /// use acp_types::v1::file_system::WriteTextFileRequest;
    ///
    /// let request: WriteTextFileRequest =
    ///     serde_json::from_str(r#"{"sessionId":"sess-1","path":"/tmp/a.txt","content":"Hi"}"#)?;
    /// assert_eq!((&*request.path, &*request.content), ("/tmp/a.txt", "Hi"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[doc(alias = "fs/write_text_file")]
    pub struct WriteTextFileRequest {
        /// In which session.
        session_id: SessionId = "sessionId",
        /// Absolute path of the file; it is made if it does not exist.
        path: String = "path",
        /// The text.
        content: String = "content",
    }
    and "_meta"
}

object! {
    /// The file is written.
    ///
    /// Method `fs/write_text_file`. Spec: [`WriteTextFileResponse`](https://agentclientprotocol.com/protocol/v1/schema#writetextfileresponse)
    pub struct WriteTextFileResponse {}
    and "_meta"
}
