//! Matching of the agent's tool calls with the page's.
use super::*;
use acp_types::v1::prompt_turn::SessionNotification;

#[test]
fn call_has_one_id_in_either_order() {
    let args = json!({"a": 1, "b": [1.0]});
    let with_id = |id: &str| {
        let mut call = NewCall::new("park", raw(&args));
        call.agent_id = Some(id.into());
        call
    };
    // Announced, then requested with the agent's id.
    let mut tools = begun();
    assert_eq!(tools.handle_update(&announce("t1", "park", json!({})), at(0)), CallOwner::Frontend);
    assert_eq!(tools.handle_call(with_id("t1"), at(0)).unwrap().as_str(), "t1");
    // Requested with the agent's id, then announced.
    assert_eq!(tools.handle_call(with_id("t2"), at(0)).unwrap().as_str(), "t2");
    assert_eq!(
        tools.handle_update(&announce("t2", "park", args.clone()), at(0)),
        CallOwner::Frontend
    );
    // Announced, then requested without an id: matched by arguments in any notation, not by order.
    tools.handle_update(&announce("t3", "park", json!({"a": 2})), at(0));
    tools.handle_update(&announce("t4", "park", json!({})), at(0));
    let input = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t4", "rawInput": {"b": [1.0], "a": 1}});
    assert_eq!(tools.handle_update(&update(input), at(0)), CallOwner::Frontend);
    let spelled = Raw::from_text(r#"{ "b":[1.0], "a":1 }"#).unwrap();
    assert_eq!(tools.handle_call(NewCall::new("park", spelled), at(0)).unwrap().as_str(), "t4");
    // Matched by the tool alone.
    let other = NewCall::new("park", raw(&json!({"never": "seen"})));
    assert_eq!(tools.handle_call(other, at(0)).unwrap().as_str(), "t3");
    // Requested without an id, then announced: the agent's report belongs to the call.
    let id = tools.handle_call(NewCall::new("park", raw(&args)), at(0)).unwrap();
    assert_eq!(
        tools.handle_update(&announce("t5", "park", args.clone()), at(0)),
        CallOwner::Frontend
    );
    let done =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "t5", "status": "completed"});
    actions(&mut tools);
    assert_eq!(tools.handle_update(&update(done), at(0)), CallOwner::Frontend);
    assert_eq!(id.as_str(), "call-5");
    assert_eq!(actions(&mut tools), vec![]);
}

/// The updates that the actions show.
fn shown(tools: &mut FrontendTools) -> Vec<SessionNotification> {
    let shown = actions(tools).into_iter().filter_map(|action| match action {
        Action::Show(update) => Some(*update),
        _ => None,
    });
    shown.collect()
}

#[test]
fn call_announced_but_not_made_is_shown_at_its_end() {
    let mut tools = begun();
    let announced = announce("t1", "park", json!({}));
    tools.handle_update(&announced, at(0));
    assert_eq!(shown(&mut tools), []);
    let failed = update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "failed"}),
    );
    assert_eq!(tools.handle_update(&failed, at(0)), CallOwner::Frontend);
    assert_eq!(shown(&mut tools), [announced, failed]);
}

#[test]
fn call_announced_but_not_made_is_shown_at_the_end_of_the_turn() {
    let mut tools = begun();
    let announced = announce("t1", "park", json!({}));
    tools.handle_update(&announced, at(0));
    tools.handle_turn_end();
    assert_eq!(shown(&mut tools), [announced]);
}

