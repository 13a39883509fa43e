//! Decode, then encode, gives the same JSON value, for each type, with members and variants from the future.
use mcp_bridge::mcp::content::{
    Annotations, ContentBlock, EmbeddedResource, MediaContent, ResourceContents, ResourceLink,
    Role, TextContent,
};
use mcp_bridge::mcp::tools::{
    CallToolRequestParams, CallToolResult, ListToolsResult, Tool, ToolAnnotations,
};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;

type Members = BoxedStrategy<Value>;

fn leaf() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(json!({"b": [1.5, null]})),
        Just(json!(true)),
        "\\PC{0,4}".prop_map(Value::from)
    ]
    .boxed()
}

fn text() -> BoxedStrategy<Value> {
    "\\PC{0,5}".prop_map(Value::from).boxed()
}

/// An object with the required members, some of the optional ones, and some that no version knows.
fn object(
    required: Vec<(&'static str, Members)>,
    optional: Vec<(&'static str, Members)>,
) -> Members {
    let required: Vec<_> = required.into_iter().map(|(name, value)| (Just(name), value)).collect();
    let optional: Vec<_> =
        optional.into_iter().map(|(name, value)| (Just(name), prop::option::of(value))).collect();
    let unknown = prop::collection::btree_map("x-[a-z]{1,3}", leaf(), 0..3);
    (required, optional, unknown)
        .prop_map(|(required, optional, unknown)| {
            let known = required.into_iter().map(|(name, value)| (name.to_owned(), value));
            let given =
                optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
            Value::Object(known.chain(given).chain(unknown).collect::<Map<_, _>>())
        })
        .boxed()
}

fn list(item: Members) -> Members {
    prop::collection::vec(item, 0..3).prop_map(Value::from).boxed()
}

fn annotations() -> Members {
    let role = prop_oneof!["user", "assistant", "system"].prop_map(Value::from).boxed();
    object(
        vec![],
        vec![
            ("audience", list(role)),
            ("priority", Just(json!(0.25)).boxed()),
            ("lastModified", text()),
        ],
    )
}

fn resource_contents() -> Members {
    let optional =
        vec![("mimeType", text()), ("text", text()), ("blob", text()), ("_meta", leaf())];
    object(vec![("uri", text())], optional)
}

fn tagged(tag: &'static str, mut required: Vec<(&'static str, Members)>) -> Members {
    required.push(("type", Just(json!(tag)).boxed()));
    object(required, vec![("annotations", annotations()), ("_meta", leaf()), ("title", text())])
}

fn content_block() -> Members {
    let media = || vec![("data", text()), ("mimeType", text())];
    prop_oneof![
        tagged("text", vec![("text", text())]),
        tagged("image", media()),
        tagged("audio", media()),
        tagged("resource_link", vec![("uri", text()), ("name", text())]),
        tagged("resource", vec![("resource", resource_contents())]),
        tagged("hologram", vec![]),
    ]
    .boxed()
}

fn tool_annotations() -> Members {
    let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    let hints = hints.map(|hint| (hint, any::<bool>().prop_map(Value::from).boxed()));
    object(vec![], hints.into_iter().chain([("title", text())]).collect())
}

fn tool() -> Members {
    let optional = vec![
        ("title", text()),
        ("description", text()),
        ("outputSchema", leaf()),
        ("annotations", tool_annotations()),
        ("_meta", leaf()),
    ];
    object(vec![("name", text()), ("inputSchema", leaf())], optional)
}

fn holds<T: Serialize + DeserializeOwned>(given: &Value) -> Result<(), TestCaseError> {
    let text = given.to_string();
    let typed: T = serde_json::from_str(&text)
        .map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
    let written =
        serde_json::to_string(&typed).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let again: Value =
        serde_json::from_str(&written).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(&again, given);
    Ok(())
}

macro_rules! law {
    ($($Type:ident: $strategy:expr,)+) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(64))]
            $(
                #[test]
                #[allow(non_snake_case, reason = "named after the type")]
                fn $Type(given in $strategy) {
                    holds::<super::$Type>(&given)?;
                }
            )+
        }

        const TYPES: &[&str] = &[$(stringify!($Type)),+];
    };
}

mod each {
    use super::*;

    law! {
        Annotations: annotations(),
        ContentBlock: content_block(),
        Role: text(),
        TextContent: object(vec![("text", text())], vec![("annotations", annotations()), ("_meta", leaf())]),
        MediaContent: object(vec![("data", text()), ("mimeType", text())], vec![("_meta", leaf())]),
        ResourceLink: object(vec![("uri", text()), ("name", text())], vec![("size", Just(json!(7)).boxed())]),
        EmbeddedResource: object(vec![("resource", resource_contents())], vec![("_meta", leaf())]),
        ResourceContents: resource_contents(),
        Tool: tool(),
        ToolAnnotations: tool_annotations(),
        ListToolsResult: object(vec![("tools", list(tool()))], vec![("nextCursor", text()), ("_meta", leaf())]),
        CallToolRequestParams: object(vec![("name", text())], vec![("arguments", leaf()), ("_meta", leaf())]),
        CallToolResult: object(
            vec![("content", list(content_block()))],
            vec![("structuredContent", leaf()), ("isError", any::<bool>().prop_map(Value::from).boxed())]
        ),
    }

    /// No wire type goes without the law.
    #[test]
    fn every_type_is_listed() -> Result<(), Box<dyn std::error::Error>> {
        for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/mcp"))? {
            let source = fs::read_to_string(file?.path())?;
            let names = source.lines().filter_map(|line| {
                let line = line.trim_start();
                line.strip_prefix("pub struct ")
                    .or_else(|| line.strip_prefix("pub enum "))?
                    .split([' ', ';'])
                    .next()
            });
            for name in names {
                assert!(TYPES.contains(&name), "{name} has no law");
            }
        }
        Ok(())
    }
}
