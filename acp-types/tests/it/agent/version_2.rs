//! Version 2: prompts and their repetitions, cancelled work, and openings.
use super::*;
use acp_types::v1::tool_calls::PermissionOptionId;
use jsonrpc_core::ErrorCode;

impl Agent {
    fn v2() -> Self {
        Self::v2_with_limits(Limits::default())
    }

    fn v2_with_limits(limits: Limits) -> Self {
        let options = Options::new([ProtocolVersion::V2]).with_limits(limits);
        let mut agent = Self(Connection::new(options));
        let info = json!({ "name": "editor", "version": "1" });
        let params = json!({ "protocolVersion": 2, "info": info });
        let key = agent.ask(0, "initialize", params).expect("accepted");
        agent.reply(key, json!({ "protocolVersion": 2, "info": info }));
        agent.sent();
        agent
    }

    fn permission(&mut self, session: &str) -> Value {
        let option = json!({ "optionId": "yes", "name": "Yes", "kind": "allow_once" });
        let params = json!({ "sessionId": session, "title": "May I?", "options": [option] });
        let params = Raw::from_value(&params).unwrap();
        self.0.call(Call::raw("session/request_permission", params), NOW);
        self.sent()[0]["id"].clone()
    }

    fn update(&mut self, session: &str, update: &Value) {
        let params = json!({ "sessionId": session, "update": update });
        self.0.notify_raw("session/update", &Raw::from_value(&params).unwrap()).unwrap();
    }
}

fn keyed(session: &str, key: &str) -> Value {
    let mut params = prompt(session);
    params["idempotencyKey"] = json!(key);
    params
}

fn resume(session: &str) -> Value {
    json!({ "sessionId": session, "cwd": "/", "replayFrom": { "type": "start" } })
}

