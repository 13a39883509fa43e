//! Messages decoded by jsonrpc-core, compared with serde_json's values, `jsonrpsee-types`,
//! `lsp-server` and `rmcp`: recorded, modified and damaged lines.
//!
//! A message that they decode has the same kind, id, method and payload here. The intended
//! differences are [`Difference`]s; each of them occurs, and no other does.

use crate::mutation::{Noise, mutants};
use crate::transcript::messages;
use jsonrpc_core::{Kind, Message, MessageError, PeekError, PeekedMessage, Shape, peek};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// A decoded message. Absent params and members are `null`.
#[derive(Clone, Debug, PartialEq)]
struct View {
    kind: Kind,
    id: Value,
    method: Value,
    /// The params, the result, or the error as `{code, message, data}`.
    payload: Value,
}

/// An intended difference from another implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    /// The other treats an id of an invalid type as absent, and the request as a notification
    /// without a response.
    IdOfAnotherType,
    /// The other ignores unexpected members. Here a message is refused if it could be of two kinds,
    /// even if its method is not a string.
    Ambiguous,
    /// The other accepts any params. JSON-RPC permits objects and arrays.
    ScalarParams,
    /// The other accepts a repeated member.
    Twice,
    /// The other encodes `1000.0` as `1000`, which a peer that compares ids as text does not find.
    Respelled,
    /// The other replaces absent params by an empty object.
    ParamsMadeUp,
}

/// Returns the compared texts: recorded lines, modified as JSON, and damaged as text.
fn texts() -> Vec<String> {
    let recorded = messages();
    assert!(recorded.len() > 100, "only {} messages", recorded.len());
    let mut texts = Vec::new();
    let mut noise = Noise::default();
    for line in recorded {
        let value: Value = serde_json::from_str(&line).unwrap();
        let envelope = envelope_of(&value);
        texts.extend(mutants(&envelope).iter().chain(&odd(&envelope)).map(Value::to_string));
        texts.extend(
            ["id", "method", "params", "result", "error"].map(|name| twice(&envelope, name)),
        );
        texts.extend((0..40).map(|_| noise.damage(&envelope.to_string())));
        texts.extend((0..10).map(|_| noise.damage(&line)));
        texts.push(line);
    }
    texts
}

/// Returns the message with small params or a small result, so that changes affect the envelope.
fn envelope_of(message: &Value) -> Value {
    let mut envelope = message.clone();
    for name in ["params", "result"] {
        if let Some(payload) = envelope.get_mut(name) {
            *payload = json!({"a": [1, "é\n\"", null]});
        }
    }
    envelope
}

/// Returns the message with other values for its members, and with additional members.
fn odd(message: &Value) -> Vec<Value> {
    let values = [
        json!(null),
        json!(-1),
        json!(0),
        json!(1.5),
        json!(1e3),
        json!(u64::MAX),
        json!("x"),
        json!(""),
        json!(true),
        json!([]),
        json!({}),
        json!([1]),
        json!({"code": -32603, "message": "no"}),
        json!({"code": "x"}),
        json!({"code": 1, "message": "m", "data": {"a": 1}}),
        json!("x".repeat(5000)),
    ];
    let names = ["jsonrpc", "id", "method", "params", "result", "error", "other"];
    let all = names.iter().flat_map(|name| values.iter().map(move |value| (name, value)));
    all.map(|(name, value)| {
        let mut message = message.clone();
        message[name] = value.clone();
        message
    })
    .collect()
}

/// Returns the message with a repeated member at its end.
fn twice(message: &Value, name: &str) -> String {
    let text = message.to_string();
    format!("{},\"{name}\":{}}}", &text[..text.len() - 1], message[name])
}

