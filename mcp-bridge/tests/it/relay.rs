//! Relays between servers and clients of both generations.
use crate::server::{ALL, CAPABILITIES, VERSION, answer, book_flight, text, tool};
use jsonrpc_core::wire;
use mcp_bridge::client::ClientOptions;
use mcp_bridge::mcp::base::Era;
use mcp_bridge::mcp::capabilities::{ClientCapabilities, Implementation};
use mcp_bridge::relay::{ConnectionId, Relay, RelayEvent, RelayOptions, StateCodec};
use mcp_bridge::server::{Server, ServerEvent, ServerOptions, ToolCall};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// Signs with a secret; sufficient to detect modified states.
#[derive(Debug)]
struct Signed;

impl Signed {
    fn sign(state: &str, bound_to: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        ("secret", state, bound_to).hash(&mut hasher);
        hasher.finish()
    }
}

impl StateCodec for Signed {
    fn seal(&self, state: &str, bound_to: &str) -> String {
        format!("{:x}.{state}", Self::sign(state, bound_to))
    }

    fn open(&self, sealed: &str, bound_to: &str) -> Option<String> {
        let (signature, state) = sealed.split_once('.')?;
        (signature == format!("{:x}", Self::sign(state, bound_to))).then(|| state.to_owned())
    }
}

/// A relay between a server in this process and the test as its client.
struct World {
    upstream: Server,
    relay: Relay<Signed>,
    /// Calls of the server that have not run yet.
    calls: Vec<ToolCall>,
    now: Duration,
    next_id: i64,
    is_modern: bool,
    connection: ConnectionId,
}

impl World {
    fn new(upstream: Era, is_modern: bool) -> Self {
        Self::of(upstream, is_modern, "first")
    }

    fn of(upstream: Era, is_modern: bool, instance: &str) -> Self {
        let tools = [tool("book_flight"), tool("slow")];
        let server = Server::new(ServerOptions::new(Implementation::new("travel", "1"), tools));
        let capabilities: ClientCapabilities = wire::decode(&ALL().to_string()).expect("JSON");
        let mut options = ClientOptions::new(Implementation::new("relay", "1"), capabilities);
        options.era = Some(upstream);
        let offered =
            RelayOptions::new(ServerOptions::new(Implementation::new("relay", "1"), []), instance);
        let mut relay = Relay::new(options, offered, Signed);
        let connection = relay.connect().expect("room");
        relay.start(Duration::ZERO);
        let (calls, now) = (Vec::new(), Duration::ZERO);
        let mut world =
            Self { upstream: server, relay, calls, now, next_id: 0, is_modern, connection };
        assert_eq!(world.run(), Vec::<Value>::new());
        assert!(matches!(world.relay.poll_event(), Some(RelayEvent::Ready(_))));
        let Some(RelayEvent::Tools(list)) = world.relay.poll_event() else { panic!("no tools") };
        assert_eq!(list.tools.len(), 2);
        world.handshake();
        world
    }

    fn handshake(&mut self) {
        if !self.is_modern {
            let params = json!({ "protocolVersion": "2025-11-25", "capabilities": ALL(), "clientInfo": { "name": "c", "version": "1" } });
            self.send("initialize", params);
            assert_eq!(self.run().len(), 1);
        }
    }

    /// Exchanges messages until server and relay are idle; the tools of the server run at once. Returns the messages to
    /// the client.
    fn run(&mut self) -> Vec<Value> {
        loop {
            let mut is_idle = true;
            while let Some(message) = self.relay.poll_upstream() {
                self.upstream.handle_message(message.as_message());
                is_idle = false;
            }
            while let Some(event) = self.upstream.poll_event() {
                match event {
                    ServerEvent::Call(call) if call.name == "book_flight" => {
                        book_flight(&mut self.upstream, &call);
                    }
                    ServerEvent::Call(call) => self.calls.push(*call),
                    ServerEvent::Cancelled(id) => self.calls.retain(|call| call.id != id),
                    other => panic!("{other:?}"),
                }
            }
            while let Some(outgoing) = self.upstream.poll_outgoing() {
                let line = line(&outgoing.message);
                self.relay.handle_upstream(Ok(&line.to_string()), None, self.now);
                is_idle = false;
            }
            if is_idle {
                break;
            }
        }
        let mut got = Vec::new();
        while let Some((_, outgoing)) = self.relay.poll_downstream() {
            got.push(line(&outgoing.message));
        }
        got
    }

