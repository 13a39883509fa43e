//! The law: decode, then encode, gives the same JSON value.
use crate::shapes::{Member, Node, Presence, Shape, cases};
use crate::wire_types::VERSIONS;
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::SessionNotification;
use acp_types::v2::prompt_lifecycle::UpdateSessionNotification;
use acp_types::{v1, v2};
use jsonrpc_core::wire::DecodeError;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use std::collections::BTreeSet;

const WORD: usize = size_of::<usize>();

/// Every type returns the JSON value that it was decoded from, with any additions of a newer peer.
#[test]
fn every_type_round_trips() {
    for version in VERSIONS {
        for wire_type in version.types {
            let config = Config { failure_persistence: None, ..cases(48) };
            let law =
                TestRunner::new(config).run(&version.shapes.instance(wire_type.name), |node| {
                    let written = (wire_type.again)(&node.text())
                        .map_err(|error| TestCaseError::fail(error.to_string()))?;
                    let value: Value = serde_json::from_str(&written)
                        .map_err(|error| TestCaseError::fail(format!("{written}: {error}")))?;
                    prop_assert_eq!(value, node.value());
                    Ok(())
                });
            law.unwrap_or_else(|error| panic!("{}::{}: {error}", version.name, wire_type.name));
        }
    }
}

/// Each type has a shape, and each shape a type.
#[test]
fn every_type_has_a_shape() {
    for version in VERSIONS {
        let types: BTreeSet<_> = version.types.iter().map(|wire_type| wire_type.name).collect();
        let shapes: BTreeSet<_> = version.shapes.0.keys().copied().collect();
        assert_eq!(types, shapes, "{}", version.name);
    }
}

/// Each name and each variant of the specification is a known variant of its type.
#[test]
fn every_known_variant_is_known() {
    let mut runner = TestRunner::deterministic();
    for version in VERSIONS {
        for wire_type in version.types {
            for known in version.shapes.known(wire_type.name) {
                let text = known.new_tree(&mut runner).expect(wire_type.name).current().text();
                let shown =
                    (wire_type.debug)(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
                assert!(!shown.starts_with("Unknown("), "{}: {text}", wire_type.name);
            }
        }
    }
}

/// A member with a wrong type is an error with its place; a missing one is named.
#[test]
fn errors_point_at_the_member() {
    let mut runner = TestRunner::deterministic();
    for version in VERSIONS {
        for (name, shape) in &version.shapes.0 {
            let Shape::Object(members) = shape else { continue };
            let node = version.shapes.instance(name).new_tree(&mut runner).expect(name).current();
            for member in members {
                check_errors(&node, *member, name, version.find(name).again);
            }
        }
    }
}

fn check_errors(
    node: &Node,
    member: Member,
    name: &str,
    again: fn(&str) -> Result<String, DecodeError>,
) {
    let Member { name: Some(member_name), presence, of, .. } = member else { return };
    if presence == Presence::Required {
        let error = again(&with(node, member_name, None)).expect_err(member_name);
        let expected = format!("expected member `{member_name}`, got none");
        assert_eq!(error.pointer(), "", "{name}");
        assert_eq!(error.problem(), &*expected, "{name}");
    }
    let wrong = wrong(of);
    if of != "any" {
        let text = with(node, member_name, Some(wrong));
        let error = again(&text).expect_err(&text);
        assert_eq!(error.pointer(), format!("/{member_name}"), "{name}: {error}: {text}");
    }
}

/// Returns a text that no value of the type matches.
pub(crate) fn wrong(of: &str) -> &'static str {
    if of == "bool" || of.starts_with(['u', 'i', 'f']) { "{}" } else { "false" }
}

/// Returns the text of an object with one member replaced or removed.
pub(crate) fn with(node: &Node, name: &str, text: Option<&str>) -> String {
    let Node::Object(members) = node else { panic!("not an object: {node:?}") };
    let others = members.iter().filter(|(member, _)| member != name).cloned();
    let member = text.map(|text| (name.to_owned(), Node::Value(text.to_owned(), Value::Null)));
    Node::Object(others.chain(member).collect()).text()
}

/// Cloning an id shares its text without allocating.
#[test]
fn ids_are_cheap_to_clone() {
    let session = v1::session_setup::SessionId::from("sess-1");
    assert_eq!(session.clone().as_str().as_ptr(), session.as_str().as_ptr());
    let call = v2::tool_calls::ToolCallId::from("call-1");
    assert_eq!(call.clone().as_str().as_ptr(), call.as_str().as_ptr());
    assert_eq!(size_of_val(&session), 2 * WORD);
    assert_eq!(size_of_val(&call), 2 * WORD);
    assert_eq!(size_of::<Option<v1::prompt_turn::MessageId>>(), 2 * WORD);
}

/// The most frequent types are small: moving them copies few words, and lists of blocks are dense.
#[test]
fn hot_types_are_small() {
    assert!(size_of::<SessionNotification>() <= 15 * WORD);
    assert!(size_of::<ContentBlock>() <= 6 * WORD);
    assert!(size_of::<UpdateSessionNotification>() <= 15 * WORD);
    assert!(size_of::<v2::content::ContentBlock>() <= 6 * WORD);
}
