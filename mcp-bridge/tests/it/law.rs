//! Law of wire types: decoding and then encoding preserves the JSON value.
use crate::shapes::{Member, Presence, SHAPES, Shape};
use crate::wire_types::{self, TYPES};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Every type preserves the JSON value it was decoded from, including members of newer peers.
#[test]
fn every_type_round_trips() {
    for wire_type in TYPES {
        let config = Config { cases: 48, failure_persistence: None, ..Config::default() };
        let law = TestRunner::new(config).run(&SHAPES.instance(wire_type.name), |given| {
            let written = (wire_type.again)(&given.to_string())
                .map_err(|error| TestCaseError::fail(error.to_string()))?;
            let written: Value = serde_json::from_str(&written)
                .map_err(|error| TestCaseError::fail(format!("{written}: {error}")))?;
            prop_assert_eq!(written, given);
            Ok(())
        });
        law.unwrap_or_else(|error| panic!("{}: {error}", wire_type.name));
    }
}

/// An optional member that is `null` decodes as `None` and encodes as `null` again.
#[test]
fn null_optional_member_is_preserved() {
    for (name, shape) in &SHAPES.0 {
        let Shape::Object(members) = shape else { continue };
        let minimal = minimal(name);
        let nulls = members.iter().filter(|member| member.presence == Presence::Optional);
        let nulls = nulls.map(|member| (member.name.to_owned(), Value::Null));
        let given = minimal.as_object().expect(name).clone().into_iter().chain(nulls);
        let given = Value::Object(given.collect());
        let written = (wire_types::find(name).again)(&given.to_string()).expect(name);
        assert_eq!(serde_json::from_str::<Value>(&written).expect(name), given, "{name}");
    }
}

/// Each name and variant of the specification is a known variant of its type.
#[test]
fn every_known_variant_is_known() {
    let mut runner = TestRunner::deterministic();
    for wire_type in TYPES {
        for known in SHAPES.known(wire_type.name) {
            let text = known.new_tree(&mut runner).expect(wire_type.name).current().to_string();
            let shown = (wire_type.debug)(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert!(!shown.starts_with("Unknown("), "{}: {text}", wire_type.name);
        }
    }
}

/// A member of a wrong type is an error that points at it; a missing member is named.
#[test]
fn errors_point_at_the_member() {
    for (name, shape) in &SHAPES.0 {
        let Shape::Object(members) = shape else { continue };
        for member in members {
            check_errors(&minimal(name), *member, name);
        }
    }
}

fn check_errors(minimal: &Value, member: Member, name: &str) {
    let again = wire_types::find(name).again;
    let with = |value: Option<Value>| {
        let mut members = minimal.as_object().expect(name).clone();
        members.remove(member.name);
        members.extend(value.map(|value| (member.name.to_owned(), value)));
        Value::Object(members).to_string()
    };
    if member.presence == Presence::Required {
        let error = again(&with(None)).expect_err(member.name);
        let expected = format!("expected member `{}`, got none", member.name);
        assert_eq!(error.pointer(), "", "{name}");
        assert_eq!(error.problem(), &*expected, "{name}");
    }
    if member.of != "any" {
        let wrong = Value::from(if member.of == "bool" { "no" } else { "" }).to_string();
        let wrong = if member.of == "str" || member.of == "id" { "false" } else { &wrong };
        let is_name = matches!(SHAPES.0.get(member.of), Some(Shape::Names(_)));
        let wrong = if is_name { "false" } else { wrong };
        let text = with(Some(serde_json::from_str(wrong).expect(wrong)));
        let error = again(&text).expect_err(&text);
        let pointer = format!("/{}", member.name.replace('/', "~1"));
        assert_eq!(error.pointer(), pointer, "{name}: {error}: {text}");
    }
}

/// Returns an object with the required members only.
fn minimal(name: &str) -> Value {
    let Shape::Object(members) = &SHAPES.0[name] else { panic!("{name} is not an object") };
    let mut runner = TestRunner::deterministic();
    let instance = SHAPES.instance(name).new_tree(&mut runner).expect(name).current();
    let is_required =
        |name: &str| members.iter().any(|it| it.name == name && it.presence == Presence::Required);
    let instance = instance.as_object().expect(name).clone().into_iter();
    Value::Object(instance.filter(|(name, _)| is_required(name)).collect())
}

/// Each type has a shape and each shape a type, and both match the source.
#[test]
fn every_type_is_listed() {
    let types: BTreeSet<_> = TYPES.iter().map(|wire_type| wire_type.name.to_owned()).collect();
    let shapes: BTreeSet<_> = SHAPES.0.keys().map(|name| (*name).to_owned()).collect();
    assert_eq!(types, shapes);
    let mut source = BTreeSet::from(["SamplingContent", "SkillResources"].map(str::to_owned));
    let crate_source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = [&crate_source, &crate_source.join("mcp")]
        .map(|folder| fs::read_dir(folder).expect("a folder"));
    for path in files.into_iter().flatten().map(|file| file.expect("a file").path()) {
        // Definitions inside the macros are indented by one level.
        let text =
            if path.is_file() { fs::read_to_string(path).expect("text") } else { String::new() };
        let names = text.lines().filter_map(|line| {
            let rest = line.strip_prefix("    pub struct ");
            let rest = rest.or_else(|| line.strip_prefix("    pub enum "))?;
            rest.split([' ', ';', '{']).next()
        });
        source.extend(names.filter(|name| !DISPATCH.contains(name)).map(str::to_owned));
    }
    assert_eq!(types, source);
}

/// Types that decode by method are not wire types.
const DISPATCH: &[&str] = &[
    "ClientRequest",
    "ServerResult",
    "ServerRequest",
    "ClientResult",
    "ClientNotification",
    "ServerNotification",
];
