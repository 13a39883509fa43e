//! Several gateways on one real Redis server, at `REDIS_URL`.
use crate::certificate::Certificate;
use crate::collector::Collector;
use crate::gateway::{Gateway, command, input, refusal, script, soon};
use crate::interrupts::{OpenQuestion, answered_booking, booking};
use crate::run::{EndedRun, Run};
use agui_types::event::Event;
use mcp_bridge_http::random_id;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::runtime::Runtime;

/// Two gateways on one store.
struct GatewayPair {
    url: String,
    prefix: String,
    /// In seconds.
    lease: &'static str,
}

impl GatewayPair {
    /// A prefix for keys that no other test uses.
    fn new() -> Self {
        let url = std::env::var("REDIS_URL").expect("REDIS_URL names a Redis server");
        Self { url, prefix: random_id().unwrap(), lease: "10" }
    }

    /// With a short lease, for tests that end a gateway.
    fn where_one_dies() -> Self {
        Self { lease: "4", ..Self::new() }
    }

    async fn gateway(&self, arguments: &[&str]) -> Gateway {
        Gateway::start(arguments, &self.variables()).await
    }

    fn variables(&self) -> [(&str, &str); 3] {
        [
            ("GATEWAY_STORE", &*self.url),
            ("GATEWAY_REPLICAS_PREFIX", &*self.prefix),
            ("GATEWAY_REPLICAS_LEASE", self.lease),
        ]
    }

    async fn two(&self, arguments: &[&str]) -> (Gateway, Gateway) {
        (self.gateway(arguments).await, self.gateway(arguments).await)
    }
}

/// Reads a run at a gateway that did not start it.
async fn read_at(gateway: &Gateway, thread: &str, run: &str, text: &str) -> Run {
    let response = gateway.follow(run, None).await;
    assert_eq!(response.status(), StatusCode::OK);
    Run::new(&input(thread, run, text), response)
}

fn is_new_session(told: &EndedRun) -> bool {
    told.customs("acp.notice").iter().any(|notice| notice.to_string().contains("new"))
}

#[tokio::test]
async fn run_is_started_read_and_stopped_at_either_gateway() {
    let (one, other) = GatewayPair::new().two(&[]).await;
    let begun = one.ask("t", "1", "noise").await;
    let read = read_at(&other, "t", "1", "noise").await;
    let begun = begun.rest().await;
    assert_eq!(begun.end(), "success");
    assert_eq!(read.rest().await.events, begun.events);
    let again = other.ask("t", "1", "noise").await.rest().await;
    assert_eq!(again.events, begun.events, "the same input gets what came of it");
    let (status, said) = refusal(other.chat(&input("t", "1", "hello")).await).await;
    assert_eq!(status.as_u16(), 409);
    assert_eq!(&*said, "another run has this id");

    // The session is at the first gateway, for requests to either.
    let mut next = other.ask("t", "2", "slow").await;
    next.until("1 of 50").await;
    let (status, said) = refusal(other.chat(&input("t", "3", "hello")).await).await;
    assert_eq!(status.as_u16(), 409);
    assert_eq!(&*said, "a run is going on in this thread");
    next.reconnect(&one).await;
    next.until("3 of 50").await;
    next.reconnect(&other).await;
    assert_eq!(other.post("runs/2/cancel", &Value::Null).await.0, 202);
    let next = next.rest().await;
    assert_eq!(next.end(), "cancelled");
    assert!(!is_new_session(&next), "{:?}", next.tags());
    let (status, _) = other.post("runs/2/cancel", &Value::Null).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

/// Puts TLS with this certificate in front of a Redis server. Returns the URL.
async fn encrypted(url: &str, certificate: &Certificate) -> String {
    let redis = url.trim_start_matches("redis://").trim_end_matches('/').to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let acceptor = certificate.acceptor(&[]);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            let redis = redis.clone();
            tokio::spawn(async move {
                let mut stream = acceptor.accept(stream).await.ok()?;
                let mut redis = TcpStream::connect(redis).await.unwrap();
                copy_bidirectional(&mut stream, &mut redis).await.ok()
            });
        }
    });
    format!("rediss://{address}")
}

