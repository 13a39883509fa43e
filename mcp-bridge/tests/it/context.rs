//! `x-model-context`: extraction is the inverse of encoding.
use crate::shapes::any_json;
use jsonrpc_core::wire;
use mcp_bridge::context::{
    self, Carrier, Carriers, ContextLimits, ContextProblem, EXTENSION, EncodeError, EncodeOptions,
    Extraction, LATER_NAME, Marker, ModelContext, NAME,
};
use mcp_bridge::mcp::capabilities::ClientCapabilities;
use mcp_bridge::mcp::elicitation::ElicitRequestParams;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

mod laws;

fn read(params: &Value) -> ElicitRequestParams {
    wire::decode(&params.to_string()).expect("params")
}

fn write(params: &ElicitRequestParams) -> Value {
    serde_json::to_value(params).expect("JSON")
}

fn extract(params: &Value) -> Extraction {
    context::extract(&read(params), &ContextLimits::default())
}

fn encode(params: &Value, value: &Value, encoding: &EncodeOptions) -> Result<Value, EncodeError> {
    let mut params = read(params);
    let context = ModelContext::from_value(value).expect("an object");
    context::encode(&mut params, &context, encoding)?;
    Ok(write(&params))
}

fn value(extracted: &Extraction) -> Option<Value> {
    extracted.context.as_ref().map(|context| context.decode().expect("JSON"))
}

/// The wire format of the first framework that used it, as documented there.
#[test]
fn original_format_round_trips() {
    let wire = json!({
        "mode": "form",
        "message": "Select a flight from NYC to LAX:\n\n1. SkyHigh $299\n2. CloudAir $349\n\n--x-model-context: application/json\n{\"flights\":[{\"id\":\"SH-142\"}],\"seatMap\":{\"rows\":30}}",
        "requestedSchema": {
            "type": "object",
            "properties": { "flightId": { "type": "string" } },
            "x-model-context": { "flights": [{ "id": "SH-142" }], "seatMap": { "rows": 30 } },
        },
    });
    let found = extract(&wire);
    let context = json!({ "flights": [{ "id": "SH-142" }], "seatMap": { "rows": 30 } });
    assert_eq!(value(&found), Some(context.clone()));
    assert_eq!(found.source, Some(Carrier::Schema));
    assert_eq!(found.diagnostics, []);
    let clean = write(&found.request);
    let message = "Select a flight from NYC to LAX:\n\n1. SkyHigh $299\n2. CloudAir $349";
    assert_eq!(clean["message"], message);
    assert_eq!(clean["requestedSchema"].get(NAME), None);
    let again = encode(&clean, &context, &EncodeOptions::new(Carriers::SCHEMA_AND_MESSAGE));
    assert_eq!(again, Ok(wire));
}

