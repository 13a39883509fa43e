//! Input makes the gateway fetch nothing and hold no more than its limits; secrets are in no log.
use crate::gateway::{Gateway, PROGRAM, http, input, refusal, script, soon};
use crate::http_agents::{Agent, Does, next};
use crate::page_tools::{asking, begin, mcp, request, respond};
use crate::run::Run;
use agui_types::event::Event;
use axum::Router;
use axum::http::{StatusCode, header};
use axum::routing::{any, post};
use futures::FutureExt;
use nix::sys::signal::Signal;
use reqwest::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderValue};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::handshake::server::Request;
use tokio_tungstenite::{accept_async, accept_hdr_async};

/// An agent runs as the same user as the gateway. As root the test needs another user: root can
/// read all processes.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn environment_of_gateway_cannot_be_read() {
    use std::os::unix::process::CommandExt;
    let nobody = nix::unistd::geteuid().is_root().then_some(65534);
    let as_agent = |mut command: std::process::Command| {
        if let Some(nobody) = nobody {
            command.uid(nobody).gid(nobody);
        }
        command
    };
    // The file in the target directory may be below a directory of root.
    let folder = tempfile::TempDir::new().unwrap();
    let program = folder.path().join("gateway");
    std::fs::copy(PROGRAM, &program).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let mut command = std::process::Command::new(&program);
    command.args(["--cwd", "/"]).current_dir("/").env("GATEWAY_TOKEN", "a-secret-of-16-chars");
    let mut command = tokio::process::Command::from(as_agent(command));
    command.kill_on_drop(true);
    let gateway = Gateway::listening(command).await;
    let id = gateway.child.id().unwrap();
    for (file, is_readable) in [("environ", false), ("mem", false), ("stat", true)] {
        let mut read = std::process::Command::new("head");
        read.args(["-c1", &format!("/proc/{id}/{file}")]).current_dir("/");
        let output = as_agent(read).output().unwrap();
        assert_eq!(output.status.success(), is_readable, "{file}: {output:?}");
    }
    let mut own = std::process::Command::new("head");
    own.args(["-c1", "/proc/self/environ"]).current_dir("/");
    assert!(as_agent(own).output().unwrap().status.success(), "other processes are not affected");
}

async fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

fn image(url: &str) -> Value {
    json!({ "type": "image", "source": { "type": "url", "value": url } })
}

/// The model's provider or the agent could fetch them from inside the network.
#[tokio::test]
async fn links_to_private_addresses_are_refused() {
    let gateway = Gateway::demo(&[]).await;
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "[::1]",
        "[::ffff:10.0.0.1]",
        "[fd00::1]",
        "[fe80::1]",
        "[fec0::1]",
        "[ff02::1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::1]",
        "[2002:7f00:1::]",
        "[2001::1]",
        "[100::1]",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "metadata.google.internal",
        "printer.local",
        "router.home.arpa",
        "localhost",
        "a.localhost",
        "LOCALHOST",
        "localhost.",
        "user@127.0.0.1",
        "\u{24db}ocalhost",
        "lo\u{ad}calhost",
        "loca%6chost",
        "[::1%25lo]",
        "ip6-localhost",
        "example.com\\@127.0.0.1",
    ] {
        let mut asked = input("t", "1", "");
        asked["messages"][0]["content"] = json!([image(&format!("http://{host}:80/a.png"))]);
        let (status, said) = refusal(gateway.chat(&asked).await).await;
        assert_eq!(status, 400, "{host}");
        let place = "at /messages/0/content/0/source/value: expected a URL of a public host";
        assert!(said.starts_with(place), "{host}: {said}");
    }
    let mut asked = input("t", "1", "");
    asked["messages"][0]["content"] = json!([image("https://example.com/a.png")]);
    assert_eq!(gateway.run(&asked).await.rest().await.end(), "success");
    for (run, host) in
        ["[2606:4700::1111]", "[64:ff9b::808:808]", "8.8.8.8", "local.example", "notlocal.com"]
            .into_iter()
            .enumerate()
    {
        let mut asked = input(&format!("public-{run}"), "1", "");
        asked["runId"] = json!(format!("public-{run}"));
        asked["messages"][0]["content"] = json!([image(&format!("https://{host}/a.png"))]);
        assert_eq!(gateway.run(&asked).await.rest().await.end(), "success", "{host}");
    }
}

