//! Text messages.
//!
//! Spec: [Text Messages, 1.0](https://ag-ui.com/spec/1.0/events/text-messages)
use crate::id::MessageId;
use alloc::string::String;
use jsonrpc_core::open_enum;

event! {
    /// Opens a text message.
    ///
    /// A closed message may be opened again, with the same role, name and owner; what follows is appended.
    ///
    /// Spec: [`TextMessageStartEvent`, 1.0](https://ag-ui.com/spec/1.0/events/text-messages#text_message_start)
    pub struct TextMessageStartEvent {
        /// The message.
        message_id: MessageId = "messageId",
    }
    optional {
        /// Whose message it is; absent means the assistant's.
        role: TextMessageRole = "role",
        /// Who speaks, where there are several.
        name: String = "name",
    }
    attributable
}

event! {
    /// Appends to an open text message.
    ///
    /// Spec: [`TextMessageContentEvent`, 1.0](https://ag-ui.com/spec/1.0/events/text-messages#text_message_content)
    pub struct TextMessageContentEvent {
        /// The message.
        message_id: MessageId = "messageId",
        /// What is appended; may be empty.
        delta: String = "delta",
    }
    attributable
}

event! {
    /// Closes a text message.
    ///
    /// Spec: [`TextMessageEndEvent`, 1.0](https://ag-ui.com/spec/1.0/events/text-messages#text_message_end)
    pub struct TextMessageEndEvent {
        /// The message.
        message_id: MessageId = "messageId",
    }
    attributable
}

event! {
    /// Stands for the three others: the first of a message opens it, the next event of another kind closes it.
    ///
    /// Spec: [The chunked form, 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming#the-chunked-form)
    pub struct TextMessageChunkEvent {}
    optional {
        /// The message; absent for the one that is open.
        message_id: MessageId = "messageId",
        /// Whose message it is; absent on the first means the assistant's.
        role: TextMessageRole = "role",
        /// What is appended; may be empty.
        delta: String = "delta",
        /// Who speaks, where there are several.
        name: String = "name",
    }
    attributable
}

open_enum! {
    /// Whose text message it is.
    ///
    /// Spec: [`TextMessageRole`, 1.0](https://ag-ui.com/spec/1.0/schema#textmessagerole)
    pub enum TextMessageRole {
        /// The application's developer.
        Developer = "developer",
        /// The system.
        System = "system",
        /// The agent.
        Assistant = "assistant",
        /// The user.
        User = "user",
    }
}
