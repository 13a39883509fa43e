//! Calls as tasks, on both ends of a connection.
use crate::server::{ALL, CAPABILITIES, VERSION, text, tool, wire_raw};
use jsonrpc_core::wire::Presence;
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::client::{CallError, CallParams, Client, ClientEvent, ClientOptions, UpstreamCall};
use mcp_bridge::mcp::base::{Era, ResultType};
use mcp_bridge::mcp::capabilities::{ClientCapabilities, Implementation};
use mcp_bridge::mcp::tasks::{EXTENSION, Task, TaskMembers, TaskStatus};
use mcp_bridge::server::{AskError, Server, ServerEvent, ServerOptions};
use serde_json::{Value, json};
use std::time::Duration;

/// A server with or without support for tasks, and a client with or without it.
fn served(offers: bool, takes: bool, method: &str, mut params: Value) -> (Server, Option<Value>) {
    let mut options = ServerOptions::new(Implementation::new("s", "1"), [tool("t")]);
    if offers {
        options.offer_tasks();
    }
    let mut server = Server::new(options);
    let mut can = ALL();
    if takes {
        can["extensions"] = json!({ EXTENSION: {} });
    }
    params["_meta"] = json!({ VERSION: "2026-07-28", CAPABILITIES: can });
    let line = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    server.handle_line(Ok(&line.to_string()));
    let sent = sent(&mut server);
    (server, sent)
}

fn sent(server: &mut Server) -> Option<Value> {
    let mut line = Vec::new();
    server.poll_outgoing()?.message.as_message().to_line(&mut line);
    Some(serde_json::from_slice(&line).expect("JSON"))
}

fn task(status: TaskStatus) -> Task {
    let time = "2026-01-01T00:00:00Z".to_owned();
    let created_at = time.clone();
    let last_updated_at = time;
    let task_id = "t1".into();
    let mut task = Task::from(TaskMembers { task_id, status, created_at, last_updated_at });
    task.ttl_ms = Presence::Null;
    task
}

#[test]
fn tasks_are_created_for_clients_that_support_them() {
    for takes in [true, false] {
        let (mut server, _) = served(true, takes, "tools/call", json!({ "name": "t" }));
        let Some(ServerEvent::Call(call)) = server.poll_event() else { panic!("a call") };
        assert_eq!(call.takes_task(), takes);
        let made = server.create_task(call.id, task(TaskStatus::Working));
        if takes {
            assert_eq!(made, Ok(()));
            let expected = json!({ "resultType": "task", "taskId": "t1", "status": "working", "ttlMs": null,
                "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z" });
            assert_eq!(sent(&mut server).expect("a result")["result"], expected);
            assert!(matches!(
                server.create_task(call.id, task(TaskStatus::Working)),
                Err(AskError::NotOpen(_))
            ));
        } else {
            let error = made.expect_err("not declared").error_object().expect("an error");
            assert_eq!(error.code, ErrorCode::from(-32_021));
            let data: Value = error.data.expect("data").decode().expect("JSON");
            assert_eq!(
                data,
                json!({ "requiredCapabilities": { "extensions": { EXTENSION: {} } } })
            );
            server.finish(call.id, text("done")).expect("open");
        }
    }
}

#[test]
fn task_requests_require_the_extension() {
    let params = || json!({ "taskId": "t1", "inputResponses": {} });
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let (mut server, refused) = served(true, true, method, params());
        assert_eq!(refused, None);
        let Some(ServerEvent::Request { request, .. }) = server.poll_event() else { panic!("one") };
        assert_eq!(request.method(), method);
        assert_eq!(
            served(true, false, method, params()).1.expect("an error")["error"]["code"],
            -32_021
        );
        assert_eq!(
            served(false, true, method, params()).1.expect("an error")["error"]["code"],
            -32_601
        );
    }
    for method in ["tasks/list", "tasks/result"] {
        let refused = served(true, true, method, params()).1.expect("an error");
        assert_eq!(refused["error"]["code"], -32_601, "the extension has none");
    }
    // An older client does not see the extension and has no task.
    let mut options = ServerOptions::new(Implementation::new("s", "1"), [tool("t")]);
    options.offer_tasks();
    let mut server = Server::new(options);
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": { "extensions": { EXTENSION: {} } },
        "clientInfo": { "name": "c", "version": "1" } });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello });
    server.handle_line(Ok(&hello.to_string()));
    assert_eq!(
        sent(&mut server).expect("an answer")["result"]["capabilities"]["extensions"],
        Value::Null
    );
    let call =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "t" } });
    server.handle_line(Ok(&call.to_string()));
    let Some(ServerEvent::Call(call)) = server.poll_event() else { panic!("a call") };
    assert!(!call.takes_task());
}

