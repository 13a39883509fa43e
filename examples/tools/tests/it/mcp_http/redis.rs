//! Sessions in a real Redis server, shared by several programs. `REDIS_URL` contains its address.
use crate::mcp_http::book_flight::{book, check, result, trip};
use crate::mcp_http::world::{Events, Session, World};
use demo_agent::book_flight;
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::plugin::{
    MemoryStore, NewCall, PluginHost, Resumption, SessionError, SessionRecord, SessionStatus,
    SessionStore, StoreError, StoreLimits, SuspendPolicy, Turn,
};
use mcp_bridge_http::{
    EndpointOptions, PluginService, RedisOwner, RedisStore, random_id, since_1970,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

fn url() -> String {
    std::env::var("REDIS_URL").expect("REDIS_URL names a Redis server")
}

/// Returns a key prefix that is unique to a test.
fn prefix() -> String {
    random_id().expect("randomness")
}

async fn store() -> RedisStore {
    RedisStore::connect(&url(), prefix()).await.expect("a server")
}

/// Creates a record like a host.
fn record(id: &str, revision: u64) -> SessionRecord {
    record_of(id, revision, "ada", "running", 0)
}

fn record_of(id: &str, revision: u64, principal: &str, status: &str, since: u64) -> SessionRecord {
    let text = json!({
        "id": id, "call_id": "c", "tool": "t", "fingerprint": "f", "principal": principal, "arguments": {},
        "status": status, "journal": { "entries": {}, "told": 0 }, "result": null, "reason": null,
        "revision": revision, "epoch": 0, "owner": "a",
        "created": { "secs": 0, "nanos": 0 }, "deadline": { "secs": since + 2, "nanos": 0 },
        "active": { "secs": 0, "nanos": 0 }, "waited": { "secs": 0, "nanos": 0 }, "since": { "secs": since, "nanos": 0 },
    });
    serde_json::from_value(text).expect("a record")
}

/// Formats the result of a store for comparison.
fn said<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> String {
    format!("{outcome:?}")
}

#[derive(Clone, Debug)]
enum Step {
    Create(u8, &'static str, u64),
    Save(u8, u64, &'static str, u64),
    Remove(u8),
    Load(u8),
    Use(u8),
    List,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..8u8, status(), 0..6u64).prop_map(|(id, status, now)| Step::Create(id, status, now)),
        (0..8u8, 0..4u64, status(), 0..6u64)
            .prop_map(|(id, revision, status, now)| Step::Save(id, revision, status, now)),
        (0..8u8).prop_map(Step::Remove),
        (0..8u8).prop_map(Step::Load),
        (0..3u8).prop_map(Step::Use),
        Just(Step::List),
    ]
}

fn status() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("running"), Just("awaiting_elicit"), Just("completed")]
}

/// Returns the principal of the session with this id.
fn principal(id: u8) -> &'static str {
    ["ada", "eve b", ""][usize::from(id % 3)]
}

async fn take(store: &dyn SessionStore, step: &Step) -> String {
    let until = Duration::from_secs(60);
    let now = Duration::ZERO;
    match step {
        Step::Create(id, status, now) => {
            let record = record_of(&id.to_string(), 0, principal(*id), status, *now);
            said(store.create(&record).await)
        }
        Step::Save(id, revision, status, now) => {
            let record = record_of(&id.to_string(), *revision, principal(*id), status, *now);
            said(store.save(&record).await)
        }
        Step::Remove(id) => said(store.remove(&id.to_string()).await),
        Step::Load(id) => said(store.load(&id.to_string()).await),
        Step::Use(name) => said(store.use_once("ada", &name.to_string(), until, now).await),
        Step::List => said(store.list().await),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// For any steps, Redis and the store in memory have the same results, including at their
    /// limits.
    #[test]
    fn redis_and_memory_give_the_same_results(steps in prop::collection::vec(step(), 0..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let mut limits = StoreLimits::new(4, 4 * 600);
            limits.principal_divisor = 2;
            let redis = store().await.with_limits(limits);
            let memory = MemoryStore::new(limits);
            for step in &steps {
                let expected = take(&memory, step).await;
                prop_assert_eq!(take(&redis, step).await, expected, "{:?}", step);
            }
            Ok(())
        })?;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_concurrent_save_wins() {
    let store = store().await;
    store.create(&record("s", 0)).await.expect("a server");
    for revision in 1..20 {
        let saves = (0..8).map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.save(&record("s", revision)).await.expect("a server") })
        });
        let mut wins = 0;
        for save in saves.collect::<Vec<_>>() {
            wins += usize::from(save.await.expect("it ran"));
        }
        assert_eq!(wins, 1);
    }
}

