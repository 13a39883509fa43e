//! What an agent says that it can do. It informs; the stream decides.
//!
//! Every member is optional, and an absent one is undeclared, not false.
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
    /// All that an agent declares.
    ///
    /// Spec: [`AgentCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#agentcapabilities)
    pub struct AgentCapabilities {}
    optional {
        /// Who it is.
        identity: IdentityCapabilities = "identity",
        /// How it can be reached.
        transport: TransportCapabilities = "transport",
        /// Its tools.
        tools: ToolsCapabilities = "tools",
        /// What it writes.
        output: OutputCapabilities = "output",
        /// How it treats state.
        state: StateCapabilities = "state",
        /// How it works with other agents.
        multi_agent: MultiAgentCapabilities = "multiAgent",
        /// Whether it shows what it thinks.
        reasoning: ReasoningCapabilities = "reasoning",
        /// What beside text it takes and gives.
        multimodal: MultimodalCapabilities = "multimodal",
        /// What it executes, and within which limits.
        execution: ExecutionCapabilities = "execution",
        /// How it asks people.
        human_in_the_loop: HumanInTheLoopCapabilities = "humanInTheLoop",
        /// Anything else, open by key.
        custom: Extra = "custom",
    }
}

object! {
    /// Who an agent is.
    ///
    /// Spec: [`IdentityCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#identitycapabilities)
    pub struct IdentityCapabilities {}
    optional {
        /// Its name, for people to read.
        name: String = "name",
        /// The framework it is made with.
        r#type: String = "type",
        /// What it does.
        description: String = "description",
        /// Its semantic version.
        version: String = "version",
        /// Who maintains it.
        provider: String = "provider",
        /// The address of its documentation.
        documentation_url: String = "documentationUrl",
        /// Anything else.
        metadata: Metadata = "metadata",
    }
}

object! {
    /// How an agent can be reached.
    ///
    /// Spec: [`TransportCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#transportcapabilities)
    pub struct TransportCapabilities {}
    optional {
        /// It streams server-sent events.
        streaming: bool = "streaming",
        /// It accepts WebSockets.
        websocket: bool = "websocket",
        /// It speaks protobuf over HTTP.
        http_binary: bool = "httpBinary",
        /// It reports by webhooks after a run.
        push_notifications: bool = "pushNotifications",
        /// A broken stream can be taken up again.
        resumable: bool = "resumable",
    }
}

object! {
    /// What an agent does with tools.
    ///
    /// Spec: [`ToolsCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#toolscapabilities)
    pub struct ToolsCapabilities {}
    optional {
        /// It calls tools.
        supported: bool = "supported",
        /// Its own tools.
        items: Vec<Tool> = "items",
        /// It calls several at once.
        parallel_calls: bool = "parallelCalls",
        /// It calls tools that the application offers.
        client_provided: bool = "clientProvided",
    }
}

object! {
    /// What an agent writes.
    ///
    /// Spec: [`OutputCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#outputcapabilities)
    pub struct OutputCapabilities {}
    optional {
        /// It writes JSON after a schema.
        structured_output: bool = "structuredOutput",
        /// The media types that it writes.
        supported_mime_types: Vec<String> = "supportedMimeTypes",
    }
}

object! {
    /// How an agent treats state.
    ///
    /// Spec: [`StateCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#statecapabilities)
    pub struct StateCapabilities {}
    optional {
        /// It sends snapshots.
        snapshots: bool = "snapshots",
        /// It sends deltas.
        deltas: bool = "deltas",
        /// It remembers across threads.
        memory: bool = "memory",
        /// State outlives a run.
        persistent_state: bool = "persistentState",
    }
}

object! {
    /// How an agent works with other agents.
    ///
    /// Spec: [`MultiAgentCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#multiagentcapabilities)
    pub struct MultiAgentCapabilities {}
    optional {
        /// It works with others in some way.
        supported: bool = "supported",
        /// It hands out parts of its work.
        delegation: bool = "delegation",
        /// It hands over whole conversations.
        handoffs: bool = "handoffs",
        /// The agents that it can call.
        subagents: Vec<SubagentInfo> = "subagents",
    }
}

object! {
    /// An agent that an agent can call.
    ///
    /// Spec: [`SubagentInfo`, 1.0](https://ag-ui.com/spec/1.0/schema#subagentinfo)
    pub struct SubagentInfo {
        /// Its name.
        name: String = "name",
    }
    optional {
        /// What it is good at.
        description: String = "description",
    }
}

object! {
    /// Whether an agent shows what it thinks.
    ///
    /// Spec: [`ReasoningCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#reasoningcapabilities)
    pub struct ReasoningCapabilities {}
    optional {
        /// It does.
        supported: bool = "supported",
        /// It does while it thinks.
        streaming: bool = "streaming",
        /// It does, but enciphered.
        encrypted: bool = "encrypted",
    }
}

object! {
    /// What beside text an agent takes and gives.
    ///
    /// Spec: [`MultimodalCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#multimodalcapabilities)
    pub struct MultimodalCapabilities {}
    optional {
        /// What it takes.
        input: MultimodalInputCapabilities = "input",
        /// What it gives.
        output: MultimodalOutputCapabilities = "output",
    }
}

object! {
    /// What beside text an agent takes.
    ///
    /// Spec: [`MultimodalInputCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#multimodalinputcapabilities)
    pub struct MultimodalInputCapabilities {}
    optional {
        /// Pictures.
        image: bool = "image",
        /// Recordings.
        audio: bool = "audio",
        /// Films.
        video: bool = "video",
        /// PDF documents.
        pdf: bool = "pdf",
        /// Files of any other kind.
        file: bool = "file",
    }
}

object! {
    /// What beside text an agent gives.
    ///
    /// Spec: [`MultimodalOutputCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#multimodaloutputcapabilities)
    pub struct MultimodalOutputCapabilities {}
    optional {
        /// Pictures.
        image: bool = "image",
        /// Recordings.
        audio: bool = "audio",
    }
}

object! {
    /// What an agent executes, and within which limits.
    ///
    /// Spec: [`ExecutionCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#executioncapabilities)
    pub struct ExecutionCapabilities {}
    optional {
        /// It runs code.
        code_execution: bool = "codeExecution",
        /// It runs code where that can do no harm.
        sandboxed: bool = "sandboxed",
        /// How many rounds of calls a run may have.
        max_iterations: Count = "maxIterations",
        /// How long a run may take, in milliseconds.
        max_execution_time: Count = "maxExecutionTime",
    }
}

object! {
    /// How an agent asks people.
    ///
    /// Spec: [`HumanInTheLoopCapabilities`, 1.0](https://ag-ui.com/spec/1.0/schema#humanintheloopcapabilities)
    pub struct HumanInTheLoopCapabilities {}
    optional {
        /// It does in some way.
        supported: bool = "supported",
        /// It asks before it does something sensitive.
        approvals: bool = "approvals",
        /// People can change its plan as it works.
        interventions: bool = "interventions",
        /// It learns from what people say about its work.
        feedback: bool = "feedback",
        /// It ends runs with interrupts and takes the answers.
        interrupts: bool = "interrupts",
        /// An approval can come with other arguments.
        approve_with_edits: bool = "approveWithEdits",
    }
}
