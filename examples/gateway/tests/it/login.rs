//! Logins to agents over HTTP.
use crate::gateway::{Gateway, command, refusal, script, soon};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::path::Path;

/// The value of the variable, which is valid.
const KEY: &str = "open-sesame-1234";

/// A gateway with the agent that signs in, and the folder of its mark.
struct SignsIn {
    gateway: Gateway,
    folder: tempfile::TempDir,
}

/// The path of the agent's login.
const LOGIN: &str = "/api/ai/agents/agent/login";

impl SignsIn {
    async fn start(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::start_agent("signs-in", arguments, variables).await
    }

    async fn start_agent(name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let agent = script(name);
        let arguments = [&["--agent", &agent], arguments].concat();
        let mut command = command(&arguments);
        // The log has all that is ever logged.
        command.env("RUST_LOG", "trace").env("MARK", mark).envs(variables.iter().copied());
        Self { gateway: Gateway::listening(command).await, folder }
    }

    fn mark(&self) -> std::path::PathBuf {
        self.folder.path().join("mark")
    }

    async fn request(&self, method: Method, path: &str, body: Option<Value>) -> reqwest::Response {
        let request = self.gateway.client.request(method, self.gateway.url(path));
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        soon(request.send()).await.unwrap()
    }

    async fn get(&self, path: &str) -> Value {
        let response = self.request(Method::GET, path, None).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        response.json().await.unwrap()
    }

    /// Begins a login; returns the status, and the error if there is one.
    async fn begin(&self, body: Value) -> (StatusCode, String) {
        refusal(self.request(Method::POST, LOGIN, Some(body)).await).await
    }

    /// Follows the login until the progress is as wanted.
    async fn until(&self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let mut progress = self.get(&format!("{LOGIN}/progress")).await;
        while !is_wanted(&progress) {
            let version = &progress["version"];
            progress = self.get(&format!("{LOGIN}/progress?after={version}")).await;
        }
        progress
    }

    async fn ended(&self) -> Value {
        self.until(|progress| progress["state"] != "running").await
    }

    /// Logs in, and returns how that ended.
    async fn log_in(&self, body: Value) -> Value {
        assert_eq!(self.begin(body).await.0, StatusCode::ACCEPTED);
        self.ended().await
    }

    async fn ask(&self, run: &str) -> crate::run::EndedRun {
        self.gateway.ask("t", run, "hello").await.rest().await
    }

    /// Ends the gateway, and returns all of its log and of the agents'.
    async fn log(mut self) -> String {
        self.gateway.signal(nix::sys::signal::Signal::SIGTERM);
        let mut log = String::new();
        while let Some(line) = self.gateway.line().await {
            log += &line;
            log.push('\n');
        }
        log
    }
}

#[tokio::test]
async fn agents_are_listed_with_state_and_methods() {
    let login = SignsIn::start(&[], &[]).await;
    let listed = |agent: Value| json!({ "agents": [agent], "missing": [] });
    let unknown = listed(json!({ "name": "agent", "state": "ready" }));
    assert_eq!(login.get("/api/ai/agents").await, unknown, "the agent was not asked yet");
    let described = login.get(LOGIN).await;
    assert_eq!(described["enabled"], true);
    assert_eq!(described["state"], "needs-login", "by `auth/status`");
    assert_eq!(&described["logout"], &json!(true));
    assert_eq!(&described["accounts"], &json!([]));
    let methods = json!([
        { "id": "browser", "name": "Log in", "description": "Opens a browser.", "kind": "agent" },
        { "id": "slow", "name": "Slow", "kind": "agent" },
        { "id": "key", "name": "API key", "link": "https://keys.example/", "kind": "variables", "variables": [
            { "name": "SOME_KEY", "label": "Key", "secret": true, "optional": false },
            { "name": "SOME_NAME", "secret": false, "optional": true },
        ] },
        { "id": "cli", "name": "Terminal", "kind": "terminal", "command": format!("{} login", script("signs-in").replace('\'', "")) },
    ]);
    assert_eq!(described["methods"], methods);
    assert_eq!(login.ask("1").await.end(), "ACP_AUTH_REQUIRED");
    let refusing = json!({ "name": "agent", "state": "needs-login", "logout": true });
    assert_eq!(login.get("/api/ai/agents").await, listed(refusing));
    assert!(login.log().await.contains("offered a terminal"));
}

