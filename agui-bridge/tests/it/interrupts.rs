//! Runs that are interrupted for questions, and runs that resume them.
use crate::script::{Step, interrupting, of_type, play, verify};
use agui_bridge::{Options, Translator};
use agui_types::profile::Profile;
use serde_json::{Value, json};

mod resumed;
mod times;

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

/// Plays steps with questions as interrupts, and verifies the stream strictly.
fn played(steps: &[Value]) -> Vec<Value> {
    played_with(interrupting(), steps)
}

fn played_with(options: Options, steps: &[Value]) -> Vec<Value> {
    let stream = play(options, steps);
    verify(Profile::V1, &stream);
    stream
}

fn apply(translator: &mut Translator, step: Value) {
    Step::read(&step).apply(translator).unwrap();
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
        "toolCall": {"title": "Do it", "name": "execute", "kind": "execute", "rawInput": {"c": "ls"}}});
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
    options.profile = Some(Profile::Legacy);
    options.legacy_interrupts = true;
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
        (["allow_always", "reject_always"], json!(["optionId"]), false),
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

/// A plain yes is for this call alone.
#[test]
fn approval_selects_no_lasting_option() {
    let option = |kind: &str| json!({"optionId": kind, "name": kind, "kind": kind});
    let mut request = ask(7, "t");
    request["options"] = ["allow_always", "reject_once"].map(option).into_iter().collect();
    let yes = resume("r2", &[("int-1", json!({"approved": true}))]);
    let no = resume("r3", &[("int-1", json!({"approved": false}))]);
    let stream = played(&[begin("r1"), request, yes, no, end()]);
    assert_eq!(ends(&stream), ["interrupt", "RESUME_INVALID", "success"]);
    assert_eq!(answers(&stream), [(json!(7), selected("reject_once"))]);
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
        json!({"message": "Who?", "action": "decline", "answeredBy": "policy"})
    );
    let stream = played(&[begin("r"), unknown, end()]);
    assert_eq!(answers(&stream), [(json!(2), json!({"action": "cancel"}))]);
    let stream = play(interrupting(), &[form(1)]);
    assert_eq!(answers(&stream), [(json!(1), json!({"action": "cancel"}))]);
}