/// A separate process.
struct Program {
    child: Child,
    url: String,
}

impl Program {
    fn start(suspend: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-http"))
            .args(["--listen", "127.0.0.1:0", "--redis", &url(), "--suspend", suspend])
            .stderr(Stdio::piped())
            .spawn()
            .expect("our program");
        let mut line = String::new();
        let stderr = child.stderr.take().expect("piped");
        BufReader::new(stderr).read_line(&mut line).expect("a line");
        let url = line.trim().strip_prefix("listening on ").expect("an address").to_owned();
        Self { child, url }
    }

    fn world(&self) -> World {
        World::at(&self.url)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ran");
    }
}

#[tokio::test]
async fn flight_is_booked_by_two_programs() {
    let can = json!({ "elicitation": {}, "sampling": {} });
    for suspend in ["replay", "park-or-replay", "park"] {
        let first = Program::start(suspend);
        let second = Program::start(suspend);
        let (booked, rounds) = book(&[&first.world(), &second.world()], &can, result).await;
        check(&booked, "Bring a coat.");
        assert_eq!(rounds, 4, "{suspend}");
    }
}

#[tokio::test]
async fn killed_program_loses_no_journaled_state() {
    let can = json!({ "elicitation": {}, "sampling": {} });
    for suspend in ["replay", "park-or-replay"] {
        let first = Program::start(suspend);
        let second = Program::start(suspend);
        let began = first.world();
        let after = second.world();
        let params = json!({ "name": "book_flight", "arguments": trip() });
        let begun = began.modern(1, "tools/call", params, &can).send().await.expect("one");
        let begun: Value = begun.json().await.expect("JSON");
        drop(first);
        let (booked, _) =
            crate::mcp_http::book_flight::go_on(&[&after], &can, result, &begun).await;
        check(&booked, "Bring a coat.");
    }
}

#[tokio::test]
async fn older_client_books_through_a_round_robin() {
    let can = json!({ "elicitation": {}, "sampling": {} });
    let first = Program::start("park");
    let second = Program::start("park");
    let worlds = [second.world(), first.world()];
    let first_world = first.world();
    let begun = first_world.session(&can).await;
    let mut turns = worlds.iter().cycle().map(|world| Session::at(world, &begun.id));
    let mut next = || turns.next().expect("endless");
    let params = json!({ "name": "book_flight", "arguments": trip() });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let mut events = Events::of(next().post(&call).await);
    let booked = loop {
        let message = events.message().await;
        match message["method"].as_str() {
            None => break message,
            Some("notifications/progress") => {}
            Some(_) => {
                let id = &message["id"];
                let result = result(&message);
                let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
                assert_eq!(next().post(&answer).await.status(), 202);
            }
        }
    };
    check(&booked["result"], "Bring a coat.");
    drop(first);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let lost = Session::at(&worlds[0], &begun.id).post(&list).await;
    assert_eq!(lost.status(), 404, "the client starts a new session");
}

/// Returns the `tools/call` that contains the answers.
fn resumed(begun: &Value, progress: &str) -> Value {
    let asked = begun["result"]["inputRequests"].as_object().expect("requests");
    let answers = asked.iter().map(|(key, request)| (key.clone(), result(request)));
    json!({
        "name": "book_flight", "arguments": trip(), "requestState": begun["result"]["requestState"],
        "inputResponses": Value::Object(answers.collect()), "_meta": { "progressToken": progress },
    })
}

#[tokio::test]
async fn notices_after_an_answer_reach_its_call() {
    let can = json!({ "elicitation": {}, "sampling": {} });
    let first = Program::start("park");
    let second = Program::start("park");
    let params = json!({ "name": "book_flight", "arguments": trip() });
    let begun = first.world().modern(1, "tools/call", params, &can).send().await.expect("one");
    let begun: Value = begun.json().await.expect("JSON");
    let answer = second.world().modern(2, "tools/call", resumed(&begun, "p2"), &can).send().await;
    let mut events = Events::of(answer.expect("an answer"));
    let told = events.message().await;
    assert_eq!(told["method"], "notifications/progress");
    assert_eq!(&told["params"]["progressToken"], &json!("p2"));
    assert_eq!(&told["params"]["progress"], &json!(1.0));
    let asks = events.message().await;
    assert_eq!(&asks["id"], &json!(2));
    assert_eq!(&asks["result"]["resultType"], &json!("input_required"));
}

