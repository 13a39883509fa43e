//! Conversions between the versions keep the JSON value.
use crate::shapes::{V2, cases};
use acp_types::{v1, v2};
use jsonrpc_core::wire::decode;
use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

/// A type of version 2, and its conversion to version 1.
struct Conversion {
    name: &'static str,
    /// The JSON values of version 2 and version 1.
    convert: fn(&str) -> (Value, Value),
}

fn convert<T: jsonrpc_core::wire::Wire + Serialize + Clone, U: From<T> + Serialize>(
    text: &str,
) -> (Value, Value) {
    let value: T = decode(text).unwrap();
    let before = serde_json::to_value(&value).unwrap();
    (before, serde_json::to_value(U::from(value)).unwrap())
}

macro_rules! conversions {
    ($( $Type:ident: $page:ident => $page1:ident::$Type1:ident, )+) => { &[$(
        Conversion {
            name: stringify!($Type),
            convert: convert::<v2::$page::$Type, v1::$page1::$Type1>,
        },
    )+] };
}

const TO_V1: &[Conversion] = conversions! {
    PlanUpdate: agent_plan => agent_plan::PlanUpdate,
    CompactionUpdate: compaction => compaction::CompactionUpdate,
    CompactionSummaryChunk: compaction => compaction::CompactionSummaryChunk,
    ContentBlock: content => content::ContentBlock,
    CreateElicitationRequest: elicitation => elicitation::CreateElicitationRequest,
    RequestPermissionOutcome: permissions => tool_calls::RequestPermissionOutcome,
    SubagentUpdate: subagents => subagents::SubagentUpdate,
    SessionMessage: subagents => subagents::SessionMessage,
    SessionMessageChunk: subagents => subagents::SessionMessageChunk,
    ToolCallLocation: tool_calls => tool_calls::ToolCallLocation,
};

/// Removes the one member that version 1 has no place for. Its `null` is kept by name.
fn without_unplaced(mut value: Value) -> Value {
    if let Some(state) = value.get_mut("state").and_then(Value::as_object_mut) {
        let reason = state.get("stopReason").and_then(Value::as_str);
        let known =
            reason.is_none_or(|reason| v2::session_states::StopReason::NAMES.contains(&reason));
        let is_null = state.get("background").is_some_and(Value::is_null);
        if state.get("state") == Some(&json!("idle")) && !known && !is_null {
            state.remove("background");
        }
    }
    value
}

/// Adds the status that version 1 requires.
fn with_status(name: &str, mut value: Value) -> Value {
    if name == "CompactionUpdate"
        && let Some(update) = value.as_object_mut()
        && update.get("status").is_none_or(Value::is_null)
    {
        update.insert("status".to_owned(), json!("in_progress"));
    }
    value
}

proptest! {
    #![proptest_config(cases(400))]

    /// A value of version 2 has the same JSON in version 1.
    #[test]
    fn version_1_has_the_same_json(
        (at, node) in (0..TO_V1.len()).prop_flat_map(|at| (Just(at), V2.instance(TO_V1[at].name)))
    ) {
        let (before, after) = (TO_V1[at].convert)(&node.text());
        let expected = with_status(TO_V1[at].name, without_unplaced(before));
        prop_assert_eq!(after, expected, "{}", TO_V1[at].name);
    }

    /// An elicitation of version 2 survives a conversion to version 1 and back.
    #[test]
    fn elicitation_request_survives_version_1(node in V2.instance("CreateElicitationRequest")) {
        let request: v2::elicitation::CreateElicitationRequest = decode(&node.text()).unwrap();
        let older = v1::elicitation::CreateElicitationRequest::from(request.clone());
        prop_assert_eq!(v2::elicitation::CreateElicitationRequest::from(older), request);
    }
}

#[test]
fn absent_form_schema_is_an_empty_object() {
    let schema =
        v2::elicitation::ElicitationSchema::from(v1::elicitation::ElicitationSchema::new());
    assert_eq!(serde_json::to_value(schema).unwrap(), json!({"type": "object", "properties": {}}));
}

#[test]
fn size_beyond_version_1_is_kept() {
    let text = r#"{"type":"resource_link","name":"n","uri":"u","size":18446744073709551615,"icons":[{"src":"s"}]}"#;
    let (before, after) = convert::<v2::content::ContentBlock, v1::content::ContentBlock>(text);
    assert_eq!(after, before);
    let size = |block: v1::content::ContentBlock| match block {
        v1::content::ContentBlock::ResourceLink(link) => link.size,
        _ => None,
    };
    let block: v2::content::ContentBlock = decode(text).unwrap();
    assert_eq!(size(block.into()), None);
}
