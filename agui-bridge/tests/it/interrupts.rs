//! Runs that are interrupted for questions, and runs that resume them.
use crate::script::{Step, events, interrupting, of_type, play, verify};
use agui_bridge::{Begun, Failure, Options, PermissionMode, Translator, Unanswered};
use agui_types::input::RunAgentInput;
use agui_types::profile::Profile;
use serde_json::{Value, json};
use std::time::Duration;

pub(crate) fn ask(id: u8, call: &str) -> Value {
    json!({"ask": id, "toolCall": {"toolCallId": call, "title": "Do it", "kind": "execute", "rawInput": {"c": "ls"}},
    "options": [
        {"optionId": "always", "name": "Always", "kind": "allow_always"},
        {"optionId": "once", "name": "Once", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]})
}

pub(crate) fn form(id: u8) -> Value {
    json!({"elicit": id, "request": {"mode": "form", "sessionId": "session", "message": "Who?", "requestedSchema":
    {"type": "object", "properties": {"name": {"type": "string", "minLength": 2}}, "required": ["name"]}}})
}

fn page(id: u8) -> Value {
    json!({"elicit": id, "request": {"mode": "url", "sessionId": "session", "message": "Sign in",
    "elicitationId": "e1", "url": "https://example.org/sign-in"}})
}

fn resume(run: &str, answers: &[(&str, Value)]) -> Value {
    let answers: Vec<_> = answers
        .iter()
        .map(|(id, payload)| match payload {
            Value::Null => json!({"interruptId": id, "status": "cancelled"}),
            payload => json!({"interruptId": id, "status": "resolved", "payload": payload}),
        })
        .collect();
    json!({"run": run, "resume": answers})
}

fn prompt(run: &str) -> Value {
    json!({"run": run, "prompt": [{"type": "text", "text": "And now?"}]})
}

fn say(text: &str) -> Value {
    json!({"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}})
}

fn completed(call: &str) -> Value {
    json!({"update": {"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "completed", "rawOutput": "ok"}})
}

fn end() -> Value {
    json!({"result": {"stopReason": "end_turn"}})
}

fn begin(run: &str) -> Value {
    json!({"run": run})
}

/// Returns the responses to the agent, as `(id, result)`.
fn answers(stream: &[Value]) -> Vec<(Value, Value)> {
    let answer = |event: &Value| {
        Some((event.get("toAgent")?["id"].clone(), event["toAgent"]["result"].clone()))
    };
    stream.iter().filter_map(answer).collect()
}

fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

/// Returns the code of the failure in the result of the last run.
fn failure(stream: &[Value]) -> Value {
    let finished = of_type(stream, "RUN_FINISHED");
    finished.last().map_or(Value::Null, |finished| finished["result"]["error"]["code"].clone())
}

/// Plays steps with questions as interrupts, and verifies the stream strictly.
fn played(steps: &[Value]) -> Vec<Value> {
    played_with(interrupting(), steps)
}

fn played_with(options: Options, steps: &[Value]) -> Vec<Value> {
    let stream = play(options, steps);
    verify(Profile::V1, &stream);
    stream
}

/// Returns the outcomes of the runs, or the codes of their errors.
fn ends(stream: &[Value]) -> Vec<String> {
    let end = |event: &&Value| event["type"] == "RUN_FINISHED" || event["type"] == "RUN_ERROR";
    let word = |event: &'_ Value| {
        event["outcome"]["type"].as_str().or(event["code"].as_str()).map(ToOwned::to_owned)
    };
    stream.iter().filter(end).filter_map(word).collect()
}

fn interrupts(stream: &[Value]) -> &Value {
    let interrupted = of_type(stream, "RUN_FINISHED");
    &interrupted.iter().find(|event| event["outcome"]["type"] == "interrupt").unwrap()["outcome"]["interrupts"]
}

#[test]
fn permission_request_interrupts_and_the_next_run_resumes() {
    let answer = resume("r2", &[("int-1", json!({"optionId": "once"}))]);
    let stream = played(&[begin("r1"), ask(7, "t"), completed("t"), answer, say("Done."), end()]);
    assert_eq!(ends(&stream), ["interrupt", "success"]);
    let acp = json!({"options": [
            {"optionId": "always", "name": "Always", "kind": "allow_always"},
            {"optionId": "once", "name": "Once", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"}],
        "toolCall": {"title": "Do it", "name": "execute", "kind": "execute"}});
    let option_id = json!({"type": "string", "enum": ["always", "once", "no"]});
    let schema = json!({"type": "object", "properties": {"optionId": option_id, "approved": {"type": "boolean"}}});
    assert_eq!(
        interrupts(&stream),
        &json!([{"id": "int-1", "reason": "tool_call", "message": "Do it", "toolCallId": "t",
            "responseSchema": schema, "metadata": {"acp": acp}}])
    );
    assert_eq!(answers(&stream), [(json!(7), selected("once"))]);
    let second = stream.iter().position(|event| event["runId"] == "r2").unwrap();
    assert_eq!(stream[second + 1]["type"], "ACTIVITY_SNAPSHOT");
    assert_eq!(stream[second + 2]["type"], "TOOL_CALL_RESULT");
    assert_eq!(of_type(&stream, "TOOL_CALL_START").len(), 1);
}

#[test]
fn each_form_of_answer_is_accepted() {
    let table = [
        (json!({"optionId": "always"}), selected("always")),
        (json!({"approved": true}), selected("once")),
        (json!({"approved": false}), selected("no")),
        (json!(true), selected("once")),
        (json!(false), selected("no")),
        (Value::Null, cancelled()),
    ];
    for (payload, answer) in table {
        let stream =
            played(&[begin("r1"), ask(7, "t"), resume("r2", &[("int-1", payload)]), end()]);
        assert_eq!(answers(&stream), [(json!(7), answer)]);
    }
    let accept = |content: Value| json!({"action": "accept", "content": content});
    let table = [
        (json!({"name": "Ada"}), accept(json!({"name": "Ada"}))),
        (json!({"content": {"name": "Ada"}}), accept(json!({"name": "Ada"}))),
        (accept(json!({"name": "Ada"})), accept(json!({"name": "Ada"}))),
        (json!({"action": "decline"}), json!({"action": "decline"})),
        (json!({"action": "cancel"}), json!({"action": "cancel"})),
        (Value::Null, json!({"action": "cancel"})),
    ];
    for (payload, answer) in table {
        let stream = played(&[begin("r1"), form(7), resume("r2", &[("int-1", payload)]), end()]);
        assert_eq!(answers(&stream), [(json!(7), answer)]);
    }
    let table = [
        (json!({}), json!({"action": "accept"})),
        (json!(true), json!({"action": "accept"})),
        (json!({"action": "accept"}), json!({"action": "accept"})),
        (json!({"action": "decline"}), json!({"action": "decline"})),
    ];
    for (payload, answer) in table {
        let stream = played(&[begin("r1"), page(7), resume("r2", &[("int-1", payload)]), end()]);
        assert_eq!(answers(&stream), [(json!(7), answer)]);
    }
}

#[test]
fn elicitation_is_in_the_interrupt() {
    let stream = played(&[begin("r"), form(7)]);
    let schema = json!({"type": "object", "properties": {"name": {"type": "string", "minLength": 2}}, "required": ["name"]});
    assert_eq!(
        interrupts(&stream),
        &json!([{"id": "int-1", "reason": "input_required", "message": "Who?",
            "responseSchema": schema, "metadata": {"acp": {"mode": "form"}}}])
    );
    let mut with_meta = form(7);
    with_meta["request"]["_meta"] = json!({"shown": {"beside": 1}, "acp": "no"});
    let stream = played(&[begin("r"), with_meta]);
    let metadata = json!({"shown": {"beside": 1}, "acp": {"mode": "form"}});
    assert_eq!(interrupts(&stream)[0]["metadata"], metadata);
    let stream = played(&[begin("r"), page(7)]);
    let acp = json!({"mode": "url", "elicitationId": "e1", "url": "https://example.org/sign-in"});
    assert_eq!(
        interrupts(&stream),
        &json!([{"id": "int-1", "reason": "confirmation", "message": "Sign in", "metadata": {"acp": acp}}])
    );
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
fn parallel_questions_are_collected() {
    let mut options = interrupting();
    options.times.collect = Duration::from_millis(50);
    let mut translator = Translator::new(options);
    let mut apply = |steps: &[Value]| {
        steps.iter().for_each(|step| Step::read(step).apply(&mut translator).unwrap());
        (translator.poll_timeout(), translator.is_running(), events(&mut translator).pop())
    };
    let tick = |time: u64| json!({"tick": time});
    let (timeout, ..) = apply(&[tick(1000), begin("r1"), ask(1, "t")]);
    assert_eq!(timeout, Some(Duration::from_millis(1050)));
    let (timeout, ..) = apply(&[tick(1040), ask(2, "u"), say("meanwhile")]);
    assert_eq!(timeout, Some(Duration::from_millis(1090)));
    assert!(apply(&[tick(1089)]).1);
    let (timeout, running, last) = apply(&[tick(1090)]);
    assert_eq!((timeout, running), (None, false));
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
        (options.profile, options.legacy_interrupts) = (Some(profile), true);
        let steps = [begin("r1"), ask(1, "t"), answer.clone(), json!({"exit": "gone"})];
        let stream = played_with(options, &steps);
        let [.., notice, end] = &stream[..] else { panic!("no end") };
        assert_eq!(notice["name"], "acp.notice");
        let told = json!({"severity": "error", "title": "gone", "code": "AGENT_EXITED"});
        assert_eq!(notice["value"], told);
        assert_eq!(end["type"], "RUN_FINISHED");
        let error = json!({"code": "AGENT_EXITED", "message": "gone"});
        assert_eq!(end["result"], json!({"error": error}));
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
fn cancelling_an_interrupted_turn_answers_its_questions() {
    let steps = [
        begin("r1"),
        ask(1, "t"),
        json!({"cancel": true}),
        ask(2, "u"),
        json!({"result": {"stopReason": "cancelled"}}),
        resume("r2", &[("int-1", Value::Null)]),
    ];
    let stream = played(&steps);
    assert_eq!(ends(&stream), ["interrupt", "cancelled"]);
    assert_eq!(answers(&stream), [(json!(1), cancelled()), (json!(2), cancelled())]);
}

#[test]
fn settled_question_needs_no_answer() {
    let withdrawn = json!({"withdraw": 1});
    let aside = json!({"answer": "int-1", "optionId": "no"});
    let table = [(withdrawn, cancelled()), (aside, selected("no"))];
    for (settled, answer) in table {
        let covered = resume("r2", &[("int-1", json!(true))]);
        for next in [covered, begin("r2")] {
            let stream = played(&[begin("r1"), ask(1, "t"), settled.clone(), next, end()]);
            assert_eq!(ends(&stream), ["interrupt", "success"]);
            assert_eq!(answers(&stream), [(json!(1), answer.clone())]);
        }
    }
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
fn prompt_waits_for_the_end_of_the_last_turn() {
    let mut options = interrupting();
    options.unanswered = Unanswered::Abandon;
    let read = |value: &Value| match Step::read(value) {
        Step::Run(input, prompt) => (input, prompt),
        other => panic!("{other:?}"),
    };
    let mut answered = prompt("r2");
    answered["resume"] = json!([{"interruptId": "int-1", "status": "resolved", "payload": true}]);
    for (input, cancel, answer, result) in [
        (prompt("r2"), true, cancelled(), "cancelled"),
        (answered, false, selected("once"), "incomplete"),
    ] {
        let mut translator = Translator::new(options.clone());
        let apply = |translator: &mut Translator, step: Value| {
            Step::read(&step).apply(translator).unwrap();
        };
        apply(&mut translator, begin("r1"));
        apply(&mut translator, ask(1, "t"));
        let (input, blocks) = read(&input);
        assert_eq!(translator.begin_run(&input, &blocks), Ok(Begun::Wait { cancel }));
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
        let stream: Vec<_> = events(&mut translator)
            .iter()
            .map(|event| serde_json::to_value(event).unwrap())
            .collect();
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
            Step::read(&step).apply(&mut translator).unwrap();
        }
        let Step::Run(input, blocks) = Step::read(&prompt("r2")) else { panic!() };
        assert_eq!(translator.begin_run(&input, &blocks), Ok(Begun::Prompt));
        let stream: Vec<_> = events(&mut translator)
            .iter()
            .map(|event| serde_json::to_value(event).unwrap())
            .collect();
        assert_eq!(of_type(&stream, "CUSTOM").len(), notices);
        assert!(translator.is_running());
    }
}

#[test]
fn repeated_answers_return_the_resumed_run() {
    let mut translator = Translator::new(interrupting());
    let answer = resume("r2", &[("int-1", json!({"optionId": "once"}))]);
    for step in [begin("r1"), ask(1, "t"), answer.clone()] {
        Step::read(&step).apply(&mut translator).unwrap();
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

#[test]
fn legacy_clients_receive_questions_in_the_stream() {
    let mut options = interrupting();
    options.profile = Some(Profile::Legacy);
    let answer = json!({"answer": "int-1", "optionId": "once"});
    let act =
        json!({"answer": "int-2", "action": {"action": "accept", "content": {"name": "Ada"}}});
    let stream = play(options, &[begin("r"), ask(1, "t"), form(2), answer, act, end()]);
    verify(Profile::Legacy, &stream);
    let told: Vec<_> =
        of_type(&stream, "CUSTOM").iter().map(|event| event["name"].clone()).collect();
    assert_eq!(
        told,
        [
            "acp.permission.requested",
            "acp.elicitation.requested",
            "acp.permission.resolved",
            "acp.elicitation.resolved"
        ]
    );
    assert_eq!(answers(&stream).len(), 2);
}

/// Newer ones of these clients support interrupts.
#[test]
fn legacy_clients_are_interrupted_if_enabled() {
    let mut options = interrupting();
    (options.profile, options.legacy_interrupts) = (Some(Profile::Legacy), true);
    let answer = resume("r2", &[("int-1", json!({"approved": true}))]);
    let stream = play(options, &[begin("r1"), ask(7, "t"), answer, completed("t"), end()]);
    verify(Profile::Legacy, &stream);
    assert_eq!(of_type(&stream, "RUN_FINISHED").len(), 2);
    assert_eq!(ends(&stream), ["interrupt"]);
    assert_eq!(of_type(&stream, "CUSTOM"), Vec::<&Value>::new());
    assert_eq!(interrupts(&stream)[0]["metadata"]["acp"]["options"][0]["name"], "Always");
    assert_eq!(answers(&stream), [(json!(7), selected("once"))]);
}

#[test]
fn approval_is_offered_if_options_allow_and_reject() {
    let option = |kind: &str| json!({"optionId": kind, "name": kind, "kind": kind});
    let table = [
        (["allow_once", "reject_once"], json!(null), true),
        (["allow_always", "reject_always"], json!(null), true),
        (["allow_once", "allow_always"], json!(["optionId"]), false),
        (["reject_once", "newer"], json!(["optionId"]), false),
    ];
    for (kinds, required, offered) in table {
        let mut request = ask(7, "t");
        request["options"] = kinds.map(option).into_iter().collect();
        let stream = played(&[begin("r1"), request]);
        let schema = &interrupts(&stream)[0]["responseSchema"];
        assert_eq!(schema["required"], required, "{kinds:?}");
        assert_eq!(schema["properties"].get("approved").is_some(), offered, "{kinds:?}");
    }
}

#[test]
fn completed_url_elicitation_is_accepted() {
    for options in [interrupting(), crate::script::in_stream(Profile::V1)] {
        let stream = play(options, &[begin("r"), page(7), json!({"complete": "e1"})]);
        assert_eq!(answers(&stream), [(json!(7), json!({"action": "accept"}))]);
    }
    let stream = play(
        crate::script::in_stream(Profile::V1),
        &[begin("r"), json!({"complete": "e1"}), end()],
    );
    verify(Profile::V1, &stream);
    assert_eq!(of_type(&stream, "CUSTOM")[0]["value"], json!({"elicitationId": "e1"}));
}

#[test]
fn elicitations_are_declined_by_default() {
    let mut options = Options::new();
    options.profile = Some(Profile::V1);
    let unknown =
        json!({"elicit": 2, "request": {"mode": "hologram", "sessionId": "s", "message": "?"}});
    let stream = played_with(options, &[begin("r"), form(1), end()]);
    assert_eq!(answers(&stream), [(json!(1), json!({"action": "decline"}))]);
    assert_eq!(
        of_type(&stream, "CUSTOM")[0]["value"],
        json!({"message": "Who?", "action": "decline"})
    );
    let stream = played(&[begin("r"), unknown, end()]);
    assert_eq!(answers(&stream), [(json!(2), json!({"action": "cancel"}))]);
    let stream = play(interrupting(), &[form(1)]);
    assert_eq!(answers(&stream), [(json!(1), json!({"action": "cancel"}))]);
}

#[test]
fn silent_run_times_out_unless_a_question_is_open() {
    let mut options = crate::script::in_stream(Profile::V1);
    options.times.idle = Some(Duration::from_secs(10));
    options.times.turn = Some(Duration::from_secs(60));
    let mut translator = Translator::new(options);
    let apply = |translator: &mut Translator, step: Value| {
        Step::read(&step).apply(translator).unwrap();
    };
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
