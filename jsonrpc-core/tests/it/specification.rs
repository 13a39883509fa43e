//! The examples of the specification: a server with a few methods returns the shown responses.
//!
//! Spec: [Examples](https://www.jsonrpc.org/specification#examples) (JSON-RPC 2.0)
use jsonrpc_core::{
    Batch, Document, ErrorCode, ErrorObject, Message, MessageError, Request, Response,
};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// Returns the response to a text of a server with the methods of the examples.
fn answer(text: &str) -> Option<String> {
    let mut out = Vec::new();
    match Document::decode(text) {
        Ok(Document::Message(message)) => answer_one(Ok(message), &mut out),
        Ok(Document::Batch(batch)) => {
            let mut answers = Vec::new();
            batch.messages().for_each(|message| answer_one(message, &mut answers));
            let lines = std::str::from_utf8(&answers).expect("UTF-8").lines();
            let answers: Vec<_> =
                lines.map(|line| Message::decode(line).expect("an answer of ours")).collect();
            Batch::to_line(&answers, &mut out);
        }
        Err(error) => answer_one(Err(error), &mut out),
    }
    let text = String::from_utf8(out).expect("UTF-8");
    let is_line = text.ends_with('\n') && text.lines().count() == 1;
    assert!(text.is_empty() || is_line, "{text}");
    (!text.is_empty()).then_some(text)
}

fn answer_one(message: Result<Message<'_>, MessageError>, out: &mut Vec<u8>) {
    match message {
        Ok(Message::Request(request)) => {
            let result = call(&request);
            let outcome = result.as_deref().map_err(Clone::clone);
            Message::from(Response::new(request.id, outcome)).to_line(out);
        }
        Ok(Message::Notification(_) | Message::Response(_)) => {}
        Err(error) => error.reply().into_iter().for_each(|reply| Message::from(reply).to_line(out)),
    }
}

fn call(request: &Request<'_>) -> Result<Box<RawValue>, ErrorObject> {
    let params: Value =
        serde_json::from_str(request.params.map_or("null", RawValue::get)).expect("JSON");
    let number = |value: &Value| value.as_i64().expect("a number");
    let result = match &*request.method {
        "subtract" => match &params {
            Value::Array(items) => json!(number(&items[0]) - number(&items[1])),
            named => json!(number(&named["minuend"]) - number(&named["subtrahend"])),
        },
        "sum" => json!(params.as_array().expect("an array").iter().map(number).sum::<i64>()),
        "get_data" => json!(["hello", 5]),
        _ => return Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "Method not found")),
    };
    Ok(to_raw_value(&result).expect("JSON"))
}

/// Removes error messages, which are implementation-defined.
fn without_sentences(mut value: Value) -> Value {
    let answers = match &mut value {
        Value::Array(answers) => answers.iter_mut().collect(),
        answer => vec![answer],
    };
    for answer in answers {
        if let Some(error) = answer.get_mut("error") {
            let message = error.as_object_mut().and_then(|error| error.remove("message"));
            assert!(message.is_some_and(|message| message.is_string()));
        }
    }
    value
}

/// The requests of the examples, with their responses.
const EXAMPLES: &[(&str, Option<&str>)] = &[
    // Calls with parameters by position.
    (
        r#"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#,
        Some(r#"{"jsonrpc": "2.0", "result": 19, "id": 1}"#),
    ),
    (
        r#"{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}"#,
        Some(r#"{"jsonrpc": "2.0", "result": -19, "id": 2}"#),
    ),
    // Calls with parameters by name.
    (
        r#"{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}"#,
        Some(r#"{"jsonrpc": "2.0", "result": 19, "id": 3}"#),
    ),
    (
        r#"{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": 4}"#,
        Some(r#"{"jsonrpc": "2.0", "result": 19, "id": 4}"#),
    ),
    // Notifications.
    (r#"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}"#, None),
    (r#"{"jsonrpc": "2.0", "method": "foobar"}"#, None),
    // An unknown method.
    (
        r#"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#,
        Some(r#"{"jsonrpc": "2.0", "error": {"code": -32601, "message": ""}, "id": "1"}"#),
    ),
    // Text that is not JSON.
    (
        r#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#,
        Some(r#"{"jsonrpc": "2.0", "error": {"code": -32700, "message": ""}, "id": null}"#),
    ),
    // JSON that is not a request.
    (
        r#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#,
        Some(r#"{"jsonrpc": "2.0", "error": {"code": -32600, "message": ""}, "id": null}"#),
    ),
    // A batch that is not JSON.
    (
        r#"[
            {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
            {"jsonrpc": "2.0", "method"
        ]"#,
        Some(r#"{"jsonrpc": "2.0", "error": {"code": -32700, "message": ""}, "id": null}"#),
    ),
    // A batch without messages.
    ("[]", Some(r#"{"jsonrpc": "2.0", "error": {"code": -32600, "message": ""}, "id": null}"#)),
    // Batches of values that are not messages.
    ("[1]", Some(r#"[{"jsonrpc": "2.0", "error": {"code": -32600, "message": ""}, "id": null}]"#)),
    (
        "[1,2,3]",
        Some(
            r#"[
                {"jsonrpc": "2.0", "error": {"code": -32600, "message": ""}, "id": null},
                {"jsonrpc": "2.0", "error": {"code": -32600, "message": ""}, "id": null},
                {"jsonrpc": "2.0", "error": {"code": -32600, "message": ""}, "id": null}
            ]"#,
        ),
    ),
    // A mixed batch.
    (
        r#"[
            {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
            {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
            {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},
            {"foo": "boo"},
            {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
            {"jsonrpc": "2.0", "method": "get_data", "id": "9"}
        ]"#,
        Some(
            r#"[
                {"jsonrpc": "2.0", "result": 7, "id": "1"},
                {"jsonrpc": "2.0", "result": 19, "id": "2"},
                {"jsonrpc": "2.0", "error": {"code": -32600, "message": ""}, "id": null},
                {"jsonrpc": "2.0", "error": {"code": -32601, "message": ""}, "id": "5"},
                {"jsonrpc": "2.0", "result": ["hello", 5], "id": "9"}
            ]"#,
        ),
    ),
    // A batch of notifications.
    (
        r#"[
            {"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},
            {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}
        ]"#,
        None,
    ),
];

#[test]
fn examples_have_the_specified_responses() {
    for (text, expected) in EXAMPLES {
        let value = |text: &str| without_sentences(serde_json::from_str(text).expect("JSON"));
        assert_eq!(answer(text).as_deref().map(value), expected.map(value), "{text}");
    }
}

/// Each response of the examples is a message or a batch by strict decoding.
#[test]
fn responses_of_the_examples_are_messages() {
    for (_, expected) in EXAMPLES {
        let Some(text) = expected else { continue };
        let texts = match Document::decode(text) {
            Ok(Document::Batch(batch)) => batch.texts().collect(),
            Ok(Document::Message(_)) => vec![*text],
            Err(error) => panic!("{text}: {error}"),
        };
        for text in texts {
            assert!(matches!(Message::decode_strict(text), Ok(Message::Response(_))), "{text}");
        }
    }
}
