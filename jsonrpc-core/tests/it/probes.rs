//! Inputs on which other implementations fail, and the results here; the crate documentation has
//! the same table.
use jsonrpc_core::framing::Lines;
use jsonrpc_core::wire::{self, Meta, Mode, Raw};
use jsonrpc_core::{
    CancelMethod, ErrorCode, ErrorObject, Message, Peer, PeerMessage, RequestId, RequestLimits,
};
use jsonrpc_core::{object, open_enum, open_union};
use serde_json::Value;
use std::error::Error;

open_enum! {
    /// A closed list in other implementations.
    pub enum StopReason {
        /// The model finished.
        EndTurn = "end_turn",
    }
}

object! {
    /// Text.
    pub struct Text {
        /// The text.
        text: String = "text",
    }
    and "_meta"
}

object! {
    /// Token usage.
    pub struct Usage {
        /// Tokens used.
        used: u64 = "used",
    }
    optional {
        /// The stop reason.
        stop_reason: StopReason = "stopReason",
    }
}

object! {
    /// The exit status of a program.
    pub struct Exit {}
    optional {
        /// Exit code.
        exit_code: u32 = "exitCode" [default_on_error],
        /// The signal that ended the program.
        signal: String = "signal",
    }
}

open_union! {
    /// An update.
    pub enum Update by "sessionUpdate" {
        /// Text.
        Text(Text) = "agent_message_chunk",
        /// Token usage.
        Usage(Usage) = "usage_update",
    }
}

object! {
    /// A remote server.
    pub struct Http {
        /// Address of the server.
        url: String = "url",
    }
}

object! {
    /// A program.
    pub struct Stdio {
        /// The command.
        command: String = "command",
    }
}

open_union! {
    /// A union of two kinds of servers, one of which has no tag.
    pub enum Server by "type" {
        /// Remote.
        Http(Http) = "http",
    }
    untagged {
        /// A program.
        Stdio(Stdio) = "stdio",
    }
}

