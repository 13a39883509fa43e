//! Definition of tools: names, arguments, results, and the fields of forms.
use crate::plugin_session::NoArguments;
use futures::executor::block_on;
use jsonrpc_core::wire::{Extra, Meta, Raw};
use mcp_bridge::mcp::capabilities::Icon;
use mcp_bridge::mcp::tools::{CallToolResult, ToolAnnotations};
use mcp_bridge::plugin::{
    DefinitionError, MemoryStore, NewCall, NoElicitations, PluginContext, PluginHost, PluginTool,
    SuspendPolicy, Turn,
};
use mcp_bridge::schema::Form;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

fn define<P: DeserializeOwned + JsonSchema + Send, R: Serialize>(
    name: &str,
    body: impl Fn(P) -> R + Send + Sync + 'static,
) -> Result<PluginTool, DefinitionError> {
    let body = Arc::new(body);
    PluginTool::builder(name, "1").elicits::<NoElicitations>().execute(
        move |arguments: P, _: PluginContext<NoElicitations>| {
            let value = serde_json::to_value(body(arguments)).expect("JSON");
            async move { Ok(value) }
        },
    )
}

fn call(tool: PluginTool, arguments: &str) -> CallToolResult {
    let name = tool.tool().name.clone();
    let store = Arc::new(MemoryStore::default());
    let clock = Arc::new(|| Duration::ZERO);
    let host = PluginHost::new([tool], SuspendPolicy::Replay, store, "a", clock);
    let arguments = Raw::from_text(arguments).expect("JSON");
    let session_id = "9c41";
    let call_id = "c";
    let tool = &*name;
    let principal = "ada";
    let call = NewCall { session_id, call_id, tool, arguments, principal, meta: None };
    match block_on(host.call(call, None)) {
        Ok(Turn::Done(result)) => result,
        other => panic!("not done: {other:?}"),
    }
}

fn schema(tool: &PluginTool) -> &str {
    tool.tool().input_schema.as_str()
}