    fn line(&mut self, message: &Value) {
        self.relay.handle_downstream(self.connection, Ok(&message.to_string()), self.now);
    }

    fn send(&mut self, method: &str, mut params: Value) -> i64 {
        self.next_id += 1;
        if self.is_modern {
            params["_meta"] = json!({ VERSION: "2026-07-28", CAPABILITIES: ALL() });
        }
        self.line(
            &json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params }),
        );
        self.next_id
    }

    /// Opens another connection of the same client, as after its restart.
    fn reconnect(&mut self) {
        self.relay.disconnect(self.connection);
        self.connection = self.relay.connect().expect("room");
        self.handshake();
    }

    /// Books a flight. `between` runs before each answer.
    fn book(&mut self, actions: &[&str], mut between: impl FnMut(&mut Self, &Value)) -> Vec<Value> {
        let params = json!({ "name": "book_flight", "arguments": { "from": "NYC" } });
        self.send("tools/call", params.clone());
        let (mut actions, mut got) = (actions.iter(), Vec::new());
        for _ in 0..10 {
            for message in self.run() {
                let result = &message["result"];
                if let Some(requests) = result["inputRequests"].as_object() {
                    between(self, &message);
                    let action = actions.next().unwrap_or(&"accept");
                    let answers = requests.iter().map(|(key, request)| {
                        let asked = request["params"]["message"].as_str().unwrap_or("tip");
                        (key.clone(), answer(asked, action))
                    });
                    let mut again = params.clone();
                    again["inputResponses"] = answers.collect();
                    again["requestState"] = result["requestState"].clone();
                    self.send("tools/call", again);
                } else if message["method"].is_string() {
                    let asked = message["params"]["message"].as_str().unwrap_or("tip");
                    let result = answer(asked, actions.next().unwrap_or(&"accept"));
                    self.line(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
                } else if !message["result"]["content"].is_null() || !message["error"].is_null() {
                    got.push(message);
                    return got;
                }
                got.push(message);
            }
        }
        panic!("it did not end: {got:?}");
    }
}

fn line(message: &jsonrpc_core::MessageBuf) -> Value {
    let mut line = Vec::new();
    message.as_message().to_line(&mut line);
    serde_json::from_slice(&line).expect("JSON")
}

const PAIRS: [(Era, bool); 4] =
    [(Era::Legacy, false), (Era::Legacy, true), (Era::Modern, false), (Era::Modern, true)];

/// The same tool has the same outcome for each combination of generations, and each peer sees only its own generation.
#[test]
fn relay_connects_each_pair_of_generations() {
    for (upstream, is_modern) in PAIRS {
        for (actions, expected) in [
            (&["accept", "accept", "accept"][..], "\"SH-142\" 12 \"bus\""),
            (&["decline"][..], "not booked"),
            (&["accept", "cancel"][..], "not booked"),
        ] {
            let mut world = World::new(upstream, is_modern);
            let got = world.book(actions, |_, _| {});
            let last = got.last().expect("a result");
            assert_eq!(last["result"]["content"][0]["text"], expected, "{upstream:?} {is_modern}");
            assert!(
                got.iter()
                    .all(|message| message["method"].is_null() == is_modern || message == last)
            );
            assert!(
                got.iter().all(|message| message["result"]["resultType"].is_string() == is_modern)
            );
            assert_eq!((world.relay.open_calls(), world.upstream.open_calls()), (0, 0));
        }
    }
}

/// A client since 2026-07-28 may call again on another connection, even while a call of an older server waits.
#[test]
fn modern_client_returns_on_another_connection() {
    for upstream in [Era::Legacy, Era::Modern] {
        let mut world = World::new(upstream, true);
        let got = world.book(&[], |world, _| world.reconnect());
        assert_eq!(
            got.last().expect("a result")["result"]["content"][0]["text"],
            "\"SH-142\" 12 \"bus\""
        );
    }
}

/// Between two peers since 2026-07-28 a relay is stateless.
#[test]
fn relay_is_stateless_between_modern_peers() {
    let mut world = World::new(Era::Modern, true);
    world.book(&[], |world, _| {
        assert_eq!((world.relay.open_calls(), world.upstream.open_calls()), (0, 0));
    });
}

