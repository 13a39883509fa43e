//! Patches follow RFC 6902, whole or not at all.
use crate::generate;
use agui_types::json_patch::{JsonDocument, JsonPatch, PatchProblem};
use jsonrpc_core::wire;
use proptest::prelude::*;
use serde_json::{Value, json};

fn patch(patch: &Value) -> JsonPatch {
    wire::decode(&patch.to_string()).expect("a patch")
}

/// A document, a patch, and the resulting document.
fn applied() -> Vec<(Value, Value, Value)> {
    vec![
        (json!({"a":1}), json!([]), json!({"a":1})),
        // Sections 4.1 to 4.6, and cases like the examples of appendix A.
        (json!({"a":1}), json!([{"op":"add","path":"/b","value":2}]), json!({"a":1,"b":2})),
        (json!({"a":1}), json!([{"op":"add","path":"/a","value":2}]), json!({"a":2})),
        (json!({"a":[1,3]}), json!([{"op":"add","path":"/a/1","value":2}]), json!({"a":[1,2,3]})),
        (json!({"a":[1]}), json!([{"op":"add","path":"/a/1","value":2}]), json!({"a":[1,2]})),
        (
            json!({"a":[1]}),
            json!([{"op":"add","path":"/a/-","value":[2,3]}]),
            json!({"a":[1,[2,3]]}),
        ),
        (
            json!({"a":{"b":1}}),
            json!([{"op":"add","path":"/a/c","value":null}]),
            json!({"a":{"b":1,"c":null}}),
        ),
        (json!({"a":1}), json!([{"op":"add","path":"","value":[1]}]), json!([1])),
        (json!({"a":1,"b":2}), json!([{"op":"remove","path":"/b"}]), json!({"a":1})),
        (json!({"a":[1,2,3]}), json!([{"op":"remove","path":"/a/1"}]), json!({"a":[1,3]})),
        (json!({"a":1}), json!([{"op":"remove","path":""}]), json!(null)),
        (
            json!({"a":1,"b":2}),
            json!([{"op":"replace","path":"/a","value":3}]),
            json!({"a":3,"b":2}),
        ),
        (json!([1, 2]), json!([{"op":"replace","path":"/1","value":3}]), json!([1, 3])),
        (json!([1, 2]), json!([{"op":"replace","path":"","value":"x"}]), json!("x")),
        (
            json!({"a":{"b":1,"c":2},"d":{"e":3}}),
            json!([{"op":"move","from":"/a/b","path":"/d/f"}]),
            json!({"a":{"c":2},"d":{"e":3,"f":1}}),
        ),
        (
            json!({"a":["p","q","r","s"]}),
            json!([{"op":"move","from":"/a/1","path":"/a/3"}]),
            json!({"a":["p","r","s","q"]}),
        ),
        (json!({"a":{"b":1}}), json!([{"op":"move","from":"/a/b","path":"/a"}]), json!({"a":1})),
        (json!({"a":{"b":1}}), json!([{"op":"move","from":"/a/b","path":""}]), json!(1)),
        (json!({"a":1}), json!([{"op":"move","from":"/a","path":"/a"}]), json!({"a":1})),
        (json!({"a":[1]}), json!([{"op":"copy","from":"/a","path":"/a/-"}]), json!({"a":[1,[1]]})),
        (json!({"a":1}), json!([{"op":"copy","from":"","path":"/b"}]), json!({"a":1,"b":{"a":1}})),
        (
            json!({"a":"x","b":["y",2,null]}),
            json!([{"op":"test","path":"/a","value":"x"},{"op":"test","path":"/b/1","value":2.0},{"op":"test","path":"/b/2","value":null}]),
            json!({"a":"x","b":["y",2,null]}),
        ),
        (
            json!({"a":{"b":1,"c":[2]}}),
            json!([{"op":"test","path":"","value":{"a":{"c":[2.0],"b":1}}}]),
            json!({"a":{"b":1,"c":[2]}}),
        ),
        // RFC 6901: `~1` is a slash, `~0` a tilde, and `~01` is not a slash.
        (
            json!({"/":1,"~1":2}),
            json!([{"op":"remove","path":"/~1"},{"op":"test","path":"/~01","value":2}]),
            json!({"~1":2}),
        ),
        (json!({"":1}), json!([{"op":"replace","path":"/","value":2}]), json!({"":2})),
        // Unknown members of an operation are ignored.
        (
            json!({"a":1}),
            json!([{"op":"add","path":"/b","value":2,"note":3}]),
            json!({"a":1,"b":2}),
        ),
        (
            json!([1]),
            json!([{"op":"add","path":"/-","value":2},{"op":"remove","path":"/0"},{"op":"move","from":"/0","path":"/-"}]),
            json!([2]),
        ),
    ]
}

