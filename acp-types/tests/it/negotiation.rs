//! Agreeing on a version.
use acp_types::negotiation::{Phase, accept, answer, open_v1, open_v2, repeat, requested};
use acp_types::v1::initialization::ProtocolVersion;
use acp_types::v2::error::{ErrorData, UNSUPPORTED_PROTOCOL_VERSION};
use jsonrpc_core::ErrorCode;
use jsonrpc_core::wire::Raw;
use proptest::prelude::*;
use serde_json::{Value, json};

fn versions(numbers: &[u16]) -> Vec<ProtocolVersion> {
    numbers.iter().copied().map(ProtocolVersion).collect()
}

fn raw(value: &Value) -> Raw {
    Raw::from_value(value).expect("it has a JSON form")
}

/// What the agent speaks, what the client asks for, what the answer is; nothing where it is an error.
#[test]
fn an_agent_answers() {
    for (supported, asked, expected) in [
        // An agent of version 1 answers with its own.
        (&[1][..], 1, Some(1)),
        (&[1], 2, Some(1)),
        (&[1], 65535, Some(1)),
        (&[1], 0, Some(1)),
        (&[0, 1], 0, Some(0)),
        (&[0], 1, Some(0)),
        // One of a later version answers with the highest up to the one that was asked for.
        (&[1, 2], 1, Some(1)),
        (&[1, 2], 2, Some(2)),
        (&[1, 2], 3, Some(2)),
        (&[2, 1], 2, Some(2)),
        (&[1, 3], 2, Some(1)),
        (&[2], 3, Some(2)),
        (&[2], 1, None),
        (&[1, 2], 0, None),
        (&[2, 3], 1, None),
        (&[], 1, None),
    ] {
        let answered = answer(&versions(supported), ProtocolVersion(asked));
        assert_eq!(
            answered.as_ref().ok(),
            expected.map(ProtocolVersion).as_ref(),
            "{supported:?} {asked}"
        );
        let Err(refused) = answered else { continue };
        let error = refused.to_error();
        assert_eq!(error.code, UNSUPPORTED_PROTOCOL_VERSION);
        let data = error.data.as_ref().map(Raw::as_str).map(serde_json::from_str::<Value>);
        let expected = json!({ "requested": asked, "supported": supported });
        assert_eq!(data.and_then(Result::ok), Some(expected));
        let data = ErrorData::from(error.data.expect("data"));
        assert!(matches!(data, ErrorData::UnsupportedProtocolVersion(_)), "{data:?}");
    }
}

/// A client leaves where it does not speak what the agent answered.
#[test]
fn a_client_checks() {
    for (supported, answered, expected) in [
        (&[1][..], 1, true),
        (&[1], 2, false),
        (&[1], 0, false),
        (&[1, 2], 1, true),
        (&[1, 2], 2, true),
        (&[2], 1, false),
    ] {
        let accepted = accept(&versions(supported), ProtocolVersion(answered));
        assert_eq!(accepted.is_ok(), expected, "{supported:?} {answered}");
    }
    let error = accept(&versions(&[1, 2]), ProtocolVersion(7)).expect_err("not spoken");
    assert_eq!(error.to_string(), "version 7 is none of those that this side speaks: 1 2");
}

proptest! {
    /// An answer is a version that the agent speaks, and a client that speaks it too takes it.
    #[test]
    fn an_answer_is_spoken(
        supported in prop::collection::vec(0_u16..5, 1..4),
        asked in 0_u16..6,
    ) {
        let supported = versions(&supported);
        if let Ok(version) = answer(&supported, ProtocolVersion(asked)) {
            prop_assert!(supported.contains(&version));
            prop_assert_eq!(accept(&supported, version), Ok(version));
            let is_legacy = supported.iter().all(|version| *version <= ProtocolVersion::V1);
            prop_assert!(is_legacy || version.0 <= asked);
        }
    }
}