#[tokio::test]
async fn input_urls_are_not_fetched() {
    let (listener, address) = listener().await;
    let url = format!("http://{address}/secret");
    let gateway = Gateway::demo(&[]).await;
    for (agent, run) in [("demo", "1"), ("hybrid", "2")] {
        let mut asked = asking("t", run, &format!("hello {url}"));
        asked["tools"][0]["parameters"] = json!({ "$schema": url, "$ref": url, "type": "object" });
        asked["context"] = json!([{ "description": "A page", "value": url }]);
        asked["state"] = json!({ "url": url });
        let server = json!({ "name": "s", "type": "http", "url": url, "headers": [] });
        asked["forwardedProps"] = json!({ "mcpServers": [server], "url": url, "endpoint": url });
        if agent == "hybrid" {
            let text = json!({ "type": "text", "text": "hello" });
            asked["messages"][0]["content"] = json!([text, image(&url)]);
        }
        let path = gateway.url(&format!("/api/ai/agents/{agent}/chat"));
        let response = soon(gateway.client.post(path).json(&asked).send()).await.unwrap();
        assert_eq!(Run::new(&asked, response).rest().await.end(), "success", "{agent}");
    }
    assert!(listener.accept().now_or_never().is_none(), "somebody has come");
}

/// Some endpoints repeat what they refuse.
#[tokio::test]
async fn secrets_of_a_model_are_hidden_in_its_errors() {
    let (listener, address) = listener().await;
    let refused =
        "no key-of-the-model, user%21name, user!name, a-password, query-key!, query-key%21; v1";
    let router = Router::new()
        .route("/v1/chat/completions", post(async move || (StatusCode::UNAUTHORIZED, refused)))
        .fallback(async move || (StatusCode::UNAUTHORIZED, refused));
    tokio::spawn(axum::serve(listener, router).into_future());
    let file = tempfile::NamedTempFile::new().unwrap();
    let url = format!("http://user%21name:a-password@{address}/v1?key=query-key%21&version=v1");
    let model = format!("[agents.a.model]\nname = 'm'\nkey-variable = 'KEY'\nurl = '{url}'");
    std::fs::write(file.path(), model).unwrap();
    let config = ["--config", file.path().to_str().unwrap()];
    let gateway = Gateway::start(&config, &[("KEY", "key-of-the-model")]).await;
    let told = gateway.ask("t", "1", "Hi").await.rest().await;
    assert_eq!(told.end(), "MODEL_REFUSED");
    let expected = "The model's endpoint answers 401 Unauthorized: no (hidden), (hidden), (hidden), (hidden), \
                    (hidden), (hidden); v1";
    assert_eq!(told.error().message, expected);
}

#[tokio::test]
async fn redirect_of_model_is_not_followed() {
    let (elsewhere, target) = listener().await;
    let (listener, address) = listener().await;
    let location = format!("http://{target}/v1/chat/completions");
    let moved = async move || (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, location)]);
    let router = Router::new().route("/v1/chat/completions", post(moved));
    tokio::spawn(axum::serve(listener, router).into_future());
    let model = format!("[agents.a.model]\nurl = 'http://{address}/v1'\nname = 'm'");
    let told = Gateway::configured(&model).await.ask("t", "1", "Hi").await.rest().await;
    assert_eq!(told.end(), "MODEL_REFUSED");
    assert!(elsewhere.accept().now_or_never().is_none(), "somebody has come");
}

