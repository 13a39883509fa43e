//! Properties of the verifier.
use crate::generate;
use agui_types::event::{
    ActivityDeltaEvent, ActivitySnapshotEvent, CustomEvent, Event, ReasoningEndEvent,
    ReasoningMessageChunkEvent, ReasoningMessageContentEvent, ReasoningMessageEndEvent,
    ReasoningMessageStartEvent, ReasoningRole, ReasoningStartEvent, RunErrorEvent,
    RunFinishedEvent, RunStartedEvent, StepFinishedEvent, StepStartedEvent, SubagentFinishedEvent,
    SubagentStartedEvent, TextMessageChunkEvent, TextMessageContentEvent, TextMessageEndEvent,
    TextMessageStartEvent, ToolCallArgsEvent, ToolCallChunkEvent, ToolCallEndEvent,
    ToolCallResultEvent, ToolCallStartEvent,
};
use agui_types::id::SubagentRunId;
use agui_types::verify::{Rule, Verifier, Violation};
use jsonrpc_core::wire::{Extra, Raw};
use proptest::prelude::*;

/// Events over few identifiers and owners, so that they interact.
fn event() -> BoxedStrategy<Event> {
    let id = || prop::sample::select(vec!["a", "b"]);
    let owner = || prop::sample::select(vec![None, None, Some("s"), Some("u")]);
    let tag = |owner: Option<&'static str>| owner.map(SubagentRunId::from);
    macro_rules! tagged {
        ($make:expr) => {
            (id(), owner()).prop_map(move |(id, owner)| {
                let mut event = $make(id);
                event.subagent_run_id = tag(owner);
                Event::from(event)
            })
        };
    }
    let text = prop_oneof![
        tagged!(TextMessageStartEvent::new),
        tagged!(|id| TextMessageContentEvent::new(id, "x")),
        tagged!(TextMessageEndEvent::new),
    ];
    let call = prop_oneof![
        (id(), owner(), prop::option::of(id())).prop_map(move |(id, owner, parent)| {
            let mut event = ToolCallStartEvent::new(id, "f");
            event.parent_message_id = parent.map(Into::into);
            event.subagent_run_id = tag(owner);
            event.into()
        }),
        tagged!(|id| ToolCallArgsEvent::new(id, "x")),
        tagged!(ToolCallEndEvent::new),
        tagged!(|id: &str| ToolCallResultEvent::new(format!("r{id}"), id, "x")),
    ];
    let reasoning = prop_oneof![
        tagged!(ReasoningStartEvent::new),
        tagged!(ReasoningEndEvent::new),
        tagged!(|id| ReasoningMessageStartEvent::new(id, ReasoningRole::Reasoning)),
        tagged!(|id| ReasoningMessageContentEvent::new(id, "x")),
        tagged!(ReasoningMessageEndEvent::new),
    ];
    let rest = prop_oneof![
        tagged!(StepStartedEvent::new),
        tagged!(StepFinishedEvent::new),
        tagged!(|id| ActivitySnapshotEvent::new(id, "t", Extra::new())),
        tagged!(|id| ActivityDeltaEvent::new(id, "t", Vec::new())),
        tagged!(|id| CustomEvent::new(id, null())),
        prop::sample::select(vec!["s", "u"])
            .prop_map(|id| SubagentStartedEvent::new(id, "n").into()),
        prop::sample::select(vec!["s", "u"]).prop_map(|id| SubagentFinishedEvent::new(id).into()),
    ];
    prop_oneof![6 => text, 6 => call, 5 => reasoning, 5 => rest, 6 => run_event()].boxed()
}

fn run_event() -> BoxedStrategy<Event> {
    let run = || prop::sample::select(vec!["r1", "r2", "r3"]);
    prop_oneof![
        3 => run().prop_map(|run| {
            let mut event = RunStartedEvent::new("t", run);
            event.protocol_version = Some("1.0".into());
            event.into()
        }),
        3 => run().prop_map(|run| RunFinishedEvent::new("t", run).into()),
        1 => Just(RunErrorEvent::new("m").into()),
    ]
    .boxed()
}

fn chunk() -> BoxedStrategy<Event> {
    let id = || prop::option::of(prop::sample::select(vec!["a", "b"]));
    let owner = || prop::sample::select(vec![None, None, Some("s"), Some("u")]);
    (id(), owner(), 0..3)
        .prop_map(|(id, owner, kind)| {
            let owner = owner.map(SubagentRunId::from);
            match kind {
                0 => {
                    let mut chunk = TextMessageChunkEvent::new();
                    chunk.message_id = id.map(Into::into);
                    chunk.subagent_run_id = owner;
                    chunk.into()
                }
                1 => {
                    let mut chunk = ToolCallChunkEvent::new();
                    chunk.tool_call_id = id.map(Into::into);
                    chunk.subagent_run_id = owner;
                    chunk.tool_call_name = Some("f".into());
                    chunk.into()
                }
                _ => {
                    let mut chunk = ReasoningMessageChunkEvent::new();
                    chunk.message_id = id.map(Into::into);
                    chunk.subagent_run_id = owner;
                    chunk.into()
                }
            }
        })
        .boxed()
}

