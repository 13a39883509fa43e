//! Settings: a file, the environment and the command line, each overriding the one before.
use crate::gateway::{Gateway, command, input, refusal, soon};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// The exit status with this file and environment, the printed settings, and the errors.
async fn print(
    file: &str,
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> (Option<i32>, String, String) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("gateway.toml");
    fs::write(&path, file).unwrap();
    let path = path.to_str().unwrap();
    let mut command = command(&[&["--config", path, "--print-config"], arguments].concat());
    command.envs(variables.iter().copied());
    let output = soon(command.output()).await.unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap().replace(path, "FILE");
    (output.status.code(), String::from_utf8(output.stdout).unwrap(), stderr)
}

/// The settings, which must be valid.
async fn printed(file: &str, variables: &[(&str, &str)], arguments: &[&str]) -> toml::Table {
    let (status, settings, said) = print(file, variables, arguments).await;
    assert_eq!(status, Some(0), "{said}");
    settings.parse().unwrap()
}

#[tokio::test]
async fn each_source_overrides_the_one_before() {
    let file = "[times]\nturn = 1\nanswer = 2\nwrite = 3.5\n[agents.own]\nurl = 'ws://127.0.0.1:1'";
    let variables = [
        ("GATEWAY_TIMES_ANSWER", "4"),
        ("GATEWAY_LIMITS_LOG_EVENTS", "5"),
        ("GATEWAY_PERMISSION", "allow"),
    ];
    let settings = printed(file, &variables, &["--turn-time", "6"]).await;
    assert_eq!(settings["times"]["write"].as_float(), Some(3.5));
    assert_eq!(settings["times"]["answer"].as_float(), Some(4.0));
    assert_eq!(settings["times"]["turn"].as_float(), Some(6.0));
    assert_eq!(settings["limits"]["log-events"].as_integer(), Some(5));
    assert_eq!(settings["permission"].as_str(), Some("allow"));
    assert_eq!(settings["default-agent"].as_str(), Some("own"));
    let again = printed(&settings.to_string(), &[], &[]).await;
    assert_eq!(settings, again, "what is printed is a file of settings");
}

/// Variables of settings that have no value by default, and so are not printed.
const WITHOUT_DEFAULT: [(&str, &str, &str); 16] = [
    ("GATEWAY_AUDIT_LOG", "audit-log", "/audit.jsonl"),
    ("GATEWAY_DEFAULT_AGENT", "default-agent", "agent"),
    ("GATEWAY_AGENTS_FILE", "agents-file", "/registry.json"),
    ("GATEWAY_CWD", "cwd", "/"),
    ("GATEWAY_LOGIN", "login", "false"),
    ("GATEWAY_AUTH_TRUSTED_HEADER", "auth.trusted-header", "x-user"),
    ("GATEWAY_AUTH_OIDC_ISSUER", "auth.oidc.issuer", "https://login.example"),
    // A text that consists of digits.
    ("GATEWAY_AUTH_OIDC_AUDIENCE", "auth.oidc.audience", "1234567890"),
    ("GATEWAY_AUTH_OIDC_JWKS_FILE", "auth.oidc.jwks-file", "/keys.json"),
    ("GATEWAY_AUTH_OIDC_JWKS_URL", "auth.oidc.jwks-url", "https://login.example/keys"),
    ("GATEWAY_AUTH_OIDC_SCOPE", "auth.oidc.scope", "chat"),
    ("GATEWAY_SITE_TLS_CERT", "site.tls-cert", "/cert.pem"),
    ("GATEWAY_SITE_TLS_KEY", "site.tls-key", "/key.pem"),
    ("GATEWAY_SITE_AGENTS_URL", "site.agents-url", "http://gateway.internal:8787"),
    ("GATEWAY_TELEMETRY_ENDPOINT", "telemetry.endpoint", "http://127.0.0.1:1"),
    ("GATEWAY_AGENT", "agents.agent.command", "sh"),
];

