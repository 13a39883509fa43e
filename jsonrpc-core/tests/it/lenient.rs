//! The treatment of invalid values that a specification defines is applied, reported, and
//! reversible.
use jsonrpc_core::wire::{self, DecodedValue, DiagnosticCode, Extra, Mode, Presence, Raw};
use jsonrpc_core::{member_union, object, open_union};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;

mod laws;
mod names;

object! {
    /// An item of a list, with an annotation of its own.
    pub struct Step {
        /// Required, without annotations.
        name: String = "name",
    }
    optional {
        /// Optional.
        priority: u8 = "priority" [default_on_error],
    }
}

object! {
    /// Every kind of member, with every kind of annotation.
    pub struct Plan {
        /// Required.
        title: String = "title",
        /// Required, and a list.
        steps: Vec<Step> = "steps" [skip_invalid_items, default_on_null] or "[]",
        /// Required, with another default.
        size: u32 = "size" [default_on_error] or "7",
    }
    optional {
        /// Optional, and a list.
        tags: Vec<String> = "tags" [default_on_error, skip_invalid_items],
        /// Optional.
        note: String = "note" [default_on_error],
        /// Optional, without annotations.
        done: bool = "done",
        /// A nested object.
        inner: Box<Plan> = "inner" [default_on_error],
    }
    patch {
        /// Patched.
        owner: String = "owner" [default_on_error],
    }
    and "_meta"
}

open_union! {
    /// A union with a tag that may follow the members.
    pub enum Update by "type" {
        /// With members.
        Plan(Box<Plan>) = "plan",
        /// Without.
        Nothing(Extra) = "nothing",
    }
}

object! {
    /// An object with a flattened union.
    pub struct Frame {
        /// An identifier.
        at: u32 = "at",
    }
    rest {
        /// The union.
        update: Update,
    }
}

member_union! {
    /// A union without a tag.
    pub enum Either {
        /// Has `at`.
        Frame(Frame) has "at",
        /// Has `title`.
        Plan(Plan) has "title",
    }
}

fn told<T>(decoded: &DecodedValue<T>) -> Vec<String> {
    decoded.diagnostics.iter().map(ToString::to_string).collect()
}

/// Decodes a text in each mode; strict decoding is an error.
fn lenient<T: wire::Wire + serde::Serialize + std::fmt::Debug>(text: &str) -> DecodedValue<T> {
    let strict = wire::decode_with::<T>(text, Mode::Strict).expect_err(text);
    assert_eq!(
        Err(strict.to_string()),
        wire::decode::<T>(text).map(drop).map_err(|error| error.to_string())
    );
    let lenient = wire::decode_with::<T>(text, Mode::SpecLenient).expect(text);
    let preserved = wire::decode_with::<T>(text, Mode::default()).expect(text);
    assert_eq!(format!("{:?}", lenient.value), format!("{:?}", preserved.value), "{text}");
    assert_eq!(lenient.diagnostics, preserved.diagnostics, "{text}");
    let value: Value = serde_json::from_str(text).expect(text);
    let again: Value = serde_json::from_str(&preserved.encode().expect(text)).expect(text);
    assert_eq!(again, value, "{text}");
    let plain = serde_json::to_string(&lenient.value).expect(text);
    assert_eq!(lenient.encode().expect(text), plain, "{text}");
    preserved
}

