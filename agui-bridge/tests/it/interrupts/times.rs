//! Times of questions: their collection, their expiry, and the silence of a run.
use super::*;
use crate::script::events;
use agui_bridge::{Failure, PermissionMode};
use std::time::Duration;

#[test]
fn parallel_questions_are_collected() {
    let mut options = interrupting();
    options.times.collect = Duration::from_millis(50);
    let mut translator = Translator::new(options);
    let mut apply = |steps: &[Value]| {
        steps.iter().for_each(|step| apply(&mut translator, step.clone()));
        (translator.poll_timeout(), translator.is_running(), events(&mut translator).pop())
    };
    let tick = |time: u64| json!({"tick": time});
    let (timeout, ..) = apply(&[tick(1000), begin("r1"), ask(1, "t")]);
    assert_eq!(timeout, Some(Duration::from_millis(1050)));
    let (timeout, ..) = apply(&[tick(1040), ask(2, "u"), say("meanwhile")]);
    assert_eq!(timeout, Some(Duration::from_millis(1090)));
    assert!(apply(&[tick(1089)]).1);
    let (timeout, running, last) = apply(&[tick(1090)]);
    assert_eq!(timeout, None);
    assert!(!running);
    let last = serde_json::to_value(last).unwrap();
    let asked = last["outcome"]["interrupts"].as_array().unwrap();
    let asked: Vec<_> = asked.iter().map(|interrupt| interrupt["toolCallId"].clone()).collect();
    assert_eq!(asked, ["t", "u"]);
}

#[test]
fn run_is_interrupted_at_once_without_a_known_time() {
    let mut options = interrupting();
    options.times.collect = Duration::from_millis(50);
    assert_eq!(ends(&played_with(options, &[begin("r1"), ask(1, "t")])), ["interrupt"]);
}

#[test]
fn expired_question_is_refused() {
    let mut options = interrupting();
    options.times.answer = Some(Duration::from_secs(10));
    options.times.epoch = Some(Duration::from_secs(951_782_400));
    let tick = |seconds: u64| json!({"tick": seconds * 1000});
    let asked = [tick(1), begin("r1"), ask(1, "t"), form(2)];
    let late = resume("r2", &[("int-1", json!(true))]);
    let given_up = resume("r3", &[("int-1", Value::Null)]);
    let steps = [&asked[..3], &[tick(11), late, given_up, end()]].concat();
    let stream = played_with(options.clone(), &steps);
    assert_eq!(interrupts(&stream)[0]["expiresAt"], "2000-02-29T00:00:11.000Z");
    assert_eq!(ends(&stream), ["interrupt", "cancelled", "success"]);
    assert_eq!(of_type(&stream, "CUSTOM")[0]["value"]["code"], "INTERRUPT_EXPIRED");
    assert_eq!(answers(&stream), [(json!(1), selected("no"))]);
    assert_eq!(of_type(&stream, "TOOL_CALL_RESULT")[0]["content"], "not answered in time");
    for mode in [PermissionMode::InStream, PermissionMode::Interrupt] {
        options.permission = mode;
        let stream = play(options.clone(), &[&asked[..], &[tick(11)]].concat());
        let mut given = answers(&stream);
        given.sort_by_key(|(id, _)| id.to_string());
        assert_eq!(given[0], (json!(1), selected("no")));
    }
}

#[test]
fn silent_run_times_out_unless_a_question_is_open() {
    let mut options = crate::script::in_stream(Profile::V1);
    options.times.idle = Some(Duration::from_secs(10));
    options.times.turn = Some(Duration::from_secs(60));
    let mut translator = Translator::new(options);
    let at = Duration::from_secs;
    assert_eq!(translator.handle_timeout(at(100)), None);
    apply(&mut translator, begin("r"));
    assert_eq!(translator.poll_timeout(), Some(at(110)));
    assert_eq!(translator.handle_timeout(at(109)), None);
    apply(&mut translator, say("a"));
    assert_eq!(translator.poll_timeout(), Some(at(119)));
    apply(&mut translator, ask(1, "t"));
    assert_eq!(translator.poll_timeout(), None);
    assert_eq!(translator.handle_timeout(at(900)), None);
    apply(&mut translator, json!({"answer": "int-1", "optionId": "once"}));
    assert_eq!(translator.poll_timeout(), Some(at(910)));
    assert_eq!(translator.handle_timeout(at(910)), Some(Failure::IdleTimeout));
    assert_eq!(translator.handle_timeout(at(920)), None);
    let last = serde_json::to_value(events(&mut translator).pop()).unwrap();
    assert_eq!(last["code"], "IDLE_TIMEOUT");
    apply(&mut translator, begin("r2"));
    for time in (1..12).map(|step| at(920 + 5 * step)) {
        assert_eq!(translator.handle_timeout(time), None);
        apply(&mut translator, say("a"));
    }
    assert_eq!(translator.handle_timeout(at(980)), Some(Failure::TurnTimeout));
}