/// A document, a patch that does not apply, the failing operation, and the reason.
fn rejected() -> Vec<(Value, Value, usize, &'static str, PatchProblem)> {
    use PatchProblem::{
        Different, IntoItself, NotAnIndex, Nothing, NothingToTake, UnknownOperation,
    };
    let value = json!({"a":{"b":[1,2]},"n":null,"s":"x"});
    let table = vec![
        (json!([{"op":"add","path":"/x/y","value":1}]), 0, "/x/y", Nothing),
        (json!([{"op":"add","path":"/s/y","value":1}]), 0, "/s/y", Nothing),
        (json!([{"op":"add","path":"/a/b/3","value":1}]), 0, "/a/b/3", NotAnIndex),
        (json!([{"op":"add","path":"/a/b/01","value":1}]), 0, "/a/b/01", NotAnIndex),
        (json!([{"op":"add","path":"/a/b/+1","value":1}]), 0, "/a/b/+1", NotAnIndex),
        (json!([{"op":"add","path":"/a/b/1e0","value":1}]), 0, "/a/b/1e0", NotAnIndex),
        (json!([{"op":"add","path":"/a/b/","value":1}]), 0, "/a/b/", NotAnIndex),
        (json!([{"op":"remove","path":"/n"},{"op":"remove","path":"/n"}]), 1, "/n", Nothing),
        (json!([{"op":"remove","path":"/a/b/2"}]), 0, "/a/b/2", Nothing),
        (json!([{"op":"remove","path":"/a/b/-"}]), 0, "/a/b/-", Nothing),
        (json!([{"op":"replace","path":"/x","value":1}]), 0, "/x", Nothing),
        (json!([{"op":"replace","path":"/a/b/-","value":1}]), 0, "/a/b/-", Nothing),
        (json!([{"op":"move","from":"/x","path":"/y"}]), 0, "/x", NothingToTake),
        (json!([{"op":"move","from":"/x","path":"/x"}]), 0, "/x", NothingToTake),
        (json!([{"op":"move","from":"/a","path":"/a/c"}]), 0, "/a/c", IntoItself),
        (json!([{"op":"move","from":"","path":"/a/c"}]), 0, "/a/c", IntoItself),
        (json!([{"op":"move","from":"/a/b/0","path":"/a/b/2"}]), 0, "/a/b/2", NotAnIndex),
        (json!([{"op":"copy","from":"/x","path":"/y"}]), 0, "/x", NothingToTake),
        (json!([{"op":"copy","from":"/a","path":"/x/y"}]), 0, "/x/y", Nothing),
        (json!([{"op":"test","path":"/x","value":null}]), 0, "/x", Nothing),
        (json!([{"op":"test","path":"/s","value":"y"}]), 0, "/s", Different),
        (json!([{"op":"test","path":"/n","value":0}]), 0, "/n", Different),
        (json!([{"op":"test","path":"/a/b","value":[2,1]}]), 0, "/a/b", Different),
        (json!([{"op":"test","path":"/a","value":{"b":[1,2],"c":1}}]), 0, "/a", Different),
        (json!([{"op":"increment","path":"/a"}]), 0, "", UnknownOperation),
        // All earlier operations are undone.
        (
            json!([
                {"op":"add","path":"/a/b/-","value":3},
                {"op":"move","from":"/a/b/0","path":"/a/b/-"},
                {"op":"move","from":"/a/b","path":"/a"},
                {"op":"replace","path":"/s","value":[]},
                {"op":"copy","from":"/a","path":"/n"},
                {"op":"remove","path":"/a/1"},
                {"op":"add","path":"","value":1},
                {"op":"remove","path":""},
                {"op":"test","path":"","value":2},
            ]),
            8,
            "",
            Different,
        ),
    ];
    table
        .into_iter()
        .map(|(patch, index, at, why)| (value.clone(), patch, index, at, why))
        .collect()
}

