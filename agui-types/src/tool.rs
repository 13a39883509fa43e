//! Tools that the application offers, and calls of tools in a conversation.
//!
//! Spec: [Tools, 1.0](https://ag-ui.com/spec/1.0/basic/run-input#tools),
//! [Tool Calls, 1.0](https://ag-ui.com/spec/1.0/events/tool-calls)
use crate::Metadata;
use crate::id::ToolCallId;
use alloc::string::String;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{object, open_enum};

object! {
    /// A tool that the application offers and runs itself.
    ///
    /// Spec: [`Tool`, 1.0](https://ag-ui.com/spec/1.0/schema#tool)
    pub struct Tool {
        /// What calls name.
        name: String = "name",
        /// What the model is told about it.
        description: String = "description",
    }
    optional {
        /// What arguments it takes, as a JSON Schema by convention.
        parameters: Raw = "parameters",
        /// Whatever the application wants to add.
        metadata: Metadata = "metadata",
    }
}

object! {
    /// A call of a tool, as an assistant message holds it.
    ///
    /// Spec: [`ToolCall`, 1.0](https://ag-ui.com/spec/1.0/schema#toolcall)
    pub struct ToolCall {
        /// Names the call.
        id: ToolCallId = "id",
        /// What is called.
        r#type: ToolCallType = "type",
        /// The function and its arguments.
        function: FunctionCall = "function",
    }
    optional {
        /// A provider's reasoning in its own cipher, to be given back as it is.
        encrypted_value: String = "encryptedValue",
        /// What kind of value that is, in the producer's words; new in 1.1.
        encrypted_value_type: String = "encryptedValueType",
        /// What was added on the way.
        metadata: Metadata = "metadata",
    }
}

impl ToolCall {
    /// A call of a function, which is the only kind there is.
    pub fn function(
        id: impl Into<ToolCallId>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self::new(id, ToolCallType::Function, FunctionCall::new(name, arguments))
    }
}

open_enum! {
    /// What a tool call calls.
    ///
    /// Spec: [`ToolCall`, 1.0](https://ag-ui.com/spec/1.0/schema#toolcall)
    pub enum ToolCallType {
        /// A function.
        Function = "function",
    }
}

object! {
    /// A function and what it is given.
    ///
    /// Spec: [`FunctionCall`, 1.0](https://ag-ui.com/spec/1.0/schema#functioncall)
    pub struct FunctionCall {
        /// The tool's name.
        name: String = "name",
        /// A JSON document by convention. Models write it: it may not parse, and is not to be trusted.
        arguments: String = "arguments",
    }
}