/// Context, remaining text and diagnostics of each irregular message.
#[test]
fn irregular_messages_are_decoded_by_rule() {
    let header = "--x-model-context: application/json";
    let context = Some(json!({ "a": 1 }));
    let none = None::<Value>;
    let deep = format!("{}{}", "{\"a\":".repeat(65), "1".to_owned() + &"}".repeat(65));
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(ContextLimits::DEFAULT_BYTES));
    let unchanged = None::<&str>;
    use ContextProblem::{
        InvalidJson, MalformedHeader, NotAnObject, TooDeep, TooLarge, TrailingText, UnsupportedMime,
    };
    type Row = (String, Option<Value>, Option<&'static str>, Option<ContextProblem>);
    let table: Vec<Row> = vec![
        (format!("Hi\n\n{header}\n{{\"a\":1}}"), context.clone(), Some("Hi"), None),
        (
            format!("Hi\n\n--{LATER_NAME}: application/json\n{{\"a\":1}}"),
            context.clone(),
            Some("Hi"),
            None,
        ),
        // Three line breaks, as one encoder writes them; the message keeps those beyond the
        // separator.
        (format!("Hi\n\n\n{header}\n{{\"a\":1}}"), context.clone(), Some("Hi\n"), None),
        (format!("Hi\n{header}\n{{\"a\":1}}"), context.clone(), Some("Hi"), None),
        (format!("{header}\n{{\"a\":1}}"), context.clone(), Some(""), None),
        (format!("  Hi \n\n{header}\n{{\"a\":1}}"), context.clone(), Some("  Hi "), None),
        (format!("Hi\r\n\r\n{header}\r\n{{\"a\":1}}\r\n"), context.clone(), Some("Hi"), None),
        (format!("Hi\n\n{header}\n {{\n \"a\": 1 }} \n\n"), context.clone(), Some("Hi"), None),
        (
            "Hi\n\n--x-model-context:APPLICATION/Json ; charset=UTF-8;v=2\n{\"a\":1}".into(),
            context.clone(),
            Some("Hi"),
            None,
        ),
        // Encoded twice by an encoder that does not replace: the last section counts.
        (
            format!("Hi\n\n{header}\n{{\"a\":1}}\n\n{header}\n{{\"a\":1}}"),
            context,
            Some("Hi"),
            None,
        ),
        (format!("Hi\n\n{header}\n{{}}"), none.clone(), Some("Hi"), None),
        (format!("Hi\n\n{header}\nnull"), none.clone(), Some("Hi"), None),
        (format!("Hi {header}\n{{\"a\":1}}"), none.clone(), unchanged, None),
        (
            "Hi\n\n--x-model-context: application/json+gzip\nH4sI".into(),
            none.clone(),
            Some("Hi"),
            Some(UnsupportedMime),
        ),
        (
            "Hi\n\n--x-model-context: application/json; charset=latin1\n{}".into(),
            none.clone(),
            Some("Hi"),
            Some(UnsupportedMime),
        ),
        (
            "Hi\n\n--x-model-context: see below\n{\"a\":1}".into(),
            none.clone(),
            unchanged,
            Some(MalformedHeader),
        ),
        (format!("Hi\n\n{header}\n{{\"a\":1"), none.clone(), unchanged, Some(InvalidJson)),
        (format!("Hi\n\n{header}"), none.clone(), unchanged, Some(InvalidJson)),
        (format!("Hi\n\n{header}\n{{\"a\":1}}\nBye"), none.clone(), unchanged, Some(TrailingText)),
        (format!("Hi\n\n{header}\n[1]"), none.clone(), unchanged, Some(NotAnObject)),
        (format!("Hi\n\n{header}\n7"), none.clone(), unchanged, Some(NotAnObject)),
        (format!("Hi\n\n{header}\n{deep}"), none.clone(), unchanged, Some(TooDeep)),
        (format!("Hi\n\n{header}\n{large}"), none, unchanged, Some(TooLarge)),
    ];
    for (message, expected, left, problem) in table {
        let found = extract(&json!({ "message": message, "requestedSchema": {} }));
        let shown: String = message.chars().take(80).collect();
        assert_eq!(value(&found), expected, "{shown}");
        assert_eq!(found.request.message(), Some(left.unwrap_or(&message)), "{shown}");
        let problems: Vec<_> = found.diagnostics.iter().map(|it| it.problem).collect();
        assert_eq!(problems, problem.into_iter().collect::<Vec<_>>(), "{shown}");
    }
}

/// A section that is not decoded is removed from the message and returned separately.
#[test]
fn unsupported_section_is_returned_separately() {
    let section = "--x-model-context: application/json+gzip;base64\nH4sI\nmore";
    let found = extract(&json!({ "message": format!("Hi\n\n{section}"), "requestedSchema": {} }));
    assert_eq!(found.request.message(), Some("Hi"));
    assert_eq!(found.raw_section.as_deref(), Some(section));
}

