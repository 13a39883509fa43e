//! Comparison of arguments as JSON values.
use alloc::string::{String, ToString};
use jsonrpc_core::wire::Raw;
use serde_json::{Number, Value};

/// Returns whether two texts are equal as JSON values, regardless of member order and number
/// notation.
pub(crate) fn is_same(one: &Raw, other: &Raw) -> bool {
    one == other || canonical(one) == canonical(other)
}

/// Returns the text of a JSON value in a form that does not depend on member order or number
/// notation. A value that is nested too deeply to parse is returned unchanged.
fn canonical(raw: &Raw) -> String {
    let Ok(mut value) = raw.decode::<Value>() else { return raw.as_str().into() };
    normalize(&mut value);
    value.to_string()
}

fn normalize(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(normalize),
        Value::Object(members) => members.values_mut().for_each(normalize),
        Value::Number(number) => {
            if let Some(integer) = integer(number) {
                *number = integer;
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Returns the integer that a number with a fraction or an exponent is equal to, if any.
fn integer(number: &Number) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|_| number.is_f64())?;
    if float % 1.0 != 0.0 || !(-EXACT..=EXACT).contains(&float) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the value is within the range of integers that `f64` represents exactly"
    )]
    Some(Number::from(float as i64))
}

#[cfg(test)]
mod tests {
    use super::canonical;
    use alloc::string::String;
    use jsonrpc_core::wire::Raw;

    fn canonical_text(text: &str) -> String {
        canonical(&Raw::from_text(text).expect("JSON"))
    }

    #[test]
    fn order_and_number_form_do_not_matter() {
        let text = r#"{"b":[1.0,2e2,-0.0],"a":{"y":1.5,"x":"é"}}"#;
        let other = r#"{ "a": {"x":"\u00e9","y":15e-1}, "b": [1,200,0] }"#;
        assert_eq!(canonical_text(text), canonical_text(other));
        for different in [r#"{"a":1}"#, r#"{"a":"1"}"#, r#"{"a":1.5}"#, r#"{"a":[1]}"#, "{}"] {
            let same = [r#"{"a":1}"#, r#"{"a":"1"}"#, r#"{"a":1.5}"#, r#"{"a":[1]}"#, "{}"];
            let count = same.iter().filter(|it| canonical_text(it) == canonical_text(different));
            assert_eq!(count.count(), 1, "{different}");
        }
        assert_ne!(canonical_text("9007199254740993"), canonical_text("9007199254740992"));
    }
}
