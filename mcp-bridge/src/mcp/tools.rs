//! Tools that a server offers, and calls of them.
//!
//! Spec: [Tools](https://modelcontextprotocol.io/specification/2026-07-28/server/tools)
use super::base::{CacheScope, ResultType};
use super::capabilities::Icon;
use super::content::ContentBlock;
use super::mrtr::InputRequiredResult;
use super::tasks::{Task, TaskMetadata};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Extra, Raw};
use jsonrpc_core::{object, open_enum, open_union};
use serde_json::Number;

object! {
    /// A tool that a server offers.
    ///
    /// Spec: [`Tool`](https://modelcontextprotocol.io/specification/2026-07-28/schema#tool)
    pub struct Tool {
        /// Unique within the server; 1 to 128 characters out of `A-Z a-z 0-9 _ - .`.
        name: String = "name",
        /// JSON Schema of the arguments, kept as text: order and spelling matter to models.
        input_schema: Raw = "inputSchema",
    }
    optional {
        /// Its name, for people.
        title: String = "title",
        /// What it does, for the model.
        description: String = "description",
        /// JSON Schema of [`CallToolResult::structured_content`].
        output_schema: Raw = "outputSchema",
        /// Hints about what a call does.
        annotations: ToolAnnotations = "annotations",
        /// Pictures of it. From 2025-11-25 on.
        icons: Vec<Icon> = "icons",
        /// How it can be run. In 2025-11-25 only.
        execution: ToolExecution = "execution",
    }
    and "_meta"
}

object! {
    /// How a tool can be run. In 2025-11-25 only.
    ///
    /// Spec: [`ToolExecution`](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolexecution)
    pub struct ToolExecution {}
    optional {
        /// Whether as a task; absent means `forbidden`.
        task_support: TaskSupport = "taskSupport",
    }
}

open_enum! {
    /// Whether a tool can be run as a task. In 2025-11-25 only.
    ///
    /// Spec: [`ToolExecution`](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolexecution)
    pub enum TaskSupport {
        /// It cannot.
        Forbidden = "forbidden",
        /// It can.
        Optional = "optional",
        /// It has to.
        Required = "required",
    }
}

object! {
    /// Hints about what a call does; not to be trusted from a server that is not.
    ///
    /// Spec: [`ToolAnnotations`](https://modelcontextprotocol.io/specification/2026-07-28/schema#toolannotations)
    pub struct ToolAnnotations {}
    optional {
        /// The tool's name, for people.
        title: String = "title",
        /// It changes nothing.
        read_only_hint: bool = "readOnlyHint",
        /// It may destroy something.
        destructive_hint: bool = "destructiveHint",
        /// A second call with the same arguments changes nothing more.
        idempotent_hint: bool = "idempotentHint",
        /// It reaches things outside a closed world.
        open_world_hint: bool = "openWorldHint",
    }
}

object! {
    /// The answer to `tools/list`.
    ///
    /// Each tool stays text until [`tools`](Self::tools) reads it, so that a bad one does not lose the others.
    ///
    /// Spec: [`ListToolsResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#listtoolsresult)
    pub struct ListToolsResult {
        /// The tools, as they came.
        raw_tools: Vec<Raw> = "tools",
    }
    optional {
        /// Where the next page begins.
        next_cursor: String = "nextCursor",
        /// How long the answer may be kept, in milliseconds. Required from 2026-07-28 on.
        ttl_ms: Number = "ttlMs",
        /// Who may be given it meanwhile. Required from 2026-07-28 on.
        cache_scope: CacheScope = "cacheScope",
        /// `complete`. Required from 2026-07-28 on.
        result_type: ResultType = "resultType",
    }
    and "_meta"
}

impl ListToolsResult {
    /// Reads each tool on its own, with its index in the list.
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
    pub fn tools(&self) -> impl Iterator<Item = (usize, Result<Tool, DecodeError>)> {
        self.raw_tools.iter().map(Raw::decode).enumerate()
    }
}

object! {
    /// The params of `tools/call`.
    ///
    /// Spec: [`CallToolRequest`](https://modelcontextprotocol.io/specification/2026-07-28/schema#calltoolrequest)
    pub struct CallToolRequestParams {
        /// The tool's name.
        name: String = "name",
    }
    optional {
        /// The arguments: an object, kept as text.
        arguments: Raw = "arguments",
        /// Answers to what the server needed, by key. From 2026-07-28 on.
        input_responses: Extra = "inputResponses",
        /// The state that came with the need, to the byte. From 2026-07-28 on.
        request_state: String = "requestState",
        /// Asks for a task instead of a result. In 2025-11-25 only.
        task: TaskMetadata = "task",
    }
    and "_meta"
}

open_union! {
    /// What came of `tools/call`.
    ///
    /// Spec: [`CallToolResultResponse`](https://modelcontextprotocol.io/specification/2026-07-28/schema#calltoolresultresponse)
    ///
    /// A result of a type that this version does not know is kept, and must not be used:
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
    pub enum CallToolOutcome by "resultType" {
        /// The server needs something first. From 2026-07-28 on.
        InputRequired(Box<InputRequiredResult>) = "input_required",
        /// It goes on as a task. Of the extension [`tasks`](super::tasks).
        Task(Box<Task>) = "task",
    }
    untagged {
        /// The call is done.
        Complete(Box<CallToolResult>) = "complete",
    }
}

object! {
    /// What a call gave.
    ///
    /// Spec: [`CallToolResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#calltoolresult)
    pub struct CallToolResult {
        /// For the model.
        content: Vec<ContentBlock> = "content",
    }
    optional {
        /// The tool failed; `content` says how.
        is_error: bool = "isError",
        /// `complete`. Required from 2026-07-28 on.
        result_type: ResultType = "resultType",
    }
    patch {
        /// For programs, as the tool's output schema says: an object up to 2025-11-25, any JSON since, `null` too.
        structured_content: Raw = "structuredContent",
    }
    and "_meta"
}
