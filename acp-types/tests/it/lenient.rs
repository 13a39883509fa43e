//! The treatment of invalid values follows the annotations of the schema exactly. `shapes.rs` has
//! the annotations; a comparison with the official types checks those.
use crate::law::{with, wrong};
use crate::shapes::{Member, Node, Presence, Shape, cases};
use crate::wire_types::{Lenient, VERSIONS, WireType};
use jsonrpc_core::wire::{DiagnosticCode, Mode};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use std::collections::BTreeMap;

/// One invalid member of an object, and the schema's treatment.
struct Case {
    text: String,
    /// The place, and the treatment; `None` for an error.
    expected: Option<(DiagnosticCode, String)>,
    /// The resulting value of the member; `None` if absent.
    left: Option<Value>,
}

/// Returns the ways to make a member invalid.
fn given(node: &Node, member: Member) -> Vec<Case> {
    let Member { name: Some(name), presence, marks, of } = member else { return Vec::new() };
    // Any value is valid for these.
    if of == "any" {
        return Vec::new();
    }
    let has = |mark| marks.contains(mark);
    let default = (presence == Presence::Required).then(|| Value::Array(Vec::new()));
    let at = |item: &str| format!("/{name}{item}");
    let on_error = has('~').then(|| (DiagnosticCode::DefaultOnError, at("")));
    let of_kind = Case {
        text: with(node, name, Some(wrong(of))),
        expected: on_error.clone(),
        left: default.clone(),
    };
    let mut cases = vec![of_kind];
    // The id of a request may be `null`.
    if presence == Presence::Required && of != "id" {
        let on_null = has('0').then(|| (DiagnosticCode::DefaultOnNull, at("")));
        let text = with(node, name, Some("null"));
        cases.push(Case { text, expected: on_null.or(on_error.clone()), left: default.clone() });
    }
    if let Some(item) = of.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let text = with(node, name, Some(&format!("[{}]", wrong(item))));
        let skipped = has('i').then(|| (DiagnosticCode::SkippedItem, at("/0")));
        let left = if skipped.is_some() { Some(Value::Array(Vec::new())) } else { default };
        cases.push(Case { text, expected: skipped.or(on_error), left });
    }
    cases
}

/// An invalid member is treated as annotated, with a diagnostic, and is an error without an
/// annotation. In the preserving mode it is encoded again.
#[test]
fn invalid_members_follow_the_schema() {
    let mut runner = TestRunner::deterministic();
    let mut lenient = 0;
    let mut refused = 0;
    for version in VERSIONS {
        for (name, shape) in &version.shapes.0 {
            let Shape::Object(members) = shape else { continue };
            let node = version.shapes.instance(name).new_tree(&mut runner).expect(name).current();
            for member in members {
                for case in given(&node, *member) {
                    let is_lenient = case.expected.is_some();
                    check(version.find(name), member.name.unwrap_or_default(), &case);
                    *(if is_lenient { &mut lenient } else { &mut refused }) += 1;
                }
            }
        }
    }
    assert!(lenient > 350 && refused > 800, "{lenient} lenient, {refused} refused");
}

fn check(wire_type: &WireType, member: &str, case: &Case) {
    let shown = format!("{}: {}", wire_type.name, case.text);
    let strict = (wire_type.with)(&case.text, Mode::Strict);
    let strict = strict.err().unwrap_or_else(|| panic!("{shown} was taken"));
    let read = [Mode::SpecLenient, Mode::Preserve].map(|mode| (wire_type.with)(&case.text, mode));
    let Some(expected) = &case.expected else {
        for read in read {
            assert_eq!(
                read.err().map(|error| error.pointer().to_owned()),
                Some(strict.pointer().to_owned()),
                "{shown}"
            );
        }
        return;
    };
    let given: Value = serde_json::from_str(&case.text).expect("JSON");
    for (mode, read) in [Mode::SpecLenient, Mode::Preserve].into_iter().zip(read) {
        let Lenient { value, whole, diagnostics } =
            read.unwrap_or_else(|error| panic!("{shown}: {error}"));
        let reported: Vec<_> = diagnostics
            .into_iter()
            .map(|diagnostic| (diagnostic.code, diagnostic.pointer))
            .collect();
        assert_eq!(reported.as_slice(), std::slice::from_ref(expected), "{shown}");
        let value: Value = serde_json::from_str(&value).expect("JSON");
        if mode == Mode::SpecLenient {
            assert_eq!(value.get(member), case.left.as_ref(), "{shown}");
        }
        let whole: Value = serde_json::from_str(&whole).expect("JSON");
        let again = if mode == Mode::Preserve { &given } else { &value };
        assert_eq!(with_floats(&whole), with_floats(again), "{shown}");
    }
}

/// The value with all numbers as floats.
fn with_floats(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), with_floats(value))).collect()
        }
        Value::Array(items) => items.iter().map(with_floats).collect(),
        Value::Number(number) => number.as_f64().into(),
        other => other.clone(),
    }
}

/// A value with any number of invalid annotated members, at any depth, is decoded with a diagnostic
/// for each, and encoded unchanged in the preserving mode.
#[test]
fn invalid_members_are_preserved() {
    for version in VERSIONS {
        let marked: BTreeMap<_, _> = version
            .shapes
            .0
            .iter()
            .filter_map(|(name, shape)| match shape {
                Shape::Object(members) => Some((*name, members)),
                _ => None,
            })
            .filter(|(_, members)| members.iter().any(|member| member.marks.contains('~')))
            .collect();
        for (name, members) in marked {
            let config = Config { failure_persistence: None, ..cases(12) };
            let which = prop::collection::vec(any::<bool>(), members.len());
            let law = TestRunner::new(config).run(
                &(version.shapes.instance(name), which),
                |(node, which)| {
                    let mut text = node.text();
                    let mut broken = 0;
                    for (member, _) in members.iter().zip(&which).filter(|(_, which)| **which) {
                        let Member { name: Some(member_name), marks, of, .. } = member else {
                            continue;
                        };
                        if marks.contains('~') && *of != "any" {
                            text = replace(&text, member_name, wrong(of));
                            broken += 1;
                        }
                    }
                    let read = (version.find(name).with)(&text, Mode::Preserve)
                        .map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
                    prop_assert_eq!(read.diagnostics.len(), broken, "{}", text);
                    let given: Value = serde_json::from_str(&text).expect("JSON");
                    let whole: Value = serde_json::from_str(&read.whole).expect("JSON");
                    prop_assert_eq!(with_floats(&whole), with_floats(&given));
                    Ok(())
                },
            );
            law.unwrap_or_else(|error| panic!("{}::{name}: {error}", version.name));
        }
    }
}

/// Returns the text of an object with one member replaced.
fn replace(text: &str, name: &str, value: &str) -> String {
    let mut object: Value = serde_json::from_str(text).expect("JSON");
    object[name] = serde_json::from_str(value).expect("JSON");
    object.to_string()
}