#[test]
fn subscribers_are_notified_of_their_tasks() {
    let wanted = json!({ "notifications": { "taskIds": ["t1", "t2"], "toolsListChanged": false } });
    let (mut server, told) = served(true, true, "subscriptions/listen", wanted.clone());
    let told = told.expect("a notification");
    assert_eq!(told["params"]["notifications"], json!({ "taskIds": ["t1", "t2"] }));
    let mut done = task(TaskStatus::Completed);
    done.result = Some(wire_raw(&json!({ "content": [] })));
    done.result_type = Some(ResultType::Complete);
    server.notify_task(&done);
    let told = sent(&mut server).expect("news");
    assert_eq!(told["method"], "notifications/tasks");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    assert_eq!(&told["params"]["status"], &json!("completed"));
    assert_eq!(&told["params"]["result"], &json!({ "content": [] }));
    assert_eq!(told["params"]["resultType"], Value::Null);
    done.task_id = "t3".into();
    server.notify_task(&done);
    assert_eq!(sent(&mut server), None);
    // Without support for tasks there are no notifications.
    let (_, told) = served(false, true, "subscriptions/listen", wanted);
    assert_eq!(told.expect("a notification")["params"]["notifications"], json!({}));
}

/// A client with a call that became a task.
struct Upstream {
    client: Client,
    /// `None` until the client is connected.
    call: Option<UpstreamCall>,
}

impl Upstream {
    fn new(takes: bool, deadline: Option<Duration>) -> Self {
        let mut can = ALL();
        if takes {
            can["extensions"] = json!({ EXTENSION: {} });
        }
        let can: ClientCapabilities = wire_raw(&can).decode().expect("JSON");
        let mut options = ClientOptions::new(Implementation::new("c", "1"), can);
        options.era = Some(Era::Modern);
        let mut client = Client::new(options);
        client.start(Duration::ZERO);
        let mut upstream = Self { client, call: None };
        upstream.give(json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} }));
        let mut params = CallParams::new("t", wire_raw(&json!({})));
        params.deadline = deadline;
        upstream.call = Some(upstream.client.call(params).expect("ready"));
        upstream
    }

    fn take(&mut self) -> Option<Value> {
        let mut line = Vec::new();
        self.client.poll_outgoing()?.as_message().to_line(&mut line);
        Some(serde_json::from_slice(&line).expect("JSON"))
    }

    /// Answers the only request that was sent.
    fn give(&mut self, result: Value) -> Value {
        let request = self.take().expect("a request");
        let response = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        self.client.handle_line(Ok(&response.to_string()), None);
        request
    }

    /// Answers the call with a task, and each poll with one of these.
    fn poll(&mut self, stands: impl IntoIterator<Item = Value>) {
        let mut now = Duration::ZERO;
        for (round, mut task) in stands.into_iter().enumerate() {
            for (name, value) in [
                ("taskId", json!("t1")),
                ("createdAt", json!("x")),
                ("lastUpdatedAt", json!("x")),
                ("ttlMs", Value::Null),
                ("pollIntervalMs", json!(500)),
            ] {
                task[name] = value;
            }
            if round > 0 {
                assert_eq!(
                    self.client.poll_timeout(),
                    Some(Duration::ZERO),
                    "the time is requested"
                );
                self.client.handle_timeout(now);
                now += Duration::from_millis(500);
                assert_eq!(self.take(), None, "not before");
                assert_eq!(self.client.poll_timeout(), Some(now), "not before");
                self.client.handle_timeout(now);
            } else {
                task["resultType"] = "task".into();
            }
            let request = self.give(task);
            assert_eq!(request["method"], if round > 0 { "tasks/get" } else { "tools/call" });
        }
    }

    /// The events other than task statuses.
    fn events(&mut self) -> Vec<ClientEvent> {
        let events = std::iter::from_fn(|| self.client.poll_event());
        events
            .filter(|event| !matches!(event, ClientEvent::Task { .. } | ClientEvent::Ready(_)))
            .collect()
    }
}

