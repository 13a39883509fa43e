//! Tools that a server offers, and tool calls.
//!
//! Spec: [Tools](https://modelcontextprotocol.io/specification/2026-07-28/server/tools)
use super::base::{ResultType, list_result};
use super::capabilities::Icon;
use super::content::ContentBlock;
use super::mrtr::InputRequiredResult;
use super::tasks::{Task, TaskMetadata};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Presence, Raw};
use jsonrpc_core::{object, open_enum, open_union};

object! {
    /// A tool that a server offers.
    ///
    /// Spec: [`Tool`](https://modelcontextprotocol.io/specification/2026-07-28/schema#tool)
    ///
    /// ```
    /// use jsonrpc_core::wire::Raw;
    /// use mcp_bridge::mcp::tools::Tool;
    ///
    /// let schema = Raw::from_text(r#"{"type":"object","properties":{"city":{"type":"string"}}}"#)?;
    /// let mut weather = Tool::new("weather", schema);
    /// weather.description = Some("Returns the current weather of a city".to_owned());
    /// let json = serde_json::to_value(&weather)?;
    /// assert_eq!(json["inputSchema"]["properties"]["city"]["type"], "string");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub struct Tool {
        /// Unique within the server: 1 to 128 of the characters `A-Z a-z 0-9 _ - .`.
        name: String = "name",
        /// JSON Schema of the arguments, kept as text because order and spelling matter to models.
        input_schema: Raw = "inputSchema",
    }
    optional {
        /// Human-readable name.
        title: String = "title",
        /// Description for the model.
        description: String = "description",
        /// JSON Schema of [`CallToolResult::structured_content`].
        output_schema: Raw = "outputSchema",
        /// Hints about the behavior of the tool.
        annotations: ToolAnnotations = "annotations",
        /// Icons for user interfaces. Since 2025-11-25.
        icons: Vec<Icon> = "icons",
        /// Execution modes. In 2025-11-25 only.
        execution: ToolExecution = "execution",
    }
    and "_meta"
}

object! {
    /// Execution modes of a tool. In 2025-11-25 only.
    ///
    /// Spec: [`ToolExecution`](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolexecution)
    pub struct ToolExecution {}
    optional {
        /// Whether the tool supports tasks. If absent, it is `forbidden`.
        task_support: TaskSupport = "taskSupport",
    }
}

open_enum! {
    /// Whether a tool can be called as a task. In 2025-11-25 only.
    ///
    /// Spec: [`ToolExecution`](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolexecution)
    pub enum TaskSupport {
        /// Task-augmented calls are not supported.
        Forbidden = "forbidden",
        /// Task-augmented calls are optional.
        Optional = "optional",
        /// Every call has to be task-augmented.
        Required = "required",
    }
}

object! {
    /// Hints about the behavior of a tool. Hints of an untrusted server are untrusted.
    ///
    /// Spec: [`ToolAnnotations`](https://modelcontextprotocol.io/specification/2026-07-28/schema#toolannotations)
    pub struct ToolAnnotations {}
    optional {
        /// Human-readable name.
        title: String = "title",
        /// The tool does not modify anything.
        read_only_hint: bool = "readOnlyHint",
        /// The tool may make destructive changes.
        destructive_hint: bool = "destructiveHint",
        /// Repeated calls with the same arguments have no additional effect.
        idempotent_hint: bool = "idempotentHint",
        /// The tool interacts with external entities.
        open_world_hint: bool = "openWorldHint",
    }
}

list_result! {
    /// The result of `tools/list`.
    ///
    /// Spec: [`ListToolsResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#listtoolsresult)
    ///
    /// ```
    /// use jsonrpc_core::wire;
    /// use mcp_bridge::mcp::tools::ListToolsResult;
    ///
    /// let list: ListToolsResult = wire::decode(r#"{"tools":[{"name":1},{"name":"add","inputSchema":{"type":"object"}}]}"#)?;
    /// let (good, bad): (Vec<_>, Vec<_>) = list.tools().partition(|(_, tool)| tool.is_ok());
    /// assert_eq!((good.len(), bad.len()), (1, 1));
    /// # Ok::<(), wire::DecodeError>(())
    /// ```
    #[doc(alias = "tools/list")]
    pub struct ListToolsResult { raw_tools = "tools", tools: Tool }
}

