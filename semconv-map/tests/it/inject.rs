//! Injection of trace context, byte by byte.
use crate::lines::{prompt, request};
use crate::spans::{A2C, C2A, Run};
use jsonrpc_core::peek;
use proptest::prelude::*;
use semconv_map::Policy;
use semconv_map::trace_context::{
    Baggage, InjectError, Injection, MAX_BAGGAGE_BYTES, MAX_BAGGAGE_MEMBERS, TraceContext,
};
use serde_json::{Value, json};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn context() -> TraceContext {
    TraceContext::parse(PARENT, Some("a=1")).unwrap()
}

/// Injects into a line that is peeked first.
fn inject<'a>(
    line: &'a [u8],
    trace: Option<&TraceContext>,
    baggage: Option<&Baggage>,
) -> Result<Option<Injection<'a>>, InjectError> {
    semconv_map::trace_context::inject(&peek(line)?, trace, baggage)
}

fn injected(line: &str, baggage: Option<&str>) -> Option<String> {
    let baggage = baggage.map(|baggage| Baggage::parse(baggage).unwrap());
    let injected = inject(line.as_bytes(), Some(&context()), baggage.as_ref()).unwrap();
    injected.map(|injected| String::from_utf8(injected.to_line()).unwrap())
}

/// Each place of insertion, marked with `@`. Text between two `^` is removed.
#[test]
fn context_is_injected_at_each_place() {
    let rows = [
        (r#"{"id":1,"method":"x","params":{"a":1,"_meta":{"b":2@}}}"#, ",TRACE"),
        (r#"{"id":1,"method":"x","params":{"_meta":{@},"a":1}}"#, "TRACE"),
        (r#"{"id":1,"method":"x","params":{"_meta":{ @} } }"#, "TRACE"),
        (r#"{"id":1,"method":"x","params":{"_meta":^null^@,"a":1}}"#, "{TRACE}"),
        (r#"{"id":1,"method":"x","params":{"a":{"_meta":{}}@}}"#, r#","_meta":{TRACE}"#),
        (r#"{"id":1,"method":"x","params":{@}}"#, r#""_meta":{TRACE}"#),
        (r#"{"method":"x","params":{	@}, "id":1}"#, r#""_meta":{TRACE}"#),
        (r#"{"id":1,"method":"x"@}"#, r#","params":{"_meta":{TRACE}}"#),
        ("{\"method\":\"x}\" @} \r\n", r#","params":{"_meta":{TRACE}}"#),
        (r#"{"params":{"\u005fmeta":{"x":"}"@}},"method":"x"}"#, ",TRACE"),
        (r#"{"id":1,"method":"x","params":{"_meta":{"other":{"traceparent":"y"}@}}}"#, ",TRACE"),
        (r#"{"id":1,"method":"x","params":{"_meta":{"x":1e400, "x":"é\ud800"@}}}"#, ",TRACE"),
    ];
    for (marked, inserted) in rows {
        let keys = format!(r#""traceparent":"{PARENT}","tracestate":"a=1","baggage":"k=v""#);
        let line: String = marked.replace(['@', '^'], "");
        let goes: String = marked.split('^').nth(1).unwrap_or_default().into();
        let expected = marked.replace(&format!("^{goes}^"), "");
        let expected = expected.replace('@', &inserted.replace("TRACE", &keys));
        assert_eq!(injected(&line, Some("k=v")), Some(expected), "{marked}");
    }
}

/// A context of the sender is replaced, and its baggage is preserved. All other bytes are
/// unchanged.
#[test]
fn existing_context_is_replaced() {
    let new = format!(r#""{PARENT}""#);
    let rows = [
        (r#"{"traceparent":"mine"}"#, r#"{"traceparent":NEW,"tracestate":"a=1","baggage":"k=v"}"#),
        (
            r#"{"traceparent": null }"#,
            r#"{"traceparent": NEW ,"tracestate":"a=1","baggage":"k=v"}"#,
        ),
        (
            r#"{"tracestate":"mine", "é":[1] }"#,
            r#"{"tracestate":"a=1", "é":[1] ,"traceparent":NEW,"baggage":"k=v"}"#,
        ),
        (
            r#"{"tracestate":"x" ,"é":{}, "traceparent":"y","z":1}"#,
            r#"{"tracestate":"a=1" ,"é":{}, "traceparent":NEW,"z":1,"baggage":"k=v"}"#,
        ),
        (
            r#"{"baggage":"mine","traceparent":"y"}"#,
            r#"{"baggage":"mine","traceparent":NEW,"tracestate":"a=1"}"#,
        ),
        (
            r#"{"Traceparent":"x"}"#,
            r#"{"Traceparent":"x","traceparent":NEW,"tracestate":"a=1","baggage":"k=v"}"#,
        ),
    ];
    let line =
        |meta: &str| format!(r#"{{"id":1,"method":"x","params":{{"é":0, "_meta": {meta} }} }}"#);
    for (meta, expected) in rows {
        let expected = line(&expected.replace("NEW", &new));
        assert_eq!(injected(&line(meta), Some("k=v")), Some(expected), "{meta}");
    }
    let said = line(r#"{"traceparent":"mine","baggage":"mine"}"#);
    assert_eq!(inject(said.as_bytes(), None, None), Ok(None));
    // A state of another trace is not propagated.
    let stateless = TraceContext::parse(PARENT, None).unwrap();
    let said = line(r#"{"traceparent":"mine","tracestate":"x"}"#);
    let after = inject(said.as_bytes(), Some(&stateless), None).unwrap().unwrap().to_line();
    let expected = line(&format!(r#"{{"traceparent":{new},"tracestate":""}}"#));
    assert_eq!(String::from_utf8(after).unwrap(), expected);
}

#[test]
fn lines_without_a_place_are_errors() {
    let rows = [
        (
            r#"{"id":1,"result":{"_meta":{}}}"#,
            "expected a request or a notification, got a response",
        ),
        (r#"{"id":1,"method":"x","params":[{}]}"#, "params: expected an object"),
        (
            r#"{"id":1,"method":"x","params":{"_meta":[]}}"#,
            "params._meta: expected an object or null",
        ),
        (
            r#"{"id":1,"method":"x","params":{"_meta":"{}"}}"#,
            "params._meta: expected an object or null",
        ),
        (
            r#"{"id":1,"method":"x","params":{"_meta":{},"_meta":{}}}"#,
            "expected one member of this name, got two",
        ),
        (
            r#"{"id":1,"method":"x","params":{"_meta":{"traceparent":"x","traceparent":"y"}}}"#,
            "expected one member of this name, got two",
        ),
    ];
    for (line, expected) in rows {
        let error = inject(line.as_bytes(), Some(&context()), None).unwrap_err();
        assert_eq!(error.to_string(), expected, "{line}");
    }
    let null = r#"{"id":1,"method":"x","params":null}"#;
    assert!(inject(null.as_bytes(), Some(&context()), None).is_err());
}

/// Each form of `baggage`, and its entries.
#[test]
fn baggage_is_validated() {
    let members =
        |count: usize| (0..count).map(|at| format!("k{at}=v")).collect::<Vec<_>>().join(",");
    let rows = [
        ("k=v".to_owned(), Some(1)),
        (" a = 1 ; p ; q = 2 ,\tb=".to_owned(), Some(2)),
        ("a=x=y".to_owned(), Some(1)),
        (members(MAX_BAGGAGE_MEMBERS), Some(MAX_BAGGAGE_MEMBERS)),
        (members(MAX_BAGGAGE_MEMBERS + 1), None),
        (format!("k={}", "x".repeat(MAX_BAGGAGE_BYTES - 2)), Some(1)),
        (format!("k={}", "x".repeat(MAX_BAGGAGE_BYTES - 1)), None),
        (String::new(), None),
        ("k".to_owned(), None),
        ("=v".to_owned(), None),
        ("k=v,".to_owned(), None),
        ("k=a b".to_owned(), None),
        ("k=\"v\"".to_owned(), None),
        ("k=a\\b".to_owned(), None),
        ("k=é".to_owned(), None),
        ("a b=v".to_owned(), None),
        ("k=v;".to_owned(), None),
    ];
    for (header, expected) in rows {
        let baggage = Baggage::parse(&header);
        assert_eq!(baggage.as_ref().map(|baggage| baggage.entries().count()), expected, "{header}");
    }
    let baggage = Baggage::parse("a=%e2%82%ac%20, b=%,c=%zz,d=%ff").unwrap();
    let values: Vec<_> = baggage.entries().map(|(_, value)| value.into_owned()).collect();
    assert_eq!(values, ["€ ", "%", "%zz", "\u{fffd}"]);
}

#[test]
fn baggage_is_not_an_attribute() {
    let meta = json!({ "baggage": "tenant=canary-77ab" });
    let mut run = Run::new(Policy::default());
    run.line(C2A, &request(1, "session/list", json!({ "_meta": meta })));
    run.line(
        C2A,
        &request(2, "session/prompt", json!({ "sessionId": "s", "prompt": [], "_meta": meta })),
    );
    run.line(
        A2C,
        &request(1, "fs/read_text_file", json!({ "sessionId": "s", "path": "/", "_meta": meta })),
    );
    for (name, expected) in [
        ("session/list", Some("tenant=canary-77ab")),
        ("invoke_agent", Some("tenant=canary-77ab")),
        ("fs/read_text_file", None),
    ] {
        let span = run.span(name);
        assert_eq!(span.start.baggage.as_ref().map(Baggage::as_str), expected, "{name}");
        assert!(!format!("{:?}", span.start.attributes).contains("canary"), "{name}");
    }
}

/// The span to inject for a request is the one that its line started, until the response.
#[test]
fn request_span_is_known_until_the_response() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(C2A, &request("1", "session/list", json!({})));
    let handle = |run: &Run, name: &str| Some(run.span(name).start.span);
    assert_eq!(run.tracker.request_span(C2A, &1.into()), handle(&run, "invoke_agent"));
    assert_eq!(run.tracker.request_span(C2A, &"1".into()), handle(&run, "session/list"));
    assert_eq!(run.tracker.request_span(A2C, &1.into()), None);
    run.line(A2C, &crate::lines::stop(1, "end_turn"));
    assert_eq!(run.tracker.request_span(C2A, &1.into()), None);
}

/// JSON with members in any order and white space in any place.
fn written(value: Value) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["", " ", "\t", "\r", "  "]), 1..8).prop_map(
        move |blanks| {
            let mut in_string = false;
            let mut escaped = false;
            let mut next = blanks.iter().cycle();
            let mut text = String::new();
            for character in value.to_string().chars() {
                let outside = !in_string && "{}[]:,".contains(character);
                if outside {
                    text.push_str(next.next().unwrap());
                }
                text.push(character);
                if outside {
                    text.push_str(next.next().unwrap());
                }
                in_string ^= character == '"' && !escaped;
                escaped = character == '\\' && !escaped;
            }
            text
        },
    )
}

fn metas() -> impl Strategy<Value = Option<Value>> {
    let text = "[ -~é\u{1}]{0,12}";
    prop_oneof![
        Just(None),
        Just(Some(json!(null))),
        prop::collection::btree_map("[a-z_{}\"\\\\]{0,6}", text, 0..4)
            .prop_map(|map| Some(json!(map))),
        text.prop_map(|text| Some(json!({ "baggage": text }))),
        text.prop_map(|text| Some(json!({ "x": { "_meta": null }, "traceparent": text }))),
    ]
}

fn requests() -> impl Strategy<Value = (Value, String)> {
    let more = prop::collection::btree_map("[a-z}]{1,4}", "[ -~\n]{0,12}", 0..3);
    (metas(), prop::option::of(more), any::<bool>()).prop_flat_map(|(meta, more, is_request)| {
        let mut line = json!({ "jsonrpc": "2.0", "method": "x/y" });
        if is_request {
            line["id"] = json!(7);
        }
        if meta.is_some() || more.is_some() {
            line["params"] = json!(more.unwrap_or_default());
        }
        if let Some(meta) = meta {
            line["params"]["_meta"] = meta;
        }
        (Just(line.clone()), written(line))
    })
}

proptest! {
    /// Only the place of insertion and a context of the sender change. The line then contains the
    /// other members as before, and the injected ones. A second injection changes nothing.
    #[test]
    fn other_bytes_are_preserved((value, line) in requests(), with_baggage: bool) {
        let context = context();
        let baggage = Baggage::parse("k=v").filter(|_| with_baggage);
        let said = value["params"]["_meta"].clone();
        let has = |key: &str| said.get(key).is_some();
        let mut expected = value.clone();
        let mut put = |key: &str, text: &str| expected["params"]["_meta"][key] = text.into();
        put("traceparent", PARENT);
        put("tracestate", "a=1");
        if with_baggage && !has("baggage") {
            put("baggage", "k=v");
        }
        let Some(injected) = inject(line.as_bytes(), Some(&context), baggage.as_ref()).unwrap() else {
            prop_assert_eq!(expected, value);
            return Ok(());
        };
        let null = if said.is_null() && value.pointer("/params/_meta").is_some() { "null" } else { "" };
        let unchanged = [injected.before, null.as_bytes(), injected.after].concat();
        if has("traceparent") || has("tracestate") {
            let before = injected.before;
            let after = injected.after;
            prop_assert!(line.as_bytes().starts_with(before) && line.as_bytes().ends_with(after));
        } else {
            prop_assert_eq!(unchanged, line.as_bytes());
        }
        let after = injected.to_line();
        prop_assert_eq!(serde_json::from_slice::<Value>(&after).unwrap(), expected);
        prop_assert_eq!(inject(&after, Some(&context), baggage.as_ref()), Ok(None));
    }

    /// For any bytes there is no panic, and after an insertion the line is a message.
    #[test]
    fn any_bytes_can_be_injected_into(line in prop::collection::vec(any::<u8>(), 0..80), text in ".{0,40}") {
        let _ = inject(&line, Some(&context()), None);
        let _ = Baggage::parse(&text).map(|baggage| baggage.entries().count());
        let _ = Baggage::from_meta(&text);
    }
}