/// A state that was modified or belongs to another call is rejected.
#[test]
fn state_is_bound_to_its_call() {
    for upstream in [Era::Legacy, Era::Modern] {
        for (name, arguments, change) in [
            ("book_flight", json!({ "from": "NYC" }), "x"),
            ("book_flight", json!({ "from": "LAX" }), ""),
            ("slow", json!({ "from": "NYC" }), ""),
        ] {
            let mut world = World::new(upstream, true);
            world.send(
                "tools/call",
                json!({ "name": "book_flight", "arguments": { "from": "NYC" } }),
            );
            let state = world.run().remove(0)["result"]["requestState"]
                .as_str()
                .expect("a state")
                .to_owned();
            let state = format!("{state}{change}");
            world.send(
                "tools/call",
                json!({ "name": name, "arguments": arguments, "requestState": state }),
            );
            assert_eq!(world.run()[0]["error"]["code"], -32602, "{upstream:?} {name} {arguments}");
        }
    }
}

/// A waiting call belongs to one relay. A server since 2026-07-28 works with any relay.
#[test]
fn waiting_call_is_unknown_to_another_relay() {
    for (upstream, is_lost) in [(Era::Legacy, true), (Era::Modern, false)] {
        let params = json!({ "name": "book_flight", "arguments": {} });
        let mut states = Vec::new();
        let mut worlds = ["first", "second"].map(|instance| World::of(upstream, true, instance));
        for world in &mut worlds {
            world.send("tools/call", params.clone());
            states.push(world.run().remove(0)["result"]["requestState"].clone());
        }
        let mut again = params.clone();
        (again["requestState"], again["inputResponses"]) =
            (states[0].clone(), json!({ "flight": answer("flight", "accept") }));
        worlds[1].send("tools/call", again);
        let got = worlds[1].run().remove(0);
        assert_eq!(got["result"]["isError"] == true, is_lost, "{got}");
    }
}

/// Missing answers are requested again, and repeated answers count once.
#[test]
fn missing_answers_are_requested_again() {
    for upstream in [Era::Legacy, Era::Modern] {
        let mut world = World::new(upstream, true);
        let params = json!({ "name": "book_flight", "arguments": {} });
        world.send("tools/call", params.clone());
        let first = world.run().remove(0)["result"].clone();
        let mut again = params.clone();
        again["requestState"] = first["requestState"].clone();
        again["inputResponses"] = json!({ "unasked": {} });
        world.send("tools/call", again.clone());
        let second = world.run().remove(0)["result"].clone();
        assert_eq!(second["inputRequests"], first["inputRequests"], "{upstream:?}");
        let key = first["inputRequests"]
            .as_object()
            .expect("requests")
            .keys()
            .next()
            .expect("a key")
            .clone();
        again["inputResponses"] = json!({ key: answer("flight", "accept") });
        world.send("tools/call", again.clone());
        let third = world.run().remove(0)["result"].clone();
        assert_eq!(
            third["inputRequests"]
                .as_object()
                .map(|it| it.values().all(|it| it["params"]["message"] == "seat")),
            Some(true)
        );
    }
}

/// A call of an older server expires without its client; the call of a client that disconnects ends.
#[test]
fn waiting_call_expires() {
    let mut world = World::new(Era::Legacy, true);
    let params = json!({ "name": "book_flight", "arguments": {} });
    world.send("tools/call", params.clone());
    let state = world.run().remove(0)["result"]["requestState"].clone();
    assert_eq!(world.relay.poll_timeout(), Some(RelayOptions::DEFAULT_WAIT));
    world.now = RelayOptions::DEFAULT_WAIT;
    world.relay.handle_timeout(world.now);
    assert!(matches!(world.relay.poll_event(), Some(RelayEvent::Expired(_))));
    world.run();
    assert_eq!((world.relay.open_calls(), world.upstream.open_calls()), (0, 0));
    let mut again = params;
    (again["requestState"], again["inputResponses"]) = (state, json!({}));
    world.send("tools/call", again);
    let lost = world.run().remove(0);
    assert_eq!(lost["result"]["isError"], true);
    for (upstream, is_modern) in PAIRS {
        let mut world = World::new(upstream, is_modern);
        world.send("tools/call", json!({ "name": "slow", "arguments": {} }));
        world.run();
        assert_eq!((world.calls.len(), world.relay.open_calls()), (1, 1));
        world.relay.disconnect(world.connection);
        world.run();
        assert_eq!(
            (world.calls.len(), world.relay.open_calls()),
            (0, 0),
            "{upstream:?} {is_modern}"
        );
    }
}

