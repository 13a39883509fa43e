//! The set of page tools: names, schemas, modes, and arguments that they accept.
use super::*;
use agui_bridge::frontend_tool::{ListedTool, ToolMode, ToolSet};

#[test]
fn invalid_calls_are_refused_with_a_reason() {
    let mut options = FrontendToolOptions::new();
    options.max_arguments = 8;
    let mut tools = FrontendTools::new(options);
    let refusal = |tools: &mut FrontendTools, name: &str, arguments: Value| {
        tools.handle_call(NewCall::new(name, raw(&arguments)), at(0)).unwrap_err().to_string()
    };
    assert_eq!(refusal(&mut tools, "ack", json!({})), "no active run");
    tools.begin_turn(&page(), at(0));
    assert_eq!(refusal(&mut tools, "none", json!({})), "the page has no tool of this name");
    assert_eq!(refusal(&mut tools, "ack", json!([])), "expected an object as arguments");
    assert_eq!(refusal(&mut tools, "ack", json!({"a": "long"})), "the arguments are too long");
    tools.handle_cancel();
    assert_eq!(refusal(&mut tools, "ack", json!({})), "the run is being cancelled");
    tools.handle_turn_end();
    assert_eq!(refusal(&mut tools, "ack", json!({})), "no active run");
    assert_eq!(actions(&mut tools), []);
}

#[test]
fn arguments_are_validated_against_the_schema() {
    let mut tool = Tool::new("pick", "d");
    tool.parameters =
        Some(raw(&json!({"type": "object", "required": ["of"], "additionalProperties": false,
        "properties": {
            "of": {"type": "string", "minLength": 1, "maxLength": 3},
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
            "kind": {"enum": ["a", 1]},
            "fixed": {"const": 1},
            "ids": {"type": "array", "items": {"type": ["string", "null"]}, "minItems": 1},
            "deep/er": {"type": "object", "required": ["x"]},
            "any": {"type": "newer", "format": "date"},
        }})));
    let mut tools = FrontendTools::new(FrontendToolOptions::new());
    tools.begin_turn(&[tool], at(0));
    let table = [
        (json!({}), "at /of: expected a value, since it is required"),
        (json!({"of": 1}), "at /of: expected type string"),
        (json!({"of": ""}), "at /of: expected at least 1 characters"),
        (json!({"of": "\u{e9}\u{e9}\u{e9}\u{e9}"}), "at /of: expected at most 3 characters"),
        (json!({"of": "x", "count": 1.5}), "at /count: expected type integer"),
        (json!({"of": "x", "count": 10}), "at /count: expected at most 9"),
        (json!({"of": "x", "kind": "b"}), r#"at /kind: expected one of ["a",1]"#),
        (json!({"of": "x", "fixed": 2}), "at /fixed: expected 1"),
        (json!({"of": "x", "ids": []}), "at /ids: expected at least 1 items"),
        (
            json!({"of": "x", "ids": ["a", 1]}),
            r#"at /ids/1: expected one of the types ["string","null"]"#,
        ),
        (
            json!({"of": "x", "deep/er": {}}),
            "at /deep~1er/x: expected a value, since it is required",
        ),
        (json!({"of": "x", "other": 1}), "at /other: expected no such member"),
    ];
    for (arguments, message) in table {
        let error = tools.handle_call(NewCall::new("pick", raw(&arguments)), at(0)).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    assert_eq!(tools.poll_action(), None, "no page has seen any");
    let fits = json!({"of": "\u{e9}\u{e9}\u{e9}", "count": 2.0, "kind": 1.0, "fixed": 1, "ids": [null, "a"],
        "deep/er": {"x": 1, "y": 2}, "any": 7});
    assert!(tools.handle_call(NewCall::new("pick", raw(&fits)), at(0)).is_ok());
    let mut options = FrontendToolOptions::new();
    options.check_arguments = false;
    let mut tools = FrontendTools::new(options);
    let mut tool = Tool::new("pick", "d");
    tool.parameters = Some(raw(&json!({"type": "object", "required": ["of"]})));
    tools.begin_turn(&[tool], at(0));
    assert!(tools.handle_call(NewCall::new("pick", raw(&json!({}))), at(0)).is_ok());
}

#[test]
fn modes_come_from_metadata_then_names_then_the_default() {
    let mut options = FrontendToolOptions::new();
    options.modes = vec![("show_*".into(), ToolMode::Ack), ("*".into(), ToolMode::Sync)];
    let mut odd = Tool::new("show_odd", "d");
    odd.metadata = decode(r#"{"execution":"later"}"#).ok();
    let mut own = Tool::new("show_own", "d");
    own.metadata = decode(r#"{"execution":"park"}"#).ok();
    let tools = [Tool::new("show_x", "d"), odd, own, Tool::new("ask", "d")];
    let set = ToolSet::new(&tools, &options);
    let modes = ["show_x", "show_odd", "show_own", "ask", "none"].map(|name| set.mode(name));
    let ack = ToolMode::Ack;
    let park = ToolMode::Park;
    let sync = ToolMode::Sync;
    assert_eq!(modes, [Some(ack), Some(ack), Some(park), Some(sync), None]);
    assert_eq!(ToolSet::new(&tools, &FrontendToolOptions::new()).mode("ask"), Some(ToolMode::Park));
}

#[test]
fn tools_are_listed_with_valid_names_and_schemas() {
    let mut schema = Tool::new("a.b", "d");
    schema.parameters = Some(raw(&json!({"type": "object", "required": ["x"]})));
    let mut list = Tool::new("a/b", "d");
    list.parameters = Some(raw(&json!({"type": "array"})));
    let mut large = Tool::new(&*"n".repeat(80), "d");
    large.parameters = Some(raw(&json!({"type": "object", "title": "x".repeat(70_000)})));
    let tools = [schema, list, Tool::new("a.b", "twice"), Tool::new("", "d"), large];
    let set = ToolSet::new(&tools, &FrontendToolOptions::new());
    let listed: Vec<&ListedTool> = set.list().collect();
    let any = r#"{"type":"object"}"#;
    let expected = [
        ("a_b", r#"{"required":["x"],"type":"object"}"#),
        ("a_b_2", any),
        (&*"n".repeat(64 - "mcp__ui__".len()), any),
    ];
    let shown: Vec<_> =
        listed.iter().map(|tool| (&*tool.name, tool.input_schema.as_str())).collect();
    assert_eq!(shown, expected);
    assert_eq!(set.page_name("a_b_2"), Some("a/b"));
    let text = serde_json::to_string(listed[1]).unwrap();
    assert_eq!(text, r#"{"name":"a_b_2","description":"d","inputSchema":{"type":"object"}}"#);
}
