//! The law of wire types: decode, then encode, gives the same JSON value. Tested for every declared
//! type.
use crate::generate;
use crate::model::{self, Member, Shape};
use agui_types::capabilities::*;
use agui_types::content::*;
use agui_types::event::*;
use agui_types::id::*;
use agui_types::input::*;
use agui_types::integer::*;
use agui_types::interrupt::*;
use agui_types::json_patch::*;
use agui_types::message::*;
use agui_types::tool::*;
use agui_types::usage::*;
use jsonrpc_core::wire;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A document as sent, and its value.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) text: String,
    pub(crate) value: Value,
    /// The value without optional members that are `null`.
    pub(crate) without_nulls: Value,
}

type Again = fn(&str) -> Result<Value, String>;

fn again<T: jsonrpc_core::wire::Wire + Serialize>(text: &str) -> Result<Value, String> {
    let typed: T = wire::decode(text).map_err(|error| error.to_string())?;
    serde_json::to_value(&typed).map_err(|error| error.to_string())
}

macro_rules! types {
    ($($Type:ident)*) => {
        const TYPES: &[(&str, Again)] = &[$((stringify!($Type), again::<$Type>)),*];
    };
}

types! {
    ActivityDeltaEvent ActivityMessage ActivitySnapshotEvent AddOperation AgentCapabilities AssistantMessage AudioPart
    BinaryPart Content ContentPart Context CopyOperation Count CustomEvent DataSource DeveloperMessage DocumentPart
    Event ExecutionCapabilities FileSource FunctionCall HumanInTheLoopCapabilities IdentityCapabilities ImagePart
    Interrupt InterruptId JsonPatchOperation JsonPointer Message MessageId MessagesSnapshotEvent MoveOperation
    MultiAgentCapabilities MultimodalCapabilities MultimodalInputCapabilities MultimodalOutputCapabilities
    OutputCapabilities PartSource RawEvent ReasoningCapabilities ReasoningEncryptedValueEvent
    ReasoningEncryptedValueSubtype ReasoningEndEvent ReasoningMessage ReasoningMessageChunkEvent
    ReasoningMessageContentEvent ReasoningMessageEndEvent ReasoningMessageStartEvent ReasoningRole ReasoningStartEvent
    RemoveOperation ReplaceOperation ResumeEntry ResumeStatus RunAgentInput RunErrorEvent RunFinishedCancelledOutcome
    RunFinishedEvent RunFinishedInterruptOutcome RunFinishedOutcome RunFinishedSuccessOutcome RunId RunStartedEvent
    SafeInteger StateCapabilities StateDeltaEvent StateSnapshotEvent StepFinishedEvent StepStartedEvent
    SubagentErrorEvent SubagentFinishedEvent SubagentFinishedOutcome SubagentFinishedSuccessOutcome
    SubagentFinishedSuspendedOutcome SubagentInfo SubagentRunId SubagentStartedEvent SystemMessage TestOperation
    TextMessageChunkEvent TextMessageContentEvent TextMessageEndEvent TextMessageRole TextMessageStartEvent TextPart
    ThreadId TokenUsage Tool ToolCall ToolCallArgsEvent ToolCallChunkEvent ToolCallEndEvent ToolCallId
    ToolCallResultEvent ToolCallStartEvent ToolCallType ToolMessage ToolRole ToolsCapabilities TransportCapabilities
    UrlSource UserMessage VideoPart
}

/// The law holds for any members in any order, with any members of a newer peer.
#[test]
fn every_type_round_trips() {
    let documents = Documents::new();
    let declared: Vec<&str> = documents.types.keys().map(String::as_str).collect();
    let listed: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed, declared, "the list above has every type that the source declares");
    for (name, again) in TYPES {
        let union = matches!(documents.types.get(*name), Some(Shape::Union { .. }));
        let config =
            Config { failure_persistence: None, ..generate::cases(if union { 96 } else { 16 }) };
        let checked = TestRunner::new(config).run(&documents.of(name), |document| {
            let value = again(&document.text).map_err(TestCaseError::fail)?;
            prop_assert_eq!(value, document.value);
            Ok(())
        });
        if let Err(error) = checked {
            panic!("{name}: {error}");
        }
    }
}

/// Generates documents of any type.
pub(crate) struct Documents {
    types: BTreeMap<String, Shape>,
    made: RefCell<BTreeMap<String, BoxedStrategy<Document>>>,
}

impl Documents {
    pub(crate) fn new() -> Self {
        Self { types: model::types(), made: RefCell::default() }
    }

    pub(crate) fn of(&self, kind: &str) -> BoxedStrategy<Document> {
        if let Some(made) = self.made.borrow().get(kind) {
            return made.clone();
        }
        let made = self.make(kind);
        self.made.borrow_mut().insert(kind.to_owned(), made.clone());
        made
    }

