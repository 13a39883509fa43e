//! Results of tools as text.
use jsonrpc_core::wire;
use mcp_bridge::mcp::tools::CallToolResult;
use serde_json::json;

#[test]
fn results_are_converted_to_text() {
    let table = [
        (
            json!({ "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] }),
            "a\nb",
        ),
        (json!({ "content": [], "structuredContent": { "a": 1 } }), r#"{"a":1}"#),
        (json!({ "content": [{ "type": "text", "text": "a" }], "structuredContent": 1 }), "a"),
        (
            json!({ "content": [{ "type": "image", "data": "AA==", "mimeType": "image/png" }] }),
            r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#,
        ),
        (json!({ "content": [] }), ""),
    ];
    for (result, expected) in table {
        let result: CallToolResult = wire::decode(&result.to_string()).expect("a result");
        assert_eq!(result.to_text(), expected);
    }
}