#[test]
fn each_annotation_is_applied() {
    let table: [(&str, &[&str]); 9] = [
        (r#""steps":null,"size":1"#, &["default_on_null at /steps: expected a sequence, got null"]),
        (r#""steps":[],"size":"x""#, &["default_on_error at /size: expected u32, got string"]),
        (r#""steps":[],"size":null"#, &["default_on_error at /size: expected u32, got null"]),
        (
            r#""steps":[1,{"name":"a"},{"name":2},{"name":"b"},null],"size":1"#,
            &[
                "skipped_item at /steps/0: expected an object (Step), got number",
                "skipped_item at /steps/2: at /steps/2/name: expected a string, got number",
                "skipped_item at /steps/4: expected an object (Step), got null",
            ],
        ),
        (
            r#""steps":[{"name":"a","priority":300}],"size":1"#,
            &["default_on_error at /steps/0/priority: expected u8, got number"],
        ),
        (
            r#""steps":[],"size":1,"tags":["a",1,"b"],"note":{}"#,
            &[
                "skipped_item at /tags/1: expected a string, got number",
                "default_on_error at /note: expected a string, got object",
            ],
        ),
        (
            r#""steps":[],"size":1,"tags":"a""#,
            &["default_on_error at /tags: expected a sequence, got string"],
        ),
        (
            r#""steps":[],"size":1,"owner":7"#,
            &["default_on_error at /owner: expected a string, got number"],
        ),
        (
            r#""steps":[],"size":1,"inner":{"title":"b","steps":[7],"size":"x","done":1}"#,
            &[
                "skipped_item at /inner/steps/0: expected an object (Step), got number",
                "default_on_error at /inner/size: expected u32, got string",
                "default_on_error at /inner: at /inner/done: expected a boolean, got number",
            ],
        ),
    ];
    for (members, expected) in table {
        for text in [
            format!(r#"{{"title":"t",{members}}}"#),
            format!(r#"{{{members},"x~/y":1.50,"title":"t"}}"#),
        ] {
            assert_eq!(told(&lenient::<Plan>(&text)), expected, "{text}");
        }
    }
}

#[test]
fn replacements_follow_the_specification() {
    let text =
        r#"{"title":"t","steps":[{"name":"a","priority":-1},0],"size":[],"note":1,"owner":false}"#;
    let DecodedValue { value: plan, diagnostics, .. } = lenient::<Plan>(text);
    assert_eq!(plan.steps.len(), 1);
    assert_eq!(plan.steps[0].priority, None);
    assert_eq!(plan.size, 7);
    assert_eq!(plan.note, None);
    assert_eq!(plan.owner, Presence::Absent);
    let codes: Vec<_> = diagnostics.iter().map(|told| told.code).collect();
    use DiagnosticCode::{DefaultOnError, SkippedItem};
    assert_eq!(
        codes,
        [DefaultOnError, SkippedItem, DefaultOnError, DefaultOnError, DefaultOnError]
    );
}

#[test]
fn annotations_apply_to_buffered_members() {
    let members = r#""title":"t","steps":[{"name":"a"},7,{"name":"b","priority":"x"}],"size":1"#;
    let expected = [
        "skipped_item at /steps/1: expected an object (Step), got number",
        "default_on_error at /steps/2/priority: expected u8, got string",
    ];
    let first = format!(r#"{{"type":"plan",{members}}}"#);
    let last = format!(r#"{{{members},"type":"plan"}}"#);
    for text in [&first, &last] {
        assert_eq!(told(&lenient::<Update>(text)), expected, "{text}");
        let framed = text.replacen('{', r#"{"at":1,"#, 1);
        assert_eq!(told(&lenient::<Frame>(&framed)), expected, "{framed}");
        assert_eq!(told(&lenient::<Either>(&framed)), expected, "{framed}");
    }
    assert_eq!(told(&lenient::<Either>(&format!("{{{members}}}"))), expected);
    let list = format!("[{last},{first}]");
    assert_eq!(told(&lenient::<Vec<Update>>(&list)).len(), 4);
}

#[test]
fn members_without_annotations_are_errors() {
    let table = [
        (r#"{"title":7,"steps":[],"size":1}"#, "at /title: expected a string, got number"),
        (
            r#"{"title":"t","steps":[],"size":1,"done":"no"}"#,
            "at /done: expected a boolean, got string",
        ),
        (r#"{"title":"t","steps":{},"size":1}"#, "at /steps: expected a sequence, got object"),
        (r#"{"steps":[],"size":1}"#, "expected member `title`, got none"),
        (r#"{"title":"t","size":1}"#, "expected member `steps`, got none"),
        (r#"{"title":"t","steps":[],"size":1,"size":2}"#, "expected one member `size`, got two"),
        (
            r#"{"title":"t","steps":[0,0],"size":1,"done":"#,
            "expected JSON, got EOF while parsing a value at line 1 column 43",
        ),
        // Earlier replacements do not change the error.
        (
            r#"{"title":"t","steps":[0,{"name":"a"}],"size":"x","done":[]}"#,
            "at /done: expected a boolean, got array",
        ),
    ];
    for (text, expected) in table {
        for mode in [Mode::SpecLenient, Mode::Preserve] {
            let error = wire::decode_with::<Plan>(text, mode).expect_err(text);
            assert_eq!(error.to_string(), expected, "{text}");
        }
    }
    let shifted = r#"[{"steps":[0,0],"title":"t","size":1},{"title":7,"steps":[],"size":1}]"#;
    let error = wire::decode_with::<Vec<Plan>>(shifted, Mode::Preserve).expect_err("a bad title");
    assert_eq!(error.pointer(), "/1/title");
}

#[test]
fn valid_input_has_no_diagnostics() -> Result<(), Box<dyn Error>> {
    let text =
        r#"{"title":"t","steps":[{"name":"a","priority":null}],"size":1,"owner":null,"x":[1.50]}"#;
    for mode in [Mode::Strict, Mode::SpecLenient, Mode::Preserve] {
        let decoded = wire::decode_with::<Plan>(text, mode)?;
        assert!(decoded.diagnostics.is_empty());
        assert_eq!(decoded.value, wire::decode(text)?);
        assert_eq!(decoded.encode()?, serde_json::to_string(&decoded.value)?);
    }
    Ok(())
}

#[test]
fn changed_replacements_are_encoded() -> Result<(), Box<dyn Error>> {
    let text = r#"{"title":"t","steps":[1,{"name":"a"}],"size":"x","note":1,"owner":2}"#;
    let mut decoded = wire::decode_with::<Plan>(text, Mode::Preserve)?;
    decoded.value.size = 8;
    decoded.value.note = Some("n".into());
    decoded.value.steps.clear();
    let written: Value = serde_json::from_str(&decoded.encode()?)?;
    assert_eq!(written, json!({"title":"t","steps":[1],"size":8,"note":"n","owner":2}));
    Ok(())
}

#[test]
fn diagnostics_are_bounded() {
    let plan = |bad: usize| {
        format!(r#"{{"title":"t","steps":[{}{{"name":"a"}}],"size":1}}"#, "0,".repeat(bad))
    };
    let most = DecodedValue::<Plan>::MAX_DIAGNOSTICS;
    for bad in [most, most + 1, 10_000] {
        let text = plan(bad);
        let decoded = wire::decode_with::<Plan>(&text, Mode::Preserve).expect("a plan");
        assert_eq!(decoded.diagnostics.len(), most);
        assert_eq!(decoded.omitted, bad - most);
        assert_eq!(decoded.diagnostics[most - 1].pointer, format!("/steps/{}", most - 1));
        assert_eq!(decoded.value.steps.len(), 1);
        assert_eq!(
            serde_json::from_str::<Value>(&decoded.encode().expect("JSON")).expect("JSON"),
            serde_json::from_str::<Value>(&text).expect("JSON")
        );
    }
    // The total length of pointers is limited as well.
    let name = "n".repeat(100_000);
    let text = format!(r#"{{"{name}":{}}}"#, plan(200));
    let decoded =
        wire::decode_with::<BTreeMap<String, Plan>>(&text, Mode::Preserve).expect("a map");
    assert_eq!(decoded.diagnostics.len(), 1);
    assert_eq!(decoded.omitted, 199);
}

#[test]
fn deep_values_do_not_overflow_the_stack() {
    let nested = |depth: usize| {
        let open = r#"{"title":"t","steps":[],"size":1,"inner":"#.repeat(depth);
        format!("{open}7{}", "}".repeat(depth))
    };
    for depth in [100, 126] {
        assert_eq!(told(&lenient::<Plan>(&nested(depth))).len(), 1, "{depth}");
    }
    assert!(wire::decode_with::<Raw>(&nested(1_000), Mode::Preserve).is_ok());
    // A value that is too deep is an error of its member, which is absent by default.
    let decoded = wire::decode_with::<Plan>(&nested(1_000), Mode::Preserve).expect("absent");
    assert!(
        decoded.diagnostics[0].problem.ends_with("expected at most 127 levels, got more"),
        "{:?}",
        decoded.diagnostics
    );
}

open_union! {
    /// A tag with an annotation.
    pub enum Reason by "reason" [default_on_error] {
        /// It was requested.
        Asked(Extra) = "asked",
    }
    untagged {
        /// No reason is given.
        NotSaid(Extra),
    }
}

object! {
    /// A union with such a tag, flattened into an object.
    pub struct EndReport {
        /// The time.
        at: u32 = "at",
    }
    rest {
        /// The reason.
        reason: Reason,
    }
}

/// An invalid tag with an annotation counts as absent, and is encoded again in the preserving mode.
#[test]
fn tag_may_have_an_annotation() -> Result<(), Box<dyn Error>> {
    let text = r#"{"at":3,"reason":["asked"],"by":"x"}"#;
    let error = wire::decode::<EndReport>(text).unwrap_err();
    assert_eq!(error.to_string(), "at /reason: expected a string, got array");
    let ended = wire::decode_with::<EndReport>(text, Mode::Preserve)?;
    assert!(matches!(ended.value.reason, Reason::NotSaid(_)));
    let told: Vec<_> = ended.diagnostics.iter().map(|told| (told.code, &*told.pointer)).collect();
    assert_eq!(told, [(DiagnosticCode::DefaultOnError, "/reason")]);
    assert_eq!(
        serde_json::from_str::<Value>(&ended.encode()?)?,
        serde_json::from_str::<Value>(text)?
    );
    let unknown = r#"{"at":3,"reason":"bored"}"#;
    assert!(!wire::decode::<EndReport>(unknown)?.reason.is_known());
    Ok(())
}

#[test]
fn repeated_member_is_not_replaced() {
    let table = [
        (r#"{"title":"t","steps":[],"size":1,"note":7,"note":8}"#, "note"),
        (r#"{"title":"t","steps":[],"size":1,"note":7,"note":"n"}"#, "note"),
        (r#"{"title":"t","steps":7,"steps":null,"size":1}"#, "steps"),
    ];
    for (text, name) in table {
        let error = wire::decode::<Plan>(text).map(|_| ()).err();
        let strict = error.map(|error| error.pointer().to_owned());
        assert_eq!(strict, Some(format!("/{name}")), "{text}");
    }
    let table = [
        (r#"{"title":"t","steps":[],"size":1,"note":7,"note":8}"#, "note"),
        (r#"{"title":"t","steps":[],"size":1,"note":7,"note":"n"}"#, "note"),
        (r#"{"title":"t","steps":null,"steps":null,"size":1}"#, "steps"),
    ];
    for (text, name) in table {
        for mode in [Mode::SpecLenient, Mode::Preserve] {
            let error = wire::decode_with::<Plan>(text, mode).map(|_| ()).expect_err(text);
            assert_eq!(error.to_string(), format!("expected one member `{name}`, got two"));
        }
    }
}
