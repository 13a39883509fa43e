//! The audit log.
use crate::gateway::{Gateway, input, soon};
use crate::run::Run;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Lets a user ask and approve, with a wrong token in between; returns the records without their times.
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
        json!({ "event": "answer", "thread": thread, "question": "of the agent", "decision": "allow-once" }),
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
    assert_eq!((told.end(), told.results().len()), ("success", 1));
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
    let mut records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let decided = records.find(|record| record["event"] == "decision").unwrap();
    assert_eq!((&decided["rule"], &decided["decision"]), (&json!(2), &json!("reject")));
    assert!(!decided["session"].as_str().unwrap().contains('"'), "{decided}");
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
