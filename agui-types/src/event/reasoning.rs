//! What the model thinks.
//!
//! Spec: [Reasoning, 1.0](https://ag-ui.com/spec/1.0/events/reasoning)
use crate::id::MessageId;
use alloc::string::String;
use jsonrpc_core::open_enum;

event! {
    /// Opens a stretch of reasoning, around the messages in it.
    ///
    /// Spec: [`ReasoningStartEvent`, 1.0](https://ag-ui.com/spec/1.0/schema#reasoningstartevent)
    pub struct ReasoningStartEvent {
        /// The stretch; a message within may have the same identifier.
        message_id: MessageId = "messageId",
    }
    attributable
}

event! {
    /// Opens a reasoning message.
    ///
    /// Spec: [`ReasoningMessageStartEvent`, 1.0](https://ag-ui.com/spec/1.0/schema#reasoningmessagestartevent)
    pub struct ReasoningMessageStartEvent {
        /// The message.
        message_id: MessageId = "messageId",
        /// Its role.
        role: ReasoningRole = "role",
    }
    attributable
}

event! {
    /// Appends to an open reasoning message.
    ///
    /// Spec: [`ReasoningMessageContentEvent`, 1.0](https://ag-ui.com/spec/1.0/schema#reasoningmessagecontentevent)
    pub struct ReasoningMessageContentEvent {
        /// The message.
        message_id: MessageId = "messageId",
        /// What is appended; may be empty.
        delta: String = "delta",
    }
    attributable
}

event! {
    /// Closes a reasoning message.
    ///
    /// Spec: [`ReasoningMessageEndEvent`, 1.0](https://ag-ui.com/spec/1.0/schema#reasoningmessageendevent)
    pub struct ReasoningMessageEndEvent {
        /// The message.
        message_id: MessageId = "messageId",
    }
    attributable
}

event! {
    /// Stands for the three above: the first of a message opens it, the next event of another kind closes it.
    ///
    /// Spec: [The chunked form, 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming#the-chunked-form)
    pub struct ReasoningMessageChunkEvent {}
    optional {
        /// The message; absent for the one that is open.
        message_id: MessageId = "messageId",
        /// What is appended; may be empty.
        delta: String = "delta",
    }
    attributable
}

event! {
    /// Closes a stretch of reasoning.
    ///
    /// Spec: [`ReasoningEndEvent`, 1.0](https://ag-ui.com/spec/1.0/schema#reasoningendevent)
    pub struct ReasoningEndEvent {
        /// The stretch.
        message_id: MessageId = "messageId",
    }
    attributable
}

event! {
    /// A provider's reasoning in its own cipher, which the application keeps and gives back.
    ///
    /// Spec: [`ReasoningEncryptedValueEvent`, 1.0](https://ag-ui.com/spec/1.0/events/reasoning#reasoning_encrypted_value)
    pub struct ReasoningEncryptedValueEvent {
        /// What `entityId` names.
        subtype: ReasoningEncryptedValueSubtype = "subtype",
        /// The message or tool call that it is kept with.
        entity_id: String = "entityId",
        /// The value: opaque.
        encrypted_value: String = "encryptedValue",
    }
    optional {
        /// What kind of value that is, in the producer's words; new in 1.1.
        encrypted_value_type: String = "encryptedValueType",
    }
    attributable
}

open_enum! {
    /// What an encrypted value is kept with.
    ///
    /// Spec: [`ReasoningEncryptedValueSubtype`, 1.0](https://ag-ui.com/spec/1.0/schema#reasoningencryptedvaluesubtype)
    pub enum ReasoningEncryptedValueSubtype {
        /// A tool call.
        ToolCall = "tool-call",
        /// A message.
        Message = "message",
    }
}

open_enum! {
    /// The role of a reasoning message.
    ///
    /// Spec: [`ReasoningMessageStartEvent.role`, 1.0](https://ag-ui.com/spec/1.0/schema#reasoningmessagestartevent)
    pub enum ReasoningRole {
        /// Reasoning.
        Reasoning = "reasoning",
    }
}