fn ours(message: &Message<'_>) -> View {
    let read = |raw: Option<&RawValue>| raw.map_or(Value::Null, |raw| value(raw.get()));
    let id = message.id().map_or(Value::Null, |id| serde_json::to_value(id).unwrap());
    let (method, payload) = match message {
        Message::Request(request) => (Some(&request.method), read(request.params)),
        Message::Notification(notification) => {
            (Some(&notification.method), read(notification.params))
        }
        Message::Response(response) => match &response.outcome {
            Ok(result) => (None, read(Some(result))),
            Err(error) => {
                let data = error.data.as_ref().map(|data| value(data.as_str()));
                (None, json!({"code": error.code.0, "message": error.message, "data": data}))
            }
        },
    };
    let method = method.map_or(Value::Null, |method| json!(method));
    View { kind: message.kind(), id, method, payload }
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Returns the message of a value by JSON-RPC 2.0, with the tolerances in the documentation of the
/// crate.
fn by_the_rules(value: &Value) -> Option<View> {
    let message = value.as_object()?;
    let there = |name| message.get(name).filter(|value: &&Value| !value.is_null());
    let error = there("error");
    let result = message.get("result").filter(|result| !result.is_null() || error.is_none());
    let id = message.get("id");
    let method = message.get("method");
    let is_id = |id: &Value| {
        id.is_null() || id.is_number() || id.as_str().is_some_and(|_| id.to_string().len() <= 4096)
    };
    if id.is_some_and(|id| !is_id(id)) {
        return None;
    }
    let (kind, payload) = match (method, result, error) {
        (Some(Value::String(_)), None, None) => {
            let params = there("params");
            let is_structured = |params: &Value| params.is_object() || params.is_array();
            if params.is_some_and(|params| !is_structured(params)) {
                return None;
            }
            let kind = if id.is_some() { Kind::Request } else { Kind::Notification };
            (kind, params.cloned().unwrap_or_default())
        }
        (None, Some(result), None) => id.map(|_| (Kind::Response, result.clone()))?,
        (None, None, Some(error)) => {
            let code = error.get("code")?.as_i64()?;
            let text = error.get("message")?.as_str()?;
            (Kind::Response, json!({"code": code, "message": text, "data": error.get("data")}))
        }
        _ => return None,
    };
    let method = method.cloned().unwrap_or_default();
    Some(View { kind, id: id.cloned().unwrap_or_default(), method, payload })
}

fn lsp_server(text: &str) -> Option<View> {
    let view = |kind, id: Option<&lsp_server::RequestId>, method, payload| View {
        kind,
        id: id.map_or(Value::Null, |id| serde_json::to_value(id).unwrap()),
        method,
        payload,
    };
    Some(match serde_json::from_str(text).ok()? {
        lsp_server::Message::Request(request) => {
            view(Kind::Request, Some(&request.id), json!(request.method), request.params)
        }
        lsp_server::Message::Notification(notification) => {
            view(Kind::Notification, None, json!(notification.method), notification.params)
        }
        lsp_server::Message::Response(response) => {
            let payload = response.response_result.unwrap_or_else(
                |error| json!({"code": error.code, "message": error.message, "data": error.data}),
            );
            view(Kind::Response, Some(&response.id), Value::Null, payload)
        }
    })
}

/// Decodes like its server and client: as a request, else as a response, else as a notification.
fn jsonrpsee(text: &str) -> Option<View> {
    use jsonrpsee_types::{Notification, Request, Response, ResponsePayload};
    let read = |raw: Option<&RawValue>| raw.map_or(Value::Null, |raw| value(raw.get()));
    if let Ok(request) = serde_json::from_str::<Request<'_>>(text) {
        let id = serde_json::to_value(&request.id).unwrap();
        let payload = read(request.params.as_deref());
        return Some(View { kind: Kind::Request, id, method: json!(request.method), payload });
    }
    if let Ok(response) = serde_json::from_str::<Response<'_, &RawValue>>(text) {
        let id = serde_json::to_value(&response.id).unwrap();
        let payload = match response.payload {
            ResponsePayload::Success(result) => read(Some(*result)),
            ResponsePayload::Error(error) => {
                json!({"code": error.code(), "message": error.message(), "data": error.data().map(|data| value(data.get()))})
            }
        };
        return Some(View { kind: Kind::Response, id, method: Value::Null, payload });
    }
    let notification = serde_json::from_str::<Notification<'_, Option<&RawValue>>>(text).ok()?;
    let method = json!(notification.method);
    let payload = read(notification.params);
    Some(View { kind: Kind::Notification, id: Value::Null, method, payload })
}

/// Decodes and encodes, since its messages have no common accessors. Invalid output counts as an
/// error.
fn rmcp(text: &str) -> Option<View> {
    let message: rmcp::model::JsonRpcMessage = serde_json::from_str(text).ok()?;
    by_the_rules(&serde_json::to_value(message).unwrap())
}

/// Returns the intended difference from a peer's result, if any.
fn meant(ours: &Result<View, MessageError>, theirs: &View) -> Option<Difference> {
    match ours {
        Ok(ours) => {
            let number = |view: &View| view.id.as_f64();
            let (difference, expected) = if ours.kind != theirs.kind {
                let expected = View { kind: Kind::Notification, id: Value::Null, ..ours.clone() };
                (Difference::IdOfAnotherType, expected)
            } else if ours.id != theirs.id && number(ours) == number(theirs) {
                (Difference::Respelled, View { id: theirs.id.clone(), ..ours.clone() })
            } else if ours.kind != Kind::Response && ours.payload.is_null() {
                (Difference::ParamsMadeUp, View { payload: json!({}), ..ours.clone() })
            } else {
                return None;
            };
            (*theirs == expected).then_some(difference)
        }
        Err(MessageError::Shape { problem, .. }) => match problem {
            Shape::Id => Some(Difference::IdOfAnotherType),
            Shape::Ambiguous | Shape::Method => Some(Difference::Ambiguous),
            Shape::Params => Some(Difference::ScalarParams),
            Shape::Duplicate(_) => Some(Difference::Twice),
            _ => None,
        },
        Err(_) => None,
    }
}

