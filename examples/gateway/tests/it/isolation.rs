//! Agents with a process, a root and an environment for each user.
use crate::gateway::{Gateway, command, input, refusal, script, soon};
use crate::run::Run;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

const USERS: [(&str, &str); 2] = [("alice", "a-secret-of-alice"), ("bob", "a-secret-of-bob!")];

/// The path of the login to an agent that needs one.
const LOGIN: &str = "/api/ai/agents/second/login";

/// A folder for the roots of users, and a gateway with two users.
struct Host {
    folder: TempDir,
    gateway: Gateway,
}

impl Host {
    /// Starts a gateway with these settings, in which `FOLDER` stands for the folder.
    async fn new(settings: &str, files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().canonicalize().unwrap();
        for (name, text) in files {
            fs::write(path.join(name), text.replace("FOLDER", path.to_str().unwrap())).unwrap();
        }
        let users = USERS.map(|(user, token)| format!("{user} = '{token}'\n")).concat();
        let settings = settings.replace("FOLDER", path.to_str().unwrap());
        let config = path.join("gateway.toml");
        fs::write(&config, format!("{settings}\n[auth.tokens]\n{users}")).unwrap();
        let files = ["requests", "mark"].map(|name| path.join(name));
        let [requests, mark] = files.each_ref().map(|path| path.to_str().unwrap());
        let variables =
            [("REQUESTS", requests), ("MARK", mark), ("RUST_LOG", "warn,gateway::hub=info")];
        let gateway = Gateway::start(&["--config", config.to_str().unwrap()], &variables).await;
        Self { folder, gateway }
    }

