//! Properties of the MCP types and peers.
use crate::value::value;
use jsonrpc_core::Message;
use jsonrpc_core::wire::{self, Extra, Raw};
use mcp_bridge::client::{CallParams, Client, ClientEvent, ClientOptions};
use mcp_bridge::context::{self, Carriers, ContextLimits, EncodeOptions, ModelContext};
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::mcp::content::{ContentBlock, TextContent};
use mcp_bridge::mcp::dispatch::{
    ClientNotification, ClientRequest, ClientResult, ServerNotification, ServerRequest,
    ServerResult,
};
use mcp_bridge::mcp::elicitation::ElicitRequestParams;
use mcp_bridge::mcp::methods;
use mcp_bridge::mcp::tasks::{Task, TaskMembers, TaskStatus};
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::schema;
use mcp_bridge::server::{Needs, Server, ServerEvent, ServerOptions};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

/// Decodable parameters and results are encoded as the same JSON value.
pub fn mcp_message(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    match Message::decode(text) {
        Ok(Message::Request(request)) => {
            let given = request.params.map(Raw::from);
            if let Ok(read) = ClientRequest::decode(&request.method, request.params) {
                check(given.as_ref(), read.to_params().expect("JSON").as_ref());
            }
            if let Ok(read) = ServerRequest::decode(&request.method, request.params) {
                check(given.as_ref(), read.to_params().expect("JSON").as_ref());
            }
        }
        Ok(Message::Notification(notification)) => {
            let given = notification.params.map(Raw::from);
            if let Ok(read) = ClientNotification::decode(&notification.method, notification.params)
            {
                check(given.as_ref(), read.to_params().expect("JSON").as_ref());
            }
            if let Ok(read) = ServerNotification::decode(&notification.method, notification.params)
            {
                check(given.as_ref(), read.to_params().expect("JSON").as_ref());
            }
        }
        Ok(Message::Response(response)) => {
            let Ok(result) = response.outcome.map(Raw::from) else { return };
            for method in methods::all() {
                if let Ok(read) = ServerResult::decode(method.name, result.as_ref()) {
                    check(Some(&result), Some(&read.to_result().expect("JSON")));
                }
                if let Ok(read) = ClientResult::decode(method.name, result.as_ref()) {
                    check(Some(&result), Some(&read.to_result().expect("JSON")));
                }
            }
        }
        Err(_) => {}
    }
}

fn check(given: Option<&Raw>, written: Option<&Raw>) {
    // Absent and `null` count as an empty object.
    let text = |raw: Option<&Raw>| -> String {
        raw.map(Raw::as_str).filter(|text| *text != "null").unwrap_or("{}").into()
    };
    let given = &*text(given);
    let written = &*text(written);
    let Some(given_value) = value(given) else { return };
    let written_value = value(written).expect("what was written is JSON");
    assert!(is_same(&given_value, &written_value), "{given}\n{written}");
}

/// Returns whether `written` equals `given`, where a `null` member may be absent.
fn is_same(given: &Value, written: &Value) -> bool {
    match (given, written) {
        (Value::Array(given), Value::Array(written)) => {
            given.len() == written.len()
                && given.iter().zip(written).all(|(given, written)| is_same(given, written))
        }
        (Value::Object(given), Value::Object(written)) => {
            written.keys().all(|name| given.contains_key(name))
                && given.iter().all(|(name, given)| {
                    written.get(name).map_or(given.is_null(), |written| is_same(given, written))
                })
        }
        _ => given == written,
    }
}

