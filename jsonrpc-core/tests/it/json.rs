//! Generators of JSON text in any notation: white space, numbers, escapes.
use proptest::prelude::*;

/// White space between tokens.
pub(crate) fn space() -> impl Strategy<Value = String> {
    prop_oneof![4 => Just(String::new()), 1 => "[ \t\r\n]{1,3}"]
}

/// A JSON string without lone surrogates.
pub(crate) fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z0-9 /{}\\[\\],:é€😀\u{7f}]{1,12}",
        1 => prop::sample::select(vec![
            r#"\""#, r"\\", r"\/", r"\b", r"\f", r"\n", r"\r", r"\t", r"\u0041", r"\u00e9", r"\u0000", r"\ud83d\ude00",
            r"\uD83D\uDE00",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// A JSON number within the range of a double.
pub(crate) fn number() -> impl Strategy<Value = String> {
    "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,4})?([eE][+-]?[0-9]{1,2})?"
}

/// Any JSON value.
pub(crate) fn value() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["null", "true", "false"]).prop_map(str::to_owned);
    prop_oneof![word, number(), string()].prop_recursive(4, 24, 4, |inner| {
        let items = prop::collection::vec((space(), inner.clone(), space()), 0..4);
        let array = items.prop_map(|items| {
            let items: Vec<_> = items.iter().map(|(a, item, b)| format!("{a}{item}{b}")).collect();
            format!("[{}]", items.join(","))
        });
        prop_oneof![array, object(prop::collection::vec((string(), inner), 0..4))]
    })
}

/// An object with these members, in this order.
pub(crate) fn object(
    members: impl Strategy<Value = Vec<(String, String)>>,
) -> impl Strategy<Value = String> {
    (members, prop::collection::vec(space(), 5)).prop_map(|(members, spaces)| {
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|at: usize| &spaces[at]);
        let members: Vec<_> =
            members.iter().map(|(name, value)| format!("{a}{name}{b}:{c}{value}{d}")).collect();
        format!("{{{}{e}}}", members.join(","))
    })
}

/// A message, or an almost valid one.
pub(crate) fn envelope() -> impl Strategy<Value = String> {
    prop_oneof![3 => any_envelope(), 2 => frequent_envelope()]
}

/// A message in the common form: `jsonrpc` first, no white space, the id in one of two places.
fn frequent_envelope() -> impl Strategy<Value = String> {
    let id = prop_oneof![
        3 => "0|-?[1-9][0-9]{0,20}",
        1 => string(),
        1 => number(),
        1 => value(),
    ];
    let method = prop_oneof![4 => "\"[a-z/_]{0,12}\"", 1 => string(), 1 => value()];
    let payload = || {
        let params = object(prop::collection::vec((string(), value()), 0..3));
        prop_oneof![4 => params, 1 => value()]
    };
    let call = (method, prop::option::weighted(0.8, payload())).prop_map(|(method, params)| {
        let params = params.map(|params| format!(",\"params\":{params}"));
        format!("\"method\":{method}{}", params.unwrap_or_default())
    });
    let result = payload().prop_map(|result| format!("\"result\":{result}"));
    let error = prop_oneof![
        Just("{\"code\":-32603,\"message\":\"no\"}".to_owned()),
        Just("null".to_owned()),
        payload(),
    ];
    let error = error.prop_map(|error| format!("\"error\":{error}"));
    let content = prop_oneof![3 => call, 1 => result, 1 => error];
    (prop::option::weighted(0.7, id), any::<bool>(), content, space()).prop_map(
        |(id, is_first, content, after)| {
            let id = id.map(|id| format!("\"id\":{id}"));
            let mut members = vec![content];
            if let Some(id) = id {
                members.insert(usize::from(!is_first), id);
            }
            format!("{{\"jsonrpc\":\"2.0\",{}}}{after}", members.join(","))
        },
    )
}

/// The members of a message, or nearly so, in any order.
fn any_envelope() -> impl Strategy<Value = String> {
    let spelled = |name: &'static str, escaped: &'static str| prop_oneof![9 => Just(format!("\"{name}\"")), 1 => Just(format!("\"{escaped}\""))];
    let id = prop_oneof![
        3 => (0..9_i64).prop_map(|id| id.to_string()),
        2 => number(),
        2 => string(),
        1 => value()
    ];
    let params = prop_oneof![
        3 => object(prop::collection::vec((string(), value()), 0..3)),
        1 => value()
    ];
    let error = prop_oneof![
        3 => Just(r#"{"code":-32603,"message":"no","data":[1.50]}"#.to_owned()),
        1 => Just("null".to_owned()),
        1 => value()
    ];
    let member = prop_oneof![
        3 => (spelled("jsonrpc", r"jsonrp\u0063"), Just("\"2.0\"".to_owned())),
        4 => (spelled("id", r"\u0069d"), id),
        4 => (spelled("method", r"m\u0065thod"), prop_oneof![6 => string(), 1 => value()]),
        3 => (spelled("params", r"par\u0061ms"), params),
        2 => (spelled("result", r"resul\u0074"), value()),
        1 => (spelled("error", r"\u0065rror"), error),
        1 => (string(), value()),
    ];
    (space(), object(prop::collection::vec(member, 0..6)), space())
        .prop_map(|(before, object, after)| format!("{before}{object}{after}"))
}

/// A text with a piece removed, repeated or replaced; usually not JSON.
pub(crate) fn damaged(text: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let noise =
        prop_oneof![Just(String::new()), "[\\[\\]{}:,\"\\\\0-9a-fu.eE+\\- \n\t\u{1}-]{1,3}"];
    (text, any::<prop::sample::Index>(), 0..4_usize, noise).prop_map(|(text, at, length, noise)| {
        let characters: Vec<char> = text.chars().collect();
        let at = at.index(characters.len() + 1);
        let head = characters.iter().take(at);
        let tail = characters.iter().skip(at + length);
        head.copied().chain(noise.chars()).chain(tail.copied()).collect()
    })
}
