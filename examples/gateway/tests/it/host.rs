//! Access of agents to the machine: files below a root, and commands.
use crate::gateway::{Gateway, command, script, soon};
use agui_types::event::Event;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

/// A folder with the root, and an agent that sends requests from it.
struct Host {
    folder: TempDir,
}

impl Host {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        Self { folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn path(&self, name: &str) -> String {
        self.root().join(name).to_str().unwrap().to_owned()
    }

    /// A gateway with an agent that sends these requests, and has this access.
    async fn gateway(&self, may: &str, requests: &[(&str, Value)]) -> Gateway {
        let requests = requests.iter().map(|(method, params)| {
            let mut params = params.clone();
            params.as_object_mut().unwrap().insert("sessionId".to_owned(), "s".into());
            format!("{method} {params}\n")
        });
        self.gateway_with(may, &requests.collect::<String>()).await
    }

    async fn gateway_with(&self, may: &str, requests: &str) -> Gateway {
        let config = self.folder.path().join("config");
        let file = self.folder.path().join("requests");
        fs::write(&file, requests).unwrap();
        let command = script("asks-host");
        let settings = format!("[agents.own]\ncommand = {command:?}\n{may}\n");
        fs::write(&config, settings.replace("ROOT", self.root().to_str().unwrap())).unwrap();
        let config = config.to_str().unwrap();
        let file = file.to_str().unwrap();
        let secret = [("REQUESTS", file), ("A_SECRET_OF_THE_GATEWAY", "secret")];
        Gateway::start(&["--config", config], &secret).await
    }
}

impl Gateway {
    /// The next response to the agent.
    async fn answered(&mut self) -> Value {
        let line = self.says("agent: {").await;
        serde_json::from_str(line.strip_prefix("agent: ").unwrap()).unwrap()
    }

