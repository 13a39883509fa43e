//! The result of each kind of odd input; the crate documentation has the same table.
use jsonrpc_core::framing::Lines;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, Message, MessageError, PeekError, Response, Shape, peek};
use proptest::prelude::*;
use std::error::Error;

/// Summarizes the result of a line: kind and id of a message; or the code of the error, its subject, and the response.
fn outcome(text: &str) -> String {
    shown(&Message::decode(text))
}

fn shown(decoded: &Result<Message<'_>, MessageError>) -> String {
    match decoded {
        Ok(message) => {
            let id = message.id().map(|id| format!(" {id:?}")).unwrap_or_default();
            format!("{:?}{id}", message.kind())
        }
        Err(error) => {
            let kind = error.kind().map(|kind| format!(" {kind:?}")).unwrap_or_default();
            let id = error.id().map(|id| format!(" {id:?}")).unwrap_or_default();
            let reply =
                error.reply().map(|reply| format!(", answer {:?}", reply.id)).unwrap_or_default();
            format!("{}{kind}{id}{reply}", error.code())
        }
    }
}

/// As [`outcome`], with the diagnostics.
fn lenient(text: &str) -> String {
    match Message::decode_lenient(text) {
        Ok((message, diagnostics)) => {
            let told =
                diagnostics.iter().map(|told| format!("; {} {}", told.code.as_str(), told.pointer));
            shown(&Ok(message)) + &told.map(|told| told.trim_end().to_owned()).collect::<String>()
        }
        Err(error) => shown(&Err(error)),
    }
}

/// In a cell: as in the previous one.
const SAME: &str = "same";

fn check(table: &[[&str; 4]]) {
    for &[text, decoded, strict, told] in table {
        let same = |cell, before| if cell == SAME { before } else { cell };
        assert_eq!(outcome(text), decoded, "{text}");
        assert_eq!(shown(&Message::decode_strict(text)), same(strict, decoded), "strict: {text}");
        assert_eq!(lenient(text), same(told, decoded), "lenient: {text}");
    }
}

#[test]
fn odd_versions() {
    check(&[
        [r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, "Request 1", SAME, SAME],
        [r#"{"jsonrpc":"2\u002e0","id":1,"method":"m"}"#, "Request 1", SAME, SAME],
        [
            r#"{"id":1,"method":"m"}"#,
            "Request 1",
            "-32600 Request 1, answer 1",
            "Request 1; missing_version",
        ],
        [
            r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#,
            "Request 1",
            "-32600 Request 1, answer 1",
            "Request 1; other_version /jsonrpc",
        ],
        [
            r#"{"jsonrpc":2,"method":"m"}"#,
            "Notification",
            "-32600 Notification",
            "Notification; other_version /jsonrpc",
        ],
        [
            r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"m"}"#,
            "-32600 Request 1, answer 1",
            SAME,
            "Request 1; duplicate_member /jsonrpc",
        ],
    ]);
}

