//! Answers to a form.
use super::*;

/// Exactly the constraints of a form are enforced.
#[test]
fn answers_are_validated_against_the_form() {
    let table = [
        (json!({ "type": "string", "minLength": 2 }), json!("é"), "expected at least 2 characters"),
        (json!({ "type": "string", "maxLength": 2 }), json!("éé"), ""),
        (json!({ "type": "string", "maxLength": 1 }), json!("éé"), "expected at most 1 characters"),
        (json!({ "type": "string" }), json!(7), "expected a string, got number"),
        (json!({ "type": "string", "oneOf": [{ "const": "a", "title": "A" }] }), json!("a"), ""),
        (
            json!({ "type": "string", "oneOf": [{ "const": "a", "title": "A" }] }),
            json!("A"),
            "expected one of the choices",
        ),
        (json!({ "type": "string", "format": "email" }), json!("a@b.c"), ""),
        (
            json!({ "type": "string", "format": "email" }),
            json!("a b@c"),
            "expected an e-mail address",
        ),
        (json!({ "type": "string", "format": "uri" }), json!("mailto:a@b"), ""),
        (json!({ "type": "string", "format": "uri" }), json!("/a/b"), "expected a URI"),
        (json!({ "type": "string", "format": "date" }), json!("2024-02-29"), ""),
        (
            json!({ "type": "string", "format": "date" }),
            json!("2023-02-29"),
            "expected a date such as 2026-07-28",
        ),
        (
            json!({ "type": "string", "format": "date-time" }),
            json!("2026-07-28t10:00:00.5-01:30"),
            "",
        ),
        (
            json!({ "type": "string", "format": "date-time" }),
            json!("2026-07-28T24:00:00Z"),
            "expected a date and time such as 2026-07-28T10:00:00Z",
        ),
        (json!({ "type": "integer" }), json!(12.0), ""),
        (json!({ "type": "integer" }), json!(12.5), "expected an integer"),
        (json!({ "type": "number", "minimum": 0.5 }), json!(0), "expected at least 0.5"),
        (json!({ "type": "number", "minimum": 0.5 }), json!(0.5), ""),
        (json!({ "type": "number", "maximum": 1 }), json!(1.5), "expected at most 1"),
        (
            json!({ "type": "integer", "maximum": 9007199254740992_i64 }),
            json!(9007199254740993_i64),
            "expected at most 9007199254740992",
        ),
        (json!({ "type": "boolean" }), json!("true"), "expected a boolean, got string"),
        (
            json!({ "type": "array", "items": { "enum": ["a", "b"] }, "maxItems": 1 }),
            json!(["a"]),
            "",
        ),
        (
            json!({ "type": "array", "items": { "enum": ["a", "b"] }, "maxItems": 1 }),
            json!(["a", "b"]),
            "expected at most 1 choices",
        ),
        (
            json!({ "type": "array", "items": { "enum": ["a"] } }),
            json!(["z"]),
            "expected some of the choices",
        ),
        (json!({ "type": "string" }), json!(null), "expected a value"),
        // Unknown keywords are not enforced.
        (json!({ "type": "file" }), json!({}), ""),
        (json!({ "type": "string", "format": "color" }), json!("x"), ""),
    ];
    for (property, answer, expected) in table {
        let form: RequestedSchema = wire::decode(&object(&property).to_string()).expect("a form");
        let content = content(&json!({ "p": answer, "unasked": 1 }));
        let told: Vec<_> = schema::check(&form, &content).collect();
        let told: Vec<_> =
            told.iter().map(|it| (it.pointer.as_str(), it.problem.as_str())).collect();
        let expected: Vec<_> =
            Some(("/p", expected)).filter(|(_, it)| !it.is_empty()).into_iter().collect();
        assert_eq!(told, expected, "{property} {answer}");
    }
}

/// A repeated question states the problems of the answer.
#[test]
fn repeated_question_states_the_problems() {
    let form = restrict(
        &json!({ "type": "object", "properties": { "a/b": { "type": "integer" }, "c": { "enum": [1, {}] } }, "required": ["a/b"] }),
    );
    let problems =
        form.read::<Value>(&content(&json!({ "c": "{}" }))).expect_err("a missing value");
    let again = form.ask_again("How many?", &problems);
    assert_eq!(again.message, "How many?\n- a/b: expected a value");
    assert_eq!(&again.requested_schema, form.requested_schema());
    let read: Value = form.read(&content(&json!({ "a/b": 1, "c": "{}" }))).expect("an answer");
    assert_eq!(read, json!({ "a/b": 1, "c": {} }));
    #[derive(Debug, serde::Deserialize)]
    struct Bytes {
        #[serde(rename = "a/b")]
        _bytes: u8,
    }
    let problems = form.read::<Bytes>(&content(&json!({ "a/b": 300 }))).expect_err("too large");
    assert_eq!(problems.to_string(), "at /a~1b: expected u8, got number");
}

/// Constraints that the form cannot express are enforced on the answer.
#[cfg(feature = "validate")]
#[test]
fn answers_are_validated_against_the_whole_schema() {
    let given = object(&object(&json!({ "type": "string", "pattern": "^[A-Z]{3}$" })));
    let form = restrict(&given);
    assert!(form.read::<Value>(&content(&json!({ "p.p": "LAX" }))).is_ok());
    let problems = form.read::<Value>(&content(&json!({ "p.p": "lax" }))).expect_err("a pattern");
    let told: Vec<_> = problems.iter().map(|it| it.pointer.as_str()).collect();
    assert_eq!(told, ["/p.p"]);
    assert!(!problems.to_string().contains("lax"), "{problems}");
}
