//! Contextual tools: store, announcement and calls.
use agui_bridge::contextual_tools::{
    self, BadToolName, ContextualToolsStore, Dispatch, MAX_SESSION_BYTES, MAX_SESSIONS,
    MAX_TOOL_BYTES, MAX_TOOLS, SkipReason, ToolsCallResponse, Wire, check_names,
};
use agui_types::tool::Tool;
use jsonrpc_core::wire::{Meta, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::RwLock;
use std::thread;

fn tool(name: &str) -> Tool {
    let mut tool = Tool::new(name, "d");
    tool.parameters = Raw::from_text(r#"{"type":"object","properties":{"b":{},"a":{}}}"#).ok();
    tool
}

fn text(name: &str) -> String {
    json!({"name": name, "description": "d"}).to_string()
}

fn store(session: &str, entries: &[&str]) -> ContextualToolsStore {
    let mut store = ContextualToolsStore::new();
    store.set(session, entries.iter().copied());
    store
}

fn kept(store: &ContextualToolsStore, session: &str) -> Option<Vec<String>> {
    store.get(session).map(|tools| tools.iter().map(|tool| tool.as_str().to_owned()).collect())
}

fn dispatch(store: &ContextualToolsStore, params: &Value) -> Result<Dispatch, ErrorObject> {
    let params = Raw::from_value(params).unwrap();
    Wire::default().dispatch(store, Some(params.as_ref()))
}

/// The names of the protocol are those of Jaeger and its sidecars.
#[test]
fn names_match_jaeger() {
    let wire = Wire::default();
    assert_eq!(wire.meta_key, "jaegertracing.io/contextual-tools");
    assert_eq!(wire.method, "_meta/jaegertracing.io/tools/call");
    assert_eq!(wire.prefix, "ui_");
}

#[test]
fn tools_are_announced_with_key_and_prefix() {
    let meta = Wire::default().announce(None, &[tool("show_flamegraph"), tool("ui_x")]).unwrap();
    let parameters = r#"{"type":"object","properties":{"b":{},"a":{}}}"#;
    let expected = format!(
        concat!(
            r#"{{"jaegertracing.io/contextual-tools":{{"tools":["#,
            r#"{{"name":"ui_show_flamegraph","description":"d","parameters":{0}}},"#,
            r#"{{"name":"ui_ui_x","description":"d","parameters":{0}}}]}}}}"#,
        ),
        parameters
    );
    assert_eq!(meta.as_str(), expected);
}

#[test]
fn announcement_keeps_other_keys_of_meta() {
    let wire = Wire::default();
    let meta = Meta::from(Raw::from_text(r#"{"traceparent":"00-1","x":[1.50]}"#).unwrap());
    assert_eq!(wire.announce(None, &[]), None);
    assert_eq!(wire.announce(Some(meta.clone()), &[]), Some(meta.clone()));
    let announced = wire.announce(Some(meta), &[tool("a")]).unwrap();
    assert_eq!(announced.get("x").unwrap().as_str(), "[1.50]");
    assert_eq!(announced.get("traceparent").unwrap().as_str(), r#""00-1""#);
    assert!(announced.get(contextual_tools::META_KEY).is_some());
    let odd = Meta::from(Raw::from_text("7").unwrap());
    let announced = wire.announce(Some(odd), &[tool("a")]).unwrap();
    assert!(announced.get(contextual_tools::META_KEY).is_some());
}

#[test]
fn announcement_skips_duplicate_names_and_is_bounded() {
    let wire = Wire::default();
    let mut second = tool("a");
    second.description = "second".into();
    let meta = wire.announce(None, &[tool("a"), second, tool("b")]).unwrap();
    let announced = wire.announced(&meta).unwrap();
    let names: Vec<_> = announced.iter().map(|tool| (&*tool.name, &*tool.description)).collect();
    assert_eq!(names, [("ui_a", "d"), ("ui_b", "d")]);
    let many: Vec<_> = (0..=MAX_TOOLS).map(|n| tool(&n.to_string())).collect();
    let meta = wire.announce(None, &many).unwrap();
    assert_eq!(wire.announced(&meta).unwrap().len(), MAX_TOOLS);
}

#[test]
fn agent_reads_the_announcement() {
    let wire = Wire::default();
    let read = |meta: Value| wire.announced(&Meta::from(Raw::from_value(&meta).unwrap()));
    assert_eq!(read(json!({"other": 1})).unwrap(), []);
    let entries = json!([{"name": "ui_a", "description": "d"}, 7, {"description": "no name"}]);
    let tools = read(json!({"jaegertracing.io/contextual-tools": {"tools": entries}})).unwrap();
    assert_eq!(tools, [Tool::new("ui_a", "d")]);
    let error = read(json!({"jaegertracing.io/contextual-tools": {"tools": 7}})).unwrap_err();
    assert_eq!(error.to_string(), "at /tools: expected a sequence, got number");
}

#[test]
fn first_blank_name_is_reported() {
    assert_eq!(check_names(&[]), Ok(()));
    assert_eq!(check_names(&[tool("a"), tool("b")]), Ok(()));
    for blank in ["", " ", "\t\n"] {
        let error = check_names(&[tool("a"), tool(blank), tool("")]).unwrap_err();
        assert_eq!(error, BadToolName::Blank { index: 1 });
        assert_eq!(error.to_string(), "tools[1].name is empty or whitespace");
    }
    let long = "x".repeat(contextual_tools::MAX_NAME_BYTES + 1);
    assert_eq!(check_names(&[tool(&long)]), Err(BadToolName::TooLong { index: 0 }));
}

#[test]
fn store_keeps_valid_json() {
    let mut store = ContextualToolsStore::new();
    let skipped = store.set("s", ["{", &*text("a"), "", r#"{"name":1}"#, "7"]);
    let skipped: Vec<_> = skipped.iter().map(|skipped| skipped.index).collect();
    assert_eq!(skipped, [0, 2]);
    assert_eq!(kept(&store, "s").unwrap(), [&*text("a"), r#"{"name":1}"#, "7"]);
}

#[test]
fn empty_write_deletes_the_session() {
    let nothing: [&[&str]; 2] = [&[], &["{", "nope"]];
    for entries in nothing {
        let mut store = store("s", &[&text("a")]);
        store.set("s", entries.iter().copied());
        assert_eq!(store.get("s"), None);
    }
}

#[test]
fn empty_session_id_is_ignored() {
    let mut store = store("s", &[&text("a")]);
    assert_eq!(store.set("", [&*text("b"), "{"]), []);
    assert_eq!(store.get(""), None);
    assert_eq!(store.get("s").map(|tools| tools.len()), Some(1));
    store.delete("");
    assert_eq!(store.get("unknown"), None);
}

#[test]
fn sessions_are_separate_and_deletion_is_idempotent() {
    let mut store = store("one", &[&text("a")]);
    store.set("two", [&*text("b")]);
    store.delete("one");
    store.delete("one");
    assert_eq!(store.get("one"), None);
    assert_eq!(kept(&store, "two").unwrap(), vec![text("b")]);
    store.set("two", [&*text("c")]);
    assert_eq!(kept(&store, "two").unwrap(), [text("c")]);
}

#[test]
fn tools_are_copied_in_and_out() {
    let mut store = ContextualToolsStore::new();
    let mut given = vec![Raw::from_text(text("a")).unwrap()];
    store.set("s", given.clone());
    given[0] = Raw::from_text("0").unwrap();
    let mut first = store.get("s").unwrap();
    first[0] = Raw::from_text("1").unwrap();
    first.clear();
    assert_eq!(kept(&store, "s").unwrap(), [text("a")]);
}

#[test]
fn entries_beyond_limits_are_skipped() {
    let mut store = ContextualToolsStore::new();
    let large = json!({"name": "a", "description": "x".repeat(MAX_TOOL_BYTES)}).to_string();
    let mut entries = vec![large];
    entries.extend((0..=MAX_TOOLS).map(|n| text(&n.to_string())));
    let skipped = store.set("s", entries.iter().map(String::as_str));
    let reasons: Vec<_> = skipped.into_iter().map(|s| (s.index, s.reason)).collect();
    assert_eq!(reasons, [(0, SkipReason::TooLarge), (MAX_TOOLS + 1, SkipReason::TooMany)]);
    let half = json!({"name": "a", "description": "x".repeat(MAX_TOOL_BYTES - 100)}).to_string();
    let skipped = store.set("t", std::iter::repeat_n(half.as_str(), 17));
    let fits = MAX_SESSION_BYTES / half.len();
    assert_eq!(skipped.len(), 17 - fits);
    assert_eq!(skipped[0].index, fits);
    assert_eq!(skipped[0].reason, SkipReason::TooMuch);
    store.delete("t");
    for session in 1..MAX_SESSIONS {
        assert_eq!(store.set(&session.to_string(), [&*text("a")]), []);
    }
    let skipped = store.set("one more", [&*text("a")]);
    assert_eq!(skipped[0].reason, SkipReason::StoreFull);
    assert_eq!(store.set("1", [&*text("b")]), [], "one that it has can change");
    store.delete("1");
    assert_eq!(store.set("one more", [&*text("a")]), []);
}

/// 32 threads write, read and delete 200 times each, and none observes tools of another session.
#[test]
fn threads_share_the_store_in_a_lock() {
    let store = RwLock::new(ContextualToolsStore::new());
    thread::scope(|scope| {
        for number in 0..32 {
            let store = &store;
            scope.spawn(move || {
                let session = (number % 8).to_string();
                for _ in 0..200 {
                    store.write().unwrap().set(&session, [&*text(&session)]);
                    let read = kept(&store.read().unwrap(), &session);
                    assert!(read.is_none_or(|tools| tools == [text(&session)]));
                    store.write().unwrap().delete(&session);
                }
            });
        }
    });
    assert!((0..8).all(|session| store.read().unwrap().get(&session.to_string()).is_none()));
}

#[test]
fn call_is_acknowledged_with_the_page_name() {
    let store = store("sess-42", &[&text("show_flamegraph")]);
    let params = json!({"sessionId": "sess-42", "name": "ui_show_flamegraph", "args": {"trace_id": "abc123"}});
    let call = dispatch(&store, &params).unwrap();
    assert_eq!(call.session_id.as_str(), "sess-42");
    assert_eq!(&*call.name, "show_flamegraph");
    assert_eq!(&*call.requested_name, "ui_show_flamegraph");
    assert!(call.has_prefix);
    assert_eq!(call.arguments.as_str(), r#"{"trace_id":"abc123"}"#);
    let expected = json!({"result": {"acknowledged": true}, "isError": false});
    assert_eq!(serde_json::to_value(&call.response).unwrap(), expected);
    // Members that a Go gateway omits have the same meaning.
    let brief: ToolsCallResponse =
        serde_json::from_str(r#"{"result":{"acknowledged":true}}"#).unwrap();
    assert!(brief.result.acknowledged && !brief.is_error.unwrap_or_default());
}

#[test]
fn name_without_prefix_is_accepted_with_a_warning() {
    let store = store("s", &["7", r#"{"name":7}"#, &text("go"), &text("ui_odd")]);
    let call = dispatch(&store, &json!({"sessionId": "s", "name": "go"})).unwrap();
    assert_eq!(&*call.name, "go");
    assert!(!call.has_prefix);
    assert_eq!(call.arguments.as_str(), "{}");
    let call = dispatch(&store, &json!({"sessionId": "s", "name": "ui_ui_odd"})).unwrap();
    assert_eq!(&*call.name, "ui_odd");
    assert!(call.has_prefix);
}

#[test]
fn invalid_calls_are_invalid_params() {
    let store = store("s", &[&text("go"), "7"]);
    let table = [
        (json!([]), "expected an object (ToolsCallRequest), got array"),
        (json!({"name": "ui_go"}), "expected member `sessionId`, got none"),
        (json!({"sessionId": "s"}), "expected member `name`, got none"),
        (json!({"sessionId": "s", "name": 7}), "at /name: expected a string, got number"),
        (
            json!({"sessionId": "", "name": "ui_go"}),
            "at /sessionId: expected a session, got an empty string",
        ),
        (json!({"sessionId": "s", "name": ""}), "at /name: expected a tool, got an empty string"),
        (
            json!({"sessionId": "s", "name": "ui_"}),
            "at /name: expected a tool, got only the prefix",
        ),
        (
            json!({"sessionId": "s", "name": "ui_gone"}),
            "at /name: the session has no tool of this name",
        ),
        (
            json!({"sessionId": "other", "name": "ui_go"}),
            "at /name: the session has no tool of this name",
        ),
    ];
    for (params, message) in table {
        let error = dispatch(&store, &params).unwrap_err();
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{params}");
        assert_eq!(&*error.message, message, "{params}");
    }
    let error = Wire::default().dispatch(&store, None).unwrap_err();
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    assert_eq!(&*error.message, "expected params, got none");
    let empty = ContextualToolsStore::new();
    assert!(dispatch(&empty, &json!({"sessionId": "s", "name": "ui_go"})).is_err());
}

#[test]
fn key_method_and_prefix_are_configurable() {
    let mut wire = Wire::default();
    wire.meta_key = "example.org/tools".into();
    wire.method = "_example.org/call".into();
    wire.prefix = "page-".into();
    let meta = wire.announce(None, &[tool("a")]).unwrap();
    assert_eq!(wire.announced(&meta).unwrap()[0].name, "page-a");
    let store = store("s", &[&text("a")]);
    let params = Raw::from_text(r#"{"sessionId":"s","name":"page-a"}"#).unwrap();
    assert_eq!(wire.dispatch(&store, Some(params.as_ref())).unwrap().name, "a");
    wire.prefix = String::new();
    let params = Raw::from_text(r#"{"sessionId":"s","name":"a"}"#).unwrap();
    let call = wire.dispatch(&store, Some(params.as_ref())).unwrap();
    assert_eq!(&*call.name, "a");
    assert!(call.has_prefix);
}

proptest! {
    /// After any writes and deletions each session has exactly the accepted tools of the last
    /// write.
    #[test]
    fn session_has_the_tools_of_the_last_write(
        steps in prop::collection::vec(
            (0..3usize, prop::option::of(prop::collection::vec(prop::sample::select(
                vec!["{", r#"{"name":"a"}"#, "[1]", "", r#"{"name":"b","x":1.50}"#]), 0..4))),
            0..20,
        )
    ) {
        let mut store = ContextualToolsStore::new();
        let mut model = BTreeMap::new();
        for (session, entries) in steps {
            let session = ["", "s", "t"][session];
            match entries {
                None => {
                    store.delete(session);
                    model.remove(session);
                }
                Some(entries) => {
                    let skipped = store.set(session, entries.iter().copied());
                    let valid = |text: &str| serde_json::from_str::<Value>(text).is_ok();
                    let kept: Vec<_> =
                        entries.iter().filter(|text| valid(text)).map(|&text| text.to_owned()).collect();
                    if session.is_empty() {
                        prop_assert!(skipped.is_empty());
                        continue;
                    }
                    prop_assert_eq!(skipped.len() + kept.len(), entries.len());
                    model.remove(session);
                    if !kept.is_empty() {
                        model.insert(session, kept);
                    }
                }
            }
            for session in ["", "s", "t"] {
                prop_assert_eq!(kept(&store, session), model.get(session).cloned());
            }
        }
    }

    /// Removing the prefix of an announced name returns the page's name.
    #[test]
    fn removing_the_prefix_returns_the_name(name in ".{1,8}") {
        let wire = Wire::default();
        let prefixed = wire.prefixed(&name);
        prop_assert_eq!(wire.strip(&prefixed), name);
    }
}