fn null() -> Raw {
    Raw::from_value(&()).expect("JSON")
}

fn started() -> Event {
    let mut event = RunStartedEvent::new("t", "r0");
    event.protocol_version = Some("1.0".into());
    event.into()
}

fn verifier(strict: bool) -> Verifier {
    let mut verifier = if strict { Verifier::strict() } else { Verifier::tolerant() };
    verifier.handle(&started()).expect("a run may start");
    verifier
}

fn rule(result: Result<(), Violation>) -> Option<Rule> {
    result.err().map(|violation| violation.rule())
}

proptest! {
    #![proptest_config(generate::cases(256))]

    /// The tolerant verifier accepts everything that the strict one accepts.
    #[test]
    fn strict_is_stricter(events in prop::collection::vec(prop_oneof![4 => event(), 1 => chunk()], 0..40)) {
        let mut strict = verifier(true);
        let mut tolerant = verifier(false);
        for event in &events {
            // A rejected event may have closed a chunk stream. Both verifiers continue from equal
            // states.
            let was_strict = strict.clone();
            let was_tolerant = tolerant.clone();
            if strict.handle(event).is_ok() {
                prop_assert_eq!(rule(tolerant.handle(event)), None, "{:?}", event);
            } else {
                strict = was_strict;
                tolerant = was_tolerant;
            }
        }
    }

    /// An event that breaks a rule counts as not sent.
    #[test]
    fn violations_change_nothing(events in prop::collection::vec(event(), 0..40), strict in any::<bool>()) {
        let mut all = verifier(strict);
        let mut only_taken = verifier(strict);
        for event in &events {
            let mut tried = only_taken.clone();
            let expected = rule(tried.handle(event));
            prop_assert_eq!(rule(all.handle(event)), expected);
            if expected.is_none() {
                only_taken = tried;
            }
        }
        prop_assert_eq!(rule(all.finish()), rule(only_taken.finish()));
    }

    /// A stream may end exactly when the accepted events leave no run open. The tolerant verifier
    /// accepts any end.
    #[test]
    fn stream_ends_after_its_runs(events in prop::collection::vec(event(), 0..40)) {
        let mut strict = verifier(true);
        let mut tolerant = verifier(false);
        let mut active = true;
        for event in &events {
            let taken = strict.handle(event).is_ok();
            let _ = tolerant.handle(event);
            active = match event {
                Event::RunStarted(_) if taken => true,
                Event::RunFinished(_) | Event::RunError(_) if taken => false,
                _ => active,
            };
        }
        prop_assert_eq!(rule(strict.finish()), active.then_some(Rule::Truncated));
        prop_assert_eq!(rule(tolerant.finish()), None);
    }

    /// A producer that opens items before use and closes them before the end breaks no rule.
    #[test]
    fn orderly_producers_break_no_rule(wishes in prop::collection::vec((0_u8..12, 0_usize..4), 0..60)) {
        let mut producer = Producer::default();
        for (wish, which) in wishes {
            producer.wish(wish, which);
        }
        let events = producer.finish();
        let mut verifier = Verifier::strict();
        for event in &events {
            prop_assert_eq!(rule(verifier.handle(event)), None, "{:?} in {:?}", event, events);
        }
        prop_assert_eq!(rule(verifier.finish()), None);
    }

    /// Chunks count as their expansion: both notations of a stream of messages break no rule.
    #[test]
    fn chunks_count_as_their_expansion(items in prop::collection::vec((0_u8..3, 0_usize..4), 0..12)) {
        let mut long = vec![started()];
        let mut short = vec![started()];
        for (number, (kind, deltas)) in items.iter().enumerate() {
            let id = format!("i{number}");
            let (open, more, close, first, next) = spellings(*kind, &id);
            long.push(open);
            long.extend(std::iter::repeat_n(more, *deltas));
            long.push(close);
            short.push(first);
            short.extend(std::iter::repeat_n(next, *deltas));
        }
        for events in [&mut long, &mut short] {
            let mut verifier = Verifier::strict();
            events.push(RunFinishedEvent::new("t", "r0").into());
            for event in events.iter() {
                prop_assert_eq!(rule(verifier.handle(event)), None, "{:?}", event);
            }
            prop_assert_eq!(rule(verifier.finish()), None);
        }
    }
}