/// A version is an integer of sixteen bits.
#[test]
fn a_version_is_a_number() {
    for (params, expected) in [
        (json!({ "protocolVersion": 1 }), Ok(1)),
        (json!({ "protocolVersion": 65535, "more": [] }), Ok(65535)),
        (json!({ "protocolVersion": "1" }), Err("/protocolVersion")),
        (json!({ "protocolVersion": 65536 }), Err("/protocolVersion")),
        (json!({ "protocolVersion": -1 }), Err("/protocolVersion")),
        (json!({ "protocolVersion": 1.5 }), Err("/protocolVersion")),
        (json!({ "protocolVersion": null }), Err("/protocolVersion")),
        (json!({}), Err("")),
        (json!([]), Err("")),
    ] {
        let read = requested(raw(&params).as_ref());
        let read = read.as_ref().map(|version| version.0).map_err(|error| error.pointer());
        assert_eq!(read, expected, "{params}");
    }
}

/// Parameters for a later version lose what does not fit, and say so; those for this one must fit.
#[test]
fn parameters_are_taken_down() {
    let bad = json!({ "fs": 7 });
    let rows = [
        (json!({ "protocolVersion": 1, "clientCapabilities": { "terminal": true } }), Ok(vec![])),
        (json!({ "protocolVersion": 1, "clientCapabilities": bad }), Err("/clientCapabilities/fs")),
        (json!({ "protocolVersion": 0, "clientInfo": [] }), Err("/clientInfo")),
        (
            json!({ "protocolVersion": 2, "clientCapabilities": bad, "clientInfo": "me", "x": 1 }),
            Ok(vec!["/clientCapabilities/fs", "/clientInfo"]),
        ),
    ];
    for (params, expected) in rows {
        let opening = open_v1(raw(&params).as_ref());
        let dropped = opening
            .as_ref()
            .map(|opening| opening.dropped.iter().map(|error| error.pointer()).collect::<Vec<_>>());
        assert_eq!(dropped.map_err(|error| error.pointer()), expected, "{params}");
    }
    let params = json!({ "protocolVersion": 2, "clientInfo": "me", "info": {}, "x": 1 });
    let opening = open_v1(raw(&params).as_ref()).expect("it is taken down");
    assert_eq!(
        serde_json::to_value(&opening.request).ok(),
        Some(json!({ "protocolVersion": 2, "info": {}, "x": 1 })),
    );
}

/// A client that does not say which program it is has no name where a later version was asked for; else it must.
#[test]
fn a_program_may_be_unknown() {
    let unknown = json!({ "name": "unknown", "version": "unknown" });
    let known = json!({ "name": "editor", "version": "1" });
    for (params, expected) in [
        (json!({ "protocolVersion": 3 }), Ok((unknown.clone(), vec![]))),
        (json!({ "protocolVersion": 3, "info": { "name": 7 } }), Ok((unknown, vec!["/info/name"]))),
        (
            json!({ "protocolVersion": 3, "info": known, "capabilities": { "auth": true } }),
            Ok((known.clone(), vec!["/capabilities/auth"])),
        ),
        (json!({ "protocolVersion": 2, "info": known }), Ok((known, vec![]))),
        (json!({ "protocolVersion": 2 }), Err("")),
        (json!({ "protocolVersion": 2, "info": 7 }), Err("/info")),
        (json!({ "protocolVersion": 1 }), Err("")),
    ] {
        let opening = open_v2(raw(&params).as_ref());
        let read = opening.as_ref().map(|opening| {
            let info = serde_json::to_value(&opening.request.info).expect("it has a JSON form");
            (info, opening.dropped.iter().map(|error| error.pointer()).collect::<Vec<_>>())
        });
        assert_eq!(read.map_err(|error| error.pointer()), expected, "{params}");
    }
}

/// One more `initialize` is taken only between the answer to the first and any other request.
#[test]
fn initialize_may_come_again() {
    let (v1, v2) = (ProtocolVersion::V1, ProtocolVersion::V2);
    for (phase, again, expected) in [
        (Phase::Initializing, v2, false),
        (Phase::Initialized(v2), v2, true),
        (Phase::Initialized(v2), v1, false),
        (Phase::Initialized(v1), v2, false),
        (Phase::InUse, v2, false),
    ] {
        let repeated = repeat(phase, again);
        assert_eq!(repeated.is_ok(), expected, "{phase:?}");
        assert!(repeated.err().is_none_or(|error| error.code == ErrorCode::INVALID_REQUEST));
    }
}