    /// The client capabilities in `initialize`.
    async fn capabilities(&mut self) -> Value {
        let line = self.says("agent: initialize: ").await;
        let initialize: Value =
            serde_json::from_str(line.strip_prefix("agent: initialize: ").unwrap()).unwrap();
        initialize["params"]["clientCapabilities"].clone()
    }
}

/// Sends requests, and returns the results, or the messages of errors.
async fn ask(host: &Host, may: &str, requests: &[(&str, Value)]) -> Vec<Result<Value, String>> {
    let mut gateway = host.gateway(may, requests).await;
    let told = gateway.ask("t", "1", "go").await.rest().await;
    assert_eq!(told.end(), "success");
    assert_eq!(&*told.text(), "asked");
    let mut results = Vec::new();
    for _ in requests {
        let answer = gateway.answered().await;
        results.push(match answer.get("error") {
            None => Ok(answer["result"].clone()),
            Some(error) => Err(error["message"].as_str().unwrap().to_owned()),
        });
    }
    results
}

const READS: &str = "root = \"ROOT\"";
const WRITES: &str = "root = \"ROOT\"\nfs = \"read-write\"";
const RUNS: &str = "root = \"ROOT\"\nfs = \"off\"\nterminal = true";

fn sh(script: &str) -> Value {
    json!({ "command": "sh", "args": ["-c", script] })
}

fn terminal() -> Value {
    json!({ "terminalId": "terminal-1" })
}

#[tokio::test]
async fn agent_is_offered_allowed_capabilities() {
    let host = Host::new();
    let table = [
        ("", [Value::Null, Value::Null, Value::Null]),
        (READS, [json!(true), json!(false), json!(false)]),
        (WRITES, [json!(true), json!(true), json!(false)]),
        (RUNS, [json!(false), json!(false), json!(true)]),
    ];
    for (may, offered) in table {
        let mut gateway = host.gateway(may, &[]).await;
        gateway.ask("t", "1", "go").await.rest().await;
        let told = gateway.capabilities().await;
        let fs = &told["fs"];
        let declared = [&fs["readTextFile"], &fs["writeTextFile"], &told["terminal"]];
        assert_eq!(declared.map(Clone::clone), offered, "{may}");
        let new = gateway.says("agent: new: ").await;
        assert_eq!(new.contains(&format!(r#""cwd":{:?}"#, host.root())), !may.is_empty(), "{new}");
    }
}

#[tokio::test]
async fn unoffered_methods_are_not_found() {
    let host = Host::new();
    fs::write(host.root().join("file"), "text").unwrap();
    let requests = [
        ("fs/read_text_file", json!({ "path": host.path("file") })),
        ("fs/write_text_file", json!({ "path": host.path("file"), "content": "other" })),
        ("terminal/create", sh("true")),
    ];
    let missing = Err("this client does not have the method".to_owned());
    let nothing = ask(&host, "", &requests).await;
    assert!(nothing.iter().all(|answer| *answer == missing), "{nothing:?}");
    let reads = ask(&host, READS, &requests).await;
    assert_eq!(reads, [Ok(json!({ "content": "text" })), missing.clone(), missing.clone()]);
    let runs = ask(&host, RUNS, &requests).await;
    assert_eq!(runs, [missing.clone(), missing, Ok(terminal())]);
    assert_eq!(fs::read_to_string(host.root().join("file")).unwrap(), "text");
}

#[tokio::test]
async fn files_are_accessed_only_below_root() {
    let host = Host::new();
    let outside = host.folder.path().join("outside");
    fs::write(&outside, "outside").unwrap();
    std::os::unix::fs::symlink(&outside, host.root().join("link")).unwrap();
    let name = outside.to_str().unwrap();
    let mut requests = vec![
        ("fs/write_text_file", json!({ "path": host.path("a/new"), "content": "1\n2\n3\n" })),
        ("fs/read_text_file", json!({ "path": host.path("a/new"), "line": 2, "limit": 1 })),
    ];
    let ways = [name.to_owned(), host.path("../outside"), host.path("link"), "a/new".to_owned()];
    for way in &ways {
        requests.push(("fs/read_text_file", json!({ "path": way })));
        requests.push(("fs/write_text_file", json!({ "path": way, "content": "written" })));
    }
    let answers = ask(&host, WRITES, &requests).await;
    assert_eq!(answers[..2], [Ok(json!({})), Ok(json!({ "content": "2\n" }))]);
    assert!(answers[2..].iter().all(Result::is_err), "{answers:?}");
    assert_eq!(fs::read_to_string(outside).unwrap(), "outside");
    assert!(!Path::new("a/new").exists());
}

#[tokio::test]
async fn files_below_root_are_found_by_name() {
    let host = Host::new();
    for (name, text) in [
        ("src/parser.rs", ""),
        ("src/a b.rs", ""),
        ("docs/parser.md", ""),
        ("target/parser.o", ""),
        (".hidden/parser.rs", ""),
        (".gitignore", "/target\n"),
    ] {
        let path = host.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(host.folder.path().join("parser.outside"), "").unwrap();
    let found = async |gateway: &Gateway, agent: &str, query: &str| {
        let url = gateway.url(&format!("/api/ai/agents/{agent}/files?query={query}"));
        let response = soon(gateway.client.get(url).send()).await.unwrap();
        let status = response.status().as_u16();
        (status, soon(response.json::<Value>()).await.unwrap())
    };
    let files = |names: &[&str]| (200, json!({ "files": names, "isPartial": false }));

    let gateway = host.gateway(READS, &[]).await;
    let parsers = ["docs/parser.md", "src/parser.rs"];
    let (status, body) = found(&gateway, "own", "PARSER").await;
    let mut names: Vec<_> =
        body["files"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(status, 200, "in any case, without ignored files");
    assert_eq!(names, parsers.to_vec(), "in any case, without ignored files");
    assert_eq!(found(&gateway, "own", "a%20b").await, files(&["src/a b.rs"]));
    assert_eq!(found(&gateway, "own", "nothing").await, files(&[]));
    let (status, refused) = found(&gateway, "missing", "a").await;
    assert_eq!(status, 404);
    assert_eq!(&refused["error"], &json!("there is no agent `missing`"));

    let without_files = host.gateway(RUNS, &[]).await;
    assert_eq!(found(&without_files, "own", "parser").await, files(&[]), "with `fs = \"off\"`");
    let without_root = Gateway::demo(&[]).await;
    assert_eq!(found(&without_root, "demo", "parser").await, files(&[]), "without a root");
}

#[tokio::test]
async fn unknown_session_has_no_access() {
    let host = Host::new();
    let path = host.path("file");
    fs::write(&path, "text").unwrap();
    let read = format!("fs/read_text_file {}\n", json!({ "sessionId": "other", "path": path }));
    let mut gateway = host.gateway_with(READS, &read).await;
    gateway.ask("t", "1", "go").await.rest().await;
    let answer = gateway.answered().await;
    assert_eq!(answer["error"]["message"], "the session is not open");
}

#[tokio::test]
async fn command_runs_below_root_without_secrets() {
    let host = Host::new();
    fs::create_dir(host.root().join("below")).unwrap();
    let script = "pwd; echo \"$OWN ${A_SECRET_OF_THE_GATEWAY-none}\"; echo error >&2; exit 3";
    let mut create = sh(script);
    create["cwd"] = json!(host.path("below"));
    create["env"] = json!([{ "name": "OWN", "value": "own" }]);
    let mut elsewhere = sh("true");
    elsewhere["cwd"] = json!("/");
    let requests = [
        ("terminal/create", create),
        ("terminal/wait_for_exit", terminal()),
        ("terminal/output", terminal()),
        ("terminal/release", terminal()),
        ("terminal/output", terminal()),
        ("terminal/create", elsewhere),
        ("terminal/create", json!({ "command": "there-is-no-such-command" })),
        ("terminal/create", sh("true")),
    ];
    let answers = ask(&host, RUNS, &requests).await;
    let below = host.root().canonicalize().unwrap().join("below");
    let output = format!("{}\nown none\nerror\n", below.display());
    let ended = json!({ "exitCode": 3 });
    assert_eq!(
        answers[..4],
        [
            Ok(terminal()),
            Ok(ended.clone()),
            Ok(json!({ "output": output, "truncated": false, "exitStatus": ended })),
            Ok(json!({})),
        ]
    );
    let wrong = |answer: &Result<Value, String>| answer.clone().unwrap_err();
    assert_eq!(wrong(&answers[4]), "terminalId: the session has no terminal `terminal-1`");
    assert!(wrong(&answers[5]).contains("expected an absolute path below"));
    assert_eq!(wrong(&answers[6]), "command: command not found: there-is-no-such-command");
    assert_eq!(answers[7], Ok(json!({ "terminalId": "terminal-2" })));
}

#[tokio::test]
async fn output_is_bounded_and_command_is_killed() {
    let host = Host::new();
    let mut create = sh("printf 'aaaa\u{20ac}bb'");
    create["outputByteLimit"] = json!(4);
    let mut endless = sh("trap '' TERM; echo >ready; yes");
    endless["outputByteLimit"] = json!(4);
    let second = json!({ "terminalId": "terminal-2" });
    nix::unistd::mkfifo(&host.root().join("ready"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let requests = [
        ("terminal/create", create),
        ("terminal/wait_for_exit", terminal()),
        ("terminal/output", terminal()),
        ("terminal/create", endless),
        ("terminal/create", sh("read line <ready")),
        ("terminal/wait_for_exit", json!({ "terminalId": "terminal-3" })),
        ("terminal/kill", second.clone()),
        ("terminal/output", second),
    ];
    let answers = ask(&host, RUNS, &requests).await;
    let ended = json!({ "exitCode": 0 });
    assert_eq!(answers[2], Ok(json!({ "output": "bb", "truncated": true, "exitStatus": ended })));
    assert_eq!(answers[6], Ok(json!({})));
    assert_eq!(answers[7].as_ref().unwrap()["exitStatus"], json!({ "signal": "SIGKILL" }));
}

#[tokio::test]
async fn terminals_are_bounded() {
    let host = Host::new();
    let requests = vec![("terminal/create", sh("true")); 17];
    let answers = ask(&host, RUNS, &requests).await;
    assert!(answers[..16].iter().all(Result::is_ok));
    assert_eq!(answers[16], Err("too many terminals; release some".to_owned()));
}

/// Ends a command and its children, in each possible way.
#[tokio::test]
async fn command_ends_with_its_terminal() {
    use nix::sys::signal::Signal;
    // Only on Linux does the guard of a command notice that the gateway was killed.
    let killed = cfg!(target_os = "linux").then_some("SIGKILL");
    for way in ["release", "kill", "session", "SIGTERM"].into_iter().chain(killed) {
        let host = Host::new();
        let pipe = host.root().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let ready = host.root().join("ready");
        nix::unistd::mkfifo(&ready, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let mut pipe = pipe::OpenOptions::new().open_receiver(pipe).unwrap();
        // Both keep the pipe open until they end; the second command ends once both exist.
        let script = "exec 3>pipe; sleep 1000 & echo >ready; sleep 1000";
        let mut requests = vec![
            ("terminal/create", sh(script)),
            ("terminal/create", sh("read line <ready")),
            ("terminal/wait_for_exit", json!({ "terminalId": "terminal-2" })),
        ];
        match way {
            "release" => requests.push(("terminal/release", terminal())),
            "kill" => requests.push(("terminal/kill", terminal())),
            "session" => requests.push(("terminal/wait_for_exit", terminal())),
            _ => {}
        }
        let may = format!("{RUNS}\n[times]\ncancel-grace = 0");
        let mut gateway = host.gateway(&may, &requests).await;
        let run = gateway.ask("t", "1", "go").await;
        for _ in 0..3 {
            gateway.answered().await;
        }
        match way {
            // The agent ignores the cancellation, so its session is abandoned.
            "session" => {
                gateway.post("runs/1/cancel", &Value::Null).await;
                assert_eq!(run.rest().await.end(), "cancelled");
            }
            "SIGTERM" => gateway.signal(Signal::SIGTERM),
            // The command's guard notices the end of the gateway.
            "SIGKILL" => gateway.signal(Signal::SIGKILL),
            _ => {}
        }
        soon(pipe.read_to_end(&mut Vec::new())).await.unwrap();
    }
}

#[tokio::test]
async fn page_gets_command_output() {
    let host = Host::new();
    let config = host.folder.path().join("config");
    let root = host.root();
    fs::write(&config, format!("[agents.demo]\nroot = {root:?}\nterminal = true\n")).unwrap();
    let gateway = Gateway::demo(&["--config", config.to_str().unwrap()]).await;
    let told = gateway.ask("t", "1", "run").await.rest().await;
    assert!(told.text().contains("The command has run in your terminal."), "{}", told.text());
    let mut shown = told.events.iter().filter_map(|event| match event {
        Event::ActivitySnapshot(shown) if shown.activity_type == "acp.terminal" => {
            Some(serde_json::to_value(shown).unwrap())
        }
        _ => None,
    });
    let last = shown.next_back().unwrap();
    assert_eq!(last["content"]["output"], "one two three\n");
    assert_eq!(last["content"]["exitStatus"]["exitCode"], 0);
    assert_eq!(last["content"]["command"], "echo one two three");
    assert_eq!(told.results().len(), 1);
}

#[tokio::test]
async fn page_gets_small_output_of_running_command() {
    let host = Host::new();
    let pipe = host.root().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let script = sh("echo one; read line <pipe");
    let requests = [("terminal/create", script), ("terminal/wait_for_exit", terminal())];
    let gateway = host.gateway(RUNS, &requests).await;
    let mut run = gateway.ask("t", "1", "go").await;
    let shown = run.until(r#""output":"one\n""#).await;
    assert!(!serde_json::to_string(&shown).unwrap().contains("exitStatus"), "{shown:?}");
    soon(tokio::fs::write(pipe, "\n")).await.unwrap();
    assert_eq!(run.rest().await.end(), "success");
}

#[tokio::test]
async fn invalid_access_settings_are_refused() {
    let host = Host::new();
    let table = [
        ("fs = \"read\"", "agents.own: `fs` and `terminal` need a `root`"),
        ("terminal = true", "agents.own: `fs` and `terminal` need a `root`"),
        ("root = \"ROOT/missing\"", "agents.own: root: "),
        ("root = \"ROOT\"\ncwd = \"/\"", "agents.own: cwd: /: expected an absolute path below "),
    ];
    for (may, message) in table {
        let config = host.folder.path().join("config");
        let settings = format!("[agents.own]\ncommand = \"sh\"\n{may}\n");
        fs::write(&config, settings.replace("ROOT", host.root().to_str().unwrap())).unwrap();
        let mut command =
            command(&["--config", config.to_str().unwrap(), "--listen", "127.0.0.1:0"]);
        let output = soon(command.output()).await.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(message), "{said}");
    }
}
