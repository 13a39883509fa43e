//! The exported schema is equivalent to the official one: the same definitions with the same
//! members, names, variants and annotations.
use oracles::acp::canonical::{Definition, Definitions};
use oracles::acp::versions;
use std::collections::BTreeSet;

/// Official definitions without a type in a version of acp-types: jsonrpc-core defines them.
const BELOW: &[&str] = &["Error", "ErrorCode", "RequestId"];

/// Definitions of version 2 without a public type in the official module: one is private, one is
/// the type of version 1.
const NOT_OF_V2: &[&str] = &["ErrorData", "ProtocolVersion"];

/// Intended differences: member, official type, own type, and reason.
const INTENDED: &[(&str, &str, &str, &str, &str)] = &[
    ("MessageMcpRequest", "params", "object", "any", "MCP content is forwarded unchanged"),
    ("MessageMcpNotification", "params", "object", "any", "MCP content is forwarded unchanged"),
];

/// Members that the protocol had, and that are read of older peers: version, definition, member.
const REMOVED_MEMBERS: &[(&str, &str, &str)] =
    &[("v2", "StringPropertySchema", "pattern"), ("v2", "ElicitationPropertySchema", "pattern")];

/// Variants that the protocol had: definition, tag, name.
const REMOVED_VARIANTS: &[(&str, &str, &str)] = &[("PlanUpdateContent", "type", "\"file\"")];

/// Definitions that the protocol had.
const REMOVED: &[&str] = &["PlanFile"];

#[test]
fn both_have_the_same_definitions() {
    for version in versions() {
        let ours: BTreeSet<_> =
            version.ours.keys().map(String::as_str).chain(BELOW.iter().copied()).collect();
        let official: BTreeSet<_> = version.official.keys().map(String::as_str).collect();
        let missing: Vec<_> = official.difference(&ours).collect();
        assert!(missing.is_empty(), "{}: {missing:?}", version.name);
        let mut compared: BTreeSet<_> = version.types.iter().map(|one| one.name).collect();
        compared.extend(BELOW.iter().chain(NOT_OF_V2.iter().filter(|_| version.name == "v2")));
        let missing: Vec<_> = official.difference(&compared).collect();
        assert!(missing.is_empty(), "{}: not in the list of types: {missing:?}", version.name);
        assert!(official.len() > 230, "{}: {}", version.name, official.len());
    }
}

#[test]
fn definitions_are_equivalent() {
    let mut differences = Vec::new();
    let mut intended = BTreeSet::new();
    for version in versions() {
        let named = |name: &str| version.official.contains_key(name);
        let official = Definitions { all: &version.official, named: &named };
        let ours = Definitions { all: &version.ours, named: &named };
        for name in version.official.keys().filter(|name| !BELOW.contains(&name.as_str())) {
            let official = official.get(name);
            let mut ours = ours.get(name);
            for row @ (_, member, theirs, own, _) in INTENDED.iter().filter(|row| row.0 == name) {
                if replace(&mut ours, member, own, theirs) {
                    intended.insert(row);
                }
            }
            remove_former(&mut ours, version.name, name);
            if official != ours {
                differences.push(format!("{} {name}:\n{}", version.name, show(&official, &ours)));
            }
        }
    }
    assert!(differences.is_empty(), "{} differ\n{}", differences.len(), differences.join("\n"));
    assert_eq!(intended.len(), INTENDED.len(), "only these still differ: {intended:?}");
}

/// Removes the members and variants that the protocol had.
fn remove_former(ours: &mut Definition, version: &str, name: &str) {
    let Definition::Variants(variants) = ours else { return };
    *variants = std::mem::take(variants)
        .into_iter()
        .filter(|variant| {
            !REMOVED_VARIANTS.iter().any(|&(of, tag, value)| {
                of == name && variant.get(tag).is_some_and(|member| member.of == value)
            })
        })
        .map(|mut variant| {
            variant.retain(|member, _| !REMOVED_MEMBERS.contains(&(version, name, member)));
            variant
        })
        .collect();
}

#[test]
fn former_definitions_are_still_read_and_gone_officially() {
    for version in versions() {
        for name in REMOVED {
            assert!(version.ours.contains_key(*name), "{}: {name}", version.name);
            assert!(!version.official.contains_key(*name), "{}: {name}", version.name);
        }
    }
}

/// Replaces the type of a member by the official one. Returns whether it differed.
fn replace(ours: &mut Definition, name: &str, own: &str, theirs: &str) -> bool {
    let Definition::Variants(variants) = ours else { return false };
    let mut is_other = false;
    *variants = std::mem::take(variants)
        .into_iter()
        .map(|mut variant| {
            if let Some(member) = variant.get_mut(name).filter(|member| member.of == own) {
                theirs.clone_into(&mut member.of);
                is_other = true;
            }
            variant
        })
        .collect();
    is_other
}

fn show(official: &Definition, ours: &Definition) -> String {
    let (Definition::Variants(official), Definition::Variants(ours)) = (official, ours) else {
        return format!("  official {official:?}\n  ours     {ours:?}");
    };
    let (theirs, own): (Vec<_>, Vec<_>) =
        (official.difference(ours).collect(), ours.difference(official).collect());
    format!("  only official {theirs:?}\n  only ours     {own:?}")
}
