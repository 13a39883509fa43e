//! The gateway's own tools, called by ACP agents, with questions to the user.
use crate::gateway::{Gateway, command_of, input, refusal, soon};
use crate::run::{EndedRun, value};
use agui_types::event::Event;
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

/// An input of a page with a tool.
pub(crate) fn asking(thread: &str, run: &str, text: &str) -> Value {
    let mut input = input(thread, run, text);
    input["tools"] = json!([{
        "name": "set_title", "description": "Sets it.", "parameters": { "type": "object" },
    }]);
    input
}

/// The input after a run, with the run's calls.
fn after(asked: &Value, run: &str, told: &EndedRun) -> Value {
    let mut input = asked.clone();
    input["runId"] = json!(run);
    let calls = told.events.iter().filter_map(|event| match event {
        Event::ToolCallStart(start) => {
            let function = json!({ "name": start.tool_call_name, "arguments": "{}" });
            Some(json!({ "id": start.tool_call_id, "type": "function", "function": function }))
        }
        _ => None,
    });
    let calls: Vec<_> = calls.collect();
    if !calls.is_empty() {
        let message =
            json!({ "id": format!("{run}-calls"), "role": "assistant", "toolCalls": calls });
        input["messages"].as_array_mut().unwrap().push(message);
    }
    input
}

/// The input that answers the only question of a run.
fn answering(asked: &Value, run: &str, told: &EndedRun, payload: &Value) -> Value {
    let mut input = after(asked, run, told);
    let id = &told.interrupts()[0].id;
    input["resume"] = json!([{ "interruptId": id, "status": "resolved", "payload": payload }]);
    input
}

fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// The metadata of the only question of a run.
fn metadata(told: &EndedRun) -> Value {
    serde_json::to_value(&told.interrupts()[0].metadata).unwrap()
}

async fn sessions(gateway: &Gateway) -> Vec<Value> {
    let get = gateway.client.get(gateway.url("/api/tools/sessions"));
    let listed: Value = soon(soon(get.send()).await.unwrap().json()).await.unwrap();
    listed["sessions"].as_array().unwrap().clone()
}

/// A free seat.
fn free_seat(map: &Value) -> Value {
    let is_free = |(row, seat): &(u32, &str)| {
        !map["takenSeats"].as_array().unwrap().contains(&json!(format!("{row}{seat}")))
    };
    let (row, seat) = (1..=12).flat_map(|row| [(row, "A"), (row, "B")]).find(is_free).unwrap();
    json!({ "row": row, "seat": seat })
}

#[tokio::test]
async fn agent_books_flight_over_three_runs() {
    let gateway = Gateway::demo(&[]).await;
    let asked = asking("t", "1", "book");
    let which = gateway.run(&asked).await.rest().await;
    assert_eq!(which.end(), "interrupt");
    let question = &which.interrupts()[0];
    assert_eq!(
        question.message.as_deref().and_then(|text| text.lines().next()),
        Some("Which flight from Oslo to Lisbon?")
    );
    assert_eq!(question.reason, "input_required");
    assert!(question.response_schema.is_some());
    let call = which.events.iter().find_map(|event| match event {
        Event::ToolCallStart(start) => Some(start),
        _ => None,
    });
    let call = call.unwrap();
    assert_eq!(call.tool_call_name, "book_flight");
    assert_eq!(question.tool_call_id.as_ref(), Some(&call.tool_call_id));
    let shown = metadata(&which);
    assert_eq!(shown["elicitKey"], "pickFlight");
    let flight = &shown["x-model-context"]["flights"][0]["id"];
    assert_eq!(sessions(&gateway).await.len(), 1);
    assert_eq!(shown["sessionId"], sessions(&gateway).await[0]["sessionId"]);

    let choice = accept(json!({ "flightId": flight }));
    let second = answering(&asked, "2", &which, &choice);
    let seat = gateway.run(&second).await.rest().await;
    assert_eq!(seat.end(), "interrupt");
    let shown = metadata(&seat);
    assert_eq!(shown["elicitKey"], "pickSeat");
    let choice = accept(free_seat(&shown["x-model-context"]));
    let done = gateway.run(&answering(&second, "3", &seat, &choice)).await.rest().await;
    assert_eq!(done.end(), "success");
    assert!(done.text().starts_with("The tool says: "), "{}", done.text());
    let booking: Value = serde_json::from_str(done.results()[0]).unwrap();
    assert_eq!(&booking["status"], &json!("booked"));
    assert_eq!(&booking["flight"]["id"], flight);
    assert!(sessions(&gateway).await.is_empty());
}

#[tokio::test]
async fn declined_question_reaches_agent() {
    let gateway = Gateway::demo(&[]).await;
    for (run, payload, said) in [
        ("1", json!({ "action": "decline" }), "declined"),
        ("2", json!({ "action": "cancel" }), "cancelled"),
    ] {
        let asked = asking(run, run, "book");
        let which = gateway.run(&asked).await.rest().await;
        let next = answering(&asked, &format!("{run}-next"), &which, &payload);
        let told = gateway.run(&next).await.rest().await;
        let booking: Value = serde_json::from_str(told.results()[0]).unwrap();
        assert_eq!(booking["status"], said);
    }
}

#[tokio::test]
async fn call_ended_by_user_ends_for_agent() {
    let gateway = Gateway::demo(&[]).await;
    let asked = asking("t", "1", "book");
    let which = gateway.run(&asked).await.rest().await;
    let session = sessions(&gateway).await[0]["sessionId"].as_str().unwrap().to_owned();
    let url = gateway.url(&format!("/api/tools/sessions/{session}"));
    assert_eq!(soon(gateway.client.delete(url).send()).await.unwrap().status(), 204);
    let late = answering(&asked, "2", &which, &json!({ "action": "decline" }));
    let told = gateway.run(&late).await.rest().await;
    assert!(told.text().contains("the user ended it"), "{}", told.text());
    assert!(sessions(&gateway).await.is_empty());
}