object! {
    /// The params of `tools/call`.
    ///
    /// Spec: [`CallToolRequest`](https://modelcontextprotocol.io/specification/2026-07-28/schema#calltoolrequest)
    ///
    /// ```
    /// use jsonrpc_core::wire::Raw;
    /// use mcp_bridge::mcp::tools::CallToolRequestParams;
    ///
    /// let mut params = CallToolRequestParams::new("weather");
    /// params.arguments = Some(Raw::from_text(r#"{"city":"Oslo"}"#)?);
    /// assert_eq!(serde_json::to_string(&params)?, r#"{"name":"weather","arguments":{"city":"Oslo"}}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "tools/call")]
    pub struct CallToolRequestParams {
        /// Name of the tool.
        name: String = "name",
    }
    optional {
        /// The arguments: an object, kept as text.
        arguments: Raw = "arguments",
        /// Responses to the input requests of the server, by key. Since 2026-07-28.
        input_responses: Extra = "inputResponses",
        /// The `requestState` of the server, returned byte for byte. Since 2026-07-28.
        request_state: String = "requestState",
        /// Requests a task instead of a result. In 2025-11-25 only.
        task: TaskMetadata = "task",
    }
    and "_meta"
}

open_union! {
    /// The outcome of `tools/call`.
    ///
    /// Spec: [`CallToolResultResponse`](https://modelcontextprotocol.io/specification/2026-07-28/schema#calltoolresultresponse)
    ///
    /// A result of an unknown type is preserved. It must not be used:
    ///
    /// ```
    /// use jsonrpc_core::wire;
    /// use mcp_bridge::mcp::tools::CallToolOutcome;
    ///
    /// let legacy: CallToolOutcome = wire::decode(r#"{"content":[]}"#)?;
    /// assert!(matches!(legacy, CallToolOutcome::Complete(_)));
    /// let newer: CallToolOutcome = wire::decode(r#"{"resultType":"partial","content":[]}"#)?;
    /// assert!(!newer.is_known());
    /// # Ok::<(), wire::DecodeError>(())
    /// ```
    #[doc(alias = "tools/call")]
    pub enum CallToolOutcome by "resultType" {
        /// The server requires input first. Since 2026-07-28.
        InputRequired(Box<InputRequiredResult>) = "input_required",
        /// The call continues as a task. Defined by the extension [`tasks`](super::tasks).
        Task(Box<Task>) = "task",
    }
    untagged {
        /// The call is complete.
        Complete(Box<CallToolResult>) = "complete",
    }
}

object! {
    /// The result of a tool call.
    ///
    /// Spec: [`CallToolResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#calltoolresult)
    ///
    /// ```
    /// use mcp_bridge::mcp::content::{ContentBlock, TextContent};
    /// use mcp_bridge::mcp::tools::CallToolResult;
    ///
    /// let result = CallToolResult::new([ContentBlock::Text(TextContent::new("21 °C"))]);
    /// let json = r#"{"content":[{"type":"text","text":"21 °C"}]}"#;
    /// assert_eq!(serde_json::to_string(&result)?, json);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct CallToolResult {
        /// Content for the model.
        content: Vec<ContentBlock> = "content",
    }
    optional {
        /// Whether the call failed. `content` then describes the error.
        is_error: bool = "isError",
        /// `complete`. Required since 2026-07-28.
        result_type: ResultType = "resultType",
    }
    patch {
        /// Structured result, as described by the output schema of the tool: an object up to
        /// 2025-11-25, any JSON value including `null` since then.
        structured_content: Raw = "structuredContent",
    }
    and "_meta"
}

impl CallToolResult {
    /// Returns the result as text: its text blocks, one per line, and other blocks as JSON. A
    /// result without content is represented by its structured content as JSON.
    pub fn to_text(&self) -> String {
        let block = |block: &ContentBlock| match block {
            ContentBlock::Text(text) => text.text.clone(),
            other => serde_json::to_string(other).unwrap_or_default(),
        };
        match (&self.content[..], &self.structured_content) {
            ([], Presence::Value(value)) => value.as_str().into(),
            (blocks, _) => blocks.iter().map(block).collect::<Vec<_>>().join("\n"),
        }
    }
}
