//! Capabilities that an agent declares. They inform the application; the event stream remains
//! authoritative.
//!
//! Every member is optional. An absent member is undeclared, not false.
//!
//! Spec: [Capabilities, 1.0](https://ag-ui.com/spec/1.0/basic/capabilities)
use crate::Metadata;
use crate::integer::Count;
use crate::tool::Tool;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;
use jsonrpc_core::wire::Extra;

object! {
    /// The capabilities of an agent, by category.
    ///
    /// Spec: [`AgentCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#agentcapabilities)
    pub struct AgentCapabilities {}
    optional {
        /// Identity of the agent.
        identity: IdentityCapabilities = "identity",
        /// Supported transports.
        transport: TransportCapabilities = "transport",
        /// Tool support.
        tools: ToolsCapabilities = "tools",
        /// Output formats.
        output: OutputCapabilities = "output",
        /// State management.
        state: StateCapabilities = "state",
        /// Collaboration with other agents.
        multi_agent: MultiAgentCapabilities = "multiAgent",
        /// Visibility of reasoning.
        reasoning: ReasoningCapabilities = "reasoning",
        /// Support for content other than text.
        multimodal: MultimodalCapabilities = "multimodal",
        /// Code execution and its limits.
        execution: ExecutionCapabilities = "execution",
        /// Interaction with people.
        human_in_the_loop: HumanInTheLoopCapabilities = "humanInTheLoop",
        /// Custom capabilities, open by key.
        custom: Extra = "custom",
    }
}

object! {
    /// Identity of an agent.
    ///
    /// Spec: [`IdentityCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#identitycapabilities)
    pub struct IdentityCapabilities {}
    optional {
        /// Human-readable name.
        name: String = "name",
        /// The framework or type of the agent.
        r#type: String = "type",
        /// Human-readable description.
        description: String = "description",
        /// Semantic version of the agent.
        version: String = "version",
        /// Organization that maintains the agent.
        provider: String = "provider",
        /// URL of the documentation.
        documentation_url: String = "documentationUrl",
        /// Additional metadata.
        metadata: Metadata = "metadata",
    }
}

object! {
    /// Transports that an agent supports.
    ///
    /// Spec: [`TransportCapabilities`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#transportcapabilities)
    pub struct TransportCapabilities {}
    optional {
        /// The agent streams server-sent events.
        streaming: bool = "streaming",
        /// The agent accepts WebSocket connections.
        websocket: bool = "websocket",
        /// The agent supports protobuf over HTTP.
        http_binary: bool = "httpBinary",
        /// The agent reports by webhook after a run.
        push_notifications: bool = "pushNotifications",
        /// An interrupted stream can be resumed.
        resumable: bool = "resumable",
    }
}

object! {
    /// Tool support of an agent.
    ///
    /// Spec: [`ToolsCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#toolscapabilities)
    pub struct ToolsCapabilities {}
    optional {
        /// The agent calls tools.
        supported: bool = "supported",
        /// Tools that the agent itself provides.
        items: Vec<Tool> = "items",
        /// The agent makes several calls in parallel.
        parallel_calls: bool = "parallelCalls",
        /// The agent calls tools that the application provides.
        client_provided: bool = "clientProvided",
    }
}

object! {
    /// Output formats of an agent.
    ///
    /// Spec: [`OutputCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#outputcapabilities)
    pub struct OutputCapabilities {}
    optional {
        /// The agent writes JSON that follows a schema.
        structured_output: bool = "structuredOutput",
        /// Media types that the agent produces.
        supported_mime_types: Vec<String> = "supportedMimeTypes",
    }
}

object! {
    /// State management of an agent.
    ///
    /// Spec: [`StateCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#statecapabilities)
    pub struct StateCapabilities {}
    optional {
        /// The agent sends state snapshots.
        snapshots: bool = "snapshots",
        /// The agent sends state deltas.
        deltas: bool = "deltas",
        /// The agent remembers across threads.
        memory: bool = "memory",
        /// The state persists between runs.
        persistent_state: bool = "persistentState",
    }
}