#[test]
fn call_with_an_effect_is_shown_at_once() {
    let effects = [
        json!({"kind": "execute"}),
        json!({"kind": "edit"}),
        json!({"kind": "delete"}),
        json!({"kind": "move"}),
        json!({"locations": [{"path": "/etc/passwd"}]}),
        json!({"content": [{"type": "diff", "path": "/etc/passwd", "newText": "x"}]}),
        json!({"content": [{"type": "terminal", "terminalId": "1"}]}),
        json!({"rawInput": {"command": "rm -rf ~"}}),
        json!({"rawInput": {"file_path": "/etc/passwd"}}),
    ];
    for effect in effects {
        let with = |mut call: Value| {
            call.as_object_mut().unwrap().extend(effect.as_object().unwrap().clone());
            update(call)
        };
        let announced = with(
            json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "name": "mcp__ui__park", "title": "x"}),
        );
        assert_eq!(begun().handle_update(&announced, at(0)), CallOwner::Agent, "{effect}");
        // The effect of a call that is withheld, and of one that was made.
        let changed =
            with(json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "name": "x"}));
        let mut tools = begun();
        let withheld = announce("t1", "park", json!({}));
        tools.handle_update(&withheld, at(0));
        tools.handle_update(&changed, at(0));
        assert_eq!(shown(&mut tools), [withheld, changed.clone()], "{effect}");
        let mut tools = begun();
        tools.handle_update(&announce("t1", "park", json!({})), at(0));
        call(&mut tools, "park", 0);
        assert_eq!(tools.handle_update(&changed, at(0)), CallOwner::Agent, "{effect}");
    }
}

/// A command or path that the page's own schema has is an argument of its tool.
#[test]
fn declared_path_is_an_argument_of_the_page() {
    let mut tools = FrontendTools::new(FrontendToolOptions::new());
    let mut open = Tool::new("open", "Opens a view.");
    open.parameters =
        Some(raw(&json!({"type": "object", "properties": {"path": {"type": "string"}}})));
    tools.begin_turn(&[open], at(0));
    let announced = announce("t1", "open", json!({"path": "/settings"}));
    assert_eq!(tools.handle_update(&announced, at(0)), CallOwner::Frontend);
    let foreign = announce("t2", "open", json!({"path": "/settings", "cwd": "/"}));
    assert_eq!(tools.handle_update(&foreign, at(0)), CallOwner::Agent);
}

#[test]
fn withheld_reports_are_bounded() {
    let mut tools = begun();
    let long = "x".repeat(60 << 10);
    for number in 0..5 {
        let announced = announce(&format!("t{number}"), "park", json!({"text": long}));
        assert_eq!(tools.handle_update(&announced, at(0)), CallOwner::Frontend);
    }
    let first = shown(&mut tools);
    assert_eq!(first.len(), 1, "the oldest call is the agent's own");
    let mut tools = begun();
    for number in 0..300 {
        tools.handle_update(&announce(&format!("t{number}"), "park", json!({})), at(0));
    }
    assert_eq!(shown(&mut tools).len(), 300 - 256);
}

/// A call of a tool that calls tools of MCP servers.
fn carrier(tool: &str, kind: Option<&str>) -> Value {
    let input = json!({"variant": "UseTool", "tool_name": tool, "tool_input": {"a": 1}});
    let mut call = json!({"title": "use_tool", "rawInput": input});
    call.as_object_mut().unwrap().extend(kind.map(|kind| ("kind".to_string(), json!(kind))));
    call
}

#[test]
fn carried_call_is_matched_by_the_arguments_of_the_page() {
    let mut tools = begun();
    for (id, input) in [("t1", json!({"a": 1})), ("t2", json!({"a": 2}))] {
        let input = json!({"tool_name": "ui__park", "tool_input": input});
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "use_tool", "rawInput": input});
        assert_eq!(tools.handle_update(&update(call), at(0)), CallOwner::Frontend);
    }
    let made = tools.handle_call(NewCall::new("park", raw(&json!({"a": 2}))), at(0)).unwrap();
    assert_eq!(made.as_str(), "t2");
}

/// Asks for permission for a call with these members.
fn ask(tools: &mut FrontendTools, mut members: Value) {
    members["toolCallId"] = json!("t1");
    let options = json!([{"optionId": "yes", "name": "Allow", "kind": "allow_once"}]);
    let request = json!({"sessionId": "s", "toolCall": members, "options": options});
    tools.handle_permission_request(&decode(&request.to_string()).unwrap(), at(0));
}

