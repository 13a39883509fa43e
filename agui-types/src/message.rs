//! Messages of a conversation, by role.
//!
//! Spec: [Messages, 1.0](https://ag-ui.com/spec/1.0/basic/run-input#messages)
use crate::Metadata;
use crate::content::Content;
use crate::id::{MessageId, SubagentRunId, ToolCallId};
use crate::tool::ToolCall;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Extra;
use jsonrpc_core::{object, open_union};

open_union! {
    /// A message of a conversation.
    ///
    /// ```
    /// use agui_types::message::Message;
    ///
    /// let message: Message = serde_json::from_str(r#"{"id":"u1","role":"user","content":"Hi"}"#)?;
    /// let Message::User(user) = &message else { panic!("not the user's") };
    /// assert_eq!((user.id.as_str(), user.content.text().as_str()), ("u1", "Hi"));
    /// assert_eq!(message.tag(), "user");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// Spec: [`Message`, 1.0](https://ag-ui.com/spec/1.0/schema#message)
    pub enum Message by "role" {
        /// Instructions of the application's developer.
        Developer(DeveloperMessage) = "developer",
        /// Instructions of the system.
        System(SystemMessage) = "system",
        /// Output of the agent: text and tool calls.
        Assistant(AssistantMessage) = "assistant",
        /// Input of the user.
        User(UserMessage) = "user",
        /// Result of a tool call.
        Tool(ToolMessage) = "tool",
        /// Progress for display; never sent to an agent.
        Activity(ActivityMessage) = "activity",
        /// Reasoning of the model.
        Reasoning(ReasoningMessage) = "reasoning",
    }
}

impl Message {
    /// Returns the identifier; of an unknown role, its `id` member if present.
    pub fn id(&self) -> Option<MessageId> {
        match self {
            Self::Developer(message) => Some(message.id.clone()),
            Self::System(message) => Some(message.id.clone()),
            Self::Assistant(message) => Some(message.id.clone()),
            Self::User(message) => Some(message.id.clone()),
            Self::Tool(message) => Some(message.id.clone()),
            Self::Activity(message) => Some(message.id.clone()),
            Self::Reasoning(message) => Some(message.id.clone()),
            Self::Unknown(message) => message.members().get("id")?.decode().ok(),
        }
    }

    /// Returns the subagent invocation that the message belongs to; `None` for the agent itself and
    /// for unknown roles.
    pub fn subagent_run_id(&self) -> Option<&SubagentRunId> {
        match self {
            Self::Developer(message) => message.subagent_run_id.as_ref(),
            Self::System(message) => message.subagent_run_id.as_ref(),
            Self::Assistant(message) => message.subagent_run_id.as_ref(),
            Self::User(message) => message.subagent_run_id.as_ref(),
            Self::Tool(message) => message.subagent_run_id.as_ref(),
            Self::Activity(message) => message.subagent_run_id.as_ref(),
            Self::Reasoning(message) => message.subagent_run_id.as_ref(),
            Self::Unknown(_) => None,
        }
    }
}