/// The values of a table, by their paths.
fn leaves(prefix: &str, table: &toml::Table, found: &mut Vec<(String, toml::Value)>) {
    for (name, value) in table {
        let path = format!("{prefix}{name}");
        match value {
            toml::Value::Table(inner) => leaves(&format!("{path}."), inner, found),
            value => found.push((path, value.clone())),
        }
    }
}

/// A value that differs from the default.
fn another(path: &str, value: &toml::Value) -> String {
    match (path, value) {
        ("listen", _) => "127.0.0.1:1".to_owned(),
        ("permission", _) => "allow".to_owned(),
        ("when-busy", _) => "queue".to_owned(),
        ("auth.trusted-proxies", _) => "10.0.0.0/8, fd00::/8".to_owned(),
        ("auth.oidc.algorithms", _) => "ES256, EdDSA".to_owned(),
        (_, toml::Value::Boolean(truth)) => (!truth).to_string(),
        (_, toml::Value::Integer(number)) => (number + 1).to_string(),
        (_, toml::Value::Float(number)) => (number + 1.0).to_string(),
        (_, toml::Value::Array(_)) => "a.example, b.example".to_owned(),
        (_, value) => format!("{}x", value.as_str().unwrap()),
    }
}

/// A setting that gets no variable fails this test.
#[tokio::test]
async fn each_setting_has_a_variable() {
    let mut defaults = Vec::new();
    leaves("", &printed("", &[], &[]).await, &mut defaults);
    let is_of_agents = |path: &str| path.starts_with("agents.") || path == "default-agent";
    defaults.retain(|(path, _)| !is_of_agents(path));
    assert!(defaults.len() > 25, "{defaults:?}");
    let mut set: Vec<(String, String, String)> = Vec::new();
    for (path, value) in &defaults {
        let name = path.replace(['.', '-'], "_").to_uppercase();
        set.push((format!("GATEWAY_{name}"), path.clone(), another(path, value)));
    }
    set.extend(WITHOUT_DEFAULT.map(|(name, path, value)| (name.into(), path.into(), value.into())));
    let variables: Vec<_> = set.iter().map(|(name, _, value)| (&**name, &**value)).collect();
    let mut got = Vec::new();
    leaves("", &printed("", &variables, &[]).await, &mut got);
    for (name, path, value) in &set {
        let found = got.iter().find(|(it, _)| it == path).map(|(_, value)| value);
        let found = match found {
            Some(toml::Value::String(text)) => text.clone(),
            Some(toml::Value::Array(list)) => {
                let list: Vec<_> = list.iter().map(|it| it.as_str().unwrap()).collect();
                list.join(", ")
            }
            Some(toml::Value::Float(number)) => number.to_string(),
            Some(other) => other.to_string(),
            None => panic!("{name} has no effect"),
        };
        assert_eq!(&found, value, "{name}");
    }
}

#[tokio::test]
async fn store_has_an_earlier_name_and_hides_its_address() {
    let old = ("GATEWAY_REPLICAS_STORE", "redis://:canary@127.0.0.1:1");
    let settings = printed("", &[("GATEWAY_STORE", ""), old], &[]).await;
    assert_eq!(settings["store"].as_str(), Some("(hidden)"));
    let settings = printed("", &[("GATEWAY_STORE", "a.db"), old], &[]).await;
    assert_eq!(settings["store"].as_str(), Some("a.db"));
    let settings = printed("store = 'b.db'", &[("GATEWAY_STORE", "")], &[]).await;
    assert_eq!(settings["store"].as_str(), Some("b.db"));
    let settings = printed("", &[("GATEWAY_STORE", "a.db")], &["--store", "none"]).await;
    assert_eq!(settings["store"].as_str(), Some("none"));
}

#[tokio::test]
async fn command_line_overrides_agent() {
    let variables = [("GATEWAY_AGENT_URL", "ws://127.0.0.1:1")];
    let settings = printed("", &variables, &["--agent", "sh"]).await;
    assert_eq!(settings["agents"]["agent"]["command"].as_str(), Some("sh"));
    assert_eq!(settings["agents"]["agent"].get("url"), None);
    let settings = printed("", &variables, &[]).await;
    assert_eq!(settings["agents"]["agent"]["url"].as_str(), Some("ws://127.0.0.1:1"));
}