/// Returns an update after a round trip, or the error.
fn again(text: &str) -> String {
    match wire::decode::<Update>(text) {
        Ok(update) => serde_json::to_string(&update).expect("JSON"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn additions_of_newer_peers_are_kept() {
    for text in [
        // An unknown variant.
        r#"{"sessionUpdate":"usage_report","cost":1.10,"b":1,"a":123456789012345678901234567890}"#,
        // An unknown name.
        r#"{"sessionUpdate":"usage_update","used":1,"stopReason":"out_of_credits"}"#,
        // Unknown members.
        r#"{"sessionUpdate":"agent_message_chunk","text":"a","z":1.10,"b":{"d":1,"c":2}}"#,
        // Numbers beyond 64 bits, and a repeated member, in uninterpreted values.
        r#"{"sessionUpdate":"agent_message_chunk","text":"a","_meta":{"n":123456789012345678901234567890,"f":1.10,"f":2}}"#,
    ] {
        assert_eq!(again(text), text);
    }
    let meta: Meta = wire::decode(r#"{"f":1.10,"f":2}"#).expect("JSON");
    assert_eq!(meta.get("f").as_ref().map(Raw::as_str), Some("1.10"));
}

/// A present tag of a variant with an optional tag is kept, and an unknown tag does not select that
/// variant.
#[test]
fn optional_tag_is_kept() -> Result<(), Box<dyn Error>> {
    for (text, is_program) in [
        (r#"{"command":"server"}"#, true),
        (r#"{"type":"stdio","command":"server"}"#, true),
        (r#"{"command":"server","type":"stdio"}"#, true),
        (r#"{"type":"oauth","command":"server","id":"a"}"#, false),
    ] {
        let server: Server = wire::decode(text)?;
        assert_eq!(matches!(server, Server::Stdio(_)), is_program, "{text}");
        let again: Value = serde_json::to_value(&server)?;
        assert_eq!(again, serde_json::from_str::<Value>(text)?);
    }
    let error = wire::decode::<Server>(r#"{"type":"http","command":"a"}"#).unwrap_err();
    assert_eq!(error.to_string(), "expected member `url`, got none");
    Ok(())
}

#[test]
fn errors_name_the_member() {
    let table = [
        (r#"{"sessionUpdate":"usage_update","used":"a"}"#, "at /used: expected u64, got string"),
        (r#"{"used":"a","sessionUpdate":"usage_update"}"#, "at /used: expected u64, got string"),
        (
            r#"{"sessionUpdate":"usage_update","used":1,"used":2}"#,
            "expected one member `used`, got two",
        ),
        (
            r#"{"sessionUpdate":"usage_update","sessionUpdate":"agent_message_chunk","used":2}"#,
            "expected one member `sessionUpdate`, got two",
        ),
        (r#"{"sessionUpdate":"usage_update","used":100.0}"#, "at /used: expected u64, got number"),
        (
            r#"{"sessionUpdate":"usage_update","used":18446744073709551616}"#,
            "at /used: expected u64, got number",
        ),
        (r#"["usage_update",1]"#, "expected an object (Update), got array"),
    ];
    for (text, expected) in table {
        assert_eq!(again(text), expected, "{text}");
    }
}

/// A number outside of the member's range does not silently become `null`: it is an error that
/// names the member. If the specification leaves it out, that is reported and reversible.
#[test]
fn left_out_values_are_reported_and_preserved() -> Result<(), Box<dyn Error>> {
    let text = r#"{"exitCode":-1,"signal":null}"#;
    let error = wire::decode_with::<Exit>(text, Mode::Strict).expect_err(text);
    assert_eq!(error.to_string(), "at /exitCode: expected u32, got number");
    let told = wire::decode_with::<Exit>(text, Mode::SpecLenient)?;
    assert_eq!(told.value.exit_code, None);
    assert_eq!(told.diagnostics.iter().map(|one| &*one.pointer).collect::<Vec<_>>(), ["/exitCode"]);
    let kept = wire::decode_with::<Exit>(text, Mode::Preserve)?;
    assert_eq!(serde_json::from_str::<Value>(&kept.encode()?)?["exitCode"], -1);
    Ok(())
}

/// Absolute paths, well-formed addresses and base64 are left to their users.
#[test]
fn formatted_strings_are_not_validated() {
    for text in ["src/main.rs", "not base64!", "http://[", ""] {
        let text = format!(r#"{{"sessionUpdate":"agent_message_chunk","text":"{text}"}}"#);
        assert_eq!(again(&text), text);
    }
}

/// Summarizes the results of received bytes: the message, and the response to an invalid one.
fn outcomes(bytes: &[u8]) -> Vec<String> {
    let mut peer = Peer::<()>::new(CancelMethod::ACP, RequestLimits::default());
    let mut lines = Lines::default();
    lines.push(bytes);
    let mut outcomes = Vec::new();
    while let Some(line) = lines.next() {
        outcomes.push(match peer.handle_line(line) {
            PeerMessage::Request(request) => {
                let id = request.id.clone();
                let error = ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "unknown method");
                let response = peer.respond(&id, Err(error)).expect("an open request");
                let mut out = Vec::new();
                Message::from(response).to_line(&mut out);
                let answer = String::from_utf8(out).expect("UTF-8");
                let id =
                    answer.split(r#""id":"#).nth(1).and_then(|rest| rest.split(",\"error").next());
                format!("{} is answered to {}", request.method, id.expect("an id"))
            }
            PeerMessage::Notification(notification) => format!("{} is told", notification.method),
            PeerMessage::Unmatched(response) => format!("unmatched {:?}", response.id),
            PeerMessage::Malformed { reply: Some(reply), .. } => {
                let code = reply.outcome.expect_err("an error").code;
                format!("{code} is answered to {:?}", reply.id)
            }
            other => format!("{other:?}"),
        });
    }
    outcomes
}

#[test]
fn the_intended_request_is_answered() {
    let deep = |depth: usize| {
        format!(r#"{{"id":1,"method":"deep","params":{}{}}}"#, "[".repeat(depth), "]".repeat(depth))
    };
    let deep = deep(129);
    let table: [(&[u8], &[&str]); 15] = [
        (br#"{"id":1.0,"method":"m"}"#, &["m is answered to 1.0"]),
        (br#"{"id":1e3,"method":"m"}"#, &["m is answered to 1e3"]),
        (br#"{"id":9223372036854775808,"method":"m"}"#, &["m is answered to 9223372036854775808"]),
        (br#"{"id":9007199254740993,"method":"m"}"#, &["m is answered to 9007199254740993"]),
        (br#"{"id":1,"method":"m","params":{"text":"\ud83d"}}"#, &["m is answered to 1"]),
        (deep.as_bytes(), &["deep is answered to 1"]),
        (
            b"{\"id\":1,\"method\":\"m\",\"params\":{\"text\":\"\xff\"}}",
            &["-32700 is answered to 1"],
        ),
        (b"\n\r\n \t\n", &[]),
        (b"Starting agent...", &["-32700 is answered to null"]),
        (br#"[{"id":1,"method":"m"}]"#, &["-32600 is answered to null"]),
        (b"7", &["-32600 is answered to null"]),
        (br#"{"id":1,"method":"m","params":[]}"#, &["m is answered to 1"]),
        (br#"{"id":null,"error":{"code":-32601,"message":"no"}}"#, &["unmatched null"]),
        (br#"{"id":1,"result":{}}"#, &["unmatched 1"]),
        // A message with the members of another method is still decoded by its method.
        (
            br#"{"id":1,"method":"session/prompt","params":{}}"#,
            &["session/prompt is answered to 1"],
        ),
    ];
    for (line, expected) in table {
        let shown = String::from_utf8_lossy(line);
        let mut bytes = line.to_vec();
        bytes.extend_from_slice(b"\n{\"method\":\"next\"}\n");
        let mut expected: Vec<_> = expected.iter().map(|outcome| (*outcome).to_owned()).collect();
        expected.push("next is told".into());
        assert_eq!(outcomes(&bytes), expected, "{shown:.80}");
    }
}

#[test]
fn ids_of_both_sides_are_independent() -> Result<(), Box<dyn Error>> {
    let mut peer = Peer::new(CancelMethod::ACP, RequestLimits::default());
    let ours = peer.register("ours", None)?;
    assert_eq!(ours, RequestId::from(1));
    let theirs = peer.handle_line(Ok(r#"{"jsonrpc":"2.0","id":1,"method":"theirs"}"#));
    assert!(matches!(theirs, PeerMessage::Request(_)), "{theirs:?}");
    let answer = peer.handle_line(Ok(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#));
    assert!(matches!(answer, PeerMessage::Response { token: "ours", .. }), "{answer:?}");
    let error = ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "unknown method");
    assert!(peer.respond(&RequestId::from(1), Err(error)).is_ok());
    Ok(())
}

/// Received secrets are neither sent back nor logged.
#[test]
fn errors_contain_no_received_text() {
    for text in [
        r#"{"sessionUpdate":"usage_update","used":"hunter2"}"#,
        r#"{"sessionUpdate":["hunter2"]}"#,
        r#"{"sessionUpdate":"usage_update","used":1,"used":"hunter2"}"#,
        r#"{"used":{"hunter2":1},"sessionUpdate":"usage_update"}"#,
        r#""hunter2""#,
        "hunter2",
        r#"{"sessionUpdate":"hunter2"#,
    ] {
        let error = wire::decode::<Update>(text).expect_err(text);
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
}
