//! Tools that a server offers, and calls of them.
//!
//! Spec: [Tools](https://modelcontextprotocol.io/specification/2025-11-25/server/tools)
use super::content::ContentBlock;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;
use jsonrpc_core::wire::{DecodeError, Raw};

object! {
    /// A tool that a server offers.
    ///
    /// Spec: [`Tool`](https://modelcontextprotocol.io/specification/2025-11-25/schema#tool)
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
    }
    and "_meta"
}

object! {
    /// Hints about what a call does; not to be trusted from a server that is not.
    ///
    /// Spec: [`ToolAnnotations`](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations)
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
    /// Spec: [`ListToolsResult`](https://modelcontextprotocol.io/specification/2025-11-25/schema#listtoolsresult)
    pub struct ListToolsResult {
        /// The tools, as they came.
        raw_tools: Vec<Raw> = "tools",
    }
    optional {
        /// Where the next page begins.
        next_cursor: String = "nextCursor",
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
    /// Spec: [`CallToolRequest`](https://modelcontextprotocol.io/specification/2025-11-25/schema#calltoolrequest)
    pub struct CallToolRequestParams {
        /// The tool's name.
        name: String = "name",
    }
    optional {
        /// The arguments: an object, kept as text.
        arguments: Raw = "arguments",
    }
    and "_meta"
}

object! {
    /// What a call gave.
    ///
    /// Spec: [`CallToolResult`](https://modelcontextprotocol.io/specification/2025-11-25/schema#calltoolresult)
    pub struct CallToolResult {
        /// For the model.
        content: Vec<ContentBlock> = "content",
    }
    optional {
        /// For programs, as the tool's output schema says.
        structured_content: Raw = "structuredContent",
        /// The tool failed; `content` says how.
        is_error: bool = "isError",
    }
    and "_meta"
}