#[tokio::test]
async fn method_of_agent_logs_in() {
    let login = SignsIn::start(&[], &[]).await;
    assert_eq!(login.ask("1").await.end(), "ACP_AUTH_REQUIRED");
    let ended = login.log_in(json!({ "methodId": "browser" })).await;
    assert_eq!(&ended["state"], &json!("done"));
    assert_eq!(&ended["methodId"], &json!("browser"));
    assert_eq!(login.get("/api/ai/agents").await["agents"][0]["state"], "ready");
    assert_eq!(login.get(LOGIN).await["accounts"], json!(["Ada"]));
    assert_eq!(login.ask("2").await.end(), "success");
}

#[tokio::test]
async fn variable_logs_in_and_is_in_no_log() {
    let login = SignsIn::start(&[], &[]).await;
    let variables = json!({ "SOME_KEY": KEY, "SOME_NAME": "Ada" });
    let ended = login.log_in(json!({ "methodId": "key", "variables": variables })).await;
    assert_eq!(ended["state"], "done", "{ended}");
    let told = login.ask("1").await;
    assert_eq!(told.end(), "success");
    assert_eq!(&*told.text(), "hello with Ada");
    let log = login.log().await;
    assert!(log.contains("a login has ended") && log.contains("starting with (hidden)"), "{log}");
    assert!(!log.contains(KEY), "{log}");
}

#[tokio::test]
async fn refused_value_is_forgotten_and_not_repeated() {
    let login = SignsIn::start(&[], &[]).await;
    let variables = json!({ "SOME_KEY": "open-barley-1234" });
    let ended = login.log_in(json!({ "methodId": "key", "variables": variables })).await;
    assert_eq!(ended["state"], "failed");
    let message = ended["message"].as_str().unwrap();
    assert!(message.contains("(hidden) is wrong") && !message.contains("barley"), "{message}");
    let told = login.ask("1").await;
    assert_eq!(told.end(), "ACP_AUTH_REQUIRED");
    let log = login.log().await;
    assert!(log.contains("starting with no key") && !log.contains("barley"), "{log}");
    assert!(log.trim_end().lines().filter(|line| line.contains("starting with")).count() >= 3);
}

#[tokio::test]
async fn value_in_error_of_agent_is_hidden() {
    let login = SignsIn::start(&[], &[]).await;
    let variables = json!({ "SOME_KEY": "open-sesame-1234" });
    let ended = login.log_in(json!({ "methodId": "key", "variables": variables })).await;
    assert_eq!(ended["state"], "done");
    let told = login.gateway.ask("t", "1", "fail").await.rest().await;
    assert_eq!(told.end(), "ACP_INTERNAL_ERROR");
    assert_eq!(told.error().message, "no use of (hidden)");
    assert!(!login.log().await.contains("open-sesame"));
}

#[tokio::test]
async fn terminal_logs_in() {
    let login = SignsIn::start(&[], &[]).await;
    assert_eq!(login.begin(json!({ "methodId": "cli" })).await.0, StatusCode::ACCEPTED);
    let shown = |text: &'static str| {
        move |progress: &Value| progress["screen"].as_str().unwrap().contains(text)
    };
    let progress = login.until(shown("Your code?")).await;
    assert_eq!(progress["screen"], "Visit https://login.example/device\nYour code? ");
    let input = format!("{LOGIN}/input");
    let typed = login.request(Method::POST, &input, Some(json!({ "text": "1234\r" }))).await;
    assert_eq!(typed.status(), StatusCode::ACCEPTED);
    let ended = login.ended().await;
    assert_eq!(ended["state"], "done", "{ended}");
    assert!(login.mark().exists());
    assert_eq!(login.ask("1").await.end(), "success");
    let late = login.request(Method::POST, &input, Some(json!({ "text": "x" }))).await;
    assert_eq!(refusal(late).await.0, StatusCode::NOT_FOUND, "the program has ended");

    assert_eq!(login.begin(json!({ "methodId": "cli" })).await.0, StatusCode::ACCEPTED);
    login.until(shown("Your code?")).await;
    login.request(Method::POST, &input, Some(json!({ "text": "no\r" }))).await;
    let ended = login.ended().await;
    assert_eq!(&ended["state"], &json!("failed"));
    assert_eq!(&ended["message"], &json!("the program ended with exit status: 3"));
    assert!(ended["screen"].as_str().unwrap().ends_with("a wrong code"), "{ended}");
}

