//! Recordings of real agents, as the span trees that they have to become. Each tree was read beside its recording.
use crate::spans::{A2C, C2A, Run};
use semconv_map::{CloseReason, Counters, Policy};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use std::{env, fs};

/// The start of every recording.
const EPOCH: Duration = Duration::from_secs(1_795_000_000);

#[derive(Deserialize)]
struct Recorded {
    /// Seconds since the recording began.
    t: f64,
    dir: String,
    line: String,
}

/// Each recording becomes the tree beside it, content capture off.
#[test]
fn recordings_become_their_trees() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/golden");
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
            panic!("{} differs, its tree is in {}", name.display(), actual.display());
        }
    }
}

/// The recordings by the names of their files.
pub(crate) fn recordings() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    let recordings: BTreeMap<_, _> = files
        .map(|file| {
            (file.file_name().into_string().unwrap(), fs::read_to_string(file.path()).unwrap())
        })
        .collect();
    assert!(recordings.len() > 10, "recordings are missing");
    recordings
}

/// Gives a recording to a tracker, and closes it when the recording ends.
pub(crate) fn replay(policy: Policy, recording: &str) -> Run {
    let mut run = Run::new(policy);
    let mut now = EPOCH;
    for recorded in recording.lines().map(|line| serde_json::from_str::<Recorded>(line).unwrap()) {
        let direction = match &*recorded.dir {
            "c2a" => C2A,
            "a2c" => A2C,
            other => panic!("no direction: {other}"),
        };
        now = EPOCH + Duration::from_micros((recorded.t * 1e6).round() as u64);
        run.line_at(direction, now, recorded.line.as_bytes());
    }
    run.close_at(now, CloseReason::ClientClosed);
    run
}
