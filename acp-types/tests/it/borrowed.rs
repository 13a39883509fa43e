//! What borrows from a line says what the types say: prompts of both versions, and updates of version 2. Those of version 1
//! are with the [lines](super::line).
use crate::shapes::cases;
use crate::wire_types::VERSIONS;
use acp_types::v1::borrowed::ContentBlockRef;
use acp_types::v2::borrowed::{SessionUpdateRef, UpdateSessionNotificationRef};
use acp_types::v2::prompt_lifecycle::{ContentChunk, SessionUpdate, UpdateSessionNotification};
use acp_types::{v1, v2};
use jsonrpc_core::wire::{DecodeError, Presence, decode};
use jsonrpc_core::{JsonStr, RequestId};
use proptest::prelude::*;
use proptest::sample::Index;
use std::error::Error;
use std::fmt::Display;

fn fail(error: impl Display) -> TestCaseError {
    TestCaseError::fail(error.to_string())
}

fn decoded(text: JsonStr<'_>) -> String {
    text.decode().unwrap_or_default().into_owned()
}

fn text(text: Presence<JsonStr<'_>>) -> Presence<String> {
    match text {
        Presence::Value(text) => Presence::Value(decoded(text)),
        Presence::Null => Presence::Null,
        Presence::Absent => Presence::Absent,
    }
}

/// Compares a borrowed block of a version with an owned one.
macro_rules! same_block {
    ($same_block:ident, $version:ident) => {
        fn $same_block(
            block: &ContentBlockRef<'_>,
            owned: &$version::content::ContentBlock,
        ) -> Result<(), TestCaseError> {
            use $version::content::ContentBlock;
            match (block, owned) {
                (ContentBlockRef::Text(block), ContentBlock::Text(text)) => {
                    prop_assert_eq!(decoded(block.text), &*text.text);
                }
                (ContentBlockRef::Image(block), ContentBlock::Image(image)) => {
                    let mime_type: &str = image.mime_type.as_ref();
                    prop_assert_eq!(decoded(block.data), &*image.data);
                    prop_assert_eq!(block.mime_type, mime_type);
                }
                (ContentBlockRef::Other(block), other) => {
                    prop_assert!(!matches!(other, ContentBlock::Text(_) | ContentBlock::Image(_)));
                    prop_assert_eq!(block.tag, other.tag());
                }
                other => prop_assert!(false, "{:?}", other),
            }
            prop_assert_eq!(&decode::<ContentBlock>(block.json()).map_err(fail)?, owned);
            Ok(())
        }
    };
}

same_block!(same_block_v1, v1);
same_block!(same_block_v2, v2);

/// Compares a borrowed notification with an owned one.
fn agree(
    borrowed: &UpdateSessionNotificationRef<'_>,
    owned: &UpdateSessionNotification,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(borrowed.session_id, owned.session_id.as_str());
    match (&borrowed.update, &owned.update) {
        (SessionUpdateRef::UserMessageChunk(piece), SessionUpdate::UserMessageChunk(chunk))
        | (SessionUpdateRef::AgentMessageChunk(piece), SessionUpdate::AgentMessageChunk(chunk))
        | (SessionUpdateRef::AgentThoughtChunk(piece), SessionUpdate::AgentThoughtChunk(chunk)) => {
            let ContentChunk { message_id, content, .. } = chunk;
            prop_assert_eq!(piece.message_id, message_id.as_str());
            same_block_v2(&piece.content, content)?;
        }
        (SessionUpdateRef::ToolCallUpdate(borrowed), SessionUpdate::ToolCallUpdate(call)) => {
            prop_assert_eq!(borrowed.tool_call_id, call.tool_call_id.as_str());
            prop_assert_eq!(text(borrowed.title), call.title.clone());
            prop_assert_eq!(text(borrowed.name()), call.name.clone());
            let (status, kind) = (text(borrowed.status), text(borrowed.kind()));
            prop_assert_eq!(
                status.value().map(|it| &**it),
                call.status.value().map(|it| it.as_str())
            );
            prop_assert_eq!(kind.value().map(|it| &**it), call.kind.value().map(|it| it.as_str()));
            prop_assert_eq!(borrowed.content().map_err(fail)?, call.content.clone());
            prop_assert_eq!(borrowed.locations().map_err(fail)?, call.locations.clone());
            prop_assert_eq!(
                borrowed.member("capabilities").is_some(),
                !call.capabilities.is_absent()
            );
        }
        (
            SessionUpdateRef::ToolCallContentChunk(borrowed),
            SessionUpdate::ToolCallContentChunk(chunk),
        ) => {
            prop_assert_eq!(borrowed.tool_call_id, chunk.tool_call_id.as_str());
            prop_assert_eq!(&borrowed.content().map_err(fail)?, &chunk.content);
        }
        (
            SessionUpdateRef::TerminalOutputChunk(borrowed),
            SessionUpdate::TerminalOutputChunk(chunk),
        ) => {
            prop_assert_eq!(borrowed.terminal_id, chunk.terminal_id.as_str());
            prop_assert_eq!(decoded(borrowed.data), &*chunk.data);
        }
        (SessionUpdateRef::Other(other), update) => prop_assert_eq!(other.tag, update.tag()),
        other => prop_assert!(false, "{:?}", other),
    }
    prop_assert_eq!(&borrowed.update.to_owned().map_err(fail)?, &owned.update);
    prop_assert_eq!(&borrowed.to_owned().map_err(fail)?, owned);
    Ok(())
}

