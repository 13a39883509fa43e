//! Values that the official types accept are accepted here, and kept as a whole. Values that they
//! drop are dropped where a schema permits it, with a diagnostic. Compared for each variant of each
//! definition, and for each value that differs from one of these in one place.
use jsonrpc_core::wire::Mode;
use oracles::acp::instances::{Change, changed, instances, lost};
use oracles::acp::types::Type;
use oracles::acp::versions;
use serde_json::Value;
use std::collections::BTreeMap;

/// An intended difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Intended {
    /// Officially an error; here an unknown name, variant or shape, which is kept.
    Open,
    /// Officially an error; here an absent optional member.
    NullIsAbsent,
    /// Officially an error; here an unknown variant, although it lacks members of all known
    /// variants.
    OpenShape,
    /// Officially an error; here forwarded text.
    PassedOn,
    /// Officially the variant without a tag, and the tag is lost; here an error with the position
    /// of the tag.
    BadTag,
}

/// Types that officially require certain members, even for an unknown tag.
const WITH_OPEN_SHAPE: &[&str] = &[
    "AuthMethod",
    "AvailableCommand",
    "CreateElicitationRequest",
    "InitialSessionConfigOption",
    "PlanUpdateContent",
    "SetSessionConfigOptionRequest",
];

#[derive(Debug, Default)]
struct Tally {
    /// Accepted by both without loss.
    kept: usize,
    /// Accepted by both; invalid parts are dropped here with a diagnostic.
    told: usize,
    /// Accepted by both; the official type drops something that is kept here.
    only_ours_keeps: usize,
    refused: usize,
    intended: BTreeMap<Intended, usize>,
    differences: Vec<String>,
}

#[test]
fn every_variant_is_decoded_by_both_and_kept() {
    for version in versions() {
        for one in version.types {
            for instance in instances(&version.official, one.name) {
                let text = instance.to_string();
                let shown = format!("{} {}: {text}", version.name, one.name);
                assert!((one.official)(&text).is_some(), "{shown}");
                let ours = (one.ours)(&text, Mode::Strict)
                    .unwrap_or_else(|error| panic!("{shown}: {error}"));
                assert_eq!(lost(&instance, Some(&ours.value)), [""; 0], "{shown}");
                assert_eq!(lost(&ours.value, Some(&instance)), [""; 0], "{shown}");
            }
        }
    }
}

#[test]
fn modified_values_are_decoded_alike() {
    let mut tally = Tally::default();
    for version in versions() {
        for one in version.types {
            for instance in instances(&version.official, one.name) {
                for (change, at, value) in changed(&instance) {
                    if let Err(problem) = compare(one, &instance, change, &value, &mut tally) {
                        let difference = format!(
                            "{} {} {change:?} {at}: {problem}: {value}",
                            version.name, one.name
                        );
                        tally.differences.push(difference);
                    }
                }
            }
        }
    }
    let Tally { kept, told, only_ours_keeps, refused, intended, differences } = tally;
    let shown = format!(
        "kept {kept}, told {told}, kept by us alone {only_ours_keeps}, refused {refused}, {intended:?}"
    );
    assert!(
        differences.is_empty(),
        "{shown}\n{} differences\n{}",
        differences.len(),
        differences.join("\n")
    );
    println!("{shown}");
    assert!(kept > 10_000 && told > 4_000 && only_ours_keeps > 3_000 && refused > 6_000, "{shown}");
    assert_eq!(intended.len(), 5, "{shown}");
}

fn compare(
    one: &Type,
    instance: &Value,
    change: Change,
    value: &Value,
    tally: &mut Tally,
) -> Result<(), String> {
    let text = value.to_string();
    let official = (one.official)(&text);
    let ours =
        [Mode::Strict, Mode::SpecLenient, Mode::Preserve].map(|mode| (one.ours)(&text, mode));
    let [strict, lenient, preserve] = ours;
    let Some(official) = official else {
        let Ok(lenient) = lenient else {
            tally.refused += 1;
            return Ok(());
        };
        let was = (one.ours)(&instance.to_string(), Mode::Strict).map_or(0, |was| was.unknown);
        let reason = if lenient.unknown > was {
            Intended::Open
        } else if change == Change::Null && lost(value, Some(&lenient.value)).is_empty() {
            Intended::NullIsAbsent
        } else if was > 0 && WITH_OPEN_SHAPE.contains(&one.name) {
            Intended::OpenShape
        } else if one.name.starts_with("MessageMcp") {
            Intended::PassedOn
        } else {
            return Err("officially an error".to_owned());
        };
        *tally.intended.entry(reason).or_default() += 1;
        return Ok(());
    };
    if one.name == "AuthMethod" && value["type"].is_boolean() && lenient.is_err() {
        *tally.intended.entry(Intended::BadTag).or_default() += 1;
        return Ok(());
    }
    let lenient = lenient?;
    let preserve = preserve?;
    if !lost(value, Some(&preserve.whole)).is_empty() {
        return Err(format!("not kept: {}", preserve.whole));
    }
    let dropped = lost(value, Some(&official));
    let is_told = |at: &String| {
        lenient
            .diagnostics
            .iter()
            .any(|(_, told)| at == told || at.starts_with(&format!("{told}/")))
    };
    let own = lost(value, Some(&lenient.value));
    // Dropped values have a diagnostic, and the official types drop them as well.
    if let Some(at) = own.iter().find(|at| !is_told(at)) {
        return Err(format!("{at} is dropped without a diagnostic"));
    }
    let is_dropped = |told: &String| {
        dropped.iter().any(|at| {
            at == told || at.starts_with(&format!("{told}/")) || told.starts_with(&format!("{at}/"))
        })
    };
    if let Some((code, told)) = lenient.diagnostics.iter().find(|(_, told)| !is_dropped(told)) {
        return Err(format!("{code:?} at {told}, officially kept: {official}"));
    }
    if lenient.diagnostics.is_empty() != strict.is_ok() {
        return Err("an error without a diagnostic, or one for nothing".to_owned());
    }
    match (own.is_empty(), dropped.is_empty()) {
        (true, true) => tally.kept += 1,
        (true, false) => tally.only_ours_keeps += 1,
        _ => tally.told += 1,
    }
    Ok(())
}
