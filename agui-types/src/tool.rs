//! Tools that the application provides, and tool calls in a conversation.
//!
//! Spec: [Tools, 1.0](https://ag-ui.com/spec/1.0/basic/run-input#tools),
//! [Tool Calls, 1.0](https://ag-ui.com/spec/1.0/events/tool-calls)
use crate::Metadata;
use crate::id::ToolCallId;
use alloc::string::String;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{object, open_enum};

object! {
    /// A tool that the application provides and runs.
    ///
    /// ```
    /// use agui_types::jsonrpc_core::wire::Raw;
    /// use agui_types::tool::Tool;
    ///
    /// let schema = r#"{"type":"object","properties":{"colour":{"type":"string"}}}"#;
    /// let tool = Tool::new("pick_colour", "Lets the user pick a colour.")
    ///     .with_parameters(Raw::from_text(schema)?);
    /// # let _ = tool;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Spec: [`Tool`, 1.0](https://ag-ui.com/spec/1.0/schema#tool)
    pub struct Tool {
        /// Name of the tool, used in calls.
        name: String = "name",
        /// Description for the model.
        description: String = "description",
    }
    optional {
        /// The arguments, as a JSON Schema by convention.
        parameters: Raw = "parameters",
        /// Metadata of the application.
        metadata: Metadata = "metadata",
    }
}

object! {
    /// A tool call, as held by an assistant message.
    ///
    /// Spec: [`ToolCall`, 1.0](https://ag-ui.com/spec/1.0/schema#toolcall)
    pub struct ToolCall {
        /// Identifier of the call.
        id: ToolCallId = "id",
        /// The type of the call.
        r#type: ToolCallType = "type",
        /// The function and its arguments.
        function: FunctionCall = "function",
    }
    optional {
        /// A provider's encrypted reasoning, returned to it unchanged.
        encrypted_value: String = "encryptedValue",
        /// Kind of the encrypted value, defined by the producer. New in 1.1.
        encrypted_value_type: String = "encryptedValueType",
        /// Metadata of producers and applications.
        metadata: Metadata = "metadata",
    }
}

impl ToolCall {
    /// Creates a function call, the only type that is defined.
    pub fn function(
        id: impl Into<ToolCallId>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self::new(id, ToolCallType::Function, FunctionCall::new(name, arguments))
    }
}

open_enum! {
    /// The type of a tool call.
    ///
    /// Spec: [`ToolCall`, 1.0](https://ag-ui.com/spec/1.0/schema#toolcall)
    pub enum ToolCallType {
        /// A function.
        Function = "function",
    }
}

object! {
    /// A function and its arguments.
    ///
    /// Spec: [`FunctionCall`, 1.0](https://ag-ui.com/spec/1.0/schema#functioncall)
    pub struct FunctionCall {
        /// Name of the tool.
        name: String = "name",
        /// The arguments, by convention a JSON document. Models write it: it may be invalid and is
        /// untrusted.
        arguments: String = "arguments",
    }
}
