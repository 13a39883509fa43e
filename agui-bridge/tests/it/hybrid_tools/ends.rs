//! Ends of a run of a model, and calls that no longer have an effect.
use super::*;
use agui_bridge::CancelReason;
use agui_bridge::hybrid_tools::{HybridRun, RunFailure};

#[test]
fn failure_ends_the_run_with_message_and_code() {
    for (profile, version) in [(Profile::V1, Some("1.0")), (Profile::Legacy, None)] {
        let mut input = input(&user("Hi"), &["pick"]);
        input.protocol_version = version.map(Into::into);
        let mut verifier = Verifier::strict_for(&input);
        let mut hybrid = HybridLoop::begin(&input, &backend(), LoopOptions::new());
        hybrid.handle_model(ModelEvent::Text("I".into()));
        hybrid.handle_model(ModelEvent::ToolCallStart { id: "s".into(), name: "search".into() });
        hybrid.handle_failure(RunFailure::new("MODEL_ERROR", "the root \"cause\""));
        hybrid.handle_failure(RunFailure::new("AGAIN", "x"));
        hybrid.handle_model_end();
        hybrid.handle_cancel(CancelReason::User);
        let events = drain(&mut verifier, || hybrid.poll_event(), profile);
        verifier.finish().unwrap();
        let last = serde_json::to_value(events.last().unwrap()).unwrap();
        assert_eq!(
            last,
            json!({"type": "RUN_ERROR", "message": "the root \"cause\"", "code": "MODEL_ERROR"})
        );
        assert_eq!(types(&events).iter().filter(|kind| **kind == "TOOL_CALL_RESULT").count(), 1);
    }
}

#[test]
fn cancelled_run_is_not_a_success() {
    for (version, kind, code) in
        [(Some("1.0"), "RUN_FINISHED", None), (None, "RUN_ERROR", Some("CANCELLED"))]
    {
        let mut input = input(&user("Hi"), &[]);
        input.protocol_version = version.map(Into::into);
        let mut hybrid = HybridLoop::begin(&input, &[], LoopOptions::new());
        hybrid.handle_cancel(CancelReason::User);
        let last = std::iter::from_fn(|| hybrid.poll_event()).last().unwrap();
        let last = serde_json::to_value(&last).unwrap();
        assert_eq!(last["type"].as_str(), Some(kind));
        assert_eq!(last["code"].as_str(), code);
        assert!(last["outcome"]["type"] == "cancelled" || code.is_some());
    }
}

#[test]
fn legacy_clients_receive_supported_events() {
    let mut input = input(&user("Hi"), &["pick"]);
    input.protocol_version = None;
    let mut verifier = Verifier::strict_for(&input);
    let mut hybrid = HybridLoop::begin(&input, &backend(), LoopOptions::new());
    let mut usage = TokenUsage::new();
    usage.output_tokens = Some(1.into());
    for event in [
        ModelEvent::call("p", "pick", "{}"),
        ModelEvent::call("s", "search", "{}"),
        ModelEvent::Usage(usage),
    ] {
        hybrid.handle_model(event);
    }
    hybrid.handle_model_end();
    let parts =
        decode::<Content>(r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#).unwrap();
    hybrid.handle_tool_result(&"s".into(), Ok(parts));
    let events = drain(&mut verifier, || hybrid.poll_event(), Profile::Legacy);
    verifier.finish().unwrap();
    let result = events.iter().find(|event| event.tag() == "TOOL_CALL_RESULT").unwrap();
    assert_eq!(serde_json::to_value(result).unwrap()["content"], "ab");
    let finished = serde_json::to_value(events.last().unwrap()).unwrap();
    assert_eq!(
        finished,
        json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": {"type": "success"}})
    );
}

#[test]
fn limits_end_the_run() {
    let code = |hybrid: &mut HybridLoop| {
        let last = std::iter::from_fn(|| hybrid.poll_event()).last().unwrap();
        serde_json::to_value(&last).unwrap()["code"].as_str().unwrap_or_default().to_owned()
    };
    let mut options = LoopOptions::new();
    (
        options.max_iterations,
        options.max_answer_bytes,
        options.max_parallel_calls,
        options.max_messages,
    ) = (2, 100, 1, 1);
    let begin =
        |said: &Value| HybridLoop::begin(&input(said, &["pick"]), &backend(), options.clone());

    let mut hybrid = begin(&user("Hi"));
    for _ in 0..2 {
        hybrid.handle_model(ModelEvent::call("s", "search", "{}"));
        hybrid.handle_model(ModelEvent::call("t", "search", "{}"));
        hybrid.handle_model(ModelEvent::ToolCallArguments { id: "t".into(), delta: "?".into() });
        hybrid.handle_model_end();
        let Step::RunTools(calls) = hybrid.step() else { panic!("no tools") };
        assert_eq!(calls.len(), 1);
        assert_eq!(&*calls[0].arguments, "{}");
        hybrid.handle_tool_result(&calls[0].id, Ok("x".into()));
    }
    assert_eq!(hybrid.step(), Step::Done);
    assert_eq!(code(&mut hybrid), "MAX_ITERATIONS");
    let remarks: Vec<_> = hybrid.remarks().collect();
    assert_eq!(remarks, ["dropped a call of search: too many calls in one answer"; 2]);

    let mut hybrid = begin(&user("Hi"));
    hybrid.handle_model(ModelEvent::Text("x".repeat(100)));
    assert_eq!(hybrid.step(), Step::AskModel);
    hybrid.handle_model(ModelEvent::Reasoning("x".into()));
    assert_eq!(code(&mut hybrid), "LIMIT_EXCEEDED");

    let two = json!([{"id": "1", "role": "user", "content": "a"}, {"id": "2", "role": "user", "content": "b"}]);
    let mut hybrid = begin(&two);
    assert_eq!(code(&mut hybrid), "LIMIT_EXCEEDED");
}

#[test]
fn calls_after_the_end_and_impossible_calls_have_no_effect() {
    let input = input(&user("Hi"), &["pick"]);
    let mut verifier = Verifier::strict_for(&input);
    let mut run = HybridRun::begin(&input);
    assert!(!run.tool_result(&"never".into(), "x"));
    assert!(!run.tool_call_arguments(&"never".into(), "x"));
    assert!(!run.end_tool_call(&"never".into()));
    let pick = run.start_tool_call(&"p".into(), "pick");
    assert!(!run.tool_result(&pick, "not ours to give"));
    run.text("meanwhile");
    assert!(run.tool_call_arguments(&pick, "{}"));
    run.finish();
    run.finish();
    run.fail(RunFailure::new("X", "x"));
    run.cancel(CancelReason::User);
    run.text("x");
    run.reasoning("x");
    run.restate(Vec::new());
    run.start_tool_call(&"q".into(), "pick");
    assert!(run.is_over() && !run.end_tool_call(&pick));
    let events = drain(&mut verifier, || run.poll_event(), Profile::V1);
    verifier.finish().unwrap();
    let expected = [
        "RUN_STARTED",
        "TOOL_CALL_START",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TOOL_CALL_ARGS",
        "TEXT_MESSAGE_END",
        "TOOL_CALL_END",
        "RUN_FINISHED",
    ];
    assert_eq!(types(&events), expected);
}