#[test]
fn operations_follow_the_rfc() {
    for (before, operations, after) in applied() {
        let mut document = JsonDocument::new(before.clone());
        let applied = document.apply(&patch(&operations));
        assert_eq!(applied, Ok(()), "{before} {operations}");
        assert_eq!(document.value(), &after, "{before} {operations}");
        assert_eq!(reference(&before, &operations), Some(after), "{before} {operations}");
    }
}

#[test]
fn failing_patch_changes_nothing() {
    for (before, operations, index, at, problem) in rejected() {
        let mut document = JsonDocument::new(before.clone());
        let error = document.apply(&patch(&operations)).expect_err("cannot be done");
        let reported = (error.index, error.pointer.as_str(), error.problem);
        assert_eq!(reported, (index, at, problem), "{operations}");
        assert_eq!(document, JsonDocument::new(before.clone()), "{operations}: {error}");
        assert_eq!(reference(&before, &operations), None, "{operations}");
    }
}

#[test]
fn documents_have_a_limit() {
    let double = patch(&json!([{"op":"copy","from":"","path":"/a"}]));
    let mut document = JsonDocument::new(json!({"text": "x".repeat(1000)})).with_limit(100_000);
    let error = (0..200).find_map(|_| document.apply(&double).err()).expect("a limit");
    assert_eq!(error.problem, PatchProblem::TooLarge);
    assert!(serde_json::to_string(document.value()).expect("JSON").len() <= 100_000);

    let mut document = JsonDocument::new(json!([])).with_limit(100);
    let push = patch(&json!([{"op":"add","path":"/-","value":null}]));
    let pushed = (0..1000).take_while(|_| document.apply(&push).is_ok()).count();
    assert!((10..30).contains(&pushed), "{pushed}");
    let pop = patch(&json!([{"op":"remove","path":"/0"}]));
    for _ in 0..1000 {
        document.apply(&pop).expect("there is one");
        document.apply(&push).expect("there is room again");
    }
}

