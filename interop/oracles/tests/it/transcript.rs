//! Recorded sessions: lines of `{"from": "client" | "agent", "message": …}`.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The params of a request or notification, or the result of a response.
#[derive(Debug)]
pub struct Payload {
    /// File and line.
    pub place: String,
    /// The method.
    pub method: String,
    /// Whether it is a result.
    pub is_result: bool,
    pub value: Value,
}

/// Returns all payloads of all fixtures.
pub fn payloads() -> Vec<Payload> {
    files().iter().flat_map(|file| session(file)).collect()
}

/// Returns all messages of all fixtures, unchanged.
pub fn messages() -> Vec<String> {
    #[derive(Deserialize)]
    struct Record<'a> {
        #[serde(borrow)]
        message: &'a RawValue,
    }

    let texts = files().into_iter().map(|file| fs::read_to_string(file).unwrap());
    let messages = texts.flat_map(|text| {
        let message = |line| serde_json::from_str::<Record<'_>>(line).unwrap().message.to_string();
        text.lines().map(message).collect::<Vec<_>>()
    });
    messages.collect()
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn session(file: &Path) -> Vec<Payload> {
    let text = fs::read_to_string(file).unwrap();
    let mut asked = HashMap::new();
    let mut payloads = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let record: Value = serde_json::from_str(line).unwrap();
        let from_client = record["from"] == "client";
        let message = &record["message"];
        let place = format!("{}:{}", file.file_name().unwrap().display(), number + 1);
        if let Some(method) = message["method"].as_str() {
            if let Some(id) = message.get("id") {
                asked.insert((from_client, id.to_string()), method.to_owned());
            }
            let value = message["params"].clone();
            payloads.push(Payload { place, method: method.to_owned(), is_result: false, value });
        } else if let Some(result) = message.get("result") {
            let method = asked.remove(&(!from_client, message["id"].to_string())).unwrap();
            payloads.push(Payload { place, method, is_result: true, value: result.clone() });
        }
    }
    payloads
}