/// Carriers take precedence in order. Invalid ones are skipped, and mismatches are reported.
#[test]
fn carriers_take_precedence_in_order() {
    let section = |text: &str| format!("Hi\n\n--x-model-context: application/json\n{text}");
    let a = json!({ "a": 1 });
    // `_meta`, schema, message; then the context, its source, and the diagnostics.
    type Row = (
        Value,
        Value,
        Value,
        Option<Value>,
        Option<Carrier>,
        &'static [(&'static str, ContextProblem)],
    );
    let table: Vec<Row> = vec![
        (
            json!({ NAME: a }),
            json!({ NAME: a }),
            section("{\"a\":2}").into(),
            Some(a.clone()),
            Some(Carrier::Meta),
            &[("/message", ContextProblem::Mismatch)],
        ),
        // Another spelling of the same value.
        (
            json!({ NAME: a }),
            json!({ NAME: a }),
            section("{\"a\":1.0e0}").into(),
            Some(a.clone()),
            Some(Carrier::Meta),
            &[],
        ),
        (
            json!({ LATER_NAME: a }),
            json!({}),
            "Hi".into(),
            Some(a.clone()),
            Some(Carrier::Meta),
            &[],
        ),
        (
            json!({ EXTENSION: a, NAME: { "a": 2 } }),
            json!({}),
            "Hi".into(),
            Some(a.clone()),
            Some(Carrier::Meta),
            &[("/_meta/x-model-context", ContextProblem::Mismatch)],
        ),
        (
            json!({ NAME: null }),
            json!({ LATER_NAME: a }),
            "Hi".into(),
            Some(a.clone()),
            Some(Carrier::Schema),
            &[],
        ),
        (
            json!({ EXTENSION: [1] }),
            json!({ NAME: "x" }),
            section("{\"a\":1}").into(),
            Some(a.clone()),
            Some(Carrier::Message),
            &[
                ("/_meta/dev.spanwire~1model-context", ContextProblem::NotAnObject),
                ("/requestedSchema/x-model-context", ContextProblem::NotAnObject),
            ],
        ),
        (
            json!({ NAME: {} }),
            json!({ NAME: {} }),
            section("{\"a\":1}").into(),
            Some(a),
            Some(Carrier::Message),
            &[],
        ),
        (
            json!(7),
            json!({ "properties": { "p": { NAME: { "b": 1 } } } }),
            "Hi".into(),
            None,
            None,
            &[],
        ),
    ];
    for (meta, schema, message, context, source, problems) in table {
        let params = json!({ "message": message, "requestedSchema": schema, "_meta": meta });
        let found = extract(&params);
        assert_eq!(value(&found), context, "{params}");
        assert_eq!(found.source, source, "{params}");
        let told: Vec<_> =
            found.diagnostics.iter().map(|it| (it.pointer.as_str(), it.problem)).collect();
        assert_eq!(told, problems, "{params}");
        assert_eq!(found.request.message(), Some("Hi"), "{params}");
    }
}

