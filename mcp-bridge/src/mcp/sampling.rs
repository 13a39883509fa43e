//! Requests of a server to the model that its client has.
//!
//! Spec: [Sampling](https://modelcontextprotocol.io/specification/2026-07-28/client/sampling) (2026-07-28, deprecated
//! there), [the same](https://modelcontextprotocol.io/specification/2025-11-25/client/sampling) (2025-11-25)
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
    /// Up to 2025-11-25 it is a request of the server; from 2026-07-28 on it is one of the
    /// [`input_requests`](super::mrtr::InputRequiredResult::input_requests) of a result.
    ///
    /// Spec: [`CreateMessageRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#createmessagerequestparams)
    pub struct CreateMessageRequestParams {
        /// The conversation so far.
        messages: Vec<SamplingMessage> = "messages",
        /// The most tokens that the model may answer with.
        max_tokens: Number = "maxTokens",
    }
    optional {
        /// Which model would be best; the client chooses.
        model_preferences: ModelPreferences = "modelPreferences",
        /// What the model is told first; the client may change it.
        system_prompt: String = "systemPrompt",
        /// Of which servers the context is wanted as well. All but `none` are deprecated.
        include_context: IncludeContext = "includeContext",
        /// How much chance is in the answer.
        temperature: Number = "temperature",
        /// What ends the answer when the model writes it.
        stop_sequences: Vec<String> = "stopSequences",
        /// For the provider of the model: an object, kept as text.
        metadata: Raw = "metadata",
        /// The tools that the model may ask for, as they came; [`tools`](Self::tools) reads them. From 2025-11-25 on.
        raw_tools: Vec<Raw> = "tools",
        /// Whether it has to. From 2025-11-25 on.
        tool_choice: ToolChoice = "toolChoice",
        /// Asks for a task instead of an answer. In 2025-11-25 only.
        task: TaskMetadata = "task",
    }
    and "_meta"
}

impl CreateMessageRequestParams {
    /// Reads each tool on its own, with its index in the list.
    pub fn tools(&self) -> impl Iterator<Item = (usize, Result<Tool, DecodeError>)> {
        self.raw_tools.iter().flatten().map(Raw::decode).enumerate()
    }
}

object! {
    /// Something said to the model, or by it.
    ///
    /// Spec: [`SamplingMessage`](https://modelcontextprotocol.io/specification/2026-07-28/schema#samplingmessage)
    pub struct SamplingMessage {
        /// Who says it.
        role: Role = "role",
        /// What is said.
        content: SamplingContent = "content",
    }
    and "_meta"
}

/// What a message says: one block, or several; several from 2025-11-25 on.
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
pub enum SamplingContent {
    /// A block by itself.
    One(SamplingMessageContentBlock),
    /// A list of blocks.
    Many(Vec<SamplingMessageContentBlock>),
}

impl SamplingContent {
    /// The blocks, in order.
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
            _ => return Err(reader.expected("a content block or a list of them")),
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
    /// One part of a message.
    ///
    /// Spec: [`SamplingMessageContentBlock`](https://modelcontextprotocol.io/specification/2026-07-28/schema#samplingmessagecontentblock)
    pub enum SamplingMessageContentBlock by "type" {
        /// Text.
        Text(TextContent) = "text",
        /// An image.
        Image(MediaContent) = "image" [shared],
        /// A sound.
        Audio(MediaContent) = "audio" [shared],
        /// The model asks for a tool. From 2025-11-25 on.
        ToolUse(ToolUseContent) = "tool_use",
        /// What the tool gave. From 2025-11-25 on.
        ToolResult(ToolResultContent) = "tool_result",
    }
}

object! {
    /// The model asks for a tool.
    ///
    /// Spec: [`ToolUseContent`](https://modelcontextprotocol.io/specification/2026-07-28/schema#toolusecontent)
    pub struct ToolUseContent {
        /// Names the call.
        id: String = "id",
        /// Which tool.
        name: String = "name",
        /// The arguments: an object, kept as text.
        input: Raw = "input",
    }
    and "_meta"
}

