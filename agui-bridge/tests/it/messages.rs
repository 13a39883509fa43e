//! The client's messages at the end of each stored stream.
use agui_types::event::Event;
use agui_types::reduce::Reducer;
use serde_json::{Map, Value};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// The streams of the fixtures have the messages of `messages.json`, to which other clients are
/// compared as well. `AGUI_BRIDGE_WRITE` writes the file.
#[test]
fn streams_have_the_stored_messages() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1");
    let mut streams: Vec<PathBuf> = Vec::new();
    let mut folders = vec![folder.join("traces")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.contains("ag-ui-") && name.ends_with(".jsonl") {
                streams.push(path);
            }
        }
    }
    let mut made = Map::new();
    for path in streams {
        let mut reducer = Reducer::new();
        for line in
            fs::read_to_string(&path)?.lines().filter(|line| !line.starts_with(r#"{"toAgent""#))
        {
            assert_eq!(reducer.handle(&serde_json::from_str::<Event>(line)?), None, "{line}");
        }
        let name = path.strip_prefix(&folder)?.to_string_lossy().into_owned();
        made.insert(name, serde_json::to_value(reducer.messages())?);
    }
    let written = folder.join("messages.json");
    if std::env::var_os("AGUI_BRIDGE_WRITE").is_some() {
        fs::write(&written, serde_json::to_string_pretty(&made)? + "\n")?;
    }
    let expected: Value = serde_json::from_str(&fs::read_to_string(&written)?)?;
    assert_eq!(Value::Object(made), expected);
    Ok(())
}
