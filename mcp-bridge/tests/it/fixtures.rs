//! Wire text in files: `fixtures/<version>/<type>/<case>.json`.
use crate::wire_types;
use mcp_bridge::mcp::tools::Tool;
use serde_json::Value;
use std::error::Error;
use std::fs;
use std::path::Path;

/// Each file decodes, and encodes to the same value.
#[test]
fn fixtures_round_trip() -> Result<(), Box<dyn Error>> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    for version in ["2025-11-25", "2026-07-28"] {
        for folder in fs::read_dir(fixtures.join(version))? {
            let folder = folder?.path();
            let name = folder.file_name().and_then(|name| name.to_str()).ok_or("no name")?;
            let wire_type = wire_types::find(name);
            for file in fs::read_dir(&folder)? {
                let path = file?.path();
                let text = fs::read_to_string(&path)?;
                let shown = path.display();
                let written = (wire_type.again)(&text).map_err(|e| format!("{shown}: {e}"))?;
                let given: Value = serde_json::from_str(&text)?;
                assert_eq!(serde_json::from_str::<Value>(&written)?, given, "{shown}");
            }
        }
    }
    Ok(())
}

/// Text that models read is preserved exactly: member order and number spelling.
#[test]
fn schemas_are_preserved_exactly() -> Result<(), Box<dyn Error>> {
    let text = r#"{"name":"t","inputSchema":{"zeta": 1e2,"alpha": 0.1000000000000000055}}"#;
    let tool: Tool = serde_json::from_str(text)?;
    assert_eq!(serde_json::to_string(&tool)?, text);
    Ok(())
}
