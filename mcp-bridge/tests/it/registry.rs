//! The registry of tools and their names.
use jsonrpc_core::wire;
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge::names;
use mcp_bridge::registry::{
    CollisionPolicy, RegisterError, Registry, SourceNames, ToolSource, ToolSourceName,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn tool(name: &str) -> Tool {
    wire::decode(&json!({ "name": name, "inputSchema": { "type": "object" } }).to_string())
        .expect("a tool")
}

/// What happens to the second tool of a name, by policy: its name, and whether the report has it.
#[test]
fn each_policy_treats_a_collision_in_its_way() {
    let table = [
        (CollisionPolicy::Rename, "add", Ok("calc__add"), 1),
        (CollisionPolicy::PrefixAll, "add", Ok("calc__add"), 0),
        (CollisionPolicy::KeepFirst, "add", Ok("add"), 1),
        (CollisionPolicy::Reject, "add", Err(RegisterError::Taken("add".into())), 0),
    ];
    for (policy, first, second, collisions) in table {
        let mut registry = Registry::new(policy);
        assert_eq!(registry.register(tool("add"), ToolSource::Local).as_deref(), Ok(first));
        let source = ToolSource::mcp("calc");
        let name = registry.register(tool("add"), source.clone());
        assert_eq!(name, second.map(str::to_owned), "{policy:?}");
        assert_eq!(registry.collisions().len(), collisions, "{policy:?}");
        let is_kept = policy == CollisionPolicy::Rename || policy == CollisionPolicy::PrefixAll;
        assert_eq!(registry.name_of(&source, "add").is_some(), is_kept, "{policy:?}");
    }
}

/// A source cannot have two tools of a name; one that is not registered is of an unknown source.
#[test]
fn a_name_is_unique_within_its_source() {
    let mut registry = Registry::new(CollisionPolicy::Rename);
    assert_eq!(registry.register(tool("a"), ToolSource::Frontend).as_deref(), Ok("a"));
    let error = registry.register(tool("a"), ToolSource::Frontend);
    assert_eq!(error, Err(RegisterError::Taken("a".into())));
    assert_eq!(registry.register(tool("a"), ToolSource::Agent).as_deref(), Ok("agent__a"));
    assert_eq!(registry.source("b"), &ToolSource::Unknown);
    assert!(registry.set_enabled("a", false) && !registry.set_enabled("a", false));
    assert_eq!(registry.list().tools.len(), 1);
    assert_eq!(registry.remove_source(&ToolSource::Frontend), 1);
    assert_eq!(registry.register(tool("a"), ToolSource::Local).as_deref(), Ok("a"));
    assert_eq!(registry.find("agent__a").map(|it| &it.source), Some(&ToolSource::Agent));
    for index in registry.iter().count()..Registry::MAX_TOOLS {
        registry.register(tool(&format!("t{index}")), ToolSource::Local).expect("there is room");
    }
    assert_eq!(registry.register(tool("last"), ToolSource::Local), Err(RegisterError::Full));
}

/// A client that knows two sources is told of no other.
#[test]
fn sources_are_written_as_the_client_knows_them() {
    let table = [
        (ToolSource::Local, "local", "local"),
        (ToolSource::mcp("s"), "mcp", "mcp"),
        (ToolSource::Frontend, "frontend", "local"),
        (ToolSource::Agent, "agent", "local"),
        (ToolSource::Unknown, "unknown", "local"),
    ];
    for (source, open, closed) in table {
        assert_eq!(SourceNames::Open.of(&source).as_str(), open);
        assert_eq!(SourceNames::LocalOrMcp.of(&source).as_str(), closed);
        assert_eq!(ToolSourceName::from(&source).is_known(), source != ToolSource::Unknown);
    }
}

/// What a tool takes is read out of its schema, whatever that is.
#[test]
fn parameters_are_read_out_of_the_schema() {
    let schema = json!({
        "type": "object",
        "properties": {
            "z": { "type": "integer", "description": "Last" }, "a": { "type": ["string", "null"] },
            "b": { "$ref": "#/$defs/B" }, "c": { "enum": ["x"] }, "d": true, "e": 7,
        },
        "required": ["z", "b"],
        "$defs": { "B": { "type": "boolean" } },
    });
    let mut odd = tool("t");
    odd.input_schema = wire::decode(&schema.to_string()).expect("JSON");
    let mut registry = Registry::new(CollisionPolicy::Rename);
    registry.register(odd, ToolSource::Local).expect("a name");
    let list: Value = serde_json::to_value(registry.list()).expect("JSON");
    let parameter = |name: &str, of: &str, required: bool| json!({ "name": name, "type": of, "required": required });
    let mut z = parameter("z", "integer", true);
    z["description"] = "Last".into();
    let expected = [
        parameter("a", "string|null", false),
        parameter("b", "boolean", true),
        parameter("c", "string", false),
        parameter("d", "any", false),
        parameter("e", "any", false),
        z,
    ];
    assert_eq!(list["tools"][0]["parameters"], json!(expected));
}

/// Names as another program made them after the description.
#[test]
fn names_follow_from_server_and_tool() {
    let table = [
        (Some("travel"), "book", 0, "travel__book"),
        (Some("travel"), "book", 1, "travel__book_6fdb2962"),
        (None, "files.read", 0, "files_read_3213bdc2"),
        (Some("a"), "ééé", 0, "a______8b626306"),
    ];
    for (server, tool, attempt, expected) in table {
        assert_eq!(names::mangle(server, tool, attempt), expected);
    }
}

fn source() -> impl Strategy<Value = ToolSource> {
    prop_oneof![
        Just(ToolSource::Local),
        Just(ToolSource::Frontend),
        select(vec!["a", "a_", "_a", "é", "very-long-name-of-a-server-that-somebody-chose"])
            .prop_map(ToolSource::mcp),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec!["x", "x.y", "x_y", "_x", "a__x", "a___x", "", "é"]).prop_map(str::to_owned),
        "[a-zé.]{60,130}",
    ]
}

proptest! {
    /// Whatever is registered, models take each name, no two tools have one, and each leads back to its tool and source.
    #[test]
    fn names_are_plain_and_lead_back(
        tools in prop::collection::vec((name(), source()), 0..24), prefix_all: bool, removed in source(),
    ) {
        let policy = if prefix_all { CollisionPolicy::PrefixAll } else { CollisionPolicy::Rename };
        let mut registry = Registry::new(policy);
        let mut expected = BTreeSet::new();
        for (name, source) in &tools {
            let is_new = expected.insert((source.clone(), name.clone()));
            let given = registry.register(tool(name), source.clone());
            prop_assert_eq!(given.is_ok(), is_new, "{} {:?}", name, source);
            if let Ok(given) = given {
                prop_assert!(names::is_plain(&given), "{}", given);
                let found = registry.find(&given).expect("it is there");
                prop_assert_eq!((&found.tool.name, &found.source), (name, source));
                prop_assert_eq!(registry.name_of(source, name), Some(given.as_str()));
            }
        }
        let names: BTreeSet<_> = registry.iter().map(|it| it.name.clone()).collect();
        prop_assert_eq!(names.len(), expected.len());
        let left: Vec<_> = registry.iter().filter(|it| it.source != removed).cloned().collect();
        registry.remove_source(&removed);
        for tool in left {
            prop_assert_eq!(registry.find(&tool.name), Some(&tool));
        }
    }
}