/// Returns whether an object has a repeated member.
fn has_twins(text: &str) -> bool {
    struct Names(Vec<String>);

    impl<'de> Deserialize<'de> for Names {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_map(Names(Vec::new()))
        }
    }

    impl<'de> Visitor<'de> for Names {
        type Value = Self;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
            while let Some((name, IgnoredAny)) = map.next_entry()? {
                self.0.push(name);
            }
            Ok(self)
        }
    }

    let Ok(Names(mut names)) = serde_json::from_str(text) else { return false };
    names.sort();
    names.windows(2).any(|pair| pair[0] == pair[1])
}

/// Checks that peeking finds the same message.
fn peeked(text: &str, view: Option<&View>) {
    match (peek(text.as_bytes()), view) {
        (Ok(peek), Some(view)) => {
            let read = |part: Option<&str>| part.map_or(Value::Null, value);
            let method =
                peek.method().and_then(|method| method.decode()).map(|method| json!(method));
            assert_eq!(peek.kind(), view.kind, "{text}");
            assert_eq!(read(peek.id()), view.id.clone(), "{text}");
            assert_eq!(method.unwrap_or_default(), view.method, "{text}");
            if peek.error().is_none() {
                assert_eq!(read(peek.params().or(peek.result())), view.payload, "{text}");
            }
        }
        // Peeking does not read errors.
        (Ok(peek), None) => assert!(peek.error().is_some(), "{text}"),
        (Err(error), view) => assert!(view.is_none(), "{text}: {error}"),
    }
}

#[test]
fn messages_match_serde_json() {
    let mut read = 0;
    let mut refused = 0;
    let mut no_json = 0;
    let mut no_value = 0;
    for text in texts() {
        let decoded = Message::decode(&text);
        if serde_json::from_str::<&RawValue>(&text).is_err() {
            assert!(matches!(decoded, Err(MessageError::Syntax { .. })), "{text}");
            let peeked = peek(text.as_bytes()).map(|peek: PeekedMessage<'_>| peek.kind());
            assert!(matches!(peeked, Err(PeekError::Syntax { .. })), "{text}");
            no_json += 1;
            continue;
        }
        // Numbers beyond a double, and lone surrogates, are JSON, but not values of serde_json.
        let Ok(value) = serde_json::from_str(&text) else {
            no_value += 1;
            continue;
        };
        let ours = decoded.as_ref().map(ours);
        if matches!(decoded, Err(MessageError::Shape { problem: Shape::Duplicate(_), .. })) {
            assert!(has_twins(&text), "{text}");
            peeked(&text, None);
            continue;
        }
        let expected = by_the_rules(&value);
        assert_eq!(ours.as_ref().ok(), expected.as_ref(), "{text}: {ours:?}");
        peeked(&text, expected.as_ref());
        *(if expected.is_some() { &mut read } else { &mut refused }) += 1;
    }
    let counts = (read, refused, no_json, no_value);
    assert!(read > 5000 && refused > 3000 && no_json > 3000, "{counts:?}");
}

#[test]
fn messages_match_other_crates() {
    use Difference::{Ambiguous, IdOfAnotherType, ParamsMadeUp, Respelled, ScalarParams, Twice};
    for (peer, read, expected) in [
        (
            "lsp-server",
            lsp_server as fn(&str) -> _,
            &[IdOfAnotherType, Ambiguous, ScalarParams, Twice][..],
        ),
        ("jsonrpsee-types", jsonrpsee, &[IdOfAnotherType, Ambiguous, ScalarParams, Twice]),
        ("rmcp", rmcp, &[Respelled, ParamsMadeUp]),
    ] {
        let mut same = 0;
        let mut differences = BTreeMap::new();
        for text in texts() {
            // Values that serde_json cannot represent are raw text for the others.
            if serde_json::from_str::<Value>(&text).is_err() {
                continue;
            }
            let Some(theirs) = read(&text) else { continue };
            let ours = Message::decode(&text).map(|message| ours(&message));
            if ours.as_ref().is_ok_and(|ours| *ours == theirs) {
                same += 1;
                continue;
            }
            let difference = meant(&ours, &theirs);
            let difference =
                difference.unwrap_or_else(|| panic!("{peer}: {theirs:?} and {ours:?} of {text}"));
            *differences.entry(difference).or_insert(0) += 1;
        }
        let seen: Vec<_> = differences.keys().copied().collect();
        assert_eq!(seen, expected, "{peer}: {differences:?}");
        assert!(same > 4000, "{peer}: {same} the same, {differences:?}");
    }
}
