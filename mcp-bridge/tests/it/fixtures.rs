//! Each file in `fixtures/<version>/<type>/` decodes, and encodes to what it was.
use mcp_bridge::mcp::content::ContentBlock;
use mcp_bridge::mcp::tools::{CallToolResult, ListToolsResult, Tool};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::error::Error;
use std::fs;
use std::path::Path;

#[test]
fn fixtures_round_trip() -> Result<(), Box<dyn Error>> {
    round_trip::<Tool>("Tool")?;
    round_trip::<ListToolsResult>("ListToolsResult")?;
    round_trip::<CallToolResult>("CallToolResult")?;
    round_trip::<ContentBlock>("ContentBlock")
}

fn round_trip<T: DeserializeOwned + Serialize>(name: &str) -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/2025-11-25").join(name);
    let mut files = 0;
    for file in fs::read_dir(&folder)? {
        let path = file?.path();
        let (text, shown) = (fs::read_to_string(&path)?, path.display());
        let given: Value = serde_json::from_str(&text)?;
        let typed: T = serde_json::from_str(&text).map_err(|error| format!("{shown}: {error}"))?;
        let written = serde_json::to_string(&typed)?;
        assert_eq!(serde_json::from_str::<Value>(&written)?, given, "{shown}");
        files += 1;
    }
    assert_ne!(files, 0, "{} is empty", folder.display());
    Ok(())
}

/// What models see stays as the server wrote it: member order and number spelling.
#[test]
fn schemas_are_kept_to_the_letter() -> Result<(), Box<dyn Error>> {
    let text = r#"{"name":"t","inputSchema":{"zeta": 1e2,"alpha": 0.1000000000000000055}}"#;
    let tool: Tool = serde_json::from_str(text)?;
    assert_eq!(serde_json::to_string(&tool)?, text);
    Ok(())
}