#[tokio::test]
async fn empty_variable_is_not_set() {
    let empty = [
        "GATEWAY_AGENT",
        "GATEWAY_AGENT_URL",
        "GATEWAY_AGENT_TOKEN",
        "GATEWAY_LISTEN",
        "GATEWAY_TIMES_TURN",
        "GATEWAY_TELEMETRY_TRACES",
        "OTEL_TRACES_EXPORTER",
    ];
    let empty = empty.map(|name| (name, ""));
    let url = ["--agent-url", "ws://127.0.0.1:1"];
    for arguments in [&[][..], &url] {
        let unset = printed("", &[], arguments).await;
        assert_eq!(printed("", &empty, arguments).await, unset, "{arguments:?}");
    }
    // The error would show it.
    let settings = printed("", &[("GATEWAY_AGENT_TOKEN", "t")], &url).await;
    assert_eq!(settings["agents"]["agent"]["token"].as_str(), Some("(hidden)"));
}

#[tokio::test]
async fn telemetry_is_off_by_default() {
    let otlp = ("OTEL_TRACES_EXPORTER", "console,otlp");
    let none = ("OTEL_TRACES_EXPORTER", "none");
    let on = "[telemetry]\ntraces = true\nmetrics = true";
    for (file, variables, traces, metrics) in [
        ("", &[][..], false, false),
        ("", &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")], false, false),
        ("", &[otlp], true, false),
        ("", &[("OTEL_TRACES_EXPORTER", "console")], false, false),
        ("", &[("OTEL_METRICS_EXPORTER", "otlp")], false, true),
        (on, &[], true, true),
        (on, &[none], false, true),
        (on, &[none, ("GATEWAY_TELEMETRY_TRACES", "true")], true, true),
        (on, &[("GATEWAY_TELEMETRY_METRICS", "false")], true, false),
        (on, &[otlp, ("OTEL_SDK_DISABLED", "TRUE")], false, false),
    ] {
        let telemetry = &printed(file, variables, &[]).await["telemetry"];
        let got = (telemetry["traces"].as_bool(), telemetry["metrics"].as_bool());
        assert_eq!(got, (Some(traces), Some(metrics)), "{file} {variables:?}");
    }
    let logs = ("OTEL_LOGS_EXPORTER", "otlp");
    for (variables, expected) in [
        (&[][..], false),
        (&[logs], true),
        (&[("GATEWAY_TELEMETRY_LOGS", "true")], true),
        (&[logs, ("OTEL_SDK_DISABLED", "true")], false),
    ] {
        let telemetry = &printed("", variables, &[]).await["telemetry"];
        assert_eq!(telemetry["logs"].as_bool(), Some(expected), "{variables:?}");
    }
    let endpoint = [("GATEWAY_TELEMETRY_ENDPOINT", "http://127.0.0.1:1")];
    let settings = printed("", &endpoint, &[]).await;
    assert_eq!(settings["telemetry"]["endpoint"].as_str(), Some("http://127.0.0.1:1"));
}

#[tokio::test]
async fn invalid_settings_are_explained() {
    for (file, variables, message) in [
        (
            "listen = 5",
            &[][..],
            "FILE: line 1, column 10: invalid type: integer, expected socket address\n",
        ),
        ("[times]\nturn = -1", &[], "expected a number of seconds, from 0 to a year"),
        ("[times]\nturns = 1", &[], "unknown field `turns`"),
        ("", &[("GATEWAY_TIMES_TURN", "soon")], "GATEWAY_TIMES_TURN: invalid type: string"),
        (
            "",
            &[("GATEWAY_PERMISSION", "maybe")],
            "GATEWAY_PERMISSION: unknown variant, expected one of `ask`, ",
        ),
        (
            "[auth.tokens]\na = 'a-secret'\nb = ''",
            &[],
            "auth.tokens.b: expected a token, got an empty one",
        ),
        ("", &[("GATEWAY_TOKEN", "")], "auth.tokens.user: expected a token, got an empty one"),
        ("[agents.a]\n[agents.b]", &[], "default-agent: expected one of a, b, got none"),
        ("default-agent = 'c'\n[agents.a]", &[], "default-agent: expected one of a, got c"),
    ] {
        let (status, _, said) = print(file, variables, &[]).await;
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains(message), "{file} {variables:?}: {said}");
    }
}