/// Reads a text that may be wrong as what borrows and as what owns: both take it, or refuse it with the same error, the one
/// that borrows perhaps only when it is made to own.
fn refuse_alike<B, T>(
    borrowed: Result<B, DecodeError>,
    owned: Result<T, DecodeError>,
    to_owned: impl FnOnce(&B) -> Result<T, DecodeError>,
    agree: impl FnOnce(&B, &T) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    match (borrowed, owned) {
        (Ok(borrowed), Ok(owned)) => agree(&borrowed, &owned),
        (Err(borrowed), Err(owned)) => {
            prop_assert_eq!(borrowed, owned);
            Ok(())
        }
        (Ok(borrowed), Err(error)) => {
            prop_assert_eq!(to_owned(&borrowed).err(), Some(error));
            Ok(())
        }
        (Err(error), Ok(_)) => Err(fail(error)),
    }
}

/// A text with a character in another's place.
fn damaged(mut text: String, at: Index, with: &str) -> String {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let at = *at.get(&places);
    text.remove(at);
    text.insert_str(at, with);
    text
}

/// A request with its id first, and with its method last.
fn lines_of(params: &str) -> [String; 2] {
    let method = "session/prompt";
    [
        format!(r#"{{"jsonrpc":"2.0","id":"a","method":"{method}","params":{params}}}"#),
        format!(r#"{{"params": {params}, "method": "{method}", "jsonrpc": "2.0", "id":"a"}}"#),
    ]
}

macro_rules! prompts_agree {
    ($test:ident, $damaged:ident, $same_block:ident, $version:ident, $index:literal, $page:ident) => {
        proptest! {
            #![proptest_config(cases(64))]

            /// A prompt that borrows says what the owned one says.
            #[test]
            fn $test(node in VERSIONS[$index].shapes.instance("PromptRequest")) {
                use $version::borrowed::PromptRequestRef;
                let params = node.text();
                let owned: $version::$page::PromptRequest = decode(&params).map_err(fail)?;
                for line in lines_of(&params) {
                    let read = PromptRequestRef::from_line(&line).map_err(fail)?;
                    let (id, borrowed) = read.ok_or_else(|| fail("another message"))?;
                    prop_assert_eq!(id, RequestId::from("a"));
                    prop_assert_eq!(borrowed.session_id, owned.session_id.as_str());
                    prop_assert_eq!(borrowed.prompt.len(), owned.prompt.len());
                    for (block, owned) in borrowed.prompt.iter().zip(&owned.prompt) {
                        $same_block(block, owned)?;
                    }
                    prop_assert_eq!(&borrowed.to_owned().map_err(fail)?, &owned);
                }
            }

            /// What the owned prompt refuses, the borrowed one refuses too.
            #[test]
            fn $damaged(
                node in VERSIONS[$index].shapes.instance("PromptRequest"),
                at in any::<Index>(),
                with in "[\\PC\"{}\\[\\],:0-9]?",
            ) {
                use $version::borrowed::PromptRequestRef;
                let params = damaged(node.text(), at, &with);
                let owned = decode::<$version::$page::PromptRequest>(&params);
                let borrowed = PromptRequestRef::decode(&params);
                refuse_alike(borrowed, owned, PromptRequestRef::to_owned, |_, _| Ok(()))?;
            }
        }
    };
}

prompts_agree!(prompts_of_v1_agree, prompts_of_v1_refuse_alike, same_block_v1, v1, 0, prompt_turn);
prompts_agree!(
    prompts_of_v2_agree,
    prompts_of_v2_refuse_alike,
    same_block_v2,
    v2,
    1,
    prompt_lifecycle
);

proptest! {
    #![proptest_config(cases(96))]

    /// A notification that borrows says what the owned one says, wherever the tags stand and whatever is unknown.
    #[test]
    fn updates_of_v2_agree(node in VERSIONS[1].shapes.instance("UpdateSessionNotification")) {
        let params = node.text();
        let owned: UpdateSessionNotification = decode(&params).map_err(fail)?;
        agree(&UpdateSessionNotificationRef::decode(&params).map_err(fail)?, &owned)?;
        for line in lines_of(&params).map(|line| {
            line.replace(r#""id":"a","#, "").replace(r#", "id":"a""#, "").replace("session/prompt", "session/update")
        }) {
            let read = UpdateSessionNotificationRef::from_line(&line).map_err(fail)?;
            agree(&read.ok_or_else(|| fail("another message"))?, &owned)?;
        }
    }

    /// What the owned type refuses outside of lists, and of what is no text, the borrowed one refuses too.
    #[test]
    fn updates_of_v2_refuse_alike(
        node in VERSIONS[1].shapes.instance("UpdateSessionNotification"),
        at in any::<Index>(),
        with in "[\\PC\"{}\\[\\],:0-9]?",
    ) {
        let params = damaged(node.text(), at, &with);
        let owned = decode::<UpdateSessionNotification>(&params);
        let borrowed = UpdateSessionNotificationRef::decode(&params);
        refuse_alike(borrowed, owned, UpdateSessionNotificationRef::to_owned, agree)?;
    }
}

/// Blocks of the kinds that are read here, and those that are not, each told apart; a wrong one is named.
#[test]
fn blocks_of_a_prompt() -> Result<(), Box<dyn Error>> {
    let params = r#"{"prompt":[{"text":"a","type":"text"},{"uri":null,"data":"AA==","mimeType":"image/png","type":"image"},
        {"type":"audio","data":"AA==","mimeType":"audio/wav"},{"type":"newer"}],"sessionId":"s"}"#;
    let request = v1::borrowed::PromptRequestRef::decode(params)?;
    let kinds = request.prompt.iter().map(|block| match block {
        ContentBlockRef::Text(_) => "text",
        ContentBlockRef::Image(_) => "image",
        _ => "other",
    });
    assert!(kinds.eq(["text", "image", "other", "other"]));
    for (wrong, pointer) in [
        (
            params.replace("\"AA==\",\"mimeType\":\"image/png\"", "1,\"mimeType\":\"image/png\""),
            "/prompt/1/data",
        ),
        (params.replace("\"uri\":null", "\"uri\":[]"), "/prompt/1/uri"),
        (params.replace("{\"type\":\"newer\"}", "7"), "/prompt/3"),
        (params.replace("\"s\"", "null"), "/sessionId"),
    ] {
        let error = v1::borrowed::PromptRequestRef::decode(&wrong).map(|_| ()).unwrap_err();
        assert_eq!(error.pointer(), pointer, "{error}");
    }
    Ok(())
}

/// A member of a kind that its type does not take is refused at once, not only when it is asked for.
#[test]
fn wrong_kinds_of_version_2_are_refused_at_once() {
    for (update, pointer) in [
        (
            r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","capabilities":7}"#,
            "capabilities",
        ),
        (r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","content":{}}"#, "content"),
        (r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","locations":""}"#, "locations"),
        (r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","kind":7}"#, "kind"),
        (r#"{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":[]}"#, "content"),
        (r#"{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":null}"#, "data"),
        (
            r#"{"sessionUpdate":"agent_message_chunk","messageId":null,"content":{"type":"x"}}"#,
            "messageId",
        ),
    ] {
        let params = format!(r#"{{"sessionId":"s","update":{update}}}"#);
        let error = UpdateSessionNotificationRef::decode(&params).expect_err(update);
        assert_eq!(error.pointer(), format!("/update/{pointer}"), "{update}");
    }
}

/// What borrows is small.
#[test]
fn what_borrows_is_small() {
    assert!(size_of::<v1::borrowed::SessionNotificationRef<'_>>() <= 17 * size_of::<usize>());
    assert!(size_of::<UpdateSessionNotificationRef<'_>>() <= 17 * size_of::<usize>());
}