#[tokio::test]
async fn concurrent_answers_to_all_programs_count_once() {
    let can = json!({ "elicitation": {}, "sampling": {} });
    for suspend in ["replay", "park-or-replay", "park"] {
        let programs = [Program::start(suspend), Program::start(suspend)];
        let worlds = programs.each_ref().map(Program::world);
        let params = json!({ "name": "book_flight", "arguments": trip() });
        let begun = worlds[0].modern(1, "tools/call", params, &can).send().await.expect("one");
        let mut last: Value = begun.json().await.expect("JSON");
        let mut tickets = Vec::new();
        for round in 0..10 {
            if last["result"]["resultType"] != "input_required" {
                break;
            }
            // Each answer is sent four times, twice to each program.
            let answers = (0..4).map(|at| {
                worlds[at % 2].modern(round, "tools/call", resumed(&last, "p"), &can).send()
            });
            let mut next = None;
            for answer in futures::future::join_all(answers).await {
                let answer = whole(answer.expect("an answer")).await;
                match answer["result"]["structuredContent"]["ticketNumber"].as_str() {
                    Some(ticket) => tickets.push(ticket.to_owned()),
                    None if answer["result"]["isError"] == true => continue,
                    None => {}
                }
                next = Some(answer);
            }
            last = next.expect("one program resumes");
        }
        assert!(
            !tickets.is_empty() && tickets.iter().all(|ticket| *ticket == tickets[0]),
            "{tickets:?}"
        );
    }
}

/// Reads the response, whether it is a stream or not.
async fn whole(response: reqwest::Response) -> Value {
    if response.headers()["content-type"] == "application/json" {
        return response.json().await.expect("JSON");
    }
    let mut events = Events::of(response);
    loop {
        let message = events.message().await;
        if message["method"].is_null() {
            return message;
        }
    }
}

/// Starts two parking programs in this process. The first ends when it is dropped.
async fn parking(prefix: &str, owner: &str, lifetime: Duration) -> (Arc<PluginHost>, RedisOwner) {
    let store = RedisStore::connect(&url(), prefix).await.expect("a server");
    let tool = book_flight::tool().expect("forms");
    let clock = Arc::new(since_1970);
    let host = PluginHost::new([tool], SuspendPolicy::Park, Arc::new(store), owner, clock);
    let host = Arc::new(host);
    let shared = Arc::clone(&host);
    let owner =
        RedisOwner::start(&url(), prefix, owner, "http://127.0.0.1:9/mcp", shared, lifetime).await;
    (host, owner.expect("a server"))
}

#[tokio::test]
async fn parked_calls_of_an_ended_program_are_lost() {
    let prefix = prefix();
    let lifetime = Duration::from_millis(300);
    let (first, first_owner) = parking(&prefix, "a", lifetime).await;
    let (second, second_owner) = parking(&prefix, "b", lifetime).await;
    let arguments = serde_json::value::to_raw_value(&trip()).expect("JSON").into();
    let session_id = "9c41";
    let call_id = "c";
    let tool = "book_flight";
    let principal = "ada";
    let call = NewCall { session_id, call_id, tool, arguments, principal, meta: None };
    let Ok(Turn::Asks { state, asks }) = first.call(call, None).await else { panic!("it asks") };

    let service = PluginService::new(second, Implementation::new("travel", "1"));
    let service = service.with_forwarder(Arc::new(second_owner));
    let world = World::new(Arc::new(service), EndpointOptions::default()).await;
    let can = json!({ "elicitation": {}, "sampling": {} });
    let flight = json!({ "action": "accept", "content": { "flightId": "none" } });
    let answer = |state: &str| {
        let responses = json!({ (&*asks[0].key): flight });
        json!({ "name": "book_flight", "arguments": trip(), "requestState": state, "inputResponses": responses })
    };
    // The session belongs to another principal: HTTP requests are anonymous here, and ada started
    // it.
    let theirs = world.modern(1, "tools/call", answer(&state), &can).send().await.expect("one");
    let theirs: Value = theirs.json().await.expect("JSON");
    assert_eq!(theirs["result"]["isError"], true);

    drop((first, first_owner));
    let store = RedisStore::connect(&url(), &*prefix).await.expect("a server");
    let (third, third_owner) = parking(&prefix, "c", lifetime).await;
    let tool = "book_flight";
    let arguments = None;
    let answers = Vec::new();
    let resumption = Resumption { state: &state, tool, arguments, principal, answers };
    let elsewhere = third.resume(resumption.clone(), None).await;
    let Err(SessionError::Elsewhere { owner }) = elsewhere else { panic!("{elsewhere:?}") };
    let lost = mcp_bridge_http::Forwarder::forward(&third_owner, &owner, resumption, None).await;
    assert!(matches!(lost, Err(SessionError::NotFound)), "{lost:?}");
    let record = store.load(&state).await.expect("a server").expect("a record");
    assert_eq!(record.status, SessionStatus::Lost);
}