#[tokio::test]
async fn cancelled_terminal_ends_its_program() {
    let login = SignsIn::start(&[], &[]).await;
    assert_eq!(login.begin(json!({ "methodId": "cli" })).await.0, StatusCode::ACCEPTED);
    login.until(|progress| progress["screen"] != "").await;
    let cancelled = login.request(Method::DELETE, LOGIN, None).await;
    assert_eq!(cancelled.status(), StatusCode::ACCEPTED);
    assert_eq!(login.ended().await["state"], "cancelled");
    let again = login.request(Method::DELETE, LOGIN, None).await;
    assert_eq!(
        refusal(again).await,
        (StatusCode::NOT_FOUND, "no login to this agent is going on".to_owned())
    );
    // Standard error ends when the program has ended as well.
    login.log().await;
}

#[tokio::test]
async fn cancelled_call_is_withdrawn_and_second_login_is_refused() {
    let mut login = SignsIn::start(&[], &[]).await;
    assert_eq!(login.begin(json!({ "methodId": "slow" })).await.0, StatusCode::ACCEPTED);
    login.gateway.says("agent: slow").await;
    let (status, message) = login.begin(json!({ "methodId": "browser" })).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(message.contains("cancel it"), "{message}");
    let typed =
        login.request(Method::POST, &format!("{LOGIN}/input"), Some(json!({ "text": "x" }))).await;
    assert_eq!(refusal(typed).await.0, StatusCode::CONFLICT, "it has no terminal");
    login.request(Method::DELETE, LOGIN, None).await;
    assert_eq!(login.ended().await["state"], "cancelled");
    login.gateway.says("agent: withdrawn").await;
    assert_eq!(login.log_in(json!({ "methodId": "browser" })).await["state"], "done");
}

