//! Laws of lenient decoding, for any input.
use super::*;
use serde_json::Map;

/// Text that is a plan or nearly so: each annotated member may have any value; with the number of
/// invalid ones.
fn plan() -> impl Strategy<Value = (Map<String, Value>, usize)> {
    let wrong =
        || prop::sample::select(vec![json!(-1), json!([[]]), json!({"name": {}}), json!(true)]);
    let step = prop_oneof![
        3 => "[a-c]{1,2}".prop_map(|name| (json!({"name": name, "priority": 3}), 0)),
        1 => "[a-c]{1,2}".prop_map(|name| (json!({"name": name, "priority": -3}), 1)),
        1 => wrong().prop_map(|wrong| (wrong, 1)),
    ];
    let steps = prop_oneof![
        9 => prop::collection::vec(step, 0..5).prop_map(|steps| {
            let wrong = steps.iter().map(|(_, wrong)| wrong).sum();
            (Value::from_iter(steps.into_iter().map(|(step, _)| step)), wrong)
        }),
        1 => Just((Value::Null, 1)),
    ];
    let size = prop_oneof![3 => Just((json!(1), 0)), 1 => wrong().prop_map(|wrong| (wrong, 1))];
    let note = prop_oneof![
        3 => Just((json!("n"), 0)),
        1 => Just((Value::Null, 0)),
        1 => wrong().prop_map(|wrong| (wrong, 1)),
    ];
    let owner = note.clone();
    (steps, size, prop::option::of(note), prop::option::of(owner), "[a-z]{0,3}").prop_map(
        |(steps, size, note, owner, title)| {
            let members = [
                ("title", Some((json!(title), 0))),
                ("steps", Some(steps)),
                ("size", Some(size)),
                ("note", note.filter(|(note, _)| !note.is_null())),
                ("owner", owner),
            ];
            let members = members.into_iter().filter_map(|(name, member)| Some((name, member?)));
            let wrong = members.clone().map(|(_, (_, wrong))| wrong).sum();
            (members.map(|(name, (value, _))| (name.to_owned(), value)).collect(), wrong)
        },
    )
}

proptest! {
    /// Each invalid value has one diagnostic at an existing place, and nothing is lost.
    #[test]
    fn invalid_values_are_reported_and_preserved((mut plan, wrong) in plan(), inner in prop::option::of(plan()), tag in any::<bool>()) {
        let inner_wrong = inner.as_ref().map_or(0, |(_, wrong)| *wrong);
        plan.extend(inner.map(|(inner, _)| ("inner".to_owned(), Value::Object(inner))));
        plan.insert(if tag { "type" } else { "\u{1}" }.to_owned(), json!("plan"));
        let document = Value::Object(plan);
        let text = document.to_string();
        // Members are written in the order of their names, so that `title` precedes `type`, and
        // `type` is last.
        let (diagnostics, again) = if tag {
            let decoded = wire::decode_with::<Update>(&text, Mode::Preserve);
            let decoded = decoded.map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
            (decoded.diagnostics.clone(), decoded.encode())
        } else {
            let decoded = wire::decode_with::<Plan>(&text, Mode::Preserve);
            let decoded = decoded.map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
            (decoded.diagnostics.clone(), decoded.encode())
        };
        prop_assert_eq!(diagnostics.len(), wrong + inner_wrong, "{}", text);
        for told in &diagnostics {
            prop_assert!(document.pointer(&told.pointer).is_some(), "{}: {}", text, told);
        }
        let again = again.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let again: Value = serde_json::from_str(&again).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(again, document);
    }

    /// For any text each mode returns a value or an error. A stricter mode accepts no more, with
    /// the same result.
    #[test]
    fn stricter_modes_accept_less(text in crate::json::damaged((plan(), any::<bool>()).prop_map(|((plan, _), _)| Value::Object(plan).to_string()))) {
        let read = |mode| wire::decode_with::<Plan>(&text, mode).ok();
        let strict = read(Mode::Strict);
        let lenient = read(Mode::SpecLenient);
        let preserved = read(Mode::Preserve);
        prop_assert_eq!(lenient.is_some(), preserved.is_some());
        if let Some(strict) = strict {
            prop_assert_eq!(preserved.map(|decoded| decoded.value), Some(strict.value));
        }
    }
}
