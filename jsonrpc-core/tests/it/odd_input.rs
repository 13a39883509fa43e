//! The result of each kind of odd input; the crate documentation has the same table.
use jsonrpc_core::framing::Lines;
use jsonrpc_core::{Message, MessageError, PeekError, Shape, peek};
use proptest::prelude::*;

/// Summarizes the result of a line: kind and id of a message; or the code of the error, its
/// subject, and the response.
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

/// In a cell: as in the previous one.
const SAME: &str = "same";

fn check(table: &[[&str; 3]]) {
    for &[text, decoded, strict] in table {
        assert_eq!(outcome(text), decoded, "{text}");
        let strict = if strict == SAME { decoded } else { strict };
        assert_eq!(shown(&Message::decode_strict(text)), strict, "strict: {text}");
    }
}

#[test]
fn odd_versions() {
    check(&[
        [r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, "Request 1", SAME],
        [r#"{"jsonrpc":"2\u002e0","id":1,"method":"m"}"#, "Request 1", SAME],
        [r#"{"id":1,"method":"m"}"#, "Request 1", "-32600 Request 1, answer 1"],
        [r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, "Request 1", "-32600 Request 1, answer 1"],
        [r#"{"jsonrpc":2,"method":"m"}"#, "Notification", "-32600 Notification"],
        [
            r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"m"}"#,
            "-32600 Request 1, answer 1",
            SAME,
        ],
    ]);
}

#[test]
fn odd_ids() {
    let long_id = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"m"}}"#, "x".repeat(5000));
    check(&[
        [r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "Request null", SAME],
        [r#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#, "Request 1.0", SAME],
        [r#"{"jsonrpc":"2.0","id":1e3,"method":"m"}"#, "Request 1e3", SAME],
        [
            r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"m"}"#,
            "Request 9223372036854775808",
            SAME,
        ],
        [r#"{"jsonrpc":"2.0","id":-1,"method":"m"}"#, "Request -1", SAME],
        [r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, "-32600 Request, answer null", SAME],
        [r#"{"jsonrpc":"2.0","id":{},"result":1}"#, "-32600 Response", SAME],
        [r#"{"jsonrpc":"2.0","id":"\ud800","method":"m"}"#, "-32600 Request, answer null", SAME],
        [&long_id, "-32600 Request, answer null", SAME],
        [r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, "-32600 Request, answer null", SAME],
        [
            r#"{"jsonrpc":"2.0","method":"a","method":"b","id":1,"id":2}"#,
            "-32600 Request, answer null",
            SAME,
        ],
        [r#"{"jsonrpc":"2.0","result":1}"#, "-32600 Response", SAME],
        [
            r#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#,
            "Response null",
            "-32600 Response null",
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
        [r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "-32600 1, answer 1", SAME],
        [r#"{"jsonrpc":"2.0","id":1,"method":null}"#, "-32600 1, answer 1", SAME],
        [r#"{"jsonrpc":"2.0","id":1,"method":"\udc00"}"#, "-32600 1, answer 1", SAME],
        [
            r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
            "-32600 Request 1, answer 1",
            SAME,
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#,
            "Request 1",
            "-32600 Request 1, answer 1",
        ],
        [r#"{"jsonrpc":"2.0","id":1,"method":"m","params":7}"#, "-32600 Request 1, answer 1", SAME],
        [r#"{"jsonrpc":"2.0","method":"m","params":"x"}"#, "-32600 Notification", SAME],
        [
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{},"params":[]}"#,
            "-32600 Request 1, answer 1",
            SAME,
        ],
        [r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#, "-32600 1, answer 1", SAME],
        [
            r#"{"jsonrpc":"2.0","id":1,"method":"m","error":null}"#,
            "Request 1",
            "-32600 Request 1, answer 1",
        ],
        [r#"{"jsonrpc":"2.0","id":1,"method":"m","trace":7,"trace":8}"#, "Request 1", SAME],
        [&too_many, "-32600 Request 1, answer 1", SAME],
    ]);
}

#[test]
fn odd_responses() {
    check(&[
        [r#"{"jsonrpc":"2.0","id":1,"result":2,"params":7}"#, "Response 1", SAME],
        [r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "Response 1", SAME],
        [r#"{"jsonrpc":"2.0","id":null,"result":1}"#, "Response null", SAME],
        [r#"{"jsonrpc":"2.0","id":1,"result":1,"error":null}"#, "Response 1", "-32600 Response 1"],
        [
            r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"m"}}"#,
            "Response 1",
            "-32600 Response 1",
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}}"#,
            "-32600 Response 1",
            SAME,
        ],
        [r#"{"jsonrpc":"2.0","id":1,"method":null,"result":1}"#, "-32600 1, answer 1", SAME],
        [r#"{"jsonrpc":"2.0","id":1,"error":null}"#, "-32600 Response 1", SAME],
        [r#"{"jsonrpc":"2.0","id":1}"#, "-32600 Response 1", SAME],
        [r#"{"jsonrpc":"2.0","id":1,"error":"text"}"#, "-32600 Response 1", SAME],
        [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"m"}}"#,
            "-32600 Response 1",
            SAME,
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601.0,"message":"m"}}"#,
            "-32600 Response 1",
            SAME,
        ],
        [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":99999999999,"message":"m"}}"#,
            "Response 1",
            SAME,
        ],
        [r#"{"jsonrpc":"2.0","id":1,"result":1,"result":2}"#, "-32600 Response 1", SAME],
    ]);
}

#[test]
fn other_values_are_not_messages() {
    check(&[
        ["{}", "-32600, answer null", SAME],
        [r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, "-32600, answer null", SAME],
        ["7", "-32600, answer null", SAME],
        ["null", "-32600, answer null", SAME],
        ["Starting agent...", "-32700, answer null", SAME],
        [r#"{"id":1,"method":"m"} x"#, "-32700 Request 1, answer 1", SAME],
        [r#"{"id":1,"method":"m","params":{"#, "-32700 Request 1, answer 1", SAME],
        [r#"{"method":"m","id":12"#, "-32700, answer null", SAME],
        [r#"{"method":"m","id":12,"#, "-32700 Request 12, answer 12", SAME],
        [r#"{"method":"m","id":012}"#, "-32700, answer null", SAME],
        [r#"{"method":"m","params":{"#, "-32700, answer null", SAME],
        [r#"{"id":1,"result":{"#, "-32700 Response 1", SAME],
        [r#"{"id":1,"#, "-32700, answer null", SAME],
    ]);
}

proptest! {
    /// Strict decoding accepts less, with the same result.
    #[test]
    fn strict_decoding_accepts_less(text in crate::json::envelope(), versioned in any::<bool>()) {
        let text = if versioned { text.replacen('{', r#"{"jsonrpc":"2.0","#, 1).replace(",}", "}") } else { text };
        let owned = |message: Message<'_>| message.into_owned();
        if let Ok(strict) = Message::decode_strict(&text) {
            let plain = Message::decode(&text).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(owned(plain), owned(strict));
        }
    }
}

#[test]
fn lone_surrogate_in_the_payload_is_accepted() {
    let text = r#"{"method":"m","params":{"text":"\ud83d"}}"#;
    assert_eq!(outcome(text), "Notification");
    assert!(peek(text.as_bytes()).is_ok());
    let name = r#"{"method":"m","\ud83d":1}"#;
    assert_eq!(outcome(name), "-32700 Notification");
    assert!(peek(name.as_bytes()).is_ok());
}

#[test]
fn deep_payloads_are_not_recursed_into() {
    let nested = |depth: usize| {
        let open = "[".repeat(depth);
        let close = "]".repeat(depth);
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
