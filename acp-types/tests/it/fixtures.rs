//! Wire text in files: `fixtures/<version>/<type>/<case>.json`.
use crate::wire_types;
use serde_json::Value;
use std::error::Error;
use std::fs;
use std::path::Path;

/// Each file decodes, and encodes to what it was.
#[test]
fn fixtures_round_trip() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1");
    for folder in fs::read_dir(folder)? {
        let folder = folder?.path();
        let name = folder.file_name().and_then(|name| name.to_str()).ok_or("no name")?;
        for file in fs::read_dir(&folder)? {
            let path = file?.path();
            let (text, shown) = (fs::read_to_string(&path)?, path.display());
            let written =
                (wire_types::find(name).again)(&text).map_err(|e| format!("{shown}: {e}"))?;
            let (given, written): (Value, Value) =
                (serde_json::from_str(&text)?, serde_json::from_str(&written)?);
            assert_eq!(written, given, "{shown}");
        }
    }
    Ok(())
}
