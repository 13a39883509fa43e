//! A producer's output is valid for any calls.
use crate::generate;
use agui_types::enforce;
use agui_types::event::{Event, RunFinishedOutcome};
use agui_types::id::{MessageId, ToolCallId};
use agui_types::input::RunAgentInput;
use agui_types::interrupt::Interrupt;
use agui_types::produce::{Interrupts, Run, SendError};
use agui_types::profile::{Downgrade, Profile};
use agui_types::reduce::Reducer;
use agui_types::verify::Verifier;
use jsonrpc_core::wire;
use jsonrpc_core::wire::Raw;
use proptest::prelude::*;
use serde_json::{Value, json};

/// An action of a program on a run, valid or not.
#[derive(Clone, Debug)]
enum Step {
    Text(&'static str, String),
    EndText(&'static str),
    Reasoning(&'static str, String),
    EndReasoning(&'static str),
    ToolCall(&'static str, &'static str, Option<&'static str>),
    Arguments(&'static str, String),
    EndToolCall(&'static str),
    ToolResult(&'static str),
    Emit(Box<Event>),
    Usage,
    Result,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Finish,
    Interrupt,
    Cancel,
    Fail,
    Drop,
}

fn id() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "c", "old", "asked", "r-1"])
}

fn call() -> impl Strategy<Value = Step> {
    let words = || "[a-z\"\n]{0,5}";
    let tool = prop::sample::select(vec!["page", "shell"]);
    prop_oneof![
        6 => (id(), words()).prop_map(|(id, delta)| Step::Text(id, delta)),
        2 => id().prop_map(Step::EndText),
        4 => (id(), words()).prop_map(|(id, delta)| Step::Reasoning(id, delta)),
        2 => id().prop_map(Step::EndReasoning),
        4 => (id(), tool, prop::option::of(id())).prop_map(|(id, tool, of)| Step::ToolCall(id, tool, of)),
        3 => (id(), words()).prop_map(|(id, delta)| Step::Arguments(id, delta)),
        2 => id().prop_map(Step::EndToolCall),
        3 => id().prop_map(Step::ToolResult),
        9 => generate::event().prop_map(|event| Step::Emit(Box::new(event))),
        1 => Just(Step::Usage),
        1 => Just(Step::Result),
    ]
}

fn input() -> RunAgentInput {
    let text = r#"{"threadId":"t","runId":"r","protocolVersion":"1.0","messages":[
        {"id":"asked","role":"user","content":"Do it."},
        {"id":"r-1","role":"assistant","toolCalls":[{"id":"old","type":"function","function":{"name":"shell","arguments":"{}"}}]}],
        "tools":[{"name":"page","description":"In the page."}]}"#;
    wire::decode(text).expect("an input")
}

fn make(run: &mut Run<Vec<Event>>, call: Step) -> Result<(), SendError> {
    match call {
        Step::Text(id, delta) => run.text(&id.into(), &delta),
        Step::EndText(id) => run.end_text(&id.into()),
        Step::Reasoning(id, delta) => run.reasoning(&id.into(), &delta),
        Step::EndReasoning(id) => run.end_reasoning(&id.into()),
        Step::ToolCall(id, tool, of) => {
            run.tool_call(&id.into(), tool, of.map(MessageId::from).as_ref())
        }
        Step::Arguments(id, delta) => run.arguments(&id.into(), &delta),
        Step::EndToolCall(id) => run.end_tool_call(&id.into()),
        Step::ToolResult(id) => run.tool_result(&id.into(), "done").map(drop),
        Step::Emit(event) => run.emit(*event),
        Step::Usage => {
            run.add_usage(wire::decode(r#"{"inputTokens":3}"#).expect("usage"));
            Ok(())
        }
        Step::Result => {
            run.set_result(Raw::from_text("{\"ok\":true}").expect("JSON"));
            Ok(())
        }
    }
}

/// Returns everything that a run sends, for these calls and this end.
fn produced(calls: Vec<Step>, end: End) -> Vec<Event> {
    let mut events = Vec::new();
    let mut run = Run::begin(&input(), |event| events.push(event));
    let mut queue = Run::begin(&input(), Vec::new());
    for call in calls {
        // Refusals are part of what is tested.
        let _ = make(&mut queue, call);
    }
    let ended = match end {
        End::Finish => queue.finish(),
        End::Interrupt => {
            let interrupts = Interrupts::new(Interrupt::new("i", "confirmation"));
            queue.interrupt(interrupts.and(Interrupt::new("j", "tool_call")).expect("another id"))
        }
        End::Cancel => queue.cancel(),
        End::Fail => queue.fail("no", Some("NO")),
        End::Drop => {
            // The events of the calls are replayed on a run that is dropped.
            for event in queue.sink().iter().skip(1) {
                run.emit(event.clone()).expect("it was taken before");
            }
            drop(run);
            return events;
        }
    };
    ended.expect("a run ends once");
    assert!(matches!(queue.finish(), Err(SendError::Ended)));
    assert!(matches!(queue.text(&"new".into(), "x"), Err(SendError::Ended)));
    queue.sink().clone()
}

fn ends() -> impl Strategy<Value = End> {
    prop::sample::select(vec![End::Finish, End::Interrupt, End::Cancel, End::Fail, End::Drop])
}

proptest! {
    #![proptest_config(generate::cases(128))]

    /// The output of any calls passes the strict verifier and contains no undescribed material.
    #[test]
    fn any_calls_keep_every_rule(calls in prop::collection::vec(call(), 0..40), end in ends()) {
        let events = produced(calls, end);
        for mut verifier in [Verifier::strict_for(&input()), Verifier::tolerant()] {
            for event in &events {
                prop_assert_eq!(verifier.handle(event), Ok(()));
            }
            prop_assert_eq!(verifier.finish(), Ok(()));
        }
        for event in &events {
            prop_assert_eq!(enforce::enforce_event(event.clone()), (Some(event.clone()), Vec::new()));
        }
    }

    /// A run has exactly one end: the requested one.
    #[test]
    fn run_has_the_requested_end(calls in prop::collection::vec(call(), 0..20), end in ends()) {
        let events = produced(calls, end);
        let terminal = |event: &&Event| matches!(event, Event::RunFinished(_) | Event::RunError(_));
        prop_assert_eq!(events.iter().filter(terminal).count(), 1);
        let last = events.last().expect("an end");
        let said = match last {
            Event::RunError(error) if error.code.as_deref() == Some("NO") => End::Fail,
            Event::RunError(error) if error.code.as_deref() == Some("RUN_ABANDONED") => End::Drop,
            Event::RunFinished(finished) => match &finished.outcome {
                Some(RunFinishedOutcome::Success(_)) => End::Finish,
                Some(RunFinishedOutcome::Interrupt(_)) => End::Interrupt,
                Some(RunFinishedOutcome::Cancelled(_)) => End::Cancel,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        prop_assert_eq!(said, end);
    }

    /// A successful end lists exactly the calls that wait for the application.
    #[test]
    fn pending_calls_are_application_calls(calls in prop::collection::vec(call(), 0..40)) {
        let events = produced(calls, End::Finish);
        let mut reducer = Reducer::for_input(&input()).expect("an input");
        let mut made: Vec<(ToolCallId, String)> = Vec::new();
        for event in &events {
            let _ = reducer.handle(event);
            if let Event::ToolCallStart(start) = event {
                made.push((start.tool_call_id.clone(), start.tool_call_name.clone()));
            }
        }
        // Clients that determine the pending calls themselves overlook answers in a snapshot.
        let restated = events.iter().any(|event| matches!(event, Event::MessagesSnapshot(_)));
        let listed = match events.last() {
            Some(Event::RunFinished(finished)) => match &finished.outcome {
                Some(RunFinishedOutcome::Success(it)) => it.pending_tool_call_ids.iter().flatten().collect(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        let pending: Vec<&ToolCallId> = if restated { listed } else { reducer.pending_tool_call_ids() };
        for pending in pending {
            let tool = made.iter().find(|(id, _)| id == pending).map(|(_, tool)| tool.as_str());
            // The generated events call `f`, which the application does not provide; it belongs to
            // the agent.
            prop_assert_eq!(tool, Some("page"));
        }
    }

    /// A downgraded stream has no event that a client before 1.0 fails on.
    #[test]
    fn downgraded_stream_suits_legacy_clients(calls in prop::collection::vec(call(), 0..30), end in ends()) {
        let mut downgrade = Downgrade::to(Profile::Legacy);
        for event in produced(calls, end) {
            if let (Some(event), _) = downgrade.handle(event) {
                prop_assert_eq!(Profile::Legacy.refuses(&event), None);
                if let Event::RunFinished(finished) = &event {
                    prop_assert!(end == End::Finish || end == End::Interrupt, "{finished:?}");
                }
            }
        }
    }
}

fn types(run: &Run<Vec<Event>>) -> Vec<&str> {
    run.sink().iter().map(Event::tag).collect()
}

#[test]
fn subagents_end_with_their_run() {
    let table = [
        (End::Finish, json!({"type":"SUBAGENT_FINISHED","subagentRunId":"s"})),
        (
            End::Interrupt,
            json!({"type":"SUBAGENT_FINISHED","subagentRunId":"s",
                "outcome":{"type":"suspended","interruptIds":["i"]}}),
        ),
        (
            End::Cancel,
            json!({"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"the run was cancelled"}),
        ),
        (
            End::Fail,
            json!({"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"the run failed"}),
        ),
    ];
    for (end, expected) in table {
        let mut run = Run::begin(&input(), Vec::new());
        let started: Event =
            wire::decode(r#"{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"helper"}"#)
                .expect("an event");
        run.emit(started).expect("a subagent");
        match end {
            End::Finish => run.finish(),
            End::Interrupt => {
                let mut interrupt = Interrupt::new("i", "confirmation");
                interrupt.subagent_run_id = Some("s".into());
                run.interrupt(Interrupts::new(interrupt))
            }
            End::Cancel => run.cancel(),
            _ => run.fail("no", None),
        }
        .expect("a run ends");
        let reported = serde_json::to_value(&run.sink()[2]).expect("JSON");
        assert_eq!(reported, expected, "{end:?}");
    }
}

#[test]
fn agent_tool_call_has_a_result_before_success() {
    let mut run = Run::begin(&input(), Vec::new());
    run.reasoning(&"t".into(), "Hm.").expect("thought");
    run.text(&"m".into(), "I look.").expect("text");
    run.tool_call(&"c".into(), "shell", None).expect("a call");
    run.finish().expect("an end");
    let expected = [
        "RUN_STARTED",
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_MESSAGE_CONTENT",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "REASONING_MESSAGE_END",
        "REASONING_END",
        "TOOL_CALL_START",
        "TOOL_CALL_END",
        "TOOL_CALL_RESULT",
        "RUN_FINISHED",
    ];
    assert_eq!(types(&run), expected);
    let Some(Event::ToolCallResult(result)) = run.sink().get(11) else { panic!("no result") };
    assert_eq!(result.content.text(), Run::<Vec<Event>>::NO_RESULT);
    // `r-1` is in the input.
    assert_eq!(result.message_id.as_str(), "r-2");
}

#[test]
fn approved_call_of_an_earlier_run_receives_its_result() {
    let mut run = Run::begin(&input(), Vec::new());
    run.tool_result(&"old".into(), "done").expect("a result");
    let again = run.tool_result(&"old".into(), "again").expect_err("it has one");
    assert_eq!(
        again.to_string(),
        r#"event 2 (TOOL_CALL_RESULT): a tool call is answered once; not so for "old""#
    );
    let theirs = run.tool_call(&"p".into(), "page", None).and_then(|()| {
        run.end_tool_call(&"p".into())?;
        run.tool_result(&"p".into(), "mine").map(drop)
    });
    assert!(theirs.is_err(), "the application answers its own tools");
}

#[test]
fn undescribed_material_is_refused() {
    let mut run = Run::begin(&input(), Vec::new());
    let table: [(Value, &str); 5] = [
        (
            json!({"type":"RUN_STARTED","threadId":"t","runId":"x"}),
            "events of this type are sent by the run itself",
        ),
        (
            json!({"type":"RUN_ERROR","message":"m"}),
            "events of this type are sent by the run itself",
        ),
        (
            json!({"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"d"}),
            "events of this type are sent by the run itself",
        ),
        (json!({"type":"NEWER"}), "the event contains material that AG-UI 1.0 does not describe"),
        (
            json!({"type":"TEXT_MESSAGE_START","messageId":"m","mood":1}),
            "the event contains material that AG-UI 1.0 does not describe",
        ),
    ];
    for (event, expected) in table {
        let event: Event = wire::decode(&event.to_string()).expect("an event");
        assert_eq!(run.emit(event).expect_err("refused").to_string(), expected);
    }
    assert_eq!(types(&run), ["RUN_STARTED"]);
}

#[test]
fn full_run_accepts_its_end() {
    let mut run = Run::begin(&input(), Vec::new());
    for index in 0..=Run::<Vec<Event>>::MAX_ITEMS {
        let opened = run.text(&format!("m{index}").into(), "");
        let within = index < Run::<Vec<Event>>::MAX_ITEMS;
        assert_eq!(opened.is_ok(), within, "{index}");
        if index > 3 && within {
            run.end_text(&format!("m{index}").into()).expect("it is open");
        }
    }
    run.finish().expect("an end");
    assert!(matches!(run.sink().last(), Some(Event::RunFinished(_))));
}
