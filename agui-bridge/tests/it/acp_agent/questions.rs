//! Questions to the editor's user.
use super::*;

fn interrupted(options: AcpAgentOptions, interrupts: Value) -> (AcpAgent, Vec<Value>) {
    let mut agent = begun(options);
    tell(
        &mut agent,
        &[finished(json!({"outcome": {"type": "interrupt", "interrupts": interrupts}}))],
    );
    let out = outputs(&mut agent);
    (agent, out)
}

fn select(option: &str) -> QuestionAnswer {
    QuestionAnswer::Permission(
        decode(&json!({"outcome": "selected", "optionId": option}).to_string()).unwrap(),
    )
}

fn resume(agent: &mut AcpAgent) -> Value {
    let out = outputs(agent);
    assert_eq!(out.len(), 1, "{out:?}");
    out[0]["run"]["resume"].clone()
}

#[test]
fn interrupt_becomes_a_question_and_its_answer_resumes() {
    let acp = json!({"acp": {"options": [{"optionId": "always", "name": "Always", "kind": "allow_always"}]}});
    let by_id = json!({"type": "object", "properties": {"optionId": {"type": "string", "enum": ["ok", "deny it"]}}});
    let by_flag = json!({"type": "object", "properties": {"approved": {"type": "boolean"}}});
    let (mut agent, out) = interrupted(
        AcpAgentOptions::new(),
        json!([
            {"id": "1", "reason": "tool_call", "toolCallId": "c", "message": "Edit?", "responseSchema": by_id, "metadata": acp},
            {"id": "2", "reason": "confirmation", "responseSchema": by_id},
            {"id": "3", "reason": "confirmation", "message": "Sure?", "responseSchema": by_flag},
            {"id": "4", "reason": "tool_call", "toolCallId": "d"},
            {"id": "5", "reason": "confirmation", "message": "Go?"},
        ]),
    );
    let shown = |number: usize| {
        let request = &out[number]["permission"];
        let options: Vec<_> = request["options"]
            .as_array()
            .unwrap()
            .iter()
            .map(|option| {
                format!(
                    "{} {}",
                    option["optionId"].as_str().unwrap(),
                    option["kind"].as_str().unwrap()
                )
            })
            .collect();
        (request["toolCall"].clone(), options.join(", "))
    };
    assert_eq!(
        shown(0),
        (json!({"toolCallId": "c", "title": "Edit?"}), "always allow_always".into())
    );
    assert_eq!(
        shown(1),
        (
            json!({"toolCallId": "interrupt-2", "title": "confirmation"}),
            "ok allow_once, deny it reject_once".into()
        )
    );
    assert_eq!(shown(2).1, "yes allow_once, no reject_once");
    assert_eq!(shown(3).0, json!({"toolCallId": "d"}));
    assert_eq!(shown(4).0["title"], "Go?");
    for (id, option) in [("5", "no"), ("1", "always"), ("2", "deny it"), ("3", "no")] {
        assert!(agent.handle_answer(&id.into(), &select(option)));
        assert!(!agent.handle_answer(&id.into(), &select(option)), "it has its answer");
    }
    assert!(outputs(&mut agent).is_empty(), "one is open");
    assert!(agent.handle_answer(&"4".into(), &select("no")));
    let resolved = |id: &str, payload: Value| json!({"interruptId": id, "status": "resolved", "payload": payload});
    assert_eq!(
        resume(&mut agent),
        json!([
            {"interruptId": "5", "status": "cancelled"},
            resolved("1", json!({"optionId": "always"})),
            resolved("2", json!({"optionId": "deny it"})),
            resolved("3", json!({"approved": false})),
            resolved("4", json!(false)),
        ])
    );
}

