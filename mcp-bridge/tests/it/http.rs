//! Headers of Streamable HTTP.
use jsonrpc_core::{Message, wire};
use mcp_bridge::http::{check, decode_value, encode_value, headers_of, param_headers};
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge::server::ReceivedMessage;
use proptest::prelude::*;
use serde_json::{Value, json};

fn tool(schema: &Value) -> Tool {
    wire::decode(&json!({ "name": "t", "inputSchema": schema }).to_string()).expect("a tool")
}

/// Checks the headers of a call with these arguments after `change` was applied.
fn call(
    tool: &Tool,
    arguments: &Value,
    change: impl Fn(&mut Vec<(String, String)>),
) -> (Vec<(String, String)>, Result<(), String>) {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    let params = json!({ "name": "t", "arguments": arguments, "_meta": meta });
    let line = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let line = line.to_string();
    let Ok(Message::Request(request)) = Message::decode(&line) else { panic!("a request") };
    let headers = headers_of(&request, Some(tool)).expect("marks");
    let headers: Vec<_> = headers.into_iter().map(|(name, value)| (name.into(), value)).collect();
    let mut changed = headers.clone();
    change(&mut changed);
    let find = |name: &str| {
        let found =
            changed.iter().find(|(key, _): &&(String, String)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    };
    let received = ReceivedMessage::from(Message::Request(request));
    let outcome = check(&received, Some(tool), find);
    if let Err(error) = &outcome {
        assert_eq!(error.code.0, -32020);
    }
    (headers, outcome.map_err(|error| error.message.to_string()))
}

/// The examples of the specification.
#[test]
fn values_are_encoded_as_specified() {
    for (value, header) in [
        ("us-west1", "us-west1"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("us west 1", "us west 1"),
        ("", ""),
    ] {
        assert_eq!(encode_value(value), header);
        assert_eq!(decode_value(header).as_deref(), Some(value));
    }
    for damaged in ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?/w==?="] {
        assert_eq!(decode_value(damaged), None, "{damaged}");
    }
    for literal in ["SGVsbG8=", "=?base64?SGVsbG8="] {
        assert_eq!(decode_value(literal).as_deref(), Some(literal));
    }
}

proptest! {
    /// A header can have any text, and gives it back.
    #[test]
    fn value_round_trips(value in any::<String>()) {
        let header = encode_value(&value);
        prop_assert!(header.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)));
        prop_assert_eq!(header.trim(), &*header);
        let back = decode_value(&header);
        prop_assert_eq!(back.as_deref(), Some(value.as_str()));
    }
}

#[test]
fn marked_arguments_are_repeated_in_headers() {
    let marked = |kind: &str, name: &str| json!({ "type": kind, "x-mcp-header": name });
    let place = json!({ "type": "object", "properties": { "city": marked("string", "City") } });
    let tool = tool(&json!({ "type": "object", "properties": {
        "region": marked("string", "Region"), "count": marked("integer", "Count"),
        "loud": marked("boolean", "Loud"), "place": place, "plain": { "type": "string" },
    } }));
    let arguments =
        json!({ "region": "", "count": 42, "loud": null, "place": { "city": "Ł" }, "plain": "x" });
    let (headers, outcome) = call(&tool, &arguments, |_| ());
    assert_eq!(outcome, Ok(()));
    let shown = headers.iter().map(|(name, value)| format!("{name}: {value}"));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            "MCP-Protocol-Version: 2026-07-28",
            "Mcp-Method: tools/call",
            "Mcp-Name: t",
            "Mcp-Param-Count: 42",
            "Mcp-Param-City: =?base64?xYE=?=",
            "Mcp-Param-Region: ",
        ]
    );
    let same = |headers: &mut Vec<(String, String)>| {
        headers[0].0.make_ascii_uppercase();
        headers[2].1 = "  t ".into();
        headers[3].1 = "42.0".into();
    };
    assert_eq!(call(&tool, &arguments, same).1, Ok(()));
    for index in 0..headers.len() {
        let without = call(&tool, &arguments, |headers| drop(headers.remove(index))).1;
        assert_eq!(without, Err(format!("missing header {}", headers[index].0)));
        let other = call(&tool, &arguments, |headers| headers[index].1.push('7')).1;
        let name = &headers[index].0;
        assert_eq!(other, Err(format!("header {name} differs from the body")));
    }
    let unasked = |headers: &mut Vec<_>| headers.push(("Mcp-Param-Loud".into(), "true".into()));
    assert!(call(&tool, &arguments, unasked).1.is_err());
}

#[test]
fn invalid_header_keyword_is_an_error() {
    let marked = json!({ "type": "string", "x-mcp-header": "A" });
    let table = [
        (json!({ "a": { "type": "string", "x-mcp-header": "" } }), "/properties/a"),
        (json!({ "a": { "type": "string", "x-mcp-header": "My Region" } }), "/properties/a"),
        (json!({ "a": { "type": "string", "x-mcp-header": "Région" } }), "/properties/a"),
        (json!({ "a": { "type": "string", "x-mcp-header": "A\t" } }), "/properties/a"),
        (json!({ "a": { "type": "string", "x-mcp-header": 7 } }), "/properties/a"),
        (json!({ "a": { "type": "number", "x-mcp-header": "A" } }), "/properties/a"),
        (json!({ "a": { "x-mcp-header": "A" } }), "/properties/a"),
        (json!({ "a": marked, "b": { "type": "string", "x-mcp-header": "a" } }), "/properties/b"),
        (json!({ "a": { "type": "array", "items": marked } }), "/properties/a/items"),
        (json!({ "a": { "anyOf": [marked] } }), "/properties/a/anyOf/0"),
        (json!({ "a": { "$defs": { "b~/": marked } } }), "/properties/a/$defs/b~0~1"),
        (
            json!({ "a": { "not": { "properties": { "b": marked } } } }),
            "/properties/a/not/properties/b",
        ),
    ];
    for (properties, pointer) in table {
        let bad = param_headers(&tool(&json!({ "type": "object", "properties": properties })));
        assert_eq!(bad.expect_err("bad").pointer, pointer, "{properties}");
    }
    let data = json!({ "a": { "type": "object", "default": { "x-mcp-header": "A" } }, "x-mcp-header": {} });
    let fine = param_headers(&tool(&json!({ "type": "object", "properties": data })));
    assert_eq!(fine, Ok(Vec::new()));
}