#[tokio::test]
async fn store_is_reached_over_tls() {
    let certificate = Certificate::new();
    let other = Certificate::new();
    let mut shared = GatewayPair::new();
    shared.url = encrypted(&shared.url, &certificate).await;
    let trusted = certificate.file("certificate.pem");
    let trusted = [("SSL_CERT_FILE", trusted.to_str().unwrap())];
    let variables = [&shared.variables()[..], &trusted].concat();
    let one = Gateway::start(&[], &variables).await;
    let other_gateway = Gateway::start(&[], &variables).await;
    assert_eq!(one.ask("t", "1", "hello").await.rest().await.end(), "success");
    let read = read_at(&other_gateway, "t", "1", "hello").await;
    assert_eq!(read.rest().await.end(), "success");
    let mut untrusted = command(&["--no-auth", "--listen", "127.0.0.1:0"]);
    untrusted.envs(shared.variables()).env("SSL_CERT_FILE", other.file("certificate.pem"));
    let output = soon(untrusted.output()).await.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("ertificate"), "{said}");
}

/// A request at one gateway, and the run at the other.
#[test]
fn forwarded_run_joins_trace_of_its_request() {
    let collector = Collector::start();
    let shared = GatewayPair::new();
    let endpoint = collector.url();
    let telemetry =
        [("GATEWAY_TELEMETRY_TRACES", "true"), ("GATEWAY_TELEMETRY_ENDPOINT", &*endpoint)];
    Runtime::new().unwrap().block_on(async {
        let variables = [&shared.variables()[..], &telemetry].concat();
        let one = Gateway::start(&[], &variables).await;
        let other = Gateway::start(&[], &variables).await;
        assert_eq!(one.ask("t", "1", "hello").await.rest().await.end(), "success");
        assert_eq!(other.ask("t", "2", "hello").await.rest().await.end(), "success");
        for gateway in [one, other] {
            gateway.signal(Signal::SIGTERM);
            assert!(gateway.ended().await.success());
        }
    });
    let spans = collector.received().spans;
    let named = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let requests = named("POST /api/ai/chat");
    let runs = named("run demo");
    assert_eq!(requests.len(), 2);
    assert_eq!(runs.len(), 2);
    for request in requests {
        let below = runs.iter().filter(|run| run.parent_span_id == request.span_id);
        assert_eq!(below.count(), 1);
    }
}

#[tokio::test]
async fn settings_answers_and_results_reach_owner_of_thread() {
    let (one, other) = GatewayPair::new().two(&["--permission", "ask-in-stream"]).await;
    let mut run = one.ask("t", "1", "permission").await;
    let asked = run.until_asked().await;
    let path = format!("interrupts/{asked}");
    let (status, _) = other.post(&path, &json!({ "optionId": "no such option" })).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(other.post(&path, &json!({ "optionId": "allow-once" })).await.0, 202);
    for gateway in [&one, &other] {
        assert_eq!(gateway.post(&path, &json!({ "optionId": "allow-once" })).await.0, 409);
    }
    assert_eq!(run.rest().await.end(), "success");

    let url = other.url("/api/ai/agents/demo/threads/t/settings");
    let set = other.client.post(&url).json(&json!({ "modeId": "auto" }));
    let set: Value = soon(set.send()).await.unwrap().json().await.unwrap();
    // The mode of version 2 is an option.
    assert_eq!(set["configOptions"][0]["currentValue"], "auto");
    let url = one.url("/api/ai/agents/demo/threads/t/settings");
    let got: Value = soon(one.client.get(url).send()).await.unwrap().json().await.unwrap();
    assert_eq!(got, set);

    let mut calling = input("t", "2", "dark");
    let parameters = json!({ "type": "object" });
    calling["tools"] = json!([{
        "name": "set_theme", "description": "Does something.", "parameters": parameters,
        "metadata": { "execution": "sync" },
    }]);
    // The session has no tools yet; another thread has.
    calling["threadId"] = json!("u");
    let mut run = one.run(&calling).await;
    let Event::ToolCallEnd(end) = run.until("TOOL_CALL_END").await else { panic!("no call") };
    let path = format!("runs/2/tools/{}", end.tool_call_id);
    assert_eq!(other.post(&path, &json!({ "content": "It is dark" })).await.0, 202);
    assert_eq!(one.post(&path, &json!({ "content": "again" })).await.0, 409);
    assert_eq!(run.rest().await.text().trim(), "Your page says: It is dark.");
}

