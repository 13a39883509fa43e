//! Names of attributes and events. Each name is defined once in this module.
//!
//! Names defined by the conventions link to the release of
//! [`Profile::V1_41`](crate::Profile::V1_41). Names with the prefix `acp.` are specific to this
//! crate.

macro_rules! keys {
    ($( $text:literal, $url:literal { $( $(#[$doc:meta])* $NAME:ident = $name:literal; )+ } )+) => { $( $(
        $(#[$doc])*
        ///
        #[doc = concat!("Spec: [", $text, "](", $url, ")")]
        pub const $NAME: &str = $name;
    )+ )+ };
}

/// Defines constants and a list of them.
macro_rules! attributes {
    ($( $text:literal, $url:literal { $( $(#[$doc:meta])* $NAME:ident = $name:literal; )+ } )+) => {
        keys! { $( $text, $url { $( $(#[$doc])* $NAME = $name; )+ } )+ }

        /// The names of all attributes.
        pub const ATTRIBUTES: &[&str] = &[ $( $( $NAME, )+ )+ ];
    };
}

attributes! {
    "GenAI attributes, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/gen-ai.md" {
        /// The operation: `invoke_agent` or `execute_tool`.
        GEN_AI_OPERATION_NAME = "gen_ai.operation.name";
        /// Provider of the agent, see [`ProviderPolicy`](crate::policy::ProviderPolicy).
        GEN_AI_PROVIDER_NAME = "gen_ai.provider.name";
        /// Programmatic name of the agent.
        GEN_AI_AGENT_NAME = "gen_ai.agent.name";
        /// Version of the agent.
        GEN_AI_AGENT_VERSION = "gen_ai.agent.version";
        /// The ACP session.
        GEN_AI_CONVERSATION_ID = "gen_ai.conversation.id";
        /// The model configured for the session.
        GEN_AI_REQUEST_MODEL = "gen_ai.request.model";
        /// The model that answered, see [`extract`](crate::extract).
        GEN_AI_RESPONSE_MODEL = "gen_ai.response.model";
        /// The finish reason of the turn, a list of one entry.
        GEN_AI_RESPONSE_FINISH_REASONS = "gen_ai.response.finish_reasons";
        /// Number of input tokens.
        GEN_AI_USAGE_INPUT_TOKENS = "gen_ai.usage.input_tokens";
        /// Number of output tokens.
        GEN_AI_USAGE_OUTPUT_TOKENS = "gen_ai.usage.output_tokens";
        /// Number of input tokens read from the provider's cache.
        GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS = "gen_ai.usage.cache_read.input_tokens";
        /// Number of input tokens written to the provider's cache.
        GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS = "gen_ai.usage.cache_creation.input_tokens";
        /// Type of the tokens counted by a metric: `input` or `output`.
        GEN_AI_TOKEN_TYPE = "gen_ai.token.type";
        /// Input of the user as a JSON string. Content capture only.
        GEN_AI_INPUT_MESSAGES = "gen_ai.input.messages";
        /// Output of the agent as a JSON string. Content capture only.
        GEN_AI_OUTPUT_MESSAGES = "gen_ai.output.messages";
        /// Name of the tool, of low cardinality.
        GEN_AI_TOOL_NAME = "gen_ai.tool.name";
        /// Id of the tool call.
        GEN_AI_TOOL_CALL_ID = "gen_ai.tool.call.id";
        /// Type of the tool, see [`tool_type`](mod@crate::tool_type).
        GEN_AI_TOOL_TYPE = "gen_ai.tool.type";
        /// Arguments of the tool as a JSON string. Content capture only.
        GEN_AI_TOOL_CALL_ARGUMENTS = "gen_ai.tool.call.arguments";
        /// Result of the tool as a JSON string. Content capture only.
        GEN_AI_TOOL_CALL_RESULT = "gen_ai.tool.call.result";
        /// The prompt requested from an MCP server.
        GEN_AI_PROMPT_NAME = "gen_ai.prompt.name";
    }
    "GenAI conventions, in development", "https://github.com/open-telemetry/semantic-conventions-genai" {
        /// Number of input tokens written to the provider's cache.
        /// [`Profile::GENAI_DEV`](crate::Profile::GENAI_DEV) only.
        GEN_AI_USAGE_CACHE_WRITE_INPUT_TOKENS = "gen_ai.usage.cache_write.input_tokens";
        /// Number of output tokens used for reasoning.
        /// [`Profile::GENAI_DEV`](crate::Profile::GENAI_DEV) only.
        GEN_AI_USAGE_REASONING_OUTPUT_TOKENS = "gen_ai.usage.reasoning.output_tokens";
        /// Reasoning level of the session: its config option of category `thought_level`. Only in
        /// the event with the content of a turn, with
        /// [`Profile::GENAI_DEV`](crate::Profile::GENAI_DEV).
        GEN_AI_REQUEST_REASONING_LEVEL = "gen_ai.request.reasoning.level";
        /// Present and `true` if the agent compacted its context during the turn. Only in the event
        /// with the content of a turn, with [`Profile::GENAI_DEV`](crate::Profile::GENAI_DEV).
        GEN_AI_CONVERSATION_COMPACTED = "gen_ai.conversation.compacted";
        /// Modality of the tokens counted by a metric, always `unknown`.
        /// [`Profile::GENAI_DEV`](crate::Profile::GENAI_DEV) only.
        GEN_AI_TOKEN_MODALITY = "gen_ai.token.modality";
    }
    "MCP attributes, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/mcp.md" {
        /// The method of an MCP request or notification.
        MCP_METHOD_NAME = "mcp.method.name";
        /// The negotiated MCP version.
        MCP_PROTOCOL_VERSION = "mcp.protocol.version";
        /// The MCP session, if the transport has one.
        MCP_SESSION_ID = "mcp.session.id";
        /// URI of a resource that is read or subscribed to, see
        /// [`Policy::paths`](crate::Policy::paths).
        MCP_RESOURCE_URI = "mcp.resource.uri";
    }
    "error attributes, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/error.md" {
        /// Kind of the error that ended the operation: a JSON-RPC code or one of [`error_type`].
        ERROR_TYPE = "error.type";
    }
    "RPC attributes, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/rpc.md" {
        /// Always `jsonrpc`.
        RPC_SYSTEM_NAME = "rpc.system.name";
        /// The method if the protocol defines it, else `_OTHER`.
        RPC_METHOD = "rpc.method";
        /// The method if [`RPC_METHOD`] is `_OTHER`.
        RPC_METHOD_ORIGINAL = "rpc.method_original";
        /// The code of a JSON-RPC error, as text.
        RPC_RESPONSE_STATUS_CODE = "rpc.response.status_code";
    }
    "JSON-RPC attributes, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/jsonrpc.md" {
        /// The request id as text without quotes. Absent for `null`.
        JSONRPC_REQUEST_ID = "jsonrpc.request.id";
        /// The version of JSON-RPC, always `2.0`.
        JSONRPC_PROTOCOL_VERSION = "jsonrpc.protocol.version";
        /// Why the span of an MCP or JSON-RPC request ended without a response, one of [`end`].
        /// Specific to this crate.
        JSONRPC_REQUEST_END = "jsonrpc.request.end";
    }
    "network attributes, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/network.md" {
        /// Transport of the connection, see
        /// [`Policy::network_transport`](crate::Policy::network_transport).
        NETWORK_TRANSPORT = "network.transport";
    }
    "process attributes, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/process.md" {
        /// Exit code of a terminal command, or of the command of a tool call.
        PROCESS_EXIT_CODE = "process.exit.code";
    }
    "ACP, overview", "https://agentclientprotocol.com/protocol/v1/overview" {
        /// Method of the request.
        ACP_METHOD_NAME = "acp.method.name";
    }
    "ACP, initialization", "https://agentclientprotocol.com/protocol/v1/initialization" {
        /// The protocol version in the agent's response, an integer.
        ACP_PROTOCOL_VERSION = "acp.protocol.version";
        /// Programmatic name of the client.
        ACP_CLIENT_NAME = "acp.client.name";
        /// Version of the client.
        ACP_CLIENT_VERSION = "acp.client.version";
        /// Human-readable name of the agent.
        ACP_AGENT_TITLE = "acp.agent.title";
        /// Version of the agent. [`Profile::V1_39`](crate::Profile::V1_39) only.
        ACP_AGENT_VERSION = "acp.agent.version";
    }
    "ACP, prompt turn", "https://agentclientprotocol.com/protocol/v1/prompt-turn" {
        /// The stop reason of the turn, verbatim.
        ACP_STOP_REASON = "acp.stop_reason";
        /// Seconds from the prompt to the first update that shows work on it.
        ACP_PROMPT_TIME_TO_FIRST_UPDATE = "acp.prompt.time_to_first_update";
        /// Number of tokens in the context window, as last reported.
        ACP_USAGE_CONTEXT_USED = "acp.usage.context.used";
        /// Size of the context window in tokens, as last reported.
        ACP_USAGE_CONTEXT_SIZE = "acp.usage.context.size";
        /// Total cost of the session, as last reported.
        ACP_COST_AMOUNT = "acp.cost.amount";
        /// Increase of [`ACP_COST_AMOUNT`] during the turn. Never negative.
        ACP_COST_TURN_AMOUNT = "acp.cost.turn_amount";
        /// The currency of the cost.
        ACP_COST_CURRENCY = "acp.cost.currency";
        /// Why the span of a request ended without a response, one of [`end`].
        ACP_REQUEST_END = "acp.request.end";
    }
    "ACP, tool calls", "https://agentclientprotocol.com/protocol/v1/tool-calls" {
        /// Kind of the tool.
        ACP_TOOL_KIND = "acp.tool.kind";
        /// Title of the tool call. Content capture only.
        ACP_TOOL_TITLE = "acp.tool.title";
        /// Files that the tool works with, as `path:line`. Content capture only.
        ACP_TOOL_LOCATIONS = "acp.tool.locations";
        /// Why the span of a tool call ended, if it neither completed nor failed: one of [`end`].
        ACP_TOOL_END = "acp.tool.end";
        /// Outcome of a permission request: `selected` or `cancelled`.
        ACP_PERMISSION_OUTCOME = "acp.permission.outcome";
        /// The selected option.
        ACP_PERMISSION_OPTION_ID = "acp.permission.option.id";
        /// Kind of the selected option.
        ACP_PERMISSION_OPTION_KIND = "acp.permission.option.kind";
        /// Seconds that the agent waited for the response.
        ACP_PERMISSION_WAIT_DURATION = "acp.permission.wait.duration";
    }
    "ACP, file system", "https://agentclientprotocol.com/protocol/v1/file-system" {
        /// The file. Content capture only.
        ACP_FS_PATH = "acp.fs.path";
    }
    "ACP, terminals", "https://agentclientprotocol.com/protocol/v1/terminals" {
        /// The command line. Content capture only.
        ACP_TERMINAL_COMMAND = "acp.terminal.command";
    }
    "ACP, session setup", "https://agentclientprotocol.com/protocol/v1/session-setup" {
        /// Number of updates replayed by `session/load`, `session/resume` or `session/fork`. They
        /// describe the past and create no spans.
        ACP_SESSION_REPLAYED_UPDATES = "acp.session.replayed_updates";
        /// The session created by `session/fork`.
        ACP_SESSION_FORK_ID = "acp.session.fork.id";
    }
    "ACP, subagents (unstable)", "https://agentclientprotocol.com/protocol/v1/draft/schema#subagentupdate" {
        /// The session that owns the session of the subagent.
        ACP_SESSION_PARENT_ID = "acp.session.parent.id";
        /// Title of the subagent, see [`Policy::titles`](crate::Policy::titles).
        ACP_SUBAGENT_TITLE = "acp.subagent.title";
    }
    "Link", "https://opentelemetry.io/docs/specs/otel/trace/api/#link" {
        /// Reason of a span link, one of [`link`].
        ACP_LINK_REASON = "acp.link.reason";
    }
    "ACP, session modes", "https://agentclientprotocol.com/protocol/v1/session-modes" {
        /// The current mode of the session.
        ACP_SESSION_MODE_ID = "acp.session.mode.id";
    }
    "ACP, agent plan", "https://agentclientprotocol.com/protocol/v1/agent-plan" {
        /// Number of entries of the plan.
        ACP_PLAN_ENTRIES = "acp.plan.entries";
        /// Number of completed entries of the plan.
        ACP_PLAN_COMPLETED = "acp.plan.completed";
    }
    "ACP, notices", "https://agentclientprotocol.com/protocol/v1/schema#notice" {
        /// Severity of a notice.
        ACP_NOTICE_SEVERITY = "acp.notice.severity";
    }
    "ACP, compaction", "https://agentclientprotocol.com/protocol/v1/schema#compactionupdate" {
        /// Status of a context compaction.
        ACP_COMPACTION_STATUS = "acp.compaction.status";
    }
}

/// Values of [`ACP_LINK_REASON`].
pub mod link {
    keys! {
        "ACP, session setup", "https://agentclientprotocol.com/protocol/v1/session-setup" {
            /// The session was loaded or resumed. The link leads to its last turn.
            RESUME = "resume";
            /// The session was forked. The link leads to the last turn of the original session.
            FORK = "fork";
            /// The client sent its own span with the request, and the exporter records it as a
            /// link.
            CALLER = "caller";
            /// A subagent resumed work. The link leads to its previous span.
            SUBAGENT = "subagent";
        }
    }
}

/// Names of events.
pub mod event {
    keys! {
        "inference operation details, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/gen-ai-events.md" {
            /// Content of a turn, see [`content`](crate::content).
            INFERENCE_DETAILS = "gen_ai.client.inference.operation.details";
        }
        "Event", "https://opentelemetry.io/docs/specs/otel/trace/api/#add-events" {
            /// Content of any other span, see [`content`](crate::content). Specific to this crate.
            DETAILS = "acp.details";
        }
        "MCP, cancellation", "https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation" {
            /// The sender of an MCP request cancelled it.
            MCP_CANCELLED = "mcp.cancelled";
        }
        "ACP, prompt turn", "https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation" {
            /// The client requested cancellation of the turn.
            SESSION_CANCEL = "acp.session.cancel";
        }
        "ACP, cancellation", "https://agentclientprotocol.com/protocol/v1/cancellation" {
            /// The sender requested cancellation of the request.
            CANCEL_REQUEST = "acp.cancel_request";
        }
        "ACP, tool calls", "https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission" {
            /// A permission request of the tool call was answered.
            PERMISSION = "acp.permission";
        }
        "ACP, agent plan", "https://agentclientprotocol.com/protocol/v1/agent-plan" {
            /// The plan changed.
            PLAN = "acp.plan";
        }
        "ACP, session modes", "https://agentclientprotocol.com/protocol/v1/session-modes" {
            /// The agent changed the mode.
            MODE = "acp.mode";
        }
        "ACP, session config options", "https://agentclientprotocol.com/protocol/v1/session-config-options" {
            /// The config options changed.
            CONFIG_OPTIONS = "acp.config_options";
        }
        "ACP, notices", "https://agentclientprotocol.com/protocol/v1/schema#notice" {
            /// The agent sent a notice outside the conversation.
            NOTICE = "acp.notice";
        }
        "ACP, compaction", "https://agentclientprotocol.com/protocol/v1/schema#compactionupdate" {
            /// The agent compacted its context.
            COMPACTION = "acp.compaction";
        }
    }
}

/// Values of [`ERROR_TYPE`] other than JSON-RPC codes.
pub mod error_type {
    keys! {
        "error attributes, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/error.md" {
            /// A tool call failed. The value is defined by the MCP conventions.
            TOOL_ERROR = "tool_error";
            /// The client disconnected before the response.
            CLIENT_CLOSED = "client_closed";
            /// The agent exited before the response.
            AGENT_EXITED = "agent_exited";
            /// The connection ended before the response.
            CONNECTION_CLOSED = "connection_closed";
        }
    }
}

/// Values of [`ACP_TOOL_END`] and [`ACP_REQUEST_END`].
pub mod end {
    keys! {
        "ACP, prompt turn", "https://agentclientprotocol.com/protocol/v1/prompt-turn" {
            /// The agent reported the tool call as cancelled, or the sender of an MCP request
            /// cancelled it.
            CANCELLED = "cancelled";
            /// The turn ended without a final status of the tool call.
            TURN_END = "turn_end";
            /// The enclosing span ended first.
            PARENT_END = "parent_end";
            /// The sender reused the id before the response.
            ID_REUSED = "id_reused";
            /// Observation stopped before the end.
            OBSERVER_STOPPED = "observer_stopped";
        }
        "ACP, initialization", "https://agentclientprotocol.com/protocol/v1/initialization" {
            /// The client initialized again before the end, and the agent accepted.
            INITIALIZED_AGAIN = "initialized_again";
        }
    }
}
