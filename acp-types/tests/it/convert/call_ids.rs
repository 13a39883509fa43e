//! Tool calls with the id of one that has ended.
use super::chain::{Chain, opened_v1, opened_v2};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The ids that an editor receives for the calls of an agent, by the table in the documentation.
#[derive(Default)]
pub(crate) struct Names(BTreeMap<String, Use>);

#[derive(Default)]
struct Use {
    /// Number of calls with the id that have ended, and that another one follows.
    before: u32,
    is_announced: bool,
    is_over: bool,
    /// Whether only requests for permission have named it, so that its turn ends it.
    is_asked: bool,
    is_ended: bool,
}

impl Names {
    /// Returns an update, or the tool call of a permission request, with the id that the editor
    /// receives.
    pub(crate) fn named(&mut self, mut call: Value, asks: bool, is_v1: bool) -> Value {
        let Some(id) = call["toolCallId"].as_str().map(str::to_owned) else { return call };
        let announces = call["sessionUpdate"] == "tool_call";
        let ends = ["completed", "failed", "cancelled"].iter().any(|it| call["status"] == *it);
        let is_open = call.get("status").is_some() && !ends;
        let describes = ["title", "kind"].iter().any(|name| call.get(name).is_some())
            || ["name", "rawInput"].iter().any(|name| !call[name].is_null());
        // Behind another bridge, a call with an update is announced, and a command is not.
        let is_asked = asks && call["type"] != "tool_call";
        let is_new = !self.0.contains_key(&id);
        let this = self.0.entry(id.clone()).or_default();
        let is_another = match announces {
            true => this.is_announced,
            false => asks || describes && is_open,
        };
        let begins = describes && is_open && !announces;
        let is_another = this.is_over && is_another || this.is_ended && (asks || is_v1 && begins);
        if is_another {
            *this = Use { before: this.before + 1, ..Use::default() };
        }
        this.is_asked = match asks {
            true => this.is_asked || is_asked && (is_new || is_another),
            false => this.is_asked && !announces && is_v1 && call.get("status").is_none(),
        };
        this.is_announced |= announces;
        // The other bridge announces a call with its first update.
        this.is_ended &= asks || is_v1 && !announces;
        this.is_over |= ends;
        if this.before > 0 {
            call["toolCallId"] = json!(format!("{id}~{}", this.before + 1));
        }
        call
    }

    /// Handles the end of a turn.
    pub(crate) fn end_turn(&mut self) {
        for this in self.0.values_mut().filter(|this| this.is_asked) {
            this.is_asked = false;
            this.is_ended = true;
        }
    }
}

/// Returns the id of the agent that an id for the editor begins with.
pub(crate) fn first_id(id: &str) -> &str {
    id.split('~').next().unwrap()
}

fn update(chain: &mut Chain, update: Value) {
    let params = json!({"sessionId": "s", "update": update});
    chain.agent(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
}

fn request(chain: &mut Chain, method: &str, params: Value) -> Value {
    chain.agent(&json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params}));
    let is_it = |line: &&Value| line["method"] == method;
    chain.to_editor.iter().rfind(is_it).expect("the editor has the request")["params"].clone()
}

fn options() -> Value {
    json!([{"optionId": "y", "name": "Yes", "kind": "allow_once"}])
}

/// Returns id and title of each update of a call that the editor received.
fn calls(chain: &Chain) -> Vec<(String, Value)> {
    let updates = chain.updates().into_iter().filter(|update| update.get("toolCallId").is_some());
    let named = |update: Value| {
        (update["toolCallId"].as_str().unwrap().to_owned(), update["title"].clone())
    };
    updates.map(named).collect()
}

/// The request for permission has none of the members of the call that has ended.
#[test]
fn permission_after_the_end_of_a_call_is_for_another_one() {
    let mut chain = opened_v2();
    update(
        &mut chain,
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "echo hi",
            "content": [{"type": "content", "content": {"type": "text", "text": "hi"}}], "status": "completed"}),
    );
    let subject = json!({"type": "command", "command": "rm -rf /", "cwd": "/", "toolCallId": "c"});
    let permission = request(
        &mut chain,
        "session/request_permission",
        json!({"sessionId": "s", "title": "Run?", "subject": subject, "options": options()}),
    );
    let subject = &permission["subject"]["toolCall"];
    assert_eq!(subject["toolCallId"], "c~2");
    assert_eq!(subject["title"], "Run?");
    assert_eq!(subject["rawInput"]["command"], "rm -rf /");
    assert_eq!(subject.get("content"), None, "{subject}");

    let mut chain = opened_v1();
    update(
        &mut chain,
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "echo hi", "status": "completed"}),
    );
    let call = json!({"toolCallId": "c", "rawInput": {"command": "rm -rf /"}});
    let permission = request(
        &mut chain,
        "session/request_permission",
        json!({"sessionId": "s", "toolCall": call, "options": options()}),
    );
    assert_eq!(permission["toolCall"]["toolCallId"], "c~2");
    assert_ne!(permission["toolCall"]["title"], "echo hi");
    let question = json!({"sessionId": "s", "toolCallId": "c", "message": "M", "mode": "form",
        "requestedSchema": {"type": "object", "properties": {}}});
    assert_eq!(request(&mut chain, "elicitation/create", question)["toolCallId"], "c~2");
}

#[test]
fn call_that_begins_after_the_end_of_one_with_its_id_is_another_one() {
    let mut chain = opened_v2();
    for title in ["one", "two", "three"] {
        update(
            &mut chain,
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": title, "status": "in_progress"}),
        );
        update(
            &mut chain,
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}),
        );
    }
    let ids = calls(&chain).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(ids, ["c", "c", "c~2", "c~2", "c~3", "c~3"]);

    let mut chain = opened_v1();
    for (kind, title) in [("tool_call", "one"), ("tool_call", "two"), ("tool_call_update", "three")]
    {
        update(
            &mut chain,
            json!({"sessionUpdate": kind, "toolCallId": "c", "title": title, "status": "pending"}),
        );
        update(
            &mut chain,
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed"}),
        );
    }
    let ids = calls(&chain).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(ids, ["c", "c", "c~2", "c~2", "c~3", "c~3"]);
}

/// Late output of a call, and an announcement after its end, are no call of their own.
#[test]
fn reports_after_the_end_of_a_call_are_of_that_call() {
    let mut chain = opened_v1();
    for status in ["failed", "pending"] {
        let kind = if status == "failed" { "tool_call_update" } else { "tool_call" };
        update(
            &mut chain,
            json!({"sessionUpdate": kind, "toolCallId": "c", "title": "T", "status": status}),
        );
    }
    update(
        &mut chain,
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "rawOutput": {"a": 1}}),
    );
    assert!(calls(&chain).iter().all(|(id, _)| id == "c"), "{:?}", calls(&chain));
    let last = chain.updates().into_iter().rfind(|update| update.get("status").is_some());
    assert_eq!(last.unwrap()["status"], "failed", "an end is final");
}

/// An id with a number that the agent uses itself, before or after it is needed, is that of one
/// call.
#[test]
fn number_of_a_call_is_free() {
    for (used, expected) in
        [(["c", "c~2", "c"], ["c", "c~2", "c~3"]), (["c", "c", "c~2"], ["c", "c~2", "c~2~2"])]
    {
        let mut chain = opened_v1();
        for id in used {
            update(
                &mut chain,
                json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": id, "status": "completed"}),
            );
        }
        let ids = calls(&chain).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
        assert_eq!(ids, expected);
    }
}
