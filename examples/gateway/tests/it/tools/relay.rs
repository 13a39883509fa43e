//! Prompts, resources, completions and changes pass between all pairs of generations, and skills
//! since 2026-07-28.
use crate::tools::world::{World, passes, request};
use acp_types::v1::elicitation::ElicitationAction;
use gateway::tools::FromServer;
use jsonrpc_core::wire::{Extra, Raw};
use mcp_bridge::client::{CallError, CallParams};
use mcp_bridge::mcp::base::Era;
use mcp_bridge::mcp::resources::ReadResourceResult;
use mcp_bridge::mcp::skills::{GetSkillResult, ListSkillsResult, SkillsCapability};
use mcp_bridge::mcp::subscriptions::{ServerChange, SubscriptionFilter};
use mcp_bridge::skills::{check, verify};
use mcp_bridge_http::CallEvent;
use serde_json::{Value, json, to_value};

const PAIRS: [(Era, Era); 4] = [
    (Era::Legacy, Era::Legacy),
    (Era::Legacy, Era::Modern),
    (Era::Modern, Era::Legacy),
    (Era::Modern, Era::Modern),
];

#[tokio::test]
async fn requests_pass_between_all_generations() {
    let table = [
        ("prompts/list", json!({}), "prompts", json!([{ "name": "greet", "own": 1.0 }])),
        ("resources/list", json!({}), "resources", json!([{ "uri": "note:1", "name": "one" }])),
        (
            "resources/templates/list",
            json!({}),
            "resourceTemplates",
            json!([{ "uriTemplate": "note:{id}", "name": "note" }]),
        ),
        (
            "resources/read",
            json!({ "uri": "note:1" }),
            "contents",
            json!([{ "uri": "note:1", "text": "x" }]),
        ),
        (
            "prompts/get",
            json!({ "name": "greet", "arguments": { "a": "1", "b": "2" } }),
            "messages",
            json!([{ "role": "user", "content": { "type": "text", "text": "Greet 2." } }]),
        ),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "greet" }, "argument": { "name": "a", "value": "" } }),
            "completion",
            json!({ "values": ["1", "2"] }),
        ),
    ];
    for (server, agent) in PAIRS {
        let world = World::new(server).await;
        let client = world.agent(agent).await;
        let offered = &client.server().capabilities;
        assert!(offered.prompts.is_some() && offered.completions.is_some(), "{offered:?}");
        assert_eq!(offered.resources.as_ref().and_then(|it| it.subscribe), Some(true));
        for (method, params, member, expected) in &table {
            let result = client.request(request(method, params)).await.expect("a result");
            let result = result.decode::<Value>().expect("JSON");
            assert_eq!(result[member], *expected, "{method} {server:?} {agent:?}");
            assert_eq!(result.get("resultType").is_some(), agent == Era::Modern, "{method}");
            let is_cacheable = method.ends_with("list") || *method == "resources/read";
            let has_time = agent == Era::Modern && is_cacheable;
            assert_eq!(result.get("ttlMs").is_some(), has_time, "{method} {server:?} {agent:?}");
        }
        let list = client.request(request("prompts/list", &json!({ "cursor": "1" }))).await;
        let list = list.expect("a result").decode::<Value>().expect("JSON");
        assert_eq!(list["nextCursor"], "2", "pages pass unchanged");
        let received = world.notes.received.lock().expect("alive");
        let version = "/_meta/io.modelcontextprotocol~1protocolVersion";
        for (method, params) in received.iter() {
            let stated = params.pointer(version).is_some();
            assert_eq!(stated, server == Era::Modern, "{method}: {params}");
        }
        assert_eq!(received.last().expect("one").1["cursor"], "1");
    }
}

/// The agent verifies the files that reach it.
#[tokio::test]
async fn skills_pass_unchanged() {
    let world = World::new(Era::Modern).await;
    let client = world.agent(Era::Modern).await;
    let offered = SkillsCapability::of(&client.server().capabilities).expect("skills");
    assert_eq!(offered.directory_read, Some(true));
    let list = client.request(request("skills/list", &json!({}))).await.expect("a result");
    let list: ListSkillsResult = list.decode().expect("a list");
    let skills: Result<Vec<_>, _> = list.skills().map(|(_, skill)| skill).collect();
    let [skill] = &skills.expect("skills")[..] else { panic!("one skill: {list:?}") };
    check(skill).expect("valid");
    let get = request("skills/get", &json!({ "uri": skill.uri }));
    let got: GetSkillResult = client.request(get).await.expect("a result").decode().expect("one");
    assert_eq!(got.skill, *skill);
    let mut files = Vec::new();
    for path in ["SKILL.md", "data/logo.bin"] {
        let uri = format!("skill://billing/refunds/{path}");
        let read = client.request(request("resources/read", &json!({ "uri": uri }))).await;
        let read: ReadResourceResult = read.expect("a result").decode().expect("contents");
        files.push(verify(skill, &read.contents[0]).expect("unchanged"));
    }
    assert!(files[0].starts_with(b"---\nname: refunds\n"));
    assert_eq!(files[1], [0, 255, 1]);
    let children =
        request("resources/directory/read", &json!({ "uri": "skill://billing/refunds" }));
    let children = client.request(children).await.expect("a result").decode::<Value>();
    let children = children.expect("JSON");
    assert_eq!(children["resources"][1]["mimeType"], "inode/directory", "{children}");
    // The versions up to 2025-11-25 do not define the method.
    let refused = world.agent(Era::Legacy).await.request(request("skills/list", &json!({}))).await;
    assert!(refused.is_err(), "{refused:?}");
}

