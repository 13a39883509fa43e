//! Ids keep their notation and are compared by value.
use jsonrpc_core::RequestId;
use proptest::prelude::*;
use std::collections::{BTreeSet, HashSet};

fn id(text: &str) -> RequestId {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn ids_are_compared_by_value_and_keep_their_notation() {
    let groups: &[&[&str]] = &[
        &["null"],
        &["0", "-0", "0.0", "-0.0e7", "0e999999999999999999999"],
        &["1", "1.0", "1e0", "10e-1", "0.1E+1", "1.000"],
        &["-1", "-1.0"],
        &["1000", "1e3", "1E+3", "1000.000"],
        &["1.5", "15e-1", "0.15e1"],
        &["9223372036854775807", "9223372036854775807.0"],
        &["-9223372036854775808", "-922337203685477580.8e1"],
        &["9223372036854775808", "9.223372036854775808e18"],
        &["123456789012345678901234567890"],
        &["1e400", "10e399"],
        &["1e-400"],
        &["1e99999999999999999999"],
        &["1e99999999999999999998"],
        &[r#""""#],
        &[r#""1""#, r#""\u0031""#],
        &[r#""a\"b""#, r#""\u0061\u0022b""#],
        &[r#""1.0""#],
        &[r#""null""#],
    ];
    let mut seen = BTreeSet::new();
    for (at, group) in groups.iter().enumerate() {
        assert!(seen.insert(id(group[0])), "{at}: equal to one before");
        for text in *group {
            assert_eq!(id(text), id(group[0]), "{text}");
            assert_eq!(serde_json::to_string(&id(text)).ok().as_deref(), Some(*text));
        }
        assert_eq!(
            group.iter().map(|text| id(text)).collect::<HashSet<_>>().len(),
            1,
            "{at}: hash"
        );
    }
}

#[test]
fn ids_are_created_and_displayed_without_quotes() {
    assert_eq!(RequestId::from(-7), id("-7"));
    assert_eq!(RequestId::from("a\nb"), id(r#""a\nb""#));
    assert_eq!(RequestId::NULL, id("null"));
    let shown = ["null", "-7", "1.0", r#""x""#, r#""\u0078""#].map(|text| id(text).to_string());
    assert_eq!(shown, ["null", "-7", "1.0", "x", "x"]);
    assert_eq!(id("7").as_i64(), Some(7));
    assert_eq!(id("7.0").as_i64(), Some(7));
    assert_eq!(id("7.5").as_i64(), None);
    assert_eq!(id("\"7\"").as_i64(), None);
    assert_eq!(id("\"7\"").as_str(), Some("7"));
    assert_eq!(id("7").as_str(), None);
}

#[test]
fn invalid_ids_are_rejected() {
    let long = format!("\"{}\"", "x".repeat(RequestId::MAX_LEN - 1));
    for text in ["true", "[]", "{}", r#""\ud800""#, &long] {
        assert!(serde_json::from_str::<RequestId>(text).is_err(), "{text}");
    }
    let longest = format!("\"{}\"", "x".repeat(RequestId::MAX_LEN - 2));
    assert_eq!(serde_json::to_string(&id(&longest)).ok(), Some(longest));
}

#[test]
fn ids_are_small() {
    assert!(size_of::<RequestId>() <= 3 * size_of::<usize>());
}

/// A number as digits and a power of ten, in one of many notations.
fn spelled(digits: i64, power: i32, zeros: u32, point: usize) -> String {
    let sign = if digits < 0 { "-" } else { "" };
    let mut text = digits.unsigned_abs().to_string();
    text.extend(std::iter::repeat_n('0', zeros as usize));
    let at = if digits == 0 { 1 } else { 1 + point % text.len() };
    let fraction = text.split_off(at);
    let power = power - zeros as i32 + fraction.len() as i32;
    let fraction = if fraction.is_empty() { fraction } else { format!(".{fraction}") };
    format!("{sign}{text}{fraction}e{power}")
}

proptest! {
    /// Two notations are equal exactly if they denote the same number.
    #[test]
    fn numbers_are_compared_by_value(
        digits in -99_999_i64..99_999,
        power in -30..30_i32,
        ways in prop::array::uniform2((0..4_u32, 0..8_usize)),
        other in -99_999_i64..99_999,
    ) {
        let [one, two] = ways.map(|(zeros, point)| id(&spelled(digits, power, zeros, point)));
        prop_assert_eq!(&one, &two);
        let other_id = id(&spelled(other, power, ways[0].0, ways[1].1));
        prop_assert_eq!(one == other_id, digits == other);
    }

    /// A string id has the value that serde_json reads, and keeps its notation.
    #[test]
    fn strings_are_compared_by_value(text in crate::json::string()) {
        let expected: String = serde_json::from_str(&text).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let id = id(&text);
        prop_assert_eq!(id.as_str(), Some(&*expected));
        prop_assert_eq!(&id, &RequestId::from(&*expected));
        prop_assert_eq!(serde_json::to_string(&id).ok(), Some(text));
    }
}