#[tokio::test]
async fn question_is_asked_in_stream() {
    let gateway = Gateway::asking_in_stream().await;
    let mut run = gateway.run(&asking("t", "1", "book")).await;
    let Event::Custom(asked) = run.until("acp.elicitation.requested").await else { panic!() };
    let asked = value(&asked);
    assert_eq!(asked["metadata"]["elicitKey"], "pickFlight");
    assert_eq!(asked["mode"], "form");
    let path = format!("interrupts/{}", asked["interruptId"].as_str().unwrap());
    let (status, said) = gateway.post(&path, &json!({ "action": "decline" })).await;
    assert_eq!(status, 202, "{said}");
    let told = run.rest().await;
    assert!(told.text().contains("declined"), "{}", told.text());
}

#[tokio::test]
async fn new_message_instead_of_answer_ends_call() {
    let settings = "[agents.demo]\n[times]\nquestion = 0.1";
    let gateway = Gateway::configured(settings).await;
    let asked = asking("t", "1", "book");
    let which = gateway.run(&asked).await.rest().await;
    assert_eq!(which.end(), "interrupt");
    let mut next = after(&asked, "2", &which);
    let message = json!({ "id": "more", "role": "user", "content": "hello" });
    next["messages"].as_array_mut().unwrap().push(message);
    // No answer arrived in time; the turn continues in the next run.
    let goes_on = async {
        loop {
            let run = gateway.run(&next).await.rest().await;
            if run.end() == "success" {
                return run;
            }
            next["runId"] = json!(format!("{}x", next["runId"].as_str().unwrap()));
        }
    };
    let told = soon(goes_on).await;
    assert!(!told.results().is_empty());
    assert!(sessions(&gateway).await.is_empty());
}

#[tokio::test]
async fn settings_select_agents_with_gateway_tools() {
    let table = [
        ("", false, false),
        ("", true, true),
        ("gateway-tools = true", false, true),
        ("gateway-tools = false", true, false),
        ("gateway-tools = true\npage-tools = \"off\"", true, false),
    ];
    for (setting, has_page, is_there) in table {
        let gateway = Gateway::configured(&format!("[agents.demo]\n{setting}")).await;
        let asked = if has_page { asking("t", "1", "book") } else { input("t", "1", "book") };
        let told = gateway.run(&asked).await.rest().await;
        assert_eq!(told.end() == "interrupt", is_there, "{setting} {has_page}: {}", told.text());
    }
}

/// The shim, started as an agent starts it.
pub(crate) struct Shim {
    _child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Shim {
    /// With the command and the environment from the agent's session.
    pub(crate) fn start(server: &Value) -> Self {
        let arguments = server["args"].as_array().unwrap().iter();
        let arguments: Vec<_> = arguments.map(|argument| argument.as_str().unwrap()).collect();
        let mut command = command_of(server["command"].as_str().unwrap(), &arguments);
        for variable in server["env"].as_array().unwrap() {
            command.env(variable["name"].as_str().unwrap(), variable["value"].as_str().unwrap());
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { stdin: child.stdin.take().unwrap(), lines, _child: child }
    }

    async fn say(&mut self, message: &Value) {
        self.stdin.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// Returns the response to a request.
    pub(crate) async fn ask(&mut self, id: u32, method: &str, params: Value) -> Value {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        loop {
            let line = soon(self.lines.next_line()).await.unwrap().expect("the shim has ended");
            let message: Value = serde_json::from_str(&line).expect(&line);
            if message["id"] == id {
                return message["result"].clone();
            }
        }
    }
}

#[tokio::test]
async fn older_agent_gets_tools_on_stdio() {
    let mut gateway = Gateway::script("tells-servers", &[]).await;
    let mut run = gateway.run(&asking("t", "1", "go")).await;
    let told = gateway.says("agent: new: ").await;
    let new: Value = serde_json::from_str(told.strip_prefix("agent: new: ").unwrap()).unwrap();
    let mut shim = Shim::start(&new["params"]["mcpServers"][0]);
    run.until("working").await;
    let client = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let initialized = shim.ask(1, "initialize", client).await;
    assert_eq!(initialized["protocolVersion"], "2025-06-18");
    shim.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    let listed = shim.ask(2, "tools/list", json!({})).await;
    let names = listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["set_title", "clock", "book_flight"]);
    let clock = shim.ask(3, "tools/call", json!({ "name": "clock", "arguments": {} })).await;
    assert!(clock["content"][0]["text"].as_str().unwrap().ends_with('Z'), "{clock}");
    let missing = shim.ask(4, "tools/call", json!({ "name": "other", "arguments": {} })).await;
    assert_eq!(missing, Value::Null, "an error");

    let trip = json!({ "from": "Oslo", "destination": "Lisbon" });
    let call = json!({ "name": "book_flight", "arguments": trip });
    shim.say(&json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": call })).await;
    let which = run.rest().await;
    assert_eq!(which.end(), "interrupt");
    assert_eq!(which.interrupts()[0].tool_call_id, None, "the agent tells of no call");
    let id = &which.interrupts()[0].id;
    let url = gateway.url(&format!("/api/ai/chat/interrupts/{id}"));
    let answer = gateway.client.post(url).json(&json!({ "action": "decline" }));
    assert_eq!(refusal(soon(answer.send()).await.unwrap()).await.0, 202);
    let line = soon(shim.lines.next_line()).await.unwrap().unwrap();
    let done: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(done["id"], 5);
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("declined"), "{line}");
}
