//! Subscriptions of clients of both generations, and results for them.
use super::*;
use mcp_bridge::mcp::base::Era;
use mcp_bridge::mcp::capabilities::{ListChangedCapability, ResourcesCapability};
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::mcp::subscriptions::ServerChange;
use mcp_bridge::server::adapt_outcome;
use std::collections::BTreeSet;

/// A client of a server that offers all changes.
fn subscriber(is_modern: bool) -> Client {
    let mut options = ServerOptions::new(Implementation::new("files", "1"), []);
    let prompts = ListChangedCapability::new().with_list_changed(true);
    let resources = ResourcesCapability::new().with_list_changed(true).with_subscribe(true);
    options.capabilities = options.capabilities.with_prompts(prompts).with_resources(resources);
    let mut client = Client::new(is_modern, &json!({}));
    client.server = Server::new(options);
    if !is_modern {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
        client.send("initialize", params);
        client.take();
    }
    client
}

fn uri(number: usize) -> String {
    format!("file:///{number}")
}

/// Takes the changes of subscriptions that the server reports.
fn reported(client: &mut Client, known: &mut BTreeSet<String>) {
    while let Some(event) = client.server.poll_event() {
        match event {
            ServerEvent::Subscribed(uri) => assert!(known.insert(uri), "reported once"),
            ServerEvent::Unsubscribed(uri) => assert!(known.remove(&uri), "reported before"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn each_change_reaches_its_subscribers_only() {
    let changes = [
        (ServerChange::Prompts, "promptsListChanged", "notifications/prompts/list_changed"),
        (ServerChange::Resources, "resourcesListChanged", "notifications/resources/list_changed"),
    ];
    for (change, member, method) in changes {
        let mut client = subscriber(true);
        let id = client.send("subscriptions/listen", json!({ "notifications": { member: true } }));
        assert_eq!(client.take()[0]["params"]["notifications"], json!({ member: true }));
        for other in [ServerChange::Tools, ServerChange::Prompts, ServerChange::Resources] {
            client.server.notify_changed(&other);
            let sent = client.take();
            assert_eq!(sent.len(), usize::from(other == change));
            if let [sent] = &sent[..] {
                assert_eq!(sent["method"], method);
                let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
                assert_eq!(sent["params"]["_meta"], meta);
            }
        }
        let mut legacy = subscriber(false);
        legacy.server.notify_changed(&change);
        assert_eq!(legacy.take()[0]["method"], method);
    }
}

#[test]
fn change_of_a_resource_reaches_subscribers_of_its_folder() {
    for is_modern in [true, false] {
        let mut client = subscriber(is_modern);
        match is_modern {
            true => client.send(
                "subscriptions/listen",
                json!({ "notifications": { "resourceSubscriptions": ["file:///a"] } }),
            ),
            false => client.send("resources/subscribe", json!({ "uri": "file:///a" })),
        };
        client.take();
        for (changed, is_told) in
            [("file:///a", true), ("file:///a/b", true), ("file:///ab", false), ("file:///", false)]
        {
            client.server.notify_changed(&ServerChange::Resource(changed.into()));
            let sent = client.take();
            assert_eq!(sent.len(), usize::from(is_told), "{changed}");
            assert!(sent.iter().all(|sent| sent["params"]["uri"] == changed));
        }
    }
}

#[test]
fn subscriptions_to_resources_are_limited() {
    let limit = Server::MAX_RESOURCES_LISTENED;
    let uris: Vec<_> = (0..limit + 9).map(uri).collect();
    let mut modern = subscriber(true);
    modern.send(
        "subscriptions/listen",
        json!({ "notifications": { "resourceSubscriptions": uris } }),
    );
    let accepted = &modern.take()[0]["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(accepted.as_array().map(Vec::len), Some(limit));
    let mut legacy = subscriber(false);
    for (index, uri) in uris.iter().enumerate() {
        legacy.send("resources/subscribe", json!({ "uri": uri }));
        assert_eq!(legacy.take()[0].get("error").is_some(), index >= limit);
    }
    legacy.send("resources/subscribe", json!({ "uri": uris[0] }));
    assert!(legacy.take()[0].get("error").is_none(), "it is subscribed already");
}

proptest! {
    /// For any sequence of subscriptions and their ends, the reported resources are those with a
    /// subscription.
    #[test]
    fn reported_resources_are_those_with_a_subscription(
        is_modern: bool,
        steps in prop::collection::vec((any::<bool>(), prop::collection::vec(0..4_usize, 0..4), 0..4_usize), 0..30),
    ) {
        let mut client = subscriber(is_modern);
        let mut open: Vec<(i64, BTreeSet<String>)> = Vec::new();
        let mut known = BTreeSet::new();
        for (begins, numbers, which) in steps {
            let uris: BTreeSet<_> = numbers.iter().map(|number| uri(*number)).collect();
            match (is_modern, begins) {
                (true, true) => {
                    let listened: Vec<_> = numbers.iter().map(|number| uri(*number)).collect();
                    let id = client.send("subscriptions/listen", json!({ "notifications": { "resourceSubscriptions": listened } }));
                    open.push((id, uris));
                }
                (true, false) if which < open.len() => {
                    let (id, _) = open.remove(which);
                    client.line(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
                }
                (true, false) => {}
                (false, _) => {
                    let method = if begins { "resources/subscribe" } else { "resources/unsubscribe" };
                    client.send(method, json!({ "uri": uri(which) }));
                    open.retain(|(_, uris)| !uris.contains(&uri(which)));
                    if begins {
                        open.push((0, BTreeSet::from([uri(which)])));
                    }
                }
            }
            reported(&mut client, &mut known);
            let expected: BTreeSet<_> = open.iter().flat_map(|(_, uris)| uris.clone()).collect();
            prop_assert_eq!(&known, &expected);
        }
        client.server.handle_close();
        reported(&mut client, &mut known);
        prop_assert!(known.is_empty());
    }
}

/// Outcomes of servers of both generations, and what a client of either receives.
#[test]
fn outcome_is_adapted_to_the_version_of_the_client() {
    let request = |method: &str| {
        let params = wire_raw(&json!({ "uri": "file:///a", "name": "p" }));
        ClientRequest::decode(method, Some(params.as_ref())).expect("params")
    };
    let adapted = |method: &str, result: Value, era| {
        let outcome =
            adapt_outcome(&request(method), Ok(wire_raw(&result)), era).expect("a result");
        outcome.decode::<Value>().expect("JSON")
    };
    let old = json!({ "prompts": [], "own": 1 });
    let new = json!({ "prompts": [], "own": 1, "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
    assert_eq!(adapted("prompts/list", old.clone(), Era::Modern), new);
    assert_eq!(adapted("prompts/list", new, Era::Legacy), old);
    assert_eq!(adapted("prompts/list", old.clone(), Era::Legacy), old);
    let cached =
        json!({ "resultType": "complete", "contents": [], "ttlMs": 5, "cacheScope": "public" });
    assert_eq!(adapted("resources/read", cached.clone(), Era::Modern), cached);
    let prompt = json!({ "messages": [] });
    let typed = json!({ "messages": [], "resultType": "complete" });
    assert_eq!(adapted("prompts/get", prompt, Era::Modern), typed);

    let failed = |method: &str, code: i64, data: Value, era| {
        let mut error = ErrorObject::new(code, "no");
        error.data = Some(wire_raw(&data));
        adapt_outcome(&request(method), Err(error), era).expect_err("an error").code.0
    };
    let about = json!({ "uri": "file:///a" });
    assert_eq!(failed("resources/read", -32002, about.clone(), Era::Modern), -32602);
    assert_eq!(failed("resources/read", -32602, about.clone(), Era::Legacy), -32002);
    assert_eq!(failed("resources/read", -32602, json!({}), Era::Legacy), -32602);
    assert_eq!(failed("prompts/get", -32602, about, Era::Legacy), -32602);
}
