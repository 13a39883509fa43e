//! Generators of streams over few identifiers, so that their events interact.
use agui_types::event::Event;
use agui_types::verify::Verifier;
use jsonrpc_core::wire;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Returns the number of cases of a property: `ordinary` for proptest's default of 256 cases, and
/// in proportion for another `PROPTEST_CASES`.
pub(crate) fn cases(ordinary: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    let cases = (ordinary.saturating_mul(config.cases) / 256).max(1);
    ProptestConfig { cases, ..config }
}

fn id() -> impl Strategy<Value = Value> {
    prop::sample::select(vec!["a", "b", "c"]).prop_map(Value::from)
}

fn maybe(strategy: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Value> {
    prop_oneof![2 => Just(Value::Null), 1 => strategy].boxed()
}

/// An event of a type. Members that are `null` are left out, and some common members may be added.
fn of(
    event_type: &'static str,
    members: Vec<(&'static str, BoxedStrategy<Value>)>,
) -> BoxedStrategy<Event> {
    let metadata = prop::sample::select(vec![json!({"k":1}), json!({"k":[2]}), json!({"l":null})]);
    let rest = (
        prop::sample::select(vec![Value::Null, Value::Null, Value::Null, json!("s"), json!("u")]),
        prop_oneof![3 => Just(Value::Null), 1 => metadata],
        prop_oneof![9 => Just(Value::Null), 1 => Just(json!({"raw":1}))],
        prop_oneof![3 => Just(Value::Null), 1 => (0..9).prop_map(Value::from)],
    );
    let names: Vec<_> = members.iter().map(|(name, _)| *name).collect();
    let values: Vec<_> = members.into_iter().map(|(_, value)| value).collect();
    (values, rest)
        .prop_map(move |(values, (owner, metadata, raw, timestamp))| {
            let mut event = Map::from_iter([("type".to_owned(), json!(event_type))]);
            let about_all = event_type.starts_with("RUN_") || event_type == "MESSAGES_SNAPSHOT";
            let owner = if about_all { Value::Null } else { owner };
            let base = [
                ("subagentRunId", owner),
                ("metadata", metadata),
                ("rawEvent", raw),
                ("timestamp", timestamp),
            ];
            let members = base.into_iter().chain(names.iter().copied().zip(values));
            for (name, value) in
                members.filter(|(name, value)| !value.is_null() || *name == "value")
            {
                event.insert(name.to_owned(), value);
            }
            wire::decode(&Value::Object(event).to_string()).expect("an event")
        })
        .boxed()
}

fn delta() -> BoxedStrategy<Value> {
    "[a-zé\"]{0,4}".prop_map(Value::from).boxed()
}

/// Events that create and extend messages and calls, as chunks and as single events.
fn item() -> BoxedStrategy<Event> {
    let id = || id().boxed();
    let role = || maybe(prop::sample::select(vec!["user", "assistant"]).prop_map(Value::from));
    prop_oneof![
        3 => of("TEXT_MESSAGE_START", vec![("messageId", id()), ("role", role())]),
        6 => of("TEXT_MESSAGE_CONTENT", vec![("messageId", id()), ("delta", delta())]),
        2 => of("TEXT_MESSAGE_END", vec![("messageId", id())]),
        4 => of("TEXT_MESSAGE_CHUNK", vec![("messageId", maybe(id())), ("delta", maybe(delta()))]),
        3 => of("TOOL_CALL_START", vec![
            ("toolCallId", id()),
            ("toolCallName", Just(json!("f")).boxed()),
            ("parentMessageId", maybe(id())),
        ]),
        6 => of("TOOL_CALL_ARGS", vec![("toolCallId", id()), ("delta", delta())]),
        2 => of("TOOL_CALL_END", vec![("toolCallId", id())]),
        3 => of("TOOL_CALL_CHUNK", vec![
            ("toolCallId", maybe(id())),
            ("toolCallName", maybe(Just(json!("f")))),
            ("delta", maybe(delta())),
        ]),
        2 => of("TOOL_CALL_RESULT", vec![
            ("messageId", "[r-t]".prop_map(Value::from).boxed()),
            ("toolCallId", id()),
            ("content", delta()),
        ]),
        3 => of("REASONING_MESSAGE_START", vec![("messageId", id()), ("role", Just(json!("reasoning")).boxed())]),
        6 => of("REASONING_MESSAGE_CONTENT", vec![("messageId", id()), ("delta", delta())]),
        2 => of("REASONING_MESSAGE_END", vec![("messageId", id())]),
        3 => of("REASONING_MESSAGE_CHUNK", vec![("messageId", maybe(id())), ("delta", maybe(delta()))]),
    ]
    .boxed()
}

/// A patch over a few places.
pub(crate) fn patch() -> BoxedStrategy<Value> {
    let path = || prop::sample::select(vec!["", "/x", "/x/y", "/l/0", "/l/-", "/l"]);
    let value = prop::sample::select(vec![
        json!(1),
        json!(null),
        json!([1, 2]),
        json!({"y": 1}),
        json!({"l": []}),
    ]);
    let operation = (0..6, path(), path(), value).prop_map(|(op, path, from, value)| match op {
        0 => json!({"op":"add","path":path,"value":value}),
        1 => json!({"op":"remove","path":path}),
        2 => json!({"op":"replace","path":path,"value":value}),
        3 => json!({"op":"move","path":path,"from":from}),
        4 => json!({"op":"copy","path":path,"from":from}),
        _ => json!({"op":"test","path":path,"value":value}),
    });
    prop::collection::vec(operation, 0..4).prop_map(Value::from).boxed()
}

fn message() -> BoxedStrategy<Value> {
    let kinds = vec![
        json!({"role":"user","content":"u"}),
        json!({"role":"user","content":[{"type":"text","text":"p"}]}),
        json!({"role":"assistant"}),
        json!({"role":"assistant","content":"x","toolCalls":[{"id":"a","type":"function","function":{"name":"f","arguments":"1"}}]}),
        json!({"role":"reasoning","content":"r"}),
        json!({"role":"activity","activityType":"t","content":{"x":1}}),
        json!({"role":"tool","toolCallId":"a","content":"t"}),
    ];
    (id(), prop::sample::select(kinds))
        .prop_map(|(id, mut message)| {
            message["id"] = id;
            message
        })
        .boxed()
}

/// Events that restate or change existing items.
fn other() -> BoxedStrategy<Event> {
    let id = || id().boxed();
    let owner = || prop::sample::select(vec![json!("s"), json!("u")]).boxed();
    let messages = || prop::collection::vec(message(), 0..3).prop_map(Value::from).boxed();
    let value = prop::sample::select(vec![json!(1), json!({"x":{"y":1},"l":[0]}), json!([1])]);
    prop_oneof![
        2 => of("STATE_SNAPSHOT", vec![("snapshot", value.boxed())]),
        4 => of("STATE_DELTA", vec![("delta", patch())]),
        1 => of("MESSAGES_SNAPSHOT", vec![("messages", messages())]),
        2 => of("ACTIVITY_SNAPSHOT", vec![
            ("messageId", id()),
            ("activityType", Just(json!("t")).boxed()),
            ("content", Just(json!({"x":1,"l":[]})).boxed()),
            ("replace", maybe(any::<bool>().prop_map(Value::from))),
        ]),
        2 => of("ACTIVITY_DELTA", vec![
            ("messageId", id()),
            ("activityType", Just(json!("v")).boxed()),
            ("patch", patch()),
        ]),
        1 => of("SUBAGENT_STARTED", vec![("subagentRunId", owner()), ("name", Just(json!("n")).boxed())]),
        1 => of("SUBAGENT_FINISHED", vec![("subagentRunId", owner())]),
        1 => of("STEP_STARTED", vec![("stepName", id())]),
        1 => of("STEP_FINISHED", vec![("stepName", id())]),
        1 => of("CUSTOM", vec![("name", Just(json!("x.y")).boxed()), ("value", Just(Value::Null).boxed())]),
        1 => of("RAW", vec![("event", Just(json!(1)).boxed())]),
        1 => of("REASONING_ENCRYPTED_VALUE", vec![
            ("subtype", prop::sample::select(vec![json!("message"), json!("tool-call")]).boxed()),
            ("entityId", id()),
            ("encryptedValue", delta()),
        ]),
    ]
    .boxed()
}

fn run() -> BoxedStrategy<Event> {
    let thread = || ("threadId", Just(json!("t")).boxed());
    let run = || ("runId", "[p-r]|first".prop_map(Value::from).boxed());
    let outcome = prop::sample::select(vec![
        json!({"type":"success","pendingToolCallIds":["a"]}),
        json!({"type":"interrupt","interrupts":[{"id":"i","reason":"confirmation"}]}),
        json!({"type":"cancelled"}),
    ]);
    let version = || ("protocolVersion", Just(json!("1.0")).boxed());
    let input = prop::collection::vec(message(), 0..3)
        .prop_map(|messages| json!({"threadId":"t","runId":"r","messages":messages}));
    prop_oneof![
        3 => of("RUN_STARTED", vec![thread(), run(), version(), ("input", maybe(input))]),
        4 => of("RUN_FINISHED", vec![thread(), run(), ("outcome", maybe(outcome))]),
        1 => of("RUN_ERROR", vec![("message", Just(json!("m")).boxed())]),
    ]
    .boxed()
}

/// Any event.
pub(crate) fn event() -> impl Strategy<Value = Event> {
    prop_oneof![8 => item(), 3 => other(), 1 => run()]
}

/// Events in any order.
pub(crate) fn events() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(event(), 0..60)
}

/// A stream that the tolerant verifier accepts, and if `strict` the strict one as well.
pub(crate) fn stream(strict: bool) -> impl Strategy<Value = Vec<Event>> {
    events().prop_map(move |events| {
        let verifier = if strict { Verifier::strict() } else { Verifier::tolerant() };
        let started =
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"first","protocolVersion":"1.0"}"#;
        let mut events: Vec<Event> =
            [wire::decode(started).expect("an event")].into_iter().chain(events).collect();
        // A rejected event may have closed a chunk stream, so each event is checked on a copy.
        let mut taken = verifier;
        events.retain(|event| {
            let mut tried = taken.clone();
            let takes = tried.handle(event).is_ok();
            if takes {
                taken = tried;
            }
            takes
        });
        events
    })
}