/// The permission request names the page's tool, after the agent announced its own tool for all
/// deferred tools.
#[test]
fn call_that_turns_out_to_carry_one_of_the_page_does_not_delay_the_run() {
    let mut tools = begun();
    let own = json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "ToolCall", "status": "pending",
        "kind": "other", "rawInput": {}, "_meta": {"toolName": "tool_call"}});
    assert_eq!(tools.handle_update(&update(own), at(0)), CallOwner::Agent);
    ask(&mut tools, json!({"title": "{}", "_meta": {"toolName": "mcp__ui__park"}}));
    let made = call(&mut tools, "park", 0);
    assert_ne!(made.as_str(), "t1", "the agent's call is shown already");
    // The agent reports its own call as running, which does not keep the run open.
    let runs =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "in_progress"});
    assert_eq!(tools.handle_update(&update(runs), at(0)), CallOwner::Agent);
    actions(&mut tools);
    tools.handle_timeout(at(100));
    assert_eq!(actions(&mut tools), [Action::EndRun { parked: vec![made] }]);
}

/// Text of a model does not end the run: its call runs, and no binding has received it.
#[test]
fn call_that_only_refers_to_the_page_keeps_the_run_open() {
    let mut tools = begun();
    call(&mut tools, "park", 0);
    let runs = json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "x", "kind": "execute", "status": "in_progress"});
    tools.handle_update(&update(runs), at(0));
    ask(&mut tools, json!({"title": "x", "name": "mcp__ui__sync"}));
    actions(&mut tools);
    tools.handle_timeout(at(14_000));
    assert_eq!(actions(&mut tools), []);
}

#[test]
fn owner_of_a_call_follows_from_its_names() {
    let table = [
        (json!({"name": "mcp__ui__park", "title": "x"}), CallOwner::Frontend),
        (
            json!({"_meta": {"claudeCode": {"toolName": "mcp__ui__park"}}, "title": "x"}),
            CallOwner::Frontend,
        ),
        (json!({"title": "mcp_ui_park"}), CallOwner::Frontend),
        (json!({"title": "ui_park", "kind": "other"}), CallOwner::Frontend),
        (json!({"name": "ui_park", "title": "x"}), CallOwner::Frontend),
        (json!({"name": "park", "title": "park"}), CallOwner::Agent),
        (json!({"name": "mcp__other__park", "title": "x"}), CallOwner::Agent),
        (json!({"name": "mcp__ui__gone", "title": "x"}), CallOwner::Agent),
        (json!({"title": "ui_"}), CallOwner::Agent),
        // Forms of fast-agent, codex-acp and gemini-cli, and with other separators.
        (json!({"title": "ui/park", "kind": "other"}), CallOwner::Frontend),
        (json!({"title": "Tool: ui/park"}), CallOwner::Frontend),
        (json!({"title": "park (ui MCP Server)", "kind": "other"}), CallOwner::Frontend),
        (json!({"title": "ui-park"}), CallOwner::Frontend),
        (json!({"name": "ui__park", "title": "x"}), CallOwner::Frontend),
        (json!({"title": "other/park"}), CallOwner::Agent),
        (json!({"title": "park (other MCP Server)"}), CallOwner::Agent),
        (json!({"title": "ui/gone"}), CallOwner::Agent),
        (json!({"title": "ui/park now"}), CallOwner::Agent),
        // A tool of the agent that calls those of MCP servers, as Grok has it.
        (carrier("ui__park", None), CallOwner::Frontend),
        (carrier("mcp__ui__park", Some("other")), CallOwner::Frontend),
        (carrier("ui__gone", None), CallOwner::Agent),
        (carrier("other__park", None), CallOwner::Agent),
        (carrier("ui__park", Some("execute")), CallOwner::Agent),
        // A command with such a text is the agent's own, and needs the permission of the user.
        (json!({"title": "ui/park", "kind": "execute"}), CallOwner::Agent),
        (json!({"title": "Tool: ui/park", "kind": "edit"}), CallOwner::Agent),
    ];
    for (mut call, owner) in table {
        let shown = call.to_string();
        call["sessionUpdate"] = json!("tool_call");
        call["toolCallId"] = json!("t");
        assert_eq!(begun().handle_update(&update(call), at(0)), owner, "{shown}");
    }
    let chunk =
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}});
    assert_eq!(begun().handle_update(&update(chunk), at(0)), CallOwner::Agent);
}