#[test]
fn odd_ids() {
    let long_id = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"m"}}"#, "x".repeat(5000));
    check(&[
        [r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "Request null", SAME, SAME],
        [r#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#, "Request 1.0", SAME, SAME],
        [r#"{"jsonrpc":"2.0","id":1e3,"method":"m"}"#, "Request 1e3", SAME, SAME],
        [
            r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"m"}"#,
            "Request 9223372036854775808",
            SAME,
            SAME,
        ],
        [r#"{"jsonrpc":"2.0","id":-1,"method":"m"}"#, "Request -1", SAME, SAME],
        [r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, "-32600 Request, answer null", SAME, SAME],
        [r#"{"jsonrpc":"2.0","id":{},"result":1}"#, "-32600 Response", SAME, SAME],
        [
            r#"{"jsonrpc":"2.0","id":"\ud800","method":"m"}"#,
            "-32600 Request, answer null",
            SAME,
            SAME,
        ],
        [&long_id, "-32600 Request, answer null", SAME, SAME],
        [
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#,
            "-32600 Request, answer null",
            SAME,
            "Request 2; duplicate_member /id",
        ],
        [
            r#"{"jsonrpc":"2.0","method":"a","method":"b","id":1,"id":2}"#,
            "-32600 Request, answer null",
            SAME,
            "Request 2; duplicate_member /id; duplicate_member /method",
        ],
        [r#"{"jsonrpc":"2.0","result":1}"#, "-32600 Response", SAME, "Response null; missing_id"],
        [
            r#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#,
            "Response null",
            "-32600 Response null",
            "Response null; missing_id",
        ],
    ]);
}

#[test]
fn odd_calls() {
    let too_many = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"m"{}}}"#,
        r#","x":0"#.repeat(Message::MAX_EXTRA + 1)
    );
    check(&[
        [r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "-32600 1, answer 1", SAME, SAME],
        [r#"{"jsonrpc":"2.0","id":1,"method":null}"#, "-32600 1, answer 1", SAME, SAME],
        [r#"{"jsonrpc":"2.0","id":1,"method":"\udc00"}"#, "-32600 1, answer 1", SAME, SAME],
        [
            r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
            "-32600 Request 1, answer 1",
            SAME,
            "Request 1; duplicate_member /method",
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#,
            "Request 1",
            "-32600 Request 1, answer 1",
            "Request 1; null_member /params",
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":7}"#,
            "-32600 Request 1, answer 1",
            SAME,
            "Request 1; scalar_params /params",
        ],
        [
            r#"{"jsonrpc":"2.0","method":"m","params":"x"}"#,
            "-32600 Notification",
            SAME,
            "Notification; scalar_params /params",
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{},"params":[]}"#,
            "-32600 Request 1, answer 1",
            SAME,
            "Request 1; duplicate_member /params",
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#,
            "-32600 1, answer 1",
            SAME,
            "Request 1; stray_member /result",
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"method":"m","error":null}"#,
            "Request 1",
            "-32600 Request 1, answer 1",
            "Request 1; stray_member /error",
        ],
        [r#"{"jsonrpc":"2.0","id":1,"method":"m","trace":7,"trace":8}"#, "Request 1", SAME, SAME],
        [&too_many, "-32600 Request 1, answer 1", SAME, SAME],
    ]);
}

#[test]
fn odd_responses() {
    check(&[
        [r#"{"jsonrpc":"2.0","id":1,"result":2,"params":7}"#, "Response 1", SAME, SAME],
        [r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "Response 1", SAME, SAME],
        [r#"{"jsonrpc":"2.0","id":null,"result":1}"#, "Response null", SAME, SAME],
        [
            r#"{"jsonrpc":"2.0","id":1,"result":1,"error":null}"#,
            "Response 1",
            "-32600 Response 1",
            "Response 1; null_member /error",
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"m"}}"#,
            "Response 1",
            "-32600 Response 1",
            "Response 1; null_member /result",
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}}"#,
            "-32600 Response 1",
            SAME,
            "Response 1; stray_member /result",
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"method":null,"result":1}"#,
            "-32600 1, answer 1",
            SAME,
            "Response 1; null_member /method",
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"error":null}"#,
            "-32600 Response 1",
            SAME,
            "Response 1; missing_result",
        ],
        [r#"{"jsonrpc":"2.0","id":1}"#, "-32600 Response 1", SAME, "Response 1; missing_result"],
        [
            r#"{"jsonrpc":"2.0","id":1,"error":"text"}"#,
            "-32600 Response 1",
            SAME,
            "Response 1; bad_error_object /error",
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"m"}}"#,
            "-32600 Response 1",
            SAME,
            "Response 1; bad_error_object /error/code",
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601.0,"message":"m"}}"#,
            "-32600 Response 1",
            SAME,
            "Response 1; bad_error_object /error/code",
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":99999999999,"message":"m"}}"#,
            "Response 1",
            SAME,
            SAME,
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"result":1,"result":2}"#,
            "-32600 Response 1",
            SAME,
            "Response 1; duplicate_member /result",
        ],
    ]);
}