object! {
    /// Collaboration of an agent with other agents.
    ///
    /// Spec: [`MultiAgentCapabilities`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#multiagentcapabilities)
    pub struct MultiAgentCapabilities {}
    optional {
        /// The agent works with other agents.
        supported: bool = "supported",
        /// The agent delegates subtasks.
        delegation: bool = "delegation",
        /// The agent hands over whole conversations.
        handoffs: bool = "handoffs",
        /// The subagents that the agent can call.
        subagents: Vec<SubagentInfo> = "subagents",
    }
}

object! {
    /// A subagent that an agent can call.
    ///
    /// Spec: [`SubagentInfo`, 1.0](https://ag-ui.com/spec/1.0/schema#subagentinfo)
    pub struct SubagentInfo {
        /// Name of the subagent.
        name: String = "name",
    }
    optional {
        /// What the subagent is suited for.
        description: String = "description",
    }
}

object! {
    /// Visibility of an agent's reasoning.
    ///
    /// Spec: [`ReasoningCapabilities`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#reasoningcapabilities)
    pub struct ReasoningCapabilities {}
    optional {
        /// The agent exposes its reasoning.
        supported: bool = "supported",
        /// The agent streams its reasoning.
        streaming: bool = "streaming",
        /// The reasoning is encrypted.
        encrypted: bool = "encrypted",
    }
}

object! {
    /// Content other than text that an agent accepts and produces.
    ///
    /// Spec: [`MultimodalCapabilities`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#multimodalcapabilities)
    pub struct MultimodalCapabilities {}
    optional {
        /// Accepted content.
        input: MultimodalInputCapabilities = "input",
        /// Produced content.
        output: MultimodalOutputCapabilities = "output",
    }
}

object! {
    /// Content other than text that an agent accepts.
    ///
    /// Spec: [`MultimodalInputCapabilities`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#multimodalinputcapabilities)
    pub struct MultimodalInputCapabilities {}
    optional {
        /// Images.
        image: bool = "image",
        /// Audio.
        audio: bool = "audio",
        /// Video.
        video: bool = "video",
        /// PDF documents.
        pdf: bool = "pdf",
        /// Other files.
        file: bool = "file",
    }
}

object! {
    /// Content other than text that an agent produces.
    ///
    /// Spec: [`MultimodalOutputCapabilities`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#multimodaloutputcapabilities)
    pub struct MultimodalOutputCapabilities {}
    optional {
        /// Images.
        image: bool = "image",
        /// Audio.
        audio: bool = "audio",
    }
}

object! {
    /// Code execution of an agent, and its limits.
    ///
    /// Spec: [`ExecutionCapabilities`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#executioncapabilities)
    pub struct ExecutionCapabilities {}
    optional {
        /// The agent executes code.
        code_execution: bool = "codeExecution",
        /// Code runs in a sandbox.
        sandboxed: bool = "sandboxed",
        /// Largest number of tool call rounds in a run.
        max_iterations: Count = "maxIterations",
        /// Longest duration of a run, in milliseconds.
        max_execution_time: Count = "maxExecutionTime",
    }
}

object! {
    /// Interaction of an agent with people.
    ///
    /// Spec: [`HumanInTheLoopCapabilities`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#humanintheloopcapabilities)
    pub struct HumanInTheLoopCapabilities {}
    optional {
        /// The agent supports human interaction.
        supported: bool = "supported",
        /// The agent requests approval before sensitive actions.
        approvals: bool = "approvals",
        /// People can change the agent's plan during a run.
        interventions: bool = "interventions",
        /// The agent learns from feedback.
        feedback: bool = "feedback",
        /// The agent ends runs with interrupts and accepts their answers.
        interrupts: bool = "interrupts",
        /// An approval may change the arguments of the call.
        approve_with_edits: bool = "approveWithEdits",
    }
}