object! {
    /// What a tool gave that the model asked for.
    ///
    /// Spec: [`ToolResultContent`](https://modelcontextprotocol.io/specification/2026-07-28/schema#toolresultcontent)
    pub struct ToolResultContent {
        /// Which call.
        tool_use_id: String = "toolUseId",
        /// For the model.
        content: Vec<ContentBlock> = "content",
    }
    optional {
        /// The tool failed; `content` says how.
        is_error: bool = "isError",
    }
    patch {
        /// For programs, as the tool's output schema says: an object up to 2025-11-25, any JSON since, `null` too.
        structured_content: Raw = "structuredContent",
    }
    and "_meta"
}

object! {
    /// Which model would be best; the client chooses.
    ///
    /// Spec: [`ModelPreferences`](https://modelcontextprotocol.io/specification/2026-07-28/schema#modelpreferences)
    pub struct ModelPreferences {}
    optional {
        /// Names that a good one has in its own; the first that fits counts.
        hints: Vec<ModelHint> = "hints",
        /// How much a low price counts, from 0 to 1.
        cost_priority: Number = "costPriority",
        /// How much a quick answer counts, from 0 to 1.
        speed_priority: Number = "speedPriority",
        /// How much ability counts, from 0 to 1.
        intelligence_priority: Number = "intelligencePriority",
    }
}

object! {
    /// What a good model is like.
    ///
    /// Spec: [`ModelHint`](https://modelcontextprotocol.io/specification/2026-07-28/schema#modelhint)
    pub struct ModelHint {}
    optional {
        /// A part of its name, such as `sonnet`.
        name: String = "name",
    }
}

open_enum! {
    /// Of which servers the context is wanted as well.
    ///
    /// Spec: [`CreateMessageRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#createmessagerequestparams)
    pub enum IncludeContext {
        /// Of none.
        None = "none",
        /// Of the one that asks. Deprecated.
        ThisServer = "thisServer",
        /// Of all. Deprecated.
        AllServers = "allServers",
    }
}

object! {
    /// Whether the model has to ask for a tool.
    ///
    /// Spec: [`ToolChoice`](https://modelcontextprotocol.io/specification/2026-07-28/schema#toolchoice)
    pub struct ToolChoice {}
    optional {
        /// Whether it has to; absent means `auto`.
        mode: ToolChoiceMode = "mode",
    }
}

open_enum! {
    /// Whether the model has to ask for a tool.
    ///
    /// Spec: [`ToolChoice`](https://modelcontextprotocol.io/specification/2026-07-28/schema#toolchoice)
    pub enum ToolChoiceMode {
        /// It decides.
        Auto = "auto",
        /// It has to.
        Required = "required",
        /// It must not.
        None = "none",
    }
}

object! {
    /// What the model said: the result of `sampling/createMessage`.
    ///
    /// Spec: [`CreateMessageResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#createmessageresult)
    pub struct CreateMessageResult {
        /// Who says it: the model.
        role: Role = "role",
        /// What it says.
        content: SamplingContent = "content",
        /// Which model.
        model: String = "model",
    }
    optional {
        /// Why it stopped.
        stop_reason: StopReason = "stopReason",
    }
    and "_meta"
}

open_enum! {
    /// Why a model stopped. The list is open: providers have reasons of their own.
    ///
    /// Spec: [`CreateMessageResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#createmessageresult)
    pub enum StopReason {
        /// It finished.
        EndTurn = "endTurn",
        /// It wrote a stop sequence.
        StopSequence = "stopSequence",
        /// The token limit was reached.
        MaxTokens = "maxTokens",
        /// It asks for a tool. From 2025-11-25 on.
        ToolUse = "toolUse",
    }
}
