//! The names of attributes and events: each name has its one home here.
//!
//! Names that the conventions define link to the release that [`Profile::V1_41`](crate::Profile::V1_41) stands for;
//! `acp.*` names are this crate's own.

macro_rules! keys {
    ($( $text:literal, $url:literal { $( $(#[$doc:meta])* $NAME:ident = $name:literal; )+ } )+) => { $( $(
        $(#[$doc])*
        ///
        #[doc = concat!("Spec: [", $text, "](", $url, ")")]
        pub const $NAME: &str = $name;
    )+ )+ };
}

/// The same, with a list of them.
macro_rules! attributes {
    ($( $text:literal, $url:literal { $( $(#[$doc:meta])* $NAME:ident = $name:literal; )+ } )+) => {
        keys! { $( $text, $url { $( $(#[$doc])* $NAME = $name; )+ } )+ }

        /// The names of all attributes.
        pub const ATTRIBUTES: &[&str] = &[ $( $( $NAME, )+ )+ ];
    };
}

attributes! {
    "GenAI attributes, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/gen-ai.md" {
        /// What is done: `invoke_agent`, `execute_tool`.
        GEN_AI_OPERATION_NAME = "gen_ai.operation.name";
        /// Who provides the agent, see [`ProviderPolicy`](crate::policy::ProviderPolicy).
        GEN_AI_PROVIDER_NAME = "gen_ai.provider.name";
        /// The agent's name as a program.
        GEN_AI_AGENT_NAME = "gen_ai.agent.name";
        /// The agent's version.
        GEN_AI_AGENT_VERSION = "gen_ai.agent.version";
        /// The ACP session.
        GEN_AI_CONVERSATION_ID = "gen_ai.conversation.id";
        /// The model that the session is set to.
        GEN_AI_REQUEST_MODEL = "gen_ai.request.model";
        /// Why the turn ended, one entry.
        GEN_AI_RESPONSE_FINISH_REASONS = "gen_ai.response.finish_reasons";
        /// Tokens that went into the models.
        GEN_AI_USAGE_INPUT_TOKENS = "gen_ai.usage.input_tokens";
        /// Tokens that the models produced.
        GEN_AI_USAGE_OUTPUT_TOKENS = "gen_ai.usage.output_tokens";
        /// Input tokens that came out of the provider's cache.
        GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS = "gen_ai.usage.cache_read.input_tokens";
        /// Input tokens that went into the provider's cache.
        GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS = "gen_ai.usage.cache_creation.input_tokens";
        /// Which tokens a metric counts: `input`, `output`.
        GEN_AI_TOKEN_TYPE = "gen_ai.token.type";
        /// What the user sent, with content capture only: a JSON string.
        GEN_AI_INPUT_MESSAGES = "gen_ai.input.messages";
        /// What the agent said, with content capture only: a JSON string.
        GEN_AI_OUTPUT_MESSAGES = "gen_ai.output.messages";
        /// The tool's name, of low cardinality.
        GEN_AI_TOOL_NAME = "gen_ai.tool.name";
        /// The tool call.
        GEN_AI_TOOL_CALL_ID = "gen_ai.tool.call.id";
        /// Where the tool runs, see [`tool_type`](mod@crate::tool_type).
        GEN_AI_TOOL_TYPE = "gen_ai.tool.type";
        /// What the tool was given, with content capture only: a JSON string.
        GEN_AI_TOOL_CALL_ARGUMENTS = "gen_ai.tool.call.arguments";
        /// What the tool gave back, with content capture only: a JSON string.
        GEN_AI_TOOL_CALL_RESULT = "gen_ai.tool.call.result";
        /// The prompt that an MCP server is asked for.
        GEN_AI_PROMPT_NAME = "gen_ai.prompt.name";
    }
    "GenAI conventions, in development", "https://github.com/open-telemetry/semantic-conventions-genai" {
        /// Input tokens that went into the provider's cache, in [`Profile::GENAI_DEV`](crate::Profile::GENAI_DEV) only.
        GEN_AI_USAGE_CACHE_WRITE_INPUT_TOKENS = "gen_ai.usage.cache_write.input_tokens";
        /// Output tokens that the models thought with, in [`Profile::GENAI_DEV`](crate::Profile::GENAI_DEV) only.
        GEN_AI_USAGE_REASONING_OUTPUT_TOKENS = "gen_ai.usage.reasoning.output_tokens";
        /// What is in the tokens that a metric counts, in [`Profile::GENAI_DEV`](crate::Profile::GENAI_DEV) only: `unknown`.
        GEN_AI_TOKEN_MODALITY = "gen_ai.token.modality";
    }
    "MCP attributes, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/mcp.md" {
        /// The method of an MCP request or notification.
        MCP_METHOD_NAME = "mcp.method.name";
        /// The version of MCP that both sides speak.
        MCP_PROTOCOL_VERSION = "mcp.protocol.version";
        /// The MCP session, where the transport has one.
        MCP_SESSION_ID = "mcp.session.id";
        /// The resource that is read or subscribed to, see [`Policy::paths`](crate::Policy::paths).
        MCP_RESOURCE_URI = "mcp.resource.uri";
    }
    "error attributes, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/error.md" {
        /// What kind of error ended the operation: a JSON-RPC code, or one of [`error_type`].
        ERROR_TYPE = "error.type";
    }
    "RPC attributes, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/rpc.md" {
        /// Always `jsonrpc`.
        RPC_SYSTEM_NAME = "rpc.system.name";
        /// The method where the protocol defines it, else `_OTHER`.
        RPC_METHOD = "rpc.method";
        /// The method where [`RPC_METHOD`] is `_OTHER`.
        RPC_METHOD_ORIGINAL = "rpc.method_original";
        /// The code of a JSON-RPC error, as text.
        RPC_RESPONSE_STATUS_CODE = "rpc.response.status_code";
    }
    "JSON-RPC attributes, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/jsonrpc.md" {
        /// The request's id, as text without quotes; absent for `null`.
        JSONRPC_REQUEST_ID = "jsonrpc.request.id";
        /// The version of JSON-RPC, always `2.0`.
        JSONRPC_PROTOCOL_VERSION = "jsonrpc.protocol.version";
        /// Why the span of an MCP or JSON-RPC request ended without an answer, one of [`end`]; this crate's own.
        JSONRPC_REQUEST_END = "jsonrpc.request.end";
    }
    "network attributes, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/network.md" {
        /// How the two sides are connected, see [`Policy::network_transport`](crate::Policy::network_transport).
        NETWORK_TRANSPORT = "network.transport";
    }
    "process attributes, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/process.md" {
        /// How a terminal's command ended.
        PROCESS_EXIT_CODE = "process.exit.code";
    }
    "ACP, overview", "https://agentclientprotocol.com/protocol/v1/overview" {
        /// The method of the request that a span stands for.
        ACP_METHOD_NAME = "acp.method.name";
    }
    "ACP, initialization", "https://agentclientprotocol.com/protocol/v1/initialization" {
        /// The protocol version that the agent answered, an integer.
        ACP_PROTOCOL_VERSION = "acp.protocol.version";
        /// The client's name as a program.
        ACP_CLIENT_NAME = "acp.client.name";
        /// The client's version.
        ACP_CLIENT_VERSION = "acp.client.version";
        /// The agent's name for people.
        ACP_AGENT_TITLE = "acp.agent.title";
        /// The agent's version, in [`Profile::V1_39`](crate::Profile::V1_39) only.
        ACP_AGENT_VERSION = "acp.agent.version";
    }
    "ACP, prompt turn", "https://agentclientprotocol.com/protocol/v1/prompt-turn" {
        /// Why the turn ended, in the agent's own word.
        ACP_STOP_REASON = "acp.stop_reason";
        /// Seconds from the prompt to the agent's first sign of work on it.
        ACP_PROMPT_TIME_TO_FIRST_UPDATE = "acp.prompt.time_to_first_update";
        /// Tokens in the context window, as the agent said last.
        ACP_USAGE_CONTEXT_USED = "acp.usage.context.used";
        /// Tokens that fit into the context window, as the agent said last.
        ACP_USAGE_CONTEXT_SIZE = "acp.usage.context.size";
        /// What the session has cost so far, as the agent said last.
        ACP_COST_AMOUNT = "acp.cost.amount";
        /// What the turn added to [`ACP_COST_AMOUNT`]; never negative.
        ACP_COST_TURN_AMOUNT = "acp.cost.turn_amount";
        /// The currency of the cost.
        ACP_COST_CURRENCY = "acp.cost.currency";
        /// Why the span of a request ended without an answer, one of [`end`].
        ACP_REQUEST_END = "acp.request.end";
    }
    "ACP, tool calls", "https://agentclientprotocol.com/protocol/v1/tool-calls" {
        /// The tool's kind.
        ACP_TOOL_KIND = "acp.tool.kind";
        /// What the tool is doing, with content capture only.
        ACP_TOOL_TITLE = "acp.tool.title";
        /// The files that the tool works with as `path:line`, with content capture only.
        ACP_TOOL_LOCATIONS = "acp.tool.locations";
        /// Why the span of a tool call ended, other than completed or failed: one of [`end`].
        ACP_TOOL_END = "acp.tool.end";
        /// What became of a permission request: `selected`, `cancelled`.
        ACP_PERMISSION_OUTCOME = "acp.permission.outcome";
        /// The option that was chosen.
        ACP_PERMISSION_OPTION_ID = "acp.permission.option.id";
        /// The kind of the option that was chosen.
        ACP_PERMISSION_OPTION_KIND = "acp.permission.option.kind";
        /// Seconds that the agent waited for the answer.
        ACP_PERMISSION_WAIT_DURATION = "acp.permission.wait.duration";
    }
    "ACP, file system", "https://agentclientprotocol.com/protocol/v1/file-system" {
        /// The file, with content capture only.
        ACP_FS_PATH = "acp.fs.path";
    }
    "ACP, terminals", "https://agentclientprotocol.com/protocol/v1/terminals" {
        /// The command line, with content capture only.
        ACP_TERMINAL_COMMAND = "acp.terminal.command";
    }
    "ACP, session setup", "https://agentclientprotocol.com/protocol/v1/session-setup" {
        /// Updates that `session/load`, `session/resume` or `session/fork` replayed: they happened before, so they make no
        /// spans.
        ACP_SESSION_REPLAYED_UPDATES = "acp.session.replayed_updates";
        /// The session that `session/fork` made of another.
        ACP_SESSION_FORK_ID = "acp.session.fork.id";
    }
    "ACP, subagents (unstable)", "https://agentclientprotocol.com/protocol/v1/draft/schema#subagentupdate" {
        /// The session that owns the subagent's.
        ACP_SESSION_PARENT_ID = "acp.session.parent.id";
        /// What the subagent is called, see [`Policy::titles`](crate::Policy::titles).
        ACP_SUBAGENT_TITLE = "acp.subagent.title";
    }
    "Link", "https://opentelemetry.io/docs/specs/otel/trace/api/#link" {
        /// On links of spans: why, one of [`link`].
        ACP_LINK_REASON = "acp.link.reason";
    }
    "ACP, session modes", "https://agentclientprotocol.com/protocol/v1/session-modes" {
        /// The mode that the session is in now.
        ACP_SESSION_MODE_ID = "acp.session.mode.id";
    }
    "ACP, agent plan", "https://agentclientprotocol.com/protocol/v1/agent-plan" {
        /// How many entries the plan has.
        ACP_PLAN_ENTRIES = "acp.plan.entries";
        /// How many of them are completed.
        ACP_PLAN_COMPLETED = "acp.plan.completed";
    }
    "ACP, notices", "https://agentclientprotocol.com/protocol/v1/schema#notice" {
        /// How grave a notice is.
        ACP_NOTICE_SEVERITY = "acp.notice.severity";
    }
    "ACP, compaction", "https://agentclientprotocol.com/protocol/v1/schema#compactionupdate" {
        /// How the compaction of the context stands.
        ACP_COMPACTION_STATUS = "acp.compaction.status";
    }
}

/// Values of [`ACP_LINK_REASON`].
pub mod link {
    keys! {
        "ACP, session setup", "https://agentclientprotocol.com/protocol/v1/session-setup" {
            /// The session was loaded or resumed; the link is to its last turn.
            RESUME = "resume";
            /// The session was forked from another; the link is to the last turn of that.
            FORK = "fork";
            /// A subagent works again; the link is to what it did before.
            SUBAGENT = "subagent";
        }
    }
}

/// The names of events.
pub mod event {
    keys! {
        "inference operation details, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/gen-ai-events.md" {
            /// The content of a turn, see [`content`](crate::content).
            INFERENCE_DETAILS = "gen_ai.client.inference.operation.details";
        }
        "Event", "https://opentelemetry.io/docs/specs/otel/trace/api/#add-events" {
            /// The content of another span, see [`content`](crate::content); this crate's own.
            DETAILS = "acp.details";
        }
        "MCP, cancellation", "https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation" {
            /// The sender of an MCP request told that it does not wait any more.
            MCP_CANCELLED = "mcp.cancelled";
        }
        "ACP, prompt turn", "https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation" {
            /// The client asked to cancel the turn.
            SESSION_CANCEL = "acp.session.cancel";
        }
        "ACP, cancellation", "https://agentclientprotocol.com/protocol/v1/cancellation" {
            /// The sender of the request asked to cancel it.
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
            /// The agent told the user something outside the conversation.
            NOTICE = "acp.notice";
        }
        "ACP, compaction", "https://agentclientprotocol.com/protocol/v1/schema#compactionupdate" {
            /// The agent shortens its context.
            COMPACTION = "acp.compaction";
        }
    }
}

/// Values of [`ERROR_TYPE`] beside the codes of JSON-RPC.
pub mod error_type {
    keys! {
        "error attributes, v1.41.1", "https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/error.md" {
            /// A tool call failed; the word is that of the MCP conventions.
            TOOL_ERROR = "tool_error";
            /// The client went away before the answer.
            CLIENT_CLOSED = "client_closed";
            /// The agent went away before it answered.
            AGENT_EXITED = "agent_exited";
            /// The connection ended before the answer.
            CONNECTION_CLOSED = "connection_closed";
        }
    }
}

/// Values of [`ACP_TOOL_END`] and [`ACP_REQUEST_END`].
pub mod end {
    keys! {
        "ACP, prompt turn", "https://agentclientprotocol.com/protocol/v1/prompt-turn" {
            /// The agent said that the tool call was cancelled; who sent an MCP request does not wait for its answer.
            CANCELLED = "cancelled";
            /// The turn ended, and the agent had not said what became of the tool call.
            TURN_END = "turn_end";
            /// What the request belonged to ended first.
            PARENT_END = "parent_end";
            /// The sender used the id again before there was an answer.
            ID_REUSED = "id_reused";
            /// Nobody observed the end.
            OBSERVER_STOPPED = "observer_stopped";
        }
        "ACP, initialization", "https://agentclientprotocol.com/protocol/v1/initialization" {
            /// The client initialized again before the end, and the agent agreed.
            INITIALIZED_AGAIN = "initialized_again";
        }
    }
}
