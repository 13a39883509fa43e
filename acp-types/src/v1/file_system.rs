//! Files of the client, including unsaved changes.
//!
//! Spec: [File System](https://agentclientprotocol.com/protocol/v1/file-system)
use crate::shared::session_setup::SessionId;
use alloc::string::String;
use jsonrpc_core::object;

object! {
    /// A request for the text of a file.
    ///
    /// Method `fs/read_text_file`.
    /// Spec: [`ReadTextFileRequest`](https://agentclientprotocol.com/protocol/v1/schema#readtextfilerequest)
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
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Absolute path of the file.
        path: String = "path",
    }
    optional {
        /// The first line, counted from 1.
        line: u32 = "line",
        /// Largest number of lines.
        limit: u32 = "limit",
    }
    and "_meta"
}

object! {
    /// The text of a file.
    ///
    /// Method `fs/read_text_file`.
    /// Spec: [`ReadTextFileResponse`](https://agentclientprotocol.com/protocol/v1/schema#readtextfileresponse)
    pub struct ReadTextFileResponse {
        /// The text.
        content: String = "content",
    }
    and "_meta"
}

object! {
    /// A request to replace the text of a file.
    ///
    /// Method `fs/write_text_file`.
    /// Spec: [`WriteTextFileRequest`](https://agentclientprotocol.com/protocol/v1/schema#writetextfilerequest)
    ///
    /// ```
    /// use acp_types::v1::file_system::WriteTextFileRequest;
    ///
    /// let request: WriteTextFileRequest =
    ///     serde_json::from_str(r#"{"sessionId":"sess-1","path":"/tmp/a.txt","content":"Hi"}"#)?;
    /// assert_eq!(&*request.path, "/tmp/a.txt");
    /// assert_eq!(&*request.content, "Hi");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[doc(alias = "fs/write_text_file")]
    pub struct WriteTextFileRequest by name {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Absolute path of the file, which is created if it does not exist.
        path: String = "path",
        /// The text.
        content: String = "content",
    }
    and "_meta"
}

object! {
    /// The file is written.
    ///
    /// Method `fs/write_text_file`.
    /// Spec: [`WriteTextFileResponse`](https://agentclientprotocol.com/protocol/v1/schema#writetextfileresponse)
    pub struct WriteTextFileResponse {}
    and "_meta"
}
