//! Inputs after an interrupt: answers, and new prompts.
use super::*;
use crate::script::events;
use acp_types::v1::content::ContentBlock;
use agui_bridge::{CancelReason, TurnStart, UnansweredPolicy};
use agui_types::input::RunAgentInput;
use std::time::Duration;

fn prompt(run: &str) -> Value {
    json!({"run": run, "prompt": [{"type": "text", "text": "And now?"}]})
}

/// Returns the code of the failure in the result of the last run.
fn failure(stream: &[Value]) -> Value {
    let finished = of_type(stream, "RUN_FINISHED");
    finished.last().map_or(Value::Null, |finished| finished["result"]["error"]["code"].clone())
}

/// The input and the prompt of a run.
fn read(step: &Value) -> (RunAgentInput, Vec<ContentBlock>) {
    match Step::read(step) {
        Step::Run(input, prompt) => (input, prompt),
        other => panic!("{other:?}"),
    }
}

fn stream(translator: &mut Translator) -> Vec<Value> {
    let events = events(translator).into_iter();
    events.map(|event| serde_json::to_value(event).unwrap()).collect()
}

#[test]
fn invalid_answer_leaves_the_questions_open() {
    let fits = ("int-1", json!(true));
    let unknown_status = json!({"run": "r2", "resume": [{"interruptId": "int-1", "status": "later"},
        {"interruptId": "int-2", "status": "cancelled"}]});
    let table = [
        (resume("r2", std::slice::from_ref(&fits)), "RESUME_MISMATCH"),
        (resume("r2", &[("int-3", json!(true))]), "RESUME_MISMATCH"),
        (
            resume("r2", &[("int-1", json!({"optionId": "?"})), ("int-2", Value::Null)]),
            "RESUME_INVALID",
        ),
        (resume("r2", &[("int-1", json!({})), ("int-2", Value::Null)]), "RESUME_INVALID"),
        (resume("r2", &[("int-1", json!("once")), ("int-2", Value::Null)]), "RESUME_INVALID"),
        (resume("r2", &[fits.clone(), ("int-2", json!({}))]), "RESUME_INVALID"),
        (resume("r2", &[fits.clone(), ("int-2", json!({"name": "A"}))]), "RESUME_INVALID"),
        (resume("r2", &[fits.clone(), ("int-2", json!({"name": 7}))]), "RESUME_INVALID"),
        (resume("r2", &[fits.clone(), fits.clone(), ("int-2", Value::Null)]), "RESUME_INVALID"),
        (
            resume(
                "r2",
                &[("int-1", json!({"approved": true, "editedArgs": {}})), ("int-2", Value::Null)],
            ),
            "EDIT_UNSUPPORTED",
        ),
        (unknown_status, "RESUME_INVALID"),
        (prompt("r2"), "INTERRUPTS_OPEN"),
        (begin("r2"), "interrupt"),
    ];
    for (input, code) in table {
        let mut options = interrupting();
        options.times.collect = Duration::from_millis(50);
        let right = resume("r3", &[fits.clone(), ("int-2", json!({"name": "Ada"}))]);
        let steps = [
            json!({"tick": 1000}),
            begin("r1"),
            ask(1, "t"),
            form(2),
            json!({"tick": 1050}),
            input.clone(),
            right,
            end(),
        ];
        let stream = played_with(options, &steps);
        assert_eq!(ends(&stream), ["interrupt", code, "success"], "{input}");
        assert_eq!(
            answers(&stream),
            [
                (json!(1), selected("once")),
                (json!(2), json!({"action": "accept", "content": {"name": "Ada"}}))
            ]
        );
    }
}

#[test]
fn answers_without_an_open_question_are_reported() {
    let both = resume("r2", &[("int-1", json!(true)), ("int-9", json!(true))]);
    let stream = played(&[begin("r1"), ask(1, "t"), both, end()]);
    assert_eq!(ends(&stream), ["interrupt", "success"]);
    assert_eq!(of_type(&stream, "CUSTOM")[0]["name"], "acp.notice");
    let stream = played(&[resume("r", &[("int-1", json!(true))])]);
    assert_eq!(ends(&stream), ["cancelled"]);
    assert_eq!(failure(&stream), "RESUME_MISMATCH");
    let mut with_prompt = prompt("r");
    with_prompt["resume"] = json!([{"interruptId": "int-1", "status": "cancelled"}]);
    let stream = played(&[with_prompt, end()]);
    assert_eq!(ends(&stream), ["success"]);
    assert_eq!(of_type(&stream, "CUSTOM")[0]["name"], "acp.notice");
}

