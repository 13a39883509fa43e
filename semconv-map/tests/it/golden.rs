//! Recordings of real agents, as the span trees that they have to become. Each tree was read beside its recording.
use crate::spans::{A2C, C2A, Run};
use semconv_map::{CloseReason, Policy};
use serde::Deserialize;
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
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut files: Vec<_> = fs::read_dir(fixtures.join("transcripts"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() > 8, "recordings are missing");
    for file in files {
        let tree = replay(&fs::read_to_string(&file).unwrap());
        let name = Path::new(file.file_name().unwrap()).with_extension("txt");
        let golden = fs::read_to_string(fixtures.join("golden").join(&name)).unwrap_or_default();
        if tree != golden {
            let actual = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
            fs::write(&actual, &tree).unwrap();
            panic!("{} differs, its tree is in {}", name.display(), actual.display());
        }
    }
}

fn replay(recording: &str) -> String {
    let mut policy = Policy::default();
    policy.network_transport = Some("pipe".into());
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
    let mut tree = run.spans.tree(EPOCH);
    let counters = run.tracker.counters();
    if counters != semconv_map::Counters::default() {
        tree.push_str(&format!("{counters:?}\n"));
    }
    tree
}
