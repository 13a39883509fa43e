//! Values that the official type decodes are decoded here, and give the same JSON.

use crate::mutation::mutants;
use crate::transcript::{Payload, payloads};
use acp_types::v1::{
    authentication, file_system, initialization, prompt_turn, session_setup, terminals, tool_calls,
};
use agent_client_protocol_schema::v1 as official;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A value after decoding and encoding with both types.
struct Readings {
    official: Option<Value>,
    ours: Result<Value, String>,
}

fn read<Official, Ours>(value: &Value) -> Readings
where
    Official: DeserializeOwned + Serialize,
    Ours: jsonrpc_core::wire::Wire + Serialize,
{
    let text = value.to_string();
    let official = serde_json::from_str::<Official>(&text).ok();
    let ours = jsonrpc_core::wire::decode::<Ours>(&text);
    Readings {
        official: official.map(|read| serde_json::to_value(read).unwrap()),
        ours: ours
            .map(|read| serde_json::to_value(read).unwrap())
            .map_err(|error| error.to_string()),
    }
}

/// Returns the number of members and items of `value` that `kept` lacks. A `null` counts only if
/// another value is in its place.
fn lost(value: &Value, kept: Option<&Value>) -> usize {
    let below = match value {
        Value::Null => return usize::from(kept.is_some_and(|kept| !kept.is_null())),
        Value::Object(object) => object
            .iter()
            .map(|(name, member)| lost(member, kept.and_then(|kept| kept.get(name))))
            .sum(),
        Value::Array(items) => (items.iter().enumerate())
            .map(|(i, item)| lost(item, kept.and_then(|kept| kept.get(i))))
            .sum(),
        _ => 0,
    };
    below + usize::from(kept.is_none())
}

/// Returns whether both are equal, except for `null` members and the notation of numbers.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let within = |a: &serde_json::Map<_, _>, b: &serde_json::Map<String, Value>| {
                a.iter().all(|(name, value)| same(value, b.get(name).unwrap_or(&Value::Null)))
            };
            within(a, b) && within(b, a)
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => one == other,
    }
}

/// Decodes a value with the types of its method's params or result.
fn read_payload(payload: &Payload, value: &Value) -> Readings {
    macro_rules! table {
        ($($method:literal: $module:ident $params:ident $($result:ident)?,)*) => {
            match (payload.method.as_str(), payload.is_result) {
                $(
                    ($method, false) => read::<official::$params, $module::$params>(value),
                    $(($method, true) => read::<official::$result, $module::$result>(value),)?
                )*
                (other, _) => panic!("{}: no types for {other}", payload.place),
            }
        };
    }
    table! {
        "initialize": initialization InitializeRequest InitializeResponse,
        "authenticate": authentication AuthenticateRequest AuthenticateResponse,
        "session/new": session_setup NewSessionRequest NewSessionResponse,
        "session/load": session_setup LoadSessionRequest LoadSessionResponse,
        "session/prompt": prompt_turn PromptRequest PromptResponse,
        "session/cancel": prompt_turn CancelNotification,
        "session/update": prompt_turn SessionNotification,
        "session/request_permission": tool_calls RequestPermissionRequest RequestPermissionResponse,
        "fs/read_text_file": file_system ReadTextFileRequest ReadTextFileResponse,
        "fs/write_text_file": file_system WriteTextFileRequest WriteTextFileResponse,
        "terminal/create": terminals CreateTerminalRequest CreateTerminalResponse,
        "terminal/output": terminals TerminalOutputRequest TerminalOutputResponse,
        "terminal/wait_for_exit": terminals WaitForTerminalExitRequest WaitForTerminalExitResponse,
        "terminal/kill": terminals KillTerminalRequest KillTerminalResponse,
        "terminal/release": terminals ReleaseTerminalRequest ReleaseTerminalResponse,
    }
}

#[test]
fn every_recorded_payload_is_decoded_by_both_and_kept() {
    let payloads = payloads();
    assert!(payloads.len() > 100, "only {} payloads", payloads.len());
    for payload in payloads {
        let readings = read_payload(&payload, &payload.value);
        assert!(readings.official.is_some(), "{}: {}", payload.place, payload.value);
        assert!(
            readings.ours.as_ref().is_ok_and(|again| same(&payload.value, again)),
            "{}: {:?} of {}",
            payload.place,
            readings.ours,
            payload.value
        );
    }
}

#[test]
fn every_recorded_update_is_of_a_known_kind() {
    for payload in payloads().iter().filter(|payload| payload.method == "session/update") {
        let ours: prompt_turn::SessionNotification =
            serde_json::from_value(payload.value.clone()).unwrap();
        assert!(ours.update.is_known(), "{}: {}", payload.place, payload.value);
    }
}

/// The official types silently drop invalid optional members and items. Here they are errors with a
/// position. So an error is permitted only if the official type loses more than unknown members.
#[test]
fn parts_kept_by_official_types_are_kept() {
    let mut kept = 0;
    let mut refused = 0;
    let mut dropped = 0;
    let mut differences = Vec::new();
    for payload in payloads() {
        let unknown =
            lost(&payload.value, read_payload(&payload, &payload.value).official.as_ref());
        for mutant in mutants(&payload.value) {
            let Readings { official, ours } = read_payload(&payload, &mutant);
            let lost = official.as_ref().map(|kept| lost(&mutant, Some(kept)));
            match (lost, ours) {
                (None, _) => refused += 1,
                (Some(_), Ok(again)) if same(&mutant, &again) => kept += 1,
                (Some(lost), Err(_)) if lost > unknown => dropped += 1,
                (_, ours) => differences.push(format!("{}: {ours:?} of {mutant}", payload.place)),
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(
        kept > 1000 && refused > 100 && dropped > 100,
        "kept {kept}, refused by the official types {refused}, dropped by them {dropped}"
    );
}