/// The level is that of the agent: in its call, or of its session.
#[tokio::test]
async fn log_messages_pass_between_all_generations() {
    for (server, agent) in PAIRS {
        let world = World::new(server).await;
        let client = world.agent(agent).await;
        let logged = async |level: Option<&str>| {
            let mut params = CallParams::new("count", Raw::from_text("{}").expect("JSON"));
            let level = level.map(|level| json!({ "io.modelcontextprotocol/logLevel": level }));
            params.meta = level.map(|level| Raw::from_value(&level).expect("JSON").into());
            let mut call = client.open(params).await.expect("a call");
            let mut logged = Vec::new();
            loop {
                match call.next().await {
                    CallEvent::Log(params) => logged.push(to_value(&params).expect("JSON")),
                    CallEvent::Ended(result) => {
                        assert_eq!(result.expect("a result").is_error, Some(true));
                        return logged;
                    }
                    other => panic!("{other:?}"),
                }
            }
        };
        let message = |level, data| json!({ "level": level, "logger": "counter", "data": data });
        let error = [message("error", 3)];
        assert_eq!(logged(Some("error")).await, error, "{server:?} {agent:?}");
        let all = [message("debug", 1), message("info", 2), message("error", 3)];
        assert_eq!(logged(Some("debug")).await, all, "{server:?} {agent:?}");
        // The level of a session stays; a call since 2026-07-28 has its own.
        let unstated = logged(None).await;
        assert_eq!(unstated, if agent == Era::Modern { &[][..] } else { &all[..] }, "{server:?}");
    }
}

#[tokio::test]
async fn missing_resource_has_the_error_of_the_version_of_the_agent() {
    for (server, agent) in PAIRS {
        let world = World::new(server).await;
        let client = world.agent(agent).await;
        let read = request("resources/read", &json!({ "uri": "note:9" }));
        let Err(CallError::Refused(error)) = client.request(read).await else { panic!("error") };
        let expected = if agent == Era::Modern { -32602 } else { -32002 };
        assert_eq!(error.code.0, expected);
        assert_eq!(&*error.message, "no such note");
    }
}

#[tokio::test]
async fn changes_pass_between_all_generations() {
    for (server, agent) in PAIRS {
        let world = World::new(server).await;
        let client = world.agent(agent).await;
        let other = world.agent(Era::Modern).await;
        let uris = |uris: &[&str]| uris.iter().map(ToString::to_string).collect::<Vec<_>>();
        let filter = SubscriptionFilter::new().with_prompts_list_changed(true);
        let both = filter.clone().with_resource_subscriptions(uris(&["note:1", "note:2"]));
        let mut changes = client.subscribe(both).await.expect("open");
        let also = SubscriptionFilter::new().with_resource_subscriptions(uris(&["note:2"]));
        let mut of_other = other.subscribe(also).await.expect("open");
        world.notes.wait_for(&["note:1", "note:2"]).await;
        let change = ServerChange::Resource("note:1/a".into());
        world.upstream.notify_changed(&change);
        passes(&mut changes, &change).await;
        let change = ServerChange::Prompts;
        world.upstream.notify_changed(&change);
        passes(&mut changes, &change).await;

        let one = filter.with_resource_subscriptions(uris(&["note:1"]));
        let _same = client.subscribe(one).await.expect("open");
        drop(client);
        // The other agent is still subscribed to one of them.
        world.notes.wait_for(&["note:2"]).await;
        let change = ServerChange::Resource("note:2".into());
        world.upstream.notify_changed(&change);
        passes(&mut of_other, &change).await;
    }
}

#[tokio::test]
async fn question_about_a_resource_is_for_the_user_of_the_conversation() {
    for agent in [Era::Legacy, Era::Modern] {
        let (world, mut inbox) = World::with_user(Era::Modern).await;
        let client = world.agent(agent).await;
        let read = client.request(request("resources/read", &json!({ "uri": "note:secret" })));
        let answered = async {
            while let Some(event) = inbox.recv().await {
                let FromServer::Ask { question, reply, .. } = event else { continue };
                assert_eq!(&*question.tool, "note:secret");
                assert_eq!(&*question.message, "Show it?");
                reply.send(ElicitationAction::Decline(Extra::new())).expect("a reader");
                return;
            }
        };
        let (result, ()) = tokio::join!(read, answered);
        let result = result.expect("a result").decode::<Value>().expect("JSON");
        assert_eq!(result["contents"][0]["text"], r#"{"action":"decline"}"#);
    }
}

#[tokio::test]
async fn question_of_a_cancelled_request_is_withdrawn() {
    for agent in [Era::Legacy, Era::Modern] {
        let (world, mut inbox) = World::with_user(Era::Modern).await;
        let client = world.agent(agent).await;
        let secret = request("resources/read", &json!({ "uri": "note:secret" }));
        let read = client.open_request(secret).await.expect("open");
        let mut read = Some(read);
        let mut asked = None;
        while let Some(event) = inbox.recv().await {
            match event {
                FromServer::Ask { key, .. } => {
                    asked = Some(key);
                    drop(read.take());
                }
                FromServer::Withdrawn(key) => {
                    assert_eq!(Some(key), asked);
                    break;
                }
                _ => {}
            }
        }
        assert!(asked.is_some());
    }
}

#[tokio::test]
async fn unknown_method_is_not_relayed() {
    let world = World::new(Era::Modern).await;
    let client = world.agent(Era::Modern).await;
    let other = request("example/own", &json!({}));
    let Err(CallError::Refused(error)) = client.request(other).await else { panic!("error") };
    assert_eq!(error.code.0, -32601);
    assert!(world.notes.received.lock().expect("alive").is_empty());
}