#[test]
fn form_is_sent_to_editors_with_form_support() {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let form = json!([{"id": "1", "reason": "input_required", "message": "Who?", "toolCallId": "c", "responseSchema": schema}]);
    let (mut agent, out) = interrupted(AcpAgentOptions::new(), form.clone());
    assert_eq!(
        out[0],
        json!({"lost": "RUN_FINISHED: the editor does not support forms: the question is cancelled"})
    );
    assert_eq!(out[1]["run"]["resume"], json!([{"interruptId": "1", "status": "cancelled"}]));
    assert_eq!(out[1]["run"]["runId"], "r.2");
    assert!(agent.is_in_turn());
    agent.handle_stream_end();

    let mut options = AcpAgentOptions::new();
    options.client = decode(r#"{"elicitation":{"form":{}}}"#).unwrap();
    let table = [
        (
            json!({"action": "accept", "content": {"name": "x"}}),
            json!({"interruptId": "1", "status": "resolved", "payload": {"name": "x"}}),
        ),
        (json!({"action": "decline"}), json!({"interruptId": "1", "status": "cancelled"})),
        (json!({"action": "cancel"}), json!({"interruptId": "1", "status": "cancelled"})),
    ];
    for (answer, expected) in table {
        let (mut agent, out) = interrupted(options.clone(), form.clone());
        let request = json!({"message": "Who?", "mode": "form", "requestedSchema": schema, "sessionId": "s", "toolCallId": "c"});
        assert_eq!(out, [json!({"ask": "1", "elicitation": request})]);
        let answer = QuestionAnswer::Elicitation(decode(&answer.to_string()).unwrap());
        assert!(agent.handle_answer(&"1".into(), &answer));
        assert_eq!(resume(&mut agent), json!([expected]));
    }
    let (mut agent, _) = interrupted(options, form);
    assert!(agent.handle_answer(&"1".into(), &QuestionAnswer::Failed));
    assert_eq!(resume(&mut agent), json!([{"interruptId": "1", "status": "cancelled"}]));
}

/// Questions that are open at a cancellation are cancelled in the next prompt's run, since the
/// agent waits for answers.
#[test]
fn cancelled_questions_are_reported_with_the_next_prompt() {
    let (mut agent, out) = interrupted(
        AcpAgentOptions::new(),
        json!([
            {"id": "1", "reason": "confirmation"}, {"id": "2", "reason": "confirmation"},
        ]),
    );
    assert_eq!(out.len(), 2);
    agent.handle_answer(&"1".into(), &select("yes"));
    agent.handle_cancel();
    assert_eq!(outputs(&mut agent), [json!({"respond": {"stopReason": "cancelled"}})]);
    assert!(!agent.handle_answer(&"2".into(), &select("yes")));
    agent.handle_prompt(&hi(), "r2").unwrap();
    assert_eq!(
        resume(&mut agent),
        json!([
            {"interruptId": "1", "status": "resolved", "payload": true}, {"interruptId": "2", "status": "cancelled"},
        ])
    );
}

/// The editor provides no tools: a call that waits for it fails, and another run reports that to
/// the agent.
#[test]
fn calls_that_wait_for_the_editor_fail() {
    let mut options = AcpAgentOptions::new();
    options.max_runs = 2;
    let mut agent = begun(options);
    for run in 1..=2 {
        let id = format!("c{run}");
        tell(
            &mut agent,
            &[
                json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "pick"}),
                json!({"type": "TOOL_CALL_END", "toolCallId": id}),
                finished(json!({"outcome": {"type": "success", "pendingToolCallIds": [id]}})),
            ],
        );
        let out = outputs(&mut agent);
        assert_eq!(out[2]["status"], "failed");
        if run == 1 {
            let said = out[3]["run"]["messages"].as_array().unwrap().last().unwrap();
            let why = "The editor has no tool of this name.";
            assert_eq!(
                *said,
                json!({"role": "tool", "id": "refused-c1", "content": why, "toolCallId": "c1", "error": why})
            );
        } else {
            assert_eq!(out[3], json!({"respond": {"stopReason": "max_turn_requests"}}));
        }
    }
}