    /// Sends a request of a user.
    async fn send(
        &self,
        user: &str,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> reqwest::Response {
        let (_, token) = USERS.into_iter().find(|(name, _)| *name == user).unwrap();
        let url = self.gateway.url(path);
        let request = self.gateway.client.request(method, url).bearer_auth(token);
        let request = match &body {
            Some(body) => request.json(body),
            None => request,
        };
        soon(request.send()).await.unwrap()
    }

    async fn chat(&self, user: &str, thread: &str, text: &str) -> reqwest::Response {
        let input = input(thread, thread, text);
        self.send(user, Method::POST, "/api/ai/chat", Some(input)).await
    }

    /// Starts a run of a user.
    async fn run(&self, user: &str, thread: &str, text: &str) -> Run {
        let response = self.chat(user, thread, text).await;
        assert_eq!(response.status(), StatusCode::OK);
        Run::new(&input(thread, thread, text), response)
    }

    /// Returns a document for a user.
    async fn json(&self, user: &str, path: &str) -> Value {
        let response = self.send(user, Method::GET, path, None).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        soon(response.json()).await.unwrap()
    }

    /// Returns the process, the home, the variable and the working directory of a user's agent.
    async fn place(&self, user: &str, thread: &str) -> Vec<String> {
        let text = self.run(user, thread, "go").await.rest().await.text();
        text.split(' ').map(str::to_owned).collect()
    }

    fn root(&self, user: &str) -> String {
        self.folder.path().canonicalize().unwrap().join(user).to_str().unwrap().to_owned()
    }
}

fn own(settings: &str) -> String {
    let command = script("tells-place");
    format!("[agents.own]\ncommand = {command:?}\nisolation = 'user'\n{settings}")
}

#[tokio::test]
async fn users_have_process_root_and_environment_of_their_own() {
    let settings =
        own("root = 'FOLDER/{user}'\nhome = true\n[users.alice.environment]\nTEST_KEY = 'first'\n")
            + "[users.bob.environment-file]\nTEST_KEY = 'FOLDER/key'";
    let host = Host::new(&settings, &[("key", "second\n")]).await;
    let alice = host.place("alice", "1").await;
    let bob = host.place("bob", "1").await;
    let of_alice = host.root("alice");
    let of_bob = host.root("bob");
    assert_eq!(alice[1..], [&*of_alice, "first", &*of_alice]);
    assert_eq!(bob[1..], [&*of_bob, "second", &*of_bob]);
    assert_ne!(alice[0], bob[0], "they have different processes");
    assert_eq!(host.place("alice", "2").await, alice, "threads of a user share the process");
    assert_eq!(fs::metadata(&of_bob).unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn shared_agent_has_one_process() {
    let host = Host::new(&own("").replace("'user'", "'shared'"), &[]).await;
    assert_eq!(host.place("alice", "1").await[0], host.place("bob", "1").await[0]);
}

/// Each route, as another user, while a question of the agent is open.
#[tokio::test]
async fn other_users_see_and_change_nothing() {
    let settings = format!(
        "permission = 'ask-in-stream'\nlogin = true\ndefault-agent = 'own'\n[agents.own]\nisolation = 'user'\n\
         [agents.second]\ncommand = {:?}\nisolation = 'user'",
        script("signs-in")
    );
    let host = Host::new(&settings, &[]).await;
    let mut run = host.run("alice", "t", "permission").await;
    let question = run.until_asked().await;
    let begin = async |user| {
        let slow = Some(json!({ "methodId": "slow" }));
        host.send(user, Method::POST, LOGIN, slow).await.status()
    };
    assert_eq!(begin("alice").await, StatusCode::ACCEPTED);
    let settings_path = "/api/ai/agents/own/threads/t/settings";
    let of_alice = host.json("alice", settings_path).await;
    let without_session = host.json("bob", settings_path).await;
    assert_ne!(of_alice, without_session);
    let allow = json!({ "optionId": "allow-once" });
    let cases = [
        (Method::GET, "/api/ai/chat/runs/t/events".to_owned(), None),
        (Method::GET, "/api/ai/chat/runs/t/spans".to_owned(), None),
        (Method::POST, "/api/ai/chat/runs/t/cancel".to_owned(), None),
        (Method::POST, "/api/ai/chat/runs/t/tools/c".to_owned(), Some(json!({ "content": "" }))),
        (Method::POST, format!("/api/ai/chat/interrupts/{question}"), Some(allow.clone())),
        (Method::POST, settings_path.to_owned(), Some(json!({ "modeId": "plan" }))),
        (Method::GET, format!("{LOGIN}/progress"), None),
        (Method::POST, format!("{LOGIN}/input"), Some(json!({ "text": "x" }))),
        (Method::DELETE, LOGIN.to_owned(), None),
    ];
    for (method, path, body) in cases {
        let refused = host.send("bob", method.clone(), &path, body).await;
        assert_eq!(refused.status(), StatusCode::NOT_FOUND, "{method} {path}");
    }
    assert_eq!(host.json("bob", settings_path).await, without_session);
    assert_eq!(host.json("bob", "/api/tools/sessions").await, json!({ "sessions": [] }));
    assert_eq!(host.json("bob", LOGIN).await.get("attempt"), None);
    assert_eq!(host.json("alice", LOGIN).await["attempt"]["state"], "running");
    // A login, a run and a cancellation of the same names are others.
    assert_eq!(begin("bob").await, StatusCode::ACCEPTED, "the login of alice does not count");
    assert_eq!(host.run("bob", "t", "hello").await.rest().await.end(), "success");
    assert_eq!(host.send("bob", Method::DELETE, LOGIN, None).await.status(), StatusCode::ACCEPTED);
    assert_eq!(host.json("alice", LOGIN).await["attempt"]["state"], "running");
    assert_eq!(host.json("alice", settings_path).await, of_alice);
    let path = format!("/api/ai/chat/interrupts/{question}");
    let answered = host.send("alice", Method::POST, &path, Some(allow)).await;
    assert_eq!(answered.status(), StatusCode::ACCEPTED);
    assert_eq!(run.rest().await.end(), "success");
}

/// The agent of one user asks for files of another one, and of the gateway.
#[tokio::test]
async fn agent_reads_no_file_of_another_user() {
    let command = script("asks-host");
    let settings = format!(
        "[agents.own]\ncommand = {command:?}\nisolation = 'user'\nroot = 'FOLDER/{{user}}'\nfs = 'read-write'\nterminal = true"
    );
    let requests = [
        ("fs/read_text_file", "{\"sessionId\":\"s\",\"path\":\"FOLDER/alice/secret\"}"),
        ("fs/read_text_file", "{\"sessionId\":\"s\",\"path\":\"FOLDER/bob/../alice/secret\"}"),
        ("fs/read_text_file", "{\"sessionId\":\"s\",\"path\":\"FOLDER/gateway.toml\"}"),
        (
            "fs/write_text_file",
            "{\"sessionId\":\"s\",\"path\":\"FOLDER/alice/new\",\"content\":\"\"}",
        ),
        ("terminal/create", "{\"sessionId\":\"s\",\"command\":\"true\",\"cwd\":\"FOLDER/alice\"}"),
        (
            "fs/write_text_file",
            "{\"sessionId\":\"s\",\"path\":\"FOLDER/bob/own\",\"content\":\"own\"}",
        ),
    ];
    let lines = requests.map(|(method, params)| format!("{method} {params}\n")).concat();
    let mut host = Host::new(&settings, &[("requests", &lines)]).await;
    fs::create_dir(host.root("alice")).unwrap();
    fs::write(Path::new(&host.root("alice")).join("secret"), "sesame").unwrap();
    let asked = host.run("bob", "1", "go").await.rest().await;
    assert_eq!(asked.text(), "asked");
    for (number, (method, _)) in requests.iter().enumerate() {
        let line = host.gateway.says("agent: {").await;
        let answer: Value = serde_json::from_str(line.strip_prefix("agent: ").unwrap()).unwrap();
        let is_refused = answer.get("error").is_some();
        assert_eq!(is_refused, number + 1 < requests.len(), "{method}: {answer}");
        assert!(!line.contains("sesame"), "{line}");
    }
    assert_eq!(fs::read_dir(host.root("alice")).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(Path::new(&host.root("bob")).join("own")).unwrap(), "own");
}

fn is_alive(process: &str) -> bool {
    let process = nix::unistd::Pid::from_raw(process.parse().unwrap());
    nix::sys::signal::kill(process, None).is_ok()
}

/// An idle agent is ended in favour of another user.
#[tokio::test]
async fn agents_are_limited_and_idle_ones_make_room() {
    let host = Host::new(&(own("") + "[limits]\nuser-agents = 1"), &[]).await;
    let alice = host.place("alice", "1").await;
    assert!(is_alive(&alice[0]));
    let bob = host.place("bob", "1").await;
    assert!(!is_alive(&alice[0]) && is_alive(&bob[0]));
    let again = host.place("alice", "2").await;
    assert!(!is_alive(&bob[0]) && again[0] != alice[0]);
}

#[tokio::test]
async fn user_is_refused_while_all_agents_are_at_work() {
    let settings =
        "[agents.own]\nisolation = 'user'\npermission = 'ask-in-stream'\n[limits]\nuser-agents = 1";
    let host = Host::new(settings, &[]).await;
    let mut run = host.run("alice", "1", "permission").await;
    let question = run.until_asked().await;
    let refused = host.chat("bob", "1", "hello").await;
    assert_eq!(refused.headers()["retry-after"], "5");
    let expected =
        "the agent is at work for 1 other users, which is the limit; try again when one has ended";
    assert_eq!(refusal(refused).await, (StatusCode::SERVICE_UNAVAILABLE, expected.to_owned()));
    let path = format!("/api/ai/chat/interrupts/{question}");
    let answer = json!({ "optionId": "allow-once" });
    let answered = host.send("alice", Method::POST, &path, Some(answer)).await;
    assert_eq!(answered.status(), StatusCode::ACCEPTED);
    run.rest().await;
    assert_eq!(host.chat("bob", "1", "hello").await.status(), StatusCode::OK);
}

/// An agent without use is ended.
#[tokio::test]
async fn idle_agent_is_ended() {
    let times = "[times]\nidle = 0.2\nquestion = 0.1\ncancel-grace = 0.1";
    let mut host = Host::new(&(own("") + times), &[]).await;
    let alice = host.place("alice", "1").await;
    host.gateway.says("the agent of a user is idle; ending it").await;
    let next = host.place("alice", "1-again").await;
    assert_ne!(next[0], alice[0]);
}

#[tokio::test]
async fn settings_that_users_would_share_end_the_start() {
    let no_agent = "users.alice: expected an agent with `isolation = \"user\"`, got none";
    for (settings, expected) in [
        ("isolation = 'user'\nroot = '/srv/all'", "agents.own: root: expected {user} in the path"),
        ("isolation = 'user'\nhome = true", "agents.own: home: expected a `root`"),
        (
            "root = '/srv/{user}'",
            "agents.own: isolation: expected `user` with `home` or {user} in `root`",
        ),
        ("[users.alice.environment]\nTEST_KEY = 'first'", no_agent),
        ("isolation = 'shared'\n[users.alice]", no_agent),
    ] {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), format!("[agents.own]\n{settings}")).unwrap();
        let mut failing = command(&["--listen", "127.0.0.1:0"]);
        failing.args(["--config", file.path().to_str().unwrap()]);
        let output = soon(failing.output()).await.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with(&format!("gateway: {expected}")), "{said}");
    }
}
