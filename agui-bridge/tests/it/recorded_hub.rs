//! Turns of real agents through the hub; see `fixtures/v1/recorded/README.md`.
use crate::hub_differences::ComparisonCounts;
use crate::replay::messages;
use agui_types::profile::Profile;
use std::fs;
use std::path::Path;

/// Each recording gives, line by line through the connection and the conversation, the events of a
/// translator that is fed by hand, for clients of both profiles.
#[test]
fn recordings_pass_through_the_hub() {
    let mut folders =
        vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1/recorded")];
    let mut compared = ComparisonCounts::default();
    let mut failed = Vec::new();
    while let Some(folder) = folders.pop() {
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                let messages = messages(&fs::read_to_string(&path).unwrap());
                for profile in [Profile::V1, Profile::Legacy] {
                    let added = compared.add(&messages, profile);
                    failed.extend(added.err().map(|error| format!("{}: {error}", path.display())));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(compared.sessions >= 720, "{compared:?}");
    assert_eq!(compared.differences.len(), 1, "each difference is met: {compared:?}");
}
