//! Text message events.
//!
//! Spec: [Text Messages, 1.0](https://ag-ui.com/spec/1.0/events/text-messages)
use crate::id::MessageId;
use alloc::string::String;
use jsonrpc_core::open_enum;

event! {
    /// Opens a text message.
    ///
    /// A closed message may be opened again, with the same role, name and owner. Later deltas are
    /// appended to it.
    ///
    /// Spec: [`TextMessageStartEvent`,
    /// 1.0](https://ag-ui.com/spec/1.0/events/text-messages#text_message_start)
    #[doc(alias = "TEXT_MESSAGE_START")]
    pub struct TextMessageStartEvent {
        /// The message.
        message_id: MessageId = "messageId",
    }
    optional {
        /// Role of the author; absent means `assistant`.
        role: TextMessageRole = "role",
        /// Name of the author, where several share the role.
        name: String = "name",
    }
    attributable
}

event! {
    /// Appends to an open text message.
    ///
    /// Spec: [`TextMessageContentEvent`,
    /// 1.0](https://ag-ui.com/spec/1.0/events/text-messages#text_message_content)
    #[doc(alias = "TEXT_MESSAGE_CONTENT")]
    pub struct TextMessageContentEvent {
        /// The message.
        message_id: MessageId = "messageId",
        /// Appended text; may be empty.
        delta: String = "delta",
    }
    attributable
}

event! {
    /// Closes a text message.
    ///
    /// Spec: [`TextMessageEndEvent`,
    /// 1.0](https://ag-ui.com/spec/1.0/events/text-messages#text_message_end)
    #[doc(alias = "TEXT_MESSAGE_END")]
    pub struct TextMessageEndEvent {
        /// The message.
        message_id: MessageId = "messageId",
    }
    attributable
}

event! {
    /// Combines the three others: the first chunk of a message opens it, the next event of another
    /// type closes it.
    ///
    /// Spec: [The chunked form,
    /// 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming#the-chunked-form)
    #[doc(alias = "TEXT_MESSAGE_CHUNK")]
    pub struct TextMessageChunkEvent {}
    optional {
        /// The message; absent for the open one.
        message_id: MessageId = "messageId",
        /// Role of the author; absent on the first chunk means `assistant`.
        role: TextMessageRole = "role",
        /// Appended text; may be empty.
        delta: String = "delta",
        /// Name of the author, where several share the role.
        name: String = "name",
    }
    attributable
}

open_enum! {
    /// The role of a text message's author.
    ///
    /// Spec: [`TextMessageRole`, 1.0](https://ag-ui.com/spec/1.0/schema#textmessagerole)
    pub enum TextMessageRole {
        /// Developer of the application.
        Developer = "developer",
        /// The system.
        System = "system",
        /// The agent.
        Assistant = "assistant",
        /// The user.
        User = "user",
    }
}
