//! Properties of the decoding modes.
use crate::value::value;
use jsonrpc_core::wire::{self, DecodedValue, Mode};
use jsonrpc_core::{object, open_enum};

open_enum! {
    /// A list of names.
    pub enum Level {
        /// Urgent.
        High = "high",
    }
}

object! {
    /// An item.
    pub struct Step {
        /// Required.
        name: String = "name",
    }
    optional {
        /// With an annotation.
        size: u8 = "size" [default_on_error],
        /// A nested object.
        inner: Box<Plan> = "inner" [default_on_error],
    }
}

object! {
    /// An object with all annotations.
    pub struct Plan {
        /// Invalid items are skipped.
        steps: Vec<Step> = "steps" [skip_invalid_items, default_on_null] or "[]",
    }
    optional {
        /// With an annotation.
        level: Level = "level" [default_on_error],
        /// Without an annotation.
        count: u8 = "count",
        /// Invalid items are skipped, and an invalid list is replaced.
        tags: Vec<String> = "tags" [default_on_error, skip_invalid_items],
    }
    patch {
        /// Patched.
        title: String = "title" [default_on_error],
    }
    and "_meta"
}

/// A text that decodes strictly decodes equally in every mode. The lenient modes agree, and invalid
/// parts are encoded unchanged.
pub fn wire_modes(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let strict = wire::decode::<Plan>(text);
    let [same, lenient, preserve] = [Mode::Strict, Mode::SpecLenient, Mode::Preserve]
        .map(|mode| wire::decode_with::<Plan>(text, mode));
    assert_eq!(strict.as_ref().ok(), same.as_ref().ok().map(|decoded| &decoded.value));
    match (&lenient, &preserve) {
        (Ok(lenient), Ok(preserve)) => {
            assert_eq!(&lenient.value, &preserve.value);
            assert_eq!(&lenient.diagnostics, &preserve.diagnostics);
            assert_eq!(lenient.diagnostics.is_empty(), strict.is_ok());
            assert!(lenient.diagnostics.len() <= DecodedValue::<Plan>::MAX_DIAGNOSTICS);
            written(text, lenient, preserve);
        }
        (Err(lenient), Err(preserve)) => {
            assert_eq!(lenient, preserve);
            assert!(strict.is_err());
        }
        (lenient, preserve) => panic!("{lenient:?} and {preserve:?}"),
    }
    if let Ok(strict) = strict {
        assert_eq!(lenient.ok().map(|decoded| decoded.value), Some(strict));
    }
}

fn written(text: &str, lenient: &DecodedValue<Plan>, preserve: &DecodedValue<Plan>) {
    let encode = |decoded: &DecodedValue<Plan>| decoded.encode().expect("a plan is JSON");
    let again: Plan = wire::decode(&encode(lenient)).expect("what was written can be read");
    assert_eq!(again, lenient.value);
    let Some(given) = value(text) else { return };
    for diagnostic in &lenient.diagnostics {
        assert!(given.pointer(&diagnostic.pointer).is_some(), "{diagnostic}");
    }
    let written: serde_json::Value =
        serde_json::from_str(&encode(preserve)).expect("what was written is JSON");
    assert_eq!(written, given);
}