#[test]
fn owner_of_a_v2_call_follows_from_its_names() {
    let read =
        |update: Value| decode(&json!({"sessionId": "s", "update": update}).to_string()).unwrap();
    let report = |id: &str, name: &str, status: &str| {
        read(
            json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "title": "x", "name": name, "status": status}),
        )
    };
    let mut tools = begun();
    let chunk = json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "t1", "content": {"type": "content", "content": {"type": "text", "text": "x"}}});
    let table = [
        (read(chunk.clone()), CallOwner::Agent),
        (report("t1", "mcp__ui__park", "pending"), CallOwner::Frontend),
        (read(chunk), CallOwner::Frontend),
        (report("own", "Bash", "in_progress"), CallOwner::Agent),
        (read(json!({"sessionUpdate": "state_update", "state": "running"})), CallOwner::Agent),
    ];
    for (update, owner) in table {
        assert_eq!(tools.handle_update_v2(&update, at(0)), owner, "{update:?}");
    }
    assert_eq!(call(&mut tools, "park", 0).as_str(), "t1");
    tools.handle_timeout(at(14_000));
    assert_eq!(actions(&mut tools), [], "a call of its own runs");
    assert_eq!(
        tools.handle_update_v2(&report("own", "Bash", "cancelled"), at(14_000)),
        CallOwner::Agent
    );
    tools.handle_timeout(at(14_100));
    assert_eq!(actions(&mut tools), [Action::EndRun { parked: vec!["t1".into()] }]);
}

#[test]
fn permission_request_shows_its_call() {
    // One that is withheld.
    let mut tools = begun();
    let announced = announce("t1", "park", json!({}));
    tools.handle_update(&announced, at(0));
    ask(&mut tools, json!({"name": "mcp__ui__park"}));
    assert_eq!(shown(&mut tools), [announced]);
    // Later reports belong to the agent, also once the call is made.
    let named = announce("t1", "park", json!({"a": 1}));
    assert_eq!(tools.handle_update(&named, at(0)), CallOwner::Agent);
    call(&mut tools, "park", 0);
    assert_eq!(tools.handle_update(&named, at(0)), CallOwner::Agent);
    // One that was made.
    let mut tools = begun();
    tools.handle_update(&announce("t1", "park", json!({})), at(0));
    assert_eq!(call(&mut tools, "park", 0).as_str(), "t1");
    ask(&mut tools, json!({"name": "mcp__ui__park"}));
    assert_eq!(tools.handle_update(&named, at(0)), CallOwner::Agent);
}

#[test]
fn agent_id_is_read_from_meta() {
    let find =
        |meta: Value| agent_call_id(&Meta::from(raw(&meta))).map(|id| id.as_str().to_owned());
    assert_eq!(find(json!({"claudecode/toolUseId": "a", "callId": "c"})).as_deref(), Some("a"));
    assert_eq!(find(json!({"copilot/toolCallId": "b"})).as_deref(), Some("b"));
    assert_eq!(find(json!({"claudecode/toolUseId": 7, "callId": "c"})).as_deref(), Some("c"));
    assert_eq!(find(json!({"callId": "", "progressToken": 1})), None);
}
