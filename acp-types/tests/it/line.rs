//! Lines read and written in one pass, and updates that borrow from them, say what the types say.
use crate::shapes::cases;
use crate::wire_types::VERSIONS;
use acp_types::line::{self, LineError};
use acp_types::v1::borrowed::{
    ContentBlockRef, OtherRef, SessionNotificationRef, SessionUpdateRef,
};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::{
    PromptRequest, PromptResponse, SessionNotification, SessionUpdate, StopReason,
};
use jsonrpc_core::wire::{Presence, decode};
use jsonrpc_core::{JsonStr, RequestId};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;
use std::error::Error;

/// Compares a borrowed notification with an owned one.
fn agree(
    borrowed: &SessionNotificationRef<'_>,
    owned: &SessionNotification,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(borrowed.session_id, owned.session_id.as_str());
    match (&borrowed.update, &owned.update) {
        (SessionUpdateRef::UserMessageChunk(piece), SessionUpdate::UserMessageChunk(chunk))
        | (SessionUpdateRef::AgentMessageChunk(piece), SessionUpdate::AgentMessageChunk(chunk))
        | (SessionUpdateRef::AgentThoughtChunk(piece), SessionUpdate::AgentThoughtChunk(chunk)) => {
            let id = piece.message_id.and_then(|id| id.decode());
            prop_assert_eq!(id.as_deref(), chunk.message_id.as_ref().map(|id| id.as_str()));
            match (&piece.content, &chunk.content) {
                (ContentBlockRef::Text(piece), ContentBlock::Text(text)) => {
                    let decoded = piece.text.decode();
                    prop_assert_eq!(decoded.as_deref(), Some(&*text.text));
                }
                (ContentBlockRef::Image(piece), ContentBlock::Image(image)) => {
                    let decoded = piece.data.decode();
                    prop_assert_eq!(decoded.as_deref(), Some(&*image.data));
                    prop_assert_eq!(piece.mime_type, image.mime_type.as_str());
                }
                (ContentBlockRef::Other(OtherRef { tag, .. }), other) => {
                    prop_assert_eq!(*tag, other.tag());
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
        (SessionUpdateRef::ToolCall(borrowed), SessionUpdate::ToolCall(call)) => {
            prop_assert_eq!(borrowed.tool_call_id, call.tool_call_id.as_str());
            prop_assert_eq!(text(borrowed.title), Presence::Value(call.title.clone()));
            let kind = text(borrowed.kind());
            prop_assert_eq!(
                kind.value().map(String::as_str),
                call.kind.as_ref().map(|kind| kind.as_str())
            );
            let content =
                borrowed.content().map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(content.value(), call.content.as_ref());
        }
        (SessionUpdateRef::ToolCallUpdate(borrowed), SessionUpdate::ToolCallUpdate(call)) => {
            prop_assert_eq!(borrowed.tool_call_id, call.tool_call_id.as_str());
            prop_assert_eq!(text(borrowed.title), call.title.clone());
            prop_assert_eq!(text(borrowed.name()), call.name.clone());
            let status = match &call.status {
                Presence::Value(status) => Presence::Value(status.as_str().to_owned()),
                Presence::Null => Presence::Null,
                Presence::Absent => Presence::Absent,
            };
            prop_assert_eq!(text(borrowed.status), status);
            let locations =
                borrowed.locations().map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(locations, call.locations.clone());
        }
        (SessionUpdateRef::Other(other), update) => prop_assert_eq!(other.tag, update.tag()),
        other => prop_assert!(false, "{:?}", other),
    }
    let update =
        borrowed.update.to_owned().map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(&update, &owned.update);
    let whole = borrowed.to_owned().map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(&whole, owned);
    Ok(())
}

fn text(text: Presence<JsonStr<'_>>) -> Presence<String> {
    match text {
        Presence::Value(text) => Presence::Value(text.decode().unwrap_or_default().into_owned()),
        Presence::Null => Presence::Null,
        Presence::Absent => Presence::Absent,
    }
}

proptest! {
    #![proptest_config(cases(96))]

    /// A notification that borrows says what the owned one says, wherever the tags stand and whatever is unknown; and lines
    /// are read as their parameters are.
    #[test]
    fn borrowed_and_owned_agree(node in VERSIONS[0].shapes.instance("SessionNotification"), method_last in any::<bool>()) {
        let params = node.text();
        let owned: SessionNotification = decode(&params).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let borrowed = SessionNotificationRef::decode(&params).map_err(|error| TestCaseError::fail(error.to_string()))?;
        agree(&borrowed, &owned)?;
        let line = if method_last {
            format!(r#"{{"params": {params}, "method": "session/update", "jsonrpc": "2.0"}}"#)
        } else {
            format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#)
        };
        let of_line = SessionNotificationRef::from_line(&line).map_err(|error| TestCaseError::fail(error.to_string()))?;
        agree(&of_line.ok_or_else(|| TestCaseError::fail("another message"))?, &owned)?;
        let read = line::read_notification(&line).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(read.as_ref(), Some(&owned));
        let mut written = Vec::new();
        line::write_notification(&owned, &mut written).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let written = String::from_utf8(written).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(written.matches('\n').count(), 1);
        let read = line::read_notification(written.trim_end()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(read, Some(owned));
    }

    /// What the owned type refuses outside of lists, and of what is no text, the borrowed one refuses too, with the same
    /// error; what it takes, both take.
    #[test]
    fn borrowed_and_owned_refuse_alike(node in VERSIONS[0].shapes.instance("SessionNotification"), at in any::<Index>(), with in "[\\PC\"{}\\[\\],:0-9]?") {
        let mut params = node.text();
        let places: Vec<usize> = params.char_indices().map(|(at, _)| at).collect();
        let at = *at.get(&places);
        params.remove(at);
        params.insert_str(at, &with);
        match (decode::<SessionNotification>(&params), SessionNotificationRef::decode(&params)) {
            (Ok(owned), Ok(borrowed)) => agree(&borrowed, &owned)?,
            (Err(owned), Err(borrowed)) => prop_assert_eq!(owned, borrowed),
            (Err(error), Ok(borrowed)) => {
                let later = borrowed.to_owned();
                prop_assert_eq!(later.err(), Some(error));
            }
            (Ok(_), Err(error)) => prop_assert!(false, "{} of {}", error, params),
        }
    }
}

/// Messages of other kinds are none; errors say where.
#[test]
fn other_lines_are_told_apart() -> Result<(), Box<dyn Error>> {
    let other = [
        r#"{"jsonrpc":"2.0","id":1,"method":"session/update","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":null,"params":{"sessionId":"s"}}"#,
    ];
    for line in other {
        assert!(SessionNotificationRef::from_line(line)?.is_none(), "{line}");
        assert_eq!(line::read_notification::<SessionNotification>(line)?, None, "{line}");
    }
    let line =
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":7,"update":{}}}"#;
    for error in [
        SessionNotificationRef::from_line(line).err(),
        line::read_notification::<SessionNotification>(line).err(),
    ] {
        let Some(LineError::Params(error)) = error else { panic!("{error:?}") };
        assert_eq!(error.pointer(), "/sessionId");
    }
    let error = line::read_notification::<SessionNotification>("{").err();
    assert!(matches!(error, Some(LineError::Message(_))));
    Ok(())
}

/// Requests and answers too.
#[test]
fn requests_are_read_and_written() -> Result<(), Box<dyn Error>> {
    let (id, prompt) = (RequestId::from(7), PromptRequest::new("s", ["a\n\"b\"".into()]));
    let mut out = Vec::new();
    line::write_request(&id, &prompt, &mut out)?;
    line::write_response(&id, &(), &mut out)?;
    let text = String::from_utf8(out)?;
    let (request, response) = text.split_once('\n').ok_or("one line")?;
    let expected = r#"{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"a\n\"b\""}]}}"#;
    assert_eq!((request, response), (expected, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":null}\n"));
    assert_eq!(line::read_request(request)?, Some((id, prompt)));
    assert_eq!(line::read_request::<PromptRequest>(response.trim_end())?, None);
    Ok(())
}

/// Line breaks between the tokens of a raw value do not break the line.
#[test]
fn a_line_is_one_line() -> Result<(), Box<dyn Error>> {
    let params = "{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"newer\",\"value\":[1,\n2]}}";
    let mut out = Vec::new();
    line::write_notification(&decode::<SessionNotification>(params)?, &mut out)?;
    let text = String::from_utf8(out)?;
    assert_eq!(text.matches('\n').count(), 1);
    let written: Value = serde_json::from_str(&text)?;
    assert_eq!(written["params"], serde_json::from_str::<Value>(params)?);
    Ok(())
}

/// Answers are read wherever their members stand, with what they bring; what is none, or none that can be, is told apart.
#[test]
fn answers_are_read() -> Result<(), Box<dyn Error>> {
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}"#,
        r#" {"result": {"stopReason":"end_turn"}, "id": 1, "jsonrpc": "2.0"} "#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"},"extra":[1]}"#,
    ] {
        let answer = line::read_response::<PromptResponse>(line)?;
        assert_eq!(
            answer,
            Some((1.into(), Ok(PromptResponse::new(StopReason::EndTurn)))),
            "{line}"
        );
    }
    let refused = r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32000,"message":"log in"}}"#;
    let Some((id, Err(error))) = line::read_response::<PromptResponse>(refused)? else { panic!() };
    assert_eq!((id, error.code.0), ("a".into(), -32000));
    for other in [
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{}}"#,
    ] {
        assert_eq!(line::read_response::<PromptResponse>(other)?, None, "{other}");
    }
    for (wrong, pointer) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":7}}"#, Some("/stopReason")),
        (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, Some("")),
        (r#"{"jsonrpc":"2.0","id":{},"result":{"stopReason":"end_turn"}}"#, None),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{"stopReason":"end_turn"}}"#, None),
        (r#"{"jsonrpc":"1.0","id":1}"#, None),
        ("", None),
    ] {
        let error = line::read_response::<PromptResponse>(wrong).expect_err(wrong);
        let is = match &error {
            LineError::Params(error) => Some(error.pointer()),
            _ => None,
        };
        assert_eq!(is, pointer, "{wrong}: {error}");
    }
    Ok(())
}