#[test]
fn tool_without_arguments_takes_an_empty_object() {
    let tool = define("now", |(): ()| 12).expect("a tool");
    assert_eq!(schema(&tool), r#"{"type":"object","properties":{}}"#);
    let result = call(tool, "{}");
    assert_eq!(serde_json::to_value(&result).expect("JSON")["structuredContent"], 12);
}

#[test]
fn arguments_other_than_objects_are_rejected() {
    let refused = |tool: Result<PluginTool, DefinitionError>| {
        let error = tool.expect_err("no object");
        assert!(matches!(error, DefinitionError::Arguments { .. }), "{error:?}");
        assert!(error.to_string().contains("write a struct with a field for each argument"));
        error.to_string()
    };
    assert!(refused(define("a", |n: i64| n)).contains("`integer`"));
    assert!(refused(define("a", |n: String| n)).contains("`string`"));
    assert!(refused(define("a", |n: Vec<u8>| n)).contains("`array`"));
    refused(define("a", |n: Option<NoArguments>| n.is_some()));
    refused(define("a", |n: Value| n));
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "shape")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

#[test]
fn maps_and_tagged_enums_are_accepted_as_arguments() {
    let tool = define("sum", |all: BTreeMap<String, u32>| all.values().sum::<u32>());
    let result = call(tool.expect("a tool"), r#"{"a":1,"b":2}"#);
    assert_eq!(serde_json::to_value(&result).expect("JSON")["structuredContent"], 3);
    let area = define("area", |shape: Shape| match shape {
        Shape::Circle { radius } => radius * radius * 3.0,
        Shape::Square { side } => side * side,
    });
    let area = area.expect("a tool");
    let shown: Value = serde_json::from_str(schema(&area)).expect("JSON");
    assert_eq!(shown["type"], "object");
    let result = call(area, r#"{"shape":"Square","side":2}"#);
    assert_eq!(serde_json::to_value(&result).expect("JSON")["structuredContent"], 4.0);
}

#[test]
fn invalid_names_are_rejected() {
    for name in ["tool name!!", "", "é", "a/b", &"x".repeat(129)] {
        let error = define(name, |(): ()| 1).expect_err("an invalid name");
        assert_eq!(error, DefinitionError::Name(name.to_owned()));
        assert!(
            error
                .to_string()
                .contains("1 to 128 of the characters A-Z, a-z, 0-9, `_`, `-` and `.`")
        );
    }
    for name in ["a", "Get_user-2.0", &"x".repeat(128)] {
        assert!(define(name, |(): ()| 1).is_ok());
    }
}

#[test]
fn strings_reach_the_model_unquoted() {
    let text = |result: &CallToolResult| {
        serde_json::to_value(result).expect("JSON")["content"][0]["text"].clone()
    };
    let hello = define("hello", |(): ()| "Hello \"Ada\"\n").expect("a tool");
    let result = call(hello, "{}");
    assert_eq!(text(&result), "Hello \"Ada\"\n");
    assert_eq!(
        serde_json::to_value(&result).expect("JSON")["structuredContent"],
        "Hello \"Ada\"\n"
    );
    let list = define("list", |(): ()| ["a"]).expect("a tool");
    assert_eq!(text(&call(list, "{}")), r#"["a"]"#);
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Seat {
    row: u32,
    letter: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Order {
    traveller: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    outward_seat: Seat,
    #[serde(default)]
    back: Option<Seat>,
    #[serde(rename = "agree")]
    accepts: bool,
    #[serde(alias = "remark")]
    comment: Option<String>,
}

#[test]
fn fields_come_in_declared_order() {
    let form = Form::of::<Order>().expect("a form");
    let shown = form.requested_schema().decode::<mcp_bridge::mcp::elicitation::RequestedSchema>();
    let shown = shown.expect("a schema");
    let names: Vec<_> = shown.properties.iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "traveller",
            "email",
            "outwardSeat.row",
            "outwardSeat.letter",
            "back.row",
            "back.letter",
            "agree",
            "comment"
        ]
    );
    assert_eq!(
        shown.required.expect("some"),
        ["traveller", "outwardSeat.row", "outwardSeat.letter", "agree"]
    );
    let tool = define("order", |_: Order| 1).expect("a tool");
    let shown: jsonrpc_core::wire::Extra = tool.tool().input_schema.decode().expect("an object");
    let properties: jsonrpc_core::wire::Extra =
        shown.get("properties").expect("some").decode().expect("an object");
    let names: Vec<_> = properties.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["traveller", "email", "outwardSeat", "back", "agree", "comment"]);
    let content = json!({
        "traveller": "Ada", "outwardSeat.row": 1, "outwardSeat.letter": "C", "agree": true,
    });
    let content = Raw::from_value(&content).expect("JSON").decode().expect("an object");
    let order: Order = form.read(&content).expect("an answer");
    assert_eq!(order.outward_seat, Seat { row: 1, letter: "C".into() });
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Weather {
    summary: String,
    celsius: f64,
    at: String,
}

#[test]
fn tool_is_listed_with_its_metadata() {
    let tool = PluginTool::builder("weather", "1")
        .title("Weather")
        .description("Returns the weather")
        .annotations(ToolAnnotations::new().with_read_only_hint(true))
        .icons([Icon::new("https://a.example/i.png")])
        .meta(Meta::from(Raw::from_text(r#"{"example.com/team":"sky"}"#).expect("JSON")))
        .output::<Weather>()
        .elicits::<NoElicitations>()
        .execute(|(), _: PluginContext<NoElicitations>| async move {
            Ok(Weather { summary: "sun".into(), celsius: 21.5, at: "noon".into() })
        })
        .expect("a tool");
    let shown = serde_json::to_value(tool.tool()).expect("JSON");
    let expected = json!({
        "name": "weather", "title": "Weather", "description": "Returns the weather",
        "annotations": { "readOnlyHint": true }, "icons": [{ "src": "https://a.example/i.png" }],
        "_meta": { "example.com/team": "sky" },
        "inputSchema": { "type": "object", "properties": {} },
        "outputSchema": shown["outputSchema"],
    });
    assert_eq!(shown, expected);
    let schema: Extra =
        tool.tool().output_schema.as_ref().expect("a schema").decode().expect("an object");
    let properties: Extra = schema.get("properties").expect("some").decode().expect("an object");
    assert_eq!(
        properties.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        ["summary", "celsius", "at"]
    );
    assert_eq!(schema.get("required").expect("some").as_str(), r#"["summary","celsius","at"]"#);
    let result = call(tool, "{}");
    let result = serde_json::to_value(&result).expect("JSON");
    assert_eq!(
        result["structuredContent"],
        json!({ "summary": "sun", "celsius": 21.5, "at": "noon" })
    );
}

#[test]
fn output_of_another_type_is_rejected() {
    let tool = PluginTool::builder("weather", "1").output::<Weather>().elicits::<NoElicitations>();
    let error = tool.execute(|(), _: PluginContext<NoElicitations>| async move { Ok(12) });
    let error = error.expect_err("another type").to_string();
    assert!(
        error.contains("declares the output `") && error.contains("Weather`, but returns `i32`"),
        "{error}"
    );
}

#[test]
fn result_with_media_and_links_is_returned_as_created() {
    let expected = json!({
        "content": [
            { "type": "text", "text": "A dot" },
            { "type": "image", "data": "R0lGOD", "mimeType": "image/gif" },
            { "type": "audio", "data": "UklGRg", "mimeType": "audio/wav" },
            { "type": "resource_link", "uri": "file:///dot.gif", "name": "dot" },
            { "type": "resource", "resource": { "uri": "file:///dot.txt", "text": "." } },
        ],
        "isError": true,
        "structuredContent": { "z": 1, "a": 2 },
        "_meta": { "example.com/seen": true },
    });
    let created = Raw::from_value(&expected).expect("JSON");
    let tool = PluginTool::builder("dot", "1").elicits::<NoElicitations>().execute_with_result(
        move |(), _: PluginContext<NoElicitations>| {
            let result = created.decode::<CallToolResult>();
            async move { Ok(result.expect("a result")) }
        },
    );
    let result = call(tool.expect("a tool"), "{}");
    assert_eq!(serde_json::to_value(&result).expect("JSON"), expected);
}
