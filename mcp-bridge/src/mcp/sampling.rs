//! Sampling: requests of a server to the model of the client.
//!
//! Spec: [Sampling](https://modelcontextprotocol.io/specification/2026-07-28/client/sampling)
//! (2026-07-28, deprecated there), [the
//! same](https://modelcontextprotocol.io/specification/2025-11-25/client/sampling) (2025-11-25)
use super::content::{ContentBlock, MediaContent, Role, TextContent};
use super::tasks::TaskMetadata;
use super::tools::Tool;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Fault, Raw, ValueReader, View, Wire};
use jsonrpc_core::{object, open_enum, open_union};
use serde_json::Number;

object! {
    /// The params of `sampling/createMessage`.
    ///
    /// Up to 2025-11-25 the server sends it as a request. Since 2026-07-28 it is one of the
    /// [`input_requests`](super::mrtr::InputRequiredResult::input_requests) of a result.
    ///
    /// Spec: [`CreateMessageRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#createmessagerequestparams)
    #[doc(alias = "sampling/createMessage")]
    pub struct CreateMessageRequestParams {
        /// The conversation so far.
        messages: Vec<SamplingMessage> = "messages",
        /// Maximum number of tokens to generate.
        max_tokens: Number = "maxTokens",
    }
    optional {
        /// Preferences for the choice of the model, which is up to the client.
        model_preferences: ModelPreferences = "modelPreferences",
        /// The system prompt. The client may modify it.
        system_prompt: String = "systemPrompt",
        /// Servers to include context from. All values other than `none` are deprecated.
        include_context: IncludeContext = "includeContext",
        /// Sampling temperature.
        temperature: Number = "temperature",
        /// Sequences that end the generation.
        stop_sequences: Vec<String> = "stopSequences",
        /// Metadata for the provider of the model: an object, kept as text.
        metadata: Raw = "metadata",
        /// Tools that the model may call, as received. [`tools`](Self::tools) decodes them. Since
        /// 2025-11-25.
        raw_tools: Vec<Raw> = "tools",
        /// Whether the model has to call a tool. Since 2025-11-25.
        tool_choice: ToolChoice = "toolChoice",
        /// Requests a task instead of a result. In 2025-11-25 only.
        task: TaskMetadata = "task",
    }
    and "_meta"
}

impl CreateMessageRequestParams {
    /// Decodes each tool separately and yields it with its index in the list.
    pub fn tools(&self) -> impl Iterator<Item = (usize, Result<Tool, DecodeError>)> {
        self.raw_tools.iter().flatten().map(Raw::decode).enumerate()
    }
}

object! {
    /// A message to or from the model.
    ///
    /// Spec: [`SamplingMessage`](https://modelcontextprotocol.io/specification/2026-07-28/schema#samplingmessage)
    pub struct SamplingMessage {
        /// Author of the message.
        role: Role = "role",
        /// Content of the message.
        content: SamplingContent = "content",
    }
    and "_meta"
}

/// Content of a message: a single block, or a list of blocks since 2025-11-25.
///
/// Spec: [`SamplingMessage`](https://modelcontextprotocol.io/specification/2026-07-28/schema#samplingmessage)
///
/// ```
/// use jsonrpc_core::wire;
/// use mcp_bridge::mcp::sampling::SamplingMessage;
///
/// for text in [
///     r#"{"role":"user","content":{"type":"text","text":"Hi"}}"#,
///     r#"{"role":"user","content":[{"type":"text","text":"Hi"}]}"#,
/// ] {
///     let message: SamplingMessage = wire::decode(text)?;
///     assert_eq!(message.content.blocks().len(), 1);
///     assert_eq!(serde_json::to_string(&message)?, text);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the schema has these two forms")]
pub enum SamplingContent {
    /// A single block.
    One(SamplingMessageContentBlock),
    /// A list of blocks.
    Many(Vec<SamplingMessageContentBlock>),
}

impl SamplingContent {
    /// Returns the blocks in order.
    pub fn blocks(&self) -> &[SamplingMessageContentBlock] {
        match self {
            Self::One(block) => core::slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }
}

impl From<SamplingMessageContentBlock> for SamplingContent {
    fn from(block: SamplingMessageContentBlock) -> Self {
        Self::One(block)
    }
}

impl From<Vec<SamplingMessageContentBlock>> for SamplingContent {
    fn from(blocks: Vec<SamplingMessageContentBlock>) -> Self {
        Self::Many(blocks)
    }
}

impl Wire for SamplingContent {
    fn blank() -> Self {
        Self::Many(Vec::new())
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        match reader.next_byte() {
            b'{' => {
                let mut block = SamplingMessageContentBlock::blank();
                block.read(reader)?;
                *self = Self::One(block);
            }
            b'[' => {
                let mut blocks = Vec::blank();
                blocks.read(reader)?;
                *self = Self::Many(blocks);
            }
            _ => return Err(reader.expected("a content block or a list of content blocks")),
        }
        Ok(())
    }

