//! Lines of the bridge between versions are accepted by the official types of their version.
//!
//! Recorded sessions pass a bridge to the other version and one back. The lines between both are
//! checked.
use acp_types::convert::{Bridge, BridgeOptions, Output};
use acp_types::methods::{self, Method, MethodKind, Receiver};
use acp_types::v1::initialization::ProtocolVersion;
use jsonrpc_core::transcript::{self, Direction};
use oracles::acp::{Version, versions};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::Path;

/// Checks the lines of one direction after another.
struct Link<'a> {
    version: &'a Version,
    table: &'static [Method],
    /// Methods of open requests, by side and id.
    asked: BTreeMap<(bool, String), String>,
    refused: Vec<String>,
    count: usize,
}

impl Link<'_> {
    fn check(&mut self, is_editor: bool, line: &str) {
        let message: Value = serde_json::from_str(line).unwrap();
        let id = message["id"].to_string();
        let (kind, value, name) = match message["method"].as_str() {
            Some(method) if message.get("id").is_some() => {
                self.asked.insert((is_editor, id), method.to_owned());
                (MethodKind::Request, &message["params"], method.to_owned())
            }
            Some(method) => (MethodKind::Notification, &message["params"], method.to_owned()),
            None => {
                let Some(method) = self.asked.remove(&(!is_editor, id)) else { return };
                let Some(result) = message.get("result") else { return };
                (MethodKind::Request, result, method)
            }
        };
        let is_response = message.get("method").is_none();
        let receiver = if is_editor == is_response { Receiver::Client } else { Receiver::Agent };
        let method = self.table.iter().find(|method| {
            let fits = method.receiver == receiver || method.receiver == Receiver::Either;
            method.name == name && method.kind == kind && fits
        });
        let Some(method) = method else {
            // Extensions and answers to unknown methods have no type.
            assert!(name.starts_with('_'), "{line}");
            return;
        };
        let type_name = if is_response { method.result.unwrap() } else { method.params };
        let found = self.version.types.iter().find(|one| one.name == type_name).unwrap();
        self.count += 1;
        let text = if value.is_null() { "{}".to_owned() } else { value.to_string() };
        if (found.official)(&text).is_none() {
            self.refused.push(line.to_owned());
        }
    }
}

fn play(ends: ProtocolVersion, version: &Version, file: &Path) -> (usize, Vec<String>) {
    let link = ProtocolVersion(3 - ends.0);
    let options = BridgeOptions::default();
    let mut near = Bridge::new(options.with_editor(ends).with_agent(link));
    let mut far = Bridge::new(options.with_editor(link).with_agent(ends));
    let table = if link == ProtocolVersion::V1 { methods::V1 } else { methods::V2 };
    let asked = BTreeMap::new();
    let refused = Vec::new();
    let mut check = Link { version, table, asked, refused, count: 0 };
    let text = fs::read_to_string(file).unwrap();
    for entry in transcript::read(&text) {
        let entry = entry.unwrap();
        let Ok(line) = core::str::from_utf8(&entry.bytes) else { continue };
        match entry.direction {
            Direction::Sent => near.handle_editor_line(line),
            Direction::Received => far.handle_agent_line(line),
        }
        let mut passing = VecDeque::new();
        loop {
            while let Some(output) = near.poll_output() {
                if let Output::ToAgent(line) = output {
                    passing.push_back((true, line));
                }
            }
            while let Some(output) = far.poll_output() {
                if let Output::ToEditor(line) = output {
                    passing.push_back((false, line));
                }
            }
            let Some((is_editor, line)) = passing.pop_front() else { break };
            check.check(is_editor, &line);
            if is_editor { far.handle_editor_line(&line) } else { near.handle_agent_line(&line) }
        }
    }
    (check.count, check.refused)
}

#[test]
fn lines_of_the_bridge_are_accepted_by_the_official_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = folder.join("../../acp-types/tests/fixtures/transcripts");
    let [v1, v2] = versions();
    let mut counts = [0, 0];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // These agents follow the specification of the version that they speak.
        let (ends, other) = match &*name {
            name if name.starts_with("codex-acp-v2") => (ProtocolVersion::V2, &v1),
            "opencode-write.jsonl" | "gemini-cli-edit.jsonl" | "crow-cli-text.jsonl" => {
                (ProtocolVersion::V1, &v2)
            }
            _ => continue,
        };
        let (count, refused) = play(ends, other, &path);
        assert_eq!(refused, Vec::<String>::new(), "{name}");
        counts[usize::from(ends.0 - 1)] += count;
    }
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
}