#[test]
fn other_values_are_not_messages() {
    check(&[
        ["{}", "-32600, answer null", SAME, SAME],
        [r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, "-32600, answer null", SAME, SAME],
        ["7", "-32600, answer null", SAME, SAME],
        ["null", "-32600, answer null", SAME, SAME],
        ["Starting agent...", "-32700, answer null", SAME, SAME],
        [r#"{"id":1,"method":"m"} x"#, "-32700 Request 1, answer 1", SAME, SAME],
        [r#"{"id":1,"method":"m","params":{"#, "-32700 Request 1, answer 1", SAME, SAME],
        [r#"{"method":"m","id":12"#, "-32700, answer null", SAME, SAME],
        [r#"{"method":"m","id":12,"#, "-32700 Request 12, answer 12", SAME, SAME],
        [r#"{"method":"m","id":012}"#, "-32700, answer null", SAME, SAME],
        [r#"{"method":"m","params":{"#, "-32700, answer null", SAME, SAME],
        [r#"{"id":1,"result":{"#, "-32700 Response 1", SAME, SAME],
        [r#"{"id":1,"#, "-32700, answer null", SAME, SAME],
    ]);
}

/// Lenient decoding keeps all parts.
#[test]
fn lenient_decoding_keeps_all_parts() -> Result<(), Box<dyn Error>> {
    let text = r#"{"jsonrpc":"2.0","id":1,"result":[1.50],"error":{"code":3.0,"message":"no","more":1.50}}"#;
    let (message, diagnostics) = Message::decode_lenient(text)?;
    let Message::Response(Response { outcome: Err(error), .. }) = &message else {
        panic!("not an error response")
    };
    assert_eq!((error.code, &*error.message), (ErrorCode(3), "no"));
    let data = error.data.as_ref().map(Raw::as_str);
    assert_eq!(data, Some(r#"{"code":3.0,"message":"no","more":1.50}"#));
    let extra: Vec<_> = message.extra().map(|(name, value)| (name, value.get())).collect();
    assert_eq!(extra, [("result", "[1.50]")]);
    let shown: Vec<_> = diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "stray_member at /result: unexpected member",
            "bad_error_object at /error/code: expected i64, got number",
        ]
    );

    let scalar = r#"{"jsonrpc":"2.0","method":"m","params":"x"}"#;
    let (message, _) = Message::decode_lenient(scalar)?;
    let mut out = Vec::new();
    message.to_line(&mut out);
    assert_eq!(String::from_utf8(out)?.trim_end(), scalar);
    Ok(())
}

proptest! {
    /// Each level accepts what the stricter one accepts, with the same result, and reports only deviations.
    #[test]
    fn stricter_levels_accept_less(text in crate::json::envelope(), versioned in any::<bool>()) {
        let text = if versioned { text.replacen('{', r#"{"jsonrpc":"2.0","#, 1).replace(",}", "}") } else { text };
        let (strict, plain) = (Message::decode_strict(&text), Message::decode(&text));
        let lenient = Message::decode_lenient(&text);
        let owned = |message: &Message<'_>| message.clone().into_owned();
        if let Ok(message) = &strict {
            let plain = plain.as_ref().map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(owned(plain), owned(message));
            let (_, told) = lenient.as_ref().map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert!(told.is_empty(), "{:?}", told);
        }
        if let Ok(message) = &plain {
            let (taken, told) = lenient.as_ref().map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(owned(taken).kind(), message.kind());
            prop_assert_eq!(taken.id(), message.id());
            prop_assert_eq!(strict.is_err(), !told.is_empty(), "{:?}", told);
        }
    }
}

#[test]
fn lone_surrogate_in_the_payload_is_accepted() {
    let text = r#"{"method":"m","params":{"text":"\ud83d"}}"#;
    assert_eq!(outcome(text), "Notification");
    assert!(peek(text.as_bytes()).is_ok());
    let name = r#"{"method":"m","\ud83d":1}"#;
    assert_eq!(
        (outcome(name), peek(name.as_bytes()).is_ok()),
        ("-32700 Notification".into(), true)
    );
}

#[test]
fn deep_payloads_are_not_recursed_into() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"method":"m","params":{open}{close}}}"#)
    };
    for depth in [129, 1024, 1_000_000] {
        assert_eq!(outcome(&nested(depth)), "Notification", "{depth}");
        let peeked = peek(nested(depth).as_bytes()).map(|peek| peek.kind());
        assert_eq!(peeked, Ok(jsonrpc_core::Kind::Notification), "{depth}");
    }
    assert_eq!(outcome(&"[".repeat(1_000_000)), "-32700, answer null");
    assert_eq!(outcome(&"{\"a\":".repeat(1_000_000)), "-32700, answer null");
}

#[test]
fn responses_contain_no_received_text() {
    for text in [
        r#"{"id":1,"method":7,"token":"hunter2"}"#,
        r#"{"id":"hunter2","method":"hunter2","params":"hunter2","hunter2":1}"#,
        r#"{"id":1,"error":{"code":"hunter2"}}"#,
        "hunter2",
    ] {
        let error = Message::decode(text).expect_err(text);
        if let Some(Err(answer)) = error.reply().map(|reply| reply.outcome) {
            assert!(
                !serde_json::to_string(&answer).is_ok_and(|answer| answer.contains("hunter2")),
                "{text}"
            );
        }
        assert!(!error.to_string().contains("hunter2"), "{text}");
    }
}

/// Summarizes the results of lines that are not text, as [`outcome`] does.
#[test]
fn odd_lines() {
    let table: [(&[u8], &str); 9] = [
        (b"{\"id\":1,\"method\":\"m\",\"params\":{\"a\":\"\xff\"}}", "-32700 Request 1, answer 1"),
        (b"{\"method\":\"m\",\"params\":{\"a\":\"\xff\"}}", "-32700 Notification"),
        (b"{\"id\":1,\"result\":\"\xff\"}", "-32700 Response 1"),
        (b"\xff\xfe", "-32700, answer null"),
        (
            b"{\"method\":\"m\",\"a\":\"aaaaaaaaaaaaaaaaaaaaaa\",\"id\":123}",
            "-32600 Request 123, answer 123",
        ),
        (
            b"{\"id\":1,\"method\":\"m\",\"params\":{\"a\":\"aaaaaaaaaaaaaaaaaaaaaaaa\"}}",
            "-32600 Request 1, answer 1",
        ),
        (
            b"{\"method\":\"m\",\"params\":{\"a\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}",
            "-32600 Notification",
        ),
        (
            b"{\"id\":1,\"result\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}",
            "-32600 Response 1",
        ),
        (b"                                                             ", "-32600, answer null"),
    ];
    for (line, expected) in table {
        let mut lines = Lines::new(50);
        lines.push(line);
        lines.push(b"\n{}\n");
        let error = lines.next().and_then(Result::err).unwrap_or_else(|| panic!("{expected}"));
        let kind = error.kind().map(|kind| format!(" {kind:?}")).unwrap_or_default();
        let id = error.id().map(|id| format!(" {id:?}")).unwrap_or_default();
        let reply =
            error.reply().map(|reply| format!(", answer {:?}", reply.id)).unwrap_or_default();
        assert_eq!(format!("{}{kind}{id}{reply}", error.code()), expected);
        assert_eq!(lines.next(), Some(Ok("{}")), "{expected}");
        assert_eq!(lines.next(), None, "{expected}");
    }
}

#[test]
fn peek_and_decode_refuse_the_same_shapes() {
    let table = [
        ("[]", Shape::Batch),
        ("7", Shape::NotAnObject),
        (r#"{"id":1,"id":2,"method":"m"}"#, Shape::Duplicate("id")),
        (r#"{"method":7}"#, Shape::Method),
        (r#"{"id":[],"method":"m"}"#, Shape::Id),
        (r#"{"method":"m","params":7}"#, Shape::Params),
        (r#"{"id":1}"#, Shape::Empty),
        (r#"{"id":1,"method":"m","error":{}}"#, Shape::Ambiguous),
        (r#"{"result":1}"#, Shape::ResultWithoutId),
    ];
    for (text, shape) in table {
        assert_eq!(peek(text.as_bytes()).err(), Some(PeekError::Shape(shape)), "{text}");
        let decoded = Message::decode(text).err().map(|error| error.to_string());
        assert_eq!(decoded, Some(format!("not a JSON-RPC message: {shape}")), "{text}");
    }
}