#[test]
fn updates_after_an_interrupt_begin_the_next_run() {
    let answer = resume("r2", &[("int-1", json!(true))]);
    let steps = [begin("r1"), ask(1, "t"), say("Wait"), ask(2, "u"), end(), answer];
    let stream = played(&steps);
    assert_eq!(ends(&stream), ["interrupt", "success"], "the turn has ended");
    let later = resume("r2", &[("int-1", json!(true))]);
    let last = resume("r3", &[("int-2", json!(false))]);
    let steps = [begin("r1"), ask(1, "t"), say("Wait"), ask(2, "u"), later, last, end()];
    let stream = played(&steps);
    assert_eq!(ends(&stream), ["interrupt", "interrupt", "success"]);
    assert_eq!(answers(&stream), [(json!(1), selected("once")), (json!(2), selected("no"))]);
    assert_eq!(of_type(&stream, "TEXT_MESSAGE_CONTENT")[0]["delta"], "Wait");
}

#[test]
fn end_of_an_interrupted_turn_is_shown_by_the_next_run() {
    let gone = json!({"exit": "gone"});
    let refusal = json!({"result": {"stopReason": "refusal"}});
    let error = json!({"error": {"code": -32603, "message": "m"}});
    let stopped = json!({"stop": true});
    let table = [
        (end(), Value::Null, "success", Value::Null),
        (refusal, Value::Null, "cancelled", json!("ACP_REFUSAL")),
        (error, Value::Null, "cancelled", json!("ACP_INTERNAL_ERROR")),
        (gone, json!(true), "cancelled", json!("AGENT_LOST")),
        (stopped, Value::Null, "cancelled", Value::Null),
    ];
    for (ended, answer, outcome, code) in table {
        let steps = [begin("r1"), ask(1, "t"), ended, resume("r2", &[("int-1", answer)])];
        let stream = played(&steps);
        assert_eq!(ends(&stream), ["interrupt", outcome]);
        assert_eq!(failure(&stream), code);
        assert_eq!(answers(&stream), [(json!(1), cancelled())]);
        let result = of_type(&stream, "TOOL_CALL_RESULT")[0];
        assert_eq!(result["toolCallId"], "t");
    }
}

/// A client removes the interrupts that it has answered only with `RUN_FINISHED`.
#[test]
fn resumed_run_that_fails_is_finished_with_a_notice() {
    let answer = resume("r2", &[("int-1", json!(true))]);
    for profile in [Profile::V1, Profile::Legacy] {
        let mut options = interrupting();
        options.profile = Some(profile);
        options.legacy_interrupts = true;
        let steps = [begin("r1"), ask(1, "t"), answer.clone(), json!({"exit": "gone"})];
        let stream = played_with(options, &steps);
        let [.., notice, end] = &stream[..] else { panic!("no end") };
        assert_eq!(notice["name"], "acp.notice");
        let told = json!({"severity": "error", "title": "gone", "code": "AGENT_EXITED"});
        assert_eq!(notice["value"], told);
        assert_eq!(end["type"], "RUN_FINISHED");
        let error = json!({"code": "AGENT_EXITED", "message": "gone"});
        assert_eq!(end["result"], json!({"error": error, "cancelReason": "failure"}));
        let outcome = json!({"type": "cancelled"});
        assert_eq!(end["outcome"], if profile == Profile::V1 { outcome } else { Value::Null });
    }
    let steps = [
        begin("r1"),
        ask(1, "t"),
        answer,
        json!({"exit": "gone"}),
        begin("r3"),
        json!({"exit": "again"}),
    ];
    assert_eq!(ends(&played(&steps)), ["interrupt", "cancelled", "AGENT_EXITED"]);
}