#[test]
fn document_depth_is_limited_to_the_readable_depth() {
    let mut document = JsonDocument::new(json!([]));
    let wrap = patch(&json!([{"op":"copy","from":"","path":"/-"},{"op":"remove","path":"/0"}]));
    let nest = |levels: usize| {
        let text = format!(r#"[{{"op":"add","path":"{}","value":[]}}]"#, "/0".repeat(levels));
        patch(&serde_json::from_str(&text).expect("JSON"))
    };
    for level in 1..JsonDocument::MAX_DEPTH {
        document.apply(&nest(level)).expect("not too deep");
    }
    let text = serde_json::to_string(document.value()).expect("JSON");
    assert!(serde_json::from_str::<Value>(&text).is_ok());
    assert!(serde_json::from_str::<Value>(&format!("[{text}]")).is_err());
    for too_deep in [nest(JsonDocument::MAX_DEPTH), wrap] {
        let error = document.apply(&too_deep).expect_err("too deep");
        assert_eq!(error.problem, PatchProblem::TooDeep);
    }
    let deep = format!(r#"[{{"op":"add","path":"","value":[{text}]}}]"#);
    let error =
        document.apply(&wire::decode::<JsonPatch>(&deep).expect("a patch")).expect_err("too deep");
    assert_eq!(error.problem, PatchProblem::Unreadable);
}

/// A naive implementation of the RFC: every operation creates a new document.
fn reference(document: &Value, operations: &Value) -> Option<Value> {
    operations.as_array()?.iter().try_fold(document.clone(), |document, operation| {
        let tokens = |name: &str| {
            let text = operation[name].as_str()?;
            let tokens = text.split('/').skip(1).map(|it| it.replace("~1", "/").replace("~0", "~"));
            Some(tokens.collect::<Vec<_>>())
        };
        let path = tokens("path")?;
        let value = &operation["value"];
        match operation["op"].as_str()? {
            "add" => with(&document, &path, Some(value), true),
            "remove" => with(&document, &path, None, false),
            "replace" => with(&document, &path, Some(value), false),
            "copy" => with(&document, &path, Some(at(&document, &tokens("from")?)?), true),
            "move" => {
                let from = tokens("from")?;
                let moved = at(&document, &from)?.clone();
                if path == from {
                    return Some(document);
                }
                if path.starts_with(&from) {
                    return None;
                }
                with(&with(&document, &from, None, false)?, &path, Some(&moved), true)
            }
            "test" => same(at(&document, &path)?, value).then_some(document),
            _ => None,
        }
    })
}

fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.keys().eq(other.keys())
                && one.values().zip(other.values()).all(|(one, other)| same(one, other))
        }
        _ => one == other,
    }
}

fn place(token: &str, length: usize) -> Option<usize> {
    (0..length).find(|place| place.to_string() == token)
}

fn at<'a>(document: &'a Value, path: &[String]) -> Option<&'a Value> {
    let Some((token, rest)) = path.split_first() else { return Some(document) };
    match document {
        Value::Object(members) => at(members.get(token)?, rest),
        Value::Array(elements) => at(&elements[place(token, elements.len())?], rest),
        _ => None,
    }
}

/// Returns the document with a value inserted (`adds`) or replaced at `path`, or removed.
fn with(document: &Value, path: &[String], value: Option<&Value>, adds: bool) -> Option<Value> {
    let Some((token, rest)) = path.split_first() else {
        return Some(value.cloned().unwrap_or_default());
    };
    match (document, rest) {
        (Value::Object(members), []) => {
            let mut members = members.clone();
            if !adds && !members.contains_key(token) {
                return None;
            }
            members.remove(token);
            members.extend(value.map(|value| (token.clone(), value.clone())));
            Some(members.into())
        }
        (Value::Array(elements), []) => {
            let length = elements.len();
            let place = match token.as_str() {
                "-" if adds => length,
                token => place(token, length + usize::from(adds))?,
            };
            let skipped = usize::from(!adds);
            let before = &elements[..place];
            let after = &elements[place + skipped..];
            Some(before.iter().chain(value).chain(after).cloned().collect())
        }
        (Value::Object(members), rest) => {
            let mut members = members.clone();
            let changed = with(members.get(token)?, rest, value, adds)?;
            members.insert(token.clone(), changed);
            Some(members.into())
        }
        (Value::Array(elements), rest) => {
            let mut elements = elements.clone();
            let place = place(token, elements.len())?;
            elements[place] = with(&elements[place], rest, value, adds)?;
            Some(elements.into())
        }
        _ => None,
    }
}

proptest! {
    #![proptest_config(generate::cases(512))]

    /// Patches agree with the naive implementation, and a failing patch changes nothing.
    #[test]
    fn patches_match_the_reference(patches in prop::collection::vec(generate::patch(), 1..6)) {
        let mut expected = json!({"x":{"y":1},"l":[0, {"y":2}]});
        let mut document = JsonDocument::new(expected.clone());
        for operations in patches {
            let applied = document.apply(&patch(&operations));
            let reference = reference(&expected, &operations);
            prop_assert_eq!(applied.is_ok(), reference.is_some(), "{}: {:?}", operations, applied);
            expected = reference.unwrap_or(expected);
            prop_assert_eq!(document.value(), &expected);
        }
    }
}