/// An extracted context can be injected and extracted again, and the rest is part of the message.
pub fn mcp_context(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let question = wire::decode::<ElicitRequestParams>(text).unwrap_or_else(|_| {
        let schema = Raw::from_text("{}").expect("JSON");
        let form = mcp_bridge::mcp::elicitation::ElicitRequestFormParams::new(text, schema);
        ElicitRequestParams::Form(Box::new(form))
    });
    let limits = ContextLimits::default();
    let found = context::extract(&question, &limits);
    let message =
        |question: &ElicitRequestParams| question.message().unwrap_or_default().to_owned();
    assert!(message(&question).starts_with(&message(&found.request)));
    let server = Implementation::new(text, "1");
    let shown = found.display(&server);
    assert!(!shown.text.contains(['\u{1b}', '\r', '\u{202e}']));
    let context = found
        .context
        .unwrap_or_else(|| ModelContext::from_text(r#"{"a":[1]}"#).expect("an object"));
    for carriers in [Carriers::ALL, Carriers::META, Carriers::SCHEMA_AND_MESSAGE] {
        let mut again = found.request.clone();
        if context::encode(&mut again, &context, &EncodeOptions::new(carriers)).is_err() {
            continue;
        }
        let is_page = matches!(again, ElicitRequestParams::Url(_));
        let once = context::extract(&again, &limits);
        assert_eq!(once.context.as_ref(), Some(&context), "{carriers:?} {is_page}");
        let mut twice = again.clone();
        context::encode(&mut twice, &context, &EncodeOptions::new(carriers))
            .expect("it fitted before");
        assert_eq!(twice, again);
    }
}

/// The restricted form of a schema is stable, and any answer to it is accepted or refused.
pub fn mcp_schema(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let (schema, answer) = text.split_once('\n').unwrap_or((text, "{}"));
    let Ok(schema) = Raw::from_text(schema) else { return };
    let Ok(form) = schema::restrict(&schema) else { return };
    let again = schema::restrict(form.requested_schema()).expect("a form is a schema");
    assert_eq!(again.requested_schema(), form.requested_schema());
    assert_eq!(again.losses(), []);
    if let Ok(answer) = wire::decode::<Extra>(answer) {
        let problems = form.read::<Value>(&answer).err();
        let checked = again.read::<Value>(&answer).err();
        // The form of a form has no JSON texts.
        assert!(checked.is_none() || problems.is_some());
    }
}

/// For any lines, a server answers each request at most once, and each call that it reports can be
/// ended. A client accepts the same lines.
pub fn mcp_peers(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let tool: Tool =
        wire::decode(r#"{"name":"t","inputSchema":{"type":"object"}}"#).expect("a tool");
    let me = Implementation::new("fuzz", "1");
    let mut options = ServerOptions::new(me.clone(), [tool]);
    options.offer_tasks();
    let mut server = Server::new(options);
    let can = wire::decode(r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#);
    let mut client = Client::new(ClientOptions::new(me, can.expect("capabilities")));
    client.start(Duration::ZERO);
    let mut answered = BTreeSet::new();
    for (index, line) in text.lines().enumerate() {
        server.handle_line(Ok(line));
        run_tools(&mut server, index);
        while let Some(sent) = server.poll_outgoing() {
            if let Message::Response(response) = sent.message.as_message()
                && response.outcome.is_ok()
            {
                assert!(answered.insert((index, response.id)), "answered twice");
            }
        }
        client.handle_line(Ok(line), None);
        run_client(&mut client);
        let now = Duration::from_secs(u64::try_from(index).expect("a count"));
        client.handle_timeout(now);
        assert!(client.poll_timeout().is_none_or(|due| due > now), "the time stands still");
    }
    server.handle_close();
    client.handle_close();
    assert_eq!(server.open_calls(), 0);
    assert_eq!(client.open_calls(), 0);
}

fn run_tools(server: &mut Server, index: usize) {
    while let Some(event) = server.poll_event() {
        let call = match event {
            ServerEvent::Call(call) => call,
            ServerEvent::Request { id, request, .. } => {
                let echo = request.to_params().expect("JSON").expect("params");
                server.respond(&id, Ok(&echo)).expect("it is open");
                continue;
            }
            _ => continue,
        };
        let task = Task::from(TaskMembers {
            task_id: "t1".into(),
            status: TaskStatus::Working,
            created_at: "2026-01-01T00:00:00Z".into(),
            last_updated_at: "2026-01-01T00:00:00Z".into(),
        });
        server.notify_task(&task);
        if index % 3 == 1 && call.takes_task() {
            server.create_task(call.id, task).expect("it is open");
            continue;
        }
        let mut needs =
            Needs::new([("roots", ServerRequest::decode("roots/list", None).expect("params"))]);
        needs.request_state = Some("s".into());
        if index.is_multiple_of(2) && server.ask(call.id, needs, None).is_ok() {
            continue;
        }
        let result = CallToolResult::new([ContentBlock::Text(TextContent::new("x"))]);
        server.finish(call.id, result).expect("it is open");
    }
}

fn run_client(client: &mut Client) {
    let mut begun = 0;
    while let Some(event) = client.poll_event() {
        match event {
            ClientEvent::Ready(_) if begun < 2 => {
                begun += 1;
                let params = CallParams::new("t", Raw::from_text("{}").expect("JSON"));
                client.call(params).expect("it is ready");
                client.list_tools().expect("it is ready");
            }
            ClientEvent::Needs { call, needs } => {
                let answer = Raw::from_text("{}").expect("JSON");
                let responses =
                    needs.requests.into_iter().map(|(key, _)| (key, Ok(answer.clone())));
                client.answer(call, responses.collect()).expect("it is open");
            }
            _ => {}
        }
    }
    while client.poll_outgoing().is_some() {}
}