#[test]
fn client_polls_a_task_until_it_ends() {
    let mut upstream = Upstream::new(true, None);
    let question = json!({ "who": { "method": "elicitation/create", "params": { "message": "Who?", "requestedSchema": { "type": "object", "properties": {} } } },
        "roots": { "method": "roots/list" } });
    let asks = json!({ "status": "input_required", "inputRequests": question });
    upstream.poll([
        json!({ "status": "working" }),
        json!({ "status": "paused" }),
        asks.clone(),
        asks.clone(),
    ]);
    let events = upstream.events();
    let [ClientEvent::Needs { call, needs }] = &events[..] else { panic!("once: {events:?}") };
    let keys: Vec<_> = needs.requests.iter().map(|(key, _)| &**key).collect();
    assert_eq!(Some(*call), upstream.call);
    assert_eq!(keys, vec!["roots", "who"]);

    // An unanswered elicitation is cancelled; other requests stay open.
    let no = || Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "no"));
    let answers = vec![("who".to_owned(), no()), ("roots".into(), no()), ("nobody".into(), no())];
    upstream.client.answer(*call, answers).expect("open");
    let update = upstream.give(json!({ "resultType": "complete" }));
    assert_eq!(update["method"], "tasks/update");
    assert_eq!(update["params"]["inputResponses"], json!({ "who": { "action": "cancel" } }));
    assert!(update["params"]["_meta"][CAPABILITIES]["extensions"][EXTENSION].is_object());

    upstream.client.handle_timeout(Duration::from_secs(10));
    upstream.client.handle_timeout(Duration::from_secs(20));
    let done = json!({ "taskId": "t1", "status": "completed", "createdAt": "x", "lastUpdatedAt": "x", "ttlMs": 1,
        "result": { "content": [] }, "resultType": "complete" });
    upstream.give(done);
    let events = upstream.events();
    assert!(matches!(&events[..], [ClientEvent::Done { .. }]), "{events:?}");
    assert_eq!(upstream.client.poll_timeout(), None);
    assert_eq!(upstream.client.open_calls(), 0);
}

#[test]
fn task_ends_like_a_call() {
    let refused = |message: &str| json!({ "status": "failed", "error": { "code": -32603, "message": message } });
    let odd = json!({ "status": "input_required", "inputRequests": { "a": { "method": "elicitation/create", "params": 1 } } });
    let many = |count: usize| -> Value {
        let asks = (0..count).map(|key| (key.to_string(), json!({ "method": "roots/list" })));
        json!({ "status": "input_required", "inputRequests": asks.collect::<serde_json::Map<_, _>>() })
    };
    type Is = fn(&CallError) -> bool;
    let table: [(Value, Is, bool); 6] = [
        (
            refused("no"),
            |error| matches!(error, CallError::Refused(error) if error.message == "no"),
            false,
        ),
        (json!({ "status": "failed" }), |error| matches!(error, CallError::Refused(_)), false),
        (json!({ "status": "cancelled" }), |error| *error == CallError::Cancelled, false),
        (
            json!({ "status": "completed" }),
            |error| matches!(error, CallError::Decode { .. }),
            false,
        ),
        (odd, |error| matches!(error, CallError::Decode { .. }), true),
        (many(Client::MAX_TASK_QUESTIONS + 1), |error| *error == CallError::TooManyRounds, true),
    ];
    for (stands, is_it, is_told) in table {
        let mut upstream = Upstream::new(true, None);
        upstream.poll([json!({ "status": "working" }), stands.clone()]);
        let events = upstream.events();
        let [ClientEvent::Failed { error, .. }] = &events[..] else {
            panic!("{stands}: {events:?}")
        };
        assert!(is_it(error), "{stands}: {error:?}");
        let told = upstream.take().map(|told| told["method"].clone());
        assert_eq!(told, is_told.then(|| json!("tasks/cancel")), "{stands}");
    }
    // A server must not create tasks for clients that do not support them.
    let mut upstream = Upstream::new(false, None);
    upstream.poll([json!({ "status": "working" })]);
    let events = upstream.events();
    assert!(
        matches!(&events[..], [ClientEvent::Failed { error: CallError::ResultType(_), .. }]),
        "{events:?}"
    );
}

#[test]
fn task_ends_at_deadline_or_cancellation() {
    let mut upstream = Upstream::new(true, Some(Duration::from_secs(60)));
    upstream.poll([json!({ "status": "working" })]);
    upstream.client.handle_timeout(Duration::from_secs(59));
    assert_eq!(upstream.take(), None);
    upstream.client.handle_timeout(Duration::from_secs(60));
    assert_eq!(upstream.take().expect("a message")["method"], "tasks/cancel");
    let events = upstream.events();
    assert!(
        matches!(&events[..], [ClientEvent::Failed { error: CallError::Silent, .. }]),
        "{events:?}"
    );

    let mut upstream = Upstream::new(true, None);
    upstream.poll([json!({ "status": "working" })]);
    upstream.client.cancel(upstream.call.expect("a call")).expect("open");
    let told = upstream.give(json!({ "resultType": "complete" }));
    assert_eq!(&told["method"], &json!("tasks/cancel"));
    assert_eq!(&told["params"]["taskId"], &json!("t1"));
    assert!(upstream.events().is_empty());
    upstream.client.handle_close();
    assert!(upstream.events().is_empty());
}