object! {
    /// Instructions of the application's developer.
    ///
    /// Spec: [`DeveloperMessage`, 1.0](https://ag-ui.com/spec/1.0/schema#developermessage)
    pub struct DeveloperMessage {
        /// Identifier of the message.
        id: MessageId = "id",
        /// The text.
        content: String = "content",
    }
    optional {
        /// Name of the author, where several share the role.
        name: String = "name",
        /// A provider's encrypted reasoning, returned to it unchanged.
        encrypted_value: String = "encryptedValue",
        /// Kind of the encrypted value, defined by the producer. New in 1.1.
        encrypted_value_type: String = "encryptedValueType",
        /// Metadata of producers and applications.
        metadata: Metadata = "metadata",
        /// The subagent invocation that the message belongs to.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
}

object! {
    /// Instructions of the system.
    ///
    /// Spec: [`SystemMessage`, 1.0](https://ag-ui.com/spec/1.0/schema#systemmessage)
    pub struct SystemMessage {
        /// Identifier of the message.
        id: MessageId = "id",
        /// The text.
        content: String = "content",
    }
    optional {
        /// Name of the author, where several share the role.
        name: String = "name",
        /// A provider's encrypted reasoning, returned to it unchanged.
        encrypted_value: String = "encryptedValue",
        /// Kind of the encrypted value, defined by the producer. New in 1.1.
        encrypted_value_type: String = "encryptedValueType",
        /// Metadata of producers and applications.
        metadata: Metadata = "metadata",
        /// The subagent invocation that the message belongs to.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
}

object! {
    /// Output of the agent: text and tool calls.
    ///
    /// Spec: [`AssistantMessage`, 1.0](https://ag-ui.com/spec/1.0/schema#assistantmessage)
    pub struct AssistantMessage {
        /// Identifier of the message.
        id: MessageId = "id",
    }
    optional {
        /// The text.
        content: String = "content",
        /// The tool calls, in order of creation.
        tool_calls: Vec<ToolCall> = "toolCalls",
        /// Name of the author, where several share the role.
        name: String = "name",
        /// A provider's encrypted reasoning, returned to it unchanged.
        encrypted_value: String = "encryptedValue",
        /// Kind of the encrypted value, defined by the producer. New in 1.1.
        encrypted_value_type: String = "encryptedValueType",
        /// Metadata of producers and applications.
        metadata: Metadata = "metadata",
        /// The subagent invocation that the message belongs to.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
}

object! {
    /// Input of the user.
    ///
    /// Spec: [`UserMessage`, 1.0](https://ag-ui.com/spec/1.0/schema#usermessage)
    pub struct UserMessage {
        /// Identifier of the message.
        id: MessageId = "id",
        /// A string, or content parts.
        content: Content = "content",
    }
    optional {
        /// Name of the author, where several share the role.
        name: String = "name",
        /// A provider's encrypted reasoning, returned to it unchanged.
        encrypted_value: String = "encryptedValue",
        /// Kind of the encrypted value, defined by the producer. New in 1.1.
        encrypted_value_type: String = "encryptedValueType",
        /// Metadata of producers and applications.
        metadata: Metadata = "metadata",
        /// The subagent invocation that the message belongs to.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
}

object! {
    /// Result of a tool call.
    ///
    /// Spec: [`ToolMessage`, 1.0](https://ag-ui.com/spec/1.0/schema#toolmessage)
    pub struct ToolMessage {
        /// Identifier of the message.
        id: MessageId = "id",
        /// A string, or content parts.
        content: Content = "content",
        /// The call that is answered.
        tool_call_id: ToolCallId = "toolCallId",
    }
    optional {
        /// Error message, if the call failed.
        error: String = "error",
        /// A provider's encrypted reasoning, returned to it unchanged.
        encrypted_value: String = "encryptedValue",
        /// Kind of the encrypted value, defined by the producer. New in 1.1.
        encrypted_value_type: String = "encryptedValueType",
        /// Metadata of producers and applications.
        metadata: Metadata = "metadata",
        /// The subagent invocation that the message belongs to.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
}

object! {
    /// Progress that the application displays in a form of its own.
    ///
    /// Spec: [`ActivityMessage`, 1.0](https://ag-ui.com/spec/1.0/schema#activitymessage)
    pub struct ActivityMessage {
        /// Identifier of the message.
        id: MessageId = "id",
        /// Type of the activity, an open string.
        activity_type: String = "activityType",
        /// The content: an object, open by key.
        content: Extra = "content",
    }
    optional {
        /// Metadata of producers and applications.
        metadata: Metadata = "metadata",
        /// The subagent invocation that the message belongs to.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
}

object! {
    /// Reasoning of the model.
    ///
    /// Spec: [`ReasoningMessage`, 1.0](https://ag-ui.com/spec/1.0/schema#reasoningmessage)
    pub struct ReasoningMessage {
        /// Identifier of the message.
        id: MessageId = "id",
        /// The text.
        content: String = "content",
    }
    optional {
        /// A provider's encrypted reasoning, returned to it unchanged.
        encrypted_value: String = "encryptedValue",
        /// Kind of the encrypted value, defined by the producer. New in 1.1.
        encrypted_value_type: String = "encryptedValueType",
        /// Metadata of producers and applications.
        metadata: Metadata = "metadata",
        /// The subagent invocation that the message belongs to.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
}
