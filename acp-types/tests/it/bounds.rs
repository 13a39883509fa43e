//! Values with bounds: keys of prompts and sizes of terminals.
use acp_types::v2::prompt_lifecycle::{IdempotencyKey, PromptRequest};
use acp_types::v2::terminals::{TerminalSize, TerminalUpdate};
use jsonrpc_core::wire::{Mode, Presence, decode, decode_with};
use serde_json::json;

/// A key has 1 to 255 characters, counted as in JSON Schema.
#[test]
fn key_has_1_to_255_characters() {
    for (key, is_valid) in [
        (String::new(), false),
        ("k".to_owned(), true),
        ("k".repeat(255), true),
        ("k".repeat(256), false),
        ("é".repeat(255), true),
        ("é".repeat(256), false),
    ] {
        assert_eq!(IdempotencyKey::new(&*key).is_some(), is_valid, "{key}");
        let params = json!({ "sessionId": "s", "prompt": [], "idempotencyKey": key }).to_string();
        assert_eq!(decode::<PromptRequest>(&params).is_ok(), is_valid, "{key}");
    }
}

/// An invalid key is an error in each mode: an agent must not treat it as absent.
#[test]
fn invalid_key_is_never_absent() {
    let params = r#"{"sessionId":"s","prompt":[],"idempotencyKey":""}"#;
    for mode in [Mode::Strict, Mode::SpecLenient, Mode::Preserve] {
        let error = decode_with::<PromptRequest>(params, mode).unwrap_err();
        assert_eq!(
            error.to_string(),
            "at /idempotencyKey: expected a string of 1 to 255 characters, got string",
        );
    }
    let params = r#"{"sessionId":"s","prompt":[],"idempotencyKey":null}"#;
    let request: PromptRequest = decode(params).unwrap();
    assert_eq!(request.idempotency_key, None);
}

/// A terminal has at least one column and one row. An update without a valid size keeps the rest.
#[test]
fn terminal_has_a_column_and_a_row() {
    for (size, is_valid) in [
        (json!({ "cols": 1, "rows": 65_535 }), true),
        (json!({ "cols": 0, "rows": 24 }), false),
        (json!({ "cols": 80, "rows": 0 }), false),
        (json!({ "cols": 65_536, "rows": 24 }), false),
    ] {
        assert_eq!(decode::<TerminalSize>(&size.to_string()).is_ok(), is_valid, "{size}");
        let update = json!({ "terminalId": "t", "size": size, "command": "make" }).to_string();
        let read = decode_with::<TerminalUpdate>(&update, Mode::SpecLenient).unwrap();
        assert_eq!(read.value.command, Presence::Value("make".to_owned()));
        assert_eq!(read.value.size.value().is_some(), is_valid, "{size}");
        assert_eq!(read.diagnostics.is_empty(), is_valid, "{size}");
    }
}
