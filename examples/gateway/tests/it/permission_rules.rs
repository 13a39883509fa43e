//! Permission requests that rules of the settings answer.
use crate::collector::{Collector, attributes};
use crate::gateway::{Gateway, command};
use nix::sys::signal::Signal::SIGTERM;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Attribute;
use serde_json::json;
use tokio::runtime::Runtime;

fn rule(conditions: &str, action: &str) -> String {
    format!("[[permission-rules]]\n{conditions}\naction = '{action}'\n")
}

#[tokio::test]
async fn decided_request_is_no_interrupt() {
    for (conditions, action, said, option) in [
        ("kind = 'edit'", "allow", "I have edited greeting.txt", "allow-once"),
        ("agent = 'demo'\npath = 'greeting.txt'", "allow", "I have edited", "allow-once"),
        ("tool = 'edit_*'", "reject", "Then I leave greeting.txt as it is", "reject-once"),
    ] {
        let mut gateway = Gateway::configured(&rule(conditions, action)).await;
        let told = gateway.ask("t", "r", "edit").await.rest().await;
        assert_eq!(told.end(), "success", "{conditions}");
        assert!(told.text().contains(said), "{conditions}: {}", told.text());
        assert_eq!(told.customs("acp.permission")[0]["optionId"], option);
        assert!(told.customs("acp.permission.requested").is_empty());
        let line = gateway.says("permission rule 1: ").await;
        assert!(line.contains(&format!("{action} edit_file")), "{line}");
    }
}

#[tokio::test]
async fn request_without_a_rule_is_put_as_before() {
    for (settings, end) in [
        (rule("kind = 'read'", "allow"), "interrupt"),
        (rule("agent = 'other'", "reject"), "interrupt"),
        (rule("path = 'src/**'", "allow"), "interrupt"),
        (rule("kind = 'edit'", "ask") + &rule("", "allow"), "interrupt"),
        // Also where each request would be allowed.
        (format!("permission = 'allow'\n{}", rule("kind = 'edit'", "ask")), "interrupt"),
        (format!("permission = 'allow'\n{}", rule("kind = 'read'", "ask")), "success"),
    ] {
        let gateway = Gateway::configured(&settings).await;
        let told = gateway.ask("t", "r", "edit").await.rest().await;
        assert_eq!(told.end(), end, "{settings}");
    }
}

#[test]
fn decision_is_on_the_span_of_the_request() {
    let collector = Collector::start();
    let endpoint = collector.url();
    let settings = tempfile::NamedTempFile::new().unwrap();
    let rules = rule("kind = 'read'", "reject") + &rule("kind = 'edit'", "allow");
    std::fs::write(settings.path(), rules).unwrap();
    Runtime::new().unwrap().block_on(async {
        let variables =
            [("OTEL_TRACES_EXPORTER", "otlp"), ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)];
        let settings = settings.path().to_str().unwrap();
        let gateway = Gateway::start(&["--config", settings], &variables).await;
        assert_eq!(gateway.ask("t", "r", "edit").await.rest().await.end(), "success");
        gateway.signal(SIGTERM);
        assert!(gateway.ended().await.success());
    });
    let trace = collector.received();
    let attributes = attributes(&trace.span("session/request_permission").attributes);
    assert_eq!(attributes["acp.permission.rule.index"], Attribute::IntValue(2));
    let allow = Attribute::StringValue("allow".to_owned());
    assert_eq!(attributes["acp.permission.rule.action"], allow);
}

#[test]
fn command_for_a_terminal_is_rejected() {
    let collector = Collector::start();
    let folder = tempfile::tempdir().unwrap();
    let endpoint = collector.url();
    let root = folder.path().to_str().unwrap();
    let [settings, requests] = ["settings", "requests"].map(|name| folder.path().join(name));
    let lines = [("rm", "victim"), ("true", "")].map(|(program, argument)| {
        let params = json!({ "sessionId": "s", "command": program, "args": [argument] });
        format!("terminal/create {params}\n")
    });
    std::fs::write(&requests, lines.concat()).unwrap();
    std::fs::write(folder.path().join("victim"), "").unwrap();
    let agent = format!(
        "[agents.own]\ncommand = {:?}\nroot = {root:?}\nterminal = true\n",
        crate::gateway::script("asks-host")
    );
    let rules = rule("kind = 'read'", "ask")
        + &rule("command = 'rm *'", "reject")
        + &rule("command = 'true *'", "ask");
    std::fs::write(&settings, rules + &agent).unwrap();
    Runtime::new().unwrap().block_on(async {
        let variables = [
            ("OTEL_TRACES_EXPORTER", "otlp"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
            ("REQUESTS", requests.to_str().unwrap()),
        ];
        let arguments = ["--config", settings.to_str().unwrap()];
        let mut gateway = Gateway::start(&arguments, &variables).await;
        assert_eq!(gateway.ask("t", "r", "go").await.rest().await.end(), "success");
        let expected = [
            "permission rule 2: reject terminal/create",
            "permission rule 3: ask terminal/create",
            "permission rule 2 rejects this command",
            r#""result":{"terminalId""#,
        ];
        gateway.says_all(expected).await;
        gateway.signal(SIGTERM);
        assert!(gateway.ended().await.success());
    });
    assert!(folder.path().join("victim").exists());
    let trace = collector.received();
    let rules: Vec<_> = trace
        .spans
        .iter()
        .filter(|span| span.name.contains("terminal/create"))
        .map(|span| attributes(&span.attributes)["acp.permission.rule.index"].clone())
        .collect();
    assert_eq!(rules, [Attribute::IntValue(2), Attribute::IntValue(3)]);
}

#[tokio::test]
async fn mistake_in_a_rule_has_its_place() {
    let settings = tempfile::NamedTempFile::new().unwrap();
    for (rule, expected) in [
        (
            "kind = 'reed'\naction = 'ask'",
            "line 2, column 8: an unknown kind, expected one of read, ",
        ),
        (
            "path = '/etc'\naction = 'ask'",
            "line 2, column 8: a path that is absolute or not normalized, expected a glob",
        ),
        ("kind = 'read'", "line 1, column 1: missing field `action`"),
    ] {
        std::fs::write(settings.path(), format!("[[permission-rules]]\n{rule}\n")).unwrap();
        let ended =
            command(&["--config", settings.path().to_str().unwrap()]).output().await.unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(!ended.status.success() && said.contains(expected), "{said}");
    }
}