    fn make(&self, kind: &str) -> BoxedStrategy<Document> {
        let inner = |list: &str| kind.strip_prefix(list).and_then(|rest| rest.strip_suffix('>'));
        if let Some(element) = inner("Vec<") {
            return list(self.of(element));
        }
        if let Some(element) = inner("Box<") {
            return self.of(element);
        }
        match (kind, self.types.get(kind)) {
            ("bool", _) => any::<bool>().prop_map(|value| plain(json!(value))).boxed(),
            ("Raw", _) => json_value().prop_map(plain).boxed(),
            ("Extra" | "Metadata", _) => json_object().prop_map(plain).boxed(),
            ("JsonPatch", _) => list(self.of("JsonPatchOperation")),
            ("Content", _) => {
                let parts = list(self.of("ContentPart"));
                prop_oneof!["\\PC{0,6}".prop_map(|text| plain(json!(text))), parts].boxed()
            }
            ("JsonPointer", _) => {
                "(/([^/~]|~[01]){0,3}){0,3}".prop_map(|text| plain(json!(text))).boxed()
            }
            ("SafeInteger", _) => (-MAX..=MAX).prop_map(|number| plain(json!(number))).boxed(),
            ("Count", _) => (0..=MAX).prop_map(|number| plain(json!(number))).boxed(),
            ("String", _) | (_, Some(Shape::Leaf)) => {
                "\\PC{0,6}".prop_map(|text| plain(json!(text))).boxed()
            }
            (_, Some(Shape::Names(names))) => {
                let known = prop::sample::select(names.clone());
                prop_oneof![known, "[a-z]{1,5}"].prop_map(|name| plain(json!(name))).boxed()
            }
            (_, Some(Shape::Object { required, optional })) => {
                self.members(required, optional).prop_shuffle().prop_map(object).boxed()
            }
            (_, Some(Shape::Union { tag, variants })) => self.union(tag, variants),
            (other, None) => panic!("no documents for the type {other}"),
        }
    }

    fn union(&self, tag: &str, variants: &[Member]) -> BoxedStrategy<Document> {
        let unknown = ("z-[a-z]{0,3}", unknown_members()).boxed();
        let known = variants.iter().map(|variant| {
            let Some(Shape::Object { required, optional }) = self.types.get(&variant.kind) else {
                panic!("{} is an object", variant.kind)
            };
            (Just(variant.wire.clone()), self.members(required, optional)).boxed()
        });
        let tag = tag.to_owned();
        prop::strategy::Union::new(known.chain([unknown]))
            .prop_map(move |(name, mut members)| {
                members.push((tag.clone(), plain(json!(name)), true));
                members
            })
            .prop_shuffle()
            .prop_map(object)
            .boxed()
    }

    /// Names, values, and whether a member is more than an optional `null`.
    fn members(&self, required: &[Member], optional: &[Member]) -> BoxedStrategy<Members> {
        let mut members: Vec<BoxedStrategy<Members>> = vec![unknown_members()];
        for member in required {
            let wire = member.wire.clone();
            let value = self.of(&member.kind);
            members.push(value.prop_map(move |value| vec![(wire.clone(), value, true)]).boxed());
        }
        for member in optional {
            let wire = member.wire.clone();
            let null = member.wire.clone();
            let value =
                self.of(&member.kind).prop_filter("null is absent", |it| !it.value.is_null());
            members.push(
                prop_oneof![
                    2 => Just(Vec::new()),
                    1 => Just(vec![(null, plain(Value::Null), false)]),
                    3 => value.prop_map(move |value| vec![(wire.clone(), value, true)]),
                ]
                .boxed(),
            );
        }
        members.prop_map(|members| members.concat()).boxed()
    }
}

type Members = Vec<(String, Document, bool)>;

const MAX: i64 = (1 << 53) - 1;

fn plain(value: Value) -> Document {
    Document { text: value.to_string(), without_nulls: value.clone(), value }
}

fn object(members: Members) -> Document {
    let text: Vec<_> =
        members.iter().map(|(name, value, _)| format!("{}:{}", json!(name), value.text)).collect();
    let mut value = Map::new();
    let mut without_nulls = Map::new();
    for (name, document, counts) in members {
        if counts {
            without_nulls.insert(name.clone(), document.without_nulls);
        }
        value.insert(name, document.value);
    }
    let text = format!("{{{}}}", text.join(","));
    Document { text, value: Value::Object(value), without_nulls: Value::Object(without_nulls) }
}

fn list(element: BoxedStrategy<Document>) -> BoxedStrategy<Document> {
    prop::collection::vec(element, 0..3)
        .prop_map(|elements| {
            let texts: Vec<_> = elements.iter().map(|element| element.text.as_str()).collect();
            let text = format!("[{}]", texts.join(","));
            let without_nulls = elements.iter().map(|element| element.without_nulls.clone());
            let without_nulls = without_nulls.collect();
            let value = elements.into_iter().map(|element| element.value).collect();
            Document { text, value, without_nulls }
        })
        .boxed()
}

/// Members of a newer peer with any value, `null` included.
fn unknown_members() -> BoxedStrategy<Members> {
    prop::collection::btree_map("x-[a-z\"~/]{0,3}", json_value(), 0..3)
        .prop_map(|members| {
            members.into_iter().map(|(name, value)| (name, plain(value), true)).collect()
        })
        .boxed()
}

fn json_object() -> BoxedStrategy<Value> {
    prop::collection::btree_map("[a-z]{0,3}", json_value(), 0..3)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
        .boxed()
}

fn json_value() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|number| Value::from(f64::from(number) / 8.0)),
        "\\PC{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,3}", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
    .boxed()
}

proptest! {
    /// Decoding any text returns a value or an error.
    #[test]
    fn decoding_does_not_panic(
        mut text in r#"(\{|\}|\[|\]|:|,|"type"|"role"|"RUN_STARTED"|"TEXT_MESSAGE_START"|"user"|"id"|0|-1|1e400|"a"|null| ){0,20}"#,
        noise in any::<String>(),
        at in any::<prop::sample::Index>(),
    ) {
        let at = at.index(text.len() + 1);
        if text.is_char_boundary(at) {
            text.insert_str(at, &noise);
        }
        for (_, again) in TYPES {
            let _ = again(&text);
        }
    }
}
