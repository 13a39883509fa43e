//! Messages of AG-UI as a chat history.
use super::{ChatMessage, ChatPart, ChatRole};
use agui_types::content::{
    BinaryPart, Content, ContentPart, DataSource, ImagePart, PartSource, TextPart,
};
use agui_types::id::MessageId;
use agui_types::message::{
    AssistantMessage, DeveloperMessage, Message, SystemMessage, ToolMessage, UserMessage,
};
use agui_types::profile::Profile;
use agui_types::tool::ToolCall;
use alloc::format;
use alloc::vec::Vec;

/// Converts a chat history to AG-UI messages, for a `MESSAGES_SNAPSHOT`.
///
/// Ids are `prefix` and the message's number, so repeated loads have the same ids. A single text
/// becomes a string, other content becomes parts. Images are `image` parts for clients of 1.0,
/// `binary` parts for older clients.
///
/// ```
/// use agui_bridge::chat_history::{ChatMessage, ChatRole, to_messages};
/// use agui_types::profile::Profile;
///
/// let history = [ChatMessage::new(ChatRole::User, "Hi")];
/// let messages = to_messages(&history, "hist-", Profile::V1);
/// assert_eq!(serde_json::to_string(&messages)?, r#"[{"role":"user","id":"hist-1","content":"Hi"}]"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn to_messages(history: &[ChatMessage], prefix: &str, profile: Profile) -> Vec<Message> {
    let restate =
        |(index, message)| restate(message, format!("{prefix}{}", index + 1_usize).into(), profile);
    history.iter().enumerate().map(restate).collect()
}

fn restate(message: &ChatMessage, id: MessageId, profile: Profile) -> Message {
    match (message.role, &message.tool_call_id) {
        (ChatRole::System, _) => Message::System(SystemMessage::new(id, message.text())),
        (ChatRole::Developer, _) => Message::Developer(DeveloperMessage::new(id, message.text())),
        (ChatRole::Assistant, _) => {
            let mut assistant = AssistantMessage::new(id);
            assistant.content = Some(message.text()).filter(|text| !text.is_empty());
            let calls = message.tool_calls.iter();
            let calls: Vec<_> = calls
                .map(|call| ToolCall::function(call.id.clone(), &*call.name, &*call.arguments))
                .collect();
            assistant.tool_calls = Some(calls).filter(|calls| !calls.is_empty());
            Message::Assistant(assistant)
        }
        (ChatRole::Tool, Some(call)) => {
            let content = match profile {
                Profile::V1 => content(&message.content, profile),
                _ => message.text().into(),
            };
            let mut tool = ToolMessage::new(id, content, call.clone());
            tool.error.clone_from(&message.error);
            Message::Tool(tool)
        }
        // A tool message without a call becomes a user message.
        (ChatRole::User | ChatRole::Tool, _) => {
            Message::User(UserMessage::new(id, content(&message.content, profile)))
        }
    }
}

fn content(parts: &[ChatPart], profile: Profile) -> Content {
    match parts {
        [] => Content::Text("".into()),
        [ChatPart::Text(text)] => Content::Text(text.clone()),
        parts => Content::Parts(parts.iter().map(|part| restate_part(part, profile)).collect()),
    }
}

fn restate_part(part: &ChatPart, profile: Profile) -> ContentPart {
    match part {
        ChatPart::Text(text) => ContentPart::Text(TextPart::new(&**text)),
        ChatPart::Image { format, data } => {
            let mime_type = format!("image/{format}");
            if profile == Profile::V1 {
                let source = PartSource::Data(DataSource::new(&**data, mime_type));
                return ContentPart::Image(ImagePart::new(source));
            }
            let mut binary = BinaryPart::new(mime_type);
            binary.data = Some(data.clone());
            ContentPart::Binary(binary)
        }
    }
}
