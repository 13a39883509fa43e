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
    /// A message.
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
        /// What the agent said and called.
        Assistant(AssistantMessage) = "assistant",
        /// What the user said.
        User(UserMessage) = "user",
        /// What a tool gave back.
        Tool(ToolMessage) = "tool",
        /// Progress to be shown; never sent to an agent.
        Activity(ActivityMessage) = "activity",
        /// What the model thought.
        Reasoning(ReasoningMessage) = "reasoning",
    }
}

impl Message {
    /// The message's identifier; that of an unknown role where it has one.
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

    /// The subagent's invocation that it belongs to; nothing for the agent itself and for unknown roles.
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
        /// Names the message.
        id: MessageId = "id",
        /// The text.
        content: String = "content",
    }
    optional {
        /// Who speaks, where there are several.
        name: String = "name",
        /// A provider's reasoning in its own cipher, to be given back as it is.
        encrypted_value: String = "encryptedValue",
        /// What kind of value that is, in the producer's words; new in 1.1.
        encrypted_value_type: String = "encryptedValueType",
        /// What was added on the way.
        metadata: Metadata = "metadata",
        /// The subagent's invocation that it belongs to.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
}

object! {
    /// Instructions of the system.
    ///
    /// Spec: [`SystemMessage`, 1.0](https://ag-ui.com/spec/1.0/schema#systemmessage)
    pub struct SystemMessage {
        /// Names the message.
        id: MessageId = "id",
        /// The text.
        content: String = "content",
    }
    optional {
        /// Who speaks, where there are several.
        name: String = "name",
        /// A provider's reasoning in its own cipher, to be given back as it is.
        encrypted_value: String = "encryptedValue",
        /// What kind of value that is, in the producer's words; new in 1.1.
        encrypted_value_type: String = "encryptedValueType",
        /// What was added on the way.
        metadata: Metadata = "metadata",
        /// The subagent's invocation that it belongs to.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
}

object! {
    /// What the agent said, and which tools it called.
    ///
    /// Spec: [`AssistantMessage`, 1.0](https://ag-ui.com/spec/1.0/schema#assistantmessage)
    pub struct AssistantMessage {
        /// Names the message.
        id: MessageId = "id",
    }
    optional {
        /// The text.
        content: String = "content",
        /// The calls, in the order they were made.
        tool_calls: Vec<ToolCall> = "toolCalls",
        /// Who speaks, where there are several.
        name: String = "name",
        /// A provider's reasoning in its own cipher, to be given back as it is.
        encrypted_value: String = "encryptedValue",
        /// What kind of value that is, in the producer's words; new in 1.1.
        encrypted_value_type: String = "encryptedValueType",
        /// What was added on the way.
        metadata: Metadata = "metadata",
        /// The subagent's invocation that it belongs to.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
}

object! {
    /// What the user said.
    ///
    /// Spec: [`UserMessage`, 1.0](https://ag-ui.com/spec/1.0/schema#usermessage)
    pub struct UserMessage {
        /// Names the message.
        id: MessageId = "id",
        /// A text, or parts.
        content: Content = "content",
    }
    optional {
        /// Who speaks, where there are several.
        name: String = "name",
        /// A provider's reasoning in its own cipher, to be given back as it is.
        encrypted_value: String = "encryptedValue",
        /// What kind of value that is, in the producer's words; new in 1.1.
        encrypted_value_type: String = "encryptedValueType",
        /// What was added on the way.
        metadata: Metadata = "metadata",
        /// The subagent's invocation that it belongs to.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
}

object! {
    /// What a tool gave back.
    ///
    /// Spec: [`ToolMessage`, 1.0](https://ag-ui.com/spec/1.0/schema#toolmessage)
    pub struct ToolMessage {
        /// Names the message.
        id: MessageId = "id",
        /// A text, or parts.
        content: Content = "content",
        /// The call that it answers.
        tool_call_id: ToolCallId = "toolCallId",
    }
    optional {
        /// What went wrong, where something did.
        error: String = "error",
        /// A provider's reasoning in its own cipher, to be given back as it is.
        encrypted_value: String = "encryptedValue",
        /// What kind of value that is, in the producer's words; new in 1.1.
        encrypted_value_type: String = "encryptedValueType",
        /// What was added on the way.
        metadata: Metadata = "metadata",
        /// The subagent's invocation that it belongs to.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
}

object! {
    /// Progress that the application shows in its own way.
    ///
    /// Spec: [`ActivityMessage`, 1.0](https://ag-ui.com/spec/1.0/schema#activitymessage)
    pub struct ActivityMessage {
        /// Names the message.
        id: MessageId = "id",
        /// What kind of progress, as an open string.
        activity_type: String = "activityType",
        /// An object, open by key.
        content: Extra = "content",
    }
    optional {
        /// What was added on the way.
        metadata: Metadata = "metadata",
        /// The subagent's invocation that it belongs to.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
}

object! {
    /// What the model thought.
    ///
    /// Spec: [`ReasoningMessage`, 1.0](https://ag-ui.com/spec/1.0/schema#reasoningmessage)
    pub struct ReasoningMessage {
        /// Names the message.
        id: MessageId = "id",
        /// The text.
        content: String = "content",
    }
    optional {
        /// A provider's reasoning in its own cipher, to be given back as it is.
        encrypted_value: String = "encryptedValue",
        /// What kind of value that is, in the producer's words; new in 1.1.
        encrypted_value_type: String = "encryptedValueType",
        /// What was added on the way.
        metadata: Metadata = "metadata",
        /// The subagent's invocation that it belongs to.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
}