    fn view(&self) -> View<'_> {
        match self {
            Self::One(block) => block.view(),
            Self::Many(blocks) => blocks.view(),
        }
    }
}

object! { @serde SamplingContent }

open_union! {
    /// One block of a message.
    ///
    /// Spec: [`SamplingMessageContentBlock`](https://modelcontextprotocol.io/specification/2026-07-28/schema#samplingmessagecontentblock)
    pub enum SamplingMessageContentBlock by "type" {
        /// Text.
        Text(TextContent) = "text",
        /// An image.
        Image(MediaContent) = "image" [shared],
        /// An audio clip.
        Audio(MediaContent) = "audio" [shared],
        /// A tool call of the model. Since 2025-11-25.
        ToolUse(ToolUseContent) = "tool_use",
        /// The result of a tool call. Since 2025-11-25.
        ToolResult(ToolResultContent) = "tool_result",
    }
}

object! {
    /// A tool call of the model.
    ///
    /// Spec: [`ToolUseContent`](https://modelcontextprotocol.io/specification/2026-07-28/schema#toolusecontent)
    pub struct ToolUseContent {
        /// Id of the call.
        id: String = "id",
        /// Name of the tool.
        name: String = "name",
        /// The arguments: an object, kept as text.
        input: Raw = "input",
    }
    and "_meta"
}

object! {
    /// The result of a tool call.
    ///
    /// Spec: [`ToolResultContent`](https://modelcontextprotocol.io/specification/2026-07-28/schema#toolresultcontent)
    pub struct ToolResultContent {
        /// Id of the call.
        tool_use_id: String = "toolUseId",
        /// Content for the model.
        content: Vec<ContentBlock> = "content",
    }
    optional {
        /// Whether the call failed. `content` then describes the error.
        is_error: bool = "isError",
    }
    patch {
        /// Structured result, as described by the output schema of the tool: an object up to
        /// 2025-11-25, any JSON value including `null` since then.
        structured_content: Raw = "structuredContent",
    }
    and "_meta"
}

object! {
    /// Preferences for the choice of the model, which is up to the client.
    ///
    /// Spec: [`ModelPreferences`](https://modelcontextprotocol.io/specification/2026-07-28/schema#modelpreferences)
    pub struct ModelPreferences {}
    optional {
        /// Hints for the model name. The first match takes precedence.
        hints: Vec<ModelHint> = "hints",
        /// Importance of low cost, from 0 to 1.
        cost_priority: Number = "costPriority",
        /// Importance of low latency, from 0 to 1.
        speed_priority: Number = "speedPriority",
        /// Importance of capability, from 0 to 1.
        intelligence_priority: Number = "intelligencePriority",
    }
}

object! {
    /// A hint for the model name.
    ///
    /// Spec: [`ModelHint`](https://modelcontextprotocol.io/specification/2026-07-28/schema#modelhint)
    pub struct ModelHint {}
    optional {
        /// A part of the model name, such as `sonnet`.
        name: String = "name",
    }
}

open_enum! {
    /// Servers to include context from.
    ///
    /// Spec: [`CreateMessageRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#createmessagerequestparams)
    pub enum IncludeContext {
        /// No server.
        None = "none",
        /// The requesting server. Deprecated.
        ThisServer = "thisServer",
        /// All servers. Deprecated.
        AllServers = "allServers",
    }
}

object! {
    /// Controls tool use of the model.
    ///
    /// Spec: [`ToolChoice`](https://modelcontextprotocol.io/specification/2026-07-28/schema#toolchoice)
    pub struct ToolChoice {}
    optional {
        /// The mode. If absent, it is `auto`.
        mode: ToolChoiceMode = "mode",
    }
}

open_enum! {
    /// Mode of tool use.
    ///
    /// Spec: [`ToolChoice`](https://modelcontextprotocol.io/specification/2026-07-28/schema#toolchoice)
    pub enum ToolChoiceMode {
        /// The model decides.
        Auto = "auto",
        /// The model has to call a tool.
        Required = "required",
        /// The model must not call a tool.
        None = "none",
    }
}

object! {
    /// The result of `sampling/createMessage`.
    ///
    /// Spec: [`CreateMessageResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#createmessageresult)
    #[doc(alias = "sampling/createMessage")]
    pub struct CreateMessageResult {
        /// Author of the message, the assistant.
        role: Role = "role",
        /// Content of the message.
        content: SamplingContent = "content",
        /// Name of the model.
        model: String = "model",
    }
    optional {
        /// The reason why generation stopped.
        stop_reason: StopReason = "stopReason",
    }
    and "_meta"
}

open_enum! {
    /// The reason why generation stopped. Providers may use further values.
    ///
    /// Spec: [`CreateMessageResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#createmessageresult)
    pub enum StopReason {
        /// The model finished its turn.
        EndTurn = "endTurn",
        /// A stop sequence was generated.
        StopSequence = "stopSequence",
        /// The token limit was reached.
        MaxTokens = "maxTokens",
        /// The model calls a tool. Since 2025-11-25.
        ToolUse = "toolUse",
    }
}
