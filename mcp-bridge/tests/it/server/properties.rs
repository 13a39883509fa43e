//! Invariants of a connection for any sequence of events.
use super::*;

/// An event on a connection.
#[derive(Clone, Debug)]
enum Step {
    Call,
    Ask { call: usize, keys: usize },
    Answer { question: usize, is_error: bool },
    Finish { call: usize },
    Cancel { call: usize },
    Time { seconds: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::Call),
        (0..4_usize, 0..3_usize).prop_map(|(call, keys)| Step::Ask { call, keys }),
        (0..6_usize, any::<bool>())
            .prop_map(|(question, is_error)| Step::Answer { question, is_error }),
        (0..4_usize).prop_map(|call| Step::Finish { call }),
        (0..4_usize).prop_map(|call| Step::Cancel { call }),
        (0..9_u64).prop_map(|seconds| Step::Time { seconds }),
    ]
}

proptest! {
    /// For any sequence of events, each call is answered once or cancelled, and each question ends
    /// before its call is repeated with every requested key.
    #[test]
    fn call_is_answered_once(is_modern: bool, steps in prop::collection::vec(step(), 0..40)) {
        let mut client = Client::new(is_modern, &ALL());
        let mut ready = Vec::<ToolCall>::new();
        let mut requests = BTreeMap::<CallId, i64>::new();
        let mut now = 0;
        let mut questions = Vec::<Value>::new();
        let mut asked = BTreeMap::<CallId, usize>::new();
        let mut answered = BTreeMap::<i64, usize>::new();
        let mut cancelled = 0;
        for step in steps {
            match step {
                Step::Call => {
                    let id = client.send("tools/call", json!({ "name": "echo" }));
                    let call = client.call();
                    requests.insert(call.id, id);
                    ready.push(call);
                }
                Step::Ask { call, keys } if call < ready.len() => {
                    let id = ready[call].id;
                    let mut needs = Needs::new((0..keys).map(|key| (format!("k{key}"), form("m"))));
                    needs.request_state = Some("s".into());
                    if client.server.ask(id, needs, Some(Duration::from_secs(now + 3))).is_ok() {
                        ready.remove(call);
                        asked.insert(id, keys);
                    }
                }
                Step::Answer { question, is_error } if question < questions.len() => {
                    let id = questions.remove(question);
                    let outcome = if is_error { json!({ "code": 1, "message": "no" }) } else { json!({ "action": "accept" }) };
                    let outcome_name = if is_error { "error" } else { "result" };
                    client.line(&json!({ "jsonrpc": "2.0", "id": id, outcome_name: outcome }));
                }
                Step::Finish { call } if call < ready.len() => {
                    let call = ready.remove(call);
                    prop_assert!(client.server.finish(call.id, text("done")).is_ok());
                }
                Step::Cancel { call } => {
                    let Some((_, id)) = requests.iter().nth(call) else { continue };
                    client.line(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
                }
                Step::Time { seconds } => {
                    now += seconds;
                    client.server.handle_timeout(Duration::from_secs(now));
                }
                _ => {}
            }
            while let Some(event) = client.server.poll_event() {
                match event {
                    ServerEvent::Call(call) => {
                        let keys = asked.remove(&call.id);
                        prop_assert_eq!(Some(call.responses.len()), keys);
                        ready.push(*call);
                    }
                    ServerEvent::Cancelled(id) => {
                        cancelled += 1;
                        ready.retain(|call| call.id != id);
                        asked.remove(&id);
                        requests.remove(&id);
                    }
                    other => prop_assert!(false, "{:?}", other),
                }
            }
            for message in client.take() {
                if message["method"] == "elicitation/create" {
                    questions.push(message["id"].clone());
                } else if let (Some(id), true) = (message["id"].as_i64(), message["method"].is_null()) {
                    *answered.entry(id).or_default() += 1;
                    requests.retain(|_, request| *request != id);
                }
            }
        }
        prop_assert!(answered.values().all(|times| *times == 1));
        let calls = usize::try_from(client.next_id).expect("small") - usize::from(!is_modern);
        prop_assert_eq!(answered.len() + cancelled + client.server.open_calls(), calls);
        client.server.handle_close();
        prop_assert_eq!(client.server.open_calls(), 0);
    }

    /// No line makes the server panic, and each request is answered or becomes an event.
    #[test]
    fn any_line_is_handled(lines in prop::collection::vec("\\PC{0,40}|\\{\"jsonrpc\":\"2.0\",\"id\":[0-9],\"method\":\"(tools/call|initialize|ping|tools/list)\",\"params\":\\{[\\PC]{0,20}\\}\\}", 0..8)) {
        let mut server = server();
        for line in lines {
            server.handle_line(Ok(&line));
        }
        while server.poll_outgoing().is_some() {}
        while server.poll_event().is_some() {}
    }
}