/// A secret may be in the wrong place, or malformed.
#[tokio::test]
async fn errors_do_not_quote_settings() {
    let busy =
        "FILE: line 1, column 13: unknown variant, expected one of `reject`, `queue`, `supersede`";
    for (file, variables, message) in [
        // Of another type.
        (
            "[agents.a]\ntoken = ['canary']",
            &[][..],
            "FILE: line 2, column 9: invalid type: sequence, expected a string",
        ),
        (
            "[agents.a]\ntoken = 4711",
            &[],
            "FILE: line 2, column 9: invalid type: integer, expected a string",
        ),
        (
            "[auth]\ntokens = 'canary'",
            &[],
            "FILE: line 2, column 10: invalid type: string, expected a map",
        ),
        (
            "[auth.tokens]\n'é' = { canary = 1 }",
            &[],
            "FILE: line 2, column 7: invalid type: map, expected a string",
        ),
        (
            "[replicas]\nstore = 47.11",
            &[],
            "FILE: line 2, column 9: invalid type: floating point, expected a string",
        ),
        (
            "[times]\nturn = 'canary'",
            &[],
            "FILE: line 2, column 8: invalid type: string, expected f64",
        ),
        // No such value.
        ("when-busy = 'canary'", &[], busy),
        ("when-busy = 'canary, expected canary'", &[], busy),
        ("listen = 'canary'", &[], "FILE: line 1, column 10: invalid socket address syntax"),
        // No such key.
        (
            "[replicas]\nkey = 'canary'",
            &[],
            "FILE: line 2, column 1: unknown field `key`, expected one of `store`, `prefix`, `lease`",
        ),
        (
            "replicas = { key = 'canary' }",
            &[],
            "FILE: line 1, column 14: unknown field `key`, expected one of `store`, `prefix`, `lease`",
        ),
        // Invalid TOML.
        (
            "[agents.a]\ntoken = canary",
            &[],
            "FILE: line 2, column 9: string values must be quoted, expected literal string",
        ),
        (
            "[agents.a]\ntoken = 'canary",
            &[],
            "FILE: line 2, column 16: invalid literal string, expected `'`",
        ),
        (
            "[agents.a]\ntoken 'canary'",
            &[],
            "FILE: line 2, column 7: key with no value, expected `=`",
        ),
        (
            "[agents.a]\ntoken = 'x' canary",
            &[],
            "FILE: line 2, column 13: unexpected key or value, expected newline, `#`",
        ),
        ("[agents.a]\ntoken = 'x'\ntoken = 'canary'", &[], "FILE: line 3, column 1: duplicate key"),
        // In the environment.
        (
            "",
            &[("GATEWAY_WHEN_BUSY", "canary")],
            "GATEWAY_WHEN_BUSY: unknown variant, expected one of `reject`, `queue`, `supersede`",
        ),
        (
            "",
            &[("GATEWAY_REPLICAS_STORE", "4711")],
            "GATEWAY_REPLICAS_STORE: invalid type: integer, expected a string",
        ),
        (
            "",
            &[("GATEWAY_TIMES_TURN", "canary")],
            "GATEWAY_TIMES_TURN: invalid type: string, expected f64",
        ),
    ] {
        let (status, _, said) = print(file, variables, &[]).await;
        assert_eq!(status, Some(1), "{said}");
        let place = said.trim_start_matches("gateway: ").trim_start_matches("--config: ");
        assert_eq!(place, format!("{message}\n"), "{file} {variables:?}");
    }
}

