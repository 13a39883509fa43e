//! The audit log.
use crate::gateway::{Gateway, input, soon};
use crate::run::{EndedRun, Run};
use jsonrpc_core::peek_member;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use tokio::time::sleep;

/// Lets a user ask and approve, with a wrong token in between; returns the records without their
/// times.
async fn recorded(content: bool) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let settings = format!(
        "audit-log = '{}'\naudit-content = {content}\npermission = 'ask-in-stream'\n\
         [auth.tokens]\nalice = 'token-of-alice-1'\nbob = 'token-of-bob-123'",
        path.display()
    );
    let gateway = Gateway::configured(&settings).await;
    let post = async |path: &str, body: &Value, token: &str| {
        let request = gateway.client.post(gateway.url(path)).bearer_auth(token);
        soon(request.json(body).send()).await.unwrap()
    };
    let edit = input("t", "1", "edit");
    assert_eq!(post("/api/ai/chat", &edit, "a-wrong-token").await.status(), 401);
    let mut run = Run::new(&edit, post("/api/ai/chat", &edit, "token-of-alice-1").await);
    let asked = run.until_asked().await;
    let path_of_answer = format!("/api/ai/chat/interrupts/{asked}");
    let allow = json!({ "optionId": "allow-once" });
    assert_eq!(post(&path_of_answer, &allow, "token-of-bob-123").await.status(), 404);
    assert_eq!(post(&path_of_answer, &allow, "token-of-alice-1").await.status(), 202);
    assert_eq!(run.rest().await.end(), "success");
    gateway.signal(Signal::SIGTERM);
    assert!(gateway.ended().await.success());
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("token-of"), "{text}");
    let mut records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for record in &mut records {
        assert!(record.as_object_mut().unwrap().remove("time").unwrap().is_string());
        if record["question"] == *asked {
            record["question"] = "of the agent".into();
        }
        let path = record["path"].as_str().map(|path| path.replace(&asked, "QUESTION"));
        if let Some(path) = path {
            record["path"] = path.into();
        }
    }
    records
}

#[tokio::test]
async fn requests_and_decisions_are_recorded_without_content() {
    let thread = r#"["alice","demo","t"]"#;
    let request = |user: &str, path: &str, status: u16| json!({ "event": "request", "user": user, "address": "127.0.0.1", "method": "POST", "path": path, "status": status });
    let answer = "/api/ai/chat/interrupts/QUESTION";
    let mut expected = vec![
        json!({ "event": "login.refused", "address": "127.0.0.1", "reason": "the token is unknown" }),
        json!({ "event": "run.start", "thread": thread, "run": "1" }),
        request("alice", "/api/ai/chat", 200),
        request("bob", answer, 404),
        json!({ "event": "answer", "thread": thread, "question": "of the agent", "call": "call-2", "decision": "allow-once", "by": "user" }),
        request("alice", answer, 202),
        json!({ "event": "run.end", "thread": thread, "run": "1", "outcome": "success" }),
    ];
    let mut records = recorded(false).await;
    // The run may end before the response to the answer is sent.
    let by_text = |record: &Value| record.to_string();
    expected.sort_by_key(by_text);
    records.sort_by_key(by_text);
    assert_eq!(records, expected);
}

#[tokio::test]
async fn content_is_recorded_on_request() {
    let records = recorded(true).await;
    let start = records.iter().find(|record| record["event"] == "run.start").unwrap();
    let message: Value = serde_json::from_str(start["content"].as_str().unwrap()).unwrap();
    assert_eq!(message["content"], "edit");
    let answer = records.iter().find(|record| record["event"] == "answer").unwrap();
    let request: Value = serde_json::from_str(answer["content"].as_str().unwrap()).unwrap();
    assert_eq!(request["title"], "Edit greeting.txt?");
    assert_eq!(request["toolCall"]["content"][0]["type"], "diff");
}

/// Runs of models are recorded too, with the names of their tool calls.
#[tokio::test]
async fn runs_of_models_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let gateway = Gateway::configured(&format!("audit-log = '{}'", path.display())).await;
    let input = input("t", "1", "What time is it?");
    let chat = gateway.client.post(gateway.url("/api/ai/agents/hybrid/chat")).json(&input);
    let told = Run::new(&input, soon(chat.send()).await.unwrap()).rest().await;
    assert_eq!(told.end(), "success");
    assert_eq!(told.results().len(), 1);
    gateway.signal(Signal::SIGTERM);
    assert!(gateway.ended().await.success());
    let text = fs::read_to_string(&path).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut records: Vec<_> = records.filter(|record| record["event"] != "request").collect();
    for record in &mut records {
        record.as_object_mut().unwrap().remove("time");
    }
    let thread = r#"["","hybrid","t"]"#;
    let expected = [
        json!({ "event": "run.start", "thread": thread, "run": "1" }),
        json!({ "event": "tool.call", "thread": thread, "run": "1", "tool": "clock" }),
        json!({ "event": "run.end", "thread": thread, "run": "1", "outcome": "success" }),
    ];
    assert_eq!(records, expected);
}