#[test]
fn prompt_waits_for_the_end_of_the_last_turn() {
    let mut options = interrupting();
    options.unanswered = UnansweredPolicy::Abandon;
    let mut answered = prompt("r2");
    answered["resume"] = json!([{"interruptId": "int-1", "status": "resolved", "payload": true}]);
    for (input, cancel, answer, result) in [
        (prompt("r2"), true, cancelled(), "cancelled"),
        (answered, false, selected("once"), "incomplete"),
    ] {
        let mut translator = Translator::new(options.clone());
        apply(&mut translator, begin("r1"));
        apply(&mut translator, ask(1, "t"));
        let (input, blocks) = read(&input);
        assert_eq!(translator.begin_run(&input, &blocks), Ok(TurnStart::Wait { cancel }));
        let given = translator.poll_response().unwrap();
        assert_eq!(serde_json::to_value(&given.result).unwrap(), answer);
        assert!(!translator.poll_prompt());
        apply(&mut translator, say("Oh."));
        apply(&mut translator, json!({"result": {"stopReason": "cancelled"}}));
        assert!(translator.poll_prompt());
        assert!(!translator.poll_prompt());
        apply(
            &mut translator,
            json!({"update": {"sessionUpdate": "user_message_chunk",
            "content": {"type": "text", "text": "And now?"}}}),
        );
        apply(&mut translator, say("Now."));
        apply(&mut translator, end());
        let stream = stream(&mut translator);
        verify(Profile::V1, &stream);
        assert_eq!(ends(&stream), ["interrupt", "success"]);
        assert_eq!(of_type(&stream, "TOOL_CALL_RESULT")[0]["content"], result);
        let said: Vec<_> = of_type(&stream, "TEXT_MESSAGE_CONTENT")
            .iter()
            .map(|text| text["delta"].clone())
            .collect();
        assert_eq!(said, ["Oh.", "Now."]);
    }
}

#[test]
fn prompt_after_an_ended_turn_is_sent_at_once() {
    for (ended, notices) in [(end(), 0), (json!({"exit": "gone"}), 1)] {
        let mut translator = Translator::new(interrupting());
        for step in [begin("r1"), ask(1, "t"), ended] {
            apply(&mut translator, step);
        }
        let (input, blocks) = read(&prompt("r2"));
        assert_eq!(translator.begin_run(&input, &blocks), Ok(TurnStart::Prompt));
        let stream = stream(&mut translator);
        assert_eq!(of_type(&stream, "CUSTOM").len(), notices);
        assert!(translator.is_running());
    }
}

#[test]
fn repeated_answers_return_the_resumed_run() {
    let mut translator = Translator::new(interrupting());
    let answer = resume("r2", &[("int-1", json!({"optionId": "once"}))]);
    for step in [begin("r1"), ask(1, "t"), answer.clone()] {
        apply(&mut translator, step);
    }
    let resumed = |answer: &Value| {
        let input: RunAgentInput =
            serde_json::from_value(json!({"threadId": "t", "runId": "again", "messages": []}))
                .unwrap();
        let mut input = input;
        input.resume = Some(serde_json::from_str(&answer["resume"].to_string()).unwrap());
        translator.resumed_by(input.resume.as_deref().unwrap()).map(|run| run.as_str().to_owned())
    };
    assert_eq!(resumed(&answer).as_deref(), Some("r2"));
    assert_eq!(resumed(&resume("r3", &[("int-1", json!({"optionId": "no"}))])), None);
    assert_eq!(resumed(&json!({"resume": []})), None);
}

/// Returns the values of the custom events with this name.
fn values(stream: &[Value], name: &str) -> Vec<Value> {
    let events = of_type(stream, "CUSTOM").into_iter().filter(|event| event["name"] == name);
    events.map(|event| event["value"].clone()).collect()
}

/// The stream states the answer to an interrupt that the input does not answer.
#[test]
fn interrupts_that_the_next_message_leaves_are_cancelled() {
    let mut options = interrupting();
    options.unanswered = UnansweredPolicy::Abandon;
    options.times.collect = Duration::from_millis(50);
    let steps = [
        json!({"tick": 1000}),
        begin("r1"),
        ask(1, "t"),
        form(2),
        json!({"tick": 1050}),
        ask(3, "u"),
        prompt("r2"),
        json!({"result": {"stopReason": "cancelled"}}),
        end(),
    ];
    let stream = played_with(options, &steps);
    assert_eq!(ends(&stream), ["interrupt", "success"]);
    let action = json!({"action": "cancel"});
    assert_eq!(
        answers(&stream),
        [(json!(1), cancelled()), (json!(2), action), (json!(3), cancelled())]
    );
    let left = |id: &str| json!({"interruptId": id, "outcome": "cancelled", "answeredBy": "user"});
    assert_eq!(values(&stream, "acp.permission.resolved"), [left("int-1"), left("int-3")]);
    let form = json!({"interruptId": "int-2", "action": "cancel", "answeredBy": "user"});
    assert_eq!(values(&stream, "acp.elicitation.resolved"), [form]);
    // The client has the others as interrupts.
    let asked = values(&stream, "acp.permission.requested");
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["interruptId"], "int-3");
    let results = of_type(&stream, "TOOL_CALL_RESULT");
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(|result| result["content"] == "cancelled"), "{results:?}");
}