/// The target would receive the token.
#[tokio::test]
async fn redirect_of_agent_is_not_followed() {
    let (elsewhere, target) = listener().await;
    for scheme in ["http", "ws"] {
        let (listener, address) = listener().await;
        let location = format!("http://{target}/acp");
        let had = Arc::new(Mutex::new(Vec::new()));
        let heard = had.clone();
        let moved = async move |headers: HeaderMap| {
            heard.lock().unwrap().push(headers[AUTHORIZATION].clone());
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, location)])
        };
        let router = Router::new().route("/acp", any(moved));
        tokio::spawn(axum::serve(listener, router).into_future());
        let agent = format!("[agents.a]\nurl = '{scheme}://{address}/acp'\ntoken = 'a-token'");
        let told = Gateway::configured(&agent).await.ask("t", "1", "Hi").await.rest().await;
        assert_eq!(told.end(), "AGENT_UNAVAILABLE", "{scheme}");
        let message = &told.error().message;
        assert!(message.contains("307 Temporary Redirect"), "{message}");
        assert_eq!(*had.lock().unwrap(), ["Bearer a-token"], "{scheme}");
    }
    assert!(elsewhere.accept().now_or_never().is_none(), "somebody has come");
}

/// Returns the first line of the response to a request with this head.
async fn status(gateway: &Gateway, head: &str) -> String {
    let mut socket = TcpStream::connect(&gateway.address).await.unwrap();
    let request = format!("{head}Host: {}\r\nConnection: close\r\n\r\n", gateway.address);
    // The connection may be closed before all is written.
    let _cut = soon(socket.write_all(request.as_bytes())).await;
    let mut answer = Vec::new();
    while !answer.contains(&b'\n') && soon(socket.read_buf(&mut answer)).await.unwrap() > 0 {}
    String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn addresses_and_headers_are_limited() {
    let gateway = Gateway::demo(&[]).await;
    let long = "a".repeat(70_000);
    let found = status(&gateway, "GET /healthz HTTP/1.1\r\n").await;
    assert_eq!(found, "HTTP/1.1 200 OK");
    let found = status(&gateway, &format!("GET /{long} HTTP/1.1\r\n")).await;
    assert_eq!(found, "HTTP/1.1 414 URI Too Long");
    let many: String = (0..200).map(|n| format!("X-{n}: 1\r\n")).collect();
    let found = status(&gateway, &format!("GET /healthz HTTP/1.1\r\n{many}")).await;
    assert_eq!(found, "HTTP/1.1 431 Request Header Fields Too Large");
}

#[tokio::test]
async fn tools_and_schemas_of_page_are_limited() {
    let (listener, address) = listener().await;
    let gateway = Gateway::demo(&["--agent-url", &format!("ws://{address}/")]).await;
    let mut asked = input("t", "1", "Hi");
    let tool = |name: usize, schema: Value| json!({ "name": format!("tool-{name}"), "description": "d", "parameters": schema });
    let large = json!({ "type": "object", "description": "x".repeat(64 << 10) });
    let others = (1..200).map(|name| tool(name, json!({ "type": "object" })));
    asked["tools"] = [tool(0, large)].into_iter().chain(others).collect();
    let (run, (mut socket, server, prompt)) = tokio::join!(gateway.run(&asked), async {
        let mut socket = accept_async(soon(listener.accept()).await.unwrap().0).await.unwrap();
        let (server, prompt) = begin(&mut socket).await;
        (socket, server, prompt)
    });
    let url = server["url"].as_str().unwrap();
    let version = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let headers = [
        ("authorization", server["headers"][0]["value"].as_str().unwrap()),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/list"),
    ];
    let params = json!({ "_meta": version });
    let (_, listed, _) = mcp(&gateway.client, url, &headers, "tools/list", params).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    // The page's tools, and two of the gateway.
    assert_eq!(tools.len(), 128 + 2);
    assert_eq!(tools[0]["inputSchema"], json!({ "type": "object" }));
    respond(&mut socket, &prompt, json!({ "stopReason": "end_turn" })).await;
    assert_eq!(run.rest().await.end(), "success");
}

#[tokio::test]
async fn server_of_thread_is_not_guessable() {
    let (listener, address) = listener().await;
    let gateway = Gateway::demo(&["--agent-url", &format!("ws://{address}/")]).await;
    let mut found = BTreeSet::new();
    let one = asking("t", "1", "Hi");
    let two = asking("u", "2", "Hi");
    let (run, (mut socket, server, prompt)) = tokio::join!(gateway.run(&one), async {
        let mut socket = accept_async(soon(listener.accept()).await.unwrap().0).await.unwrap();
        let (server, prompt) = begin(&mut socket).await;
        (socket, server, prompt)
    });
    let mut keep = |server: &Value| {
        let url = server["url"].as_str().unwrap();
        let secret = server["headers"][0]["value"].as_str().unwrap();
        let both = [url.rsplit('/').next(), secret.strip_prefix("Bearer ")];
        for part in both.map(Option::unwrap) {
            assert!(part.len() >= 32 && part.chars().all(|c| c.is_ascii_hexdigit()), "{part}");
            assert!(found.insert(part.to_owned()), "{part} is there twice");
        }
    };
    keep(&server);
    respond(&mut socket, &prompt, json!({ "stopReason": "end_turn" })).await;
    assert_eq!(run.rest().await.end(), "success");
    let (run, prompt) = tokio::join!(gateway.run(&two), async {
        let opened = request(&mut socket, "session/new").await;
        keep(&opened["params"]["mcpServers"][0]);
        respond(&mut socket, &opened["id"], json!({ "sessionId": "another" })).await;
        request(&mut socket, "session/prompt").await["id"].clone()
    });
    respond(&mut socket, &prompt, json!({ "stopReason": "end_turn" })).await;
    assert_eq!(run.rest().await.end(), "success");
}

/// Streams of an agent do not take the connections of users. A quarter of 40 is for agents.
#[tokio::test]
async fn streams_of_agents_leave_room_for_users() {
    let (listener, address) = listener().await;
    let agent = format!("ws://{address}/");
    let connections = [("GATEWAY_LIMITS_CONNECTIONS", "40")];
    let gateway = Gateway::start(&["--agent-url", &agent], &connections).await;
    let asked = asking("t", "1", "Hi");
    let (run, (_socket, server)) = tokio::join!(gateway.run(&asked), async {
        let mut socket = accept_async(soon(listener.accept()).await.unwrap().0).await.unwrap();
        let (server, _prompt) = begin(&mut socket).await;
        (socket, server)
    });
    let url = server["url"].as_str().unwrap();
    let secret = server["headers"][0]["value"].as_str().unwrap();
    let initialize = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let client = http().build().unwrap();
    let mut sessions = Vec::new();
    for _ in 0..11 {
        let headers = [("authorization", secret)];
        let begun = mcp(&client, url, &headers, "initialize", initialize.clone()).await;
        sessions.push(begun.2.unwrap());
    }
    let stream = async |session: &str| {
        // Each stream has a connection of its own.
        let stream = http().build().unwrap().get(url).header(AUTHORIZATION, secret);
        let stream = stream.header("accept", "text/event-stream").header("mcp-session-id", session);
        soon(stream.send()).await.unwrap()
    };
    let mut open = Vec::new();
    for session in &sessions[..10] {
        let stream = stream(session).await;
        assert_eq!(stream.status(), 200);
        open.push(stream);
    }
    let refused = stream(&sessions[10]).await;
    assert_eq!(refused.status().as_u16(), 429);
    assert_eq!(refused.headers()["retry-after"], "5");
    let user = http().build().unwrap().get(gateway.url("/api/ai/agents"));
    assert_eq!(soon(user.send()).await.unwrap().status(), 200);
    drop(open);
    drop(run);
}

/// Secrets in all places.
const CANARIES: &[&str] = &[
    "canary-token",
    "canary-wrong",
    "canary-query",
    "canary-cookie",
    "canary-key",
    "canary-agent-url",
    "canary-bad-url",
    "canary-user",
    "canary-password",
    "canary-web",
    "canary-collector",
    "canary-environment",
    "canary-agent-token",
    "canary-named-token",
    "canary-echoed-token",
];

#[tokio::test]
async fn secrets_are_in_no_log_and_no_error() {
    let (listener, address) = listener().await;
    let (model, model_address) = self::listener().await;
    let refuses = async || (StatusCode::UNAUTHORIZED, "who?");
    let router = Router::new().route("/v1/chat/completions", post(refuses));
    tokio::spawn(axum::serve(model, router).into_future());
    let (named, mut heard) = Agent::serve(Does::Works).await;
    let (echoes, mut heard_that_echoes) = Agent::serve(Does::Echoes).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    let settings = format!(
        "[agents.bad]\nurl = 'ws://canary-user:canary-password@127.0.0.1:1/acp?key=canary-bad-url'\n\
         [agents.web]\nurl = 'http://canary-web:canary-web-password@127.0.0.1:1/acp?key=canary-web-url'\n\
         [agents.own]\ncommand = {:?}\n\
         [agents.named]\nurl = '{named}'\ntoken = 'canary-named-token'\nh2c = true\npermission = 'allow'\n\
         [agents.echoes]\nurl = '{echoes}'\ntoken-variable = 'TEST_ECHOED_TOKEN'\n\
         [agents.model.model]\nurl = 'http://{model_address}/v1'\nname = 'm'\nkey-variable = 'TEST_MODEL_KEY'",
        script("tells-environment"),
    );
    std::fs::write(file.path(), settings).unwrap();
    let mut gateway = Gateway::start(
        &["--config", file.path().to_str().unwrap()],
        &[
            ("RUST_LOG", "trace"),
            ("GATEWAY_TOKEN", "canary-token"),
            ("GATEWAY_AGENT_URL", &format!("ws://{address}/acp?key=canary-agent-url")),
            ("GATEWAY_AGENT_TOKEN", "canary-agent-token"),
            ("TEST_MODEL_KEY", "canary-key"),
            ("TEST_ECHOED_TOKEN", "canary-echoed-token"),
            ("OTHER", "canary-environment"),
            ("TEST_OTHER", "passed on"),
            ("GATEWAY_TELEMETRY_TRACES", "true"),
            ("GATEWAY_TELEMETRY_METRICS", "true"),
            ("GATEWAY_TELEMETRY_ENDPOINT", "http://127.0.0.1:9"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=canary-collector"),
        ],
    )
    .await;
    let mut errors = String::new();

    let agents = gateway.client.get(gateway.url("/api/ai/agents?token=canary-query"));
    let refused = agents.try_clone().unwrap().bearer_auth("canary-wrong");
    errors += &refusal(soon(refused.send()).await.unwrap()).await.1;
    let known = [
        (AUTHORIZATION, HeaderValue::from_static("Bearer canary-token")),
        (COOKIE, HeaderValue::from_static("session=canary-cookie")),
    ];
    let known = HeaderMap::from_iter(known);
    gateway.client = http().default_headers(known.clone()).build().unwrap();
    assert_eq!(soon(agents.headers(known).send()).await.unwrap().status(), 200);
    let url = gateway.url("/api/nothing?token=canary-query");
    errors += &refusal(soon(gateway.client.get(url).send()).await.unwrap()).await.1;

    // A session with the server of its thread: valid and invalid requests.
    let asked = asking("t", "1", "Hi");
    let (run, (mut socket, server, prompt)) = tokio::join!(gateway.run(&asked), async {
        let stream = soon(listener.accept()).await.unwrap().0;
        #[expect(clippy::result_large_err, reason = "as the library has it")]
        let look = |request: &Request, response| {
            assert_eq!(request.headers()["authorization"], "Bearer canary-agent-token");
            Ok(response)
        };
        let mut socket = accept_hdr_async(stream, look).await.unwrap();
        let (server, prompt) = begin(&mut socket).await;
        (socket, server, prompt)
    });
    let url = server["url"].as_str().unwrap();
    let secret = server["headers"][0]["value"].as_str().unwrap();
    for (url, secret) in [(url, secret), (url, "Bearer canary-wrong"), (&format!("{url}0"), secret)]
    {
        let client = http().build().unwrap();
        let begun = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        mcp(&client, url, &[("authorization", secret)], "initialize", begun).await;
    }
    respond(&mut socket, &prompt, json!({ "stopReason": "end_turn" })).await;
    assert_eq!(run.rest().await.end(), "success");

    for (agent, end) in [
        ("model", "MODEL_REFUSED"),
        ("bad", "AGENT_UNAVAILABLE"),
        ("web", "AGENT_UNAVAILABLE"),
        ("own", "success"),
        ("named", "success"),
        ("echoes", "ACP_AUTH_REQUIRED"),
    ] {
        let asked = input("t", agent, "Hi");
        let path = gateway.url(&format!("/api/ai/agents/{agent}/chat"));
        let response = soon(gateway.client.post(path).json(&asked).send()).await.unwrap();
        let told = Run::new(&asked, response).rest().await;
        assert_eq!(told.end(), end);
        errors += &serde_json::to_string(&told.events).unwrap();
    }
    for (heard, token) in
        [(&mut heard, "canary-named-token"), (&mut heard_that_echoes, "canary-echoed-token")]
    {
        let began = next(heard, "initialize").await;
        assert_eq!(began.headers["authorization"], format!("Bearer {token}"));
    }
    assert!(errors.contains("there is no Bearer (hidden)"), "{errors}");
    gateway.signal(Signal::SIGTERM);
    let mut log = String::new();
    while let Some(line) = gateway.line().await {
        log += &line;
        log.push('\n');
    }
    let name = url.rsplit('/').next().unwrap();
    let secret = secret.strip_prefix("Bearer ").unwrap();
    for canary in CANARIES.iter().copied().chain([name, secret]) {
        let shown = |text: &str| text.lines().find(|line| line.contains(canary)).map(str::to_owned);
        assert_eq!(shown(&log), None, "{canary} is logged");
        assert_eq!(shown(&errors), None, "{canary} is told");
    }
    let variables = log.lines().find(|line| line.starts_with("agent: variables")).unwrap();
    assert!(variables.contains("TEST_OTHER=passed on"), "{variables}");
    assert!(log.contains("TRACE"), "all of it was looked at");
}

/// Permission requests with each kind, and each way to name a tool of the page, announced in each
/// way.
fn hostile_requests() -> Vec<(Vec<Value>, Value)> {
    let kinds = ["execute", "delete", "edit", "move", "read", "other", ""];
    let command = || json!({ "command": "rm -rf ~" });
    let carried =
        |name: &str| json!({ "command": "rm -rf ~", "tool_name": name, "tool_input": {} });
    let of_meta = |meta: Value| json!({ "_meta": meta, "rawInput": command() });
    let forms = [
        json!({ "name": "mcp__ui__set_theme", "rawInput": command() }),
        json!({ "name": "mcp__ui__set_theme" }),
        json!({ "title": "ui/set_theme", "rawInput": { "theme": "dark" } }),
        json!({ "title": "mcp__ui__set_theme", "rawInput": command() }),
        of_meta(json!({ "claudeCode": { "toolName": "mcp__ui__set_theme" } })),
        of_meta(json!({ "toolName": "ui_set_theme" })),
        of_meta(json!({ "tool_name": "mcp_ui_set_theme" })),
        json!({ "rawInput": carried("mcp__ui__set_theme") }),
        json!({ "rawInput": carried("ui/set_theme") }),
        json!({ "rawInput": { "tool_name": "ui__set_theme", "tool_input": { "theme": "dark" } } }),
        json!({ "rawInput": { "server": "ui", "tool": "set_theme", "arguments": command() } }),
    ];
    let mut requests = Vec::new();
    for kind in kinds {
        for form in &forms {
            for announced in 0..4 {
                let id = format!("c{}", requests.len());
                let mut call = json!({ "toolCallId": id, "title": "rm -rf ~" });
                call.as_object_mut().unwrap().extend(form.as_object().unwrap().clone());
                if !kind.is_empty() {
                    call["kind"] = json!(kind);
                }
                let own = json!({ "toolCallId": id, "title": "rm -rf ~", "rawInput": command() });
                let of_page =
                    json!({ "toolCallId": id, "title": "x", "name": "mcp__ui__set_theme" });
                let before = match announced {
                    0 => None,
                    1 => Some(call.clone()),
                    2 => Some(own),
                    _ => Some(of_page),
                };
                let update = |mut call: Value| {
                    call["sessionUpdate"] = json!("tool_call");
                    json!({ "sessionId": "s", "update": call })
                };
                let options = json!([
                    { "optionId": "yes", "name": "Allow", "kind": "allow_once" },
                    { "optionId": "no", "name": "Reject", "kind": "reject_once" },
                ]);
                let asked = json!({ "sessionId": "s", "toolCall": call, "options": options });
                requests.push((before.into_iter().map(update).collect(), asked));
            }
        }
    }
    requests
}

#[tokio::test]
async fn text_of_a_model_grants_and_hides_no_request() {
    let folder = tempfile::tempdir().unwrap();
    let [settings, audit, file] =
        ["settings", "audit", "requests"].map(|it| folder.path().join(it));
    let requests = hostile_requests();
    assert!(requests.len() >= 300, "{}", requests.len());
    let mut lines = String::new();
    for (updates, asked) in &requests {
        for update in updates {
            lines += &format!("session/update {update}\n");
        }
        lines += &format!("session/request_permission {asked}\n");
    }
    std::fs::write(&file, lines).unwrap();
    let text = format!(
        "permission = 'ask-in-stream'\naudit-log = {audit:?}\n[agents.own]\ncommand = {:?}\n",
        crate::gateway::script("asks-host")
    );
    std::fs::write(&settings, text).unwrap();
    let arguments = ["--config", settings.to_str().unwrap()];
    let gateway = Gateway::start(&arguments, &[("REQUESTS", file.to_str().unwrap())]).await;
    let mut run = gateway.run(&crate::page_tools::asking("t", "1", "go")).await;
    let mut questions = Vec::new();
    for _ in &requests {
        let question = run.until_asked().await;
        let refused = json!({ "optionId": "no" });
        let (status, said) = gateway.post(&format!("interrupts/{question}"), &refused).await;
        assert_eq!(status, 202, "{said}");
        questions.push(question);
    }
    let told = run.rest().await;
    assert_eq!(told.end(), "success");
    assert_eq!(&*told.text(), "asked");
    // Each request was a question about a call in the stream, and has the answer of the user.
    let asked = told.customs("acp.permission.requested");
    let starts = told.events.iter().filter_map(|event| match event {
        Event::ToolCallStart(start) => Some(start.tool_call_id.as_str()),
        _ => None,
    });
    let starts: BTreeSet<&str> = starts.collect();
    for ((_, request), question) in requests.iter().zip(&asked) {
        let shown = question["toolCallId"].as_str().unwrap();
        assert_eq!(shown, request["toolCall"]["toolCallId"], "{request}");
        assert!(starts.contains(shown), "{request}");
    }
    assert_eq!(asked.len(), requests.len());
    let resolved = told.customs("acp.permission.resolved");
    assert!(resolved.iter().all(|resolved| resolved["optionId"] == "no"));
    gateway.signal(Signal::SIGTERM);
    assert!(gateway.ended().await.success());
    let records = std::fs::read_to_string(&audit).unwrap();
    let records = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let answers = records.filter(|record| record["event"] == "answer");
    let answers: Vec<_> =
        answers.map(|it| (it["question"].clone(), it["decision"].clone())).collect();
    let expected: Vec<_> = questions.iter().map(|it| (json!(it), json!("no"))).collect();
    assert_eq!(answers, expected);
}