#[tokio::test]
async fn interrupted_run_is_resumed_at_other_gateway() {
    let (one, other) = GatewayPair::new().two(&[]).await;
    let asked = OpenQuestion::for_word(&one, "t", "edit").await;
    let answer = |run: &str| asked.answered(run, "resolved", &json!({ "optionId": "allow-once" }));
    let resumed = other.run(&answer("2")).await.rest().await;
    assert_eq!(resumed.end(), "success");
    assert!(resumed.text().contains("I have edited greeting.txt"), "{}", resumed.text());
    // The same answers in another run, as after a lost connection, return their result.
    let again = other.chat(&answer("3")).await.text().await.unwrap();
    assert!(again.contains(r#""runId":"t-2""#), "{again}");
}

#[tokio::test]
async fn interrupted_run_is_resumed_under_its_id_at_other_gateway() {
    let (one, other) = GatewayPair::new().two(&[]).await;
    let asked = OpenQuestion::for_word(&one, "t", "edit").await;
    let question = soon(other.follow("t-1", None).await.text()).await.unwrap();
    assert!(question.contains("Edit greeting.txt"), "{question}");
    let answer = asked.answered("1", "resolved", &json!({ "optionId": "allow-once" }));
    let resumed = other.run(&answer).await.rest().await;
    assert_eq!(resumed.end(), "success");
    for gateway in [&one, &other] {
        let read = soon(gateway.follow("t-1", None).await.text()).await.unwrap();
        assert!(read.contains("I have"), "what followed the question: {read}");
        assert!(!read.contains(r#""type":"interrupt""#), "{read}");
    }
}

#[tokio::test]
async fn spans_are_read_at_other_gateway() {
    let (one, other) = GatewayPair::new().two(&["--permission", "ask-in-stream"]).await;
    let mut run = one.ask("t", "1", "edit").await;
    let asked = run.until_asked().await;
    let url = other.url("/api/ai/chat/runs/1/spans");
    let read = async || -> Value {
        soon(soon(other.client.get(&url).send()).await.unwrap().json()).await.unwrap()
    };
    let named = |read: &Value, name: &str| {
        let mut spans = read["updates"].as_array().unwrap().iter().map(|update| &update["span"]);
        spans.find(|span| span["name"] == name).cloned().unwrap_or_default()
    };
    let so_far = read().await;
    assert_eq!(so_far["isOver"], false);
    let question = named(&so_far, "session/request_permission");
    assert!(question["startTimeUnixNano"].is_string() && question["endTimeUnixNano"].is_null());
    let allow = json!({ "optionId": "allow-once" });
    assert_eq!(other.post(&format!("interrupts/{asked}"), &allow).await.0, 202);
    assert_eq!(run.rest().await.end(), "success");
    let over = async {
        loop {
            let answer = read().await;
            if answer["isOver"] == true {
                break answer;
            }
        }
    };
    let all = soon(over).await;
    assert!(named(&all, "run demo")["endTimeUnixNano"].is_string());
}

#[tokio::test]
async fn run_of_killed_gateway_ends_and_thread_moves() {
    let shared = GatewayPair::where_one_dies();
    let (mut one, other) = shared.two(&["--agent", &script("cancellable")]).await;
    let mut begun = one.ask("t", "1", "work").await;
    begun.until("working").await;
    let mut read = read_at(&other, "t", "1", "work").await;
    read.until("working").await;
    one.child.start_kill().unwrap();
    let read = read.rest().await;
    assert_eq!(read.end(), "GATEWAY_LOST");
    let later = read_at(&other, "t", "1", "work").await.rest().await;
    assert_eq!(later.events, read.events, "everybody reads the same end");
    // A client that was connected to it returns, and reads the same end.
    begun.reconnect(&other).await;
    assert_eq!(begun.rest().await.events, read.events);
    assert_eq!(other.post("runs/1/cancel", &Value::Null).await.0, 404);

    let mut next = other.ask("t", "2", "work").await;
    next.until("working").await;
    assert_eq!(other.post("runs/2/cancel", &Value::Null).await.0, 202);
    let next = next.rest().await;
    assert_eq!(next.end(), "cancelled");
}

#[tokio::test]
async fn session_is_loaded_by_new_owner_of_thread() {
    let shared = GatewayPair::where_one_dies();
    let (mut one, mut other) = shared.two(&["--agent", &script("loads-session")]).await;
    let mut asked = input("t", "1", "one");
    assert_eq!(one.run(&asked).await.rest().await.end(), "success");
    one.child.start_kill().unwrap();
    asked["runId"] = json!("2");
    let message = json!({ "id": "2-user", "role": "user", "content": "three" });
    asked["messages"].as_array_mut().unwrap().push(message);
    let told = other.run(&asked).await.rest().await;
    assert_eq!(told.end(), "success");
    assert_eq!(&*told.text(), "and on");
    let loading = other.says("agent: asked").await;
    assert!(loading.contains(r#""method":"session/load""#), "{loading}");
    let prompt = other.says("agent: asked").await;
    assert!(!prompt.contains("one") && prompt.contains("three"), "what it knows: {prompt}");
}

#[tokio::test]
async fn gateway_with_expired_lease_gives_way() {
    let shared = GatewayPair::where_one_dies();
    let arguments = ["--agent", &script("cancellable")];
    let (mut one, other) = shared.two(&arguments).await;
    let mut begun = one.ask("t", "1", "work").await;
    begun.until("working").await;
    one.signal(Signal::SIGSTOP);
    let read = read_at(&other, "t", "1", "work").await.rest().await;
    assert_eq!(read.end(), "GATEWAY_LOST");
    // The next run takes the lease.
    let mut next = other.ask("t", "2", "work").await;
    next.until("working").await;
    one.signal(Signal::SIGCONT);
    let begun = begun.rest().await;
    assert_eq!(begun.end(), "GATEWAY_LOST", "also for who reads it there");
    one.says("agent: cancelled").await;
    assert_eq!(one.post("runs/2/cancel", &Value::Null).await.0, 202);
    assert_eq!(next.rest().await.end(), "cancelled");
}

#[tokio::test]
async fn ending_gateway_releases_its_threads() {
    let (one, other) = GatewayPair::new().two(&[]).await;
    let mut begun = one.ask("t", "1", "slow").await;
    begun.until("1 of 50").await;
    let mut read = read_at(&other, "t", "1", "slow").await;
    read.until("1 of 50").await;
    one.signal(Signal::SIGTERM);
    assert_eq!(read.rest().await.end(), "GATEWAY_SHUTDOWN");
    drop(begun);
    assert!(one.ended().await.success());
    assert_eq!(other.ask("t", "2", "hello").await.rest().await.end(), "success");
}

#[tokio::test]
async fn run_continues_while_read_at_other_gateway() {
    let arguments = ["--agent", &script("cancellable"), "--disconnect-grace", "0"];
    let (mut one, other) = GatewayPair::new().two(&arguments).await;
    let mut begun = one.ask("t", "1", "work").await;
    begun.until("working").await;
    let mut read = read_at(&other, "t", "1", "work").await;
    read.until("working").await;
    drop(begun);
    // The run continues while it is read, and is stopped after its last reader has left.
    let asked = refusal(other.chat(&input("t", "2", "busy")).await).await;
    assert_eq!(asked, (StatusCode::CONFLICT, "a run is going on in this thread".to_owned()));
    drop(read);
    one.says("agent: cancelled").await;
}

#[tokio::test]
async fn question_of_tool_survives_its_gateway() {
    let shared = GatewayPair::where_one_dies();
    let (mut one, other) = shared.two(&[]).await;
    let answer = booking(&one).await;
    one.child.start_kill().unwrap();
    let seat = answered_booking(&other, &answer).await;
    assert!(seat.contains("seat"), "{seat}");
}

/// A Redis server for one test, without persistence.
async fn redis_server(port: u16) -> (Child, u16) {
    let port = if port > 0 {
        port
    } else {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let arguments = ["--bind", "127.0.0.1", "--save", "", "--port", &port.to_string()];
    let mut server = Command::new("redis-server")
        .args(arguments)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    while let Some(line) = soon(lines.next_line()).await.unwrap() {
        if line.contains("Ready to accept connections") {
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return (server, port);
        }
    }
    panic!("redis-server does not start");
}

#[tokio::test]
async fn runs_continue_without_store_and_are_written_later() {
    let (mut server, port) = redis_server(0).await;
    let url = format!("redis://127.0.0.1:{port}");
    let shared = GatewayPair { url, ..GatewayPair::new() };
    let arguments = ["--permission", "ask-in-stream"];
    let (one, other) = shared.two(&arguments).await;
    let mut begun = one.ask("t", "1", "permission").await;
    let asked = begun.until_asked().await;
    let mut read = read_at(&other, "t", "1", "permission").await;
    read.until_asked().await;

    soon(server.kill()).await.unwrap();
    let (status, said) = refusal(other.chat(&input("u", "2", "hello")).await).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{said}");
    let is_ready = async |gateway: &Gateway| {
        soon(gateway.client.get(gateway.url("/readyz")).send()).await.unwrap().status() == 200
    };
    soon(async { while is_ready(&other).await {} }).await;
    let path = format!("interrupts/{asked}");
    assert_eq!(one.post(&path, &json!({ "optionId": "allow-once" })).await.0, 202);
    let begun = begun.rest().await;
    assert_eq!(begun.end(), "success", "it needs no store");

    let (_server, _) = redis_server(port).await;
    let read = read.rest().await;
    assert_eq!(read.events, begun.events, "it has lost everything, and got it back");
    soon(async { while !is_ready(&other).await {} }).await;
    let next = other.ask("t", "3", "hello").await.rest().await;
    assert_eq!(next.end(), "success");
}

/// The server is stopped for longer than any timeout, and then continues.
#[tokio::test]
async fn runs_continue_with_stalled_store() {
    let (server, port) = redis_server(0).await;
    let url = format!("redis://127.0.0.1:{port}");
    // A long lease, which must not expire during the test.
    let shared = GatewayPair { url, lease: "120", ..GatewayPair::new() };
    let (one, other) = shared.two(&["--permission", "ask-in-stream"]).await;
    let mut begun = one.ask("t", "1", "permission").await;
    let asked = begun.until_asked().await;
    let mut read = read_at(&other, "t", "1", "permission").await;
    read.until_asked().await;

    let server_id = Pid::from_raw(i32::try_from(server.id().unwrap()).unwrap());
    kill(server_id, Signal::SIGSTOP).unwrap();
    let (status, said) = refusal(other.chat(&input("u", "2", "hello")).await).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{said}");
    let path = format!("interrupts/{asked}");
    assert_eq!(one.post(&path, &json!({ "optionId": "allow-once" })).await.0, 202);
    let begun = begun.rest().await;
    assert_eq!(begun.end(), "success", "it needs no store");

    kill(server_id, Signal::SIGCONT).unwrap();
    assert_eq!(read.rest().await.events, begun.events);
    let next = input("t", "3", "hello");
    let next = soon(async {
        loop {
            let response = other.chat(&next).await;
            if response.status() == StatusCode::OK {
                break Run::new(&next, response);
            }
        }
    });
    assert_eq!(next.await.rest().await.end(), "success");
}
