//! Messages between a chat page and its server.
//!
//! | type | receiver | meaning |
//! |---|---|---|
//! | `message` | server | message of the user |
//! | `token` | page | part of the answer |
//! | `tool_start` | page | a tool call started |
//! | `tool_complete` | page | a tool call ended |
//! | `complete` | page | the answer is complete |
//! | `error` | page | an error occurred |
//!
//! `source` is a later addition to `tool_start` and `tool_complete`. It is optional, its absence
//! means `local`, and older pages ignore it.
use jsonrpc_core::{object, open_union};
use mcp_bridge::registry::ToolSourceName;

open_union! {
    /// A message from a page.
    pub enum ClientMessage by "type" {
        /// Message of the user.
        Message(ClientChatMessage) = "message",
    }
}

object! {
    /// Message of the user.
    pub struct ClientChatMessage by name {
        /// Id of the conversation.
        conversation_id: String = "conversation_id",
        /// Text of the message.
        content: String = "content",
    }
}

open_union! {
    /// A message to a page.
    pub enum ServerMessage by "type" {
        /// Part of the answer.
        Token(ServerTokenMessage) = "token",
        /// The answer is complete.
        Complete(ServerCompleteMessage) = "complete",
        /// A tool call started.
        ToolStart(ServerToolStartMessage) = "tool_start",
        /// A tool call ended.
        ToolComplete(ServerToolCompleteMessage) = "tool_complete",
        /// An error occurred.
        Error(ServerErrorMessage) = "error",
    }
}

object! {
    /// Part of the answer.
    pub struct ServerTokenMessage {
        /// The text.
        content: String = "content",
    }
}

object! {
    /// End of an answer.
    pub struct ServerCompleteMessage by name {
        /// Id of the answer.
        message_id: String = "message_id",
        /// Id of the conversation.
        conversation_id: String = "conversation_id",
    }
}

object! {
    /// Start of a tool call.
    pub struct ServerToolStartMessage by name {
        /// Name of the tool.
        tool_name: String = "tool_name",
        /// The arguments as JSON text.
        tool_input: String = "tool_input",
        /// Time of the start, ISO 8601.
        timestamp: String = "timestamp",
    }
    optional {
        /// Source of the tool. Absent means `local`.
        source: ToolSourceName = "source",
    }
}

object! {
    /// End of a tool call.
    pub struct ServerToolCompleteMessage by name {
        /// Name of the tool.
        tool_name: String = "tool_name",
        /// The result as text.
        tool_result: String = "tool_result",
        /// Time of the end, ISO 8601.
        timestamp: String = "timestamp",
    }
    optional {
        /// Source of the tool. Absent means `local`.
        source: ToolSourceName = "source",
    }
}

object! {
    /// An error.
    pub struct ServerErrorMessage {
        /// Human-readable message.
        message: String = "message",
    }
    optional {
        /// Error code.
        code: String = "code",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonrpc_core::wire;
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::{Map, Value};

    /// Type, required members and optional members of each message, and of a newer one.
    const MESSAGES: [(&str, &[&str], &[&str]); 7] = [
        ("message", &["conversation_id", "content"], &[]),
        ("token", &["content"], &[]),
        ("complete", &["message_id", "conversation_id"], &[]),
        ("tool_start", &["tool_name", "tool_input", "timestamp"], &["source"]),
        ("tool_complete", &["tool_name", "tool_result", "timestamp"], &["source"]),
        ("error", &["message"], &["code"]),
        ("newer", &["text"], &["more"]),
    ];

    /// A string, `null`, or no member.
    fn optional() -> impl Strategy<Value = Option<Value>> {
        prop_oneof![
            Just(None),
            Just(Some(Value::Null)),
            any::<String>().prop_map(|text| Some(text.into())),
        ]
    }

    proptest! {
        /// Decoding and encoding gives the same JSON value.
        #[test]
        fn messages_round_trip(
            (tag, required, optional_names) in select(&MESSAGES[..]),
            texts in prop::collection::vec(any::<String>(), 3),
            value in optional(),
            unknown in optional(),
        ) {
            let mut members = Map::from_iter([("type".to_owned(), Value::from(tag))]);
            members.extend(required.iter().map(|name| (*name).to_owned()).zip(texts.into_iter().map(Value::from)));
            members.extend(optional_names.iter().map(|name| (*name).to_owned()).zip(value));
            members.extend(unknown.map(|value| ("unknown".to_owned(), value)));
            let expected = Value::Object(members);
            let text = expected.to_string();
            let encoded = if tag == "message" {
                serde_json::to_value(wire::decode::<ClientMessage>(&text).expect(&text))
            } else {
                serde_json::to_value(wire::decode::<ServerMessage>(&text).expect(&text))
            };
            prop_assert_eq!(encoded.expect("JSON"), expected);
        }
    }

    /// Messages from before the member `source` existed.
    #[test]
    fn messages_without_a_source_are_decoded() {
        let old = r#"{"type":"tool_start","tool_name":"add","tool_input":"{\"a\":1}","timestamp":"2026-01-02T03:04:05.678901"}"#;
        let read: ServerMessage = wire::decode(old).expect("a message");
        assert!(matches!(&read, ServerMessage::ToolStart(start) if start.source.is_none()));
        assert_eq!(serde_json::to_string(&read).expect("JSON"), old);
    }
}