/// A context that cannot be encoded is an error and leaves the elicitation unchanged.
#[test]
fn context_beyond_the_limits_is_an_error() {
    let plain = json!({ "message": "Hi", "requestedSchema": {} });
    let all = EncodeOptions::new(Carriers::ALL);
    let deep = (0..64).fold(json!(1), |inner, _| json!({ "a": inner }));
    assert!(encode(&plain, &deep, &all).is_ok());
    let deep = json!({ "a": deep });
    assert_eq!(encode(&plain, &deep, &all), Err(EncodeError::TooDeep { actual: 65, limit: 64 }));
    let fits = json!({ "a": "x".repeat(ContextLimits::DEFAULT_BYTES - r#"{"a":""}"#.len()) });
    assert!(encode(&plain, &fits, &all).is_ok());
    let large = json!({ "a": "x".repeat(ContextLimits::DEFAULT_BYTES) });
    let limit = ContextLimits::DEFAULT_BYTES;
    let actual = limit + r#"{"a":""}"#.len();
    assert_eq!(encode(&plain, &large, &all), Err(EncodeError::TooLarge { actual, limit }));
    let long =
        json!({ "message": "x".repeat(ContextLimits::DEFAULT_MESSAGE), "requestedSchema": {} });
    let error = encode(&long, &json!({ "a": 1 }), &all);
    assert!(matches!(error, Err(EncodeError::MessageTooLarge { .. })), "{error:?}");
    let marked = json!({ "message": "see --x-model-context: here", "requestedSchema": {} });
    let mut refuse = all;
    refuse.marker = Marker::Refuse;
    assert_eq!(encode(&marked, &json!({ "a": 1 }), &refuse), Err(EncodeError::Marker));
    let odd = json!({ "message": "Hi", "requestedSchema": true });
    assert_eq!(encode(&odd, &json!({ "a": 1 }), &all), Err(EncodeError::Schema));
    let odd = json!({ "message": "Hi", "requestedSchema": {}, "_meta": [] });
    assert_eq!(encode(&odd, &json!({ "a": 1 }), &all), Err(EncodeError::Meta));
    let mut unknown = read(&json!({ "mode": "wizard" }));
    let context = ModelContext::from_text(r#"{"a":1}"#).expect("an object");
    assert_eq!(context::encode(&mut unknown, &context, &all), Err(EncodeError::Mode));
}

/// Numbers, order and repeated members are preserved exactly, and the surrounding schema is
/// unchanged.
#[test]
fn contexts_are_preserved_exactly() {
    let context = r#"{"z":1e2,"a":10000000000000000000000,"z":0.10}"#;
    let schema = r#"{"required":["b"],"$schema":"x","properties":{"b":{"type":"string"},"a":{}},"type":"object"}"#;
    let params = format!(r#"{{"message":"Hi","requestedSchema":{schema}}}"#);
    for carriers in [Carriers::ALL, Carriers::META, Carriers::SCHEMA_AND_MESSAGE] {
        let mut request: ElicitRequestParams = wire::decode(&params).expect("params");
        let given = ModelContext::from_text(context).expect("an object");
        context::encode(&mut request, &given, &EncodeOptions::new(carriers)).expect("it fits");
        let found = context::extract(&request, &ContextLimits::default());
        assert_eq!(found.context.as_ref().map(ModelContext::as_str), Some(context));
        let ElicitRequestParams::Form(form) = found.request else { panic!("no form") };
        assert_eq!(form.requested_schema.as_str(), schema);
    }
}

/// The capabilities of the peer decide, in the member that its generation uses.
#[test]
fn carriers_follow_the_capabilities_of_the_peer() {
    let table = [
        (json!({}), Carriers::ALL),
        (json!({ "elicitation": {} }), Carriers::ALL),
        (json!({ "extensions": { EXTENSION: {} } }), Carriers::META),
        (json!({ "experimental": { EXTENSION: {} } }), Carriers::META),
        (json!({ "extensions": { "io.modelcontextprotocol/ui": {} } }), Carriers::ALL),
    ];
    for (capabilities, expected) in table {
        let read: ClientCapabilities = wire::decode(&capabilities.to_string()).expect("JSON");
        assert_eq!(Carriers::for_peer(&read), expected, "{capabilities}");
    }
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map("[a-z$]{1,4}", any_json(), 1..4)
        .prop_map(|members| members.into_iter().collect())
}

fn message() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "\\PC{0,8}",
        select(vec!["\n", "\r", "\r\n", "--", "x-model-context", ": application/json", "{}", " "])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(part, 0..6)
        .prop_map(|parts| parts.concat())
        .prop_filter("contains a marker", |text| {
            !text.contains("--x-model-context:") && !text.contains("--x-elicit-context:")
        })
}

fn params() -> impl Strategy<Value = Value> {
    (message(), object(), prop::option::of(object())).prop_map(|(message, schema, meta)| {
        let mut params = json!({ "message": message, "requestedSchema": schema });
        if let Some(meta) = meta {
            params["_meta"] = Value::Object(meta);
        }
        params
    })
}

fn carriers() -> impl Strategy<Value = Carriers> {
    (any::<bool>(), any::<bool>(), any::<bool>())
        .prop_map(|(meta, schema, message)| Carriers { meta, schema, message })
        .prop_filter("none", |carriers| *carriers != Carriers::NONE)
}
