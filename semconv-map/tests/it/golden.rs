//! Recordings of real agents and the span trees expected for them. Each tree was reviewed against
//! its recording.
use crate::spans::Run;
use jsonrpc_core::transcript;
use semconv_map::{ClosedBy, Counters, Policy};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use std::{env, fs};

/// Start time of every recording.
const EPOCH: Duration = Duration::from_secs(1_795_000_000);

/// Each recording results in the span tree of the same name, with content capture off.
#[test]
fn recordings_match_their_trees() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/golden");
    let mut differing = Vec::new();
    for (name, recording) in recordings() {
        let mut policy = Policy::default();
        policy.network_transport = Some("pipe".into());
        let run = replay(policy, &recording);
        let mut tree = run.spans.tree(EPOCH);
        let counters = run.tracker.counters();
        if counters != Counters::default() {
            tree.push_str(&format!("{counters:?}\n"));
        }
        let name = Path::new(&name).with_extension("txt");
        if tree != fs::read_to_string(golden.join(&name)).unwrap_or_default() {
            let actual = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
            fs::write(&actual, &tree).unwrap();
            differing.push(actual);
        }
    }
    assert!(differing.is_empty(), "these trees differ: {differing:?}");
}

/// Returns the recordings by file name: those of `acp-types` and further ones.
pub(crate) fn recordings() -> BTreeMap<String, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders =
        ["../acp-types/tests/fixtures/transcripts", "tests/fixtures/transcripts", "examples"];
    let mut recordings = BTreeMap::new();
    for folder in folders.map(|folder| here.join(folder)) {
        for path in fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
            if path.extension().is_some_and(|name| name == "jsonl") {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                recordings.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    assert!(recordings.len() > 20, "recordings are missing");
    recordings
}

/// Replays a recording, and closes the tracker at its end.
pub(crate) fn replay(policy: Policy, recording: &str) -> Run {
    let mut run = Run::new(policy);
    let mut now = EPOCH;
    for entry in transcript::read(recording).map(|entry| entry.unwrap()) {
        now = EPOCH + entry.time;
        run.line_at(entry.direction, now, &entry.bytes);
    }
    run.close_at(now, ClosedBy::Client);
    run
}
