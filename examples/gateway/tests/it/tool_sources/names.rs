//! Names under which models call tools.
use gateway::tools::sources::merge;
use jsonrpc_core::wire;
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge::registry::{Registry, ToolSource};
use proptest::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

fn tool(name: &str) -> Tool {
    let tool = json!({ "name": name, "inputSchema": { "type": "object" } });
    wire::decode(&tool.to_string()).expect("a tool")
}

fn merged(own: &[&str], servers: &[(&str, &[&str])]) -> Registry {
    let own: Vec<_> = own.iter().map(|name| tool(name)).collect();
    let servers: Vec<(&str, Vec<_>)> = servers
        .iter()
        .map(|(server, tools)| (*server, tools.iter().map(|name| tool(name)).collect()))
        .collect();
    merge(&own, servers.iter().map(|(server, tools)| (*server, &tools[..])))
}

fn names(registry: &Registry) -> Vec<&str> {
    registry.iter().map(|tool| &*tool.name).collect()
}

#[test]
fn servers_with_the_same_tools_do_not_collide() {
    let registry = merged(&["add"], &[("a", &["add"]), ("b", &["add", "sub"])]);
    assert_eq!(names(&registry), ["add", "a__add", "b__add", "b__sub"]);
    assert_eq!(registry.source("add"), &ToolSource::Local);
    assert_eq!(registry.source("b__add"), &ToolSource::mcp("b"));
}

#[test]
fn name_does_not_depend_on_other_servers() {
    let alone = merged(&[], &[("b", &["add"])]);
    let both = merged(&["add"], &[("a", &["add"]), ("b", &["add"])]);
    let of =
        |registry: &Registry| registry.name_of(&ToolSource::mcp("b"), "add").map(str::to_owned);
    assert_eq!(of(&alone), of(&both));
}

#[test]
fn own_tool_with_the_name_of_a_server_keeps_it() {
    let registry = merged(&["a__add"], &[("a", &["add"])]);
    assert_eq!(registry.source("a__add"), &ToolSource::Local);
    let renamed = registry.name_of(&ToolSource::mcp("a"), "add").expect("a tool");
    assert_ne!(renamed, "a__add");
}

proptest! {
    /// Every tool of every source is found under exactly one name, which models accept, and leads
    /// back to it.
    #[test]
    fn each_tool_has_one_name_that_leads_to_it(
        own in prop::collection::btree_set("[a-c_]{1,4}|\\PC{1,80}", 0..6),
        servers in prop::collection::btree_map(
            "[a-c_]{1,3}|\\PC{1,80}",
            prop::collection::btree_set("[a-c_]{1,4}|\\PC{1,80}", 0..6),
            0..5,
        ),
    ) {
        let own: BTreeSet<String> = own;
        let servers: BTreeMap<String, BTreeSet<String>> = servers;
        let own_tools: Vec<_> = own.iter().map(|name| tool(name)).collect();
        let lists: Vec<(&str, Vec<Tool>)> = servers
            .iter()
            .map(|(server, tools)| (&**server, tools.iter().map(|name| tool(name)).collect()))
            .collect();
        let registry = merge(&own_tools, lists.iter().map(|(name, tools)| (*name, &tools[..])));
        let mut seen = BTreeSet::new();
        for registered in registry.iter() {
            prop_assert!(seen.insert(registered.name.clone()), "two tools are `{}`", registered.name);
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            prop_assert!((1..=64).contains(&registered.name.len()), "{}", registered.name);
            prop_assert!(registered.name.chars().all(is_plain), "{}", registered.name);
            let found = registry.find(&registered.name).expect("the tool");
            prop_assert_eq!(&found.source, &registered.source);
            prop_assert_eq!(&found.tool, &registered.tool);
        }
        for name in &own {
            prop_assert!(registry.name_of(&ToolSource::Local, name).is_some(), "{name}");
        }
        for (server, tools) in &servers {
            for name in tools {
                let source = ToolSource::mcp(&**server);
                prop_assert!(registry.name_of(&source, name).is_some(), "{server} {name}");
            }
        }
        let count = own.len() + servers.values().map(BTreeSet::len).sum::<usize>();
        prop_assert_eq!(registry.iter().count(), count);
    }
}
