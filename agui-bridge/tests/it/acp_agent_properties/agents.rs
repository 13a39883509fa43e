//! An editor with an ACP agent, and with a model, behind AG-UI.
use super::*;
use acp_types::v1::tool_calls::RequestPermissionRequest;
use agui_bridge::PermissionMode;
use agui_bridge::acp_agent::Question;
use agui_bridge::hybrid_tools::RunFailure;
use agui_types::profile::Profile;

/// An editor, the reverse bridge, the bridge, an ACP agent: a question crosses both bridges, and
/// its answer returns.
#[test]
fn editor_drives_an_acp_agent_through_agui() {
    let mut options = Options::new();
    options.permission = PermissionMode::Interrupt;
    let mut editor = AcpAgent::new("s", AcpAgentOptions::new());
    let mut behind = Behind::new(options);
    editor.handle_prompt(&prompt(&json!([{"type": "text", "text": "Fix it"}])), "r").unwrap();
    let (begun, blocks) = behind.begin(&run_of(&mut editor));
    assert_eq!(begun, TurnStart::Prompt);
    assert_eq!(blocks, vec![ContentBlock::from("Fix it")]);

    // The agent's side.
    let asked = json!({
        "sessionId": "s",
        "toolCall": {"toolCallId": "t1", "title": "Edit a.rs", "kind": "edit", "rawInput": {"path": "a.rs"}},
        "options": [
            {"optionId": "ok", "name": "Allow", "kind": "allow_once"}, {"optionId": "no", "name": "Reject", "kind": "reject_once"},
        ],
    });
    let asked: RequestPermissionRequest = decode(&asked.to_string()).unwrap();
    behind.translator.handle_permission_request(7.into(), asked);
    while behind.translator.is_running() {
        let due = behind.translator.poll_timeout().unwrap_or_default();
        assert_eq!(behind.translator.handle_timeout(due), None);
    }
    behind.drain(&mut editor);

    // The editor's side: a call with its title, and a question about it.
    let mut question = None;
    let mut view = View::default();
    while let Some(output) = editor.poll_output() {
        match output {
            Output::Update(notification) => view.take(&notification.update),
            Output::Ask(id, Question::Permission(request)) => question = Some((id, request)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(&view.calls["t1"]["title"], &json!("Edit a.rs"));
    assert_eq!(&view.calls["t1"]["rawInput"], &json!({"path": "a.rs"}));
    let (id, request) = question.unwrap();
    assert_eq!(request.tool_call.tool_call_id.as_str(), "t1");
    let offered: Vec<_> = request
        .options
        .iter()
        .map(|option| (option.option_id.as_str(), option.kind.as_str()))
        .collect();
    assert_eq!(offered, [("ok", "allow_once"), ("no", "reject_once")]);
    let selected = decode(r#"{"outcome":"selected","optionId":"ok"}"#).unwrap();
    assert!(editor.handle_answer(&id, &QuestionAnswer::Permission(selected)));

    // The answer resumes the turn, and reaches the agent as the response to its own request.
    let (begun, _) = behind.begin(&run_of(&mut editor));
    assert_eq!(begun, TurnStart::Resumed);
    let response = behind.translator.poll_response().unwrap();
    assert_eq!(response.request_id, 7.into());
    let Answer::Permission(granted) = response.result else { panic!("another answer") };
    assert_eq!(granted.outcome.option_id().map(|id| id.as_str()), Some("ok"));
    let done = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed", "content": [
        {"type": "diff", "path": "a.rs", "oldText": "a\n", "newText": "b\n"}]});
    behind.translator.handle_notification(notification(&done));
    let said = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Done."}});
    behind.translator.handle_notification(notification(&said));
    behind.translator.handle_prompt_response(Ok(decode(r#"{"stopReason":"end_turn"}"#).unwrap()));
    behind.drain(&mut editor);
    let mut answer = None;
    while let Some(output) = editor.poll_output() {
        match output {
            Output::Update(notification) => view.take(&notification.update),
            Output::Respond(response) => answer = Some(response.unwrap()),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(answer.unwrap().stop_reason.as_str(), "end_turn");
    assert_eq!(view.calls["t1"]["status"], "completed");
    assert_eq!(view.calls["t1"]["diffs"].as_array().unwrap().len(), 1);
    assert_eq!(view.words.last().unwrap(), &("agent_message_chunk".to_owned(), "Done.".to_owned()));
}

/// An editor and an AG-UI model with its own tools: two prompts, the second with the whole
/// conversation.
#[test]
fn editor_drives_a_model_with_tools() {
    let mut editor = AcpAgent::new("s", AcpAgentOptions::new());
    for (number, said) in ["one", "two"].iter().enumerate() {
        editor
            .handle_prompt(&prompt(&json!([{"type": "text", "text": said}])), format!("r{number}"))
            .unwrap();
        let input = run_of(&mut editor);
        assert_eq!(input.messages.len(), 1 + 4 * number);
        let mut run = HybridRun::begin(&input);
        let id = run.start_tool_call(&"c".into(), "count");
        run.tool_result(&id, Content::from("3"));
        run.end_step();
        run.text("Three.");
        if number == 1 {
            run.fail(RunFailure::new("MODEL_ERROR", "cut off"));
        }
        run.finish();
        let mut verifier = Verifier::strict_for(&input);
        while let Some(event) = run.poll_event() {
            verifier.handle(&event).unwrap();
            assert_eq!(Profile::V1.refuses(&event), None);
            assert!(!matches!(event, Event::Unknown(_)));
            editor.handle_event(event);
        }
        let out = outputs(&mut editor);
        let kinds: Vec<_> =
            out.iter().map(|out| out["sessionUpdate"].as_str().unwrap_or("end")).collect();
        assert_eq!(
            kinds,
            ["tool_call", "tool_call_update", "tool_call_update", "agent_message_chunk", "end"]
        );
        let id = if number == 0 { "c" } else { "c~2" };
        assert_eq!(out[0]["toolCallId"], id);
    }
    assert!(!editor.is_in_turn());
}