#[tokio::test]
async fn decision_of_a_rule_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let rules = "[[permission-rules]]\nkind = 'read'\naction = 'allow'\n[[permission-rules]]\nkind = 'edit'\naction = 'reject'";
    let settings = format!("audit-log = '{}'\n{rules}", path.display());
    let gateway = Gateway::configured(&settings).await;
    assert_eq!(gateway.ask("t", "r", "edit").await.rest().await.end(), "success");
    gateway.signal(Signal::SIGTERM);
    assert!(gateway.ended().await.success());
    let text = fs::read_to_string(&path).unwrap();
    let records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let decided = records.iter().find(|record| record["event"] == "decision").unwrap();
    assert_eq!(&decided["rule"], &json!(2));
    assert_eq!(&decided["decision"], &json!("reject"));
    assert!(!decided["session"].as_str().unwrap().contains('"'), "{decided}");
    let answer = records.iter().find(|record| record["event"] == "answer").unwrap();
    assert_eq!(&answer["decision"], &json!("reject-once"));
    assert_eq!(&answer["by"], &json!("rule"));
}

/// Each answer is recorded with its origin, and the stream has the same origin.
#[tokio::test]
async fn answers_without_the_user_are_told_and_recorded() {
    let table = [
        ("permission = 'reject'", "reject-once", "policy"),
        ("permission = 'ask-in-stream'\ntimes.question = 1", "reject-once", "time"),
    ];
    for (settings, decision, by) in table {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let log = format!("audit-log = '{}'\naudit-content = true\n{settings}", path.display());
        let gateway = Gateway::configured(&log).await;
        let told = gateway.ask("t", "r", "permission").await.rest().await;
        let settled = ["acp.permission", "acp.permission.resolved"].map(|name| told.customs(name));
        let settled = settled.concat();
        assert_eq!(&settled[0]["optionId"], &json!(decision));
        assert_eq!(&settled[0]["answeredBy"], &json!(by));
        gateway.signal(Signal::SIGTERM);
        assert!(gateway.ended().await.success());
        let text = fs::read_to_string(&path).unwrap();
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let answers: Vec<_> = records.filter(|record| record["event"] == "answer").collect();
        assert_eq!(answers.len(), 1, "{answers:?}");
        assert_eq!(&answers[0]["decision"], &json!(decision));
        assert_eq!(&answers[0]["by"], &json!(by));
        let content: Value = serde_json::from_str(answers[0]["content"].as_str().unwrap()).unwrap();
        assert!(content["title"].is_string() && content["options"].is_array(), "{content}");
    }
}

/// The stream and the record of a cancelled run have the same reason.
#[tokio::test]
async fn reason_of_a_cancelled_run_is_told_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let settings = format!(
        "audit-log = '{}'\nwhen-busy = 'supersede'\n[times]\ndisconnect-grace = 0",
        path.display()
    );
    let gateway = Gateway::configured(&settings).await;
    let reason = |told: &EndedRun| {
        let result = told.finished().result.as_ref().unwrap();
        peek_member(result.as_str(), "cancelReason").unwrap().unwrap().to_owned()
    };

    let mut stopped = gateway.ask("t", "stopped", "slow").await;
    stopped.until("1 of 50").await;
    gateway.post("runs/stopped/cancel", &Value::Null).await;
    assert_eq!(reason(&stopped.rest().await), r#""user""#);

    let mut replaced = gateway.ask("t", "replaced", "slow").await;
    replaced.until("1 of 50").await;
    let newer = gateway.ask("t", "newer", "hello").await;
    assert_eq!(reason(&replaced.rest().await), r#""newer-run""#);
    assert_eq!(newer.rest().await.end(), "success");

    let mut left = gateway.ask("t", "left", "slow").await;
    left.until("1 of 50").await;
    drop(left);
    let ends = soon(async {
        loop {
            let text = fs::read_to_string(&path).unwrap();
            let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let ends: Vec<_> = records.filter(|record| record["event"] == "run.end").collect();
            if ends.iter().any(|record| record["run"] == "left") {
                return ends;
            }
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let recorded: Vec<_> =
        ends.iter().map(|it| (&it["run"], &it["outcome"], &it["reason"])).collect();
    let expected = [
        (&json!("stopped"), &json!("cancelled"), &json!("user")),
        (&json!("replaced"), &json!("cancelled"), &json!("newer-run")),
        (&json!("newer"), &json!("success"), &Value::Null),
        (&json!("left"), &json!("cancelled"), &json!("no-reader")),
    ];
    assert_eq!(recorded, expected);
}

#[tokio::test]
async fn audit_log_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    let mut command = crate::gateway::command(&["--listen", "127.0.0.1:0"]);
    let output = soon(command.env("GATEWAY_AUDIT_LOG", &link).output()).await.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with(&format!("gateway: audit-log: {}: ", link.display())), "{said}");
}
