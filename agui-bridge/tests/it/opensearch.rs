//! The unit tests of OpenSearch's AG-UI support for loading a history and for its REST action, row
//! by row: equal here, or different on purpose, as listed in [`agui_bridge::hybrid_tools`].
//! Detection, conversion, histories and tools have tests of their own.
use crate::hybrid_tools::{drain, input, user};
use agui_bridge::chat_history::HistoryRule;
use agui_bridge::hybrid_tools::{
    AgentParameters, Detection, HybridLoop, HybridRun, LoopOptions, RunFailure, Step, is_agui_input,
};
use agui_types::event::Event;
use agui_types::profile::Profile;
use agui_types::sse::write_event;
use agui_types::verify::Verifier;
use serde_json::{Value, json};

fn frames(events: &[Event]) -> Vec<String> {
    let frame = |event: &Event| {
        let mut frame = Vec::new();
        write_event(&mut frame, event).unwrap();
        String::from_utf8(frame).unwrap()
    };
    events.iter().map(frame).collect()
}

/// No memory factory, a memory that cannot be created, a memory that cannot be read: the error
/// reaches the page. No snapshot is sent, since it would clear the page.
#[test]
fn unreadable_history_is_an_error() {
    for message in ["no memory of this type", "the memory was not made", "the memory was not read"]
    {
        for (profile, version) in [(Profile::V1, Some("1.0")), (Profile::Legacy, None)] {
            let mut input = input(&json!([]), &[]);
            input.protocol_version = version.map(Into::into);
            let mut verifier = Verifier::strict_for(&input);
            let mut hybrid = HybridLoop::begin(&input, &[], LoopOptions::new());
            assert_eq!(hybrid.step(), Step::LoadHistory);
            hybrid.handle_failure(RunFailure::new("HISTORY", message));
            hybrid.handle_history(&[], 10);
            let events = drain(&mut verifier, || hybrid.poll_event(), profile);
            verifier.finish().unwrap();
            assert_eq!(hybrid.step(), Step::Done);
            let tags: Vec<_> = events.iter().map(Event::tag).collect();
            assert_eq!(tags, ["RUN_STARTED", "RUN_ERROR"]);
            let Event::RunError(error) = &events[1] else { panic!("{events:?}") };
            assert_eq!(&*error.message, message);
            assert_eq!(error.code.as_deref(), Some("HISTORY"));
        }
    }
}

/// A run has the ids of the page. Difference: missing ids are not derived from a clock, since a
/// page that does not know its thread cannot continue it. The error names the missing id.
#[test]
fn run_has_the_ids_of_its_input() {
    let mut hybrid = HybridLoop::begin(&input(&user("Hi"), &[]), &[], LoopOptions::new());
    hybrid.handle_model_end();
    let events: Vec<_> = std::iter::from_fn(|| hybrid.poll_event()).collect();
    for event in [events.first(), events.last()] {
        let event = serde_json::to_value(event.unwrap()).unwrap();
        assert_eq!(&event["threadId"], &json!("t"));
        assert_eq!(&event["runId"], &json!("r"));
    }
    let whole = json!({"threadId": "t", "runId": "r", "messages": []});
    for name in ["threadId", "runId", "messages"] {
        let mut body: Value = whole.clone();
        body.as_object_mut().unwrap().remove(name);
        let error = AgentParameters::read(&body.to_string(), HistoryRule::KeepAll).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}

/// Difference: a body is AG-UI's by several of its members, not by one parameter beside it.
#[test]
fn one_id_is_not_an_input() {
    for body in [json!({"threadId": "t"}), json!({"runId": "r"}), json!({"agui_thread_id": "t"})] {
        for detection in [Detection::Strict, Detection::Lax] {
            assert!(!is_agui_input(&body.to_string(), detection), "{body}");
        }
    }
}

/// The last frame is the run's end, and the only one.
#[test]
fn last_frame_ends_the_run() {
    let mut run = HybridRun::begin(&input(&user("Hi"), &[]));
    run.text("Hello.");
    run.finish();
    run.text("more");
    run.finish();
    let frames = frames(&std::iter::from_fn(|| run.poll_event()).collect::<Vec<_>>());
    assert!(frames.last().unwrap().starts_with(r#"data: {"type":"RUN_FINISHED","#));
    assert_eq!(frames.iter().filter(|frame| frame.contains("RUN_FINISHED")).count(), 1);
}

/// An error is an escaped `RUN_ERROR` frame. Differences: the same applies before the run began,
/// where OpenSearch sends a frame without type, and the error has a code. The caller chooses the
/// message from an error and its causes.
#[test]
fn error_is_the_last_frame() {
    let table = [
        ("test error", r#"data: {"type":"RUN_ERROR","message":"test error","code":"REST"}"#),
        (r#"say "no""#, r#"data: {"type":"RUN_ERROR","message":"say \"no\"","code":"REST"}"#),
        ("two\nlines", r#"data: {"type":"RUN_ERROR","message":"two\nlines","code":"REST"}"#),
        ("", r#"data: {"type":"RUN_ERROR","message":"","code":"REST"}"#),
    ];
    for (message, expected) in table {
        let mut run = HybridRun::begin(&input(&user("Hi"), &[]));
        run.fail(RunFailure::new("REST", message));
        run.finish();
        let frames = frames(&std::iter::from_fn(|| run.poll_event()).collect::<Vec<_>>());
        assert_eq!(frames.len(), 2);
        assert_eq!(frames[1], format!("{expected}\n\n"));
    }
}