#[tokio::test]
async fn open_logins_of_user_are_limited() {
    let command = script("signs-in");
    let agents =
        (0..5).map(|agent| format!("[agents.a{agent}]\ncommand = \"\"\"{command}\"\"\"\n"));
    let settings = format!("default-agent = 'a0'\n{}", agents.collect::<String>());
    let gateway = Gateway::configured(&settings).await;
    let request = async |method: Method, agent: usize| {
        let path = gateway.url(&format!("/api/ai/agents/a{agent}/login"));
        let request = gateway.client.request(method, path).json(&json!({ "methodId": "slow" }));
        refusal(soon(request.send()).await.unwrap()).await
    };
    for agent in 0..4 {
        assert_eq!(request(Method::POST, agent).await.0, StatusCode::ACCEPTED);
    }
    let (status, message) = request(Method::POST, 4).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{message}");
    assert!(message.starts_with("4 logins of yours are going on"), "{message}");
    assert_eq!(request(Method::DELETE, 0).await.0, StatusCode::ACCEPTED);
    let progress = gateway.url("/api/ai/agents/a0/login/progress");
    loop {
        let progress: Value =
            soon(gateway.client.get(&progress).send()).await.unwrap().json().await.unwrap();
        if progress["state"] != "running" {
            break;
        }
    }
    assert_eq!(request(Method::POST, 4).await.0, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn invalid_requests_are_refused_with_the_reason() {
    let login = SignsIn::start(&[], &[]).await;
    let long = "x".repeat(8 * 1024 + 1);
    for (body, status, message) in [
        (
            json!({ "methodId": "nonsense" }),
            StatusCode::BAD_REQUEST,
            "methodId: there is no authentication method `nonsense`; the agent has `browser`, `slow`, `key`, `cli`",
        ),
        (
            json!({ "methodId": "key" }),
            StatusCode::BAD_REQUEST,
            "variables: expected a value for SOME_KEY",
        ),
        (
            json!({ "methodId": "key", "variables": { "SOME_KEY": "a\nb" } }),
            StatusCode::BAD_REQUEST,
            "variables: the value for SOME_KEY has a control character",
        ),
        (
            json!({ "methodId": "key", "variables": { "SOME_KEY": "k", "LD_PRELOAD": "/tmp/x" } }),
            StatusCode::BAD_REQUEST,
            "variables: expected only [SOME_KEY, SOME_NAME], got LD_PRELOAD",
        ),
        (
            json!({ "methodId": "key", "variables": { "SOME_KEY": long } }),
            StatusCode::PAYLOAD_TOO_LARGE,
            "variables.SOME_KEY: expected at most 8192 bytes, got 8193",
        ),
    ] {
        assert_eq!(login.begin(body).await, (status, message.to_owned()));
    }
    let unknown = login.request(Method::GET, "/api/ai/agents/other/login", None).await;
    assert_eq!(
        refusal(unknown).await,
        (StatusCode::NOT_FOUND, "there is no agent `other`".to_owned())
    );
    let none = login.request(Method::GET, &format!("{LOGIN}/progress"), None).await;
    assert_eq!(refusal(none).await.0, StatusCode::NOT_FOUND);
    assert_eq!(login.begin(json!({ "methodId": "cli" })).await.0, StatusCode::ACCEPTED);
    let text = "x".repeat(4097);
    let typed =
        login.request(Method::POST, &format!("{LOGIN}/input"), Some(json!({ "text": text }))).await;
    let expected = "text: expected at most 4096 bytes, got 4097";
    assert_eq!(refusal(typed).await, (StatusCode::PAYLOAD_TOO_LARGE, expected.to_owned()));
}

#[tokio::test]
async fn agent_at_work_is_not_restarted() {
    let login = SignsIn::start(&[], &[]).await;
    assert_eq!(login.log_in(json!({ "methodId": "browser" })).await["state"], "done");
    let mut run = login.gateway.ask("t", "1", "stay").await;
    run.until("TEXT_MESSAGE_CONTENT").await;
    let ended = login.log_in(json!({ "methodId": "key", "variables": { "SOME_KEY": KEY } })).await;
    assert_eq!(
        ended["message"],
        "the agent is at work; wait for the end of its runs, or stop them"
    );
    login.gateway.post("runs/1/cancel", &json!({})).await;
    assert_eq!(run.rest().await.end(), "cancelled");
}

#[tokio::test]
async fn logout_ends_the_login() {
    let login = SignsIn::start(&[], &[]).await;
    let variables = json!({ "SOME_KEY": KEY });
    assert_eq!(
        login.log_in(json!({ "methodId": "key", "variables": variables })).await["state"],
        "done"
    );
    let left = login.request(Method::POST, "/api/ai/agents/agent/logout", Some(json!({}))).await;
    assert_eq!(left.status(), StatusCode::NO_CONTENT);
    assert_eq!(login.ask("1").await.end(), "ACP_AUTH_REQUIRED", "the variables are forgotten");
    let demo = Gateway::demo(&[]).await;
    let url = demo.url("/api/ai/agents/demo/logout");
    let refused = soon(demo.client.post(url).send()).await.unwrap();
    assert_eq!(refusal(refused).await.0, StatusCode::NOT_FOUND, "it does not support that");
    let url = demo.url("/api/ai/agents/hybrid/login");
    let refused = soon(demo.client.get(url).send()).await.unwrap();
    let model = "the agent `hybrid` is a model, which has no login".to_owned();
    assert_eq!(refusal(refused).await, (StatusCode::NOT_FOUND, model));
}

#[tokio::test]
async fn agent_of_version_2_logs_in_and_out() {
    let login = SignsIn::start_agent("signs-in-2", &[], &[]).await;
    let command = format!("{} login", script("signs-in-2").replace('\'', ""));
    let methods = json!([
        { "id": "browser", "name": "Log in", "kind": "agent" },
        { "id": "cli", "name": "Terminal", "kind": "terminal", "command": command },
    ]);
    for method in ["browser", "cli"] {
        let described = login.get(LOGIN).await;
        assert_eq!(&described["state"], &json!("needs-login"));
        assert_eq!(&described["logout"], &json!(true));
        assert_eq!(described["methods"], methods);
        assert_eq!(login.ask(&format!("{method}-1")).await.end(), "ACP_AUTH_REQUIRED");
        assert_eq!(login.log_in(json!({ "methodId": method })).await["state"], "done", "{method}");
        let described = login.get(LOGIN).await;
        assert_eq!(&described["state"], &json!("ready"));
        assert_eq!(&described["accounts"], &json!(["Ada"]));
        assert_eq!(login.ask(&format!("{method}-2")).await.end(), "success");
        let left =
            login.request(Method::POST, "/api/ai/agents/agent/logout", Some(json!({}))).await;
        assert_eq!(left.status(), StatusCode::NO_CONTENT);
    }
    assert_eq!(login.ask("last").await.end(), "ACP_AUTH_REQUIRED");
}

#[tokio::test]
async fn configured_method_logs_in_to_an_agent_of_version_2() {
    let login = SignsIn::start_agent("signs-in-2", &["--authenticate", "browser"], &[]).await;
    assert_eq!(login.ask("1").await.end(), "success");
}

/// Settings of two users.
async fn shared(login: &str) -> Gateway {
    let agent = script("signs-in").replace('\'', "");
    let settings = format!(
        "{login}\n[agents.agent]\ncommand = \"{agent}\"\n[auth.tokens]\nada = \"{}\"\nbob = \"{}\"\n",
        "a".repeat(20),
        "b".repeat(20)
    );
    Gateway::configured(&settings).await
}

#[tokio::test]
async fn shared_gateway_has_logins_only_by_setting() {
    let post = async |gateway: &Gateway, user: &str, method: Method, path: &str| {
        let request =
            gateway.client.request(method, gateway.url(path)).bearer_auth(user.repeat(20));
        let request = request.json(&json!({ "methodId": "slow" }));
        refusal(soon(request.send()).await.unwrap()).await
    };
    let gateway = shared("").await;
    let (status, message) = post(&gateway, "a", Method::POST, LOGIN).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert!(message.contains("the setting `login`"), "{message}");
    let gateway = shared("login = true").await;
    assert_eq!(post(&gateway, "a", Method::POST, LOGIN).await.0, StatusCode::ACCEPTED);
    assert_eq!(post(&gateway, "b", Method::POST, LOGIN).await.0, StatusCode::CONFLICT);
    let progress = format!("{LOGIN}/progress");
    assert_eq!(
        post(&gateway, "b", Method::GET, &progress).await.0,
        StatusCode::NOT_FOUND,
        "of another user"
    );
    assert_eq!(post(&gateway, "b", Method::DELETE, LOGIN).await.0, StatusCode::NOT_FOUND);
    assert_eq!(post(&gateway, "a", Method::DELETE, LOGIN).await.0, StatusCode::ACCEPTED);
    let stranger = soon(gateway.client.get(gateway.url(LOGIN)).send()).await.unwrap();
    assert_eq!(refusal(stranger).await.0, StatusCode::UNAUTHORIZED);
}

/// Puts a program on a search path of its own.
fn install(folder: &Path, name: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/signs-in.sh");
    std::fs::write(&path, format!("#!/bin/sh\nexec sh '{}'\n", agent.display())).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn installed_agents_are_offered_beside_the_demo() {
    let folder = tempfile::tempdir().unwrap();
    install(folder.path(), "gemini");
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let token = "t".repeat(20);
    let started = async |variables: &[(&str, &str)]| {
        let mut command = command(&[]);
        command.env("PATH", &path).env("MARK", folder.path().join("mark"));
        command.envs(variables.iter().copied());
        Gateway::listening(command).await
    };
    let gateway = started(&[("GATEWAY_TOKEN", &token)]).await;
    let get = async |path: &str| -> Value {
        let request = gateway.client.get(gateway.url(path)).bearer_auth(&token);
        soon(request.send()).await.unwrap().json().await.unwrap()
    };
    let list = get("/api/ai/agents").await;
    let gemini = json!({ "name": "gemini", "title": "Gemini CLI", "state": "ready" });
    let agents = json!([{ "name": "demo", "state": "ready" }, { "name": "hybrid", "state": "ready" }, gemini]);
    assert_eq!(list["agents"], agents);
    let missing = list["missing"].as_array().unwrap();
    let qwen = missing.iter().find(|agent| agent["name"] == "qwen").expect("qwen");
    assert_eq!(qwen["state"], "not-installed");
    assert!(
        qwen["install"].as_str().unwrap().starts_with("npm install --global @qwen-code/qwen-code@")
    );
    assert!(!missing.iter().any(|agent| agent["name"] == "gemini"));
    let ready = get("/readyz").await;
    assert_eq!(ready["agents"], json!({ "demo": true, "hybrid": true }), "others are not started");
    assert_eq!(get("/api/ai/agents/gemini/login").await["state"], "needs-login");
    assert_eq!(get("/readyz").await["agents"]["gemini"], true, "one that runs is probed");

    let open = started(&[]).await;
    let list: Value = soon(open.client.get(open.url("/api/ai/agents")).send())
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(
        list["agents"].as_array().unwrap().len(),
        2,
        "without access control, none is offered"
    );
}