#[test]
fn repeated_prompt_has_the_message_of_the_first() {
    let mut agent = Agent::v2();
    let first = agent.ask(1, "session/prompt", keyed("s", "k")).unwrap();
    assert_eq!(agent.ask(2, "session/prompt", keyed("s", "k")), None);
    agent.reply(first, json!({ "messageId": "m" }));
    assert_eq!(agent.ask(3, "session/prompt", keyed("s", "k")), None);
    let sent = agent.sent();
    assert_eq!(sent.iter().map(|line| &line["id"]).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(sent.iter().all(|line| line["result"]["messageId"] == "m"), "{sent:?}");
}

#[test]
fn prompt_of_another_session_or_key_is_no_repetition() {
    let mut agent = Agent::v2();
    let first = agent.ask(1, "session/prompt", keyed("s", "k")).unwrap();
    agent.reply(first, json!({ "messageId": "m" }));
    assert!(agent.ask(2, "session/prompt", keyed("t", "k")).is_some());
    assert!(agent.ask(3, "session/prompt", keyed("s", "l")).is_some());
    assert!(agent.ask(4, "session/prompt", prompt("s")).is_some());
}

#[test]
fn refused_prompt_may_be_repeated() {
    let mut agent = Agent::v2();
    let first = agent.ask(1, "session/prompt", keyed("s", "k")).unwrap();
    agent.ask(2, "session/prompt", keyed("s", "k"));
    agent.0.reply(first, Reply::error(ErrorCode::INTERNAL_ERROR, "no")).unwrap();
    let codes: Vec<_> = agent.sent().iter().map(|line| line["error"]["code"].clone()).collect();
    assert_eq!(codes, [-32603, -32603]);
    assert!(agent.ask(3, "session/prompt", keyed("s", "k")).is_some());
}

#[test]
fn invalid_key_is_refused() {
    let mut agent = Agent::v2();
    assert_eq!(agent.ask(1, "session/prompt", keyed("s", "")), None);
    assert_eq!(agent.ask(2, "session/prompt", keyed("s", &"k".repeat(256))), None);
    let codes: Vec<_> = agent.sent().iter().map(|line| line["error"]["code"].clone()).collect();
    assert_eq!(codes, [-32602, -32602]);
}

#[test]
fn oldest_prompt_key_is_forgotten() {
    let mut limits = Limits::default();
    limits.prompt_keys = 1;
    let mut agent = Agent::v2_with_limits(limits);
    for (id, name) in [(1, "a"), (2, "b")] {
        let key = agent.ask(id, "session/prompt", keyed("s", name)).unwrap();
        agent.reply(key, json!({ "messageId": name }));
    }
    assert_eq!(agent.ask(3, "session/prompt", keyed("s", "b")), None);
    assert!(agent.ask(4, "session/prompt", keyed("s", "a")).is_some());
}

#[test]
fn cancelled_prompts_without_an_answer_are_refused() {
    let mut agent = Agent::v2();
    let polled = agent.ask(1, "session/prompt", prompt("s")).unwrap();
    agent.line(json!({ "id": 2, "method": "session/prompt", "params": prompt("s") }));
    agent.line(json!({ "id": 3, "method": "session/prompt", "params": prompt("t") }));
    agent.notify("session/cancel", json!({ "sessionId": "s" }));
    let sent = agent.sent();
    assert_eq!(sent.iter().map(|line| &line["id"]).collect::<Vec<_>>(), [1, 2]);
    assert!(sent.iter().all(|line| line["error"]["code"] == -32800), "{sent:?}");
    assert!(agent.0.reply(polled, Reply::result(&json!({ "messageId": "m" }))).is_err());
    // The prompt of the other session, the cancellation, and its notification.
    let events = agent.events();
    assert_eq!(events.len(), 3, "{events:?}");
    assert!(events.contains(&Event::Cancelled(polled)));
}

#[test]
fn cancelled_work_withdraws_its_calls() {
    let mut agent = Agent::v2();
    let withdrawn = agent.permission("s");
    agent.permission("t");
    agent.notify("session/cancel", json!({ "sessionId": "s" }));
    agent.notify("session/cancel", json!({ "sessionId": "s" }));
    let sent = agent.sent();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(&sent[0]["method"], "$/cancel_request");
    assert_eq!(&sent[0]["params"]["requestId"], &withdrawn);
}

#[test]
fn closed_session_withdraws_its_calls_before_the_response() {
    let mut agent = Agent::v2();
    agent.permission("s");
    let refused = agent.ask(1, "session/close", json!({ "sessionId": "s" })).unwrap();
    agent.0.reply(refused, Reply::error(ErrorCode::INTERNAL_ERROR, "no")).unwrap();
    assert_eq!(agent.sent().len(), 1);
    let closed = agent.ask(2, "session/close", json!({ "sessionId": "s" })).unwrap();
    agent.reply(closed, json!({}));
    let sent = agent.sent();
    assert_eq!(&sent[0]["method"], "$/cancel_request");
    assert_eq!(&sent[1]["id"], 2);
}

#[test]
fn unmatched_option_is_no_approval() {
    for mut agent in [Agent::v1(), Agent::v2()] {
        for (option, is_offered) in [("yes", true), ("always", false)] {
            let id = agent.permission("s");
            let outcome = json!({ "outcome": "selected", "optionId": option });
            agent.line(json!({ "id": id, "result": { "outcome": outcome } }));
            let events = agent.events();
            let [Event::CallEnded(_, ended)] = &events[..] else { panic!("{events:?}") };
            assert_eq!(ended.is_ok(), is_offered, "{ended:?}");
            if let Err(error) = ended {
                let option = PermissionOptionId::from(option);
                assert_eq!(error, &CallError::NotOffered(option));
            }
        }
    }
}

#[test]
fn replay_ends_before_the_response() {
    let mut agent = Agent::v2();
    let key = agent.ask(1, "session/resume", resume("s")).unwrap();
    for state in ["running", "idle"] {
        agent.update("s", &json!({ "sessionUpdate": "state_update", "state": state }));
    }
    agent.reply(key, json!({}));
    let sent = agent.sent();
    assert_eq!(sent.len(), 4, "{sent:?}");
    assert_eq!(&sent[0]["params"]["update"]["state"], "running");
    assert_eq!(&sent[1]["params"]["update"]["sessionUpdate"], "replay_complete");
    assert_eq!(&sent[1]["params"]["sessionId"], "s");
    // The current state follows the replay.
    assert_eq!(&sent[2]["params"]["update"]["state"], "idle");
    assert_eq!(&sent[3]["id"], 1);
}

#[test]
fn lines_after_a_state_of_a_replay_keep_their_order() {
    let mut agent = Agent::v2();
    let key = agent.ask(1, "session/resume", resume("s")).unwrap();
    let other = agent.ask(2, "session/list", json!({})).unwrap();
    let state = json!({ "sessionUpdate": "state_update", "state": "idle" });
    agent.update("s", &state);
    agent.update("t", &json!({ "sessionUpdate": "session_info_update", "title": "t" }));
    agent.update("s", &state);
    agent.0.call(Call::raw("_ask", Raw::from_value(&json!({})).unwrap()), NOW);
    agent.update("s", &state);
    agent.reply(other, json!({ "sessions": [] }));
    agent.update("s", &state);
    agent.0.reply(key, Reply::error(ErrorCode::INTERNAL_ERROR, "no")).unwrap();
    let sent = agent.sent();
    let kinds = sent.iter().map(|line| match line["params"]["update"]["sessionUpdate"].as_str() {
        Some(update) => update,
        None => line["method"].as_str().unwrap_or("response"),
    });
    let expected = [
        "state_update",
        "session_info_update",
        "state_update",
        "_ask",
        "state_update",
        "response",
        "state_update",
        "response",
    ];
    assert_eq!(kinds.collect::<Vec<_>>(), expected);
}

#[test]
fn replay_ends_once() {
    let mut agent = Agent::v2();
    let key = agent.ask(1, "session/resume", resume("s")).unwrap();
    agent.update("s", &json!({ "sessionUpdate": "replay_complete" }));
    agent.update("s", &json!({ "sessionUpdate": "state_update", "state": "running" }));
    agent.reply(key, json!({}));
    let sent = agent.sent();
    assert_eq!(sent.len(), 3, "{sent:?}");
    assert_eq!(&sent[2]["id"], 1);
}

#[test]
fn opening_without_a_replay_has_no_end_of_it() {
    let mut agent = Agent::v2();
    let key = agent.ask(1, "session/resume", json!({ "sessionId": "s", "cwd": "/" })).unwrap();
    agent.reply(key, json!({}));
    let refused = agent.ask(2, "session/resume", resume("t")).unwrap();
    agent.0.reply(refused, Reply::error(ErrorCode::INTERNAL_ERROR, "no")).unwrap();
    assert_eq!(agent.sent().len(), 2);
}

#[test]
fn early_state_is_repeated_after_the_session_has_a_name() {
    let mut agent = Agent::v2();
    for (id, states) in [(1, vec!["running"]), (2, vec!["running", "idle"])] {
        let key = agent.ask(id, "session/new", json!({ "cwd": "/" })).unwrap();
        for state in &states {
            agent.update("s", &json!({ "sessionUpdate": "state_update", "state": state }));
        }
        agent.update("other", &json!({ "sessionUpdate": "state_update", "state": "running" }));
        agent.sent();
        agent.reply(key, json!({ "sessionId": "s" }));
        let after: Vec<_> = agent.sent().into_iter().skip(1).collect();
        assert_eq!(after.len(), usize::from(states == ["running"]), "{after:?}");
        for line in after {
            assert_eq!(line["params"]["update"]["state"], "running");
            assert_eq!(line["params"]["sessionId"], "s");
        }
    }
}

#[test]
fn options_of_a_session_are_asked_before_it_exists() {
    let mut agent = Agent::v2();
    let key = agent.ask(1, "session/options", json!({ "cwd": "/" })).unwrap();
    agent.reply(key, json!({ "configOptions": [] }));
    let fork = json!({ "sessionId": "s", "cwd": "/", "cursorId": "c", "configOptions": [] });
    agent.line(json!({ "id": 2, "method": "session/fork", "params": fork }));
    let events = agent.events();
    let [Event::Request(_, request)] = &events[..] else { panic!("{events:?}") };
    let ClientRequest::V2(v2::dispatch::ClientRequest::ForkSessionRequest(fork)) = &request.value
    else {
        panic!("{request:?}")
    };
    assert_eq!(fork.cursor_id.as_ref().map(AsRef::as_ref), Some("c"));
}