/// The result of a call that ends while its client is away is delivered when the client returns.
#[test]
fn result_is_kept_until_the_client_returns() {
    let mut world = World::new(Era::Legacy, true);
    let params = json!({ "name": "slow", "arguments": {} });
    world.send("tools/call", params.clone());
    world.run();
    let call = world.calls.remove(0);
    let needs = mcp_bridge::server::Needs::new([("k", crate::server::form("m"))]);
    world.upstream.ask(call.id, needs, Some(Duration::from_secs(1))).expect("it may");
    let state = world.run().remove(0)["result"]["requestState"].clone();
    world.upstream.handle_timeout(Duration::from_secs(1));
    world.run();
    let call = world.calls.remove(0);
    world.upstream.finish(call.id, text("without you")).expect("open");
    assert_eq!(world.run(), Vec::<Value>::new());
    let mut again = params;
    (again["requestState"], again["inputResponses"]) =
        (state, json!({ "1": { "action": "accept" } }));
    world.send("tools/call", again);
    assert_eq!(world.run()[0]["result"]["content"][0]["text"], "without you");
}

/// A client is not asked for input that it did not declare: an older server receives an error, and a newer one's call
/// fails.
#[test]
fn client_is_asked_only_what_it_declared() {
    for upstream in [Era::Legacy, Era::Modern] {
        let mut world = World::new(upstream, true);
        world.next_id += 1;
        let params = json!({ "name": "book_flight", "arguments": {}, "_meta": { VERSION: "2026-07-28", CAPABILITIES: {} } });
        world.line(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
        let got = world.run().remove(0);
        match upstream {
            Era::Legacy => assert_eq!(got["result"]["content"][0]["text"], "not booked"),
            Era::Modern => assert_eq!(got["error"]["code"], -32021),
            other => panic!("no expectation for {other:?}"),
        }
        assert_eq!((world.relay.open_calls(), world.upstream.open_calls()), (0, 0));
    }
}

/// A relay with an upstream that has not responded yet, with a client of one generation.
fn waiting_world(is_modern: bool) -> World {
    let server = ServerOptions::new(Implementation::new("travel", "1"), [tool("book_flight")]);
    let capabilities: ClientCapabilities = wire::decode(&ALL().to_string()).expect("JSON");
    let options = ClientOptions::new(Implementation::new("relay", "1"), capabilities);
    let offered = ServerOptions::new(Implementation::new("relay", "1"), []);
    let mut relay = Relay::new(options, RelayOptions::new(offered, "first"), Signed);
    let connection = relay.connect().expect("room");
    relay.start(Duration::ZERO);
    let (upstream, calls, now) = (Server::new(server), Vec::new(), Duration::ZERO);
    let mut world = World { upstream, relay, calls, now, next_id: 0, is_modern, connection };
    if !is_modern {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
        world.send("initialize", params);
        assert!(world.relay.poll_downstream().is_some());
    }
    world
}

#[test]
fn list_waits_for_the_upstream_tools() {
    for is_modern in [false, true] {
        let mut world = waiting_world(is_modern);
        let id = world.send("tools/list", json!({}));
        assert!(world.relay.poll_downstream().is_none(), "the tools are unknown");
        let got = world.run();
        assert_eq!((got.len(), &got[0]["id"]), (1, &json!(id)));
        assert_eq!(got[0]["result"]["tools"][0]["name"], "book_flight");
        // A changed list reaches the client as a notification.
        world.upstream.set_tools([tool("slow"), tool("book_flight")]);
        let got = world.run();
        if !is_modern {
            assert_eq!(got[0]["method"], "notifications/tools/list_changed");
        }
        world.send("tools/list", json!({}));
        assert_eq!(world.run()[0]["result"]["tools"][0]["name"], "slow");
    }
}

#[test]
fn list_fails_with_an_unusable_upstream() {
    for is_modern in [false, true] {
        let mut world = waiting_world(is_modern);
        let id = world.send("tools/list", json!({}));
        world.relay.handle_upstream_closed();
        let (_, refused) = world.relay.poll_downstream().expect("an answer");
        let refused = line(&refused.message);
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(id), &json!(-32603)));
        world.connection = world.relay.connect().expect("room");
        world.is_modern = true;
        world.send("tools/list", json!({}));
        let (_, refused) = world.relay.poll_downstream().expect("an answer");
        assert_eq!(line(&refused.message)["error"]["code"], -32603);
    }
}