/// An item's start, content and end, then its first chunk and a later chunk.
fn spellings(kind: u8, id: &str) -> (Event, Event, Event, Event, Event) {
    match kind {
        0 => {
            let mut first = TextMessageChunkEvent::new();
            first.message_id = Some(id.into());
            (
                TextMessageStartEvent::new(id).into(),
                TextMessageContentEvent::new(id, "x").into(),
                TextMessageEndEvent::new(id).into(),
                first.into(),
                TextMessageChunkEvent::new().into(),
            )
        }
        1 => {
            let mut first = ToolCallChunkEvent::new();
            first.tool_call_id = Some(id.into());
            first.tool_call_name = Some("f".into());
            (
                ToolCallStartEvent::new(id, "f").into(),
                ToolCallArgsEvent::new(id, "x").into(),
                ToolCallEndEvent::new(id).into(),
                first.into(),
                ToolCallChunkEvent::new().into(),
            )
        }
        _ => {
            let mut first = ReasoningMessageChunkEvent::new();
            first.message_id = Some(id.into());
            (
                ReasoningMessageStartEvent::new(id, ReasoningRole::Reasoning).into(),
                ReasoningMessageContentEvent::new(id, "x").into(),
                ReasoningMessageEndEvent::new(id).into(),
                first.into(),
                ReasoningMessageChunkEvent::new().into(),
            )
        }
    }
}

/// Opens and closes items as requested where possible, with unique identifiers.
#[derive(Default)]
struct Producer {
    events: Vec<Event>,
    minted: usize,
    texts: Vec<String>,
    calls: Vec<String>,
    unanswered: Vec<String>,
    thoughts: Vec<String>,
    steps: Vec<String>,
}

impl Producer {
    fn mint(&mut self) -> String {
        self.minted += 1;
        format!("id{}", self.minted)
    }

    fn say(&mut self, event: impl Into<Event>) {
        if self.events.is_empty() {
            self.events.push(started());
        }
        self.events.push(event.into());
    }

    fn wish(&mut self, wish: u8, which: usize) {
        let pick = |list: &Vec<String>| list.get(which).cloned();
        match wish {
            0 => {
                let id = self.mint();
                self.say(TextMessageStartEvent::new(id.as_str()));
                self.texts.push(id);
            }
            1 => {
                let id = self.mint();
                self.say(ToolCallStartEvent::new(id.as_str(), "f"));
                self.calls.push(id);
            }
            2 => {
                let id = self.mint();
                self.say(ReasoningStartEvent::new(id.as_str()));
                self.say(ReasoningMessageStartEvent::new(id.as_str(), ReasoningRole::Reasoning));
                self.thoughts.push(id);
            }
            3 => {
                let name = self.mint();
                self.say(StepStartedEvent::new(name.as_str()));
                self.steps.push(name);
            }
            4 => {
                if let Some(id) = pick(&self.texts) {
                    self.say(TextMessageContentEvent::new(id, "x"));
                }
            }
            5 => {
                if let Some(id) = pick(&self.calls) {
                    self.say(ToolCallArgsEvent::new(id, "x"));
                }
            }
            6 => {
                if let Some(id) = pick(&self.thoughts) {
                    self.say(ReasoningMessageContentEvent::new(id, "x"));
                }
            }
            7 if which < self.texts.len() => self.close_text(which),
            8 if which < self.calls.len() => self.close_call(which),
            9 if which < self.thoughts.len() => self.close_thought(which),
            10 if which < self.unanswered.len() => {
                let call = self.unanswered.remove(which);
                let message = self.mint();
                self.say(ToolCallResultEvent::new(message, call, "x"));
            }
            11 => self.say(CustomEvent::new("acme.x", null())),
            _ => {}
        }
    }

    fn close_text(&mut self, which: usize) {
        let id = self.texts.remove(which);
        self.say(TextMessageEndEvent::new(id));
    }

    fn close_call(&mut self, which: usize) {
        let id = self.calls.remove(which);
        self.say(ToolCallEndEvent::new(id.as_str()));
        self.unanswered.push(id);
    }

    fn close_thought(&mut self, which: usize) {
        let id = self.thoughts.remove(which);
        self.say(ReasoningMessageEndEvent::new(id.as_str()));
        self.say(ReasoningEndEvent::new(id));
    }

    fn finish(mut self) -> Vec<Event> {
        while !self.texts.is_empty() {
            self.close_text(0);
        }
        while !self.calls.is_empty() {
            self.close_call(0);
        }
        while !self.thoughts.is_empty() {
            self.close_thought(0);
        }
        while let Some(name) = self.steps.pop() {
            self.say(StepFinishedEvent::new(name));
        }
        self.say(RunFinishedEvent::new("t", "r0"));
        self.events
    }
}