/// Errors do not contain tokens.
#[tokio::test]
async fn unusable_settings_are_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let bad = "what is set as `token` cannot be a bearer token";
    let more = "expected one of `token`, `token-file` and `token-variable`, got more";
    let of_process = |name: &str| {
        format!("{name}: expected an agent with a process, got a model; remove the setting")
    };
    for (agent, why) in [
        ("token = 's3cret'", "a `token` is for an agent behind a `url`"),
        ("command = 'sh'\ntoken = 's3cret'", "a `token` is for an agent behind a `url`"),
        ("url = 'ws://127.0.0.1:1'\ntoken = 's3cret to'", bad),
        ("url = 'ws://127.0.0.1:1'\ntoken = \"s3cret\\u0007\"", bad),
        ("url = 'ws://127.0.0.1:1'\ntoken = ''", bad),
        ("url = 'ws://127.0.0.1:1'\ntoken-file = '/dev/null'", bad),
        (
            "url = 'ws://127.0.0.1:1'\ntoken-file = '/no/such/file'",
            "token-file: /no/such/file: No such file or directory (os error 2)",
        ),
        (
            "url = 'ws://127.0.0.1:1'\ntoken-variable = 'NOT_SET'",
            "token-variable: NOT_SET has no token in it",
        ),
        ("url = 'ws://127.0.0.1:1'\ntoken-variable = 'SPACED'", bad),
        ("url = 'ws://127.0.0.1:1'\ntoken = 's3cret'\ntoken-file = '/dev/null'", more),
        ("url = 'ws://127.0.0.1:1'\ntoken = 's3cret'\ntoken-variable = 'SPACED'", more),
        ("url = 'ws://127.0.0.1:1'\ntoken-file = '/dev/null'\ntoken-variable = 'SPACED'", more),
        (
            "url = 'http://me@127.0.0.1:1'\ntoken = 's3cret'",
            "expected a `token` or a user in `url`, got both",
        ),
        ("url = 'https://127.0.0.1:1'\nh2c = true", "`h2c` is for an agent behind `http://…`"),
        ("url = 'ws://127.0.0.1:1'\nh2c = true", "`h2c` is for an agent behind `http://…`"),
        (
            "token = 's3cret'\n[agents.a.model]",
            "a model has its key in `model.key-variable`, not a `token`",
        ),
        (
            "token-variable = 'SPACED'\n[agents.a.model]",
            "a model has its key in `model.key-variable`, not a `token`",
        ),
        ("isolation = 'user'\n[agents.a.model]", &of_process("isolation")),
        ("home = true\n[agents.a.model]", &of_process("home")),
        ("root = '/srv'\n[agents.a.model]", &of_process("root")),
        ("fs = 'read'\n[agents.a.model]", &of_process("fs")),
        ("terminal = true\n[agents.a.model]", &of_process("terminal")),
    ] {
        fs::write(file.path(), format!("[agents.a]\n{agent}")).unwrap();
        let mut command = command(&["--config", file.path().to_str().unwrap()]);
        let output = soon(command.env("SPACED", "s3cret to").output()).await.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(said, format!("gateway: agents.a: {why}\n"));
    }
}

#[tokio::test]
async fn agents_have_names() {
    let gateway =
        Gateway::configured("default-agent = 'b'\n[agents.a]\npermission = 'allow'\n[agents.b]\npermission = 'ask-in-stream'")
            .await;
    let get = gateway.client.get(gateway.url("/api/ai/agents"));
    let listed: Value = soon(get.send()).await.unwrap().json().await.unwrap();
    let agents = json!([{ "name": "b", "state": "ready" }, { "name": "a", "state": "ready" }]);
    assert_eq!(listed, json!({ "agents": agents, "missing": [] }));
    let ask = |agent: &str, run: &str| {
        let url = gateway.url(&format!("/api/ai/agents/{agent}/chat"));
        gateway.client.post(url).json(&input("t", run, "permission")).send()
    };
    let allowed = soon(ask("a", "1")).await.unwrap();
    assert_eq!(allowed.status(), StatusCode::OK);
    let allowed = crate::run::Run::new(&input("t", "1", "permission"), allowed).rest().await;
    assert_eq!(allowed.end(), "success");
    let mut asked = gateway.ask("t", "2", "permission").await;
    asked.until_asked().await;
    let (status, said) = refusal(soon(ask("c", "3")).await.unwrap()).await;
    assert_eq!(status.as_u16(), 404);
    assert_eq!(&*said, "there is no agent `c`");
}
