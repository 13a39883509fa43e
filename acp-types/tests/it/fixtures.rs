//! Wire text in files: `fixtures/<version>/<type>/<case>.json`.
use crate::wire_types::VERSIONS;
use serde_json::Value;
use std::error::Error;
use std::fs;

/// Each file decodes and encodes to the same value.
#[test]
fn fixtures_round_trip() -> Result<(), Box<dyn Error>> {
    for version in VERSIONS {
        for folder in fs::read_dir(version.fixtures())? {
            let folder = folder?.path();
            let name = folder.file_name().and_then(|name| name.to_str()).ok_or("no name")?;
            for file in fs::read_dir(&folder)? {
                let path = file?.path();
                let text = fs::read_to_string(&path)?;
                let shown = path.display();
                let written =
                    (version.find(name).again)(&text).map_err(|e| format!("{shown}: {e}"))?;
                let (given, written): (Value, Value) =
                    (serde_json::from_str(&text)?, serde_json::from_str(&written)?);
                assert!(is_same(&given, &written), "{shown}: {written}");
            }
        }
    }
    Ok(())
}

/// Returns whether `written` equals `given`. A `null` member may be absent, and numbers are
/// compared by value.
fn is_same(given: &Value, written: &Value) -> bool {
    match (given, written) {
        (Value::Array(given), Value::Array(written)) => {
            given.len() == written.len()
                && given.iter().zip(written).all(|(given, written)| is_same(given, written))
        }
        (Value::Object(given), Value::Object(written)) => {
            written.keys().all(|name| given.contains_key(name))
                && given.iter().all(|(name, given)| {
                    written.get(name).map_or(given.is_null(), |written| is_same(given, written))
                })
        }
        (Value::Number(given), Value::Number(written)) if written.is_f64() => {
            given.as_f64() == written.as_f64()
        }
        _ => given == written,
    }
}

/// Each type of a prompt turn has a file of a newer peer.
#[test]
fn newer_peers_have_fixtures() {
    for version in VERSIONS {
        let folder = version.fixtures();
        for method in version.methods.iter().filter(|method| PROMPT_TURN.contains(&method.name)) {
            for name in [Some(method.params), method.result].into_iter().flatten() {
                let file = folder.join(name).join("from-a-newer-peer.json");
                assert!(file.is_file(), "{}", file.display());
            }
        }
    }
}

const PROMPT_TURN: &[&str] = &[
    "initialize",
    "authenticate",
    "auth/login",
    "session/new",
    "session/load",
    "session/resume",
    "session/prompt",
    "session/cancel",
    "session/update",
    "session/request_permission",
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "terminal/output",
    "terminal/wait_for_exit",
    "terminal/kill",
    "terminal/release",
    "elicitation/create",
];