/// The same after a run that has ended for calls of the page's tools: the turn goes on.
#[test]
fn question_during_calls_of_the_page_is_cancelled_by_the_next_message() {
    let page_call = json!({"frontend": "f", "name": "pick", "arguments": {}});
    let steps = [
        begin("r1"),
        page_call,
        json!({"parked": true}),
        ask(1, "t"),
        prompt("r2"),
        end(),
        say("Now."),
        end(),
    ];
    let stream = played(&steps);
    assert_eq!(ends(&stream), ["success", "success"]);
    assert_eq!(answers(&stream), [(json!(1), cancelled())]);
    let left = json!({"interruptId": "int-1", "outcome": "cancelled", "answeredBy": "user"});
    assert_eq!(values(&stream, "acp.permission.resolved"), [left]);
    let results = of_type(&stream, "TOOL_CALL_RESULT");
    let result = results.iter().find(|result| result["toolCallId"] == "t").unwrap();
    assert_eq!(result["content"], "cancelled");
}

/// A run without a message shows what the turn asks since then.
#[test]
fn question_waits_for_the_run_that_has_no_message() {
    let page_call = json!({"frontend": "f", "name": "pick", "arguments": {}});
    let parked = [begin("r1"), page_call, json!({"parked": true}), ask(1, "t")];
    let answered = [begin("r1"), ask(9, "s"), json!({"answer": "int-1"}), ask(1, "t")];
    for (before, id) in [(parked, "int-1"), (answered, "int-2")] {
        let answer = resume("r3", &[(id, json!({"optionId": "once"}))]);
        let steps = [&before[..], &[begin("r2"), answer, end()]].concat();
        let stream = played(&steps);
        assert_eq!(ends(&stream).last().unwrap(), "success");
        assert_eq!(answers(&stream).last().unwrap(), &(json!(1), selected("once")), "{stream:#?}");
    }
}

/// The run that joins a turn which is being cancelled ends with the reason of that.
#[test]
fn run_of_a_cancelled_turn_ends_with_its_reason() {
    let page_call = json!({"frontend": "f", "name": "pick", "arguments": {}});
    for reason in [CancelReason::OwnerLost, CancelReason::NoReader, CancelReason::User] {
        let mut translator = Translator::new(interrupting());
        for step in [begin("r1"), page_call.clone(), json!({"parked": true})] {
            Step::read(&step).apply(&mut translator).unwrap();
        }
        translator.handle_cancel(reason);
        for step in [begin("r2"), json!({"result": {"stopReason": "cancelled"}})] {
            Step::read(&step).apply(&mut translator).unwrap();
        }
        let stream = stream(&mut translator);
        let finished = of_type(&stream, "RUN_FINISHED");
        assert_eq!(finished[1]["result"]["cancelReason"], reason.as_str(), "{finished:?}");
    }
}

/// The agent ends its turn for a question that the user has cancelled.
#[test]
fn turn_that_ends_for_a_cancelled_question_was_cancelled_by_the_user() {
    let end = json!({"result": {"stopReason": "cancelled"}});
    let left = resume("r2", &[("int-1", Value::Null)]);
    let answered = resume("r2", &[("int-1", json!({"optionId": "once"}))]);
    for (answer, by) in [(left, "user"), (answered, "agent")] {
        let stream = played(&[begin("r1"), ask(1, "t"), answer, end.clone()]);
        let finished = of_type(&stream, "RUN_FINISHED");
        assert_eq!(finished[1]["result"]["cancelReason"], by, "{finished:?}");
    }
}
