//! The registry of tools and their names.
use jsonrpc_core::wire;
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge::names;
use mcp_bridge::registry::{CollisionPolicy, Registry, RegistryError, ToolSource, ToolSourceName};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn tool(name: &str) -> Tool {
    wire::decode(&json!({ "name": name, "inputSchema": { "type": "object" } }).to_string())
        .expect("a tool")
}

/// Name of the second tool with the same name, and whether the collision is reported, by policy.
#[test]
fn collisions_are_handled_by_policy() {
    let table = [
        (CollisionPolicy::Rename, "add", Ok("calc__add"), 1),
        (CollisionPolicy::PrefixAll, "add", Ok("calc__add"), 0),
        (CollisionPolicy::KeepFirst, "add", Ok("add"), 1),
        (CollisionPolicy::Reject, "add", Err(RegistryError::Taken("add".into())), 0),
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

/// A source cannot have two tools with the same name. An unregistered tool has an unknown source.
#[test]
fn name_is_unique_within_its_source() {
    let mut registry = Registry::new(CollisionPolicy::Rename);
    assert_eq!(registry.register(tool("a"), ToolSource::Frontend).as_deref(), Ok("a"));
    let error = registry.register(tool("a"), ToolSource::Frontend);
    assert_eq!(error, Err(RegistryError::Taken("a".into())));
    assert_eq!(registry.register(tool("a"), ToolSource::Agent).as_deref(), Ok("agent__a"));
    assert_eq!(registry.source("b"), &ToolSource::Unknown);
    assert_eq!(registry.list().tools.len(), 2);
    assert_eq!(registry.remove_source(&ToolSource::Frontend), 1);
    assert_eq!(registry.register(tool("a"), ToolSource::Local).as_deref(), Ok("a"));
    assert_eq!(registry.find("agent__a").map(|it| &it.source), Some(&ToolSource::Agent));
    for index in registry.iter().count()..Registry::MAX_TOOLS {
        registry.register(tool(&format!("t{index}")), ToolSource::Local).expect("room");
    }
    assert_eq!(registry.register(tool("last"), ToolSource::Local), Err(RegistryError::Full));
}

#[test]
fn sources_have_names_on_the_wire() {
    let table = [
        (ToolSource::Local, "local"),
        (ToolSource::mcp("s"), "mcp"),
        (ToolSource::Frontend, "frontend"),
        (ToolSource::Agent, "agent"),
        (ToolSource::Unknown, "unknown"),
    ];
    for (source, expected) in table {
        let name = ToolSourceName::from(&source);
        assert_eq!(name.as_str(), expected);
        assert_eq!(name.is_known(), source != ToolSource::Unknown);
    }
}

/// Parameters are derived from any schema.
#[test]
fn parameters_follow_the_schema() {
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

/// Names computed by another program from the documentation.
#[test]
fn names_are_derived_from_server_and_tool() {
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
    /// For any tools, models accept each name, names are unique, and each maps back to its tool and
    /// source.
    #[test]
    fn names_are_plain_and_reversible(
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
                let found = registry.find(&given).expect("registered");
                prop_assert_eq!(&found.tool.name, name);
                prop_assert_eq!(&found.source, source);
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
