//! Reasoning events: what the model thinks.
//!
//! Spec: [Reasoning, 1.0](https://ag-ui.com/spec/1.0/events/reasoning)
use crate::id::MessageId;
use alloc::string::String;
use jsonrpc_core::open_enum;

event! {
    /// Opens a reasoning span, which contains reasoning messages.
    ///
    /// Spec: [`ReasoningStartEvent`, 1.0](https://ag-ui.com/spec/1.0/schema#reasoningstartevent)
    #[doc(alias = "REASONING_START")]
    pub struct ReasoningStartEvent {
        /// Identifier of the span; a message within may share it.
        message_id: MessageId = "messageId",
    }
    attributable
}

event! {
    /// Opens a reasoning message.
    ///
    /// Spec: [`ReasoningMessageStartEvent`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#reasoningmessagestartevent)
    #[doc(alias = "REASONING_MESSAGE_START")]
    pub struct ReasoningMessageStartEvent {
        /// The message.
        message_id: MessageId = "messageId",
        /// Role of the message.
        role: ReasoningRole = "role",
    }
    attributable
}

event! {
    /// Appends to an open reasoning message.
    ///
    /// Spec: [`ReasoningMessageContentEvent`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#reasoningmessagecontentevent)
    #[doc(alias = "REASONING_MESSAGE_CONTENT")]
    pub struct ReasoningMessageContentEvent {
        /// The message.
        message_id: MessageId = "messageId",
        /// Appended text; may be empty.
        delta: String = "delta",
    }
    attributable
}

event! {
    /// Closes a reasoning message.
    ///
    /// Spec: [`ReasoningMessageEndEvent`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#reasoningmessageendevent)
    #[doc(alias = "REASONING_MESSAGE_END")]
    pub struct ReasoningMessageEndEvent {
        /// The message.
        message_id: MessageId = "messageId",
    }
    attributable
}

event! {
    /// Combines the three above: the first chunk of a message opens it, the next event of another
    /// type closes it.
    ///
    /// Spec: [The chunked form,
    /// 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming#the-chunked-form)
    #[doc(alias = "REASONING_MESSAGE_CHUNK")]
    pub struct ReasoningMessageChunkEvent {}
    optional {
        /// The message; absent for the open one.
        message_id: MessageId = "messageId",
        /// Appended text; may be empty.
        delta: String = "delta",
    }
    attributable
}

event! {
    /// Closes a reasoning span.
    ///
    /// Spec: [`ReasoningEndEvent`, 1.0](https://ag-ui.com/spec/1.0/schema#reasoningendevent)
    #[doc(alias = "REASONING_END")]
    pub struct ReasoningEndEvent {
        /// Identifier of the span.
        message_id: MessageId = "messageId",
    }
    attributable
}

event! {
    /// A provider's encrypted reasoning, which the application stores and returns.
    ///
    /// Spec: [`ReasoningEncryptedValueEvent`,
    /// 1.0](https://ag-ui.com/spec/1.0/events/reasoning#reasoning_encrypted_value)
    #[doc(alias = "REASONING_ENCRYPTED_VALUE")]
    pub struct ReasoningEncryptedValueEvent {
        /// The kind of entity that `entityId` identifies.
        subtype: ReasoningEncryptedValueSubtype = "subtype",
        /// The message or tool call that the value belongs to.
        entity_id: String = "entityId",
        /// The encrypted value, opaque.
        encrypted_value: String = "encryptedValue",
    }
    optional {
        /// Kind of the encrypted value, defined by the producer. New in 1.1.
        encrypted_value_type: String = "encryptedValueType",
    }
    attributable
}

open_enum! {
    /// The kind of entity that an encrypted value belongs to.
    ///
    /// Spec: [`ReasoningEncryptedValueSubtype`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#reasoningencryptedvaluesubtype)
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
    /// Spec: [`ReasoningMessageStartEvent.role`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#reasoningmessagestartevent)
    pub enum ReasoningRole {
        /// Reasoning.
        Reasoning = "reasoning",
    }
}
